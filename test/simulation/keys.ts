/**
 * The keys of a simulated service: what is durable of them survives every crash, and what was sealed is known beside
 * the journal.
 *
 * Each process has a pool of its own over the durable keys. Its batches become durable late, its destructions late or
 * not at all; a crash ends both.
 *
 * 1. A fact is appended after the keys of its texts are durable, and says nothing about people that is not sealed.
 * 2. A key is destroyed after the fact that names it is durable, and never comes back.
 * 3. An erasure is answered, and a process begins to serve, when no key is left that a durable fact names.
 */
import assert from 'node:assert/strict';
import { keyIdsErasedBy } from '#domain/orders/erasure.ts';
import { createSealer, openSealed } from '#privacy/sealing.ts';
import { KeyPool } from '#persistence/key-pool.ts';
import { KeyStoreFault, type Key, type KeyStore } from '#persistence/keys.ts';
import { keyIdOf, type PersonalData, type Sealing, type SealingFactType } from '#domain/personal.ts';
import type { Fact } from '#domain/fact.ts';
import { chanceOf, type Chance } from './chance.ts';

/** What only people say in a simulated sale: addresses, names and notes; each with a letter that no sealed text has. */
const PERSONAL = /@|Anna |Guest \d|called about/;

/** Small, so that keys are handed out soon after they became durable. */
const POOL_SIZE = 2;
const NONCE_BYTES = 12;

/** When keys are stored or destroyed; the work is left out where the process has ended by then. */
type KeyJob = (work: () => void) => void;

export const AT_ONCE: KeyJob = (work) => work();

export interface SimulatedKeyStore extends KeyStore {
  readonly sealingOf: (eventId: string) => Sealing;
}

export class SimulatedKeys {
  /** What is on the disk. */
  readonly #durable = new Map<string, Buffer>();
  readonly #destroyed = new Set<string>();
  readonly #addresses = new Map<string, string>();
  readonly #chance: Chance;
  readonly #random: (bytes: number) => Buffer;
  readonly addressKey: Buffer;
  /** A text could not be sealed in this turn because no key was ready. */
  ranEmpty = false;
  #erasedThrough = 0;
  #nonces = 0;
  #process: SimulatedKeyStore;
  /** The keys that durable facts say are destroyed. */
  erasedDurably: () => ReadonlySet<string> = () => new Set();

  constructor(seed: number) {
    this.#chance = chanceOf(seed ^ 0x5ea1);
    this.#random = (bytes) => Buffer.from(Array.from({ length: bytes }, () => this.#chance.between(0, 255)));
    this.addressKey = this.#random(32);
    this.#process = this.#openProcess(AT_ONCE, () => false);
  }

  /** Begins a process: keys that are not handed out are forgotten with the one before. */
  open(job: KeyJob, fails: (chance: Chance) => boolean): SimulatedKeyStore {
    return (this.#process = this.#openProcess(job, fails));
  }

  /** The store of the process that runs. */
  get store(): SimulatedKeyStore {
    return this.#process;
  }

  /** The digest that is kept in place of one. */
  keyed(digest: string): string {
    return this.#process.sealingOf('evt_1').requestDigest(digest);
  }

  /** The address with which an order was placed, erased or not. */
  addressOf(orderId: string): string {
    return this.#addresses.get(orderId)!;
  }

  has(keyId: string): boolean {
    return this.#durable.has(keyId);
  }

  /** Looks at the facts of a unit that is appended (1). */
  noteFacts(facts: readonly Fact[]): void {
    for (const fact of facts) {
      if (fact.type === 'EventDefined') continue;
      assert.doesNotMatch(JSON.stringify(fact.data), PERSONAL, `${fact.type} says nothing about people`);
      if (fact.type === 'OrderPlaced') {
        const { orderId, personal } = fact.data;
        const { customer } = this.#open(orderId, fact.type, personal!.sealed!) as PersonalData;
        this.#addresses.set(orderId, customer.email);
      } else {
        for (const sealed of textsOf(fact))
          this.#open((fact.data as { readonly orderId: string }).orderId, sealingTypeOf(fact), sealed);
      }
    }
  }

  /** Opens a text; fails where its key is not there. */
  #open(orderId: string, factType: SealingFactType, sealed: string): unknown {
    const key = this.#durable.get(keyIdOf(sealed));
    assert.ok(key, `the key of ${factType} is durable before its fact`);
    return openSealed(key, { orderId, factType }, sealed);
  }

