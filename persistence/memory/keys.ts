/**
 * The key store in memory: for tests and simulation, which can inject its faults.
 *
 * A `MemoryKeyStorage` is what would be on the disk or in the cluster. Each opened store has a pool of its own over it,
 * so that a simulated crash is to drop a store and open another one over the same storage.
 */
import { randomBytes } from 'node:crypto';
import { KeyPool } from '../key-pool.ts';
import { KEY_BYTES, KeyStoreFault, type Key, type KeyStore } from '../keys.ts';

const SIZE = 32;

export class MemoryKeyStorage {
  readonly keys = new Map<string, Buffer>();
  readonly erasedThrough = new Map<string, number>();
  readonly addressKey: Buffer;

  constructor(random: (bytes: number) => Buffer = randomBytes) {
    this.addressKey = random(KEY_BYTES);
  }
}

interface MemoryKeysOptions {
  readonly storage?: MemoryKeyStorage;
  /**
   * How many keys the pool has; it then fills again as a real one does, and may run empty. By default there is always a
   * key.
   */
  readonly poolSize?: number;
  /** Random bytes; a simulation brings its own. */
  readonly random?: (bytes: number) => Buffer;
}

export class MemoryKeys implements KeyStore {
  readonly storage: MemoryKeyStorage;
  readonly #pool: KeyPool;
  readonly #mayRunEmpty: boolean;
  #isFailing = false;
  #isClosed = false;

  constructor({ random, storage = new MemoryKeyStorage(random), poolSize }: MemoryKeysOptions = {}) {
    this.storage = storage;
    this.#mayRunEmpty = poolSize !== undefined;
    this.#pool = new KeyPool({
      store: async (keys) => this.#store(keys),
      retryMs: 1,
      size: poolSize ?? SIZE,
      ...(random === undefined ? {} : { random }),
    });
    this.#fillNow();
  }

  /** Opens a store as one on a disk is opened. */
  static async open(options: MemoryKeysOptions = {}): Promise<MemoryKeys> {
    return new MemoryKeys(options);
  }

  get addressKey(): Buffer {
    return this.storage.addressKey;
  }

  take(): Key | null {
    if (!this.#mayRunEmpty && !this.#isFailing && this.#pool.readyCount === 0) this.#fillNow();
    return this.#pool.take();
  }

  async read(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    this.#refuseTrouble();
    const found = new Map<string, Buffer>();
    for (const id of ids) {
      const key = this.storage.keys.get(id);
      if (key !== undefined) found.set(id, key);
    }
    return found;
  }

  async destroy(ids: readonly string[]): Promise<void> {
    this.#refuseTrouble();
    for (const id of ids) this.storage.keys.delete(id);
  }

  async erasedThrough(label: string): Promise<number> {
    this.#refuseTrouble();
    return this.storage.erasedThrough.get(label) ?? 0;
  }

  async noteErased(label: string, seq: number): Promise<void> {
    this.#refuseTrouble();
    this.storage.erasedThrough.set(label, seq);
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const id of await this.#pool.close()) this.storage.keys.delete(id);
  }

  /** For tests: while it fails nothing is stored, read or destroyed; keys of the pool are handed out as before. */
  fail(isFailing: boolean): void {
    this.#isFailing = isFailing;
  }

  #fillNow(): void {
    this.#pool.fillNow((keys) => this.#store(keys));
  }

  #store(keys: readonly Key[]): void {
    this.#refuseTrouble();
    for (const { id, key } of keys) this.storage.keys.set(id, Buffer.from(key));
  }

  #refuseTrouble(): void {
    if (this.#isClosed) throw new KeyStoreFault('the key store is closed (in memory)', 'Open it again.');
    if (this.#isFailing) throw new KeyStoreFault('the key store failed (in memory)', 'A test injected this fault.');
  }
}
