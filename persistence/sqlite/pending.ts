/**
 * Facts that were appended and are not durable yet, gathered into the batches in which they are committed.
 *
 * It numbers facts and links each to its stream's previous one. When a write fails it takes the links back to the
 * durable head.
 *
 *  1. A batch holds whole units; it is closed when the next unit would exceed its bounds.
 *  2. Once taken for writing a batch takes no more facts; it stays here until it is durable.
 *  3. It has no bound of its own: whoever appends bounds `appendedSeq - durableSeq`.
 */

import { checkUnit } from '../faults.ts';
import type { JournalFault, Unit } from '../journal.ts';
import { canonicalText } from '../chain.ts';

/** The facts of one commit. */
interface PendingBatch {
  readonly firstSeq: number;
  lastSeq: number;
  /** The canonical texts of the facts, joined: what the writer stores and hashes. */
  text: string;
  /** The stream of each fact, and the stream's fact before it. */
  readonly eventIds: string[];
  readonly prevs: number[];
  /** Characters of types and data. */
  size: number;
  /** Settles with the batch; made when the first caller waits for it. */
  settled: PromiseWithResolvers<void> | null;
}

export interface BatchBounds {
  readonly batchFactsMax: number;
  readonly batchBytesMax: number;
}

export class PendingFacts {
  readonly #bounds: BatchBounds;
  /** The newest appended fact of every stream. */
  readonly #heads: Map<string, number>;
  /** Oldest first; the first `#taken` of them are with the writer. */
  readonly #batches: PendingBatch[] = [];
  #taken = 0;
  #appendedSeq: number;

  constructor(appendedSeq: number, heads: Map<string, number>, bounds: BatchBounds) {
    this.#appendedSeq = appendedSeq;
    this.#heads = heads;
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
    const { eventId, at, facts } = given;
    const size = facts.reduce((sum, { type, data }) => sum + type.length + data.length, 0);
    const batch = this.#batchFor(facts.length, size);
    const unit = this.#appendedSeq + facts.length;
    let prev = this.#heads.get(eventId) ?? 0;
    for (const { type, data } of facts) {
      const seq = ++this.#appendedSeq;
      batch.text += canonicalText({ seq, at, eventId, type, data, prev, unit });
      batch.eventIds.push(eventId);
      batch.prevs.push(prev);
      prev = seq;
    }
    batch.lastSeq = unit;
    batch.size += size;
    this.#heads.set(eventId, unit);
    return unit;
  }

  /** The next batch to write, or null when there is none. */
  take(): PendingBatch | null {
    const batch = this.#batches[this.#taken];
    if (batch === undefined) return null;
    this.#taken += 1;
    return batch;
  }

  /** Resolves when the batch of a pending fact is durable; rejects when the batch is forgotten. */
  durable(seq: number): Promise<void> {
    const batch = this.#batches.findLast(({ firstSeq }) => firstSeq <= seq);
    if (batch === undefined || seq > batch.lastSeq) throw new Error(`fact ${seq} is neither durable nor pending`);
    batch.settled ??= Promise.withResolvers();
    return batch.settled.promise;
  }

  /** Drops the oldest batch, which is durable now. */
  settleOldest(): void {
    this.#batches.shift()?.settled?.resolve();
    this.#taken -= 1;
  }

  /** Forgets everything pending because of a fault: links and numbers are again those of the durable head. */
  forget(durableSeq: number, fault: JournalFault): void {
    for (const { settled } of this.#batches) settled?.reject(fault);
    for (const batch of this.#batches.reverse()) {
      for (let index = batch.lastSeq - batch.firstSeq; index >= 0; index--) {
        this.#setHead(batch.eventIds[index]!, batch.prevs[index]!);
      }
    }
    this.#batches.length = 0;
    this.#taken = 0;
    this.#appendedSeq = durableSeq;
  }

  /** Adds a fact that is on disk after a write whose outcome was unknown. */
  adopt(seq: number, eventId: string): void {
    this.#heads.set(eventId, seq);
    this.#appendedSeq = seq;
  }

  /** The newest fact of a stream that is durable; 0 when it has none. */
  durableHead(eventId: string, durableSeq: number): number {
    let seq = this.#heads.get(eventId) ?? 0;
    while (seq > durableSeq) {
      const batch = this.#batches.find(({ firstSeq, lastSeq }) => firstSeq <= seq && seq <= lastSeq);
      if (batch === undefined) throw new Error(`fact ${seq} is neither durable nor pending`);
      seq = batch.prevs[seq - batch.firstSeq]!;
    }
    return seq;
  }

  eventIds(): Iterable<string> {
    return this.#heads.keys();
  }

  #batchFor(facts: number, size: number): PendingBatch {
    const last = this.#batches.at(-1);
    if (last !== undefined && this.#batches.length > this.#taken && this.#fits(last, facts, size)) return last;
    const batch: PendingBatch = {
      firstSeq: this.#appendedSeq + 1,
      lastSeq: this.#appendedSeq,
      text: '',
      eventIds: [],
      prevs: [],
      size: 0,
      settled: null,
    };
    this.#batches.push(batch);
    return batch;
  }

  #fits({ firstSeq, lastSeq, size }: PendingBatch, facts: number, more: number): boolean {
    const { batchFactsMax, batchBytesMax } = this.#bounds;
    return lastSeq - firstSeq + 1 + facts <= batchFactsMax && size + more <= batchBytesMax;
  }

  #setHead(eventId: string, seq: number): void {
    if (seq === 0) this.#heads.delete(eventId);
    else this.#heads.set(eventId, seq);
  }
}
