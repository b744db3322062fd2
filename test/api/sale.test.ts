/** The sale of an event by minute: it agrees with the orders, whatever range, after restarts, prunes and a kill. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { EventMoneyBody } from '#http/operators/money.ts';
import type { ServiceHistoryBody } from '#http/operators/history.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';
import type { SaleByMinuteBody } from '#http/operators/sale.ts';
import { buy, newCustomer } from '../fixtures/checkout.ts';
import { bodyOf, type ServiceClient } from '../fixtures/client.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { MINUTE, ofOneMachine, serviceWith, spawnService, START } from '../fixtures/service.ts';
import { makeFolder } from '../fixtures/folders.ts';
import { until } from '../fixtures/until.ts';

const EVENT = 'evt_club';
const SALE = `/admin/events/${EVENT}/sale`;
const night = clubNight({ waiting_room: true, waiting_room_rate: 1, max_tickets_per_email: null });
const ofOne = (quantity: number) => ({ event_id: EVENT, items: [floor(quantity)], customer: newCustomer() });

async function saleOf(service: Pick<ServiceClient, 'operate'>, query = ''): Promise<SaleByMinuteBody> {
  for (;;) {
    const body = bodyOf(await service.operate<SaleByMinuteBody>('GET', SALE + query));
    if (body.whole) return body;
  }
}

/** What the orders themselves add up to. */
async function ofOrders(service: Pick<ServiceClient, 'operate'>) {
  const sums = { tickets: 0, paid_amount: 0, refunded_amount: 0 };
  let cursor = '';
  do {
    const { body } = await service.operate<{ orders: AdminOrderBody[]; next_cursor: string | null }>(
      'GET',
      `/admin/events/${EVENT}/orders?limit=100${cursor}`,
    );
    for (const { status, payments, refunds, ticket_count: tickets } of body.orders) {
      if (status === 'CONFIRMED') sums.tickets += tickets;
      for (const payment of payments) if (payment.status === 'PAID') sums.paid_amount += payment.amount;
      for (const refund of refunds) if (refund.status === 'SUCCEEDED') sums.refunded_amount += refund.amount;
    }
    cursor = body.next_cursor === null ? '' : `&cursor=${encodeURIComponent(body.next_cursor)}`;
  } while (cursor !== '');
  return sums;
}

async function assertAgrees(service: Pick<ServiceClient, 'operate'>): Promise<SaleByMinuteBody> {
  const sale = await saleOf(service);
  const orders = await ofOrders(service);
  const { tickets, returned, money } = sale.totals;
  const { paid_amount: paid = 0, refunded_amount: refunded = 0 } = money[0] ?? {};
  assert.deepEqual({ tickets: tickets - returned, paid_amount: paid, refunded_amount: refunded }, orders);
  const points = sale.points.flatMap((point) => point.money);
  assert.equal(
    points.reduce((sum, point) => sum + point.paid_amount, 0),
    paid,
    'the points have all money',
  );
  const { totals } = (await service.operate<EventMoneyBody>('GET', `/admin/events/${EVENT}/money`)).body;
  assert.deepEqual([totals[0]?.paid_amount ?? 0, totals[0]?.refunded_amount ?? 0], [paid, refunded]);
  return sale;
}

