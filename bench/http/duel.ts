/**
 * A duel over HTTP: the service against the plain route, and against whatever else answers the same requests.
 *
 * Tells ratios first, then rates, latencies and processor time of everybody.
 */
import type { Baseline } from '../baselines/baselines.ts';
import type { Findings, Settings } from '../scenario.ts';
import { cpuOf } from './gun.ts';
import { startPlain, type MeasuredServer } from './server.ts';
import { requestOf, type Traffic } from './traffic.ts';
import { figuresOfTurns, latencyOf, loopDelayFigures, rateOf, ratioOf, takeTurns } from './turns.ts';

export interface Duel {
  readonly service: MeasuredServer;
  readonly traffic: Traffic;
  readonly connections: number;
  /** The status that every answer must have. */
  readonly status: number;
  /** What the service's answers per second must be, divided by the plain route's. */
  readonly plainRatio?: { readonly atLeast: number };
  /** Stores in place of the engine, each with the ratio that must be reached. */
  readonly baselines?: readonly { readonly baseline: Baseline; readonly ratio: { readonly atLeast: number } }[];
}

export interface DuelOutcome extends Findings {
  /** Answers of the service over all runs, the sample and the warm-up included. */
  readonly answered: number;
}

/** Takes a sample of the service's answer, lets a plain route answer the same, and fights. */
export async function fight(duel: Duel, settings: Settings): Promise<DuelOutcome> {
  const { service, traffic, connections, status, plainRatio, baselines = [] } = duel;
  const plain = await startPlainLike(service, traffic, status);
  const standing = baselines.flatMap(({ baseline: { name, server }, ratio }) =>
    server === null ? [] : [{ name, server, ratio }],
  );
  const contenders = [{ name: 'plain', server: plain }, ...standing, { name: 'service', server: service }];
  try {
    const targets = contenders.map(({ name, server }) => ({ name, server, traffic, connections, status }));
    const turns = await takeTurns(targets, settings);
    const ours = turns.at(-1)!;
    const theirs = turns[0]!;
    const others = standing.map(({ name, ratio }, i) => ({ name, ratio, turns: turns[i + 1]! }));
    return {
      answered: ours.answered + 1,
      figures: [
        ratioOf('service ÷ plain route', ours, theirs, rateOf, plainRatio),
        ...others.map((other) => ratioOf(`service ÷ Fastify + ${other.name}`, ours, other.turns, rateOf, other.ratio)),
        ratioOf('processor time of an answer, plain ÷ service', theirs, ours, cpuOf),
        ...others.map((other) =>
          ratioOf(`processor time of an answer, Fastify + ${other.name} ÷ service`, other.turns, ours, cpuOf),
        ),
        ...[ours, theirs, ...others.map((other) => other.turns)].flatMap(figuresOfTurns),
        ...loopDelayFigures(ours, { atMost: 10 }),
      ],
      latencies: [ours, theirs, ...others.map((other) => other.turns)].map(latencyOf),
      notes: baselines.map(({ baseline }) => baseline.note),
    };
  } finally {
    await plain.stop();
  }
}

/** A plain route that answers what the service answers to the first request of a traffic. */
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
