import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findOrder } from '#domain/orders/view.ts';
import { offerOf } from '#domain/catalogue/sale-plan.ts';
import { perkKey } from '#domain/catalogue/pricing.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { CommandOf } from '#domain/command.ts';
import {
  anna,
  bothDates,
  buy,
  checkOut,
  checkoutEvent,
  item,
  openCheckoutEvent,
  openSession,
  paymentOf,
  placeHold,
  start,
  visitor,
} from '../fixtures/commands.ts';
import { assertSameAfterReplay, id, MINUTE, START, type EventFixture } from '../fixtures/event-state.ts';

const beers = (quantity: number) => ({ barPerks: [{ barPerkId: 'beer', quantity }] });

function adultsLeft(fixture: EventFixture, performanceId = 'd1'): number {
  const row = offerOf(fixture.state.plan, 'adult', 'general')!;
  return fixture.state.performances.get(performanceId)!.inventory.left(row);
}

function statusOfHold(fixture: EventFixture, holdId: string): string {
  return fixture.state.holds.byId.get(holdId)!.status;
}

describe('A checkout with a hold', () => {
  it('takes the hold over and gives it the payment window', () => {
    const fixture = openCheckoutEvent();
    const holdId = placeHold(fixture, [item('adult', 2)]);
    fixture.wait(9 * MINUTE);
    const { order, payment, resumed, replayed } = fixture.do(start({ holdId }));
    assert.deepEqual([order.status, order.paymentStatus, order.totalCents], ['PENDING', 'PENDING', 2000]);
    assert.equal(order.expiresAt, START + 39 * MINUTE);
    assert.deepEqual([payment?.amountCents, payment?.status, resumed, replayed], [2000, 'REQUESTED', false, false]);
    const hold = fixture.state.holds.byId.get(holdId)!;
    assert.deepEqual([hold.status, hold.orderId, hold.expiresAt], ['CONVERTED', order.id, order.expiresAt]);
    assert.equal(adultsLeft(fixture), 18);
    assertSameAfterReplay(fixture);
  });

  it('is refused for an unknown hold, and for one of another session, alike', () => {
    const fixture = openCheckoutEvent();
    const holdId = placeHold(fixture, [item('adult', 2)]);
    fixture.when(start({ holdId: id('hld', 9) })).refuses('HOLD_NOT_FOUND', {});
    fixture.when(start({ holdId, sessionKey: 'session-2' })).refuses('HOLD_NOT_FOUND', {});
    fixture.when(start({ holdId, sessionKey: 'session-1' })).then(['OrderPlaced']);
  });

  it('is refused with HOLD_EXPIRED when the window ran out, at the millisecond', () => {
    const fixture = openCheckoutEvent();
    const holdId = placeHold(fixture, [item('adult', 2)]);
    fixture
      .wait(10 * MINUTE)
      .when(start({ holdId }))
      .refuses('HOLD_EXPIRED', {});
  });

  it('is refused with HOLD_NOT_ACTIVE when the hold was released, or its order has a session', () => {
    const fixture = openCheckoutEvent();
    const released = placeHold(fixture, [item('adult', 2)]);
    fixture.do({ type: 'ReleaseHold', holdId: released, sessionKey: 'session-1' });
    fixture.when(start({ holdId: released })).refuses('HOLD_NOT_ACTIVE', { status: 'RELEASED' });
    const used = placeHold(fixture, [item('adult', 2)]);
    checkOut(fixture, start({ holdId: used }));
    fixture.when(start({ holdId: used })).refuses('HOLD_NOT_ACTIVE', { status: 'CONVERTED' });
  });

  it('is resumed as long as the order has no session, under any key', () => {
    const fixture = openCheckoutEvent();
    const holdId = placeHold(fixture, [item('adult', 2)]);
    const first = fixture.do(start({ holdId, idempotency: { key: 'a', digest: 'x' } }));
    const again = fixture.do(start({ holdId, idempotency: { key: 'b', digest: 'x' } }));
    assert.deepEqual([again.order.id, again.payment?.id, again.resumed], [first.order.id, first.payment?.id, true]);
    openSession(fixture, first.order, paymentOf(first));
    for (const key of ['a', 'b']) {
      const repeat = fixture.do(start({ holdId, idempotency: { key, digest: 'x' } }));
      assert.deepEqual([repeat.order.id, repeat.replayed, repeat.resumed], [first.order.id, true, false]);
      assert.equal(repeat.payment?.redirectUrl, `https://pay.example/${first.payment?.id}`);
    }
    assertSameAfterReplay(fixture);
  });

  it('keeps the price and the stage of the placing', () => {
    const fixture = openCheckoutEvent();
    const holdId = placeHold(fixture, [item('adult', 2)]);
    const dearer = checkoutEvent();
    const closed = dearer.sellingStages.map((each) => ({
      ...each,
      prices: { ...each.prices, adult: 9900 },
      endsAt: START,
    }));
    fixture.do({ type: 'DefineEvent', definition: { ...dearer, sellingStages: closed }, operator: null, note: null });
    assert.equal(fixture.do(start({ holdId, items: [item('adult', 2)] })).order.totalCents, 2000);
  });

  const held = [item('adult', 2), item('seat', 2, { seatIds: ['0-0', '0-1'] })];
  const mismatches: readonly (readonly [string, CommandOf<'StartCheckout'>['items']])[] = [
    ['another quantity', [item('adult', 3), item('seat', 2)]],
    ['a line too few', [item('adult', 2)]],
    ['a line too many', [item('adult', 2), item('seat', 2), item('guest', 1)]],
    ['another type', [item('guest', 2), item('seat', 2)]],
    ['another stage', [item('adult', 2, { sellingStageId: 'late' }), item('seat', 2)]],
    ['another date', [item('adult', 2, { performanceId: 'd2' }), item('seat', 2)]],
    ['no date where there are several', [item('adult', 2, { performanceId: null }), item('seat', 2)]],
    ['other seats', [item('adult', 2), item('seat', 2, { seatIds: ['0-0', '0-2'] })]],
    ['too few seats', [item('adult', 2), item('seat', 2, { seatIds: ['0-0'] })]],
    ['one seat for two items', [item('adult', 2), ...Array(2).fill(item('seat', 1, { seatIds: ['0-0'] }))]],
    ['seats on general admission', [item('adult', 2, { seatIds: ['0-0', '0-1'] }), item('seat', 2)]],
  ];
  for (const [what, items] of mismatches) {
    it(`is refused with HOLD_ITEMS_MISMATCH for ${what}`, () => {
      const fixture = openCheckoutEvent();
      const holdId = placeHold(fixture, held);
      fixture.when(start({ holdId, items })).refuses('HOLD_ITEMS_MISMATCH', {});
      assert.equal(statusOfHold(fixture, holdId), 'ACTIVE');
    });
  }

  it('accepts equal items in another form: split, reordered, seats swapped or left out', () => {
    const same = [
      [item('seat', 2, { seatIds: ['0-1', '0-0'] }), item('adult', 2)],
      [item('adult', 1), item('seat', 2), item('adult', 1)],
      [item('adult', 2), item('seat', 1, { seatIds: ['0-1'] }), item('seat', 1)],
    ];
    for (const items of same) {
      const fixture = openCheckoutEvent();
      fixture.when(start({ holdId: placeHold(fixture, held), items })).then(['OrderPlaced']);
    }
  });

  it('may leave the performance out where there is only one', () => {
    const fixture = openCheckoutEvent({ performances: bothDates.slice(0, 1) });
    const holdId = placeHold(fixture, [item('adult', 2, { performanceId: null })]);
    fixture.when(start({ holdId, items: [item('adult', 2, { performanceId: null })] })).then(['OrderPlaced']);
  });

  it('gives each attendee a seat of their item', () => {
    const fixture = openCheckoutEvent();
    const holdId = placeHold(fixture, [item('seat', 3, { seatIds: ['0-0', '0-1', '0-2'] })]);
    const { order } = fixture.do(
      start({
        holdId,
        promoCode: 'ALL',
        items: [
          item('seat', 1, { attendees: [visitor('Ada')] }),
          item('seat', 2, { seatIds: ['0-2', '0-0'], attendees: [visitor('Bo'), visitor('Cy')] }),
        ],
      }),
    );
    assert.deepEqual(
      order.tickets.map((ticket) => [
        fixture.sealing.personalOf(order).attendees[ticket.itemIndex]?.[ticket.offset]?.name,
        ticket.seatId,
        ticket.section,
        ticket.rowLabel,
        ticket.seatLabel,
      ]),
      [
        ['Ada', '0-1', 'All', '1', '2'],
        ['Bo', '0-2', 'All', '1', '3'],
        ['Cy', '0-0', 'All', '1', '1'],
      ],
    );
  });
});

