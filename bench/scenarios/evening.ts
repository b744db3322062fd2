/**
 * The evening of a large sale at a service with threads: a million people in line poll, while others hold tickets.
 *
 * An open loop at a rate that the cores of this machine carry, beside the generator, gives latencies. A closed loop of
 * polls gives the processor time of a call on each side in full batches, as they are where a machine is used to its
 * limit: at half the rate a call costs several times as much, because threads sleep and wake for few of them. From that
 * it is computed what machines with more cores carry:
 *
 * 1. The engine's thread has one core; what all other threads of the service use, the threads that answer, the
 *    journal's and the collector's, is spread over the others.
 * 2. A core is used to four fifths: what is above that is for snapshots and for what comes in bursts.
 * 3. The kernel's part of a connection is in it, the network's cards, TLS and a proxy are not.
 */
import { auditFolder } from '../http/audit.ts';
import { startLoadGenerator, type LoadRun } from '../http/load-generator.ts';
import type { LoadResult } from '../http/load.ts';
import type { OpenLoopJob, OpenLoopResult } from '../http/open-loop.ts';
import { makeFolder, startHoldfast } from '../http/server.ts';
import { alternateRuns, rateOf, requireAnswers, shedShare } from '../http/alternating-runs.ts';
import { hotEvent } from '../events.ts';
import { fillQueue } from '../folders.ts';
import { percentileMillis } from '../histogram.ts';
import { figureOf, type Figure, type Scenario, type Settings } from '../scenario.ts';

/** Everybody polls every 4.5 seconds. */
export const EVENING = { waiting: 1_000_000, pollEverySeconds: 4.5, holdsASecond: 2_000 };
const POLLS_A_SECOND = Math.round(EVENING.waiting / EVENING.pollEverySeconds);
export const POLLS_A_HOLD = Math.round(POLLS_A_SECOND / EVENING.holdsASecond);

const THREADS = 2;
/** Calls under way in full batches. */
const FULL = 512;
const CONNECTIONS = 256;
/** Of what a closed loop of polls reaches; the generator of an open loop needs more of the machine. */
const SHARE = 0.5;
/** Rule 2. */
const USED_OF_CORE = 0.8;
const CORES = [8, 16, 32];
/** Three threads compile what they run. */
const SECONDS_MIN = 3;

type OpenRun = LoadRun<OpenLoopResult>;
type Run = LoadRun<LoadResult>;

export const evening: Scenario = {
  name: 'evening',
  about:
    'a million people in line who poll beside holds, open loop, HTTP_THREADS=2; what 8 to 32 cores carry, computed',
  async run(asked) {
    const settings = { ...asked, seconds: Math.max(SECONDS_MIN, asked.seconds), warmUpSeconds: SECONDS_MIN };
    const folder = makeFolder();
    const waiting = settings.quick ? 20_000 : EVENING.waiting;
    settings.report(`a queue of ${waiting}`);
    const paths = await fillQueue(folder, waiting);
    const server = await startHoldfast([hotEvent], folder, 'src/main.ts', { HTTP_THREADS: String(THREADS) });
    try {
      const polls = { traffic: { recipe: 'gets', paths }, status: 200 } as const;
      const [closed] = await alternateRuns([{ name: 'closed loop', server, ...polls, connections: FULL }], settings);
      const full = closed!.runs;
      const top = figureOf(`closed loop of polls, ${FULL} connections: answers`, 'per s', full.map(rateOf));
      const perSecond = Math.max(100, Math.round((top.value * SHARE) / 100) * 100);
      const job = { ...polls, connections: CONNECTIONS, url: server.url, perSecond };
      const runs = await openLoop(server, job, settings);
      await server.stop();
      const holds = runs.reduce((sum, { load }) => sum + (load.statuses['201'] ?? 0), 0);
      return {
        figures: [
          top,
          ...microsOf('closed loop', full),
          ...measured(perSecond, runs),
          ...computed(full),
          ...(await auditFolder(folder, holds)),
        ],
        notes: arithmetic(full),
        latencies: [{ name: `polls, ${perSecond} per s`, histogram: runs.at(-1)!.load.histogram }],
      };
    } finally {
      await server.stop();
      server.removeFolder();
    }
  },
};

