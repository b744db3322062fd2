import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findOrder, findSession, findTicket, listOrders } from '#domain/order-views.ts';
import { ORDER_PAYMENTS_MAX } from '#domain/payments.ts';
import { totals } from '#domain/inventory.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { CommandOf } from '#domain/command.ts';
import type { OrderView, PaymentView } from '#domain/views.ts';
import { assertSameAfterReplay, id, MINUTE, type Desk } from './office.ts';
import {
  anna,
  buy,
  cancelByOperator,
  checkOut,
  code,
  item,
  openSession,
  openShop,
  paymentOf,
  report,
  sessionOf,
  shopEvent,
  START,
  refundNote,
  tell,
} from './shop.ts';

const seats = { seatIds: ['0-0', '0-1'] };

/** An order for two seats, with its first payment under way. */
function ordered(more = {}, desk = openShop()): { desk: Desk; order: OrderView; payment: PaymentView } {
  const started = checkOut(desk, buy([item('seat', 2, seats)], more));
  return { desk, order: started.order, payment: paymentOf(started) };
}

function orderNow(desk: Desk, { id: orderId }: OrderView): OrderView {
  const order = findOrder(desk.office, orderId);
  assert.ok(!isRefusal(order));
  return order;
}

function openNext(desk: Desk, order: OrderView): PaymentView {
  const { payment } = desk.do({ type: 'OpenPayment', orderId: order.id });
  return payment.checkoutSessionId === null ? openSession(desk, order, payment) : payment;
}

const stockOf = (desk: Desk, date = 'd1') => totals(desk.office.dates.get(date)!.inventory);

const holdStatus = (desk: Desk, order: OrderView) => desk.office.holds.byId.get(order.holdId)!.status;

/** The figures that move with money. */
const money = (order: OrderView) => [order.status, order.paymentStatus, order.paidCents, order.refundDueCents];

