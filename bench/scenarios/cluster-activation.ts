/**
 * The node that owns a large event is killed: how long until another node answers for that event, for a small event of
 * the same shard, and for an event of a shard without sales. The differences are what reading the shard and activating
 * the event take.
 *
 * The other node notices the death by missing heartbeats, which is a part of each time.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { shardOf } from '#cluster/directory/placement.ts';
import { openBenchCluster, SHARDS, withoutNats, type BenchCluster, type BenchNode } from '../cluster.ts';
import { hotEvent } from '../events.ts';
import { startLoadGenerator } from '../http/load-generator.ts';
import type { LoadJob, LoadResult } from '../http/load.ts';
import { ADMIN_TOKEN, defineEvents } from '../http/server.ts';
import { requestOf } from '../http/traffic.ts';
import { figureOf, type Scenario } from '../scenario.ts';

const CONNECTIONS = 64;
const QUICK_ROUNDS = 1;
const ANSWER_MS_MAX = 60_000;
const RETRY_MS = 5;

const onShardOfHot = (isSame: boolean) => {
  const shard = shardOf(hotEvent.id, SHARDS);
  for (let n = 0; ; n += 1) {
    const id = `evt_small-${n}`;
    if ((shardOf(id, SHARDS) === shard) === isSame) return { ...hotEvent, id, slug: `small-${n}` };
  }
};
const neighbour = onShardOfHot(true);

export const clusterActivation: Scenario = {
  name: 'cluster-activation',
  about: 'a node that owns an event with many holds is killed: until another node answers for it',
  async run({ quick, rounds, report }) {
    if (withoutNats !== null) return withoutNats;
    const holds = quick ? 5_000 : 100_000;
    const cluster = await openBenchCluster({ servers: 1, nodes: 2 });
    try {
      const [first] = cluster.nodes;
      await defineEvents(first!, [hotEvent, neighbour, ...others]);
      const { owner } = await cluster.rolesOf(hotEvent.id);
      report(`${holds} holds`);
      await fill(owner, holds);
      await snapshot(owner);
      const times: Record<'large' | 'neighbour' | 'empty', number[]> = { large: [], neighbour: [], empty: [] };
      for (let round = 1; round <= (quick ? QUICK_ROUNDS : rounds); round += 1) {
        report(`round ${round}`);
        const took = await killOwner(cluster, round);
        for (const which of ['large', 'neighbour', 'empty'] as const) times[which].push(took[which]);
      }
      const over = (many: readonly number[], few: readonly number[]): number[] => many.map((ms, i) => ms - few[i]!);
      return {
        figures: [
          { name: 'holds of the event', value: holds, unit: '' },
          figureOf('owner killed: the large event answers again after', 'ms', times.large),
          figureOf('owner killed: a small event of the same shard after', 'ms', times.neighbour),
          figureOf('owner killed: an event of a shard without sales after', 'ms', times.empty),
          figureOf('reading the shard', 'ms', over(times.neighbour, times.empty)),
          figureOf('activating the large event', 'ms', over(times.large, times.neighbour)),
        ],
      };
    } finally {
      await cluster.close();
    }
  },
};

/** Events of all other shards, one of which has the same owner. */
const others = Array.from({ length: 4 * SHARDS }, (_, n) => ({
  ...hotEvent,
  id: `evt_other-${n}`,
  slug: `other-${n}`,
})).filter(({ id }) => shardOf(id, SHARDS) !== shardOf(hotEvent.id, SHARDS));

async function fill(node: BenchNode, answers: number): Promise<void> {
  const generator = startLoadGenerator<LoadJob, LoadResult>(new URL('../http/load.ts', import.meta.url));
  try {
    const job = { url: node.url, traffic: { recipe: 'hot-hold' } as const, connections: CONNECTIONS, status: 201 };
    const { load } = await generator.run(node, { ...job, seconds: 0, answers, firstNumber: 0 });
    if (load.requests < answers) throw new Error(`only ${load.requests} holds: ${JSON.stringify(load.statuses)}`);
  } finally {
    generator.close();
  }
}

async function snapshot({ adminUrl }: BenchNode): Promise<void> {
  const answer = await fetch(`${adminUrl}/admin/snapshot`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
  });
  if (answer.status !== 200) throw new Error(`no snapshot: ${answer.status} ${await answer.text()}`);
}

/** Kills the owner, measures, and starts another node in its place. */
async function killOwner(cluster: BenchCluster, round: number) {
  const { owner, front } = await cluster.rolesOf(hotEvent.id);
  const owned = await cluster.ownedBy(owner);
  const empty = others.find(({ id }) => owned.has(shardOf(id, SHARDS)));
  if (empty === undefined) throw new Error('the owner of the large event owns no other shard');
  const begin = performance.now();
  await owner.kill();
  const answered = async (eventId: string): Promise<number> => {
    const { method, path, body } = requestOf({ recipe: 'hot-hold', eventId }, -round);
    const headers = { 'content-type': 'application/json' };
    while (performance.now() - begin < ANSWER_MS_MAX) {
      const answer = await fetch(front.url + path, { method, headers, body: body! });
      if (answer.status === 201) return performance.now() - begin;
      await pause(RETRY_MS);
    }
    throw new Error(`no answer for ${eventId}`);
  };
  const [large, small, none] = await Promise.all([hotEvent, neighbour, empty].map(({ id }) => answered(id)));
  await cluster.replace(owner);
  return { large: large!, neighbour: small!, empty: none! };
}
