/** Personal data over HTTP: nothing of it on the disk but sealed, erased by operators and by retention, and gone everywhere. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { digestOf } from '#http/request-parts.ts';
import type { AdminOrderBody, AdminTicketBody, OrderStatusBody } from '#http/schemas/orders.ts';
import type { SubjectBody } from '#http/schemas/subject.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { checkoutBody, settle, start, START_CHECKOUT, statusOf, type Started } from '../fixtures/checkout.ts';
import { newSession } from '../fixtures/client.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { filesWith } from '../fixtures/folders.ts';
import { MINUTE, ofOneMachine, openServiceWith, spawnService, type TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { folderOf, readGolden } from '../golden/golden.ts';

const DAY = 24 * 60 * MINUTE;

/** Everything about her has these letters, which nothing else here has, and no random id is likely to. */
const MARIA = {
  email: 'qzxqzvwkjq@example.com',
  name: 'Qzxqzvwkjq Curie',
  document_number: 'QZXQZVWKJQ-4711',
  phone: '+49 361 5556',
};
const PERSONAL = /qzxqzvwkjq/i;
const ATTENDEES = [
  { name: 'Qzxqzvwkjq Curie', email: MARIA.email },
  { name: 'Pierre Qzxqzvwkjq', phone: '1' },
];
const TRACKING = { gclid: 'qzxqzvwkjq-click' };

const purchase = (overrides: object = {}): object => ({
  event_id: 'evt_club',
  items: [floor(2, { attendees: ATTENDEES })],
  customer: MARIA,
  tracking: TRACKING,
  ...overrides,
});

async function openClub(t: TestContext, overrides: object = {}): Promise<TestService> {
  const service = await openServiceWith([clubNight(overrides)]);
  t.after(() => service.close());
  return service;
}

async function buy(service: TestService, overrides: object = {}): Promise<Started> {
  const started = await start(service, purchase(overrides));
  await settle(service, started, 'paid');
  return started;
}

const erase = (service: TestService, { order_id: id }: Pick<Started, 'order_id'>, headers = {}) =>
  service.operate<AdminOrderBody>('POST', `/admin/orders/${id}/erase`, { headers });

const adminOrder = async (service: TestService, { order_id: id }: Pick<Started, 'order_id'>) =>
  (await service.operate<AdminOrderBody>('GET', `/admin/orders/${id}`)).body;

const pageOf = async (service: TestService, { order_id: id }: Pick<Started, 'order_id'>) =>
  (await fetch(`${service.publicUrl}/orders/${id}`)).text();

/** What of an order does not concern people. */
function impersonal({ customer: _customer, erased_at: _erasedAt, ticket_objects: tickets, ...rest }: OrderStatusBody) {
  return { ...rest, ticket_objects: tickets.map(({ attendee: _attendee, ...ticket }) => ticket) };
}

