/** Amendments that cost something, over HTTP: asked for, paid, declined, withdrawn, run out, and late money. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Amendment, AmendmentQuote } from '#client/bodies.ts';
import type { EventBody } from '#http/buyers/events/schema.ts';
import type { OccupancyBody } from '#http/buyers/seating.ts';
import {
  buy,
  newCustomer,
  openNextPayment,
  sendWebhook,
  setOutage,
  settle,
  start,
  statusOf,
  type OrderStatus,
  type Started,
} from '../fixtures/checkout.ts';
import { assertRefused, audit } from '../fixtures/checks.ts';
import { as, HOLDS, newSession, type Answer, type Json } from '../fixtures/client.ts';
import { gala, item } from '../fixtures/events.ts';
import { MINUTE, ofOneMachine, serviceWith } from '../fixtures/service.ts';

/** What the seat costs more than the place that the order has. */
const MORE = 1100;
const SEAT = 'W-1-4';

const ofOneProcess = ofOneMachine('the nodes share a process, in which each of them counts the facts of all');

const service = serviceWith([]);

let sales = 0;

interface Sale {
  readonly id: string;
  readonly slug: string;
  /** Of one ticket. */
  readonly order: Started;
  readonly ticket: string;
  /** The order's ticket becomes the seat. */
  readonly request: Json;
}

/** An order of one ticket, paid where it costs something, at an event of its own. */
async function sell(ticketTypeId = 'single', overrides: object = {}, checkout: object = {}): Promise<Sale> {
  sales += 1;
  const slug = `sale-${sales}`;
  const id = `evt_sale_${sales}`;
  await service.define(gala({ id, slug, buyer_changes: { change: {} }, ...overrides }));
  const placed = { event_id: id, items: [item(ticketTypeId, 1)], customer: newCustomer(), ...checkout };
  const order = ticketTypeId === 'guest' ? await start(service, placed) : await buy(service, placed);
  const [ticket = ''] = (await statusOf(service, order)).tickets;
  const change = [{ ticket_ids: [ticket], ticket_type_id: 'seat', seat_ids: [SEAT] }];
  return { id, slug, order, ticket, request: { change } };
}

const pathOf = ({ order }: Sale, id = ''): string => `/api/checkout/orders/${order.order_id}/amendments/${id}`;

/** Asks as an operator. */
const ask = ({ order, request }: Sale, more: object = {}, headers = {}): Promise<Answer<Amendment>> =>
  service.admin.post(`/admin/orders/${order.order_id}/amendments`, { ...request, ...more }, headers);

/** Asks as an operator; it must be PENDING with a session. */
async function pending(sale: Sale): Promise<Amendment & Pick<Started, 'checkout_session_id'>> {
  const { status, body } = await ask(sale);
  assert.deepEqual([status, body.status], [201, 'PENDING'], JSON.stringify(body));
  return { ...body, checkout_session_id: body.checkout_session_id! };
}

const withdraw = (sale: Sale, { id }: Pick<Amendment, 'id'>): Promise<Answer<Amendment>> =>
  service.delete(pathOf(sale, id));

async function stateOfSeat({ slug }: Sale): Promise<string> {
  const { body } = await service.get<OccupancyBody>(`/api/events/public/${slug}/seating/occupancy?performance_id=eve`);
  return body.held!.includes(SEAT) ? 'HELD' : body.sold!.includes(SEAT) ? 'SOLD' : 'AVAILABLE';
}

/** The seats that are reserved, as the event's payload says. */
async function reserved({ slug }: Sale): Promise<number> {
  const { body } = await service.get<EventBody>(`/api/events/public/${slug}`);
  return body.ticketAvailability.find((row) => row.ticket_type_id === 'seat')!.reserved;
}

const newest = ({ amendments: [amendment] }: OrderStatus): string | undefined => amendment?.status;

