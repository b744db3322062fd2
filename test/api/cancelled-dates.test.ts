/** A date is cancelled over HTTP: whole orders or its tickets alone, and everything given back with it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { buy, newCustomer, start, statusOf, type Started } from '../fixtures/checkout.ts';
import { assertRefused } from '../fixtures/checks.ts';
import type { Json } from '../fixtures/client.ts';
import { gala, item } from '../fixtures/events.ts';
import { ofOneMachine, openServiceFor, serviceWith } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';

const PRICE = 1900;
const restarts = ofOneMachine('one process is stopped and started on its folder');

const dates = ['fri', 'sat', 'sun'].map((id, day) => ({
  id,
  name: id,
  starts_at: `2028-05-1${day}T18:00:00Z`,
  ends_at: `2028-05-1${day}T21:00:00Z`,
}));
const run = (id: string) => gala({ id: `evt_${id}`, slug: id, performances: dates });

const service = serviceWith([run('run'), run('whole')]);

const on = (event: string, ...performanceIds: string[]): object => ({
  event_id: event,
  items: performanceIds.map((id) => ({ ...item('single', 1), performance_id: id })),
  customer: newCustomer(),
});

const orderOf = async ({ order_id: id }: Started, shop = service): Promise<AdminOrderBody> =>
  (await shop.admin.get<AdminOrderBody>(`/admin/orders/${id}`)).body;

const dateOf = (event: string, date: string) => `/admin/events/${event}/performances/${date}`;

const cancel = (event: string, date: string, body: Json, headers: Record<string, string> = {}, shop = service) =>
  shop.admin.post<Json>(`${dateOf(event, date)}/cancel`, body, headers);

describe('A date that is cancelled', () => {
  it('with its tickets alone leaves orders those of other dates, and is told before', async () => {
    const both = await buy(service, on('evt_run', 'fri', 'sat'));
    const there = await buy(service, on('evt_run', 'fri'));
    const other = await buy(service, on('evt_run', 'sun'));
    const unpaid = await start(service, on('evt_run', 'fri', 'sat'));
    const [kept = ''] = (await statusOf(service, both)).tickets.slice(1);
    const told = await service.admin.get<Json>(`${dateOf('evt_run', 'fri')}/cancellation?orders=TICKETS`);
    const due = [{ amount: 2 * PRICE, currency: 'EUR' }];
    assert.deepEqual(told.body, { orders: 3, amended_orders: 1, paid_orders: 2, tickets: 4, refunds_due: due });
    const whole = await service.admin.get<Json>(`${dateOf('evt_run', 'fri')}/cancellation?orders=WHOLE`);
    const all = [{ amount: 3 * PRICE, currency: 'EUR' }];
    assert.deepEqual(whole.body, { orders: 3, paid_orders: 2, tickets: 5, refunds_due: all });
    assertRefused(
      await service.admin.get(`${dateOf('evt_run', 'fri')}/cancellation?orders=NONE`),
      400,
      'VALIDATION_ERROR',
    );
    for (const wrong of [{ orders: 'SOME' }, { refunds: 'MANUAL' }]) {
      assertRefused(await cancel('evt_run', 'fri', wrong), 400, 'VALIDATION_ERROR');
    }

    const key = { 'idempotency-key': 'storm' };
    const body = { orders: 'TICKETS', refunds: 'EXECUTE', note: 'storm' };
    const done = await cancel('evt_run', 'fri', body, key);
    assert.deepEqual([done.status, done.body], [200, { released_holds: 0, cancelled_orders: 2, amended_orders: 1 }]);
    const again = await cancel('evt_run', 'fri', body, key);
    assert.deepEqual([again.body, again.headers.get('idempotent-replayed')], [done.body, 'true']);
    assertRefused(await cancel('evt_run', 'fri', { ...body, orders: 'WHOLE' }, key), 422, 'IDEMPOTENCY_KEY_REUSED');

    const shown = await statusOf(service, both);
    assert.deepEqual([shown.status, shown.tickets, shown.total_amount], ['CONFIRMED', [kept], PRICE]);
    const { amendments, void_tickets: voided } = (await orderOf(both)) as AdminOrderBody & {
      amendments: readonly Json[];
      void_tickets: readonly Json[];
    };
    assert.deepEqual(
      [amendments.length, amendments[0]?.['by'], amendments[0]?.['status']],
      [1, 'PERFORMANCE', 'APPLIED'],
    );
    assert.equal(voided[0]?.['void_reason'], 'PERFORMANCE_CANCELLED');
    const [gone, untouched, ended] = [await orderOf(there), await orderOf(other), await orderOf(unpaid)];
    assert.deepEqual([gone.status, gone.cancelled_by, gone.cancellation_note], ['CANCELLED', 'PERFORMANCE', 'storm']);
    assert.deepEqual([untouched.status, ended.status], ['CONFIRMED', 'CANCELLED']);
    for (const order of [both, there]) {
      await until(async () => (await orderOf(order)).refunded_amount === PRICE);
      assert.deepEqual([(await orderOf(order)).refund_due, (await orderOf(order)).refunds.length], [0, 1]);
    }
    const revoked = '/api/tickets/revoked?event_id=evt_run&performance_id=fri';
    assert.equal((await service.get<{ tickets: string[] }>(revoked)).body.tickets.length, 2);
  });

  it('with whole orders has everything given back where that is asked for, also afterwards', async () => {
    const first = await buy(service, on('evt_whole', 'fri', 'sat'));
    const done = await cancel('evt_whole', 'fri', {});
    assert.deepEqual(done.body, { released_holds: 0, cancelled_orders: 1, amended_orders: 0 });
    assert.deepEqual((await orderOf(first)).refunds, []);
    const later = await cancel('evt_whole', 'fri', { refunds: 'EXECUTE' });
    assert.deepEqual(later.body, { released_holds: 0, cancelled_orders: 0, amended_orders: 0 });
    await until(async () => (await orderOf(first)).refunded_amount === 2 * PRICE);
    const second = await buy(service, on('evt_whole', 'sat', 'sun'));
    await cancel('evt_whole', 'sat', { refunds: 'EXECUTE' });
    await until(async () => (await orderOf(second)).refunded_amount === 2 * PRICE);
    assert.equal((await orderOf(second)).refunds.length, 1);
  });

  it('is gone on with after a stop in its middle, and nothing is given back twice', { skip: restarts }, async (t) => {
    const shop = await openServiceFor(t, [run('run')]);
    const orders = await Promise.all(Array.from({ length: 12 }, () => buy(shop, on('evt_run', 'fri', 'sat'))));
    await cancel('evt_run', 'fri', { orders: 'TICKETS', refunds: 'EXECUTE' }, {}, shop);
    await shop.restart();
    for (const order of orders) await until(async () => (await orderOf(order, shop)).refunded_amount === PRICE);
    const refunds = await Promise.all(orders.map(async (order) => (await orderOf(order, shop)).refunds.length));
    assert.deepEqual(new Set(refunds), new Set([1]));
  });
});
