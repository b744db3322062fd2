import assert from 'node:assert/strict';
import { availableParallelism, tmpdir } from 'node:os';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { addressOf, baseUrlOf, readClusterConfig, readConfig, type Config } from '#service/config.ts';
import { SETTINGS } from '#service/settings.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const ticketKey = (byte: number): string => Buffer.alloc(32, byte).toString('base64url');

function configOf(environment: Record<string, string>): Config {
  const reading = readConfig(environment);
  assert.ok('config' in reading, `no problem expected: ${JSON.stringify(reading)}`);
  return reading.config;
}

function problemsOf(environment: Record<string, string>): readonly string[] {
  const reading = readConfig(environment);
  assert.ok('problems' in reading, 'a problem expected');
  return reading.problems;
}

test('every setting has a schema that is one', () => {
  const ajv = new Ajv();
  for (const [name, { schema }] of Object.entries(SETTINGS)) assert.equal(ajv.validateSchema(schema), true, name);
});

test('an empty environment gives the defaults', () => {
  const { limits, ...config } = configOf({});
  assert.equal(limits.bodyBytesMax, 262_144);
  assert.deepEqual(config, {
    host: '127.0.0.1',
    port: 8080,
    adminHost: '127.0.0.1',
    adminPort: 8081,
    adminToken: null,
    dataDir: './data',
    baseUrl: null,
    catalog: null,
    pictures: null,
    brand: null,
    logLevel: 'info',
    responseEnvelope: 'none',
    sandbox: true,
    sandboxClock: false,
    notify: null,
    mail: null,
    ticketKeys: null,
    webhookSecretA: null,
    webhookSecretB: null,
    stripe: null,
    corsOrigins: '*',
    trustProxy: false,
    nodeName: null,
    rateLimitPerMinute: 0,
    clientLimits: true,
    serverTiming: false,
    httpThreads: 1,
    freeBytesMin: null,
    pruneEveryHours: 24,
    keysLost: false,
    liveEventsMax: 1000,
    cluster: null,
  });
});

test('an empty variable counts as not set', () => {
  assert.deepEqual(configOf({ PORT: '', BASE_URL: '', ADMIN_TOKEN: '' }), configOf({}));
});

test('every setting is read', () => {
  const config = configOf({
    HOST: '0.0.0.0',
    PORT: '0',
    ADMIN_HOST: '::1',
    ADMIN_PORT: '9000',
    ADMIN_TOKEN: 'let-me-in-please',
    DATA_DIR: '/var/lib/holdfast',
    BASE_URL: 'https://tickets.example/',
    CATALOG: tmpdir(),
    PICTURES: tmpdir(),
    LOG_LEVEL: 'silent',
    RESPONSE_ENVELOPE: 'data',
    SANDBOX: 'off',
    SANDBOX_CLOCK: 'on',
    NOTIFY_URL: 'https://hooks.example/in',
    NOTIFY_SECRET: secret,
    TICKET_KEY: `${ticketKey(2)}, ${ticketKey(1)},${Buffer.alloc(32, 2).toString('base64')}`,
    WEBHOOK_SECRET_A: secret,
    WEBHOOK_SECRET_B: secret,
    STRIPE_SECRET_KEY: 'sk_test_0123456789',
    STRIPE_WEBHOOK_SECRET: 'whsec_0123456789',
    STRIPE_PROVIDER: 'provider_b',
    STRIPE_API_BASE: 'http://127.0.0.1:12111',
    CORS_ORIGINS: 'https://shop.example, http://localhost:5173',
    TRUST_PROXY: '10.0.0.0/8, 2001:db8::7',
    RATE_LIMIT_PER_MINUTE: '120',
    HTTP_THREADS: '3',
    PRUNE_EVERY_HOURS: '0.5',
    KEYS_LOST: 'accept',
    LIVE_EVENTS_MAX: '50',
  });
  assert.equal(config.keysLost, true);
  assert.equal(config.baseUrl, 'https://tickets.example');
  assert.equal(config.port, 0);
  assert.equal(config.pruneEveryHours, 0.5);
  assert.deepEqual(config.notify, { url: 'https://hooks.example/in', secret });
  assert.deepEqual(config.stripe, {
    secretKey: 'sk_test_0123456789',
    webhookSecret: 'whsec_0123456789',
    provider: 'provider_b',
    apiBase: 'http://127.0.0.1:12111',
  });
  assert.deepEqual(config.corsOrigins, ['https://shop.example', 'http://localhost:5173']);
  assert.deepEqual(config.trustProxy, ['10.0.0.0/8', '2001:db8::7']);
  assert.deepEqual(config.ticketKeys, [ticketKey(2), ticketKey(1)]);
  assert.equal(config.sandbox, false);
  assert.equal(config.sandboxClock, true);
  assert.equal(config.rateLimitPerMinute, 120);
  assert.equal(config.httpThreads, 3);
});