/** The order as it was bought: nothing of the amendment has happened, or is left. */
async function assertUnchanged(sale: Sale, seat: 'HELD' | 'AVAILABLE'): Promise<OrderStatus> {
  const now = await statusOf(service, sale.order);
  assert.deepEqual([now.status, now.tickets], ['CONFIRMED', [sale.ticket]]);
  assert.deepEqual([now.total_amount, now.remaining_amount], [sale.order.total_amount, 0]);
  assert.deepEqual([await stateOfSeat(sale), await reserved(sale)], [seat, seat === 'HELD' ? 1 : 0]);
  await audit(service, sale.id);
  return now;
}

/** The order has the seat, and nothing else. */
async function assertApplied(sale: Sale, { id }: Pick<Amendment, 'id'>): Promise<OrderStatus> {
  const now = await statusOf(service, sale.order);
  assert.deepEqual([newest(now), now.status, now.payment_status], ['APPLIED', 'CONFIRMED', 'COMPLETED']);
  assert.deepEqual([now.total_amount, now.remaining_amount, now.refund_due], [3000, 0, 0]);
  const [ticket] = now.ticket_objects;
  assert.deepEqual([now.ticket_count, ticket?.replaces, ticket?.seat_id], [1, sale.ticket, SEAT]);
  assert.deepEqual([await stateOfSeat(sale), await reserved(sale)], ['SOLD', 0]);
  const { body } = await service.get<Amendment>(pathOf(sale, id));
  assert.deepEqual(now.amendments[0], body);
  assert.deepEqual([body.redirect_url, body.tickets[0]?.new_ticket_id], [null, now.tickets[0]]);
  const revoked = await service.get<{ tickets: string[] }>(`/api/tickets/revoked?event_id=${sale.id}`);
  assert.deepEqual(revoked.body.tickets, [sale.ticket]);
  await audit(service, sale.id);
  return now;
}

const tries = ({ payments }: OrderStatus) =>
  payments.map(({ installment, amendment_id, amount, status }) => [installment, amendment_id, amount, status]);

