/** The archive: pruned facts are read from it, proved, copied, and named when they are missing. */
import assert from 'node:assert/strict';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, describe, it, after, type TestContext } from 'node:test';
import { copyUpTo, CopyRefused } from '#persistence/folder/backup.ts';
import { JournalDamaged } from '#persistence/faults.ts';
import type { FactRow } from '#persistence/journal.ts';
import { verifyJournal } from '#persistence/folder/verify.ts';
import { listArchives } from '#persistence/sqlite/archive.ts';
import { FactHistory } from '#persistence/sqlite/history.ts';
import { journalPath, openReading } from '#persistence/sqlite/schema.ts';
import { viewJournal } from '#persistence/sqlite/view.ts';
import { fc } from '../../property.ts';
import { newDataFolder } from '../../fixtures/folders.ts';
import { appendAll, durable, openJournal, unitOf } from '../journals.ts';

const EVENTS = ['evt_a', 'evt_b', 'evt_c'];

/** A closed folder whose 150 facts lie in three archive files (up to 42, 84 and 120) and the journal. */
async function archivedFolder(t: Pick<TestContext, 'after'>): Promise<{ folder: string; rows: FactRow[] }> {
  const folder = newDataFolder(t);
  const journal = await openJournal(t, { folder, batchFactsMax: 12 });
  await appendAll(
    journal,
    Array.from({ length: 50 }, (_, index) => unitOf(EVENTS[index % 7 === 0 ? 0 : 1 + (index % 2)]!, 3, index)),
    2,
  );
  const rows = [...journal.read()];
  for (const seq of [44, 86, 124]) await journal.prune(seq, seq);
  await journal.close();
  return { folder, rows };
}

async function allOf(folder: string, afterSeq = 0): Promise<FactRow[]> {
  const view = viewJournal(folder)!;
  try {
    const rows: FactRow[] = [];
    for await (const row of view.facts(afterSeq)) rows.push(row);
    return rows;
  } finally {
    view.close();
  }
}

async function streamOf(folder: string, eventId: string, afterSeq = 0): Promise<FactRow[]> {
  const view = viewJournal(folder)!;
  try {
    return [...(await view.factsOf(eventId, afterSeq))];
  } finally {
    view.close();
  }
}

const archiveFiles = (folder: string): string[] =>
  readdirSync(join(folder, 'archive')).sort((a, b) => parseInt(a) - parseInt(b));

describe('The facts of a pruned journal', () => {
  it('are read from archive and journal, whole or of one stream, from any fact on', async (t) => {
    const { folder, rows } = await archivedFolder(t);
    assert.equal(archiveFiles(folder).length, 3);
    const journal = await openJournal(t, { folder });
    await fc.assert(
      fc.asyncProperty(fc.nat(rows.length + 1), fc.constantFrom(...EVENTS), async (afterSeq, eventId) => {
        const expected = rows.filter((row) => row.seq > afterSeq);
        const ofEvent = expected.filter((row) => row.eventId === eventId);
        assert.deepEqual(await allOf(folder, afterSeq), expected);
        assert.deepEqual(await streamOf(folder, eventId, afterSeq), ofEvent);
        assert.deepEqual([...(await journal.factsOf(eventId, afterSeq))], ofEvent);
      }),
      { numRuns: 12 },
    );
    await journal.close();
  });

  it('are read while the journal is pruned again', async (t) => {
    const { folder, rows } = await archivedFolder(t);
    const journal = await openJournal(t, { folder });
    const pruning = journal.prune(140, 1);
    for (const eventId of EVENTS) {
      const ofEvent = rows.filter((row) => row.eventId === eventId);
      assert.deepEqual([...(await journal.factsOf(eventId, 0))], ofEvent);
      assert.deepEqual(await streamOf(folder, eventId), ofEvent);
    }
    await pruning;
    assert.deepEqual(await allOf(folder), rows);
    await journal.close();
  });
});

