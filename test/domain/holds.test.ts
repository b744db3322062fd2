import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkDefinition } from '#catalogue/definition.ts';
import { eventView } from '#domain/catalogue/view.ts';
import { findHold } from '#domain/holds/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import { eventOf, stage, ticketType } from '../fixtures/definitions.ts';
import { assertSameAfterReplay, given, id, MINUTE, START, type EventFixture } from '../fixtures/event-state.ts';
import type { CommandOf, ItemRequest } from '#domain/command.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { HoldView } from '#domain/views.ts';
import { findAnyHold } from '#domain/holds/state.ts';

/** The event's definition with one performance closed by the operator. */
function closed({ state }: EventFixture, performanceId: string): EventDefinition {
  const { definition } = state.plan;
  const performances = definition.performances.map((each) =>
    each.id === performanceId ? ({ ...each, status: 'SOLD_OUT' } as const) : each,
  );
  return { ...definition, performances };
}

const BUYER = 'buyer-one';
const OTHER = 'buyer-two';

function define(changes: object = {}): EventDefinition {
  const checked = checkDefinition({
    id: 'evt_test',
    slug: 'test',
    name: 'Test',
    currency: 'EUR',
    performances: [
      { id: 'fri', starts_at: '2027-06-01T18:00:00Z', ends_at: '2027-06-01T21:00:00Z' },
      { id: 'sat', starts_at: '2027-06-02T18:00:00Z', ends_at: '2027-06-02T21:00:00Z' },
      { id: 'off', status: 'CANCELLED' },
      { id: 'shut', status: 'SOLD_OUT' },
      { id: 'draft', status: 'DRAFT' },
    ],
    localities: [
      { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 10 },
      {
        id: 'hall',
        name: 'Hall',
        seating: 'NUMBERED',
        sections: [
          { id: 'A', zone_key: 'gold', rows: [{ label: '1', seats: 6 }] },
          { id: 'B', zone_key: 'grey', rows: [{ label: '1', seats: 4 }] },
        ],
      },
    ],
    ticketTypes: [
      { id: 'stand', name: 'Standing', locality_id: 'floor' },
      { id: 'group', name: 'Group of four', locality_id: 'floor', group_size: 4 },
      { id: 'gold', name: 'Gold', locality_id: 'hall', zone_keys: ['gold'] },
    ],
    sellingStages: [
      { id: 'now', name: 'Now', prices: { stand: 1000, group: 3500, gold: 5000 }, quotas: { group: 8 } },
      { id: 'late', name: 'Late', starts_at: '2027-05-31T00:00:00Z', prices: { stand: 1500 } },
    ],
    ...changes,
  });
  if ('problems' in checked) assert.fail(JSON.stringify(checked.problems));
  return checked.definition;
}

function item(changes: Partial<ItemRequest> = {}): ItemRequest {
  return { ticketTypeId: 'stand', sellingStageId: 'now', quantity: 1, performanceId: 'fri', seatIds: null, ...changes };
}

function place(items: readonly ItemRequest[], sessionKey = BUYER): CommandOf<'PlaceHold'> {
  return { type: 'PlaceHold', sessionKey, items, queuePass: null, idempotency: null };
}

function placed(fixture: EventFixture, items: readonly ItemRequest[], sessionKey = BUYER): HoldView {
  return fixture.do(place(items, sessionKey)).hold;
}

function change(hold: HoldView, items: readonly ItemRequest[], sessionKey = BUYER): CommandOf<'ChangeHold'> {
  return { type: 'ChangeHold', holdId: hold.id, sessionKey, items };
}

function left(fixture: EventFixture, performanceId = 'fri'): number {
  return fixture.state.performances.get(performanceId)!.inventory.totals().available;
}