test('HTTP_THREADS=auto leaves two cores, and is 1 at least', () => {
  assert.equal(configOf({ HTTP_THREADS: 'auto' }).httpThreads, Math.max(1, availableParallelism() - 2));
});

/** A file in place of a folder. */
const file = fileURLToPath(import.meta.url);

/** What every node is given. */
const node = {
  NATS_URL: 'nats://a:4222,nats://b:4222,nats://c:4222',
  ADMIN_TOKEN: '0123456789abcdef',
  TICKET_KEY: ticketKey(1),
  WEBHOOK_SECRET_A: secret,
  WEBHOOK_SECRET_B: secret,
};

/** Settings that are required together, so that one bad value gives one problem. */
const partners = { STRIPE_SECRET_KEY: 'sk_test_0123456789', STRIPE_WEBHOOK_SECRET: 'whsec_0123456789' };

const badSettings: readonly (readonly [keyof typeof SETTINGS, string])[] = [
  ['PORT', '65536'],
  ['PORT', 'eighty'],
  ['PORT', '80.5'],
  ['PORT', ' '],
  ['PORT', '0x50'],
  ['RATE_LIMIT_PER_MINUTE', '1e3'],
  ['DATA_DIR', file],
  ['DATA_DIR', `${file}/data`],
  ['ADMIN_PORT', '-1'],
  ['ADMIN_TOKEN', 'two words are no token'],
  ['ADMIN_TOKEN', 'fifteen-letters'],
  ['BASE_URL', 'tickets.example'],
  ['BASE_URL', 'ftp://tickets.example'],
  ['BASE_URL', 'https://tickets.example/?a=b'],
  ['BASE_URL', 'https://tickets.example/shop#top'],
  ['CATALOG', '/no/such/folder'],
  ['PICTURES', file],
  ['LOG_LEVEL', 'loud'],
  ['RESPONSE_ENVELOPE', 'result'],
  ['SANDBOX', 'yes'],
  ['SANDBOX_CLOCK', 'true'],
  ['STRIPE_PROVIDER', 'provider_c'],
  ['STRIPE_SECRET_KEY', 'sk_test_1234567'],
  ['STRIPE_WEBHOOK_SECRET', 'whsec_123456789'],
  ['TICKET_KEY', 'short'],
  ['TICKET_KEY', `${ticketKey(1)},short`],
  ['TICKET_KEY', `${ticketKey(1)},`],
  ['TICKET_KEY', Array.from({ length: 11 }, (_, byte) => ticketKey(byte)).join(',')],
  ['WEBHOOK_SECRET_A', 'not-whsec'],
  ['WEBHOOK_SECRET_A', `whsec_${Buffer.alloc(15, 7).toString('base64')}`],
  ['WEBHOOK_SECRET_B', `whsec_${'a'.repeat(25)}`],
  ['CORS_ORIGINS', 'shop.example'],
  ['CORS_ORIGINS', 'https://shop.example/path'],
  ['TRUST_PROXY', 'true'],
  ['TRUST_PROXY', '33'],
  ['TRUST_PROXY', '-1'],
  ['TRUST_PROXY', '10.0.0.0/33'],
  ['TRUST_PROXY', '0.0.0.0/0'],
  ['TRUST_PROXY', '10.0.0.1,'],
  ['TRUST_PROXY', 'proxy.example'],
  ['RATE_LIMIT_PER_MINUTE', 'off'],
  ['HTTP_THREADS', '0'],
  ['HTTP_THREADS', '65'],
  ['HTTP_THREADS', '1.5'],
  ['HTTP_THREADS', 'all'],
  ['PRUNE_EVERY_HOURS', '-1'],
  ['PRUNE_EVERY_HOURS', 'daily'],
  ['PRUNE_EVERY_HOURS', ' '],
  ['PRUNE_EVERY_HOURS', '1e3'],
  ['KEYS_LOST', 'on'],
  ['LIVE_EVENTS_MAX', '0'],
];

