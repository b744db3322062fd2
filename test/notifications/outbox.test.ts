/**
 * The outbox over a journal in memory: delivery at least once and in order for each event, whatever the receiver does.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { initialState } from '#domain/event/state.ts';
import { read } from '#domain/event/read.ts';
import { createHashing } from '#actors/crypto.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { openOutbox, type Outbox } from '#notifications/outbox.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { MemoryKeys } from '#persistence/memory/keys.ts';
import type { NotificationCursor } from '#engine/service-facts.ts';
import { notificationDelivery, type Message } from '#notifications/messages.ts';
import { until } from '../fixtures/until.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Delivery {
  readonly eventId: string;
  readonly number: number;
  readonly id: string;
}

class Refused extends Error {}

/** A journal of numbered facts, a receiver whose answers a test chooses, and an outbox between them. */
class Fixture {
  readonly journal = new MemoryJournal();
  readonly delivered: Delivery[] = [];
  /** How many facts an event has. */
  readonly #counts = new Map<string, number>();
  /** The numbers of its facts as the receiver got them, without repeats. */
  readonly #numbers = new Map<string, Set<number>>();
  refuses: (delivery: Delivery) => boolean = () => false;
  /** Whether what is refused is refused for itself alone. */
  isOfMessage: (delivery: Delivery) => boolean = () => false;
  /** When the receiver answers. */
  answers: (delivery: Delivery) => Promise<unknown> = () => nextRound();
  cursor: NotificationCursor | null = null;
  storeCursor = async (cursor: NotificationCursor): Promise<void> => {
    this.cursor = cursor;
  };
  outbox: Outbox | null = null;
  underWay = 0;
  underWayMax = 0;
  posts = 0;
  refusedUnderWay = 0;
  refusedUnderWayMax = 0;
  readonly #refusedOnce = new Set<string>();

  appendFacts(eventId: string, times = 1): void {
    for (let time = 0; time < times; time += 1) {
      const number = (this.#counts.get(eventId) ?? 0) + 1;
      this.#counts.set(eventId, number);
      const data = JSON.stringify({ performanceId: String(number), operator: null, note: null });
      this.journal.append({ eventId, at: number, facts: [{ type: 'PerformanceCancelled', data }] });
    }
  }

  async open(): Promise<void> {
    this.outbox = await openOutbox({
      journal: this.journal,
      cursor: this.cursor,
      firstPauseMs: 2,
      events: {
        byEventId: (eventId) => ({
          eventId,
          execute: () => Promise.reject(new Error('notifications change nothing')),
          read: async (query) =>
            read(initialState(eventId, 1), query, { now: 0, activation: '', hashing: createHashing(), sealing: null }),
        }),
      },
      storeCursor: (cursor) => this.storeCursor(cursor),
      delivery: {
        ...notificationDelivery({
          post: (message) => this.#receive(message),
          personalData: new PersonalDataReader(new MemoryKeys()),
        }),
        isOfMessage: (error) => error instanceof Refused,
      },
    });
  }

  async #receive({ id, body }: Message): Promise<void> {
    const again = this.#refusedOnce.has(id) ? 1 : 0;
    this.posts += 1;
    this.underWay += 1;
    this.refusedUnderWay += again;
    this.underWayMax = Math.max(this.underWayMax, this.underWay);
    this.refusedUnderWayMax = Math.max(this.refusedUnderWayMax, this.refusedUnderWay);
    const { data } = JSON.parse(body) as { data: { event_id: string; performance_id: string } };
    const delivery = { eventId: data.event_id, number: Number(data.performance_id), id };
    await this.answers(delivery);
    this.underWay -= 1;
    this.refusedUnderWay -= again;
    if (this.refuses(delivery)) {
      if (!this.isOfMessage(delivery)) throw new Error('no');
      this.#refusedOnce.add(id);
      throw new Refused();
    }
    this.#refusedOnce.delete(id);
    this.delivered.push(delivery);
    const numbers = this.#numbers.get(delivery.eventId) ?? new Set();
    this.#numbers.set(delivery.eventId, numbers.add(delivery.number));
  }

  countOf(eventId: string): number {
    return this.#numbers.get(eventId)?.size ?? 0;
  }

