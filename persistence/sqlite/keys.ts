/**
 * The key store of a data folder: `keys.db`, beside the journal and outside its chain.
 *
 *  1. A thread of its own writes (`keys-worker.ts`): making a batch of keys and destroying cost fsyncs, which the
 *     caller's thread must not wait for. Reading is done here, over a connection that cannot write.
 *  2. The thread has one destruction at a time; those that come meanwhile are combined, with one fold of the log.
 *  3. The folder's lock is the caller's: the journal of the folder was opened before.
 */
import { Worker } from 'node:worker_threads';
import { existsSync } from 'node:fs';
import { GatheredDestruction, KeyStoreFault, KeysUnusable, type Key, type KeyStore } from '../keys.ts';
import { KeyPool } from '../key-pool.ts';
import { KeyReader, keysPath } from './key-file.ts';
import type { FromKeysWorker, KeysFailure, KeysRequest, NumberedRequest } from './keys-worker.ts';

interface SqliteKeysOptions {
  readonly folder: string;
  readonly poolSize?: number | undefined;
  /** New keys could not be stored; it is tried again. */
  readonly onFault?: ((fault: unknown) => void) | undefined;
  /** How long other processes that have the file are waited for. */
  readonly busyWaitMs?: number | undefined;
}

/** The id of a folder's keys, or null when it has none. Throws KeysUnusable when they cannot be read. */
export function readKeysId(folder: string): string | null {
  const path = keysPath(folder);
  if (!existsSync(path)) return null;
  const reader = new KeyReader(path);
  try {
    return reader.identity.keysId;
  } finally {
    reader.close();
  }
}

/** Opens the keys of a folder, or makes them, with a full pool. Rejects with KeysUnusable and KeyStoreFault. */
export async function openSqliteKeys({
  folder,
  poolSize,
  onFault,
  busyWaitMs,
}: SqliteKeysOptions): Promise<SqliteKeys> {
  const worker = new Worker(new URL('./keys-worker.ts', import.meta.url), {
    workerData: { path: keysPath(folder), busyWaitMs },
    execArgv: [],
  });
  const first = await new Promise<FromKeysWorker>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  if (first.kind !== 'READY') throw errorOf(first.kind === 'NOT_OPENED' ? first.failure : closedFailure);
  const thread = new KeysThread(worker);
  const pool = new KeyPool({
    store: (keys) => thread.request(storeRequest(keys)),
    ...(poolSize === undefined ? {} : { size: poolSize }),
    ...(onFault === undefined ? {} : { onFault }),
  });
  try {
    await pool.fill();
    return new SqliteKeys(new KeyReader(keysPath(folder)), pool, thread);
  } catch (error) {
    await thread.request({ kind: 'CLOSE' }).catch(() => {});
    throw error;
  }
}

function storeRequest(keys: readonly Key[]): KeysRequest {
  return { kind: 'STORE', ids: keys.map(({ id }) => id), keys: Buffer.concat(keys.map(({ key }) => key)) };
}

/** Requests to the thread, each settled by its answer. */
class KeysThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<void>>();
  readonly #exited: Promise<void>;
  #number = 0;
  #failure: KeysFailure | null = null;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (message: FromKeysWorker) => this.#onMessage(message));
    worker.on('error', (error) => this.#end(`the thread that writes keys.db failed: ${error.message}`));
    this.#exited = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#end(closedFailure.message);
        resolve();
      });
    });
  }

  request(request: KeysRequest): Promise<void> {
    if (this.#failure !== null) return Promise.reject(errorOf(this.#failure));
    const waiting = Promise.withResolvers<void>();
    this.#number += 1;
    this.#waiting.set(this.#number, waiting);
    this.#worker.postMessage({ number: this.#number, request } satisfies NumberedRequest);
    return waiting.promise;
  }

  async close(): Promise<void> {
    try {
      await this.request({ kind: 'CLOSE' });
    } finally {
      await this.#exited;
    }
  }

  #onMessage(message: FromKeysWorker): void {
    if (message.kind === 'READY' || message.kind === 'NOT_OPENED') return;
    const waiting = this.#waiting.get(message.number);
    this.#waiting.delete(message.number);
    if (message.kind === 'DONE') waiting?.resolve();
    else waiting?.reject(errorOf(message.failure));
  }

  #end(message: string): void {
    this.#failure ??= { ...closedFailure, message };
    for (const { reject } of this.#waiting.values()) reject(errorOf(this.#failure));
    this.#waiting.clear();
  }
}

export class SqliteKeys implements KeyStore {
  readonly keysId: string;
  readonly addressKey: Buffer;
  readonly #reader: KeyReader;
  readonly #pool: KeyPool;
  readonly #thread: KeysThread;
  readonly #destruction: GatheredDestruction;
  #closed: Promise<void> | null = null;

  constructor(reader: KeyReader, pool: KeyPool, thread: KeysThread) {
    this.keysId = reader.identity.keysId;
    this.addressKey = reader.identity.addressKey;
    this.#reader = reader;
    this.#pool = pool;
    this.#thread = thread;
    this.#destruction = new GatheredDestruction((ids) => thread.request({ kind: 'DESTROY', ids }));
  }

  take(): Key | null {
    return this.#pool.take();
  }

  async read(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    this.#refuseClosed();
    try {
      const found = new Map<string, Buffer>();
      for (const id of ids) {
        const key = this.#pool.recent(id) ?? this.#reader.find(id);
        if (key !== undefined) found.set(id, key);
      }
      return found;
    } catch (error) {
      throw new KeyStoreFault('keys.db cannot be read', 'Check the disk of the data folder and its mount.', error);
    }
  }

  async destroy(ids: readonly string[]): Promise<void> {
    this.#refuseClosed();
    this.#pool.forget(ids);
    return this.#destruction.add(ids);
  }

  async erasedThrough(label: string): Promise<number> {
    this.#refuseClosed();
    return Number(this.#reader.meta(erasedThroughOf(label)) ?? 0);
  }

  async noteErased(label: string, seq: number): Promise<void> {
    this.#refuseClosed();
    return this.#thread.request({ kind: 'META', key: erasedThroughOf(label), value: String(seq) });
  }

  close(): Promise<void> {
    return (this.#closed ??= this.#close());
  }

  async #close(): Promise<void> {
    const unused = await this.#pool.close();
    await this.#destruction.settled();
    try {
      await this.#thread.request({ kind: 'REMOVE', ids: unused });
    } finally {
      // The last connection to close folds the log. That is the thread's.
      this.#reader.close();
      await this.#thread.close();
    }
  }

  #refuseClosed(): void {
    if (this.#closed !== null) throw errorOf(closedFailure);
  }
}

const closedFailure: KeysFailure = {
  message: 'the key store is closed',
  hint: 'Start the service again.',
  isUnusable: false,
};

function erasedThroughOf(label: string): string {
  return `erased_through.${label}`;
}

function errorOf({ message, hint, isUnusable }: KeysFailure): Error {
  return isUnusable ? new KeysUnusable(message, hint) : new KeyStoreFault(message, hint);
}