describe('Personal data', () => {
  const folderTest = { skip: ofOneMachine('nodes have no journal in their folders') };
  it('are in no file of the data folder but sealed, notes and snapshots included', folderTest, async (t) => {
    const service = await openClub(t);
    const body = checkoutBody(purchase({ session_key: newSession() }));
    const { body: order } = await service.post<Started>(START_CHECKOUT, body, { 'idempotency-key': 'once' });
    await settle(service, order, 'paid');
    const again = await service.post<Started>(START_CHECKOUT, body, { 'idempotency-key': 'once' });
    assert.deepEqual(again.body, order);
    const note = { note: 'qzxqzvwkjq called' };
    await service.operate('POST', `/admin/orders/${order.order_id}/cancel`, { body: note });
    await service.operate('POST', `/admin/orders/${order.order_id}/refunds`, { body: { amount: 100, ...note } });
    const shown = await adminOrder(service, order);
    assert.deepEqual([shown.cancellation_note, shown.refunds.map((refund) => refund.note)], [note.note, [note.note]]);
    assert.deepEqual(shown.customer, MARIA);
    await service.operate('POST', '/admin/snapshot', { body: { prune: true } });
    assert.deepEqual(filesWith(service.folder, PERSONAL), []);
    // Nor is there what a guess of the request could be compared with.
    const digest = digestOf(`POST ${START_CHECKOUT}`, body);
    assert.deepEqual(filesWith(service.folder, new RegExp(digest)), []);
    await service.restart();
    assert.deepEqual(filesWith(service.folder, PERSONAL), []);
    assert.deepEqual((await adminOrder(service, order)).customer, MARIA);
    const facts = await service.operate('GET', '/admin/journal?limit=200');
    assert.doesNotMatch(JSON.stringify(facts.body), PERSONAL);
  });

  it('are gone from every answer once they were erased, and everything else is as it was', async (t) => {
    const service = await openClub(t);
    const [order, other] = [
      await buy(service),
      await buy(service, { customer: { ...MARIA, email: 'else@example.com' } }),
    ];
    const before = await statusOf(service, order);
    assert.deepEqual(before.customer, { name: MARIA.name, email: MARIA.email });
    assert.match(await pageOf(service, order), /Qzxqzvwkjq/);
    service.wait(MINUTE);

    const answer = await erase(service, order, { 'x-operator': 'Ada' });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const erasedAt = new Date(service.now()).toISOString();
    const { personal_data: state, erased_at: at, erased_by: by } = answer.body;
    assert.deepEqual([state, at, by], ['ERASED', erasedAt, 'Ada']);

    const check = async (): Promise<void> => {
      const status = await statusOf(service, order);
      assert.deepEqual(status.customer, { name: null, email: null });
      assert.equal(status.erased_at, erasedAt);
      assert.deepEqual(impersonal(status), impersonal(before));
      const page = await pageOf(service, order);
      assert.match(page, /Personal data was erased on /);
      const [ticketId] = status.tickets;
      const ticket = await service.operate<AdminTicketBody>('GET', `/admin/tickets/${ticketId}`);
      assert.equal(ticket.body.valid, true);
      const list = await service.operate<{ orders: AdminOrderBody[] }>('GET', '/admin/events/evt_club/orders');
      const listed = list.body.orders.find(({ order_id: id }) => id === order.order_id);
      const subject = await service.operate<SubjectBody>('GET', `/admin/subject?email=${MARIA.email}`);
      assert.deepEqual(subject.body.orders, []);
      // Of the other order she is an attendee.
      assert.deepEqual(
        subject.body.attendances.map(({ order_id: id }) => id),
        [other.order_id],
      );
      const answers = [status, page, ticket.body, listed, await adminOrder(service, order)];
      assert.doesNotMatch(JSON.stringify(answers).replaceAll(MARIA.email, ''), PERSONAL);
      assert.equal((await statusOf(service, other)).customer.name, MARIA.name);
    };
    await check();
    await service.restart();
    await check();
  });

  it('are erased once, whoever asks again, and under an idempotency key', async (t) => {
    const service = await openClub(t);
    const order = await buy(service);
    const headers = { 'idempotency-key': 'erase-1', 'x-operator': 'Ada' };
    const first = await erase(service, order, headers);
    assert.equal(first.status, 200);
    const facts = service.factsAppended();
    const again = await erase(service, order, headers);
    assert.equal(again.headers.get('idempotent-replayed'), 'true');
    assert.deepEqual(again.body, first.body);
    const byAnother = await erase(service, order, { 'x-operator': 'Grace' });
    assert.deepEqual(byAnother.body, first.body);
    assert.equal(service.factsAppended(), facts);
    const other = await buy(service);
    assertRefused(await erase(service, other, headers), 422, 'IDEMPOTENCY_KEY_REUSED');
    assert.equal((await adminOrder(service, other)).personal_data, 'OPEN');
  });

  it('are open in orders of older versions, whose erasure is refused', folderTest, async (t) => {
    const rows = readGolden('journal-1.ndjson');
    const service = await spawnService({ folder: await folderOf(t, rows) });
    t.after(() => service.close());
    const { orderId } = JSON.parse(rows.find(({ type }) => type === 'OrderPlaced')!.data) as { orderId: string };
    const { body } = await service.operate<AdminOrderBody>('GET', `/admin/orders/${orderId}`);
    assert.deepEqual([body.personal_data, body.customer.name], ['OPEN', 'Ada']);
    const refused = await service.operate('POST', `/admin/orders/${orderId}/erase`);
    assertRefused(refused, 409, 'ORDER_NOT_SEALED');
  });

  it('are kept while a payment is awaited; orders that are not there are not found', async (t) => {
    const service = await openClub(t);
    const pending = await start(service, purchase());
    assertRefused(await erase(service, pending), 409, 'ORDER_NOT_ERASABLE');
    assert.equal((await statusOf(service, pending)).customer.name, MARIA.name);
    await settle(service, pending, 'cancelled');
    assert.equal((await erase(service, pending)).status, 200);
    assertRefused(await erase(service, { order_id: 'ord_1_AAAAAAAAAAAAAAAAAAAAAAAA' }), 404, 'ORDER_NOT_FOUND');
    const stranger = await fetch(`${service.adminUrl}/admin/orders/${pending.order_id}/erase`, { method: 'POST' });
    assert.equal(stranger.status, 401);
    await stranger.body?.cancel();
  });

  it('of an order with many tickets are not kept in memory with them', async (t) => {
    const service = await openClub(t);
    const attendees = Array.from({ length: 80 }, (_, n) => ({ name: `Qzxqzvwkjq ${n}` }));
    const order = await buy(service, { items: [floor(80, { attendees })] });
    const named = await statusOf(service, order);
    assert.deepEqual(
      named.ticket_objects.map(({ attendee }) => attendee?.name),
      attendees.map(({ name }) => name),
    );
    await erase(service, order);
    const erased = await statusOf(service, order);
    assert.equal(erased.ticket_objects.length, 80);
    assert.doesNotMatch(JSON.stringify(erased), PERSONAL);
  });

  it('written about an erased order afterwards are erased by the next request', async (t) => {
    const service = await openClub(t);
    const order = await buy(service);
    await erase(service, order);
    const noted = await service.operate('POST', `/admin/orders/${order.order_id}/cancel`, {
      body: { note: 'for qzxqzvwkjq' },
    });
    assert.equal((noted.body as AdminOrderBody).cancellation_note, 'for qzxqzvwkjq');
    await erase(service, order);
    assert.equal((await adminOrder(service, order)).cancellation_note, null);
  });

  it('are erased when the retention of the event has passed, but not while a payment is awaited', async (t) => {
    const ends = '2028-05-09T04:00:00Z';
    const service = await openClub(t, { retention_days: 30, payment_minutes: 100_000 });
    const kept = clubNight({ id: 'evt_kept', slug: 'kept' });
    await service.define(kept);
    const paid = await buy(service);
    const other = await buy(service, { event_id: 'evt_kept' });
    const waitUntil = (moment: number): void => service.wait(moment - service.now());
    waitUntil(Date.parse(ends) - DAY);
    const pending = await start(service, purchase());
    waitUntil(Date.parse(ends) + 30 * DAY - MINUTE);
    await service.restart();
    assert.equal((await adminOrder(service, paid)).personal_data, 'OPEN', 'a minute too early');
    service.wait(MINUTE);
    await service.restart();
    await until(async () => (await adminOrder(service, paid)).personal_data === 'ERASED');
    assert.equal((await adminOrder(service, pending)).personal_data, 'OPEN');
    assert.equal((await adminOrder(service, other)).personal_data, 'OPEN');
    assert.equal((await adminOrder(service, paid)).erased_by, null);
  });
});
