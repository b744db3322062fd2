import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fc } from '../../property.ts';
import { CopyRefused, copyUpTo } from '#persistence/folder/backup.ts';
import type { FactRow } from '#persistence/journal.ts';
import { SnapshotFolder } from '#persistence/snapshots.ts';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import { verifyJournal } from '#persistence/folder/verify.ts';
import { newDataFolder } from '../../fixtures/folders.ts';
import { appendAll, durable, openJournal, unitOf, leaveInLog } from '../journals.ts';

/** A closed folder with facts in units of one to four, one time step a unit. */
async function filledFolder(t: TestContext): Promise<{ folder: string; rows: FactRow[]; ends: number[] }> {
  const folder = newDataFolder(t);
  const journal = await openJournal(t, { folder, batchFactsMax: 12 });
  const units = Array.from({ length: 60 }, (_, index) => unitOf(`evt_${index % 4}`, 1 + (index % 4), index));
  await appendAll(journal, units, 5);
  const rows = [...journal.read()];
  const ends = units.map((_, index) => rows.filter(({ at }) => at <= index).length);
  await journal.close();
  return { folder, rows, ends };
}

async function rowsIn(folder: string): Promise<FactRow[]> {
  const journal = await openSqliteJournal({ folder });
  try {
    return [...journal.read()];
  } finally {
    await journal.close();
  }
}

describe('A restored folder', () => {
  it('ends with the last whole unit at or before the fact or the moment', async (t) => {
    const { folder, rows, ends } = await filledFolder(t);
    const before = readFileSync(join(folder, 'journal.db'));
    const limits = fc.oneof(fc.record({ seq: fc.nat(rows.length) }), fc.record({ at: fc.nat(70) }));
    await fc.assert(
      fc.asyncProperty(limits, async (limit) => {
        const out = newDataFolder(t);
        const report = await copyUpTo(folder, out, limit);
        const expected =
          'seq' in limit ? Math.max(0, ...ends.filter((end) => end <= limit.seq)) : (ends[Math.min(limit.at, 59)] ?? 0);
        assert.equal(report.headSeq, expected);
        assert.equal(report.facts, expected);
        assert.deepEqual(report.lost, expected < rows.length ? { fromSeq: expected + 1, toSeq: rows.length } : null);
        const verified = await verifyJournal(out);
        assert.deepEqual(verified.problems, []);
        assert.deepEqual([verified.headSeq, verified.headHash], [report.headSeq, report.headHash]);
      }),
      { numRuns: 15 },
    );
    assert.ok(before.equals(readFileSync(join(folder, 'journal.db'))), 'the source is untouched');
  });

  it('can be served from', async (t) => {
    const { folder, rows } = await filledFolder(t);
    const out = newDataFolder(t);
    const { headSeq } = await copyUpTo(folder, out, { at: 30 });
    const journal = await openJournal(t, { folder: out });
    assert.deepEqual([...journal.read()], rows.slice(0, headSeq));
    assert.equal(journal.append(unitOf('evt_1', 2)), headSeq + 2);
    await durable(journal);
    await journal.close();
    assert.deepEqual((await verifyJournal(out)).problems, []);
  });

  it('has no snapshot of a later fact', async (t) => {
    const { folder, rows } = await filledFolder(t);
    const snapshots = new SnapshotFolder(folder);
    for (const seq of [10, 40, rows.length]) await snapshots.write({ eventId: 'evt_0', seq, at: 1, about: null }, []);
    const out = newDataFolder(t);
    const { headSeq, snapshots: kept } = await copyUpTo(folder, out, { at: 25 });
    assert.ok(headSeq >= 40 && headSeq < rows.length);
    assert.equal(kept, 2);
    assert.equal((await new SnapshotFolder(out).newest('evt_0'))?.header.seq, 40);
    assert.equal(readdirSync(join(out, 'snapshots')).length, 2);
  });

  it('reaches back into the archive', async (t) => {
    const { folder, rows } = await filledFolder(t);
    const journal = await openJournal(t, { folder });
    for (const seq of [40, 90]) await journal.prune(seq);
    const { baseSeq } = journal;
    await journal.close();
    assert.ok(baseSeq > 60 && baseSeq <= 90);
    for (const limit of [{ seq: 60 }, { at: 8 }]) {
      const out = newDataFolder(t);
      const report = await copyUpTo(folder, out, limit);
      assert.equal(report.baseSeq, 0);
      assert.deepEqual(await rowsIn(out), rows.slice(0, report.headSeq));
    }
    const later = newDataFolder(t);
    const report = await copyUpTo(folder, later, { seq: rows.length - 1 });
    assert.equal(report.baseSeq, baseSeq);
    assert.deepEqual(await rowsIn(later), rows.slice(baseSeq, report.headSeq));
    rmSync(join(folder, 'archive'), { recursive: true });
    await assert.rejects(copyUpTo(folder, newDataFolder(t), { seq: 60 }), CopyRefused);
    await assert.rejects(copyUpTo(folder, newDataFolder(t), { at: 8 }), CopyRefused);
  });

  it('is refused for a target that is not empty, a fact beyond the end and a missing source', async (t) => {
    const { folder, rows } = await filledFolder(t);
    const filled = newDataFolder(t);
    mkdirSync(filled);
    writeFileSync(join(filled, 'letter'), 'mine');
    await assert.rejects(copyUpTo(folder, filled, {}), CopyRefused);
    await assert.rejects(copyUpTo(folder, newDataFolder(t), { seq: rows.length + 1 }), CopyRefused);
    await assert.rejects(copyUpTo(newDataFolder(t), newDataFolder(t), {}), CopyRefused);
    assert.deepEqual(readdirSync(filled), ['letter']);
  });

  it('does not count as a journal when the copy ended before its watermark was written', async (t) => {
    const { folder } = await filledFolder(t);
    const out = newDataFolder(t);
    await copyUpTo(folder, out, {});
    rmSync(join(out, 'head.witness'));
    await assert.rejects(openSqliteJournal({ folder: out }), { name: 'JournalDamaged' });
  });
});