describe('placing a hold', () => {
  it('takes the tickets off sale until its window runs out, to the millisecond', () => {
    const fixture = given(define());
    const hold = placed(fixture, [item({ quantity: 3 })]);
    assert.equal(hold.status, 'ACTIVE');
    assert.equal(hold.expiresAt, START + 10 * MINUTE);
    fixture.wait(10 * MINUTE - 1);
    fixture.settle();
    assert.equal(left(fixture), 17);
    fixture.wait(1).settle();
    assert.equal(left(fixture), 20);
    const over = findHold(fixture.state, hold.id, BUYER);
    assert.equal('status' in over && over.status, 'EXPIRED');
    assertSameAfterReplay(fixture);
  });

  it('refuses performances in the order required, not found, not on sale', () => {
    const fixture = given(define());
    fixture.when(place([item({ performanceId: null })])).refuses('PERFORMANCE_REQUIRED');
    for (const performanceId of ['nowhere', 'draft']) {
      fixture.when(place([item({ performanceId })])).refuses('PERFORMANCE_NOT_FOUND', { performanceId });
    }
    for (const performanceId of ['off', 'shut']) {
      fixture.when(place([item({ performanceId })])).refuses('PERFORMANCE_NOT_ON_SALE', { performanceId });
    }
    fixture.now = Date.UTC(2027, 5, 1, 21);
    fixture.when(place([item()])).refuses('PERFORMANCE_NOT_ON_SALE');
  });

  it('checks performances of all items before types, types before seats, seats before stock', () => {
    const fixture = given(define());
    fixture
      .when(place([item({ ticketTypeId: 'nothing' }), item({ performanceId: 'off' })]))
      .refuses('PERFORMANCE_NOT_ON_SALE');
    fixture.when(place([item({ quantity: 99 }), item({ ticketTypeId: 'nothing' })])).refuses('TICKET_TYPE_NOT_FOUND');
    fixture.when(place([item({ sellingStageId: 'never' })])).refuses('SELLING_STAGE_NOT_FOUND');
    fixture.when(place([item({ sellingStageId: 'late' })])).refuses('TICKET_NOT_ON_SALE');
    fixture.when(place([item({ ticketTypeId: 'gold', sellingStageId: 'late' })])).refuses('TICKET_NOT_ON_SALE');
    const seats = item({ ticketTypeId: 'gold', seatIds: ['A-1-1', 'A-1-2'] });
    fixture
      .when(place([item({ quantity: 99 }), seats]))
      .refuses('SEAT_COUNT_MISMATCH', { ticketTypeId: 'gold', expected: 1, given: 2 });
  });

  it('refuses picked seats that do not fit, naming every one', () => {
    const fixture = given(define());
    const gold = (...seatIds: string[]): ItemRequest =>
      item({ ticketTypeId: 'gold', quantity: seatIds.length, seatIds });
    fixture.do({ type: 'BlockSeats', performanceId: 'fri', seatIds: ['A-1-6'], operator: null, note: null });
    placed(fixture, [gold('A-1-1', 'A-1-2')], OTHER);
    fixture.when(place([gold('B-1-1', 'A-9-9')])).refuses('SEAT_NOT_IN_TICKET_TYPE', { seatIds: ['B-1-1', 'A-9-9'] });
    fixture.when(place([gold('A-1-6', 'A-1-1')])).refuses('SEAT_NOT_SELLABLE', { seatIds: ['A-1-6'] });
    fixture.when(place([gold('A-1-1'), gold('A-1-3', 'A-1-2')])).refuses('SEAT_TAKEN', { seatIds: ['A-1-1', 'A-1-2'] });
    fixture.when(place([gold('A-1-3'), gold('A-1-3')])).refuses('VALIDATION_ERROR');
    fixture.when(place([item({ seatIds: ['A-1-3'] })])).refuses('VALIDATION_ERROR');
    fixture.when(place([gold('A-1-3', 'A-1-4')])).then(['HoldPlaced']);
  });

  it('adds up items on the same stock before it checks them', () => {
    const fixture = given(define());
    fixture
      .when(place([item({ quantity: 6 }), item({ ticketTypeId: 'group', quantity: 1 }), item()]))
      .refuses('INSUFFICIENT_TICKETS', {
        available: 10,
        reservedByOthers: false,
        nextReleaseAt: null,
        ticketTypeId: 'stand',
        sellingStageId: 'now',
        performanceId: 'fri',
      });
    const hold = placed(fixture, [item({ quantity: 2 }), item({ quantity: 3 })]);
    assert.equal(hold.items.length, 1);
    assert.equal(hold.items[0]!.ticketCount, 5);
  });

  it('says whether others hold the rest and when it may return', () => {
    const fixture = given(define());
    const theirs = placed(fixture, [item({ quantity: 9 })], OTHER);
    const refusal = fixture.execute(place([item({ quantity: 2 })]));
    assert.ok(isRefusal(refusal) && refusal.code === 'INSUFFICIENT_TICKETS');
    const { available, reservedByOthers, nextReleaseAt } = refusal.detail;
    assert.deepEqual([available, reservedByOthers, nextReleaseAt], [1, true, theirs.expiresAt]);
  });

  it("checks a stage's quota in tickets", () => {
    const fixture = given(define());
    placed(fixture, [item({ ticketTypeId: 'group', quantity: 2 })]);
    const refusal = fixture.execute(place([item({ ticketTypeId: 'group' })], OTHER));
    assert.ok(isRefusal(refusal) && refusal.code === 'INSUFFICIENT_TICKETS');
    assert.equal(refusal.detail.available, 0);
  });

  it('assigns neighbours, away from seats that other items name, and refuses with the size of the largest block', () => {
    const fixture = given(define());
    const gold = item({ ticketTypeId: 'gold', quantity: 2 });
    const hold = placed(fixture, [{ ...gold, seatIds: ['A-1-3', 'A-1-4'] }, gold]);
    assert.deepEqual(hold.items[0]!.seatIds, ['A-1-3', 'A-1-4', 'A-1-1', 'A-1-2']);
    const refusal = fixture.execute(place([{ ...gold, quantity: 3 }], OTHER));
    assert.ok(isRefusal(refusal) && refusal.code === 'INSUFFICIENT_TICKETS');
    assert.equal(refusal.detail.largestBlock, 2);
  });

  it('is all or nothing over several performances', () => {
    const fixture = given(define());
    placed(fixture, [item({ performanceId: 'sat', quantity: 10 })], OTHER);
    fixture.when(place([item(), item({ performanceId: 'sat' })])).refuses('INSUFFICIENT_TICKETS');
    assert.equal(left(fixture, 'fri'), 20);
    const both = placed(fixture, [item(), item({ performanceId: 'sat', ticketTypeId: 'gold' })]);
    assert.deepEqual(
      both.items.map(({ performanceId }) => performanceId),
      ['fri', 'sat'],
    );
  });

  it('needs no performance_id where there is only one performance', () => {
    const fixture = given(define({ performances: [{ id: 'only' }] }));
    assert.equal(placed(fixture, [item({ performanceId: null })]).items[0]!.performanceId, 'only');
  });
});

