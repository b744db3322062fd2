/**
 * Facts that were appended and are not in the log yet, gathered into the batches in which they are sent.
 *
 * It numbers facts and links each to its stream's previous one.
 *
 * 1. A batch has whole units. It is closed when it is taken, or when the next unit would exceed its bounds; a unit that
 *    exceeds them alone has a batch of its own. One that no message can have is a defect of the caller: it is refused
 *    before anything is changed.
 * 2. A batch stays here until it is durable, so that the promises of `durable` settle in the order of the facts.
 */

import { checkUnit } from '../../faults.ts';
import type { FactRow, JournalFault, Unit } from '../../journal.ts';
import { canonicalText } from '../../chain.ts';
import { fitsMessage, type ExecutedCommand } from './records.ts';

export interface GatheredBatch {
  readonly firstSeq: number;
  lastSeq: number;
  /** The canonical texts of the facts, joined. */
  text: string;
  readonly rows: FactRow[];
  readonly commands: ExecutedCommand[];
  units: number;
  /** Settles with the batch; made when the first caller waits for it. */
  settled: PromiseWithResolvers<void> | null;
}

export interface GatheringBounds {
  readonly batchUnitsMax: number;
  /** Characters of canonical texts and replies. */
  readonly batchSizeMax: number;
}

export class GatheredFacts {
  readonly #bounds: GatheringBounds;
  /** The newest appended fact of every stream. */
  readonly #heads: Map<string, number>;
  /** Oldest first; the first `#taken` of them were sent. */
  readonly #batches: GatheredBatch[] = [];
  #taken = 0;
  #appendedSeq: number;

  constructor(appendedSeq: number, heads: ReadonlyMap<string, number>, bounds: GatheringBounds) {
    this.#appendedSeq = appendedSeq;
    this.#heads = new Map(heads);
    this.#bounds = bounds;
  }

  get appendedSeq(): number {
    return this.#appendedSeq;
  }

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  add(given: Unit): number {
    checkUnit(given);
    const { eventId, at, facts, command } = given;
    const unit = this.#appendedSeq + facts.length;
    const rows: FactRow[] = [];
    let text = '';
    let prev = this.#heads.get(eventId) ?? 0;
    for (const { type, data } of facts) {
      const seq = unit - facts.length + rows.length + 1;
      text += canonicalText({ seq, at, eventId, type, data, prev, unit });
      rows.push({ seq, at, eventId, type, data });
      prev = seq;
    }
    if (!fitsMessage(text)) throw new Error(`a unit of ${text.length} characters does not fit into a message`);
    this.#appendedSeq = unit;
    const batch = this.#batchFor(unit - facts.length + 1, text.length + (command?.reply.length ?? 0));
    batch.text += text;
    batch.rows.push(...rows);
    if (command !== undefined) batch.commands.push({ id: command.id, eventId, at, reply: command.reply });
    batch.units += 1;
    batch.lastSeq = unit;
    this.#heads.set(eventId, unit);
    return unit;
  }

  /** The next batch to send, or null when there is none. */
  take(): GatheredBatch | null {
    const batch = this.#batches[this.#taken];
    if (batch === undefined) return null;
    this.#taken += 1;
    return batch;
  }

  /** Resolves when the batch of an appended fact is durable; rejects when the batch is forgotten. */
  durable(seq: number): Promise<void> {
    const batch = this.#batches.findLast(({ firstSeq }) => firstSeq <= seq);
    if (batch === undefined || seq > batch.lastSeq) throw new Error(`fact ${seq} is neither durable nor gathered`);
    batch.settled ??= Promise.withResolvers();
    return batch.settled.promise;
  }

  /** Drops the oldest batch, which is durable now, and returns it. */
  settleOldest(): GatheredBatch {
    const batch = this.#batches.shift();
    if (batch === undefined || this.#taken === 0) throw new Error('no batch was sent');
    this.#taken -= 1;
    return batch;
  }

  /** Forgets everything for ever: the next writer numbers its facts from the durable ones on. */
  forget(durableSeq: number, fault: JournalFault): void {
    this.#appendedSeq = durableSeq;
    this.#taken = 0;
    for (const { settled } of this.#batches.splice(0)) settled?.reject(fault);
  }

  #batchFor(firstSeq: number, size: number): GatheredBatch {
    const last = this.#batches.length > this.#taken ? this.#batches.at(-1)! : null;
    const { batchUnitsMax, batchSizeMax } = this.#bounds;
    if (last !== null && last.units < batchUnitsMax && sizeOf(last) + size <= batchSizeMax) return last;
    const batch: GatheredBatch = {
      firstSeq,
      lastSeq: firstSeq - 1,
      text: '',
      rows: [],
      commands: [],
      units: 0,
      settled: null,
    };
    this.#batches.push(batch);
    return batch;
  }
}

function sizeOf({ text, commands }: GatheredBatch): number {
  return commands.reduce((sum, { reply }) => sum + reply.length, text.length);
}
