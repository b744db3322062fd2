/**
 * Refunds that the service executes: over which payments, what each try may ask for, and that no money is given back
 * twice, whatever a provider answers, loses or reports.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { nextWorkAt } from '#domain/event/deadlines.ts';
import { listDueRefunds } from '#domain/orders/refund-tries.ts';
import { findOrder } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { CommandOf, ProviderRefund, RefundAnswer, RefundRequest } from '#domain/command.ts';
import type { OrderView, PaymentView, RefundView } from '#domain/view.ts';
import {
  buy,
  cancelByOperator,
  checkOut,
  item,
  openCheckoutEvent,
  openSession,
  paymentOf,
  recordPayment,
  refundNote,
  report,
} from '../../fixtures/commands.ts';
import { amend } from '../../fixtures/amendments.ts';
import { assertSameAfterReplay, MINUTE, restore, type EventFixture } from '../../fixtures/event-state.ts';

const HOUR = 60 * MINUTE;
const NOBODY = { operator: null, note: null } as const;
const DISPUTED = { code: 'charge_disputed', message: 'The charge is disputed.' };

/** A paid order of two seats for 51.98. */
function bought(fixture = openCheckoutEvent()): { fixture: EventFixture; order: OrderView; payment: PaymentView } {
  const started = checkOut(fixture, buy([item('seat', 2, { seatIds: ['H-1-1', 'H-1-2'] })]));
  const payment = paymentOf(started);
  return { fixture, order: recordPayment(fixture, report(payment, 'paid')), payment };
}

/** The same in two installments of 25.99. */
function boughtInTwo(): { fixture: EventFixture; order: OrderView } {
  const fixture = openCheckoutEvent();
  const items = [item('seat', 2, { seatIds: ['H-1-1', 'H-1-2'] })];
  const started = checkOut(fixture, buy(items, { installmentCount: 2 }));
  recordPayment(fixture, report(paymentOf(started), 'paid'));
  fixture.wait(MINUTE);
  const next = fixture.do({ type: 'OpenPayment', orderId: started.order.id });
  const order = recordPayment(fixture, report(openSession(fixture, next.order, next.payment), 'paid'));
  return { fixture, order };
}

/** The same, cancelled: all of it is due. */
function owing(fixture = openCheckoutEvent()) {
  const all = bought(fixture);
  all.fixture.do(cancelByOperator(all.order.id));
  return all;
}

function orderNow({ state }: EventFixture, { id: orderId }: Pick<OrderView, 'id'>): OrderView {
  const order = findOrder(state, orderId);
  assert.ok(!isRefusal(order));
  return order;
}

type Asked = Partial<Pick<CommandOf<'ExecuteRefund'>, 'amountCents' | 'paymentId'>>;

const execute = ({ id: orderId }: OrderView, more: Asked = {}): CommandOf<'ExecuteRefund'> => ({
  type: 'ExecuteRefund',
  orderId,
  amountCents: null,
  paymentId: null,
  ...NOBODY,
  ...more,
});

const match = ({ id: orderId }: OrderView, { id: refundId }: RefundView, ...found: ProviderRefund[]) =>
  ({ type: 'MatchRefunds', orderId, refundId, found }) as const;

const answer = ({ id: orderId }: OrderView, { id: refundId }: RefundView, given: RefundAnswer) =>
  ({ type: 'AnswerRefund', orderId, refundId, answer: given }) as const;

const resolve = (
  { id: orderId }: OrderView,
  refundId: string,
  outcome: CommandOf<'ResolveRefund'>['outcome'],
  reference: string | null = null,
) => ({ type: 'ResolveRefund', orderId, refundId, outcome, reference, operator: 'olga', note: null }) as const;

const reported = (order: OrderView, amountCents: number, more: Partial<CommandOf<'RecordRefund'>>) =>
  refundNote(order.id, amountCents, { ...NOBODY, provider: 'provider_a', ...more });

const there = (amountCents: number, more: Partial<ProviderRefund> = {}): ProviderRefund => ({
  reference: 're_page',
  refundId: null,
  amountCents,
  status: 'SUCCEEDED',
  ...more,
});

/** One refund of everything that is due. */
function asked(all = owing()) {
  const { refunds } = all.fixture.do(execute(all.order)).order;
  return { ...all, refund: refunds.at(-1)! };
}

/** refund_due, refunded_amount and refund_pending, and the status of each refund. */
const books = (order: OrderView) => [
  order.refundDueCents,
  order.refundedCents,
  order.refundPendingCents,
  ...order.refunds.map(({ status = 'SUCCEEDED' }) => status),
];

const requestOf = (fixture: EventFixture, command: ReturnType<typeof match>): RefundRequest | null =>
  fixture.do(command).request;

