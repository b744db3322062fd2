/** Erasure: the personal data of an order, gone from every answer, and what of the order stays. */
import assert from 'node:assert/strict';
import { evenings, item, people, seats } from './event.ts';
import {
  buy,
  cancelOrder,
  customer,
  erase,
  order,
  orders,
  paid,
  refund,
  reported,
  statusOf,
  ticket,
} from './requests.ts';
import { MINUTE, moment, scenario, type Sale, type Scenario } from './scenario.ts';
import type { StartedCheckoutBody } from '#http/buyers/checkout/schema.ts';

type Ordered = Pick<StartedCheckoutBody, 'order_id'>;

const maria = {
  customer: { email: 'Maria@Example.com', name: 'Maria Musterfrau', document_number: 'X 1234', phone: '+49 30 1234' },
  tracking: { utm_source: 'letter' },
};

/** Every text that the scenarios give of people. */
const PEOPLE = /maria|musterfrau|1234|bernd|letter|for the ill/i;

/** A paid order with everything that is personal on it. */
async function sold(sale: Sale): Promise<StartedCheckoutBody> {
  const items = [{ ...seats('H-1-1', 'H-1-2'), ...people('Bernd', 'Maria') }, item('adult', 1)];
  const started = await sale.ask(buy(items, maria));
  await sale.ask(paid(started));
  return started;
}

/** What buyers and operators are shown of an order. */
async function shownOf(sale: Sale, ordered: Ordered) {
  const [status, whole, listed] = [
    await sale.ask(statusOf(ordered)),
    await sale.ask(order(ordered)),
    (await sale.ask(orders())).orders.find(({ order_id: id }) => id === ordered.order_id)!,
  ];
  const tickets = [];
  for (const id of status.tickets) tickets.push(await sale.ask(ticket(id)));
  return { status, whole, listed, tickets };
}

/** The same without what is about people. */
function impersonal(value: unknown): unknown {
  const personal = [
    'customer',
    'attendee',
    'attendees',
    'tracking',
    'note',
    'cancellation_note',
    'erased_at',
    'erased_by',
    'personal_data',
  ];
  return JSON.parse(JSON.stringify(value, (name, each: unknown) => (personal.includes(name) ? undefined : each)));
}

export const erasures: readonly Scenario[] = [
  scenario('Erased data of people are gone from every answer, and all else is as before', evenings(), async (sale) => {
    const started = await sold(sale);
    await sale.ask(refund(started, 100, { note: 'for the ill' }));
    const before = await shownOf(sale, started);
    for (const shown of [before.whole, before.listed]) {
      assert.deepEqual([shown.customer, shown.tracking], [maria.customer, maria.tracking]);
      assert.deepEqual([shown.personal_data, shown.refunds[0]!.note], ['OPEN', 'for the ill']);
    }
    assert.equal(before.status.customer.name, 'Maria Musterfrau');
    sale.wait(MINUTE);
    const erased = await sale.ask(erase(started));
    assert.deepEqual([erased.personal_data, erased.erased_at], ['ERASED', moment(sale.now())]);
    const after = await shownOf(sale, started);
    assert.doesNotMatch(JSON.stringify(after), PEOPLE);
    assert.deepEqual(after.status.customer, { name: null, email: null });
    assert.equal(after.status.erased_at, moment(sale.now()));
    assert.deepEqual(impersonal(after), impersonal(before));
    assert.deepEqual((await sale.ask(orders({ email: maria.customer.email }))).orders, []);
  }),

  scenario('An order is erased once, whoever asks again', evenings(), async (sale) => {
    const started = await sold(sale);
    const keyed = erase(started, { key: 'erase-1' });
    const erased = await sale.ask(keyed);
    assert.deepEqual(await sale.repeats(keyed), erased);
    assert.deepEqual(await sale.changesNothing(erase(started)), erased);
    await sale.refuses(erase(await sale.ask(buy(item('guest', 1))), { key: 'erase-1' }), 'IDEMPOTENCY_KEY_REUSED');
  }),

  scenario('Notes that are written about an erased order are erased by the next request', evenings(), async (sale) => {
    const started = await sold(sale);
    await sale.ask(erase(started));
    assert.equal((await sale.ask(cancelOrder(started))).cancellation_note, 'asked by the buyer');
    assert.equal((await sale.ask(refund(started, 100))).refunds[0]!.note, 'cash');
    const { cancellation_note: note, refunds } = await sale.ask(erase(started));
    assert.deepEqual([note, refunds[0]!.note], [null, null]);
  }),

  scenario('Answers that are kept for repeated requests are erased too', evenings(), async (sale) => {
    const started = await sold(sale);
    const keyed = cancelOrder(started, { key: 'cancel-1' });
    assert.equal((await sale.ask(keyed)).cancellation_note, 'asked by the buyer');
    await sale.ask(erase(started));
    assert.doesNotMatch(JSON.stringify(await sale.repeats(keyed)), /maria|asked by/i);
  }),

  scenario('An order is not erased while its payment is awaited', evenings(), async (sale) => {
    const [first, second] = [await sale.ask(buy(item('adult', 1))), await sale.ask(buy(item('adult', 1)))];
    await sale.refuses(erase(first), 'ORDER_NOT_ERASABLE', { status: 'PENDING' });
    await sale.refuses(erase({ order_id: `${first.order_id.slice(0, -4)}AAAA` }), 'ORDER_NOT_FOUND', {});
    await sale.ask(reported('cancelled', second));
    await sale.ask(erase(second));
    sale.wait(30 * MINUTE);
    await sale.ask(erase(first));
  }),

  scenario(
    'Tickets of an erased order count for the limit of their address, until the order is over',
    evenings({ max_tickets_per_email: 3 }),
    async (sale) => {
      const started = await sold(sale);
      await sale.ask(erase(started));
      const again = buy(item('adult', 1), customer(maria.customer.email));
      await sale.refuses(again, 'MAX_TICKETS_PER_EMAIL_EXCEEDED', { limit: 3, requested: 1 });
      await sale.ask(cancelOrder(started));
      await sale.ask(again);
    },
  ),

  scenario(
    'Late money brings an erased order back, and its tickets count again',
    evenings({ max_tickets_per_email: 2 }),
    async (sale) => {
      const started = await sale.ask(buy(item('adult', 2), maria));
      sale.wait(30 * MINUTE);
      await sale.ask(erase(started));
      await sale.ask(paid(started));
      assert.equal((await sale.ask(statusOf(started))).status, 'CONFIRMED');
      const again = buy(item('adult', 1), customer(maria.customer.email));
      await sale.refuses(again, 'MAX_TICKETS_PER_EMAIL_EXCEEDED', { limit: 2, requested: 1 });
    },
  ),
];
