/**
 * The open loop: requests at a fixed rate, whether the server keeps up or not, in a process of its own as `load.ts` is.
 *
 * 1. A request's latency runs from the moment at which it was meant to be sent. Where all connections wait for answers it
 *    waits too, and that counts: nothing is left out in concert with a slow server.
 * 2. Between requests the generator sleeps for some tens of microseconds at a time: it neither bunches requests by whole
 *    milliseconds, as timers do, nor takes a whole core from the server. How late it was by itself is told.
 */
import { newHistogram, packHistogram, recordMillis } from '../histogram.ts';
import type { LoadJob, LoadResult } from './load.ts';
import { requestOf } from './traffic.ts';
import { openWire, type Wire } from './wire.ts';

export interface OpenLoopJob extends LoadJob {
  readonly perSecond: number;
}

export interface OpenLoopResult extends LoadResult {
  /** From the intended to the real sending, where a connection was free: the generator's own lateness. */
  readonly lateness: string;
}

const NAP_MS = 0.05;
/** After this long a load that is not answered is given up. */
const PATIENCE_MS = 20_000;

const napping = new Int32Array(new SharedArrayBuffer(4));

process.on('message', (job) => {
  void drive(job as OpenLoopJob).then((result) => process.send!(result));
});

async function drive(job: OpenLoopJob): Promise<OpenLoopResult> {
  const { url, traffic, connections, seconds, perSecond, firstNumber } = job;
  const idle = await Promise.all(Array.from({ length: connections }, () => openWire(url)));
  const wires = [...idle];
  const total = Math.round(perSecond * seconds);
  const latencies = newHistogram();
  const lateness = newHistogram();
  const statuses: Record<string, number> = {};
  let errors = 0;
  let next = 0;
  let settled = 0;
  const begin = performance.now();
  let end = begin;
  const intendedMs = (n: number): number => begin + (n * 1000) / perSecond;

  const send = (wire: Wire): void => {
    const n = next++;
    wire.ask(requestOf(traffic, firstNumber + n)).then(
      ({ status }) => {
        end = performance.now();
        if (status === job.status) recordMillis(latencies, end - intendedMs(n));
        statuses[status] = (statuses[status] ?? 0) + 1;
        settled += 1;
        if (next < total && intendedMs(next) <= end) send(wire);
        else idle.push(wire);
      },
      () => {
        errors += 1;
        settled += 1;
      },
    );
  };

  while (settled < total && performance.now() - begin < seconds * 1000 + PATIENCE_MS && errors < connections) {
    const now = performance.now();
    while (next < total && idle.length > 0 && intendedMs(next) <= now) {
      recordMillis(lateness, performance.now() - intendedMs(next));
      send(idle.pop()!);
    }
    if (next < total && intendedMs(next) - performance.now() > NAP_MS) Atomics.wait(napping, 0, 0, NAP_MS);
    await new Promise((resolve) => setImmediate(resolve));
  }
  for (const wire of wires) wire.close();
  return {
    requests: latencies.totalCount,
    perSecond: latencies.totalCount / ((end - begin) / 1000),
    histogram: packHistogram(latencies),
    lateness: packHistogram(lateness),
    statuses,
    errors: errors + (total - settled),
    nextNumber: firstNumber + total,
  };
}
