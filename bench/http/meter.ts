/**
 * Loaded into each measured server before its own code; reports over the process channel what the server used.
 *
 * `begin` resets the meters; `read` returns the processor time of the whole process, all threads included, and the delay of the event
 * loop; `weigh` collects garbage and returns the memory in use. Between messages only the histogram of the loop's delay is kept.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { watchLoop } from '#http/loop-delay.ts';
import { LOOP_PERIOD_MS } from '../scenario.ts';

export interface MeterReading {
  readonly cpuMicros: number;
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
}

export interface Weight {
  /** Objects on the heap and their memory outside it. */
  readonly usedBytes: number;
  readonly rssBytes: number;
}

const COLLECTIONS = 4;

const loop = watchLoop(LOOP_PERIOD_MS);
let begin = process.cpuUsage();

process.on('message', (message) => {
  if (message === 'begin') {
    begin = process.cpuUsage();
    loop.reset();
    process.send?.('begun');
  }
  if (message === 'weigh') process.send?.(weigh());
  if (message !== 'read') return;
  const { user, system } = process.cpuUsage(begin);
  process.send?.({
    cpuMicros: user + system,
    loopDelayP99Ms: loop.percentileMs(99),
    loopDelayMaxMs: loop.maxMs,
  } satisfies MeterReading);
});
process.channel?.unref();

function weigh(): Weight {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let i = 0; i < COLLECTIONS; i += 1) collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { usedBytes: heapUsed + external, rssBytes: rss };
}
