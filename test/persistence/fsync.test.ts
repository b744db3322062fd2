/**
 * What the kernel saw: the fsync of a commit returns before its fact is called durable, and real errors of the disk act
 * as promised.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newDataFolder } from '../fixtures/folders.ts';
import { builtProgram } from '../fixtures/program.ts';
import { withoutStrace } from '../fixtures/strace.ts';
import { openJournal } from './journals.ts';

const victim = await builtProgram(new URL('./appending-process.ts', import.meta.url));

interface Traced {
  readonly folder: string;
  readonly lines: readonly string[];
  readonly stdout: string;
  readonly code: number;
}

/** Runs the appending process under strace; descriptors are printed with their paths. */
function trace(
  t: Parameters<typeof newDataFolder>[0],
  { units, pendingMax = 400 }: { readonly units: number; readonly pendingMax?: number },
  ...rules: string[]
): Promise<Traced> {
  const folder = newDataFolder(t);
  const log = join(folder, '..', 'trace');
  const traced = ['-f', '-y', '-qq', '-s', '24', '-o', log, '-e', 'trace=fsync,write,pwrite64', ...rules];
  return new Promise((resolve) => {
    const victimLine = [process.execPath, victim, folder, String(units), String(pendingMax)];
    execFile('strace', [...traced, ...victimLine], (error, stdout) => {
      const code = error === null ? 0 : Number(error.code);
      resolve({ folder, stdout, code, lines: readFileSync(log, 'utf8').split('\n') });
    });
  });
}

/** Every number that the traced process printed. */
function printed(stdout: string): number[] {
  return stdout
    .split('\n')
    .filter((line) => /^\d+$/.test(line))
    .map(Number);
}

describe('The writer under strace', { skip: withoutStrace }, () => {
  it('calls a fact durable only after its write to the log was fsynced', async (t) => {
    const { lines, stdout, code } = await trace(t, { units: 40, pendingMax: 1 });
    assert.equal(code, 0);
    let unsynced = 0;
    let fsyncs = 0;
    let answers = 0;
    const syncing = new Set<string>();
    for (const line of lines) {
      const thread = line.split(' ')[0] ?? '';
      if (/pwrite64\(\d+<[^>]*journal\.db-wal>/.test(line)) unsynced += 1;
      if (/fsync\(\d+<[^>]*journal\.db-wal>/.test(line)) syncing.add(thread);
      if (syncing.has(thread) && /fsync.*= 0$/.test(line)) {
        syncing.delete(thread);
        unsynced = 0;
        fsyncs += 1;
      }
      if (!/write\(1<[^>]*>, "\d+\\n"/.test(line)) continue;
      answers += 1;
      assert.equal(unsynced, 0, `called durable before the fsync: ${line}`);
      assert.ok(fsyncs >= answers, `more answers than fsyncs: ${line}`);
    }
    assert.equal(answers, 40);
    assert.equal(printed(stdout).length, 40);
  });

  it('stops with code 4 when an fsync of the log fails, and reports nothing durable afterwards', async (t) => {
    const { folder, stdout, code, lines } = await trace(t, { units: 0 }, '-e', 'inject=fsync:error=EIO:when=14+');
    assert.ok(
      lines.some((line) => line.includes('(INJECTED)')),
      'the fault was never injected',
    );
    assert.equal(code, 4);
    assert.equal(stdout.trim().split('\n').at(-1), 'BROKEN');
    const journal = await openJournal(t, { folder });
    assert.ok(journal.durableSeq >= Math.max(0, ...printed(stdout)));
    await journal.close();
  });

  it('continues by itself when the disk was full for a while', async (t) => {
    const diskFull = ['-e', 'inject=pwrite64:error=ENOSPC:when=40..60'];
    const { folder, stdout, code, lines } = await trace(t, { units: 60, pendingMax: 8 }, ...diskFull);
    assert.ok(
      lines.some((line) => line.includes('(INJECTED)')),
      'the fault was never injected',
    );
    assert.equal(code, 0);
    assert.match(stdout, /FULL\n(.*\n)*OPEN\n/);
    const journal = await openJournal(t, { folder });
    const seqs = printed(stdout);
    assert.ok(seqs.length > 10, stdout);
    assert.ok(journal.durableSeq >= Math.max(...seqs));
    assert.deepEqual(
      seqs,
      [...new Set(seqs)].sort((a, b) => a - b),
      'no number was called durable twice',
    );
    await journal.close();
  });
});
