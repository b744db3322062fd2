import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findOrder, findSession, findTicket, listOrders } from '#domain/orders/view.ts';
import { findUnopenedPayments } from '#domain/orders/open-sessions.ts';
import type { EventState } from '#domain/event-state.ts';
import { ORDER_PAYMENTS_MAX } from '#domain/orders/decide.ts';
import { nextWorkAt } from '#domain/deadlines.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { CommandOf } from '#domain/command.ts';
import type { OrderView, PaymentView } from '#domain/views.ts';
import {
  anna,
  buy,
  cancelByOperator,
  checkOut,
  checkoutEvent,
  item,
  openCheckoutEvent,
  openSession,
  paymentOf,
  recordPayment,
  refundNote,
  report,
  sessionOf,
} from '../fixtures/commands.ts';
import { code } from '../fixtures/definitions.ts';
import { assertSameAfterReplay, id, MINUTE, restore, START, type EventFixture } from '../fixtures/event-state.ts';

const seats = { seatIds: ['0-0', '0-1'] };

/** An order for two seats, with its first payment under way. */
function ordered(
  more = {},
  fixture = openCheckoutEvent(),
): { fixture: EventFixture; order: OrderView; payment: PaymentView } {
  const started = checkOut(fixture, buy([item('seat', 2, seats)], more));
  return { fixture, order: started.order, payment: paymentOf(started) };
}

function orderNow(fixture: EventFixture, { id: orderId }: Pick<OrderView, 'id'>): OrderView {
  const order = findOrder(fixture.state, orderId);
  assert.ok(!isRefusal(order));
  return order;
}

function openNext(fixture: EventFixture, order: OrderView): PaymentView {
  const { payment } = fixture.do({ type: 'OpenPayment', orderId: order.id });
  return payment.checkoutSessionId === null ? openSession(fixture, order, payment) : payment;
}

const stockOf = (fixture: EventFixture, date = 'd1') => fixture.state.performances.get(date)!.inventory.totals();

const holdStatus = (fixture: EventFixture, order: OrderView) => fixture.state.holds.byId.get(order.holdId)!.status;

/** The figures that payments change. */
const money = (order: OrderView) => [order.status, order.paymentStatus, order.paidCents, order.refundDueCents];

