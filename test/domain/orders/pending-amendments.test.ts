/** Amendments that cost something: PENDING until they are paid, or end before that. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { auditEventState } from '#domain/event/audit.ts';
import { findOrder } from '#domain/orders/view.ts';
import { findUnopenedPayments, scanForUselessSessions, uselessSessions } from '#domain/orders/open-sessions.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { CommandOf } from '#domain/command.ts';
import type { AmendmentView, OrderView, PaymentView } from '#domain/view.ts';
import { amend, bought, change, idsOf, oddEvent, orderOf, quoted, voidTicketsOf } from '../../fixtures/amendments.ts';
import type { Amend } from '../../fixtures/amendments.ts';
import {
  buy,
  cancelByOperator,
  checkOut,
  erase,
  item,
  openSession,
  paymentOf,
  place,
  recordPayment,
  report,
  visitor,
} from '../../fixtures/commands.ts';
import { assertSameAfterReplay, given, MINUTE, restore, START, type EventFixture } from '../../fixtures/event-state.ts';

const types = {
  sellingStages: [
    { id: 'general', name: 'General', prices: { stand: 3333, crew: 9999, seat: 4001, best: 9000, guest: 0 } },
    { id: 'past', name: 'Past', ends_at: new Date(START + 5 * MINUTE).toISOString(), prices: { best: 8000 } },
  ],
  ticketTypes: [
    { id: 'stand', name: 'Standing', locality_id: 'floor' },
    { id: 'crew', name: 'Crew', locality_id: 'floor', group_size: 4 },
    { id: 'guest', name: 'Guest', locality_id: 'floor' },
    { id: 'seat', name: 'Seat', locality_id: 'hall' },
    { id: 'best', name: 'Best', locality_id: 'hall', quota: 5 },
  ],
  localities: [
    { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 6 },
    {
      id: 'hall',
      name: 'Hall',
      seating: 'NUMBERED',
      sections: [{ id: 'H', name: 'Hall', zone_key: 'h', rows: [{ label: '1', seats: 8 }] }],
    },
  ],
};

const eventOf = (more: object = {}): EventFixture => given(oddEvent({ ...types, ...more }));

/** Books, replay, snapshot, and what is due of each order (promise 14), hold at every moment. */
function check(fixture: EventFixture): void {
  assert.deepEqual(auditEventState(fixture.state), []);
  assertSameAfterReplay(fixture);
  for (const { id } of fixture.state.orders.inOrder) {
    const order = orderOf(fixture, { id });
    const paid = order.payments
      .filter(({ status }) => status === 'PAID')
      .reduce((sum, each) => sum + each.amountCents, 0);
    assert.equal(order.paidCents, paid);
    assert.ok(order.refundDueCents >= 0 && order.refundDueCents <= paid - order.refundedCents);
  }
}

interface Asked {
  readonly amendment: AmendmentView;
  readonly payment: PaymentView;
}

/** Asks for an amendment that is to be paid, and opens its session. */
function request(fixture: EventFixture, command: Amend): Asked {
  const { amendment, order, payment } = fixture.do(command);
  assert.ok(order !== null && payment !== null, 'a session is to be opened');
  openSession(fixture, order, payment);
  check(fixture);
  return { amendment, payment };
}

function pay(fixture: EventFixture, { payment }: Asked, more: Partial<CommandOf<'RecordPayment'>> = {}): OrderView {
  const order = recordPayment(fixture, report(payment, 'paid', more));
  check(fixture);
  return order;
}

const withdraw = (orderId: string, { id: amendmentId }: Pick<AmendmentView, 'id'>): CommandOf<'CancelAmendment'> => ({
  type: 'CancelAmendment',
  orderId,
  amendmentId,
  by: 'BUYER',
  operator: null,
});

const stateOf = ({ state }: EventFixture, seatId: string, performanceId = 'd1'): string | undefined =>
  state.performances.get(performanceId)!.inventory.seatState(seatId);

function held({ state }: EventFixture, ticketTypeId: string, performanceId = 'd1'): number {
  const offer = state.plan.offers.find((each) => each.ticketTypeId === ticketTypeId)!;
  return state.performances.get(performanceId)!.inventory.heldInPool(offer.index);
}

const placesHeld = ({ state }: EventFixture, performanceId = 'd1'): number =>
  state.performances.get(performanceId)!.inventory.totals().held;