const badClusterSettings: readonly (readonly [keyof typeof SETTINGS, string])[] = [
  ['NATS_URL', 'a:4222'],
  ['NATS_URL', 'http://a:4222'],
  ['NATS_URL', 'nats://a:4222,'],
  ['NATS_URL', 'nats://a:4222/x'],
  ['NATS_URL', Array.from({ length: 17 }, (_, i) => `nats://n${i}`).join(',')],
  ['NODE_NAME', 'two words'],
  ['NODE_NAME', 'n'.repeat(65)],
  ['CLUSTER_NAME', 'shop.one'],
  ['CLUSTER_NAME', 's'.repeat(33)],
  ['CLUSTER_SHARDS', '0'],
  ['CLUSTER_SHARDS', '257'],
  ['CLUSTER_REPLICAS', '6'],
  ['CLUSTER_REPLICAS', '1.5'],
  ['NATS_CREDS', '/no/such/file'],
  ['NATS_CREDS', tmpdir()],
  ['NATS_CA', '/no/such/file'],
  ['NATS_MONITOR_URL', 'a:8222'],
  ['NATS_MONITOR_URL', 'http://a:8222/jsz'],
];

for (const [name, value] of [...badSettings, ...badClusterSettings]) {
  test(`${name}=${value} is refused with one line that says what is allowed`, () => {
    const isClusters = badClusterSettings.some(([setting]) => setting === name);
    const problems = problemsOf({ ...(isClusters ? node : partners), [name]: value });
    assert.equal(problems.length, 1);
    assert.ok(problems[0]?.startsWith(`${name} is `), problems[0]);
    assert.ok(problems[0]?.endsWith(`it must be ${SETTINGS[name].allowed}`), problems[0]);
    assert.equal(problems[0]?.includes(value), !('secret' in SETTINGS[name]), 'secrets are masked, other values shown');
  });
}

test('an address with user and password is refused, and the password not shown', () => {
  for (const name of ['BASE_URL', 'STRIPE_API_BASE'] as const) {
    const [line = '', ...more] = problemsOf({ [name]: 'https://ada:hunter2@tickets.example/x' });
    assert.deepEqual(more, []);
    assert.match(
      line,
      new RegExp(`^${name} is "https://…@tickets\\.example/x": it must be .* without user and password`),
    );
    assert.doesNotMatch(line, /hunter2/);
  }
  assert.equal(configOf({ BASE_URL: 'https://tickets.example/@home' }).baseUrl, 'https://tickets.example/@home');
});

test('every problem is one line, whatever the value', () => {
  const problems = problemsOf({ LOG_LEVEL: 'in\nfo', HOST: '', PORT: '1\n2', TRUST_PROXY: 'a\r\nb' });
  assert.deepEqual(
    problems.map((line) => line.split(/[\r\n]/).length),
    [1, 1, 1],
  );
});