describe('A checkout without a hold', () => {
  it('places and converts one in the same turn', () => {
    const fixture = openCheckoutEvent();
    fixture.when(buy([item('adult', 2), item('seat', 2)])).then(['HoldPlaced', 'OrderPlaced']);
    const hold = fixture.state.holds.byId.get(id('hld', 1))!;
    assert.deepEqual([hold.status, hold.orderId, hold.expiresAt], ['CONVERTED', id('ord', 1), START + 30 * MINUTE]);
    assert.deepEqual(fixture.state.orders.byId.get(id('ord', 1))!.purchase.items[1]!.seatIds, ['0-2', '0-3']);
    assertSameAfterReplay(fixture);
  });

  it("counts the session's own ACTIVE hold as free and replaces it", () => {
    const fixture = openCheckoutEvent();
    const holdId = placeHold(fixture, [item('adult', 20)]);
    fixture.when(buy([item('adult', 20)])).refuses('INSUFFICIENT_TICKETS');
    fixture.when(buy([item('adult', 20)], { sessionKey: 'session-2' })).refuses('INSUFFICIENT_TICKETS');
    fixture.when(buy([item('adult', 15)], { sessionKey: 'session-1' })).then(['HoldPlaced', 'OrderPlaced']);
    assert.equal(statusOfHold(fixture, holdId), 'RELEASED');
    assert.equal(adultsLeft(fixture), 5);
    assertSameAfterReplay(fixture);
  });

  it('leaves the session free to hold more', () => {
    const fixture = openCheckoutEvent();
    fixture.do(buy([item('adult', 2)], { sessionKey: 'session-1' }));
    placeHold(fixture, [item('adult', 2)]);
    assert.equal(adultsLeft(fixture), 16);
  });

  it('ends the pass of the session whose order was placed, where few passes may be live at once', () => {
    const fixture = openCheckoutEvent({ waitingRoom: true, waitingRoomMaxAdmitted: 1 });
    const join = (sessionKey: string) => fixture.do({ type: 'JoinQueue', sessionKey }).entry;
    const queuePass = join('session-1').id;
    fixture.do({ type: 'PlaceHold', sessionKey: 'session-1', items: [item('adult', 1)], queuePass, idempotency: null });
    assert.equal(join('session-2').status, 'WAITING');
    fixture.when(start({ holdId: id('hld', 1) })).then(['OrderPlaced', 'QueuePassSpent']);
    const second = join('session-2');
    assert.equal(second.status, 'ADMITTED');
    fixture
      .when(buy([item('adult', 1)], { queuePass: second.id }))
      .then(['HoldPlaced', 'OrderPlaced', 'QueuePassSpent']);
  });

  it('needs items', () => {
    const path = [{ path: ['items'], message: 'is required where there is no hold_id' }];
    openCheckoutEvent().when(start({})).refuses('VALIDATION_ERROR', { errors: path });
  });

  it('reserves like a hold and refuses like one', () => {
    const fixture = openCheckoutEvent();
    placeHold(fixture, [item('adult', 19), item('seat', 1, { seatIds: ['0-0'] })]);
    fixture.when(buy([item('adult', 2)])).refuses('INSUFFICIENT_TICKETS', {
      available: 1,
      reservedByOthers: true,
      nextReleaseAt: START + 10 * MINUTE,
      ticketTypeId: 'adult',
      sellingStageId: 'general',
      performanceId: 'd1',
    });
    fixture.when(buy([item('seat', 1, { seatIds: ['0-0'] })])).refuses('SEAT_TAKEN', { seatIds: ['0-0'] });
    fixture.when(buy([item('seat', 1, { seatIds: ['9-9'] })])).refuses('SEAT_NOT_IN_TICKET_TYPE', { seatIds: ['9-9'] });
    fixture
      .when(buy([item('adult', 1, { performanceId: 'd9' })]))
      .refuses('PERFORMANCE_NOT_FOUND', { performanceId: 'd9' });
    fixture.when(buy([item('adult', 1, { seatIds: ['0-0'] })])).refuses('VALIDATION_ERROR');
    const named = item('seat', 1, { seatIds: ['0-1'] });
    fixture.when(buy([named, named])).refuses('VALIDATION_ERROR');
    fixture.do({ type: 'BlockSeats', performanceId: 'd1', seatIds: ['1-0'], operator: null, note: null });
    fixture.when(buy([item('seat', 1, { seatIds: ['1-0'] })])).refuses('SEAT_NOT_SELLABLE', { seatIds: ['1-0'] });
  });
});

