/**
 * Servers under the closed loop, in turns.
 *
 * Alternating, because a shared machine is faster in one minute and slower in the next: only the ratio of neighbours
 * means something. A first turn of each warms up and does not count. An answer of another status than expected fails the run.
 */
import { mergeHistograms, percentileMillis } from '../histogram.ts';
import { figureOf, type Figure, type Latency, type Settings } from '../scenario.ts';
import { cpuOf, openGun, type Shot } from './gun.ts';
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
  /** Whether the server may turn some away (503), being asked for more than it can do. */
  readonly mayTurnAway?: true;
}

export interface Turns {
  readonly name: string;
  readonly shots: readonly Shot<LoadResult>[];
  /** Answers over all turns, warm-up included. */
  readonly answered: number;
}

export async function takeTurns(targets: readonly Target[], settings: Settings): Promise<readonly Turns[]> {
  const { rounds, seconds, warmUpSeconds, tell } = settings;
  const gun = openGun<LoadJob, LoadResult>(new URL('./load.ts', import.meta.url));
  const taken = targets.map((target) => ({ target, shots: [] as Shot<LoadResult>[], answered: 0 }));
  let firstNumber = 1;
  try {
    for (let round = 0; round <= rounds; round += 1) {
      for (const turns of taken) {
        const { name, server, traffic, connections, status, mayTurnAway = false } = turns.target;
        tell(round === 0 ? `${name}: warm-up` : `${name}: round ${round} of ${rounds}`);
        const job = { url: server.url, traffic, connections, status, firstNumber };
        const shot = await gun.shoot(server, { ...job, seconds: round === 0 ? warmUpSeconds : seconds });
        requireAnswers(name, shot.load, mayTurnAway);
        firstNumber = shot.load.nextNumber;
        turns.answered += shot.load.requests;
        if (round > 0) turns.shots.push(shot);
      }
    }
  } finally {
    gun.close();
  }
  return taken.map(({ target, shots, answered }) => ({ name: target.name, shots, answered }));
}

/** Throws where a load got no good answers, others than it should, or lost connections. */
export function requireAnswers(name: string, { requests, statuses, errors }: LoadResult, mayTurnAway = false): void {
  const others = answersOf(statuses) - requests - (mayTurnAway ? (statuses['503'] ?? 0) : 0);
  if (errors > 0 || requests === 0 || others > 0) {
    throw new Error(`${name}: other answers than expected: ${JSON.stringify({ requests, statuses, errors })}`);
  }
}

/** How many in a hundred were turned away. */
export function turnedAwayShare({ load: { statuses } }: Shot<LoadResult>): number {
  return (100 * (statuses['503'] ?? 0)) / answersOf(statuses);
}

function answersOf(statuses: LoadResult['statuses']): number {
  return Object.values(statuses).reduce((sum, count) => sum + count, 0);
}

/** Rates, latencies and processor time of each answer. */
export function figuresOfTurns({ name, shots }: Turns): Figure[] {
  const of = (what: string, unit: string, value: (shot: Shot<LoadResult>) => number) =>
    figureOf(`${name}: ${what}`, unit, shots.map(value));
  return [
    of('answers', 'per s', rateOf),
    of('latency p50', 'ms', ({ load }) => percentileMillis(load.histogram, 50)),
    of('latency p99', 'ms', ({ load }) => percentileMillis(load.histogram, 99)),
    of('processor time of an answer', 'µs', cpuOf),
  ];
}

/** How late the server's event loop was; `budget` is for its p99. */
export function loopDelayFigures({ name, shots }: Turns, budget?: Figure['budget']): Figure[] {
  return [
    figureOf(
      `${name}: event-loop delay p99`,
      'ms',
      shots.map(({ meter }) => meter.loopDelayP99Ms),
      budget,
    ),
    figureOf(
      `${name}: event-loop delay, longest`,
      'ms',
      shots.map(({ meter }) => meter.loopDelayMaxMs),
    ),
  ];
}

/** One value ÷ another, round by round. */
export function ratioOf(
  name: string,
  ours: Turns,
  theirs: Turns,
  value: (shot: Shot<LoadResult>) => number,
  budget?: Figure['budget'],
): Figure {
  const ratios = ours.shots.map((shot, round) => value(shot) / value(theirs.shots[round]!));
  return figureOf(name, '×', ratios, budget);
}

export function rateOf({ load }: Shot<LoadResult>): number {
  return load.perSecond;
}

export function latencyOf({ name, shots }: Turns): Latency {
  return { name, histogram: mergeHistograms(shots.map(({ load }) => load.histogram)) };
}
