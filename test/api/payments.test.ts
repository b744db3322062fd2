/** Money over HTTP: webhooks in every order, late money, outages of the provider, the pages, and what operators do. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import {
  checkoutBody,
  keptSecretOf,
  newCustomer,
  openNextPayment,
  sendWebhook,
  settle,
  signatureOf,
  start,
  START_CHECKOUT,
  statusOf,
  type Started,
  setOutage,
} from '../fixtures/checkout.ts';
import { assertRefused } from '../fixtures/checks.ts';
import type { Json } from '../fixtures/client.ts';
import { gala, item } from '../fixtures/events.ts';
import { MINUTE, openServiceWith, serviceWith } from '../fixtures/service.ts';

const service = serviceWith([gala(), gala({ id: 'evt_b', slug: 'b', payment_provider: 'provider_b' })]);

describe('A webhook', () => {
  it('50 times at once is one payment', async () => {
    const started = await start(service, { customer: newCustomer() });
    const wanted = { session: started.checkout_session_id };
    const answers = await Promise.all(Array.from({ length: 50 }, () => sendWebhook(service, wanted)));
    assert.ok(answers.every(({ status }) => status === 200));
    assert.equal(answers.filter(({ body }) => body['result'] === 'recorded').length, 1);
    const status = await statusOf(service, started);
    assert.deepEqual([status.paid_amount, status.refund_due, status.tickets.length], [1900, 0, 1]);
  });

  it('may name the payment alone, before the session is known', async () => {
    await setOutage(service, { seconds: 60 });
    const refused = await service.post(START_CHECKOUT, checkoutBody({ customer: newCustomer() }));
    const orderId = String(assertRefused(refused, 502, 'PAYMENT_PROVIDER_UNAVAILABLE')['order_id']);
    await setOutage(service, { seconds: 0 });
    const [payment] = (await statusOf(service, { order_id: orderId })).payments;
    const early = await sendWebhook(service, { session: 'session-of-a-bridge', paymentId: payment!.id });
    assert.deepEqual([early.status, early.body], [200, { result: 'recorded' }]);
    assert.equal((await statusOf(service, { order_id: orderId })).status, 'CONFIRMED');
  });

  it('with a bad signature, a foreign secret or another provider’s address is 401, and nothing changes', async () => {
    const started = await start(service, { customer: newCustomer() });
    const { checkout_session_id: session } = started;
    const foreign = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
    assertRefused(await sendWebhook(service, { session, secret: foreign }), 401, 'UNAUTHORIZED');
    assertRefused(
      await sendWebhook(service, { session, secret: keptSecretOf(service, 'provider_b') }),
      401,
      'UNAUTHORIZED',
    );
    assertRefused(
      await service.post('/api/payments/webhooks/provider_a', '{"type":"payment.paid"}'),
      401,
      'UNAUTHORIZED',
    );
    assertRefused(await service.post('/api/payments/webhooks/provider_a'), 401, 'UNAUTHORIZED');
    assertRefused(await service.post('/api/payments/webhooks/provider_c', '{}'), 404, 'NOT_FOUND');
    assert.equal((await statusOf(service, started)).status, 'PENDING');
  });

  it('over five minutes old or ahead is 401', async () => {
    const started = await start(service, { customer: newCustomer() });
    const { checkout_session_id: session } = started;
    for (const offSeconds of [-302, 302]) {
      assertRefused(await sendWebhook(service, { session, offSeconds }), 401, 'UNAUTHORIZED');
    }
    const fresh = await sendWebhook(service, { session, type: 'payment.declined', offSeconds: -299 });
    assert.equal(fresh.status, 200);
    assert.equal((await statusOf(service, started)).payment_status, 'FAILED');
  });

  it('of an unknown type is ignored, of an unknown session told so, of no JSON refused', async () => {
    const { checkout_session_id: session } = await start(service, { customer: newCustomer() });
    const ignored = await sendWebhook(service, { session, type: 'payment.dreamt' });
    assert.deepEqual([ignored.status, ignored.body], [200, { result: 'ignored' }]);
    assertRefused(await sendWebhook(service, { session: `${session!.slice(0, -2)}xx` }), 404, 'ORDER_NOT_FOUND');
    assertRefused(await sendWebhook(service, { session: 'cs_elsewhere' }), 404, 'ORDER_NOT_FOUND');
    assertRefused(await sendWebhook(service, { session, amount: 1.5 }), 400, 'VALIDATION_ERROR');
    const raw = async (body: string) => {
      const timestamp = String(Math.floor(service.now() / 1000));
      const signature = signatureOf(keptSecretOf(service, 'provider_a'), `msg_raw.${timestamp}.${body}`);
      return service.post('/api/payments/webhooks/provider_a', body, {
        'webhook-id': 'msg_raw',
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,AAAA v1,${signature}`,
        'content-type': 'text/plain',
      });
    };
    assertRefused(await raw('not json'), 400, 'VALIDATION_ERROR');
    assertRefused(await raw('null'), 400, 'VALIDATION_ERROR');
    assert.equal((await raw('{"type":7}')).status, 200);
  });

  it('of the other provider has a secret of its own', async () => {
    const started = await start(service, { event_id: 'evt_b', customer: newCustomer() });
    assert.equal(started.payment_provider, 'provider_b');
    const answer = await sendWebhook(service, { session: started.checkout_session_id, provider: 'provider_b' });
    assert.equal(answer.status, 200);
    assert.equal((await statusOf(service, started)).status, 'CONFIRMED');
  });

  it('is signed as the public library signs', async () => {
    const started = await start(service, { customer: newCustomer() });
    const body = JSON.stringify({
      type: 'payment.paid',
      data: { checkout_session_id: started.checkout_session_id, payment_id: 'p', amount: 1900, currency: 'eur' },
    });
    const sentAt = new Date(service.now());
    const answer = await service.post('/api/payments/webhooks/provider_a', body, {
      'webhook-id': 'msg_library',
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      'webhook-signature': new Webhook(keptSecretOf(service, 'provider_a')).sign('msg_library', sentAt, body),
    });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    assert.equal((await statusOf(service, started)).status, 'CONFIRMED');
  });
});

describe('A provider that cannot be reached', () => {
  const service = serviceWith([gala({ max_tickets_per_email: null })]);

  it('is 502, and the same start goes on with the same order', async () => {
    const outage = await setOutage(service, { seconds: 60 });
    assert.equal(outage.status, 200, JSON.stringify(outage.body));
    assert.equal((outage.body['outages'] as Json[]).length, 2);
    const headers = { 'idempotency-key': 'resumed' };
    const refusal = assertRefused(
      await service.post(START_CHECKOUT, checkoutBody(), headers),
      502,
      'PAYMENT_PROVIDER_UNAVAILABLE',
    );
    const order = { order_id: String(refusal['order_id']) };
    assert.equal((await statusOf(service, order)).status, 'PENDING');
    assertRefused(await service.post(START_CHECKOUT, checkoutBody(), headers), 502, 'PAYMENT_PROVIDER_UNAVAILABLE');
    service.wait(MINUTE);
    const resumed = await service.post<Started>(START_CHECKOUT, checkoutBody(), headers);
    assert.deepEqual([resumed.status, resumed.body.order_id], [201, order.order_id]);
    assert.deepEqual((await service.post<Started>(START_CHECKOUT, checkoutBody(), headers)).body, resumed.body);
    assert.equal((await settle(service, resumed.body, 'paid')).status, 'CONFIRMED');
  });

  it('is resumed by its hold, across a restart, and serves others meanwhile', async () => {
    const hold = await service.hold({
      event_id: 'evt_gala',
      session_key: 'session-of-hold',
      items: [item('single', 1)],
    });
    await setOutage(service, { provider: 'provider_a', seconds: 3_600 });
    const body = checkoutBody({ items: undefined, hold_id: hold.id });
    const refusal = assertRefused(await service.post(START_CHECKOUT, body), 502, 'PAYMENT_PROVIDER_UNAVAILABLE');
    const free = await start(service, { items: [item('guest', 1)] });
    assert.equal(free.payment_provider, 'FREE');
    await service.restart();
    const resumed = await service.post<Started>(START_CHECKOUT, body);
    assert.deepEqual([resumed.status, resumed.body.order_id], [201, refusal['order_id']]);
    assertRefused(await service.post(START_CHECKOUT, body), 409, 'HOLD_NOT_ACTIVE');
  });

  it('is asked again by the service itself, so that the order page can lead on', async () => {
    await setOutage(service, { seconds: 60 });
    const refusal = assertRefused(
      await service.post(START_CHECKOUT, checkoutBody()),
      502,
      'PAYMENT_PROVIDER_UNAVAILABLE',
    );
    const resume = async () => {
      for (const { payments } of service.services) await payments.checkoutSessions.resumeUnopened();
    };
    await resume();
    service.wait(MINUTE);
    const page = `/orders/${String(refusal['order_id'])}`;
    assert.doesNotMatch(String((await service.get(page)).body), /sandbox\/pay\/cs_/);
    await resume();
    assert.match(String((await service.get(page)).body), /href="[^"]*sandbox\/pay\/cs_/);
  });

  it('ends with its window like every order', async () => {
    await setOutage(service, { seconds: 60 });
    const headers = { 'idempotency-key': 'too-late' };
    const refusal = assertRefused(
      await service.post(START_CHECKOUT, checkoutBody(), headers),
      502,
      'PAYMENT_PROVIDER_UNAVAILABLE',
    );
    service.wait(30 * MINUTE);
    assert.equal((await statusOf(service, { order_id: String(refusal['order_id']) })).status, 'EXPIRED');
    const anew = await service.post<Started>(START_CHECKOUT, checkoutBody(), headers);
    assert.equal(anew.status, 201);
    assert.notEqual(anew.body.order_id, refusal['order_id']);
  });
});

describe('The pages', () => {
  const service = serviceWith([gala({ name: 'Gala <script>alert(1)</script>' })]);

  const page = async (path: string): Promise<{ readonly text: string; readonly headers: Headers }> => {
    const { status, body, headers } = await service.get<string>(path);
    assert.equal(status, 200, String(body));
    assert.match(headers.get('content-type')!, /^text\/html/);
    assert.equal(headers.get('cache-control'), 'no-store');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.match(headers.get('x-robots-tag')!, /noindex/);
    assert.match(headers.get('content-security-policy')!, /^default-src 'none'; style-src 'sha256-/);
    const [script, ...others] = body.split(/<script/i).slice(1);
    assert.deepEqual(others, []);
    if (script !== undefined) {
      const hash = createHash('sha256')
        .update(script.slice(1, script.indexOf('</script>')))
        .digest('base64');
      assert.ok(headers.get('content-security-policy')!.includes(`script-src 'sha256-${hash}'; connect-src 'self';`));
    }
    return { text: body, headers };
  };

  it('lead a buyer from the order over the sandbox back to the tickets', async () => {
    const customer = { email: 'eve@example.com', name: '"><img src=x onerror=alert(1)>' };
    const started = await start(service, { items: [item('seat', 2)], customer, installment_count: 2 });
    const orderPath = `/orders/${started.order_id}`;
    const pending = await page(orderPath);
    assert.match(pending.text, /Awaiting payment/);
    assert.ok(pending.text.includes(started.redirect_url));
    assert.match(pending.text, /&lt;script&gt;/);
    assert.doesNotMatch(pending.text, /<img/);
    const payPath = `/sandbox/pay/${started.checkout_session_id}`;
    assert.match((await page(payPath)).text, /Installment 1 of 2/);
    const paid = await form(payPath, 'outcome=paid');
    assert.deepEqual([paid.status, paid.headers.get('location')], [303, `${service.publicUrl}${orderPath}`]);
    const partly = await page(orderPath);
    assert.match(partly.text, /Partly paid/);
    assert.equal(partly.text.match(/aria-label="QR code"/g)?.length, 2);
    const opened = await form(`${orderPath}/pay`, '');
    assert.equal(opened.status, 303);
    const declined = await form(new URL(opened.headers.get('location')!).pathname, 'outcome=declined');
    assert.equal(declined.headers.get('location'), `${service.publicUrl}${orderPath}`);
    await settle(service, await openNextPayment(service, started), 'paid');
    assert.match((await page(orderPath)).text, /Confirmed/);
    await service.admin.post(`/admin/orders/${started.order_id}/cancel`);
    const cancelled = await page(orderPath);
    assert.match(cancelled.text, /Tickets \(void\)/);
    assert.match(cancelled.text, /€60\.00 will be given back to you/);
  });

  it('lead back to the storefront, its own addresses allowed by the policy', async () => {
    const addresses = { success_url: 'https://ok.example/a?o={ORDER_ID}', cancel_url: 'http://no.example:81/b' };
    const started = await start(service, { ...addresses, customer: newCustomer() });
    const path = `/sandbox/pay/${started.checkout_session_id}`;
    const { headers } = await page(path);
    assert.match(
      headers.get('content-security-policy')!,
      /form-action 'self' \S+ https:\/\/ok\.example http:\/\/no\.example:81/,
    );
    assert.equal((await form(path, 'outcome=cancelled')).headers.get('location'), 'http://no.example:81/b');
    const late = await form(path, 'outcome=paid');
    assert.equal(late.headers.get('location'), `https://ok.example/a?o=${started.order_id}`);
    assertRefused(await form(path, 'outcome=stolen'), 400, 'VALIDATION_ERROR');
    assertRefused(
      await service.post(path, { outcome: 'paid' }, { 'content-type': 'text/plain' }),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
    );
  });

  it('show amounts in the minor unit of their currency', async () => {
    const amounts = { EUR: '€19.00', JPY: '¥1,900', KWD: 'KWD 1.900' };
    for (const [currency, text] of Object.entries(amounts)) {
      const event = { id: `evt_${currency}`, slug: currency.toLowerCase(), currency };
      await service.define(gala(event) as Json);
      const started = await start(service, { event_id: event.id, customer: newCustomer() });
      const page = (path: string): Promise<string> =>
        service.get<string>(path).then(({ body }) => body.replaceAll('\u00a0', ' '));
      assert.match(await page(`/orders/${started.order_id}`), new RegExp(text.replace('.', '\\.')));
      assert.match(await page(`/sandbox/pay/${started.checkout_session_id}`), new RegExp(text.replace('.', '\\.')));
    }
  });

  it('say no to people as a page, and to programs as the error body', async () => {
    const asBrowser = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const path of ['/orders/ord_1_x', '/sandbox/pay/cs_1_x']) {
      assertRefused(await service.get(path), 404, 'ORDER_NOT_FOUND');
      const shown = await service.get<string>(path, asBrowser);
      assert.deepEqual([shown.status, shown.headers.get('vary')], [404, 'Accept, Accept-Language, Cookie']);
      assert.match(shown.body, /<h1>There is no such order\.<\/h1>/);
      assert.match(shown.headers.get('content-security-policy')!, /^default-src 'none'/);
    }
    assertRefused(await service.get('/api/events/public/no-such-event', asBrowser), 404, 'EVENT_NOT_FOUND');
    assertRefused(await service.get('/no/where'), 404, 'NOT_FOUND');
    const nowhere = await service.get<string>('/no/where', asBrowser);
    assert.equal(nowhere.status, 404);
    assert.match(nowhere.body, /<h1>There is nothing at this address\.<\/h1>/);
  });

  const form = (path: string, body: string) =>
    service.post<Json>(path, body, { 'content-type': 'application/x-www-form-urlencoded' });
});

describe('Operators', () => {
  it('are told what is wrong with a list or a refund that they ask for', async () => {
    const path = '/admin/events/evt_gala/orders';
    assertRefused(await service.admin.get(`${path}?status=LOST`), 400, 'VALIDATION_ERROR');
    assertRefused(await service.admin.get(`${path}?cursor=x`), 400, 'VALIDATION_ERROR');
    assertRefused(await service.admin.get('/admin/events/none/orders'), 404, 'EVENT_NOT_FOUND');
    assertRefused(await service.get(path), 404, 'NOT_FOUND');
    const refunds = `/admin/orders/${(await start(service)).order_id}/refunds`;
    const wrong = [
      { reference: '' },
      { reference: ' ' },
      { reference: 'x'.repeat(256) },
      { currency: 'eur' },
      { amount: 0 },
    ];
    for (const field of wrong) {
      assertRefused(await service.admin.post(refunds, { amount: 100, ...field }), 400, 'VALIDATION_ERROR');
    }
  });
});

describe('Without the sandbox', () => {
  it('its routes are gone, and a paid order finds no provider', async () => {
    const service = await openServiceWith([gala()], { SANDBOX: 'off' });
    try {
      assertRefused(await service.post('/sandbox/payments/cs_1_x', { outcome: 'paid' }), 404, 'NOT_FOUND');
      assertRefused(await service.post('/sandbox/outage', { seconds: 1 }), 404, 'NOT_FOUND');
      assertRefused(await service.get('/sandbox/pay/cs_1_x'), 404, 'NOT_FOUND');
      const held = await service.hold({ event_id: 'evt_gala', session_key: 'session-one', items: [item('single', 2)] });
      const taking = checkoutBody({ hold_id: held.id, items: undefined });
      for (const body of [checkoutBody(), taking, taking]) {
        assertRefused(await service.post(START_CHECKOUT, body), 502, 'PAYMENT_PROVIDER_UNAVAILABLE');
      }
      const read = await service.get<Json>(`/api/checkout/holds/${held.id}`, { 'x-session-key': 'session-one' });
      assert.equal(read.body['status'], 'ACTIVE', 'the hold is not taken over by an order that nobody could pay');
      const { orders } = (await service.admin.get<{ orders: Json[] }>('/admin/events/evt_gala/orders')).body;
      assert.deepEqual(orders, [], 'nothing was placed, nothing is off sale');
      const loaded = await service.admin.put<Json>('/admin/events/evt_gala', gala({ name: 'Gala again' }));
      assert.match(String(loaded.body['warnings']), /nothing stands behind provider_a/);
      assert.equal((await start(service, { items: [item('guest', 1)] })).payment_provider, 'FREE');
    } finally {
      await service.close();
    }
  });

  it('with the envelope bodies are wrapped, webhooks and keys too', async () => {
    const service = await openServiceWith([gala()], { RESPONSE_ENVELOPE: 'data' });
    try {
      const { body } = await service.post<{ data: Started }>(START_CHECKOUT, checkoutBody());
      const settled = await service.post<{ data: Json }>(`/sandbox/payments/${body.data.checkout_session_id}`, {
        outcome: 'paid',
      });
      assert.equal(settled.body.data['status'], 'CONFIRMED');
      const page = await service.get<string>(`/orders/${body.data.order_id}`);
      assert.match(page.body, /^<!doctype html>/);
    } finally {
      await service.close();
    }
  });
});
