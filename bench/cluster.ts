/**
 * Clusters for scenarios: real NATS servers and measured nodes on free loopback ports, with temporary data.
 *
 * 1. Where there is no NATS server, or one that is too old, a scenario says so in a note and has no figures.
 * 2. A node's processor time is its process's; that of the servers is all of theirs together.
 */
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { shardOf } from '#cluster/directory/placement.ts';
import { nats, startServers, type NatsServer } from '../test/fixtures/nats.ts';
import { cpuMicrosOf } from './baselines/stores.ts';
import { ADMIN_TOKEN, makeFolder, startMeasured, WEBHOOK_SECRET, type MeasuredServer } from './http/server.ts';
import type { Findings } from './scenario.ts';

export interface BenchNode extends MeasuredServer {
  readonly name: string;
}

export interface BenchCluster {
  readonly servers: readonly NatsServer[];
  readonly nodes: readonly BenchNode[];
  /** Starts another node in the place of one that has ended, and waits until it is ready. */
  replace(ended: BenchNode): Promise<BenchNode>;
  /** The node that owns an event, and one that does not. */
  rolesOf(eventId: string): Promise<{ readonly owner: BenchNode; readonly front: BenchNode }>;
  /** The shards that a node owns, as it sees it. */
  ownedBy(node: BenchNode): Promise<ReadonlySet<number>>;
  /** Microseconds of processor time that the servers have used. */
  serversCpuMicros(): number;
  close(): Promise<void>;
}

interface BenchClusterSize {
  readonly servers: 1 | 3;
  readonly nodes: number;
}

export const SHARDS = 8;
const READY_MS_MAX = 60_000;

/** What a scenario of the cluster finds where there is no server. */
export const withoutNats: Findings | null =
  nats.missing === false ? null : { figures: [], notes: [`left out: ${nats.missing}`] };

/** Starts servers and nodes; each shard is kept by all servers. */
export async function openBenchCluster(size: BenchClusterSize): Promise<BenchCluster> {
  const { servers, url, close: closeServers } = await startServers(size.servers);
  const nodes: BenchNode[] = [];
  let started = 0;
  const addNode = async (): Promise<BenchNode> => {
    const node = await startNode(`node-${started}`, url, size.servers);
    started += 1;
    nodes.push(node);
    return node;
  };
  const close = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.stop()));
    await closeServers();
  };
  try {
    for (let n = 0; n < size.nodes; n += 1) await addNode();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    servers,
    nodes,
    replace(ended) {
      nodes.splice(nodes.indexOf(ended), 1);
      return addNode();
    },
    async rolesOf(eventId) {
      const shards = await shardsAt(nodes[0]!);
      const name = shards.find(({ shard }) => shard === shardOf(eventId, SHARDS))?.owner;
      const owner = nodes.find((node) => node.name === name);
      const front = nodes.find((node) => node.name !== name);
      if (owner === undefined || front === undefined) throw new Error(`no owner and front of ${eventId}`);
      return { owner, front };
    },
    async ownedBy(node) {
      const shards = await shardsAt(node);
      return new Set(shards.filter(({ owner }) => owner === node.name).map(({ shard }) => shard));
    },
    serversCpuMicros: () => servers.reduce((sum, { pid }) => sum + cpuMicrosOf(pid!), 0),
    close,
  };
}

interface ShardOwner {
  readonly shard: number;
  readonly owner: string | null;
}

/** Who owns each shard, as a node sees it. */
async function shardsAt({ adminUrl }: BenchNode): Promise<readonly ShardOwner[]> {
  const answer = await fetch(`${adminUrl}/admin/cluster`, { headers: { authorization: `Bearer ${ADMIN_TOKEN}` } });
  return ((await answer.json()) as { shards: readonly ShardOwner[] }).shards;
}

async function startNode(name: string, url: string, replicas: number): Promise<BenchNode> {
  const folder = makeFolder();
  const server = await startMeasured('src/main.ts', [], {
    DATA_DIR: folder,
    PORT: '0',
    ADMIN_PORT: '0',
    ADMIN_TOKEN,
    LOG_LEVEL: 'info',
    TICKET_KEY: Buffer.alloc(32, 5).toString('base64url'),
    WEBHOOK_SECRET_A: WEBHOOK_SECRET,
    WEBHOOK_SECRET_B: WEBHOOK_SECRET,
    NATS_URL: url,
    NODE_NAME: name,
    CLUSTER_NAME: 'bench',
    CLUSTER_SHARDS: String(SHARDS),
    CLUSTER_REPLICAS: String(replicas),
  });
  const begin = performance.now();
  while ((await fetch(`${server.url}/health/ready`)).status !== 200) {
    if (performance.now() - begin > READY_MS_MAX) throw new Error(`${name} is not ready`);
    await pause(20);
  }
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  return {
    ...server,
    name,
    stop: () => server.stop().finally(remove),
    kill: () => server.kill().finally(remove),
  };
}