describe("replacing a session's hold", () => {
  it('counts the tickets and seats of the old hold as free, in one fact', () => {
    const fixture = given(define());
    const first = placed(fixture, [item({ quantity: 8 }), item({ ticketTypeId: 'gold', quantity: 6 })]);
    const second = placed(fixture, [item({ quantity: 10 }), item({ ticketTypeId: 'gold', seatIds: ['A-1-2'] })]);
    assert.equal(left(fixture), 20 - 11);
    const old = findHold(fixture.state, first.id, BUYER);
    assert.equal('status' in old && old.status, 'RELEASED');
    assert.equal(second.status, 'ACTIVE');
    assertSameAfterReplay(fixture);
  });

  it('leaves the old hold untouched, window included, when the new one fails', () => {
    const fixture = given(define());
    const first = placed(fixture, [item({ quantity: 8 })]);
    fixture
      .wait(MINUTE)
      .when(place([item({ quantity: 11 })]))
      .refuses('INSUFFICIENT_TICKETS');
    assert.deepEqual(findHold(fixture.state, first.id, BUYER), first);
  });

  it('keeps to hold_max_minutes, counted from the first hold of the chain', () => {
    const fixture = given(define({ hold_max_minutes: 15 }));
    placed(fixture, [item()]);
    fixture.wait(8 * MINUTE);
    const second = placed(fixture, [item()]);
    assert.equal(second.expiresAt, START + 15 * MINUTE);
    const changed = fixture.wait(MINUTE).do(change(second, [item({ quantity: 2 })]));
    assert.equal(changed.hold.expiresAt, START + 15 * MINUTE);
    fixture.wait(6 * MINUTE);
    assert.equal(placed(fixture, [item()]).expiresAt, START + 25 * MINUTE, 'a new chain begins');
  });
});

