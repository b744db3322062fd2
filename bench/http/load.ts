/**
 * The load: autocannon in a process of its own, so that its work and its garbage are not the server's.
 *
 * A closed loop: each connection sends its next request when it has its answer. Latencies are taken in microseconds from
 * autocannon's `response` event, because its own histogram has whole milliseconds.
 */
import autocannon from 'autocannon';
import { build } from 'hdr-histogram-js';

/** What is sent. The body is `head`, a number that grows, and `tail`; without a head there is no body. */
export interface Traffic {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Asked in turn, in place of the one path. */
  readonly paths?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: { readonly head: string; readonly tail: string };
}

export interface LoadJob {
  readonly url: string;
  readonly traffic: Traffic;
  readonly connections: number;
  readonly seconds: number;
  /** Numbers in bodies begin here, so that runs do not repeat one another. */
  readonly firstNumber: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50Micros: number;
  readonly p99Micros: number;
  /** Answers by status; anything unexpected shows here. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly errors: number;
  readonly nextNumber: number;
}

const HOUR_MICROS = 3_600_000_000;

process.on('message', (job) => {
  void drive(job as LoadJob).then((result) => process.send!(result));
});

async function drive({ url, traffic, connections, seconds, firstNumber }: LoadJob): Promise<LoadResult> {
  const { method, path, paths, headers, body } = traffic;
  let number = firstNumber;
  const histogram = build({ bitBucketSize: 32, lowestDiscernibleValue: 1, highestTrackableValue: HOUR_MICROS });
  const statuses: Record<string, number> = {};
  let requests = 0;
  const begin = performance.now();
  let end = begin;
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const cannon = autocannon(
      {
        url,
        connections,
        duration: seconds,
        requests: [
          {
            method,
            path,
            headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
            ...(body !== undefined && {
              setupRequest: (request: autocannon.Request) => {
                request.body = `${body.head}${number++}${body.tail}`;
                return request;
              },
            }),
            ...(paths !== undefined && {
              setupRequest: (request: autocannon.Request) => {
                request.path = paths[number++ % paths.length]!;
                return request;
              },
            }),
          },
        ],
      },
      (error: Error | null, done: autocannon.Result) => (error === null ? resolve(done) : reject(error)),
    );
    cannon.on('response', (_client, status, _bytes, milliseconds) => {
      histogram.recordValue(Math.max(1, Math.round(milliseconds * 1000)));
      statuses[status] = (statuses[status] ?? 0) + 1;
      requests += 1;
      end = performance.now();
    });
  });
  return {
    requests,
    perSecond: requests / ((end - begin) / 1000),
    p50Micros: histogram.getValueAtPercentile(50),
    p99Micros: histogram.getValueAtPercentile(99),
    statuses,
    errors: result.errors,
    nextNumber: number,
  };
}
