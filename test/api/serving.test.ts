import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '#operations/free-ports.ts';
import { readConfig, type Config } from '#service/config.ts';
import { reasonOf } from '#service/serve.ts';
import {
  ADMIN_TOKEN,
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

test('bad settings end the process with exit code 2, with a line for every problem, which shows no secret', async () => {
  const secrets = { ADMIN_TOKEN: 'fifteen-letters', WEBHOOK_SECRET_A: 'whsec_c2hvcnQ=' };
  const { code, text } = await runToEnd({
    environment: { PORT: 'x', LOG_LEVEL: 'loud', TRUST_PROXY: 'true', ...secrets },
  });
  assert.equal(code, 2);
  const expected = [
    /^PORT is "x": it must be /,
    /^ADMIN_TOKEN is \(a secret, not shown\): it must be 16 to 512 /,
    /^WEBHOOK_SECRET_A is \(a secret, not shown\): it must be whsec_ .* at least 16 bytes/,
    /^TRUST_PROXY is "true": .*instead of true: 1 for one proxy/,
    /^LOG_LEVEL is "loud": it must be /,
  ];
  const lines = text.split('\n');
  assert.equal(lines.length, expected.length, text);
  for (const line of expected)
    assert.ok(
      lines.some((said) => line.test(said)),
      `${line}:\n${text}`,
    );
  assert.doesNotMatch(text, /fifteen-letters|c2hvcnQ/);
});

test('a bad catalogue ends the process with exit code 2, with a line for every problem', async (t) => {
  const file = path.join(newFolder(t), 'bad.json');
  writeFileSync(file, '{"id": "evt_bad", "curency": "EUR"}');
  const { code, text } = await runToEnd({ environment: { CATALOG: file } });
  assert.equal(code, 2);
  assert.match(text, /bad\.json.*slug.*is required/);
  assert.match(text, /bad\.json \/curency: unknown field; did you mean currency\?/);
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

test('one port for both listeners is a bad setting, whatever their hosts', async () => {
  const port = String(await freePort());
  for (const [host, threads] of [
    ['127.0.0.1', '1'],
    ['0.0.0.0', '1'],
    ['localhost', '1'],
    ['0.0.0.0', '2'],
  ] as const) {
    const environment = { HOST: host, PORT: port, ADMIN_PORT: port, HTTP_THREADS: threads };
    const { config } = readConfig({ ADMIN_TOKEN, ...environment }) as { readonly config: Config };
    const refused = await openService({ environment }).catch((error: unknown) => reasonOf(error, config));
    assert.ok('code' in refused, `${host} with ${threads} threads`);
    assert.equal(refused.code, 2);
    assert.match(refused.lines.join(), new RegExp(`ADMIN_PORT is ${port}: it must be another one than PORT`));
  }
});

describe('While a service runs', () => {
  const service = serviceWith([], {}, { demo: true });

  it('a process on its port ends with exit code 2', async () => {
    const { port } = new URL(service.publicUrl);
    const { code, text } = await runToEnd({ environment: { PORT: port } });
    assert.equal(code, 2);
    assert.match(text, new RegExp(`PORT is ${port}: it must be a port that nobody else listens on`));
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
