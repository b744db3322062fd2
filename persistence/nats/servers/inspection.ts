/** What can be seen of a cluster's streams without changing anything: for commands that show and check them. */
import { JetStreamApiError, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import type { ServerConnection } from '../connection.ts';
import { IDENTITY_TOPIC, decodeIdentity } from '../keys/keys.ts';
import { decodeRecord } from '../log/records.ts';
import { KEYS_KEY, STREAM_NOT_FOUND } from './servers.ts';
import { keyStreamPlace } from '../keys/stream-log.ts';

const REQUEST_MS_MAX = 4_000;
/** Asked at a time. */
const STREAMS_AT_A_TIME = 8;

export interface SeenShard {
  readonly shard: number;
  /** Null where the stream has no leader, so that nothing can be appended. */
  readonly state: SeenStream | null;
}

interface SeenStream {
  /** The number of the newest message. */
  readonly head: number;
  readonly replicas: number;
  /** The servers that do not have everything, or cannot be reached. */
  readonly behind: readonly string[];
}

/** The stream of a cluster's keys. */
export interface SeenKeys {
  readonly stream: string;
  /** Null where the stream has no leader; `MISSING` where there is none. */
  readonly state: SeenStream | 'MISSING' | null;
  /** The id of the keys in it; null where it has none. */
  readonly keysId: string | null;
  /** The id of the keys that the shards are sealed with; null where nothing is sealed yet. */
  readonly notedId: string | null;
}

/** The owner under whose claim the newest message of a log was written. */
export interface LastOwner {
  readonly node: string;
  readonly epoch: number;
}

export class StreamInspection {
  readonly #jsm: JetStreamManager;
  readonly #clusterName: string;

  private constructor(jsm: JetStreamManager, clusterName: string) {
    this.#jsm = jsm;
    this.#clusterName = clusterName;
  }

  static async open({ nats }: ServerConnection, clusterName: string): Promise<StreamInspection> {
    return new StreamInspection(
      await jetstreamManager(nats, { checkAPI: false, timeout: REQUEST_MS_MAX }),
      clusterName,
    );
  }

  /** Every shard that has a stream, by number. Rejects where the servers have no majority. */
  async shards(): Promise<readonly SeenShard[]> {
    const prefix = this.#streamOf('');
    const numbers: number[] = [];
    for await (const name of this.#jsm.streams.names(`${this.#clusterName}.j.*`)) {
      if (name.startsWith(prefix)) numbers.push(Number(name.slice(prefix.length)));
    }
    numbers.sort((one, other) => one - other);
    return inParallel(numbers, async (shard) => ({ shard, state: await this.#stateOf(this.#streamOf(shard)) }));
  }

  /** The owners of shards that nobody announces, as their logs have them; without those whose claim was purged. */
  async lastOwners(shards: readonly SeenShard[]): Promise<ReadonlyMap<number, LastOwner>> {
    const owners = new Map<number, LastOwner>();
    await inParallel(shards, async ({ shard, state }) => {
      const owner = state === null || state.head === 0 ? null : await this.#lastOwner(shard, state.head);
      if (owner !== null) owners.set(shard, owner);
    });
    return owners;
  }

  /** Rejects where the first shard or the keys themselves cannot be asked. */
  async keys(): Promise<SeenKeys> {
    const { stream, subject } = keyStreamPlace(this.#clusterName);
    const { config } = await this.#jsm.streams.info(this.#streamOf(0));
    const notedId = config.metadata?.[KEYS_KEY] ?? null;
    if (!(await this.#exists(stream))) return { stream, state: 'MISSING', keysId: null, notedId };
    const state = await this.#stateOf(stream);
    if (state === null) return { stream, state, keysId: null, notedId };
    const identity = await this.#jsm.streams.getMessage(stream, { last_by_subj: `${subject}.${IDENTITY_TOPIC}` });
    return { stream, state, keysId: identity === null ? null : decodeIdentity(identity.data).keysId, notedId };
  }

  async #exists(stream: string): Promise<boolean> {
    try {
      await this.#jsm.streams.info(stream);
      return true;
    } catch (error) {
      return !(error instanceof JetStreamApiError && error.code === STREAM_NOT_FOUND);
    }
  }

  async #stateOf(stream: string): Promise<SeenStream | null> {
    try {
      const { state, config, cluster } = await this.#jsm.streams.info(stream);
      const behind = (cluster?.replicas ?? []).filter(({ current, offline }) => !current || offline === true);
      return { head: state.last_seq, replicas: config.num_replicas, behind: behind.map(({ name }) => name) };
    } catch {
      return null;
    }
  }

  async #lastOwner(shard: number, head: number): Promise<LastOwner | null> {
    try {
      const last = await this.#record(shard, head);
      if (last?.kind === 'claim') return { node: last.node, epoch: head };
      const claim = last === null ? null : await this.#record(shard, last.epoch);
      return claim?.kind === 'claim' ? { node: claim.node, epoch: last!.epoch } : null;
    } catch {
      return null;
    }
  }

  async #record(shard: number, seq: number) {
    const message = await this.#jsm.streams.getMessage(this.#streamOf(shard), { seq });
    return message === null ? null : decodeRecord(message.data);
  }

  #streamOf(shard: number | ''): string {
    return `${this.#clusterName}_J_${shard}`;
  }
}

/** In the order of what is given, a few at a time. */
async function inParallel<Given, Made>(
  given: readonly Given[],
  make: (each: Given) => Promise<Made>,
): Promise<readonly Made[]> {
  const made: Made[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let n = next; n < given.length; n = next) {
      next += 1;
      made[n] = await make(given[n]!);
    }
  };
  await Promise.all(Array.from({ length: STREAMS_AT_A_TIME }, work));
  return made;
}
