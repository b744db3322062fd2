/**
 * The open loop: requests at a fixed rate, whether the server keeps up or not, in a process of its own as `load.ts` is.
 *
 * 1. A latency counts from the moment at which the request should have been sent. The wait for a free connection is
 *    part of it, so a slow server cannot hide its delays (no coordinated omission).
 * 2. Between requests the generator sleeps for some tens of microseconds, and while nothing is under way until the next
 *    one: timers would send requests in groups every millisecond, and a busy loop would take a core from the server.
 *    Its own delay is reported.
 */
import { newHistogram, packHistogram, recordMillis } from '../histogram.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { requestOf, type Traffic } from './traffic.ts';
import { openConnection, type PlayerConnection } from '#rehearsal/player/connection.ts';

export interface OpenLoopJob extends LoadJob {
  readonly perSecond: number;
  /** Every so many requests there is one of another kind among them. */
  readonly beside?: { readonly every: number; readonly traffic: Traffic; readonly status: number };
}

export interface OpenLoopResult extends LoadResult {
  /** Delay of the generator itself: from the intended to the real sending when a connection was free. */
  readonly lateness: string;
  /** Latencies of the other kind. */
  readonly besideHistogram: string;
}

const NAP_MS = 0.05;
/** Connections that were closed are noticed in between. */
const DOZE_MS_MAX = 10;
/** A load without answers fails after this time. */
const ANSWER_MS_MAX = 20_000;

const napping = new Int32Array(new SharedArrayBuffer(4));

process.on('message', (job) => {
  void drive(job as OpenLoopJob).then((result) => process.send!(result));
});

async function drive(job: OpenLoopJob): Promise<OpenLoopResult> {
  const { url, connections: connectionCount, seconds, perSecond, firstNumber, beside } = job;
  const idle = await Promise.all(Array.from({ length: connectionCount }, () => openConnection(url)));
  const connections = [...idle];
  const total = Math.round(perSecond * seconds);
  const latencies = newHistogram();
  const besideLatencies = newHistogram();
  const lateness = newHistogram();
  const statuses: Record<string, number> = {};
  let errors = 0;
  let next = 0;
  let settled = 0;
  const begin = performance.now();
  let end = begin;
  const intendedMs = (n: number): number => begin + (n * 1000) / perSecond;

  const send = (connection: PlayerConnection): void => {
    const n = next++;
    const isBeside = beside !== undefined && n % beside.every === 0;
    const kind = isBeside ? { ...beside, latencies: besideLatencies } : { ...job, latencies };
    connection.send(requestOf(kind.traffic, firstNumber + n)).then(
      ({ status }) => {
        end = performance.now();
        if (status === kind.status) recordMillis(kind.latencies, end - intendedMs(n));
        statuses[status] = (statuses[status] ?? 0) + 1;
        settled += 1;
        if (next < total && intendedMs(next) <= end) send(connection);
        else idle.push(connection);
      },
      () => {
        errors += 1;
        settled += 1;
      },
    );
  };

  while (settled < total && performance.now() - begin < seconds * 1000 + ANSWER_MS_MAX && errors < connectionCount) {
    const now = performance.now();
    while (next < total && idle.length > 0 && intendedMs(next) <= now) {
      recordMillis(lateness, performance.now() - intendedMs(next));
      // In turn: a connection that is never used is closed by the server.
      send(idle.shift()!);
    }
    const restMs = next < total ? intendedMs(next) - performance.now() : 0;
    if (restMs > NAP_MS)
      Atomics.wait(napping, 0, 0, settled === next ? Math.min(restMs - NAP_MS, DOZE_MS_MAX) : NAP_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const connection of connections) connection.close();
  return {
    requests: latencies.totalCount + besideLatencies.totalCount,
    perSecond: (latencies.totalCount + besideLatencies.totalCount) / ((end - begin) / 1000),
    histogram: packHistogram(latencies),
    lateness: packHistogram(lateness),
    besideHistogram: packHistogram(besideLatencies),
    statuses,
    errors: errors + (total - settled),
    nextNumber: firstNumber + total,
  };
}
