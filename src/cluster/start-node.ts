/**
 * Starts a node on real servers. It is loaded only where NATS_URL is set: a single machine loads neither this nor the
 * NATS client.
 *
 * 1. Nothing is claimed before the race guard has passed on these servers, and the keys of personal data are there.
 * 2. A node whose key of messages is another one than the cluster's is refused: the nodes would not hear each other
 *    and would take the shards from each other in turn. The others hear once that it was there.
 */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { startSpaceGuard } from '#engine/space-guard.ts';
import { inBackground, reportTrouble } from '#actors/trouble.ts';
import { lockFolder } from '#persistence/sqlite/lock.ts';
import { journalPath } from '#persistence/sqlite/schema.ts';
import { openBuckets } from '#persistence/nats/servers/buckets.ts';
import { ServersRefused } from '#persistence/nats/connection.ts';
import { LogUnreachable } from '#persistence/shard-log.ts';
import { ObjectsUnreachable } from '#persistence/objects.ts';
import { EXPOSED, exposureOf } from '#persistence/nats/servers/exposure.ts';
import { openServers, type ClusterServers, type ClusterSettings } from '#persistence/nats/servers/servers.ts';
import { messageOf } from '#persistence/faults.ts';
import { pauseFor, type Timing, nodeTiming } from '#persistence/nats/timing.ts';
import { createClock, reportLeap, type TimeSource } from '#actors/clock.ts';
import { KeyStoreFault } from '#persistence/keys.ts';
import { openClusterKeys } from './shards/keys.ts';
import { ClusterNode, type NodeOptions } from './node.ts';
import { heartbeatSubject } from './calls/membership.ts';
import { natsBus } from './calls/bus.ts';
import { messageKeysOf, signedBus, type MessageKeys } from './calls/signed-bus.ts';
import { StartingNode, type StartingNodeOptions } from './starting-node.ts';

/** The part of the service's settings that a node needs. */
interface NodeSettings {
  readonly cluster: ClusterSettings & {
    readonly nodeName: string;
    /** The keys of messages are made from them; a node has them. */
    readonly ticketKeys: readonly [string, ...string[]] | null;
  };
  readonly dataDir: string;
  readonly liveEventsMax: number;
  /** Whether it is accepted that keys of personal data are lost (see `shards/keys.ts`). */
  readonly keysLost?: boolean;
  readonly limits: { readonly waitingRepliesMax: number };
}

const RETRY_MS = 500;

export interface StartNodeOptions {
  /** The machine's clock unless a test brings its own. */
  readonly clockSource?: TimeSource | (() => number);
  /** What nodes measure between themselves; for tests. */
  readonly time?: Timing;
  /** Rounds of the race guard; fewer than in a shop for tests that open many clusters. */
  readonly guardRounds?: number;
  /** Has operators warned of what would be wrong where tickets are sold. */
  readonly warn?: (message: string) => void;
}

/**
 * Starts a node, which is not ready until its servers are found to be good; `whenReady` rejects with ServersRefused.
 */
export function startNode(settings: NodeSettings, options: StartNodeOptions = {}): StartingNode {
  const { clockSource, time = nodeTiming, guardRounds, warn = () => {} } = options;
  const { nodeName: node, clusterName } = settings.cluster;
  const clock = createClock(clockSource, { onLeap: reportLeap });
  const given = { clock, time, guardRounds, warn, ...(clockSource !== undefined && { clockSource }) };
  const open: StartingNodeOptions['open'] = (waiting, signal) => openNode(settings, given, waiting, signal);
  return new StartingNode({ node, clusterName, clock, open });
}

