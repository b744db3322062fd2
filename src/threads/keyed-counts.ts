/**
 * Counts by key in shared memory: of windows of time, which all threads count together, and of what is open, which each
 * thread counts for itself.
 *
 * 1. A key is found by its hash, keyed with a secret of the process, in one of eight places. Where all are taken by
 *    others the one counted longest ago is forgotten.
 * 2. A window is one 64-bit word, its begin and its count, and changes by compare and exchange: no thread waits for
 *    another one, and one that dies leaves nothing locked. While a key is replaced a count of the old one may be lost.
 * 3. What is open is the sum over the threads, each of which writes its own table alone.
 */
import { hash } from 'node:crypto';

const WAYS = 8;

/** A count has 21 bits. The 43 bits above it hold the milliseconds of its begin, modulo 278 years. */
const COUNT_BITS = 21n;
const SINCE_BITS = 43;
const COUNT_MAX = 2 ** 21 - 1;

/** Makes the hash of keys (rule 1); never 0, which stands for a free place. */
function hashOf(secret: string, key: string): bigint {
  return hash('sha256', `${secret} ${key}`, 'buffer').readBigUInt64LE(0) || 1n;
}

/** The first of the places of a hash; `places` is a power of two. */
function firstOf(keyHash: bigint, places: number): number {
  return Number(BigInt.asUintN(32, keyHash >> 8n)) & (places - WAYS);
}

/** At least so many places, as a power of two. */
function placesFor(keysMax: number): number {
  return Math.max(WAYS, 2 ** Math.ceil(Math.log2(keysMax)));
}

interface Counted {
  readonly since: number;
  readonly counted: number;
}

interface SharedKeys {
  readonly memory: SharedArrayBuffer;
  readonly secret: string;
}

/** Windows of time that all threads count in (rule 2). */
export class SharedWindows {
  readonly #words: BigUint64Array;
  readonly #secret: string;
  readonly #windowMs: number;

  constructor({ memory, secret }: SharedKeys, windowMs: number) {
    this.#words = new BigUint64Array(memory);
    this.#secret = secret;
    this.#windowMs = windowMs;
  }

  /** A key and a window for each place. */
  static memoryFor(keysMax: number): SharedArrayBuffer {
    return new SharedArrayBuffer(placesFor(keysMax) * 2 * BigUint64Array.BYTES_PER_ELEMENT);
  }

  read(key: string, now: number): Counted {
    const { place, isFound } = this.#find(hashOf(this.#secret, key));
    return (isFound ? this.#current(Atomics.load(this.#words, place + 1), now) : null) ?? { since: now, counted: 0 };
  }

  add(key: string, now: number, times: number): Counted {
    const keyHash = hashOf(this.#secret, key);
    const { place, isFound } = this.#find(keyHash);
    if (!isFound) {
      Atomics.store(this.#words, place + 1, 0n);
      Atomics.store(this.#words, place, keyHash);
    }
    for (;;) {
      const before = Atomics.load(this.#words, place + 1);
      const { since, counted } = this.#current(before, now) ?? { since: now, counted: 0 };
      const after = { since, counted: Math.min(COUNT_MAX, counted + times) };
      const word = (BigInt(since) << COUNT_BITS) | BigInt(after.counted);
      if (Atomics.compareExchange(this.#words, place + 1, before, word) === before) return after;
    }
  }

  /** Null when the window is over. */
  #current(word: bigint, now: number): Counted | null {
    const ageMs = Number(BigInt.asUintN(SINCE_BITS, BigInt(now) - (word >> COUNT_BITS)));
    if (word === 0n || ageMs >= this.#windowMs) return null;
    return { since: now - ageMs, counted: Number(BigInt.asUintN(Number(COUNT_BITS), word)) };
  }

  /** The place of a hash, or the one that it may take (rule 1). */
  #find(keyHash: bigint): { readonly place: number; readonly isFound: boolean } {
    const first = firstOf(keyHash, this.#words.length / 2) * 2;
    let oldest = first;
    for (let place = first; place < first + WAYS * 2; place += 2) {
      if (Atomics.load(this.#words, place) === keyHash) return { place, isFound: true };
      if (Atomics.load(this.#words, place + 1) < Atomics.load(this.#words, oldest + 1)) oldest = place;
    }
    return { place: oldest, isFound: false };
  }
}

/** How many of something each client has open on all threads (rule 3). */
export class SharedClients {
  readonly #tables: readonly BigUint64Array[];
  readonly #own: BigUint64Array;
  readonly #secret: string;

  /** One memory a thread; `line` is the own one. */
  constructor(memories: readonly SharedArrayBuffer[], line: number, secret: string) {
    this.#tables = memories.map((memory) => new BigUint64Array(memory));
    this.#own = this.#tables[line]!;
    this.#secret = secret;
  }

  /**
   * A key and a count for each place. There are so many more places than clients that the eight places of a hash are
   * never all taken.
   */
  static memoryFor(clientsMax: number): SharedArrayBuffer {
    return SharedWindows.memoryFor(clientsMax * 4);
  }

  of(client: string): number {
    const keyHash = hashOf(this.#secret, client);
    return this.#tables.reduce((sum, table) => sum + countIn(table, keyHash), 0);
  }

  add(client: string, by: number): void {
    const keyHash = hashOf(this.#secret, client);
    const known = placeIn(this.#own, (key) => key === keyHash, keyHash);
    const place = known ?? placeIn(this.#own, isFree, keyHash);
    if (place === null) return;
    const count = (known === null ? 0n : Atomics.load(this.#own, place + 1)) + BigInt(by);
    Atomics.store(this.#own, place + 1, count);
    Atomics.store(this.#own, place, count > 0n ? keyHash : 0n);
  }
}

const isFree = (key: bigint): boolean => key === 0n;

function countIn(table: BigUint64Array, keyHash: bigint): number {
  const place = placeIn(table, (key) => key === keyHash, keyHash);
  return place === null ? 0 : Number(Atomics.load(table, place + 1));
}

function placeIn(table: BigUint64Array, isIt: (key: bigint) => boolean, keyHash: bigint): number | null {
  const first = firstOf(keyHash, table.length / 2) * 2;
  for (let place = first; place < first + WAYS * 2; place += 2) if (isIt(Atomics.load(table, place))) return place;
  return null;
}
