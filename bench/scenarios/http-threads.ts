/**
 * The same requests over HTTP at services that answer with the engine's thread alone, and with one, two and four
 * threads beside it, in turns.
 *
 * On a small machine all of them and the load generator share the cores: ratios show what handing over costs, not what
 * more cores bring (`evening` computes that).
 */
import {
  alternateRuns,
  answeredOf,
  figuresOfRuns,
  rateOf,
  ratioOf,
  type Target,
  type TargetRuns,
} from '../http/alternating-runs.ts';
import { auditFolder } from '../http/audit.ts';
import { cpuOf, type LoadRun } from '../http/load-generator.ts';
import type { LoadResult } from '../http/load.ts';
import { makeFolder, startHoldfast } from '../http/server.ts';
import type { Traffic } from '../http/traffic.ts';
import { hotEvent } from '../events.ts';
import { fillQueue } from '../folders.ts';
import { percentileMillis } from '../histogram.ts';
import { figureOf, type Figure, type Scenario } from '../scenario.ts';

/** Threads beside the engine's. */
const FRONTS = [0, 1, 2, 4];
const CONNECTIONS = [1, 64, 512];
const WAITING = 20_000;
/** Every thread compiles what it runs. */
const SECONDS = 2;
/** More than elsewhere: how threads fall to the cores of a small machine differs from run to run by a tenth. */
const ROUNDS = 9;

type Run = LoadRun<LoadResult>;
type Request = 'hold' | 'poll' | 'payload';
type Ask = (request: Request, connections: number, fronts: number) => TargetRuns;

export const httpThreads: Scenario = {
  name: 'http-threads',
  about: 'holds, polls and payloads over HTTP with 1, 2 and 4 threads beside the engine’s, ÷ the same with one for all',
  async run(asked) {
    const settings = asked.quick ? asked : { ...asked, rounds: ROUNDS, seconds: SECONDS, warmUpSeconds: SECONDS };
    const services = await Promise.all(
      FRONTS.map(async (fronts) => {
        const folder = makeFolder();
        const paths = await fillQueue(folder, asked.quick ? WAITING / 20 : WAITING);
        const file = fronts === 1 ? 'bench/http/one-front.ts' : 'src/main.ts';
        const more = { HTTP_THREADS: String(Math.max(1, fronts)) };
        return { fronts, paths, server: await startHoldfast([hotEvent], folder, file, more) };
      }),
    );
    const targetsOf = (request: Request, connections: number): readonly Target[] =>
      services.map(({ fronts, paths, server }) => ({
        name: nameOf(request, connections, fronts),
        server,
        traffic: trafficOf(request, paths),
        connections,
        status: request === 'hold' ? 201 : 200,
        mayShed: true,
      }));
    const holds = CONNECTIONS.flatMap((connections) => targetsOf('hold', connections));
    const targets = [...holds, ...targetsOf('poll', 512), ...targetsOf('payload', 64)];
    try {
      const measured = await alternateRuns(targets, settings, 'light-load');
      const ask: Ask = (...of) => measured.find(({ name }) => name === nameOf(...of))!;
      const audits: Figure[] = [];
      for (const { fronts, server } of services) {
        await server.stop();
        const holds = CONNECTIONS.reduce((sum, connections) => sum + answeredOf(ask('hold', connections, fronts)), 0);
        audits.push(...(await auditFolder(server.folder, holds)).map((each) => named(fronts, each)));
      }
      return { figures: [...ratios(ask), ...measured.flatMap(figuresOf), ...audits] };
    } finally {
      await Promise.all(services.map(({ server }) => server.stop()));
      for (const { server } of services) server.removeFolder();
    }
  },
};

function trafficOf(request: Request, polls: readonly string[]): Traffic {
  if (request === 'hold') return { recipe: 'hot-hold' };
  return { recipe: 'gets', paths: request === 'poll' ? polls : [`/api/events/public/${hotEvent.slug}`] };
}

function nameOf(request: Request, connections: number, fronts: number): string {
  return `${request}, ${connections} connection${connections === 1 ? '' : 's'}, ${frontsOf(fronts)}`;
}

const frontsOf = (fronts: number): string => (fronts === 0 ? 'one thread' : `engine + ${fronts}`);

const named = (fronts: number, figure: Figure): Figure => ({ ...figure, name: `${frontsOf(fronts)}: ${figure.name}` });

function figuresOf(runs: TargetRuns): Figure[] {
  const mainCpu = ({ load, meter }: Run): number => meter.mainCpuMicros / load.requests;
  const ofMain = figureOf(`${runs.name}: processor time of an answer, main thread`, 'µs', runs.runs.map(mainCpu));
  return [...figuresOfRuns(runs), ofMain];
}

/** Threads beside the engine's ÷ one thread for all; the budgets are for one. */
function ratios(ask: Ask): Figure[] {
  const median = ({ load }: Run): number => percentileMillis(load.histogram, 50);
  return FRONTS.filter((fronts) => fronts > 0).flatMap((fronts) => {
    const kept = (budget: NonNullable<Figure['budget']>): Figure['budget'] => (fronts === 1 ? budget : undefined);
    const ratio = (
      what: string,
      [request, connections]: readonly [Request, number],
      value: (run: Run) => number,
      budget?: Figure['budget'],
    ): Figure => {
      const name = `${nameOf(request, connections, fronts)} ÷ one thread: ${what}`;
      return ratioOf(name, ask(request, connections, fronts), ask(request, connections, 0), value, budget);
    };
    return [
      ratio('processor time', ['hold', 512], cpuOf, kept({ atMost: 1.25 })),
      ratio('processor time', ['hold', 64], cpuOf, kept({ atMost: 1.5 })),
      ratio('answers', ['hold', 512], rateOf, kept({ atLeast: 1.05 })),
      ratio('answers', ['hold', 64], rateOf, kept({ atLeast: 0.8 })),
      ratio('latency p50', ['hold', 1], median, kept({ atMost: 1.3 })),
      ratio('processor time', ['poll', 512], cpuOf),
      ratio('answers', ['poll', 512], rateOf),
      ratio('processor time', ['payload', 64], cpuOf),
      ratio('answers', ['payload', 64], rateOf),
    ];
  });
}