describe('A refund that is executed', () => {
  it('stands before the provider is asked, is due until it succeeded, and then counts', () => {
    const { fixture, order, refund, payment } = asked();
    assert.deepEqual(books(orderNow(fixture, order)), [5198, 0, 5198, 'PENDING']);
    const { due, nextAt } = listDueRefunds(fixture.state, 10, fixture.now);
    assert.equal(nextAt, fixture.now);
    const { checkoutSessionId } = orderNow(fixture, order).payments[0]!;
    assert.deepEqual(due, [{ orderId: order.id, refundId: refund.id, provider: 'provider_a', checkoutSessionId }]);
    const request = requestOf(fixture, match(order, refund));
    const sum = { amountCents: 5198, currency: 'EUR' };
    assert.deepEqual(request, { orderId: order.id, refundId: refund.id, checkoutSessionId, ...sum, key: refund.id });
    fixture.when(answer(order, refund, { outcome: 'SUCCEEDED', reference: 're_1' })).then(['RefundRecorded']);
    const after = orderNow(fixture, order);
    assert.deepEqual(books(after), [0, 5198, 0, 'SUCCEEDED']);
    const { reference, provider, tries, finishedAt, paymentId } = after.refunds[0]!;
    assert.deepEqual([reference, provider, tries, finishedAt], ['re_1', 'provider_a', 1, fixture.now]);
    assert.equal(paymentId, payment.id);
    // A report of it is no second one, and it is asked for no more.
    fixture.when(reported(order, 5198, { reference: 're_1' })).then([]);
    fixture.when(reported(order, 5198, { reference: 're_1', refundId: refund.id })).then([]);
    assert.equal(requestOf(fixture, match(order, refund)), null);
    assert.equal(listDueRefunds(fixture.state, 10, fixture.now).nextAt, null);
    fixture.when(execute(order)).refuses('REFUND_TOO_HIGH');
    assertSameAfterReplay(fixture);
  });

  it('never exceeds what came, together with all others; an amount may exceed what is due', () => {
    const { fixture, order } = bought();
    fixture.when(execute(order)).refuses('REFUND_TOO_HIGH', { refundable: 5198, requested: 0 });
    fixture.do(execute(order, { amountCents: 1000 }));
    fixture
      .when(execute(order, { amountCents: 4199 }))
      .refuses('REFUND_TOO_HIGH', { refundable: 4198, requested: 4199 });
    fixture.when(refundNote(order.id, 4199)).refuses('REFUND_TOO_HIGH', { refundable: 4198, requested: 4199 });
    fixture.do(refundNote(order.id, 4000));
    fixture.when(execute(order, { amountCents: 199 })).refuses('REFUND_TOO_HIGH', { refundable: 198, requested: 199 });
    fixture.do(cancelByOperator(order.id));
    // What is due less what is asked for.
    const { refunds } = fixture.do(execute(order)).order;
    assert.deepEqual(
      refunds.map(({ amountCents }) => amountCents),
      [1000, 4000, 198],
    );
    assertSameAfterReplay(fixture);
  });

  it('is shared over the paid payments, the newest first, or is of the one that is named', () => {
    const { fixture, order } = boughtInTwo();
    const [first, second] = order.payments.map(({ id }) => id);
    const shares = (view: OrderView) => view.refunds.map(({ paymentId, amountCents }) => [paymentId, amountCents]);
    fixture.do(execute(order, { amountCents: 3000 }));
    assert.deepEqual(shares(orderNow(fixture, order)), [
      [second, 2599],
      [first, 401],
    ]);
    const named = { amountCents: 2199, paymentId: first! };
    fixture.when(execute(order, named)).refuses('REFUND_TOO_HIGH', { refundable: 2198, requested: 2199 });
    fixture.when(execute(order, { amountCents: 1, paymentId: second! })).refuses('REFUND_TOO_HIGH');
    fixture.when(execute(order, { paymentId: 'pay_1_unknown' })).refuses('NOT_FOUND');
    fixture.do(execute(order, { ...named, amountCents: 2198 }));
    assertSameAfterReplay(fixture);
  });

  it('is of each currency in which money is due', () => {
    const { fixture, order, payment } = owing();
    recordPayment(fixture, report(payment, 'paid', { amountCents: 700, currency: 'USD' }));
    const { refunds } = fixture.do(execute(order)).order;
    assert.deepEqual(
      refunds.map(({ amountCents, currency = 'EUR' }) => [amountCents, currency]),
      [
        [5198, 'EUR'],
        [700, 'USD'],
      ],
    );
    const [, dollars] = refunds;
    const request = requestOf(fixture, match(order, dollars!));
    assert.deepEqual([request?.amountCents, request?.currency], [700, 'USD']);
    fixture.do(answer(order, dollars!, { outcome: 'SUCCEEDED', reference: 're_2' }));
    assert.deepEqual(orderNow(fixture, order).refundsDue, [{ amountCents: 5198, currency: 'EUR' }]);
    assertSameAfterReplay(fixture);
  });

  it("is of the order's own currency, also where as much came in another one", () => {
    const { fixture, order, payment, refund } = asked();
    recordPayment(fixture, report(payment, 'paid', { amountCents: 9000, currency: 'USD' }));
    fixture.do(reported(order, 2000, { reference: 're_page' }));
    assert.equal(requestOf(fixture, match(order, refund, there(2000)))?.amountCents, 3198);
    fixture.do(answer(order, refund, { outcome: 'SUCCEEDED', reference: 're_1' }));
    assert.deepEqual(orderNow(fixture, order).refundsDue, [{ amountCents: 9000, currency: 'USD' }]);
    const { totals } = fixture.state.orders.money.view(0, fixture.state.orders.refunds);
    assert.deepEqual(
      totals.map(({ currency, refundedCents }) => [currency, refundedCents]),
      [
        ['EUR', 5198],
        ['USD', 0],
      ],
    );
    assertSameAfterReplay(fixture);
  });

  it('takes off what was given back at the page of the provider, and records it', () => {
    const { fixture, order, refund } = asked();
    assert.equal(requestOf(fixture, match(order, refund, there(2000)))?.amountCents, 3198);
    assert.deepEqual(books(orderNow(fixture, order)), [3198, 2000, 3198, 'PENDING', 'SUCCEEDED']);
    fixture.when(match(order, refund, there(2000))).then([]);
    const all = there(3198, { reference: 're_page_2' });
    assert.equal(requestOf(fixture, match(order, refund, there(2000), all)), null);
    const after = orderNow(fixture, order);
    assert.deepEqual(books(after), [0, 5198, 0, 'FAILED', 'SUCCEEDED', 'SUCCEEDED']);
    assert.equal(after.refunds[0]!.failure?.code, 'NOTHING_DUE');
    assertSameAfterReplay(fixture);
  });

  it('knows what an operator noted, and each note stands for one refund there', () => {
    const { fixture, order } = bought();
    for (const note of ['one', 'two']) fixture.do(refundNote(order.id, 500, { note }));
    const { refunds } = fixture.do(execute(order, { amountCents: 1000 })).order;
    const page = [there(500), there(500, { reference: 're_page_2' }), there(500, { reference: 're_page_3' })];
    assert.equal(requestOf(fixture, match(order, refunds.at(-1)!, ...page))?.amountCents, 500);
    assert.deepEqual(
      [orderNow(fixture, order).refundedCents, orderNow(fixture, order).refundPendingCents],
      [1500, 500],
    );
    assertSameAfterReplay(fixture);
  });

  it('does not ask while another refund of the payment is under way there for all of it', () => {
    const { fixture, order, refund } = asked();
    assert.equal(requestOf(fixture, match(order, refund, there(5198, { status: 'PENDING' }))), null);
    assert.deepEqual(books(orderNow(fixture, order)), [5198, 0, 0, 'FAILED']);
    assertSameAfterReplay(fixture);
  });

  it('is found there after a lost answer, and is asked for under the same key until one came', () => {
    const { fixture, order, refund } = asked();
    fixture.do(answer(order, refund, { outcome: 'UNCLEAR', isAnswered: false }));
    assert.equal(requestOf(fixture, match(order, refund))?.key, refund.id);
    const own = there(5198, { reference: 're_own', refundId: refund.id });
    for (const status of ['PENDING', 'SUCCEEDED'] as const) {
      assert.equal(requestOf(fixture, match(order, refund, { ...own, status })), null);
      assert.equal(orderNow(fixture, order).refunds[0]!.status, status);
    }
    assert.equal(orderNow(fixture, order).refunds[0]!.reference, 're_own');
    assertSameAfterReplay(fixture);
  });

  it('that the provider fails inside or refuses gets another key, and only the operator tries the latter again', () => {
    const { fixture, order, refund } = asked();
    fixture.do(answer(order, refund, { outcome: 'UNCLEAR', isAnswered: true }));
    assert.equal(requestOf(fixture, match(order, refund))?.key, `${refund.id}-1`);
    fixture.when(resolve(order, refund.id, 'RETRY')).refuses('REFUND_NOT_OPEN', { status: 'PENDING' });
    fixture.do(answer(order, refund, { outcome: 'REFUSED', failure: DISPUTED }));
    assert.deepEqual(books(orderNow(fixture, order)), [5198, 0, 5198, 'NEEDS_OPERATOR']);
    assert.deepEqual(orderNow(fixture, order).refunds[0]!.failure, DISPUTED);
    assert.equal(requestOf(fixture, match(order, refund)), null);
    fixture.when(execute(order)).refuses('REFUND_TOO_HIGH');
    fixture.do(resolve(order, refund.id, 'RETRY'));
    assert.equal(requestOf(fixture, match(order, refund))?.key, `${refund.id}-2`);
    assert.equal(orderNow(fixture, order).refunds[0]!.failure, undefined);
    assertSameAfterReplay(fixture);
  });

  it('is tried after pauses from 5 seconds to an hour, and needs an operator after 72 hours', () => {
    const { fixture, order, refund } = asked();
    const begin = fixture.now;
    const pauses: number[] = [];
    for (;;) {
      fixture.do(answer(order, refund, { outcome: 'UNCLEAR', isAnswered: false }));
      const { nextAt } = listDueRefunds(fixture.state, 10, fixture.now);
      if (nextAt === null) break;
      assert.deepEqual(listDueRefunds(fixture.state, 10, nextAt - 1).due, []);
      pauses.push(nextAt - fixture.now);
      fixture.wait(nextAt - fixture.now);
    }
    assert.deepEqual(pauses.slice(0, 4), [5_000, 10_000, 20_000, 40_000]);
    assert.equal(Math.max(...pauses), HOUR);
    assert.equal(fixture.now - begin, 72 * HOUR);
    const { status, failure, tries } = orderNow(fixture, order).refunds[0]!;
    assert.deepEqual([status, failure?.code, tries], ['NEEDS_OPERATOR', 'NO_CLEAR_ANSWER', pauses.length + 1]);
    // It begins anew when the operator has it tried again.
    fixture.do(resolve(order, refund.id, 'RETRY'));
    fixture.do(answer(order, refund, { outcome: 'UNCLEAR', isAnswered: false }));
    assert.equal(orderNow(fixture, order).refunds[0]!.status, 'PENDING');
    assertSameAfterReplay(fixture);
  });

  it('that the provider works on is asked about daily', () => {
    const { fixture, order, refund } = asked();
    fixture.do(answer(order, refund, { outcome: 'PENDING', reference: 're_1' }));
    assert.equal(listDueRefunds(fixture.state, 10, fixture.now).nextAt, fixture.now + 24 * HOUR);
    fixture.wait(100 * HOUR);
    const own = there(5198, { reference: 're_1', refundId: refund.id });
    fixture.do(match(order, refund, { ...own, status: 'PENDING' }));
    assert.equal(listDueRefunds(fixture.state, 10, fixture.now).nextAt, fixture.now + 24 * HOUR);
    const failure = { code: 'expired_or_canceled_card', message: 'expired_or_canceled_card' };
    fixture.do(match(order, refund, { ...own, status: 'FAILED', failure }));
    assert.deepEqual(books(orderNow(fixture, order)), [5198, 0, 0, 'FAILED']);
    assert.deepEqual(orderNow(fixture, order).refunds[0]!.failure, failure);
    assertSameAfterReplay(fixture);
  });

  it('is resolved by an operator as given back, or as not', () => {
    for (const outcome of ['GIVEN_BACK', 'NOT_GIVEN_BACK'] as const) {
      const { fixture, order, refund } = asked();
      fixture.do(answer(order, refund, { outcome: 'REFUSED', failure: DISPUTED }));
      fixture.when(resolve(order, 'ref_1_unknown', outcome)).refuses('NOT_FOUND');
      fixture.do(resolve(order, refund.id, outcome, 'bank 17'));
      const isBack = outcome === 'GIVEN_BACK';
      const expected = isBack ? [0, 5198, 0, 'SUCCEEDED'] : [5198, 0, 0, 'FAILED'];
      assert.deepEqual(books(orderNow(fixture, order)), expected);
      fixture.when(resolve(order, refund.id, outcome)).refuses('REFUND_NOT_OPEN', { status: expected[3] });
      assertSameAfterReplay(fixture);
    }
    const { fixture, order, refund } = asked();
    fixture.do(answer(order, refund, { outcome: 'REFUSED', failure: DISPUTED }));
    fixture.do(reported(order, 5000, { reference: 're_page' }));
    const limit = { refundable: 198, requested: 5198 };
    fixture.when(resolve(order, refund.id, 'GIVEN_BACK')).refuses('REFUND_TOO_HIGH', limit);
    fixture.when(resolve(order, refund.id, 'NOT_GIVEN_BACK', 're_page')).refuses('VALIDATION_ERROR');
  });

  it("counts once with the provider's report where an operator resolves it without a reference", () => {
    const page = { reference: 're_page' };
    const charge = { reference: null, reportReference: 'evt_1' };
    type Steps = (report: (more: Partial<CommandOf<'RecordRefund'>>) => void, settle: () => void) => void;
    const orders: Record<string, Steps> = {
      'report after': (report, settle) => [settle(), report(page)],
      'report before': (report, settle) => [report(page), settle()],
      'report of the charge before': (report, settle) => [report(charge), settle()],
      'reports around it': (report, settle) => [report(charge), settle(), report(page)],
      'no report': (_report, settle) => settle(),
    };
    for (const [name, steps] of Object.entries(orders)) {
      const { fixture, order } = bought();
      const [one, other] = order.tickets.map(({ id }) => id) as [string, string];
      fixture.do(amend(order.id, [one]));
      const { refunds } = fixture.do(execute(order)).order;
      fixture.do(answer(order, refunds[0]!, { outcome: 'REFUSED', failure: DISPUTED }));
      const settle = () => fixture.do(resolve(order, refunds[0]!.id, 'GIVEN_BACK'));
      steps((more) => fixture.do(reported(order, 2599, more)), settle);
      const [due, back, pending] = books(orderNow(fixture, order));
      assert.deepEqual([due, back, pending], [0, 2599, 0], name);
      fixture.do(amend(order.id, [other]));
      const next = fixture.do(execute(order)).order.refunds.at(-1)!;
      assert.equal(requestOf(fixture, match(order, next, there(2599)))?.amountCents, 2599, name);
      assert.equal(orderNow(fixture, order).refundedCents, 2599, name);
      assertSameAfterReplay(fixture);
    }
  });
});