describe('A hold at its maximum life', () => {
  it('leaves no record behind with each change, however often it is changed', () => {
    const fixture = given(define({ hold_max_minutes: 10 }));
    const hold = placed(fixture, [item(), item({ ticketTypeId: 'gold' })]);
    for (let i = 0; i < 20_000; i += 1) fixture.do(change(hold, [item({ quantity: 1 + (i % 3) })]));
    const { inventory } = fixture.state.performances.get('fri')!;
    assert.ok(inventory.longestClaims < 200, `${inventory.longestClaims} entries for one hold`);
    const { length } = fixture.state.holds.deadlines;
    assert.ok(length < 10, `${length} deadlines of one hold`);
    assertSameAfterReplay(fixture);
  });
});

describe('changing a hold', () => {
  it('checks the performances of all items before the types of any, wherever tickets are added', () => {
    const fixture = given(define());
    const hold = placed(fixture, [item({ performanceId: 'sat' }), item()]);
    const unknown = item({ ticketTypeId: 'none' });
    fixture.when(change(hold, [unknown, item({ performanceId: 'shut' })])).refuses('PERFORMANCE_NOT_ON_SALE');
    fixture.do({ type: 'DefineEvent', definition: closed(fixture, 'fri'), operator: null, note: null });
    const fromSat = item({ performanceId: 'sat', ticketTypeId: 'none' });
    fixture.when(change(hold, [fromSat, item({ quantity: 3 })])).refuses('PERFORMANCE_NOT_ON_SALE');
    fixture.when(change(hold, [fromSat, item({ quantity: 1 })])).refuses('TICKET_TYPE_NOT_FOUND');
  });

  it('accepts quantity 0 for a line that it does not have, but not for an unknown type', () => {
    const fixture = given(define());
    const hold = placed(fixture, [item()]);
    fixture.when(change(hold, [item({ ticketTypeId: 'group', quantity: 0 })])).then(['HoldChanged']);
    fixture.when(change(hold, [item({ ticketTypeId: 'none', quantity: 0 })])).refuses('TICKET_TYPE_NOT_FOUND');
    fixture.when(change(hold, [item({ sellingStageId: 'none', quantity: 0 })])).refuses('SELLING_STAGE_NOT_FOUND');
  });

  it('sets the quantities of the lines named, keeps the others and restarts the window', () => {
    const fixture = given(define());
    const hold = placed(fixture, [item({ quantity: 2 }), item({ performanceId: 'sat' })]);
    fixture.wait(5 * MINUTE);
    const added = item({ ticketTypeId: 'group' });
    const { hold: changed } = fixture.do(change(hold, [item({ quantity: 5 }), added]));
    assert.deepEqual(
      changed.items.map(({ ticketTypeId, performanceId, quantity }) => [ticketTypeId, performanceId, quantity]),
      [
        ['stand', 'fri', 5],
        ['stand', 'sat', 1],
        ['group', 'fri', 1],
      ],
    );
    assert.equal(changed.expiresAt, START + 15 * MINUTE);
    const { hold: dropped } = fixture.do(change(changed, [item({ quantity: 0 }), { ...added, quantity: 0 }]));
    assert.deepEqual(
      dropped.items.map(({ performanceId }) => performanceId),
      ['sat'],
    );
    assertSameAfterReplay(fixture);
  });

  it('keeps at least one line, at most twenty, and each is named once', () => {
    const fixture = given(define());
    const hold = placed(fixture, [item()]);
    fixture.when(change(hold, [item({ quantity: 0 })])).refuses('VALIDATION_ERROR');
    fixture.when(change(hold, [item({ quantity: 2 }), item({ quantity: 3 })])).refuses('VALIDATION_ERROR');
  });

  it('keeps seats together when it shrinks and adds neighbours when it grows', () => {
    const fixture = given(define());
    const gold = item({ ticketTypeId: 'gold' });
    const hold = placed(fixture, [{ ...gold, quantity: 4 }]);
    const { hold: less } = fixture.do(change(hold, [{ ...gold, quantity: 2 }]));
    const kept = less.items[0]!.seatIds;
    assert.ok(kept.every((seatId) => hold.items[0]!.seatIds.includes(seatId)));
    const { hold: more } = fixture.do(change(less, [{ ...gold, quantity: 6 }]));
    assert.equal(more.items[0]!.seatIds.length, 6);
    assertSameAfterReplay(fixture);
  });

  it('may shrink but not grow once the stage has closed, and leaves the hold as it was when refused', () => {
    const stages = [{ id: 'now', ends_at: '2027-05-07T12:05:00Z', prices: { stand: 1000 } }];
    const fixture = given(define({ sellingStages: stages }));
    const hold = placed(fixture, [item({ quantity: 3 })]);
    fixture.wait(6 * MINUTE);
    fixture.when(change(hold, [item({ quantity: 4 })])).refuses('TICKET_NOT_ON_SALE');
    assert.deepEqual(findHold(fixture.state, hold.id, BUYER), hold);
    fixture.when(change(hold, [item({ quantity: 1 })])).then(['HoldChanged']);
  });

  it('refuses a hold that is over, of another session or unknown', () => {
    const fixture = given(define());
    const hold = placed(fixture, [item()]);
    fixture.when(change(hold, [item()], OTHER)).refuses('HOLD_NOT_FOUND');
    fixture.when(change({ ...hold, id: id('hld', 99) }, [item()])).refuses('HOLD_NOT_FOUND');
    const released = placed(fixture, [item()], OTHER);
    fixture.do({ type: 'ReleaseHold', holdId: released.id, sessionKey: OTHER });
    fixture.when(change(released, [item()], OTHER)).refuses('HOLD_NOT_ACTIVE', { status: 'RELEASED' });
    fixture.wait(10 * MINUTE).settle();
    fixture.when(change(hold, [item()])).refuses('HOLD_EXPIRED');
  });

  it('keeps the price at which the hold was made', () => {
    const fixture = given(define());
    const hold = placed(fixture, [item()]);
    const dearer = define({ sellingStages: [{ id: 'now', prices: { stand: 9900, group: 1, gold: 1 } }] });
    fixture.do({ type: 'DefineEvent', definition: dearer, operator: null, note: null });
    fixture.do(change(hold, [item({ quantity: 2 })]));
    assert.equal(fixture.state.holds.byId.get(hold.id)!.lines[0]!.unitPriceCents, 1000);
    assertSameAfterReplay(fixture);
  });

  it('keeps the tickets of a unit that the hold was made with, so that nothing more is taken than there is', () => {
    const fixture = given(define({ sellingStages: [{ id: 'now', prices: { stand: 1000, group: 3500, gold: 5000 } }] }));
    const hold = placed(fixture, [item({ ticketTypeId: 'group', quantity: 2 })]);
    placed(fixture, [item({ quantity: 2 })], OTHER);
    const types = define().ticketTypes.map((type) => (type.id === 'group' ? { ...type, groupSize: 6 } : type));
    const definition = { ...fixture.state.plan.definition, ticketTypes: types };
    fixture.do({ type: 'DefineEvent', definition, operator: null, note: null });
    const group = item({ ticketTypeId: 'group' });
    for (const [quantity, tickets] of [
      [2, 8],
      [1, 4],
      [2, 8],
    ] as const) {
      const { hold: changed } = fixture.do(change(hold, [{ ...group, quantity }]));
      assert.equal(changed.items[0]!.ticketCount, tickets);
    }
    fixture.when(change(hold, [{ ...group, quantity: 3 }])).refuses('INSUFFICIENT_TICKETS');
    assertSameAfterReplay(fixture);
  });
});

