/** The outbox over a journal in memory: at least once, in order for each event, whatever the receiver does. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { openBoxOffice } from '#domain/box-office.ts';
import { openOutbox, type Outbox } from '#notifications/outbox.ts';
import { MemoryJournal } from '#persistence/memory-journal.ts';
import type { NotificationCursor } from '#actors/service-facts.ts';
import type { Message } from '#notifications/messages.ts';

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until something holds; a test that waits for seconds has failed. */
async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    if (holds()) return;
    await pause(10);
  }
  throw new Error('it did not come to pass');
}

interface Told {
  readonly eventId: string;
  readonly place: number;
  readonly id: string;
}

/** A journal of numbered happenings, a receiver under the test's hand, and an outbox between them. */
class Post {
  readonly journal = new MemoryJournal();
  readonly told: Told[] = [];
  readonly #counts = new Map<string, number>();
  refuses: (told: Told) => boolean = () => false;
  cursor: NotificationCursor | null = null;
  outbox: Outbox | null = null;
  underWay = 0;
  underWayMax = 0;

  happens(eventId: string, times = 1): void {
    for (let time = 0; time < times; time += 1) {
      const place = (this.#counts.get(eventId) ?? 0) + 1;
      this.#counts.set(eventId, place);
      const data = JSON.stringify({ performanceId: String(place), operator: null, note: null });
      this.journal.append({ eventId, at: place, facts: [{ type: 'PerformanceCancelled', data }] });
    }
  }

  async open(): Promise<void> {
    this.outbox = await openOutbox({
      journal: this.journal,
      cursor: this.cursor,
      firstPauseMs: 2,
      officeOf: async (eventId) => ({ look: (query) => query(openBoxOffice(eventId, 1), 0) }),
      keep: async (cursor) => {
        this.cursor = cursor;
      },
      post: (message) => this.#receive(message),
    });
  }

  async #receive({ id, body }: Message): Promise<void> {
    this.underWay += 1;
    this.underWayMax = Math.max(this.underWayMax, this.underWay);
    await new Promise((resolve) => setImmediate(resolve));
    this.underWay -= 1;
    const { data } = JSON.parse(body) as { data: { event_id: string; performance_id: string } };
    const told = { eventId: data.event_id, place: Number(data.performance_id), id };
    if (this.refuses(told)) throw new Error('no');
    this.told.push(told);
  }

  /** What an event's receiver saw, repeats left out. */
  placesOf(eventId: string): number[] {
    return [...new Set(this.told.filter((each) => each.eventId === eventId).map(({ place }) => place))];
  }

  isAllTold(): boolean {
    return [...this.#counts].every(([eventId, count]) => this.placesOf(eventId).length === count);
  }

  assertInOrder(): void {
    for (const [eventId, count] of this.#counts) {
      assert.deepEqual(
        this.placesOf(eventId),
        Array.from({ length: count }, (_, index) => index + 1),
        eventId,
      );
    }
    const ids = new Map<string, string>();
    for (const { eventId, place, id } of this.told) {
      const key = `${eventId} ${place}`;
      assert.equal(ids.get(key) ?? id, id, 'a repeat has the same id');
      ids.set(key, id);
    }
  }
}

describe('The outbox', () => {
  it('begins with what happens after it was first opened, and keeps that at once', async () => {
    const post = new Post();
    post.happens('a', 3);
    await until(() => post.journal.durableSeq === 3);
    await post.open();
    assert.deepEqual(post.cursor, { throughSeq: 3, behind: {} });
    post.happens('a');
    await until(() => post.told.length === 1);
    assert.equal(post.told[0]!.place, 4);
    await post.outbox!.stop();
    assert.deepEqual(post.cursor, { throughSeq: 4, behind: {} });
  });

  it('tells each event in order and events side by side, while a third of all posts is refused', async () => {
    const post = new Post();
    let posts = 0;
    post.refuses = () => (posts += 1) % 3 === 0;
    await post.open();
    for (let round = 0; round < 10; round += 1) {
      for (const eventId of ['a', 'b', 'c', 'd', 'e']) post.happens(eventId, 4);
      await pause(5);
    }
    await until(() => post.isAllTold());
    post.assertInOrder();
    assert.ok(post.underWayMax > 1 && post.underWayMax <= 16, String(post.underWayMax));
    await post.outbox!.stop();
    assert.equal(post.cursor!.throughSeq, 200);
  });

  it('waits for a receiver that is down, in bounded memory, and goes on when it is back', async () => {
    const post = new Post();
    let isDown = true;
    let refused = 0;
    post.refuses = () => isDown && (refused += 1) > 0;
    await post.open();
    for (let event = 0; event < 40; event += 1) post.happens(`e${event}`, 200);
    await until(() => post.journal.durableSeq === 8_000);
    await until(() => refused >= 40);
    assert.equal(post.told.length, 0);
    assert.equal(post.outbox!.deliveredSeq, 0);
    isDown = false;
    await until(() => post.isAllTold());
    post.assertInOrder();
    await post.outbox!.stop();
    assert.deepEqual(post.cursor, { throughSeq: 8_000, behind: {} });
  });

  it('sets an event aside that alone is refused, and catches up with it, across a restart too', async () => {
    const post = new Post();
    post.refuses = ({ eventId, place }) => eventId === 'poison' && place === 3;
    await post.open();
    post.happens('poison', 5_500);
    post.happens('other', 50);
    await until(() => post.placesOf('other').length === 50);
    assert.equal(post.placesOf('poison').length, 2);
    await post.outbox!.stop();
    assert.deepEqual(post.cursor, { throughSeq: 5_550, behind: { poison: 2 } });
    const before = post.told.length;
    await post.open();
    post.happens('other', 5);
    post.happens('poison', 5);
    await until(() => post.placesOf('other').length === 55);
    assert.equal(post.told.length, before + 5, 'nothing that was taken is told again after an orderly stop');
    post.refuses = () => false;
    await until(() => post.isAllTold());
    post.assertInOrder();
    await post.outbox!.stop();
    assert.deepEqual(post.cursor, { throughSeq: 5_560, behind: {} });
  });

  it('after a crash tells again what was taken since the cursor was kept, and loses nothing', async () => {
    const post = new Post();
    let seed = 7;
    const chance = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    post.refuses = () => chance() < 0.2;
    await post.open();
    for (let crash = 0; crash < 8; crash += 1) {
      for (let event = 0; event < 10; event += 1) post.happens(`e${event}`, 5);
      await pause(chance() * 150);
      const kept = post.cursor;
      await post.outbox!.stop();
      // A crash forgets what was kept last.
      if (chance() < 0.7) post.cursor = kept;
      await post.open();
    }
    await until(() => post.isAllTold());
    post.assertInOrder();
    await post.outbox!.stop();
  });
});
