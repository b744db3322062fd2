import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { addressOf, baseUrlOf, readConfig, SETTINGS, type Config } from '#src/config.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

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
    logLevel: 'info',
    responseEnvelope: 'none',
    sandbox: true,
    sandboxClock: false,
    notify: null,
    ticketKey: null,
    webhookSecretA: null,
    webhookSecretB: null,
    stripe: null,
    corsOrigins: '*',
    trustProxy: false,
    rateLimitPerMinute: 0,
    freeBytesMin: null,
    liveEventsMax: 1000,
  });
});

test('an empty variable counts as one that is not set', () => {
  assert.deepEqual(configOf({ PORT: '', BASE_URL: '', ADMIN_TOKEN: '' }), configOf({}));
});

test('every setting is read', () => {
  const config = configOf({
    HOST: '0.0.0.0',
    PORT: '0',
    ADMIN_HOST: '::1',
    ADMIN_PORT: '9000',
    ADMIN_TOKEN: 'let-me-in',
    DATA_DIR: '/var/lib/holdfast',
    BASE_URL: 'https://tickets.example/',
    CATALOG: tmpdir(),
    LOG_LEVEL: 'silent',
    RESPONSE_ENVELOPE: 'data',
    SANDBOX: 'off',
    SANDBOX_CLOCK: 'on',
    NOTIFY_URL: 'https://hooks.example/in',
    NOTIFY_SECRET: secret,
    TICKET_KEY: Buffer.alloc(32, 1).toString('base64url'),
    WEBHOOK_SECRET_A: secret,
    WEBHOOK_SECRET_B: secret,
    STRIPE_SECRET_KEY: 'sk_test_0123456789',
    STRIPE_WEBHOOK_SECRET: 'whsec_0123456789',
    STRIPE_PROVIDER: 'provider_b',
    STRIPE_API_BASE: 'http://127.0.0.1:12111',
    CORS_ORIGINS: 'https://shop.example, http://localhost:5173',
    TRUST_PROXY: 'true',
    RATE_LIMIT_PER_MINUTE: '120',
    LIVE_EVENTS_MAX: '50',
  });
  assert.equal(config.baseUrl, 'https://tickets.example');
  assert.equal(config.port, 0);
  assert.deepEqual(config.notify, { url: 'https://hooks.example/in', secret });
  assert.deepEqual(config.stripe, {
    secretKey: 'sk_test_0123456789',
    webhookSecret: 'whsec_0123456789',
    provider: 'provider_b',
    apiBase: 'http://127.0.0.1:12111',
  });
  assert.deepEqual(config.corsOrigins, ['https://shop.example', 'http://localhost:5173']);
  assert.equal(config.trustProxy, true);
  assert.equal(config.sandbox, false);
  assert.equal(config.sandboxClock, true);
  assert.equal(config.rateLimitPerMinute, 120);
});

const badSettings: readonly (readonly [keyof typeof SETTINGS, string])[] = [
  ['PORT', '65536'],
  ['PORT', 'eighty'],
  ['PORT', '80.5'],
  ['ADMIN_PORT', '-1'],
  ['ADMIN_TOKEN', 'two words'],
  ['BASE_URL', 'tickets.example'],
  ['BASE_URL', 'ftp://tickets.example'],
  ['CATALOG', '/no/such/folder'],
  ['LOG_LEVEL', 'loud'],
  ['RESPONSE_ENVELOPE', 'result'],
  ['SANDBOX', 'yes'],
  ['SANDBOX_CLOCK', 'true'],
  ['STRIPE_PROVIDER', 'provider_c'],
  ['TICKET_KEY', 'short'],
  ['WEBHOOK_SECRET_A', 'not-whsec'],
  ['CORS_ORIGINS', 'shop.example'],
  ['CORS_ORIGINS', 'https://shop.example/path'],
  ['TRUST_PROXY', '1'],
  ['RATE_LIMIT_PER_MINUTE', 'off'],
  ['LIVE_EVENTS_MAX', '0'],
];

for (const [name, value] of badSettings) {
  test(`${name}=${value} is refused with one line that says what is allowed`, () => {
    const problems = problemsOf({ [name]: value });
    assert.equal(problems.length, 1);
    assert.ok(problems[0]?.startsWith(`${name} is `), problems[0]);
    assert.ok(problems[0]?.endsWith(`it must be ${SETTINGS[name].allowed}`), problems[0]);
    assert.equal(problems[0]?.includes(value), !('secret' in SETTINGS[name]), 'secrets are masked, other values shown');
  });
}

test('all bad settings are named at once', () => {
  const problems = problemsOf({ PORT: 'x', LOG_LEVEL: 'y', TRUST_PROXY: 'z' });
  assert.deepEqual(
    problems.map((line) => line.split(' ')[0]),
    ['PORT', 'LOG_LEVEL', 'TRUST_PROXY'],
  );
});

test('settings that belong together are asked for together', () => {
  assert.match(problemsOf({ NOTIFY_URL: 'https://hooks.example' })[0] ?? '', /^NOTIFY_SECRET is not set/);
  assert.match(problemsOf({ STRIPE_WEBHOOK_SECRET: 'whsec_0123456789' })[0] ?? '', /^STRIPE_SECRET_KEY is not set/);
});

test('the base address comes from the listener unless it is set', () => {
  assert.equal(baseUrlOf({ baseUrl: null, host: '127.0.0.1' }, 8080), 'http://127.0.0.1:8080');
  assert.equal(baseUrlOf({ baseUrl: 'https://tickets.example', host: '127.0.0.1' }, 8080), 'https://tickets.example');
  assert.equal(addressOf('0.0.0.0', 80), 'http://localhost:80');
  assert.equal(addressOf('::1', 80), 'http://[::1]:80');
});
