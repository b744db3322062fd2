/**
 * Loaded into each measured server before its own code: tells over the channel to its parent what it used.
 *
 * `begin` sets the meters to nought, `read` answers the processor time of the whole process, all threads included, and
 * how long the event loop was late. It costs a server nothing while nobody asks but the loop's own histogram.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks';

export interface MeterReading {
  readonly cpuMicros: number;
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
  readonly rssBytes: number;
}

/** The monitor's own timer; what it reports above this is lateness. */
const RESOLUTION_MS = 2;

const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
delay.enable();
let begin = process.cpuUsage();

process.on('message', (message) => {
  if (message === 'begin') {
    begin = process.cpuUsage();
    delay.reset();
    process.send?.('begun');
  }
  if (message !== 'read') return;
  const { user, system } = process.cpuUsage(begin);
  const lateMs = (nanos: number): number => Math.max(0, nanos / 1e6 - RESOLUTION_MS);
  process.send?.({
    cpuMicros: user + system,
    loopDelayP99Ms: lateMs(delay.percentile(99)),
    loopDelayMaxMs: lateMs(delay.max),
    rssBytes: process.memoryUsage().rss,
  } satisfies MeterReading);
});
process.channel?.unref();