describe('A report of a refund that was executed', () => {
  it('moves its status forward only', () => {
    const { fixture, order, refund } = asked();
    const about = { refundId: refund.id, reference: 're_1' };
    fixture.when(reported(order, 5198, { ...about, status: 'PENDING' })).then([]);
    fixture.when(reported(order, 5198, about)).then(['RefundRecorded']);
    fixture.when(answer(order, refund, { outcome: 'UNCLEAR', isAnswered: false })).then([]);
    fixture.when(reported(order, 5198, { ...about, status: 'PENDING' })).then([]);
    const { money, refunds: all } = fixture.state.orders;
    const hour = () => money.view(-Infinity, all).hours[0]!.refundedCents;
    assert.equal(hour(), 5198);
    fixture.when(reported(order, 5198, { ...about, status: 'FAILED' })).then(['RefundAnswered']);
    assert.deepEqual(books(orderNow(fixture, order)), [5198, 0, 0, 'FAILED']);
    assert.equal(hour(), 0);
    fixture.when(reported(order, 5198, about)).then([]);
    // It was given back after all: the next try finds it there, and takes it off.
    const { refunds } = fixture.do(execute(order)).order;
    assert.equal(requestOf(fixture, match(order, refunds.at(-1)!, there(5198, about))), null);
    assert.deepEqual(books(orderNow(fixture, order)), [0, 5198, 0, 'FAILED', 'FAILED', 'SUCCEEDED']);
    assertSameAfterReplay(fixture);
  });

  it('that names no refund is matched with it, before and after it has succeeded', () => {
    for (const isFirst of [true, false]) {
      const { fixture, order, refund } = asked();
      const unnamed = reported(order, 5198, { reportReference: 'evt_1' });
      if (isFirst) fixture.do(unnamed);
      fixture.do(answer(order, refund, { outcome: 'SUCCEEDED', reference: 're_1' }));
      fixture.do(unnamed);
      assert.deepEqual(books(orderNow(fixture, order)), [0, 5198, 0, 'SUCCEEDED']);
      assertSameAfterReplay(fixture);
    }
  });

  it('of one that failed after it had counted leaves room for the rest of another, which the next try records', () => {
    const { fixture, order, refund } = asked();
    fixture.do(reported(order, 3000, { reference: 're_1' }));
    const list = [
      { ...there(3000, { reference: 're_1' }), status: 'FAILED' as const },
      there(5198, { reference: 're_2' }),
    ];
    assert.equal(requestOf(fixture, match(order, refund, ...list)), null);
    fixture.do(reported(order, 3000, { reference: 're_1', status: 'FAILED' }));
    assert.deepEqual(books(orderNow(fixture, order)).slice(0, 2), [3000, 2198]);
    const { refunds } = fixture.do(execute(order)).order;
    assert.equal(requestOf(fixture, match(order, refunds.at(-1)!, ...list)), null);
    assert.deepEqual(books(orderNow(fixture, order)), [0, 5198, 0, 'FAILED', 'FAILED', 'SUCCEEDED', 'FAILED']);
    const { money, refunds: all } = fixture.state.orders;
    const view = money.view(-Infinity, all);
    assert.deepEqual([view.hours[0]!.refundedCents, view.hours[0]!.refunds], [5198, 1]);
    const restored = restore(fixture.state).orders;
    assert.deepEqual(restored.money.view(-Infinity, restored.refunds), view);
    assertSameAfterReplay(fixture);
  });

  it('that names no refund is not taken for another one where one failed that the provider had begun', () => {
    const { fixture, order, refund } = asked();
    fixture.do(reported(order, 5198, { refundId: refund.id, reference: 're_1', status: 'FAILED' }));
    // Delivered late: it says that the refund was begun. A second one is of money that went.
    fixture.do(reported(order, 5198, { reportReference: 'evt_1' }));
    fixture.when(reported(order, 5198, { reportReference: 'evt_1' })).then([]);
    assert.deepEqual(books(orderNow(fixture, order)), [5198, 0, 0, 'FAILED']);
    fixture.do(reported(order, 5198, { reportReference: 'evt_2' }));
    assert.deepEqual(books(orderNow(fixture, order)), [0, 5198, 0, 'FAILED', 'SUCCEEDED']);
    assertSameAfterReplay(fixture);
  });

  it('finds the order by the session, and says of which payment the money was', () => {
    const { fixture, order } = owing();
    const [{ checkoutSessionId, id: paymentId }] = orderNow(fixture, order).payments as [PaymentView];
    const by = { ...reported(order, 500, { reference: 're_9' }), orderId: null, checkoutSessionId };
    assert.equal(fixture.do(by).order.refunds[0]!.paymentId, paymentId);
    fixture.when({ ...by, checkoutSessionId: 'cs_unknown' }).refuses('ORDER_NOT_FOUND');
    fixture.do({ ...by, status: 'FAILED' });
    assert.deepEqual(books(orderNow(fixture, order)), [5198, 0, 0, 'FAILED']);
    assertSameAfterReplay(fixture);
  });
});