const statusOf = (fixture: EventFixture, order: OrderView): string | undefined =>
  orderOf(fixture, order).amendments[0]?.status;

/** An order of one standing ticket that is to become the best seat. */
function dearer(fixture: EventFixture, seatId = 'H-1-4'): { readonly order: OrderView; readonly command: Amend } {
  const order = bought(fixture, [item('stand', 1)]);
  return { order, command: change(order.id, idsOf(order), { ticketTypeId: 'best', seatIds: [seatId] }) };
}

describe('An amendment that costs something', () => {
  it('is PENDING for the payment window, holds what it wants, and leaves the order as it is', () => {
    const fixture = eventOf();
    const { order, command } = dearer(fixture);
    const quote = quoted(fixture, command);
    assert.deepEqual(
      [quote.toPayCents, quote.toRefundCents, quote.totalCents, quote.remainingCents],
      [5667, 0, 9000, 0],
    );
    const { amendment, payment } = request(fixture, { ...command, quote: quote.quote });
    assert.deepEqual(
      [amendment.status, amendment.toPayCents, amendment.appliedAt, amendment.expiresAt],
      ['PENDING', 5667, null, START + 30 * MINUTE],
    );
    assert.deepEqual([payment.amountCents, payment.installment, payment.amendment?.id], [5667, 0, amendment.id]);
    const now = orderOf(fixture, order);
    assert.deepEqual([now.status, now.totalCents, now.tickets], [order.status, order.totalCents, order.tickets]);
    assert.deepEqual([now.paymentStatus, now.remainingCents, now.refundDueCents], ['COMPLETED', 0, 0]);
    assert.deepEqual([stateOf(fixture, 'H-1-4'), held(fixture, 'best'), placesHeld(fixture)], ['HELD', 1, 1]);
    assert.deepEqual(voidTicketsOf(fixture), []);
    fixture.when(place([item('seat', 1, { seatIds: ['H-1-4'] })])).refuses('SEAT_TAKEN', { seatIds: ['H-1-4'] });
    assert.equal(now.amendments[0]?.payment?.checkoutSessionId, `cs_of_${payment.id}`);
  });

  it('is applied in the turn that records its money', () => {
    const fixture = eventOf();
    const { order, command } = dearer(fixture);
    const asked = request(fixture, command);
    fixture.wait(29 * MINUTE);
    fixture.when(report(asked.payment, 'paid')).then(['PaymentRecorded', 'OrderAmended']);
    check(fixture);
    const now = orderOf(fixture, order);
    assert.deepEqual([now.status, now.totalCents, now.paidCents, now.remainingCents], ['CONFIRMED', 9000, 9000, 0]);
    assert.deepEqual([now.refundDueCents, now.paymentStatus, now.installmentsCents], [0, 'COMPLETED', [3333]]);
    const [ticket] = now.tickets;
    assert.deepEqual([ticket?.seatId, ticket?.ticketTypeId, ticket?.replaces], ['H-1-4', 'best', idsOf(order)[0]]);
    assert.deepEqual([stateOf(fixture, 'H-1-4'), held(fixture, 'best'), placesHeld(fixture)], ['SOLD', 0, 0]);
    assert.deepEqual(voidTicketsOf(fixture), idsOf(order));
    const [amendment] = now.amendments;
    assert.deepEqual([amendment?.status, amendment?.appliedAt], ['APPLIED', START + 29 * MINUTE]);
    assert.deepEqual(amendment?.payment?.redirectUrl, null);
    // The same report again, and a second sum through the same session.
    assert.equal(fixture.do(report(asked.payment, 'paid')).repeated, true);
    assert.equal(pay(fixture, asked, { amountCents: 7 }).refundDueCents, 7);
    // The next one is of the order as it is now.
    assert.equal(
      pay(fixture, request(fixture, { ...amend(order.id, []), request: renameWithFee(ticket!.id) })).totalCents,
      9250,
    );
  });

  it('stays where its payment is declined, and is paid by another try', () => {
    const fixture = eventOf();
    const { order, command } = dearer(fixture);
    const { payment } = request(fixture, command);
    recordPayment(fixture, report(payment, 'declined'));
    assert.equal(statusOf(fixture, order), 'PENDING');
    check(fixture);
    const again = fixture.do({ type: 'OpenPayment', orderId: order.id });
    assert.deepEqual([again.payment.amountCents, again.payment.installment], [5667, 0]);
    assert.notEqual(again.payment.id, payment.id);
    openSession(fixture, again.order, again.payment);
    assert.equal(fixture.do({ type: 'OpenPayment', orderId: order.id }).payment.id, again.payment.id);
    // The money of the first comes after all: the second is of no use any more.
    const now = recordPayment(fixture, report(payment, 'paid'));
    check(fixture);
    assert.deepEqual([now.totalCents, now.payments.at(-1)?.status], [9000, 'EXPIRED']);
    assert.deepEqual(
      uselessSessions(fixture.state, order.id, fixture.now).map(({ checkoutSessionId }) => checkoutSessionId),
      [`cs_of_${again.payment.id}`],
    );
    fixture.when({ type: 'OpenPayment', orderId: order.id }).refuses('ORDER_NOT_PAYABLE', { status: 'CONFIRMED' });
    assert.equal(recordPayment(fixture, report(again.payment, 'paid')).refundDueCents, 5667);
    check(fixture);
  });

  it('is refused beside another one, and where its provider is absent or busy', () => {
    const fixture = eventOf();
    const { order, command } = dearer(fixture);
    fixture.when({ ...command, absentProviders: ['provider_a'] }).refuses('PAYMENT_PROVIDER_UNAVAILABLE');
    fixture.when({ ...command, busyProviders: ['provider_a'] }).refuses('OVERLOADED');
    const { amendment } = request(fixture, command);
    for (const second of [command, amend(order.id, idsOf(order))]) {
      fixture.when(second).refuses('AMENDMENT_PENDING', { amendmentId: amendment.id });
    }
  });

  it('is answered again under its key, with its session still to be opened', () => {
    const fixture = eventOf();
    const { command } = dearer(fixture);
    const keyed = { ...command, idempotency: { key: 'k', digest: 'd' } };
    const first = fixture.do(keyed);
    const again = fixture.do(keyed);
    assert.deepEqual(
      [again.replayed, again.payment?.id, again.amendment.id],
      [true, first.payment?.id, first.amendment.id],
    );
    openSession(fixture, first.order!, first.payment!);
    const third = fixture.do(keyed);
    assert.deepEqual([third.order, third.amendment.payment?.checkoutSessionId], [null, `cs_of_${first.payment!.id}`]);
    check(fixture);
  });
});

