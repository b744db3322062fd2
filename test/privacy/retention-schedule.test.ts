import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Overloaded } from '#actors/admission.ts';
import { turnChannel } from '#actors/channels.ts';
import { startRetentionSchedule, type ErasedByRetention } from '#privacy/retention-schedule.ts';
import type { PastRetention } from '#actors/event-index.ts';
import type { EventPort } from '#actors/event-port.ts';
import type { Command } from '#domain/command.ts';
import type { Query } from '#domain/event/query.ts';

const HOUR = 3_600_000;

/** An event of so many orders: those to erase, and those whose payment is awaited. */
class FakeEvent {
  readonly eventId: string;
  sealed: number;
  pending = 0;
  unsealed = 0;
  turns = 0;
  fault: Error | null = null;
  /** Called once, after the next turn. */
  onTurn: () => void = () => {};

  constructor(eventId: string, sealed: number) {
    this.eventId = eventId;
    this.sealed = sealed;
  }

  port(): EventPort {
    const execute = async (command: Command): Promise<unknown> => {
      if (this.fault !== null) throw this.fault;
      assert.equal(command.type, 'EraseDueOrders');
      const { after, limit } = command as { after: number | null; limit: number };
      this.turns += 1;
      const erasedOrders = Math.min(limit, this.sealed);
      this.sealed -= erasedOrders;
      const nextAfter = this.sealed > 0 ? (after ?? -1) + erasedOrders : null;
      const { onTurn } = this;
      this.onTurn = () => {};
      onTurn();
      return { outcome: 'DONE', erasedOrders, unsealedOrders: this.unsealed, nextAfter };
    };
    const read = async (query: Query): Promise<unknown> => {
      assert.deepEqual([query.type, 'status' in query && query.status], ['ListOrders', 'PENDING']);
      return { orders: Array.from({ length: Math.min(1, this.pending) }, () => ({})), nextAfter: null };
    };
    return { eventId: this.eventId, execute, read } as unknown as EventPort;
  }
}

function openFixture(...events: FakeEvent[]) {
  const fixture = {
    now: 0,
    mayErase: true,
    past: events.map(({ eventId }) => ({ eventId, endsAt: 0 })) as PastRetention[],
    reports: [] as ErasedByRetention[],
    schedule: null as unknown as ReturnType<typeof startRetentionSchedule>,
  };
  fixture.schedule = startRetentionSchedule({
    clock: { now: () => fixture.now },
    events: { byEventId: (eventId) => events.find((event) => event.eventId === eventId)?.port() ?? null },
    pastRetention: () => fixture.past,
    mayErase: () => fixture.mayErase,
    onErased: (erased) => fixture.reports.push(erased),
  });
  return fixture;
}

