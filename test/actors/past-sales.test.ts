/**
 * Memory grows with the events on sale, not with past ones: which events a start and the list activate, and which are
 * evicted.
 */
import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { describe, it, type TestContext } from 'node:test';
import { startEngine, type Engine } from '#engine/engine.ts';
import { findOrder } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import { makePastSales } from '../../bench/sold-out-events.ts';
import { newDataFolder } from '../fixtures/folders.ts';
import { concert, inspectDurably, place } from '../fixtures/actors.ts';
import { buy, item } from '../fixtures/commands.ts';
import type { ActivationMessage } from '#actors/channels.ts';

const SOLD_AT = Date.UTC(2026, 0, 9, 12);
const DAY = 24 * 60 * 60 * 1000;
const MINUTE = 60_000;

interface Running {
  readonly engine: Engine;
  readonly clock: { now: number };
  /** The events that were activated since the start, in order, once for each activation. */
  readonly activated: readonly string[];
}

async function start(t: TestContext, folder: string, now: number): Promise<Running> {
  const clock = { now };
  const activated: string[] = [];
  const note = (message: unknown): void => {
    const { eventId, alive } = message as ActivationMessage;
    if (alive) activated.push(eventId);
  };
  subscribe('holdfast:activation', note);
  const engine = await startEngine({
    folder,
    liveEventsMax: 100,
    waitingRepliesMax: 1_000,
    clockSource: () => clock.now,
    onFatal: (fault) => assert.fail(fault),
  });
  t.after(async () => {
    unsubscribe('holdfast:activation', note);
    await engine.stop();
  });
  return { engine, clock, activated };
}

/** Resolves when the event is activated. */
function nextActivation(wanted: string): Promise<void> {
  return new Promise((resolve) => {
    const see = (message: unknown): void => {
      const { eventId, alive } = message as ActivationMessage;
      if (!alive || eventId !== wanted) return;
      unsubscribe('holdfast:activation', see);
      resolve();
    };
    subscribe('holdfast:activation', see);
  });
}

async function sold(t: TestContext, sales = 60, events = 6) {
  const folder = newDataFolder(t);
  const { orderIds } = await makePastSales(folder, { sales, events, soldAt: SOLD_AT });
  return { folder, orderIds };
}

describe('A start on a folder of past sales', () => {
  it('activates no event that is over, lists those as they ended, and activates one when an order of it is read', async (t) => {
    const { folder, orderIds } = await sold(t);
    const running = await start(t, folder, SOLD_AT + 3 * DAY);
    const { engine, activated } = running;
    await running.engine.settled;
    const { events } = await engine.events.list({ limit: 100, after: null });
    assert.equal(events.length, 6);
    assert.ok(events.every(({ soldOut, fromPrice }) => soldOut && fromPrice > 0));
    assert.deepEqual(activated, [], 'neither the start nor the list activates an event');
    const actor = await engine.events.byId('ord', orderIds[3]!);
    const order = await inspectDurably(actor!, (state) => findOrder(state, orderIds[3]!));
    assert.equal(isRefusal(order) ? order.code : order.status, 'CONFIRMED');
    assert.deepEqual(activated, ['evt_past_3']);
  });

  it('evicts an event that is over once it gets no more requests', async (t) => {
    const { folder } = await sold(t);
    const { engine } = await start(t, folder, SOLD_AT + 3 * DAY);
    for (const n of [0, 1]) await engine.events.byEventId(`evt_past_${n}`);
    await engine.events.actors.evictOver();
    assert.equal(engine.events.actors.size, 2, 'they were used since the last round');
    await engine.events.actors.evictOver();
    assert.equal(engine.events.actors.size, 0);
  });

  it('keeps what metrics show of its doors, also over a stop, and keeps it while a station told of scans that wait', async (t) => {
    const folder = newDataFolder(t);
    const { engine, clock } = await start(t, folder, SOLD_AT);
    const date = {
      id: 'fri',
      starts_at: new Date(SOLD_AT).toISOString(),
      ends_at: new Date(SOLD_AT + 1).toISOString(),
    };
    const sellingStages = [{ id: 'now', name: 'Now', prices: { stand: 0 } }];
    await engine.events.define(concert({ performances: [date], sellingStages }), { operator: null, note: null });
    const actor = (await engine.events.byEventId('evt_concert'))!;
    const bought = await actor.execute(buy([item('stand', 1, { performanceId: 'fri', sellingStageId: 'now' })]));
    assert.ok(!isRefusal(bought));
    const [ticket] = bought.order.tickets;
    const station = { kind: 'STATION', performanceIds: null, doorIds: null, expiresAt: null, operator: null } as const;
    const tokenSha256 = 'north';
    await actor.execute({ type: 'AddStation', name: 'North', ...station, tokenSha256 });
    const scan = {
      kind: 'ENTRY',
      found: { ticketId: ticket!.id },
      digest: 1,
      undoes: null,
      performanceId: 'fri',
    } as const;
    const given = { doorId: 'main', at: SOLD_AT, given: 'ADMIT', isOfGate: false, stationId: null } as const;
    const scans = ['first-of-two', 'other-of-two'].map((id) => ({ id, ...scan, ...given }));
    await actor.execute({ type: 'RecordScans', tokenSha256, scans });
    clock.now = SOLD_AT + DAY;
    const sync = { type: 'SyncStation', tokenSha256, after: null, limit: 1, version: null, keysDigest: '' } as const;
    const sizeOnceQueued = async (queued: number): Promise<number> => {
      await actor.execute({ ...sync, queued });
      for (const _look of [1, 2]) await engine.events.actors.evictOver();
      return engine.events.actors.size;
    };
    assert.equal(await sizeOnceQueued(3), 1);
    assert.equal(await sizeOnceQueued(0), 0);
    const conflicts = { DOUBLE_ENTRY: 1, ENTERED_VOID: 0, ENTERED_OTHERWISE: 0 };
    const doorsOf = ({ events }: Engine) => events.notInMemory.map(({ doors }) => doors);
    assert.deepEqual(doorsOf(engine), [{ conflicts }]);
    await engine.stop();
    const again = (await start(t, folder, clock.now)).engine;
    await again.settled;
    assert.deepEqual(doorsOf(again), [{ conflicts }]);
    await again.events.byEventId('evt_concert');
    assert.deepEqual(doorsOf(again), []);
  });

  it('keeps an event that is still to come in memory', async (t) => {
    const { folder } = await sold(t);
    const { engine } = await start(t, folder, SOLD_AT + MINUTE);
    await engine.events.byEventId('evt_past_0');
    for (let look = 0; look < 3; look += 1) await engine.events.actors.evictOver();
    assert.equal(engine.events.actors.size, 1);
  });
});