describe('A session for an amendment that was never opened', () => {
  it('is to be opened while that is pending, however old its order is, the newest order first', () => {
    const fixture = eventOf();
    const { order, command } = dearer(fixture);
    fixture.wait(20 * 60 * MINUTE);
    const unopened = (ageMsMin = MINUTE, before: number | null = null, limit = 10) =>
      findUnopenedPayments(restore(fixture.state), { ageMsMin, limit, before }, fixture.now);
    const ids = (...asked: Parameters<typeof unopened>) => unopened(...asked).map(({ payment }) => payment.id);
    const asked = fixture.do(command).payment!;
    assert.deepEqual(ids(), [], 'the request that asked for it still opens it');
    fixture.wait(MINUTE);
    assert.deepEqual(ids(), [asked.id]);
    const started = fixture.do(buy([item('seat', 1)])).payment!;
    fixture.wait(MINUTE);
    assert.deepEqual(ids(), [started.id, asked.id]);
    const { number } = unopened()[0]!;
    assert.deepEqual([ids(MINUTE, number), ids(MINUTE, null, 1)], [[asked.id], [started.id]]);
    openSession(fixture, order, asked);
    assert.deepEqual(ids(), [started.id]);
    recordPayment(fixture, report(asked, 'declined'));
    const again = fixture.do({ type: 'OpenPayment', orderId: order.id }).payment;
    assert.deepEqual([ids(), ids(0)], [[started.id], [started.id, again.id]]);
    fixture.wait(27 * MINUTE);
    assert.deepEqual(ids(), [started.id, again.id]);
    fixture.wait(MINUTE);
    assert.deepEqual(ids(), [started.id], 'the window of the amendment is over, also before that is noted');
  });
});

const renameWithFee = (ticketId: string) => ({
  cancel: [],
  attendees: [{ ticketId, attendee: visitor('Cleo') }],
  feeCents: 250,
});