async function openLoop(
  server: Awaited<ReturnType<typeof startHoldfast>>,
  polls: Omit<OpenLoopJob, 'seconds' | 'firstNumber' | 'beside'>,
  { rounds, seconds, report }: Settings,
): Promise<readonly OpenRun[]> {
  const generator = startLoadGenerator<OpenLoopJob, OpenLoopResult>(new URL('../http/open-loop.ts', import.meta.url));
  const beside = { every: POLLS_A_HOLD + 1, traffic: { recipe: 'hot-hold' }, status: 201 } as const;
  const runs: OpenRun[] = [];
  let firstNumber = 1_000_000_000;
  try {
    for (let round = 1; round <= rounds; round += 1) {
      report(`${polls.perSecond} per s: round ${round} of ${rounds}`);
      const run = await generator.run(server, { ...polls, beside, seconds, firstNumber });
      requireAnswers('evening', run.load, true);
      firstNumber = run.load.nextNumber;
      runs.push(run);
    }
    return runs;
  } finally {
    generator.close();
  }
}

function measured(perSecond: number, runs: readonly OpenRun[]): Figure[] {
  const latency = (name: 'histogram' | 'besideHistogram' | 'lateness', percentile: number): number[] =>
    runs.map(({ load }) => percentileMillis(load[name], percentile));
  return [
    figureOf('open loop: asked for', 'per s', [perSecond]),
    figureOf('open loop: good answers', 'per s', runs.map(rateOf)),
    figureOf('open loop: shed (503)', '%', runs.map(shedShare)),
    figureOf('open loop: a poll, p50', 'ms', latency('histogram', 50)),
    figureOf('open loop: a poll, p99', 'ms', latency('histogram', 99)),
    figureOf('open loop: a hold, p50', 'ms', latency('besideHistogram', 50)),
    figureOf('open loop: a hold, p99', 'ms', latency('besideHistogram', 99)),
    figureOf('open loop: delay of the generator itself, p99', 'ms', latency('lateness', 99)),
    ...microsOf('open loop', runs),
  ];
}

function microsOf(name: string, runs: readonly Run[]): Figure[] {
  return [
    figureOf(`${name}: processor time of a call, engine`, 'µs', runs.map(engineMicros)),
    figureOf(`${name}: processor time of a call, all other threads`, 'µs', runs.map(otherMicros)),
  ];
}

function engineMicros({ load, meter }: Run): number {
  return meter.mainCpuMicros / load.requests;
}

function otherMicros({ load, meter }: Run): number {
  return (meter.cpuMicros - meter.mainCpuMicros) / load.requests;
}

/** Calls a second that so many cores carry (rules 1 and 2). */
function callsOf(run: Run, cores: number): number {
  return (USED_OF_CORE * 1e6) / Math.max(engineMicros(run), otherMicros(run) / (cores - 1));
}

function computed(runs: readonly Run[]): Figure[] {
  const calls = POLLS_A_SECOND + EVENING.holdsASecond;
  const coresOf = (micros: (run: Run) => number): number[] => runs.map((run) => (calls * micros(run)) / 1e6);
  return [
    ...CORES.flatMap((cores) => {
      const carried = runs.map((run) => callsOf(run, cores));
      const people = carried.map((each) => each * (POLLS_A_HOLD / (POLLS_A_HOLD + 1)) * EVENING.pollEverySeconds);
      return [
        figureOf(`computed, ${cores} cores: calls`, 'per s', carried),
        figureOf(`computed, ${cores} cores: people in line`, '', people),
      ];
    }),
    figureOf(`computed for ${EVENING.waiting} in line: cores of the engine’s thread`, 'cores', coresOf(engineMicros)),
    figureOf(`computed for ${EVENING.waiting} in line: cores of all other threads`, 'cores', coresOf(otherMicros)),
  ];
}

function arithmetic(runs: readonly Run[]): string[] {
  const middle = runs.toSorted((a, b) => engineMicros(a) - engineMicros(b))[Math.floor(runs.length / 2)]!;
  const [engine, others] = [engineMicros(middle), otherMicros(middle)];
  const ceilings = CORES.map((cores) => {
    const isEngine = engine >= others / (cores - 1);
    const most = isEngine ? `${engine.toFixed(1)} µs of the engine` : `${others.toFixed(1)} µs ÷ ${cores - 1} others`;
    return `${cores} cores: ${USED_OF_CORE} s ÷ ${most} = ${Math.round(callsOf(middle, cores))} calls a second`;
  });
  const { waiting, pollEverySeconds, holdsASecond } = EVENING;
  return [
    'measured: latencies, answers and processor times, on this machine, the generator beside the service; computed from the closed loop’s:',
    ...ceilings,
    `${waiting} people who poll every ${pollEverySeconds} s: ${POLLS_A_SECOND} polls and ${holdsASecond} holds a second × µs of a call`,
  ];
}
