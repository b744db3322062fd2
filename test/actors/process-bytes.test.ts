/** What requests leave behind in all events of a process is bounded in bytes, and each event has its share. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ProcessBytes } from '#actors/process-bytes.ts';
import { RETAINED_KINDS, retainedBytes } from '#domain/event/retained-records.ts';
import { snapshotPieces } from '#domain/event/snapshot.ts';
import { isRefusal } from '#domain/refusal.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { concert, openActors, place } from '../fixtures/actors.ts';
import { until } from '../fixtures/until.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { CommandOf } from '#domain/command.ts';
import type { RetainedKind } from '#domain/fact.ts';

const BOUND = 8_000;
const MINUTE = 60_000;

/** A process that keeps no more of a kind, and as much as comes of the others. */
function boundsOf(kind: RetainedKind | null, bound = BOUND): ProcessBytes {
  const bounds = RETAINED_KINDS.map((each) => [each, each === kind ? bound : Number.POSITIVE_INFINITY]);
  return new ProcessBytes(Object.fromEntries(bounds) as Record<RetainedKind, number>);
}

async function openProcess(kind: RetainedKind, bound = BOUND) {
  const processBytes = boundsOf(kind, bound);
  const journal = new MemoryJournal();
  const actors = openActors(journal, { processBytes });
  const open = async (id: string, changes: object = {}): Promise<EventActor> => {
    await actors.events.define(concert({ id, slug: id, ...changes }), { operator: null, note: null });
    const actor = await actors.events.byEventId(id);
    assert.ok(actor);
    return actor;
  };
  return { ...actors, journal, processBytes, open };
}

type Fixture = Awaited<ReturnType<typeof openProcess>>;

/** What leaves a record of each kind behind. */
const LEAVES: Readonly<Record<RetainedKind, (actor: EventActor, n: number, fixture: Fixture) => Promise<unknown>>> = {
  ANSWERS: (actor, n) =>
    actor.execute({ ...place('session'), idempotency: { key: `key-${n}`, digest: 'd' } } as CommandOf<'PlaceHold'>),
  async HOLD_ITEMS(actor) {
    const placed = await actor.execute(place('session'));
    assert.ok(!isRefusal(placed));
    return actor.execute({ type: 'ReleaseHold', holdId: placed.hold.id, sessionKey: 'session' });
  },
  ENDED_HOLDS(actor, n, { clock }) {
    clock.now += n % 10 === 0 ? MINUTE : 0;
    return actor.execute(place('session'));
  },
  async ENDED_ENTRIES(actor, n, { clock }) {
    clock.now += n % 10 === 0 ? MINUTE : 0;
    const joined = await actor.execute({ type: 'JoinQueue', sessionKey: `session-${n}` });
    assert.ok(!isRefusal(joined));
    return actor.execute({ type: 'LeaveQueue', entryId: joined.entry.id, sessionKey: `session-${n}` });
  },
};

const queued = { waiting_room: true, waiting_room_rate: 1, waiting_room_minutes: 1 };
const optionsOf = (kind: RetainedKind): object => (kind === 'ENDED_ENTRIES' ? queued : {});

const droppedIn = (journal: MemoryJournal) => [...journal.read()].filter(({ type }) => type === 'OldestDropped');

describe('A process with too much of what requests left behind', () => {
  for (const kind of RETAINED_KINDS) {
    it(`has the event that keeps most drop its oldest, and no other: ${kind}`, async () => {
      const fixture = await openProcess(kind);
      const { journal, processBytes } = fixture;
      const small = await fixture.open('evt_small', optionsOf(kind));
      const large = await fixture.open('evt_large', optionsOf(kind));
      for (let n = 0; n < 5; n += 1) await LEAVES[kind](small, n, fixture);
      const kept = small.inspect((state) => retainedBytes(state, kind));
      const count = kind.startsWith('ENDED') ? 500 : 50;
      for (let n = 0; n < count; n += 1) {
        await LEAVES[kind](large, n, fixture);
        if (processBytes.sumOf(kind) > BOUND) await until(() => processBytes.sumOf(kind) <= BOUND);
      }
      const dropped = droppedIn(journal);
      assert.ok(dropped.length > 1, `${dropped.length} turns`);
      assert.deepEqual(
        [...new Set(dropped.map(({ eventId, data }) => `${eventId} ${data}`))],
        [`evt_large {"of":"${kind}"}`],
      );
      assert.equal(
        small.inspect((state) => retainedBytes(state, kind)),
        kept,
      );
      assert.equal(processBytes.sumOf(kind), kept + large.inspect((state) => retainedBytes(state, kind)));
      const again = openActors(journal, { processBytes: boundsOf(null) });
      again.clock.now = fixture.clock.now;
      const replayed = await again.events.byEventId('evt_large');
      assert.deepEqual(
        replayed!.inspect((state) => [...snapshotPieces(state)]),
        large.inspect((state) => [...snapshotPieces(state)]),
      );
      fixture.events.actors.retireAll();
      assert.equal(processBytes.sumOf(kind), 0, 'events that are not in memory do not count');
    });
  }

  it('has an event drop that keeps most already, once another is activated', async () => {
    const fixture = await openProcess('HOLD_ITEMS', 12_000);
    const { journal, processBytes, events } = fixture;
    const large = await fixture.open('evt_large');
    for (let n = 0; n < 24; n += 1) await LEAVES.HOLD_ITEMS(large, n, fixture);
    const first = openActors(journal, { processBytes });
    first.clock.now = fixture.clock.now;
    assert.deepEqual(droppedIn(journal), []);
    await first.events.byEventId('evt_large');
    await until(() => droppedIn(journal).length > 0);
    assert.ok(processBytes.sumOf('HOLD_ITEMS') <= 22_272);
    events.actors.retireAll();
    first.events.actors.retireAll();
  });

  it('gives an answer that was dropped anew, and a hold its end without items', async () => {
    const fixture = await openProcess('ANSWERS');
    const { processBytes } = fixture;
    const actor = await fixture.open('evt_large');
    const [first] = await Promise.all(Array.from({ length: 100 }, (_, n) => LEAVES.ANSWERS(actor, n, fixture)));
    await until(() => processBytes.sumOf('ANSWERS') <= BOUND);
    const answers = actor.inspect(({ idempotency }) => [...idempotency.values()].map(({ key }) => key));
    assert.equal(answers.at(-1), 'key-99');
    assert.ok(!answers.includes('key-0') && answers.length > 10);
    const anew = (await LEAVES.ANSWERS(actor, 0, fixture)) as { replayed: boolean; hold: { id: string } };
    assert.deepEqual([anew.replayed, anew.hold.id === (first as typeof anew).hold.id], [false, false]);
  });
});
