/**
 * Mails about orders, taken by a real SMTP server: at least once, also after a kill between fact and mail, to the buyer
 * of the order and never to another.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { newCustomer, settle, start, type Started } from '../fixtures/checkout.ts';
import { gala } from '../fixtures/events.ts';
import { openMailbox, type Mailbox } from '../fixtures/mailbox.ts';
import { plainVisitor } from '../fixtures/plain-pages.ts';
import {
  MINUTE,
  ofOneMachine,
  ofOneThread,
  openServiceFor,
  openServiceWith,
  spawnService,
  spawnServiceFor,
  type TestService,
} from '../fixtures/service.ts';
import { newDataFolder } from '../fixtures/folders.ts';
import { until } from '../fixtures/until.ts';

const DAY = 24 * 60 * MINUTE;
/** What is refused for now is soon sent again. */
const limits = { deliveryPauseMsMin: 10 };
const venue = { name: 'Harbour Hall', address: '1 Quay Street', city: 'Erfurt', country: 'DE' };
const event = gala({ venue, max_tickets_per_email: null });

/** A paid order of a buyer with an address of their own. */
async function buy(service: Pick<TestService, 'call'>, email: string, more: object = {}): Promise<Started> {
  const started = await start(service as TestService, { customer: { ...newCustomer(), email }, ...more });
  await settle(service as TestService, started, 'paid');
  return started;
}

const mailOf = (box: Mailbox, orderId: string) => box.received.filter(({ source }) => source.includes(orderId));

async function untilReceived(box: Mailbox, count: number): Promise<void> {
  await until(
    () => box.received.length >= count,
    () => `${box.received.length} of ${count} mails`,
  );
}

/**
 * Resolves when each mail that was first refused for now at this moment or later was sent again: pauses double, so the
 * last one is no longer than the time before it.
 */
function untilSentAgain(firstMs: number): Promise<void> {
  return pause(performance.now() - firstMs + 2 * limits.deliveryPauseMsMin);
}

