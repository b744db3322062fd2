/**
 * The key store of a cluster: one stream, which all nodes share and which is outside the logs of the shards.
 *
 *  1. The first message of the stream is its identity, with the address key. Whoever appends it first made it;
 *     everybody else reads it.
 *  2. A refill of the pool sends some messages together, each with one batch. A batch is in one message until keys of
 *     it are destroyed.
 *  3. One destruction is under way at a time; those that come meanwhile are combined.
 *  4. Keys that were handed out here stay in memory for a minute at most, because the node that owns the event may
 *     destroy them.
 *  5. Keys that were not handed out are erased at the end, as far as the servers answer. Those of a node that was
 *     killed stay: nothing is sealed with them.
 *  6. Servers that elect a leader answer nothing for some seconds. A read waits for them, as a call waits for the owner
 *     of its event. All reads that wait share one look at the stream, so that many cost the servers no more than one.
 */
import {
  GatheredDestruction,
  KEY_BYTES,
  KeyStoreFault,
  KeysUnusable,
  newIdentity,
  type Key,
  type KeysIdentity,
  type KeyStore,
} from '../../keys.ts';
import { KeyPool } from '../../key-pool.ts';
import { messageOf } from '../../faults.ts';
import { BATCH_KEYS, batchesOf, encodeBatch, groupIds, idOf, placeOfKey, topicOf } from './batches.ts';
import { destroyKeys, readBatches } from './batch-log.ts';
import type { KeyLog } from '../../key-log.ts';
import { causeOf, LogUnreachable } from '../../shard-log.ts';
import { CALL_MS_MAX, machineTiming, pauseFor, type Timing } from '../timing.ts';

interface KeyStreamOptions {
  readonly log: KeyLog;
  /** False where the stream must have keys already. */
  readonly mayCreate?: boolean;
  readonly poolSize?: number | undefined;
  /** New keys could not be stored; it is tried again. */
  readonly onFault?: ((fault: unknown) => void) | undefined;
  readonly timing?: Timing;
  /** Random bytes; a simulation brings its own. */
  readonly random?: (bytes: number) => Buffer;
}

/** How long a key that was handed out stays in memory (rule 4). */
const RECENT_MS_MAX = 60_000;
/** Batches that are known not to be there; nobody adds one later. */
const ABSENT_MAX = 10_000;
/** An election takes some seconds. */
const IDENTITY_TRIES_MAX = 100;
const IDENTITY_PAUSE_MS = 100;
/** A leader that was just elected has what it acknowledged within a second or two. */
const MISSING_TRIES_MAX = 20;
const LOOK_EVERY_MS = 100;
/** A look is over after so long: a server that became the leader meanwhile does not have the question. */
const LOOK_MS_MAX = 500;

export const IDENTITY_TOPIC = 'identity';
const UNREACHABLE_HINT = 'Look at the NATS servers: holdfast cluster check.';

/**
 * Opens the keys of a cluster with a full pool, and makes them where there are none. Rejects with KeysUnusable and
 * KeyStoreFault.
 */
export async function openKeyStream(options: KeyStreamOptions): Promise<StreamKeys> {
  const { log, mayCreate = true, timing = machineTiming } = options;
  const identity = await reaching('the keys cannot be opened', () =>
    mayCreate ? openIdentity(log, timing, options.random) : readIdentity(log, timing),
  );
  if (identity === null) throw missing();
  const keys = new StreamKeys(identity, options);
  try {
    await keys.fill();
    return keys;
  } catch (error) {
    await keys.close().catch(() => {});
    throw error;
  }
}

export class StreamKeys implements KeyStore {
  readonly keysId: string;
  readonly addressKey: Buffer;
  readonly #log: KeyLog;
  readonly #timing: Timing;
  readonly #pool: KeyPool;
  readonly #absent = new Set<string>();
  readonly #destruction: GatheredDestruction;
  #closed: Promise<void> | null = null;
  /** The look of everybody who waits for the stream (rule 6). */
  #look: Promise<boolean> | null = null;
  #cancelForgetting = (): void => {};

