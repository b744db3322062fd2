/**
 * The streams of a cluster on its NATS servers: one for each shard, made by the first node, and the settings that it
 * fixed.
 *
 * 1. The number of shards decides where an event lies, for ever: the first node writes it into the metadata of shard
 *    0's stream, and a node with another number is refused. The same holds for the number of replicas, which the
 *    streams have.
 * 2. Streams are made a few at a time and only where they are missing, so that nodes may start together.
 * 3. The id of the keys that personal data are sealed with stands there as well, so that it is noticed when the stream
 *    of keys is gone.
 * 4. The key that nodes sign their messages with is noted with the stream of the race guard. Where every key is lost,
 *    that stream may be deleted while no node runs.
 * 5. Nothing in a stream expires by age, number or bytes; messages of shards can be purged, not deleted.
 */

import {
  DiscardPolicy,
  JetStreamApiError,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type JetStreamManager,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { messageOf } from '../../faults.ts';
import {
  ANSWER_MS_MAX,
  connectToServers,
  ServersRefused,
  type ConnectOptions,
  type ServerAccess,
  type ServerConnection,
} from '../connection.ts';
import { bucketStreams } from './buckets.ts';
import type { KeyLog } from '../../key-log.ts';
import { raceGuard } from './race-guard.ts';
import { LogUnreachable, type ShardLog } from '../../shard-log.ts';
import { keyStreamPlace, StreamKeyLog } from '../keys/stream-log.ts';
import { StreamLog, type StreamAddress } from '../log/stream-log.ts';
import { machineTiming, pauseFor } from '../timing.ts';

export interface ClusterSettings extends ServerAccess {
  /** Prefix of streams and subjects. */
  readonly clusterName: string;
  readonly shards: number;
  readonly replicas: number;
}

const STREAMS_AT_A_TIME = 4;
const RETRY_MS = 500;
/** For making streams, which takes an election each. */
const MAKE_MS_MAX = 5_000;
/** What tells the streams of one cluster from others. */
const SHARDS_KEY = 'holdfast_shards';
/** Which keys the facts of the cluster are sealed with. */
export const KEYS_KEY = 'holdfast_keys';
/** Which key nodes sign their messages with. */
const MESSAGES_KEY = 'holdfast_messages';
const NAME_IN_USE = 10_058;
export const STREAM_NOT_FOUND = 10_059;
const GUARD_MESSAGES_KEPT = 1_000;

interface OpenOptions extends ConnectOptions {
  /** Refuses where no node has made the streams yet, instead of making them. */
  readonly mustExist?: boolean;
}

/**
 * Connects and makes the streams that are missing; waits while servers cannot be reached. Rejects with ServersRefused.
 */
export async function openServers(settings: ClusterSettings, options: OpenOptions): Promise<ClusterServers> {
  const connection = await connectToServers(settings, options);
  try {
    const jsm = await jetstreamManager(connection.nats, { checkAPI: false, timeout: MAKE_MS_MAX });
    for (;;) {
      try {
        await makeStreams(jsm, settings, options.mustExist === true);
        return new ClusterServers(connection, await managerFor(connection), settings);
      } catch (error) {
        if (error instanceof ServersRefused) throw error;
        if (options.signal?.aborted === true) throw new LogUnreachable('the streams cannot be made', error);
        options.onWaiting?.(`the streams of the cluster cannot be made: ${messageOf(error)}`);
      }
      await pauseFor(machineTiming, RETRY_MS, options.signal);
    }
  } catch (error) {
    await connection.close();
    throw error;
  }
}

export class ClusterServers {
  readonly connection: ServerConnection;
  readonly settings: ClusterSettings;
  readonly #jsm: JetStreamManager;

  constructor(connection: ServerConnection, jsm: JetStreamManager, settings: ClusterSettings) {
    this.connection = connection;
    this.#jsm = jsm;
    this.settings = settings;
  }

  get isConnected(): boolean {
    return this.connection.isConnected;
  }

  log(shard: number): ShardLog {
    return new StreamLog(this.connection, this.#jsm, shardPlace(this.settings.clusterName, shard));
  }

  /** The stream of the cluster's keys, which is made where it is missing. Rejects with LogUnreachable. */
  async keyLog(): Promise<KeyLog> {
    const place = keyStreamPlace(this.settings.clusterName);
    await reaching(() => makeStream(this.#jsm, keyConfig(place, this.settings.replicas)));
    return new StreamKeyLog(this.connection, this.#jsm, place);
  }

  /** The same where there is one, else null. Rejects with LogUnreachable. */
  async existingKeyLog(): Promise<KeyLog | null> {
    const place = keyStreamPlace(this.settings.clusterName);
    const info = await reaching(() => infoOf(this.#jsm, place.stream));
    return info !== null ? new StreamKeyLog(this.connection, this.#jsm, place) : null;
  }

  /** The id of the keys that the cluster is sealed with; null before the first. Rejects with LogUnreachable. */
  async notedKeysId(): Promise<string | null> {
    const { config } = await reaching(() => this.#jsm.streams.info(this.#firstStream));
    return config.metadata?.[KEYS_KEY] ?? null;
  }

  /** Notes the id (rule 3). Rejects with LogUnreachable. */
  async noteKeysId(keysId: string): Promise<void> {
    await reaching(async () => {
      const { config } = await this.#jsm.streams.info(this.#firstStream);
      await this.#jsm.streams.update(this.#firstStream, { metadata: { ...config.metadata, [KEYS_KEY]: keysId } });
    });
  }

  /**
   * Notes that messages are signed with the first of these keys (rule 4). Rejects with ServersRefused where the cluster
   * has none of them, with LogUnreachable.
   */
  async noteMessageKey(keyIds: readonly string[]): Promise<void> {
    const [signing = ''] = keyIds;
    const { clusterName, replicas } = this.settings;
    const place = guardPlace(clusterName);
    await reaching(() => makeStream(this.#jsm, guardConfig(place, replicas, { [MESSAGES_KEY]: signing })));
    const { config } = await reaching(() => this.#jsm.streams.info(place.stream));
    const noted = config.metadata?.[MESSAGES_KEY];
    if (noted === signing) return;
    if (noted !== undefined && !keyIds.includes(noted)) throw otherMessageKey(place.stream);
    const metadata = { ...config.metadata, [MESSAGES_KEY]: signing };
    await reaching(() => this.#jsm.streams.update(place.stream, { metadata }));
  }

  /** The streams of the cluster's stores of objects that have something. Rejects with LogUnreachable. */
  async filledBuckets(): Promise<readonly string[]> {
    const filled: string[] = [];
    for (const stream of bucketStreams(this.settings.clusterName)) {
      const info = await reaching(() => infoOf(this.#jsm, stream));
      if (info !== null && info.state.messages > 0) filled.push(stream);
    }
    return filled;
  }

  get #firstStream(): string {
    return shardPlace(this.settings.clusterName, 0).stream;
  }

  /**
   * Rejects with ServersRefused when two writers can append after the same message, with LogUnreachable when that
   * cannot be found out.
   */
  async guard(rounds?: number, waiting: Omit<ConnectOptions, 'name'> = {}): Promise<void> {
    const place = guardPlace(this.settings.clusterName);
    await reaching(() => makeStream(this.#jsm, guardConfig(place, this.settings.replicas)));
    const other = await connectToServers(this.settings, { name: 'holdfast-guard', ...waiting });
    try {
      const otherJsm = await managerFor(other);
      await raceGuard(
        [new StreamLog(this.connection, this.#jsm, place), new StreamLog(other, otherJsm, place)],
        rounds,
      );
    } finally {
      await other.close();
    }
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}

function managerFor({ nats }: ServerConnection): Promise<JetStreamManager> {
  return jetstreamManager(nats, { checkAPI: false, timeout: ANSWER_MS_MAX });
}

export function shardPlace(clusterName: string, shard: number): StreamAddress {
  return { stream: `${clusterName}_J_${shard}`, subject: `${clusterName}.j.${shard}` };
}

export function guardPlace(clusterName: string): StreamAddress {
  return { stream: `${clusterName}_GUARD`, subject: `${clusterName}.guard` };
}

/** Makes shard 0's stream, which has the settings, then the others (rules 1 and 2). */
async function makeStreams(jsm: JetStreamManager, settings: ClusterSettings, mustExist: boolean): Promise<void> {
  const { clusterName, shards, replicas } = settings;
  const metadata = { [SHARDS_KEY]: String(shards) };
  const first = shardPlace(clusterName, 0);
  const present = new Set<string>();
  for await (const name of jsm.streams.names(`${clusterName}.j.*`)) present.add(name);
  if (mustExist && !present.has(first.stream)) throw noCluster(clusterName);
  if (!present.has(first.stream)) await makeStream(jsm, { ...shardConfig(first, replicas), metadata });
  const { config } = await jsm.streams.info(first.stream);
  requireSame('CLUSTER_SHARDS', config.metadata?.[SHARDS_KEY] ?? 'unknown', String(shards));
  requireSame('CLUSTER_REPLICAS', String(config.num_replicas), String(replicas));
  const missing = Array.from({ length: shards }, (_, shard) => shardPlace(clusterName, shard)).filter(
    ({ stream }) => !present.has(stream),
  );
  const makeNext = async (): Promise<void> => {
    for (let place = missing.pop(); place !== undefined; place = missing.pop())
      await makeStream(jsm, { ...shardConfig(place, replicas), ...(place.stream === first.stream && { metadata }) });
  };
  await Promise.all(Array.from({ length: STREAMS_AT_A_TIME }, makeNext));
}

/** Makes a stream, unless another node did so with whatever settings. */
async function makeStream(jsm: JetStreamManager, config: StreamOptions): Promise<void> {
  try {
    await jsm.streams.add(config);
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === NAME_IN_USE)) throw error;
  }
}

type StreamOptions = Partial<StreamConfig> & { readonly name: string };

function shardConfig({ stream, subject }: StreamAddress, replicas: number): StreamOptions {
  return {
    name: stream,
    subjects: [subject],
    storage: StorageType.File,
    retention: RetentionPolicy.Limits,
    num_replicas: replicas,
    max_msgs: -1,
    max_bytes: -1,
    max_age: 0,
    discard: DiscardPolicy.New,
    deny_delete: true,
    deny_purge: false,
    allow_direct: false,
    allow_rollup_hdrs: false,
  };
}

/** Keys can be overwritten, one message at a time; what is noted beside them is replaced. */
function keyConfig({ stream, subject }: StreamAddress, replicas: number): StreamOptions {
  const place = { stream, subject: `${subject}.>` };
  return { ...shardConfig(place, replicas), deny_delete: false, allow_rollup_hdrs: true };
}

/** What the servers say of a stream; null where there is none. */
async function infoOf(jsm: JetStreamManager, stream: string): Promise<StreamInfo | null> {
  try {
    return await jsm.streams.info(stream);
  } catch (error) {
    if (error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND) return null;
    throw error;
  }
}

async function reaching<Result>(request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    throw new LogUnreachable(`the streams of the cluster do not answer: ${messageOf(error)}`, error);
  }
}

function guardConfig(
  place: StreamAddress,
  replicas: number,
  metadata: Readonly<Record<string, string>> = {},
): StreamOptions {
  return {
    ...shardConfig(place, replicas),
    max_msgs: GUARD_MESSAGES_KEPT,
    discard: DiscardPolicy.Old,
    deny_delete: false,
    metadata,
  };
}

function noCluster(clusterName: string): ServersRefused {
  return new ServersRefused(
    `there is no cluster ${clusterName} on these servers`,
    'Check NATS_URL and CLUSTER_NAME; the first node makes the cluster.',
  );
}

function otherMessageKey(guardStream: string): ServersRefused {
  const hint =
    'Give this node the TICKET_KEY of the others. To change it, every node has to know the new key before one signs with it: ' +
    `TICKET_KEY=OLD,NEW at all nodes, then NEW,OLD. Where the old one is lost, stop all nodes and delete the stream ${guardStream}.`;
  return new ServersRefused('TICKET_KEY is another one than that of the other nodes of this cluster', hint);
}

function requireSame(setting: string, fixed: string, given: string): void {
  if (fixed === given) return;
  const hint = `Set ${setting}=${fixed}, or another CLUSTER_NAME for another cluster.`;
  throw new ServersRefused(`${setting} is ${given}, but the first node of this cluster fixed it to ${fixed}`, hint);
}