describe('A paid order', () => {
  it('is CONFIRMED, its hold CONSUMED, and its tickets are issued and sold', () => {
    const { desk, order, payment } = ordered();
    desk.when(report(payment, 'paid')).then(['PaymentRecorded', 'OrderPaid', 'TicketsIssued']);
    const paid = orderNow(desk, order);
    assert.deepEqual(money(paid), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    assert.deepEqual([paid.remainingCents, paid.paidInstallments, paid.payments[0]?.paidAt], [0, 1, START]);
    assert.deepEqual(
      paid.tickets.map(({ id: ticketId, seatId }) => [ticketId, seatId]),
      [
        [id('tkt', 1), '0-0'],
        [id('tkt', 2), '0-1'],
      ],
    );
    assert.equal(holdStatus(desk, order), 'CONSUMED');
    assert.deepEqual([stockOf(desk).held, stockOf(desk).sold], [0, 2]);
    desk.wait(60 * MINUTE).settle();
    assert.equal(orderNow(desk, order).status, 'CONFIRMED');
    assertSameAfterReplay(desk);
  });

  it('counts a report that comes again once, by its webhook id or by its sum', () => {
    const { desk, order, payment } = ordered();
    const paid = report(payment, 'paid', { webhookId: 'msg_1', paymentId: 'pi_1' });
    tell(desk, paid);
    desk.when(paid).then([]);
    desk.when({ ...paid, webhookId: 'msg_2', paymentId: null }).then([]);
    assert.equal(desk.do(paid).repeated, true);
    assert.equal(orderNow(desk, order).paidCents, 5198);
  });

  it('is found by the session, and by the payment when the session is not known yet', () => {
    const desk = openShop();
    const started = desk.do(buy([item('adult', 1)]));
    const payment = paymentOf(started);
    const paid = tell(desk, report(payment, 'paid', { checkoutSessionId: null, paymentId: payment.id }));
    assert.equal(paid.status, 'CONFIRMED');
    assert.equal(openSession(desk, started.order, payment).status, 'PAID');
    assert.equal(findSession(desk.office, sessionOf(payment))?.order.id, started.order.id);
    assertSameAfterReplay(desk);
  });

  it('does not care for the end of a session that was paid', () => {
    const { desk, payment } = ordered();
    tell(desk, report(payment, 'paid'));
    for (const outcome of ['declined', 'cancelled', 'expired'] as const) desk.when(report(payment, outcome)).then([]);
  });
});

describe('A report', () => {
  it('of a session that nobody knows changes nothing', () => {
    const { desk, payment } = ordered();
    const unknown = report(payment, 'paid', { checkoutSessionId: 'cs_nobody' });
    desk.when(unknown).then([]);
    assert.deepEqual([desk.do(unknown).order, desk.do(unknown).repeated], [null, false]);
    assert.equal(findSession(desk.office, 'cs_nobody'), null);
  });

  it('of another amount or currency is recorded, due back, and leaves the order as it was', () => {
    const { desk, order, payment } = ordered();
    desk.when(report(payment, 'paid', { amountCents: 5197, webhookId: 'msg_1' })).then(['StrayMoneyRecorded']);
    desk.when(report(payment, 'paid', { amountCents: 5197, webhookId: 'msg_1' })).then([]);
    assert.deepEqual(money(orderNow(desk, order)), ['PENDING', 'PENDING', 5197, 5197]);
    assert.equal(orderNow(desk, order).remainingCents, 5198);
    tell(desk, report(payment, 'paid', { currency: 'USD', webhookId: 'msg_2' }));
    const paid = tell(desk, report(payment, 'paid', { webhookId: 'msg_3' }));
    assert.deepEqual(money(paid), ['CONFIRMED', 'COMPLETED', 5197 + 5198, 5197], 'dollars are never added to euros');
    assert.deepEqual(paid.refundsDue, [
      { amountCents: 5197, currency: 'EUR' },
      { amountCents: 5198, currency: 'USD' },
    ]);
    desk.when(refundNote(order.id, 5199, { currency: 'USD' })).refuses('REFUND_TOO_HIGH', {
      refundable: 5198,
      requested: 5199,
    });
    const given = desk.do(refundNote(order.id, 5000, { currency: 'USD' })).order;
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
    assertSameAfterReplay(desk);
  });

  it("of another provider than the order's concerns nobody", () => {
    const { desk, order, payment } = ordered();
    for (const outcome of ['paid', 'declined', 'cancelled', 'expired'] as const) {
      desk.when(report(payment, outcome, { provider: 'provider_b' })).then([]);
      const named = { checkoutSessionId: null, paymentId: payment.id, provider: 'provider_b' } as const;
      desk.when(report(payment, outcome, named)).then([]);
    }
    assert.equal(desk.do(report(payment, 'paid', { provider: 'provider_b' })).order, null);
    assert.equal(orderNow(desk, order).status, 'PENDING');
    tell(desk, report(payment, 'paid'));
    desk.when(refundNote(order.id, 100, { provider: 'provider_b', reference: 're_1' })).refuses('ORDER_NOT_FOUND', {});
  });

  it('of what cannot be money is refused', () => {
    const { desk, payment } = ordered();
    for (const amountCents of [-1, 0.5, 1e15]) {
      desk.when(report(payment, 'paid', { amountCents })).refuses('VALIDATION_ERROR');
    }
  });
});

describe('A declined payment', () => {
  it('leaves the order PENDING and FAILED until a new try is opened', () => {
    const { desk, order, payment } = ordered();
    desk.when(report(payment, 'declined')).then(['PaymentClosed']);
    assert.deepEqual(money(orderNow(desk, order)), ['PENDING', 'FAILED', 0, 0]);
    const next = openNext(desk, order);
    assert.deepEqual([next.installment, next.amountCents, next.status], [1, 5198, 'OPEN']);
    assert.deepEqual(money(orderNow(desk, order)), ['PENDING', 'PENDING', 0, 0]);
    assert.deepEqual(money(tell(desk, report(next, 'paid'))), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    assertSameAfterReplay(desk);
  });

  it('does not move the end of the window', () => {
    const { desk, order, payment } = ordered();
    tell(desk, report(payment, 'declined'));
    desk
      .wait(30 * MINUTE)
      .when({ type: 'OpenPayment', orderId: order.id })
      .refuses('ORDER_NOT_PAYABLE', { status: 'EXPIRED' });
    assert.deepEqual(money(orderNow(desk, order)), ['EXPIRED', 'FAILED', 0, 0]);
  });

  it('may still bring its money, which then pays; that of the newer try is due back', () => {
    const { desk, order, payment } = ordered();
    tell(desk, report(payment, 'declined'));
    const next = openNext(desk, order);
    assert.deepEqual(money(tell(desk, report(payment, 'paid'))), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    desk.when(report(next, 'paid')).then(['PaymentRecorded']);
    assert.deepEqual(money(orderNow(desk, order)), ['CONFIRMED', 'COMPLETED', 10396, 5198]);
    assertSameAfterReplay(desk);
  });
});

describe('A try to pay', () => {
  it('is not begun anew while one is under way', () => {
    const desk = openShop();
    const { order, payment } = desk.do(buy([item('adult', 1)]));
    const open = { type: 'OpenPayment', orderId: order.id } as const;
    desk.when(open).then([]);
    assert.equal(desk.do(open).payment.id, payment?.id);
    openSession(desk, order, paymentOf({ payment }));
    assert.equal(desk.do(open).payment.redirectUrl, `https://pay.example/${payment?.id}`);
  });

  it("is begun anew once the provider's session is over", () => {
    const desk = openShop();
    const { order, payment } = desk.do(buy([item('adult', 1)]));
    const session = { checkoutSessionId: 'cs_short', redirectUrl: 'https://pay.example', expiresAt: START + MINUTE };
    desk.do({ type: 'RecordCheckoutSession', orderId: order.id, paymentId: paymentOf({ payment }).id, ...session });
    desk.wait(MINUTE).when({ type: 'OpenPayment', orderId: order.id }).then(['PaymentClosed', 'PaymentRequested']);
    assert.deepEqual(
      orderNow(desk, order).payments.map(({ status }) => status),
      ['EXPIRED', 'REQUESTED'],
    );
  });

  it('keeps the first session that was opened for it', () => {
    const { desk, order, payment } = ordered();
    const other = { checkoutSessionId: 'cs_other', redirectUrl: 'https://other.example', expiresAt: null };
    const command = { type: 'RecordCheckoutSession', orderId: order.id, paymentId: payment.id, ...other } as const;
    desk.when(command).then([]);
    assert.equal(desk.do(command).payment.checkoutSessionId, sessionOf(payment));
    desk.when({ ...command, paymentId: id('pay', 9) }).refuses('ORDER_NOT_FOUND', {});
    desk.when({ ...command, orderId: id('ord', 9) }).refuses('ORDER_NOT_FOUND', {});
  });

  it('is refused when nothing is left to pay, the order is over, or there were too many', () => {
    const { desk, order, payment } = ordered();
    const open = { type: 'OpenPayment', orderId: order.id } as const;
    desk.when({ ...open, orderId: id('ord', 9) }).refuses('ORDER_NOT_FOUND', {});
    tell(desk, report(payment, 'paid'));
    desk.when(open).refuses('ORDER_NOT_PAYABLE', { status: 'CONFIRMED' });
    desk.do(cancelByOperator(order.id));
    desk.when(open).refuses('ORDER_NOT_PAYABLE', { status: 'CANCELLED' });
    const other = checkOut(desk, buy([item('adult', 1)])).order;
    for (let tries = 1; tries <= ORDER_PAYMENTS_MAX; tries += 1) {
      const { payments } = orderNow(desk, other);
      tell(desk, report(payments.at(-1)!, 'declined'));
      if (tries < ORDER_PAYMENTS_MAX) openNext(desk, other);
    }
    desk.when({ ...open, orderId: other.id }).refuses('ORDER_NOT_PAYABLE', { status: 'PENDING' });
  });
});

describe('Installments', () => {
  it('are paid one after the other; the first sells the tickets', () => {
    const { desk, order, payment } = ordered({ installmentCount: 3 });
    desk.when(report(payment, 'paid')).then(['PaymentRecorded', 'OrderPaid', 'TicketsIssued']);
    const partly = orderNow(desk, order);
    assert.deepEqual(money(partly), ['PARTIALLY_PAID', 'PENDING', 1733, 0]);
    assert.deepEqual([partly.remainingCents, partly.paidInstallments, partly.tickets.length], [3465, 1, 2]);
    assert.equal(holdStatus(desk, order), 'CONSUMED');
    desk.wait(24 * 60 * MINUTE).settle();
    const second = openNext(desk, order);
    desk.when(report(second, 'paid')).then(['PaymentRecorded', 'OrderPaid']);
    const third = openNext(desk, order);
    assert.deepEqual([second.installment, third.installment, third.amountCents], [2, 3, 1732]);
    assert.deepEqual(money(tell(desk, report(third, 'paid'))), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    assertSameAfterReplay(desk);
  });

  it('after the first may be declined or cancelled without harm', () => {
    const { desk, order, payment } = ordered({ installmentCount: 2 });
    tell(desk, report(payment, 'paid'));
    for (const outcome of ['declined', 'cancelled', 'expired'] as const) {
      desk.when(report(openNext(desk, order), outcome)).then(['PaymentClosed']);
      assert.deepEqual(money(orderNow(desk, order)), ['PARTIALLY_PAID', 'PENDING', 2599, 0]);
    }
  });

  it('are never of nothing', () => {
    const prices = [{ ...shopEvent().sellingStages[0]!, prices: { adult: 2 } }];
    const types = shopEvent().ticketTypes.slice(0, 1);
    const desk = openShop({ sellingStages: prices, ticketTypes: types });
    assert.deepEqual(desk.do(buy([item('adult', 1)], { installmentCount: 3 })).order.installmentsCents, [1, 1]);
  });
});

describe('An order ends', () => {
  it('EXPIRED with its window: hold and stock, codes and perks return', () => {
    const { desk, order, payment } = ordered({ promoCode: 'ONCE' });
    desk.wait(30 * MINUTE - 1).settle();
    assert.equal(orderNow(desk, order).status, 'PENDING');
    desk.wait(1).settle();
    assert.deepEqual(money(orderNow(desk, order)), ['EXPIRED', 'PENDING', 0, 0]);
    assert.deepEqual([holdStatus(desk, order), stockOf(desk).held], ['EXPIRED', 0]);
    assert.equal(desk.office.orders.usesByCode.size + desk.office.orders.ticketsByEmail.size, 0);
    assert.equal(orderNow(desk, order).payments[0]?.status, 'EXPIRED');
    desk.when(report(payment, 'cancelled')).then([]);
    assertSameAfterReplay(desk);
  });

  it('CANCELLED when the buyer cancels at the provider', () => {
    const { desk, order, payment } = ordered();
    desk.when(report(payment, 'cancelled')).then(['OrderCancelled']);
    assert.deepEqual(money(orderNow(desk, order)), ['CANCELLED', 'PENDING', 0, 0]);
    assert.deepEqual([holdStatus(desk, order), stockOf(desk).held], ['RELEASED', 0]);
    desk.when(cancelByOperator(order.id)).refuses('ORDER_NOT_CANCELLABLE', { status: 'CANCELLED' });
  });

  it('not by the cancelling of a session that was closed before', () => {
    const { desk, order, payment } = ordered();
    tell(desk, report(payment, 'declined'));
    openNext(desk, order);
    desk.when(report(payment, 'cancelled')).then([]);
    assert.equal(orderNow(desk, order).status, 'PENDING');
  });

  it('CANCELLED by the operator: tickets are void and on sale again, a refund is due', () => {
    const { desk, order, payment } = ordered();
    tell(desk, report(payment, 'paid'));
    assert.equal(findTicket(desk.office, id('tkt', 1))?.ticket.isValid, true);
    desk.when(cancelByOperator(order.id)).then(['OrderCancelled']);
    desk.when(cancelByOperator(order.id)).then([]);
    assert.deepEqual(money(orderNow(desk, order)), ['CANCELLED', 'COMPLETED', 5198, 5198]);
    assert.deepEqual([holdStatus(desk, order), stockOf(desk).sold], ['RELEASED', 0]);
    const ticket = findTicket(desk.office, id('tkt', 2));
    assert.deepEqual(
      [ticket?.ticket.isValid, ticket?.voidReason, ticket?.ticket.seatId],
      [false, 'ORDER_CANCELLED', '0-1'],
    );
    desk.when(cancelByOperator(id('ord', 9))).refuses('ORDER_NOT_FOUND', {});
    desk.when(buy([item('seat', 2, seats)])).then(['HoldPlaced', 'OrderPlaced']);
    assertSameAfterReplay(desk);
  });

  it('CANCELLED whole with any of its dates, whatever its status', () => {
    const desk = openShop();
    const both = [item('adult', 1), item('adult', 2, { performanceId: 'd2' })];
    const started = ['paid', 'partly', 'pending', 'free'].map((what) => {
      const count = what === 'partly' ? 2 : 1;
      const step = checkOut(desk, buy(both, { installmentCount: count, promoCode: what === 'free' ? 'ALL' : null }));
      if (what === 'paid' || what === 'partly') tell(desk, report(paymentOf(step), 'paid'));
      return step;
    });
    const elsewhere = checkOut(desk, buy([item('adult', 1)])).order;
    const cancel = { type: 'CancelPerformance', performanceId: 'd2', operator: 'olga', note: 'storm' } as const;
    assert.equal(desk.do(cancel).cancelledOrders, 4);
    assert.deepEqual(
      started.map(({ order }) => money(orderNow(desk, order)).slice(0, 1).concat(orderNow(desk, order).refundDueCents)),
      [
        ['CANCELLED', 3000],
        ['CANCELLED', 1500],
        ['CANCELLED', 0],
        ['CANCELLED', 0],
      ],
    );
    assert.equal(orderNow(desk, elsewhere).status, 'PENDING');
    assert.deepEqual([stockOf(desk).held, stockOf(desk).sold, stockOf(desk, 'd2').sold], [1, 0, 0]);
    assert.equal(findTicket(desk.office, id('tkt', 1))?.voidReason, 'PERFORMANCE_CANCELLED');
    const late = tell(desk, report(paymentOf(started[2]!), 'paid'));
    assert.deepEqual(money(late), ['CANCELLED', 'PENDING', 3000, 3000]);
    assertSameAfterReplay(desk);
  });

  it('once, when a definition cancels several of its dates', () => {
    const desk = openShop();
    const order = checkOut(desk, buy([item('adult', 1), item('adult', 1, { performanceId: 'd2' })])).order;
    desk.do({
      type: 'PlaceHold',
      sessionKey: 'session-1',
      items: [item('guest', 1), item('guest', 1, { performanceId: 'd2' })],
      queuePass: null,
      idempotency: null,
    });
    const performances = shopEvent().performances.map((date) => ({ ...date, status: 'CANCELLED' as const }));
    desk.do({ type: 'DefineEvent', definition: shopEvent({ performances }), operator: null, note: null });
    assert.equal(orderNow(desk, order).status, 'CANCELLED');
    assert.deepEqual([stockOf(desk).held, stockOf(desk, 'd2').held], [0, 0]);
    assertSameAfterReplay(desk);
  });
});

describe('Late money', () => {
  const ends: readonly (readonly [string, (desk: Desk, payment: PaymentView) => void])[] = [
    ['the window ran out', (desk) => desk.wait(30 * MINUTE).settle()],
    ['the buyer cancelled', (desk, payment) => void tell(desk, report(payment, 'cancelled'))],
  ];
  for (const [after, end] of ends) {
    it(`after ${after} takes the same seats again and confirms the order`, () => {
      const { desk, order, payment } = ordered({ promoCode: 'ONCE' });
      end(desk, payment);
      desk.when(report(payment, 'paid')).then(['PaymentRecorded', 'OrderPaid', 'TicketsIssued']);
      assert.deepEqual(money(orderNow(desk, order)), ['CONFIRMED', 'COMPLETED', 2599, 0]);
      assert.deepEqual([holdStatus(desk, order), stockOf(desk).sold], ['CONSUMED', 2]);
      assert.equal(desk.office.orders.usesByCode.get('once'), 1);
      assert.equal(orderNow(desk, order).cancellation, null);
      assertSameAfterReplay(desk);
    });

    it(`after ${after} is due back when a seat is gone, also once it is free again`, () => {
      const { desk, order, payment } = ordered();
      end(desk, payment);
      const other = checkOut(desk, buy([item('seat', 1, { seatIds: ['0-1'] })]));
      desk.when(report(payment, 'paid')).then(['PaymentRecorded']);
      const { status } = orderNow(desk, order);
      assert.ok(status === 'EXPIRED' || status === 'CANCELLED');
      assert.deepEqual(orderNow(desk, order).refundDueCents, 5198);
      assert.equal(stockOf(desk).held, 1);
      desk.do(cancelByOperator(other.order.id));
      desk.when(report(payment, 'paid')).then([]);
      assertSameAfterReplay(desk);
    });
  }

  it('of the first of several installments makes the order PARTIALLY_PAID', () => {
    const { desk, order, payment } = ordered({ installmentCount: 2 });
    desk.wait(30 * MINUTE);
    assert.deepEqual(money(tell(desk, report(payment, 'paid'))), ['PARTIALLY_PAID', 'PENDING', 2599, 0]);
    assert.deepEqual(money(tell(desk, report(openNext(desk, order), 'paid'))), ['CONFIRMED', 'COMPLETED', 5198, 0]);
  });

  it('is due back when a code or a perk has been used up', () => {
    const desk = openShop();
    const perk = { barPerks: [{ barPerkId: 'beer', quantity: 4 }] };
    const coded = checkOut(desk, buy([item('adult', 2)], { promoCode: 'ONCE' }));
    const perked = checkOut(desk, buy([item('adult', 2, perk)]));
    desk.wait(30 * MINUTE);
    checkOut(desk, buy([item('adult', 1)], { promoCode: 'ONCE' }));
    checkOut(desk, buy([item('adult', 1, { barPerks: [{ barPerkId: 'beer', quantity: 2 }] })]));
    for (const late of [coded, perked]) {
      const order = tell(desk, report(paymentOf(late), 'paid'));
      assert.deepEqual(money(order), ['EXPIRED', 'PENDING', order.totalCents, order.totalCents]);
    }
  });

  it("is due back when the address's allowance has gone to others, and taken while it lasts", () => {
    const desk = openShop({ maxTicketsPerEmail: 3 });
    const customer = { ...anna, email: 'anna@example.org' };
    const [first, second] = [1, 1].map((quantity) => checkOut(desk, buy([item('adult', quantity)], { customer })));
    desk.wait(30 * MINUTE);
    checkOut(desk, buy([item('adult', 2)], { customer: { ...anna, email: 'ANNA+again@example.org' } }));
    assert.equal(tell(desk, report(paymentOf(first!), 'paid')).status, 'CONFIRMED');
    const late = tell(desk, report(paymentOf(second!), 'paid'));
    assert.deepEqual(money(late), ['EXPIRED', 'PENDING', late.totalCents, late.totalCents]);
    assertSameAfterReplay(desk);
  });

  it('is due back when the date is over or closed, and counts although its stage or code is', () => {
    const { desk, payment } = ordered({ promoCode: 'TENTH' });
    const second = checkOut(desk, buy([item('adult', 1, { performanceId: 'd2' })]));
    desk.wait(30 * MINUTE);
    const { sellingStages, performances } = shopEvent();
    const definition = shopEvent({
      sellingStages: sellingStages.map((stage) => ({ ...stage, endsAt: START + MINUTE })),
      promoCodes: [code('TENTH', { percentOff: 10, endsAt: START + MINUTE })],
      performances: performances.map((date) => (date.id === 'd2' ? { ...date, status: 'SOLD_OUT' } : date)),
    });
    desk.do({ type: 'DefineEvent', definition, operator: null, note: null });
    assert.equal(tell(desk, report(payment, 'paid')).status, 'CONFIRMED');
    assert.equal(tell(desk, report(paymentOf(second), 'paid')).status, 'EXPIRED');
  });

  it("is due back when the order's type was taken off the event meanwhile", () => {
    const { desk, payment } = ordered();
    desk.wait(30 * MINUTE);
    const { ticketTypes, sellingStages, localities } = shopEvent();
    const definition = shopEvent({
      ticketTypes: ticketTypes.filter((type) => type.id !== 'seat'),
      sellingStages: sellingStages.map((stage) => ({ ...stage, prices: { adult: 1000 } })),
      localities: localities.slice(0, 1),
      promoCodes: [],
    });
    desk.do({ type: 'DefineEvent', definition, operator: null, note: null });
    const order = tell(desk, report(payment, 'paid'));
    assert.deepEqual(money(order), ['EXPIRED', 'PENDING', 5198, 5198]);
    assertSameAfterReplay(desk);
  });

  it('never brings back what the operator cancelled', () => {
    const { desk, order, payment } = ordered();
    desk.do(cancelByOperator(order.id));
    desk.when(report(payment, 'paid')).then(['PaymentRecorded']);
    assert.deepEqual(orderNow(desk, order).refundDueCents, 5198);
  });
});

describe('A refund', () => {
  const refund = (order: OrderView, amountCents: number, more: Partial<CommandOf<'RecordRefund'>> = {}) =>
    refundNote(order.id, amountCents, more);

  it('lowers what is due and is never more than was paid', () => {
    const { desk, order, payment } = ordered();
    desk.when(refund(order, 1)).refuses('REFUND_TOO_HIGH', { refundable: 0, requested: 1 });
    tell(desk, report(payment, 'paid'));
    desk.do(cancelByOperator(order.id));
    desk.when(refund(order, 5199)).refuses('REFUND_TOO_HIGH', { refundable: 5198, requested: 5199 });
    const partly = desk.do(refund(order, 5000)).order;
    assert.deepEqual([partly.refundDueCents, partly.refundedCents, partly.paidCents], [198, 5000, 5198]);
    assert.deepEqual(partly.refunds, [
      { id: id('ref', 1), amountCents: 5000, operator: 'olga', note: 'cash', at: START },
    ]);
    desk.when(refund(order, 199)).refuses('REFUND_TOO_HIGH', { refundable: 198, requested: 199 });
    assert.equal(desk.do(refund(order, 198)).order.refundDueCents, 0);
    desk.when(refund({ ...order, id: id('ord', 9) }, 1)).refuses('ORDER_NOT_FOUND', {});
    assertSameAfterReplay(desk);
  });

  it('with the same reference counts once', () => {
    const { desk, order, payment } = ordered();
    tell(desk, report(payment, 'paid'));
    desk.do(refund(order, 1000, { reference: 're_1' }));
    desk.when(refund(order, 1000, { reference: 're_1' })).then([]);
    desk.when(refund(order, 700, { reference: 're_1', provider: 'provider_a' })).then([]);
    assert.equal(desk.do(refund(order, 1000, { reference: 're_1' })).repeated, true);
    assert.equal(desk.do(refund(order, 1000, { reference: 're_2' })).order.refundedCents, 2000);
    assertSameAfterReplay(desk);
  });

  it('that an operator noted and the provider reports is one, in whichever order they come', () => {
    const reported = { operator: null, note: null, provider: 'provider_a' } as const;
    for (const noteFirst of [true, false]) {
      const { desk, order, payment } = ordered();
      tell(desk, report(payment, 'paid'));
      const note = refund(order, 1000);
      const provided = refund(order, 1000, { ...reported, reference: 're_1' });
      desk.do(noteFirst ? note : provided);
      const matched = desk.do(noteFirst ? provided : note).order;
      assert.equal(matched.refundedCents, 1000);
      assert.deepEqual(matched.refunds, [
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
      desk.when(provided).then([]);
      assert.equal(desk.do(note).order.refundedCents, 2000, 'a second note is a second refund');
      assert.equal(desk.do(refund(order, 500, { ...reported, reference: 're_2' })).order.refundedCents, 2500);
      assert.equal(desk.do(refund(order, 500, { reference: 'in cash' })).order.refundedCents, 3000);
      assertSameAfterReplay(desk);
    }
  });

  it('given out of kindness is not due again when the order is cancelled', () => {
    const { desk, order, payment } = ordered();
    tell(desk, report(payment, 'paid'));
    assert.deepEqual(money(desk.do(refund(order, 1000)).order), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    desk.do(cancelByOperator(order.id));
    assert.equal(orderNow(desk, order).refundDueCents, 4198);
  });
});

describe('The list of orders', () => {
  it('goes on after an order, and shows those of a status or an address', () => {
    const desk = openShop();
    const as = (email: string) => ({ customer: { email, name: 'X', documentNumber: null, phone: null } });
    for (let n = 0; n < 3; n += 1) checkOut(desk, buy([item('guest', 1)], as(`anna+${n}@example.org`)));
    checkOut(desk, buy([item('adult', 1)], as('bo@example.org')));
    type Wanted = Parameters<typeof listOrders>[1];
    const all: Wanted = { status: null, email: null, after: null, limit: 10 };
    const numbers = (wanted: Partial<Wanted>) => {
      const { orders, nextAfter } = listOrders(desk.office, { ...all, ...wanted });
      return [orders.map((order) => Number(order.id.slice(-2))), nextAfter];
    };
    assert.deepEqual(numbers({}), [[1, 2, 3, 4], null]);
    assert.deepEqual(numbers({ limit: 2 }), [[1, 2], id('ord', 2)]);
    assert.deepEqual(numbers({ limit: 2, after: id('ord', 2) }), [[3, 4], null]);
    assert.deepEqual(numbers({ status: 'PENDING' }), [[4], null]);
    assert.deepEqual(numbers({ email: 'Anna@example.org', limit: 3 }), [[1, 2, 3], null]);
    assert.equal(findTicket(desk.office, id('tkt', 9)), null);
  });
});
