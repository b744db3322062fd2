/**
 * `holdfast seal`: a folder of an earlier version becomes one in which nothing personal is readable, and nothing else
 * changes.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openWhole } from '#persistence/folder/backup.ts';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import type { FactRow } from '#persistence/journal.ts';
import { start } from '../../fixtures/checkout.ts';
import { floor } from '../../fixtures/events.ts';
import { newFolder } from '../../fixtures/folders.ts';
import { folderOf, goldenJournals, readGolden, prune } from '../../golden/golden.ts';
import { holdfast, samples, serving, succeeded } from '../holdfast.ts';

interface Report {
  readonly ok: boolean;
  readonly head_seq: number;
  readonly head_hash: string;
  readonly journal_id: string;
  readonly events: number;
  readonly figures: object;
  readonly sealed_facts: number;
  readonly sealed_orders: number;
  readonly compared_orders: number;
  readonly origin: object | null;
  readonly problems: readonly object[];
}

function rowsOf(folder: string): FactRow[] {
  const whole = openWhole(folder);
  try {
    return [...whole.batches()].flatMap(({ facts }) =>
      facts.map(({ seq, at, eventId, type, data }) => ({ seq, at, eventId, type, data })),
    );
  } finally {
    whole.close();
  }
}

/** Every file below a folder with its bytes; an empty log and shared memory that a reader may leave are not data. */
function filesOf(folder: string): Map<string, Buffer> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => !file.endsWith('-shm') && !(file.endsWith('-wal') && statSync(file).size === 0))
      .map((file) => [path.relative(folder, file), readFileSync(file)]),
  );
}

const digestsOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    [...filesOf(folder)].map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')]),
  );

/** What the golden orders say of people, and the notes about orders. */
const PERSONAL = ['Ada+vip', '"name":"Ada"', 'fb.1', '+49 1', '"X1"'];

function assertNothingReadable(folder: string): void {
  for (const [name, bytes] of filesOf(folder)) {
    for (const text of PERSONAL) assert.equal(bytes.indexOf(text), -1, `${text} in ${name}`);
  }
}

/** Whether an older version placed an order. */
const isOpen = ({ type, data }: FactRow): boolean => type === 'OrderPlaced' && !data.includes('"personal":{');

const target = (t: TestContext): string => path.join(newFolder(t), 'sealed');

