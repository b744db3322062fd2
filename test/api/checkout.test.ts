/**
 * Checkout over HTTP: an order from its start to its tickets, repeats, races, and the limits that a checkout enforces.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HoldBody } from '#http/buyers/holds.ts';
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
import { assertRefused, audit } from '../fixtures/checks.ts';
import { HOLDS, newSession, type Json } from '../fixtures/client.ts';
import { gala, item } from '../fixtures/events.ts';
import { MINUTE, serviceWith } from '../fixtures/service.ts';

/** How often each status was answered. */
function tally(answers: readonly { readonly status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const times = <Result>(count: number, call: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index)));

const service = serviceWith([gala(), gala({ id: 'evt_other', slug: 'other' })]);

describe('A checkout', () => {
  it('turns a hold into an order, and its payment into tickets', async () => {
    const session = newSession();
    const hold = await service.hold({ event_id: 'evt_gala', session_key: session, items: [item('seat', 2)] });
    const customer: Json = { ...newCustomer(), phone: '+49 361 123' };
    const started = await start(service, { items: undefined, hold_id: hold.id, customer });
    assert.deepEqual(
      { ...started, order_id: '', redirect_url: '', checkout_session_id: '' },
      {
        order_id: '',
        payment_provider: 'provider_a',
        redirect_url: '',
        total_amount: 6000,
        currency: 'EUR',
        checkout_session_id: '',
        expires_at: new Date(service.now() + 30 * MINUTE).toISOString(),
      },
    );
    assert.match(started.order_id, /^ord_/);
    assert.match(started.checkout_session_id!, /^cs_/);
    assert.equal(started.redirect_url, `${service.publicUrl}/sandbox/pay/${started.checkout_session_id}`);

    const { body: converted } = await service.get<Json>(`/api/checkout/holds/${hold.id}?session_key=${session}`);
    assert.deepEqual(
      [converted['status'], converted['order_id'], converted['expires_at']],
      ['CONVERTED', started.order_id, started.expires_at],
    );
    const pending = await statusOf(service, started);
    assert.equal(pending.status, 'PENDING');
    assert.equal(pending.payment_status, 'PENDING');
    assert.equal(pending.remaining_amount, 6000);
    assert.deepEqual(pending.tickets, []);
    assert.deepEqual(
      pending.payments.map(({ installment, amount, status, provider, paid_at }) => [
        installment,
        amount,
        status,
        provider,
        paid_at,
      ]),
      [[1, 6000, 'OPEN', 'provider_a', null]],
    );

    const paid = await settle(service, started, 'paid');
    assert.equal(paid.status, 'CONFIRMED');
    assert.equal(paid.payment_status, 'COMPLETED');
    assert.equal(paid.paid_amount, 6000);
    assert.equal(paid.remaining_amount, 0);
    assert.equal(paid.refund_due, 0);
    assert.equal(paid.tickets.length, 2);
    assert.deepEqual(
      paid.tickets,
      paid.ticket_objects.map(({ id }) => id),
    );
    assert.deepEqual(
      paid.ticket_objects.map(({ section, row_label, seat_id, performance_id }) => [
        section,
        row_label,
        seat_id,
        performance_id,
      ]),
      hold.items[0]!.seat_ids.map((seatId) => ['West', '1', seatId, 'eve']),
    );
    assert.deepEqual(paid.customer, { name: customer['name'], email: customer['email'] });
    assert.equal(paid.event.performances[0]!.id, 'eve');
    assert.deepEqual(paid, await statusOf(service, started));
    assert.equal(
      (await service.get(`/api/checkout/holds/${hold.id}?session_key=${session}`)).body['status'],
      'CONSUMED',
    );
    assert.equal((await audit(service, 'evt_gala')).get('eve')!.held, 0);
  });

  it('splits an amount that does not divide evenly into parts with the larger ones first', async () => {
    const started = await start(service, { customer: newCustomer(), installment_count: 3 });
    await settle(service, started, 'paid', 1);
    await settle(service, started, 'paid', 2);
    const last = await settle(service, started, 'paid', 3);
    assert.deepEqual(
      last.payments.map(({ amount }) => amount),
      [634, 633, 633],
    );
    assertRefused(
      await service.post(`/sandbox/payments/${started.checkout_session_id}`, { outcome: 'paid', installment: 5 }),
      400,
      'VALIDATION_ERROR',
    );
  });

  it('of a free order is CONFIRMED at once', async () => {
    const started = await start(service, { items: [item('guest', 2)], customer: newCustomer() });
    assert.deepEqual(
      { ...started, order_id: '' },
      {
        order_id: '',
        payment_provider: 'FREE',
        redirect_url: `${service.publicUrl}/orders/${started.order_id}`,
        total_amount: 0,
        currency: 'EUR',
        checkout_session_id: null,
        expires_at: null,
      },
    );
    const status = await statusOf(service, started);
    assert.deepEqual([status.status, status.payment_status, status.tickets.length], ['CONFIRMED', 'COMPLETED', 2]);
    assert.deepEqual(status.payments, []);
  });

  it('counts a code of 100 % as free, and leads to the success_url', async () => {
    const address = 'https://shop.example/thanks?order={ORDER_ID}&again={ORDER_ID}';
    const started = await start(service, { promo_code: 'gift', success_url: address, customer: newCustomer() });
    assert.deepEqual([started.payment_provider, started.total_amount], ['FREE', 0]);
    assert.equal(started.redirect_url, address.replaceAll('{ORDER_ID}', started.order_id));
    const status = await statusOf(service, started);
    assert.deepEqual(status.discounts, [{ code: 'gift', item_index: null, amount: 1900 }]);
  });

  it('has no status for an unknown id: 404 ORDER_NOT_FOUND', async () => {
    const { order_id: id } = await start(service, { customer: newCustomer() });
    for (const other of [
      `${id.slice(0, -1)}!`,
      id.replace('ord_', 'hld_'),
      'ord_zz_000000000000000000000000',
      'x',
      '%00',
    ]) {
      assertRefused(await service.get(`/api/checkout/status/${other}`), 404, 'ORDER_NOT_FOUND');
      assertRefused(await service.post(`/api/checkout/orders/${other}/payments`), 404, 'ORDER_NOT_FOUND');
      assertRefused(await service.get(`/orders/${other}`), 404, 'ORDER_NOT_FOUND');
      assertRefused(await service.admin.get(`/admin/orders/${other}`), 404, 'ORDER_NOT_FOUND');
      assertRefused(await service.post(`/sandbox/payments/${other}`, { outcome: 'paid' }), 404, 'ORDER_NOT_FOUND');
    }
  });
});

