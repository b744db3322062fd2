/** Refunds that the service executes: over HTTP, with the sandbox as the provider that plays every outcome. */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import {
  buy,
  chooseRefunds,
  keptSecretOf,
  newCustomer,
  nodesOf,
  setOutage,
  signatureOf,
  settle,
  start,
  statusOf,
  type Started,
} from '../fixtures/checkout.ts';
import { holdfast } from '../cli/holdfast.ts';
import { assertRefused } from '../fixtures/checks.ts';
import type { Json } from '../fixtures/client.ts';
import { gala } from '../fixtures/events.ts';
import { MINUTE, ofOneMachine, openServiceFor, serviceWith } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';

interface Refunded {
  readonly reference: string;
  readonly refund_id: string;
  readonly amount: number;
  readonly status: string;
}

const HOUR = 60 * MINUTE;
const restarts = ofOneMachine('one process is stopped and started on its folder');
const service = serviceWith([gala(), gala({ id: 'evt_auto', slug: 'auto', refunds: 'AUTOMATIC' })]);
beforeEach(() => service.wait(HOUR));

async function paid(overrides: object = {}): Promise<Started> {
  const started = await start(service, { customer: newCustomer(), ...overrides });
  await settle(service, started, 'paid');
  return started;
}

/** A paid order that an operator has cancelled. */
async function owing(): Promise<Started> {
  const started = await paid();
  await service.admin.post(`/admin/orders/${started.order_id}/cancel`);
  return started;
}

const refund = ({ order_id: id }: Started, body: Json = {}, headers: Record<string, string> = {}) =>
  service.admin.post<AdminOrderBody>(`/admin/orders/${id}/refunds`, { execute: true, ...body }, headers);

const orderOf = async ({ order_id: id }: Started): Promise<AdminOrderBody> =>
  (await service.admin.get<AdminOrderBody>(`/admin/orders/${id}`)).body;

/** The sandbox of the node that owns the event gives back. */
const choose = (next: string, times = 1) => chooseRefunds(service, next, times);

/** Settles a pending refund at the sandbox that has it; answers the last answer where none has. */
async function settleRefund(reference: string | null, outcome: string) {
  const answers = await Promise.all(
    nodesOf(service).map((node) => node.post<Json>(`/sandbox/refunds/${reference}`, { outcome })),
  );
  return answers.find(({ status }) => status === 200) ?? answers.at(-1)!;
}

const given = async ({ checkout_session_id: session }: Started): Promise<readonly Refunded[]> => {
  type Listed = { readonly refunds: readonly (Refunded & { readonly checkout_session_id: string })[] };
  const lists = await Promise.all(nodesOf(service).map((node) => node.get<Listed>('/sandbox/refunds')));
  return lists.flatMap(({ body }) => body.refunds).filter((each) => each.checkout_session_id === session);
};

/** Waits until the newest refund of an order has a status; the clock goes on meanwhile. */
async function become(started: Started, status: string): Promise<AdminOrderBody['refunds'][number]> {
  let last: AdminOrderBody['refunds'][number] | undefined;
  await until(
    async () => {
      last = (await orderOf(started)).refunds.at(-1);
      return last?.status === status;
    },
    () => `${status}, not ${JSON.stringify(last)}`,
    20_000,
  );
  return last!;
}

async function report(started: Started, type: string, data: Json) {
  const body = JSON.stringify({
    type,
    timestamp: new Date(service.now()).toISOString(),
    data: { checkout_session_id: started.checkout_session_id, currency: 'EUR', ...data },
  });
  const timestamp = String(Math.floor(service.now() / 1000));
  const id = `msg_${type}_${service.now()}`;
  const signature = signatureOf(keptSecretOf(service, 'provider_a'), `${id}.${timestamp}.${body}`);
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  return service.post<Json>('/api/payments/webhooks/provider_a', body, headers);
}

