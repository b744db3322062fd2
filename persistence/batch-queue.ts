/**
 * Facts that were appended and are not durable yet, gathered into the batches in which they are written, oldest first.
 *
 * 1. A batch has whole units. It is closed when it is taken, or when the next unit would exceed its bounds.
 * 2. Once taken it takes no more facts; it stays here until it is durable, so that the promises of `durable` settle in
 *    the order of the facts.
 * 3. The queue has no bound of its own: whoever appends bounds `appendedSeq - durableSeq`.
 */
import type { JournalFault } from './journal.ts';

/** The facts of one commit. */
export interface QueuedBatch {
  readonly firstSeq: number;
  lastSeq: number;
  /** The canonical texts of the facts, joined: what is stored and hashed. */
  text: string;
  /** Settles with the batch; made when the first caller waits for it. */
  settled: PromiseWithResolvers<void> | null;
}

export class BatchQueue<Batch extends QueuedBatch> {
  /** The first `#taken` of them are being written. */
  readonly #batches: Batch[] = [];
  #taken = 0;

  get isEmpty(): boolean {
    return this.#batches.length === 0;
  }

  /** The batch that still takes facts, or null. */
  get open(): Batch | null {
    return this.#batches.length > this.#taken ? this.#batches.at(-1)! : null;
  }

  /** Begins a batch, which takes facts from now on. */
  add(batch: Batch): Batch {
    this.#batches.push(batch);
    return batch;
  }

  /** The next batch to write, or null when there is none. */
  take(): Batch | null {
    const batch = this.#batches[this.#taken];
    if (batch === undefined) return null;
    this.#taken += 1;
    return batch;
  }

  /** Resolves when the batch of a pending fact is durable; rejects when the batch is forgotten. */
  durable(seq: number): Promise<void> {
    const batch = this.batchOf(seq);
    batch.settled ??= Promise.withResolvers();
    return batch.settled.promise;
  }

  /** Drops the oldest batch, which is durable now, and returns it. */
  settleOldest(): Batch {
    const batch = this.#batches.shift();
    if (batch === undefined || this.#taken === 0) throw new Error('no batch was taken');
    this.#taken -= 1;
    batch.settled?.resolve();
    return batch;
  }

  /** Forgets everything pending because of a fault, and returns it. */
  forget(fault: JournalFault): readonly Batch[] {
    this.#taken = 0;
    const forgotten = this.#batches.splice(0);
    for (const { settled } of forgotten) settled?.reject(fault);
    return forgotten;
  }

  /** The batch of a pending fact. */
  batchOf(seq: number): Batch {
    const batch = this.#batches.findLast(({ firstSeq }) => firstSeq <= seq);
    if (batch === undefined || seq > batch.lastSeq) throw new Error(`fact ${seq} is neither durable nor pending`);
    return batch;
  }
}