  /** Every sealed text of durable facts has its key, or a durable fact names it and it has none (3). */
  assertComplete(facts: readonly Fact[]): void {
    const erased = new Set(facts.flatMap(keyIdsErasedBy));
    for (const keyId of erased) assert.ok(!this.#durable.has(keyId), `the key ${keyId} of an erased text is left`);
    for (const keyId of facts.flatMap(keyIdsSealing)) {
      assert.ok(this.#durable.has(keyId) || erased.has(keyId), `the key ${keyId} of a fact is missing`);
    }
  }

  #openProcess(job: KeyJob, fails: (chance: Chance) => boolean): SimulatedKeyStore {
    const pool = new KeyPool({
      size: POOL_SIZE,
      random: this.#random,
      store: (keys) => new Promise((resolve) => job(() => resolve(this.#store(keys)))),
    });
    pool.fillNow((keys) => this.#store(keys));
    const store: KeyStore = {
      addressKey: this.addressKey,
      take: () => {
        const key = pool.take();
        if (key === null) this.ranEmpty = true;
        return key;
      },
      read: (ids) => Promise.resolve(new Map(ids.flatMap((id) => this.#entry(id)))),
      destroy: (ids) =>
        new Promise((resolve, reject) => {
          job(() => {
            if (!fails(this.#chance)) return resolve(this.#destroy(ids));
            return reject(new KeyStoreFault('the keys cannot be written', 'The simulation made this fault.'));
          });
        }),
      erasedThrough: () => Promise.resolve(this.#erasedThrough),
      noteErased: (_label, seq) => Promise.resolve(void (this.#erasedThrough = seq)),
      close: () => Promise.resolve(),
    };
    return { ...store, sealingOf: createSealer(store, () => this.#newNonce()) };
  }

  #entry(id: string): [string, Buffer][] {
    const key = this.#durable.get(id);
    return key === undefined ? [] : [[id, key]];
  }

  #store(keys: readonly Key[]): void {
    for (const { id, key } of keys) {
      assert.ok(!this.#destroyed.has(id), `the destroyed key ${id} comes back`);
      this.#durable.set(id, Buffer.from(key));
    }
  }

  #destroy(ids: readonly string[]): void {
    const erased = this.erasedDurably();
    for (const id of ids) {
      assert.ok(erased.has(id), `the key ${id} is destroyed before the fact that names it is durable`);
      this.#durable.delete(id);
      this.#destroyed.add(id);
    }
  }

  #newNonce(): Buffer {
    const nonce = Buffer.alloc(NONCE_BYTES);
    nonce.writeUInt32BE((this.#nonces += 1));
    return nonce;
  }
}

/** A text of an amendment that is to be paid is that of the amendment once it is applied. */
const sealingTypeOf = ({ type }: Fact): SealingFactType =>
  (type === 'AmendmentRequested' ? 'OrderAmended' : type) as SealingFactType;

/** The keys of the texts in a fact. */
function keyIdsSealing(fact: Fact): readonly string[] {
  return fact.type === 'OrderPlaced' ? [keyIdOf(fact.data.personal!.sealed!)] : textsOf(fact).map(keyIdOf);
}

/** The texts about people that a fact of an order seals after its purchase. */
function textsOf(fact: Fact): readonly string[] {
  const isAmendment = fact.type === 'OrderAmended' || fact.type === 'AmendmentRequested';
  if (fact.type !== 'OrderCancelled' && fact.type !== 'RefundRecorded' && !isAmendment) return [];
  const people = isAmendment ? fact.data.sealedAttendees : undefined;
  return [fact.data.sealedNote, people].filter((sealed) => sealed !== undefined);
}