describe('A refund that was made at the page of the provider', () => {
  it('is no other one of the same amount, where each is of another session', () => {
    const { fixture, order } = boughtInTwo();
    fixture.do(cancelByOperator(order.id));
    const [first, second] = orderNow(fixture, order).payments as [PaymentView, PaymentView];
    const { refunds } = fixture.do(execute(order)).order;
    const [ofSecond] = refunds as [RefundView];
    // A report of the charge comes before the answer about the refund of the other installment.
    const { checkoutSessionId } = first;
    fixture.do(reported(order, 2599, { reportReference: 'evt_1', checkoutSessionId }));
    fixture.do(answer(order, ofSecond, { outcome: 'SUCCEEDED', reference: 're_2' }));
    const shares = orderNow(fixture, order).refunds.map((refund) => [refund.paymentId, refund.reportReference]);
    assert.deepEqual(shares, [
      [second.id, undefined],
      [first.id, 'evt_1'],
    ]);
    assertSameAfterReplay(fixture);
  });

  it('and failed is not counted, in whichever order its reports come', () => {
    const { fixture, order, payment } = owing();
    const { checkoutSessionId } = orderNow(fixture, order).payments[0]!;
    const made = { reference: 're_page', checkoutSessionId };
    fixture.when(reported(order, 500, { ...made, status: 'FAILED' })).then(['RefundRequested', 'RefundAnswered']);
    fixture.when(reported(order, 500, { ...made, status: 'FAILED' })).then([]);
    fixture.when(reported(order, 500, made)).then([]);
    assert.deepEqual(books(orderNow(fixture, order)), [5198, 0, 0, 'FAILED']);
    assert.equal(orderNow(fixture, order).refunds[0]!.paymentId, payment.id);
    // What a report of the charge, or an operator, said of it is taken off.
    fixture.do(reported(order, 700, { reportReference: 'evt_7', checkoutSessionId }));
    fixture.do(reported(order, 700, { ...made, reference: 're_7', status: 'FAILED' }));
    fixture.do(refundNote(order.id, 800));
    fixture.do(reported(order, 800, { ...made, reference: 're_8', status: 'FAILED' }));
    assert.deepEqual(books(orderNow(fixture, order)), [5198, 0, 0, 'FAILED', 'FAILED', 'FAILED']);
    // Of a session whose money is not known there is nothing to give back.
    const unknown = { reference: 're_9', checkoutSessionId: 'cs_unknown', status: 'FAILED' } as const;
    fixture.when(reported(order, 900, unknown)).then([]);
    // Not every provider names the session.
    fixture.do(reported(order, 600, { reference: 're_6', status: 'FAILED' }));
    fixture.when(reported(order, 600, { reference: 're_6' })).then([]);
    assert.equal(orderNow(fixture, order).refunds.at(-1)!.status, 'FAILED');
    assertSameAfterReplay(fixture);
  });

  it('leaves the report of another one to that one, where both had the same amount before', () => {
    const { fixture, order } = boughtInTwo();
    fixture.do(cancelByOperator(order.id));
    const [ofSecond, ofFirst] = fixture.do(execute(order)).order.refunds as [RefundView, RefundView];
    fixture.do(answer(order, ofFirst, { outcome: 'SUCCEEDED', reference: 're_1' }));
    // Of two with the same amount it is noted with the first; what that one asks for is less by then.
    fixture.do(reported(order, 2599, { reportReference: 'evt_1' }));
    assert.equal(requestOf(fixture, match(order, ofSecond, there(600)))!.amountCents, 1999);
    fixture.do(answer(order, ofSecond, { outcome: 'SUCCEEDED', reference: 're_2' }));
    fixture.do(reported(order, 1999, { reportReference: 'evt_2' }));
    fixture.when(reported(order, 2599, { reportReference: 'evt_1' })).then(['RefundRecorded']);
    assert.deepEqual(books(orderNow(fixture, order)), [0, 5198, 0, 'SUCCEEDED', 'SUCCEEDED', 'SUCCEEDED']);
    assertSameAfterReplay(fixture);
  });

  it('and noted by an operator with its reference is known by its payment once a try found it', () => {
    const { fixture, order } = boughtInTwo();
    fixture.do(cancelByOperator(order.id));
    const [first, second] = orderNow(fixture, order).payments as [PaymentView, PaymentView];
    fixture.do(refundNote(order.id, 2599, { reference: 're_page' }));
    const { refunds } = fixture.do(execute(order)).order;
    const asksFor = ({ refunds: all }: OrderView) => all.at(-1)!.paymentId;
    assert.equal(refunds.at(-1)!.paymentId, second.id);
    assert.equal(requestOf(fixture, match(order, refunds.at(-1)!, there(2599))), null);
    assert.deepEqual(books(orderNow(fixture, order)), [2599, 2599, 0, 'SUCCEEDED', 'FAILED']);
    assert.equal(asksFor(fixture.do(execute(order)).order), first.id);
    assertSameAfterReplay(fixture);
  });
});

