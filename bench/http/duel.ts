/**
 * A duel over HTTP: the service and the plain route, measured in turns under the same load.
 *
 * Alternating, because a shared machine is faster in one minute and slower in the next: only the ratio of neighbours
 * means something. A first run of each warms up and does not count.
 */
import { figureOf, type Figure, type Settings } from '../scenario.ts';
import { cpuOf, openGun, type Shot } from './gun.ts';
import type { LoadJob, LoadResult, Traffic } from './load.ts';
import type { MeasuredServer } from './server.ts';

export interface Duel {
  readonly service: MeasuredServer;
  readonly plain: MeasuredServer;
  readonly traffic: Traffic;
  readonly connections: number;
  /** The status that every answer must have. */
  readonly status: number;
}

type Run = Shot<LoadResult>;

export interface DuelOutcome {
  readonly figures: readonly Figure[];
  /** Answers of the service over all runs, warm-up included. */
  readonly answered: number;
}

/** Fights the duel and tells rates, latencies, processor time of each answer, and the ratio. */
export async function fight(
  { service, plain, traffic, connections, status }: Duel,
  { quick }: Settings,
  ratio: { readonly atLeast: number },
): Promise<DuelOutcome> {
  const seconds = quick ? 2 : 5;
  const rounds = quick ? 3 : 7;
  const gun = openGun<LoadJob, LoadResult>(new URL('./load.ts', import.meta.url));
  let firstNumber = 1;
  let answered = 0;
  const shoot = async (server: MeasuredServer, forSeconds: number): Promise<Run> => {
    const run = await gun.shoot(server, { url: server.url, traffic, connections, seconds: forSeconds, firstNumber });
    const { load } = run;
    firstNumber = load.nextNumber;
    const others = Object.keys(load.statuses).filter((each) => Number(each) !== status);
    if (load.errors > 0 || others.length > 0 || load.requests === 0) throw new Error(JSON.stringify(load));
    if (server === service) answered += load.requests;
    return run;
  };
  try {
    const ours: Run[] = [];
    const theirs: Run[] = [];
    for (const server of [plain, service]) await shoot(server, quick ? 1 : 3);
    for (let round = 0; round < rounds; round += 1) {
      theirs.push(await shoot(plain, seconds));
      ours.push(await shoot(service, seconds));
    }
    const ratios = ours.map(({ load }, i) => load.perSecond / theirs[i]!.load.perSecond);
    const thrift = ours.map((run, i) => cpuOf(theirs[i]!) / cpuOf(run));
    return {
      answered,
      figures: [
        figureOf('service ÷ plain route', '×', ratios, ratio),
        figureOf('processor time of an answer, plain ÷ service', '×', thrift),
        ...figuresOf('service', ours),
        ...figuresOf('plain', theirs),
        figureOf(
          'service: event-loop delay p99',
          'ms',
          ours.map(({ meter }) => meter.loopDelayP99Ms),
          { atMost: 10 },
        ),
        figureOf(
          'service: event-loop delay, longest',
          'ms',
          ours.map(({ meter }) => meter.loopDelayMaxMs),
        ),
      ],
    };
  } finally {
    gun.close();
  }
}

function figuresOf(who: string, runs: readonly Run[]): Figure[] {
  const of = (name: string, unit: string, value: (run: Run) => number) =>
    figureOf(`${who}: ${name}`, unit, runs.map(value));
  return [
    of('answers', 'per s', ({ load }) => load.perSecond),
    of('latency p50', 'ms', ({ load }) => load.p50Micros / 1000),
    of('latency p99', 'ms', ({ load }) => load.p99Micros / 1000),
    of('processor time of an answer', 'µs', cpuOf),
  ];
}
