import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Overloaded } from '#actors/admission.ts';
import { EvictedEvents } from '#actors/evicted-events.ts';
import { isRefusal } from '#domain/refusal.ts';
import { waitingRoomFigures } from '#domain/waiting-room/view.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { concert, openActors, place, START, type ActorsFixture } from '../fixtures/actors.ts';
import type { EventActor } from '#actors/event-actor.ts';

const SECOND = 1_000;
const ROOM = { waiting_room: true, waiting_room_opens_at: new Date(START + 3_600 * SECOND).toISOString() };

/** Actors with at most one event in memory, and two events with waiting rooms. */
async function openTwoRooms(): Promise<ActorsFixture> {
  const actors = openActors(new MemoryJournal(), { liveEventsMax: 1 });
  for (const id of ['evt_a', 'evt_b']) {
    await actors.events.define(concert({ ...ROOM, id, slug: id.replace('_', '-') }), { operator: null, note: null });
  }
  return actors;
}

async function activate({ events }: ActorsFixture, eventId: string): Promise<EventActor> {
  const actor = await events.byEventId(eventId);
  assert.ok(actor);
  return actor;
}

async function join(actors: ActorsFixture, eventId: string, sessionKey: string): Promise<string> {
  const joined = await (await activate(actors, eventId)).execute({ type: 'JoinQueue', sessionKey });
  assert.ok(!isRefusal(joined));
  return joined.entry.id;
}

async function poll(actors: ActorsFixture, eventId: string, entryId: string, sessionKey: string): Promise<string> {
  const polled = await (await activate(actors, eventId)).execute({ type: 'PollQueue', entryId, sessionKey });
  assert.ok(!isRefusal(polled));
  return polled.entry.status;
}

const waiting = async (actors: ActorsFixture, eventId: string): Promise<number> =>
  (await activate(actors, eventId)).inspect((state, now) => waitingRoomFigures(state, now)!.waiting);

describe('An evicted event', () => {
  it('drops the entries that do not poll, and no other, however often it is activated', async () => {
    const actors = await openTwoRooms();
    const [stale, person] = [
      await join(actors, 'evt_a', 'session-stale'),
      await join(actors, 'evt_a', 'session-person'),
    ];
    for (let seconds = 5; seconds < 120; seconds += 5) {
      actors.clock.now = START + seconds * SECOND;
      assert.equal(await waiting(actors, 'evt_b'), 0);
      assert.equal(actors.events.actors.size, 1);
      assert.equal(await poll(actors, 'evt_a', person, 'session-person'), 'WAITING');
    }
    actors.clock.now = START + 120 * SECOND;
    await waiting(actors, 'evt_b');
    assert.equal(await waiting(actors, 'evt_a'), 1, 'the stale entry is gone, the other is not');
    assert.equal(await poll(actors, 'evt_a', stale, 'session-stale'), 'EXPIRED');
    actors.clock.now = START + 234 * SECOND;
    await waiting(actors, 'evt_b');
    assert.equal(await waiting(actors, 'evt_a'), 1);
    actors.clock.now += 1 * SECOND;
    await waiting(actors, 'evt_b');
    assert.equal(await waiting(actors, 'evt_a'), 0, 'two minutes after the last poll');
  });

  it('counts every entry as just seen when it was evicted while the journal was full', async () => {
    const actors = await openTwoRooms();
    await join(actors, 'evt_a', 'session-1');
    await waiting(actors, 'evt_b');
    actors.journal.full(true);
    actors.clock.now = START + 600 * SECOND;
    actors.events.actors.retireAll();
    actors.journal.full(false);
    actors.events.actors.retireAll();
    assert.equal(await waiting(actors, 'evt_a'), 1);
    actors.clock.now += 120 * SECOND;
    assert.equal(await waiting(actors, 'evt_a'), 0);
  });
});

describe('What is kept of the entries of evicted events', () => {
  const buyers = (count: number) => Array.from({ length: count }, (_, n) => ({ entryId: `que_${n}`, seenAt: n }));

  it('is bounded: of the event that was evicted first only the time of its eviction stays', () => {
    const evicted = new EvictedEvents(10);
    evicted.note('a', { since: 1, lastSeen: buyers(6) });
    evicted.note('b', { since: 2, lastSeen: buyers(4) });
    evicted.note('c', { since: 3, lastSeen: buyers(1) });
    assert.deepEqual(evicted.take('a'), { since: 1, lastSeen: null });
    assert.deepEqual(evicted.take('b'), { since: 2, lastSeen: buyers(4) });
    assert.deepEqual(evicted.take('c'), { since: 3, lastSeen: buyers(1) });
    assert.equal(evicted.take('c'), null);
    evicted.note('d', { since: 4, lastSeen: null });
    assert.deepEqual(evicted.take('d'), { since: 4, lastSeen: null });
    evicted.note('e', { since: 5, lastSeen: buyers(11) });
    assert.deepEqual(evicted.take('e'), { since: 5, lastSeen: null });
  });

  it('is nothing for an event without waiting entries', () => {
    const evicted = new EvictedEvents(10);
    evicted.note('a', { since: 1, lastSeen: [] });
    assert.equal(evicted.take('a'), null);
  });
});

describe('Events over the limit of those in memory', () => {
  it('are refused as overloaded; no event with unanswered commands is evicted for them', async () => {
    const journal = new MemoryJournal({ manual: true });
    const readers: (() => void)[] = [];
    const readSnapshot = () => new Promise<void>((resolve) => readers.push(resolve));
    const actors = openActors(journal, { liveEventsMax: 1, readSnapshot });
    const ids = Array.from({ length: 80 }, (_, n) => `evt_${n}`);
    for (const id of ids) {
      const defined = actors.events.define(concert({ id, slug: `event-${id}` }), { operator: null, note: null });
      for (readers.pop()?.(); journal.appendedSeq === journal.durableSeq; readers.pop()?.()) await nextTurn();
      journal.commit();
      await defined;
    }
    const hold = async (id: string): Promise<'held' | 'overloaded'> => {
      try {
        assert.ok(!isRefusal(await (await activate(actors, id)).execute(place('session-1'))));
        return 'held';
      } catch (error) {
        assert.ok(error instanceof Overloaded);
        return 'overloaded';
      }
    };
    const holds = ids.slice(0, -1).map((id) => hold(id));
    await nextTurn();
    for (const read of readers.splice(0)) {
      read();
      await nextTurn();
    }
    assert.equal(actors.events.actors.size, 66, 'twice the bound, and some for bursts');
    journal.commit();
    const answers = await Promise.all(holds);
    assert.equal(answers.filter((answer) => answer === 'held').length, 66);
  });
});