describe('A refund that failed here and is found at the provider', () => {
  it('is recorded, and taken off once the provider reports that it failed', () => {
    const { fixture, order, refund } = asked();
    fixture.do(answer(order, refund, { outcome: 'FAILED', reference: 're_0' }));
    const next = fixture.do(execute(order)).order.refunds.at(-1)!;
    const late = { reference: 're_1', refundId: refund.id };
    fixture.do(match(order, next, there(5198, late)));
    assert.deepEqual(books(orderNow(fixture, order)), [0, 5198, 0, 'FAILED', 'FAILED', 'SUCCEEDED']);
    fixture.do(reported(order, 5198, { ...late, status: 'FAILED' }));
    assert.deepEqual(books(orderNow(fixture, order)), [5198, 0, 0, 'FAILED', 'FAILED', 'FAILED']);
    fixture.when(reported(order, 5198, { ...late, status: 'FAILED' })).then([]);
    fixture.when(reported(order, 5198, late)).then([]);
    assertSameAfterReplay(fixture);
  });
});

describe('A refund that is reduced while a request for more is under way', () => {
  it('is recorded with what the provider answers that it gave back', () => {
    const { fixture, order, refund } = asked();
    assert.equal(requestOf(fixture, match(order, refund))!.amountCents, 5198);
    assert.equal(requestOf(fixture, match(order, refund, there(600, { status: 'PENDING' })))!.amountCents, 4598);
    fixture.do(answer(order, refund, { outcome: 'SUCCEEDED', reference: 're_1', amountCents: 5198 }));
    assert.deepEqual(books(orderNow(fixture, order)), [0, 5198, 0, 'SUCCEEDED']);
    assertSameAfterReplay(fixture);
  });
});