async function openNode(
  { cluster, dataDir, liveEventsMax, limits, keysLost: isLossAccepted = false }: NodeSettings,
  {
    guardRounds,
    warn,
    ...given
  }: Pick<NodeOptions, 'clock' | 'clockSource' | 'time'> &
    Required<Pick<StartNodeOptions, 'warn'>> & { readonly guardRounds: number | undefined },
  waiting: (reason: string) => void,
  signal: AbortSignal,
): Promise<ClusterNode> {
  const { nodeName, clusterName, shards, ticketKeys } = cluster;
  if (ticketKeys === null) throw new Error('a node must have ticket keys');
  const messageKeys = messageKeysOf(clusterName, ticketKeys);
  const instance = `${nodeName}.${randomUUID().slice(0, 8)}`;
  const lock = lockFolder(dataDir);
  if (existsSync(journalPath(dataDir))) reportTrouble('data-folder', ofOneMachine(dataDir));
  let reported = '';
  const onWaiting = (reason: string): void => {
    waiting(reason);
    // It is tried twice a second; whoever starts the service says what it waits for.
    if (reason !== reported) reportTrouble('cluster', reason);
    reported = reason;
  };
  const servers = await openServers(cluster, { name: `holdfast-${nodeName}`, onWaiting, signal }).catch((error) => {
    lock.release();
    throw error;
  });
  inBackground('cluster', warnOfExposure(servers, warn));
  try {
    waiting('the key of messages is being compared');
    await reaching(() => requireSameKey(servers, messageKeys, instance), onWaiting, signal);
    waiting('the race guard runs on the NATS servers');
    await reaching(() => servers.guard(guardRounds, { onWaiting, signal }), onWaiting, signal);
    waiting('the stores of snapshots, checkpoints and the archive are being opened');
    const buckets = await reaching(() => openBuckets(servers.connection.nats, cluster), onWaiting, signal);
    waiting('the keys of personal data are being opened');
    const keys = await reaching(() => openClusterKeys(servers, { isLossAccepted }), onWaiting, signal);
    const space = await startSpaceGuard({ folder: dataDir, freeBytesMin: 0 });
    const close = async (): Promise<void> => {
      space.stop();
      await servers.close();
      lock.release();
    };
    return new ClusterNode({
      ...given,
      node: nodeName,
      instance,
      cluster: clusterName,
      messageKeys,
      dataFolder: dataDir,
      liveEventsMax,
      waitingRepliesMax: limits.waitingRepliesMax,
      freeBytes: () => space.freeBytes,
      servers: {
        bus: natsBus(servers.connection),
        shards,
        log: (shard) => servers.log(shard),
        ...buckets,
        keys,
        close,
      },
    });
  } catch (error) {
    await servers.close();
    lock.release();
    throw error;
  }
}

/** Asks while the node starts: it need not wait for that. */
async function warnOfExposure({ settings }: ClusterServers, warn: (message: string) => void): Promise<void> {
  const { withoutCredentials, withoutTls } = await exposureOf(settings, settings.servers);
  const check = `${EXPOSED}; holdfast cluster check says what to change`;
  if (withoutCredentials.length > 0) {
    warn(`the NATS server ${withoutCredentials.join(', ')} asks for no credentials: ${check}`);
  }
  if (withoutTls.length > 0) {
    warn(`the NATS server ${withoutTls.join(', ')} has an address that is not loopback, and no TLS: ${check}`);
  }
}

/** Rule 2. */
async function requireSameKey(servers: ClusterServers, keys: MessageKeys, instance: string): Promise<void> {
  try {
    await servers.noteMessageKey(keys.map(({ id }) => id));
  } catch (error) {
    if (error instanceof ServersRefused) {
      const { nats } = servers.connection;
      const bus = signedBus({ bus: natsBus(servers.connection), time: nodeTiming, keys, instance });
      bus.publish(heartbeatSubject(servers.settings.clusterName), Buffer.from('{}'));
      await nats.flush();
    }
    throw error;
  }
}

function ofOneMachine(folder: string): string {
  return `${folder} has the journal of a single machine, which a node does not read: holdfast import ${folder} moves it into a cluster`;
}

/** Tries again while the servers cannot be reached. */
async function reaching<Result>(
  work: () => Promise<Result>,
  onWaiting: (reason: string) => void,
  signal: AbortSignal,
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isUnreachable = [LogUnreachable, ObjectsUnreachable, KeyStoreFault].some((kind) => error instanceof kind);
      if (!isUnreachable || signal.aborted) throw error;
      onWaiting(messageOf(error));
    }
    await pauseFor(nodeTiming, RETRY_MS, signal);
  }
}
