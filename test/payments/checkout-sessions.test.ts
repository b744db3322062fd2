/** Opening checkout sessions at a provider that is slow, fails or refuses. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sumOf } from '#domain/money.ts';
import { createCheckoutSessions, type CheckoutSessionPorts, type Payable } from '#payments/checkout-sessions.ts';
import { ProviderUnavailable, type PaymentProvider } from '#payments/provider.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { openConcert } from '../fixtures/actors.ts';
import { checkoutBody, newCustomer, START_CHECKOUT, type Started } from '../fixtures/checkout.ts';
import { assertRefused } from '../fixtures/checks.ts';
import { bodyOf, type Answer, type Json } from '../fixtures/client.ts';
import { buy, item as itemOf } from '../fixtures/commands.ts';
import { gala, item } from '../fixtures/events.ts';
import { openService, openServiceFor } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openSlowProvider } from './stripe-stand-in.ts';

describe('A checkout session', () => {
  it('is opened and recorded although the event is evicted while the provider is called', async (t) => {
    const provider = await openSlowProvider(t);
    const shop = await openServiceFor(t, [gala()], provider.environment);
    const asked = shop.post<Started>(START_CHECKOUT, checkoutBody());
    await provider.asked;
    shop.internals.engine.events.actors.retireAll();
    const { id } = provider.answer();
    const body = bodyOf(await asked, 201);
    assert.equal(body.checkout_session_id, id);
  });

  it('that could not be asked for in time is refused before an order is written; other events are served', async (t) => {
    const provider = await openSlowProvider(t);
    const limits = { providerCallsMax: 1 };
    const shop = await openService({ environment: provider.environment, limits });
    t.after(() => shop.close());
    for (const id of ['evt_gala', 'evt_calm']) await shop.define(gala({ id, slug: id, max_tickets_per_email: null }));
    const ask = (overrides: object = {}, headers = {}) =>
      shop.post<Started>(START_CHECKOUT, checkoutBody({ customer: newCustomer(), ...overrides }), headers);
    const key = { 'idempotency-key': 'first' };
    const body = { customer: newCustomer() };
    const first = ask(body, key);
    await provider.asked;
    provider.answer();
    const { body: opened } = await first;

    const refused: Answer<Started>[] = [];
    const rush: Promise<Answer<Started>>[] = [];
    // The longer the call runs that has the only place, the fewer may wait behind it.
    while (refused.length === 0) {
      const answer = ask();
      rush.push(answer);
      void answer.then((each) => each.status !== 201 && refused.push(each));
      await pause(5);
    }
    assertRefused(refused[0]!, 503, 'OVERLOADED');
    assert.match(refused[0]!.headers.get('retry-after')!, /^[1-9]\d*$/);

    const again = await ask(body, key);
    assert.deepEqual([again.status, again.body], [201, opened], 'an answer that was given needs no provider');
    assert.equal((await ask({ items: [item('guest', 1)] })).body.payment_provider, 'FREE');
    assertRefused(await ask({ accept_terms: false }), 400, 'TERMS_NOT_ACCEPTED');
    const { body: list } = await shop.admin.get<{ orders: Json[] }>('/admin/events/evt_gala/orders?limit=500');
    const waiting = list.orders.find((order) => (order['payments'] as Json[])[0]?.['status'] === 'REQUESTED')!;
    assertRefused(await shop.post(`/api/checkout/orders/${String(waiting['order_id'])}/payments`), 503, 'OVERLOADED');

    const queued = () => sumOf(shop.services, ({ payments }) => payments.checkoutSessions.calls.waiting);
    const before = queued();
    const calm = ask({ event_id: 'evt_calm' });
    await until(() => queued() > before);
    let isOver = false;
    void Promise.all([calm, ...rush]).then(() => (isOver = true));
    const order: string[] = [];
    await until(() => {
      if (provider.waiting > 0) order.push(provider.answer().client_reference_id);
      return isOver;
    });
    const { status, body: served } = await calm;
    assert.equal(status, 201);
    const position = order.indexOf(served.order_id);
    assert.ok(position < 2 * shop.services.length, `call ${position} is that of the other event`);
    const statuses = (await Promise.all(rush)).map((answer) => answer.status);
    const placed = statuses.filter((each) => each === 201).length;
    assert.equal(statuses.length, placed + statuses.filter((each) => each === 503).length, 'the others are served');
    const { body: all } = await shop.admin.get<{ orders: Json[] }>('/admin/events/evt_gala/orders?limit=500');
    assert.equal(all.orders.length, placed + 2, 'a refused start has left no order');
  });
});

/** Orders without a session, and a provider that fails as `fail` says for each of them. */
async function openUnopened(orders: number, fail: (number: number) => Error | null) {
  const { actor, clock, keys } = await openConcert(undefined, {
    localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 1_000 }],
  });
  const numbers = new Map<string, number>();
  const payables: Payable[] = [];
  for (let number = 0; number < orders; number += 1) {
    const started = await actor.execute(buy([itemOf('stand', 1, { performanceId: null, sellingStageId: 'now' })]));
    assert.ok('order' in started, JSON.stringify(started));
    numbers.set(started.order.id, number);
    payables.push({ order: started.order, payment: started.payment! });
  }
  clock.now += 60_000;
  const asked: number[] = [];
  const provider: PaymentProvider = {
    async openSession({ orderId, paymentId }) {
      const number = numbers.get(orderId)!;
      asked.push(number);
      const failure = fail(number);
      if (failure !== null) throw failure;
      return { checkoutSessionId: `cs_of_${paymentId}`, redirectUrl: 'https://pay.example/', expiresAt: null };
    },
    expireSession: null,
    refunds: null,
    readWebhook: () => ({ outcome: 'UNTRUSTED' }),
  };
  const ports: CheckoutSessionPorts = {
    providers: { provider_a: provider, provider_b: provider },
    callsMax: 64,
    elapsedMs: () => clock.now,
    baseUrl: () => 'http://shop.test',
    active: () => [actor],
    events: { byId: () => actor },
    personalData: new PersonalDataReader(keys),
  };
  const sessions = createCheckoutSessions(ports);
  return { asked, payables, ports, resume: () => sessions.resumeUnopened() };
}