test('all bad settings are named at once', () => {
  const problems = problemsOf({ PORT: 'x', LOG_LEVEL: 'y', TRUST_PROXY: 'z' });
  assert.deepEqual(
    problems.map((line) => line.split(' ')[0]),
    ['PORT', 'LOG_LEVEL', 'TRUST_PROXY'],
  );
});

test('settings that belong together are required together', () => {
  assert.match(problemsOf({ NOTIFY_URL: 'https://hooks.example' })[0] ?? '', /^NOTIFY_SECRET is not set/);
  assert.match(problemsOf({ STRIPE_WEBHOOK_SECRET: 'whsec_0123456789' })[0] ?? '', /^STRIPE_SECRET_KEY is not set/);
});

test('the sandbox is on by default, and off once Stripe takes payments', () => {
  assert.equal(configOf({}).sandbox, true);
  assert.equal(configOf(partners).sandbox, false);
  assert.equal(configOf({ ...partners, SANDBOX: 'on' }).sandbox, true);
});

test('TRUST_PROXY takes false, a number of proxies, or their addresses and ranges', () => {
  const trustOf = (text: string) => configOf({ TRUST_PROXY: text }).trustProxy;
  assert.deepEqual(['false', '0', '2', '::1', '10.0.0.1, fd00::/8'].map(trustOf), [
    false,
    0,
    2,
    ['::1'],
    ['10.0.0.1', 'fd00::/8'],
  ]);
  assert.match(problemsOf({ TRUST_PROXY: 'true' })[0] ?? '', /instead of true: 1 for one proxy/);
});

test('a secret of 16 characters, and one of 16 bytes in base64, is long enough', () => {
  const bytes = `whsec_${Buffer.alloc(16, 7).toString('base64')}`;
  const config = configOf({
    ADMIN_TOKEN: '0123456789abcdef',
    WEBHOOK_SECRET_A: bytes,
    WEBHOOK_SECRET_B: bytes.replaceAll('=', ''),
  });
  assert.equal(config.adminToken, '0123456789abcdef');
  assert.equal(config.webhookSecretA, bytes);
});

test('the base address comes from the listener unless it is set', () => {
  assert.equal(baseUrlOf({ baseUrl: null, host: '127.0.0.1' }, 8080), 'http://127.0.0.1:8080');
  assert.equal(baseUrlOf({ baseUrl: 'https://tickets.example', host: '127.0.0.1' }, 8080), 'https://tickets.example');
  assert.equal(addressOf('0.0.0.0', 80), 'http://localhost:80');
  assert.equal(addressOf('::1', 80), 'http://[::1]:80');
});

test('with NATS_URL the process is a node, of the cluster that the settings describe', () => {
  assert.deepEqual(configOf({ ...node, NODE_NAME: 'north-1' }).cluster, {
    servers: ['nats://a:4222', 'nats://b:4222', 'nats://c:4222'],
    nodeName: 'north-1',
    clusterName: 'holdfast',
    shards: 64,
    replicas: 3,
    ticketKeys: [node.TICKET_KEY],
    credsPath: null,
    user: null,
    password: null,
    token: null,
    caPath: null,
    monitorUrls: [],
  });
  const all = configOf({
    ...node,
    NATS_URL: 'tls://a.example , nats://[::1]:4222',
    CLUSTER_NAME: 'Shop_2-b',
    CLUSTER_SHARDS: '16',
    CLUSTER_REPLICAS: '1',
    NATS_CREDS: file,
    NATS_USER: 'ada',
    NATS_PASSWORD: 'hunter2',
    NATS_TOKEN: 'a token',
    NATS_CA: file,
    NATS_MONITOR_URL: 'http://a:8222/, https://b.example',
  }).cluster;
  const { nodeName, ...rest } = all!;
  assert.match(nodeName, /^[A-Za-z0-9._-]+-[0-9a-f]{8}$/);
  assert.deepEqual(rest, {
    servers: ['tls://a.example', 'nats://[::1]:4222'],
    clusterName: 'Shop_2-b',
    shards: 16,
    replicas: 1,
    ticketKeys: [node.TICKET_KEY],
    credsPath: file,
    user: 'ada',
    password: 'hunter2',
    token: 'a token',
    caPath: file,
    monitorUrls: ['http://a:8222', 'https://b.example'],
  });
});