describe('The buyer of an order', () => {
  let box: Mailbox;
  let service: TestService;
  before(async () => {
    box = await openMailbox();
    service = await openServiceWith([event], box.environment, { limits });
  });
  beforeEach(() => {
    box.refuses = () => null;
    box.refusesContents = () => null;
  });
  after(async () => {
    await service.close();
    await box.close();
  });
  const asOperator = (orderId: string, headers: Record<string, string> = {}) =>
    service.operate('POST', `/admin/orders/${orderId}/mail`, { headers });

  it('is mailed its address once it is paid in full: a link and the facts of the evening, in both languages', async () => {
    const { order_id: id } = await buy(service, 'ada@example.com');
    await until(() => mailOf(box, id).length === 1);
    const [{ to, source }] = mailOf(box, id) as [Mailbox['received'][number]];
    assert.deepEqual(to, ['ada@example.com']);
    assert.match(source, /^from: "?Harbour Hall"? <tickets@example\.com>$/im);
    assert.match(source, /^auto-submitted: auto-generated$/im);
    assert.match(source, /multipart\/alternative/);
    for (const words of [
      'Your order is confirmed',
      'Ihre Bestellung ist bestätigt',
      'Harbour Hall',
      '1 Quay Street, Erfurt',
    ])
      assert.ok(source.includes(words), words);
    assert.ok(source.includes(`${service.publicUrl}/orders/${id}`));
    const { body: order } = await service.call<{ ticket_objects: { code: string }[] }>(
      'GET',
      `/api/checkout/status/${id}`,
    );
    assert.ok(!source.includes(order.ticket_objects[0]!.code), 'no code of a ticket');
    assert.doesNotMatch(source, /<img|<script|url\(/);
  });

  it('gets none for an order that is not paid', async () => {
    const { order_id: id } = await start(service);
    await buy(service, 'later@example.com');
    await until(() => box.received.some(({ to }) => to.includes('later@example.com')));
    assert.deepEqual(mailOf(box, id), []);
    const refused = await asOperator(id);
    assert.deepEqual([refused.status, refused.body['code']], [409, 'ORDER_NOT_MAILABLE']);
  });

  it('has it sent again by a button, in the language of the page, five times a day', async () => {
    const { order_id: id } = await buy(service, 'bea@example.com');
    await until(() => mailOf(box, id).length === 1);
    const visitor = plainVisitor(service.publicUrl, 'de');
    const send = async () => {
      const page = await visitor.open(`/orders/${id}`);
      return visitor.press(page, 'Link zu dieser Seite per E-Mail senden');
    };
    const page = await send();
    assert.match(page.text, /unterwegs an bea@example\.com/);
    await until(() => mailOf(box, id).length === 2);
    const [, again] = mailOf(box, id);
    assert.match(again!.source, /Ihre Bestellung/);
    assert.doesNotMatch(again!.source, /Your order is confirmed/);
    for (let more = 1; more < 5; more += 1) assert.equal((await send()).status, 200);
    const over = await send();
    assert.equal(over.status, 429);
    assert.match(over.text, /morgen noch einmal/);
    service.wait(DAY);
    assert.equal((await send()).status, 200);
    await until(() => mailOf(box, id).length === 7);
  });

  it('is sent it by an operator, once for an idempotency key, with who did it in the journal', async () => {
    const { order_id: id } = await buy(service, 'cleo@example.com');
    await until(() => mailOf(box, id).length === 1);
    const headers = { 'x-operator': 'olga', 'idempotency-key': 'mail-1' };
    const [first, repeat] = [await asOperator(id, headers), await asOperator(id, headers)];
    assert.deepEqual([first.status, repeat.status, repeat.headers.get('idempotent-replayed')], [200, 200, 'true']);
    await until(() => mailOf(box, id).length === 2);
    const { body } = await service.operate<{ facts: { data: string }[] }>(
      'GET',
      '/admin/journal?type=MailRequested&limit=1',
    );
    assert.deepEqual(JSON.parse(body.facts[0]!.data), {
      orderId: id,
      by: 'OPERATOR',
      operator: 'olga',
      language: null,
    });
    const unknown = await asOperator(`${id.slice(0, -4)}none`);
    assert.deepEqual([unknown.status, unknown.body['code']], [404, 'ORDER_NOT_FOUND']);
  });

  it('gets it at the address of the order, whoever the tickets were renamed to', async () => {
    const { order_id: id } = await buy(service, 'dora@example.com');
    const { body: order } = await service.call<{ tickets: string[] }>('GET', `/api/checkout/status/${id}`);
    const eve = { name: 'Eve', email: 'eve@example.com' };
    const attendees = [{ ticket_id: order.tickets[0], attendee: eve }];
    const renamed = await service.operate('POST', `/admin/orders/${id}/amendments`, { body: { attendees } });
    assert.equal(renamed.status, 201, JSON.stringify(renamed.body));
    await asOperator(id);
    await until(() => mailOf(box, id).length === 2);
    assert.deepEqual(new Set(mailOf(box, id).flatMap(({ to }) => to)), new Set(['dora@example.com']));
  });

  it('gets none once the order was erased, not even one that was requested before', async () => {
    box.refuses = (address) => (address === 'finn@example.com' ? 450 : null);
    const beganMs = performance.now();
    const { order_id: id } = await buy(service, 'finn@example.com');
    assert.equal((await asOperator(id)).status, 200);
    assert.equal((await service.operate('POST', `/admin/orders/${id}/erase`)).status, 200);
    box.refuses = () => null;
    const refused = await asOperator(id);
    assert.deepEqual([refused.status, refused.body['code']], [409, 'ORDER_ERASED']);
    const { order_id: later } = await buy(service, 'gus@example.com');
    await until(() => mailOf(box, later).length === 1);
    await untilSentAgain(beganMs);
    assert.deepEqual(mailOf(box, id), []);
  });

  it('with a mailbox that takes no mail for now is tried again, and does not hold up others; for good, no more', async () => {
    const beganMs = performance.now();
    const refused = new Set<string>();
    const wasRefused = (address: string): boolean => refused.has(address);
    box.refuses = (address) => {
      const code = { 'full@example.com': 450, 'gone@example.com': 550 }[address] ?? null;
      if (code !== null) refused.add(address);
      return code;
    };
    const full = await buy(service, 'full@example.com');
    const gone = await buy(service, 'gone@example.com');
    const other = await buy(service, 'hana@example.com');
    await until(
      () => mailOf(box, other.order_id).length === 1 && ['full@example.com', 'gone@example.com'].every(wasRefused),
    );
    box.refuses = () => null;
    await until(() => mailOf(box, full.order_id).length === 1);
    await untilSentAgain(beganMs);
    assert.deepEqual(mailOf(box, gone.order_id), []);
  });

  it('is mailed later where the server refuses what all mails have, such as their sender', async () => {
    let refused = 0;
    box.refusesContents = () => {
      refused += 1;
      return '554 Message rejected: the address of the sender is not verified';
    };
    const { order_id: id } = await buy(service, 'olga@example.com');
    await until(() => refused > 0);
    box.refusesContents = () => null;
    await until(() => mailOf(box, id).length === 1);
  });

  it('with an address that is refused for now for a whole day is given up; the time before it was tried is no part of it', async () => {
    let refusals = 0;
    const isRefused = new Set(['pat@example.com', 'quin@example.com']);
    box.refuses = (address) => (isRefused.has(address) && (refusals += 1) > 0 ? 450 : null);
    const beganMs = performance.now();
    const { order_id: givenUp } = await buy(service, 'pat@example.com');
    // At the second the service has the answer to the first: the day begins with it.
    await until(() => refusals > 1);
    let rejected = 0;
    box.refusesContents = () => {
      rejected += 1;
      return '554 Message rejected: the address of the sender is not verified';
    };
    service.wait(DAY);
    await untilSentAgain(beganMs);
    isRefused.clear();
    const { order_id: late } = await buy(service, 'quin@example.com');
    await until(() => rejected > 0);
    service.wait(2 * DAY);
    isRefused.add('quin@example.com');
    const waited = refusals;
    await until(() => refusals > waited);
    box.refusesContents = () => null;
    isRefused.clear();
    await until(() => mailOf(box, late).length === 1);
    await untilSentAgain(beganMs);
    assert.deepEqual(mailOf(box, givenUp), []);
  });

  it('with an address that could be read as two gets none, and neither does anybody else', async () => {
    const count = box.received.length;
    for (const email of ['ida,jo@example.com', '<kim@example.com', 'lea;mo@example.com', '"a"b@example.com']) {
      await buy(service, email);
    }
    const { order_id: id } = await buy(service, 'nina@example.com');
    await until(() => mailOf(box, id).length === 1);
    assert.deepEqual(
      box.received.slice(count).flatMap(({ to }) => to),
      ['nina@example.com'],
    );
  });
});

describe('Mails', { skip: ofOneMachine('each node has metrics of its own') }, () => {
  it('are counted by what became of them: sent, tried again, dropped', async (t) => {
    const box = await openMailbox();
    const service = await openServiceWith([event], box.environment, { limits });
    t.after(async () => {
      await service.close();
      await box.close();
    });
    const figures = async (): Promise<readonly string[]> => {
      const { body } = await service.operate<string>('GET', '/metrics');
      return [...body.matchAll(/^holdfast_mails?_(?:total\{outcome="(\w+)"\}|failing_seconds) (\d+)$/gm)].map(
        ([, outcome = 'failing', count = '']) => `${outcome} ${count}`,
      );
    };
    box.refuses = (address) => ({ 'full@example.com': 450, 'gone@example.com': 550 })[address] ?? null;
    for (const name of ['ada', 'full', 'gone']) await buy(service, `${name}@example.com`);
    await until(async () => {
      const counted = (await figures()).join();
      // One that is refused for now may have been tried again more than once by then.
      return ['sent 1', 'retried [1-9]\\d*', 'dropped 1', 'failing 0'].every((figure) =>
        RegExp(`${figure}\\b`).test(counted),
      );
    });
  });
});

describe('Without a mail server', () => {
  it('pages offer no mail, and requests for one are refused', async (t) => {
    const service = await openServiceFor(t, [event]);
    const { order_id: id } = await buy(service, 'ada@example.com');
    const page = await plainVisitor(service.publicUrl).open(`/orders/${id}`);
    assert.doesNotMatch(page.text, /Mail me the link/);
    const asked = await service.operate('POST', `/admin/orders/${id}/mail`);
    assert.deepEqual([asked.status, asked.body['code']], [409, 'MAIL_OFF']);
    const sent = await fetch(`${service.publicUrl}/orders/${id}/mail`, { method: 'POST', redirect: 'manual' });
    assert.equal(sent.status, 409);
  });
});

describe(
  'A service that was killed between fact and mail',
  {
    skip:
      ofOneMachine('a process is killed and started again on its folder') ||
      ofOneThread('mails are sent from the journal, which is on the main thread'),
  },
  () => {
    it('sends it after its start, at least once, to nobody else, and buyers never waited', async (t) => {
      const first = await openMailbox();
      const { environment, port } = first;
      await first.close();
      const folder = newDataFolder(t);
      const service = await spawnService({ environment, folder });
      await service.define(event);
      const began = Date.now();
      const started = await Promise.all(
        Array.from({ length: 6 }, (_, n) => buy(service as unknown as TestService, `buyer-${n}@example.com`)),
      );
      assert.ok(Date.now() - began < 20_000, 'no buyer waits for a mail server that is down');
      await service.shows(/no mail can be sent/);
      await service.end('SIGKILL');
      assert.doesNotMatch(service.printed(), /buyer-\d@example/);

      const box = await openMailbox(port);
      t.after(() => box.close());
      // It takes messages, and its answers are lost: they may have come, or not.
      box.pausing.isOn = true;
      const second = await spawnService({ environment, folder });
      await untilReceived(box, 1);
      await second.end('SIGKILL');
      box.pausing.isOn = false;
      await spawnServiceFor(t, { environment, folder });
      await until(() => started.every(({ order_id: id }) => mailOf(box, id).length >= 1));
      for (const [n, { order_id: id }] of started.entries()) {
        const mails = mailOf(box, id);
        assert.deepEqual(new Set(mails.flatMap(({ to }) => to)), new Set([`buyer-${n}@example.com`]));
        assert.equal(new Set(mails.map(({ messageId }) => messageId)).size, 1, 'a repeat has the same Message-ID');
      }
      assert.ok(box.received.every(({ to }) => to.length === 1));
    });
  },
);