describe('A pending amendment ends', () => {
  const endings: readonly (readonly [
    string,
    string,
    (fixture: EventFixture, order: OrderView, asked: Asked) => unknown,
  ])[] = [
    ['at the end of its window', 'EXPIRED', (fixture) => fixture.wait(30 * MINUTE).settle()],
    [
      'by its buyer at the provider',
      'CANCELLED',
      (fixture, _, { payment }) => fixture.do(report(payment, 'cancelled')),
    ],
    ['by a withdrawal', 'CANCELLED', (fixture, order, { amendment }) => fixture.do(withdraw(order.id, amendment))],
    ['with its order', 'CANCELLED', (fixture, order) => fixture.do(cancelByOperator(order.id))],
    ['with the date that it wants', 'CANCELLED', (fixture) => fixture.do(cancelDate('d2'))],
    ['with the date of its order', 'CANCELLED', (fixture) => fixture.do(cancelDate('d1'))],
  ];
  const cancelDate = (performanceId: string) =>
    ({ type: 'CancelPerformance', performanceId, operator: 'olga', note: null }) as const;

  for (const [how, status, end] of endings) {
    it(`${how}: what it held is free, its session useless, and the order as it was`, () => {
      const fixture = eventOf();
      const order = bought(fixture, [item('stand', 2)]);
      const [first = ''] = idsOf(order);
      const to = { ticketTypeId: 'best', performanceId: 'd2', seatIds: ['H-1-1'] };
      const asked = request(fixture, change(order.id, [first], to));
      assert.equal(stateOf(fixture, 'H-1-1', 'd2'), 'HELD');
      end(fixture, order, asked);
      fixture.cancelOrders();
      check(fixture);
      assert.equal(statusOf(fixture, order), status);
      assert.deepEqual([stateOf(fixture, 'H-1-1', 'd2'), placesHeld(fixture, 'd2')], ['AVAILABLE', 0]);
      const now = orderOf(fixture, order);
      assert.deepEqual([now.totalCents, idsOf(now)], [order.totalCents, idsOf(order)]);
      assert.deepEqual(
        uselessSessions(fixture.state, order.id, fixture.now).map(({ checkoutSessionId }) => checkoutSessionId),
        [`cs_of_${asked.payment.id}`],
      );
      assert.notEqual(now.amendments[0]?.payment, null);
    });
  }

  it('once, and is withdrawn again only where it was withdrawn', () => {
    const fixture = eventOf();
    const { order, command } = dearer(fixture);
    const asked = request(fixture, command);
    fixture.when({ ...withdraw(order.id, asked.amendment), orderId: 'ord_1_unknown' }).refuses('ORDER_NOT_FOUND');
    fixture.when(withdraw(order.id, { id: 'amd_1_unknown' })).refuses('NOT_FOUND');
    fixture.do(withdraw(order.id, asked.amendment));
    fixture.when(withdraw(order.id, asked.amendment)).then([]);
    const next = request(fixture, command);
    fixture.wait(30 * MINUTE);
    fixture.when(withdraw(order.id, next.amendment)).refuses('AMENDMENT_NOT_PENDING', { status: 'EXPIRED' });
    assert.deepEqual(
      orderOf(fixture, order).amendments.map(({ status }) => status),
      ['EXPIRED', 'CANCELLED'],
    );
    // Its session is found after a start as well, however old the order is.
    fixture.wait(20 * 60 * MINUTE);
    const last = request(fixture, command);
    fixture.do(withdraw(order.id, last.amendment));
    fixture.wait(10 * 60 * MINUTE);
    assert.deepEqual(scanForUselessSessions(restore(fixture.state), fixture.now, null, 1).orderIds, [order.id]);
  });
});