describe('Everything that is due', () => {
  it('is asked for part by part, goes on in a restored event, and again for what is due since', () => {
    const { fixture, order } = owing();
    const other = checkOut(fixture, buy([item('adult', 1)]));
    recordPayment(fixture, report(paymentOf(other), 'paid'));
    fixture.do(cancelByOperator(other.order.id));
    const { amountCents: all } = fixture.state.orders.refunds.toAsk(null)[0]!;
    const due = { type: 'ExecuteDueRefunds', performanceId: null, operator: 'olga', note: null } as const;
    fixture.when({ ...due, confirm: [] }).refuses('REFUND_SUM_CHANGED');
    const confirm = [{ amountCents: all, currency: 'EUR' }];
    fixture.when({ ...due, confirm }).then(['DueRefundsOrdered']);
    const next = (after: number | null) => ({ type: 'AskNextRefunds', after, limit: 1 }) as const;
    fixture.when(next(null)).then(['RefundRequested']);
    assert.deepEqual(restore(fixture.state).orders.executing, [{ performanceId: null, operator: 'olga' }]);
    assert.equal(nextWorkAt(fixture.state), 0);
    const [refund] = orderNow(fixture, order).refunds;
    fixture.do(answer(order, refund!, { outcome: 'FAILED', reference: 're_1' }));
    // To an order that was passed something is due since; a repeat of that is one more look at most.
    fixture.when({ ...due, confirm }).then(['DueRefundsOrdered']);
    fixture.when({ ...due, confirm }).then([]);
    fixture.when(next(0)).then(['RefundRequested', 'DueRefundsAsked']);
    fixture.when(next(null)).then(['RefundRequested']);
    fixture.when(next(0)).then(['DueRefundsAsked']);
    fixture.when(next(null)).then([]);
    const { sums } = fixture.state.orders.refunds;
    assert.deepEqual(sums.TO_ASK, []);
    assert.deepEqual(sums.DUE, [{ amountCents: all, currency: 'EUR', count: 2 }]);
    assert.deepEqual(restore(fixture.state).orders.refunds.sums, sums);
    assertSameAfterReplay(fixture);
  });

  it('of a date is of the orders with a ticket on it', () => {
    const { fixture } = owing();
    const [date] = [...fixture.state.performances.keys()];
    const { refunds } = fixture.state.orders;
    assert.deepEqual(refunds.toAsk(date!), refunds.toAsk(null));
    assert.deepEqual(refunds.toAsk('another'), []);
    const due = {
      type: 'ExecuteDueRefunds',
      performanceId: 'another',
      confirm: [],
      operator: null,
      note: null,
    } as const;
    fixture.when(due).refuses('PERFORMANCE_NOT_FOUND');
  });
});

