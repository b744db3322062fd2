/**
 * The servers of a cluster, opened for one command. Loaded only where NATS_URL is set, because it loads the client of
 * NATS.
 */
import { natsBus, type Bus } from '#cluster/calls/bus.ts';
import { unverifiedBus } from '#cluster/calls/signed-bus.ts';
import type { ShardStore } from '#cluster/moving/backup.ts';
import { openBuckets } from '#persistence/nats/servers/buckets.ts';
import { ObjectsUnreachable } from '#persistence/objects.ts';
import { openServers, type ClusterServers } from '#persistence/nats/servers/servers.ts';
import { LogUnreachable } from '#persistence/shard-log.ts';
import { messageOf } from '#persistence/faults.ts';
import type { ClusterConfig } from '#service/config.ts';
import { clusterSettings } from './access.ts';
import { CommandFailure, type CliCall } from '../terminal/command.ts';

interface OpenCluster {
  readonly settings: ClusterConfig;
  readonly store: ShardStore;
  /** To hear whether there are nodes; that they are of this cluster is not proved. */
  readonly bus: Pick<Bus, 'subscribe'>;
  readonly keys: ClusterKeys;
  /** The streams of those object stores that are not empty. */
  filledBuckets(): Promise<readonly string[]>;
}

/** The stream of the cluster's keys; see `persistence/nats/servers/servers.ts`. */
type ClusterKeys = Pick<ClusterServers, 'keyLog' | 'existingKeyLog' | 'noteKeysId'>;

/** For servers that are electing a leader; a command does not wait for ever as a node does. */
const CONNECT_MS_MAX = 10_000;

/**
 * Runs something with the cluster of the environment, and closes it. With `mustExist` one that no node has made is
 * refused. Throws WrongUse, and CommandFailure when the servers cannot be reached.
 */
export async function withCluster<Result>(
  call: CliCall,
  { mustExist }: { readonly mustExist: boolean },
  use: (cluster: OpenCluster) => Promise<Result>,
): Promise<Result> {
  const settings = clusterSettings(call);
  let servers: ClusterServers | null = null;
  let reason = '';
  try {
    servers = await openServers(settings, {
      name: 'holdfast-command',
      mustExist,
      signal: AbortSignal.timeout(CONNECT_MS_MAX),
      onWaiting: (why) => (reason = `: ${why}`),
    });
    const { archive } = await openBuckets(servers.connection.nats, settings);
    const { shards } = settings;
    const opened = servers;
    const store = { shards, log: (shard: number) => opened.log(shard), archive };
    const filledBuckets = () => opened.filledBuckets();
    return await use({
      settings,
      store,
      bus: unverifiedBus(natsBus(servers.connection)),
      keys: servers,
      filledBuckets,
    });
  } catch (error) {
    if (!(error instanceof LogUnreachable || error instanceof ObjectsUnreachable)) throw error;
    throw new CommandFailure(
      `the NATS servers could not be reached: ${messageOf(error)}${reason}`,
      'Check NATS_URL, and that a majority of the servers runs: holdfast cluster check.',
      error,
    );
  } finally {
    await servers?.close();
  }
}
