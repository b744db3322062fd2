import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Overloaded } from '#actors/admission.ts';
import { findHold } from '#domain/holds/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import { snapshotPieces } from '#domain/event/snapshot.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { commitFirst, inspectDurably, openActors, openConcert, place, START } from '../fixtures/actors.ts';
import type { EventActor } from '#actors/event-actor.ts';

const available = (actor: EventActor): number =>
  actor.inspect((state) => state.performances.get('fri')!.inventory.totals().available);

const fingerprint = (actor: EventActor): string => actor.inspect((state) => [...snapshotPieces(state)].join('\n'));

/** Actors whose journal commits only on request, with the event defined durably. */
async function openByHand(bounds: Parameters<typeof openActors>[1] = {}) {
  const journal = new MemoryJournal({ manual: true });
  return { ...(await commitFirst(journal, openConcert(openActors(journal, bounds)))), journal };
}

describe('The durability gate', () => {
  it('holds back a reply until its facts are durable', async () => {
    const { actor, journal } = await openByHand();
    let answered = false;
    const reply = actor.execute(place('session-1')).then((answer) => {
      answered = true;
      return answer;
    });
    await nextTurn();
    assert.equal(answered, false);
    journal.commit();
    assert.ok(!isRefusal(await reply));
  });

  it('holds back a refusal that depends on facts which a crash could undo', async () => {
    const { actor, journal } = await openByHand();
    const order: string[] = [];
    void actor.execute(place('session-1', 10)).then(() => order.push('hold'));
    const refusal = actor.execute(place('session-2')).then((answer) => {
      order.push('refusal');
      return answer;
    });
    await nextTurn();
    assert.deepEqual(order, []);
    journal.commit();
    const answer = await refusal;
    assert.ok(isRefusal(answer) && answer.code === 'INSUFFICIENT_TICKETS');
    assert.deepEqual(order, ['hold', 'refusal']);
  });

  it('holds back the read of a hold that is not yet durable, but not advisory figures', async () => {
    const { actor, journal } = await openByHand();
    void actor.execute(place('session-1', 4));
    assert.equal(available(actor), 6);
    let read = false;
    const reading = inspectDurably(actor, (state) => findHold(state, 'hld_1_x', 'session-1')).then(() => (read = true));
    await nextTurn();
    assert.equal(read, false);
    journal.commit();
    await reading;
  });

  it('refuses a command undecided when too many replies wait', async () => {
    const { actor, journal } = await openByHand({ waitingRepliesMax: 2 });
    const waiting = [actor.execute(place('session-1')), actor.execute(place('session-2'))];
    await assert.rejects(actor.execute(place('session-3')), Overloaded);
    journal.commit();
    assert.equal((await Promise.all(waiting)).filter(isRefusal).length, 0);
    assert.equal(available(actor), 8);
  });
});

describe('A turn', () => {
  it('gives the last tickets to exactly as many as there are', async () => {
    const { actor } = await openConcert();
    const answers = await Promise.all(Array.from({ length: 1000 }, (_, n) => actor.execute(place(`session-${n}`))));
    assert.equal(answers.filter((answer) => !isRefusal(answer)).length, 10);
    assert.equal(available(actor), 0);
  });

  it('settles what has run out before anything else, at the very millisecond', async () => {
    const { actor, clock } = await openConcert();
    const placed = await actor.execute(place('session-1', 10));
    assert.ok(!isRefusal(placed));
    clock.now = START + 10 * 60_000 - 1;
    assert.ok(isRefusal(await actor.execute(place('session-2'))));
    clock.now += 1;
    assert.ok(!isRefusal(await actor.execute(place('session-2', 10))));
    const hold = await inspectDurably(actor, (state) => findHold(state, placed.hold.id, 'session-1'));
    assert.equal('status' in hold && hold.status, 'EXPIRED');
  });

  it('does not go back in time with the clock of the machine', async () => {
    const { actor, clock } = await openConcert();
    clock.now = START + 1_000;
    await actor.execute(place('session-1'));
    clock.now = START - 3_600_000;
    const placed = await actor.execute(place('session-2'));
    assert.ok(!isRefusal(placed));
    assert.equal(placed.hold.expiresAt, START + 1_000 + 10 * 60_000);
  });

  it('schedules the moment when the first hold runs out', async () => {
    const { actor, scheduled } = await openConcert();
    await actor.execute(place('session-1'));
    assert.deepEqual(scheduled.at(-1), { eventId: 'evt_concert', at: START + 10 * 60_000 });
  });
});