describe('A repeated start of a checkout', () => {
  const service = serviceWith([gala({ max_tickets_per_email: null })]);

  it('200 times in parallel for one hold, yields one order', async () => {
    const hold = await service.hold({ event_id: 'evt_gala', session_key: newSession(), items: [item('single', 2)] });
    const answers = await times(200, () =>
      service.post<Started>(START_CHECKOUT, checkoutBody({ items: undefined, hold_id: hold.id })),
    );
    const placed = answers.filter(({ status }) => status === 201);
    assert.equal(placed.length, 1);
    for (const answer of answers) if (answer.status !== 201) assertRefused(answer, 409, 'HOLD_NOT_ACTIVE');
    assertRefused(
      await service.post(START_CHECKOUT, checkoutBody({ items: undefined, hold_id: hold.id })),
      409,
      'HOLD_NOT_ACTIVE',
    );
    assert.equal((await audit(service, 'evt_gala')).get('eve')!.held, 2);
    await settle(service, placed[0]!.body, 'cancelled');
  });

  it('200 times in parallel with one Idempotency-Key, yields one order and equal bodies', async () => {
    const held = (await audit(service, 'evt_gala')).get('eve')!.held;
    const headers = { 'idempotency-key': 'one-key' };
    const answers = await times(200, () => service.post<Started>(START_CHECKOUT, checkoutBody(), headers));
    assert.deepEqual(tally(answers), { 201: 200 });
    assert.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1);
    const replayed = answers.filter((answer) => answer.headers.get('idempotent-replayed') === 'true');
    assert.equal(replayed.length, 199);
    assert.equal((await audit(service, 'evt_gala')).get('eve')!.held, held + 1);
    const other = await service.post(START_CHECKOUT, checkoutBody({ promoter_code: 'p' }), headers);
    assertRefused(other, 422, 'IDEMPOTENCY_KEY_REUSED');
  });

  it('may have the Idempotency-Key of its hold, because a key belongs to one route', async () => {
    const key = { 'idempotency-key': 'of-a-cart' };
    const asked = { event_id: 'evt_gala', session_key: newSession(), items: [item('single', 1)] };
    const hold = await service.post<HoldBody>(HOLDS, asked, key);
    const start = await service.post<Started>(
      START_CHECKOUT,
      checkoutBody({ items: undefined, hold_id: hold.body.id }),
      key,
    );
    assert.equal(start.status, 201);
    assert.deepEqual((await service.post(HOLDS, asked, key)).body, hold.body);
    await settle(service, start.body, 'cancelled');
  });

  it('with its Idempotency-Key gets the first answer, also after the payment and after a restart', async () => {
    const headers = { 'idempotency-key': 'paid-since' };
    const body = checkoutBody({ customer: newCustomer(), installment_count: 2 });
    const first = await service.post<Started>(START_CHECKOUT, body, headers);
    assert.equal(first.headers.get('idempotent-replayed'), null);
    await settle(service, first.body, 'paid');
    await settle(service, await openNextPayment(service, first.body), 'paid');
    const again = await service.post<Started>(START_CHECKOUT, body, headers);
    assert.deepEqual([again.status, again.body], [201, first.body]);
    await service.restart();
    const restarted = await service.post<Started>(START_CHECKOUT, body, headers);
    assert.deepEqual([restarted.status, restarted.body], [201, first.body]);
    assert.equal(restarted.headers.get('idempotent-replayed'), 'true');
    service.wait(24 * 60 * MINUTE);
    const dayAfter = await service.post<Started>(START_CHECKOUT, body, headers);
    assert.notEqual(dayAfter.body.order_id, first.body.order_id);
  });
});