describe('Late money for an amendment', () => {
  const late = (fixture: EventFixture, command: Amend): Asked => {
    const asked = request(fixture, command);
    fixture.wait(31 * MINUTE).settle();
    return asked;
  };

  it('brings what was asked for, where it can still be had', () => {
    const fixture = eventOf();
    const { order, command } = dearer(fixture);
    const now = pay(fixture, late(fixture, command));
    assert.deepEqual([now.totalCents, now.refundDueCents, now.amendments[0]?.status], [9000, 0, 'APPLIED']);
    assert.equal(stateOf(fixture, 'H-1-4'), 'SOLD');
    assert.deepEqual(voidTicketsOf(fixture), idsOf(order));
  });

  it('is due back where somebody has the seat', () => {
    const fixture = eventOf();
    const { order, command } = dearer(fixture);
    const asked = late(fixture, command);
    fixture.do(place([item('seat', 1, { seatIds: ['H-1-4'] })]));
    const now = pay(fixture, asked);
    assert.deepEqual([now.refundDueCents, now.totalCents, idsOf(now)], [5667, 3333, idsOf(order)]);
    assert.equal(now.amendments[0]?.status, 'EXPIRED');
  });

  it('is due back where the order was changed since, or another amendment is pending', () => {
    const fixture = eventOf();
    const { order, command } = dearer(fixture);
    const asked = late(fixture, command);
    const other = request(fixture, command);
    assert.equal(pay(fixture, asked).refundDueCents, 5667);
    fixture.do(withdraw(order.id, other.amendment));
    fixture.do(change(order.id, idsOf(order), { performanceId: 'd2' }));
    assert.equal(pay(fixture, other).refundDueCents, 2 * 5667);
    const next = late(fixture, change(order.id, idsOf(orderOf(fixture, order)), { ticketTypeId: 'seat' }));
    fixture.do(cancelByOperator(order.id));
    assert.equal(pay(fixture, next).refundDueCents, 2 * 5667 + 668 + 3333);
  });

  it('brings it although its stage has closed, as long as the date is on sale', () => {
    const fixture = eventOf();
    const order = bought(fixture, [item('stand', 1)]);
    const asked = late(fixture, change(order.id, idsOf(order), { ticketTypeId: 'best', sellingStageId: 'past' }));
    assert.equal(pay(fixture, asked).totalCents, 8000);
  });
});

describe('What is held for an amendment', () => {
  it("is only what goes beyond the order's own, where nothing else is left", () => {
    const fixture = eventOf();
    const start = buy([item('guest', 5)], { idempotency: { key: 'k', digest: 'd' } });
    const free = fixture.do(start);
    const order = orderOf(fixture, free.order);
    bought(fixture, [item('stand', 1)]);
    // The floor is sold out: its own places count as free for it.
    const { amendment, payment } = request(
      fixture,
      change(order.id, idsOf(order).slice(0, 2), { ticketTypeId: 'stand' }),
    );
    assert.deepEqual([amendment.toPayCents, held(fixture, 'stand'), placesHeld(fixture)], [6666, 2, 0]);
    const now = pay(fixture, { amendment, payment });
    assert.deepEqual([now.totalCents, now.paymentProvider, now.paymentStatus], [6666, 'provider_a', 'COMPLETED']);
    assert.deepEqual([now.payments.length, now.installmentsCents, now.paidInstallments], [1, [], 0]);
    // The start is answered again as it was.
    const again = fixture.do(start);
    assert.deepEqual([again.order.paymentProvider, again.order.totalCents, again.payment], ['FREE', 0, null]);
    fixture.when(place([item('stand', 1)])).refuses('INSUFFICIENT_TICKETS');
  });

  it('counts in quotas, says when it returns, and goes along with a new definition', () => {
    const fixture = eventOf();
    const order = bought(fixture, [item('seat', 4, { seatIds: ['H-1-1', 'H-1-2', 'H-1-3', 'H-1-4'] })]);
    const to = { ticketTypeId: 'best', seatIds: ['H-1-1', 'H-1-2', 'H-1-3', 'H-1-8'] };
    const asked = request(fixture, change(order.id, idsOf(order), to));
    // Three of its own seats stay SOLD, all four tickets are of another type.
    assert.deepEqual([held(fixture, 'best'), placesHeld(fixture), stateOf(fixture, 'H-1-2')], [4, 1, 'SOLD']);
    const more = place([item('best', 2, { seatIds: null })]);
    const refused = fixture.execute(more);
    assert.ok(isRefusal(refused) && refused.code === 'INSUFFICIENT_TICKETS');
    assert.deepEqual([refused.detail.available, refused.detail.nextReleaseAt], [1, START + 30 * MINUTE]);
    const wider = { ...types.localities[0], capacity: 60 };
    const definition = oddEvent({ ...types, localities: [wider, types.localities[1]], name: 'Wider' });
    fixture.do({ type: 'DefineEvent', definition, operator: null, note: null });
    check(fixture);
    assert.deepEqual([held(fixture, 'best'), placesHeld(fixture), stateOf(fixture, 'H-1-8')], [4, 1, 'HELD']);
    assert.equal(isRefusal(fixture.execute(more)), true);
    const now = pay(fixture, asked);
    assert.deepEqual([placesHeld(fixture), stateOf(fixture, 'H-1-4'), now.totalCents], [0, 'AVAILABLE', 36_000]);
  });

  it('is nothing but the seat where a move within a sold-out quota costs a fee', () => {
    const fixture = eventOf();
    const order = bought(fixture, [item('best', 5, { seatIds: ['H-1-1', 'H-1-2', 'H-1-3', 'H-1-4', 'H-1-5'] })]);
    const moved = change(order.id, idsOf(order).slice(4), { seatIds: ['H-1-8'] });
    const asked = request(fixture, { ...moved, request: { ...moved.request, feeCents: 300 } });
    assert.deepEqual([held(fixture, 'best'), placesHeld(fixture), stateOf(fixture, 'H-1-8')], [0, 1, 'HELD']);
    const now = pay(fixture, asked);
    assert.deepEqual([now.feesCents, now.totalCents, now.refundDueCents], [300, 45_300, 0]);
  });
});