describe('A refund that is executed', () => {
  it('is given back at the provider, once, and shown to buyer and operator', async () => {
    const started = await owing();
    const key = { 'idempotency-key': `refund ${started.order_id}` };
    const { status, body } = await refund(started, { note: 'by mail' }, key);
    assert.equal(status, 200);
    assert.equal(body.refund_pending, started.total_amount);
    assert.equal((await refund(started, { note: 'by mail' }, key)).headers.get('idempotent-replayed'), 'true');
    const done = await become(started, 'SUCCEEDED');
    const order = await orderOf(started);
    assert.deepEqual([order.refund_due, order.refunded_amount, order.refund_pending], [0, started.total_amount, 0]);
    const [there, ...others] = await given(started);
    assert.deepEqual([there!.reference, there!.refund_id, there!.amount], [done.reference, done.id, done.amount]);
    assert.deepEqual(others, []);
    assert.deepEqual([done.provider, done.note, done.tries, done.next_try_at], ['provider_a', 'by mail', 1, null]);
    const shown = await statusOf(service, started);
    const { id, amount, currency, created_at, finished_at } = done;
    assert.deepEqual(shown.refunds, [{ id, amount, currency, status: 'SUCCEEDED', created_at, finished_at }]);
    assertRefused(await refund(started), 409, 'REFUND_TOO_HIGH');
    // A report of it is no second one.
    const about = { reference: done.reference, refund_id: done.id, amount };
    assert.deepEqual((await report(started, 'refund.succeeded', about)).body, { result: 'repeated' });
    assert.equal((await orderOf(started)).refunds.length, 1);
  });

  it('is asked for as the request says, and refused where it cannot be', async () => {
    const started = await paid();
    const [payment] = (await orderOf(started)).payments;
    assertRefused(await refund(started), 409, 'REFUND_TOO_HIGH');
    assertRefused(await refund(started, { amount: 100, payment_id: 'pay_1_no' }), 404, 'NOT_FOUND');
    assertRefused(await refund(started, { amount: started.total_amount + 1 }), 409, 'REFUND_TOO_HIGH');
    assertRefused(await refund(started, { execute: false }), 400, 'VALIDATION_ERROR');
    assert.equal((await refund(started, { amount: 100, payment_id: payment!.id })).status, 200);
    assert.equal((await become(started, 'SUCCEEDED')).payment_id, payment!.id);
    assert.equal((await orderOf(started)).refund_due, 0);
  });

  it('whose answer is lost is found at the next try, and not given back again', async () => {
    const started = await owing();
    await choose('lost');
    await refund(started);
    await until(async () => (await orderOf(started)).refunds[0]!.tries === 1);
    const { status, next_try_at: next } = (await orderOf(started)).refunds[0]!;
    assert.deepEqual([status, next], ['PENDING', new Date(service.now() + 5_000).toISOString()]);
    service.wait(5_000);
    assert.equal((await become(started, 'SUCCEEDED')).tries, 2);
    assert.equal((await given(started)).length, 1);
  });

  it('that the provider works on is settled by its report', async () => {
    for (const outcome of ['succeeded', 'failed']) {
      const started = await owing();
      await choose('pending');
      await refund(started);
      await until(async () => (await orderOf(started)).refunds[0]!.reference !== null);
      const { reference } = (await orderOf(started)).refunds[0]!;
      assert.equal((await settleRefund(reference, outcome)).status, 200);
      await become(started, outcome.toUpperCase());
      assertRefused(await settleRefund(reference, outcome), 404, 'NOT_FOUND');
      assert.equal((await orderOf(started)).refund_due, outcome === 'failed' ? started.total_amount : 0);
    }
  });

  it('that the provider works on is asked about daily', async () => {
    const started = await owing();
    await choose('pending');
    await refund(started);
    await until(async () => (await orderOf(started)).refunds[0]!.reference !== null);
    service.wait(24 * HOUR);
    await until(async () => (await orderOf(started)).refunds[0]!.tries === 2);
    assert.equal((await orderOf(started)).refunds[0]!.status, 'PENDING');
  });

  it('that fails is due again; one that is refused needs an operator', async () => {
    const started = await owing();
    await choose('failed');
    await refund(started);
    assert.equal((await become(started, 'FAILED')).failure?.code, 'failed');
    assert.equal((await orderOf(started)).refund_due, started.total_amount);
    await choose('refused', 2);
    await refund(started);
    const refused = await become(started, 'NEEDS_OPERATOR');
    assert.equal(refused.failure?.code, 'refused');
    assertRefused(await refund(started), 409, 'REFUND_TOO_HIGH');
    const resolve = (outcome: string, id = refused.id) =>
      service.admin.post<Json>(`/admin/orders/${started.order_id}/refunds/${id}/resolve`, { outcome });
    assertRefused(await resolve('RETRY', 'ref_1_no'), 404, 'NOT_FOUND');
    assert.equal((await resolve('RETRY')).status, 200);
    await until(async () => (await orderOf(started)).refunds.at(-1)!.tries === 2);
    await become(started, 'NEEDS_OPERATOR');
    await resolve('RETRY');
    await become(started, 'SUCCEEDED');
    const { detail } = (await resolve('GIVEN_BACK')).body as { detail: Json };
    assert.deepEqual(detail, { status: 'SUCCEEDED' });
    assert.deepEqual(
      (await given(started)).map(({ status }) => status),
      ['FAILED', 'SUCCEEDED'],
    );
  });

  it('waits for a provider that is out, with pauses', async () => {
    const started = await owing();
    await setOutage(service, { seconds: 20 });
    await refund(started);
    await until(async () => (await orderOf(started)).refunds[0]!.tries === 1);
    service.wait(21_000);
    await become(started, 'SUCCEEDED');
    assert.equal((await given(started)).length, 1);
  });
});

