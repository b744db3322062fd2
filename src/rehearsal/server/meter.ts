/**
 * Loaded into each measured server before its own code; reports over the process channel what the server used.
 *
 * `begin` resets the meters; `read` returns the processor time of the whole process, all threads included, and the
 * delay of the event loop; `weigh` collects garbage and returns the memory in use; `stops` returns what could keep
 * answers waiting since it was asked before, from the first time on. The loop is watched only from `begin` to `read`,
 * because that takes processor time too.
 */
import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { watchLoop, type LoopWatch } from '#http/metrics/loop-delay.ts';
import { dataBytes } from './memory.ts';
import { batchChannel, type BatchMessage } from '#persistence/journal.ts';

export interface MeterResult {
  readonly cpuMicros: number;
  /** The main thread's part of them. */
  readonly mainCpuMicros: number;
  /** Since the process was started. */
  readonly totalCpuMicros: number;
  readonly loopDelayP99Ms: number;
  readonly loopDelayMaxMs: number;
}

export interface Weight {
  /** Bytes of data, without garbage. */
  readonly usedBytes: number;
  readonly rssBytes: number;
}

/** A time in which the collector stopped the main thread. */
interface CollectorPause {
  readonly kind: 'young' | 'full' | 'marking' | 'weak';
  readonly ms: number;
}

/**
 * Period of the timer that measures the delay of the event loop: short enough for every stall that a budget concerns.
 */
const LOOP_PERIOD_MS = 2;

let loop: LoopWatch | undefined;
let begin = process.cpuUsage();
let mainBegin = process.threadCpuUsage();

const PAUSE_KINDS: Readonly<Record<number, CollectorPause['kind']>> = {
  [constants.NODE_PERFORMANCE_GC_MINOR]: 'young',
  [constants.NODE_PERFORMANCE_GC_MAJOR]: 'full',
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL]: 'marking',
  [constants.NODE_PERFORMANCE_GC_WEAKCB]: 'weak',
};
/** What could keep answers waiting, by who caused it: the collector, the disk, or work of the main thread. */
export interface Stops {
  readonly pauses: readonly CollectorPause[];
  /** The longest batch of the journal, from its first row to the return of the fsync. */
  readonly commitMaxMs: number;
  /** The most processor time that the main thread took in one round of its loop: other processes add nothing to it. */
  readonly busyMaxMs: number;
}

let observer: PerformanceObserver | undefined;
let pauses: CollectorPause[] = [];
let commitMaxMs = 0;
let busyMaxMs = 0;

process.on('message', (message) => {
  if (message === 'begin') {
    loop?.stop();
    begin = process.cpuUsage();
    mainBegin = process.threadCpuUsage();
    loop = watchLoop(LOOP_PERIOD_MS);
    process.send?.('begun');
  }
  if (message === 'weigh') process.send?.(weigh());
  if (message === 'stops') process.send?.(takeStops());
  if (message !== 'read') return;
  const { user, system } = process.cpuUsage();
  const totalCpuMicros = user + system;
  const main = process.threadCpuUsage(mainBegin);
  process.send?.({
    cpuMicros: totalCpuMicros - begin.user - begin.system,
    mainCpuMicros: main.user + main.system,
    totalCpuMicros,
    loopDelayP99Ms: loop?.percentileMs(99) ?? 0,
    loopDelayMaxMs: loop?.maxMs ?? 0,
  } satisfies MeterResult);
  loop?.stop();
  loop = undefined;
});
process.channel?.unref();

function takeStops(): Stops {
  const note = (entries: readonly PerformanceEntry[]): void => {
    for (const entry of entries) {
      const { kind } = (entry as unknown as { readonly detail: { readonly kind: number } }).detail;
      pauses.push({ kind: PAUSE_KINDS[kind] ?? 'full', ms: entry.duration });
    }
  };
  if (observer === undefined) {
    observer = new PerformanceObserver((list) => note(list.getEntries()));
    observer.observe({ entryTypes: ['gc'] });
    batchChannel.subscribe((message) => {
      commitMaxMs = Math.max(commitMaxMs, (message as BatchMessage).commitMs);
    });
    watchRounds();
  }
  note(observer.takeRecords());
  const taken = { pauses, commitMaxMs, busyMaxMs };
  pauses = [];
  commitMaxMs = 0;
  busyMaxMs = 0;
  return taken;
}

/** An unreferenced immediate comes once in each round, after its sockets, and has no round begin. */
function watchRounds(): void {
  let before = process.threadCpuUsage();
  const note = (): void => {
    const now = process.threadCpuUsage();
    busyMaxMs = Math.max(busyMaxMs, (now.user + now.system - before.user - before.system) / 1_000);
    before = now;
    setImmediate(note).unref();
  };
  note();
}

function weigh(): Weight {
  return { usedBytes: dataBytes(), rssBytes: process.memoryUsage().rss };
}
