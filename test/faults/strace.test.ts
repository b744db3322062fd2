/**
 * A disk that fails at its N-th fsync or write, for N over everything that writes: opening, commits, checkpoints,
 * snapshots, archive, recovery. Whatever N is, what was answered is there after a restart, and the process acts as
 * promised: an I/O error ends it with exit code 4 and a hint, a full disk is waited for.
 *
 * The kernel is made to fail by strace. The suite tries a few N, others in each run (`points.ts`); `TEST_DEPTH` tries
 * more of them, `FAULT_POINTS=all` every one, `FAULT_POINTS=3,40` those.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { readEventState } from '#offline/events.ts';
import { verifyFolder } from '#offline/verification.ts';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import { viewJournal } from '#persistence/sqlite/view.ts';
import { deep } from '../depth.ts';
import { makeFolder, newDataFolder, removeFolder } from '../fixtures/folders.ts';
import { builtProgram } from '../fixtures/program.ts';
import { withoutStrace } from '../fixtures/strace.ts';
import { chance, faultSeed } from './points.ts';

const victim = await builtProgram(new URL('./selling-process.ts', import.meta.url));
const RUN_MS_MAX = 500_000;

interface Ended {
  readonly code: number;
  readonly stderr: string;
  /** The holds that were answered. */
  readonly held: readonly string[];
  /** Whether the process came to its end. */
  readonly isDone: boolean;
  /** The files at which the fault fired, in order, by their path within the folder. */
  readonly hit: readonly string[];
}

interface Fault {
  readonly call: Call;
  readonly error: 'EIO' | 'ENOSPC';
  /** The N-th call of every thread fails. */
  readonly n: number;
}

/** Runs the selling process under a fault: on every file, or on one of the folder alone. */
function sellUnder(folder: string, { call, error, n }: Fault, file?: string, ending = 'close'): Promise<Ended> {
  const log = path.join(folder, '..', 'log');
  const rules = ['-e', `trace=${call}`, '-e', `inject=${call}:error=${error}:when=${n}`];
  if (file !== undefined) rules.push('-P', path.join(folder, file));
  const line = ['-f', '--seccomp-bpf', '-y', '-qq', '-o', log, ...rules, process.execPath, victim, folder, ending];
  return new Promise((resolve) => {
    execFile('strace', line, { timeout: RUN_MS_MAX, killSignal: 'SIGKILL' }, (failure, stdout, stderr) => {
      const injected = readFileSync(log, 'utf8')
        .split('\n')
        .filter((each) => each.includes('(INJECTED)'));
      resolve({
        code: failure === null ? 0 : Number(failure.code ?? -1),
        stderr,
        held: [...stdout.matchAll(/^held (\S+)$/gm)].map(([, id]) => id!),
        isDone: /^done$/m.test(stdout),
        hit: injected.map((each) => path.relative(folder, /<([^>]*)>/.exec(each)?.[1] ?? '') || '.'),
      });
    });
  });
}

type Call = 'fsync' | 'pwrite64';

/** Everything that was answered is in the folder, which is sound. */
async function assertNothingLost(folder: string, held: readonly string[]): Promise<void> {
  if (!existsSync(path.join(folder, 'journal.db'))) return assert.equal(held.length, 0);
  await (await openSqliteJournal({ folder })).close();
  const { problems } = await verifyFolder(folder);
  assert.deepEqual(problems, []);
  const view = viewJournal(folder);
  if (view === null) return assert.equal(held.length, 0);
  const state = await readEventState(folder, view, 'evt_club');
  view.close();
  for (const id of held) assert.ok(state?.holds.byId.has(id), `${id} was answered and is gone`);
}

/** Files whose failure is the journal's; snapshots and archives can be made again. */
function isOfJournal(file: string): boolean {
  return /^(?:journal|lock)\.db|^head\.witness/.test(file);
}

/** How often a thread makes the call at most, as counted on a run without faults, with some to spare. */
const CALLS: Readonly<Record<Call, number>> = { fsync: 45, pwrite64: 150 };