describe('seal', () => {
  for (const name of goldenJournals().filter((each) => readGolden(each).some(isOpen))) {
    it(`makes a folder of ${name} with the same books, in which nothing personal is readable`, async (t) => {
      const rows = readGolden(name);
      const folder = await folderOf(t, rows);
      writeFileSync(path.join(folder, 'ticket-key'), 'the key of tickets');
      const before = digestsOf(folder);
      const out = target(t);
      const { code, stderr, json } = await holdfast(['seal', folder, out, '--json']);
      assert.equal(code, 0, stderr);
      assert.deepEqual(digestsOf(folder), before, 'the old folder is as it was');
      const report = json<Report>();
      const old = (await holdfast(['verify', '--data', folder, '--json'])).json<Report>();
      assert.deepEqual([report.ok, report.problems, report.head_seq], [true, [], rows.length]);
      assert.deepEqual(report.figures, old.figures);
      const { journal_id: journalId, head_seq: headSeq, head_hash: headHash } = old;
      assert.deepEqual(report.origin, { journal_id: journalId, head_seq: headSeq, head_hash: headHash });
      const placed = rows.filter(({ type }) => type === 'OrderPlaced').length;
      assert.deepEqual([report.compared_orders, report.sealed_orders], [placed, placed]);

      const sealed = rowsOf(out);
      const stays = ({ seq, at, eventId, type }: FactRow) => [seq, at, eventId, type];
      assert.deepEqual(sealed.map(stays), rows.map(stays));
      const others = (row: FactRow) => !['OrderPlaced', 'OrderCancelled', 'RefundRecorded'].includes(row.type);
      assert.deepEqual(sealed.filter(others), rowsOf(folder).filter(others));
      assertNothingReadable(out);
      assert.equal(readFileSync(path.join(out, 'ticket-key'), 'utf8'), 'the key of tickets');
      assert.equal(statSync(path.join(out, 'keys.db')).mode & 0o777, 0o600);
      assert.equal(existsSync(path.join(out, 'snapshots')), false);
      const [pii, verified] = await Promise.all([holdfast(['pii', out]), holdfast(['verify', '--data', out])]);
      assert.equal(pii.code, 0, pii.stdout + pii.stderr);
      assert.match(
        verified.stdout,
        new RegExp(`^origin +rewritten from the journal ${journalId}, fact ${headSeq}, ${headHash}$`, 'm'),
      );
    });
  }

  it('keeps the archive, and the same orders are exported from both folders', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson'));
    await prune(folder);
    assert.equal(readdirSync(path.join(folder, 'archive')).length, 1);
    const out = target(t);
    const { code, stderr } = await holdfast(['seal', folder, out]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(readdirSync(path.join(out, 'archive')), readdirSync(path.join(folder, 'archive')));
    assertNothingReadable(out);
    for (const event of ['evt_gala', 'evt_rush']) {
      const [old, sealed] = await Promise.all(
        [folder, out].map((data) => holdfast(['export', 'orders', event, '--data', data])),
      );
      assert.match(old!.stdout, /Ada\+vip@Example\.com/);
      assert.equal(sealed!.stdout, old!.stdout);
    }
    const service = await serving(t, out);
    await service.stop();
    succeeded(await holdfast(['verify', '--data', out]));
  });

  it('takes over what is sealed already, with its keys, and seals the older facts beside it', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson'));
    const club = path.join(samples, 'club-night.json');
    succeeded(await holdfast(['load', '--offline', club], { DATA_DIR: folder }));
    const service = await serving(t, folder);
    const customer = { email: 'new@example.org', name: 'Nina New' };
    await start(service.client, { event_id: 'evt_club', items: [floor(1)], customer });
    await service.stop();
    const out = target(t);
    const { json } = succeeded(await holdfast(['seal', folder, out, '--json']));
    const report = json<Report>();
    assert.equal(report.compared_orders, report.sealed_orders + 1);
    assertNothingReadable(out);
    const [old, sealed] = await Promise.all(
      [folder, out].map((data) => holdfast(['export', 'orders', 'evt_club', '--data', data])),
    );
    assert.match(sealed!.stdout, /,"Nina New","new@example\.org",/);
    assert.equal(sealed!.stdout, old!.stdout);
    // The keys are those of the journal: the service starts.
    const again = await serving(t, out);
    await again.stop();
  });

  it('leaves sealed facts as they are: sealing a sealed folder changes no text', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson'));
    const [once, twice] = [target(t), target(t)];
    succeeded(await holdfast(['seal', folder, once]));
    const again = succeeded(await holdfast(['seal', once, twice, '--json']));
    const { sealed_facts: sealedFacts, compared_orders: comparedOrders } = again.json<Report>();
    assert.equal(sealedFacts, 0);
    assert.ok(comparedOrders > 0, 'they are opened with the keys that were taken over');
    assert.deepEqual(rowsOf(twice), rowsOf(once));
  });
});

describe('seal refuses', () => {
  it('a folder in use, a filled target, and a missing folder', async (t) => {
    const folder = newFolder(t);
    const service = await serving(t, folder);
    const [filled, out] = [newFolder(t), target(t)];
    mkdirSync(path.join(filled, 'anything'));
    const inUse = await holdfast(['seal', folder, out]);
    assert.equal(inUse.code, 1);
    assert.match(inUse.stderr, /a service runs on .+ \(process \d+\)\nStop it first/);
    await service.stop();
    const [onto, missing] = await Promise.all([
      holdfast(['seal', folder, filled]),
      holdfast(['seal', 'no-such-folder', out]),
    ]);
    assert.equal(onto.code, 1);
    assert.match(onto.stderr, /is not empty/);
    assert.deepEqual(readdirSync(filled), ['anything']);
    assert.equal(missing.code, 2);
    assert.equal(existsSync(out), false);
  });

  it('a folder whose keys are missing: nothing that is sealed in it could be opened any more', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson'));
    const [sealed, out] = [target(t), target(t)];
    succeeded(await holdfast(['seal', folder, sealed]));
    rmSync(path.join(sealed, 'keys.db'));
    const { code, stderr } = await holdfast(['seal', sealed, out]);
    assert.equal(code, 1);
    assert.match(stderr, /keys\.db.+is missing\n.*Put keys\.db back/);
    assert.ok(!existsSync(out) || readdirSync(out).length === 0);
  });

  it('a fact of a newer version, and leaves nothing behind', async (t) => {
    const rows = readGolden('journal-1.ndjson');
    const folder = await folderOf(t, rows);
    const journal = await openSqliteJournal({ folder });
    journal.append({ at: rows.at(-1)!.at, eventId: 'evt_gala', facts: [{ type: 'SeatTeleported', data: '{}' }] });
    await journal.close();
    const out = target(t);
    const { code, stderr } = await holdfast(['seal', folder, out]);
    assert.equal(code, 1);
    assert.match(stderr, /is of the type SeatTeleported, which this version does not know/);
    assert.ok(!existsSync(out) || readdirSync(out).length === 0);
  });
});
