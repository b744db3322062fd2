/**
 * The writer thread behind its shared page, without the main-thread half: what it does while nothing comes, and how it
 * ends.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { canonicalText } from '#persistence/chain.ts';
import { recoverHead } from '#persistence/sqlite/recovery.ts';
import { openReading } from '#persistence/sqlite/schema.ts';
import { BATCH, DURABLE, MESSAGE, SharedPage } from '#persistence/sqlite/shared-page.ts';
import { readWatermark } from '#persistence/sqlite/watermark.ts';
import type { FromWriter, ToWriter, WriterOptions, WriterTuning } from '#persistence/sqlite/writer.ts';
import { newDataFolder } from '../../fixtures/folders.ts';
import { until } from '../../fixtures/until.ts';

type Posted = FromWriter | typeof DURABLE;

/** Nothing is due by itself within a test, unless the test says so. */
const QUIET: WriterTuning = {
  watermarkEveryMs: 600_000,
  probeEveryMs: 600_000,
  checkpointPages: 1_000_000,
  checkpointIdlePages: 1_000_000,
  checkpointIdleMs: 600_000,
};

class Thread {
  readonly folder: string;
  readonly page = new SharedPage();
  readonly worker: Worker;
  readonly posted: Posted[] = [];

  constructor(t: TestContext, tuning: Partial<WriterTuning> = {}, injectFault: WriterOptions['injectFault'] = null) {
    this.folder = newDataFolder(t);
    mkdirSync(this.folder);
    const options = { folder: this.folder, memory: this.page.memory, tuning: { ...QUIET, ...tuning }, injectFault };
    const file = new URL(import.meta.resolve('#persistence/sqlite/writer.ts'));
    this.worker = new Worker(file, { workerData: options satisfies WriterOptions, execArgv: [] });
    this.worker.on('message', (message: Posted) => this.posted.push(message));
    t.after(() => this.worker.terminate());
  }

  get kinds(): string[] {
    return this.posted.map((message) => (message === DURABLE ? DURABLE : message.kind));
  }

  heard(kind: string, times = 1): Promise<void> {
    return until(() => this.kinds.filter((each) => each === kind).length >= times, `${kind} ${times} times`);
  }

  commit(seq: number): void {
    assert.ok(this.page.put(textOf(seq)));
    this.page.signal(BATCH);
  }

  send(message: ToWriter): void {
    this.worker.postMessage(message);
    this.page.signal(MESSAGE);
  }

  async close(): Promise<void> {
    this.send({ kind: 'CLOSE' });
    await once(this.worker, 'exit');
  }
}

function textOf(seq: number): string {
  return canonicalText({ seq, at: 7, eventId: 'evt_a', type: 'HoldPlaced', data: '{}', prev: seq - 1, unit: seq });
}

function watermarkSeq(folder: string): number | null {
  const reading = readWatermark(folder);
  return reading.found === 'WATERMARK' ? reading.watermark.seq : null;
}

