/**
 * What the service measured by minute over the last hours, for operators who have no metrics server.
 *
 * Owns the minutes, one record each, and what the counters were when the minute that runs began.
 *
 * 1. Nothing is done for a request: what /metrics has is read once a minute, and how much it grew is kept.
 * 2. It is bounded: MINUTES_MAX minutes with CODES_MAX codes each, under 1.5 MB, whatever is asked of the service.
 * 3. It is no fact: it begins with the process, and ends with it.
 */
import { sumOf } from '#domain/money.ts';
import type { HistoryMinute, Percentiles } from '../ports.ts';

/** What was counted since the process began. */
export interface Counted {
  /** By bucket, the last one over the highest bound. */
  readonly requests: readonly number[];
  readonly clientErrors: number;
  readonly serverErrors: number;
  readonly commits: readonly number[];
  readonly refusals: ReadonlyMap<string, number>;
}

interface HistoryPorts {
  readonly now: () => number;
  readonly count: () => Counted;
  readonly admissionQueue: () => number;
  /** The upper bounds of the buckets, in seconds. */
  readonly requestBounds: readonly number[];
  readonly commitBounds: readonly number[];
}

const MINUTE_MS = 60_000;
const MINUTES_MAX = 12 * 60;
const CODES_MAX = 20;
const SAMPLED_EVERY_MS = 5_000;

export class MetricsHistory {
  readonly #ports: HistoryPorts;
  readonly #timer: NodeJS.Timeout;
  readonly #minutes: HistoryMinute[] = [];
  #begin: number;
  #before: Counted;
  #admissionQueueMax = 0;

  constructor(ports: HistoryPorts) {
    this.#ports = ports;
    this.#begin = minuteOf(ports.now());
    this.#before = ports.count();
    this.#timer = setInterval(() => this.sample(), SAMPLED_EVERY_MS).unref();
  }

  /** Notes what is in use now, and ends the minute that is over. */
  sample(): void {
    this.#admissionQueueMax = Math.max(this.#admissionQueueMax, this.#ports.admissionQueue());
    const begin = minuteOf(this.#ports.now());
    if (begin === this.#begin) return;
    const counted = this.#ports.count();
    this.#minutes.push(this.#minuteTo(counted));
    if (this.#minutes.length > MINUTES_MAX) this.#minutes.shift();
    this.#begin = begin;
    this.#before = counted;
    this.#admissionQueueMax = 0;
  }

  /** The minutes that began in a range, the oldest first; the last one may still run. */
  read(from: number, to: number): readonly HistoryMinute[] {
    this.sample();
    return [...this.#minutes, this.#minuteTo(this.#ports.count())].filter(({ at }) => at >= from && at < to);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #minuteTo(counted: Counted): HistoryMinute {
    const before = this.#before;
    const requests = growth(counted.requests, before.requests);
    const commits = growth(counted.commits, before.commits);
    const refusals = [...counted.refusals]
      .map(([code, count]) => ({ code, count: count - (before.refusals.get(code) ?? 0) }))
      .filter(({ count }) => count > 0)
      .sort((one, other) => other.count - one.count);
    return {
      at: this.#begin,
      requests: sum(requests),
      clientErrors: counted.clientErrors - before.clientErrors,
      serverErrors: counted.serverErrors - before.serverErrors,
      latency: percentilesOf(requests, this.#ports.requestBounds),
      commits: sum(commits),
      commit: percentilesOf(commits, this.#ports.commitBounds),
      admissionQueueMax: this.#admissionQueueMax,
      refused: sumOf(refusals, ({ count }) => count),
      refusals: refusals.slice(0, CODES_MAX),
    };
  }
}

function minuteOf(at: number): number {
  return at - (at % MINUTE_MS);
}

function growth(counts: readonly number[], before: readonly number[]): readonly number[] {
  return counts.map((count, index) => count - (before[index] ?? 0));
}

function sum(counts: readonly number[]): number {
  return sumOf(counts, (count) => count);
}

function percentilesOf(buckets: readonly number[], bounds: readonly number[]): Percentiles | null {
  if (sum(buckets) === 0) return null;
  const at = (part: number): number => Math.round(percentile(buckets, bounds, part) * 100_000) / 100;
  return { p50Ms: at(0.5), p95Ms: at(0.95), p99Ms: at(0.99) };
}

/** Like `histogram_quantile` of Prometheus: linear within a bucket, and the highest bound for values above it. */
function percentile(buckets: readonly number[], bounds: readonly number[], part: number): number {
  const rank = part * sum(buckets);
  let below = 0;
  for (const [index, bound] of bounds.entries()) {
    const count = buckets[index]!;
    const from = bounds[index - 1] ?? 0;
    if (count > 0 && below + count >= rank) return from + ((rank - below) / count) * (bound - from);
    below += count;
  }
  return bounds.at(-1)!;
}
