/** The cancellation of a performance with more orders than one turn cancels, by the real actor. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { isIdle } from '#actors/actor-pool.ts';
import { Overloaded } from '#actors/admission.ts';
import { turnChannel, type TurnMessage } from '#actors/channels.ts';
import { auditEventState } from '#domain/event/audit.ts';
import { isCancelling, liveOrdersOn } from '#domain/orders/state.ts';
import { sumOf } from '#domain/money.ts';
import { isRefusal } from '#domain/refusal.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { commitFirst, openActors, openConcert, place, START } from '../fixtures/actors.ts';
import { buy, item } from '../fixtures/commands.ts';
import { until } from '../fixtures/until.ts';
import type { EventActor } from '#actors/event-actor.ts';
import type { CommandOf } from '#domain/command.ts';

const ORDERS = 450;
/** That end in one turn, as in `cancelled-dates.ts`. */
const ORDERS_A_TURN = 10;

const twoDates = {
  // Other tests of the process are heard too.
  id: 'evt_storm',
  slug: 'the-storm',
  performances: [{ id: 'fri' }, { id: 'sat' }],
  localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 2 * ORDERS }],
  sellingStages: [{ id: 'now', name: 'Now', prices: { stand: 0 } }],
};

/** What each turn cancels: few at first. */
const TURNS: number[] = [];
for (let left = ORDERS, size = 2; left > 0; left -= TURNS.at(-1)!, size *= 2) {
  TURNS.push(Math.min(left, size, ORDERS_A_TURN));
}

const cancel: CommandOf<'CancelPerformance'> = {
  type: 'CancelPerformance',
  performanceId: 'fri',
  operator: 'olga',
  note: 'storm',
  idempotency: { key: 'storm-1', digest: 'd' },
};

const on = (performanceId: string) => item('stand', 1, { performanceId, sellingStageId: 'now' });
const onFriday = [on('fri')];

/** A concert on two dates: on the first one there are as many orders, and on the second one an order more. */
async function openSale(journal = new MemoryJournal(), wanted = onFriday) {
  const actors = openActors(journal, { waitingRepliesMax: 10_000 });
  const { actor } = await commitFirst(journal, openConcert(actors, twoDates));
  const dates = [...Array.from({ length: ORDERS }, () => 'fri'), 'sat'];
  const bought = dates.map((performanceId) => actor.execute(buy(performanceId === 'fri' ? wanted : [on('sat')])));
  await nextRound();
  journal.commit();
  for (const reply of await Promise.all(bought)) assert.ok(!isRefusal(reply) && reply.order.status === 'CONFIRMED');
  return { ...actors, actor, journal };
}

const statusesOf = (actor: EventActor): string[] =>
  actor.inspect(({ orders }) => [...orders.inOrder].map(({ status }) => status));

function assertAllCancelled(actor: EventActor): void {
  assert.deepEqual(statusesOf(actor), [...Array.from({ length: ORDERS }, () => 'CANCELLED'), 'CONFIRMED']);
  assert.deepEqual(actor.inspect(auditEventState), []);
  const cancellations = actor.inspect(({ orders }) => [...orders.inOrder].map(({ cancellation }) => cancellation));
  assert.deepEqual(new Set(cancellations.map((each) => each?.note)), new Set(['storm', undefined]));
  assert.ok(cancellations.every((each) => each === null || each.at >= START));
}

const cancelledIn = (journal: MemoryJournal): number =>
  [...journal.read()].filter(({ type }) => type === 'OrderCancelled').length;

/** The turns of cancellations, from now on. */
function heardTurns(t: TestContext): TurnMessage[] {
  const heard: TurnMessage[] = [];
  const hear = (message: unknown): void => {
    if ((message as TurnMessage).command === 'CancelNextOrders' && (message as TurnMessage).eventId === 'evt_storm')
      heard.push(message as TurnMessage);
  };
  turnChannel.subscribe(hear);
  t.after(() => turnChannel.unsubscribe(hear));
  return heard;
}