describe('A paid order', () => {
  it('is CONFIRMED, its hold CONSUMED, and its tickets are issued and sold', () => {
    const { fixture, order, payment } = ordered();
    fixture.when(report(payment, 'paid')).then(['PaymentRecorded', 'OrderPaid', 'TicketsIssued']);
    const paid = orderNow(fixture, order);
    assert.deepEqual(money(paid), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    assert.deepEqual([paid.remainingCents, paid.paidInstallments, paid.payments[0]?.paidAt], [0, 1, START]);
    assert.deepEqual(
      paid.tickets.map(({ id: ticketId, seatId }) => [ticketId, seatId]),
      [
        [id('tkt', 1), '0-0'],
        [id('tkt', 2), '0-1'],
      ],
    );
    assert.equal(holdStatus(fixture, order), 'CONSUMED');
    assert.deepEqual([stockOf(fixture).held, stockOf(fixture).sold], [0, 2]);
    fixture.wait(60 * MINUTE).settle();
    assert.equal(orderNow(fixture, order).status, 'CONFIRMED');
    assertSameAfterReplay(fixture);
  });

  it('counts a repeated report once, by its webhook id or by its amount', () => {
    const { fixture, order, payment } = ordered();
    const paid = report(payment, 'paid', { webhookId: 'msg_1', paymentId: 'pi_1' });
    recordPayment(fixture, paid);
    fixture.when(paid).then([]);
    fixture.when({ ...paid, webhookId: 'msg_2', paymentId: null }).then([]);
    assert.equal(fixture.do(paid).repeated, true);
    assert.equal(orderNow(fixture, order).paidCents, 5198);
  });

  it('is found by the session, and by the payment when the session is not known yet', () => {
    const fixture = openCheckoutEvent();
    const started = fixture.do(buy([item('adult', 1)]));
    const payment = paymentOf(started);
    const paid = recordPayment(fixture, report(payment, 'paid', { checkoutSessionId: null, paymentId: payment.id }));
    assert.equal(paid.status, 'CONFIRMED');
    assert.equal(openSession(fixture, started.order, payment).status, 'PAID');
    assert.equal(findSession(fixture.state, sessionOf(payment))?.order.id, started.order.id);
    assertSameAfterReplay(fixture);
  });

  it('is not changed by the end of a session that was paid', () => {
    const { fixture, payment } = ordered();
    recordPayment(fixture, report(payment, 'paid'));
    for (const outcome of ['declined', 'cancelled', 'expired'] as const)
      fixture.when(report(payment, outcome)).then([]);
  });
});

describe('A report', () => {
  it('of an unknown session changes nothing', () => {
    const { fixture, payment } = ordered();
    const unknown = report(payment, 'paid', { checkoutSessionId: 'cs_nobody' });
    fixture.when(unknown).then([]);
    assert.deepEqual([fixture.do(unknown).order, fixture.do(unknown).repeated], [null, false]);
    assert.equal(findSession(fixture.state, 'cs_nobody'), null);
  });

  it('of another amount or currency is recorded, due back, and leaves the order as it was', () => {
    const { fixture, order, payment } = ordered();
    fixture.when(report(payment, 'paid', { amountCents: 5197, webhookId: 'msg_1' })).then(['StrayMoneyRecorded']);
    fixture.when(report(payment, 'paid', { amountCents: 5197, webhookId: 'msg_1' })).then([]);
    assert.deepEqual(money(orderNow(fixture, order)), ['PENDING', 'PENDING', 5197, 5197]);
    assert.equal(orderNow(fixture, order).remainingCents, 5198);
    recordPayment(fixture, report(payment, 'paid', { currency: 'USD', webhookId: 'msg_2' }));
    const paid = recordPayment(fixture, report(payment, 'paid', { webhookId: 'msg_3' }));
    assert.deepEqual(money(paid), ['CONFIRMED', 'COMPLETED', 5197 + 5198, 5197], 'dollars are never added to euros');
    assert.deepEqual(paid.refundsDue, [
      { amountCents: 5197, currency: 'EUR' },
      { amountCents: 5198, currency: 'USD' },
    ]);
    fixture.when(refundNote(order.id, 5199, { currency: 'USD' })).refuses('REFUND_TOO_HIGH', {
      refundable: 5198,
      requested: 5199,
    });
    const given = fixture.do(refundNote(order.id, 5000, { currency: 'USD' })).order;
    assert.deepEqual(money(given), money(paid));
    assert.deepEqual(given.refundsDue, [
      { amountCents: 5197, currency: 'EUR' },
      { amountCents: 198, currency: 'USD' },
    ]);
    assert.deepEqual(
      paid.payments.map(({ amountCents, currency, status }) => [amountCents, currency, status]),
      [
        [5198, 'EUR', 'PAID'],
        [5197, 'EUR', 'PAID'],
        [5198, 'USD', 'PAID'],
      ],
    );
    assertSameAfterReplay(fixture);
  });

  it("of another provider than the order's changes nothing", () => {
    const { fixture, order, payment } = ordered();
    for (const outcome of ['paid', 'declined', 'cancelled', 'expired'] as const) {
      fixture.when(report(payment, outcome, { provider: 'provider_b' })).then([]);
      const named = { checkoutSessionId: null, paymentId: payment.id, provider: 'provider_b' } as const;
      fixture.when(report(payment, outcome, named)).then([]);
    }
    assert.equal(fixture.do(report(payment, 'paid', { provider: 'provider_b' })).order, null);
    assert.equal(orderNow(fixture, order).status, 'PENDING');
    recordPayment(fixture, report(payment, 'paid'));
    fixture
      .when(refundNote(order.id, 100, { provider: 'provider_b', reference: 're_1' }))
      .refuses('ORDER_NOT_FOUND', {});
  });

  it('of an impossible amount is refused', () => {
    const { fixture, payment } = ordered();
    for (const amountCents of [-1, 0.5, 1e15]) {
      fixture.when(report(payment, 'paid', { amountCents })).refuses('VALIDATION_ERROR');
    }
  });
});

describe('A declined payment', () => {
  it('leaves the order PENDING and its payment FAILED until a new one is opened', () => {
    const { fixture, order, payment } = ordered();
    fixture.when(report(payment, 'declined')).then(['PaymentClosed']);
    assert.deepEqual(money(orderNow(fixture, order)), ['PENDING', 'FAILED', 0, 0]);
    const next = openNext(fixture, order);
    assert.deepEqual([next.installment, next.amountCents, next.status], [1, 5198, 'OPEN']);
    assert.deepEqual(money(orderNow(fixture, order)), ['PENDING', 'PENDING', 0, 0]);
    assert.deepEqual(money(recordPayment(fixture, report(next, 'paid'))), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    assertSameAfterReplay(fixture);
  });

  it('does not move the end of the window', () => {
    const { fixture, order, payment } = ordered();
    recordPayment(fixture, report(payment, 'declined'));
    fixture
      .wait(30 * MINUTE)
      .when({ type: 'OpenPayment', orderId: order.id })
      .refuses('ORDER_NOT_PAYABLE', { status: 'EXPIRED' });
    assert.deepEqual(money(orderNow(fixture, order)), ['EXPIRED', 'FAILED', 0, 0]);
  });

  it('may still be paid; then the newer payment is due back', () => {
    const { fixture, order, payment } = ordered();
    recordPayment(fixture, report(payment, 'declined'));
    const next = openNext(fixture, order);
    assert.deepEqual(money(recordPayment(fixture, report(payment, 'paid'))), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    fixture.when(report(next, 'paid')).then(['PaymentRecorded']);
    assert.deepEqual(money(orderNow(fixture, order)), ['CONFIRMED', 'COMPLETED', 10396, 5198]);
    assertSameAfterReplay(fixture);
  });
});

describe('A payment', () => {
  it('is not opened while another one is open', () => {
    const fixture = openCheckoutEvent();
    const { order, payment } = fixture.do(buy([item('adult', 1)]));
    const open = { type: 'OpenPayment', orderId: order.id } as const;
    fixture.when(open).then([]);
    assert.equal(fixture.do(open).payment.id, payment?.id);
    openSession(fixture, order, paymentOf({ payment }));
    assert.equal(fixture.do(open).payment.redirectUrl, `https://pay.example/${payment?.id}`);
  });

  it("is opened anew once the provider's session has ended", () => {
    const fixture = openCheckoutEvent();
    const { order, payment } = fixture.do(buy([item('adult', 1)]));
    const session = { checkoutSessionId: 'cs_short', redirectUrl: 'https://pay.example', expiresAt: START + MINUTE };
    fixture.do({ type: 'RecordCheckoutSession', orderId: order.id, paymentId: paymentOf({ payment }).id, ...session });
    fixture.wait(MINUTE).when({ type: 'OpenPayment', orderId: order.id }).then(['PaymentClosed', 'PaymentRequested']);
    assert.deepEqual(
      orderNow(fixture, order).payments.map(({ status }) => status),
      ['EXPIRED', 'REQUESTED'],
    );
  });

  it('keeps the first session that was opened for it', () => {
    const { fixture, order, payment } = ordered();
    const other = { checkoutSessionId: 'cs_other', redirectUrl: 'https://other.example', expiresAt: null };
    const command = { type: 'RecordCheckoutSession', orderId: order.id, paymentId: payment.id, ...other } as const;
    fixture.when(command).then([]);
    assert.equal(fixture.do(command).payment.checkoutSessionId, sessionOf(payment));
    fixture.when({ ...command, paymentId: id('pay', 9) }).refuses('ORDER_NOT_FOUND', {});
    fixture.when({ ...command, orderId: id('ord', 9) }).refuses('ORDER_NOT_FOUND', {});
  });

  it('is refused when nothing is left to pay, the order is over, or there were too many', () => {
    const { fixture, order, payment } = ordered();
    const open = { type: 'OpenPayment', orderId: order.id } as const;
    fixture.when({ ...open, orderId: id('ord', 9) }).refuses('ORDER_NOT_FOUND', {});
    recordPayment(fixture, report(payment, 'paid'));
    fixture.when(open).refuses('ORDER_NOT_PAYABLE', { status: 'CONFIRMED' });
    fixture.do(cancelByOperator(order.id));
    fixture.when(open).refuses('ORDER_NOT_PAYABLE', { status: 'CANCELLED' });
    const other = checkOut(fixture, buy([item('adult', 1)])).order;
    for (let tries = 1; tries <= ORDER_PAYMENTS_MAX; tries += 1) {
      const { payments } = orderNow(fixture, other);
      recordPayment(fixture, report(payments.at(-1)!, 'declined'));
      if (tries < ORDER_PAYMENTS_MAX) openNext(fixture, other);
    }
    fixture.when({ ...open, orderId: other.id }).refuses('ORDER_NOT_PAYABLE', { status: 'PENDING' });
  });
});

describe('An order without a session', () => {
  it('is found while its window is open, the newest first, also in a restored state', () => {
    const fixture = openCheckoutEvent();
    const startOnly = (): string => fixture.do(buy([item('seat', 1)])).order.id;
    const [first, second] = [startOnly(), startOnly()];
    ordered({}, fixture);
    fixture.wait(MINUTE);
    const third = startOnly();
    const foundIn = (state: EventState, ageMsMin: number, limit = 10) =>
      findUnopenedPayments(state, { ageMsMin, limit }, fixture.now).map(({ order }) => order.id);
    for (const state of [fixture.state, restore(fixture.state)]) {
      assert.deepEqual(foundIn(state, 0), [third, second, first]);
      assert.deepEqual(foundIn(state, 0, 2), [third, second]);
      assert.deepEqual(foundIn(state, MINUTE), [second, first]);
    }
    openSession(fixture, orderNow(fixture, { id: second }), orderNow(fixture, { id: second }).payments[0]!);
    assert.deepEqual(foundIn(fixture.state, MINUTE), [first]);
    fixture.wait(fixture.state.plan.paymentWindowMs - MINUTE);
    assert.deepEqual(foundIn(fixture.state, 0), [third]);
  });
});

describe('Installments', () => {
  it('are paid one after the other; the first sells the tickets', () => {
    const { fixture, order, payment } = ordered({ installmentCount: 3 });
    fixture.when(report(payment, 'paid')).then(['PaymentRecorded', 'OrderPaid', 'TicketsIssued']);
    const partly = orderNow(fixture, order);
    assert.deepEqual(money(partly), ['PARTIALLY_PAID', 'PENDING', 1733, 0]);
    assert.deepEqual([partly.remainingCents, partly.paidInstallments, partly.tickets.length], [3465, 1, 2]);
    assert.equal(holdStatus(fixture, order), 'CONSUMED');
    fixture.wait(24 * 60 * MINUTE).settle();
    const second = openNext(fixture, order);
    fixture.when(report(second, 'paid')).then(['PaymentRecorded', 'OrderPaid']);
    const third = openNext(fixture, order);
    assert.deepEqual([second.installment, third.installment, third.amountCents], [2, 3, 1732]);
    assert.deepEqual(money(recordPayment(fixture, report(third, 'paid'))), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    assertSameAfterReplay(fixture);
  });

  it('after the first may be declined or cancelled; the order keeps its status', () => {
    const { fixture, order, payment } = ordered({ installmentCount: 2 });
    recordPayment(fixture, report(payment, 'paid'));
    for (const outcome of ['declined', 'cancelled', 'expired'] as const) {
      fixture.when(report(openNext(fixture, order), outcome)).then(['PaymentClosed']);
      assert.deepEqual(money(orderNow(fixture, order)), ['PARTIALLY_PAID', 'PENDING', 2599, 0]);
    }
  });

  it('are never of amount 0', () => {
    const prices = [{ ...checkoutEvent().sellingStages[0]!, prices: { adult: 2 } }];
    const types = checkoutEvent().ticketTypes.slice(0, 1);
    const fixture = openCheckoutEvent({ sellingStages: prices, ticketTypes: types });
    assert.deepEqual(fixture.do(buy([item('adult', 1)], { installmentCount: 3 })).order.installmentsCents, [1, 1]);
  });
});

describe('An order ends', () => {
  it('EXPIRED with its window: hold and stock, codes and perks return', () => {
    const { fixture, order, payment } = ordered({ promoCode: 'ONCE' });
    fixture.wait(30 * MINUTE - 1).settle();
    assert.equal(orderNow(fixture, order).status, 'PENDING');
    fixture.wait(1).settle();
    assert.deepEqual(money(orderNow(fixture, order)), ['EXPIRED', 'PENDING', 0, 0]);
    assert.deepEqual([holdStatus(fixture, order), stockOf(fixture).held], ['EXPIRED', 0]);
    assert.equal(fixture.state.orders.usesByCode.size + fixture.state.orders.ticketsByBuyer.size, 0);
    assert.equal(orderNow(fixture, order).payments[0]?.status, 'EXPIRED');
    fixture.when(report(payment, 'cancelled')).then([]);
    assertSameAfterReplay(fixture);
  });

  it('CANCELLED when the buyer cancels at the provider', () => {
    const { fixture, order, payment } = ordered();
    fixture.when(report(payment, 'cancelled')).then(['OrderCancelled']);
    assert.deepEqual(money(orderNow(fixture, order)), ['CANCELLED', 'PENDING', 0, 0]);
    assert.deepEqual([holdStatus(fixture, order), stockOf(fixture).held], ['RELEASED', 0]);
    fixture.when(cancelByOperator(order.id)).refuses('ORDER_NOT_CANCELLABLE', { status: 'CANCELLED' });
  });

  it('not when a session is cancelled that was closed before', () => {
    const { fixture, order, payment } = ordered();
    recordPayment(fixture, report(payment, 'declined'));
    openNext(fixture, order);
    fixture.when(report(payment, 'cancelled')).then([]);
    assert.equal(orderNow(fixture, order).status, 'PENDING');
  });

  it('CANCELLED by the operator: tickets are void and on sale again, a refund is due', () => {
    const { fixture, order, payment } = ordered();
    recordPayment(fixture, report(payment, 'paid'));
    assert.equal(findTicket(fixture.state, id('tkt', 1))?.ticket.isValid, true);
    fixture.when(cancelByOperator(order.id)).then(['OrderCancelled']);
    fixture.when(cancelByOperator(order.id)).then([]);
    assert.deepEqual(money(orderNow(fixture, order)), ['CANCELLED', 'COMPLETED', 5198, 5198]);
    assert.deepEqual([holdStatus(fixture, order), stockOf(fixture).sold], ['RELEASED', 0]);
    const ticket = findTicket(fixture.state, id('tkt', 2));
    assert.deepEqual(
      [ticket?.ticket.isValid, ticket?.voidReason, ticket?.ticket.seatId],
      [false, 'ORDER_CANCELLED', '0-1'],
    );
    fixture.when(cancelByOperator(id('ord', 9))).refuses('ORDER_NOT_FOUND', {});
    fixture.when(buy([item('seat', 2, seats)])).then(['HoldPlaced', 'OrderPlaced']);
    assertSameAfterReplay(fixture);
  });

  it('CANCELLED whole with any of its performances, whatever its status', () => {
    const fixture = openCheckoutEvent();
    const both = [item('adult', 1), item('adult', 2, { performanceId: 'd2' })];
    const started = ['paid', 'partly', 'pending', 'free'].map((what) => {
      const count = what === 'partly' ? 2 : 1;
      const step = checkOut(fixture, buy(both, { installmentCount: count, promoCode: what === 'free' ? 'ALL' : null }));
      if (what === 'paid' || what === 'partly') recordPayment(fixture, report(paymentOf(step), 'paid'));
      return step;
    });
    const elsewhere = checkOut(fixture, buy([item('adult', 1)])).order;
    const cancel = { type: 'CancelPerformance', performanceId: 'd2', operator: 'olga', note: 'storm' } as const;
    assert.equal(fixture.do(cancel).cancelledOrders, 4);
    fixture.cancelOrders();
    assert.deepEqual(
      started.map(({ order }) =>
        money(orderNow(fixture, order)).slice(0, 1).concat(orderNow(fixture, order).refundDueCents),
      ),
      [
        ['CANCELLED', 3000],
        ['CANCELLED', 1500],
        ['CANCELLED', 0],
        ['CANCELLED', 0],
      ],
    );
    assert.equal(orderNow(fixture, elsewhere).status, 'PENDING');
    assert.deepEqual([stockOf(fixture).held, stockOf(fixture).sold, stockOf(fixture, 'd2').sold], [1, 0, 0]);
    assert.equal(findTicket(fixture.state, id('tkt', 1))?.voidReason, 'PERFORMANCE_CANCELLED');
    const late = recordPayment(fixture, report(paymentOf(started[2]!), 'paid'));
    assert.deepEqual(money(late), ['CANCELLED', 'PENDING', 3000, 3000]);
    assertSameAfterReplay(fixture);
  });

  it('CANCELLED by one of several turns after its performance, also where it is paid between two of them', () => {
    const fixture = openCheckoutEvent();
    const started = [1, 2, 3, 4].map(() => checkOut(fixture, buy([item('adult', 1, { performanceId: 'd2' })])));
    fixture.do({ type: 'CancelPerformance', performanceId: 'd2', operator: 'olga', note: 'storm' });
    assert.equal(nextWorkAt(fixture.state), 0);
    fixture.when({ type: 'CancelNextOrders', after: null, limit: 2 }).then(['OrderCancelled', 'OrderCancelled']);
    assertSameAfterReplay(fixture);
    fixture.when(report(paymentOf(started[0]!), 'paid')).then(['PaymentRecorded']);
    recordPayment(fixture, report(paymentOf(started[2]!), 'paid'));
    fixture.when(report(paymentOf(started[3]!), 'cancelled')).then(['OrderCancelled']);
    fixture
      .wait(60 * MINUTE)
      .when({ type: 'CancelNextOrders', after: 1, limit: 2 })
      .then(['OrderCancelled']);
    assert.deepEqual(
      started
        .map(({ order }) => orderNow(fixture, order))
        .map(({ status, refundDueCents }) => [status, refundDueCents]),
      [
        ['CANCELLED', 1000],
        ['CANCELLED', 0],
        ['CANCELLED', 1000],
        ['CANCELLED', 0],
      ],
    );
    assert.equal(nextWorkAt(fixture.state), null);
    fixture.when(report(paymentOf(started[3]!), 'paid')).then(['PaymentRecorded']);
    assert.equal(orderNow(fixture, started[3]!.order).status, 'CANCELLED');
    fixture.when({ type: 'CancelNextOrders', after: null, limit: 2 }).then([]);
    assertSameAfterReplay(fixture);
  });

  it('once, when a definition cancels several of its performances', () => {
    const fixture = openCheckoutEvent();
    const order = checkOut(fixture, buy([item('adult', 1), item('adult', 1, { performanceId: 'd2' })])).order;
    fixture.do({
      type: 'PlaceHold',
      sessionKey: 'session-1',
      items: [item('guest', 1), item('guest', 1, { performanceId: 'd2' })],
      queuePass: null,
      idempotency: null,
    });
    const performances = checkoutEvent().performances.map((date) => ({ ...date, status: 'CANCELLED' as const }));
    fixture.do({ type: 'DefineEvent', definition: checkoutEvent({ performances }), operator: null, note: null });
    fixture.cancelOrders();
    assert.equal(orderNow(fixture, order).status, 'CANCELLED');
    assert.deepEqual([stockOf(fixture).held, stockOf(fixture, 'd2').held], [0, 0]);
    assertSameAfterReplay(fixture);
  });
});

describe('Late money', () => {
  const ends: readonly (readonly [string, (fixture: EventFixture, payment: PaymentView) => void])[] = [
    ['the window ran out', (fixture) => fixture.wait(30 * MINUTE).settle()],
    ['the buyer cancelled', (fixture, payment) => void recordPayment(fixture, report(payment, 'cancelled'))],
  ];
  for (const [after, end] of ends) {
    it(`after ${after} takes the same seats again and confirms the order`, () => {
      const { fixture, order, payment } = ordered({ promoCode: 'ONCE' });
      end(fixture, payment);
      fixture.when(report(payment, 'paid')).then(['PaymentRecorded', 'OrderPaid', 'TicketsIssued']);
      assert.deepEqual(money(orderNow(fixture, order)), ['CONFIRMED', 'COMPLETED', 2599, 0]);
      assert.deepEqual([holdStatus(fixture, order), stockOf(fixture).sold], ['CONSUMED', 2]);
      assert.equal(fixture.state.orders.usesByCode.get('once'), 1);
      assert.equal(orderNow(fixture, order).cancellation, null);
      assertSameAfterReplay(fixture);
    });

    it(`after ${after} is due back when a seat is gone, also once it is free again`, () => {
      const { fixture, order, payment } = ordered();
      end(fixture, payment);
      const other = checkOut(fixture, buy([item('seat', 1, { seatIds: ['0-1'] })]));
      fixture.when(report(payment, 'paid')).then(['PaymentRecorded']);
      const { status } = orderNow(fixture, order);
      assert.ok(status === 'EXPIRED' || status === 'CANCELLED');
      assert.deepEqual(orderNow(fixture, order).refundDueCents, 5198);
      assert.equal(stockOf(fixture).held, 1);
      fixture.do(cancelByOperator(other.order.id));
      fixture.when(report(payment, 'paid')).then([]);
      assertSameAfterReplay(fixture);
    });
  }

  it('of the first of several installments makes the order PARTIALLY_PAID', () => {
    const { fixture, order, payment } = ordered({ installmentCount: 2 });
    fixture.wait(30 * MINUTE);
    assert.deepEqual(money(recordPayment(fixture, report(payment, 'paid'))), ['PARTIALLY_PAID', 'PENDING', 2599, 0]);
    assert.deepEqual(money(recordPayment(fixture, report(openNext(fixture, order), 'paid'))), [
      'CONFIRMED',
      'COMPLETED',
      5198,
      0,
    ]);
  });

  it('is due back when a code or a perk has been used up', () => {
    const fixture = openCheckoutEvent();
    const perk = { barPerks: [{ barPerkId: 'beer', quantity: 4 }] };
    const coded = checkOut(fixture, buy([item('adult', 2)], { promoCode: 'ONCE' }));
    const perked = checkOut(fixture, buy([item('adult', 2, perk)]));
    fixture.wait(30 * MINUTE);
    checkOut(fixture, buy([item('adult', 1)], { promoCode: 'ONCE' }));
    checkOut(fixture, buy([item('adult', 1, { barPerks: [{ barPerkId: 'beer', quantity: 2 }] })]));
    for (const late of [coded, perked]) {
      const order = recordPayment(fixture, report(paymentOf(late), 'paid'));
      assert.deepEqual(money(order), ['EXPIRED', 'PENDING', order.totalCents, order.totalCents]);
    }
  });

  it("is due back when other orders have used the address's limit, and pays while they have not", () => {
    const fixture = openCheckoutEvent({ maxTicketsPerEmail: 3 });
    const customer = { ...anna, email: 'anna@example.org' };
    const [first, second] = [1, 1].map((quantity) => checkOut(fixture, buy([item('adult', quantity)], { customer })));
    fixture.wait(30 * MINUTE);
    checkOut(fixture, buy([item('adult', 2)], { customer: { ...anna, email: 'ANNA+again@example.org' } }));
    assert.equal(recordPayment(fixture, report(paymentOf(first!), 'paid')).status, 'CONFIRMED');
    const late = recordPayment(fixture, report(paymentOf(second!), 'paid'));
    assert.deepEqual(money(late), ['EXPIRED', 'PENDING', late.totalCents, late.totalCents]);
    assertSameAfterReplay(fixture);
  });

  it('is due back when the performance is over or closed, but pays when only its stage or code is', () => {
    const { fixture, payment } = ordered({ promoCode: 'TENTH' });
    const second = checkOut(fixture, buy([item('adult', 1, { performanceId: 'd2' })]));
    fixture.wait(30 * MINUTE);
    const { sellingStages, performances } = checkoutEvent();
    const definition = checkoutEvent({
      sellingStages: sellingStages.map((stage) => ({ ...stage, endsAt: START + MINUTE })),
      promoCodes: [code('TENTH', { percentOff: 10, endsAt: START + MINUTE })],
      performances: performances.map((date) => (date.id === 'd2' ? { ...date, status: 'SOLD_OUT' } : date)),
    });
    fixture.do({ type: 'DefineEvent', definition, operator: null, note: null });
    assert.equal(recordPayment(fixture, report(payment, 'paid')).status, 'CONFIRMED');
    assert.equal(recordPayment(fixture, report(paymentOf(second), 'paid')).status, 'EXPIRED');
  });

  it("is due back when the order's type was taken off the event meanwhile", () => {
    const { fixture, payment } = ordered();
    fixture.wait(30 * MINUTE);
    const { ticketTypes, sellingStages, localities } = checkoutEvent();
    const definition = checkoutEvent({
      ticketTypes: ticketTypes.filter((type) => type.id !== 'seat'),
      sellingStages: sellingStages.map((stage) => ({ ...stage, prices: { adult: 1000 } })),
      localities: localities.slice(0, 1),
      promoCodes: [],
    });
    fixture.do({ type: 'DefineEvent', definition, operator: null, note: null });
    const order = recordPayment(fixture, report(payment, 'paid'));
    assert.deepEqual(money(order), ['EXPIRED', 'PENDING', 5198, 5198]);
    assertSameAfterReplay(fixture);
  });

  it('never confirms an order that the operator cancelled', () => {
    const { fixture, order, payment } = ordered();
    fixture.do(cancelByOperator(order.id));
    fixture.when(report(payment, 'paid')).then(['PaymentRecorded']);
    assert.deepEqual(orderNow(fixture, order).refundDueCents, 5198);
  });
});

describe('A refund', () => {
  const refund = (order: OrderView, amountCents: number, more: Partial<CommandOf<'RecordRefund'>> = {}) =>
    refundNote(order.id, amountCents, more);

  it('lowers what is due and is never more than was paid', () => {
    const { fixture, order, payment } = ordered();
    fixture.when(refund(order, 1)).refuses('REFUND_TOO_HIGH', { refundable: 0, requested: 1 });
    recordPayment(fixture, report(payment, 'paid'));
    fixture.do(cancelByOperator(order.id));
    fixture.when(refund(order, 5199)).refuses('REFUND_TOO_HIGH', { refundable: 5198, requested: 5199 });
    const partly = fixture.do(refund(order, 5000)).order;
    assert.deepEqual([partly.refundDueCents, partly.refundedCents, partly.paidCents], [198, 5000, 5198]);
    assert.deepEqual(fixture.sealing.refundsOf(partly), [
      { id: id('ref', 1), amountCents: 5000, operator: 'olga', note: 'cash', at: START },
    ]);
    fixture.when(refund(order, 199)).refuses('REFUND_TOO_HIGH', { refundable: 198, requested: 199 });
    assert.equal(fixture.do(refund(order, 198)).order.refundDueCents, 0);
    fixture.when(refund({ ...order, id: id('ord', 9) }, 1)).refuses('ORDER_NOT_FOUND', {});
    assertSameAfterReplay(fixture);
  });

  it('with the same reference counts once', () => {
    const { fixture, order, payment } = ordered();
    recordPayment(fixture, report(payment, 'paid'));
    fixture.do(refund(order, 1000, { reference: 're_1' }));
    fixture.when(refund(order, 1000, { reference: 're_1' })).then([]);
    fixture.when(refund(order, 1000, { reference: ' re_1 ' })).then([]);
    fixture.when(refund(order, 700, { reference: 're_1', provider: 'provider_a' })).then([]);
    assert.equal(fixture.do(refund(order, 1000, { reference: 're_1' })).repeated, true);
    assert.equal(fixture.do(refund(order, 1000, { reference: 're_2' })).order.refundedCents, 2000);
    assertSameAfterReplay(fixture);
  });

  it('that an operator noted and the provider reports is one, in whichever order they come', () => {
    const reported = { operator: null, note: null, provider: 'provider_a' } as const;
    for (const noteFirst of [true, false]) {
      const { fixture, order, payment } = ordered();
      recordPayment(fixture, report(payment, 'paid'));
      const note = refund(order, 1000);
      const provided = refund(order, 1000, { ...reported, reference: 're_1' });
      fixture.do(noteFirst ? note : provided);
      const matched = fixture.do(noteFirst ? provided : note).order;
      assert.equal(matched.refundedCents, 1000);
      assert.deepEqual(fixture.sealing.refundsOf(matched), [
        {
          id: id('ref', 1),
          amountCents: 1000,
          operator: 'olga',
          note: 'cash',
          at: START,
          reference: 're_1',
          provider: 'provider_a',
          isMatched: true,
        },
      ]);
      fixture.when(provided).then([]);
      assert.equal(fixture.do(note).order.refundedCents, 2000, 'a second note is a second refund');
      assert.equal(fixture.do(refund(order, 500, { ...reported, reference: 're_2' })).order.refundedCents, 2500);
      assert.equal(fixture.do(refund(order, 500, { reference: 'in cash' })).order.refundedCents, 3000);
      assertSameAfterReplay(fixture);
    }
  });

  it('that was not due is not due again when the order is cancelled', () => {
    const { fixture, order, payment } = ordered();
    recordPayment(fixture, report(payment, 'paid'));
    assert.deepEqual(money(fixture.do(refund(order, 1000)).order), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    fixture.do(cancelByOperator(order.id));
    assert.equal(orderNow(fixture, order).refundDueCents, 4198);
  });
});

describe('The list of orders', () => {
  it('continues after an order, and filters by status or address', () => {
    const fixture = openCheckoutEvent();
    const as = (email: string) => ({ customer: { email, name: 'X', documentNumber: null, phone: null } });
    for (let n = 0; n < 3; n += 1) checkOut(fixture, buy([item('guest', 1)], as(`anna+${n}@example.org`)));
    checkOut(fixture, buy([item('adult', 1)], as('bo@example.org')));
    type Wanted = Parameters<typeof listOrders>[1];
    const all: Wanted = { status: null, email: null, after: null, limit: 10 };
    const numbers = (wanted: Partial<Wanted>) => {
      const { orders, nextAfter } = listOrders(fixture.state, { ...all, ...wanted }, fixture.sealing.sealing);
      return [orders.map((order) => Number(order.id.slice(-2))), nextAfter];
    };
    assert.deepEqual(numbers({}), [[1, 2, 3, 4], null]);
    assert.deepEqual(numbers({ limit: 2 }), [[1, 2], id('ord', 2)]);
    assert.deepEqual(numbers({ limit: 2, after: id('ord', 2) }), [[3, 4], null]);
    assert.deepEqual(numbers({ status: 'PENDING' }), [[4], null]);
    assert.deepEqual(numbers({ email: 'Anna@example.org', limit: 3 }), [[1, 2, 3], null]);
    assert.equal(findTicket(fixture.state, id('tkt', 9)), null);
  });
});