describe('An archive file', () => {
  const parent = { cleanup: [] as (() => void)[], after: (work: () => void) => void parent.cleanup.push(work) };
  let sound: { folder: string; rows: FactRow[] };
  before(async () => {
    sound = await archivedFolder(parent as unknown as TestContext);
  });
  after(() => parent.cleanup.forEach((work) => work()));

  function copyOf(t: TestContext): string {
    const folder = newDataFolder(t);
    cpSync(sound.folder, folder, { recursive: true });
    return folder;
  }

  it('are read after a prune that failed and the one that replaced its file', async (t) => {
    const { folder, rows } = await archivedFolder(t);
    const db = openReading(journalPath(folder))!;
    t.after(() => db.close());
    const history = new FactHistory(folder, db);
    const [first] = listArchives(folder);
    // What the prune that failed had written, and the next one removed.
    history.noteArchived({ path: join(folder, 'archive', '1-20.db'), fromSeq: 1, toSeq: 20 });
    history.noteArchived(first!);
    const headSeq = rows.findLast(({ eventId }) => eventId === 'evt_a')!.seq;
    const stream = await history.stream({ eventId: 'evt_a', afterSeq: 0, headSeq, baseSeq: 120 });
    assert.deepEqual(
      [...stream],
      rows.filter(({ eventId }) => eventId === 'evt_a'),
    );
  });

  it('that is deleted is reported with the facts that it had; those of the others are read', async (t) => {
    for (const [index, name] of archiveFiles(sound.folder).entries()) {
      const folder = copyOf(t);
      rmSync(join(folder, 'archive', name));
      const { problems } = await verifyJournal(folder);
      const [, from, to] = /^(\d+)-(\d+)\.db$/.exec(name)!;
      assert.deepEqual(
        problems.map(({ what }) => what),
        [`facts ${from} to ${to} were moved to the archive, and no good file of it has them`],
      );
      await assert.rejects(allOf(folder), JournalDamaged);
      assert.deepEqual(await allOf(folder, Number(to)), sound.rows.slice(Number(to)));
      const seq = Number(from) + 2;
      await assert.rejects(copyUpTo(folder, newDataFolder(t), { seq }), CopyRefused);
      if (index > 0) assert.equal((await copyUpTo(folder, newDataFolder(t), { seq: 9 })).headSeq, 9);
    }
  });

  it('that is damaged anywhere still gives its facts unchanged, or is named by the reader and by verify', async (t) => {
    const names = archiveFiles(sound.folder);
    const tally = { exact: 0, named: 0 };
    const damage = fc.record({
      name: fc.constantFrom(...names),
      place: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
      kind: fc.constantFrom('bit', 'zeros', 'torn', 'empty'),
    });
    const folder = copyOf(t);
    await fc.assert(
      fc.asyncProperty(damage, async ({ name, place, kind }) => {
        const path = join(folder, 'archive', name);
        const bytes = readFileSync(path);
        const whole = Buffer.from(bytes);
        const at = Math.floor(place * bytes.length);
        if (kind === 'bit') bytes[at]! ^= 1 << (at & 7);
        if (kind === 'zeros') bytes.fill(0, at, Math.min(at + 512, bytes.length));
        writeFileSync(path, kind === 'torn' ? bytes.subarray(0, at) : kind === 'empty' ? '' : bytes);
        const { problems } = await verifyJournal(folder);
        for (const eventId of EVENTS) {
          try {
            assert.deepEqual(
              await streamOf(folder, eventId),
              sound.rows.filter((row) => row.eventId === eventId),
            );
            tally.exact += 1;
          } catch (error) {
            if (!(error instanceof JournalDamaged)) throw error;
            assert.ok(error.message.includes(name), error.message);
            assert.ok(
              problems.some(({ where }) => where.endsWith(name)),
              `${name} is named by verify`,
            );
            tally.named += 1;
          }
        }
        writeFileSync(path, whole);
      }),
      { numRuns: 60 },
    );
    assert.ok(tally.named > 50, JSON.stringify(tally));
  });

  it('of another history, or under another name, is not read', async (t) => {
    const other = await archivedFolder(t);
    const [first = '', second = ''] = archiveFiles(sound.folder);
    const foreign = copyOf(t);
    copyFileSync(join(other.folder, 'archive', second), join(foreign, 'archive', second));
    await assert.rejects(allOf(foreign), /it is of another journal/);
    assert.match((await verifyJournal(foreign)).problems[0]!.what, /it is of another journal/);
    const renamed = copyOf(t);
    rmSync(join(renamed, 'archive', second));
    renameSync(join(renamed, 'archive', first), join(renamed, 'archive', second));
    await assert.rejects(allOf(renamed), /it begins after fact 0, not 42/);
    assert.match((await verifyJournal(renamed)).problems[0]!.what, /it begins after fact 0, not 42/);
    // The same journal, which went another way after a restore.
    const restored = newDataFolder(t);
    await copyUpTo(sound.folder, restored, { seq: 60 });
    const journal = await openJournal(t, { folder: restored, batchFactsMax: 12 });
    await appendAll(
      journal,
      Array.from({ length: 30 }, () => unitOf('evt_b', 3)),
      2,
    );
    for (const seq of [44, 86]) await journal.prune(seq, seq);
    await journal.close();
    const mixed = copyOf(t);
    const [, way = ''] = archiveFiles(restored);
    rmSync(join(mixed, 'archive', second));
    copyFileSync(join(restored, 'archive', way), join(mixed, 'archive', way));
    assert.equal(way, second);
    await assert.rejects(allOf(mixed), /at fact 84 it is not what the journal goes on from|facts/);
    assert.match((await verifyJournal(mixed)).problems[0]!.what, /facts 43 to 84 .* has others/);
  });

  it('left by a crash before its rows were dropped, or half written, is replaced by the next pruning', async (t) => {
    const folder = copyOf(t);
    const archive = join(folder, 'archive');
    const names = archiveFiles(folder);
    writeFileSync(join(archive, '121-130.db.tmp'), 'half');
    writeFileSync(join(archive, '121-130.db.tmp-wal'), 'half');
    assert.deepEqual((await verifyJournal(folder)).problems, [], 'a draft is nobody’s');
    writeFileSync(join(archive, '121-130.db'), 'half, as earlier versions left it');
    assert.equal(
      (await verifyJournal(folder)).problems[0]!.hint,
      'The journal still has its facts: the next pruning removes it.',
    );
    assert.deepEqual(await allOf(folder), sound.rows);
    const journal = await openJournal(t, { folder });
    const archived = await journal.prune(140, 7);
    await journal.close();
    assert.deepEqual(archiveFiles(folder), [...names, `121-${archived!.toSeq}.db`]);
    assert.deepEqual((await verifyJournal(folder)).problems, []);
    assert.deepEqual(await allOf(folder), sound.rows);
  });
});

