/**
 * What operators are shown beside single orders: money by hour, orders found by parts of names, what a cancellation
 * would do, chosen facts.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { EventMoneyBody } from '#http/operators/money.ts';
import type { JournalFactBody } from '#http/operators/journal.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';
import type { OrderStatusBody } from '#http/buyers/orders/schema.ts';
import type { FoundOrdersBody } from '#http/operators/search.ts';
import { settle, start, type Started } from '../fixtures/checkout.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { MINUTE, openServiceWith, type TestService } from '../fixtures/service.ts';

const HOUR = 60 * MINUTE;
const ZOE = { email: 'zoe.kaltenbach@example.com', name: 'Zoë Kaltenbach' };
const JOAN = { email: 'joan@example.org', name: 'Joan Clarke' };

let service: TestService;
let ofZoe: Started;
let ofJoan: Started;
let paidOfJoan: OrderStatusBody;

interface Journal {
  readonly facts: readonly JournalFactBody[];
  readonly next_before: number | null;
}

const operate = async <Body>(path: string): Promise<Body> => {
  const { status, body } = await service.operate<Body>('GET', path);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
};

/** Searches to the end; each page may be empty. */
async function search(q: string, more: Record<string, string> = {}) {
  const query = new URLSearchParams({ q, ...more });
  const found: (readonly [orderId: string, foundIn: string])[] = [];
  let searched = 0;
  for (let pages = 1; ; pages += 1) {
    const page = await operate<FoundOrdersBody>(`/admin/search?${query}`);
    found.push(...page.found.map(({ order, found_in: foundIn }) => [order.order_id, foundIn] as const));
    searched += page.searched_orders;
    if (page.next_cursor === null) return { found, searched, pages };
    query.set('cursor', page.next_cursor);
    assert.ok(pages < 100, 'the search ends');
  }
}

before(async () => {
  const spritz = { id: 'spritz', name: 'Spritz', price: 750 };
  const ticketTypes = [{ id: 'single', name: 'Single', locality_id: 'floor', barPerks: [spritz] }];
  const sellingStages = [{ id: 'regular', name: 'Regular', prices: { single: 1900 } }];
  const events = ['one', 'two', 'three'].map((name) =>
    clubNight({ id: `evt_${name}`, slug: name, name: `Night ${name}`, ticketTypes, sellingStages }),
  );
  service = await openServiceWith(events);
  const perks = [{ bar_perk_id: 'spritz', quantity: 1 }];
  const guests = [{ name: 'Grace Hopper', email: 'grace@example.net' }, { name: 'Ada' }];
  ofZoe = await start(service, {
    event_id: 'evt_one',
    items: [floor(2, { attendees: guests, bar_perks: perks })],
    customer: ZOE,
  });
  await settle(service, ofZoe, 'paid');
  service.wait(HOUR);
  ofJoan = await start(service, { event_id: 'evt_two', items: [floor(1)], customer: JOAN });
  paidOfJoan = await settle(service, ofJoan, 'paid');
  await start(service, { event_id: 'evt_one', items: [floor(1)], customer: JOAN });
});
after(() => service.close());