describe('A report of a refund', () => {
  it('that was made at the page of the provider is recorded once, and can fail later', async () => {
    const started = await owing();
    const data = { reference: `re_${started.order_id}`, amount: 500 };
    assert.deepEqual((await report(started, 'refund.pending', data)).body, { result: 'ignored' });
    assert.deepEqual((await report(started, 'refund.succeeded', data)).body, { result: 'recorded' });
    assert.deepEqual((await report(started, 'refund.succeeded', data)).body, { result: 'repeated' });
    assert.equal((await orderOf(started)).refunded_amount, 500);
    assert.deepEqual((await report(started, 'refund.failed', data)).body, { result: 'recorded' });
    assert.equal((await orderOf(started)).refunded_amount, 0);
    assertRefused(
      await report(started, 'refund.succeeded', { reference: 're', amount: null }),
      400,
      'VALIDATION_ERROR',
    );
  });
});

describe('An event that refunds by itself', () => {
  it('gives back what becomes due', async () => {
    const started = await paid({ event_id: 'evt_auto' });
    await service.admin.post(`/admin/orders/${started.order_id}/cancel`);
    await become(started, 'SUCCEEDED');
    assert.deepEqual([(await orderOf(started)).refund_due, (await given(started)).length], [0, 1]);
  });
});

describe('A refund that is not answered', () => {
  it('goes on after a restart, when it is due', { skip: restarts }, async (t) => {
    const shop = await openServiceFor(t, [gala()]);
    const started = await start(shop);
    await settle(shop, started, 'paid');
    await shop.post('/sandbox/outage', { seconds: 3_600 });
    const path = `/admin/orders/${started.order_id}`;
    await shop.admin.post(`${path}/refunds`, { execute: true, amount: 100 });
    const last = async () => (await shop.admin.get<AdminOrderBody>(path)).body.refunds[0]!;
    await until(async () => (await last()).tries === 1);
    await shop.restart();
    shop.wait(5_000);
    type Listed = { readonly refunds: readonly Refunded[] };
    await until(async () => (await shop.get<Listed>('/sandbox/refunds')).body.refunds.length === 1);
    await until(async () => (await last()).status === 'SUCCEEDED');
  });
});

describe('Many refunds', () => {
  it('are tried at most 20 a second, and buyers do not wait for them', async () => {
    const orders = await Promise.all(Array.from({ length: 30 }, () => owing()));
    const begin = performance.now();
    await Promise.all(orders.map((order) => refund(order)));
    const asked = performance.now();
    await paid();
    assert.ok(performance.now() - asked < 1_000, 'a buyer pays meanwhile');
    for (const order of orders) await become(order, 'SUCCEEDED');
    assert.ok(performance.now() - begin >= 900, 'the 21st begins a second after the first');
    for (const order of orders) assert.equal((await given(order)).length, 1);
  });
});

interface Sums {
  readonly due: readonly Json[];
  readonly to_ask: readonly Json[];
  readonly pending: readonly Json[];
  readonly succeeded: readonly Json[];
  readonly failed: readonly Json[];
  readonly needs_operator: readonly Json[];
}
interface RefundList extends Sums {
  readonly refunds: readonly { readonly order_id: string; readonly id: string; readonly status: string }[];
  readonly next_cursor: string | null;
}