describe('The retention schedule', () => {
  it('erases everything that is due at the start, a part in each turn, and says how much', async (t) => {
    const [many, none] = [new FakeEvent('evt_many', 1_001), new FakeEvent('evt_none', 0)];
    const { schedule, reports } = openFixture(many, none);
    t.after(() => schedule.stop());
    await schedule.eraseWhenDue();
    assert.equal(many.sealed, 0);
    assert.ok(many.turns > 5, `${many.turns} turns`);
    assert.deepEqual(reports, [{ eventId: 'evt_many', erasedOrders: 1_001, unsealedOrders: 0 }]);
  });

  it('asks an event again only when its retention ends at another moment, and no other within an hour', async (t) => {
    const event = new FakeEvent('evt_a', 3);
    const fixture = openFixture(event);
    const { schedule } = fixture;
    t.after(() => schedule.stop());
    await schedule.eraseWhenDue();
    const { turns } = event;
    fixture.now = HOUR;
    await schedule.eraseWhenDue();
    assert.equal(event.turns, turns);
    event.sealed = 1;
    fixture.past = [{ eventId: 'evt_a', endsAt: 7 }];
    fixture.now = 2 * HOUR - 1;
    await schedule.eraseWhenDue();
    assert.equal(event.sealed, 1);
    fixture.now = 2 * HOUR;
    await schedule.eraseWhenDue();
    assert.equal(event.sealed, 0);
  });

  it('asks an event again that sold something after nothing was left of it, or while it was asked', async (t) => {
    const event = new FakeEvent('evt_a', 3);
    const fixture = openFixture(event);
    t.after(() => fixture.schedule.stop());
    const sell = (): void => {
      event.sealed += 1;
      turnChannel.publish({
        eventId: 'evt_a',
        command: 'StartCheckout',
        code: null,
        facts: [{ type: 'OrderPlaced', data: {} }],
      });
    };
    await fixture.schedule.eraseWhenDue();
    sell();
    fixture.now = HOUR;
    event.onTurn = sell;
    await fixture.schedule.eraseWhenDue();
    assert.equal(event.sealed, 1);
    fixture.now = 2 * HOUR;
    await fixture.schedule.eraseWhenDue();
    assert.equal(event.sealed, 0);
    const { turns } = event;
    fixture.now = 3 * HOUR;
    await fixture.schedule.eraseWhenDue();
    assert.equal(event.turns, turns, 'nothing was sold since');
  });

  it('asks an event again that this node owns again, once: another one may have sold meanwhile', async (t) => {
    const event = new FakeEvent('evt_a', 3);
    const fixture = openFixture(event);
    t.after(() => fixture.schedule.stop());
    const ownUnder = (epoch: number): void => void (fixture.past = [{ eventId: 'evt_a', endsAt: 0, epoch }]);
    ownUnder(1);
    await fixture.schedule.eraseWhenDue();
    ownUnder(3);
    event.sealed = 1;
    fixture.now = HOUR;
    await fixture.schedule.eraseWhenDue();
    assert.equal(event.sealed, 0);
    const { turns } = event;
    ownUnder(3);
    fixture.now = 2 * HOUR;
    await fixture.schedule.eraseWhenDue();
    assert.equal(event.turns, turns);
  });

  it('asks again while a payment is awaited', async (t) => {
    const event = new FakeEvent('evt_a', 0);
    event.pending = 1;
    const fixture = openFixture(event);
    t.after(() => fixture.schedule.stop());
    await fixture.schedule.eraseWhenDue();
    event.pending = 0;
    event.sealed = 1;
    fixture.now = HOUR;
    await fixture.schedule.eraseWhenDue();
    assert.equal(event.sealed, 0);
    fixture.now = 2 * HOUR;
    const { turns } = event;
    await fixture.schedule.eraseWhenDue();
    assert.equal(event.turns, turns);
  });

  it('goes on with the other events when one fails, and tries that one an hour later', async (t) => {
    const [bad, good] = [new FakeEvent('evt_bad', 1), new FakeEvent('evt_good', 1)];
    bad.fault = new Overloaded('the journal cannot be written now', 1);
    const fixture = openFixture(bad, good);
    t.after(() => fixture.schedule.stop());
    await fixture.schedule.eraseWhenDue();
    assert.deepEqual([bad.sealed, good.sealed], [1, 0]);
    bad.fault = null;
    fixture.now = HOUR;
    await fixture.schedule.eraseWhenDue();
    assert.equal(bad.sealed, 0);
  });

  it('names orders of earlier versions, which cannot be erased', async (t) => {
    const event = new FakeEvent('evt_old', 0);
    event.unsealed = 4;
    const { schedule, reports } = openFixture(event);
    t.after(() => schedule.stop());
    await schedule.eraseWhenDue();
    assert.deepEqual(reports, [{ eventId: 'evt_old', erasedOrders: 0, unsealedOrders: 4 }]);
  });

  it('begins as soon as it may, and ends between two turns when it is stopped', async () => {
    const event = new FakeEvent('evt_a', 1_000);
    const fixture = openFixture(event);
    fixture.schedule.stop();
    await fixture.schedule.eraseWhenDue();
    assert.ok(event.sealed > 0, `${event.turns} turns`);
    const later = new FakeEvent('evt_b', 1);
    const ports = { mayErase: false };
    const schedule = startRetentionSchedule({
      clock: { now: () => 0 },
      events: { byEventId: () => later.port() },
      pastRetention: () => [{ eventId: 'evt_b', endsAt: 0 }],
      mayErase: () => ports.mayErase,
      onErased: () => {},
    });
    await schedule.eraseWhenDue();
    assert.equal(later.sealed, 1);
    ports.mayErase = true;
    await schedule.eraseWhenDue();
    assert.equal(later.sealed, 0);
    schedule.stop();
  });
});
