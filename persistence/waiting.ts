/**
 * Those who wait for a fact to be durable, released in order of sequence.
 *
 * Shared by the journals. Most ask in ascending order, so the line is kept as it came and sorted only when
 * somebody asked for an older fact than the one before.
 */

import type { JournalFault } from './journal.ts';

export type Settled = (fault: JournalFault | null) => void;

interface Wait {
  readonly seq: number;
  readonly settled: Settled;
}

export class Waiting {
  #line: Wait[] = [];
  #inOrder = true;

  get count(): number {
    return this.#line.length;
  }

  add(seq: number, settled: Settled): void {
    const last = this.#line.at(-1);
    if (last !== undefined && last.seq > seq) this.#inOrder = false;
    this.#line.push({ seq, settled });
  }

  /** Releases everybody who waits for `seq` or an earlier fact; those who join meanwhile wait for the next time. */
  releaseUpTo(seq: number): void {
    this.#sort();
    const next = this.#line.findIndex((wait) => wait.seq > seq);
    const released = this.#line.splice(0, next === -1 ? this.#line.length : next);
    for (const wait of released) wait.settled(null);
  }

  /** Tells everybody that the facts they wait for are in doubt. */
  failAll(fault: JournalFault): void {
    this.#sort();
    const failed = this.#line;
    this.#line = [];
    for (const wait of failed) wait.settled(fault);
  }

  #sort(): void {
    if (!this.#inOrder) this.#line.sort((a, b) => a.seq - b.seq);
    this.#inOrder = true;
  }
}