describe('The sale of an event by minute', () => {
  const service = serviceWith([{ ...night, waiting_room: false }]);

  it('has nothing but the opening before anything is sold', async () => {
    const { points, totals, forecast, opens_at: opensAt, partial } = await saleOf(service);
    assert.deepEqual([Date.parse(opensAt!), points.length, totals.tickets, partial], [START, 1, 0, false]);
    assert.deepEqual([forecast.pace_minutes, forecast.sold_out_at], [0, null]);
    assert.ok(forecast.unsold > 0);
  });

  it('agrees with the orders by minute, and says at which pace they sell out', async () => {
    const first = await buy(service, ofOne(2));
    service.wait(2 * MINUTE);
    await buy(service, ofOne(3));
    service.wait(MINUTE);
    const { points, forecast, now } = await assertAgrees(service);
    assert.deepEqual(
      points.map(({ tickets, orders }) => [tickets, orders]),
      [
        [2, 1],
        [0, 0],
        [3, 1],
        [0, 0],
      ],
    );
    assert.deepEqual([forecast.pace_tickets, forecast.pace_minutes], [5, 3]);
    const leftMs = (forecast.unsold / 5) * 3 * MINUTE;
    assert.equal(Date.parse(forecast.sold_out_at!), Math.trunc(Date.parse(now) + leftMs));
    const body = { amount: 1_000, reference: 're_1' };
    assert.equal((await service.operate('POST', `/admin/orders/${first.order_id}/refunds`, { body })).status, 200);
    assert.equal((await service.operate('POST', `/admin/orders/${first.order_id}/cancel`)).status, 200);
    const { points: later } = await assertAgrees(service);
    assert.deepEqual([later.at(-1)!.returned, later.at(-1)!.money[0]!.refunded_amount], [2, 1_000]);
  });

  it('shows a range in steps, and refuses one that is none', async () => {
    const from = new Date(START + 2 * MINUTE).toISOString();
    const to = new Date(START + 3 * MINUTE).toISOString();
    const { points } = await saleOf(service, `?from=${from}&to=${to}&step=1`);
    assert.deepEqual(
      points.map(({ at, tickets }) => [at, tickets]),
      [[from, 3]],
    );
    service.wait(30 * MINUTE);
    const hours = await saleOf(service, '?step=60');
    assert.deepEqual([hours.step_minutes, hours.points.length, hours.points[0]!.tickets], [60, 1, 5]);
    const wrong = [
      `from=${to}&to=${from}`,
      `from=${to}&to=${to}`,
      'from=today',
      'step=0',
      'step=1441',
      'to=0000-01-01T00:00:00Z',
    ];
    for (const query of wrong) {
      const { status, body } = await service.operate('GET', `${SALE}?${query}`);
      assert.deepEqual([status, body['code']], [400, 'VALIDATION_ERROR'], query);
    }
    const { status, body } = await service.operate('GET', '/admin/events/evt_none/sale');
    assert.deepEqual([status, body['code']], [404, 'EVENT_NOT_FOUND']);
    assert.equal((await fetch(service.adminUrl + SALE)).status, 401);
  });

  it('is the same over a restart, and from the archive', async () => {
    const known = await saleOf(service);
    for (let round = 0; round < 2; round += 1) {
      await service.operate('POST', '/admin/snapshot', { body: { prune: true } });
      await buy(service, ofOne(1));
    }
    await service.restart();
    const { totals, partial } = await assertAgrees(service);
    assert.deepEqual([totals.tickets, partial], [known.totals.tickets + 2, false]);
  });

  const ofNode = ofOneMachine('each node has a history of its own');
  it(
    'stands beside the history of the service: requests, refusals, writes of the journal',
    { skip: ofNode },
    async () => {
      await buy(service, ofOne(1));
      const items = [floor(9_999)];
      const body = { event_id: EVENT, session_key: 'session-greedy', items };
      const { status, body: refused } = await service.call('POST', '/api/checkout/holds', { body });
      assert.equal(status, 400, JSON.stringify(refused));
      const read = async (query: string) =>
        (await service.operate<ServiceHistoryBody>('GET', `/admin/history${query}`)).body;
      // A request is counted once its answer has left.
      await until(async () => ((await read('')).minutes.at(-1)?.client_errors ?? 0) > 0);
      const last = (await read('')).minutes.at(-1)!;
      assert.ok(
        last.refusals.some(({ code, count }) => code === refused['code'] && count > 0 && count <= last.refused),
      );
      assert.ok(last.requests > 0 && last.commits > 0, JSON.stringify(last));
      assert.ok(last.p50_ms! <= last.p95_ms! && last.p95_ms! <= last.p99_ms!);
      assert.deepEqual(
        (await read(`?to=${last.at}`)).minutes.filter(({ at }) => at >= last.at),
        [],
      );
      const wrong = await service.operate('GET', `/admin/history?from=${last.at}&to=${last.at}`);
      assert.deepEqual([wrong.status, wrong.body['code']], [400, 'VALIDATION_ERROR']);
      assert.equal((await fetch(`${service.adminUrl}/admin/history`)).status, 401);
    },
  );

  it('tells who stands in line', async () => {
    await service.define(night);
    const join = (session: string) =>
      service.call('POST', '/api/checkout/queue', { body: { event_id: EVENT, session_key: session } });
    for (const name of ['one', 'two', 'three']) assert.equal((await join(`session-${name}`)).status, 201);
    const { points, totals } = await saleOf(service);
    assert.deepEqual([totals.joined, totals.joined - totals.admitted], [3, points.at(-1)!.waiting]);
    assert.ok(points.at(-1)!.waiting > 0);
  });
});

it(
  'agrees with the orders to the cent after kill -9 in the middle of the sale',
  { skip: ofOneMachine('it kills a process') },
  async (t) => {
    const folder = makeFolder();
    let service = await spawnService({ folder });
    t.after(() => service.close());
    await service.define({ ...night, waiting_room: false });
    let bought = 0;
    const shop = async (): Promise<void> => {
      try {
        for (;;) {
          await buy(service, ofOne(1 + (bought % 3)));
          bought += 1;
        }
      } catch {
        // The service is gone.
      }
    };
    const buyers = Array.from({ length: 8 }, shop);
    while (bought < 40) await saleOf(service);
    await service.end('SIGKILL');
    await Promise.all(buyers);
    service = await spawnService({ folder });
    const { totals } = await assertAgrees(service);
    assert.ok(totals.orders >= bought, `${totals.orders} orders, ${bought} bought`);
    await buy(service, ofOne(2));
    assert.equal((await assertAgrees(service)).totals.orders, totals.orders + 1);
  },
);