test('two nodes of one machine get different names', () => {
  assert.notEqual(configOf(node).cluster!.nodeName, configOf(node).cluster!.nodeName);
});

test('every secret that nodes share and that is missing with NATS_URL is named, beside other problems', () => {
  const problems = problemsOf({ NATS_URL: 'nats://a:4222', CLUSTER_NAME: 'a b', WEBHOOK_SECRET_B: secret });
  assert.deepEqual(
    problems.map((line) => line.split(': ')[0]),
    [
      'ADMIN_TOKEN is not set, but all nodes of a cluster need the same',
      'TICKET_KEY is not set, but all nodes of a cluster need the same',
      'WEBHOOK_SECRET_A is not set, but all nodes of a cluster need the same',
      'CLUSTER_NAME is "a b"',
    ],
  );
});

test('SANDBOX_CLOCK=on is refused with NATS_URL', () => {
  assert.deepEqual(problemsOf({ ...node, SANDBOX_CLOCK: 'on' }), [
    'SANDBOX_CLOCK is "on": it must be off with NATS_URL, because it moves the time of one node only',
  ]);
});

test('another setting of NATS without NATS_URL is refused, so that a misspelled node does not sell by itself', () => {
  for (const name of ['NATS_CREDS', 'NATS_CA', 'NATS_TOKEN', 'NATS_MONITOR_URL'] as const) {
    const value = name === 'NATS_MONITOR_URL' ? 'http://a:8222' : file;
    const [line = '', ...more] = problemsOf({ [name]: value });
    assert.match(line, /^NATS_URL is not set: it must be the NATS servers/);
    assert.deepEqual(more, []);
  }
  assert.equal(configOf({ NODE_NAME: 'worker-7', CLUSTER_NAME: 'prod' }).cluster, null);
});

test('NATS_USER and NATS_PASSWORD are required together, and passwords are not shown', () => {
  assert.match(problemsOf({ ...node, NATS_USER: 'ada' })[0] ?? '', /^NATS_PASSWORD is not set/);
  const problems = problemsOf({ ...node, NATS_URL: 'nats://ada:hunter2@a:4222,nats://ada:hunter2@b:4222' });
  assert.equal(problems.length, 1);
  assert.match(problems[0]!, /^NATS_URL is "nats:\/\/…@b:4222": it must be .* without user and password/);
});

test('a command that is no node reads how to reach the servers, and needs no secret of the nodes, but may have TICKET_KEY', () => {
  const environment = { NATS_URL: 'nats://a:4222', CLUSTER_NAME: 'shop', NODE_NAME: 'x', PORT: 'not its concern' };
  const reading = readClusterConfig(environment);
  assert.ok('cluster' in reading);
  const ofNode = configOf({ ...node, ...environment, PORT: '1' }).cluster;
  assert.deepEqual(reading.cluster, { ...ofNode, ticketKeys: null });
  const withKey = readClusterConfig({ ...environment, TICKET_KEY: node.TICKET_KEY });
  assert.deepEqual('cluster' in withKey && withKey.cluster, ofNode);
  const bad = readClusterConfig({ CLUSTER_SHARDS: '0', NATS_CA: '/no/such/file', NATS_USER: 'ada' });
  assert.ok('problems' in bad);
  assert.deepEqual(
    bad.problems.map((line) => line.split(' is ')[0]),
    ['NATS_URL', 'CLUSTER_SHARDS', 'NATS_PASSWORD', 'NATS_CA'],
  );
});
