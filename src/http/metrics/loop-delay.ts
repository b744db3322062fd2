/**
 * The delay of the event loop: how late its timers are, in milliseconds, without the period of the timer that measures
 * it.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface LoopWatch {
  readonly minMs: number;
  readonly meanMs: number;
  readonly maxMs: number;
  readonly stddevMs: number;
  percentileMs(percentile: number): number;
  /** Forgets what was measured so far. */
  reset(): void;
  stop(): void;
}

/**
 * A period that costs an idle service nothing that can be measured; one of 10 ms takes a quarter of a percent of a
 * core.
 */
const PERIOD_MS = 200;

/** Measures the loop of this thread from now on. A shorter period sees shorter stalls and costs more. */
export function watchLoop(periodMs = PERIOD_MS): LoopWatch {
  const delays = monitorEventLoopDelay({ resolution: periodMs });
  delays.enable();
  // Before the first measurement the histogram has a minimum beyond every value and no mean.
  const lateMs = (nanos: number): number => (delays.count === 0 ? 0 : Math.max(0, nanos / 1e6 - periodMs));
  return {
    get minMs() {
      return lateMs(delays.min);
    },
    get meanMs() {
      return lateMs(delays.mean);
    },
    get maxMs() {
      return lateMs(delays.max);
    },
    get stddevMs() {
      return delays.count === 0 ? 0 : delays.stddev / 1e6;
    },
    percentileMs: (percentile) => lateMs(delays.percentile(percentile)),
    reset: () => delays.reset(),
    stop: () => void delays.disable(),
  };
}