describe('Concurrent starts of a checkout', () => {
  const service = serviceWith([gala()]);

  it('for the last use of a code: one order gets it, and the use is available again when that order ends', async () => {
    const answers = await times(40, () =>
      service.post<Started>(START_CHECKOUT, checkoutBody({ promo_code: 'HALF', customer: newCustomer() })),
    );
    assert.deepEqual(tally(answers), { 201: 1, 400: 39 });
    for (const answer of answers.filter(({ status }) => status === 400)) {
      assert.deepEqual(assertRefused(answer, 400, 'PROMO_CODE_EXHAUSTED'), { promo_code: 'HALF' });
    }
    const won = answers.find(({ status }) => status === 201)!.body;
    assert.equal(won.total_amount, 950);
    await settle(service, won, 'cancelled');
    await settle(service, await start(service, { promo_code: 'half', customer: newCustomer() }), 'cancelled');
  });

  it('for the last bar perks: no more than the cap are sold', async () => {
    const items = [item('single', 1, { bar_perks: [{ bar_perk_id: 'beer', quantity: 2 }] })];
    const answers = await times(20, () =>
      service.post(START_CHECKOUT, checkoutBody({ items, customer: newCustomer() })),
    );
    assert.deepEqual(tally(answers), { 201: 1, 400: 19 });
    const refused = answers.find(({ status }) => status === 400)!;
    assert.deepEqual(assertRefused(refused, 400, 'BAR_PERK_SOLD_OUT'), { bar_perk_id: 'beer', available: 1 });
  });

  it('for the last tickets that an e-mail address may have: one order gets them, whatever the tag and case of the address', async () => {
    await start(service, { items: [item('crew', 2)], customer: { email: 'grace@example.com', name: 'Grace' } });
    const answers = await times(20, (index) => {
      const email = index % 2 === 0 ? `Grace+${index}@example.com` : ' grace@EXAMPLE.com ';
      return service.post(
        START_CHECKOUT,
        checkoutBody({ items: [item('crew', 1)], customer: { email, name: 'Grace' } }),
      );
    });
    assert.deepEqual(tally(answers), { 201: 1, 400: 19 });
    const refused = answers.find(({ status }) => status === 400)!;
    const detail = assertRefused(refused, 400, 'MAX_TICKETS_PER_EMAIL_EXCEEDED');
    assert.deepEqual(detail, { limit: 12, requested: 4 });
  });

  it('for the last seats: nothing is sold twice', async () => {
    const answers = await times(30, () =>
      service.post<Started>(START_CHECKOUT, checkoutBody({ items: [item('seat', 3)], customer: newCustomer() })),
    );
    const placed = answers.filter(({ status }) => status === 201);
    assert.equal(placed.length, 3);
    const orders = await Promise.all(placed.map(({ body }) => settle(service, body, 'paid')));
    const seats = orders.flatMap(({ ticket_objects }) => ticket_objects.map(({ seat_id }) => seat_id));
    assert.equal(new Set(seats).size, 9);
    await audit(service, 'evt_gala');
  });
});

