/** Operators change tickets of paid orders at once: date, seat, type and stage, new codes and new names. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { auditEventState } from '#domain/event/audit.ts';
import type { AmendmentRequest, TicketChange } from '#domain/amendment-request.ts';
import type { Order } from '#domain/orders/order.ts';
import { orderById } from '#domain/orders/state.ts';
import { findTicket } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { OrderView } from '#domain/view.ts';
import {
  amend,
  amended,
  ask,
  bought,
  change,
  idsOf,
  left,
  oddEvent,
  oddHall,
  orderOf,
  quoted,
  voidTicketsOf,
} from '../../fixtures/amendments.ts';
import { buy, item, openCheckoutEvent, place, visitor } from '../../fixtures/commands.ts';
import { assertSameAfterReplay, given, START, type EventFixture } from '../../fixtures/event-state.ts';

const seatsOf = ({ state }: EventFixture, performanceId: string): string =>
  Array.from({ length: 8 }, (_, seat) =>
    state.performances
      .get(performanceId)!
      .inventory.seatState(`H-1-${seat + 1}`)!
      .at(0),
  ).join('');

const openStages = (more: object = {}) => ({
  sellingStages: [
    { id: 'general', name: 'General', prices: { stand: 3333, crew: 9999, seat: 4001 }, ...more },
    { id: 'late', name: 'Late', prices: { stand: 2000, seat: 5000, gift: 100 } },
    { id: 'past', name: 'Past', ends_at: new Date(START - 1).toISOString(), prices: { stand: 1000, old: 10 } },
  ],
  ticketTypes: [
    {
      id: 'stand',
      name: 'Standing',
      locality_id: 'floor',
      barPerks: [{ id: 'beer', name: 'Beer', price: 500, stock: 5 }],
    },
    { id: 'crew', name: 'Crew', locality_id: 'floor', group_size: 4 },
    { id: 'seat', name: 'Seat', locality_id: 'hall' },
    { id: 'gift', name: 'Gift', locality_id: 'floor' },
    { id: 'old', name: 'Old', locality_id: 'floor' },
  ],
});

const ROOM = { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 1_000 };

describe('A ticket that is changed', () => {
  it('goes to another date at its price, with a code of its own, and the old one is void', () => {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('stand', 3, { discountCode: 'TEN' })]);
    const [first = '', second = '', third = ''] = idsOf(order);
    const before = left(fixture, 'stand');
    const now = amended(fixture, change(order.id, [second], { performanceId: 'd2' }));
    assert.equal(now.totalCents, order.totalCents);
    const [kept, other, moved] = now.tickets;
    assert.deepEqual([kept?.id, other?.id], [first, third]);
    assert.deepEqual([moved?.performanceId, moved?.replaces, moved?.isValid], ['d2', second, true]);
    assert.notEqual(moved?.id, second);
    assert.deepEqual(
      now.tickets.map(({ unit }) => unit),
      [1, 2, 3],
    );
    assert.deepEqual(
      now.items.map(({ performanceId, quantity, discountCents }) => [performanceId, quantity, discountCents]),
      [
        ['d1', 2, 667],
        ['d2', 1, 333],
      ],
    );
    assert.equal(left(fixture, 'stand'), before + 1);
    assert.deepEqual(voidTicketsOf(fixture), [second]);
    assert.equal(findTicket(fixture.state, second)?.voidReason, 'REPLACED');
    assert.equal(findTicket(fixture.state, moved!.id)?.orderId, order.id);
    const [amendment] = now.amendments;
    assert.deepEqual(amendment?.tickets, [{ ticketId: second, action: 'CHANGE', newTicketId: moved!.id }]);
    // Parts of the item on both dates still add up.
    const ends = idsOf(now).map((ticketId) => amended(fixture, amend(order.id, [ticketId])).totalCents);
    assert.deepEqual(ends, [5999, 3000, 0]);
  });

  it('keeps its seat on another date where that is free, and gets the best one where not', () => {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('seat', 2)]);
    assert.equal(seatsOf(fixture, 'd1'), 'AAASSAAA');
    amended(fixture, change(order.id, idsOf(order), { performanceId: 'd2' }));
    assert.deepEqual([seatsOf(fixture, 'd1'), seatsOf(fixture, 'd2')], ['AAAAAAAA', 'AAASSAAA']);
    fixture.do(place([item('seat', 1, { seatIds: ['H-1-4'] })]));
    const now = orderOf(fixture, order);
    const back = amended(fixture, change(order.id, idsOf(now), { performanceId: 'd1' }));
    const seats = back.tickets.map(({ seatId }) => seatId);
    assert.ok(!seats.includes('H-1-4') && new Set(seats).size === 2, seats.join());
  });

  it('takes the seats that are named, those of the order as free ones', () => {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('seat', 2, { seatIds: ['H-1-1', 'H-1-2'] })]);
    const ids = idsOf(order);
    const swapped = amended(fixture, change(order.id, ids, { seatIds: ['H-1-2', 'H-1-3'] }));
    assert.deepEqual(
      swapped.tickets.map(({ seatId, replaces }) => [seatId, replaces]),
      [
        ['H-1-2', ids[0]],
        ['H-1-3', ids[1]],
      ],
    );
    assert.equal(seatsOf(fixture, 'd1'), 'ASSAAAAA');
    fixture.do(place([item('seat', 1, { seatIds: ['H-1-4'] })]));
    const [one = ''] = idsOf(swapped);
    const refused = (seatIds: string[]) => fixture.when(change(order.id, [one], { seatIds }));
    refused(['H-1-4']).refuses('SEAT_TAKEN', { seatIds: ['H-1-4'] });
    refused(['H-1-3']).refuses('SEAT_TAKEN', { seatIds: ['H-1-3'] });
    refused(['H-1-99']).refuses('SEAT_NOT_IN_TICKET_TYPE', { seatIds: ['H-1-99'] });
    refused(['H-1-5', 'H-1-6']).refuses('SEAT_COUNT_MISMATCH', { ticketTypeId: 'seat', expected: 1, given: 2 });
    fixture.do({ type: 'BlockSeats', performanceId: 'd1', seatIds: ['H-1-7'], operator: null, note: null });
    refused(['H-1-7']).refuses('SEAT_NOT_SELLABLE', { seatIds: ['H-1-7'] });
    refused(['H-1-2']).refuses('VALIDATION_ERROR');
  });

  it('takes the seats of a group in the order in which its tickets are named', () => {
    const hall = {
      ticketTypes: [{ id: 'pair', name: 'Pair', locality_id: 'hall', group_size: 2 }],
      sellingStages: [{ id: 'general', name: 'General', prices: { pair: 8000 } }],
      promoCodes: [],
    };
    const fixture = given(oddEvent(hall));
    const order = bought(fixture, [item('pair', 1)]);
    const [first, second] = order.tickets.map(({ seatId }) => seatId!) as [string, string];
    const backwards = idsOf(order).reverse();
    const same = fixture.execute(change(order.id, backwards, { seatIds: [second, first] }));
    assert.ok(isRefusal(same) && same.code === 'VALIDATION_ERROR');
    const now = amended(fixture, change(order.id, backwards, { seatIds: [first, second] }));
    assert.deepEqual(
      now.tickets.map(({ replaces, seatId }) => [replaces, seatId]),
      [
        [backwards[1], second],
        [backwards[0], first],
      ],
    );
  });

  it('becomes one of a cheaper type, and the difference is due', () => {
    const fixture = given(oddEvent(openStages()));
    const order = bought(fixture, [item('stand', 2, { barPerks: [{ barPerkId: 'beer', quantity: 3 }] })]);
    const [first = ''] = idsOf(order);
    const command = change(order.id, [first], { ticketTypeId: 'gift' });
    const quote = quoted(fixture, command);
    // Its stage does not sell the type; the first one open that does asks 100. Two of three beers go with it.
    assert.deepEqual(
      [quote.perksCreditCents, quote.creditCents, quote.chargeCents, quote.differenceCents, quote.toRefundCents],
      [1000, 4333, 100, -4233, 4233],
    );
    const [ticket] = quote.tickets;
    assert.deepEqual(
      [ticket?.action, ticket?.creditCents, ticket?.priceCents, ticket?.ticketTypeId, ticket?.sellingStageId],
      ['CHANGE', 3333, 100, 'gift', 'late'],
    );
    const now = amended(fixture, { ...command, quote: quote.quote });
    assert.deepEqual([now.totalCents, now.refundDueCents], [quote.totalCents, quote.toRefundCents]);
    assert.deepEqual(
      now.items.map(({ ticketTypeId, unitPriceCents, barPerks }) => [ticketTypeId, unitPriceCents, barPerks.length]),
      [
        ['gift', 100, 0],
        ['stand', 3333, 1],
      ],
    );
    assert.deepEqual(fixture.state.perksSold, new Map([['stand\nbeer', 1]]));
    // Back again it has no perks.
    const back = amended(
      fixture,
      change(order.id, [idsOf(now)[0]!], { ticketTypeId: 'stand', sellingStageId: 'late' }, { goodwill: true }),
    );
    assert.deepEqual(back.goodwillCents, 1900);
    assert.deepEqual(back.tickets[0]?.barPerks, []);
  });

  it('costs what the named stage asks, also a closed one, and keeps what its codes take off', () => {
    const fixture = given(oddEvent(openStages()));
    const order = bought(fixture, [item('stand', 2, { discountCode: 'SEVENTH' }), item('seat', 1)]);
    const [first = '', second = ''] = idsOf(order);
    const now = amended(fixture, change(order.id, [first], { sellingStageId: 'past' }));
    assert.deepEqual(
      now.items.map(({ sellingStageId, unitPriceCents, discountCents }) => [
        sellingStageId,
        unitPriceCents,
        discountCents,
      ]),
      [
        ['past', 1000, 70],
        ['general', 3333, 234],
        ['general', 4001, 0],
      ],
    );
    fixture.when(change(order.id, [second], { ticketTypeId: 'old' })).refuses('TICKET_NOT_ON_SALE');
    amended(fixture, change(order.id, [second], { ticketTypeId: 'old', sellingStageId: 'past' }));
    assert.equal(fixture.state.orders.usesByCode.get('seventh'), 1);
  });

  it('has no code of the order that was not for it before, and the last ticket that has it gives its use back', () => {
    const promoCodes = [{ code: 'STANDING', percent_off: 10, max_uses: 1, ticket_type_ids: ['stand', 'gift'] }];
    const fixture = given(oddEvent({ ...openStages(), promoCodes }));
    const order = bought(fixture, [item('stand', 1), item('seat', 1)], { promoCode: 'STANDING' });
    const [first = '', second = ''] = idsOf(order);
    const uses = () => fixture.state.orders.usesByCode.get('standing') ?? 0;
    const turned = (now: OrderView, from: string, ticketTypeId: string) =>
      amended(fixture, change(now.id, [from], { ticketTypeId }, { goodwill: true }));
    const latest = (now: OrderView, before: string) => now.tickets.find(({ replaces }) => replaces === before)!.id;
    // 100 for a gift, without anything off: the seat had no code.
    const now = turned(order, second, 'gift');
    assert.equal(now.totalCents, 3333 - 333 + 100);
    const other = turned(now, latest(now, second), 'stand');
    assert.deepEqual([other.totalCents, uses()], [3333 - 333 + 100, 1]);
    // What had the code and lost it does not get it back.
    const seat = turned(other, first, 'seat');
    assert.equal(uses(), 0);
    const back = turned(seat, latest(seat, first), 'stand');
    assert.deepEqual([back.items.map(({ promoDiscountCents }) => promoDiscountCents), uses()], [[0, 0], 0]);
  });

  it('costs nothing where what it costs more is not charged', () => {
    const fixture = given(oddEvent(openStages()));
    const order = bought(fixture, [item('stand', 2)]);
    const [first = '', second = ''] = idsOf(order);
    const dearer = change(order.id, [first], { ticketTypeId: 'seat' });
    const free = { ...dearer, request: { ...dearer.request, goodwill: true } };
    const quote = quoted(fixture, free);
    assert.deepEqual([quote.differenceCents, quote.toPayCents, quote.toRefundCents], [668, 0, 0]);
    const now = amended(fixture, { ...free, quote: quote.quote });
    assert.deepEqual([now.goodwillCents, now.totalCents, now.refundDueCents], [668, order.totalCents, 0]);
    // What was not charged goes with its ticket.
    const moved = now.tickets.find(({ replaces }) => replaces === first)!;
    const again = amended(fixture, change(order.id, [moved.id], { performanceId: 'd2' }));
    assert.equal(again.goodwillCents, 668);
    const last = again.tickets.find(({ replaces }) => replaces === moved.id)!;
    const ended = amended(fixture, amend(order.id, [last.id]));
    assert.deepEqual([ended.goodwillCents, ended.totalCents, ended.refundDueCents], [0, 3333, 3333]);
    assert.equal(amended(fixture, amend(order.id, [second])).refundDueCents, order.totalCents);
  });

  it('leaves a fee that is not charged on a ticket that stays', () => {
    const fixture = given(oddEvent(openStages()));
    const order = bought(fixture, [item('stand', 2)]);
    const [first = '', second = ''] = idsOf(order);
    const request = { cancel: [first], reissue: [second], feeCents: 4000, goodwill: true };
    const now = amended(fixture, ask(order.id, request));
    assert.deepEqual([now.feesCents, now.goodwillCents, now.totalCents], [4000, 667, 6666]);
    const ended = amended(fixture, amend(order.id, idsOf(now)));
    assert.deepEqual([ended.feesCents, ended.goodwillCents, ended.refundDueCents], [4000, 0, 2666]);
  });

  it('fills whole units of a group type, and comes out of one', () => {
    const fixture = given(oddEvent(openStages()));
    const order = bought(fixture, [item('stand', 5), item('crew', 1)]);
    const ids = idsOf(order);
    const group = { ticketTypeId: 'crew' };
    fixture.when(change(order.id, ids.slice(0, 3), group, { goodwill: true })).refuses('VALIDATION_ERROR');
    const now = amended(fixture, change(order.id, ids.slice(0, 4), group));
    assert.deepEqual(
      now.items.map(({ ticketTypeId, quantity, ticketCount }) => [ticketTypeId, quantity, ticketCount]),
      [
        ['crew', 1, 4],
        ['stand', 1, 1],
        ['crew', 1, 4],
      ],
    );
    const apart = now.tickets.filter(({ unit }) => unit === 3).map(({ id }) => id);
    const single = amended(fixture, change(order.id, apart, { ticketTypeId: 'gift' }));
    assert.deepEqual(
      single.tickets.map(({ unit }) => unit),
      [1, 1, 1, 1, 2, 3, 4, 5, 6],
    );
    const part = change(order.id, apart.slice(1), { performanceId: 'd2' });
    fixture.when(part).refuses('TICKET_VOID', { ticketIds: apart.slice(1) });
  });

  it('is bound by capacity, quotas and dates', () => {
    const fixture = given(oddEvent(openStages({ quotas: { stand: 3 } })));
    const order = bought(fixture, [item('stand', 2)]);
    bought(fixture, [item('stand', 2, { performanceId: 'd2' })]);
    const ids = idsOf(order);
    const toD2 = change(order.id, ids, { performanceId: 'd2' });
    const refusal = fixture.execute(toD2);
    assert.ok(isRefusal(refusal) && refusal.code === 'INSUFFICIENT_TICKETS' && refusal.detail.available === 1);
    amended(fixture, change(order.id, ids.slice(0, 1), { performanceId: 'd2' }));
    const left = ids.slice(1);
    const to = (where: Partial<TicketChange>) => fixture.when(change(order.id, left, where));
    to({ performanceId: 'd9' }).refuses('PERFORMANCE_NOT_FOUND', { performanceId: 'd9' });
    to({ ticketTypeId: 'none' }).refuses('TICKET_TYPE_NOT_FOUND', { ticketTypeId: 'none' });
    to({ sellingStageId: 'none' }).refuses('SELLING_STAGE_NOT_FOUND', { sellingStageId: 'none' });
    to({ sellingStageId: 'late', ticketTypeId: 'crew' }).refuses('TICKET_NOT_ON_SALE');
    to({ seatIds: ['H-1-1'] }).refuses('VALIDATION_ERROR');
    to({ performanceId: 'd1' }).refuses('VALIDATION_ERROR', {
      errors: [{ path: ['change', 0], message: 'changes nothing of its tickets' }],
    });
    fixture.do({ type: 'CancelPerformance', performanceId: 'd2', operator: null, note: null });
    to({ performanceId: 'd2' }).refuses('PERFORMANCE_NOT_ON_SALE', { performanceId: 'd2' });
  });

  it('gets a new code for the same place', () => {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('seat', 1), item('crew', 1)]);
    const ids = idsOf(order);
    const wanted = [ids[0]!, ids[2]!];
    const now = amended(fixture, ask(order.id, { reissue: wanted }));
    assert.deepEqual(voidTicketsOf(fixture), wanted);
    assert.deepEqual(
      now.tickets.map(({ replaces }) => replaces),
      [ids[0], null, ids[2], null, null],
    );
    assert.equal(now.tickets[0]?.seatId, order.tickets[0]?.seatId);
    assert.equal(now.totalCents, order.totalCents);
  });

  it('keeps its own seat under another stage, and no other, where each ticket has an entry of its own', () => {
    const prices = { stand: 3333, crew: 9999, seat: 5001 };
    const fixture = given(oddEvent({ sellingStages: ['general', 'late'].map((id) => ({ id, name: id, prices })) }));
    const order = bought(fixture, [item('seat', 4)]);
    const stays = { performanceId: null, ticketTypeId: null, seatIds: null };
    const entries = idsOf(order).map((id) => ({ ...stays, ticketIds: [id], sellingStageId: 'late' }));
    const seats = order.tickets.map(({ seatId }) => seatId);
    const told = quoted(fixture, ask(order.id, { change: entries }));
    assert.deepEqual(
      told.tickets.map(({ seatId, sellingStageId }) => [seatId, sellingStageId]),
      seats.map((seatId) => [seatId, 'late']),
    );
    const now = amended(fixture, ask(order.id, { change: entries }));
    assert.deepEqual(now.tickets.map(({ seatId }) => seatId).toSorted(), seats.toSorted());
  });

  it('carries of the people that amendments named those to which a ticket still points', () => {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('stand', 2)]);
    const [first = '', second = ''] = idsOf(order);
    const rename = (ticketId: string, name: string): OrderView =>
      amended(fixture, ask(order.id, { attendees: [{ ticketId, attendee: visitor(name) }] }));
    const carried = ({ personal }: Pick<OrderView, 'personal'>): readonly boolean[] =>
      personal.amended!.map(({ sealed }) => sealed !== null);
    for (const name of ['Ann', 'Ben', 'Cleo']) rename(first, name);
    assert.deepEqual(carried(rename(second, 'Dan')), [false, false, true, true]);
    const ofTicket = (ticketId: string): readonly boolean[] => carried(findTicket(fixture.state, ticketId)!);
    assert.deepEqual([first, second].map(ofTicket), [
      [false, false, true, false],
      [false, false, false, true],
    ]);
    amended(fixture, ask(order.id, { reissue: [first] }));
    assert.deepEqual(ofTicket(first), [false, false, true, false], 'of a void ticket too');
  });

  it('is not changed for who reads its order meanwhile, however large that is', () => {
    const fixture = given(oddEvent({ localities: [...oddHall, ROOM] }));
    const order = bought(fixture, [item('stand', 1_000)]);
    const before = orderById(fixture.state, order.id) as Order;
    const copy = structuredClone(before);
    amended(fixture, amend(order.id, idsOf(order).slice(0, 1)));
    assert.equal((orderById(fixture.state, order.id) as Order).ticketIds.length, 999);
    assert.deepEqual(before, copy);
  });

  it('gets another name under the same code, sealed and erased with its order', () => {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('stand', 2, { attendees: [visitor('Ann'), visitor('Ben')] })]);
    const [first = '', second = ''] = idsOf(order);
    const attendees = [{ ticketId: second, attendee: visitor('Cleo') }];
    const now = amended(fixture, ask(order.id, { attendees }));
    assert.deepEqual(idsOf(now), [first, second]);
    assert.deepEqual(voidTicketsOf(fixture), []);
    assert.ok(!JSON.stringify(fixture.journal).includes('Cleo'));
    // Behind the only item of the purchase.
    assert.deepEqual(
      now.tickets.map(({ itemIndex, offset }) => [itemIndex, offset]),
      [
        [0, 0],
        [1, 0],
      ],
    );
    const both = ask(order.id, { attendees: [{ ticketId: first, attendee: visitor('Dan') }], reissue: [first] });
    const reissued = amended(fixture, both);
    assert.deepEqual(
      reissued.amendments[0]?.tickets.map(({ action, person }) => [action, person]),
      [['REISSUE', 0]],
    );
    assert.deepEqual(
      reissued.tickets.map(({ itemIndex, offset }) => [itemIndex, offset]),
      [
        [2, 0],
        [1, 0],
      ],
    );
    fixture.do({ type: 'EraseOrder', orderId: order.id, operator: null, note: null });
    const erased = fixture.journal.at(-1)!.fact;
    assert.ok(erased.type === 'OrderErased' && erased.data.keyIds.length === 3);
    fixture.when(ask(order.id, { attendees })).refuses('ORDER_ERASED', {});
    amended(fixture, ask(order.id, { reissue: [second] }));
    assertSameAfterReplay(fixture);
  });

  it('does all of an amendment or nothing', () => {
    const fixture = given(oddEvent());
    const order = bought(fixture, [item('seat', 3), item('stand', 1)]);
    const ids = idsOf(order);
    const request: AmendmentRequest = {
      cancel: [ids[0]!],
      reissue: [ids[3]!],
      change: [
        { ticketIds: [ids[1]!], performanceId: 'd2', ticketTypeId: null, sellingStageId: null, seatIds: null },
        {
          ticketIds: [ids[2]!],
          performanceId: null,
          ticketTypeId: null,
          sellingStageId: null,
          seatIds: [order.tickets[0]!.seatId!],
        },
      ],
      feeCents: 100,
    };
    const now = amended(fixture, ask(order.id, request));
    assert.deepEqual([now.totalCents, now.feesCents], [order.totalCents - 3901, 100]);
    assert.deepEqual(
      now.amendments[0]?.tickets.map(({ action }) => action),
      ['CANCEL', 'CHANGE', 'CHANGE', 'REISSUE'],
    );
    assert.equal(now.tickets.length, 3);
    const last = idsOf(now).at(-1)!;
    fixture.when(ask(order.id, { ...request, cancel: [last, 'tkt_1_no'] })).refuses('TICKET_NOT_FOUND');
  });

  it('keeps stock, books and money in step, whatever is changed', () => {
    const step = fc.record({
      what: fc.constantFrom('cancel', 'date', 'type', 'stage', 'reissue', 'name'),
      pick: fc.nat(20),
      to: fc.nat(20),
    });
    const property = fc.property(
      fc.array(step, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(null, 'TEN', 'SEVENTH'),
      (steps, promoCode) => {
        const fixture = given(oddEvent(openStages()));
        const order = bought(
          fixture,
          [item('stand', 3, { barPerks: [{ barPerkId: 'beer', quantity: 4 }] }), item('seat', 2), item('crew', 1)],
          { promoCode },
        );
        for (const { what, pick, to } of steps) {
          const { tickets, status, totalCents, refundDueCents } = orderOf(fixture, order);
          if (status === 'CANCELLED') break;
          const { unit } = tickets[pick % tickets.length]!;
          const ids = tickets.filter((ticket) => ticket.unit === unit).map(({ id }) => id);
          const where = {
            date: { performanceId: ['d1', 'd2'][to % 2]! },
            type: { ticketTypeId: ['stand', 'seat', 'gift', 'crew'][to % 4]! },
            stage: { sellingStageId: ['general', 'late', 'past'][to % 3]! },
          };
          const commands = {
            cancel: () => amend(order.id, ids),
            reissue: () => ask(order.id, { reissue: ids.slice(0, 1) }),
            name: () => ask(order.id, { attendees: [{ ticketId: ids[0]!, attendee: visitor('Eve') }] }),
            date: () => change(order.id, ids, where.date, { goodwill: true }),
            type: () => change(order.id, ids, where.type, { goodwill: true }),
            stage: () => change(order.id, ids, where.stage, { goodwill: true }),
          };
          const command = commands[what]();
          const done = fixture.execute(command);
          if (isRefusal(done)) continue;
          const now = orderOf(fixture, order);
          const { differenceCents, toRefundCents } = done.amendment;
          assert.equal(now.totalCents, totalCents + Math.min(0, differenceCents));
          assert.equal(now.refundDueCents, refundDueCents + toRefundCents);
          assert.equal(toRefundCents, Math.max(0, -differenceCents));
          assert.deepEqual(auditEventState(fixture.state), []);
          if (now.status === 'CANCELLED') break;
          const units = now.items.reduce(
            (sum, { quantity, unitPriceCents, discountCents, promoDiscountCents, barPerks }) =>
              sum +
              quantity * unitPriceCents -
              discountCents -
              promoDiscountCents +
              barPerks.reduce((perks, perk) => perks + perk.quantity * perk.unitPriceCents, 0),
            0,
          );
          assert.equal(now.totalCents, units + now.feesCents - now.goodwillCents);
        }
        assertSameAfterReplay(fixture);
      },
    );
    fc.assert(property, { numRuns: 80 });
  });
});

describe('A place that an amendment gave up', () => {
  it('can be bought by others at once', () => {
    const fixture = openCheckoutEvent();
    const order = bought(fixture, [item('adult', 2)]);
    amended(fixture, amend(order.id, idsOf(order).slice(0, 1)));
    const all = left(fixture, 'adult');
    assert.ok(!isRefusal(fixture.execute(buy([item('adult', Math.min(all, 4))]))));
  });
});