describe('Everything that is due', () => {
  it('is given back once its sum was confirmed, and nothing twice', { skip: restarts }, async (t) => {
    const shop = await openServiceFor(t, [gala()]);
    const path = '/admin/events/evt_gala/refunds';
    const all = async (query = '') => (await shop.admin.get<RefundList>(`${path}${query}`)).body;
    const confirm = (amount: number) => ({ confirm: [{ amount, currency: 'EUR' }] });
    const orders: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      const { order_id: id } = await buy(shop, { customer: newCustomer() });
      if (n < 4) await shop.admin.post(`/admin/orders/${id}/cancel`);
      orders.push(id);
    }
    await shop.post('/sandbox/refunds', { next: 'failed' });
    await shop.admin.post(`/admin/orders/${orders[0]}/refunds`, { execute: true, amount: 900 });
    await until(async () => (await all()).failed.length === 1);
    await shop.post('/sandbox/outage', { seconds: 3_600 });
    await shop.admin.post(`/admin/orders/${orders[1]}/refunds`, { execute: true, amount: 400 });
    const eur = (amount: number, count: number) => [{ amount, currency: 'EUR', count }];
    const { due, to_ask: toAsk, pending } = await all();
    assert.deepEqual([due, toAsk, pending], [eur(7600, 4), eur(7200, 4), eur(400, 1)]);
    const changed = await shop.admin.post<{ code: string; detail: Json }>(path, confirm(7600));
    assertRefused(changed, 409, 'REFUND_SUM_CHANGED');
    assert.deepEqual(changed.body.detail, { due: [{ amount: 7200, currency: 'EUR' }] });
    assertRefused(
      await shop.admin.post(path, { ...confirm(7200), performance_id: 'no' }),
      400,
      'PERFORMANCE_NOT_FOUND',
    );
    assertRefused(await shop.admin.post(path, {}), 400, 'VALIDATION_ERROR');
    assertRefused(await shop.admin.post('/admin/events/evt_no/refunds', { confirm: [] }), 404, 'EVENT_NOT_FOUND');
    const asked = { ...confirm(7200), performance_id: 'eve' };
    const { status, body } = await shop.admin.post<Sums>(path, asked, { 'x-operator': 'olga' });
    assert.deepEqual([status, body.to_ask], [202, eur(7200, 4)]);
    // Later turns ask for the money.
    await until(async () => (await all()).to_ask.length === 0);
    assertRefused(await shop.admin.post(path, confirm(7200)), 409, 'REFUND_SUM_CHANGED');
    assert.equal((await shop.admin.post(path, { confirm: [] })).status, 202);
    assert.deepEqual([(await all()).to_ask, (await all()).pending], [[], eur(7600, 5)]);
    await shop.restart();
    shop.wait(HOUR);
    await until(async () => (await all()).succeeded.length === 1 && (await all()).pending.length === 0);
    const done = await all();
    assert.deepEqual([done.due, done.succeeded, done.failed], [[], eur(7600, 5), eur(900, 1)]);
    const [first, second, ...others] = [await all('?limit=4'), await all('?status=FAILED')];
    assert.deepEqual([first!.refunds.length, second!.refunds.map(({ order_id: id }) => id)], [4, [orders[0]]]);
    const rest = await all(`?limit=4&cursor=${first!.next_cursor}`);
    const ids = [...first!.refunds, ...rest.refunds].map(({ id }) => id);
    assert.deepEqual([ids.length, new Set(ids).size, rest.next_cursor, others], [6, 6, null, []]);
    const forged = Buffer.from('nothing').toString('base64url');
    assertRefused(await shop.admin.get(`${path}?cursor=${forged}`), 400, 'VALIDATION_ERROR');
    // The same on disk.
    const environment = { DATA_DIR: shop.folder };
    const listed = await holdfast(['refunds', 'gala', '--status', 'FAILED'], environment);
    assert.match(listed.stdout, /^succeeded: 76\.00 EUR \(5\)$/m);
    assert.match(
      listed.stdout,
      new RegExp(`^${orders[0]} +${second!.refunds[0]!.id} +FAILED +9\\.00 EUR .* failed$`, 'm'),
    );
    const { stdout: facts } = await holdfast(['journal', '--type', 'DueRefundsOrdered', '--full'], environment);
    assert.match(facts, /"operator":"olga"/);
    const csv = await holdfast(['export', 'refunds', 'evt_gala'], environment);
    assert.match(csv.stdout, /^"order_id","refund_id","status","amount","amount_cents",/);
    assert.equal(csv.stdout.trim().split('\r\n').length, 7);
    const exported = await holdfast(['export', 'refunds', 'gala', '--format', 'json'], environment);
    assert.deepEqual(
      exported.json<readonly { readonly refund_id: string }[]>().map((each) => each.refund_id),
      ids,
    );
    for (const wrong of [
      ['refunds', 'gala', '--status', 'FAILD'],
      ['export', 'refund', 'gala'],
    ]) {
      const { code, stderr } = await holdfast(wrong, environment);
      assert.equal(code, 2);
      assert.match(stderr, /FAILED|refunds/);
    }
  });
});

