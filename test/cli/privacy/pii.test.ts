/** `holdfast pii` counts what is readable, field by field, and says where it could not look. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { createSealer } from '#privacy/sealing.ts';
import { KEY_BYTES, type Key } from '#persistence/keys.ts';
import { KeyFile, keysPath } from '#persistence/sqlite/key-file.ts';
import type { FactRow } from '#persistence/journal.ts';
import { folderOf, goldenJournals, readGolden, prune } from '../../golden/golden.ts';
import { holdfast, succeeded } from '../holdfast.ts';

type Listed = readonly { readonly field: string; readonly count: number }[];

interface Report {
  readonly ok: boolean;
  readonly head_seq: number;
  readonly unread: readonly string[];
  readonly total: { readonly orders: number; readonly open_orders: number; readonly fields: Listed };
  readonly events: readonly {
    readonly event_id: string;
    readonly orders: number;
    readonly open_orders: number;
    readonly fields: Listed;
    readonly other_notes: Listed;
  }[];
}

const countsOf = (listed: Listed) => Object.fromEntries(listed.map(({ field, count }) => [field, count]));

const at = 1_809_691_200_000;

const person = (name: string) => ({ name, email: `${name}@example.org`, documentNumber: null, phone: '' });

function row(seq: number, type: string, data: object, eventId = 'evt_a'): FactRow {
  return { seq, at, eventId, type, data: JSON.stringify(data) };
}

test('every readable field of an older journal is counted, and its values are not printed', async (t) => {
  const rows = readGolden(goldenJournals()[0]!);
  const folder = await folderOf(t, rows);
  const [json, text] = await Promise.all([holdfast(['pii', folder, '--json']), holdfast(['pii', '--data', folder])]);
  assert.equal(json.code, 1, json.stderr);
  assert.equal(text.code, 1);
  const report = json.json<Report>();
  const fields = countsOf(report.total.fields);
  assert.deepEqual([report.ok, report.unread, report.head_seq], [false, [], rows.length]);
  // The golden journal's orders are all of one customer with four fields and two tracking texts.
  const placed = rows.filter(({ type }) => type === 'OrderPlaced');
  for (const field of ['email', 'name', 'phone', 'document_number']) {
    assert.equal(fields[`customer.${field}`], placed.length, field);
  }
  assert.equal(fields['tracking'], 2 * placed.length);
  assert.deepEqual([report.total.orders, report.total.open_orders], [placed.length, placed.length]);
  const notes = rows.filter(({ type, data }) => type === 'RefundRecorded' && !data.includes('"note":null'));
  assert.equal(fields['refunds.note'] ?? 0, notes.length);
  assert.match(text.stdout, /^evt_gala +customer\.email +\d+$/m);
  assert.match(text.stdout, /holdfast seal FROM TO seals them\.\n$/);
  for (const { stdout } of [json, text]) assert.doesNotMatch(stdout, /\bAda\b|example\.com|fb\.1|\+49/);
});

test('named attendees and notes count by their own fields; notes about dates and seats do not count as readable', async (t) => {
  const items = [{ attendees: [person('ann'), person('bob')] }, { attendees: null }];
  const folder = await folderOf(t, [
    row(1, 'SeatsBlocked', { note: 'for the press' }),
    row(2, 'OrderCancelled', { cause: 'PERFORMANCE', note: 'the band is ill' }),
    row(3, 'OrderPlaced', { customer: null, tracking: {}, items: [{ attendees: null }] }, 'evt_b'),
  ]);
  const clean = succeeded(await holdfast(['pii', folder, '--json']));
  const [a, b] = clean.json<Report>().events;
  assert.deepEqual(countsOf(a!.other_notes), { 'OrderCancelled.note': 1, 'SeatsBlocked.note': 1 });
  assert.deepEqual([a!.fields, b!.fields, b!.orders, b!.open_orders], [[], [], 1, 0]);

  const named = await folderOf(t, [
    row(1, 'OrderPlaced', { customer: null, tracking: null, items }),
    row(2, 'OrderCancelled', { cause: 'BUYER', note: 'she called' }),
    row(3, 'RefundRecorded', { note: 'to her account' }, 'evt_b'),
  ]);
  const found = await holdfast(['pii', named, '--json']);
  assert.equal(found.code, 1);
  assert.deepEqual(
    found.json<Report>().events.map(({ event_id: eventId, fields }) => [eventId, countsOf(fields)]),
    [
      ['evt_a', { 'attendees.email': 2, 'attendees.name': 2, 'cancellation.note': 1 }],
      ['evt_b', { 'refunds.note': 1 }],
    ],
  );
});

test('archived facts are counted too, and a missing archive file is named', async (t) => {
  const rows = readGolden(goldenJournals()[0]!);
  const folder = await folderOf(t, rows);
  const before = (await holdfast(['pii', folder, '--json'])).json<Report>();
  await prune(folder);
  const archive = path.join(folder, 'archive');
  assert.equal(readdirSync(archive).length, 1);
  const after = (await holdfast(['pii', folder, '--json'])).json<Report>();
  assert.deepEqual(after.total, before.total);

  rmSync(archive, { recursive: true });
  const { code, stdout } = await holdfast(['pii', folder]);
  assert.equal(code, 1);
  assert.match(stdout, /could not be read: the journal is damaged: facts 1 to \d+ were moved to the archive/);
});

test('sealed texts count as sealed: with their key, destroyed, or lost; a key that outlived its erasure is named', async (t) => {
  let made = 0;
  const ready: Key[] = Array.from({ length: 6 }, () => ({
    id: `AAAAAAAA.${(made += 1)}`,
    key: randomBytes(KEY_BYTES),
  }));
  const sealing = createSealer({ addressKey: randomBytes(KEY_BYTES), take: () => ready.shift() ?? null })('evt_a');
  const dataOf = (orderId: string) => ({ customer: person(orderId), attendees: [null], tracking: null });
  const placed = (orderId: string): FactRow => {
    const sealed = sealing.seal(orderId, 'OrderPlaced', dataOf(orderId));
    const items = [{ attendees: null, isNamed: true }];
    const data = { orderId, customer: null, tracking: null, items, personal: { sealed, addressHash: 'x' } };
    return row(0, 'OrderPlaced', data);
  };
  const erasure = (orderId: string, ...keyIds: string[]): FactRow =>
    row(0, 'OrderErased', { orderId, keyIds, operator: null, cause: 'REQUEST' });
  const all = [...ready];
  const orders = ['kept', 'erased', 'elsewhere', 'lost', 'half'].map(placed);
  const sealedNote = sealing.seal('erased', 'RefundRecorded', 'she called');
  const ids = all.map(({ id }) => id) as [string, string, string, string, string, string];
  const folder = await folderOf(t, [
    ...orders,
    row(0, 'RefundRecorded', { orderId: 'erased', note: null, sealedNote }),
    erasure('erased', ids[1], ids[5]),
    erasure('half', ids[4]),
  ]);
  const keys = new KeyFile(keysPath(folder));
  keys.store(all.filter(({ id }) => id !== ids[3]));
  keys.destroy([ids[1], ids[2], ids[5]]);
  keys.close();

  const { code, json, stderr } = await holdfast(['pii', folder, '--json']);
  assert.equal(code, 1, `the key of half is there: ${stderr}`);
  const { total } = json<{ total: Record<string, unknown> }>();
  const { orders: count, open_orders: open, fields, sealed_texts: sealed } = total;
  assert.deepEqual([count, open, fields, sealed], [5, 0, [], 6]);
  assert.deepEqual([total['openable_texts'], total['destroyed_texts'], total['lost_texts']], [2, 3, 1]);
  assert.deepEqual([total['erased_orders'], total['kept_keys'], total['unknown_keys']], [2, 1, 0]);

  rmSync(keysPath(folder));
  const without = (await holdfast(['pii', folder, '--json'])).json<{ total: Record<string, unknown> }>().total;
  assert.deepEqual([without['openable_texts'], without['unknown_keys'], without['lost_texts']], [0, 3, 3]);
});
