/**
 * Compares the service with a plain route, and with other stores behind the same route, over HTTP.
 *
 * Reports the ratios first, then rates, latencies and processor time of each server.
 */
import type { Baseline } from '../baselines/baselines.ts';
import type { Findings, Settings } from '../scenario.ts';
import { cpuOf } from './load-generator.ts';
import { auditFolder } from './audit.ts';
import { startHoldfast, startPlain, type MeasuredServer } from './server.ts';
import { requestOf, type Traffic } from './traffic.ts';
import {
  answeredOf,
  figuresOfRuns,
  latencyOf,
  loopDelayFigures,
  rateOf,
  ratioOf,
  alternateRuns,
  type TargetRuns,
} from './alternating-runs.ts';

interface Comparison {
  readonly service: MeasuredServer;
  readonly traffic: Traffic;
  readonly connections: number;
  /** The status that every answer must have. */
  readonly status: number;
  readonly warmUpTraffic?: Traffic;
  readonly answersOfRun?: number;
  /** Budget of the service's answers per second ÷ the plain route's. */
  readonly plainRatio?: { readonly atLeast: number };
  /** Budget of the service's processor time of an answer ÷ the plain route's. */
  readonly plainCpuRatio?: { readonly atMost: number };
  /** Other stores, each with the budget of its ratio. */
  readonly baselines?: readonly { readonly baseline: Baseline; readonly ratio: { readonly atLeast: number } }[];
}

export interface ComparisonFindings extends Findings {
  /** The runs of the service and of the plain route. */
  readonly ours: TargetRuns;
  readonly theirs: TargetRuns;
  /** Answers of the service in all runs, the sample and the warm-up included. */
  readonly answered: number;
}

/** Takes a sample of the service's answer, starts a plain route that gives the same answer, and compares. */
export async function compare(comparison: Comparison, settings: Settings): Promise<ComparisonFindings> {
  const {
    service,
    traffic,
    warmUpTraffic,
    connections,
    status,
    answersOfRun,
    plainRatio,
    plainCpuRatio,
    baselines = [],
  } = comparison;
  const plain = await startPlainLike(service, traffic, status);
  const standing = baselines.flatMap(({ baseline: { name, server }, ratio }) =>
    server === null ? [] : [{ name, server, ratio }],
  );
  const contenders = [{ name: 'plain', server: plain }, ...standing, { name: 'service', server: service }];
  try {
    const load = {
      traffic,
      connections,
      status,
      ...(warmUpTraffic && { warmUpTraffic }),
      ...(answersOfRun && { answersOfRun }),
    };
    const targets = contenders.map(({ name, server }) => ({ name, server, ...load }));
    const runs = await alternateRuns(targets, settings);
    const ours = runs.at(-1)!;
    const theirs = runs[0]!;
    const others = standing.map(({ name, ratio }, i) => ({ name, ratio, runs: runs[i + 1]! }));
    return {
      ours,
      theirs,
      answered: answeredOf(ours) + 1,
      figures: [
        ratioOf('service ÷ plain route', ours, theirs, rateOf, plainRatio),
        ...others.map((other) => ratioOf(`service ÷ Fastify + ${other.name}`, ours, other.runs, rateOf, other.ratio)),
        ratioOf('processor time of an answer, service ÷ plain', ours, theirs, cpuOf, plainCpuRatio),
        ...others.map((other) =>
          ratioOf(`processor time of an answer, service ÷ Fastify + ${other.name}`, ours, other.runs, cpuOf),
        ),
        ...[ours, theirs, ...others.map((other) => other.runs)].flatMap(figuresOfRuns),
        ...loopDelayFigures(ours, { atMost: 10 }),
      ],
      latencies: [ours, theirs, ...others.map((other) => other.runs)].map(latencyOf),
      notes: baselines.map(({ baseline }) => baseline.note),
    };
  } finally {
    await plain.stop();
  }
}

/** Starts a plain route that gives the service's answer to the first request of a traffic. */
export async function startPlainLike(
  service: MeasuredServer,
  traffic: Traffic,
  status: number,
  route?: string,
): Promise<MeasuredServer> {
  const { method, path, body } = requestOf(traffic, 0);
  const headers = { 'content-type': 'application/json' };
  const sample = await fetch(service.url + path, { method, ...(body !== undefined && { body, headers }) });
  const answer = await sample.text();
  if (sample.status !== status) throw new Error(`${method} ${path}: ${sample.status} ${answer}`);
  const plainPath = route ?? path.replace(/\?.*/, '');
  return startPlain({ method: method === 'GET' ? 'GET' : 'POST', path: plainPath, status, body: answer });
}

interface HoldsComparison {
  readonly events: readonly { readonly id: string }[];
  readonly traffic: Traffic;
  /** False when sessions replace their holds, so that fewer holds than answers are left. */
  readonly everyHoldStays: boolean;
}

const CONNECTIONS = 64;

/** Compares the service with a plain route for holds, and audits the data folder afterwards. */
export async function compareHolds(
  { events, traffic, everyHoldStays }: HoldsComparison,
  settings: Settings,
): Promise<Findings> {
  const service = await startHoldfast(events);
  try {
    const comparison = { service, traffic, connections: CONNECTIONS, status: 201 };
    const { answered, figures, latencies = [] } = await compare(comparison, settings);
    await service.stop();
    return { figures: [...figures, ...(await auditFolder(service.folder, everyHoldStays ? answered : 0))], latencies };
  } finally {
    await service.stop();
    service.removeFolder();
  }
}