describe('An event that refunds by itself', () => {
  it('asks for what becomes due in the turn that makes it due, and not again for what failed', () => {
    const { fixture, order, payment } = bought(openCheckoutEvent({ refunds: 'AUTOMATIC' }));
    fixture.when(report(payment, 'paid', { amountCents: 300 })).then(['StrayMoneyRecorded', 'RefundRequested']);
    fixture.when(cancelByOperator(order.id)).then(['OrderCancelled', 'RefundRequested']);
    const { refunds } = orderNow(fixture, order);
    assert.deepEqual(
      refunds.map(({ amountCents }) => amountCents),
      [300, 5198],
    );
    for (const refund of refunds) {
      fixture.when(answer(order, refund, { outcome: 'FAILED', reference: 're' })).then(['RefundAnswered']);
    }
    assert.deepEqual(books(orderNow(fixture, order)), [5498, 0, 0, 'FAILED', 'FAILED']);
    fixture
      .when(report(payment, 'paid', { amountCents: 7, currency: 'USD' }))
      .then(['StrayMoneyRecorded', 'RefundRequested', 'RefundRequested', 'RefundRequested']);
    assertSameAfterReplay(fixture);
  });
});

// ── any provider ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** A provider that keeps its first answer under a key, and its own list of what it gave back. */
class ModelProvider {
  readonly refunds: { -readonly [Field in keyof ProviderRefund]: ProviderRefund[Field] }[] = [];
  readonly #answers = new Map<string, RefundAnswer>();
  readonly #paidCents: number;

  constructor(paidCents: number) {
    this.#paidCents = paidCents;
  }

  get givenCents(): number {
    return this.refunds.reduce((sum, { status, amountCents }) => sum + (status === 'FAILED' ? 0 : amountCents), 0);
  }

  /** Gives back by a click on its page, as far as it has money of the payment. */
  click(amountCents: number): void {
    if (this.givenCents + amountCents > this.#paidCents) return;
    this.refunds.push(there(amountCents, { reference: `re_${this.refunds.length}` }));
  }

  ask({ key, refundId, amountCents }: RefundRequest, how: Behaviour): RefundAnswer {
    const known = this.#answers.get(key);
    const given = known ?? this.#decide(refundId, amountCents, how);
    this.#answers.set(key, given);
    return how === 'LOST' || how === 'BROKEN_LINE' ? { outcome: 'UNCLEAR', isAnswered: false } : given;
  }

  #decide(refundId: string, amountCents: number, how: Behaviour): RefundAnswer {
    if (how === 'ERROR') return { outcome: 'UNCLEAR', isAnswered: true };
    if (how === 'REFUSED' || this.givenCents + amountCents > this.#paidCents) {
      return { outcome: 'REFUSED', failure: DISPUTED };
    }
    const reference = `re_${this.refunds.length}`;
    const status = how === 'PENDING' || how === 'FAILED' ? how : 'SUCCEEDED';
    this.refunds.push({ reference, refundId, amountCents, status });
    return { outcome: status, reference };
  }
}

