/**
 * The contract of a key store: keys that sealed texts need, and that can be destroyed while the facts stay; and what
 * its stores share.
 *
 * The stores that keep it pass one test suite: `sqlite/keys.ts`, `keys/keys.ts`, and the twin for tests
 * `memory/keys.ts`.
 *
 *  1. A key is durable before it is handed out, so that there is never a sealed text without its key.
 *  2. Handing out a key does no I/O: keys are made in advance (`key-pool.ts`).
 *  3. A key whose destruction was answered never comes back from this store, and no copy of it is left in the store's
 *     files.
 *  4. The id of a key is never given out a second time, in no process and no copy of the store.
 */

import { randomBytes } from 'node:crypto';

export const KEY_BYTES = 32;
const ID_BYTES = 12;

export interface Key {
  readonly id: string;
  readonly key: Buffer;
}

/** What is the same as long as a store exists. */
export interface KeysIdentity {
  readonly keysId: string;
  readonly addressKey: Buffer;
}

/** Makes an identity for a new store. */
export function newIdentity(random: (bytes: number) => Buffer = randomBytes): KeysIdentity {
  return { keysId: random(ID_BYTES).toString('base64url'), addressKey: random(KEY_BYTES) };
}

export interface KeyStore {
  /** Hashes of addresses are made with it; made once, the same for every process of a service. */
  readonly addressKey: Buffer;

  /** A key that nobody else gets, or null when none is ready. */
  take(): Key | null;

  /** The keys that are there; a destroyed one is absent. Rejects when the store cannot be read. */
  read(ids: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;

  /** Destroys keys; durable when it resolves. Keys that are not there are no fault. */
  destroy(ids: readonly string[]): Promise<void>;

  /** Up to which fact of a journal the keys of every erasure are destroyed; 0 when this was never noted. */
  erasedThrough(label: string): Promise<number>;
  noteErased(label: string, seq: number): Promise<void>;

  /** Finishes what is under way and removes the keys that were not handed out. From the call on `take` returns null. */
  close(): Promise<void>;
}

/** The store of keys failed or is closed; the hint says what an operator can do. */
export class KeyStoreFault extends Error {
  readonly hint: string;
  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'KeyStoreFault';
    this.hint = hint;
  }
}

/**
 * The file of keys is missing, of another journal, or cannot be read; the service does not start without an operator's
 * decision.
 */
export class KeysUnusable extends Error {
  readonly hint: string;
  constructor(message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'KeysUnusable';
    this.hint = hint;
  }
}

/**
 * Destroys keys together: one destruction runs at a time, and keys that arrive during it are destroyed by the next one.
 */
export class GatheredDestruction {
  readonly #destroy: (ids: readonly string[]) => Promise<void>;
  #underWay: Promise<void> = Promise.resolve();
  #next: { readonly ids: string[]; readonly done: Promise<void> } | null = null;

  constructor(destroy: (ids: readonly string[]) => Promise<void>) {
    this.#destroy = destroy;
  }

  /** Resolves when the keys are destroyed, and rejects as the destruction that they were part of. */
  add(ids: readonly string[]): Promise<void> {
    this.#next ??= this.#begin();
    this.#next.ids.push(...ids);
    return this.#next.done;
  }

  /** Resolves when nothing is under way; never rejects. */
  settled(): Promise<void> {
    return this.#underWay;
  }

  #begin(): { readonly ids: string[]; readonly done: Promise<void> } {
    const ids: string[] = [];
    const done = this.#underWay.then(() => {
      this.#next = null;
      return this.#destroy(ids);
    });
    this.#underWay = done.catch(() => {});
    return { ids, done };
  }
}
