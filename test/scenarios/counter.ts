/** Orders that operators make at a counter: what stands in their way, what they cost, and how money goes back. */
import assert from 'node:assert/strict';
import { clubNight, floor, gala, seat, theatreRun } from '../fixtures/events.ts';
import { place, sell, order, orders, cancelOrder, refund, erase, statusOf, steer, ticket } from './requests.ts';
import { HOUR, moment, scenario, type Scenario } from './scenario.ts';

const ofGala = (id: string, quantity: number, more: object = {}) => ({
  ticket_type_id: id,
  selling_stage_id: 'regular',
  quantity,
  ...more,
});
const ended = (now: number) =>
  clubNight({ performances: [{ id: 'night', starts_at: moment(now - 2 * HOUR), ends_at: moment(now - HOUR) }] });

const ways: readonly Scenario[] = [
  scenario('An order in cash is CONFIRMED at once, with its tickets and its payment', clubNight(), async (sale) => {
    const sold = await sale.ask(sell(floor(2)));
    assert.deepEqual(
      [sold.status, sold.payment_status, sold.payment_provider, sold.total_amount, sold.paid_amount, sold.expires_at],
      ['CONFIRMED', 'COMPLETED', 'CASH', 3800, 3800, null],
    );
    assert.deepEqual(sold.counter, { operator: null, note: 'at the door', exceeds_limits: false });
    const { payments, tickets } = await sale.ask(statusOf(sold));
    assert.deepEqual(
      payments.map(({ amount, status, provider }) => [amount, status, provider]),
      [[3800, 'PAID', 'CASH']],
    );
    assert.equal(tickets.length, 2);
    assert.ok((await sale.ask(ticket(tickets[0]!))).valid);
    assert.deepEqual([(await sale.stock()).sold, (await sale.stock()).held], [2, 0]);
    assert.equal((await sale.ask(orders({ status: 'CONFIRMED' }))).orders.length, 1);
  }),

  scenario('What is given away costs nothing, perks included, and is no money', gala(), async (sale) => {
    const items = [ofGala('single', 2, { bar_perks: [{ bar_perk_id: 'beer', quantity: 1 }] })];
    const sold = await sale.ask(sell(items, { payment: 'FREE' }));
    assert.deepEqual(
      [sold.status, sold.payment_provider, sold.total_amount, sold.payments, sold.ticket_count],
      ['CONFIRMED', 'FREE', 0, [], 2],
    );
    assert.deepEqual([sold.items[0]!.unit_price, sold.items[0]!.bar_perks[0]!.unit_price], [0, 0]);
    await sale.ask(cancelOrder(sold));
    assert.deepEqual((await sale.ask(order(sold))).refunds_due, []);
    assert.equal((await sale.stock()).sold, 0);
  }),

  scenario(
    'An order in cash that comes to nothing is FREE',
    clubNight({ sellingStages: [{ id: 'regular', prices: { single: 0 } }] }),
    async (sale) => {
      const sold = await sale.ask(sell(floor(1)));
      assert.deepEqual([sold.status, sold.payment_provider, sold.payments], ['CONFIRMED', 'FREE', []]);
    },
  ),

  scenario('It takes the seats that it names, which nobody else gets', theatreRun(), async (sale) => {
    const row = seat('stalls', 'fri', 2, { seat_ids: ['S-A-5', 'S-A-6'] });
    const sold = await sale.ask(sell(row));
    assert.deepEqual(sold.items[0]!.seat_ids, ['S-A-5', 'S-A-6']);
    await sale.refuses(sell(row), 'SEAT_TAKEN');
    await sale.ask(place(seat('stalls', 'fri', 1, { seat_ids: ['S-B-1'] })));
    await sale.refuses(sell(seat('stalls', 'fri', 1, { seat_ids: ['S-B-1'] })), 'SEAT_TAKEN');
  }),

  scenario('Codes and people are those of a checkout', gala({ require_individual_data: true }), async (sale) => {
    await sale.refuses(sell(ofGala('single', 2)), 'ATTENDEE_COUNT_MISMATCH');
    await sale.refuses(
      sell(ofGala('single', 1, { attendees: [{ name: 'Ada' }], discount_code: 'NOBODYS' })),
      'PROMO_CODE_INVALID',
    );
    const sold = await sale.ask(sell(ofGala('single', 1, { attendees: [{ name: 'Bob' }] })));
    assert.equal(sold.items[0]!.attendees[0]!.name, 'Bob');
  }),
];

