/**
 * Reads the sales of events by minute from their facts, for operators who look at one.
 *
 * 1. What was read is kept with its place, so that a further reading reads only what is new: of the events that were
 *    asked for last, for some minutes. Nothing is read and nothing kept of an event that nobody asks for.
 * 2. It is read in short slices, with pauses that are longer than they, never in a turn. A request waits a second at
 *    most and is answered with what was read until then.
 * 3. Facts in an archive that cannot be read are left out, and the answer says so.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ActivationSource } from '#actors/activation.ts';
import { SaleByMinute, type SaleRange, type SaleView } from '#domain/event/sale-by-minute.ts';
import { JournalDamaged } from '#persistence/faults.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';

export interface SaleRequest extends SaleRange {
  readonly eventId: string;
}

export interface SaleAsRead extends SaleView {
  /** Whether everything up to now was read; if not, asking again goes on. */
  readonly isWhole: boolean;
  /** The last fact that was read. */
  readonly throughSeq: number;
  /** Whether facts are missing because their archive cannot be read. */
  readonly isPartial: boolean;
}

/** Each takes up to some 3 MB, and 100 bytes for each order and each person in line. */
const EVENTS_MAX = 8;
const KEPT_MS = 15 * 60_000;
const SLICE_MS = 2;
const PAUSE_MS = 5;
const FACTS_A_LOOK = 16;
const ANSWERED_AFTER_MS = 1_000;

interface Reading {
  readonly sale: SaleByMinute;
  throughSeq: number;
  isPartial: boolean;
  underWay: Promise<void> | null;
  readonly forget: NodeJS.Timeout;
}

interface SalesByMinutePorts {
  readonly source: Pick<ActivationSource, 'factsAfter'>;
  /** The last fact that was moved to an archive which may be unreadable. */
  readonly archivedSeq: () => number;
  readonly now: () => number;
}

export class SalesByMinute {
  readonly #ports: SalesByMinutePorts;
  /** The event asked for last is the last one (rule 1). */
  readonly #readings = new Map<string, Reading>();

  constructor(ports: SalesByMinutePorts) {
    this.#ports = ports;
  }

  async read({ eventId, ...range }: SaleRequest): Promise<SaleAsRead> {
    const known = this.#readingOf(eventId);
    known.underWay ??= this.#readOn(eventId, known).finally(() => (known.underWay = null));
    const timeUp = new AbortController();
    const waited = pause(ANSWERED_AFTER_MS, undefined, { signal: timeUp.signal, ref: false }).catch(() => {});
    // What goes wrong later is told by the next request, which begins anew.
    known.underWay.catch(() => {});
    await Promise.race([known.underWay, waited]).finally(() => timeUp.abort());
    const { throughSeq, isPartial, underWay } = known;
    return { ...known.sale.view(range, this.#ports.now()), throughSeq, isPartial, isWhole: underWay === null };
  }

  #readingOf(eventId: string): Reading {
    let reading = this.#readings.get(eventId);
    if (reading === undefined) {
      const forget = setTimeout(() => this.#readings.delete(eventId), KEPT_MS).unref();
      reading = { sale: new SaleByMinute(), throughSeq: 0, isPartial: false, underWay: null, forget };
    }
    this.#readings.delete(eventId);
    this.#readings.set(eventId, reading);
    reading.forget.refresh();
    const [first] = this.#readings.keys();
    if (this.#readings.size > EVENTS_MAX) this.#readings.delete(first!);
    return reading;
  }

  async #readOn(eventId: string, reading: Reading): Promise<void> {
    try {
      await this.#readAfter(eventId, reading);
    } catch (error) {
      const archivedSeq = this.#ports.archivedSeq();
      if (!(error instanceof JournalDamaged) || reading.throughSeq >= archivedSeq) throw error;
      reading.throughSeq = archivedSeq;
      reading.isPartial = true;
      await this.#readAfter(eventId, reading);
    }
  }

  async #readAfter(eventId: string, reading: Reading): Promise<void> {
    let begin = stopwatchMs();
    let count = 0;
    for (const row of await this.#ports.source.factsAfter(eventId, reading.throughSeq)) {
      reading.sale.note(row);
      reading.throughSeq = row.seq;
      count += 1;
      if (count % FACTS_A_LOOK !== 0 || stopwatchMs() - begin < SLICE_MS) continue;
      await pause(PAUSE_MS, undefined, { ref: false });
      begin = stopwatchMs();
    }
  }
}
