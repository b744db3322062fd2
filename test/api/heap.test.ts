/**
 * No thread of the service keeps anything readable of a person once it is answered: the heaps of a service with
 * finished orders have no address, name, telephone number, tracking text or note of anybody in them.
 *
 * 100,000 orders: `TEST_DEPTH=500 npm run test:only -- test/api/heap.test.ts`.
 */
import assert from 'node:assert/strict';
import { createReadStream, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { deep } from '../depth.ts';
import { clubNight, floor } from '../fixtures/events.ts';
import { newFolder } from '../fixtures/folders.ts';
import { ofOneMachine, type ServiceProcess, spawnServiceFor } from '../fixtures/service.ts';
import { buy } from '../fixtures/checkout.ts';

const ORDERS = Math.max(3, deep(200));
const BUYERS_AT_ONCE = 16;

const PRELOAD = pathToFileURL(path.join(import.meta.dirname, '../fixtures/heap-dump.ts')).href;

/** What only people say in this test: every text of a person has one of these in it, in ASCII, Latin-1 or Greek. */
const PERSONAL = ['quxmoor', 'Quxmoor', 'Zéphyrine', 'Ζωή-Σοφία', '+49 361 777', 'clickid-QX', 'asked for her'];
const PLANTED = ['planted-ascii', 'planted-latin é', 'planted-greek Ζωή', 'planted-long', 'planted-joined'];

const personOf = (n: number) => ({
  email: `Quxmoor.${n}@unmistakable.example`,
  name: n % 2 === 0 ? `Zéphyrine ${n}` : `Ζωή-Σοφία ${n}`,
  phone: `+49 361 777${n}`,
});

/** The bytes in which a text may stand in a snapshot, or in a part of one that is no JSON. */
function formsOf(text: string): readonly Buffer[] {
  const escaped = (toHex: (hex: string) => string): string =>
    [...text]
      .map((each) => (each <= '~' ? each : `\\u${toHex(each.charCodeAt(0).toString(16).padStart(4, '0'))}`))
      .join('');
  const forms = [text, escaped((hex) => hex), escaped((hex) => hex.toUpperCase())];
  const encoded = [
    ...forms.map((form) => Buffer.from(form)),
    Buffer.from(text, 'latin1'),
    Buffer.from(text, 'utf16le'),
  ];
  return [...new Map(encoded.map((bytes) => [bytes.toString('hex'), bytes])).values()];
}

/**
 * Which of the texts are in a file, with what stands around the first of each; the file is never in memory as a whole.
 */
async function findIn(file: string, texts: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const wanted = texts.flatMap((text) => formsOf(text).map((bytes) => ({ text, bytes })));
  const overlap = Math.max(...wanted.map(({ bytes }) => bytes.length)) - 1;
  const found = new Map<string, string>();
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(file, { highWaterMark: 4 * 1024 * 1024 }) as AsyncIterable<Buffer>) {
    const window = Buffer.concat([rest, chunk]);
    for (const { text, bytes } of wanted) {
      const at = found.has(text) ? -1 : window.indexOf(bytes);
      if (at >= 0) found.set(text, window.toString('latin1', Math.max(0, at - 120), at + 120));
    }
    rest = Buffer.from(window.subarray(Math.max(0, window.length - overlap)));
  }
  return found;
}

/** Buys, pays, and looks at the order as its buyer. */
async function buyAndLook(service: ServiceProcess, n: number): Promise<string> {
  const person = personOf(n);
  const wanted = {
    event_id: 'evt_club',
    items: [floor(1, { attendees: [person] })],
    customer: person,
    tracking: { fbclid: `clickid-QX${n}` },
  };
  const { order_id: orderId } = await buy(service, wanted, { 'idempotency-key': `key-${n}` });
  const { body } = await service.get<{ readonly customer: object }>(`/api/checkout/status/${orderId}`);
  assert.deepEqual(body.customer, { name: person.name, email: person.email });
  return orderId;
}

/** What operators do about people: look, search, write a note, cancel, erase. */
async function operate(service: ServiceProcess, orderIds: readonly string[]): Promise<void> {
  const [first, second, third] = orderIds as [string, string, string];
  const { email } = personOf(0);
  const page = await service.call('GET', `/orders/${first}`, { headers: { accept: 'text/html' } });
  assert.equal(page.status, 200);
  for (const address of [
    `/admin/orders/${first}`,
    '/admin/events/evt_club/orders',
    `/admin/events/evt_club/orders?email=${email}`,
    `/admin/subject?email=${email}`,
  ]) {
    assert.equal((await service.operate('GET', address)).status, 200, address);
  }
  const note = { note: 'asked for her money' };
  const refunded = await service.operate('POST', `/admin/orders/${second}/refunds`, { body: { amount: 100, ...note } });
  const cancelled = await service.operate('POST', `/admin/orders/${second}/cancel`, { body: note });
  const erased = await service.operate('POST', `/admin/orders/${third}/erase`);
  assert.deepEqual([refunded.status, cancelled.status, erased.status], [200, 200, 200]);
}

/** The last requests of each connection stay with it until it has others, or ends. */
async function overwriteConnections(service: ServiceProcess): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    const asks = Array.from({ length: 2 * BUYERS_AT_ONCE }, () => [
      service.get('/api/events/evt_club'),
      service.operate('GET', '/admin/events'),
    ]);
    await Promise.all(asks.flat());
  }
}

describe('The heaps of a service with finished orders', () => {
  const skip = ofOneMachine('the threads of one process are looked at');
  it('have nothing of their buyers in them', { skip, timeout: 3_600_000 }, async (t) => {
    const folder = newFolder(t);
    const service = await spawnServiceFor(t, {
      environment: { NODE_OPTIONS: `--import=${PRELOAD}`, HEAP_DIR: folder },
    });
    await service.define(
      clubNight({ localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: ORDERS }] }),
    );
    const orderIds: string[] = [];
    let next = 0;
    const buyer = async (): Promise<void> => {
      for (let n = next++; n < ORDERS; n = next++) orderIds.push(await buyAndLook(service, n));
    };
    await Promise.all(Array.from({ length: BUYERS_AT_ONCE }, buyer));
    await operate(service, orderIds);
    await overwriteConnections(service);

    const written = service.shows(/^heaps of \d+ threads are written/);
    process.kill(service.pid, 'SIGUSR2');
    await written;
    const files = readdirSync(folder).map((name) => path.join(folder, name));
    assert.ok(files.length >= 2, 'the writer of the journal is a thread of its own');
    for (const file of files) {
      const found = await findIn(file, [...PERSONAL, ...PLANTED]);
      const planted = PLANTED.filter((text) => found.has(text));
      assert.deepEqual(planted, path.basename(file).startsWith('main') ? PLANTED : [], 'what is there is found');
      for (const text of PERSONAL) assert.ok(!found.has(text), `${text} in ${path.basename(file)}: ${found.get(text)}`);
    }
  });
});