describe('A free order', () => {
  it('is CONFIRMED at once, with tickets and without a payment', () => {
    const fixture = openCheckoutEvent();
    const holdId = placeHold(fixture, [item('guest', 2)]);
    const { order, payment } = fixture.do(start({ holdId, installmentCount: 3 }));
    assert.equal(payment, null);
    assert.deepEqual(
      [order.status, order.paymentStatus, order.paymentProvider, order.expiresAt],
      ['CONFIRMED', 'COMPLETED', 'FREE', null],
    );
    assert.deepEqual([order.payments, order.installmentsCents, order.tickets.length], [[], [], 2]);
    assert.equal(statusOfHold(fixture, holdId), 'CONSUMED');
    fixture.wait(60 * MINUTE).settle();
    assert.equal(statusOfHold(fixture, holdId), 'CONSUMED');
    assertSameAfterReplay(fixture);
  });

  it('may be free by its codes alone, also without a hold', () => {
    const fixture = openCheckoutEvent();
    fixture
      .when(buy([item('adult', 1)], { promoCode: 'all' }))
      .then(['HoldPlaced', 'OrderPlaced', 'OrderPaid', 'TicketsIssued']);
    fixture.when(buy([item('adult', 1, { discountCode: 'ALL', ...beers(1) })])).then(['HoldPlaced', 'OrderPlaced']);
  });

  it('is repeated under its key', () => {
    const fixture = openCheckoutEvent();
    const command = buy([item('guest', 1)], { idempotency: { key: 'k', digest: 'x' } });
    const first = fixture.do(command);
    const { order, replayed } = fixture.do(command);
    assert.deepEqual([order.id, replayed], [first.order.id, true]);
  });
});

