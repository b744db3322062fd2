/** Payments: reports of providers, installments, how orders end, late money, refunds. */
import assert from 'node:assert/strict';
import { beers, CODES, DATES, evenings, item, LOCALITIES, PRICES, seats, TYPES } from './event.ts';
import {
  buy,
  cancelOrder,
  cancelPerformance,
  checkout,
  customer,
  define,
  openPayment,
  order,
  orders,
  paid,
  place,
  read,
  refund,
  reported,
  statusOf,
  ticket,
} from './requests.ts';
import { HOUR, MINUTE, moment, scenario, type Sale, type Scenario } from './scenario.ts';
import { ORDER_PAYMENTS_MAX } from '#domain/orders/decide.ts';
import type { StartedCheckoutBody } from '#http/buyers/checkout/schema.ts';
import type { Json } from '../fixtures/client.ts';

type Ordered = Pick<StartedCheckoutBody, 'order_id'>;

const two = seats('H-1-1', 'H-1-2');

/** A checkout of two seats for 51.98. */
const start = (sale: Sale, fields: Json = {}): Promise<StartedCheckoutBody> => sale.ask(buy(two, fields));

/** What payments change: status, payment_status, paid_amount and refund_due. */
async function money(sale: Sale, ordered: Ordered) {
  const { status, payment_status: payment, paid_amount: sum, refund_due: due } = await sale.ask(statusOf(ordered));
  return [status, payment, sum, due];
}

/** The tickets of the first evening that are held and sold. */
async function taken(sale: Sale, performanceId = 'd1') {
  const { held, sold } = await sale.stock(performanceId);
  return [held, sold];
}

