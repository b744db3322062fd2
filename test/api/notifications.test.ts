/** Notifications over the network: what a receiver gets, signed and in order, through outages and restarts. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { Webhook } from 'standardwebhooks';
import type { AdminOrderBody } from '#http/operators/orders/schema.ts';
import { holdfast, succeeded } from '../cli/holdfast.ts';
import {
  buy,
  checkoutBody,
  chooseRefunds,
  newCustomer,
  openNextPayment,
  setOutage,
  settle,
  start,
  START_CHECKOUT,
  statusOf,
  type Started,
} from '../fixtures/checkout.ts';
import { newSession, type Json } from '../fixtures/client.ts';
import { copyUpTo } from '#persistence/folder/backup.ts';
import { gala, item } from '../fixtures/events.ts';
import { closed } from '../fuzz/document.ts';
import { newDataFolder } from '../fixtures/folders.ts';
import { serveHttp } from '../fixtures/http-server.ts';
import {
  MINUTE,
  ofOneMachine,
  openServiceFor,
  openServiceWith,
  spawnService,
  START,
  type TestService,
} from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

interface Webhooks {
  readonly post: {
    readonly requestBody: { readonly content: { readonly 'application/json': { readonly schema: object } } };
  };
}

const skip = ofOneMachine('a process is killed and started again on its folder');

const SECRET = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;

interface Told {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly dedupe_id: string;
    readonly order_id?: string;
    readonly event_id: string;
    readonly value: number;
    readonly currency: string;
    readonly contents: readonly { readonly id: string; readonly quantity: number; readonly price: number }[];
    readonly customer: { readonly email: string | null; readonly phone: string | null };
    readonly tracking: Json;
    readonly refund_due?: number;
    readonly refund_id?: string;
    readonly amount?: number;
    readonly amendment_id?: string;
    readonly difference?: number;
    readonly withdrawal?: boolean;
  };
}

interface Receiver {
  readonly url: string;
  readonly told: Told[];
  /** The status of its answers, or null for none at all. */
  answers: number | null;
  requests: number;
  close(): Promise<void>;
}

/** Takes notifications; their signatures are checked as the public library does. */
async function openReceiver(): Promise<Receiver> {
  const verifier = new Webhook(SECRET);
  const receiver = { told: [] as Told[], answers: 204, requests: 0 } as unknown as {
    -readonly [K in keyof Receiver]: Receiver[K];
  };
  const { url, close } = await serveHttp(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    receiver.requests += 1;
    if (receiver.answers === null) return;
    const { headers } = request;
    const id = String(headers['webhook-id']);
    const sentAt = new Date(Number(headers['webhook-timestamp']) * 1000);
    const isSigned = verifier.sign(id, sentAt, body) === headers['webhook-signature'];
    if (!isSigned || !/^Holdfast\/\d+\.\d+\.\d+/.test(headers['user-agent']!)) receiver.answers = 401;
    if (receiver.answers < 300) receiver.told.push({ id, ...(JSON.parse(body) as Omit<Told, 'id'>) });
    response.writeHead(receiver.answers).end();
  });
  return Object.assign(receiver, { url: `${url}/in`, close });
}

