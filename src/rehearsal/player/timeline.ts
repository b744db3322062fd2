/**
 * Wakes what waits for a moment, as exactly as a thread can without taking a core from the service that it measures.
 *
 * A timer fires to the millisecond, so the last two are passed in naps of some tens of microseconds between which
 * sockets are read.
 */
import FlatQueue from 'flatqueue';

const NAP_MS = 0.05;
/** A timer may be so late. */
const TIMER_MS = 2;

const napping = new Int32Array(new SharedArrayBuffer(4));

export interface Timeline {
  /** Begins it; before that no time passes. */
  begin(): void;
  /** Milliseconds since the timeline began. */
  now(): number;
  /** Resolves at a moment; at once when it is over. */
  at(moment: number): Promise<void>;
}

export function createTimeline(): Timeline {
  let begin: number | null = null;
  const now = (): number => (begin === null ? 0 : performance.now() - begin);
  const waiting = new FlatQueue<() => void>();
  let armedFor = Number.POSITIVE_INFINITY;
  let timer: NodeJS.Timeout | null = null;

  const wake = (): void => {
    timer = null;
    for (let next = waiting.peekValue(); next !== undefined && next <= now(); next = waiting.peekValue())
      waiting.pop()!();
    armedFor = Number.POSITIVE_INFINITY;
    const next = waiting.peekValue();
    if (next !== undefined) arm(next);
  };
  const arm = (moment: number): void => {
    if (timer !== null) clearTimeout(timer);
    armedFor = moment;
    const gap = moment - now();
    if (gap > TIMER_MS) {
      timer = setTimeout(wake, Math.floor(gap - TIMER_MS));
      return;
    }
    timer = null;
    setImmediate(() => {
      if (armedFor !== moment) return;
      if (moment - now() > NAP_MS) Atomics.wait(napping, 0, 0, NAP_MS);
      wake();
    });
  };
  return {
    begin: () => void (begin ??= performance.now()),
    now,
    at(moment) {
      if (moment <= now()) return Promise.resolve();
      return new Promise((resolve) => {
        waiting.push(resolve, moment);
        if (moment < armedFor) arm(moment);
      });
    },
  };
}