describe('A start of a checkout', () => {
  it('is refused by its form, then by its event, before any rule of the event', async () => {
    const used = { 'idempotency-key': 'used' };
    await start(service, { customer: newCustomer() }, used);
    const wrong = checkoutBody({ event_id: 'evt_nowhere', accept_terms: false });
    assertRefused(await service.post(START_CHECKOUT, { ...wrong, customer: 1 }, used), 400, 'VALIDATION_ERROR');
    assertRefused(await service.post(START_CHECKOUT, wrong, used), 404, 'EVENT_NOT_FOUND');
    const reused = { ...wrong, event_id: 'evt_gala' };
    assertRefused(await service.post(START_CHECKOUT, reused, used), 422, 'IDEMPOTENCY_KEY_REUSED');
    const hold = await service.hold({ event_id: 'evt_gala', session_key: newSession(), items: [item('single', 1)] });
    const elsewhere = checkoutBody({ event_id: 'evt_other', hold_id: hold.id, items: undefined });
    assertRefused(await service.post(START_CHECKOUT, elsewhere), 404, 'HOLD_NOT_FOUND');
  });

  it('is refused with every problem of its body', async () => {
    const body = {
      event_id: '',
      items: [item('single', 0), { ticket_type_id: 7 }],
      customer: { email: 'nobody', name: ' ' },
      accept_terms: 'yes',
      success_url: 'ftp://shop.example',
      cancel_url: 'javascript:alert(1)',
      installment_count: 13,
    };
    const detail = assertRefused(await service.post(START_CHECKOUT, body), 400, 'VALIDATION_ERROR');
    const paths = new Set((detail['errors'] as { path: string }[]).map(({ path }) => path));
    for (const path of [
      '/event_id',
      '/items/0/quantity',
      '/items/1/quantity',
      '/customer/email',
      '/customer/name',
      '/accept_terms',
      '/success_url',
      '/cancel_url',
      '/installment_count',
    ]) {
      assert.ok(paths.has(path), `${path} of ${[...paths].join(' ')}`);
    }
    const bare = { event_id: 'evt_gala', customer: newCustomer(), accept_terms: true, success_url: 'http://[' };
    const second = assertRefused(await service.post(START_CHECKOUT, bare), 400, 'VALIDATION_ERROR');
    assert.deepEqual(
      (second['errors'] as { path: string }[]).map(({ path }) => path),
      ['/items', '/success_url'],
    );
    assertRefused(
      await service.post(START_CHECKOUT, { ...bare, items: [], success_url: null }),
      400,
      'VALIDATION_ERROR',
    );
  });

  it('is never refused for its tracking, of which a bounded part is kept', async () => {
    const long = 'x'.repeat(5_000);
    const kept = async (tracking: unknown): Promise<unknown> => {
      const started = await start(service, { customer: newCustomer(), tracking });
      return (await service.admin.get(`/admin/orders/${started.order_id}`)).body['tracking'];
    };
    assert.deepEqual(await kept({ gclid: long, fbc: 7, own: true, nested: { a: long } }), { gclid: 'x'.repeat(2_048) });
    for (const none of [null, [], ['utm_source'], 'utm_source=mail', 7, true]) assert.equal(await kept(none), null);
    const many = Object.fromEntries(Array.from({ length: 500 }, (_, field) => [`utm_${field}`, 'x']));
    assert.equal(Object.keys((await kept(many)) as Json).length, 40);
    const ownFields = Array.from({ length: 7 }, (_, field) => [`own_${field}`, '"'.repeat(4_000)]);
    const heavy = Object.fromEntries(ownFields);
    const bytes = Buffer.byteLength(JSON.stringify(await kept(heavy)));
    assert.ok(bytes > 15_000 && bytes <= 16 * 1024, `${bytes} bytes were kept`);
  });

  it('is not refused for attribution codes that are too long, which are cut', async () => {
    const attribution = { promoter_code: 'p'.repeat(1_000), referral_code: 'r'.repeat(1_000) };
    const started = await start(service, { customer: newCustomer(), ...attribution });
    const { body } = await service.admin.get(`/admin/orders/${started.order_id}`);
    assert.deepEqual([body['promoter_code'], body['referral_code']], ['p'.repeat(128), 'r'.repeat(128)]);
  });
});
