/**
 * The closed loop: autocannon in a process of its own, so that its work and garbage are not the server's.
 *
 * Each connection sends its next request when it has the answer before. Latencies come in microseconds from
 * autocannon's `response` event, because autocannon's own histogram has whole milliseconds.
 */
import autocannon from 'autocannon';
import { newHistogram, packHistogram, recordMillis } from '../histogram.ts';
import { AUTOCANNON_OPTIONS, requestOf, type Traffic } from './traffic.ts';

export interface LoadJob {
  readonly url: string;
  readonly traffic: Traffic;
  readonly connections: number;
  readonly seconds: number;
  /** The run ends with this many answers instead. */
  readonly answers?: number;
  /** The status of a good answer. */
  readonly status: number;
  /** The number of the first request, so that runs differ. */
  readonly firstNumber: number;
}

export interface LoadResult {
  /** Good answers; others count in `statuses` only. */
  readonly requests: number;
  readonly perSecond: number;
  /** Latencies, packed. */
  readonly histogram: string;
  /** All answers by status. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly errors: number;
  readonly nextNumber: number;
}

process.on('message', (job) => {
  void drive(job as LoadJob).then((result) => process.send!(result));
});

async function drive(job: LoadJob): Promise<LoadResult> {
  const { url, traffic, connections, seconds, answers, status: good, firstNumber } = job;
  let number = firstNumber;
  const histogram = newHistogram();
  const statuses: Record<string, number> = {};
  const begin = performance.now();
  let end = begin;
  const request: autocannon.Request = {
    setupRequest(request) {
      const { headers, body, ...asked } = requestOf(traffic, number++);
      const json = body === undefined ? {} : { body, headers: { ...headers, 'content-type': 'application/json' } };
      return { ...request, ...asked, ...json };
    },
  };
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const length = answers === undefined ? { duration: seconds } : { amount: answers };
    const settings = { url, connections, ...length, requests: [request], ...AUTOCANNON_OPTIONS };
    const instance = autocannon(settings, (error: Error | null, done: autocannon.Result) =>
      error === null ? resolve(done) : reject(error),
    );
    instance.on('response', (_client, status, _bytes, milliseconds) => {
      if (status === good) recordMillis(histogram, milliseconds);
      statuses[status] = (statuses[status] ?? 0) + 1;
      end = performance.now();
    });
  });
  return {
    requests: histogram.totalCount,
    perSecond: histogram.totalCount / ((end - begin) / 1000),
    histogram: packHistogram(histogram),
    statuses,
    errors: result.errors,
    nextNumber: number,
  };
}