/** So often some thread makes the call in every run, so that a fault at one of these fires. */
const CALLS_SURE: Readonly<Record<Call, number>> = { fsync: 30, pwrite64: 130 };

/** The points to try; as many as the depth allows where none are named, of these calls in turn. */
function pointsOf(...calls: readonly Call[]): readonly (readonly [Call, number])[] {
  const wanted = process.env['FAULT_POINTS'];
  if (wanted === undefined) {
    const first = chance.between(0, calls.length - 1);
    return Array.from({ length: deep(1) }, (_, index) => {
      const call = calls[(first + index) % calls.length]!;
      return [call, chance.between(1, CALLS_SURE[call])];
    });
  }
  return calls.flatMap((call) => {
    const all = Array.from({ length: CALLS[call] }, (_, index) => index + 1);
    return (wanted === 'all' ? all : wanted.split(',').map(Number)).map((n) => [call, n] as const);
  });
}

describe('Under strace', { skip: withoutStrace, concurrency: 1 }, () => {
  let fired = 0;
  /** A folder in which a process has sold and ended. */
  let sold: string;
  before(async () => {
    sold = makeFolder();
    const sound = await promisify(execFile)(process.execPath, [victim, sold, 'brief']);
    assert.match(sound.stdout, /^done$/m);
  });
  after(() => removeFolder(sold));

  for (const [call, n] of pointsOf('fsync', 'pwrite64')) {
    it(`an I/O error at the ${call} number ${n} of a thread ends it with code 4, and nothing answered is lost`, async (t) => {
      const folder = newDataFolder(t);
      const { code, stderr, held, hit, isDone } = await sellUnder(folder, { call, error: 'EIO', n });
      t.diagnostic(`FAULT_SEED=${faultSeed}: hit ${hit.join(', ') || 'nothing'}; ${held.length} answered`);
      fired += hit.length;
      const context = `${hit.join(' ')}: ${stderr}`;
      assert.ok(code === 4 || (code === 0 && isDone), context);
      if (hit.some(isOfJournal)) assert.equal(code, 4, context);
      if (code === 4) assert.match(stderr, /Check the disk/);
      await assertNothingLost(folder, held);
    });
  }

  for (const [, n] of pointsOf('pwrite64')) {
    it(`a full disk at the pwrite64 number ${n} of a thread is waited for, and nothing answered is lost`, async (t) => {
      const folder = newDataFolder(t);
      const { code, stderr, held, hit, isDone } = await sellUnder(folder, { call: 'pwrite64', error: 'ENOSPC', n });
      t.diagnostic(`FAULT_SEED=${faultSeed}: hit ${hit.join(', ') || 'nothing'}; ${held.length} answered`);
      fired += hit.length;
      if (code !== 0) {
        assert.equal(code, 4, `${hit.join(' ')}: ${stderr}`);
        assert.ok(!isDone);
        assert.match(stderr, /(Make room on|Check) the disk/, 'only an opening may fail');
      } else assert.ok(isDone);
      await assertNothingLost(folder, held);
    });
  }

  for (const [error, codeExpected] of [
    ['ENOSPC', 0],
    ['EIO', 4],
  ] as const) {
    it(`${error} in the last checkpoint loses nothing and does not delay the end: exit code ${codeExpected}`, async (t) => {
      const folder = newDataFolder(t);
      cpSync(sold, folder, { recursive: true });
      const ended = await sellUnder(folder, { call: 'pwrite64', error, n: 1 }, 'journal.db', 'brief');
      assert.deepEqual(ended.hit, ['journal.db'], ended.stderr);
      assert.equal(ended.code, codeExpected, ended.stderr);
      assert.equal(ended.held.length, 1);
      if (codeExpected === 4) assert.match(ended.stderr, /cannot be written.*Check the disk/);
      await assertNothingLost(folder, ended.held);
    });
  }

  it('the faults were injected', () => assert.ok(fired > 0, `${fired} faults fired`));
});