describe('An amendment that costs something', () => {
  it('asked for by an operator is PENDING with its session, and applied once it is paid', async () => {
    const sale = await sell();
    const key = { 'idempotency-key': 'dearer' };
    const { status, body: amendment } = await ask(sale, {}, key);
    assert.deepEqual([status, amendment.status, amendment.by], [201, 'PENDING', 'OPERATOR']);
    assert.deepEqual([amendment.difference, amendment.to_pay, amendment.to_refund], [MORE, MORE, 0]);
    assert.equal(amendment.payment_provider, 'provider_a');
    assert.match(amendment.redirect_url!, /^http.*\/sandbox\/pay\/cs_/);
    const { checkout_session_id: session } = amendment;
    assert.ok(session !== null && amendment.redirect_url!.endsWith(session));
    const ends = [amendment.applied_at, amendment.expires_at];
    assert.deepEqual(ends, [null, new Date(service.now() + 30 * MINUTE).toISOString()]);
    const shown = await assertUnchanged(sale, 'HELD');
    assert.deepEqual(shown.amendments, [amendment]);
    assert.deepEqual(tries(shown).at(-1), [0, amendment.id, MORE, 'OPEN']);
    const again = await ask(sale, {}, key);
    assert.deepEqual([again.body, again.headers.get('idempotent-replayed')], [amendment, 'true']);
    const taken = { event_id: sale.id, session_key: newSession(), items: [item('seat', 1, { seat_ids: [SEAT] })] };
    assertRefused(await service.post(HOLDS, taken, as(taken.session_key)), 409, 'SEAT_TAKEN');

    const second = assertRefused(await ask(sale, { change: [], cancel: [sale.ticket] }), 409, 'AMENDMENT_PENDING');
    assert.deepEqual(second, { amendment_id: amendment.id });
    await settle(service, { checkout_session_id: session }, 'paid');
    const now = await assertApplied(sale, amendment);
    const last = await ask(sale, {}, key);
    assert.deepEqual([last.body, last.headers.get('idempotent-replayed')], [amendment, 'true'], 'as at first');
    assert.deepEqual(tries(now), [
      [1, null, 1900, 'PAID'],
      [0, amendment.id, MORE, 'PAID'],
    ]);
    assertRefused(await service.post(`/api/checkout/orders/${sale.order.order_id}/payments`), 409, 'ORDER_NOT_PAYABLE');
    const late = assertRefused(await withdraw(sale, amendment), 409, 'AMENDMENT_NOT_PENDING');
    assert.deepEqual(late, { status: 'APPLIED' });
  });

  it('asked for by its buyer is what was quoted, and its page leads back to the shop', async () => {
    const sale = await sell();
    const quoted = await service.post<AmendmentQuote>(`${pathOf(sale)}quote`, sale.request);
    assert.deepEqual([quoted.status, quoted.body.to_pay, quoted.body.total_amount], [200, MORE, 3000]);
    const addresses = { success_url: 'https://shop.example/o/{ORDER_ID}', cancel_url: 'https://shop.example/no' };
    const body = { ...sale.request, quote: quoted.body.quote, ...addresses };
    assertRefused(
      await service.post(pathOf(sale).slice(0, -1), { ...body, success_url: 'no' }),
      400,
      'VALIDATION_ERROR',
    );
    const asked = await service.post<Amendment>(pathOf(sale).slice(0, -1), body);
    assert.deepEqual([asked.status, asked.body.status, asked.body.by], [201, 'PENDING', 'BUYER']);
    await assertUnchanged(sale, 'HELD');
    const refused = await service.post(pathOf(sale).slice(0, -1), body);
    assert.deepEqual(assertRefused(refused, 409, 'AMENDMENT_PENDING'), { amendment_id: asked.body.id });
    const { pathname } = new URL(asked.body.redirect_url!);
    const page = String((await service.get(pathname)).body);
    assert.match(page, /href="https:\/\/shop\.example\/no"/);
    assert.match(page, /To be paid until/);
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const paid = await service.post(pathname, 'outcome=paid', form);
    assert.equal(paid.headers.get('location'), `https://shop.example/o/${sale.order.order_id}`);
    await assertApplied(sale, asked.body);
  });

  it('stays where its payment is declined, and another session pays for it', async () => {
    const sale = await sell();
    const first = await pending(sale);
    await settle(service, first, 'declined');
    assert.equal(newest(await assertUnchanged(sale, 'HELD')), 'PENDING');
    const next = await openNextPayment(service, sale.order);
    assert.notEqual(next.checkout_session_id, first.checkout_session_id);
    assert.deepEqual((await openNextPayment(service, sale.order)).checkout_session_id, next.checkout_session_id);
    const { body: shown } = await service.get<Amendment>(pathOf(sale, first.id));
    assert.deepEqual([shown.checkout_session_id, shown.redirect_url], [next.checkout_session_id, next.redirect_url]);
    await settle(service, { checkout_session_id: next.checkout_session_id }, 'paid');
    const now = await assertApplied(sale, first);
    assert.deepEqual(
      tries(now).map(([, , , status]) => status),
      ['PAID', 'DECLINED', 'PAID'],
    );
  });

  it('is paid before an installment that is due, which stays as it was', async () => {
    const sale = await sell();
    const placed = { event_id: sale.id, items: [item('single', 2)], customer: newCustomer(), installment_count: 2 };
    const order = await buy(service, placed);
    const [ticket = ''] = (await statusOf(service, order)).tickets;
    const request = { change: [{ ticket_ids: [ticket], ticket_type_id: 'seat', seat_ids: [SEAT] }] };
    const amendment = await pending({ ...sale, order, ticket, request });
    const opened = await openNextPayment(service, order);
    assert.equal(opened.checkout_session_id, amendment.checkout_session_id);
    const page = String((await service.get(`/sandbox/pay/${amendment.checkout_session_id}`)).body);
    assert.doesNotMatch(page, /Installment/);
    const partly = await settle(service, amendment, 'paid');
    assert.deepEqual([partly.status, partly.total_amount, partly.remaining_amount], ['PARTIALLY_PAID', 4900, 1900]);
    const ended = await settle(service, await openNextPayment(service, order), 'paid');
    assert.deepEqual([ended.status, ended.remaining_amount, ended.refund_due], ['CONFIRMED', 0, 0]);
  });

  it('is not paid by a program that settles an installment of its order at the sandbox', async () => {
    const sale = await sell('single', {}, { installment_count: 2 });
    const amendment = await pending(sale);
    const path = `/sandbox/payments/${sale.order.checkout_session_id}`;
    assertRefused(await service.post(path, { outcome: 'paid', installment: 2 }), 400, 'VALIDATION_ERROR');
    assert.equal(newest(await statusOf(service, sale.order)), 'PENDING');
    await settle(service, amendment, 'paid');
    assert.equal((await settle(service, sale.order, 'paid', 2)).status, 'CONFIRMED');
  });

  it('of a free order is paid at the provider of its event', async () => {
    const sale = await sell('guest', { payment_provider: 'provider_b' });
    const amendment = await pending(sale);
    assert.deepEqual([amendment.payment_provider, amendment.to_pay], ['provider_b', 3000]);
    await assertUnchanged(sale, 'HELD');
    const { checkout_session_id: session } = amendment;
    await sendWebhook(service, { session, amount: 3000, provider: 'provider_b' });
    const now = await assertApplied(sale, amendment);
    assert.deepEqual(tries(now), [[0, amendment.id, 3000, 'PAID']]);
  });

  it('is 502 where its provider cannot be reached, and its session is opened later by the service', async () => {
    const sale = await sell();
    await setOutage(service, { seconds: 60 });
    const key = { 'idempotency-key': 'unreached' };
    const refused = assertRefused(await ask(sale, {}, key), 502, 'PAYMENT_PROVIDER_UNAVAILABLE');
    assert.equal(refused['order_id'], sale.order.order_id);
    const id = String(refused['amendment_id']);
    await assertUnchanged(sale, 'HELD');
    const sessionOf = async () => (await service.get<Amendment>(pathOf(sale, id))).body.checkout_session_id;
    const resume = async () => {
      for (const { payments } of service.services) await payments.checkoutSessions.resumeUnopened();
    };
    await resume();
    assert.equal(await sessionOf(), null);
    service.wait(MINUTE);
    await resume();
    const session = await sessionOf();
    assert.ok(session !== null);
    const { status, body } = await ask(sale, {}, key);
    assert.deepEqual([status, body.id, body.checkout_session_id], [201, id, session]);
    await settle(service, { checkout_session_id: session }, 'paid');
    await assertApplied(sale, body);
  });

  it('opens its session with a repeat after 502, which is answered for the first time', async () => {
    const sale = await sell();
    const key = { 'idempotency-key': 'reached' };
    await setOutage(service, { seconds: 60 });
    assertRefused(await ask(sale, {}, key), 502, 'PAYMENT_PROVIDER_UNAVAILABLE');
    await setOutage(service, { seconds: 0 });
    const first = await ask(sale, {}, key);
    assert.deepEqual([first.status, first.headers.get('idempotent-replayed')], [201, null]);
    const again = await ask(sale, {}, key);
    assert.deepEqual([again.body, again.headers.get('idempotent-replayed')], [first.body, 'true']);
  });

  it('is opened anew under a key whose answer stays as it was once it is paid', async () => {
    const sale = await sell();
    const { body: amendment } = await ask(sale);
    await settle(service, { checkout_session_id: amendment.checkout_session_id! }, 'declined');
    const path = `/api/checkout/orders/${sale.order.order_id}/payments`;
    const pay = () => service.post<Json>(path, {}, { 'idempotency-key': 'anew' });
    const { body: opened } = await pay();
    await settle(service, { checkout_session_id: String(opened['checkout_session_id']) }, 'paid');
    assert.deepEqual((await pay()).body, opened);
  });
});