describe('The money of events', () => {
  it('is listed by event and hour, and refunds count in the hour in which they are recorded', async () => {
    service.wait(2 * HOUR);
    const body = { amount: 1_000, reference: 're_1' };
    assert.equal((await service.operate('POST', `/admin/orders/${ofZoe.order_id}/refunds`, { body })).status, 200);
    const { events } = await operate<{ readonly events: readonly EventMoneyBody[] }>('/admin/money');
    const one = events.find(({ event_id: id }) => id === 'evt_one')!;
    const came = { currency: 'EUR', payments: 1, paid_amount: 4_550, cash_amount: 0 };
    const sums = { ...came, refunds: 1, refunded_amount: 1_000, fees_amount: 0, refunds_pending_amount: 0 };
    assert.deepEqual([one.name, one.totals], ['Night one', [sums]]);
    assert.deepEqual(
      one.hours.map(({ paid_amount: paid, refunded_amount: refunded }) => [paid, refunded]),
      [
        [0, 1_000],
        [4_550, 0],
      ],
    );
    assert.equal(Date.parse(one.hours[0]!.at) - Date.parse(one.hours[1]!.at), 3 * HOUR);
    assert.deepEqual(events.find(({ event_id: id }) => id === 'evt_three')!.totals, []);
    const { events: overview } = await operate<{ events: { id: string; money: unknown }[] }>('/admin/overview');
    assert.deepEqual(overview.find(({ id }) => id === 'evt_one')!.money, [sums]);
  });

  it('leaves hours out of the list after a day, and keeps them for the event itself and over a restart', async () => {
    service.wait(30 * HOUR);
    await service.restart();
    const { events } = await operate<{ readonly events: readonly EventMoneyBody[] }>('/admin/money');
    assert.deepEqual(events.find(({ event_id: id }) => id === 'evt_two')!.hours, []);
    const two = await operate<EventMoneyBody>('/admin/events/evt_two/money');
    assert.deepEqual(
      two.hours.map(({ paid_amount: paid, payments }) => [paid, payments]),
      [[1_900, 1]],
    );
    assert.equal((await service.operate('GET', '/admin/events/evt_none/money')).body['code'], 'EVENT_NOT_FOUND');
  });
});

describe('A search for orders', () => {
  it('finds parts of names and addresses without case and accents, of buyers and of guests', async () => {
    assert.deepEqual((await search('zoe kalt')).found, [[ofZoe.order_id, 'BUYER']]);
    assert.deepEqual((await search('KALTENBACH@EXAM')).found, [[ofZoe.order_id, 'BUYER']]);
    assert.deepEqual((await search('hopper')).found, [[ofZoe.order_id, 'GUEST']]);
    assert.deepEqual((await search('hopper ada')).found, [], 'the words are of one person');
    assert.deepEqual((await search('nobody at all')).found, []);
  });

  it('finds an order by its number, a part of it, a ticket, its code and its checkout session', async () => {
    const [ticket] = paidOfJoan.ticket_objects;
    const { order_id: id, checkout_session_id: session } = ofJoan;
    assert.deepEqual((await search(id)).found, [[id, 'ORDER']]);
    assert.deepEqual((await search(id.slice(-8))).found, [[id, 'ORDER']]);
    assert.deepEqual((await search(ticket!.id)).found, [[id, 'TICKET']]);
    assert.deepEqual((await search(ticket!.code!)).found, [[id, 'TICKET']]);
    assert.deepEqual((await search(session!)).found, [[id, 'PAYMENT']]);
    assert.deepEqual((await search(`${id.slice(0, -1)}!`)).found, []);
  });

  it('finds an order by the number that people tell, its own or a ticket’s, void ones too, in any writing', async () => {
    const { number, ticket_objects: tickets } = paidOfJoan;
    const { order_id: id } = ofJoan;
    assert.deepEqual((await search(number)).found, [[id, 'ORDER']]);
    const told = tickets[0]!.number.toLowerCase().replaceAll('-', ' ');
    assert.deepEqual((await search(told)).found, [[id, 'TICKET']]);
    assert.deepEqual((await search(told, { event_id: 'evt_one' })).found, []);
    const body = { reissue: [tickets[0]!.id] };
    assert.equal((await service.operate('POST', `/admin/orders/${id}/amendments`, { body })).status, 201);
    assert.deepEqual((await search(told)).found, [[id, 'TICKET']]);
    await service.restart();
    assert.deepEqual((await search(told)).found, [[id, 'TICKET']]);
  });

  it('refuses a number with a wrong character instead of finding nothing', async () => {
    const wrong = `HF-${paidOfJoan.number.slice(3, 7)}-${paidOfJoan.number.slice(8, 10)}1`;
    const { status, body } = await service.operate('GET', `/admin/search?q=${wrong}`);
    assert.deepEqual([status, body['code']], [400, 'VALIDATION_ERROR']);
    assert.match(JSON.stringify(body), /misheard or mistyped/);
  });

  it('goes on page by page, in one event where asked, and finds each order of a whole address once', async () => {
    const everywhere = await search(JOAN.email, { limit: '1' });
    assert.deepEqual(new Set(everywhere.found.map(([, foundIn]) => foundIn)), new Set(['BUYER']));
    assert.equal(new Set(everywhere.found.map(([orderId]) => orderId)).size, 2);
    assert.equal(everywhere.found.length, 2);
    assert.ok(everywhere.pages > 1);
    assert.equal(everywhere.searched, 3);
    const inTwo = await search('joan', { event_id: 'evt_two' });
    assert.deepEqual([inTwo.found, inTwo.searched], [[[ofJoan.order_id, 'BUYER']], 1]);
  });

  it('shows the names of what was bought', async () => {
    const { found } = await operate<FoundOrdersBody>(`/admin/search?q=${ofZoe.order_id}`);
    const [item] = found[0]!.order.items;
    assert.deepEqual([item!.ticket_type_name, item!.bar_perks[0]!.name], ['Single', 'Spritz']);
  });

  it('refuses a text that says nothing, a foreign cursor, and everybody without the token', async () => {
    for (const query of ['q=', 'q=%20a%20', 'q=joan&cursor=bm9uZQ', 'q=joan&limit=0']) {
      const { status, body } = await service.operate('GET', `/admin/search?${query}`);
      assert.deepEqual([status, body['code']], [400, 'VALIDATION_ERROR'], query);
    }
    assert.equal((await fetch(`${service.adminUrl}/admin/search?q=joan`)).status, 401);
  });
});

