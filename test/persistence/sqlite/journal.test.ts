/**
 * What only the journal on disk keeps: its settings, group commit, faults of the disk, the lock of the folder, pruning.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { newestBatch } from '#persistence/sqlite/chain.ts';
import type { InjectedFault } from '#persistence/sqlite/fault-injector.ts';
import { FolderInUse } from '#persistence/faults.ts';
import { JournalFault } from '#persistence/journal.ts';
import { lockFolder, readServingPid } from '#persistence/sqlite/lock.ts';
import { openReading, openWriting } from '#persistence/sqlite/schema.ts';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import { verifyJournal } from '#persistence/folder/verify.ts';
import { readWatermark } from '#persistence/sqlite/watermark.ts';
import { newDataFolder } from '../../fixtures/folders.ts';
import { appendAll, durable, openJournal, outcome, unitOf } from '../journals.ts';

const run = promisify(execFile);

describe('The file of the journal', () => {
  it('is opened with the settings that durability depends on', (t) => {
    const folder = newDataFolder(t);
    mkdirSync(folder);
    const db = openWriting(join(folder, 'journal.db'));
    const settings = [
      'journal_mode',
      'synchronous',
      'wal_autocheckpoint',
      'mmap_size',
      'cell_size_check',
      'trusted_schema',
    ];
    const found = settings.map((name) => db.pragma(name, { simple: true }));
    assert.deepEqual(found, ['wal', 2, 0, 0, 1, 0]);
    db.close();
  });

  it('is refused with a clear message when a later version wrote it', async (t) => {
    const folder = newDataFolder(t);
    await (await openSqliteJournal({ folder })).close();
    const db = new Database(join(folder, 'journal.db'));
    db.pragma('user_version = 9');
    db.close();
    await assert.rejects(openSqliteJournal({ folder }), {
      name: 'JournalTooNew',
      message: 'the journal has format 9; this version reads formats up to 1',
    });
  });

  it('is a table that an operator can read', async (t) => {
    const folder = newDataFolder(t);
    const journal = await openJournal(t, { folder });
    await appendAll(journal, [
      { eventId: 'evt_a', at: 1_234, facts: [{ type: 'HoldPlaced', data: '{"id":"hld_1"}' }] },
    ]);
    await journal.close();
    const db = new Database(join(folder, 'journal.db'), { readonly: true });
    assert.deepEqual(db.prepare("SELECT seq, at, event_id, type, data ->> 'id' AS id FROM journal").all(), [
      { seq: 1, at: 1_234, event_id: 'evt_a', type: 'HoldPlaced', id: 'hld_1' },
    ]);
    db.close();
  });

  it('is one file after it was closed', async (t) => {
    const folder = newDataFolder(t);
    const journal = await openJournal(t, { folder });
    await appendAll(
      journal,
      Array.from({ length: 20 }, () => unitOf('evt_a', 5)),
    );
    await journal.close();
    assert.equal(existsSync(join(folder, 'journal.db-wal')), false);
    const reading = readWatermark(folder);
    assert.equal(reading.found === 'WATERMARK' && reading.watermark.seq, 100);
  });
});

describe('A batch', () => {
  it('has the facts of many turns, as whole units within its bounds', async (t) => {
    const folder = newDataFolder(t);
    const journal = await openJournal(t, { folder, batchFactsMax: 10 });
    for (let count = 0; count < 9; count++) journal.append(unitOf('evt_a', 4));
    journal.append(unitOf('evt_a', 30));
    journal.append(unitOf('evt_a', 1));
    await durable(journal);
    await journal.close();
    const db = new Database(join(folder, 'journal.db'), { readonly: true });
    const counts = db.prepare('SELECT count FROM batch ORDER BY last_seq').pluck().all();
    assert.deepEqual(counts, [8, 8, 8, 8, 4, 30, 1]);
    db.close();
  });

  it('has the same rows and hash however many facts it has', async (t) => {
    const folder = newDataFolder(t);
    const journal = await openJournal(t, { folder });
    const sizes = Array.from({ length: 70 }, (_, index) => index + 1);
    for (const size of sizes) {
      journal.append(unitOf(`evt_${size % 5}`, size, size));
      await durable(journal);
    }
    const expected = sizes.flatMap((at) =>
      Array.from({ length: at }, (_, index) => ({ at, data: `{"index":${index}}` })),
    );
    assert.deepEqual(
      [...journal.read()].map(({ at, data }) => ({ at, data })),
      expected,
    );
    await journal.close();
    const { problems, headSeq } = await verifyJournal(folder);
    assert.deepEqual([problems, headSeq], [[], expected.length]);
  });

  it('may be larger than the page that leads to the writer, also in bytes alone', async (t) => {
    const folder = newDataFolder(t);
    const journal = await openJournal(t, { folder });
    const small = JSON.stringify('ü'.repeat(3));
    const datas = [
      'x'.repeat(2_000_000),
      '\u{1f3ab}'.repeat(100_000),
      '\ud800'.repeat(200_000),
      'ü'.repeat(200_000),
    ].map((text) => JSON.stringify(text));
    for (const data of datas.flatMap((data) => [data, small])) {
      journal.append({ eventId: 'evt_ü', at: 1, facts: [{ type: 'HoldPlaced', data }] });
      await durable(journal);
    }
    // Followed by a batch in the page while the message is on its way.
    for (const data of [datas[0]!, small, small]) {
      journal.append({ eventId: 'evt_b', at: 1, facts: [{ type: 'HoldPlaced', data }] });
    }
    await durable(journal);
    assert.deepEqual(
      [...journal.read()].map(({ data }) => data),
      [...datas.flatMap((data) => [data, small]), datas[0], small, small],
    );
    await journal.close();
    assert.deepEqual((await verifyJournal(folder)).problems, []);
  });

  it('is closed at its limit of bytes too', async (t) => {
    const journal = await openJournal(t, { folder: newDataFolder(t), batchBytesMax: 100 });
    const wide = { eventId: 'evt_a', at: 1, facts: [{ type: 'T', data: JSON.stringify('x'.repeat(60)) }] };
    for (let count = 0; count < 5; count++) journal.append(wide);
    await durable(journal);
    const db = openReading(join(journal.folder, 'journal.db'));
    assert.equal(db === null ? null : newestBatch(db)?.count, 1);
    db?.close();
    await journal.close();
  });
});

describe('The pace of commits', () => {
  it('is reported, not asserted', async (t) => {
    const journal = await openJournal(t, { folder: newDataFolder(t) });
    const data = JSON.stringify({
      holdId: 'x'.repeat(26),
      items: [{ ticketTypeId: 'adult', quantity: 2 }],
      expiresAt: 1,
    });
    for (const [facts, commits] of [
      [1, 100],
      [32, 60],
      [128, 40],
      [500, 20],
    ] as const) {
      const began = performance.now();
      for (let commit = 0; commit < commits; commit++) {
        for (let fact = 0; fact < facts; fact++) {
          journal.append({ eventId: `evt_${fact % 5}`, at: commit, facts: [{ type: 'HoldPlaced', data }] });
        }
        await durable(journal);
      }
      const factsPerSecond = (facts * commits * 1_000) / (performance.now() - began);
      t.diagnostic(`${facts} facts a commit: ${Math.round(factsPerSecond)} facts/s`);
    }
  });
});

describe('A full disk', () => {
  for (const kept of [false, true]) {
    it(`is answered with a fault and left by itself, the failed batch being ${kept ? 'there' : 'gone'} afterwards`, async (t) => {
      const injectFault: InjectedFault = {
        kind: 'FULL',
        afterCommits: 1,
        outcome: kept ? 'KEPT' : 'LOST',
        fullProbes: 2,
      };
      const folder = newDataFolder(t);
      const journal = await openJournal(t, { folder, injectFault, probeEveryMs: 5, batchFactsMax: 2 });
      journal.append(unitOf('evt_a', 2));
      await durable(journal);
      const order: string[] = [];
      const back = new Promise<void>((resolve) =>
        journal.onStatus((status) => {
          order.push(status);
          if (status === 'OPEN') resolve();
        }),
      );
      const failing = [
        journal.append(unitOf('evt_b', 2)),
        journal.append(unitOf('evt_a', 2)),
        journal.append(unitOf('evt_c', 1)),
      ];
      const outcomes = failing.map(async (seq) => {
        const fault = await outcome(journal, seq);
        order.push(`${seq} ${fault?.kind}`);
      });
      await Promise.all(outcomes);
      assert.deepEqual(order, ['FULL', '4 FULL', '6 FULL', '7 FULL']);
      assert.equal(journal.status, 'FULL');
      assert.equal(journal.appendedSeq, 2);
      assert.throws(() => journal.append(unitOf('evt_a')), { name: 'JournalFault', kind: 'FULL' });
      assert.equal((await outcome(journal, 4))?.kind, 'FULL');
      assert.equal([...journal.read()].length, 2, 'reads go on');
      await back;
      const survived = kept ? 4 : 2;
      assert.equal(journal.appendedSeq, survived);
      assert.equal(journal.append(unitOf('evt_a', 1)), survived + 1);
      assert.equal(journal.append(unitOf('evt_b', 1)), survived + 2);
      await durable(journal);
      assert.deepEqual([...journal.read({ eventId: 'evt_b' })].length, kept ? 3 : 1);
      await journal.close();
      const report = await verifyJournal(folder);
      assert.deepEqual(report.problems, []);
      assert.equal(report.headSeq, survived + 2);
      assert.equal(report.streams, 2);
    });
  }

  it('does not prevent a journal from closing', async (t) => {
    const injectFault: InjectedFault = { kind: 'FULL', afterCommits: 0, outcome: 'LOST', fullProbes: 1_000 };
    const journal = await openJournal(t, { folder: newDataFolder(t), injectFault });
    const pending = outcome(journal, journal.append(unitOf('evt_a')));
    const closed = journal.close();
    assert.equal((await pending)?.kind, 'FULL');
    await closed;
  });
});

describe('An I/O error', () => {
  it('ends the journal: waits reject, no fact is taken, and opening again shows what is on disk', async (t) => {
    for (const outcomeOfCommit of ['LOST', 'KEPT'] as const) {
      const injectFault: InjectedFault = { kind: 'IOERR', afterCommits: 1, outcome: outcomeOfCommit, fullProbes: 0 };
      const folder = newDataFolder(t);
      const journal = await openJournal(t, { folder, injectFault });
      journal.append(unitOf('evt_a', 2));
      await durable(journal);
      const statuses: string[] = [];
      journal.onStatus((status, fault) => statuses.push(`${status} ${fault?.kind}`));
      const fault = await outcome(journal, journal.append(unitOf('evt_a', 3)));
      assert.ok(fault instanceof JournalFault);
      assert.equal(fault.kind, 'BROKEN');
      assert.match(fault.message, /disk I\/O error/);
      assert.deepEqual(statuses, ['BROKEN BROKEN']);
      assert.throws(() => journal.append(unitOf('evt_a')), { kind: 'BROKEN' });
      assert.equal(journal.durableSeq, 2);
      await journal.close();
      const again = await openJournal(t, { folder });
      assert.equal(again.durableSeq, outcomeOfCommit === 'KEPT' ? 5 : 2);
      await again.close();
    }
  });
});

describe('A writer thread that failed', () => {
  it('ends the journal once, whatever it had still to say of its last batch', async (t) => {
    let worker: Worker | null = null;
    const { on } = Worker.prototype;
    t.mock.method(Worker.prototype, 'on', function (this: Worker, ...args: Parameters<typeof on>) {
      worker = this;
      return on.apply(this, args);
    });
    const journal = await openJournal(t, { folder: newDataFolder(t) });
    const statuses: string[] = [];
    journal.onStatus((status) => statuses.push(status));
    const lost = outcome(journal, journal.append(unitOf('evt_a')));
    await nextRound();
    worker!.emit('error', new Error('out of memory'));
    assert.equal((await lost)?.kind, 'BROKEN');
    // The batch is written none the less, and said to be so.
    await once(worker!, 'message');
    assert.deepEqual([statuses, journal.durableSeq], [['BROKEN'], 0]);
  });
});

describe('A data folder', () => {
  it('is locked by one process; a second one is refused with the id of the first', async (t) => {
    const folder = newDataFolder(t);
    assert.equal(readServingPid(folder), null);
    const journal = await openJournal(t, { folder });
    assert.equal(readServingPid(folder), process.pid);
    await assert.rejects(
      openSqliteJournal({ folder }),
      (error) => error instanceof FolderInUse && error.pid === process.pid,
    );
    const script = `import('#persistence/sqlite/journal.ts').then(({ openSqliteJournal }) => openSqliteJournal({ folder: process.argv[1] }))
      .then(() => console.log('opened'), (error) => console.log(error.name, error.message));`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script, folder]);
    assert.equal(stdout.trim(), `FolderInUse the data folder ${folder} is in use by process ${process.pid}`);
    journal.append(unitOf('evt_a'));
    await durable(journal);
    await journal.close();
    assert.equal(readServingPid(folder), null);
    assert.equal(existsSync(join(folder, 'holdfast.pid')), false);
  });

  it('is not locked by the pid file that a crash left', (t) => {
    const folder = newDataFolder(t);
    mkdirSync(folder);
    writeFileSync(join(folder, 'holdfast.pid'), '1\n');
    assert.equal(readServingPid(folder), null);
    const lock = lockFolder(folder);
    assert.equal(readFileSync(join(folder, 'holdfast.pid'), 'utf8').trim(), String(process.pid));
    lock.release();
    lock.release();
  });

  it('still says that its last process was cut off after a start that was refused', (t) => {
    const folder = newDataFolder(t);
    mkdirSync(folder);
    writeFileSync(join(folder, 'holdfast.pid'), '1\n');
    lockFolder(folder).abandon();
    const lock = lockFolder(folder);
    assert.equal(lock.wasLeft, true);
    lock.release();
    lockFolder(folder).abandon();
    const last = lockFolder(folder);
    assert.equal(last.wasLeft, false);
    last.release();
  });

  it('can be verified while facts are appended', async (t) => {
    const folder = newDataFolder(t);
    const journal = await openJournal(t, { folder });
    let isOver = false;
    const writing = (async () => {
      while (!isOver)
        await appendAll(
          journal,
          Array.from({ length: 9 }, (_, index) => unitOf(`evt_${index % 4}`, 3)),
        );
    })();
    const script = `const { verifyJournal } = await import('#persistence/folder/verify.ts');
      for (let round = 0; round < 8; round++) { const { problems, facts } = await verifyJournal(process.argv[1]); console.log(facts, JSON.stringify(problems)); }`;
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script, folder]);
    isOver = true;
    await writing;
    const lines = stdout.trim().split('\n');
    assert.equal(lines.length, 8);
    for (const line of lines) assert.match(line, /^\d+ \[\]$/);
    assert.ok(Number(lines.at(-1)?.split(' ')[0]) > 0);
    await journal.close();
  });
});

describe('Pruning', () => {
  it('moves old facts into an archive and keeps the anchor of the rest', async (t) => {
    const folder = newDataFolder(t);
    let journal = await openJournal(t, { folder, batchFactsMax: 6 });
    await appendAll(journal, [
      ...Array.from({ length: 10 }, () => unitOf('evt_old', 2)),
      ...Array.from({ length: 20 }, () => unitOf('evt_new', 2)),
    ]);
    const archived = await journal.prune(31);
    assert.deepEqual(archived && [archived.fromSeq, archived.toSeq], [1, 30]);
    assert.equal(journal.baseSeq, 30);
    assert.equal(await journal.prune(29), null, 'nothing whole is left to prune');
    for (const restart of [false, true]) {
      if (restart) {
        await journal.close();
        journal = await openJournal(t, { folder });
      }
      assert.equal(journal.baseSeq, 30);
      assert.deepEqual(
        [...journal.streams()].sort((a, b) => a.lastSeq - b.lastSeq),
        [
          { eventId: 'evt_old', lastSeq: 20 },
          { eventId: 'evt_new', lastSeq: 60 },
        ],
      );
      assert.equal([...journal.read()].length, 30);
      assert.equal([...journal.read({ eventId: 'evt_new', afterSeq: 40 })].length, 20);
      assert.deepEqual([...journal.read({ eventId: 'evt_old', afterSeq: 20 })], []);
      assert.throws(() => [...journal.read({ eventId: 'evt_new' })], /moved to the archive/);
      assert.throws(() => [...journal.read({ eventId: 'evt_old', afterSeq: 7 })], /moved to the archive/);
    }
    journal.append(unitOf('evt_old', 1));
    await durable(journal);
    assert.deepEqual(
      [...journal.read({ eventId: 'evt_old', afterSeq: 20 })].map(({ seq }) => seq),
      [61],
    );
    await journal.prune(journal.durableSeq);
    await journal.close();
    const report = await verifyJournal(folder);
    assert.deepEqual(report.problems, []);
    assert.deepEqual([report.baseSeq, report.headSeq, report.facts, report.streams], [61, 61, 0, 2]);
    journal = await openJournal(t, { folder });
    assert.equal(journal.append(unitOf('evt_new', 1)), 62);
    await durable(journal);
    await journal.close();
    assert.deepEqual((await verifyJournal(folder)).problems, []);
  });

  it('runs in slices between commits', async (t) => {
    const folder = newDataFolder(t);
    const journal = await openJournal(t, { folder });
    for (let count = 0; count < 120; count++) journal.append(unitOf(`evt_${count % 7}`, 100));
    await durable(journal);
    const pruning = journal.prune(11_000);
    let isOver = false;
    void pruning.then(() => (isOver = true));
    let appended = 0;
    while (!isOver) {
      journal.append(unitOf('evt_live', 1));
      appended += 1;
      await durable(journal);
    }
    await pruning;
    await journal.close();
    const report = await verifyJournal(folder);
    assert.deepEqual(report.problems, []);
    assert.equal(report.headSeq, 12_000 + appended);
    assert.equal(report.baseSeq, 11_000);
  });
});
