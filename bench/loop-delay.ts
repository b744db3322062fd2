/** The delay of the event loop, without the resolution of the timer that measures it. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface LoopDelay {
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface LoopWatch {
  reset(): void;
  read(): LoopDelay;
  stop(): void;
}

/** Period of the monitor's timer, which its values include. */
const RESOLUTION_MS = 2;

/** Measures the loop of this thread. */
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
