/**
 * After kill -9 at random moments everything that was durable is in the journal, every unit is whole, and the chain
 * holds.
 */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { describe, it } from 'node:test';
import type { FactRow } from '#persistence/journal.ts';
import { recoverHead } from '#persistence/sqlite/recovery.ts';
import { verifyJournal } from '#persistence/folder/verify.ts';
import { viewJournal } from '#persistence/sqlite/view.ts';
import { deep } from '../depth.ts';
import { newDataFolder } from '../fixtures/folders.ts';
import { builtProgram } from '../fixtures/program.ts';
import { openJournal } from './journals.ts';

const victim = await builtProgram(new URL('./appending-process.ts', import.meta.url));
const rounds = deep(3);

/**
 * A round's time begins when the journal is open, in the last round when a fact is durable: on a busy machine none is
 * so soon.
 */
const beginOf = (round: number): RegExp => (round === rounds - 1 ? /^\d+$/m : /^ready$/m);

/**
 * Runs the victim, kills it some milliseconds after it printed `begin`; returns the last fact that it called durable.
 */
function runAndKill(folder: string, aliveMs: number, { begin = /^ready$/m, keptFacts = 0 } = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const pendingMax = keptFacts === 0 ? 400 : 50;
    const child = spawn(process.execPath, [victim, folder, '0', String(pendingMax), String(keptFacts)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const hadBegun = begin.test(text);
      text += chunk;
      if (!hadBegun && begin.test(text)) setTimeout(() => child.kill('SIGKILL'), aliveMs);
    });
    child.on('close', (code, signal) => {
      if (signal !== 'SIGKILL') return reject(new Error(`the victim ended by itself: ${code} ${text}`));
      const whole = text
        .slice(0, text.lastIndexOf('\n'))
        .split('\n')
        .filter((line) => /^\d+$/.test(line));
      resolve(Number(whole.at(-1) ?? 0));
    });
  });
}

describe('After kill -9', { concurrency: 2 }, () => {
  it(`at ${rounds} random moments everything that was called durable is there, whole and in order`, async (t) => {
    const folder = newDataFolder(t);
    let called = 0;
    for (let round = 0; round < rounds; round++) {
      called = Math.max(
        called,
        await runAndKill(folder, Math.floor(Math.random() ** 2 * 120), { begin: beginOf(round) }),
      );
      let last: { number: number; unitEnd: number } | null = null;
      const onRow = ({ seq, data }: FactRow): void => {
        last = JSON.parse(data) as { number: number; unitEnd: number };
        assert.equal(last.number, seq);
      };
      const durableSeq = (await recoverHead(folder, { onRow }))?.seq ?? 0;
      assert.ok(durableSeq >= called, `fact ${called} was called durable, the journal ends at ${durableSeq}`);
      assert.equal((last as { unitEnd: number } | null)?.unitEnd ?? 0, durableSeq, 'the last unit is whole');
    }
    assert.ok(called > 0, 'the victim never got anything done');
    const journal = await openJournal(t, { folder });
    assert.ok(journal.durableSeq >= called);
    await journal.close();
    const report = await verifyJournal(folder);
    assert.deepEqual(report.problems, []);
    assert.equal(report.facts, report.headSeq);
  });

  it(`at ${rounds} random moments of archiving and pruning every fact is in the journal or the archive`, async (t) => {
    const folder = newDataFolder(t);
    let [called, archived] = [0, 0];
    for (let round = 0; round < rounds; round++) {
      // Every other one, the last among them, was pruned before. The faster the machine, the more is read again.
      const begin = round % 2 === rounds % 2 ? /^ready$/m : /^pruned$/m;
      const aliveMs = 50 + Math.floor(Math.random() * 250);
      called = Math.max(called, await runAndKill(folder, aliveMs, { begin, keptFacts: 40 }));
      const head = await recoverHead(folder, {});
      assert.ok((head?.seq ?? 0) >= called, `fact ${called} was called durable, the journal ends at ${head?.seq}`);
      assert.deepEqual((await verifyJournal(folder)).problems, []);
      const view = viewJournal(folder)!;
      let seq = 0;
      for await (const row of view.facts()) {
        seq += 1;
        const { number } = JSON.parse(row.data) as { number: number };
        assert.ok(row.seq === seq && number === seq, `fact ${seq} is ${row.seq}, with number ${number}`);
      }
      assert.equal(seq, view.headSeq);
      for (const eventId of ['evt_0', 'evt_7']) {
        for (const row of await view.factsOf(eventId)) assert.equal(row.eventId, eventId);
      }
      t.diagnostic(`${seq} facts, ${view.baseSeq} of them archived`);
      archived = view.baseSeq;
      view.close();
    }
    assert.ok(called > 0 && archived > 0, 'the victim never got anything done');
  });

  it('a folder whose facts are still in the log is verified to its end', async (t) => {
    const folder = newDataFolder(t);
    const called = await runAndKill(folder, 60);
    const report = await verifyJournal(folder);
    assert.deepEqual(report.problems, []);
    assert.ok(report.headSeq >= called);
  });
});