const down = () => new ProviderUnavailable('down');

describe('Orders without a session', () => {
  it('get one though the provider refuses many others that are newer', async () => {
    const { asked, resume } = await openUnopened(250, (number) =>
      number > 0 ? new ProviderUnavailable('no', null, true) : null,
    );
    await resume();
    assert.equal(asked.length, 200, 'the newest of them in one call');
    await resume();
    assert.equal(asked.at(-1), 0);
    asked.length = 0;
    await resume();
    assert.deepEqual([asked[0], asked.includes(0)], [249, false], 'then from the newest again');
  });

  it('get one though many others fail each time, and a provider that is down is not asked for all of them', async () => {
    const { asked, resume } = await openUnopened(20, (number) => (number > 2 ? down() : null));
    for (let calls = 1; calls <= 3; calls += 1) {
      const before = asked.length;
      await resume();
      assert.ok(asked.length - before <= 10, `${asked.length - before} calls`);
    }
    assert.deepEqual([...asked].sort((a, b) => a - b).slice(0, 3), [0, 1, 2]);
    assert.equal(new Set(asked).size, 20);
  });

  it('get one that two nodes open at once, and one of them alone has opened it', async () => {
    const { asked, payables, ports } = await openUnopened(1, () => null);
    const nodes = [createCheckoutSessions(ports), createCheckoutSessions(ports)];
    const opened = await Promise.all(nodes.map((node) => node.openSession(payables[0]!)));
    assert.deepEqual(asked, [0, 0], 'both have asked the provider');
    assert.deepEqual(opened.map(({ isShared }) => isShared).sort(), [false, true]);
    assert.equal(new Set(opened.map(({ payment }) => payment.checkoutSessionId)).size, 1);
  });

  it('are resumed once by two calls at the same time', async () => {
    const { asked, resume } = await openUnopened(3, () => null);
    await Promise.all([resume(), resume()]);
    assert.deepEqual(asked, [2, 1, 0]);
  });
});