describe('An idempotency key', () => {
  const idempotency = { key: 'k', digest: 'x' };
  const command = buy([item('adult', 2)], { idempotency });

  it('gives the order of the first request, whatever its status', () => {
    const fixture = openCheckoutEvent();
    const first = checkOut(fixture, command);
    fixture.wait(31 * MINUTE);
    const { order, payment, replayed } = fixture.do(command);
    assert.deepEqual([order.id, payment?.id, replayed], [first.order.id, first.payment?.id, true]);
    assert.deepEqual([order.status, order.expiresAt, order.totalCents], ['EXPIRED', first.order.expiresAt, 2000]);
  });

  it('is refused for another request, before anything else of it is checked', () => {
    const fixture = openCheckoutEvent();
    checkOut(fixture, command);
    const other = { ...command, acceptTerms: false, idempotency: { key: 'k', digest: 'y' } };
    fixture.when(other).refuses('IDEMPOTENCY_KEY_REUSED', {});
  });

  it('resumes a start that got no session', () => {
    const fixture = openCheckoutEvent();
    const first = fixture.do(command);
    fixture.when(command).then([]);
    const again = fixture.do(command);
    assert.deepEqual([again.order.id, again.resumed, again.replayed], [first.order.id, true, false]);
  });

  it('is checked anew when the order ended before it got a session', () => {
    const fixture = openCheckoutEvent();
    const first = fixture.do(command);
    fixture.wait(31 * MINUTE);
    const second = checkOut(fixture, command);
    assert.notEqual(second.order.id, first.order.id);
    assert.equal(fixture.do(command).order.id, second.order.id);
    assertSameAfterReplay(fixture);
  });

  it('is not kept by a refusal', () => {
    const fixture = openCheckoutEvent();
    fixture.when({ ...command, acceptTerms: false }).refuses('TERMS_NOT_ACCEPTED', {});
    fixture.when(command).then(['HoldPlaced', 'OrderPlaced']);
  });
});

