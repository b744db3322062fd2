/** The same load while something grows: what an answer costs and how many there are, against the smallest size. */
import { percentileMillis } from '../histogram.ts';
import { figureOf, pointOf, type Figure, type Findings, type Growth, type Settings } from '../scenario.ts';
import { cpuOf, type Shot } from './gun.ts';
import type { LoadResult } from './load.ts';
import {
  figuresOfTurns,
  latencyOf,
  loopDelayFigures,
  rateOf,
  ratioOf,
  takeTurns,
  turnedAwayShare,
  type Target,
  type Turns,
} from './turns.ts';

export interface Growing {
  /** What grows. */
  readonly of: string;
  /** What is asked for, in one word. */
  readonly request: string;
  readonly sizes: readonly number[];
  readonly targets: readonly Target[];
  /** What the largest size must reach of the smallest one's answers per second. */
  readonly budget?: { readonly atLeast: number };
}

const GROWTH_ROUNDS_MAX = 3;

export async function grow(growing: Growing, settings: Settings): Promise<Findings> {
  const { of, request, sizes, targets, budget } = growing;
  const rounds = Math.min(settings.rounds, GROWTH_ROUNDS_MAX);
  const turns = await takeTurns(targets, { ...settings, rounds });
  return {
    figures: [
      ...ratiosToSmallest(turns, budget),
      ...turns.flatMap(figuresOfTurns),
      ...turnedAway(turns),
      ...loopDelayFigures(turns.at(-1)!),
    ],
    latencies: turns.map(latencyOf),
    growth: growthOfTurns(of, request, sizes, turns),
  };
}

/** Where somebody was. */
function turnedAway(turns: readonly Turns[]): Figure[] {
  return turns
    .map(({ name, shots }) => figureOf(`${name}: turned away (503)`, '%', shots.map(turnedAwayShare)))
    .filter(({ spread }) => spread![1] > 0);
}

function ratiosToSmallest(turns: readonly Turns[], budget?: Figure['budget']): Figure[] {
  const [smallest, ...larger] = turns as [Turns, ...Turns[]];
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
export function growthOfTurns(
  of: string,
  request: string,
  sizes: readonly number[],
  turns: readonly Turns[],
): Growth[] {
  const series = (name: string, value: (shot: Shot<LoadResult>) => number) => ({
    name,
    points: turns.map(({ shots }, i) => pointOf(sizes[i]!, shots.map(value))),
  });
  const latency = (percentile: number) => (shot: Shot<LoadResult>) => percentileMillis(shot.load.histogram, percentile);
  return [
    { name: 'answers', unit: 'per s', of, series: [series(request, rateOf)] },
    { name: 'processor time of an answer', unit: 'µs', of, series: [series(request, cpuOf)] },
    { name: 'latency', unit: 'ms', of, series: [series('p50', latency(50)), series('p99', latency(99))] },
  ];
}
