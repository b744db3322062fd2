/**
 * Somebody who watches a waiting room from outside and knows what must never happen.
 *
 * Sees the facts in their order and is told who polls when. It keeps sets and lists, not trees and chains, and does not know
 * how the room decides; only what it promised.
 */
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import type { Fact } from '#domain/fact.ts';

type Status = 'WAITING' | 'ADMITTED' | 'EXPIRED' | 'LEFT';

export interface Promises {
  readonly opensAt: number | null;
  readonly rate: number;
  readonly inactivityMs: number;
  readonly passMs: number;
  readonly maxAdmitted: number | null;
}

export class QueueWitness {
  readonly statusOf = new Map<string, Status>();
  readonly admittedAt: number[] = [];
  readonly #promises: Promises;
  readonly #seenAt = new Map<string, number>();
  readonly #sessionOf = new Map<string, string>();
  readonly #liveSessions = new Set<string>();
  readonly #passEndsAt = new Map<string, number>();
  /** Everybody in the order in which they are to be admitted, as far as it is known. */
  #order: string[] = [];
  #preQueue: string[] | null;
  /** Nobody before this place in the order waits any more. */
  #front = 0;
  #toBeDrawn = 0;
  #seed = '';
  #opening = '';
  #live = 0;

  constructor(promises: Promises) {
    this.#promises = promises;
    this.#preQueue = promises.opensAt === null ? null : [];
  }

  /** How many took part in the draw. */
  get drawnCount(): number {
    return this.#toBeDrawn;
  }

  /** Somebody came back or polled at this moment, and was not told that it is over. */
  seen(entryId: string, at: number): void {
    if (this.statusOf.get(entryId) !== 'WAITING') return;
    assert.ok(at - this.#seenAt.get(entryId)! < this.#promises.inactivityMs, 'a ghost was taken back');
    this.#seenAt.set(entryId, at);
  }

  /** The process ended and began again at this moment: everybody who waits counts as just seen. */
  restarted(at: number): void {
    for (const [entryId, status] of this.statusOf) if (status === 'WAITING') this.#seenAt.set(entryId, at);
  }

  count(status: Status): number {
    return [...this.statusOf.values()].filter((each) => each === status).length;
  }

  watch(fact: Fact, at: number): void {
    switch (fact.type) {
      case 'WaitingRoomAdded':
        this.#seed = fact.data.drawSeed ?? '';
        return;
      case 'QueueEntryJoined':
        return this.#join(fact.data.entryId, fact.data.sessionKey, at);
      case 'QueueEntriesAdmitted':
        for (const entryId of fact.data.entryIds) this.#admit(entryId, at, fact.data.passExpiresAt);
        return;
      case 'QueueEntriesDropped':
        for (const entryId of fact.data.entryIds) this.#drop(entryId, at);
        return;
      case 'QueueEntryLeft':
        return this.#end(fact.data.entryId, ['WAITING', 'ADMITTED'], 'LEFT');
      case 'QueuePassExpired':
        assert.ok(this.#passEndsAt.get(fact.data.entryId)! <= at, 'a pass ended early');
        return this.#end(fact.data.entryId, ['ADMITTED'], 'EXPIRED');
      case 'DrawStarted': {
        assert.ok(at >= this.#promises.opensAt!, 'drawn before the opening');
        const waiting = this.#preQueue!.filter((entryId) => this.statusOf.get(entryId) === 'WAITING');
        assert.equal(fact.data.entryCount, waiting.length, 'those who wait take part');
        this.#toBeDrawn = waiting.length;
        this.#opening = fact.data.opening ?? '';
        assert.match(this.#opening, /^[0-9a-f]{64}$/, 'a draw has an opening');
        assert.notEqual(this.#opening, this.#seed, 'the opening is made when the draw begins');
        this.#preQueue = [];
        return;
      }
      case 'LineDrawn':
        assert.equal(fact.data.from, this.#order.length);
        this.#order.push(...fact.data.entryIds);
        return;
      case 'DrawFinished':
        assert.equal(this.#order.length, this.#toBeDrawn);
        assert.equal(new Set(this.#order).size, this.#toBeDrawn, 'nobody is drawn twice');
        assert.deepEqual(this.#order, this.#drawn(), 'the line is what seed, opening and entries lead to');
        this.#order.push(...this.#preQueue!);
        this.#preQueue = null;
        return;
      default:
    }
  }

  /** Everybody drawn, in the order that the published rule leads to. */
  #drawn(): string[] {
    const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
    const hmac = (key: Buffer, message: string | Buffer): Buffer => createHmac('sha256', key).update(message).digest();
    const key = hmac(Buffer.from(this.#seed, 'hex'), Buffer.from(this.#opening, 'hex'));
    const digest = sha256(this.#order.map(sha256).sort().join(''));
    const placeOf = new Map(this.#order.map((id) => [id, hmac(key, digest + sha256(id)).toString('hex')]));
    return [...this.#order].sort((a, b) => (placeOf.get(a)! < placeOf.get(b)! ? -1 : 1));
  }

  /** Looks at all admissions once more: every span of 60 s, wherever it begins. */
  judgeSpans(): void {
    const { rate } = this.#promises;
    for (let index = rate; index < this.admittedAt.length; index += 1) {
      const span = this.admittedAt[index]! - this.admittedAt[index - rate]!;
      assert.ok(span >= 60_000, `${rate + 1} were admitted within ${span} ms`);
    }
  }

  #join(entryId: string, sessionKey: string, at: number): void {
    assert.ok(!this.statusOf.has(entryId), 'an id is given once');
    assert.ok(!this.#liveSessions.has(sessionKey), 'a session has one live entry');
    this.#liveSessions.add(sessionKey);
    this.#sessionOf.set(entryId, sessionKey);
    this.statusOf.set(entryId, 'WAITING');
    this.#seenAt.set(entryId, at);
    (this.#preQueue ?? this.#order).push(entryId);
  }

  #admit(entryId: string, at: number, passExpiresAt: number): void {
    const { opensAt, inactivityMs, passMs, maxAdmitted } = this.#promises;
    assert.equal(this.#preQueue, null, 'admitted through closed doors');
    assert.ok(opensAt === null || at >= opensAt, 'admitted before the opening');
    assert.ok(at - this.#seenAt.get(entryId)! < inactivityMs, 'a ghost was admitted');
    assert.equal(passExpiresAt, at + passMs);
    while (this.statusOf.get(this.#order[this.#front]!) !== 'WAITING') this.#front += 1;
    assert.equal(this.#order[this.#front], entryId, 'somebody who waits was overtaken');
    this.statusOf.set(entryId, 'ADMITTED');
    this.#passEndsAt.set(entryId, passExpiresAt);
    this.admittedAt.push(at);
    this.#live += 1;
    assert.ok(maxAdmitted === null || this.#live <= maxAdmitted, 'too many passes live');
  }

  #drop(entryId: string, at: number): void {
    assert.ok(at - this.#seenAt.get(entryId)! >= this.#promises.inactivityMs, 'somebody who is there was dropped');
    this.#end(entryId, ['WAITING'], 'EXPIRED');
  }

  #end(entryId: string, from: readonly Status[], to: Status): void {
    const status = this.statusOf.get(entryId)!;
    assert.ok(from.includes(status), `${status} became ${to}`);
    if (status === 'ADMITTED') this.#live -= 1;
    this.#liveSessions.delete(this.#sessionOf.get(entryId)!);
    this.statusOf.set(entryId, to);
  }
}