describe('Purchase limits', () => {
  it('count the units of an item, items of one kind added up', () => {
    const types = checkoutEvent().ticketTypes.map((type) => ({ ...type, maxPerOrder: 2 }));
    const fixture = openCheckoutEvent({ ticketTypes: types });
    const detail = { limit: 2, requested: 3, ticketTypeId: 'group' };
    fixture.when(buy([item('group', 3)])).refuses('MAX_PER_ORDER_EXCEEDED', detail);
    fixture.when(buy([item('group', 2), item('group', 1)])).refuses('MAX_PER_ORDER_EXCEEDED', detail);
    fixture
      .when(buy([item('group', 2), item('group', 2, { performanceId: 'd2' })]))
      .then(['HoldPlaced', 'OrderPlaced']);
  });

  it('count the tickets of an order over all its items', () => {
    const fixture = openCheckoutEvent({ maxTicketsPerOrder: 5 });
    fixture
      .when(buy([item('group', 1), item('adult', 2)]))
      .refuses('MAX_TICKETS_PER_ORDER_EXCEEDED', { limit: 5, requested: 6 });
    fixture.when(buy([item('group', 1), item('adult', 1)])).then(['HoldPlaced', 'OrderPlaced']);
  });

  it('count the tickets of an address over its live orders, however the address is written', () => {
    const fixture = openCheckoutEvent({ maxTicketsPerEmail: 6 });
    const as = (email: string) => ({ customer: { ...anna, email } });
    const { order } = checkOut(fixture, buy([item('group', 1)], as('Anna+friends@Example.org ')));
    assert.equal(fixture.sealing.personalOf(order).customer.email, 'Anna+friends@Example.org ');
    const detail = { limit: 6, requested: 3, already: 4 };
    fixture.when(buy([item('adult', 3)], as('anna@example.org'))).refuses('MAX_TICKETS_PER_EMAIL_EXCEEDED', detail);
    fixture.when(buy([item('adult', 3)], as('anna@example.com'))).then(['HoldPlaced', 'OrderPlaced']);
    fixture.when(buy([item('adult', 2)], as(' ANNA@example.org'))).then(['HoldPlaced', 'OrderPlaced']);
    fixture
      .wait(30 * MINUTE)
      .when(buy([item('adult', 6)], as('anna@example.org')))
      .then(['HoldPlaced', 'OrderPlaced']);
  });

  it('leave the hold as it was', () => {
    const fixture = openCheckoutEvent({ maxTicketsPerOrder: 1, limitsAtHold: false });
    const holdId = placeHold(fixture, [item('adult', 2)]);
    fixture.when(start({ holdId })).refuses('MAX_TICKETS_PER_ORDER_EXCEEDED', { limit: 1, requested: 2 });
    assert.equal(statusOfHold(fixture, holdId), 'ACTIVE');
  });
});