const typesOf = (told: readonly Told[], id: string) =>
  told.filter(({ data }) => (data.order_id ?? data.dedupe_id) === id).map(({ type }) => type);

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('A receiver', () => {
  let receiver: Receiver;
  let service: TestService;
  const told = async (count: number) => {
    await until(
      () => receiver.told.length >= count,
      () => receiver.told.map(({ type }) => type).join(' '),
    );
  };
  before(async () => {
    receiver = await openReceiver();
    service = await openServiceWith([gala()], { NOTIFY_URL: receiver.url, NOTIFY_SECRET: SECRET });
  });
  after(async () => {
    await service.close();
    await receiver.close();
  });

  /** A second payment of the first installment. */
  const payOnAfterDecline = async (order_id: string): Promise<Started> => {
    const opened = await openNextPayment(service, { order_id });
    await settle(service, opened, 'declined');
    return openNextPayment(service, { order_id });
  };

  it('gets each step from the cart to the payment', async () => {
    const hold = await service.hold({ event_id: 'evt_gala', session_key: newSession(), items: [item('single', 2)] });
    const started = await start(service, {
      hold_id: hold.id,
      items: [item('single', 2, { bar_perks: [{ bar_perk_id: 'beer', quantity: 1 }] })],
      customer: { email: ' Ada+shows@Example.com ', name: 'Ada', phone: '+49 (361) 12-3' },
      tracking: { utm_source: 'mail', fbc: 'fb.1' },
    });
    await settle(service, started, 'paid');
    await told(5);
    const [cart, checkout, ...paid] = receiver.told;
    assert.deepEqual(
      { ...cart!.data },
      {
        dedupe_id: sha256(hold.id),
        event_id: 'evt_gala',
        value: 3800,
        currency: 'EUR',
        contents: [{ id: 'single', quantity: 2, price: 1900 }],
        customer: { email: null, phone: null },
        tracking: {},
      },
    );
    assert.equal(cart!.type, 'AddToCart');
    assert.equal(cart!.timestamp, new Date(service.now()).toISOString());
    assert.equal(checkout!.type, 'InitiateCheckout');
    assert.deepEqual(checkout!.data, {
      dedupe_id: sha256(started.order_id),
      order_id: started.order_id,
      event_id: 'evt_gala',
      value: 4300,
      currency: 'EUR',
      contents: [
        { id: 'single', quantity: 2, price: 1900 },
        { id: 'beer', quantity: 1, price: 500 },
      ],
      customer: { email: sha256('ada+shows@example.com'), phone: sha256('49361123') },
      tracking: { utm_source: 'mail', fbc: 'fb.1' },
    });
    assert.deepEqual(paid.map(({ type }) => type).sort(), ['CompletePayment', 'Purchase', 'order.confirmed']);
    for (const each of paid) assert.deepEqual(each.data, checkout!.data);
    assert.equal(new Set(receiver.told.map(({ id }) => id)).size, 5);
    assert.ok(!JSON.stringify(receiver.told).includes(hold.id), 'the id of a hold opens it');
  });

  it('gets nothing about the buyer of an order that was erased', async () => {
    const customer = { ...newCustomer(), phone: '+49 361 7' };
    const started = await start(service, { customer, tracking: { gclid: 'x' } });
    await settle(service, started, 'paid');
    await until(() => typesOf(receiver.told, started.order_id).includes('Purchase'));
    const address = `/admin/orders/${started.order_id}`;
    assert.equal((await service.operate('POST', `${address}/erase`)).status, 200);
    await service.operate('POST', `${address}/cancel`, { body: { note: 'as she asked' } });
    const isCancelled = ({ type, data }: Told) => type === 'order.cancelled' && data.order_id === started.order_id;
    await until(() => receiver.told.some(isCancelled));
    const { data } = receiver.told.find(isCancelled)!;
    assert.deepEqual([data.customer, data.tracking, data.value], [{ email: null, phone: null }, {}, 1900]);
  });

  it('gets a cart for POST holds alone, and a free order as a purchase alone', async () => {
    const inline = await start(service, { customer: newCustomer(), session_key: newSession() });
    const free = await start(service, { items: [item('guest', 1)], customer: newCustomer() });
    await settle(service, inline, 'paid');
    const last = await start(service, { customer: newCustomer() });
    await until(
      () => typesOf(receiver.told, last.order_id).length === 1,
      () => JSON.stringify(receiver.told.at(-1)),
    );
    assert.deepEqual(typesOf(receiver.told, free.order_id).sort(), ['Purchase', 'order.confirmed']);
    assert.deepEqual(typesOf(receiver.told, inline.order_id).sort(), [
      'CompletePayment',
      'InitiateCheckout',
      'Purchase',
      'order.confirmed',
    ]);
    assert.equal(receiver.told.filter(({ type }) => type === 'AddToCart').length, 1, 'the one of the test before');
  });

  it('gets the start of a checkout once its payment session is open', async () => {
    await setOutage(service, { seconds: 60 });
    const body = checkoutBody({ customer: newCustomer() });
    const headers = { 'idempotency-key': 'funnel' };
    const failed = await service.post<{ detail: { order_id: string } }>(START_CHECKOUT, body, headers);
    assert.equal(failed.status, 502);
    const { order_id } = failed.body.detail;
    const free = await start(service, { items: [item('guest', 1)], customer: newCustomer() });
    await until(
      () => typesOf(receiver.told, free.order_id).length > 0,
      () => 'the free order',
    );
    assert.deepEqual(typesOf(receiver.told, order_id), []);
    await setOutage(service, { seconds: 0 });
    assert.equal((await service.post(START_CHECKOUT, body, headers)).status, 201);
    await settle(service, await payOnAfterDecline(order_id), 'paid');
    await until(
      () => typesOf(receiver.told, order_id).length >= 4,
      () => JSON.stringify(typesOf(receiver.told, order_id)),
    );
    assert.deepEqual(
      typesOf(receiver.told, order_id).filter((type) => type === 'InitiateCheckout'),
      ['InitiateCheckout'],
    );
  });

  it('gets the first payment once, and the confirmation with the last', async () => {
    const started = await start(service, { installment_count: 2 });
    await settle(service, started, 'paid');
    await settle(service, await openNextPayment(service, started), 'paid');
    await until(
      () => typesOf(receiver.told, started.order_id).length === 4,
      () => JSON.stringify(typesOf(receiver.told, started.order_id)),
    );
    const types = typesOf(receiver.told, started.order_id);
    assert.deepEqual(types, ['InitiateCheckout', 'Purchase', 'CompletePayment', 'order.confirmed']);
  });

  it('gets how a refund ended that was executed, and what is due again', async () => {
    const { order_id: id } = await buy(service, { customer: newCustomer() });
    const path = `/admin/orders/${id}`;
    await service.admin.post(`${path}/refunds`, { amount: 100, note: 'by hand' });
    await service.admin.post(`${path}/cancel`);
    const ends = () =>
      receiver.told
        .filter(({ type, data }) => type.startsWith('refund.') && data.order_id === id)
        .map(({ type, data: { value, refund_id, amount, refund_due } }) => [
          type,
          value,
          refund_id ?? refund_due,
          amount,
        ]);
    const become = (count: number) =>
      until(
        () => ends().length === count,
        () => JSON.stringify(ends()),
      );
    await become(1);
    await chooseRefunds(service, 'failed');
    await service.admin.post(`${path}/refunds`, { execute: true });
    await become(3);
    await chooseRefunds(service, 'refused');
    const { body } = await service.admin.post<AdminOrderBody>(`${path}/refunds`, { execute: true });
    await become(4);
    const [, failed, other] = body.refunds.map((refund) => refund.id);
    await service.admin.post(`${path}/refunds/${other}/resolve`, { outcome: 'RETRY' });
    await become(5);
    assert.deepEqual(ends(), [
      ['refund.due', 1800, 1800, undefined],
      ['refund.failed', 1800, failed, 1800],
      ['refund.due', 1800, 1800, undefined],
      ['refund.failed', 1800, other, 1800],
      ['refund.succeeded', 1800, other, 1800],
    ]);
  });

  it('gets what an amendment came to, and what is due by it', async () => {
    const order = await start(service, { items: [item('single', 2)], customer: { email: 'y@example.com', name: 'Y' } });
    const [cancelled] = (await settle(service, order, 'paid')).tickets;
    const amendment = { cancel: [cancelled!], fee: 100 };
    const { body } = await service.admin.post<{ id: string }>(`/admin/orders/${order.order_id}/amendments`, amendment);
    await until(
      () => typesOf(receiver.told, order.order_id).includes('refund.due'),
      () => JSON.stringify(typesOf(receiver.told, order.order_id)),
    );
    const told = receiver.told.filter(({ type, data }) => type === 'order.amended' && data.order_id === order.order_id);
    const price = order.total_amount / 2;
    assert.deepEqual(
      told.map(({ data }) => [data.amendment_id, data.value, data.difference, data.withdrawal, data.contents]),
      [[body.id, price + 100, 100 - price, false, [{ id: 'single', quantity: 1, price }]]],
    );
    assert.deepEqual(typesOf(receiver.told, order.order_id).slice(-2), ['order.amended', 'refund.due']);
  });

  it('gets the confirmation where an amendment leaves nothing to pay, and what is due of money that came after it', async () => {
    const started = await start(service, { items: [item('single', 3)], customer: newCustomer(), installment_count: 3 });
    const { tickets } = await settle(service, started, 'paid');
    const second = await openNextPayment(service, started);
    const path = `/admin/orders/${started.order_id}/amendments`;
    await service.admin.post(path, { cancel: [tickets[0]!] });
    await service.admin.post(path, { cancel: [tickets[1]!], fee: 500 });
    const { refund_due: due } = await settle(service, second, 'paid');
    const types = () => typesOf(receiver.told, started.order_id);
    await until(
      () => types().includes('order.confirmed'),
      () => JSON.stringify(types()),
    );
    const paid = ['InitiateCheckout', 'Purchase', 'CompletePayment'];
    assert.deepEqual(types(), [...paid, 'order.amended', 'order.amended', 'refund.due', 'order.confirmed']);
    const told = receiver.told.find(({ type, data }) => type === 'refund.due' && data.order_id === started.order_id);
    assert.deepEqual([due, told?.data.refund_due], [1400, 1400]);

    const two = { items: [item('single', 2)], customer: newCustomer(), installment_count: 2 };
    const covered = await start(service, two);
    await settle(service, covered, 'paid');
    const [ticket] = (await statusOf(service, covered)).tickets;
    await service.admin.post(`/admin/orders/${covered.order_id}/amendments`, { cancel: [ticket!] });
    const confirmed = () =>
      receiver.told.find((each) => each.type === 'order.confirmed' && each.data.order_id === covered.order_id);
    await until(
      () => confirmed() !== undefined,
      () => JSON.stringify(typesOf(receiver.told, covered.order_id)),
    );
    assert.equal(confirmed()!.data.value, covered.total_amount / 2);
  });

  it('gets an amendment that is to be paid once its money has applied it, and money that came for none', async () => {
    const order = await buy(service, { items: [item('guest', 1), item('single', 1)], customer: newCustomer() });
    const path = `/admin/orders/${order.order_id}/amendments`;
    const { tickets } = await statusOf(service, order);
    const rename = { attendees: [{ ticket_id: tickets[0], attendee: { name: 'Zoe' } }], fee: 250 };
    const pending = async () => {
      const { status, body } = await service.admin.post<Json>(path, rename);
      assert.deepEqual([status, body['status']], [201, 'PENDING'], JSON.stringify(body));
      return { id: body['id'], checkout_session_id: String(body['checkout_session_id']) };
    };
    const dropped = await pending();
    await settle(service, dropped, 'declined');
    await service.admin.delete(`${path}/${String(dropped.id)}`);
    const paid = await pending();
    await settle(service, paid, 'paid');
    await settle(service, dropped, 'paid');
    const types = () => typesOf(receiver.told, order.order_id);
    await until(
      () => types().includes('refund.due'),
      () => JSON.stringify(types()),
    );
    const bought = ['InitiateCheckout', 'order.confirmed', 'Purchase', 'CompletePayment'];
    assert.deepEqual(types(), [...bought, 'order.amended', 'refund.due']);
    const told = receiver.told.filter(({ data }) => data.order_id === order.order_id).slice(-2);
    assert.deepEqual(
      told.map(({ data }) => [data.amendment_id, data.value, data.difference, data.refund_due]),
      [
        [paid.id, 2150, 250, undefined],
        [undefined, 250, undefined, 250],
      ],
    );
  });

  it('gets the start of a checkout not from an amendment that makes a free order cost something', async () => {
    const order = await start(service, { items: [item('guest', 1)], customer: newCustomer() });
    const { tickets } = await statusOf(service, order);
    const change = [{ ticket_ids: tickets, ticket_type_id: 'single' }];
    const { body } = await service.admin.post<Json>(`/admin/orders/${order.order_id}/amendments`, { change });
    await settle(service, { checkout_session_id: String(body['checkout_session_id']) }, 'paid');
    const types = () => typesOf(receiver.told, order.order_id);
    await until(
      () => types().includes('order.amended'),
      () => JSON.stringify(types()),
    );
    assert.deepEqual(types(), ['order.confirmed', 'Purchase', 'order.amended']);
  });

  it('gets the ends of orders and refunds that are due', async () => {
    const expired = await start(service);
    service.wait(31 * MINUTE);
    await settle(service, await start(service, { customer: { email: 'x@example.com', name: 'X' } }), 'cancelled');
    const called = await start(service);
    await settle(service, called, 'paid');
    await service.admin.post(`/admin/orders/${called.order_id}/cancel`);
    await service.admin.post('/admin/events/evt_gala/performances/eve/cancel');
    await settle(service, expired, 'paid');
    await until(
      () => typesOf(receiver.told, expired.order_id).includes('refund.due'),
      () => JSON.stringify(typesOf(receiver.told, expired.order_id)),
    );
    assert.deepEqual(typesOf(receiver.told, expired.order_id), ['InitiateCheckout', 'order.expired', 'refund.due']);
    const due = receiver.told
      .filter(({ type }) => type === 'refund.due')
      .map(({ data }) => [data.order_id, data.value, data.refund_due]);
    assert.ok(
      due.some(([id, value, refund]) => id === called.order_id && value === 1900 && refund === 1900),
      JSON.stringify(due),
    );
    assert.deepEqual(typesOf(receiver.told, called.order_id).slice(-2), ['order.cancelled', 'refund.due']);
    assert.deepEqual(typesOf(receiver.told, 'eve'), ['performance.cancelled']);
  });

  it('gets what the document says, and nothing else', async () => {
    const { body } = await service.get<{ webhooks: Record<string, Webhooks> }>('/openapi.json');
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    for (const [type, { post }] of Object.entries(body.webhooks)) {
      const { schema } = post.requestBody.content['application/json'];
      const messages = receiver.told.filter((message) => message.type === type);
      assert.ok(messages.length > 0, `${type} was sent`);
      const isMessage = ajv.compile(closed(schema) as object);
      for (const { id: _, ...message } of messages) {
        assert.ok(isMessage(message), `${type}: ${ajv.errorsText(isMessage.errors)}`);
      }
    }
    assert.deepEqual(
      receiver.told.filter(({ type }) => !Object.hasOwn(body.webhooks, type)),
      [],
    );
  });
});

