import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '#operations/free-ports.ts';
import { sample } from '../fixtures/events.ts';
import {
  openService,
  runToEnd,
  type ServiceProcess,
  spawnService,
  spawnServiceFor,
  serviceWith,
} from '../fixtures/service.ts';
import { newFolder } from '../fixtures/folders.ts';

const singles = (sessionKey: string, quantity = 1) => ({
  event_id: 'evt_club',
  session_key: sessionKey,
  items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity }],
});

test('npm start prints the addresses, and a curl command that holds two seats', async (t) => {
  const service = await spawnServiceFor(t, { demo: true });
  const line = await service.shows(/curl -s .*/);
  assert.ok(line.includes(service.publicUrl), service.printed());
  const body = /-d '([^']*)'/.exec(service.printed())?.[1];
  const hold = await service.call<{ items: { seat_ids: string[] }[] }>('POST', '/api/checkout/holds', { body: body! });
  assert.equal(hold.status, 201, JSON.stringify(hold.body));
  assert.equal(hold.body.items[0]?.seat_ids.length, 2);
  for (const page of [`${service.publicUrl}/`, `${service.publicUrl}/docs`, `${service.publicUrl}/openapi.json`]) {
    assert.equal((await fetch(page)).status, 200, page);
  }
  assert.equal(readFileSync(path.join(service.folder, 'holdfast.pid'), 'utf8').trim(), String(service.pid));
  assert.equal(await service.end('SIGTERM'), 0);
  assert.ok(!existsSync(path.join(service.folder, 'holdfast.pid')));
});

test('an answered hold is present after kill -9, and two Ctrl-C stop the process with exit code 0', async (t) => {
  const first = await spawnServiceFor(t);
  await first.define(sample('club-night'));
  const placed = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      first.call<{ id: string }>('POST', '/api/checkout/holds', { body: singles(`session-${n}`) }),
    ),
  );
  assert.equal(await first.end('SIGKILL'), null);
  const second = await spawnServiceFor(t, { folder: first.folder });
  const said = async ({ shows }: ServiceProcess) => JSON.parse(await shows(/"msg":"ready"/)) as Record<string, unknown>;
  const [begun, goneOn] = [await said(first), await said(second)];
  assert.deepEqual([begun['facts'], begun['lastStop'], begun['adminToken']], [0, 'none', 'ADMIN_TOKEN']);
  assert.deepEqual([goneOn['events'], goneOn['afterFact'], goneOn['lastStop']], [1, 0, 'not clean']);
  assert.ok(Number(goneOn['facts']) > 20);
  for (const [n, { status, body }] of placed.entries()) {
    assert.equal(status, 201);
    const read = await second.call('GET', `/api/checkout/holds/${body.id}`, { sessionKey: `session-${n}` });
    assert.deepEqual(read.body, body);
  }
  const ended = second.end('SIGINT');
  process.kill(second.pid, 'SIGINT');
  assert.equal(await ended, 0);
});

test('bad settings and a bad catalogue end the process with exit code 2, with a line for every problem', async (t) => {
  const settings = await runToEnd({ environment: { PORT: 'x', LOG_LEVEL: 'loud' } });
  assert.equal(settings.code, 2);
  assert.match(settings.text, /^PORT is "x": it must be .*\nLOG_LEVEL is "loud": it must be .*$/);

  const folder = newFolder(t);
  const file = path.join(folder, 'bad.json');
  writeFileSync(file, '{"id": "evt_bad", "curency": "EUR"}');
  const catalogue = await runToEnd({ environment: { CATALOG: file } });
  assert.equal(catalogue.code, 2);
  assert.match(catalogue.text, /bad\.json.*slug.*is required/);
  assert.match(catalogue.text, /bad\.json \/curency: unknown field; did you mean currency\?/);
});

test('a short secret ends the process with exit code 2 and one line, which does not show the secret', async () => {
  const short = { ADMIN_TOKEN: 'fifteen-letters', WEBHOOK_SECRET_A: 'whsec_c2hvcnQ=', TRUST_PROXY: 'true' };
  const { code, text } = await runToEnd({ environment: short });
  assert.equal(code, 2);
  const [token, webhook, proxy, ...more] = text.split('\n');
  assert.match(token!, /^ADMIN_TOKEN is \(a secret, not shown\): it must be 16 to 512 /);
  assert.match(webhook!, /^WEBHOOK_SECRET_A is \(a secret, not shown\): it must be whsec_ .* at least 16 bytes/);
  assert.match(proxy!, /^TRUST_PROXY is "true": .*instead of true: 1 for one proxy/);
  assert.deepEqual(more, []);
  assert.doesNotMatch(text, /fifteen-letters|c2hvcnQ/);
});