describe('releasing a hold', () => {
  it('gives the tickets back once; a repeat changes nothing', () => {
    const fixture = given(define());
    const hold = placed(fixture, [item({ quantity: 4 })]);
    const release: CommandOf<'ReleaseHold'> = { type: 'ReleaseHold', holdId: hold.id, sessionKey: BUYER };
    fixture.when({ ...release, sessionKey: OTHER }).refuses('HOLD_NOT_FOUND');
    fixture.when(release).then([{ type: 'HoldReleased', data: { holdId: hold.id } }]);
    fixture.when(release).then([]);
    assert.equal(left(fixture), 20);
  });

  it('refuses an expired one', () => {
    const fixture = given(define());
    const hold = placed(fixture, [item()]);
    fixture.wait(10 * MINUTE).settle();
    fixture
      .when({ type: 'ReleaseHold', holdId: hold.id, sessionKey: BUYER })
      .refuses('HOLD_NOT_ACTIVE', { status: 'EXPIRED' });
  });

  it('forgets the deadlines of holds that were changed again and again', () => {
    const fixture = given(define());
    const hold = placed(fixture, [item()]);
    for (let n = 0; n < 20_000; n += 1) {
      fixture.wait(1);
      fixture.do(change(hold, [item({ quantity: 1 + (n % 2) })]));
    }
    const { length } = fixture.state.holds.deadlines;
    assert.ok(length < 200, `${length} deadlines are kept`);
  });
});

