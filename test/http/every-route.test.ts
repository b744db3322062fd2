/** Every operation of both documents with other methods, invalid bodies and malformed parameters. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ERRORS } from '#http/protocol/errors.ts';
import { LIMITS } from '#service/limits.ts';
import { ADMIN_TOKEN, clusterOfTwo, openApps, type Apps } from './apps.ts';

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS';

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: object;
}

interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const BODY_BYTES_MAX = 4 * 1024;
/** Scans of a station may have so many times as much. */
const LARGEST = 8;

/** Values that no parameter of the name takes. */
const MALFORMED: Readonly<Record<string, readonly string[]>> = {
  limit: ['0', '-1', '1.5', '1e3', 'x', '', '%20', '99999999', '99999999999999999999', '1&limit=2'],
  offset: ['-1', '1.5', 'x', '', '99999999999999999999'],
  since: ['-1', '1.5', 'x', '', '99999999999999999999', '1&since=2'],
  before: ['-1', '1.5', 'x', ''],
  cursor: ['!!!', '%00', 'abc', 'a&cursor=b'],
  session_key: ['short', 'x'.repeat(129), '12345678&session_key=12345678'],
};

function assertError(answer: Answer, code: keyof typeof ERRORS, about: string): void {
  assert.equal(answer.statusCode, ERRORS[code].status, `${about}: ${answer.body}`);
  const body = JSON.parse(answer.body) as Record<string, unknown>;
  assert.deepEqual(Object.keys(body), ['statusCode', 'code', 'message', 'detail', 'timestamp'], about);
  assert.equal(body['code'], code, about);
  assert.equal(answer.headers['cache-control'], 'no-store', about);
}

for (const side of ['public', 'operators’'] as const) {
  describe(`Every operation of the ${side} listener`, () => {
    let apps: Apps;
    let stationToken = '';
    const asStation = (url: string) =>
      url.startsWith('/api/doors/') ? { authorization: `Bearer ${stationToken}` } : {};
    const routes: { readonly path: string; readonly url: string; readonly operations: Map<Method, Operation> }[] = [];
    const ask = (method: Method, url: string, headers: Record<string, string> = {}, payload?: string) => {
      const app = side === 'public' ? apps.app : apps.admin;
      const authorization = { authorization: `Bearer ${ADMIN_TOKEN}` };
      return app.inject({
        method,
        url,
        headers: { ...(side === 'public' ? asStation(url) : authorization), ...headers },
        ...(payload !== undefined && { payload }),
      });
    };

    before(async () => {
      const limits = { ...LIMITS, bodyBytesMax: BODY_BYTES_MAX, adminBodyBytesMax: BODY_BYTES_MAX };
      apps = await openApps({ limits }, undefined, { cluster: clusterOfTwo() });
      const made = await apps.admin.inject({
        method: 'POST',
        url: '/admin/events/evt_club/stations',
        headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
        payload: { name: 'Phone' },
      });
      stationToken = made.json<{ readonly token: string }>().token;
      const document = (await ask('GET', '/openapi.json')).json<{
        paths: Record<string, Record<string, Operation>>;
      }>();
      for (const [path, found] of Object.entries(document.paths)) {
        const operations = new Map(
          Object.entries(found).map(([method, operation]) => [method.toUpperCase() as Method, operation]),
        );
        const url = path
          .replace('{slug}', 'night-shift')
          .replace('{provider}', 'provider_a')
          .replace(/\{\w+\}/g, 'x');
        routes.push({ path, url, operations });
      }
      assert.ok(routes.length > 8);
    });
    after(() => apps.close());

    /** Whether an address is taken as one with a name in it: `…/quote` is read as an amendment of that id. */
    const isTakenByOther = (path: string, method: Method): boolean =>
      routes.some(({ path: other, operations }) => {
        const steps = path.split('/');
        const isLike = other.split('/').every((step, index) => step === steps[index] || step.startsWith('{'));
        return other !== path && other.split('/').length === steps.length && isLike && operations.has(method);
      });

    it('answers another method with 405 and the ones that its address takes', async () => {
      for (const { path, url, operations } of routes) {
        for (const method of METHODS) {
          if (operations.has(method) || isTakenByOther(path, method)) continue;
          const answer = await ask(method, url);
          assertError(answer, 'METHOD_NOT_ALLOWED', `${method} ${path}`);
          const allowed = String(answer.headers['allow']).split(', ');
          const hasHead = operations.has('GET') && !path.endsWith('/live');
          for (const each of [...operations.keys(), ...(hasHead ? ['HEAD'] : [])])
            assert.ok(allowed.includes(each), `${method} ${path}: ${String(allowed)}`);
          assert.ok(!allowed.includes(method), `${method} ${path}`);
        }
      }
    });

    it('answers HEAD as GET, without a body', async () => {
      for (const { path, url, operations } of routes) {
        // A stream has no end, and the figures of the process and of what it has in memory change with every request.
        const changes = ['/metrics', '/admin/overview', '/admin/money'];
        if (!operations.has('GET') || path.endsWith('/live') || changes.includes(path)) continue;
        const got = await ask('GET', url);
        const head = await ask('HEAD', url);
        assert.deepEqual([head.statusCode, head.body], [got.statusCode, ''], path);
        for (const name of ['content-type', 'content-length', 'cache-control', 'etag', 'vary']) {
          assert.equal(head.headers[name], got.headers[name], `${path} ${name}`);
        }
      }
    });

    it('answers a body that is too large with 413, and one that is not JSON with 415 or 400', async () => {
      for (const { path, url, operations } of routes) {
        for (const [method, operation] of operations) {
          if (operation.requestBody === undefined || operation.operationId === 'receivePaymentWebhook') continue;
          const about = `${method} ${path}`;
          const json = { 'content-type': 'application/json' };
          const large = JSON.stringify({ ballast: 'x'.repeat(LARGEST * BODY_BYTES_MAX) });
          assertError(await ask(method, url, json, large), 'PAYLOAD_TOO_LARGE', about);
          for (const type of ['text/plain', 'application/xml', 'nonsense']) {
            assertError(await ask(method, url, { 'content-type': type }, 'x'), 'UNSUPPORTED_MEDIA_TYPE', about);
          }
          for (const text of ['{', '{"a":}', '\u0000', '"x', '[1,']) {
            assertError(await ask(method, url, json, text), 'VALIDATION_ERROR', about);
          }
        }
      }
    });

    it('answers malformed parameters with a VALIDATION_ERROR', async () => {
      let asked = 0;
      for (const { path, url, operations } of routes) {
        const operation = operations.get('GET');
        if (operation === undefined) continue;
        for (const { name } of operation.parameters?.filter((each) => each.in === 'query') ?? []) {
          for (const value of MALFORMED[name] ?? []) {
            assertError(await ask('GET', `${url}?${name}=${value}`), 'VALIDATION_ERROR', `${path}?${name}=${value}`);
            asked += 1;
          }
        }
      }
      assert.ok(asked > 10, String(asked));
    });
  });
}