const BEHAVIOURS = ['SUCCEEDED', 'PENDING', 'FAILED', 'REFUSED', 'LOST', 'BROKEN_LINE', 'ERROR'] as const;
type Behaviour = (typeof BEHAVIOURS)[number];

const amount = fc.integer({ min: 1, max: 3000 });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('TRY'), how: fc.constantFrom(...BEHAVIOURS) }) },
  fc.record({ do: fc.constantFrom('EXECUTE', 'CLICK', 'NOTE'), amount }),
  fc.record({ do: fc.constantFrom('EXECUTE_DUE', 'SETTLE', 'SETTLE_FAILED', 'CANCEL', 'RETRY', 'RESTORE') }),
  { weight: 2, arbitrary: fc.record({ do: fc.constant('REPORT'), nth: fc.nat(7), late: fc.boolean() }) },
);
type Step = { do: string; how?: Behaviour; amount?: number; nth?: number; late?: boolean };

describe('Whatever a provider answers, loses and reports', () => {
  it('no money is given back twice, and the books agree with its own list in the end', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps: readonly Step[]) => {
        const { fixture, order } = bought();
        const provider = new ModelProvider(5198);
        let cancelled = false;
        let notedCents = 0;
        const tryOne = (how: Behaviour): boolean => {
          const [due] = listDueRefunds(fixture.state, 1, fixture.now).due;
          if (due === undefined) return false;
          const refund = { id: due.refundId } as RefundView;
          const request = requestOf(fixture, match(order, refund, ...provider.refunds));
          if (request === null) return true;
          const given = how === 'BROKEN_LINE' ? null : provider.ask(request, how);
          fixture.do(answer(order, refund, given ?? { outcome: 'UNCLEAR', isAnswered: false }));
          return true;
        };
        const check = (): void => {
          const view = orderNow(fixture, order);
          const keeps = cancelled ? 0 : 5198;
          assert.equal(view.refundDueCents, Math.max(0, 5198 - keeps - view.refundedCents), 'promise 14');
          assert.ok(view.refundedCents <= 5198);
          assert.ok(provider.givenCents <= 5198);
          const executed = provider.refunds.filter(({ refundId, status }) => refundId !== null && status !== 'FAILED');
          assert.equal(new Set(executed.map(({ refundId }) => refundId)).size, executed.length, 'promise 15');
        };
        for (const { do: what, how = 'SUCCEEDED', amount: cents = 1, nth = 0, late = false } of steps) {
          if (what === 'TRY') tryOne(how);
          else if (what === 'EXECUTE') fixture.execute(execute(order, { amountCents: cents }));
          else if (what === 'EXECUTE_DUE') fixture.execute(execute(order));
          else if (what === 'CLICK') provider.click(cents);
          else if (what === 'NOTE' && notedCents + provider.givenCents + cents <= 5198) {
            const noted = refundNote(order.id, cents, { reference: `cash ${steps.length} ${notedCents}` });
            if (!isRefusal(fixture.execute(noted))) notedCents += cents;
          } else if (what === 'CANCEL') {
            fixture.do(cancelByOperator(order.id));
            cancelled = true;
          } else if (what.startsWith('SETTLE')) {
            const open = provider.refunds.find(({ status }) => status === 'PENDING');
            if (open !== undefined) open.status = what === 'SETTLE' ? 'SUCCEEDED' : 'FAILED';
          } else if (what === 'RETRY') {
            for (const { id, status } of orderNow(fixture, order).refunds) {
              if (status === 'NEEDS_OPERATOR') fixture.do(resolve(order, id, 'RETRY'));
            }
          } else if (what === 'REPORT') {
            const about = provider.refunds[nth];
            // One that was delivered late says what was before.
            const status = late ? 'PENDING' : about?.status;
            if (about !== undefined) {
              const { reference, refundId, amountCents } = about;
              fixture.execute(reported(order, amountCents, { reference, refundId, status: status! }));
            }
          } else if (what === 'RESTORE') restore(fixture.state);
          check();
        }
        // In the end everything is asked for, by a provider that answers.
        fixture.do(cancelByOperator(order.id));
        cancelled = true;
        for (let round = 0; round < 10; round += 1) {
          for (const open of provider.refunds) if (open.status === 'PENDING') open.status = 'SUCCEEDED';
          for (const { id, status } of orderNow(fixture, order).refunds) {
            if (status === 'NEEDS_OPERATOR') fixture.do(resolve(order, id, 'RETRY'));
          }
          fixture.execute(execute(order));
          fixture.wait(25 * HOUR);
          while (tryOne('SUCCEEDED'));
          check();
        }
        assert.deepEqual(fixture.state.orders.refunds.sums, restore(fixture.state).orders.refunds.sums);
        const { refundedCents, refundPendingCents } = orderNow(fixture, order);
        assert.equal(refundPendingCents, 0);
        assert.ok(refundedCents >= Math.min(5198, provider.givenCents), 'what was given back there is in the books');
        assertSameAfterReplay(fixture);
      }),
      { numRuns: 300 },
    );
  });
});