describe('a hold that ended', () => {
  const read = (fixture: ReturnType<typeof given>, hold: { readonly id: string }, key = BUYER) =>
    findHold(fixture.state, hold.id, key);

  it('reads as it ended while many others end, and leaves its items out after ten minutes at the earliest', () => {
    const fixture = given(define());
    const first = placed(fixture, [item()]);
    fixture.wait(10 * MINUTE).settle();
    const expired = { ...first, status: 'EXPIRED' };
    const others = Array.from({ length: 12_000 }, () => placed(fixture, [item()], OTHER));
    assert.deepEqual(read(fixture, first), expired);
    fixture.wait(10 * MINUTE);
    for (let n = 0; n < 12_000; n += 1) placed(fixture, [item()], OTHER);
    assert.deepEqual(read(fixture, first), { ...expired, items: [] });
    for (const n of [0, 2_000, 6_000, 11_000]) {
      assert.deepEqual(read(fixture, others[n]!, OTHER), { ...others[n], status: 'RELEASED', items: [] });
    }
    assert.ok(isRefusal(read(fixture, first, OTHER)), 'another key finds nothing');
    assert.deepEqual(read(fixture, { id: `${first.id.slice(0, -1)}9` }), read(fixture, { id: 'hld_1_x' }));
    assertSameAfterReplay(fixture);
  });

  it('reads as it ended for two hours, and not much longer', () => {
    const fixture = given(define());
    const first = placed(fixture, [item()]);
    const second = placed(fixture, [item()]);
    fixture.do({ type: 'ReleaseHold', holdId: second.id, sessionKey: BUYER });
    const endALittle = (): void => {
      placed(fixture, [item()], OTHER);
      fixture.wait(MINUTE);
    };
    for (let minute = 0; minute < 120; minute += 1) endALittle();
    for (const hold of [first, second]) {
      const seen = read(fixture, hold);
      assert.equal('status' in seen && seen.status, 'RELEASED');
    }
    for (let minute = 0; minute < 25; minute += 1) endALittle();
    assert.ok(isRefusal(read(fixture, first)));
    assert.ok(fixture.state.holds.ended.cutCount < 140);
    assertSameAfterReplay(fixture);
  });

  it('has the same refusals when only its end is kept: of PATCH, DELETE and a checkout without its key', () => {
    const fixture = given(define());
    const expired = placed(fixture, [item()]);
    fixture.wait(10 * MINUTE).settle();
    const released = placed(fixture, [item()]);
    fixture.do({ type: 'ReleaseHold', holdId: released.id, sessionKey: BUYER });
    fixture.wait(10 * MINUTE);
    for (let n = 0; n < 3; n += 1) placed(fixture, [item()], OTHER);
    assert.deepEqual([...fixture.state.holds.byId.keys()].includes(expired.id), false);
    fixture.when(change(expired, [item()])).refuses('HOLD_EXPIRED');
    fixture.when(change(released, [item()])).refuses('HOLD_NOT_ACTIVE', { status: 'RELEASED' });
    const again = fixture.do({ type: 'ReleaseHold', holdId: released.id, sessionKey: BUYER });
    assert.deepEqual(again.hold, { ...released, status: 'RELEASED', items: [] });
    assert.equal(findAnyHold(fixture.state.holds, expired.id, null)?.status, 'EXPIRED');
  });
});

