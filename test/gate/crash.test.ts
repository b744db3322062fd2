/** A gate as a process: kill -9 at any moment, its files, its exit codes, and the commands that read its folder. */
import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { it, type TestContext } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { checkArguments } from '#gate/serve.ts';
import { holdfast, holdfastProcess, succeeded } from '../cli/holdfast.ts';
import { bareEnvironment } from '../environment.ts';
import { bodyOf, clientOf, type Caller, type Json } from '../fixtures/client.ts';
import {
  buyTickets,
  codesOf,
  countsOf,
  doorsGala,
  makeStation,
  scanOf,
  sendScans,
  verdictsOf,
  type MadeStation,
} from '../fixtures/doors.ts';
import { filesWith, newFolder } from '../fixtures/folders.ts';
import { builtProgram } from '../fixtures/program.ts';
import { ofOneMachine, openServiceFor, type TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const ROUNDS = 3;
const ORDERS = 4;
const PER_ORDER = 6;
const TICKETS = ORDERS * PER_ORDER;
const skip = ofOneMachine('a gate has one service');

interface Running {
  readonly child: ChildProcess;
  readonly client: Caller;
}

async function startProcess(t: TestContext, args: readonly string[]): Promise<Running> {
  const child = spawn(process.execPath, [await builtProgram('holdfast'), 'gate', ...args, '--port', '0'], {
    env: bareEnvironment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  for await (const line of createInterface(child.stdout!)) {
    const { msg, gate } = JSON.parse(line) as { readonly msg: string; readonly gate: string };
    if (msg !== 'ready') continue;
    child.stdout!.resume();
    return { child, client: clientOf([gate], [gate], 'none') };
  }
  throw new Error('it ended before it was ready');
}

/** Sends scans one after another until the process is gone; what was answered is in the ledger. */
async function scanUntilGone(
  client: Caller,
  station: MadeStation,
  scans: readonly Json[],
  ledger: Map<string, string>,
) {
  for (const scan of scans) {
    try {
      const { status, body } = await sendScans(client, station, [scan]);
      if (status === 200) ledger.set(String(scan['id']), verdictsOf(body.results)[0]!);
    } catch {
      return;
    }
  }
}

async function setUp(
  t: TestContext,
): Promise<{ service: TestService; args: string[]; folder: string; gate: MadeStation }> {
  const service = await openServiceFor(t, [doorsGala()]);
  const gate = await makeStation(service, { kind: 'GATE' });
  const folder = path.join(newFolder(t), 'data');
  const tokenFile = path.join(newFolder(t), 'gate.token');
  writeFileSync(tokenFile, `${gate.token}\n`);
  return {
    service,
    folder,
    gate,
    args: ['--upstream', service.publicUrl, '--token-file', tokenFile, '--data', folder],
  };
}

it('loses and doubles no scan when it is killed, and its folder can be read and has no secret', { skip }, async (t) => {
  const { service, args, folder, gate } = await setUp(t);
  const station = await makeStation(service);
  const codes: string[] = [];
  for (let count = 0; count < ORDERS; count += 1)
    codes.push(...codesOf(await buyTickets(service, 'single', PER_ORDER)));
  const ledger = new Map<string, string>();
  // Each ticket is scanned twice at once.
  const scans = codes.flatMap((code) => [scanOf(service, code), scanOf(service, code)]);
  let running = await startProcess(t, args);
  await until(async () => (await running.client.get('/health/ready')).status === 200);
  for (let round = 0; round < ROUNDS; round += 1) {
    const part = scans.slice((round * scans.length) / ROUNDS, ((round + 1) * scans.length) / ROUNDS);
    const halves = [part.filter((_, place) => place % 2 === 0), part.filter((_, place) => place % 2 === 1)];
    const stations = halves.map((half) => scanUntilGone(running.client, station, half, ledger));
    await pause(20 + round * 37);
    running.child.kill('SIGKILL');
    await once(running.child, 'close');
    await Promise.all(stations);
    running = await startProcess(t, args);
    // What had no answer is sent again, and so is what had one.
    for (const scan of part) {
      const body = bodyOf(await sendScans(running.client, station, [scan]));
      const verdict = verdictsOf(body.results)[0]!;
      const known = ledger.get(String(scan['id']));
      if (known !== undefined) assert.deepEqual([verdict, body.results[0]!.repeated], [known, true]);
      ledger.set(String(scan['id']), verdict);
    }
  }
  const verdicts = [...ledger.values()];
  assert.deepEqual(verdicts.toSorted(), [...Array(TICKETS).fill('ADMIT'), ...Array(TICKETS).fill('ALREADY_ADMITTED')]);
  const isSent = async (): Promise<boolean> => (await countsOf(service)).refused['ALREADY_ADMITTED'] === TICKETS;
  await until(isSent);
  const { entries, admitted, conflicts } = await countsOf(service);
  assert.deepEqual([entries, admitted, conflicts], [TICKETS, TICKETS, 0]);
  running.child.kill('SIGTERM');
  assert.deepEqual(await once(running.child, 'close'), [0, null]);
  // What the service knows of people, tokens and keys is not there.
  for (const text of [gate.token, station.token, /@/, /PRIVATE KEY/, /"d":/]) {
    const what = typeof text === 'string' ? Buffer.from(text) : text;
    const found = filesWith(folder, what).filter((file) => !(what instanceof RegExp && file.startsWith('journal.db')));
    assert.deepEqual(found, typeof text === 'string' ? [] : found.filter((file) => file === 'keys.db'), String(text));
  }
  const facts = await holdfast(['journal', folder, '--json']);
  assert.ok(facts.stdout.includes('FeedTaken') && !/@|gtk_|"personal"/.test(facts.stdout), facts.stderr);
  succeeded(await holdfast(['verify', folder]));
  const backup = path.join(newFolder(t), 'backup');
  succeeded(await holdfast(['backup', backup, '--data', folder]));
  succeeded(await holdfast(['verify', backup]));
});

it('ends with exit code 2 and one line where it cannot be a gate', { skip }, async (t) => {
  const { service, args } = await setUp(t);
  const station = await makeStation(service, { name: 'Phone' });
  const tokenFile = path.join(newFolder(t), 'token');
  const refuses = async (changed: readonly string[], line: RegExp): Promise<void> => {
    const { code, stderr } = await holdfastProcess(['gate', ...changed]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, line);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  };
  writeFileSync(tokenFile, station.token);
  await refuses(
    args.with(3, tokenFile),
    /^holdfast gate: the token is of station "Phone": make one with "kind": "GATE"/,
  );
  await refuses(args.with(1, 'tickets'), /--upstream is "tickets": it must be the public http or https address/);
  // What the process ends with is one and the same for all of these.
  const files = { tlsCert: null, tlsKey: null };
  const given = { upstream: service.publicUrl, tokenFile: args[3]!, data: '/none', host: null, port: null, ...files };
  const refusesArguments = (changed: object, line: RegExp): void => {
    const checked = checkArguments({ ...given, ...changed }, {});
    assert.ok('problem' in checked);
    assert.match(checked.problem, line);
    assert.doesNotMatch(checked.problem, /\n/);
  };
  refusesArguments({ tokenFile: '/none' }, /--token-file \/none cannot be read: ENOENT/);
  refusesArguments({ tlsCert: tokenFile }, /--tls-cert and --tls-key go together/);
  refusesArguments({ tlsCert: tokenFile, tlsKey: tokenFile }, /are no certificate and its key/);
  refusesArguments({ port: 'many' }, /PORT is "many"/);
  writeFileSync(tokenFile, 'ord_1_x');
  refusesArguments({ tokenFile }, /has no token of a gate/);
  assert.match((await holdfast(['gate'])).stderr, /^holdfast gate: --upstream is missing .*\n$/);
});
