import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { checkDefinition } from '#catalogue/definition.ts';
import { eventView } from '#domain/availability.ts';
import { findAnyHold, findHold } from '#domain/holds.ts';
import { totals } from '#domain/inventory.ts';
import { isRefusal } from '#domain/refusal.ts';
import { assertSameAfterReplay, given, id, MINUTE, START, type Desk } from './office.ts';
import { eventOf, stage, ticketType } from './stock-fixtures.ts';
import type { CommandOf, ItemRequest } from '#domain/command.ts';
import type { EventDefinition } from '#domain/catalogue.ts';
import type { HoldView } from '#domain/views.ts';

/** The event's definition with one performance closed by the operator. */
function closed({ office }: Desk, performanceId: string): EventDefinition {
  const { definition } = office.plan;
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

function placed(desk: Desk, items: readonly ItemRequest[], sessionKey = BUYER): HoldView {
  return desk.do(place(items, sessionKey)).hold;
}

function change(hold: HoldView, items: readonly ItemRequest[], sessionKey = BUYER): CommandOf<'ChangeHold'> {
  return { type: 'ChangeHold', holdId: hold.id, sessionKey, items };
}

function left(desk: Desk, performanceId = 'fri'): number {
  return totals(desk.office.dates.get(performanceId)!.inventory).available;
}

describe('placing a hold', () => {
  it('takes the tickets off sale until its window runs out, to the millisecond', () => {
    const desk = given(define());
    const hold = placed(desk, [item({ quantity: 3 })]);
    assert.equal(hold.status, 'ACTIVE');
    assert.equal(hold.expiresAt, START + 10 * MINUTE);
    desk.wait(10 * MINUTE - 1);
    desk.settle();
    assert.equal(left(desk), 17);
    desk.wait(1).settle();
    assert.equal(left(desk), 20);
    const over = findHold(desk.office, hold.id, BUYER);
    assert.equal('status' in over && over.status, 'EXPIRED');
    assertSameAfterReplay(desk);
  });

  it('refuses dates in the order required, not found, not on sale', () => {
    const desk = given(define());
    desk.when(place([item({ performanceId: null })])).refuses('PERFORMANCE_REQUIRED');
    for (const performanceId of ['nowhere', 'draft']) {
      desk.when(place([item({ performanceId })])).refuses('PERFORMANCE_NOT_FOUND', { performanceId });
    }
    for (const performanceId of ['off', 'shut']) {
      desk.when(place([item({ performanceId })])).refuses('PERFORMANCE_NOT_ON_SALE', { performanceId });
    }
    desk.now = Date.UTC(2027, 5, 1, 21);
    desk.when(place([item()])).refuses('PERFORMANCE_NOT_ON_SALE');
  });

  it('judges dates of all items before types, types before seats, seats before stock', () => {
    const desk = given(define());
    desk
      .when(place([item({ ticketTypeId: 'nothing' }), item({ performanceId: 'off' })]))
      .refuses('PERFORMANCE_NOT_ON_SALE');
    desk.when(place([item({ quantity: 99 }), item({ ticketTypeId: 'nothing' })])).refuses('TICKET_TYPE_NOT_FOUND');
    desk.when(place([item({ sellingStageId: 'never' })])).refuses('SELLING_STAGE_NOT_FOUND');
    desk.when(place([item({ sellingStageId: 'late' })])).refuses('TICKET_NOT_ON_SALE');
    desk.when(place([item({ ticketTypeId: 'gold', sellingStageId: 'late' })])).refuses('TICKET_NOT_ON_SALE');
    const seats = item({ ticketTypeId: 'gold', seatIds: ['A-1-1', 'A-1-2'] });
    desk
      .when(place([item({ quantity: 99 }), seats]))
      .refuses('SEAT_COUNT_MISMATCH', { ticketTypeId: 'gold', expected: 1, given: 2 });
  });

  it('refuses picked seats that do not fit, naming every one', () => {
    const desk = given(define());
    const gold = (...seatIds: string[]): ItemRequest =>
      item({ ticketTypeId: 'gold', quantity: seatIds.length, seatIds });
    desk.do({ type: 'BlockSeats', performanceId: 'fri', seatIds: ['A-1-6'], operator: null, note: null });
    placed(desk, [gold('A-1-1', 'A-1-2')], OTHER);
    desk.when(place([gold('B-1-1', 'A-9-9')])).refuses('SEAT_NOT_IN_TICKET_TYPE', { seatIds: ['B-1-1', 'A-9-9'] });
    desk.when(place([gold('A-1-6', 'A-1-1')])).refuses('SEAT_NOT_SELLABLE', { seatIds: ['A-1-6'] });
    desk.when(place([gold('A-1-1'), gold('A-1-3', 'A-1-2')])).refuses('SEAT_TAKEN', { seatIds: ['A-1-1', 'A-1-2'] });
    desk.when(place([gold('A-1-3'), gold('A-1-3')])).refuses('VALIDATION_ERROR');
    desk.when(place([item({ seatIds: ['A-1-3'] })])).refuses('VALIDATION_ERROR');
    desk.when(place([gold('A-1-3', 'A-1-4')])).then(['HoldPlaced']);
  });

  it('adds up items on the same stock before it judges them', () => {
    const desk = given(define());
    desk
      .when(place([item({ quantity: 6 }), item({ ticketTypeId: 'group', quantity: 1 }), item()]))
      .refuses('INSUFFICIENT_TICKETS', {
        available: 10,
        reservedByOthers: false,
        nextReleaseAt: null,
        ticketTypeId: 'stand',
        sellingStageId: 'now',
        performanceId: 'fri',
      });
    const hold = placed(desk, [item({ quantity: 2 }), item({ quantity: 3 })]);
    assert.equal(hold.items.length, 1);
    assert.equal(hold.items[0]!.ticketCount, 5);
  });

  it('says whether others hold the rest and when it may return', () => {
    const desk = given(define());
    const theirs = placed(desk, [item({ quantity: 9 })], OTHER);
    const refusal = desk.ask(place([item({ quantity: 2 })]));
    assert.ok(isRefusal(refusal) && refusal.code === 'INSUFFICIENT_TICKETS');
    const { available, reservedByOthers, nextReleaseAt } = refusal.detail;
    assert.deepEqual([available, reservedByOthers, nextReleaseAt], [1, true, theirs.expiresAt]);
  });

  it("judges a stage's quota in tickets", () => {
    const desk = given(define());
    placed(desk, [item({ ticketTypeId: 'group', quantity: 2 })]);
    const refusal = desk.ask(place([item({ ticketTypeId: 'group' })], OTHER));
    assert.ok(isRefusal(refusal) && refusal.code === 'INSUFFICIENT_TICKETS');
    assert.equal(refusal.detail.available, 0);
  });

  it('assigns neighbours, away from seats that other items name, and says how long a block there is', () => {
    const desk = given(define());
    const gold = item({ ticketTypeId: 'gold', quantity: 2 });
    const hold = placed(desk, [{ ...gold, seatIds: ['A-1-3', 'A-1-4'] }, gold]);
    assert.deepEqual(hold.items[0]!.seatIds, ['A-1-3', 'A-1-4', 'A-1-1', 'A-1-2']);
    const refusal = desk.ask(place([{ ...gold, quantity: 3 }], OTHER));
    assert.ok(isRefusal(refusal) && refusal.code === 'INSUFFICIENT_TICKETS');
    assert.equal(refusal.detail.largestBlock, 2);
  });

  it('is all or nothing over several dates', () => {
    const desk = given(define());
    placed(desk, [item({ performanceId: 'sat', quantity: 10 })], OTHER);
    desk.when(place([item(), item({ performanceId: 'sat' })])).refuses('INSUFFICIENT_TICKETS');
    assert.equal(left(desk, 'fri'), 20);
    const both = placed(desk, [item(), item({ performanceId: 'sat', ticketTypeId: 'gold' })]);
    assert.deepEqual(
      both.items.map(({ performanceId }) => performanceId),
      ['fri', 'sat'],
    );
  });

  it('needs no date where there is only one', () => {
    const desk = given(define({ performances: [{ id: 'only' }] }));
    assert.equal(placed(desk, [item({ performanceId: null })]).items[0]!.performanceId, 'only');
  });
});

describe("replacing a session's hold", () => {
  it('counts the tickets and seats of the old hold as free, in one fact', () => {
    const desk = given(define());
    const first = placed(desk, [item({ quantity: 8 }), item({ ticketTypeId: 'gold', quantity: 6 })]);
    const second = placed(desk, [item({ quantity: 10 }), item({ ticketTypeId: 'gold', seatIds: ['A-1-2'] })]);
    assert.equal(left(desk), 20 - 11);
    const old = findHold(desk.office, first.id, BUYER);
    assert.equal('status' in old && old.status, 'RELEASED');
    assert.equal(second.status, 'ACTIVE');
    assertSameAfterReplay(desk);
  });

  it('leaves the old hold untouched, window included, when the new one fails', () => {
    const desk = given(define());
    const first = placed(desk, [item({ quantity: 8 })]);
    desk
      .wait(MINUTE)
      .when(place([item({ quantity: 11 })]))
      .refuses('INSUFFICIENT_TICKETS');
    assert.deepEqual(findHold(desk.office, first.id, BUYER), first);
  });

  it('keeps to hold_max_minutes, counted from the first hold of the chain', () => {
    const desk = given(define({ hold_max_minutes: 15 }));
    placed(desk, [item()]);
    desk.wait(8 * MINUTE);
    const second = placed(desk, [item()]);
    assert.equal(second.expiresAt, START + 15 * MINUTE);
    const changed = desk.wait(MINUTE).do(change(second, [item({ quantity: 2 })]));
    assert.equal(changed.hold.expiresAt, START + 15 * MINUTE);
    desk.wait(6 * MINUTE);
    assert.equal(placed(desk, [item()]).expiresAt, START + 25 * MINUTE, 'a new chain begins');
  });
});

describe('A hold at its ceiling', () => {
  it('leaves nothing behind with each change, however often it is changed', () => {
    const desk = given(define({ hold_max_minutes: 10 }));
    const hold = placed(desk, [item(), item({ ticketTypeId: 'gold' })]);
    for (let i = 0; i < 20_000; i += 1) desk.do(change(hold, [item({ quantity: 1 + (i % 3) })]));
    const { inventory } = desk.office.dates.get('fri')!;
    const kept = inventory.releases.map((queue) => (queue?.current.length ?? 0) + (queue?.draining?.length ?? 0));
    assert.ok(Math.max(...kept) < 200, `${Math.max(...kept)} entries for one hold`);
    const { heap, sifted } = desk.office.deadlines;
    assert.ok(heap.length + sifted.length < 10, `${heap.length + sifted.length} deadlines of one hold`);
    assertSameAfterReplay(desk);
  });
});

describe('changing a hold', () => {
  it('judges the dates of all items before the types of any, wherever tickets are added', () => {
    const desk = given(define());
    const hold = placed(desk, [item({ performanceId: 'sat' }), item()]);
    const unknown = item({ ticketTypeId: 'none' });
    desk.when(change(hold, [unknown, item({ performanceId: 'shut' })])).refuses('PERFORMANCE_NOT_ON_SALE');
    desk.do({ type: 'DefineEvent', definition: closed(desk, 'fri'), operator: null, note: null });
    const fromSat = item({ performanceId: 'sat', ticketTypeId: 'none' });
    desk.when(change(hold, [fromSat, item({ quantity: 3 })])).refuses('PERFORMANCE_NOT_ON_SALE');
    desk.when(change(hold, [fromSat, item({ quantity: 1 })])).refuses('TICKET_TYPE_NOT_FOUND');
  });

  it('drops a line that is not there without a word, but not one of a type that does not exist', () => {
    const desk = given(define());
    const hold = placed(desk, [item()]);
    desk.when(change(hold, [item({ ticketTypeId: 'group', quantity: 0 })])).then(['HoldChanged']);
    desk.when(change(hold, [item({ ticketTypeId: 'none', quantity: 0 })])).refuses('TICKET_TYPE_NOT_FOUND');
    desk.when(change(hold, [item({ sellingStageId: 'none', quantity: 0 })])).refuses('SELLING_STAGE_NOT_FOUND');
  });

  it('sets the quantities of the lines named, keeps the others and restarts the window', () => {
    const desk = given(define());
    const hold = placed(desk, [item({ quantity: 2 }), item({ performanceId: 'sat' })]);
    desk.wait(5 * MINUTE);
    const added = item({ ticketTypeId: 'group' });
    const { hold: changed } = desk.do(change(hold, [item({ quantity: 5 }), added]));
    assert.deepEqual(
      changed.items.map(({ ticketTypeId, performanceId, quantity }) => [ticketTypeId, performanceId, quantity]),
      [
        ['stand', 'fri', 5],
        ['stand', 'sat', 1],
        ['group', 'fri', 1],
      ],
    );
    assert.equal(changed.expiresAt, START + 15 * MINUTE);
    const { hold: dropped } = desk.do(change(changed, [item({ quantity: 0 }), { ...added, quantity: 0 }]));
    assert.deepEqual(
      dropped.items.map(({ performanceId }) => performanceId),
      ['sat'],
    );
    assertSameAfterReplay(desk);
  });

  it('keeps at least one line, at most twenty, and each is named once', () => {
    const desk = given(define());
    const hold = placed(desk, [item()]);
    desk.when(change(hold, [item({ quantity: 0 })])).refuses('VALIDATION_ERROR');
    desk.when(change(hold, [item({ quantity: 2 }), item({ quantity: 3 })])).refuses('VALIDATION_ERROR');
  });

  it('keeps seats together when it shrinks and adds neighbours when it grows', () => {
    const desk = given(define());
    const gold = item({ ticketTypeId: 'gold' });
    const hold = placed(desk, [{ ...gold, quantity: 4 }]);
    const { hold: less } = desk.do(change(hold, [{ ...gold, quantity: 2 }]));
    const kept = less.items[0]!.seatIds;
    assert.ok(kept.every((seatId) => hold.items[0]!.seatIds.includes(seatId)));
    const { hold: more } = desk.do(change(less, [{ ...gold, quantity: 6 }]));
    assert.equal(more.items[0]!.seatIds.length, 6);
    assertSameAfterReplay(desk);
  });

  it('may shrink but not grow once the stage has closed, and leaves the hold as it was when refused', () => {
    const stages = [{ id: 'now', ends_at: '2027-05-07T12:05:00Z', prices: { stand: 1000 } }];
    const desk = given(define({ sellingStages: stages }));
    const hold = placed(desk, [item({ quantity: 3 })]);
    desk.wait(6 * MINUTE);
    desk.when(change(hold, [item({ quantity: 4 })])).refuses('TICKET_NOT_ON_SALE');
    assert.deepEqual(findHold(desk.office, hold.id, BUYER), hold);
    desk.when(change(hold, [item({ quantity: 1 })])).then(['HoldChanged']);
  });

  it('refuses a hold that is over, of another session or unknown', () => {
    const desk = given(define());
    const hold = placed(desk, [item()]);
    desk.when(change(hold, [item()], OTHER)).refuses('HOLD_NOT_FOUND');
    desk.when(change({ ...hold, id: id('hld', 99) }, [item()])).refuses('HOLD_NOT_FOUND');
    const released = placed(desk, [item()], OTHER);
    desk.do({ type: 'ReleaseHold', holdId: released.id, sessionKey: OTHER });
    desk.when(change(released, [item()], OTHER)).refuses('HOLD_NOT_ACTIVE', { status: 'RELEASED' });
    desk.wait(10 * MINUTE).settle();
    desk.when(change(hold, [item()])).refuses('HOLD_EXPIRED');
  });

  it('keeps the price at which the hold was made', () => {
    const desk = given(define());
    const hold = placed(desk, [item()]);
    const dearer = define({ sellingStages: [{ id: 'now', prices: { stand: 9900, group: 1, gold: 1 } }] });
    desk.do({ type: 'DefineEvent', definition: dearer, operator: null, note: null });
    desk.do(change(hold, [item({ quantity: 2 })]));
    assert.equal(desk.office.holds.byId.get(hold.id)!.lines[0]!.unitPriceCents, 1000);
    assertSameAfterReplay(desk);
  });
});

describe('releasing a hold', () => {
  it('gives the tickets back once; a repeat changes nothing', () => {
    const desk = given(define());
    const hold = placed(desk, [item({ quantity: 4 })]);
    const release: CommandOf<'ReleaseHold'> = { type: 'ReleaseHold', holdId: hold.id, sessionKey: BUYER };
    desk.when({ ...release, sessionKey: OTHER }).refuses('HOLD_NOT_FOUND');
    desk.when(release).then([{ type: 'HoldReleased', data: { holdId: hold.id } }]);
    desk.when(release).then([]);
    assert.equal(left(desk), 20);
  });

  it('refuses one that ran out', () => {
    const desk = given(define());
    const hold = placed(desk, [item()]);
    desk.wait(10 * MINUTE).settle();
    desk
      .when({ type: 'ReleaseHold', holdId: hold.id, sessionKey: BUYER })
      .refuses('HOLD_NOT_ACTIVE', { status: 'EXPIRED' });
  });

  it('forgets the deadlines of holds that were changed again and again', () => {
    const desk = given(define());
    const hold = placed(desk, [item()]);
    for (let n = 0; n < 20_000; n += 1) {
      desk.wait(1);
      desk.do(change(hold, [item({ quantity: 1 + (n % 2) })]));
    }
    const { heap, sifted } = desk.office.deadlines;
    assert.ok(heap.length + sifted.length < 10_000, `${heap.length + sifted.length} hints are kept`);
  });
});

describe('a hold that ended', () => {
  const read = (desk: ReturnType<typeof given>, hold: { readonly id: string }, key = BUYER) =>
    findHold(desk.office, hold.id, key);

  it('reads as it ended while a crowd of others end, and leaves its items out after ten minutes at the soonest', () => {
    const desk = given(define());
    const first = placed(desk, [item()]);
    desk.wait(10 * MINUTE).settle();
    const expired = { ...first, status: 'EXPIRED' };
    const others = Array.from({ length: 12_000 }, () => placed(desk, [item()], OTHER));
    assert.deepEqual(read(desk, first), expired);
    desk.wait(10 * MINUTE);
    for (let n = 0; n < 12_000; n += 1) placed(desk, [item()], OTHER);
    assert.deepEqual(read(desk, first), { ...expired, items: [] });
    for (const n of [0, 2_000, 6_000, 11_000]) {
      assert.deepEqual(read(desk, others[n]!, OTHER), { ...others[n], status: 'RELEASED', items: [] });
    }
    assert.ok(isRefusal(read(desk, first, OTHER)), 'another key finds nothing');
    assert.deepEqual(read(desk, { id: `${first.id.slice(0, -1)}9` }), read(desk, { id: 'hld_1_x' }));
    assertSameAfterReplay(desk);
  });

  it('reads as it ended for two hours, and not much longer', () => {
    const desk = given(define());
    const first = placed(desk, [item()]);
    const second = placed(desk, [item()]);
    desk.do({ type: 'ReleaseHold', holdId: second.id, sessionKey: BUYER });
    const endALittle = (): void => {
      placed(desk, [item()], OTHER);
      desk.wait(MINUTE);
    };
    for (let minute = 0; minute < 120; minute += 1) endALittle();
    for (const hold of [first, second]) {
      const seen = read(desk, hold);
      assert.equal('status' in seen && seen.status, 'RELEASED');
    }
    for (let minute = 0; minute < 25; minute += 1) endALittle();
    assert.ok(isRefusal(read(desk, first)));
    assert.ok(desk.office.holds.ended.cutCount < 140);
    assertSameAfterReplay(desk);
  });

  it('is answered like any that ended once only its end is kept: PATCH, DELETE and a checkout without its key', () => {
    const desk = given(define());
    const expired = placed(desk, [item()]);
    desk.wait(10 * MINUTE).settle();
    const released = placed(desk, [item()]);
    desk.do({ type: 'ReleaseHold', holdId: released.id, sessionKey: BUYER });
    desk.wait(10 * MINUTE);
    for (let n = 0; n < 3; n += 1) placed(desk, [item()], OTHER);
    assert.deepEqual([...desk.office.holds.byId.keys()].includes(expired.id), false);
    desk.when(change(expired, [item()])).refuses('HOLD_EXPIRED');
    desk.when(change(released, [item()])).refuses('HOLD_NOT_ACTIVE', { status: 'RELEASED' });
    const again = desk.do({ type: 'ReleaseHold', holdId: released.id, sessionKey: BUYER });
    assert.deepEqual(again.hold, { ...released, status: 'RELEASED', items: [] });
    assert.equal(findAnyHold(desk.office.holds, expired.id, null)?.status, 'EXPIRED');
  });
});

describe('an idempotency key', () => {
  const mark = { key: 'k', digest: 'd' };

  it('gets the first answer again for a day, another body is refused', () => {
    const desk = given(define());
    const command = { ...place([item()]), idempotency: mark };
    const first = desk.do(command);
    desk.do({ type: 'ReleaseHold', holdId: first.hold.id, sessionKey: BUYER });
    assert.deepEqual(desk.do(command), { ...first, replayed: true });
    desk.when({ ...command, idempotency: { key: 'k', digest: 'e' } }).refuses('IDEMPOTENCY_KEY_REUSED');
    desk.wait(24 * 60 * MINUTE);
    assert.equal(desk.do(command).replayed, false);
    assertSameAfterReplay(desk);
  });

  it('does not keep refusals', () => {
    const desk = given(define());
    const theirs = placed(desk, [item({ quantity: 10 })], OTHER);
    const command = { ...place([item()]), idempotency: mark };
    desk.when(command).refuses('INSUFFICIENT_TICKETS');
    desk.do({ type: 'ReleaseHold', holdId: theirs.id, sessionKey: OTHER });
    desk.when(command).then(['HoldPlaced']);
  });
});

describe('dates and definitions', () => {
  it('cancels a date and releases its holds, once', () => {
    const desk = given(define());
    const hold = placed(desk, [item(), item({ performanceId: 'sat' })]);
    const cancel = { type: 'CancelPerformance', performanceId: 'sat', operator: 'ann', note: 'rain' } as const;
    desk.when(cancel).then(['PerformanceCancelled', 'HoldReleased']);
    desk.when(cancel).then([]);
    desk.when({ ...cancel, performanceId: 'nowhere' }).refuses('PERFORMANCE_NOT_FOUND');
    const over = findHold(desk.office, hold.id, BUYER);
    assert.equal('status' in over && over.status, 'RELEASED');
    desk.when(place([item({ performanceId: 'sat' })])).refuses('PERFORMANCE_NOT_ON_SALE');
    assertSameAfterReplay(desk);
  });

  it('lists every conflict of an update that would take away what is held, and changes nothing', () => {
    const desk = given(define());
    placed(desk, [item({ quantity: 5 }), item({ ticketTypeId: 'gold', seatIds: ['A-1-6'] })]);
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
    const refusal = desk.ask({ type: 'DefineEvent', definition: smaller, operator: null, note: null });
    assert.ok(isRefusal(refusal) && refusal.code === 'UPDATE_CONFLICT');
    assert.equal(refusal.detail.conflicts.length, 2);
    assert.equal(left(desk), 14);
  });

  it('takes the same definition for no change, and added stock at once', () => {
    const desk = given(define());
    desk.when({ type: 'DefineEvent', definition: define(), operator: null, note: null }).then([]);
    placed(desk, [item({ quantity: 10 })]);
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
    desk.do({ type: 'DefineEvent', definition: larger, operator: null, note: null });
    desk.when(place([item({ quantity: 2 })], OTHER)).then(['HoldPlaced']);
    assertSameAfterReplay(desk);
  });

  it('blocks free seats only, and puts them back on sale', () => {
    const desk = given(define());
    placed(desk, [item({ ticketTypeId: 'gold', seatIds: ['A-1-1'] })]);
    const mark = { performanceId: 'fri', operator: null, note: null };
    desk
      .when({ type: 'BlockSeats', ...mark, seatIds: ['A-1-1', 'A-1-2'] })
      .refuses('SEAT_TAKEN', { seatIds: ['A-1-1'] });
    desk.when({ type: 'BlockSeats', ...mark, seatIds: ['Z'] }).refuses('VALIDATION_ERROR');
    desk.when({ type: 'BlockSeats', ...mark, seatIds: ['A-1-2', 'A-1-3'] }).then(['SeatsBlocked']);
    desk.when({ type: 'BlockSeats', ...mark, seatIds: ['A-1-2'] }).then([]);
    desk
      .when({ type: 'UnblockSeats', ...mark, seatIds: ['A-1-2', 'A-1-4'] })
      .then([{ type: 'SeatsUnblocked', data: { ...mark, seatIds: ['A-1-2'] } }]);
    assertSameAfterReplay(desk);
  });
});

describe('what buyers see', () => {
  it("counts the session's own hold as free and others' as reserved", () => {
    const desk = given(define());
    placed(desk, [item({ quantity: 4 })]);
    const rowFor = (sessionKey: string | null) => {
      const view = eventView(desk.office, { performanceId: 'fri', sessionKey }, desk.now);
      assert.ok(!isRefusal(view));
      return view.ticketAvailability.find(({ ticketTypeId }) => ticketTypeId === 'stand')!;
    };
    assert.deepEqual([rowFor(null).available, rowFor(null).reserved], [6, 4]);
    assert.deepEqual([rowFor(BUYER).available, rowFor(BUYER).reserved], [10, 4]);
  });

  it('sums over the dates on sale', () => {
    const desk = given(define());
    const view = eventView(desk.office, { performanceId: null, sessionKey: null }, desk.now);
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
  it('leaves the places of the lines that are kept', () => {
    const floor = { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 9 } as const;
    const types = [ticketType('group', 'floor', { groupSize: 3 }), ticketType('adult', 'floor')];
    const desk = given(eventOf([floor], types, [stage('general', { group: 2500, adult: 1000 })]));
    const line = (ticketTypeId: string, quantity: number) => ({
      ticketTypeId,
      sellingStageId: 'general',
      quantity,
      performanceId: 'd1',
      seatIds: null,
    });
    const items = [line('group', 1), line('adult', 1)];
    const { hold } = desk.do({ type: 'PlaceHold', sessionKey: 'session-1', items, queuePass: null, idempotency: null });
    desk
      .when({ type: 'ChangeHold', holdId: hold.id, sessionKey: 'session-1', items: [line('group', 3)] })
      .refuses('INSUFFICIENT_TICKETS');
  });
});