describe('Attendees', () => {
  it('must be as many as the tickets of their item wherever they are given', () => {
    const fixture = openCheckoutEvent();
    const detail = { ticketTypeId: 'group', expected: 4, given: 1 };
    fixture.when(buy([item('group', 1, { attendees: [visitor('Ada')] })])).refuses('ATTENDEE_COUNT_MISMATCH', detail);
    fixture.when(buy([item('adult', 1, { attendees: [] })])).refuses('ATTENDEE_COUNT_MISMATCH');
  });

  it('must be given where the event asks for them, with a hold too', () => {
    const fixture = openCheckoutEvent({ requireIndividualData: true });
    const detail = { ticketTypeId: 'adult', expected: 1, given: 0 };
    fixture.when(buy([item('adult', 1)])).refuses('ATTENDEE_COUNT_MISMATCH', detail);
    const holdId = placeHold(fixture, [item('adult', 1)]);
    fixture.when(start({ holdId })).refuses('ATTENDEE_COUNT_MISMATCH', detail);
    fixture.when(start({ holdId, items: [item('adult', 1, { attendees: [visitor('Ada')] })] })).then(['OrderPlaced']);
  });
});

describe('Codes', () => {
  it('are refused when unknown, out of time or not for these tickets', () => {
    const fixture = openCheckoutEvent();
    for (const promoCode of ['NOSUCH', 'OVER', 'SEATS', '']) {
      fixture.when(buy([item('adult', 1)], { promoCode })).refuses('PROMO_CODE_INVALID', { promoCode });
      fixture.when(buy([item('adult', 1, { discountCode: promoCode })])).refuses('PROMO_CODE_INVALID', { promoCode });
    }
  });

  it('of an order need only be for some of its tickets', () => {
    const fixture = openCheckoutEvent();
    const { order } = fixture.do(buy([item('adult', 1), item('seat', 1)], { promoCode: 'SEATS' }));
    assert.deepEqual(order.discounts, [{ code: 'SEATS', itemIndex: null, amountCents: 1300 }]);
    assert.equal(order.totalCents, 1000 + 1299);
  });

  it('are counted however they are typed', () => {
    const fixture = openCheckoutEvent();
    checkOut(fixture, buy([item('adult', 1)], { promoCode: ' once ' }));
    const exhausted = { promoCode: 'ONCE' };
    fixture.when(buy([item('adult', 1)], { promoCode: 'ONCE' })).refuses('PROMO_CODE_EXHAUSTED', exhausted);
    fixture.when(buy([item('adult', 1)], { promoCode: ' once ' })).refuses('PROMO_CODE_EXHAUSTED', exhausted);
    assertSameAfterReplay(fixture);
  });

  it('are used once by an order, and return when it expires or is cancelled', () => {
    const fixture = openCheckoutEvent();
    const once = [item('adult', 1, { discountCode: 'ONCE' }), item('seat', 1, { discountCode: 'once' })];
    const { order } = checkOut(fixture, buy(once, { promoCode: 'ONCE' }));
    const exhausted = { promoCode: 'ONCE' };
    fixture.when(buy([item('adult', 1)], { promoCode: 'once' })).refuses('PROMO_CODE_EXHAUSTED', exhausted);
    fixture.when(buy([item('adult', 1)], { promoCode: ' Once\u00a0' })).refuses('PROMO_CODE_EXHAUSTED', exhausted);
    fixture.do({ type: 'CancelOrder', orderId: order.id, operator: null, note: null });
    checkOut(fixture, buy(once));
    fixture.when(buy(once)).refuses('PROMO_CODE_EXHAUSTED', exhausted);
    fixture
      .wait(30 * MINUTE)
      .when(buy(once))
      .then(['HoldPlaced', 'OrderPlaced']);
    assertSameAfterReplay(fixture);
  });
});