describe('An amendment that is not paid', () => {
  it('is CANCELLED by its buyer, again alike, and free to be asked for anew', async () => {
    const sale = await sell();
    const amendment = await pending(sale);
    assertRefused(await withdraw(sale, { id: 'amd_1_no' }), 404, 'NOT_FOUND');
    const { status, body } = await withdraw(sale, amendment);
    assert.deepEqual([status, body.status, body.applied_at, body.redirect_url], [200, 'CANCELLED', null, null]);
    const again = await withdraw(sale, amendment);
    assert.deepEqual([again.status, again.body], [200, body]);
    assert.equal(newest(await assertUnchanged(sale, 'AVAILABLE')), 'CANCELLED');
    const anew = await pending(sale);
    const path = `/admin/orders/${sale.order.order_id}/amendments/${anew.id}`;
    assert.equal((await service.admin.delete<Amendment>(path)).body.status, 'CANCELLED');
    await assertUnchanged(sale, 'AVAILABLE');
  });

  it('is CANCELLED by its buyer at the provider', async () => {
    const sale = await sell();
    await settle(service, await pending(sale), 'cancelled');
    assert.equal(newest(await assertUnchanged(sale, 'AVAILABLE')), 'CANCELLED');
  });

  it('is EXPIRED at the end of its window, and the seat is free', async () => {
    const sale = await sell();
    const amendment = await pending(sale);
    service.wait(30 * MINUTE - 1);
    await assertUnchanged(sale, 'HELD');
    service.wait(1);
    assert.equal(newest(await assertUnchanged(sale, 'AVAILABLE')), 'EXPIRED');
    assert.deepEqual(assertRefused(await withdraw(sale, amendment), 409, 'AMENDMENT_NOT_PENDING'), {
      status: 'EXPIRED',
    });
  });

  it('is CANCELLED with its order, and with its date', async () => {
    const ordered = await sell();
    await pending(ordered);
    await service.admin.post(`/admin/orders/${ordered.order.order_id}/cancel`);
    const called = await sell();
    await pending(called);
    await service.admin.post(`/admin/events/${called.id}/performances/eve/cancel`);
    for (const sale of [ordered, called]) {
      const now = await statusOf(service, sale.order);
      assert.deepEqual([newest(now), now.status, now.refund_due], ['CANCELLED', 'CANCELLED', 1900]);
      assert.equal(now.tickets[0], sale.ticket);
      await audit(service, sale.id);
    }
    assert.deepEqual([await stateOfSeat(ordered), await reserved(ordered)], ['AVAILABLE', 0]);
  });

  it('is applied by late money where the seat is free still, else that is due back', async () => {
    const free = await sell();
    const inTime = await pending(free);
    const taken = await sell();
    const tooLate = await pending(taken);
    service.wait(31 * MINUTE);
    await service.hold({
      event_id: taken.id,
      session_key: newSession(),
      items: [{ ...item('seat', 1), seat_ids: [SEAT] }],
    });
    await settle(service, inTime, 'paid');
    await assertApplied(free, inTime);
    const now = await settle(service, tooLate, 'paid');
    assert.deepEqual([newest(now), now.refund_due, now.tickets], ['EXPIRED', MORE, [taken.ticket]]);
    assert.deepEqual(tries(now).at(-1), [0, tooLate.id, MORE, 'PAID']);
    await audit(service, taken.id);
  });

  it('is counted by the status that it came to', { skip: ofOneProcess }, async () => {
    const counted = async (): Promise<Record<string, number>> => {
      const { body } = await service.operate<string>('GET', '/metrics');
      const found = body.matchAll(/^holdfast_amendments_total\{status="(\w+)"\} (\d+)$/gm);
      return Object.fromEntries([...found].map(([, status, count]) => [status!, Number(count)]));
    };
    const before = await counted();
    const sale = await sell();
    const first = await pending(sale);
    await withdraw(sale, first);
    await pending(sale);
    service.wait(30 * MINUTE);
    await statusOf(service, sale.order);
    await settle(service, await pending(sale), 'paid');
    const added = { PENDING: 3, APPLIED: 1, EXPIRED: 1, CANCELLED: 1 };
    const after = Object.entries(added).map(([status, count]) => [status, before[status]! + count]);
    assert.deepEqual(await counted(), Object.fromEntries(after));
  });
});