const paying: readonly Scenario[] = [
  scenario('A paid order is CONFIRMED, with tickets that are sold', evenings(), async (sale) => {
    const started = await start(sale);
    assert.deepEqual(await sale.ask(paid(started)), { result: 'recorded' });
    const status = await sale.ask(statusOf(started));
    assert.deepEqual(await money(sale, started), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    assert.deepEqual([status.remaining_amount, status.paid_installments], [0, 1]);
    assert.equal(status.payments[0]!.paid_at, moment(sale.now()));
    assert.deepEqual(
      status.ticket_objects.map(({ id, seat_id: seat, valid }) => [id, seat, valid]),
      [
        [status.tickets[0], 'H-1-1', true],
        [status.tickets[1], 'H-1-2', true],
      ],
    );
    assert.deepEqual(await taken(sale), [0, 2]);
    sale.wait(HOUR);
    assert.deepEqual(await taken(sale), [0, 2]);
  }),

  scenario(
    'A report counts once, and what a provider says of a paid session later changes nothing',
    evenings(),
    async (sale) => {
      const started = await start(sale);
      await sale.ask(paid(started, { id: 'msg_1' }));
      const before = await sale.ask(statusOf(started));
      assert.deepEqual(await sale.repeats(paid(started, { id: 'msg_1' })), { result: 'repeated' });
      await sale.repeats(paid(started));
      await sale.repeats(paid(started, { paymentId: 'pi_1' }));
      for (const outcome of ['declined', 'cancelled'] as const) await sale.changesNothing(reported(outcome, started));
      assert.deepEqual(await sale.ask(statusOf(started)), before);
    },
  ),

  scenario('A report of an unknown session, or by another provider, changes nothing', evenings(), async (sale) => {
    const started = await start(sale);
    const { payments } = await sale.ask(statusOf(started));
    await sale.refuses(paid(started, { session: `${started.checkout_session_id!.slice(0, -2)}xx` }), 'ORDER_NOT_FOUND');
    for (const outcome of ['paid', 'declined', 'cancelled'] as const) {
      for (const session of [started.checkout_session_id, 'cs_unknown']) {
        const foreign = { provider: 'provider_b', session, paymentId: payments[0]!.id };
        await sale.refuses(reported(outcome, started, foreign), 'ORDER_NOT_FOUND');
      }
    }
    assert.deepEqual(await money(sale, started), ['PENDING', 'PENDING', 0, 0]);
    await sale.ask(paid(started));
    assert.deepEqual(await money(sale, started), ['CONFIRMED', 'COMPLETED', 5198, 0]);
  }),

  scenario(
    'Money of another amount or currency is due back and leaves the order as it was',
    evenings(),
    async (sale) => {
      const started = await start(sale);
      await sale.ask(paid(started, { amount: 5197, id: 'msg_2' }));
      await sale.repeats(paid(started, { amount: 5197, id: 'msg_2' }));
      assert.deepEqual(await money(sale, started), ['PENDING', 'PENDING', 5197, 5197]);
      assert.equal((await sale.ask(statusOf(started))).remaining_amount, 5198);
      await sale.ask(paid(started, { currency: 'USD' }));
      await sale.ask(paid(started));
      // Dollars are never added to euros.
      const confirmed = ['CONFIRMED', 'COMPLETED', 5197 + 5198, 5197];
      assert.deepEqual(await money(sale, started), confirmed);
      const due = { amount: 5197, currency: 'EUR' };
      assert.deepEqual((await sale.ask(order(started))).refunds_due, [due, { amount: 5198, currency: 'USD' }]);
      const dollars = { currency: 'USD' };
      await sale.refuses(refund(started, 5199, dollars), 'REFUND_TOO_HIGH', { refundable: 5198, requested: 5199 });
      const refunded = await sale.ask(refund(started, 5000, dollars));
      assert.deepEqual(refunded.refunds_due, [due, { amount: 198, currency: 'USD' }]);
      assert.deepEqual(await money(sale, started), confirmed);
      assert.deepEqual((await sale.ask(refund(started, 198, dollars))).refunds_due, [due]);
      assert.deepEqual(
        refunded.payments.map(({ amount, currency, status }) => [amount, currency, status]),
        [
          [5198, 'EUR', 'PAID'],
          [5197, 'EUR', 'PAID'],
          [5198, 'USD', 'PAID'],
        ],
      );
    },
  ),

  scenario('More money than a payment asks for is due back whole', evenings(), async (sale) => {
    const started = await start(sale);
    await sale.ask(paid(started, { amount: 6000 }));
    assert.deepEqual(await money(sale, started), ['PENDING', 'PENDING', 6000, 6000]);
  }),

  scenario('A declined payment leaves the order PENDING until another one is paid', evenings(), async (sale) => {
    const started = await start(sale);
    await sale.ask(reported('declined', started));
    assert.deepEqual(await money(sale, started), ['PENDING', 'FAILED', 0, 0]);
    const next = await sale.ask(openPayment(started));
    assert.notEqual(next.checkout_session_id, started.checkout_session_id);
    assert.equal(next.expires_at, started.expires_at, 'the window stays');
    assert.deepEqual(await money(sale, started), ['PENDING', 'PENDING', 0, 0]);
    await sale.changesNothing(reported('cancelled', started));
    await sale.ask(paid(next));
    assert.deepEqual(await money(sale, started), ['CONFIRMED', 'COMPLETED', 5198, 0]);
  }),

  scenario('A declined payment does not move the end of the window', evenings(), async (sale) => {
    const started = await start(sale);
    await sale.ask(reported('declined', started));
    sale.wait(30 * MINUTE);
    await sale.refuses(openPayment(started), 'ORDER_NOT_PAYABLE', { status: 'EXPIRED' });
    assert.deepEqual(await money(sale, started), ['EXPIRED', 'FAILED', 0, 0]);
  }),

  scenario('A declined payment may still be paid; then the newer one is due back', evenings(), async (sale) => {
    const started = await start(sale);
    await sale.ask(reported('declined', started));
    const next = await sale.ask(openPayment(started));
    await sale.ask(paid(started));
    assert.deepEqual(await money(sale, started), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    await sale.ask(paid(next));
    assert.deepEqual(await money(sale, started), ['CONFIRMED', 'COMPLETED', 10_396, 5198]);
  }),

  scenario('A payment whose session is open is given again', evenings(), async (sale) => {
    const started = await start(sale);
    assert.deepEqual(await sale.changesNothing(openPayment(started)), started);
  }),

  scenario(
    'A payment is refused when nothing is left to pay, the order is over, or there were too many',
    evenings(),
    async (sale) => {
      const started = await start(sale);
      await sale.refuses(openPayment({ order_id: `${started.order_id.slice(0, -4)}AAAA` }), 'ORDER_NOT_FOUND', {});
      await sale.ask(paid(started));
      await sale.refuses(openPayment(started), 'ORDER_NOT_PAYABLE', { status: 'CONFIRMED' });
      await sale.ask(cancelOrder(started));
      await sale.refuses(openPayment(started), 'ORDER_NOT_PAYABLE', { status: 'CANCELLED' });
      let tried = await sale.ask(buy(item('adult', 1)));
      for (let tries = 1; tries < ORDER_PAYMENTS_MAX; tries += 1) {
        await sale.ask(reported('declined', tried));
        tried = await sale.ask(openPayment(tried));
      }
      await sale.ask(reported('declined', tried));
      await sale.refuses(openPayment(tried), 'ORDER_NOT_PAYABLE', { status: 'PENDING' });
    },
  ),
];

const inParts: readonly Scenario[] = [
  scenario('Installments are paid one after the other, and the first sells the tickets', evenings(), async (sale) => {
    const first = await start(sale, { installment_count: 3 });
    await sale.ask(paid(first, { amount: 1733 }));
    assert.deepEqual(await money(sale, first), ['PARTIALLY_PAID', 'PENDING', 1733, 0]);
    const partly = await sale.ask(statusOf(first));
    assert.deepEqual([partly.remaining_amount, partly.paid_installments, partly.tickets.length], [3465, 1, 2]);
    assert.deepEqual(await taken(sale), [0, 2]);
    sale.wait(24 * HOUR);
    const second = await sale.ask(openPayment(first));
    assert.deepEqual(
      [first, second].map((each) => [each.total_amount, each.amount_due]),
      Array(2).fill([5198, 1733]),
    );
    assert.equal((await sale.ask(buy(item('adult', 1)))).amount_due, undefined, 'without installments all is due');
    assert.deepEqual(await sale.changesNothing(openPayment(first)), second);
    await sale.ask(paid(second, { amount: 1733 }));
    await sale.ask(paid(await sale.ask(openPayment(first)), { amount: 1732 }));
    assert.deepEqual(await money(sale, first), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    const last = await sale.ask(statusOf(first));
    assert.deepEqual(
      last.payments.map(({ installment, amount, status }) => [installment, amount, status]),
      [
        [1, 1733, 'PAID'],
        [2, 1733, 'PAID'],
        [3, 1732, 'PAID'],
      ],
    );
    assert.deepEqual(last.tickets, partly.tickets);
  }),

  scenario(
    'A further installment may be declined or cancelled, and the order keeps its status',
    evenings(),
    async (sale) => {
      const started = await start(sale, { installment_count: 2 });
      await sale.ask(paid(started, { amount: 2599 }));
      for (const outcome of ['declined', 'cancelled'] as const) {
        await sale.ask(reported(outcome, await sale.ask(openPayment(started))));
        assert.deepEqual(await money(sale, started), ['PARTIALLY_PAID', 'PENDING', 2599, 0]);
      }
    },
  ),

  scenario(
    'No installment is of amount 0',
    evenings({ sellingStages: [{ id: 'general', prices: { ...PRICES, adult: 2 } }] }),
    async (sale) => {
      const started = await sale.ask(buy(item('adult', 1), { installment_count: 3 }));
      assert.equal((await sale.ask(statusOf(started))).total_installments, 2);
    },
  ),
];

const ending: readonly Scenario[] = [
  scenario(
    'An order EXPIRES at the millisecond at which its window ends, and gives everything back',
    evenings({ max_tickets_per_email: 2 }),
    async (sale) => {
      const started = await start(sale, { promo_code: 'ONCE' });
      sale.wait(30 * MINUTE - 1);
      assert.equal((await sale.ask(statusOf(started))).status, 'PENDING');
      assert.deepEqual(await taken(sale), [2, 0]);
      sale.wait(1);
      assert.deepEqual(await money(sale, started), ['EXPIRED', 'PENDING', 0, 0]);
      assert.deepEqual(await taken(sale), [0, 0]);
      assert.equal((await sale.ask(statusOf(started))).payments[0]!.status, 'EXPIRED');
      await sale.changesNothing(reported('cancelled', started));
      await start(sale, { promo_code: 'ONCE' });
    },
  ),

  scenario('An order is CANCELLED when its buyer cancels at the provider', evenings(), async (sale) => {
    const started = await start(sale);
    await sale.ask(reported('cancelled', started));
    assert.deepEqual(await money(sale, started), ['CANCELLED', 'PENDING', 0, 0]);
    assert.deepEqual(await taken(sale), [0, 0]);
    await sale.refuses(openPayment(started), 'ORDER_NOT_PAYABLE', { status: 'CANCELLED' });
    await sale.refuses(cancelOrder(started), 'ORDER_NOT_CANCELLABLE', { status: 'CANCELLED' });
  }),

  scenario('An order that is over cannot be cancelled, one that never was is not found', evenings(), async (sale) => {
    const started = await start(sale);
    sale.wait(30 * MINUTE);
    await sale.refuses(cancelOrder(started), 'ORDER_NOT_CANCELLABLE', { status: 'EXPIRED' });
    await sale.refuses(cancelOrder({ order_id: `${started.order_id.slice(0, -4)}AAAA` }), 'ORDER_NOT_FOUND', {});
  }),

  scenario(
    'An order CANCELLED by an operator has void tickets, sells again and is due back',
    evenings(),
    async (sale) => {
      const started = await start(sale);
      await sale.ask(paid(started));
      const { tickets } = await sale.ask(statusOf(started));
      assert.equal((await sale.ask(ticket(tickets[0]!))).valid, true);
      const cancelled = await sale.ask(cancelOrder(started));
      assert.deepEqual([cancelled.cancelled_by, cancelled.cancellation_note], ['OPERATOR', 'asked by the buyer']);
      await sale.changesNothing(cancelOrder(started));
      assert.deepEqual(await money(sale, started), ['CANCELLED', 'COMPLETED', 5198, 5198]);
      assert.deepEqual(await taken(sale), [0, 0]);
      const { valid, void_reason: reason, seat_id: seat } = await sale.ask(ticket(tickets[1]!));
      assert.deepEqual([valid, reason, seat], [false, 'ORDER_CANCELLED', 'H-1-2']);
      await start(sale);
    },
  ),

  scenario('An order is CANCELLED whole with any of its dates, whatever its status', evenings(), async (sale) => {
    const both = [item('adult', 1), item('adult', 2, { performance_id: 'd2' })];
    const whole = await sale.ask(buy(both));
    await sale.ask(paid(whole));
    const partly = await sale.ask(buy(both, { installment_count: 2 }));
    await sale.ask(paid(partly, { amount: 1500 }));
    const pending = await sale.ask(buy(both));
    const free = await sale.ask(buy(both, { promo_code: 'ALL' }));
    const elsewhere = await sale.ask(buy(item('adult', 1)));
    assert.equal((await sale.ask(cancelPerformance('d2'))).cancelled_orders, 4);
    const dues = [];
    for (const each of [whole, partly, pending, free])
      dues.push((await money(sale, each)).filter((_, n) => n % 3 === 0));
    assert.deepEqual(dues, [
      ['CANCELLED', 3000],
      ['CANCELLED', 1500],
      ['CANCELLED', 0],
      ['CANCELLED', 0],
    ]);
    assert.equal((await sale.ask(statusOf(elsewhere))).status, 'PENDING');
    assert.deepEqual(
      [await taken(sale), await taken(sale, 'd2')],
      [
        [1, 0],
        [0, 0],
      ],
    );
    const [first] = (await sale.ask(statusOf(whole))).tickets;
    assert.equal((await sale.ask(ticket(first!))).void_reason, 'PERFORMANCE_CANCELLED');
    await sale.ask(paid(pending));
    assert.deepEqual(await money(sale, pending), ['CANCELLED', 'PENDING', 3000, 3000]);
  }),

  scenario('An order is cancelled once when a definition cancels several of its dates', evenings(), async (sale) => {
    const both = (type: string) => [item(type, 1), item(type, 1, { performance_id: 'd2' })];
    const started = await sale.ask(buy(both('adult')));
    await sale.ask(place(both('guest')));
    await sale.ask(define(evenings({ performances: DATES.map((date) => ({ ...date, status: 'CANCELLED' })) })));
    assert.equal((await sale.ask(statusOf(started))).status, 'CANCELLED');
    assert.deepEqual(
      [await taken(sale), await taken(sale, 'd2')],
      [
        [0, 0],
        [0, 0],
      ],
    );
  }),
];

const held: readonly Scenario[] = [
  scenario('A hold that became an order ends as its order does', evenings(), async (sale) => {
    const begin = async () => {
      const hold = await sale.ask(place(item('adult', 1)));
      const started = await sale.ask(checkout({ hold_id: hold.id }));
      return { started, status: async () => (await sale.ask(read(hold))).status };
    };
    const [bought, cancelled, late] = [await begin(), await begin(), await begin()];
    await sale.ask(paid(bought.started));
    await sale.ask(reported('cancelled', cancelled.started));
    sale.wait(30 * MINUTE);
    const statuses = async () => [await bought.status(), await cancelled.status(), await late.status()];
    assert.deepEqual(await statuses(), ['CONSUMED', 'RELEASED', 'EXPIRED']);
    await sale.ask(cancelOrder(bought.started));
    await sale.ask(paid(late.started));
    assert.deepEqual(await statuses(), ['RELEASED', 'RELEASED', 'CONSUMED']);
  }),
];

/** Ways in which an order ends so that late money may bring it back. */
const ends: Readonly<Record<string, (sale: Sale, started: StartedCheckoutBody) => Promise<unknown>>> = {
  'its window ran out': async (sale) => sale.wait(30 * MINUTE),
  'its buyer cancelled': (sale, started) => sale.ask(reported('cancelled', started)),
};

const late: readonly Scenario[] = [
  ...Object.entries(ends).flatMap(([after, end]) => [
    scenario(
      `Money of an order after ${after} takes the same seats again and confirms it`,
      evenings(),
      async (sale) => {
        const started = await start(sale, { promo_code: 'ONCE' });
        await end(sale, started);
        assert.deepEqual(await taken(sale), [0, 0]);
        await sale.ask(paid(started));
        assert.deepEqual(await money(sale, started), ['CONFIRMED', 'COMPLETED', 2599, 0]);
        assert.deepEqual(await taken(sale), [0, 2]);
        await sale.refuses(buy(item('adult', 1), { promo_code: 'ONCE' }), 'PROMO_CODE_EXHAUSTED');
        assert.equal((await sale.ask(order(started))).cancelled_by, null);
      },
    ),

    scenario(
      `Money of an order after ${after} is due back when a seat is gone, also once it is free again`,
      evenings(),
      async (sale) => {
        const started = await start(sale);
        await end(sale, started);
        const other = await sale.ask(buy(seats('H-1-2')));
        await sale.ask(paid(started));
        const before = await sale.ask(statusOf(started));
        assert.ok(before.status === 'EXPIRED' || before.status === 'CANCELLED');
        assert.deepEqual([before.refund_due, before.paid_amount, before.tickets], [5198, 5198, []]);
        assert.deepEqual(await taken(sale), [1, 0]);
        await sale.ask(cancelOrder(other));
        await sale.repeats(paid(started));
        assert.deepEqual(await sale.ask(statusOf(started)), before);
      },
    ),
  ]),

  scenario('Late money of a first installment makes the order PARTIALLY_PAID', evenings(), async (sale) => {
    const started = await start(sale, { installment_count: 2 });
    sale.wait(30 * MINUTE);
    await sale.ask(paid(started, { amount: 2599 }));
    assert.deepEqual(await money(sale, started), ['PARTIALLY_PAID', 'PENDING', 2599, 0]);
    await sale.ask(paid(await sale.ask(openPayment(started)), { amount: 2599 }));
    assert.deepEqual(await money(sale, started), ['CONFIRMED', 'COMPLETED', 5198, 0]);
  }),

  scenario('Late money is due back when a code or a perk has been used up', evenings(), async (sale) => {
    const coded = await sale.ask(buy(item('adult', 2), { promo_code: 'ONCE' }));
    const perked = await sale.ask(buy(item('adult', 2, beers(4))));
    sale.wait(30 * MINUTE);
    await sale.ask(buy(item('adult', 1), { promo_code: 'ONCE' }));
    await sale.ask(buy(item('adult', 1, beers(2))));
    for (const each of [coded, perked]) {
      await sale.ask(paid(each));
      assert.deepEqual(await money(sale, each), ['EXPIRED', 'PENDING', each.total_amount, each.total_amount]);
    }
  }),

  scenario(
    'Late money is due back when other orders have used the limit of its address',
    evenings({ max_tickets_per_email: 3 }),
    async (sale) => {
      const first = await sale.ask(buy(item('adult', 1), customer('anna@example.org')));
      const second = await sale.ask(buy(item('adult', 1), customer('anna@example.org')));
      sale.wait(30 * MINUTE);
      await sale.ask(buy(item('adult', 2), customer('ANNA+again@example.org')));
      await sale.ask(paid(first));
      assert.deepEqual(await money(sale, first), ['CONFIRMED', 'COMPLETED', 1000, 0]);
      await sale.ask(paid(second));
      assert.deepEqual(await money(sale, second), ['EXPIRED', 'PENDING', 1000, 1000]);
    },
  ),

  scenario(
    'Late money is due back when the date is closed, but pays when only its stage or code is over',
    evenings(),
    async (sale) => {
      const first = await start(sale, { promo_code: 'TENTH' });
      const second = await sale.ask(buy(item('adult', 1, { performance_id: 'd2' })));
      sale.wait(30 * MINUTE);
      const ended = { ends_at: moment(sale.now() - MINUTE) };
      const [one, other] = DATES;
      const changes = {
        sellingStages: [{ id: 'general', prices: PRICES, ...ended }],
        promoCodes: [{ code: 'TENTH', percent_off: 10, ...ended }],
        performances: [one, { ...other, status: 'SOLD_OUT' }],
      };
      await sale.ask(define(evenings(changes)));
      await sale.ask(paid(first));
      await sale.ask(paid(second));
      assert.equal((await sale.ask(statusOf(first))).status, 'CONFIRMED');
      assert.equal((await sale.ask(statusOf(second))).status, 'EXPIRED');
    },
  ),

  scenario('Late money is due back when its ticket type was taken off the event', evenings(), async (sale) => {
    const started = await start(sale);
    sale.wait(30 * MINUTE);
    const { seat: _, ...prices } = PRICES;
    const changes = {
      ticketTypes: TYPES.slice(0, -1),
      sellingStages: [{ id: 'general', prices }],
      localities: LOCALITIES.slice(0, 1),
      promoCodes: CODES.slice(0, -1),
    };
    await sale.ask(define(evenings(changes)));
    await sale.ask(paid(started));
    assert.deepEqual(await money(sale, started), ['EXPIRED', 'PENDING', 5198, 5198]);
  }),

  scenario('Late money never confirms an order that an operator cancelled', evenings(), async (sale) => {
    const started = await start(sale);
    await sale.ask(cancelOrder(started));
    await sale.ask(paid(started));
    assert.deepEqual(await money(sale, started), ['CANCELLED', 'PENDING', 5198, 5198]);
  }),
];

const back: readonly Scenario[] = [
  scenario('A refund lowers what is due and is never more than was paid', evenings(), async (sale) => {
    const started = await start(sale);
    await sale.refuses(refund(started, 1), 'REFUND_TOO_HIGH', { refundable: 0, requested: 1 });
    await sale.ask(paid(started));
    await sale.ask(cancelOrder(started));
    await sale.refuses(refund(started, 5199), 'REFUND_TOO_HIGH', { refundable: 5198, requested: 5199 });
    const partly = await sale.ask(refund(started, 5000));
    assert.deepEqual([partly.refund_due, partly.refunded_amount, partly.paid_amount], [198, 5000, 5198]);
    const { id, ...noted } = partly.refunds[0]!;
    assert.match(id, /^ref_/);
    const now = moment(sale.now());
    const where = { reference: null, provider: null, note: 'cash', payment_id: null, amendment_id: null };
    const ended = { status: 'SUCCEEDED', created_at: now, finished_at: now };
    const tried = { failure: null, tries: 0, next_try_at: null };
    assert.deepEqual(noted, { amount: 5000, currency: 'EUR', ...where, ...ended, ...tried });
    await sale.refuses(refund(started, 199), 'REFUND_TOO_HIGH', { refundable: 198, requested: 199 });
    assert.equal((await sale.ask(refund(started, 198))).refund_due, 0);
    assert.equal((await sale.ask(statusOf(started))).refund_due, 0);
    await sale.refuses(refund({ order_id: `${started.order_id.slice(0, -4)}AAAA` }, 1), 'ORDER_NOT_FOUND', {});
  }),

  scenario(
    'A refund with the same reference counts once, one without a reference each time',
    evenings(),
    async (sale) => {
      const started = await start(sale);
      await sale.ask(paid(started));
      const first = await sale.ask(refund(started, 500, { reference: 're_1' }));
      for (const reference of ['re_1', ' re_1 ']) {
        assert.deepEqual((await sale.changesNothing(refund(started, 500, { reference }))).refunds, first.refunds);
      }
      assert.equal((await sale.ask(refund(started, 500, { reference: 're_2' }))).refunded_amount, 1000);
      await sale.ask(refund(started, 100));
      assert.equal((await sale.ask(refund(started, 100))).refunded_amount, 1200);
    },
  ),

  scenario('A refund that was not due is not due again when the order is cancelled', evenings(), async (sale) => {
    const started = await start(sale);
    await sale.ask(paid(started));
    await sale.ask(refund(started, 1000));
    assert.deepEqual(await money(sale, started), ['CONFIRMED', 'COMPLETED', 5198, 0]);
    assert.equal((await sale.ask(cancelOrder(started))).refund_due, 4198);
  }),

  scenario('Operators list orders page by page, by status and by address', evenings(), async (sale) => {
    const placed: string[] = [];
    for (const email of ['anna+0@example.org', 'anna+1@example.org', 'Anna@Example.org']) {
      placed.push((await sale.ask(buy(item('guest', 1), customer(email)))).order_id);
    }
    placed.push((await sale.ask(buy(item('adult', 1), customer('bo@example.org')))).order_id);
    const found = async (query: Readonly<Record<string, string>>) => {
      const { orders: page, next_cursor: next } = await sale.ask(orders(query));
      return [page.map(({ order_id: id }) => placed.indexOf(id)), next] as const;
    };
    assert.deepEqual(await found({}), [[0, 1, 2, 3], null]);
    const [page, cursor] = await found({ limit: '2' });
    assert.deepEqual(page, [0, 1]);
    assert.deepEqual(await found({ limit: '2', cursor: cursor! }), [[2, 3], null]);
    assert.deepEqual(await found({ status: 'PENDING' }), [[3], null]);
    assert.deepEqual(await found({ email: 'Anna@example.org', limit: '3' }), [[0, 1, 2], null]);
    assert.deepEqual(await found({ order: 'newest', limit: '4' }), [[3, 2, 1, 0], null]);
  }),
];

export const payments = [...paying, ...inParts, ...ending, ...held, ...late, ...back];
