/**
 * Damaged data folders: wherever a bit flips or a file is cut off, the journal opens with everything that was durable,
 * or it does not open and says what is lost. It is never silently shorter. DAMAGE_PLACES sets how many places are
 * tried.
 */

import assert from 'node:assert/strict';
import { cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { copyUpTo } from '#persistence/folder/backup.ts';
import { JournalDamaged, JournalTooNew } from '#persistence/faults.ts';
import type { FactRow } from '#persistence/journal.ts';
import { recoverHead } from '#persistence/sqlite/recovery.ts';
import { SnapshotFolder } from '#persistence/snapshots.ts';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import { readServingPid } from '#persistence/sqlite/lock.ts';
import { verifyJournal } from '#persistence/folder/verify.ts';
import { WatermarkWriter } from '#persistence/sqlite/watermark.ts';
import { newDataFolder, newFolder } from '../fixtures/folders.ts';
import { appendAll, openJournal, unitOf, leaveInLog } from './journals.ts';

const places = Number(process.env['DAMAGE_PLACES'] ?? 40);

/** The same pseudo-random numbers on every run, so that a failure can be repeated. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    yield state / 2 ** 32;
  }
}

/** Rows of a folder as recovery reads them, which changes nothing in it. */
async function recoverRows(folder: string): Promise<FactRow[]> {
  const rows: FactRow[] = [];
  await recoverHead(folder, { onRow: (row) => rows.push(row) });
  return rows;
}

/** What the start says about a folder. */
async function refusalOf(folder: string): Promise<JournalDamaged> {
  const error = await openSqliteJournal({ folder }).then(
    () => assert.fail('it opened'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof JournalDamaged, String(error));
  return error;
}

/** What `verify` says about it: one damage is one problem with one advice, that of the start. */
async function problemsOf(folder: string): Promise<[what: string, hint: string][]> {
  return (await verifyJournal(folder)).problems.map(({ what, hint }) => [what, hint]);
}

describe('A damaged data folder', () => {
  const parent = newFolder({ after });
  /** Closed cleanly: everything is in the database. */
  const closed = join(parent, 'closed');
  /** Left by a crash: everything is in the log, and the watermark has seen its end. */
  const crashed = join(parent, 'crashed');
  let closedRows: FactRow[] = [];
  let crashedRows: FactRow[] = [];

  before(async () => {
    const journal = await openSqliteJournal({ folder: closed });
    await appendAll(
      journal,
      Array.from({ length: 120 }, (_, index) => unitOf(`evt_${index % 5}`, 1 + (index % 4), index)),
    );
    closedRows = [...journal.read()];
    await journal.close();
    await leaveInLog(crashed);
    crashedRows = await recoverRows(crashed);
    assert.ok(crashedRows.length > 50);
  });

  const files = [
    { folder: closed, file: 'journal.db', rows: () => closedRows },
    { folder: crashed, file: 'journal.db-wal', rows: () => crashedRows },
    { folder: crashed, file: 'journal.db', rows: () => crashedRows },
    { folder: closed, file: 'head.witness', rows: () => closedRows },
  ];
  for (const { folder, file, rows } of files) {
    const kind = folder === closed ? 'cleanly closed' : 'crashed';
    it(`opens with every fact or not at all when a bit of ${file} flipped in a ${kind} folder`, async (t) => {
      const copy = newDataFolder(t);
      const random = numbers(42);
      let refused = 0;
      for (let place = 0; place < places; place++) {
        cpSync(folder, copy, { recursive: true });
        const where = flipBit(join(copy, file), random.next().value as number);
        try {
          assert.deepEqual(await recoverRows(copy), rows(), `flipped ${where}`);
        } catch (error) {
          if (!(error instanceof JournalDamaged) && !(error instanceof JournalTooNew)) throw error;
          refused += 1;
        }
        rmSync(copy, { recursive: true });
      }
      t.diagnostic(`${refused} of ${places} flips refused, the others harmless`);
      if (file !== 'head.witness' && file !== 'journal.db') assert.ok(refused > 0);
    });
  }

  it('is refused when its log was cut off, with the lost facts and the command that accepts their loss', async (t) => {
    const copy = newDataFolder(t);
    cpSync(crashed, copy, { recursive: true });
    truncateSync(join(copy, 'journal.db-wal'), Math.floor(readFileSync(join(copy, 'journal.db-wal')).length / 2));
    const error = await refusalOf(copy);
    assert.ok(error.lastGoodSeq > 0);
    assert.equal(error.expectedSeq, crashedRows.length);
    assert.match(error.message, new RegExp(`facts ${error.lastGoodSeq + 1} to ${crashedRows.length} are lost`));
    assert.match(error.hint, new RegExp(`holdfast restore ${copy} --to NEW_DIR --seq ${error.lastGoodSeq}`));
    assert.equal(readServingPid(copy), null);
    assert.equal(existsSync(join(copy, 'holdfast.pid')), existsSync(join(crashed, 'holdfast.pid')));

    const out = newDataFolder(t);
    await assert.rejects(copyUpTo(copy, out, {}), JournalDamaged, 'without a limit the loss is not accepted');
    const report = await copyUpTo(copy, out, { seq: error.lastGoodSeq });
    assert.equal(
      report.headSeq,
      error.lastGoodSeq,
      'into the folder of the copy that failed, which left nothing there',
    );
    const journal = await openJournal(t, { folder: out });
    assert.deepEqual([...journal.read()], crashedRows.slice(0, error.lastGoodSeq));
    await journal.close();
  });

  it('is refused when the watermark is ahead, missing, unreadable or another journal’s', async (t) => {
    const spoil: Record<string, (folder: string) => unknown> = {
      'head.witness says that fact 999 was written': (folder) => {
        const writer = new WatermarkWriter(folder);
        const db = new Database(join(folder, 'journal.db'), { readonly: true });
        const journalId = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'journal_id'").pluck().get() ?? '';
        db.close();
        writer.write({ journalId, seq: 999, hash: '00' });
        writer.close();
      },
      'head.witness is of another journal': (folder) =>
        cpSync(join(crashed, 'head.witness'), join(folder, 'head.witness')),
      'head.witness is missing': (folder) => rmSync(join(folder, 'head.witness')),
      'head.witness is damaged': (folder) => writeFileSync(join(folder, 'head.witness'), 'x'.repeat(8_192)),
      // Snapshots that are sound have no problem of their own beside it.
      'it is gone or empty': (folder) => {
        rmSync(join(folder, 'journal.db'));
        return snapshotIn(folder);
      },
      'it has no fact, but the folder has ': (folder) => {
        rmSync(join(folder, 'journal.db'));
        rmSync(join(folder, 'head.witness'));
        return snapshotIn(folder);
      },
      '.snapshot': async (folder) => {
        rmSync(folder, { recursive: true });
        await (await openSqliteJournal({ folder })).close();
        return snapshotIn(folder);
      },
    };
    for (const [message, damage] of Object.entries(spoil)) {
      const copy = newDataFolder(t);
      cpSync(closed, copy, { recursive: true });
      await damage(copy);
      const error = await refusalOf(copy);
      assert.ok(error.message.includes(message), error.message);
      assert.deepEqual(await problemsOf(copy), [[error.message, error.hint]]);
    }
  });

  it('opens when one slot of the watermark is torn', async (t) => {
    for (const slot of [0, 1]) {
      const copy = newDataFolder(t);
      cpSync(crashed, copy, { recursive: true });
      const bytes = readFileSync(join(copy, 'head.witness'));
      bytes.fill(0, slot * 4_096 + 10, slot * 4_096 + 60);
      writeFileSync(join(copy, 'head.witness'), bytes);
      assert.deepEqual(await recoverRows(copy), crashedRows);
    }
  });

  it('is refused for every change of a row that SQLite itself finds sound', async (t) => {
    const changes: Record<string, RegExp> = {
      'DELETE FROM journal WHERE seq = 77': /fact 77 is missing; facts \d+ to 300 are lost or in doubt/,
      'DELETE FROM journal WHERE seq > 250; DELETE FROM batch WHERE last_seq > 250':
        /ends at fact \d+, but .* lost or in doubt|fact 25[01] (?:is missing|has no commit row)/,
      "UPDATE journal SET data = '{}' WHERE seq = 78": /fails its checksum/,
      'UPDATE journal SET at = at + 1 WHERE seq = 79': /fails its checksum|another time/,
      'UPDATE journal SET prev = prev - 1 WHERE seq = 80': /says it follows/,
      "UPDATE journal SET type = type || 'x' WHERE seq = 81": /fails its checksum/,
      'UPDATE batch SET hash = randomblob(32) WHERE first_seq = 1': /fails its checksum/,
      'DELETE FROM batch WHERE first_seq = 1': /should follow fact 0/,
      'DELETE FROM batch WHERE last_seq = (SELECT max(last_seq) FROM batch)': /has no commit row/,
      "UPDATE meta SET value = 'x' WHERE key = 'journal_id'": /anchor/,
      "INSERT INTO stream VALUES ('evt_0', 3)": /anchor/,
      'INSERT INTO journal SELECT seq + 1, at, event_id, type, data, seq, seq + 1 FROM journal ORDER BY seq DESC LIMIT 1':
        /has no commit row/,
    };
    for (const [sql, message] of Object.entries(changes)) {
      const copy = newDataFolder(t);
      cpSync(closed, copy, { recursive: true });
      const db = new Database(join(copy, 'journal.db'));
      db.exec(sql);
      db.close();
      const error = await refusalOf(copy);
      assert.match(error.message, message);
      assert.deepEqual(await problemsOf(copy), [[error.message, error.hint]], sql);
    }
  });

  it('never returns a damaged snapshot', async (t) => {
    const folder = newDataFolder(t);
    const bad: string[] = [];
    let named = 0;
    const writer = new SnapshotFolder(folder);
    const pieces = Array.from({ length: 40 }, (_, index) => JSON.stringify({ seat: index }));
    const older = await writer.write({ eventId: 'evt_a', seq: 1, at: 1, about: null }, pieces.slice(1));
    const newer = await writer.write({ eventId: 'evt_a', seq: 2, at: 2, about: { sold: 3 } }, pieces);
    const sound = readFileSync(newer.path);
    const whole = await writer.newest('evt_a');
    const random = numbers(7);
    for (let place = 0; place < places; place++) {
      writeFileSync(newer.path, sound);
      flipBit(newer.path, random.next().value as number);
      const reader = new SnapshotFolder(folder, { onBad: (path) => bad.push(path) });
      const read = await reader.newest('evt_a');
      // A bit of the checksum changes nothing that is read.
      if (read?.header.seq === 2) assert.deepEqual(read, whole);
      else assert.equal(read?.fingerprint, older.fingerprint);
      named += read?.header.seq === 2 ? 0 : 1;
      assert.equal(bad.length, named);
    }
    assert.ok(named > places / 2, `${named} of ${places} were found bad`);
  });
});

function snapshotIn(folder: string): Promise<unknown> {
  return new SnapshotFolder(folder).write({ eventId: 'e', seq: 1, at: 1, about: null }, ['{}']);
}

/** Flips one bit of a file at a place between 0 and 1; returns where. */
function flipBit(path: string, place: number): string {
  const bytes = readFileSync(path);
  const bit = Math.floor(place * bytes.length * 8);
  const byte = bit >> 3;
  bytes[byte] = (bytes[byte] ?? 0) ^ (1 << (bit & 7));
  writeFileSync(path, bytes);
  return `bit ${bit & 7} of byte ${byte}`;
}
