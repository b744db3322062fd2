/**
 * Reads the sales of events by minute from their facts, for operators who look at one.
 *
 * 1. The result of a reading and its position are kept, so that a further reading reads only new facts. They are kept
 *    for the events that were requested last, for some minutes. Nothing is read or kept of an event that nobody
 *    requests.
 * 2. Facts are read outside of turns, of one event at a time, in short slices with longer pauses between them. A
 *    request waits a second at most and is answered with what was read until then.
 * 3. Where a file of the archive cannot be read, all archived facts that were not read before are left out, and the
 *    answer says so. The file is tried again after a minute.
 * 4. An answer says that everything was read only if its reading began after the request.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { SaleByMinute, type SaleRange, type SaleView } from '#domain/event/sale-by-minute.ts';
import { JournalDamaged } from '#persistence/faults.ts';
import type { FactRow } from '#persistence/journal.ts';
import { inSlices } from '#persistence/stopwatch.ts';

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

/** Each takes up to some 3 MB, and 100 bytes for each order, each person in line and each refund. */
const EVENTS_MAX = 8;
const KEPT_MS = 15 * 60_000;
const PARTIAL_KEPT_MS = 60_000;
const SLICE_MS = 2;
const PAUSE_MS = 5;
/** Facts that were skipped without a look at the stopwatch. */
const FACTS_A_LOOK = 16;
const ANSWERED_AFTER_MS = 1_000;

interface Reading {
  readonly eventId: string;
  readonly sale: SaleByMinute;
  throughSeq: number;
  /** All facts of the event up to this one are read; this one may be another event's. */
  readThroughSeq: number;
  isPartial: boolean;
  /** The pass over what is new that has not begun. */
  next: Promise<void> | null;
  forget: NodeJS.Timeout | null;
}

interface SalesByMinutePorts {
  /** The durable facts of an event after one. */
  readonly factsAfter: (
    eventId: string,
    afterSeq: number,
  ) => Iterable<FactRow> | AsyncIterable<FactRow> | Promise<Iterable<FactRow>>;
  readonly durableSeq: () => number;
  /** The last fact that was moved to an archive which may be unreadable. */
  readonly archivedSeq: () => number;
  readonly now: () => number;
}

export class SalesByMinute {
  readonly #ports: SalesByMinutePorts;
  /** The event asked for last is the last one (rule 1). */
  readonly #readings = new Map<string, Reading>();
  #underWay: Reading | null = null;
  #lastPass: Promise<void> = Promise.resolve();

  constructor(ports: SalesByMinutePorts) {
    this.#ports = ports;
  }

  async read({ eventId, ...range }: SaleRequest): Promise<SaleAsRead> {
    const reading = this.#readingOf(eventId);
    let isWhole = false;
    const pass = this.#passOf(reading).then(() => (isWhole = this.#isKept(reading)));
    const timeUp = new AbortController();
    const waited = pause(ANSWERED_AFTER_MS, undefined, { signal: timeUp.signal, ref: false }).catch(() => {});
    // The next request reports a later failure, and goes on from there.
    pass.catch(() => {});
    await Promise.race([pass, waited]).finally(() => timeUp.abort());
    const { throughSeq, isPartial } = reading;
    return { ...reading.sale.view(range, this.#ports.now()), throughSeq, isPartial, isWhole };
  }

  /** Forgets everything and ends what is under way. */
  stop(): void {
    for (const reading of [...this.#readings.values()]) this.#drop(reading);
  }

  #readingOf(eventId: string): Reading {
    let reading = this.#readings.get(eventId);
    if (reading === undefined) {
      const begin = { throughSeq: 0, readThroughSeq: 0, isPartial: false, next: null, forget: null };
      reading = { eventId, sale: new SaleByMinute(), ...begin };
    }
    this.#readings.delete(eventId);
    this.#readings.set(eventId, reading);
    if (!reading.isPartial) this.#forgetIn(reading, KEPT_MS);
    this.#evict(reading);
    return reading;
  }

  #isKept(reading: Reading): boolean {
    return this.#readings.get(reading.eventId) === reading;
  }

  #forgetIn(reading: Reading, ms: number): void {
    if (reading.forget !== null) clearTimeout(reading.forget);
    reading.forget = setTimeout(() => this.#drop(reading), ms).unref();
  }

  #drop(reading: Reading): void {
    if (reading.forget !== null) clearTimeout(reading.forget);
    if (this.#isKept(reading)) this.#readings.delete(reading.eventId);
  }

  /** Readings that are under way stay, so that each becomes whole however many are requested. */
  #evict(except: Reading): void {
    for (const reading of [...this.#readings.values()]) {
      if (this.#readings.size <= EVENTS_MAX) return;
      const isAtRest = reading.next === null && reading !== this.#underWay && reading !== except;
      if (isAtRest) this.#drop(reading);
    }
  }

  /** The next pass over what is new of an event, shared by all who ask before it begins (rule 4). */
  #passOf(reading: Reading): Promise<void> {
    if (reading.next !== null) return reading.next;
    const pass = this.#lastPass.then(async () => {
      reading.next = null;
      this.#underWay = reading;
      try {
        await this.#readOn(reading);
      } finally {
        this.#underWay = null;
        this.#evict(reading);
      }
    });
    this.#lastPass = pass.catch(() => {});
    return (reading.next = pass);
  }

  async #readOn(reading: Reading): Promise<void> {
    try {
      await this.#readNew(reading);
    } catch (error) {
      const archivedSeq = this.#ports.archivedSeq();
      if (!(error instanceof JournalDamaged) || reading.readThroughSeq >= archivedSeq) throw error;
      reading.throughSeq = reading.readThroughSeq = archivedSeq;
      reading.isPartial = true;
      if (this.#isKept(reading)) this.#forgetIn(reading, PARTIAL_KEPT_MS);
      await this.#readNew(reading);
    }
  }

  async #readNew(reading: Reading): Promise<void> {
    const durableSeq = this.#ports.durableSeq();
    const rest = inPassing();
    let skipped = 0;
    for await (const row of await this.#ports.factsAfter(reading.eventId, reading.readThroughSeq)) {
      if (!this.#isKept(reading)) return;
      const wasRead = reading.sale.note(row);
      reading.throughSeq = reading.readThroughSeq = row.seq;
      skipped = wasRead ? FACTS_A_LOOK : skipped + 1;
      if (skipped < FACTS_A_LOOK) continue;
      skipped = 0;
      await rest();
    }
    reading.readThroughSeq = Math.max(reading.readThroughSeq, durableSeq);
  }
}

/** Pauses for longer than a slice once one is used up (rule 2). */
export function inPassing(): () => Promise<void> | undefined {
  return inSlices(SLICE_MS, () => pause(PAUSE_MS, undefined, { ref: false }));
}
