/** `holdfast cluster status`: the nodes that are heard, and the owner and head of every shard. Changes nothing. */
import { connectToServers, type ServerConnection } from '#persistence/nats/connection.ts';
import { StreamInspection, type LastOwner, type SeenShard } from '#persistence/nats/servers/inspection.ts';
import { LogUnreachable } from '#persistence/shard-log.ts';
import { listenForNodes, type HeardNode } from '#cluster/calls/membership.ts';
import { messageKeysOf, signedBus, unverifiedBus } from '#cluster/calls/signed-bus.ts';
import { natsBus, type Bus } from '#cluster/calls/bus.ts';
import { nodeTiming } from '#persistence/nats/timing.ts';
import type { ClusterConfig } from '#service/config.ts';
import { CommandFailure, type ExitCode } from '../terminal/command.ts';
import { counted, table, type Output } from '../terminal/output.ts';

const LISTEN_MS = 1_000;
const CONNECT_MS_MAX = 5_000;
const NOT_VERIFIED =
  'Set the TICKET_KEY of the nodes to have their heartbeats verified: without it, whoever reaches the servers may have sent them.';

interface ClusterStatus {
  readonly nodes: readonly { readonly name: string; readonly shards: number; readonly live: boolean }[];
  readonly shards: readonly {
    readonly shard: number;
    /**
     * The live node that owns the shard, or its last owner where no node announces it; null where its log has none
     * any more.
     */
    readonly owner: string | null;
    readonly epoch: number | null;
    /** The number of the newest message; null where the stream has no leader. */
    readonly head: number | null;
  }[];
}

export async function showStatus(cluster: ClusterConfig, output: Output): Promise<ExitCode> {
  const status = await readStatus(cluster);
  output.json(status);
  const live = status.nodes.filter((node) => node.live);
  output.text(
    `${cluster.clusterName}: ${counted(live.length, 'node')}, ${counted(status.shards.length, 'shard')}`,
    '',
    ...table([
      ['node', 'shards', 'state'],
      ...status.nodes.map((node) => [node.name, node.shards, node.live ? 'live' : 'silent'] as const),
    ]),
    '',
    ...table([
      ['shard', 'owner', 'epoch', 'head'],
      ...status.shards.map(({ shard, owner, epoch, head }) => {
        const name = owner === null ? 'nobody' : isLive(status, owner) ? owner : `${owner} (silent)`;
        return [shard, name, epoch ?? '', head ?? 'no leader'] as const;
      }),
    ]),
    ...(cluster.ticketKeys === null ? ['', NOT_VERIFIED] : []),
  );
  return 0;
}

async function readStatus(cluster: ClusterConfig): Promise<ClusterStatus> {
  const connection = await connectInTime(cluster);
  try {
    const inspection = await StreamInspection.open(connection, cluster.clusterName);
    const [nodes, shards] = await Promise.all([
      listenForNodes(busOf(cluster, connection), nodeTiming, cluster.clusterName, LISTEN_MS),
      inspection.shards(),
    ]);
    if (shards.length === 0) {
      throw new CommandFailure(
        `there is no cluster ${cluster.clusterName} on these NATS servers`,
        'The first node makes it. Set CLUSTER_NAME where it has another name.',
      );
    }
    const announced = new Set(nodes.flatMap((node) => [...node.shards.keys()]));
    const last = await inspection.lastOwners(shards.filter(({ shard }) => !announced.has(shard)));
    return statusOf(nodes, shards, last);
  } finally {
    await connection.close();
  }
}

/** Where the key is known, only what nodes of the cluster signed is heard. */
function busOf({ clusterName, ticketKeys }: ClusterConfig, connection: ServerConnection): Pick<Bus, 'subscribe'> {
  const bus = natsBus(connection);
  if (ticketKeys === null) return unverifiedBus(bus);
  return signedBus({ bus, time: nodeTiming, keys: messageKeysOf(clusterName, ticketKeys), instance: 'status' });
}

/**
 * Puts together what was heard and what the logs have; of several announcements of a shard the one with the highest
 * epoch counts.
 */
export function statusOf(
  heard: readonly HeardNode[],
  seen: readonly SeenShard[],
  last: ReadonlyMap<number, LastOwner>,
): ClusterStatus {
  const shards = seen.map(({ shard, state }) => {
    const owner = announcedOwner(heard, shard) ?? last.get(shard) ?? null;
    return { shard, owner: owner?.node ?? null, epoch: owner?.epoch ?? null, head: state?.head ?? null };
  });
  const live = new Set(heard.map(({ name }) => name));
  const names = new Set([...live, ...shards.flatMap(({ owner }) => owner ?? [])]);
  const nodes = [...names].sort().map((name) => ({
    name,
    shards: shards.filter(({ owner }) => owner === name).length,
    live: live.has(name),
  }));
  return { nodes, shards };
}

function announcedOwner(heard: readonly HeardNode[], shard: number): LastOwner | null {
  let best: LastOwner | null = null;
  for (const { name, shards } of heard) {
    const epoch = shards.get(shard);
    if (epoch !== undefined && epoch > (best?.epoch ?? 0)) best = { node: name, epoch };
  }
  return best;
}

function isLive({ nodes }: ClusterStatus, name: string): boolean {
  return nodes.some((node) => node.name === name && node.live);
}

/** Throws CommandFailure where no server can be reached. */
export async function connectInTime(cluster: ClusterConfig) {
  try {
    return await connectToServers(cluster, { name: 'holdfast-cli', signal: AbortSignal.timeout(CONNECT_MS_MAX) });
  } catch (error) {
    if (!(error instanceof LogUnreachable)) throw error;
    const reason = error.cause instanceof Error ? `: ${error.cause.message}` : '';
    throw new CommandFailure(
      `no NATS server answers at ${cluster.servers.join(', ')}${reason}`,
      'Start the servers, or correct NATS_URL and the credentials.',
      error,
    );
  }
}
