/**
 * Keys that are durable and not yet handed out.
 *
 * 1. A key is in the pool only after its store called it durable.
 * 2. Below `refillBelow` keys, a batch is made that fills the pool again. One batch is under way at a time; one that
 *    failed is made again, with other keys, after `retryMs`.
 * 3. The keys handed out last stay in memory, because a sealed text is usually read soon; a destroyed key is dropped at
 *    once.
 * 4. An id is `<8 random characters>.<number>`: the characters distinguish the pool from every other one, and the
 *    number distinguishes its keys.
 */
import { randomBytes } from 'node:crypto';
import { KEY_BYTES, type Key } from './keys.ts';

interface KeyPoolOptions {
  /** Makes a batch of keys durable. */
  readonly store: (keys: readonly Key[]) => Promise<void>;
  /** How many keys a full pool has; a crash leaves at most so many unused. */
  readonly size?: number;
  readonly refillBelow?: number;
  readonly retryMs?: number;
  /** Each refill begins with a number that is a multiple of it: the numbers of a batch are in one refill. */
  readonly alignTo?: number;
  /** Random bytes; a simulation brings its own. */
  readonly random?: (bytes: number) => Buffer;
  /** A batch could not be stored. */
  readonly onFault?: (fault: unknown) => void;
}

/** Some hundred milliseconds of the fastest sale; a batch takes some ten. */
const SIZE = 2_048;
/** Keys of one generation (rule 3): some seconds of a fast sale, in half a megabyte. */
const GENERATION_KEYS = 2_048;
const RETRY_MS = 500;
const PREFIX_BYTES = 6;

export class KeyPool {
  readonly #options: KeyPoolOptions;
  readonly #size: number;
  readonly #refillBelow: number;
  readonly #random: (bytes: number) => Buffer;
  readonly #prefix: string;
  /** Handed out from the end. */
  #ready: Key[] = [];
  #made = 0;
  /**
   * Two generations (rule 3): when the younger one is full, the older one goes. To delete the oldest entry of one Map
   * for each key took 1.8 µs, because a Map steps over entries that were deleted.
   */
  #younger = new Map<string, Buffer>();
  #older = new Map<string, Buffer>();
  #refilling: Promise<void> | null = null;
  #retry: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: KeyPoolOptions) {
    this.#options = options;
    this.#size = options.size ?? SIZE;
    this.#refillBelow = options.refillBelow ?? Math.ceil(this.#size / 2);
    this.#random = options.random ?? randomBytes;
    this.#prefix = this.#random(PREFIX_BYTES).toString('base64url');
  }

  get readyCount(): number {
    return this.#ready.length;
  }

  take(): Key | null {
    if (this.#isClosed) return null;
    const key = this.#ready.pop() ?? null;
    if (key !== null) this.#remember(key);
    if (this.#ready.length < this.#refillBelow) this.#refillSoon();
    return key;
  }

  /** A key that was handed out lately; undefined for any other. */
  recent(id: string): Buffer | undefined {
    return this.#younger.get(id) ?? this.#older.get(id);
  }

  /** Forgets keys that are to be destroyed. */
  forget(ids: readonly string[]): void {
    for (const id of ids) {
      this.#younger.delete(id);
      this.#older.delete(id);
    }
  }

  /** Forgets all that was handed out: another process may have destroyed some of it. */
  forgetRecent(): void {
    this.#younger.clear();
    this.#older.clear();
  }

  #remember({ id, key }: Key): void {
    if (this.#younger.size === GENERATION_KEYS) {
      this.#older = this.#younger;
      this.#younger = new Map();
    }
    this.#younger.set(id, key);
  }

  /** Fills the pool; rejects when its keys cannot be stored. */
  async fill(): Promise<void> {
    const count = this.#size - this.#ready.length;
    if (count <= 0 || this.#isClosed) return;
    const keys = this.#make(count);
    await this.#options.store(keys);
    this.#ready = [...keys, ...this.#ready];
  }

  /** Fills the pool from a store that does not wait. */
  fillNow(store: (keys: readonly Key[]) => void): void {
    const count = this.#size - this.#ready.length;
    if (count <= 0 || this.#isClosed) return;
    const keys = this.#make(count);
    store(keys);
    this.#ready = [...keys, ...this.#ready];
  }

  /** Waits for the batch under way and returns the ids of the keys that were not handed out. */
  async close(): Promise<readonly string[]> {
    this.#isClosed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    await this.#refilling;
    return this.#ready.splice(0).map(({ id }) => id);
  }

  #refillSoon(): void {
    if (this.#refilling !== null || this.#retry !== null) return;
    this.#refilling = this.fill()
      .catch((fault: unknown) => {
        this.#options.onFault?.(fault);
        if (!this.#isClosed) this.#retryLater();
      })
      .finally(() => (this.#refilling = null));
  }

  #retryLater(): void {
    const again = (): void => {
      this.#retry = null;
      this.#refillSoon();
    };
    this.#retry = setTimeout(again, this.#options.retryMs ?? RETRY_MS).unref();
  }

  /** One draw of random bytes for the whole batch; each key is a view of its part. */
  #make(count: number): Key[] {
    const { alignTo = 1 } = this.#options;
    this.#made = Math.ceil(this.#made / alignTo) * alignTo;
    const bytes = this.#random(count * KEY_BYTES);
    return Array.from({ length: count }, (_, index) => ({
      id: `${this.#prefix}.${(this.#made++).toString(36)}`,
      key: bytes.subarray(index * KEY_BYTES, (index + 1) * KEY_BYTES),
    }));
  }
}
