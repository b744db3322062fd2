/**
 * After kill -9, at random moments and where strace is installed at chosen calls of the kernel: a key that was handed
 * out is there, and a key whose destruction was answered is nowhere in the files.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openSqliteKeys } from '#persistence/sqlite/keys.ts';
import { deep } from '../depth.ts';
import { newDataFolder } from '../fixtures/folders.ts';
import { builtProgram } from '../fixtures/program.ts';
import { withoutStrace } from '../fixtures/strace.ts';
import { rawKeyFiles } from './key-files.ts';

const victim = await builtProgram(new URL('./key-using-process.ts', import.meta.url));
const KEYS_A_RUN = 25;
const traced = 'fsync,fdatasync,pwrite64,ftruncate,unlink';

/** What a killed process had printed. */
class Printed {
  readonly taken = new Map<string, string>();
  readonly begun = new Set<string>();
  readonly answered = new Set<string>();

  read(text: string): void {
    for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
      const [what = '', ...words] = line.split(' ');
      if (what === 'took') this.taken.set(words[0]!, words[1]!);
      if (what === 'destroying') for (const id of words) this.begun.add(id);
      if (what === 'destroyed') for (const id of words) this.answered.add(id);
    }
  }

  /** What must be true of the files as a process left them. */
  async check(folder: string): Promise<void> {
    const bytesOf = (id: string): Buffer => Buffer.from(this.taken.get(id)!, 'hex');
    if (!existsSync(folder)) return assert.equal(this.taken.size, 0);
    const raw = rawKeyFiles(folder);
    for (const id of this.answered) assert.ok(!raw.includes(bytesOf(id)), `destroyed key ${id} is in the files`);
    const keys = await openSqliteKeys({ folder, poolSize: 8 });
    try {
      const found = await keys.read([...this.taken.keys()]);
      for (const [id, hex] of this.taken) {
        if (this.answered.has(id)) assert.ok(!found.has(id), `destroyed key ${id} came back`);
        else if (!this.begun.has(id)) assert.equal(found.get(id)?.toString('hex'), hex, `key ${id} is lost`);
      }
      // What was not answered is destroyed again, as at a start.
      await keys.destroy([...this.begun]);
      for (const id of this.begun) this.answered.add(id);
    } finally {
      await keys.close();
    }
    const after = rawKeyFiles(folder);
    for (const id of this.answered) assert.ok(!after.includes(bytesOf(id)), `destroyed key ${id} is in the files`);
    for (const id of this.taken.keys()) assert.equal(after.includes(bytesOf(id)), !this.answered.has(id), id);
  }
}

/** Runs the process, and kills it some milliseconds after it printed `begin`; returns what it printed. */
function runAndKill(folder: string, aliveMs: number, begin = /^ready$/m): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [victim, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const hadBegun = begin.test(text);
      text += chunk;
      if (!hadBegun && begin.test(text)) setTimeout(() => child.kill('SIGKILL'), aliveMs);
    });
    child.on('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(text);
      else reject(new Error(`the process ended by itself: ${code} ${text}`));
    });
  });
}

/** One call of the kernel: the n-th of its kind in the thread that writes. */
interface Call {
  readonly kind: string;
  readonly nth: number;
}

/**
 * Runs the process under strace to its end, or until it is killed at a call; returns what it printed and the calls it
 * made.
 */
function runTraced(
  folder: string,
  killAt: Call | null,
): Promise<{ readonly text: string; readonly calls: readonly Call[] }> {
  const log = join(folder, '..', 'trace');
  // strace counts each kind of call in each thread by itself.
  const kill = killAt === null ? [] : ['-e', `inject=${killAt.kind}:signal=KILL:when=${killAt.nth}`];
  const rules = ['-f', '-y', '-qq', '-s', '0', '-o', log, '-e', `trace=${traced}`, ...kill];
  return new Promise((resolve) => {
    const child = spawn('strace', [...rules, process.execPath, victim, folder, String(KEYS_A_RUN)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    child.on('close', () => resolve({ text, calls: callsOf(readFileSync(log, 'utf8')) }));
  });
}

/** The calls of the thread that made most of them. */
function callsOf(log: string): Call[] {
  const byThread = new Map<string, Call[]>();
  for (const [, thread = '', kind = ''] of log.matchAll(/^(\d+) +(\w+)\(/gm)) {
    const calls = byThread.get(thread) ?? [];
    byThread.set(thread, calls);
    calls.push({ kind, nth: 1 + calls.filter((call) => call.kind === kind).length });
  }
  return [...byThread.values()].sort((a, b) => b.length - a.length)[0] ?? [];
}

describe('keys.db after kill -9', { concurrency: 2 }, () => {
  const rounds = deep(3);

  it(`at ${rounds} random moments has every key that was handed out, and none that was destroyed`, async (t) => {
    const folder = newDataFolder(t);
    const printed = new Printed();
    for (let round = 0; round < rounds; round++) {
      printed.read(await runAndKill(folder, Math.floor(Math.random() ** 2 * 80)));
      await printed.check(folder);
    }
    printed.read(await runAndKill(folder, 20, /^destroyed /m));
    await printed.check(folder);
    assert.ok(printed.answered.size > 0 && printed.taken.size > printed.answered.size, 'the process got nothing done');
    t.diagnostic(`${printed.taken.size} keys taken, ${printed.answered.size} destroyed`);
  });

  it('at writes, fsyncs and cuts of the log the same', { skip: withoutStrace }, async (t) => {
    const whole = await runTraced(newDataFolder(t), null);
    assert.match(whole.text, /destroyed/);
    const kinds = [...new Set(whole.calls.map(({ kind }) => kind))];
    assert.ok(kinds.includes('ftruncate') && kinds.includes('pwrite64'), kinds.join());
    const rare = whole.calls.filter(({ kind }) => kind !== 'pwrite64');
    const kills = deep(4);
    let wasKilledLate = false;
    for (let kill = 0; kill < kills; kill++) {
      // Half of the kills are at calls that are not writes, of which there are fewer.
      const chosen = kill % 2 === 0 ? whole.calls : rare;
      const call = chosen[Math.floor(((kill + Math.random()) * chosen.length) / kills)]!;
      const folder = newDataFolder(t);
      const printed = new Printed();
      printed.read((await runTraced(folder, call)).text);
      wasKilledLate ||= printed.answered.size > 0;
      await printed.check(folder).catch((error: unknown) => {
        throw new Error(`killed at ${call.kind} ${call.nth}`, { cause: error });
      });
    }
    assert.ok(wasKilledLate, 'no process lived until a destruction was answered');
  });
});
