/**
 * Runs the same closed loop against several servers, one after the other in each round.
 *
 * Alternation is needed because a shared machine is faster in one minute and slower in the next: only the ratio of
 * neighbouring runs is reliable. The first run of each server warms up and does not count. An unexpected status fails
 * the scenario.
 */
import { mergeHistograms, percentileMillis } from '../histogram.ts';
import { figureOf, type Figure, type Latency, type Settings } from '../scenario.ts';
import { cpuOf, startLoadGenerator, type LoadRun } from './load-generator.ts';
import type { LoadJob, LoadResult } from './load.ts';
import type { MeasuredServer } from './server.ts';
import type { Traffic } from './traffic.ts';

export interface Target {
  readonly name: string;
  readonly server: MeasuredServer;
  readonly traffic: Traffic;
  readonly connections: number;
  /** The status that every answer must have. */
  readonly status: number;
  /** The warm-up's traffic, where it must leave what is measured untouched. */
  readonly warmUpTraffic?: Traffic;
  /** A run ends with this many answers instead of after the settings' seconds. */
  readonly answersOfRun?: number;
  /** Whether the server may shed requests (503), because the load is more than it can carry. */
  readonly mayShed?: true;
}

export interface TargetRuns {
  readonly name: string;
  readonly warmUp: LoadRun<LoadResult>;
  readonly runs: readonly LoadRun<LoadResult>[];
}

export async function alternateRuns(
  targets: readonly Target[],
  settings: Settings,
  loop: 'load' | 'light-load' = 'load',
): Promise<readonly TargetRuns[]> {
  const { rounds, seconds, warmUpSeconds, report } = settings;
  const generator = startLoadGenerator<LoadJob, LoadResult>(new URL(`./${loop}.ts`, import.meta.url));
  const measured = targets.map((target) => ({ target, all: [] as LoadRun<LoadResult>[] }));
  let firstNumber = 1;
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const each of measured) {
        const { name, server, mayShed = false } = each.target;
        report(round === 0 ? `${name}: warm-up` : `${name}: round ${round} of ${rounds}`);
        const length = round === 0 ? { seconds: warmUpSeconds } : lengthOf(each.target, seconds);
        const run = await generator.run(server, { ...jobOf(each.target, round), ...length, firstNumber });
        requireAnswers(name, run.load, mayShed);
        firstNumber = run.load.nextNumber;
        each.all.push(run);
      }
    }
  } finally {
    generator.close();
  }
  return measured.map(({ target, all: [warmUp, ...runs] }) => ({ name: target.name, warmUp: warmUp!, runs }));
}

function jobOf(
  { server, traffic, warmUpTraffic, connections, status }: Target,
  round: number,
): Omit<LoadJob, 'seconds' | 'firstNumber'> {
  return { url: server.url, traffic: round === 0 ? (warmUpTraffic ?? traffic) : traffic, connections, status };
}

function lengthOf({ answersOfRun }: Target, seconds: number): Pick<LoadJob, 'seconds' | 'answers'> {
  return { seconds, ...(answersOfRun !== undefined && { answers: answersOfRun }) };
}

/** Answers of all runs, the warm-up included. */
export function answeredOf({ warmUp, runs }: TargetRuns): number {
  return [warmUp, ...runs].reduce((sum, { load }) => sum + load.requests, 0);
}

/** Throws when a load got no good answers, unexpected ones, or lost connections. */
export function requireAnswers(name: string, { requests, statuses, errors }: LoadResult, mayShed = false): void {
  const others = answersOf(statuses) - requests - (mayShed ? (statuses['503'] ?? 0) : 0);
  if (errors > 0 || requests === 0 || others > 0) {
    throw new Error(`${name}: other answers than expected: ${JSON.stringify({ requests, statuses, errors })}`);
  }
}

/** Percentage of requests that were shed. */
export function shedShare({ load: { statuses } }: LoadRun<LoadResult>): number {
  return (100 * (statuses['503'] ?? 0)) / answersOf(statuses);
}

function answersOf(statuses: LoadResult['statuses']): number {
  return Object.values(statuses).reduce((sum, count) => sum + count, 0);
}

/** Rates, latencies and processor time of each answer. */
export function figuresOfRuns({ name, runs }: TargetRuns): Figure[] {
  const of = (what: string, unit: string, value: (run: LoadRun<LoadResult>) => number) =>
    figureOf(`${name}: ${what}`, unit, runs.map(value));
  return [
    of('answers', 'per s', rateOf),
    of('latency p50', 'ms', ({ load }) => percentileMillis(load.histogram, 50)),
    of('latency p99', 'ms', ({ load }) => percentileMillis(load.histogram, 99)),
    of('processor time of an answer', 'µs', cpuOf),
  ];
}

/** Delays of the server's event loop; the budget is that of the p99. */
export function loopDelayFigures({ name, runs }: TargetRuns, budget?: Figure['budget']): Figure[] {
  return [
    figureOf(
      `${name}: event-loop delay p99`,
      'ms',
      runs.map(({ meter }) => meter.loopDelayP99Ms),
      budget,
    ),
    figureOf(
      `${name}: event-loop delay, longest`,
      'ms',
      runs.map(({ meter }) => meter.loopDelayMaxMs),
    ),
  ];
}

/** The ratio of a value of two servers in each round. */
export function ratioOf(
  name: string,
  ours: TargetRuns,
  theirs: TargetRuns,
  value: (run: LoadRun<LoadResult>) => number,
  budget?: Figure['budget'],
): Figure {
  const ratios = ours.runs.map((run, round) => value(run) / value(theirs.runs[round]!));
  return figureOf(name, '×', ratios, budget);
}

export function rateOf({ load }: LoadRun<LoadResult>): number {
  return load.perSecond;
}

export function latencyOf({ name, runs }: TargetRuns): Latency {
  return { name, histogram: mergeHistograms(runs.map(({ load }) => load.histogram)) };
}
