/** Checkout over HTTP: an order from its start to its tickets, repeats, races, and the limits that a checkout enforces. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { HoldBody } from '#http/schemas/holds.ts';
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
import { MINUTE, ofOneMachine, openServiceWith, spawnService, type TestService } from '../fixtures/service.ts';

const skip = ofOneMachine('a process is killed and started again on its folder');

/** How often each status was answered. */
function tally(answers: readonly { readonly status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

const times = <Result>(count: number, call: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: count }, (_, index) => call(index)));

describe('A checkout', () => {
  let service: TestService;
  before(async () => {
    service = await openServiceWith([gala()]);
  });
  after(() => service.close());

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

  it('leaves the order PENDING after a declined payment, until another one is paid', async () => {
    const started = await start(service, { customer: newCustomer() });
    const declined = await settle(service, started, 'declined');
    assert.deepEqual([declined.status, declined.payment_status], ['PENDING', 'FAILED']);
    const again = await openNextPayment(service, started);
    assert.notEqual(again.checkout_session_id, started.checkout_session_id);
    assert.equal(again.expires_at, started.expires_at);
    assert.equal((await statusOf(service, started)).payment_status, 'PENDING');
    const paid = await settle(service, again, 'paid');
    assert.deepEqual([paid.status, paid.payment_status, paid.tickets.length], ['CONFIRMED', 'COMPLETED', 1]);
    assertRefused(await service.post(`/api/checkout/orders/${started.order_id}/payments`), 409, 'ORDER_NOT_PAYABLE');
  });

  it('is CANCELLED when the buyer cancels at the provider, and the tickets are available again', async () => {
    const before = (await audit(service, 'evt_gala')).get('eve')!.available;
    const started = await start(service, { customer: newCustomer() });
    assert.equal((await audit(service, 'evt_gala')).get('eve')!.available, before - 1);
    assert.equal((await settle(service, started, 'cancelled')).status, 'CANCELLED');
    assert.equal((await audit(service, 'evt_gala')).get('eve')!.available, before);
    assertRefused(await service.post(`/api/checkout/orders/${started.order_id}/payments`), 409, 'ORDER_NOT_PAYABLE');
  });

  it('expires at the exact millisecond at which the payment window ends', async () => {
    const started = await start(service, { customer: newCustomer() });
    service.wait(30 * MINUTE - 1);
    assert.equal((await statusOf(service, started)).status, 'PENDING');
    service.wait(1);
    const expired = await statusOf(service, started);
    assert.deepEqual([expired.status, expired.refund_due], ['EXPIRED', 0]);
  });

  it('has three installments, the larger ones first, and issues tickets with the first', async () => {
    const items = [item('single', 1, { bar_perks: [{ bar_perk_id: 'beer', quantity: 1 }] })];
    const started = await start(service, { items, customer: newCustomer(), installment_count: 3 });
    assert.equal(started.total_amount, 2400);
    const first = await settle(service, started, 'paid');
    assert.deepEqual([first.status, first.payment_status, first.paid_installments], ['PARTIALLY_PAID', 'PENDING', 1]);
    assert.equal(first.tickets.length, 1);
    service.wait(60 * MINUTE);
    const second = await openNextPayment(service, started);
    assert.equal(second.total_amount, 2400);
    assert.deepEqual(await openNextPayment(service, started), second, 'an open session is given again');
    assert.equal((await settle(service, second, 'declined')).status, 'PARTIALLY_PAID');
    await settle(service, await openNextPayment(service, started), 'paid', 2);
    const last = await settle(service, started, 'paid', 3);
    assert.deepEqual([last.status, last.payment_status, last.paid_amount], ['CONFIRMED', 'COMPLETED', 2400]);
    const amounts = last.payments.filter(({ status }) => status === 'PAID').map(({ amount }) => amount);
    assert.deepEqual(amounts, [800, 800, 800]);
    assert.deepEqual(last.tickets, first.tickets);
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
  let service: TestService;
  before(async () => {
    service = await openServiceWith([gala({ max_tickets_per_email: null })]);
  });
  after(() => service.close());

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

  it('is checked anew when it was refused', async () => {
    const headers = { 'idempotency-key': 'refused-first' };
    const body = checkoutBody({ promo_code: 'NONE' });
    assertRefused(await service.post(START_CHECKOUT, body, headers), 400, 'PROMO_CODE_INVALID');
    assertRefused(await service.post(START_CHECKOUT, body, headers), 400, 'PROMO_CODE_INVALID');
    assert.equal((await service.post(START_CHECKOUT, checkoutBody(), headers)).status, 201);
  });

  it('gets its first answer after kill -9', { skip }, async () => {
    const service = await spawnService();
    try {
      await service.define(gala());
      const options = { body: checkoutBody(), headers: { 'idempotency-key': 'survives' } };
      const first = await service.call<Started>('POST', START_CHECKOUT, options);
      const free = { body: checkoutBody({ items: [item('guest', 1)] }), headers: { 'idempotency-key': 'free' } };
      const given = await service.call<Started>('POST', START_CHECKOUT, free);
      assert.deepEqual([first.status, given.status], [201, 201]);
      await service.end('SIGKILL');
      const next = await spawnService({ folder: service.folder });
      try {
        const again = await next.call<Started>('POST', START_CHECKOUT, options);
        assert.deepEqual([again.status, again.body], [201, first.body]);
        assert.equal(again.headers.get('idempotent-replayed'), 'true');
        const freeAgain = await next.call<Started>('POST', START_CHECKOUT, free);
        assert.equal(freeAgain.body.order_id, given.body.order_id);
        const { checkout_session_id: session } = first.body;
        const paid = await next.call('POST', `/sandbox/payments/${session}`, { body: { outcome: 'paid' } });
        assert.equal(paid.body['status'], 'CONFIRMED');
      } finally {
        await next.end('SIGTERM');
      }
    } finally {
      await service.close();
    }
  });
});

describe('Concurrent starts of a checkout', () => {
  let service: TestService;
  before(async () => {
    service = await openServiceWith([gala()]);
  });
  after(() => service.close());

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
    assert.deepEqual(detail, { limit: 12, requested: 4, already: 12 });
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
  let service: TestService;
  before(async () => {
    service = await openServiceWith([gala(), gala({ id: 'evt_named', slug: 'named', require_individual_data: true })]);
    await service.define(gala({ id: 'evt_rush', slug: 'rush', waiting_room: true, waiting_room_rate: 1 }));
  });
  after(() => service.close());

  /** Each entry breaks one more rule than the one after it, so that the order of the checks shows. */
  it('is refused by the first of the rules that it breaks, in the order of the contract', async () => {
    const hold = await service.hold({ event_id: 'evt_gala', session_key: newSession(), items: [item('single', 1)] });
    await service.post(START_CHECKOUT, checkoutBody({ customer: newCustomer() }), { 'idempotency-key': 'used' });
    const everything = {
      event_id: 'evt_nowhere',
      accept_terms: false,
      hold_id: 'hld_1_000000000000000000000000',
      installment_count: 9,
      items: [item('single', 1)],
      customer: newCustomer(),
    };
    const used = { 'idempotency-key': 'used' };
    assertRefused(await service.post(START_CHECKOUT, { ...everything, customer: 1 }, used), 400, 'VALIDATION_ERROR');
    assertRefused(await service.post(START_CHECKOUT, everything, used), 404, 'EVENT_NOT_FOUND');
    const known = { ...everything, event_id: 'evt_gala' };
    assertRefused(await service.post(START_CHECKOUT, known, used), 422, 'IDEMPOTENCY_KEY_REUSED');
    assertRefused(await service.post(START_CHECKOUT, known), 400, 'TERMS_NOT_ACCEPTED');
    const accepted = { ...known, accept_terms: true };
    assertRefused(await service.post(START_CHECKOUT, accepted), 404, 'HOLD_NOT_FOUND');
    const mismatched = { ...accepted, hold_id: hold.id, items: [item('single', 2)] };
    assertRefused(await service.post(START_CHECKOUT, mismatched), 400, 'HOLD_ITEMS_MISMATCH');
    const inline = { ...accepted, hold_id: null };
    const refusedFor = async (items: readonly Json[], overrides: object, status: number, code: string) =>
      assertRefused(await service.post(START_CHECKOUT, { ...inline, items, ...overrides }), status, code);
    const wrong = { performance_id: 'none', ticket_type_id: 'none', selling_stage_id: 'none' };
    await refusedFor([item('single', 1, wrong)], {}, 400, 'PERFORMANCE_NOT_FOUND');
    await refusedFor([item('none', 1, { selling_stage_id: 'none' })], {}, 400, 'TICKET_TYPE_NOT_FOUND');
    await refusedFor([item('single', 1, { selling_stage_id: 'none' })], {}, 400, 'SELLING_STAGE_NOT_FOUND');
    const greedy = item('single', 11, { discount_code: 'NONE', bar_perks: [{ bar_perk_id: 'none', quantity: 1 }] });
    const people = [{ name: 'A' }];
    const greedyItem = { ...greedy, attendees: people };
    assert.deepEqual(await refusedFor([greedyItem], {}, 400, 'INSTALLMENTS_NOT_ALLOWED'), { limit: 3, requested: 9 });
    const once = { installment_count: 1 };
    assert.deepEqual(await refusedFor([greedyItem], once, 400, 'MAX_PER_ORDER_EXCEEDED'), {
      limit: 6,
      requested: 11,
      ticket_type_id: 'single',
    });
    const many = [{ ...greedyItem, quantity: 6 }, item('crew', 2)];
    assert.deepEqual(await refusedFor(many, once, 400, 'MAX_TICKETS_PER_ORDER_EXCEEDED'), { limit: 10, requested: 14 });
    const two = { ...greedyItem, quantity: 2 };
    const mismatch = await refusedFor([two], once, 400, 'ATTENDEE_COUNT_MISMATCH');
    assert.deepEqual(mismatch, { ticket_type_id: 'single', expected: 2, given: 1 });
    const named = { ...two, attendees: [{ name: 'A' }, { name: 'B' }] };
    assert.deepEqual(await refusedFor([named], once, 400, 'PROMO_CODE_INVALID'), { promo_code: 'NONE' });
    const uncoded = { ...named, discount_code: null };
    await refusedFor([uncoded], { ...once, promo_code: 'CREWS' }, 400, 'PROMO_CODE_INVALID');
    assert.deepEqual(await refusedFor([uncoded], once, 400, 'BAR_PERK_NOT_FOUND'), { bar_perk_id: 'none' });
    const thirsty = { ...uncoded, bar_perks: [{ bar_perk_id: 'beer', quantity: 5 }] };
    assert.deepEqual(await refusedFor([thirsty], once, 400, 'BAR_PERK_LIMIT_EXCEEDED'), {
      limit: 4,
      requested: 5,
      bar_perk_id: 'beer',
    });
    const taken = item('seat', 1, { seat_ids: ['nowhere'] });
    await refusedFor([taken], once, 400, 'SEAT_NOT_IN_TICKET_TYPE');
    await refusedFor([item('seat', 2, { seat_ids: ['W-1-1'] })], once, 400, 'SEAT_COUNT_MISMATCH');
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

  it('is refused without its attendees, without a pass, and after its hold expired', async () => {
    const named = await service.post(START_CHECKOUT, checkoutBody({ event_id: 'evt_named' }));
    assertRefused(named, 400, 'ATTENDEE_COUNT_MISMATCH');
    assertRefused(
      await service.post(START_CHECKOUT, checkoutBody({ event_id: 'evt_rush' })),
      403,
      'QUEUE_PASS_REQUIRED',
    );
    const forged = checkoutBody({ event_id: 'evt_rush', queue_pass: 'que_3_000000000000000000000000' });
    assertRefused(await service.post(START_CHECKOUT, forged), 403, 'QUEUE_PASS_INVALID');
    const session = newSession();
    const hold = await service.hold({ event_id: 'evt_gala', session_key: session, items: [item('single', 1)] });
    const taken = { items: undefined, hold_id: hold.id };
    assertRefused(
      await service.post(START_CHECKOUT, checkoutBody({ ...taken, session_key: newSession() })),
      404,
      'HOLD_NOT_FOUND',
    );
    assertRefused(
      await service.post(START_CHECKOUT, checkoutBody({ ...taken, event_id: 'evt_named' })),
      404,
      'HOLD_NOT_FOUND',
    );
    service.wait(10 * MINUTE);
    assertRefused(await service.post(START_CHECKOUT, checkoutBody(taken)), 409, 'HOLD_EXPIRED');
    const released = await service.hold({ event_id: 'evt_gala', session_key: session, items: [item('single', 1)] });
    await service.delete(`/api/checkout/holds/${released.id}`, { 'x-session-key': session });
    assertRefused(
      await service.post(START_CHECKOUT, checkoutBody({ items: undefined, hold_id: released.id })),
      409,
      'HOLD_NOT_ACTIVE',
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
    const ownFields = Array.from({ length: 7 }, (_, field) => [`own_${field}`, '\u0000'.repeat(4_000)]);
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

  it('leads to an order that shows attendees, tracking and attribution to operators', async () => {
    const started = await start(service, {
      event_id: 'evt_named',
      items: [item('single', 1, { attendees: [{ name: 'Bob', document_number: '42' }], discount_code: 'half' })],
      tracking: { utm_source: 'mail', gclid: 'g', other: 3, deep: { a: [] } },
      promoter_code: 'anna',
      referral_code: 'r-1',
      customer: { ...newCustomer(), document_number: 'D1', phone: '0361' },
    });
    const { body } = await service.admin.get(`/admin/orders/${started.order_id}`);
    assert.deepEqual(body['tracking'], { utm_source: 'mail', gclid: 'g' });
    assert.equal(body['promoter_code'], 'anna');
    assert.equal(body['referral_code'], 'r-1');
    assert.equal((body['customer'] as Json)['document_number'], 'D1');
    const [line] = body['items'] as Json[];
    assert.deepEqual(line!['attendees'], [{ name: 'Bob', email: null, document_number: '42', phone: null }]);
    assert.equal(line!['discount_amount'], 950);
    const paid = await settle(service, started, 'paid');
    assert.equal(paid.ticket_objects[0]!.attendee!.name, 'Bob');
  });
});