  constructor({ keysId, addressKey }: KeysIdentity, options: Omit<KeyStreamOptions, 'mayCreate'>) {
    const { log, poolSize, onFault, timing = machineTiming, random } = options;
    this.keysId = keysId;
    this.addressKey = addressKey;
    this.#log = log;
    this.#timing = timing;
    this.#pool = new KeyPool({
      store: (keys) => storeKeys(log, keys),
      alignTo: BATCH_KEYS,
      ...(poolSize === undefined ? {} : { size: poolSize }),
      ...(onFault === undefined ? {} : { onFault }),
      ...(random === undefined ? {} : { random }),
    });
    this.#destruction = new GatheredDestruction((ids) =>
      reaching('keys cannot be destroyed', () => destroyKeys(log, ids, timing)),
    );
    this.#forgetLater();
  }

  /** Fills the pool. Rejects with KeyStoreFault. */
  fill(): Promise<void> {
    return reaching('no new keys can be made', () => this.#pool.fill());
  }

  take(): Key | null {
    return this.#pool.take();
  }

  async read(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    this.#refuseClosed();
    const keys = new Map<string, Buffer>();
    const asked: string[] = [];
    for (const id of ids) {
      const key = this.#pool.recent(id);
      if (key === undefined) asked.push(id);
      else keys.set(id, key);
    }
    if (asked.length === 0) return keys;
    const topics = [...groupIds(asked).keys()];
    const found = await reaching('the keys cannot be read', () =>
      this.#untilAnswered(() => readBatches(this.#log, topics, (topic) => this.#absent.has(topic))),
    );
    for (const topic of topics) if (!found.has(topic)) this.#noteAbsent(topic);
    for (const id of asked) {
      const place = placeOfKey(id);
      const key = place === null ? undefined : found.get(topicOf(place))?.batch.keys.get(place.index);
      if (key !== undefined) keys.set(id, key);
    }
    return keys;
  }

  async destroy(ids: readonly string[]): Promise<void> {
    this.#refuseClosed();
    this.#pool.forget(ids);
    return this.#destruction.add(ids);
  }

  async erasedThrough(label: string): Promise<number> {
    this.#refuseClosed();
    const message = await reaching('the keys cannot be read', () => this.#log.newest(erasedTopic(label)));
    return message === null ? 0 : Number(Buffer.from(message.body).toString());
  }

  async noteErased(label: string, seq: number): Promise<void> {
    this.#refuseClosed();
    const answer = await this.#log.replace(erasedTopic(label), Buffer.from(String(seq)));
    if (answer.outcome !== 'APPENDED') throw notStored(causeOf(answer));
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    this.#cancelForgetting();
    this.#pool.forgetRecent();
    const unused = await this.#pool.close();
    await this.#destruction.settled();
    await reaching('unused keys cannot be removed', () => this.#removeUnused(unused));
  }

  /** A batch of which no key was handed out goes as a whole: nobody but this pool ever wrote it (rule 5). */
  async #removeUnused(ids: readonly string[]): Promise<void> {
    const unused = groupIds(ids);
    const found = await readBatches(this.#log, [...unused.keys()]);
    const others: string[] = [];
    const erased = [...found].map(async ([topic, { seq, batch }]) => {
      const { indexes } = unused.get(topic)!;
      const isUntouched = batch.destroyed.size === 0 && [...batch.keys.keys()].every((index) => indexes.has(index));
      if (isUntouched) await this.#log.erase(seq);
      else for (const index of indexes) others.push(idOf(batch, index));
    });
    await Promise.all(erased);
    await destroyKeys(this.#log, others, this.#timing);
  }

  /**
   * The answer to a request, which is sent again as soon as the stream answers (rule 6). Rejects with LogUnreachable.
   */
  async #untilAnswered<Result>(request: () => Promise<Result>): Promise<Result> {
    const untilMs = this.#timing.stopwatchMs() + CALL_MS_MAX;
    for (;;) {
      try {
        return await request();
      } catch (error) {
        if (!(error instanceof LogUnreachable)) throw error;
        do {
          if (this.#closed !== null || this.#timing.stopwatchMs() >= untilMs) throw error;
        } while (!(await this.#nextLook()));
      }
    }
  }

  #nextLook(): Promise<boolean> {
    return (this.#look ??= this.#lookSoon().finally(() => (this.#look = null)));
  }

  /** Whether the stream answers. */
  async #lookSoon(): Promise<boolean> {
    await pauseFor(this.#timing, LOOK_EVERY_MS);
    const answer = this.#log.lastSeq().then(
      () => true,
      () => false,
    );
    const over = new AbortController();
    const silence = pauseFor(this.#timing, LOOK_MS_MAX, over.signal).then(() => false);
    return Promise.race([answer, silence]).finally(() => over.abort());
  }

  #noteAbsent(topic: string): void {
    if (this.#absent.size >= ABSENT_MAX) this.#absent.clear();
    this.#absent.add(topic);
  }

  #forgetLater(): void {
    this.#cancelForgetting = this.#timing.after(RECENT_MS_MAX, () => {
      this.#pool.forgetRecent();
      this.#forgetLater();
    });
  }

  #refuseClosed(): void {
    if (this.#closed !== null) throw new KeyStoreFault('the key store is closed', 'Start the service again.');
  }
}

/** The identity of a stream (rule 1), or null when it has none. Rejects with LogUnreachable and KeysUnusable. */
export async function readIdentity(log: KeyLog, timing: Timing = machineTiming): Promise<KeysIdentity | null> {
  for (let tries = 0; tries < MISSING_TRIES_MAX; tries += 1) {
    if (tries > 0) await pauseFor(timing, IDENTITY_PAUSE_MS);
    const message = await log.newest(IDENTITY_TOPIC);
    if (message !== null) return decodeIdentity(message.body);
    if ((await log.lastSeq()) === 0) return null;
  }
  return null;
}

/** The body of the message that has the identity. */
export function encodeIdentity({ keysId, addressKey }: KeysIdentity): Buffer {
  return Buffer.concat([addressKey, Buffer.from(keysId)]);
}

/** The identity, which is made where the stream is empty (rule 1). */
async function openIdentity(log: KeyLog, timing: Timing, random?: (bytes: number) => Buffer): Promise<KeysIdentity> {
  const made = newIdentity(random);
  for (let tries = 0; tries < IDENTITY_TRIES_MAX; tries += 1) {
    if (tries > 0) await pauseFor(timing, IDENTITY_PAUSE_MS);
    const message = await log.newest(IDENTITY_TOPIC);
    if (message !== null) return decodeIdentity(message.body);
    const answer = await log.append(IDENTITY_TOPIC, encodeIdentity(made), 0);
    if (answer.outcome === 'APPENDED') return made;
    if (answer.outcome === 'UNKNOWN' && tries + 1 === IDENTITY_TRIES_MAX)
      throw new LogUnreachable('the stream of keys cannot be written', answer.cause);
  }
  throw missing();
}

export function decodeIdentity(body: Uint8Array): KeysIdentity {
  const bytes = Buffer.from(body);
  const keysId = bytes.toString('utf8', KEY_BYTES);
  if (keysId !== '') return { keysId, addressKey: bytes.subarray(0, KEY_BYTES) };
  throw new KeysUnusable('the stream of keys has no address key', 'Restore the keys from a backup.');
}

async function storeKeys(log: KeyLog, keys: readonly Key[]): Promise<void> {
  const sending = batchesOf(keys).map((batch) => log.put(topicOf(batch), encodeBatch(batch)));
  for (const answer of await Promise.all(sending)) {
    if (answer.outcome !== 'APPENDED') throw notStored(causeOf(answer));
  }
}

function erasedTopic(label: string): string {
  return `erased.${Buffer.from(label).toString('base64url')}`;
}

function notStored(cause: unknown): KeyStoreFault {
  const reason = cause === undefined ? '' : `: ${messageOf(cause)}`;
  return new KeyStoreFault(`the stream of keys cannot be written${reason}`, UNREACHABLE_HINT, cause);
}

function missing(): KeysUnusable {
  return new KeysUnusable(
    'the stream of keys has no identity',
    'An import that was cut off leaves it so: import again.',
  );
}

async function reaching<Result>(what: string, request: () => Promise<Result>): Promise<Result> {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof LogUnreachable)) throw error;
    throw new KeyStoreFault(`${what}: ${error.message}`, UNREACHABLE_HINT, error);
  }
}
