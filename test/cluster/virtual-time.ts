/**
 * Time that passes only when a test says so; what is due at one moment runs in its order, with all promises settled in
 * between.
 */
import { setImmediate as settled } from 'node:timers/promises';
import type { Timing } from '#persistence/nats/timing.ts';

interface Due {
  readonly at: number;
  readonly order: number;
  readonly work: () => void;
}

export class VirtualTime implements Timing {
  #now = 1_000;
  #order = 0;
  readonly #due = new Set<Due>();

  stopwatchMs = (): number => this.#now;

  after = (ms: number, work: () => void): (() => void) => {
    this.#order += 1;
    const due: Due = { at: this.#now + Math.max(0, ms), order: this.#order, work };
    this.#due.add(due);
    return () => this.#due.delete(due);
  };

  soon = (work: () => void): void => {
    this.after(0, work);
  };

  later = (work: () => void, delayMs: number): void => {
    this.after(delayMs, work);
  };

  /** Lets time pass. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    await settled();
    for (let next = this.#nextUntil(end); next !== null; next = this.#nextUntil(end)) {
      this.#due.delete(next);
      this.#now = Math.max(this.#now, next.at);
      next.work();
      await settled();
    }
    this.#now = end;
  }

  #nextUntil(end: number): Due | null {
    let first: Due | null = null;
    for (const due of this.#due) {
      if (due.at > end) continue;
      if (first === null || due.at < first.at || (due.at === first.at && due.order < first.order)) first = due;
    }
    return first;
  }
}