describe('The writer thread, blocked in its wait', () => {
  it('commits the batch of the page and leaves its outcome there', async (t) => {
    const thread = new Thread(t);
    for (const seq of [1, 2, 3]) {
      thread.commit(seq);
      await thread.heard(DURABLE, seq);
      assert.equal(thread.page.readOutcome().head.seq, seq);
    }
    const { hash } = thread.page.readOutcome().head;
    await thread.close();
    const head = await recoverHead(thread.folder, {});
    assert.deepEqual([head?.seq, Buffer.from(head!.hash)], [3, Buffer.from(hash)]);
  });

  it('writes the watermark when it is due, though nothing else comes', async (t) => {
    const thread = new Thread(t, { watermarkEveryMs: 5 });
    thread.commit(1);
    await until(() => watermarkSeq(thread.folder) === 1, 'the watermark');
    thread.commit(2);
    await until(() => watermarkSeq(thread.folder) === 2, 'the watermark');
  });

  it('writes one watermark for the batches of its time, also for the first after a pause', async (t) => {
    const thread = new Thread(t, { watermarkEveryMs: 100 });
    thread.commit(1);
    await until(() => watermarkSeq(thread.folder) === 1, 'the watermark');
    const begun = performance.now();
    await until(() => performance.now() - begun > 100, 'a pause');
    const { counter } = readWatermark(thread.folder) as { counter: number };
    for (const seq of [2, 3]) thread.send({ kind: 'COMMIT', text: textOf(seq) });
    await until(() => watermarkSeq(thread.folder) === 3, 'the watermark');
    assert.equal((readWatermark(thread.folder) as { counter: number }).counter, counter + 1);
  });

  it('checkpoints a log that is long enough when no batch came for a while', async (t) => {
    const thread = new Thread(t, { checkpointIdleMs: 5, checkpointIdlePages: 60 });
    await thread.heard('READY');
    const db = openReading(join(thread.folder, 'journal.db'))!;
    const logLength = (): { log: number; checkpointed: number } =>
      (db.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[])[0]!;
    for (let seq = 1; logLength().log <= 60; seq++) {
      assert.equal(logLength().checkpointed, 0);
      thread.commit(seq);
      await thread.heard(DURABLE, seq);
    }
    await until(() => logLength().checkpointed === logLength().log, 'the checkpoint');
    db.close();
  });

  it('probes a full disk again and again, once the main thread has forgotten what was pending', async (t) => {
    const fault = { kind: 'FULL', afterCommits: 1, outcome: 'LOST', fullProbes: 3 } as const;
    const thread = new Thread(t, { probeEveryMs: 0 }, fault);
    thread.commit(1);
    await thread.heard(DURABLE);
    thread.commit(2);
    await thread.heard('FULL');
    // The main thread may have sent this before it knew: it must not be written, however long the main thread takes.
    thread.commit(2);
    thread.send({ kind: 'WATERMARK' });
    thread.send({ kind: 'FORGOTTEN' });
    await thread.heard('WRITABLE');
    thread.commit(2);
    await thread.heard(DURABLE, 2);
    await thread.close();
    assert.deepEqual(thread.kinds, ['READY', DURABLE, 'FULL', 'WRITABLE', DURABLE]);
    assert.equal((await recoverHead(thread.folder, {}))?.seq, 2);
  });

  it('reports an error of what was due, and takes nothing afterwards', async (t) => {
    const thread = new Thread(t);
    thread.commit(1);
    await thread.heard(DURABLE);
    const db = new Database(join(thread.folder, 'journal.db'));
    db.exec("UPDATE meta SET value = 'wrong' WHERE key = 'anchor_checksum'");
    db.close();
    thread.send({ kind: 'PRUNE', throughSeq: 1 });
    await thread.heard('BROKEN');
    thread.commit(2);
    await thread.close();
    assert.deepEqual(thread.kinds, ['READY', DURABLE, 'BROKEN']);
  });

  it('is ended by terminating the thread', async (t) => {
    const thread = new Thread(t);
    await thread.heard('READY');
    assert.equal(await thread.worker.terminate(), 1);
  });
});

describe('A process whose writer waits', () => {
  const opened = `const { openSqliteJournal } = await import('#persistence/sqlite/journal.ts');
    const journal = await openSqliteJournal({ folder: process.argv[1] });
    const append = () => journal.append({ eventId: 'evt_a', at: 1, facts: [{ type: 'HoldPlaced', data: '{}' }] });
    await journal.durable(append());`;
  const endings = [
    { how: 'by process.exit', script: 'process.exit(7);', expected: [7, null] },
    {
      how: 'by an error that nobody catches',
      script: "setImmediate(() => { throw new Error('thrown'); });",
      expected: [1, null],
    },
    {
      how: 'by SIGTERM',
      script: "process.kill(process.pid, 'SIGTERM'); setInterval(() => {}, 1_000);",
      expected: [null, 'SIGTERM'],
    },
    {
      how: 'by SIGKILL with the next batch at the writer',
      script: "append(); setImmediate(() => process.kill(process.pid, 'SIGKILL'));",
      expected: [null, 'SIGKILL'],
    },
    { how: 'by closing the journal', script: 'await journal.close();', expected: [0, null] },
  ] as const;

  for (const { how, script, expected } of endings) {
    it(`ends ${how}, and what was durable is there`, async (t) => {
      const folder = newDataFolder(t);
      const line = ['--input-type=module', '--eval', `${opened}\n${script}`, folder];
      const { status, signal } = spawnSync(process.execPath, line, { timeout: 60_000, killSignal: 'SIGABRT' });
      assert.deepEqual([status, signal], expected);
      assert.ok(((await recoverHead(folder, {}))?.seq ?? 0) >= 1);
    });
  }

  it('ends by SIGKILL with a page half written, and only what was durable is there', async (t) => {
    const folder = newDataFolder(t);
    mkdirSync(folder);
    const script = `import { Worker } from 'node:worker_threads';
      const { BATCH, SharedPage } = await import('#persistence/sqlite/shared-page.ts');
      const [, folder, tuning, first, second] = process.argv;
      const page = new SharedPage();
      const workerData = { folder, memory: page.memory, tuning: JSON.parse(tuning), injectFault: null };
      const worker = new Worker('./persistence/sqlite/writer.ts', { workerData, execArgv: [] });
      page.put(first);
      page.signal(BATCH);
      worker.on('message', (message) => {
        if (message !== 'DURABLE') return;
        page.put(second.slice(0, -20));
        process.kill(process.pid, 'SIGKILL');
      });`;
    const line = ['--input-type=module', '--eval', script, folder, JSON.stringify(QUIET), textOf(1), textOf(2)];
    const { signal } = spawnSync(process.execPath, line, { timeout: 60_000, killSignal: 'SIGABRT', stdio: 'inherit' });
    assert.equal(signal, 'SIGKILL');
    assert.equal((await recoverHead(folder, {}))?.seq, 1);
  });
});
