/** What every answer has in common: headers, CORS, envelope, and bodies that match the OpenAPI document. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { InjectOptions } from 'fastify';
import { sample } from '../fixtures/events.ts';
import { ADMIN_TOKEN, clubHold, openApps, type Apps } from './apps.ts';

const HOLDS = '/api/checkout/holds';
const ORIGIN = 'https://shop.example';

let apps: Apps;
before(async () => {
  apps = await openApps();
});
after(() => apps.close());

describe('request ids', () => {
  const idOf = async (given?: string) =>
    (
      await apps.app.inject({
        url: '/api/events/public',
        headers: given === undefined ? {} : { 'x-request-id': given },
      })
    ).headers['x-request-id'];

  test('a valid one is echoed', async () => {
    for (const given of ['a', 'trace-1.2_3', 'x'.repeat(128)]) assert.equal(await idOf(given), given);
  });

  test('another is replaced', async () => {
    for (const given of ['', 'x'.repeat(129), 'two words', 'crlf%0d%0a', 'ünïcode']) {
      assert.match(String(await idOf(given)), /^[A-Za-z0-9_-]{3,40}$/);
    }
  });

  test('each request gets one of its own', async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, () => idOf()));
    assert.equal(new Set(ids).size, 20);
  });
});

test('every answer has the interface version and forbids sniffing', async () => {
  for (const url of ['/', '/docs', '/openapi.json', '/health/live', '/api/events/public', '/nowhere', '/%zz']) {
    const { headers } = await apps.app.inject(url);
    assert.equal(headers['x-api-version'], '1.3.0', url);
    assert.equal(headers['x-content-type-options'], 'nosniff', url);
    assert.ok(headers['x-request-id'], url);
  }
});

describe('calls from a browser of another origin', () => {
  test('a preflight allows every method of the API and is kept for a day', async () => {
    for (const method of ['POST', 'PATCH', 'DELETE']) {
      const { statusCode, headers } = await apps.app.inject({
        method: 'OPTIONS',
        url: HOLDS,
        headers: {
          origin: ORIGIN,
          'access-control-request-method': method,
          'access-control-request-headers': 'content-type,x-session-key,idempotency-key',
        },
      });
      assert.equal(statusCode, 204);
      assert.equal(headers['content-length'], undefined, 'a 204 has none');
      assert.equal(headers['access-control-allow-origin'], '*');
      assert.ok(String(headers['access-control-allow-methods']).split(', ').includes(method));
      assert.equal(headers['access-control-allow-headers'], 'content-type,x-session-key,idempotency-key');
      assert.equal(headers['access-control-max-age'], '86400');
    }
  });

  test('answers and errors expose the headers that a storefront reads', async () => {
    for (const url of ['/api/events/public', '/api/events/public/none']) {
      const { headers } = await apps.app.inject({ url, headers: { origin: ORIGIN } });
      for (const name of ['Date', 'Idempotent-Replayed', 'Retry-After', 'ETag', 'X-Request-Id']) {
        assert.ok(String(headers['access-control-expose-headers']).includes(name));
      }
    }
  });

  test('an answer without an Origin in the request permits other origins only where a cache may keep it', async () => {
    const strict = await openApps({ corsOrigins: [ORIGIN] });
    const namesIn = async ({ app }: Apps, request: InjectOptions) => {
      const { headers } = await app.inject(request);
      assert.equal(headers['cache-control'] === 'no-store', String(request.url).startsWith('/api/checkout/'));
      return Object.keys(headers).filter((name) => name.startsWith('access-control-') || name === 'vary');
    };
    const payload = clubHold({ session_key: 'session-cors' });
    const personal: InjectOptions[] = [
      { method: 'POST', url: HOLDS, payload },
      { method: 'POST', url: HOLDS, payload: {} },
      { url: `${HOLDS}/hld_none?session_key=session-cors` },
      { url: '/api/checkout/queue/que_none?session_key=session-cors' },
      { url: '/api/checkout/status/ord_none' },
    ];
    for (const request of personal) {
      assert.deepEqual(await namesIn(apps, request), [], request.url as string);
      assert.deepEqual(await namesIn(strict, request), [], request.url as string);
      const fromPage = { ...request, headers: { origin: ORIGIN } };
      const permission = ['access-control-allow-origin', 'access-control-expose-headers'];
      assert.deepEqual(await namesIn(apps, fromPage), permission);
      assert.deepEqual(await namesIn(strict, fromPage), ['vary', ...permission]);
    }
    for (const url of ['/api/events/public', '/api/tickets/key', '/docs']) {
      assert.ok((await namesIn(apps, { url })).includes('access-control-allow-origin'), url);
      assert.ok((await namesIn(strict, { url })).includes('vary'), url);
    }
    await strict.close();
  });

  test('with CORS_ORIGINS only those origins are named', async () => {
    const strict = await openApps({ corsOrigins: [ORIGIN] });
    const allowed = async (origin: string) =>
      (await strict.app.inject({ url: '/api/events/public', headers: { origin } })).headers[
        'access-control-allow-origin'
      ];
    assert.equal(await allowed(ORIGIN), ORIGIN);
    assert.equal(await allowed('https://other.example'), undefined);
    await strict.close();
  });

  test('the operators’ listener answers no other origin', async () => {
    const { headers } = await apps.admin.inject({ url: '/health/live', headers: { origin: ORIGIN } });
    assert.equal(headers['access-control-allow-origin'], undefined);
  });
});

test('with the data envelope every successful body is wrapped, and no error', async () => {
  const wrapped = await openApps({ responseEnvelope: 'data' });
  const authorization = `Bearer ${ADMIN_TOKEN}`;
  const calls = [
    wrapped.app.inject({ method: 'POST', url: HOLDS, payload: clubHold() }),
    wrapped.app.inject('/api/events/public'),
    wrapped.app.inject('/api/events/public/night-shift'),
    wrapped.app.inject('/api/events/public/night-shift?session_key=session-one'),
    wrapped.app.inject('/api/events/public/erfurt-volley/seating'),
    wrapped.app.inject('/api/events/public/erfurt-volley/seating/occupancy?performance_id=derby'),
    wrapped.admin.inject({ url: '/admin/events', headers: { authorization } }),
    wrapped.admin.inject({ url: '/admin/events/evt_club/attendees', headers: { authorization } }),
  ];
  for (const answer of await Promise.all(calls)) {
    assert.ok(answer.statusCode < 300, answer.body);
    assert.deepEqual(Object.keys(answer.json() as object), ['data']);
  }
  const payload = { ticket_type_id: 'kat1', performance_id: 'derby', count: 2 };
  const url = '/api/events/public/erfurt-volley/seating/best-available';
  const seats = (await wrapped.app.inject({ method: 'POST', url, payload })).json<{ data: unknown[] }>();
  assert.equal(seats.data.length, 2);
  const error = await wrapped.app.inject('/api/events/public/none');
  assert.equal(error.json<{ code: string }>().code, 'EVENT_NOT_FOUND');
  assert.equal((await wrapped.app.inject('/openapi.json')).json<{ openapi: string }>().openapi, '3.1.0');
  await wrapped.close();
});

describe('health', () => {
  test('has liveness, and readiness with the reasons when not ready', async () => {
    for (const app of [apps.app, apps.admin]) {
      assert.deepEqual((await app.inject('/health/live')).json(), { status: 'ok' });
      assert.deepEqual((await app.inject('/health/ready')).json(), { status: 'ok' });
    }
    const { now } = apps.deployment;
    apps.deployment.now = { ...now, trouble: 'recovering' };
    const answer = await apps.app.inject('/health/ready');
    apps.deployment.now = now;
    assert.equal(answer.statusCode, 503);
    assert.deepEqual(answer.json(), { status: 'unavailable', reason: 'recovering' });
  });
});

describe('the sandbox clock', () => {
  test('moves the service’s clock, never back and never beyond the latest date', async () => {
    const before = apps.clock.ms;
    const advance = (advance_seconds: unknown) =>
      apps.app.inject({ method: 'POST', url: '/sandbox/clock', payload: { advance_seconds } });
    assert.deepEqual((await advance(1.5)).json(), { now: new Date(before + 1500).toISOString() });
    assert.equal((await advance(0)).statusCode, 200);
    for (const bad of [-1, '5', null, 1e300]) assert.equal((await advance(bad)).statusCode, 400);
    const refused = [];
    for (let century = 0; century < 80; century += 1) refused.push((await advance(3_153_600_000)).statusCode);
    assert.equal(refused.at(-1), 400);
    assert.match((await apps.app.inject('/nowhere')).json<{ timestamp: string }>().timestamp, /^\d{4}-/);
    apps.clock.ms = before;
  });

  test('does not exist unless it is switched on', async () => {
    const plain = await openApps({ sandboxClock: false });
    const answer = await plain.app.inject({ method: 'POST', url: '/sandbox/clock', payload: { advance_seconds: 1 } });
    assert.equal(answer.statusCode, 404);
    await plain.close();
  });
});

describe('the operators’ listener', () => {
  const authorization = `Bearer ${ADMIN_TOKEN}`;

  test('requires the bearer token on every route under /admin', async () => {
    const document = (await apps.admin.inject('/openapi.json')).json<{ paths: Record<string, object> }>();
    const routes = Object.entries(document.paths).flatMap(([url, methods]) =>
      Object.keys(methods).map((method) => [method.toUpperCase(), url] as const),
    );
    const guarded = routes.filter(([, url]) => url.startsWith('/admin/'));
    assert.ok(guarded.length >= 6);
    for (const [method, url] of guarded) {
      apps.clock.ms += 60_000; // after ten wrong tokens in a minute the answer would be 429
      for (const given of [undefined, 'Bearer', 'Bearer wrong', `Basic ${ADMIN_TOKEN}`, `${authorization}x`]) {
        const answer = await apps.admin.inject({
          method: method as 'GET',
          url: url.replaceAll(/\{\w+\}/g, 'x'),
          headers: given === undefined ? {} : { authorization: given },
        });
        assert.equal(answer.statusCode, 401, `${method} ${url}`);
        assert.equal(answer.json<{ code: string }>().code, 'UNAUTHORIZED');
      }
    }
  });

  test('creates an event with 201, updates it with 200, and lists every problem of a bad one', async () => {
    const put = (id: string, payload: object) =>
      apps.admin.inject({ method: 'PUT', url: `/admin/events/${id}`, headers: { authorization }, payload });
    const studios = sample('open-studios');
    const created = await put('evt_free', studios);
    assert.equal(created.statusCode, 201);
    assert.deepEqual(created.json(), { id: 'evt_free', version: 1 });
    const updated = await put('evt_free', { ...studios, name: 'Open Studios Day' });
    assert.equal(updated.statusCode, 200);
    assert.deepEqual(updated.json(), { id: 'evt_free', version: 2 });
    const bad = (await put('evt_free', { ...studios, id: 5, currency: 'euro' })).json<{
      code: string;
      detail: { errors: { path: string }[] };
    }>();
    assert.equal(bad.code, 'VALIDATION_ERROR');
    assert.deepEqual(bad.detail.errors.map(({ path }) => path).sort(), ['/currency', '/id']);
    assert.equal((await put('evt_other', studios)).json<{ code: string }>().code, 'VALIDATION_ERROR');
    const list = await put('evt_free', [studios]);
    assert.equal(list.json<{ code: string }>().code, 'VALIDATION_ERROR');
  });

  test('pages through all events', async () => {
    const seen: unknown[] = [];
    let url = '/admin/events?limit=1';
    for (;;) {
      const page = (await apps.admin.inject({ url, headers: { authorization } })).json<{
        events: { definition: { id: string } }[];
        next_cursor: string | null;
      }>();
      seen.push(...page.events.map(({ definition }) => definition.id));
      if (page.next_cursor === null) break;
      url = `/admin/events?limit=1&cursor=${page.next_cursor}`;
    }
    assert.deepEqual(seen, [...apps.fixtures.keys()]);
  });

  test('blocks and unblocks seats, and cancels a performance', async () => {
    const seats = '/admin/events/evt_erfurt/performances/derby/seats';
    const change = (action: string, seat_ids: string[]) =>
      apps.admin.inject({ method: 'POST', url: seats, headers: { authorization }, payload: { action, seat_ids } });
    assert.deepEqual((await change('block', ['E-7-10', 'E-7-11'])).json(), { blocked: 2 });
    const occupancy = await apps.app.inject('/api/events/public/erfurt-volley/seating/occupancy?performance_id=derby');
    assert.deepEqual(occupancy.json<{ blocked: string[] }>().blocked, ['E-7-10', 'E-7-11']);
    assert.deepEqual((await change('unblock', ['E-7-10', 'E-7-11'])).json(), { unblocked: 2 });
    assert.equal((await change('close', ['E-7-10'])).statusCode, 400);
    assert.equal((await change('block', [])).statusCode, 400);
    const url = '/admin/events/evt_erfurt/performances/derby/cancel';
    const cancelled = await apps.admin.inject({ method: 'POST', url, headers: { authorization } });
    assert.equal(cancelled.statusCode, 200, cancelled.body);
    const event = (await apps.app.inject('/api/events/public/erfurt-volley')).json<{
      performances: { id: string; status: string }[];
    }>();
    assert.equal(event.performances.find(({ id }) => id === 'derby')?.status, 'CANCELLED');
  });
});