describe('A provider that has no way to refund', () => {
  it('leaves the refund to an operator', { skip: restarts }, async (t) => {
    const environment: Record<string, string> = {};
    const shop = await openServiceFor(t, [gala()], environment);
    const started = await start(shop);
    await settle(shop, started, 'paid');
    environment['SANDBOX'] = 'off';
    await shop.restart();
    const path = `/admin/orders/${started.order_id}`;
    await shop.admin.post(`${path}/refunds`, { execute: true, amount: 100 });
    const last = async () => (await shop.admin.get<AdminOrderBody>(path)).body.refunds[0]!;
    await until(async () => (await last()).status === 'NEEDS_OPERATOR');
    const { id, failure } = await last();
    assert.equal(failure?.code, 'PROVIDER_CANNOT_REFUND');
    const { body: metrics } = await shop.operate<string>('GET', '/metrics');
    assert.match(metrics, /^holdfast_refunds\{status="NEEDS_OPERATOR"\} 1$/m);
    assert.match(metrics, /^holdfast_refund_tries_total\{outcome="REFUSED"\} 1$/m);
    assert.match(metrics, /^holdfast_refund_tries_total\{outcome="SUCCEEDED"\} 0$/m);
    type Overview = { readonly events: readonly Json[] };
    const [event] = (await shop.admin.get<Overview>('/admin/overview')).body.events;
    assert.equal(event!['refunds_needing_operator'], 1);
    const [sums] = (await shop.admin.get<{ totals: Json[] }>('/admin/events/evt_gala/money')).body.totals;
    assert.deepEqual([sums!['refunded_amount'], sums!['refunds_pending_amount']], [0, 100]);
    // The operator gives it back elsewhere; a restart changes nothing of it.
    const given = { outcome: 'GIVEN_BACK', reference: 'bank 17', note: 'by transfer' };
    const { body } = await shop.admin.post<AdminOrderBody>(`${path}/refunds/${id}/resolve`, given);
    await shop.restart();
    assert.deepEqual(body.refunds, [await last()]);
    const { status, reference, note, provider } = await last();
    assert.deepEqual([status, reference, note, provider], ['SUCCEEDED', 'bank 17', 'by transfer', null]);
  });
});

describe('Refunds of events that are not in memory', () => {
  it('are counted in metrics, after a stop too', { skip: restarts }, async (t) => {
    const others = [gala({ id: 'evt_other', slug: 'other' }), gala({ id: 'evt_third', slug: 'third' })];
    const shop = await openServiceFor(t, [gala(), ...others], { LIVE_EVENTS_MAX: '1' });
    const all = ['1 NEEDS_OPERATOR', '3 SUCCEEDED'];
    const inMemory = () => shop.internals.engine.active().map(({ eventId }) => eventId);
    const counted = async () => {
      const { body } = await shop.operate<string>('GET', '/metrics');
      return [...body.matchAll(/^holdfast_refunds\{status="(\w+)"\} ([1-9]\d*)$/gm)].map(
        ([, status, n]) => `${n} ${status}`,
      );
    };
    const evict = () =>
      until(async () => {
        // An activation evicts another event, if it is idle just then.
        for (const slug of ['other', 'third']) await shop.get(`/api/events/public/${slug}`);
        return inMemory().join() === 'evt_third';
      });
    for (const event_id of ['evt_gala', 'evt_other']) {
      const { order_id: id } = await buy(shop, { event_id, customer: newCustomer() });
      await shop.admin.post(`/admin/orders/${id}/refunds`, { amount: 100 });
      if (event_id === 'evt_gala') await shop.post('/sandbox/refunds', { next: 'refused' });
      await shop.admin.post(`/admin/orders/${id}/refunds`, { execute: true, amount: 100 });
      const ended = ['NEEDS_OPERATOR', 'SUCCEEDED'];
      await until(async () => {
        const { body } = await shop.admin.get<AdminOrderBody>(`/admin/orders/${id}`);
        return ended.includes(body.refunds.at(-1)!.status);
      });
    }
    await evict();
    assert.deepEqual(await counted(), all);
    await shop.restart();
    assert.ok(!inMemory().includes('evt_gala'));
    assert.deepEqual(await counted(), all);
    await shop.get('/api/events/public/gala');
    await evict();
    assert.deepEqual(await counted(), all);
  });
});
