/**
 * Facts that were appended and are not durable yet.
 *
 * It numbers facts and links each to its stream's previous one. When a write fails it takes the links back to the
 * durable head.
 */

import { BatchQueue, type QueuedBatch } from '../batch-queue.ts';
import { checkUnit } from '../faults.ts';
import type { JournalFault, Unit } from '../journal.ts';
import { canonicalText } from '../chain.ts';

interface PendingBatch extends QueuedBatch {
  /** The stream of each fact, and the stream's fact before it. */
  readonly eventIds: string[];
  readonly prevs: number[];
  /** Characters of types and data. */
  size: number;
}

export interface BatchBounds {
  readonly batchFactsMax: number;
  readonly batchBytesMax: number;
}

export class PendingFacts {
  readonly batches = new BatchQueue<PendingBatch>();
  readonly #bounds: BatchBounds;
  /** The newest appended fact of every stream. */
  readonly #heads: Map<string, number>;
  #appendedSeq: number;

  constructor(appendedSeq: number, heads: Map<string, number>, bounds: BatchBounds) {
    this.#appendedSeq = appendedSeq;
    this.#heads = heads;
    this.#bounds = bounds;
  }

  get appendedSeq(): number {
    return this.#appendedSeq;
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

  /** Forgets everything pending because of a fault: links and numbers are again those of the durable head. */
  forget(durableSeq: number, fault: JournalFault): void {
    for (const { eventIds, prevs } of this.batches.forget(fault).toReversed()) {
      for (let index = prevs.length - 1; index >= 0; index--) this.#setHead(eventIds[index]!, prevs[index]!);
    }
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
      const { firstSeq, prevs } = this.batches.batchOf(seq);
      seq = prevs[seq - firstSeq]!;
    }
    return seq;
  }

  eventIds(): Iterable<string> {
    return this.#heads.keys();
  }

  #batchFor(facts: number, size: number): PendingBatch {
    const { open } = this.batches;
    if (open !== null && this.#fits(open, facts, size)) return open;
    const [firstSeq, lastSeq] = [this.#appendedSeq + 1, this.#appendedSeq];
    return this.batches.add({ firstSeq, lastSeq, text: '', eventIds: [], prevs: [], size: 0, settled: null });
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
