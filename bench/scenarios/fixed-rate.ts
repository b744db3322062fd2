/**
 * The open loop compared with the closed one: holds at fixed rates, which are shares of the rate that the closed loop
 * reached before.
 *
 * Latencies count from the intended moment of sending (`http/open-loop.ts`). The plain route gets the same rates.
 */
import { auditFolder } from '../http/audit.ts';
import { startPlainLike } from '../http/comparison.ts';
import { cpuOf, startLoadGenerator, type LoadGenerator, type LoadRun } from '../http/load-generator.ts';
import type { OpenLoopJob, OpenLoopResult } from '../http/open-loop.ts';
import { startHoldfast, type MeasuredServer } from '../http/server.ts';
import { answeredOf, latencyOf, rateOf, requireAnswers, alternateRuns, shedShare } from '../http/alternating-runs.ts';
import type { Traffic } from '../http/traffic.ts';
import { hotEvent } from '../events.ts';
import { mergeHistograms, percentileMillis } from '../histogram.ts';
import {
  figureOf,
  pointOf,
  type Figure,
  type Findings,
  type Growth,
  type Scenario,
  type Settings,
} from '../scenario.ts';

const CONNECTIONS = 256;
const SHARES = [0.25, 0.5, 0.75];
const traffic: Traffic = { recipe: 'hot-hold' };

interface Step {
  readonly perSecond: number;
  readonly service: LoadRun<OpenLoopResult>[];
  readonly plain: LoadRun<OpenLoopResult>[];
}

export const fixedRate: Scenario = {
  name: 'fixed-rate',
  about: 'POST hold at fixed rates, latencies from the intended moment of sending, beside the closed loop',
  async run(settings) {
    const service = await startHoldfast([hotEvent]);
    const plain = await startPlainLike(service, traffic, 201);
    try {
      const target = { name: 'closed loop, 64 connections', traffic, connections: 64, status: 201 };
      const [closed] = await alternateRuns([{ ...target, server: service }], { ...settings, rounds: 1 });
      const top = rateOf(closed!.runs[0]!);
      const steps = SHARES.map((share): Step => ({ perSecond: roundRate(top * share), service: [], plain: [] }));
      const answered = await alternate(steps, { service, plain }, settings);
      await service.stop();
      const findings = findingsOf(steps);
      return {
        ...findings,
        figures: [
          ...findings.figures,
          figureOf('closed loop: answers', 'per s', [top]),
          ...(await auditFolder(service.folder, answeredOf(closed!) + answered)),
        ],
        latencies: [...(findings.latencies ?? []), latencyOf(closed!)],
      };
    } finally {
      await Promise.all([service.stop(), plain.stop()]);
      service.removeFolder();
    }
  },
};

/** Round numbers. */
function roundRate(perSecond: number): number {
  return Math.max(100, Math.round(perSecond / 100) * 100);
}

/**
 * Runs every rate in every round, plain route and service alternately; resolves to the number of holds that the service
 * answered.
 */
async function alternate(
  steps: readonly Step[],
  servers: { readonly service: MeasuredServer; readonly plain: MeasuredServer },
  { rounds, seconds, report }: Settings,
): Promise<number> {
  const generator: LoadGenerator<OpenLoopJob, OpenLoopResult> = startLoadGenerator(
    new URL('../http/open-loop.ts', import.meta.url),
  );
  let firstNumber = 1_000_000_000;
  let answered = 0;
  try {
    for (let round = 1; round <= rounds; round += 1) {
      for (const step of steps) {
        for (const name of ['plain', 'service'] as const) {
          report(`${name} at ${step.perSecond} per s: round ${round} of ${rounds}`);
          const job = {
            traffic,
            status: 201,
            connections: CONNECTIONS,
            seconds,
            perSecond: step.perSecond,
            firstNumber,
          };
          const run = await generator.run(servers[name], { ...job, url: servers[name].url });
          requireAnswers(name, run.load, true);
          firstNumber = run.load.nextNumber;
          if (name === 'service') answered += run.load.requests;
          step[name].push(run);
        }
      }
    }
    return answered;
  } finally {
    generator.close();
  }
}

function findingsOf(steps: readonly Step[]): Findings {
  const latency = (percentile: number) => (run: LoadRun<OpenLoopResult>) =>
    percentileMillis(run.load.histogram, percentile);
  const figures = steps.flatMap(({ perSecond, service, plain }): Figure[] => {
    const at = `at ${perSecond.toLocaleString('en-GB')} per s`;
    return [
      figureOf(`${at}: service, latency p50`, 'ms', service.map(latency(50))),
      figureOf(`${at}: service, latency p99`, 'ms', service.map(latency(99))),
      figureOf(`${at}: service, latency p99.9`, 'ms', service.map(latency(99.9))),
      figureOf(`${at}: service, processor time of an answer`, 'µs', service.map(cpuOf)),
      figureOf(`${at}: service, shed (503)`, '%', service.map(shedShare)),
      figureOf(`${at}: plain, latency p50`, 'ms', plain.map(latency(50))),
      figureOf(`${at}: plain, latency p99`, 'ms', plain.map(latency(99))),
      figureOf(
        `${at}: delay of the generator itself, p99`,
        'ms',
        service.map(({ load }) => percentileMillis(load.lateness, 99)),
      ),
    ];
  });
  const series = (name: 'service' | 'plain', percentile: number) => ({
    name: `${name}, p${percentile}`,
    points: steps.map((step) => pointOf(step.perSecond, step[name].map(latency(percentile)))),
  });
  const growth: Growth = {
    name: 'latency from the intended moment of sending',
    unit: 'ms',
    of: 'requests per second',
    series: [series('service', 50), series('service', 99), series('plain', 50), series('plain', 99)],
  };
  const latencies = steps.map(({ perSecond, service }) => ({
    name: `${perSecond.toLocaleString('en-GB')} per s`,
    histogram: mergeHistograms(service.map(({ load }) => load.histogram)),
  }));
  return { figures, latencies, growth: [growth] };
}