describe('A start on a folder of idle events', () => {
  /** An event with a hold and an order that were never snapshot, and one that was only defined. */
  async function idle(t: TestContext): Promise<string> {
    const folder = newDataFolder(t);
    const running = await start(t, folder, SOLD_AT);
    const { events } = running.engine;
    await events.define(concert(), { operator: null, note: null });
    await events.define(concert({ id: 'evt_new', slug: 'new' }), { operator: null, note: null });
    const actor = (await events.byEventId('evt_concert'))!;
    assert.ok(!isRefusal(await actor.execute(place('session-1', 4))));
    await running.engine.stop({ snapshotMsMax: 0 });
    return folder;
  }

  it('settles what ran out meanwhile and evicts them; one that was only defined is never activated', async (t) => {
    const folder = await idle(t);
    const running = await start(t, folder, SOLD_AT + DAY);
    await running.engine.settled;
    assert.deepEqual(running.activated, ['evt_concert']);
    assert.equal(running.engine.events.actors.size, 0);
    const { events } = await running.engine.events.list({ limit: 10, after: null });
    assert.deepEqual(
      events.map(({ id, soldOut, fromPrice }) => [id, soldOut, fromPrice]),
      [
        ['evt_concert', false, 1000],
        ['evt_new', false, 1000],
      ],
    );
    assert.deepEqual(running.activated, ['evt_concert'], 'the list activates no event');
    assert.ok([...running.engine.journal.read()].some(({ type }) => type === 'HoldExpired'));
  });

  it('keeps an event in memory in which something runs out soon', async (t) => {
    const folder = await idle(t);
    const running = await start(t, folder, SOLD_AT + MINUTE);
    await running.engine.settled;
    assert.equal(running.engine.events.actors.size, 1);
  });

  it('settles a deadline that a snapshot names at its time, without activating the event before', async (t) => {
    const folder = await idle(t);
    const first = await start(t, folder, SOLD_AT + MINUTE);
    await first.engine.snapshots.takeRound();
    await first.engine.stop();
    const running = await start(t, folder, SOLD_AT + 2 * MINUTE);
    await running.engine.settled;
    assert.deepEqual(running.activated, []);
    running.clock.now = SOLD_AT + DAY;
    await nextActivation('evt_concert');
    await running.engine.journal.durable(running.engine.journal.appendedSeq);
    assert.ok([...running.engine.journal.read()].some(({ type }) => type === 'HoldExpired'));
  });
});