test('a damaged journal ends the process with exit code 5', async (t) => {
  const folder = newFolder(t);
  writeFileSync(path.join(folder, 'journal.db'), 'this is no database'.repeat(500));
  const { code, text } = await runToEnd({ folder });
  assert.equal(code, 5, text);
});

test('a catalogue is loaded at start, and loading it again changes nothing', async (t) => {
  const service = await openService({ environment: { CATALOG: 'src/catalogue/samples/club-night.json' } });
  t.after(() => service.close());
  const version = async () =>
    (await service.operate<{ version: number }>('GET', '/admin/events/evt_club')).body.version;
  assert.equal(await version(), 1);
  const held = await service.call<{ id: string }>('POST', '/api/checkout/holds', { body: singles('session-one') });
  await service.restart();
  assert.equal(await version(), 1);
  const read = await service.call('GET', `/api/checkout/holds/${held.body.id}`, { sessionKey: 'session-one' });
  assert.deepEqual(read.body, held.body);
});

describe('A process without settings', () => {
  let service: ServiceProcess;
  before(async () => {
    service = await spawnService({ environment: { ADMIN_TOKEN: '' } });
  });
  after(() => service.close());

  it('warns that anybody can pay without money', async () => {
    await service.shows(/"level":40.*the sandbox is on: anybody can pay for nothing/);
  });

  it('makes an ADMIN_TOKEN, readable by its owner alone, and never logs it', async () => {
    const file = path.join(service.folder, 'admin-token');
    const token = readFileSync(file, 'utf8').trim();
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(service.printed().includes('admin-token') && !service.printed().includes(token));
    const headers = { authorization: `Bearer ${token}` };
    assert.equal((await service.operate('GET', '/admin/events', { headers })).status, 200);
    assert.equal((await service.operate('GET', '/admin/events')).status, 401);
  });

  it('stops although a client never finishes its request', async () => {
    const { port } = new URL(service.publicUrl);
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => {});
    socket.write(
      'POST /api/checkout/holds HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{',
    );
    await service.call('GET', '/health/live');
    assert.equal(await service.end('SIGTERM'), 0);
  });

  it('and then with Stripe warns when no payment is possible, and when issued codes cannot be checked', async (t) => {
    const stripe = { STRIPE_SECRET_KEY: 'sk_test_0123456789', STRIPE_WEBHOOK_SECRET: 'whsec_0123456789' };
    const ticketKey = { TICKET_KEY: Buffer.alloc(32, 7).toString('base64url') };
    const selling = await spawnServiceFor(t, { folder: service.folder, environment: { ...stripe, ...ticketKey } });
    await selling.shows(/"level":40.*"providers":\["provider_b"\]/);
    await selling.shows(/"level":40.*TICKET_KEY does not list the key that is kept here/);
    assert.doesNotMatch(selling.printed(), /the sandbox is on/);
    assert.equal((await selling.call('POST', '/sandbox/outage', { body: { seconds: 1 } })).status, 404);
  });
});

describe('While a service runs', () => {
  const service = serviceWith([], {}, { demo: true });

  it('a process on its port ends with exit code 2', async () => {
    const { port } = new URL(service.publicUrl);
    const { code, text } = await runToEnd({ environment: { PORT: port } });
    assert.equal(code, 2);
    assert.match(text, new RegExp(`PORT is ${port}: it must be a port that nobody else listens on`));
  });

  it('a process with one port for both listeners is told so, whatever their hosts', async () => {
    const port = String(await freePort());
    for (const [host, threads] of [
      ['127.0.0.1', '1'],
      ['0.0.0.0', '1'],
      ['localhost', '1'],
      ['0.0.0.0', '2'],
    ] as const) {
      const environment = { HOST: host, PORT: port, ADMIN_PORT: port, HTTP_THREADS: threads };
      const { code, text } = await runToEnd({ environment });
      assert.equal(code, 2);
      assert.match(text, new RegExp(`ADMIN_PORT is ${port}: it must be another one than PORT`));
    }
  });

  it('a process on its folder ends with exit code 3 and leaves the folder untouched', async () => {
    const { code, text } = await runToEnd({ folder: service.folder });
    assert.equal(code, 3);
    assert.match(text, /is in use/);
    await service.define(sample('club-night', { description: 'still served' }));
  });

  it(
    'the command that the page of a fresh machine shows works with plain curl',
    { skip: !existsSync('/usr/bin/curl') && 'curl is not installed' },
    async () => {
      const { stdout } = await promisify(execFile)('curl', ['-s', `${service.publicUrl}/api/events/public`]);
      assert.equal((JSON.parse(stdout) as { events: unknown[] }).events.length, 7);
    },
  );
});
