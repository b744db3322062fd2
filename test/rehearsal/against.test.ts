/**
 * A rehearsal against a given address: what is refused, and what a seeded defect of that service shows in the report.
 *
 * The defects are put into the process of the service: its turns take 2 ms more, or its prices a cent.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { RehearsalReport } from '#rehearsal/report/report.ts';
import { holdfast } from '../cli/holdfast.ts';
import { isClusterMode } from '../fixtures/cluster.ts';
import { newFolder } from '../fixtures/folders.ts';
import { builtProgram } from '../fixtures/program.ts';
import { until } from '../fixtures/until.ts';
import { bareEnvironment } from '../environment.ts';
import { openService, openServiceWith, spawnServiceFor, type TestService } from '../fixtures/service.ts';
import { concert, sellOut } from './sales.ts';

/** The data folder with the sale. */
let folder: string;
let sale: TestService | null = null;
before(async () => {
  if (isClusterMode) return;
  sale = await openServiceWith([concert()]);
  await sellOut(sale);
  folder = sale.folder;
});
after(() => sale?.close());

async function served(
  t: TestContext,
  environment: Record<string, string> = {},
  definition: object = concert(),
): Promise<TestService> {
  const service = await openService({ environment, clock: 'running' });
  t.after(() => service.close());
  await service.define(definition);
  return service;
}

/** A module that the service's process loads first, as the value of NODE_OPTIONS. */
function preloaded(t: TestContext, code: string): Record<string, string> {
  const folder = newFolder(t);
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, 'defect.mjs');
  writeFileSync(file, code);
  return { NODE_OPTIONS: `--import=${file}` };
}

/** Two milliseconds more in every turn of this process: subscribers of the channel run inside it. */
function slowTurns(t: TestContext): void {
  const wait = (): void => {
    const end = performance.now() + 2;
    while (performance.now() < end);
  };
  subscribe('holdfast:turn', wait);
  t.after(() => void unsubscribe('holdfast:turn', wait));
}

/** Every total is a cent too high. */
const WRONG_PRICES = `
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith('/domain/orders/pricing.ts')) return loaded;
      const source = String(loaded.source);
      const wrong = source.replace('const ticketsCents = item.quantity', 'const ticketsCents = 1 + item.quantity');
      if (wrong === source) throw new Error('the total is not where the defect expects it');
      return { ...loaded, source: wrong };
    },
  });
`;

async function rehearsed(args: readonly string[]): Promise<RehearsalReport> {
  const ended = await holdfast(['rehearse', ...args]);
  assert.equal(ended.code, 0, ended.stderr);
  return JSON.parse(
    readFileSync(path.join(args[args.indexOf('--report') + 1]!, 'rehearsal.json'), 'utf8'),
  ) as RehearsalReport;
}

const FAST = ['--speed', '10', '--look', '2', '--connections', '8'];