describe('The orders of an event', () => {
  it('are listed the newest first where asked, page by page', async () => {
    const list = (more: string) =>
      operate<{ orders: AdminOrderBody[]; next_cursor: string | null }>(`/admin/events/evt_one/orders?limit=1${more}`);
    const { orders: oldest } = await list('');
    const { orders: newest, next_cursor: cursor } = await list('&order=newest');
    assert.equal(oldest[0]!.order_id, ofZoe.order_id);
    assert.notEqual(newest[0]!.order_id, ofZoe.order_id);
    const last = await list(`&order=newest&cursor=${cursor}`);
    assert.deepEqual([last.orders[0]!.order_id, last.next_cursor], [ofZoe.order_id, null]);
  });
});

describe('What a cancellation would do', () => {
  it('is told before it is done: orders, tickets and the money due back', async () => {
    const address = '/admin/events/evt_one/performances/night';
    const told = await operate(`${address}/cancellation`);
    const due = [{ amount: 3_550, currency: 'EUR' }];
    assert.deepEqual(told, { orders: 1, paid_orders: 1, tickets: 2, refunds_due: due });
    const done = await service.operate('POST', `${address}/cancel`, { body: {} });
    assert.deepEqual(done.body, { released_holds: 0, cancelled_orders: 1, amended_orders: 0 });
    const order = await operate<AdminOrderBody>(`/admin/orders/${ofZoe.order_id}`);
    assert.deepEqual(order.refunds_due, due);
    const nothing = { orders: 0, paid_orders: 0, tickets: 0, refunds_due: [] };
    assert.deepEqual(await operate(`${address}/cancellation`), nothing);
    const unknown = await service.operate('GET', address.replace('night', 'never') + '/cancellation');
    assert.equal(unknown.body['code'], 'PERFORMANCE_NOT_FOUND');
  });
});

describe('The journal', () => {
  const journal = (query: string) => operate<Journal>(`/admin/journal?limit=200&${query}`);

  it('is filtered by type, by order and by both', async () => {
    const paid = await journal('type=OrderPaid');
    assert.deepEqual(
      paid.facts.map(({ event_id: id, type }) => [id, type]),
      [
        ['evt_two', 'OrderPaid'],
        ['evt_one', 'OrderPaid'],
      ],
    );
    const ofOrder = await journal(`order_id=${ofJoan.order_id}`);
    assert.ok(ofOrder.facts.length >= 4);
    for (const { data } of ofOrder.facts) assert.ok(data.includes(ofJoan.order_id));
    const both = await journal(`order_id=${ofJoan.order_id}&type=TicketsIssued&event_id=evt_two`);
    assert.deepEqual(
      both.facts.map(({ type }) => type),
      ['TicketsIssued'],
    );
    const elsewhere = await service.operate('GET', `/admin/journal?order_id=${ofJoan.order_id}&event_id=evt_one`);
    assert.equal(elsewhere.body['code'], 'ORDER_NOT_FOUND');
  });
});