describe('The cancellation of a performance with many orders', () => {
  it('takes several turns, between which others are served, and is answered after the last one', async (t) => {
    const { actor } = await openSale();
    const turns = heardTurns(t);
    const answers: string[] = [];
    const cancelled = actor.execute(cancel).finally(() => answers.push('cancelled'));
    const hold = { ...place('session-1'), items: [{ ...place('x').items[0]!, performanceId: 'sat' }] };
    const held = await actor.execute(hold).finally(() => answers.push('held'));
    assert.ok(!isRefusal(held) && actor.inspect(isCancelling));
    assert.deepEqual(await cancelled, {
      outcome: 'DONE',
      releasedHolds: 0,
      cancelledOrders: ORDERS,
      amendedOrders: 0,
    });
    assert.deepEqual(answers, ['held', 'cancelled']);
    assert.deepEqual(
      turns.map(({ facts }) => facts.length),
      TURNS,
    );
    assertAllCancelled(actor);
  });

  it('goes on when the turn before is durable, and keeps its event in memory until then', async () => {
    const { actor, journal } = await openSale(new MemoryJournal({ manual: true }));
    const cancelled = actor.execute(cancel);
    const live: number[] = [];
    for (let turn = 1; turn <= TURNS.length; turn += 1) {
      for (let round = 0; round < 10; round += 1) await nextRound();
      live.push(actor.inspect((state) => liveOrdersOn(state, 'fri')));
      journal.commit();
      assert.equal(isIdle(actor), turn === TURNS.length);
    }
    assert.deepEqual(
      live,
      TURNS.map((_, turn) => ORDERS - sumOf(TURNS.slice(0, turn + 1), (orders) => orders)),
    );
    assert.ok(!isRefusal(await cancelled));
    assertAllCancelled(actor);
  });

  it('continues after a crash in its middle', async () => {
    const { actor, journal } = await openSale();
    actor.execute(cancel).catch(() => {});
    while (cancelledIn(journal) === 0) await nextRound();
    const crashed = journal.crashAfter();
    actor.retire();
    const revived = (await openActors(crashed).events.byEventId('evt_storm'))!;
    assert.ok(revived.inspect(isCancelling), 'the crash was in the middle');
    await until(() => !revived.inspect(isCancelling));
    assertAllCancelled(revived);
    await crashed.durable(crashed.appendedSeq);
    assert.equal(cancelledIn(crashed), ORDERS, 'no order is cancelled twice');
  });

  it('with its tickets alone continues after a crash too, and then asks for everything that is due', async () => {
    const { actor, journal } = await openSale(new MemoryJournal(), [on('fri'), on('sat')]);
    actor.execute({ ...cancel, orders: 'TICKETS', executes: true }).catch(() => {});
    const amendedIn = (of: MemoryJournal) => [...of.read()].filter(({ type }) => type === 'OrderAmended').length;
    while (amendedIn(journal) === 0) await nextRound();
    const crashed = journal.crashAfter();
    actor.retire();
    const revived = (await openActors(crashed).events.byEventId('evt_storm'))!;
    assert.ok(revived.inspect(isCancelling), 'the crash was in the middle');
    await until(() => [...crashed.read()].at(-1)?.type === 'DueRefundsAsked');
    assert.deepEqual([amendedIn(crashed), cancelledIn(crashed)], [ORDERS, 0], 'no order is amended twice');
    assert.equal(
      revived.inspect((state) => liveOrdersOn(state, 'fri')),
      0,
    );
    assert.deepEqual(revived.inspect(auditEventState), []);
    assert.deepEqual(new Set(statusesOf(revived)), new Set(['CONFIRMED']));
  });

  it('releases many holds in turns, counts them all, and continues after a crash among them', async (t) => {
    const journal = new MemoryJournal();
    const { actor } = await openConcert(openActors(journal, { waitingRepliesMax: 10_000 }), twoDates);
    const holds = Array.from({ length: ORDERS }, (_, n) =>
      actor.execute({ ...place(`session-${n}`), items: [on('fri'), on('sat')] }),
    );
    for (const held of await Promise.all(holds)) assert.ok(!isRefusal(held));
    const turns = heardTurns(t);
    const releasedIn = (of: MemoryJournal) => [...of.read()].filter(({ type }) => type === 'HoldReleased').length;
    const cancelled = actor.execute(cancel);
    while (releasedIn(journal) === 0) await nextRound();
    const crashed = journal.crashAfter();
    assert.deepEqual(await cancelled, { outcome: 'DONE', releasedHolds: ORDERS, cancelledOrders: 0, amendedOrders: 0 });
    assert.equal(releasedIn(journal), ORDERS);
    assert.ok(turns.length > 1, 'no turn releases them all');
    assert.deepEqual(actor.inspect(auditEventState), []);
    assert.ok(releasedIn(crashed) > 0 && releasedIn(crashed) < ORDERS, 'the crash was in the middle');
    const revived = (await openActors(crashed).events.byEventId('evt_storm'))!;
    await until(() => !revived.inspect(isCancelling));
    await crashed.durable(crashed.appendedSeq);
    assert.equal(releasedIn(crashed), ORDERS, 'no hold is released twice');
    assert.deepEqual(revived.inspect(auditEventState), []);
  });

  it('is answered as Overloaded when it is cut short, and a repeat is answered as the first request once it is done', async () => {
    const { actor, journal, events } = await openSale();
    const cut = actor.execute(cancel);
    while (cancelledIn(journal) === 0) await nextRound();
    journal.full(true);
    events.actors.retireAll();
    await assert.rejects(cut, Overloaded);
    journal.full(false);
    const revived = (await events.byEventId('evt_storm'))!;
    assert.ok(revived.inspect(isCancelling));
    const again = await revived.execute(cancel);
    assert.deepEqual(again, {
      outcome: 'DONE',
      releasedHolds: 0,
      cancelledOrders: ORDERS,
      amendedOrders: 0,
      replayed: true,
    });
    assertAllCancelled(revived);
  });

  for (const when of ['while its turns are under way', 'before its first fact is on disk'] as const) {
    it(`goes on by itself when a disk that was full ${when} has room again`, async () => {
      const { actor, journal, events, clock, scheduled } = await openSale();
      journal.onStatus(() => events.actors.retireAll());
      actor.execute(cancel).catch(() => {});
      if (when === 'while its turns are under way') while (cancelledIn(journal) === 0) await nextRound();
      scheduled.length = 0;
      journal.full(true);
      await nextRound();
      assert.deepEqual(scheduled, []);
      // What was in doubt proves to be on disk.
      journal.full(false, Number.MAX_SAFE_INTEGER);
      assert.deepEqual(scheduled, [{ eventId: 'evt_storm', at: clock.now }]);
      // As the timer does.
      await events.actors.settleDue('evt_storm');
      const revived = events.actors.peek('evt_storm')!;
      await until(() => !revived.inspect(isCancelling));
      assertAllCancelled(revived);
    });
  }

  it('is answered when the cancellation of its only order is durable that another command cancelled', async () => {
    const journal = new MemoryJournal({ manual: true });
    const { actor } = await commitFirst(journal, openConcert(openActors(journal), twoDates));
    const bought = actor.execute(buy([item('stand', 1, { performanceId: 'fri', sellingStageId: 'now' })]));
    await nextRound();
    journal.commit();
    const reply = await bought;
    assert.ok(!isRefusal(reply));
    let isAnswered = false;
    const cancelled = actor.execute(cancel).finally(() => (isAnswered = true));
    const { appendedSeq } = journal;
    void actor.execute({ type: 'CancelOrder', orderId: reply.order.id, operator: 'olga', note: null });
    journal.commit(appendedSeq);
    for (let round = 0; round < 10; round += 1) await nextRound();
    assert.equal(isAnswered, false);
    journal.commit();
    assert.ok(!isRefusal(await cancelled));
  });
});
