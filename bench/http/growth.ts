/** The same load for several sizes: rate and processor time of answers, compared with the smallest size. */
import { percentileMillis } from '../histogram.ts';
import { figureOf, pointOf, type Figure, type Findings, type Growth, type Settings } from '../scenario.ts';
import { cpuOf, type LoadRun } from './load-generator.ts';
import type { LoadResult } from './load.ts';
import {
  figuresOfRuns,
  latencyOf,
  loopDelayFigures,
  rateOf,
  ratioOf,
  alternateRuns,
  shedShare,
  type Target,
  type TargetRuns,
} from './alternating-runs.ts';

interface Growing {
  /** What grows. */
  readonly of: string;
  /** The kind of request, in one word. */
  readonly request: string;
  readonly sizes: readonly number[];
  readonly targets: readonly Target[];
  /** Budget of the largest size's answers per second ÷ the smallest's. */
  readonly budget?: { readonly atLeast: number };
}

const GROWTH_ROUNDS_MAX = 3;

export async function grow(growing: Growing, settings: Settings): Promise<Findings> {
  const { of, request, sizes, targets, budget } = growing;
  const rounds = Math.min(settings.rounds, GROWTH_ROUNDS_MAX);
  const all = await alternateRuns(targets, { ...settings, rounds });
  return {
    figures: [
      ...ratiosToSmallest(all, budget),
      ...all.flatMap(figuresOfRuns),
      ...shedFigures(all),
      ...loopDelayFigures(all.at(-1)!, { atMost: 10 }),
    ],
    latencies: all.map(latencyOf),
    growth: growthOfRuns(of, request, sizes, all),
  };
}

/** Of the sizes at which requests were shed. */
function shedFigures(all: readonly TargetRuns[]): Figure[] {
  return all
    .map(({ name, runs }) => figureOf(`${name}: shed (503)`, '%', runs.map(shedShare)))
    .filter(({ spread }) => spread![1] > 0);
}

function ratiosToSmallest(all: readonly TargetRuns[], budget?: Figure['budget']): Figure[] {
  const [smallest, ...larger] = all as [TargetRuns, ...TargetRuns[]];
  const largest = larger.at(-1)!;
  return [
    ...larger.map((each) =>
      ratioOf(
        `answers: ${each.name} ÷ ${smallest.name}`,
        each,
        smallest,
        rateOf,
        each === largest ? budget : undefined,
      ),
    ),
    ...larger.map((each) => ratioOf(`processor time: ${each.name} ÷ ${smallest.name}`, each, smallest, cpuOf)),
  ];
}

/** Three charts: answers per second, their processor time, and latencies. */
export function growthOfRuns(
  of: string,
  request: string,
  sizes: readonly number[],
  all: readonly TargetRuns[],
): Growth[] {
  const series = (name: string, value: (run: LoadRun<LoadResult>) => number) => ({
    name,
    points: all.map(({ runs }, i) => pointOf(sizes[i]!, runs.map(value))),
  });
  const latency = (percentile: number) => (run: LoadRun<LoadResult>) =>
    percentileMillis(run.load.histogram, percentile);
  return [
    { name: 'answers', unit: 'per s', of, series: [series(request, rateOf)] },
    { name: 'processor time of an answer', unit: 'µs', of, series: [series(request, cpuOf)] },
    { name: 'latency', unit: 'ms', of, series: [series('p50', latency(50)), series('p99', latency(99))] },
  ];
}