describe('an idempotency key', () => {
  const mark = { key: 'k', digest: 'd' };

  it('gets the first answer again for a day, another body is refused', () => {
    const fixture = given(define());
    const command = { ...place([item()]), idempotency: mark };
    const first = fixture.do(command);
    fixture.do({ type: 'ReleaseHold', holdId: first.hold.id, sessionKey: BUYER });
    assert.deepEqual(fixture.do(command), { ...first, replayed: true });
    fixture.when({ ...command, idempotency: { key: 'k', digest: 'e' } }).refuses('IDEMPOTENCY_KEY_REUSED');
    fixture.wait(24 * 60 * MINUTE);
    assert.equal(fixture.do(command).replayed, false);
    assertSameAfterReplay(fixture);
  });

  it('does not keep refusals', () => {
    const fixture = given(define());
    const theirs = placed(fixture, [item({ quantity: 10 })], OTHER);
    const command = { ...place([item()]), idempotency: mark };
    fixture.when(command).refuses('INSUFFICIENT_TICKETS');
    fixture.do({ type: 'ReleaseHold', holdId: theirs.id, sessionKey: OTHER });
    fixture.when(command).then(['HoldPlaced']);
  });
});

describe('performances and definitions', () => {
  it('cancels a performance and releases its holds, once', () => {
    const fixture = given(define());
    const hold = placed(fixture, [item(), item({ performanceId: 'sat' })]);
    const cancel = { type: 'CancelPerformance', performanceId: 'sat', operator: 'ann', note: 'rain' } as const;
    fixture.when(cancel).then(['PerformanceCancelled', 'HoldReleased']);
    fixture.when(cancel).then([]);
    fixture.when({ ...cancel, performanceId: 'nowhere' }).refuses('PERFORMANCE_NOT_FOUND');
    const over = findHold(fixture.state, hold.id, BUYER);
    assert.equal('status' in over && over.status, 'RELEASED');
    fixture.when(place([item({ performanceId: 'sat' })])).refuses('PERFORMANCE_NOT_ON_SALE');
    assertSameAfterReplay(fixture);
  });

  it('lists every conflict of an update that would take away what is held, and changes nothing', () => {
    const fixture = given(define());
    placed(fixture, [item({ quantity: 5 }), item({ ticketTypeId: 'gold', seatIds: ['A-1-6'] })]);
    const smaller = define({
      localities: [
        { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 4 },
        {
          id: 'hall',
          name: 'Hall',
          seating: 'NUMBERED',
          sections: [{ id: 'A', zone_key: 'gold', rows: [{ label: '1', seats: 5 }] }],
        },
      ],
    });
    const refusal = fixture.execute({ type: 'DefineEvent', definition: smaller, operator: null, note: null });
    assert.ok(isRefusal(refusal) && refusal.code === 'UPDATE_CONFLICT');
    assert.equal(refusal.detail.conflicts.length, 2);
    assert.equal(left(fixture), 14);
  });

  it('changes nothing for an equal definition, and adds stock at once', () => {
    const fixture = given(define());
    fixture.when({ type: 'DefineEvent', definition: define(), operator: null, note: null }).then([]);
    placed(fixture, [item({ quantity: 10 })]);
    const larger = define({
      localities: [
        { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 12 },
        {
          id: 'hall',
          name: 'Hall',
          seating: 'NUMBERED',
          sections: [
            { id: 'A', zone_key: 'gold', rows: [{ label: '1', seats: 6 }] },
            { id: 'B', zone_key: 'grey', rows: [{ label: '1', seats: 4 }] },
          ],
        },
      ],
    });
    fixture.do({ type: 'DefineEvent', definition: larger, operator: null, note: null });
    fixture.when(place([item({ quantity: 2 })], OTHER)).then(['HoldPlaced']);
    assertSameAfterReplay(fixture);
  });

  it('blocks free seats only, and puts them back on sale', () => {
    const fixture = given(define());
    placed(fixture, [item({ ticketTypeId: 'gold', seatIds: ['A-1-1'] })]);
    const mark = { performanceId: 'fri', operator: null, note: null };
    fixture
      .when({ type: 'BlockSeats', ...mark, seatIds: ['A-1-1', 'A-1-2'] })
      .refuses('SEAT_TAKEN', { seatIds: ['A-1-1'] });
    fixture.when({ type: 'BlockSeats', ...mark, seatIds: ['Z'] }).refuses('VALIDATION_ERROR');
    fixture.when({ type: 'BlockSeats', ...mark, seatIds: ['A-1-2', 'A-1-3'] }).then(['SeatsBlocked']);
    fixture.when({ type: 'BlockSeats', ...mark, seatIds: ['A-1-2'] }).then([]);
    fixture
      .when({ type: 'UnblockSeats', ...mark, seatIds: ['A-1-2', 'A-1-4'] })
      .then([{ type: 'SeatsUnblocked', data: { ...mark, seatIds: ['A-1-2'] } }]);
    assertSameAfterReplay(fixture);
  });
});