describe('A journal that cannot be written', () => {
  it('leaves no doubtful command answered; events are activated again from the disk', async () => {
    const { actor, journal, events } = await openConcert();
    journal.onStatus(() => events.actors.retireAll());
    await actor.execute(place('session-1', 2));
    journal.slow(5);
    const inDoubt = actor.execute(place('session-2', 3));
    journal.full(true);
    await assert.rejects(inDoubt, Overloaded);
    const again = (await events.byEventId('evt_concert'))!;
    assert.equal(available(again), 8, 'reads go on from what is on disk');
    await assert.rejects(again.execute(place('session-3')), Overloaded);
    journal.full(false);
    const after = (await events.byEventId('evt_concert'))!;
    assert.ok(!isRefusal(await after.execute(place('session-3'))));
    assert.equal(available(after), 7);
  });

  it('lets what ran out meanwhile be settled by itself, without a request', async () => {
    const { actor, journal, events, clock, scheduled } = await openConcert();
    journal.onStatus(() => events.actors.retireAll());
    await actor.execute(place('session-1', 2));
    journal.full(true);
    clock.now += 11 * 60_000;
    scheduled.length = 0;
    // As the timer does.
    await events.actors.settleDue('evt_concert');
    const ended = (): number => [...journal.read()].filter(({ type }) => type === 'HoldExpired').length;
    assert.equal(ended(), 0);
    journal.full(false);
    assert.ok(scheduled.some(({ eventId, at }) => eventId === 'evt_concert' && at <= clock.now));
    await events.actors.settleDue('evt_concert');
    assert.equal(ended(), 1);
  });
});

describe('An event actor that failed', () => {
  it('is activated again only with the facts that were on their way to the disk', async () => {
    const { actor, journal, events } = await openByHand();
    const waiting = actor.execute(place('session-1', 4));
    actor.inspect((state) => state.performances.delete('fri'));
    await assert.rejects(actor.execute({ type: 'ReleaseHold', holdId: heldBy(actor), sessionKey: 'session-1' }));
    assert.ok(actor.isRetired);
    const again = events.byEventId('evt_concert');
    await nextTurn();
    journal.commit();
    assert.ok(!isRefusal(await waiting));
    assert.equal(available((await again)!), 6);
  });
});

const heldBy = (actor: EventActor): string => actor.inspect((state) => [...state.holds.byId.keys()][0]!);

describe('Activation', () => {
  it('restores the state', async () => {
    const { actor, journal, clock } = await openConcert();
    for (let n = 0; n < 8; n += 1) await actor.execute(place(`session-${n % 3}`, 1 + (n % 3)));
    clock.now += 11 * 60_000;
    await actor.execute(place('session-9'));
    const { events } = openActors(journal.crashAfter());
    const replayed = (await events.byEventId('evt_concert'))!;
    assert.equal(fingerprint(replayed), fingerprint(actor));
    assert.equal(replayed.facts.lastSeq, actor.facts.lastSeq);
  });

  it('is shared by requests that come at once', async () => {
    const { journal } = await openConcert();
    const { events } = openActors(journal.crashAfter());
    const [one, other] = await Promise.all([events.byEventId('evt_concert'), events.bySlug('concert')]);
    assert.equal(one, other);
  });

  it('finds the event of an id that the event gave out', async () => {
    const { actor, events } = await openConcert();
    const placed = await actor.execute(place('session-1'));
    assert.ok(!isRefusal(placed));
    assert.equal(await events.byId('hld', placed.hold.id), actor);
    assert.equal(await events.byId('ord', placed.hold.id), null);
    assert.equal(await events.byId('hld', 'hld_zz_aaaaaaaaaaaaaaaaaaaaaaaa'), null);
    assert.equal(await events.byId('hld', '../../etc'), null);
  });
});

describe('The event index', () => {
  it('has the least recently used events evicted, and activates them again with their state', async () => {
    const actors = openActors(new MemoryJournal(), { liveEventsMax: 3 });
    for (let n = 0; n < 10; n += 1) {
      const changes = { id: `evt_${n}`, slug: `s${n}` };
      await openConcert(actors, changes).catch(() => {});
      const actor = (await actors.events.byEventId(`evt_${n}`))!;
      await actor.execute(place('session-1', 1 + (n % 5)));
    }
    await nextTurn();
    assert.ok(actors.events.actors.size <= 4, `${actors.events.actors.size} are in memory`);
    const first = (await actors.events.byEventId('evt_3'))!;
    assert.equal(available(first), 10 - 4);
  });

  it('lists published events by their first performance, in pages', async () => {
    const actors = openActors();
    const dates = ['2027-08-01T18:00:00Z', '2027-06-01T18:00:00Z', '2027-07-01T18:00:00Z'];
    for (const [n, starts] of dates.entries()) {
      const performances = [{ id: 'fri', starts_at: starts }];
      await openConcert(actors, { id: `evt_${n}`, slug: `s${n}`, performances }).catch(() => {});
    }
    await openConcert(actors, { id: 'evt_draft', slug: 'draft', status: 'DRAFT' }).catch(() => {});
    const page = await actors.events.list({ limit: 2, after: null });
    assert.deepEqual(
      page.events.map(({ id }) => id),
      ['evt_1', 'evt_2'],
    );
    const rest = await actors.events.list({ limit: 2, after: page.nextAfter });
    assert.deepEqual([rest.events.map(({ id }) => id), rest.nextAfter], [['evt_0'], null]);
  });

  it('gives a slug to one event only', async () => {
    const { events } = await openConcert();
    const { definition } = (await events.byEventId('evt_concert'))!.inspect((state) => ({
      definition: { ...state.plan.definition, id: 'evt_other' },
    }));
    const refusal = await events.define(definition, { operator: null, note: null });
    assert.ok(isRefusal(refusal) && refusal.code === 'UPDATE_CONFLICT');
  });
});
