/**
 * Payments through Stripe: the whole service against a stand-in for Stripe's API, with Stripe's own SDK on both sides.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { fromStripeAmount, toStripeAmount } from '#payments/stripe-amounts.ts';
import {
  checkoutBody,
  newCustomer,
  openNextPayment,
  settle,
  start,
  START_CHECKOUT,
  statusOf,
  type Started,
} from '../fixtures/checkout.ts';
import { assertRefused } from '../fixtures/checks.ts';
import type { Json } from '../fixtures/client.ts';
import { gala } from '../fixtures/events.ts';
import { MINUTE, openServiceWith, type TestService } from '../fixtures/service.ts';
import {
  openStandIn,
  SECRET_KEY,
  seen,
  WEBHOOK_SECRET,
  type SignedEvent,
  type StandIn,
  type StandInSession,
} from './stripe-stand-in.ts';
import { until } from '../fixtures/until.ts';

let shop: TestService;
let stripe: StandIn;

before(async () => {
  stripe = await openStandIn();
  shop = await openServiceWith([gala(), gala({ id: 'evt_b', slug: 'b', payment_provider: 'provider_b' })], {
    STRIPE_SECRET_KEY: SECRET_KEY,
    STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET,
    STRIPE_API_BASE: stripe.url,
    SANDBOX: 'on',
  });
});
beforeEach(() => {
  stripe.trouble = null;
});
after(async () => {
  await shop.close();
  await stripe.close();
});

function post({ body, headers }: SignedEvent) {
  return shop.post<Json>('/api/payments/webhooks/provider_a', body, headers);
}

async function startWithStripe(overrides: object = {}): Promise<{ started: Started; session: StandInSession }> {
  const started = await start(shop, { customer: newCustomer(), ...overrides });
  const session = stripe.sessions.at(-1)!;
  assert.equal(started.checkout_session_id, session.id);
  return { started, session };
}

const event: StandIn['event'] = (type, object, options = {}) =>
  stripe.event(type, object, { at: shop.now(), ...options });

describe('Stripe Checkout', () => {
  it('gets a session with amount, addresses, ids and an end that Stripe allows', async () => {
    const cancelUrl = 'https://shop.example/no?o={ORDER_ID}';
    const { started, session } = await startWithStripe({ cancel_url: cancelUrl, installment_count: 2 });
    assert.equal(started.redirect_url, session.url);
    assert.equal(
      started.expires_at,
      new Date(shop.now() + 30 * MINUTE).toISOString(),
      "the buyer sees the order's window",
    );
    const { form } = session;
    assert.equal(form.get('mode'), 'payment');
    assert.equal(form.get('client_reference_id'), started.order_id);
    assert.equal(form.get('payment_intent_data[metadata][order_id]'), started.order_id);
    assert.equal(form.get('line_items[0][price_data][unit_amount]'), '950');
    assert.equal(form.get('line_items[0][price_data][currency]'), 'eur');
    assert.equal(form.get('line_items[0][price_data][product_data][name]'), 'Gala: 1 ticket, 1/2');
    assert.equal(form.get('success_url'), `${shop.publicUrl}/orders/${started.order_id}`);
    assert.equal(form.get('cancel_url'), `https://shop.example/no?o=${started.order_id}`);
    const lifeSeconds = session.expires_at - shop.now() / 1000;
    assert.ok(lifeSeconds >= 30 * 60 && lifeSeconds <= 24 * 3600, String(lifeSeconds));
  });

  it('gets an end by the machine’s clock, which Stripe’s resembles, when that clock leapt', async (t) => {
    const DAY = 24 * 60 * MINUTE;
    shop.leap(-DAY);
    t.after(() => shop.leap(DAY));
    const { started, session } = await startWithStripe();
    const lifeSeconds = session.expires_at - (shop.now() - DAY) / 1000;
    assert.ok(lifeSeconds >= 30 * 60 && lifeSeconds <= 24 * 3600, String(lifeSeconds));
    const paid = stripe.event('checkout.session.completed', seen(session), { at: shop.now() - DAY });
    assert.equal((await post(paid)).status, 200);
    assert.equal((await statusOf(shop, started)).status, 'CONFIRMED');
  });

  it('confirms the order when a session is completed, and repeats count once', async () => {
    const { started, session } = await startWithStripe();
    const completed = event('checkout.session.completed', seen(session));
    assert.deepEqual(
      [(await post(completed)).body, (await post(completed)).body],
      [{ result: 'recorded' }, { result: 'repeated' }],
    );
    const status = await statusOf(shop, started);
    assert.deepEqual([status.status, status.paid_amount, status.refund_due], ['CONFIRMED', 1900, 0]);
  });

  it('waits for a payment that succeeds later, in whichever order its events arrive', async () => {
    const { started, session } = await startWithStripe();
    const unpaid = event('checkout.session.completed', seen(session, { payment_status: 'unpaid' }));
    assert.deepEqual((await post(unpaid)).body, { result: 'ignored' });
    assert.equal((await statusOf(shop, started)).status, 'PENDING');
    await post(event('checkout.session.async_payment_succeeded', seen(session)));
    await post(unpaid);
    await post(event('checkout.session.expired', seen(session, { payment_status: 'unpaid' })));
    assert.equal((await statusOf(shop, started)).status, 'CONFIRMED');
  });

  it('gets amounts of yen, dinars and crowns in its own units, and confirms the amount that was asked', async () => {
    const prices = { JPY: ['1900', 1900], KWD: ['1900', 1900], ISK: ['190000', 190_000], MGA: ['19', 19] } as const;
    for (const [currency, [unitAmount, total]] of Object.entries(prices)) {
      await shop.define(gala({ id: `evt_${currency}`, slug: currency.toLowerCase(), currency }) as Json);
      const { started, session } = await startWithStripe({ event_id: `evt_${currency}` });
      assert.equal(session.form.get('line_items[0][price_data][unit_amount]'), unitAmount, currency);
      assert.equal(session.amount_total, total);
      await post(event('checkout.session.completed', seen(session)));
      const status = await statusOf(shop, started);
      assert.deepEqual([status.status, status.paid_amount, status.refund_due], ['CONFIRMED', 1900, 0], currency);
    }
  });

  it('gets amounts of dinars in tens of fils; the exact amount is recorded as paid and as refunded', async () => {
    const { started, session } = await startWithStripe({ event_id: 'evt_KWD', installment_count: 3 });
    assert.equal(session.form.get('line_items[0][price_data][unit_amount]'), '630', '634 fils to the nearest ten');
    await post(event('checkout.session.completed', seen(session)));
    const paid = await statusOf(shop, started);
    assert.deepEqual([paid.status, paid.paid_amount, paid.refund_due], ['PARTIALLY_PAID', 634, 0]);
    const charge = { id: 'ch_2', object: 'charge', metadata: session.metadata, currency: 'kwd' };
    const refunded = { ...charge, amount_refunded: 630 };
    await post(event('charge.refunded', refunded, { previous: { amount_refunded: 0 } }));
    const { body } = await shop.admin.get(`/admin/orders/${started.order_id}`);
    assert.equal(body['refunded_amount'], 634);
  });

  it('reports declines of a session and of its payment intent', async () => {
    for (const type of ['checkout.session.async_payment_failed', 'payment_intent.payment_failed']) {
      const { started, session } = await startWithStripe();
      const object = type.startsWith('payment_intent') ? { id: 'pi_1', metadata: session.metadata } : seen(session);
      assert.deepEqual((await post(event(type, object))).body, { result: 'recorded' });
      const status = await statusOf(shop, started);
      assert.deepEqual([status.status, status.payment_status], ['PENDING', 'FAILED']);
      const again = await openNextPayment(shop, started);
      await post(event('checkout.session.completed', seen(stripe.sessions.at(-1)!)));
      assert.equal((await statusOf(shop, started)).status, 'CONFIRMED');
      assert.notEqual(again.checkout_session_id, started.checkout_session_id);
    }
  });

  it('records late money of a session that outlasted the payment window', async () => {
    const { started, session } = await startWithStripe();
    shop.wait(31 * MINUTE);
    assert.equal((await statusOf(shop, started)).status, 'EXPIRED');
    await post(event('checkout.session.completed', seen(session)));
    assert.equal((await statusOf(shop, started)).status, 'CONFIRMED');
  });

  it('records a payment of another amount as a refund that is due', async () => {
    const { started, session } = await startWithStripe();
    await post(event('checkout.session.completed', seen(session, { amount_total: 100 })));
    const status = await statusOf(shop, started);
    assert.deepEqual([status.status, status.refund_due], ['PENDING', 100]);
  });

  it('records refunds made at Stripe, each once', async () => {
    const { started, session } = await startWithStripe();
    await post(event('checkout.session.completed', seen(session)));
    await shop.admin.post(`/admin/orders/${started.order_id}/cancel`);
    const charge = { id: 'ch_1', object: 'charge', metadata: session.metadata };
    const first = event('charge.refunded', { ...charge, amount_refunded: 500 }, { previous: { amount_refunded: 0 } });
    const second = event(
      'charge.refunded',
      { ...charge, amount_refunded: 1900 },
      { previous: { amount_refunded: 500 } },
    );
    assert.deepEqual((await post(second)).body, { result: 'recorded' });
    assert.deepEqual((await post(first)).body, { result: 'recorded' });
    assert.deepEqual((await post(second)).body, { result: 'repeated' });
    const { body } = await shop.admin.get<Json>(`/admin/orders/${started.order_id}`);
    assert.deepEqual([body['refunded_amount'], body['refund_due']], [1900, 0]);
    const more = event(
      'charge.refunded',
      { ...charge, amount_refunded: 1900 },
      { previous: { amount_refunded: 1000 } },
    );
    assert.deepEqual((await post(more)).body, { result: 'ignored' }, 'never more than was paid');
  });

  it('takes off a refund that was made on its page and failed since, whose payment alone names the order', async () => {
    const { started, session } = await startWithStripe();
    await post(event('checkout.session.completed', seen(session)));
    await shop.admin.post(`/admin/orders/${started.order_id}/cancel`);
    const charge = { id: 'ch_1', object: 'charge', metadata: session.metadata, amount_refunded: 1900 };
    await post(event('charge.refunded', charge, { previous: { amount_refunded: 0 } }));
    const money = async (): Promise<unknown[]> => {
      const { body } = await shop.admin.get<Json>(`/admin/orders/${started.order_id}`);
      return [body['refunded_amount'], body['refund_due']];
    };
    assert.deepEqual(await money(), [1900, 0]);
    const made = { id: 're_page', object: 'refund', amount: 1900, currency: 'eur', metadata: {}, status: 'failed' };
    const reportOf = (payment_intent: string | null) =>
      post(event('refund.failed', { ...made, payment_intent, failure_reason: 'expired_or_canceled_card' }));
    const payment = `pi_${stripe.sessions.indexOf(session) + 1}`;
    stripe.trouble = 'hang up';
    assert.equal((await reportOf(payment)).status, 503, 'Stripe sends it again');
    stripe.trouble = null;
    for (const other of ['pi_999', null]) assert.deepEqual((await reportOf(other)).body, { result: 'ignored' });
    assert.deepEqual(await money(), [1900, 0]);
    assert.deepEqual((await reportOf(payment)).body, { result: 'recorded' });
    assert.deepEqual(await money(), [0, 1900], 'due again');
    assert.deepEqual((await reportOf(payment)).body, { result: 'ignored' }, 'once');
  });

  it('and an operator record the same refund, which counts once', async () => {
    const { started, session } = await startWithStripe();
    await post(event('checkout.session.completed', seen(session)));
    const path = `/admin/orders/${started.order_id}/refunds`;
    const reported = (refund: string, amount: number, soFar: number) =>
      post(
        event(
          'charge.refunded',
          {
            ...{ id: 'ch_1', object: 'charge', metadata: session.metadata, currency: 'eur', amount_refunded: soFar },
            refunds: { data: [{ id: refund, amount }] },
          },
          { previous: { amount_refunded: soFar - amount } },
        ),
      );
    const refunded = async (): Promise<unknown> =>
      (await shop.admin.get(`/admin/orders/${started.order_id}`)).body['refunded_amount'];
    await shop.admin.post(path, { amount: 300, note: 'given back at Stripe' });
    assert.deepEqual((await reported('re_1', 300, 300)).body, { result: 'recorded' });
    assert.equal(await refunded(), 300, 'noted, then reported');
    assert.deepEqual((await reported('re_1', 300, 300)).body, { result: 'repeated' });
    await reported('re_2', 200, 500);
    await shop.admin.post(path, { amount: 200, note: 'given back at Stripe' });
    assert.equal(await refunded(), 500, 'reported, then noted');
    await shop.admin.post(path, { amount: 100, note: 'by hand', reference: 're_3' });
    assert.deepEqual((await reported('re_3', 100, 600)).body, { result: 'repeated' });
    assert.equal(await refunded(), 600, 'noted under its id');
  });

  it('records a refund once that a charge without its refunds, the refund itself and an operator report', async () => {
    const { started, session } = await startWithStripe();
    await post(event('checkout.session.completed', seen(session)));
    const path = `/admin/orders/${started.order_id}/refunds`;
    const ofCharge = (amount: number, soFar: number) => {
      const charge = { id: 'ch_1', object: 'charge', metadata: session.metadata, currency: 'eur' };
      const previous = { amount_refunded: soFar - amount };
      return post(event('charge.refunded', { ...charge, amount_refunded: soFar }, { previous }));
    };
    const ofRefund = (id: string, amount: number, status = 'succeeded') =>
      post(
        event('refund.updated', { id, object: 'refund', amount, currency: 'eur', status, metadata: session.metadata }),
      );
    const refunded = async (): Promise<unknown> =>
      (await shop.admin.get(`/admin/orders/${started.order_id}`)).body['refunded_amount'];
    await shop.admin.post(path, { amount: 300, note: 'at Stripe', reference: 're_1' });
    await ofCharge(300, 300);
    assert.equal(await refunded(), 300, 'noted under its id, then the charge');
    assert.deepEqual((await ofRefund('re_1', 300)).body, { result: 'repeated' });
    await ofCharge(200, 500);
    assert.deepEqual((await ofRefund('re_2', 200, 'pending')).body, { result: 'ignored' });
    await ofRefund('re_2', 200);
    await shop.admin.post(path, { amount: 200, note: 'at Stripe' });
    assert.equal(await refunded(), 500, 'the charge, then the refund, then a note');
    await ofRefund('re_3', 200);
    await ofCharge(200, 700);
    assert.equal(await refunded(), 700, 'another one of the same amount');
  });

  it('is refused a webhook with two timestamps in its signature header', async () => {
    const { started, session } = await startWithStripe();
    const old = event('checkout.session.completed', seen(session), { at: shop.now() - 3_600_000 });
    const signed = old.headers['stripe-signature']!;
    const now = Math.floor(shop.now() / 1000);
    for (const header of [
      `t=${now},${signed}`,
      `${signed},t=${now}`,
      `t=${now}, ${signed}`,
      `t=${now},t=${now},${signed}`,
    ]) {
      assertRefused(await post({ ...old, headers: { 'stripe-signature': header } }), 401, 'UNAUTHORIZED');
    }
    assert.equal((await statusOf(shop, started)).status, 'PENDING');
  });

  it('is answered 401 for an unsigned or old webhook; an event of another shop is ignored', async () => {
    const { started, session } = await startWithStripe();
    const stranger = event('checkout.session.completed', seen(session, { metadata: {} }));
    assert.deepEqual((await post(stranger)).body, { result: 'ignored' });
    assert.deepEqual((await post(event('customer.created', { id: 'cus_1' }))).body, { result: 'ignored' });
    const good = event('checkout.session.completed', seen(session));
    assertRefused(await post({ ...good, body: good.body.replace('1900', '1901') }), 401, 'UNAUTHORIZED');
    assertRefused(await post({ ...good, headers: {} }), 401, 'UNAUTHORIZED');
    assertRefused(await post({ ...good, headers: { 'stripe-signature': 't=1,v1=00' } }), 401, 'UNAUTHORIZED');
    const old = event('checkout.session.completed', seen(session), { at: shop.now() - 301_000 });
    assertRefused(await post(old), 401, 'UNAUTHORIZED');
    shop.wait(6 * MINUTE);
    assertRefused(await post(good), 401, 'UNAUTHORIZED');
    assert.equal((await statusOf(shop, started)).status, 'PENDING');
    const fresh = event(
      'checkout.session.completed',
      seen(session, { metadata: { ...session.metadata, payment_id: 'pay_zz_x' }, id: 'cs_x' }),
    );
    assertRefused(await post(fresh), 404, 'ORDER_NOT_FOUND');
  });

  it('is answered for with 502 when it cannot be reached; a repeat opens one session even when an answer was lost', async () => {
    const headers = { 'idempotency-key': 'stripe-down' };
    const body = checkoutBody({ customer: newCustomer() });
    for (const trouble of ['error', 'hang up', 'answer lost'] as const) {
      stripe.trouble = trouble;
      assertRefused(await shop.post(START_CHECKOUT, body, headers), 502, 'PAYMENT_PROVIDER_UNAVAILABLE');
    }
    const lost = stripe.sessions.at(-1)!;
    const count = stripe.sessions.length;
    stripe.trouble = null;
    const resumed = await shop.post<Started>(START_CHECKOUT, body, headers);
    assert.deepEqual([resumed.status, resumed.body.checkout_session_id], [201, lost.id]);
    assert.equal(stripe.sessions.length, count);
  });

  it('expires every open session of an order that ends, however it ends', async () => {
    const { started, session: first } = await startWithStripe();
    await post(event('payment_intent.payment_failed', { id: 'pi_2', metadata: first.metadata }));
    await openNextPayment(shop, started);
    const second = stripe.sessions.at(-1)!;
    await shop.admin.post(`/admin/orders/${started.order_id}/cancel`);
    await until(() => stripe.expired.includes(first.id) && stripe.expired.includes(second.id));
    const { started: late, session } = await startWithStripe();
    shop.wait(30 * MINUTE);
    assert.equal((await statusOf(shop, late)).status, 'EXPIRED');
    await until(() => stripe.expired.includes(session.id));
  });

  it('expires the other sessions of an order that one of them has paid, and none that may still be needed', async () => {
    const { started, session: first } = await startWithStripe({ installment_count: 2 });
    await post(event('payment_intent.payment_failed', { id: 'pi_3', metadata: first.metadata }));
    await openNextPayment(shop, started);
    const second = stripe.sessions.at(-1)!;
    await post(event('checkout.session.completed', seen(first)));
    await until(() => stripe.expired.includes(second.id));
    await openNextPayment(shop, started);
    const third = stripe.sessions.at(-1)!;
    await post(event('checkout.session.completed', seen(third)));
    assert.equal((await statusOf(shop, started)).status, 'CONFIRMED');
    const { started: pending, session: open } = await startWithStripe();
    await shop.admin.post(`/admin/orders/${started.order_id}/cancel`);
    assert.equal((await statusOf(shop, pending)).status, 'PENDING');
    for (const needed of [first, third, open]) assert.ok(!stripe.expired.includes(needed.id));
  });

  it('gets the call to expire a session again when it could not be reached, also after a restart', async () => {
    const { started, session } = await startWithStripe();
    stripe.trouble = 'error';
    const before = stripe.requests;
    await shop.admin.post(`/admin/orders/${started.order_id}/cancel`);
    await until(() => stripe.requests > before);
    stripe.trouble = null;
    await until(() => stripe.expired.includes(session.id));
    const { started: other, session: left } = await startWithStripe();
    stripe.trouble = 'error';
    await shop.admin.post(`/admin/orders/${other.order_id}/cancel`);
    await shop.restart();
    stripe.trouble = null;
    assert.equal((await statusOf(shop, other)).status, 'CANCELLED');
    await shop.internals.payments.sessionExpiry.scanActivated();
    await until(() => stripe.expired.includes(left.id));
  });

  it('takes the payments of one provider name; the sandbox keeps the other', async () => {
    const started = await start(shop, { event_id: 'evt_b', customer: newCustomer() });
    assert.match(started.redirect_url, /\/sandbox\/pay\//);
    assert.equal((await settle(shop, started, 'paid')).status, 'CONFIRMED');
    const { started: real } = await startWithStripe();
    const path = `/sandbox/payments/${real.checkout_session_id}`;
    assertRefused(await shop.post(path, { outcome: 'paid' }), 404, 'ORDER_NOT_FOUND');
    const outage = await shop.post<Json>('/sandbox/outage', { seconds: 0 });
    assert.deepEqual(
      (outage.body['outages'] as Json[]).map(({ provider }) => provider),
      ['provider_b'],
    );
  });
});

describe('Amounts at Stripe', () => {
  it('converts an amount to the unit of each currency and back without loss', () => {
    const expected: readonly (readonly [string, number, number])[] = [
      ['EUR', 4_550, 4_550],
      ['JPY', 4_550, 4_550],
      ['KRW', 1, 1],
      ['KWD', 4_550, 4_550],
      ['ISK', 45, 4_500],
      ['UGX', 45, 4_500],
      ['MGA', 4_500, 45],
      ['HUF', 4_550, 4_550],
      ['EUR', 0, 0],
    ];
    for (const [currency, minor, stripe] of expected) {
      assert.equal(toStripeAmount(minor, currency), stripe, currency);
      assert.equal(fromStripeAmount(stripe, currency), minor, currency);
    }
  });

  it('rounds an amount that Stripe cannot charge to the nearest that it can', () => {
    assert.deepEqual(
      [4_554, 4_555, 4_556, 4_545, 3].map((amount) => toStripeAmount(amount, 'KWD')),
      [4_550, 4_560, 4_560, 4_550, 10],
    );
    assert.deepEqual(
      [149, 150, 1].map((amount) => toStripeAmount(amount, 'MGA')),
      [1, 2, 1],
    );
  });
});
