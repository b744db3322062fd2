/**
 * A purchase with unmistakable personal data, from sale to oblivion: nothing of it stands readable in any file;
 * operators and the person are told; and once it is erased nobody can tell any more, an earlier backup beside today's
 * keys included.
 */
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { KeyReader, keysPath } from '#persistence/sqlite/key-file.ts';
import { buy, start } from '../fixtures/checkout.ts';
import type { Answer } from '../fixtures/client.ts';
import { floor } from '../fixtures/events.ts';
import { newFolder } from '../fixtures/folders.ts';
import { holdfast, samples, serving, servingProcess, succeeded, type Ended, type Serving } from './holdfast.ts';

const PERSON = {
  name: 'Zephyrine Quxmoor',
  email: 'Zephyrine.Quxmoor@unmistakable.example',
  phone: '+49 361 7770001',
  document_number: 'DOCQUX99',
};
const GUEST = { name: 'Ulfberht Vexley', email: 'ulfberht@unmistakable.example' };
const CLICK = 'clickid-QUXCLICK42';
const NOTE = 'She called about her grandmother Quxmoor';
const PERSONAL = [
  ...Object.values(PERSON),
  PERSON.email.toLowerCase(),
  ...Object.values(GUEST),
  CLICK,
  NOTE,
  'quxmoor',
  'Quxmoor',
];

/** Where any of the texts stands in the files of a folder, as it is or in UTF-16. */
function foundIn(folder: string, texts: readonly (string | Buffer)[] = PERSONAL): string[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.flatMap((entry) => {
    const bytes = readFileSync(path.join(entry.parentPath, entry.name));
    return texts
      .filter(
        (text) => bytes.includes(text) || (typeof text === 'string' && bytes.includes(Buffer.from(text, 'utf16le'))),
      )
      .map((text) => `${String(text)} in ${path.relative(folder, path.join(entry.parentPath, entry.name))}`);
  });
}

function assertForgotten(what: string, text: string): void {
  for (const each of PERSONAL) assert.ok(!text.includes(each), `${each} in ${what}: ${text}`);
}

/** A search by the person's address tells nothing but the address that was asked for. */
function assertNotFound(text: string, orderId: string): void {
  assertForgotten('a search', text.replaceAll(PERSON.email, ''));
  assert.ok(!text.includes(orderId), text);
}

/** What a service answers, as a text. */
function textOf({ status, body }: Answer<unknown>): string {
  assert.equal(status, 200, JSON.stringify(body));
  return typeof body === 'string' ? body : JSON.stringify(body);
}

const shownBy = async ({ client }: Serving, address: string): Promise<string> =>
  textOf(await client.get(address, { accept: 'text/html, application/json' }));

const toldBy = async ({ client }: Serving, address: string): Promise<string> => textOf(await client.admin.get(address));

/** A paid order, which a repeat finds again, with a refund and a note about it. */
async function buyTwo({ client }: Serving): Promise<string> {
  const wanted = {
    event_id: 'evt_club',
    items: [floor(2, { attendees: [{ name: PERSON.name }, { name: GUEST.name, email: GUEST.email }] })],
    customer: PERSON,
    tracking: { fbclid: CLICK, landing_page: 'https://shop.example/?who=quxmoor' },
  };
  const keyed = { 'idempotency-key': 'key-1' };
  const { order_id: orderId } = await buy(client, wanted, keyed);
  assert.equal((await start(client, wanted, keyed)).order_id, orderId);
  textOf(await client.admin.post(`/admin/orders/${orderId}/refunds`, { amount: 100, note: NOTE }));
  return orderId;
}

interface Report {
  readonly ok: boolean;
  readonly problems: readonly object[];
  readonly figures: object;
  readonly state_fingerprint: string;
  readonly head_seq: number;
}

async function verified(folder: string): Promise<Report> {
  const ended = await holdfast(['verify', '--data', folder, '--json']);
  const report = ended.json<Report>();
  assert.deepEqual([ended.code, report.problems], [0, []], ended.stdout);
  return report;
}

async function told(t: TestContext, folder: string): Promise<string> {
  const out = path.join(newFolder(t), 'told');
  succeeded(await holdfast(['subject', '--email', PERSON.email, '--out', out, '--data', folder]));
  return readdirSync(out)
    .map((name) => readFileSync(path.join(out, name), 'utf8'))
    .join('\n');
}

const exported = (folder: string, format: string): Promise<Ended> =>
  holdfast(['export', 'orders', 'evt_club', '--format', format, '--data', folder]);