describe('Bar perks', () => {
  it('are refused when unknown, over their cap, or sold out', () => {
    const fixture = openCheckoutEvent();
    fixture.when(buy([item('guest', 1, beers(1))])).refuses('BAR_PERK_NOT_FOUND', { barPerkId: 'beer' });
    const limit = { limit: 2, requested: 3, barPerkId: 'beer' };
    fixture
      .when(buy([item('adult', 1, { barPerks: [...beers(2).barPerks, ...beers(1).barPerks] })]))
      .refuses('BAR_PERK_LIMIT_EXCEEDED', limit);
    fixture
      .when(buy([item('adult', 2, beers(3)), item('adult', 2, beers(3))]))
      .refuses('BAR_PERK_SOLD_OUT', { barPerkId: 'beer', available: 5 });
    const glasses = { barPerks: [{ barPerkId: 'glass', quantity: 99 }] };
    assert.equal(fixture.do(buy([item('adult', 1, glasses)])).order.totalCents, 1000 + 9900);
  });

  it('are taken with the order and return when it ends', () => {
    const fixture = openCheckoutEvent();
    checkOut(fixture, buy([item('adult', 2, beers(4))]));
    assert.equal(fixture.state.perksSold.get(perkKey('adult', 'beer')), 4);
    fixture.when(buy([item('adult', 1, beers(2))])).refuses('BAR_PERK_SOLD_OUT', { barPerkId: 'beer', available: 1 });
    fixture.wait(30 * MINUTE).settle();
    assert.equal(fixture.state.perksSold.size, 0);
  });
});

describe('An order', () => {
  it('shows its items, prices, codes, perks and customer', () => {
    const fixture = openCheckoutEvent();
    const agreed = {
      promoCode: 'TENTH',
      promoterCode: 'radio',
      referralCode: 'bo',
      tracking: { utm_source: 'x' },
      successUrl: 'https://shop.example/{ORDER_ID}',
      cancelUrl: null,
    };
    const { order } = fixture.do(buy([item('group', 2, { discountCode: 'FIVE' }), item('adult', 1, beers(2))], agreed));
    const { tracking, ...shown } = agreed;
    assert.deepEqual({ ...order, ...shown }, order);
    assert.deepEqual(fixture.sealing.personalOf(order), { customer: anna, attendees: [null, null], tracking });
    assert.deepEqual(order.discounts, [
      { code: 'FIVE', itemIndex: 0, amountCents: 500 },
      { code: 'TENTH', itemIndex: null, amountCents: 550 + 100 },
    ]);
    assert.equal(order.totalCents, 6000 - 500 - 550 + 1000 - 100 + 1000);
    assert.deepEqual(order.event, {
      id: 'evt',
      slug: 'evt',
      name: 'Event',
      performances: [{ id: 'd1', name: 'd1', startsAt: START + 1e9, endsAt: START + 2e9, status: 'ON_SALE' }],
    });
    assert.deepEqual(findOrder(fixture.state, order.id), order);
    const unknown = findOrder(fixture.state, id('ord', 7));
    assert.ok(isRefusal(unknown) && unknown.code === 'ORDER_NOT_FOUND');
  });

  it('is split into installments that differ by a cent, the larger ones first', () => {
    const fixture = openCheckoutEvent();
    const { order, payment } = fixture.do(buy([item('seat', 2)], { installmentCount: 3 }));
    assert.deepEqual(order.installmentsCents, [1733, 1733, 1732]);
    assert.equal(payment?.amountCents, 1733);
    const detail = { limit: 3, requested: 4 };
    fixture.when(buy([item('seat', 1)], { installmentCount: 4 })).refuses('INSTALLMENTS_NOT_ALLOWED', detail);
  });

  it('of a draft event cannot be placed', () => {
    openCheckoutEvent({ status: 'DRAFT' })
      .when(buy([item('adult', 1)]))
      .refuses('EVENT_NOT_FOUND', {});
  });
});