describe('A copy of a pruned folder', () => {
  it('has the archive, and reports the same gaps as the source', async (t) => {
    const { folder, rows } = await archivedFolder(t);
    const out = newDataFolder(t);
    const report = await copyUpTo(folder, out, {});
    assert.equal(report.archives, 3);
    assert.deepEqual(await allOf(out), rows);
    const [name = ''] = archiveFiles(folder);
    rmSync(join(folder, 'archive', name));
    const short = newDataFolder(t);
    await copyUpTo(folder, short, {});
    assert.match((await verifyJournal(short)).problems[0]!.what, /^facts 1 to 42 were moved to the archive/);
  });

  it('made of journal and archive alone, without watermark and snapshots, is restored in full', async (t) => {
    const { folder, rows } = await archivedFolder(t);
    const shipped = newDataFolder(t);
    mkdirSync(shipped);
    copyFileSync(join(folder, 'journal.db'), join(shipped, 'journal.db'));
    cpSync(join(folder, 'archive'), join(shipped, 'archive'), { recursive: true });
    const out = newDataFolder(t);
    await copyUpTo(shipped, out, { seq: rows.length });
    assert.deepEqual(await allOf(out), rows);
    assert.deepEqual((await verifyJournal(out)).problems, []);
    const journal = await openJournal(t, { folder: out });
    assert.equal(journal.append(unitOf('evt_a')), rows.length + 1);
    await durable(journal);
    await journal.close();
  });

  it('is made of files that only the owner may read, whatever the rights of the source', async (t) => {
    const { folder } = await archivedFolder(t);
    const out = newDataFolder(t);
    await copyUpTo(folder, out, {});
    for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
      const { mode } = statSync(join(entry.parentPath, entry.name));
      assert.equal(mode & 0o777, entry.isDirectory() ? 0o700 : 0o600, entry.name);
    }
  });
});
