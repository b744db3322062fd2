/** Where the parts of a shard and of a node take time from, so that a simulation can give it to them. */

import { stopwatchMs } from '../stopwatch.ts';

/** How long a request waits for an answer: longer than servers need for the election of a leader. */
export const CALL_MS_MAX = 12_000;

/** The same for work of many turns: all snapshots, all orders of a cancelled date. */
export const LONG_CALL_MS_MAX = 120_000;

export interface Timing {
  /** Elapsed milliseconds, never less than before; not a time of day. */
  stopwatchMs(): number;
  /** Runs after the code that runs now, the promises that it has resolved, and the input that has arrived by now. */
  soon(run: () => void): void;
  /** Runs once after so many milliseconds; returns the function that cancels it. */
  after(delayMs: number, run: () => void): () => void;
}

export const machineTiming: Timing = {
  stopwatchMs,
  soon: (run) => void setImmediate(run),
  after(delayMs, run) {
    const timeout = setTimeout(run, delayMs);
    return () => clearTimeout(timeout);
  },
};

/** Resolves after so many milliseconds, or at the signal. */
export function pauseFor(timing: Pick<Timing, 'after'>, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const settle = (): void => {
      cancel();
      signal?.removeEventListener('abort', settle);
      resolve();
    };
    const cancel = timing.after(delayMs, settle);
    signal?.addEventListener('abort', settle);
  });
}

/** The time of a node: its timers do not keep the process running, its connections do. */
export const nodeTiming: Timing = {
  ...machineTiming,
  after(delayMs, run) {
    const timeout = setTimeout(run, delayMs).unref();
    return () => clearTimeout(timeout);
  },
};