describe('A backup', () => {
  it('is a consistent copy with everything that was durable, made while others write', async (t) => {
    const folder = newDataFolder(t);
    const journal = await openJournal(t, { folder, batchFactsMax: 20 });
    await appendAll(
      journal,
      Array.from({ length: 40 }, () => unitOf('evt_a', 3)),
    );
    await journal.prune(30);
    const snapshots = new SnapshotFolder(folder);
    await snapshots.write({ eventId: 'evt_a', seq: 60, at: 1, about: null }, ['1']);
    writeFileSync(join(folder, 'ticket-key'), 'secret');
    const durableBefore = journal.durableSeq;
    let isOver = false;
    const writing = (async () => {
      while (!isOver)
        await appendAll(
          journal,
          Array.from({ length: 6 }, () => unitOf('evt_b', 3)),
        );
    })();
    const out = newDataFolder(t);
    const report = await copyUpTo(folder, out, {}, { files: ['ticket-key', 'no-such-key'] });
    isOver = true;
    await writing;
    await journal.close();
    assert.deepEqual(readdirSync(out).sort(), ['archive', 'head.witness', 'journal.db', 'snapshots', 'ticket-key']);
    assert.ok(report.headSeq >= durableBefore);
    const verified = await verifyJournal(out);
    assert.deepEqual(verified.problems, []);
    assert.deepEqual(
      [verified.baseSeq, verified.headSeq, verified.snapshots.length],
      [journal.baseSeq, report.headSeq, 1],
    );
    assert.equal(readFileSync(join(out, 'ticket-key'), 'utf8'), 'secret');
    assert.deepEqual(readdirSync(join(out, 'archive')), readdirSync(join(folder, 'archive')));
  });

  it('of a folder that a crash left has the facts in its log', async (t) => {
    const folder = newDataFolder(t);
    await leaveInLog(folder);
    const out = newDataFolder(t);
    const report = await copyUpTo(folder, out, {});
    assert.equal(report.headSeq, 180);
    assert.equal((await rowsIn(out)).length, 180);
  });
});

describe('A verification', () => {
  it('counts facts, passes on every fact and lists more than the first problem', async (t) => {
    const { folder, rows } = await filledFolder(t);
    await new SnapshotFolder(folder).write({ eventId: 'evt_0', seq: 9, at: 1, about: null }, ['{}']);
    await new SnapshotFolder(folder).write({ eventId: 'evt_0', seq: rows.length + 1, at: 1, about: null }, ['{}']);
    const seen: FactRow[] = [];
    const report = await verifyJournal(folder, { onRow: (row) => seen.push(row) });
    assert.deepEqual(seen, rows);
    assert.deepEqual([report.facts, report.streams, report.watermarkSeq], [rows.length, 4, rows.length]);
    assert.deepEqual(
      report.snapshots.map(({ eventId, seq, fingerprint }) => [eventId, seq, fingerprint !== null]),
      [
        ['evt_0', 9, true],
        ['evt_0', rows.length + 1, false],
      ],
    );
    assert.deepEqual(
      report.problems.map(({ what }) => what),
      [`it is of fact ${rows.length + 1}, but the journal ends at fact ${rows.length}`],
    );
  });

  it('of a folder without a journal finds nothing and changes nothing', async (t) => {
    const folder = newDataFolder(t);
    mkdirSync(folder);
    const report = await verifyJournal(folder);
    assert.deepEqual([report.facts, report.headSeq, report.problems.length], [0, 0, 0]);
    assert.deepEqual(readdirSync(folder), []);
  });
});
