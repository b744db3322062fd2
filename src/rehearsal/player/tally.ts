/**
 * Counts and times of what a rehearsal sent and what was answered, by route.
 *
 * 1. A latency counts from the moment at which the request should have been sent, so that a slow service cannot hide
 *    its delays behind requests that wait for a connection (no coordinated omission). The time from the sending is kept
 *    beside it.
 * 2. The generator's own lateness is how late it sent where a connection was free and the answer before was there.
 */
import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/** Milliseconds at some percentiles, of so many values. */
export interface Distribution {
  readonly count: number;
  readonly meanMs: number;
  readonly maxMs: number;
  /** By percentile, from 0 to as far into the tail as there are values. */
  readonly points: readonly (readonly [percentile: number, ms: number])[];
}

interface RouteReport {
  readonly route: string;
  readonly statuses: Readonly<Record<string, number>>;
  /** Requests without an answer. */
  readonly failed: number;
  readonly latency: Distribution;
  readonly service: Distribution;
}

/** A kind of answer that was not granted. */
interface RefusalReport {
  readonly route: string;
  readonly status: number;
  readonly code: string;
  readonly count: number;
  /** When the first of them came. */
  readonly firstAt: number;
}

export interface TallyReport {
  readonly routes: readonly RouteReport[];
  readonly refusals: readonly RefusalReport[];
  readonly lateness: Distribution;
  /** Parts of the times by the header `Server-Timing`; empty where answers have none. */
  readonly steps: Readonly<Record<string, Distribution>>;
  readonly reachedBySecond: readonly number[];
}

const PERCENTILES = [0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.99];
const HOUR_MICROS = 3_600_000_000;

interface Route {
  readonly statuses: Record<string, number>;
  failed: number;
  readonly latency: RecordableHistogram;
  readonly service: RecordableHistogram;
}

interface Answered {
  readonly route: string;
  /** Null when there was no answer. */
  readonly status: number | null;
  readonly code: string | null;
  /** When it should have been sent, was sent and was answered. */
  readonly dueAt: number;
  readonly sentAt: number;
  readonly answeredAt: number;
  readonly serverTiming: string | null;
}

export class Tally {
  readonly #routes = new Map<string, Route>();
  readonly #refusals = new Map<string, { -readonly [K in keyof RefusalReport]: RefusalReport[K] }>();
  readonly #lateness = newHistogram();
  readonly #steps = new Map<string, RecordableHistogram>();
  readonly #reached: number[] = [];

  late(ms: number): void {
    record(this.#lateness, ms);
  }

  answered({ route, status, code, dueAt, sentAt, answeredAt, serverTiming }: Answered): void {
    const own = this.#routeOf(route);
    if (status === null) {
      own.failed += 1;
      return;
    }
    own.statuses[status] = (own.statuses[status] ?? 0) + 1;
    record(own.latency, answeredAt - dueAt);
    record(own.service, answeredAt - sentAt);
    const second = Math.floor(answeredAt / 1_000);
    while (this.#reached.length <= second) this.#reached.push(0);
    this.#reached[second]! += 1;
    if (status >= 400) this.#refused(route, status, code ?? `HTTP ${status}`, answeredAt);
    if (serverTiming !== null) this.#readSteps(serverTiming);
  }

  report(): TallyReport {
    return {
      routes: Array.from(this.#routes, ([route, { statuses, failed, latency, service }]) => ({
        route,
        statuses,
        failed,
        latency: distributionOf(latency),
        service: distributionOf(service),
      })).sort((a, b) => b.latency.count - a.latency.count),
      refusals: [...this.#refusals.values()].sort((a, b) => b.count - a.count),
      lateness: distributionOf(this.#lateness),
      steps: Object.fromEntries(Array.from(this.#steps, ([name, times]) => [name, distributionOf(times)])),
      reachedBySecond: this.#reached,
    };
  }

  #routeOf(name: string): Route {
    let route = this.#routes.get(name);
    if (route === undefined) {
      route = { statuses: {}, failed: 0, latency: newHistogram(), service: newHistogram() };
      this.#routes.set(name, route);
    }
    return route;
  }

  #refused(route: string, status: number, code: string, firstAt: number): void {
    const key = `${route} ${status} ${code}`;
    const known = this.#refusals.get(key);
    if (known !== undefined) known.count += 1;
    else this.#refusals.set(key, { route, status, code, count: 1, firstAt });
  }

  #readSteps(header: string): void {
    for (const part of header.split(', ')) {
      const at = part.indexOf(';dur=');
      if (at === -1) continue;
      const name = part.slice(0, at);
      let times = this.#steps.get(name);
      if (times === undefined) this.#steps.set(name, (times = newHistogram()));
      record(times, Number(part.slice(at + 5)));
    }
  }
}

function newHistogram(): RecordableHistogram {
  return createHistogram({ lowest: 1, highest: HOUR_MICROS, figures: 3 });
}

function record(histogram: RecordableHistogram, ms: number): void {
  histogram.record(Math.min(HOUR_MICROS, Math.max(1, Math.round(ms * 1_000))));
}

function distributionOf(histogram: RecordableHistogram): Distribution {
  const { count } = histogram;
  if (count === 0) return { count, meanMs: 0, maxMs: 0, points: [] };
  const known = PERCENTILES.filter((percentile) => percentile <= 50 || count * (1 - percentile / 100) >= 1);
  return {
    count,
    meanMs: histogram.mean / 1_000,
    maxMs: histogram.max / 1_000,
    points: known.map((percentile) => [
      percentile,
      (percentile === 0 ? histogram.min : histogram.percentile(percentile)) / 1_000,
    ]),
  };
}

/** The value at a percentile; the largest where the tail has too few values. */
export function percentileOf({ points, maxMs }: Distribution, percentile: number): number {
  return points.find(([each]) => each === percentile)?.[1] ?? maxMs;
}
