/**
 * What `holdfast cluster check` finds in the streams: those of the shards, and that of the keys of personal data.
 *
 * 1. Streams are only looked at. Only `holdfast backup`, and `holdfast verify` on its folder, prove that every sealed
 *    text has its key, because they read every fact; here the keys must be those that the shards are sealed with.
 */
import type { ServerConnection } from '#persistence/nats/connection.ts';
import { StreamInspection, type SeenKeys, type SeenShard } from '#persistence/nats/servers/inspection.ts';
import type { ClusterConfig } from '#service/config.ts';
import { counted } from '../terminal/output.ts';

export interface ClusterFinding {
  readonly name: 'servers' | 'access' | 'TLS' | 'shards' | 'keys' | 'race guard' | 'append' | 'fsync' | 'space';
  readonly verdict: 'GOOD' | 'BAD' | 'UNSEEN';
  readonly detail: string;
  /** What an operator should do; null where everything is good. */
  readonly change: string | null;
}

const NAMED_MAX = 10;
const MAJORITY = 'Start the servers that are missing; a majority must run and reach each other.';

export function good(name: ClusterFinding['name'], detail: string): ClusterFinding {
  return { name, verdict: 'GOOD', detail, change: null };
}

export function bad(name: ClusterFinding['name'], detail: string, change: string): ClusterFinding {
  return { name, verdict: 'BAD', detail, change };
}

/** The shards, then the keys where there are shards. */
export async function* checkStreams(
  cluster: ClusterConfig,
  connection: ServerConnection,
): AsyncIterable<ClusterFinding> {
  let inspection: StreamInspection;
  let shards: readonly SeenShard[];
  try {
    inspection = await StreamInspection.open(connection, cluster.clusterName);
    shards = await inspection.shards();
  } catch (error) {
    const change = 'A majority of the servers must run with JetStream and reach each other.';
    yield bad('shards', `the servers do not list them: ${(error as Error).message}`, change);
    return;
  }
  yield shardsOf(cluster, shards);
  if (shards.length === 0) return;
  try {
    yield keysOf(cluster, await inspection.keys());
  } catch (error) {
    yield bad('keys', `their stream does not answer: ${(error as Error).message}`, MAJORITY);
  }
}

function shardsOf(cluster: ClusterConfig, shards: readonly SeenShard[]): ClusterFinding {
  if (shards.length === 0) return good('shards', 'none yet; the first node makes them');
  if (shards.length !== cluster.shards) {
    const change = `Set CLUSTER_SHARDS=${shards.length}, as the first node fixed it.`;
    return bad('shards', `${shards.length}, but CLUSTER_SHARDS is ${cluster.shards}`, change);
  }
  const other = shards.find(({ state }) => state !== null && state.replicas !== cluster.replicas);
  if (other !== undefined) {
    const { replicas } = other.state!;
    const change = `Set CLUSTER_REPLICAS=${replicas}, as the first node fixed it.`;
    return bad('shards', `${counted(replicas, 'replica')} each, but CLUSTER_REPLICAS is ${cluster.replicas}`, change);
  }
  const leaderless = shards.filter(({ state }) => state === null).map(({ shard }) => shard);
  if (leaderless.length > 0) {
    return bad('shards', `${listOf(leaderless)} have no leader: nothing can be sold there`, MAJORITY);
  }
  const behind = new Set(shards.flatMap(({ state }) => state!.behind));
  if (behind.size > 0) return lagging('shards', [...behind]);
  return good('shards', `${shards.length} with ${counted(cluster.replicas, 'replica')} each, all of them up to date`);
}

function listOf(shards: readonly number[]): string {
  const more = shards.length - NAMED_MAX;
  return `${shards.slice(0, NAMED_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function keysOf({ replicas }: ClusterConfig, { stream, state, keysId, notedId }: SeenKeys): ClusterFinding {
  const restore =
    'Put the stream back from a copy; where there is none, start one node with KEYS_LOST=accept: what was sealed then reads as erased.';
  if (state === 'MISSING') {
    if (notedId === null) return good('keys', 'none yet; the first node makes them');
    return bad('keys', `the stream ${stream} is missing, and personal data are sealed with its keys`, restore);
  }
  if (state === null) return bad('keys', `${stream} has no leader: nothing can be ordered`, MAJORITY);
  if (keysId !== notedId && notedId !== null) {
    return bad('keys', `${stream} does not have the keys that personal data are sealed with`, restore);
  }
  if (state.replicas !== replicas) {
    const change = `Give it as many as the shards have: nats stream edit ${stream} --replicas ${replicas}.`;
    return bad('keys', `${stream} has ${counted(state.replicas, 'replica')}, the shards have ${replicas}`, change);
  }
  if (state.behind.length > 0) return lagging('keys', state.behind);
  const whose = notedId === null ? 'nothing is sealed yet' : 'the keys that personal data are sealed with';
  return good('keys', `${stream} up to message ${state.head}, ${counted(replicas, 'replica')}, up to date; ${whose}`);
}

function lagging(name: ClusterFinding['name'], servers: readonly string[]): ClusterFinding {
  const change = 'Start it, or wait until it has caught up, and check again before you stop another one.';
  return bad(name, `${servers.toSorted().join(', ')} does not have everything`, change);
}
