/**
 * A purchase with unmistakable personal data, from sale to oblivion: nothing of it stands readable in any file; operators and the
 * person are told; and once it is erased nobody can tell any more, an earlier backup beside today's keys included.
 */
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { KeyReader, keysPath } from '#persistence/sqlite/key-file.ts';
import { newFolder } from '../fixtures/folders.ts';
import { holdfast, samples, serving, servingProcess, type Ended, type Serving } from './holdfast.ts';

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

interface Bought {
  readonly orderId: string;
  readonly orderUrl: string;
}

class Shop {
  readonly service: Serving;
  readonly #token: string;
  constructor(service: Serving, folder: string) {
    this.service = service;
    this.#token = readFileSync(path.join(folder, 'admin-token'), 'utf8').trim();
  }

  async post(address: string, body: object, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
    const response = await fetch(this.service.publicUrl + address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    assert.ok(response.ok, JSON.stringify(answer));
    return answer;
  }

  async text(address: string): Promise<string> {
    const response = await fetch(this.service.publicUrl + address, {
      headers: { accept: 'text/html, application/json' },
    });
    assert.equal(response.status, 200, address);
    return response.text();
  }

  async admin(method: string, address: string, body?: object): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.service.environment['ADMIN_PORT']}${address}`, {
      method,
      headers: { authorization: `Bearer ${this.#token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, text);
    return text;
  }

  async buy(key: string): Promise<Bought> {
    const body = {
      event_id: 'evt_club',
      items: [
        {
          ticket_type_id: 'single',
          selling_stage_id: 'regular',
          quantity: 2,
          attendees: [{ name: PERSON.name }, { name: GUEST.name, email: GUEST.email }],
        },
      ],
      customer: PERSON,
      tracking: { fbclid: CLICK, landing_page: 'https://shop.example/?who=quxmoor' },
      accept_terms: true,
    };
    const started = await this.post('/api/checkout/start', body, { 'idempotency-key': key });
    const again = await this.post('/api/checkout/start', body, { 'idempotency-key': key });
    assert.equal(again['order_id'], started['order_id']);
    await this.post(`/sandbox/payments/${String(started['checkout_session_id'])}`, { outcome: 'paid' });
    const orderId = String(started['order_id']);
    await this.admin('POST', `/admin/orders/${orderId}/refunds`, { amount: 100, note: NOTE });
    return { orderId, orderUrl: `/orders/${orderId}` };
  }
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
  const ended = await holdfast(['subject', '--email', PERSON.email, '--out', out, '--data', folder]);
  assert.equal(ended.code, 0, ended.stderr);
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
    const shop = new Shop(await servingProcess(t, data), data);
    const { orderId, orderUrl } = await shop.buy('key-1');
    const { environment } = shop.service;

    // 1. Nothing in journal, log, archive, snapshots and a backup; the keys open it for who may know.
    for (const _ of [1, 2]) assert.equal((await holdfast(['snapshot', '--prune'], environment)).code, 0);
    assert.ok(
      readdirSync(path.join(data, 'archive')).length > 0 && readdirSync(path.join(data, 'snapshots')).length > 0,
    );
    const copied = await holdfast(['backup', backup], environment);
    assert.equal(copied.code, 0, copied.stdout + copied.stderr);
    for (const folder of [data, backup]) assert.deepEqual(foundIn(folder), []);
    const status = await shop.text(`/api/checkout/status/${orderId}`);
    const answers = [await shop.admin('GET', `/admin/orders/${orderId}`), (await exported(data, 'json')).stdout];
    for (const answer of [...answers, await told(t, data)]) {
      for (const each of [PERSON.name, PERSON.email, GUEST.name, CLICK, NOTE]) assert.ok(answer.includes(each), each);
    }
    assert.ok(status.includes(PERSON.name) && (await shop.text(orderUrl)).includes(PERSON.name));
    const pii = await holdfast(['pii', data, '--json']);
    assert.deepEqual([pii.code, pii.json<{ total: { sealed_texts: number } }>().total.sealed_texts], [0, 2]);
    const before = await verified(data);

    // 2. Erased through the running service.
    const keyBytes = keysIn(data);
    const erased = await holdfast(['erase', '--email', PERSON.email.toUpperCase(), '--yes', '--json'], environment);
    assert.equal(erased.code, 0, erased.stdout + erased.stderr);
    const { erased: orders } = erased.json<{ erased: { order_id: string; erased_at: string }[] }>();
    assert.deepEqual(
      orders.map((each) => each.order_id),
      [orderId],
    );
    assert.match(orders[0]!.erased_at, /^\d{4}-/);
    const page = await shop.text(orderUrl);
    assert.match(page, /Personal data was erased on/);
    const rest = [
      page,
      await shop.text(`/api/checkout/status/${orderId}`),
      await shop.admin('GET', `/admin/orders/${orderId}`),
      await shop.admin('GET', '/admin/events/evt_club/orders'),
      (await exported(data, 'json')).stdout,
      (await exported(data, 'csv')).stdout,
      (await holdfast(['journal', '--reveal', '--json'], environment)).stdout,
    ];
    for (const text of rest) assertForgotten('an answer', text);
    const byAddress = `email=${PERSON.email}`;
    const searches = [
      await told(t, data),
      await shop.admin('GET', `/admin/subject?${byAddress}`),
      await shop.admin('GET', `/admin/events/evt_club/orders?${byAddress}`),
    ];
    for (const text of searches) assertNotFound(text, orderId);

    // 3. Money, seats and tickets as before; the books agree, and a copy has the same state.
    const after = await verified(data);
    assert.deepEqual(after.figures, before.figures);
    assert.equal(after.head_seq, before.head_seq + 1);
    const copy = path.join(parent, 'copy');
    assert.equal((await holdfast(['backup', copy], environment)).code, 0);
    assert.equal((await verified(copy)).state_fingerprint, after.state_fingerprint);
    const left = keysIn(data);
    const destroyed = keyBytes.filter((key) => !left.some((each) => each.equals(key)));
    assert.equal(destroyed.length, 2, 'the keys of the order and of the note');
    for (const folder of [data, copy]) assert.deepEqual(foundIn(folder, destroyed), []);
    assert.equal(foundIn(backup, destroyed).length > 0, true, 'a key is found where it is');
    await shop.service.stop();
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
    const restored = new Shop(await serving(t, yesterday), yesterday);
    assertForgotten('a service on a restored backup', await restored.admin('GET', `/admin/orders/${orderId}`));
    assertForgotten('a service on a restored backup', await restored.text(orderUrl));
    for (const address of [`/admin/subject?${byAddress}`, `/admin/events/evt_club/orders?${byAddress}`]) {
      assertNotFound(await restored.admin('GET', address), orderId);
    }
    await restored.service.stop();
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