  isAllDelivered(): boolean {
    return [...this.#counts].every(([eventId, count]) => this.countOf(eventId) === count);
  }

  assertInOrder(): void {
    for (const [eventId, count] of this.#counts) {
      assert.deepEqual(
        [...this.#numbers.get(eventId)!],
        Array.from({ length: count }, (_, index) => index + 1),
        eventId,
      );
    }
    const ids = new Map<string, string>();
    for (const { eventId, number, id } of this.delivered) {
      const key = `${eventId} ${number}`;
      assert.equal(ids.get(key) ?? id, id, 'a repeat has the same id');
      ids.set(key, id);
    }
  }
}

describe('The outbox', () => {
  it('starts with the facts after it was first opened, and stores that cursor at once', async () => {
    const fixture = new Fixture();
    fixture.appendFacts('a', 3);
    await until(() => fixture.journal.durableSeq === 3);
    await fixture.open();
    assert.deepEqual(fixture.cursor, { throughSeq: 3, behind: {} });
    fixture.appendFacts('a');
    await until(() => fixture.delivered.length === 1);
    assert.equal(fixture.delivered[0]!.number, 4);
    await fixture.outbox!.stop();
    assert.deepEqual(fixture.cursor, { throughSeq: 4, behind: {} });
  });

  it('delivers each event in order and several events at once while a third of all posts fails', async () => {
    const fixture = new Fixture();
    let posts = 0;
    fixture.refuses = () => (posts += 1) % 3 === 0;
    await fixture.open();
    for (let round = 0; round < 10; round += 1) {
      for (const eventId of ['a', 'b', 'c', 'd', 'e']) fixture.appendFacts(eventId, 4);
      await pause(5);
    }
    await until(() => fixture.isAllDelivered());
    fixture.assertInOrder();
    assert.ok(fixture.underWayMax > 1 && fixture.underWayMax <= 16, String(fixture.underWayMax));
    await fixture.outbox!.stop();
    assert.equal(fixture.cursor!.throughSeq, 200);
  });

  it('waits in bounded memory for a receiver that is down, and continues when it is back', async () => {
    const fixture = new Fixture();
    let isDown = true;
    let refused = 0;
    fixture.refuses = () => isDown && (refused += 1) > 0;
    await fixture.open();
    for (let event = 0; event < 40; event += 1) fixture.appendFacts(`e${event}`, 200);
    await until(() => fixture.journal.durableSeq === 8_000);
    await until(() => refused >= 40);
    assert.equal(fixture.delivered.length, 0);
    assert.equal(fixture.outbox!.deliveredSeq, 0);
    isDown = false;
    await until(() => fixture.isAllDelivered());
    fixture.assertInOrder();
    await fixture.outbox!.stop();
    assert.deepEqual(fixture.cursor, { throughSeq: 8_000, behind: {} });
  });

  it('parks an event whose messages fail and catches up with it later, also after a restart', async () => {
    const fixture = new Fixture();
    fixture.refuses = ({ eventId, number }) => eventId === 'poison' && number === 3;
    await fixture.open();
    fixture.appendFacts('poison', 5_500);
    fixture.appendFacts('other', 50);
    await until(() => fixture.countOf('other') === 50);
    assert.equal(fixture.countOf('poison'), 2);
    await fixture.outbox!.stop();
    assert.deepEqual(fixture.cursor, { throughSeq: 5_550, behind: { poison: 2 } });
    const before = fixture.delivered.length;
    await fixture.open();
    fixture.appendFacts('other', 5);
    fixture.appendFacts('poison', 5);
    await until(() => fixture.countOf('other') === 55);
    assert.equal(fixture.delivered.length, before + 5, 'nothing is delivered again after an orderly stop');
    fixture.refuses = () => false;
    await until(() => fixture.isAllDelivered());
    fixture.assertInOrder();
    await fixture.outbox!.stop();
    assert.deepEqual(fixture.cursor, { throughSeq: 5_560, behind: {} });
  });

  it('after a crash delivers again what was delivered since the last stored cursor, and loses nothing', async () => {
    const fixture = new Fixture();
    let seed = 7;
    const chance = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    fixture.refuses = () => chance() < 0.2;
    await fixture.open();
    for (let crash = 0; crash < 8; crash += 1) {
      for (let event = 0; event < 10; event += 1) fixture.appendFacts(`e${event}`, 5);
      await pause(chance() * 150);
      const kept = fixture.cursor;
      await fixture.outbox!.stop();
      // A crash forgets what was kept last.
      if (chance() < 0.7) fixture.cursor = kept;
      await fixture.open();
    }
    await until(() => fixture.isAllDelivered());
    fixture.assertInOrder();
    await fixture.outbox!.stop();
  });

  it('lists a queue that was behind until it has caught up, though a stop comes before its first post failed again', async () => {
    const fixture = new Fixture();
    fixture.cursor = { throughSeq: 10, behind: { slow: 0 } };
    fixture.appendFacts('slow');
    fixture.appendFacts('other', 9);
    await until(() => fixture.journal.durableSeq === 10);
    let asked = 0;
    const answer = Promise.withResolvers<void>();
    fixture.answers = async ({ eventId }) => eventId === 'slow' && (asked += 1) > 0 && answer.promise;
    await fixture.open();
    await until(() => asked === 1);
    fixture.appendFacts('other');
    await until(() => fixture.delivered.length === 1);
    await fixture.outbox!.stop();
    answer.resolve();
    assert.deepEqual(fixture.cursor, { throughSeq: 11, behind: { slow: 0 } });
    await fixture.open();
    await until(() => fixture.delivered.some(({ eventId }) => eventId === 'slow'));
    await until(() => fixture.outbox!.deliveredSeq === 11);
    await fixture.outbox!.stop();
    assert.deepEqual(fixture.cursor, { throughSeq: 11, behind: {} });
  });

  describe('where messages are refused for themselves alone', () => {
    const isOdd = ({ eventId }: Delivery): boolean => eventId.startsWith('odd');
    /** As many queues of one message are refused. */
    const refusing = async (queues: number): Promise<Fixture> => {
      const fixture = new Fixture();
      fixture.refuses = isOdd;
      fixture.isOfMessage = isOdd;
      await fixture.open();
      for (let queue = 0; queue < queues; queue += 1) fixture.appendFacts(`odd${queue}`);
      return fixture;
    };

    it('delivers the others as they come, tries few of the refused at once, and repeats nothing after a stop', async () => {
      const fixture = await refusing(6_000);
      fixture.appendFacts('other', 50);
      await until(() => fixture.countOf('other') === 50);
      fixture.underWayMax = 0;
      await pause(300);
      assert.ok(fixture.underWayMax <= 2 && fixture.refusedUnderWayMax <= 2, String(fixture.refusedUnderWayMax));
      fixture.appendFacts('other', 50);
      await until(() => fixture.countOf('other') === 100);
      await fixture.outbox!.stop();
      assert.deepEqual([fixture.cursor!.throughSeq, Object.keys(fixture.cursor!.behind).length], [6_100, 6_000]);
      const before = fixture.delivered.length;
      await fixture.open();
      fixture.appendFacts('other');
      await until(() => fixture.countOf('other') === 101);
      assert.equal(fixture.delivered.length, before + 1);
      fixture.refuses = () => false;
      await until(() => fixture.delivered.length === 6_101);
      await fixture.outbox!.stop();
      assert.deepEqual(fixture.cursor, { throughSeq: 6_101, behind: {} });
    });

    it('stores a long cursor with the next interval where the journal could not be written', async () => {
      const fixture = await refusing(3_000);
      await until(() => fixture.posts >= 3_000);
      let fails = 0;
      const { storeCursor } = fixture;
      fixture.storeCursor = (cursor) => ((fails += 1) > 1 ? storeCursor(cursor) : Promise.reject(new Error('full')));
      fixture.appendFacts('other');
      await until(() => fails > 0);
      await until(() => fixture.cursor!.throughSeq === 3_001, 'the cursor is stored', 10_000);
      await fixture.outbox!.stop();
    });

    it('parks none of them to make room, for they take none', async () => {
      const fixture = new Fixture();
      fixture.refuses = isOdd;
      fixture.isOfMessage = isOdd;
      let readSeq = 0;
      const { journal } = fixture;
      const facts = journal.read.bind(journal);
      journal.read = function* (range) {
        for (const row of facts(range)) {
          readSeq = row.seq;
          yield row;
        }
      };
      await fixture.open();
      for (let queue = 0; queue < 20; queue += 1) fixture.appendFacts(`odd${queue}`, 3);
      await until(() => fixture.posts >= 100);
      const answer = Promise.withResolvers<void>();
      fixture.answers = async ({ eventId }) => eventId === 'other' && answer.promise;
      fixture.appendFacts('other', 5_500);
      await until(() => readSeq >= 5_061);
      await pause(300);
      // 60 of queues that are refused, as many of the other as there is room for, and the one that there is none for.
      assert.equal(readSeq, 5_061);
      fixture.refuses = () => false;
      answer.resolve();
      await until(() => fixture.isAllDelivered());
      fixture.assertInOrder();
      await fixture.outbox!.stop();
    });

    it('does not take one that is accepted at last for a receiver that is back', async () => {
      const fixture = await refusing(40);
      await until(() => fixture.posts > 40 * 6);
      const { posts } = fixture;
      fixture.refuses = (delivery) => isOdd(delivery) && delivery.eventId !== 'odd0';
      await until(() => fixture.delivered.length === 1);
      // With every pause ended each of the others would be tried at once.
      assert.ok(fixture.posts - posts < 40 * 3, `${fixture.posts - posts} tries`);
      await fixture.outbox!.stop();
    });

    it('keeps a bounded number of them, and goes on with the journal as soon as there is room', async () => {
      const fixture = await refusing(16_000);
      fixture.appendFacts('other');
      await until(() => fixture.posts >= 12_000);
      await pause(200);
      assert.equal(fixture.countOf('other'), 0, 'reading stopped');
      fixture.refuses = () => false;
      await until(() => fixture.delivered.length === 16_001);
      await fixture.outbox!.stop();
      assert.deepEqual(fixture.cursor, { throughSeq: 16_001, behind: {} });
    });
  });
});
