/** How late the event loop is, above the resolution of the timer that watches it. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface LoopDelay {
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface LoopWatch {
  /** Forgets what was seen so far. */
  reset(): void;
  read(): LoopDelay;
  stop(): void;
}

/** The monitor's own timer; what it reports above this is lateness. */
const RESOLUTION_MS = 2;

/** Begins to watch this thread's loop. */
export function watchLoop(): LoopWatch {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const lateMs = (nanos: number): number => Math.max(0, nanos / 1e6 - RESOLUTION_MS);
  return {
    reset: () => delay.reset(),
    read: () => ({ p99Ms: lateMs(delay.percentile(99)), maxMs: lateMs(delay.max) }),
    stop: () => void delay.disable(),
  };
}
