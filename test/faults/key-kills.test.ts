/**
 * kill -9 of a whole service at the steps of checkouts and erasures: never a fact without its key, never a key that
 * comes back.
 *
 * A step is a call with which the service writes, cuts, renames or removes a file of its folder, or waits for the disk.
 * The process is killed by strace on entering the call; what the calls before it wrote stays, as it does when a process
 * is killed. The suite tries two calls, others in each run (`points.ts`); `TEST_DEPTH` tries more of them,
 * `FAULT_POINTS=all` every one.
 */
import assert from 'node:assert/strict';
import { copyFileSync, cpSync, existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { serving } from '../cli/holdfast.ts';
import { deep } from '../depth.ts';
import { newFolder } from '../fixtures/folders.ts';
import { withoutStrace } from '../fixtures/strace.ts';
import { ofOneMachine, type ServiceProcess, spawnService, spawnServiceFor } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { chance, faultSeed } from './points.ts';
import { checkKilled, checkOldCopy, checkStarted, club, OrderBook, Shop } from './forgetting-shop.ts';

const CALLS = 'pwrite64,pwritev,write,fsync,fdatasync,ftruncate,rename,unlink';
const KEY_FILES = ['keys.db', 'keys.db-wal', 'keys.db-shm'] as const;

/** The n-th call of a kind on a file of the folder, in the thread that makes it. */
interface Step {
  readonly call: string;
  readonly file: string;
  readonly n: number;
  /** In milliseconds since 1970. */
  readonly at: number;
}

/** A folder with two orders from before, the book of it, and a place for further folders. */
interface Before {
  readonly parent: string;
  readonly folder: string;
  readonly book: OrderBook;
  readonly old: readonly [string, string];
}

async function sellBefore(t: TestContext): Promise<Before> {
  const parent = newFolder(t);
  const folder = path.join(parent, 'before');
  const book = new OrderBook();
  const { client, stop } = await serving(t, folder);
  await client.define(club);
  const shop = new Shop(client, book);
  const old = [await shop.buy('single'), await shop.buy('guest')] as const;
  await shop.snapshot();
  await stop();
  return { parent, folder, book, old };
}

/** Checkouts and erasures of every kind: of orders from before, of notes, of orders in snapshot and archive. */
async function trade(shop: Shop, [first, second]: Before['old']): Promise<void> {
  const paid = await shop.buy('single');
  await shop.note(paid);
  await shop.erase(first);
  await shop.erase(paid);
  await shop.buy('guest');
  await shop.snapshot();
  await shop.erase(second);
  await shop.erase(await shop.buy('guest'));
}

/** Trades until everything is done or the process is gone; returns whether it is. */
async function tradeUntilGone(service: ServiceProcess, book: OrderBook, old: Before['old']): Promise<boolean> {
  try {
    await trade(new Shop(service, book), old);
    return false;
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return true;
  }
}

function tracing(log: string, folder: string, kill: Step | null): readonly string[] {
  const rules = ['-e', `trace=${kill?.call ?? CALLS}`];
  if (kill !== null) {
    rules.push('-e', `inject=${kill.call}:signal=KILL:when=${kill.n}`, '-P', path.join(folder, kill.file));
  }
  // With --seccomp-bpf no signal is injected.
  return ['strace', '-D', '-f', '-y', '-ttt', '-s', '0', '-o', log, ...rules];
}

/** The steps between two moments. */
function stepsIn(log: string, folder: string, from: number, to: number): Step[] {
  const counts = new Map<string, number>();
  const steps: Step[] = [];
  for (const [, thread, seconds, call = '', rest = ''] of log.matchAll(/^(\d+) +([\d.]+) (\w+)\((.*)$/gm)) {
    const file = path.relative(folder, /[<"](\/[^>"]*)[>"]/.exec(rest)?.[1] ?? '/');
    if (file.startsWith('..') || file === '') continue;
    // strace counts the calls of each thread by themselves.
    const counted = `${thread} ${call} ${file}`;
    const n = (counts.get(counted) ?? 0) + 1;
    counts.set(counted, n);
    const at = Number(seconds) * 1_000;
    if (at >= from && at <= to) steps.push({ call, file, n, at });
  }
  return steps;
}

/** As many of the steps as the depth allows, spread over all of them; every other one of the files of keys. */
function chosen(steps: readonly Step[], inSuite: number): readonly Step[] {
  if (process.env['FAULT_POINTS'] === 'all') return steps;
  const count = deep(inSuite);
  const ofKeys = steps.filter(({ file }) => file.startsWith('keys.db'));
  return Array.from({ length: count }, (_, index) => {
    const from = index % 2 === 0 ? ofKeys : steps;
    return from[Math.floor(((index + chance.next()) * from.length) / count)]!;
  });
}

/** Puts other keys beside a journal. */
function putKeys(from: string, to: string): void {
  for (const name of KEY_FILES) rmSync(path.join(to, name), { force: true });
  for (const name of KEY_FILES) {
    if (existsSync(path.join(from, name))) copyFileSync(path.join(from, name), path.join(to, name));
  }
}

/** Traces a whole run without a kill; returns its steps from the first request to the last answer. */
async function measure(before: Before): Promise<readonly Step[]> {
  const folder = path.join(before.parent, 'measured');
  const log = path.join(before.parent, 'measured.trace');
  cpSync(before.folder, folder, { recursive: true });
  const service = await spawnService({ folder, under: tracing(log, folder, null) });
  try {
    const book = before.book.copy();
    const from = Date.now();
    await trade(new Shop(service, book), before.old);
    const to = Date.now();
    assert.equal(await service.end('SIGTERM'), 0);
    await until(() => /^\d+ .*\+\+\+ exited/m.test(readFileSync(log, 'utf8')), 'the trace is complete');
    return stepsIn(readFileSync(log, 'utf8'), folder, from, to);
  } finally {
    await service.close();
  }
}

/** Starts a service that is killed while it folds the log of its keys, makes new ones or destroys some again. */
async function killInStart(folder: string, log: string): Promise<void> {
  const file = chance.pick(['keys.db', 'keys.db-wal']);
  const step = { call: 'pwrite64', file, n: chance.between(1, 40), at: 0 };
  const service = await spawnService({ folder, under: tracing(log, folder, step) }).catch((error: unknown) => {
    assert.match(String(error), /it ended with exit code null/);
    return null;
  });
  await service?.end('SIGKILL');
}

/** Kills a service at a step, and checks what it left before and after a start. Returns whether it came to the step. */
async function killAt(t: TestContext, before: Before, step: Step, isStartKilled: boolean): Promise<boolean> {
  const folder = path.join(before.parent, 'killed');
  const book = before.book.copy();
  cpSync(before.folder, folder, { recursive: true });
  const log = path.join(before.parent, 'killed.trace');
  const service = await spawnService({ folder, under: tracing(log, folder, step) });
  try {
    const wasKilled = await tradeUntilGone(service, book, before.old);
    await service.end('SIGKILL');
    await checkKilled(folder, book);
    if (isStartKilled) {
      await killInStart(folder, log);
      await checkKilled(folder, book);
    }
    const again = await serving(t, folder);
    await checkStarted(folder);
    await new Shop(again.client, book).check();
    await again.stop();
    await checkKilled(folder, book);
    const old = path.join(before.parent, 'old');
    cpSync(before.folder, old, { recursive: true });
    putKeys(folder, old);
    await checkOldCopy(old, book);
    rmSync(old, { recursive: true });
    return wasKilled;
  } finally {
    await service.close();
  }
}

/** Buys and erases until the process is gone. */
async function shopUntilGone(shop: Shop): Promise<void> {
  try {
    for (let sale = 0; ; sale += 1) {
      const orderId = await shop.buy('guest');
      if (sale % 8 === 0) await shop.erase(orderId);
    }
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
  }
}

const BUYERS = 24;
/** More purchases than half of the keys that are made at once, so that new ones are made meanwhile. */
const PURCHASES = 1_050;

describe(
  'A service that is killed',
  { skip: ofOneMachine('nodes have no keys in their folders'), concurrency: 1 },
  () => {
    const rounds = deep(1);
    it(`under load has the key of every fact, and no key of what was erased, ${rounds} times`, async (t) => {
      const folder = path.join(newFolder(t), 'data');
      const book = new OrderBook();
      for (let round = 1; round <= rounds; round += 1) {
        const service = await spawnServiceFor(t, { folder });
        if (round === 1) await service.define(club);
        const shop = new Shop(service, book);
        const buyers = Array.from({ length: BUYERS }, () => shopUntilGone(shop));
        const until = round * PURCHASES + chance.between(0, 99);
        while (book.bought.size < until) await pause(1);
        await service.end('SIGKILL');
        await Promise.all(buyers);
        await checkKilled(folder, book);
        const again = await serving(t, folder);
        await checkStarted(folder);
        await new Shop(again.client, book).check(2 * BUYERS);
        await again.stop();
        await checkKilled(folder, book);
      }
      t.diagnostic(`${book.bought.size} orders bought, ${book.erased.size} erased`);
    });

    it(
      'at a step of a checkout or an erasure has the key of every fact, and no key of what was erased',
      { skip: withoutStrace },
      async (t) => {
        const before = await sellBefore(t);
        const steps = await measure(before);
        const files = new Set(steps.map(({ file }) => file.replace(/\d+/g, 'N')));
        t.diagnostic(`FAULT_SEED=${faultSeed}: ${steps.length} steps in ${[...files].join(', ')}`);
        assert.ok(files.has('keys.db') && files.has('keys.db-wal') && files.has('journal.db-wal'), [...files].join());
        let killed = 0;
        for (const [index, step] of chosen(steps, 2).entries()) {
          const wasKilled = await killAt(t, before, step, index % 2 === 0).catch((error: unknown) => {
            throw new Error(`killed at ${step.call} ${step.n} of ${step.file}`, { cause: error });
          });
          if (wasKilled) killed += 1;
        }
        t.diagnostic(`${killed} times killed`);
        assert.ok(killed > 0, 'no process was killed at its step');
      },
    );
  },
);
