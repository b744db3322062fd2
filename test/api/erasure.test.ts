/**
 * Personal data over HTTP: nothing of it on the disk but sealed, erased by operators and by retention, and gone
 * everywhere.
 */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { digestOf } from '#http/protocol/request-parts.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';
import type { SubjectBody } from '#http/operators/subject.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { buy, checkoutBody, settle, start, START_CHECKOUT, statusOf, type Started } from '../fixtures/checkout.ts';
import { newSession } from '../fixtures/client.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { filesWith } from '../fixtures/folders.ts';
import { MINUTE, ofOneMachine, openServiceFor, type TestService } from '../fixtures/service.ts';
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
  const service = await openServiceFor(t, [clubNight(overrides)]);
  return service;
}

const buyTwo = (service: TestService, overrides: object = {}) => buy(service, purchase(overrides));

const erase = (service: TestService, { order_id: id }: Pick<Started, 'order_id'>, headers = {}) =>
  service.operate<AdminOrderBody>('POST', `/admin/orders/${id}/erase`, { headers });

const adminOrder = async (service: TestService, { order_id: id }: Pick<Started, 'order_id'>) =>
  (await service.operate<AdminOrderBody>('GET', `/admin/orders/${id}`)).body;

const pageOf = async (service: TestService, { order_id: id }: Pick<Started, 'order_id'>) =>
  (await fetch(`${service.publicUrl}/orders/${id}`)).text();

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

  it('are gone from pages and searches once they were erased, also after a restart', async (t) => {
    const service = await openClub(t);
    const [order, other] = [
      await buyTwo(service),
      await buyTwo(service, { customer: { ...MARIA, email: 'else@example.com' } }),
    ];
    assert.match(await pageOf(service, order), /Qzxqzvwkjq/);
    const answer = await erase(service, order, { 'x-operator': 'Ada' });
    assert.deepEqual([answer.status, answer.body.erased_by], [200, 'Ada']);
    for (const restart of [async () => {}, service.restart]) {
      await restart();
      const page = await pageOf(service, order);
      assert.match(page, /Personal data was erased on /);
      assert.doesNotMatch(JSON.stringify([page, await statusOf(service, order)]), PERSONAL);
      const { body: subject } = await service.operate<SubjectBody>('GET', `/admin/subject?email=${MARIA.email}`);
      assert.deepEqual(subject.orders, []);
      // Of the other order she is an attendee.
      assert.deepEqual(
        subject.attendances.map(({ order_id: id }) => id),
        [other.order_id],
      );
      assert.equal((await statusOf(service, other)).customer.name, MARIA.name);
    }
  });

  it('are open in orders of older versions, whose erasure is refused', folderTest, async (t) => {
    const rows = readGolden('journal-1.ndjson');
    const service = await openServiceFor(t, [], {}, { folder: await folderOf(t, rows) });
    const { orderId } = JSON.parse(rows.find(({ type }) => type === 'OrderPlaced')!.data) as { orderId: string };
    const { body } = await service.operate<AdminOrderBody>('GET', `/admin/orders/${orderId}`);
    assert.deepEqual([body.personal_data, body.customer.name], ['OPEN', 'Ada']);
    const refused = await service.operate('POST', `/admin/orders/${orderId}/erase`);
    assertRefused(refused, 409, 'ORDER_NOT_SEALED');
  });

  it('of an order with many tickets are not kept in memory with them', async (t) => {
    const service = await openClub(t);
    const attendees = Array.from({ length: 80 }, (_, n) => ({ name: `Qzxqzvwkjq ${n}` }));
    const order = await buyTwo(service, { items: [floor(80, { attendees })] });
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

  it('are erased when the retention of the event has passed, but not while a payment is awaited', async (t) => {
    const ends = '2028-05-09T04:00:00Z';
    const service = await openClub(t, { retention_days: 30, payment_minutes: 100_000 });
    const kept = clubNight({ id: 'evt_kept', slug: 'kept' });
    await service.define(kept);
    const paid = await buyTwo(service);
    const other = await buyTwo(service, { event_id: 'evt_kept' });
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