describe('rehearse --against', { skip: isClusterMode, concurrency: 2 }, () => {
  it('finds nothing different at a service of the same version, and a slower engine beside it', async (t) => {
    const out = newFolder(t);
    const good = await served(t, { SERVER_TIMING: 'on' });
    const first = await rehearsed([folder, ...FAST, '--against', good.publicUrl, '--report', path.join(out, 'good')]);
    // A busy machine takes longer to sell out.
    assert.deepEqual(
      first.differences.filter(({ what }) => what !== 'sold out after'),
      [],
    );
    assert.equal(first.now.seatsSold.length, 60);
    assert.equal(first.meter, null);
    const unsold = newFolder(t);
    writeFileSync(
      path.join(unsold, 'rehearsal.json'),
      JSON.stringify({ ...first, now: { ...first.now, soldOutAt: null } }),
    );
    const { stdout } = await holdfast(['rehearse', unsold]);
    assert.match(stdout, /^sold .* then; not sold out, sold out after [\d.]+ s then$/m);
    const slow = await served(t, { SERVER_TIMING: 'on' });
    slowTurns(t);
    const report = path.join(out, 'slow');
    const ended = await holdfast([
      'rehearse',
      folder,
      ...FAST,
      '--against',
      slow.publicUrl,
      '--report',
      report,
      '--compare',
      path.join(out, 'good'),
      '--json',
    ]);
    assert.equal(ended.code, 0, ended.stderr);
    const { comparison } = ended.json<{ comparison: { rows: { name: string; before: string; after: string }[] } }>();
    const turn = comparison.rows.find(({ name }) => name === 'in the service: turn p50')!;
    assert.ok(Number.parseFloat(turn.before) < 1.5 && Number.parseFloat(turn.after) >= 2, JSON.stringify(turn));
    const page = readFileSync(path.join(report, 'index.html'), 'utf8');
    assert.match(page, /Beside the earlier rehearsal/);
    assert.match(page, /in the service: turn p50/);
    assert.doesNotMatch(page, /(?:src|href)=/, 'the page loads nothing');
  });

  it('shows in the differences that an engine asks for other totals', async (t) => {
    const out = newFolder(t);
    const wrong = await spawnServiceFor(t, { environment: preloaded(t, WRONG_PRICES) });
    await wrong.define(concert());
    const { differences, otherTotals } = await rehearsed([
      folder,
      ...FAST,
      '--against',
      wrong.publicUrl,
      '--report',
      out,
    ]);
    assert.equal(otherTotals.orders, otherTotals.ofOrders);
    assert.equal(otherTotals.differenceCents, otherTotals.ofOrders);
    const totals = differences.find(({ what }) => what === 'totals of orders (in cents)');
    assert.match(totals!.now, /differ, together by \+\d+, such as (\d+)1 instead of (?:\1)0 for \d+ tickets/);
  });

  it('refuses a service without the sandbox, without the event, with another event, and one that does not answer', async (t) => {
    const [without, empty, other] = await Promise.all([
      served(t, { SANDBOX: 'off' }),
      served(t, {}, concert({ id: 'evt_else', slug: 'else' })),
      served(t, {}, concert({ sellingStages: [{ id: 'later', name: 'Later', prices: { seat: 1, stand: 1 } }] })),
    ]);
    const refused = async (url: string) => {
      const { code, stderr } = await holdfast(['rehearse', folder, ...FAST, '--against', url]);
      assert.equal(code, 1);
      return stderr;
    };
    assert.match(await refused(without.publicUrl), /has no payment sandbox/);
    assert.match(await refused(empty.publicUrl), /there is no event concert at/);
    assert.match(await refused(other.publicUrl), /it has no stage now/);
    assert.match(await refused('http://127.0.0.1:9'), /no service answers at http:\/\/127\.0\.0\.1:9/);
    const { body } = await without.get<{ ticketAvailability: { reserved: number }[] }>('/api/events/public/concert');
    assert.ok(
      body.ticketAvailability.every(({ reserved }) => reserved === 0),
      'nothing was held anywhere',
    );
  });

  it('is wrong use at an address that is not of this machine without --yes-load-this, and with --definition', async () => {
    const elsewhere = await holdfast(['rehearse', folder, '--against', 'http://192.0.2.1:8080']);
    assert.equal(elsewhere.code, 2);
    assert.match(elsewhere.stderr, /192\.0\.2\.1:8080 is not this machine: it is loaded only with --yes-load-this/);
    const wrong: readonly (readonly [string[], RegExp])[] = [
      [['--speed', 'fast'], /--speed is "fast": it must be a number/],
      [['--event', 'evt_consert'], /did you mean evt_concert/],
      [['--from', '2031-01-01T00:00:00Z'], /nobody bought anything of evt_concert in this period/],
      [['--compare', folder], /is no report/],
    ];
    for (const [args, line] of wrong) assert.match((await holdfast(['rehearse', folder, ...args])).stderr, line);
  });
});

describe('rehearse', { skip: isClusterMode }, () => {
  it('stops its service and removes its folder when it is interrupted', async (t) => {
    const temporary = newFolder(t);
    const child = spawn(process.execPath, [await builtProgram('holdfast'), 'rehearse', folder, '--speed', '0.05'], {
      cwd: fileURLToPath(new URL('../../', import.meta.url)),
      env: { ...bareEnvironment, TMPDIR: temporary },
      stdio: 'ignore',
    });
    const exited = once(child, 'exit');
    await until(() => readdirSync(temporary).some((name) => existsSync(path.join(temporary, name, 'journal.db'))));
    child.kill('SIGINT');
    assert.deepEqual(await exited, [130, null]);
    assert.deepEqual(readdirSync(temporary), []);
  });
});
