/**
 * Payments by what a provider alone reports, and work that an order leaves to later turns. The rules are scenarios
 * (`scenarios/payments.ts`).
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findOrder, findSession } from '#domain/orders/view.ts';
import { findUnopenedPayments } from '#domain/orders/open-sessions.ts';
import type { EventState } from '#domain/event/state.ts';
import { nextWorkAt } from '#domain/event/deadlines.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { CommandOf } from '#domain/command.ts';
import type { OrderView, PaymentView } from '#domain/view.ts';
import {
  buy,
  checkOut,
  item,
  openCheckoutEvent,
  openSession,
  paymentOf,
  recordPayment,
  refundNote,
  report,
  sessionOf,
} from '../../fixtures/commands.ts';
import { assertSameAfterReplay, id, MINUTE, restore, START, type EventFixture } from '../../fixtures/event-state.ts';

const seats = { seatIds: ['H-1-1', 'H-1-2'] };

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

/** The figures that payments change. */
const money = (order: OrderView) => [order.status, order.paymentStatus, order.paidCents, order.refundDueCents];

describe('A paid order', () => {
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

describe('A payment', () => {
  it('is given again while it has no session', () => {
    const fixture = openCheckoutEvent();
    const { order, payment } = fixture.do(buy([item('adult', 1)]));
    const open = { type: 'OpenPayment', orderId: order.id } as const;
    fixture.when(open).then([]);
    assert.equal(fixture.do(open).payment.id, payment?.id);
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
});

describe('An order without a session', () => {
  it('is found while its window is open, the newest first, also in a restored state', () => {
    const fixture = openCheckoutEvent();
    const startOnly = (): string => fixture.do(buy([item('seat', 1)])).order.id;
    const [first, second] = [startOnly(), startOnly()];
    ordered({}, fixture);
    fixture.wait(MINUTE);
    const third = startOnly();
    const foundIn = (state: EventState, ageMsMin: number, limit = 10, before: number | null = null) =>
      findUnopenedPayments(state, { ageMsMin, limit, before }, fixture.now).map(({ order }) => order.id);
    for (const state of [fixture.state, restore(fixture.state)]) {
      assert.deepEqual(foundIn(state, 0), [third, second, first]);
      assert.deepEqual(foundIn(state, 0, 2), [third, second]);
      assert.deepEqual(foundIn(state, 0, 10, 1), [first]);
      assert.deepEqual(foundIn(state, MINUTE), [second, first]);
    }
    openSession(fixture, orderNow(fixture, { id: second }), orderNow(fixture, { id: second }).payments[0]!);
    assert.deepEqual(foundIn(fixture.state, MINUTE), [first]);
    fixture.wait(fixture.state.plan.paymentWindowMs - MINUTE);
    assert.deepEqual(foundIn(fixture.state, 0), [third]);
  });
});

describe('Installments', () => {
  it('after the first may be declined or cancelled; the order keeps its status', () => {
    const { fixture, order, payment } = ordered({ installmentCount: 2 });
    recordPayment(fixture, report(payment, 'paid'));
    for (const outcome of ['declined', 'cancelled', 'expired'] as const) {
      fixture.when(report(openNext(fixture, order), outcome)).then(['PaymentClosed']);
      assert.deepEqual(money(orderNow(fixture, order)), ['PARTIALLY_PAID', 'PENDING', 2599, 0]);
    }
  });
});

describe('An order ends', () => {
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
});

describe('A refund', () => {
  const refund = (order: OrderView, amountCents: number, more: Partial<CommandOf<'RecordRefund'>> = {}) =>
    refundNote(order.id, amountCents, more);

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

  it('that the provider reports with and without its name and an operator noted is one, in any order', () => {
    const reported = { operator: null, note: null, provider: 'provider_a' } as const;
    for (const noted of [{}, { reference: 're_1' }]) {
      const records = {
        named: { ...reported, reference: 're_1' },
        unnamed: { ...reported, reportReference: 'evt_1' },
        noted,
      };
      const names = ['named', 'unnamed', 'noted'] as const;
      for (const order of names.flatMap((a) => names.map((b) => names.map((c) => [a, b, c] as const)).flat())) {
        if (new Set(order).size < 3) continue;
        const { fixture, order: bought, payment } = ordered();
        recordPayment(fixture, report(payment, 'paid'));
        for (const name of order) fixture.do(refund(bought, 1000, records[name]));
        const context = JSON.stringify([order, noted]);
        assert.equal(orderNow(fixture, bought).refundedCents, 1000, context);
        fixture.when(refund(bought, 1000, records.unnamed)).then([]);
        const second = { ...reported, reportReference: 'evt_2' };
        assert.equal(fixture.do(refund(bought, 1000, second)).order.refundedCents, 2000, context);
        assert.equal(fixture.do(refund(bought, 1000, { ...reported, reference: 're_2' })).order.refundedCents, 2000);
        assertSameAfterReplay(fixture);
      }
    }
  });
});