describe('the availability that buyers see', () => {
  it("counts the session's own hold as free and others' as reserved", () => {
    const fixture = given(define());
    placed(fixture, [item({ quantity: 4 })]);
    const rowFor = (sessionKey: string | null) => {
      const view = eventView(fixture.state, { performanceId: 'fri', sessionKey }, fixture.now);
      assert.ok(!isRefusal(view));
      return view.ticketAvailability.find(({ ticketTypeId }) => ticketTypeId === 'stand')!;
    };
    assert.deepEqual([rowFor(null).available, rowFor(null).reserved], [6, 4]);
    assert.deepEqual([rowFor(BUYER).available, rowFor(BUYER).reserved], [10, 4]);
  });

  it('sums over the performances on sale', () => {
    const fixture = given(define());
    const view = eventView(fixture.state, { performanceId: null, sessionKey: null }, fixture.now);
    assert.ok(!isRefusal(view));
    const row = view.ticketAvailability.find(({ ticketTypeId }) => ticketTypeId === 'stand')!;
    assert.deepEqual([row.performanceId, row.available], [null, 20]);
    const several = Object.fromEntries(view.performances.map(({ id: date, several: shown }) => [date, shown]));
    assert.deepEqual(several['fri'], { totalAvailable: 20, fromPrice: 1000, soldOut: false });
    assert.deepEqual(several['shut'], { totalAvailable: 0, fromPrice: 0, soldOut: true });
    assert.ok(!('draft' in several));
  });
});

describe('Growing one line of a hold', () => {
  it('keeps the seats of the lines that are kept', () => {
    const floor = { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 9 } as const;
    const types = [ticketType('group', 'floor', { groupSize: 3 }), ticketType('adult', 'floor')];
    const fixture = given(eventOf([floor], types, [stage('general', { group: 2500, adult: 1000 })]));
    const line = (ticketTypeId: string, quantity: number) => ({
      ticketTypeId,
      sellingStageId: 'general',
      quantity,
      performanceId: 'd1',
      seatIds: null,
    });
    const items = [line('group', 1), line('adult', 1)];
    const { hold } = fixture.do({
      type: 'PlaceHold',
      sessionKey: 'session-1',
      items,
      queuePass: null,
      idempotency: null,
    });
    fixture
      .when({ type: 'ChangeHold', holdId: hold.id, sessionKey: 'session-1', items: [line('group', 3)] })
      .refuses('INSUFFICIENT_TICKETS');
  });
});