describe('The checks of a checkout', () => {
  it('run in the order of the API, and the first that fails answers', () => {
    const types = checkoutEvent().ticketTypes.map((type) => ({ ...type, maxPerOrder: 6 }));
    const limits = { maxTicketsPerOrder: 5, maxTicketsPerEmail: 4, requireIndividualData: true, ticketTypes: types };
    const fixture = openCheckoutEvent({ ...limits, waitingRoom: true });
    const free = { performanceId: 'd2', discountCode: 'ONCE' };
    const room = { sessionKey: 'session-9' };
    const { entry } = fixture.do({ type: 'JoinQueue', ...room });
    const pass = { ...room, queuePass: entry.id };
    checkOut(fixture, buy([item('adult', 1, { ...free, attendees: [visitor('Ada')] })], pass));

    const wrong = item('nosuch', 7, {
      performanceId: null,
      discountCode: 'NOSUCH',
      barPerks: [{ barPerkId: 'nosuch', quantity: 1 }],
      seatIds: ['0-0'],
    });
    const seats = Array.from({ length: 3 }, (_, index) => visitor(`v${index}`));
    let one = wrong;
    let command = buy([one], {
      acceptTerms: false,
      sessionKey: 'session-9',
      installmentCount: 9,
      holdId: id('hld', 99),
    });
    const step = (
      code: Parameters<ReturnType<EventFixture['when']>['refuses']>[0],
      change: Partial<typeof one>,
      more = {},
    ) => {
      fixture.when(command).refuses(code);
      one = { ...one, ...change };
      command = { ...command, items: [one], ...more };
    };
    step('TERMS_NOT_ACCEPTED', {}, { acceptTerms: true });
    step('HOLD_NOT_FOUND', {}, { holdId: null });
    step('QUEUE_PASS_REQUIRED', {}, { queuePass: id('que', 99) });
    step('QUEUE_PASS_INVALID', {}, { queuePass: entry.id });
    step('PERFORMANCE_REQUIRED', { performanceId: 'd9' });
    step('PERFORMANCE_NOT_FOUND', { performanceId: 'd1' });
    step('TICKET_TYPE_NOT_FOUND', { ticketTypeId: 'seat', sellingStageId: 'nosuch' });
    step('SELLING_STAGE_NOT_FOUND', { sellingStageId: 'general' });
    step('INSTALLMENTS_NOT_ALLOWED', {}, { installmentCount: 1 });
    step('MAX_PER_ORDER_EXCEEDED', { quantity: 6 });
    step('MAX_TICKETS_PER_ORDER_EXCEEDED', { quantity: 4 });
    step('MAX_TICKETS_PER_EMAIL_EXCEEDED', { quantity: 3 });
    step('ATTENDEE_COUNT_MISMATCH', { attendees: seats });
    step('PROMO_CODE_INVALID', { discountCode: 'ONCE' });
    step('PROMO_CODE_EXHAUSTED', { discountCode: null });
    step('BAR_PERK_NOT_FOUND', { barPerks: [] });
    step('SEAT_COUNT_MISMATCH', { seatIds: ['0-0', '0-1', '9-9'] });
    step('SEAT_NOT_IN_TICKET_TYPE', { seatIds: ['0-0', '0-1', '0-2'] });
    fixture.do({ type: 'BlockSeats', performanceId: 'd1', seatIds: ['0-0'], operator: null, note: null });
    step('SEAT_NOT_SELLABLE', { seatIds: ['0-1', '0-2', '0-3'] });
    fixture.when(command).then(['HoldPlaced', 'OrderPlaced']);
  });
});
