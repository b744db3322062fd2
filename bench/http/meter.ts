/**
 * Loaded into each measured server before its own code: tells over the channel to its parent what it used.
 *
 * `begin` sets the meters to nought, `read` answers the processor time of the whole process, all threads included, and
 * how long the event loop was late; `weigh` collects garbage and answers what memory is left in use. It costs a server
 * nothing while nobody asks but the loop's own histogram.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { watchLoop } from '../loop-delay.ts';

export interface MeterReading {
  readonly cpuMicros: number;
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
}

export interface Weight {
  /** Of objects, and of what they hold outside the heap. */
  readonly usedBytes: number;
  readonly rssBytes: number;
}

const COLLECTIONS = 4;

const loop = watchLoop();
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
  const { p99Ms, maxMs } = loop.read();
  process.send?.({
    cpuMicros: user + system,
    loopDelayP99Ms: p99Ms,
    loopDelayMaxMs: maxMs,
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