describe('A purchase', () => {
  it('stands sealed in every file, is told to who may know, and is gone everywhere once it is erased', async (t) => {
    const parent = newFolder(t);
    const [data, backup] = [path.join(parent, 'data'), path.join(parent, 'backup')];
    assert.equal(
      (await holdfast(['load', '--offline', path.join(samples, 'club-night.json'), '--data', data])).code,
      0,
    );
    const shop = await servingProcess(t, data);
    const orderId = await buyTwo(shop);
    const orderUrl = `/orders/${orderId}`;
    const { environment } = shop;

    // 1. Nothing in journal, log, archive, snapshots and a backup; the keys open it for who may know.
    for (const _ of [1, 2]) succeeded(await holdfast(['snapshot', '--prune'], environment));
    assert.ok(
      readdirSync(path.join(data, 'archive')).length > 0 && readdirSync(path.join(data, 'snapshots')).length > 0,
    );
    const copied = succeeded(await holdfast(['backup', backup], environment));
    const [said] = copied.stdout.split('\n\n');
    for (const secret of ['keys.db', 'admin-token', 'ticket-key', 'webhook-secret-a', 'webhook-secret-b']) {
      assert.match(said!, new RegExp(`^ {2}${secret} +the `, 'm'), 'what must be kept from others is said first');
    }
    for (const folder of [data, backup]) assert.deepEqual(foundIn(folder), []);
    const status = await shownBy(shop, `/api/checkout/status/${orderId}`);
    const answers = [await toldBy(shop, `/admin/orders/${orderId}`), (await exported(data, 'json')).stdout];
    for (const answer of [...answers, await told(t, data)]) {
      for (const each of [PERSON.name, PERSON.email, GUEST.name, CLICK, NOTE]) assert.ok(answer.includes(each), each);
    }
    assert.ok(status.includes(PERSON.name) && (await shownBy(shop, orderUrl)).includes(PERSON.name));
    const pii = await holdfast(['pii', data, '--json']);
    assert.deepEqual([pii.code, pii.json<{ total: { sealed_texts: number } }>().total.sealed_texts], [0, 2]);
    const before = await verified(data);

    // 2. Erased through the running service.
    const keyBytes = keysIn(data);
    const erased = succeeded(
      await holdfast(['erase', '--email', PERSON.email.toUpperCase(), '--yes', '--json'], environment),
    );
    const { erased: orders } = erased.json<{ erased: { order_id: string; erased_at: string }[] }>();
    assert.deepEqual(
      orders.map((each) => each.order_id),
      [orderId],
    );
    assert.match(orders[0]!.erased_at, /^\d{4}-/);
    const page = await shownBy(shop, orderUrl);
    assert.match(page, /Personal data was erased on/);
    const rest = [
      page,
      await shownBy(shop, `/api/checkout/status/${orderId}`),
      await toldBy(shop, `/admin/orders/${orderId}`),
      await toldBy(shop, '/admin/events/evt_club/orders'),
      (await exported(data, 'json')).stdout,
      (await exported(data, 'csv')).stdout,
      (await holdfast(['journal', '--reveal', '--json'], environment)).stdout,
    ];
    for (const text of rest) assertForgotten('an answer', text);
    const byAddress = `email=${PERSON.email}`;
    const searches = [
      await told(t, data),
      await toldBy(shop, `/admin/subject?${byAddress}`),
      await toldBy(shop, `/admin/events/evt_club/orders?${byAddress}`),
    ];
    for (const text of searches) assertNotFound(text, orderId);

    // 3. Money, seats and tickets as before; the books agree, and a copy has the same state.
    const after = await verified(data);
    assert.deepEqual(after.figures, before.figures);
    assert.equal(after.head_seq, before.head_seq + 1);
    const copy = path.join(parent, 'copy');
    succeeded(await holdfast(['backup', copy], environment));
    assert.equal((await verified(copy)).state_fingerprint, after.state_fingerprint);
    const left = keysIn(data);
    const destroyed = keyBytes.filter((key) => !left.some((each) => each.equals(key)));
    assert.equal(destroyed.length, 2, 'the keys of the order and of the note');
    for (const folder of [data, copy]) assert.deepEqual(foundIn(folder, destroyed), []);
    assert.equal(foundIn(backup, destroyed).length > 0, true, 'a key is found where it is');
    await shop.stop();
    assert.deepEqual(foundIn(data), []);

    // 4. The backup from before beside today's keys cannot tell either; as it was, it could.
    const yesterday = path.join(parent, 'yesterday');
    cpSync(backup, yesterday, { recursive: true });
    assert.ok((await exported(yesterday, 'json')).stdout.includes(PERSON.name), 'old keys open old backups');
    for (const name of ['keys.db', 'keys.db-wal', 'keys.db-shm']) rmSync(path.join(yesterday, name), { force: true });
    copyFileSync(path.join(data, 'keys.db'), path.join(yesterday, 'keys.db'));
    assertForgotten('a restored backup', (await exported(yesterday, 'json')).stdout);
    assertNotFound(await told(t, yesterday), orderId);
    assert.deepEqual((await verified(yesterday)).figures, before.figures);
    const restored = await serving(t, yesterday);
    assertForgotten('a service on a restored backup', await toldBy(restored, `/admin/orders/${orderId}`));
    assertForgotten('a service on a restored backup', await shownBy(restored, orderUrl));
    for (const address of [`/admin/subject?${byAddress}`, `/admin/events/evt_club/orders?${byAddress}`]) {
      assertNotFound(await toldBy(restored, address), orderId);
    }
    await restored.stop();
  });
});

/** The bytes of all keys of a folder. */
function keysIn(folder: string): Buffer[] {
  const reader = new KeyReader(keysPath(folder));
  try {
    return [...reader.inOrder()].flatMap(({ key }) => (key === null ? [] : [key]));
  } finally {
    reader.close();
  }
}