describe('A receiver that is down', () => {
  it('slows no buyer, and gets everything in order once it is up again, also after a restart', async () => {
    const receiver = await openReceiver();
    const service = await openServiceWith([gala({ max_tickets_per_email: null })], {
      NOTIFY_URL: receiver.url,
      NOTIFY_SECRET: SECRET,
    });
    try {
      receiver.answers = 503;
      const orders: Started[] = [];
      for (let count = 0; count < 20; count += 1) orders.push(await start(service));
      await until(
        () => receiver.requests > 0,
        () => 'no post',
      );
      assert.equal(receiver.told.length, 0);
      await service.restart();
      receiver.answers = null;
      orders.push(await start(service));
      await until(
        () => receiver.requests > 1,
        () => 'no post',
      );
      // A post without an answer is given up after ten seconds; the receiver answers before the next service starts.
      receiver.answers = 200;
      await service.restart();
      await until(
        () => receiver.told.length >= 21,
        () => `${receiver.told.length} told`,
      );
      const checkouts = receiver.told
        .filter(({ type }) => type === 'InitiateCheckout')
        .map(({ data }) => data.order_id);
      assert.deepEqual(
        [...new Set(checkouts)],
        orders.map(({ order_id }) => order_id),
      );
    } finally {
      await service.close();
      await receiver.close();
    }
  });

  it('misses nothing when the service is killed, and can recognise repeats by their ids', { skip }, async () => {
    const receiver = await openReceiver();
    const environment = { NOTIFY_URL: receiver.url, NOTIFY_SECRET: SECRET };
    const service = await spawnService({ environment });
    try {
      receiver.answers = 500;
      await service.define(gala({ max_tickets_per_email: null }));
      const orders: string[] = [];
      for (let count = 0; count < 10; count += 1) {
        orders.push((await service.call<Started>('POST', START_CHECKOUT, { body: checkoutBody() })).body.order_id);
      }
      await service.end('SIGKILL');
      receiver.answers = 200;
      const next = await spawnService({ folder: service.folder, environment });
      try {
        await until(
          () => receiver.told.length >= 10,
          () => `${receiver.told.length} told`,
        );
        const checkouts = receiver.told.filter(({ type }) => type === 'InitiateCheckout');
        assert.deepEqual([...new Set(checkouts.map(({ data }) => data.order_id))], orders);
        const notify = (...args: string[]) => holdfast(['notify', ...args, '--data', service.folder], environment);
        assert.deepEqual(succeeded(await notify('--from', '1', '--json')).json(), { ok: true, posted: 10 });
        assert.equal(new Set(receiver.told.map(({ id }) => id)).size, 10);
        receiver.answers = 500;
        const failed = await notify('--from', '1');
        assert.equal(failed.code, 1);
        assert.match(failed.stdout + failed.stderr, /continue with --from \d+/);
      } finally {
        await next.end('SIGTERM');
      }
    } finally {
      await service.close();
      await receiver.close();
    }
  });
});

describe('After a restore to an earlier fact a receiver', { skip }, () => {
  it('gets what is sold then under ids that it does not know from the sales that were lost', async (t) => {
    const receiver = await openReceiver();
    t.after(() => receiver.close());
    const environment = { NOTIFY_URL: receiver.url, NOTIFY_SECRET: SECRET };
    const restored = newDataFolder(t);
    const sell = async (service: TestService, told: number): Promise<void> => {
      for (let count = 0; count < 2; count += 1) await start(service);
      await until(
        () => receiver.told.length >= told,
        () => `${receiver.told.length} told`,
      );
      await service.internals.stop();
    };
    const lost = await openServiceFor(t, [gala({ max_tickets_per_email: null })], environment);
    await sell(lost, 2);
    // The first fact says how far the receiver has come, the second defines the event.
    await copyUpTo(lost.folder, restored, { seq: 2 });
    await sell(await openServiceFor(t, [], environment, { folder: restored, clock: START + MINUTE }), 4);
    assert.equal(new Set(receiver.told.map(({ data }) => data.order_id)).size, 4);
    assert.equal(new Set(receiver.told.map(({ id }) => id)).size, 4);
  });
});