describe('The money of an amendment', () => {
  it('stands beside installments, which stay as they are', () => {
    const fixture = eventOf({ max_installments: 3 });
    const started = checkOut(fixture, buy([item('stand', 3)], { installmentCount: 3 }));
    const order = recordPayment(fixture, report(paymentOf(started), 'paid'));
    const second = fixture.do({ type: 'OpenPayment', orderId: order.id });
    openSession(fixture, second.order, second.payment);
    const asked = request(fixture, change(order.id, idsOf(order).slice(0, 1), { ticketTypeId: 'seat' }));
    assert.equal(fixture.do({ type: 'OpenPayment', orderId: order.id }).payment.id, asked.payment.id);
    // The installment is paid meanwhile.
    recordPayment(fixture, report(second.payment, 'paid'));
    check(fixture);
    const now = pay(fixture, asked);
    assert.deepEqual(
      [now.status, now.totalCents, now.paidCents, now.remainingCents],
      ['PARTIALLY_PAID', 10_667, 7334, 3333],
    );
    assert.deepEqual([now.installmentsCents, now.paidInstallments, now.refundDueCents], [[3333, 3333, 3333], 2, 0]);
    const third = fixture.do({ type: 'OpenPayment', orderId: order.id });
    openSession(fixture, third.order, third.payment);
    const paid = recordPayment(fixture, report(third.payment, 'paid'));
    assert.deepEqual([paid.status, paid.paymentStatus, paid.remainingCents], ['CONFIRMED', 'COMPLETED', 0]);
    check(fixture);
    const ended = fixture.do(amend(order.id, idsOf(paid)));
    assert.equal(ended.amendment.toRefundCents, 10_667);
  });

  it('does not set off what is due, and is given back with the rest where the event does so by itself', () => {
    const fixture = eventOf({ refunds: 'AUTOMATIC' });
    const { order, command } = dearer(fixture);
    const asked = request(fixture, command);
    fixture.do(withdraw(order.id, asked.amendment));
    fixture.do(place([item('seat', 1, { seatIds: ['H-1-4'] })]));
    const now = pay(fixture, asked);
    assert.deepEqual(
      now.refunds.map(({ status, paymentId, amountCents }) => [status, paymentId, amountCents]),
      [['PENDING', asked.payment.id, 5667]],
    );
    const again = request(fixture, change(order.id, idsOf(order), { ticketTypeId: 'seat' }));
    const paid = pay(fixture, again);
    assert.deepEqual([paid.refundDueCents, paid.refundPendingCents, paid.totalCents], [5667, 5667, 4001]);
  });

  it('applies an amendment of an order that was erased meanwhile, without the people that it names', () => {
    const fixture = eventOf();
    const order = bought(fixture, [item('stand', 1)]);
    const asked = request(fixture, {
      ...amend(order.id, []),
      request: renameWithFee(idsOf(order)[0]!),
      note: 'phoned',
    });
    const keys = fixture.journal.flatMap(({ fact }) => (fact.type === 'AmendmentRequested' ? [fact.data] : []));
    assert.ok(keys[0]?.sealedAttendees !== undefined && keys[0].sealedNote !== undefined);
    fixture.do(erase(order.id));
    const erased = fixture.journal.at(-1)!.fact;
    assert.ok(erased.type === 'OrderErased' && erased.data.keyIds.length === 3);
    const now = pay(fixture, asked);
    assert.equal(JSON.stringify([...fixture.state.orders.inOrder]).includes(keys[0].sealedAttendees), false);
    assert.deepEqual([now.feesCents, now.personal.amended], [250, [{ sealed: null, open: null }]]);
    assert.equal(isRefusal(findOrder(fixture.state, order.id)), false);
  });
});