const barriers: readonly Scenario[] = [
  scenario(
    'No pause, no waiting room and no window of a stage stands in its way',
    clubNight({ waiting_room: true }),
    async (sale) => {
      await sale.ask(steer({ paused: true }));
      await sale.refuses(place(floor(1)), 'SALE_PAUSED');
      await sale.ask(sell(floor(1)));
      const late = await sale.ask(sell(floor(1, { selling_stage_id: 'late' })));
      assert.equal(late.total_amount, 2500);
    },
  ),

  scenario(
    'A date that is closed for buyers is sold at the counter',
    clubNight({
      performances: [
        { id: 'night', starts_at: '2028-05-08T20:00:00Z', ends_at: '2028-05-09T04:00:00Z', status: 'SOLD_OUT' },
      ],
    }),
    async (sale) => {
      await sale.refuses(place(floor(1)), 'PERFORMANCE_NOT_ON_SALE');
      await sale.ask(sell(floor(1)));
    },
  ),

  scenario(
    'A date that is over or cancelled is not',
    (now) => ended(now),
    async (sale) => {
      await sale.refuses(sell(floor(1)), 'PERFORMANCE_NOT_ON_SALE', { performance_id: 'night' });
    },
  ),

  scenario('What the event does not have is refused as at a checkout', clubNight(), async (sale) => {
    await sale.refuses(sell(floor(1, { ticket_type_id: 'none' })), 'TICKET_TYPE_NOT_FOUND');
    await sale.refuses(sell(floor(1, { selling_stage_id: 'none' })), 'SELLING_STAGE_NOT_FOUND');
    await sale.refuses(sell(floor(1, { performance_id: 'none' })), 'PERFORMANCE_NOT_FOUND');
    await sale.refuses(sell(floor(101), { exceed_limits: true }), 'INSUFFICIENT_TICKETS');
    await sale.refuses(sell({ ...floor(1), seat_ids: ['S-A-1'] }), 'VALIDATION_ERROR');
  }),

  scenario('An event that is a draft is not sold', clubNight({ status: 'DRAFT' }), async (sale) => {
    await sale.refuses(sell(floor(1)), 'EVENT_NOT_FOUND', {});
  }),

  scenario('Limits hold unless the operator says otherwise', gala(), async (sale) => {
    await sale.refuses(sell(ofGala('single', 7)), 'MAX_PER_ORDER_EXCEEDED');
    await sale.refuses(sell([ofGala('single', 6), ofGala('seat', 5)]), 'MAX_TICKETS_PER_ORDER_EXCEEDED');
    await sale.ask(sell(ofGala('single', 6)));
    await sale.ask(sell(ofGala('single', 6)));
    await sale.refuses(sell(ofGala('single', 1)), 'MAX_TICKETS_PER_EMAIL_EXCEEDED', { limit: 12, requested: 1 });
    const sold = await sale.ask(sell(ofGala('single', 11), { exceed_limits: true }));
    assert.deepEqual([sold.ticket_count, sold.counter?.exceeds_limits], [11, true]);
  }),

  scenario('The same request under its key makes one order', clubNight(), async (sale) => {
    const sold = await sale.ask(sell(floor(2), {}, { key: 'counter-1' }));
    await sale.ask(cancelOrder(sold));
    const again = await sale.repeats(sell(floor(2), {}, { key: 'counter-1' }));
    assert.deepEqual([again.order_id, again.status], [sold.order_id, 'CONFIRMED']);
    assert.equal((await sale.ask(orders())).orders.length, 1);
    await sale.refuses(sell(floor(3), {}, { key: 'counter-1' }), 'IDEMPOTENCY_KEY_REUSED');
  }),
];

const afterwards: readonly Scenario[] = [
  scenario('What was paid in cash is due until it is recorded', clubNight({ refunds: 'AUTOMATIC' }), async (sale) => {
    const sold = await sale.ask(sell(floor(2)));
    const cancelled = await sale.ask(cancelOrder(sold));
    assert.deepEqual([cancelled.refund_due, cancelled.refunds], [3800, []], 'no provider is asked');
    await sale.refuses(refund(sold, 3801), 'REFUND_TOO_HIGH', { refundable: 3800, requested: 3801 });
    const given = await sale.ask(refund(sold, 3800));
    assert.deepEqual([given.refund_due, given.refunded_amount], [0, 3800]);
    assert.equal((await sale.stock()).sold, 0);
  }),

  scenario('Erased with its order is what was noted at the counter', clubNight(), async (sale) => {
    const sold = await sale.ask(sell(floor(1)));
    const erased = await sale.ask(erase(sold));
    assert.deepEqual([erased.customer.name, erased.counter?.note], [null, null]);
    assert.equal((await sale.ask(order(sold))).status, 'CONFIRMED');
  }),
];

export const counters: readonly Scenario[] = [...ways, ...barriers, ...afterwards];
