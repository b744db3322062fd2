import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { fc } from '../../property.ts';
import { Overloaded } from '#actors/admission.ts';
import { ERRORS } from '#http/protocol/errors.ts';
import { LIMITS } from '#service/limits.ts';
import { sample } from '../../fixtures/events.ts';
import { ADMIN_TOKEN, clubHold, openApps, type Apps } from '../apps.ts';

interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** Asserts that the answer is a whole error body with this code, and returns its detail. */
function assertError(answer: Answer, code: keyof typeof ERRORS): Record<string, unknown> {
  const body = JSON.parse(answer.body) as Record<string, unknown>;
  assert.equal(body['code'], code, answer.body);
  assert.equal(answer.statusCode, ERRORS[code].status);
  assert.deepEqual(Object.keys(body), ['statusCode', 'code', 'message', 'detail', 'timestamp']);
  assert.equal(body['statusCode'], answer.statusCode);
  assert.equal(body['timestamp'], '2027-05-07T12:00:00.000Z');
  assert.match(String(answer.headers['content-type']), /^application\/json/);
  assert.ok(typeof body['detail'] === 'object' && body['detail'] !== null);
  return body['detail'] as Record<string, unknown>;
}

const json = { 'content-type': 'application/json' };
const holds = '/api/checkout/holds';

describe('an error of the framework has the error body', () => {
  let apps: Apps;
  before(async () => {
    apps = await openApps();
  });
  after(() => apps.close());

  test('an unknown address', async () => {
    assertError(await apps.app.inject('/no/such/thing'), 'NOT_FOUND');
    assertError(await apps.app.inject({ method: 'POST', url: '/api/checkout', payload: {} }), 'NOT_FOUND');
  });

  test('malformed JSON, an empty body and no body', async () => {
    for (const payload of ['{"event_id": ', '', undefined]) {
      const answer = await apps.app.inject({
        method: 'POST',
        url: holds,
        headers: json,
        ...(payload !== undefined && { payload }),
      });
      assertError(answer, 'VALIDATION_ERROR');
    }
  });

  test('a body of another type', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'nonsense']) {
      const answer = await apps.app.inject({
        method: 'POST',
        url: holds,
        headers: { 'content-type': type },
        payload: 'a=b',
      });
      assertError(answer, 'UNSUPPORTED_MEDIA_TYPE');
    }
  });

  test('a body over the limit', async () => {
    const payload = JSON.stringify(clubHold({ filler: 'x'.repeat(256 * 1024) }));
    assertError(await apps.app.inject({ method: 'POST', url: holds, headers: json, payload }), 'PAYLOAD_TOO_LARGE');
  });

  test('an address that cannot be decoded', async () => {
    const answer = await apps.app.inject('/api/events/public/%zz');
    assertError(answer, 'VALIDATION_ERROR');
    assert.ok(answer.headers['x-request-id']);
  });

  test('a path of any length', async () => {
    const answer = await apps.app.inject(`/api/events/public/${'x'.repeat(8000)}`);
    assertError(answer, 'EVENT_NOT_FOUND');
  });

  test('fields of a body that would change prototypes are left out', async () => {
    const payload = JSON.stringify(clubHold()).replace(
      '{',
      '{"__proto__": {"admin": true}, "constructor": {"prototype": 1},',
    );
    const answer = await apps.app.inject({ method: 'POST', url: holds, headers: json, payload });
    assert.equal(answer.statusCode, 201);
  });

  test('a full mailbox or an unavailable journal is OVERLOADED with Retry-After, and the log alone says why', async () => {
    apps.logged.splice(0);
    apps.trouble = new Overloaded('mailbox full', 3);
    const answer = await apps.app.inject({ method: 'POST', url: holds, payload: clubHold() });
    assertError(answer, 'OVERLOADED');
    assert.equal(answer.headers['retry-after'], '3');
    apps.trouble = Object.assign(new Error('disk full'), { name: 'JournalFault' });
    assertError(await apps.app.inject({ method: 'POST', url: holds, payload: clubHold() }), 'OVERLOADED');
    apps.trouble = null;
    assert.doesNotMatch(answer.body, /mailbox/);
    const reasons = apps.logged.map(({ level, details }) => [level, (details as { reason: string }).reason]);
    assert.deepEqual(reasons, [
      ['debug', 'mailbox full'],
      ['debug', 'disk full'],
    ]);
  });

  test('a defect is INTERNAL, logged once with the route and without its address', async () => {
    apps.logged.splice(0);
    apps.trouble = new TypeError('secret inside');
    const url = '/api/checkout/holds/hld_1_000000000000000000000001?session_key=very-secret-key';
    const answer = await apps.app.inject({ url, headers: { 'x-request-id': 'abc' } });
    apps.trouble = null;
    assert.deepEqual(assertError(answer, 'INTERNAL'), { request_id: 'abc' });
    assert.doesNotMatch(answer.body, /secret/);
    assert.equal(apps.logged.length, 1);
    const { err, ...details } = apps.logged[0]!.details as { err: Error };
    assert.equal(err.message, 'secret inside');
    assert.deepEqual(details, { requestId: 'abc', route: 'GET /api/checkout/holds/:id' });
  });

  test('while the service stops, changes are OVERLOADED and reads are answered', async () => {
    apps.deployment.isStopping = true;
    assertError(await apps.app.inject({ method: 'POST', url: holds, payload: clubHold() }), 'OVERLOADED');
    assert.equal((await apps.app.inject('/api/events/public/night-shift')).statusCode, 200);
    apps.deployment.isStopping = false;
  });
});

describe('what is not HTTP is answered on the socket', () => {
  let apps: Apps;
  let port: number;
  before(async () => {
    apps = await openApps();
    await apps.app.listen({ host: '127.0.0.1', port: 0 });
    port = (apps.app.server.address() as { port: number }).port;
  });
  after(() => apps.close());

  /** Sends bytes and reads until the other side closes. */
  function send(bytes: string | Uint8Array): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => socket.end(bytes));
      let text = '';
      socket.on('data', (chunk) => (text += chunk.toString('latin1')));
      socket.on('error', reject);
      socket.on('close', () => {
        const [head = '', body = ''] = text.split('\r\n\r\n', 2);
        const lines = head
          .split('\r\n')
          .slice(1)
          .map((line) => line.split(': ', 2));
        const headers = Object.fromEntries(lines.map(([name = '', value]) => [name.toLowerCase(), value]));
        resolve({ statusCode: Number(head.split(' ')[1]), headers, body });
      });
    });
  }

  test('bytes that are not HTTP', async () => {
    const answer = await send('hello\r\n\r\n');
    assertError(answer, 'VALIDATION_ERROR');
    assert.equal(answer.headers['date'], 'Fri, 07 May 2027 12:00:00 GMT');
  });

  test('headers over the limit', async () => {
    assertError(await send(`GET / HTTP/1.1\r\nhost: x\r\nlong: ${'x'.repeat(20_000)}\r\n\r\n`), 'HEADERS_TOO_LARGE');
  });

  test('an address over the limit', async () => {
    assertError(await send(`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nhost: x\r\n\r\n`), 'HEADERS_TOO_LARGE');
  });

  test('a CONNECT request', async () => {
    assertError(await send('CONNECT example.org:443 HTTP/1.1\r\nhost: x\r\n\r\n'), 'METHOD_NOT_ALLOWED');
  });

  test('a request without a host, or with an expectation, is answered like any other', async () => {
    assertError(await send('GET /nowhere HTTP/1.1\r\nconnection: close\r\n\r\n'), 'NOT_FOUND');
    assertError(
      await send('GET /nowhere HTTP/1.1\r\nhost: x\r\nexpect: cake\r\nconnection: close\r\n\r\n'),
      'NOT_FOUND',
    );
  });

  test('a body that is shorter or longer than its Content-Length', async () => {
    const head = `POST ${holds} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n`;
    const answer = await send(`${head}content-length: 3\r\n\r\n{}}GET`);
    assertError(answer, 'VALIDATION_ERROR');
    assertError(await send(`${head}transfer-encoding: chunked\r\n\r\nzz\r\n`), 'VALIDATION_ERROR');
  });

  test('random bytes neither stop the process nor get a 5xx', async () => {
    const starts = ['', 'GET ', 'POST /api/checkout/holds HTTP/1.1\r\nhost: x\r\n', 'GET /api/events/public?'];
    const noise = fc.tuple(fc.constantFrom(...starts), fc.uint8Array({ maxLength: 200 }));
    await fc.assert(
      fc.asyncProperty(noise, async ([start, bytes]) => {
        const answer = await send(Buffer.concat([Buffer.from(start), bytes, Buffer.from('\r\n\r\n')])).catch(
          () => null,
        );
        assert.ok(answer === null || Number.isNaN(answer.statusCode) || answer.statusCode < 500, answer?.body);
      }),
      { numRuns: 100 },
    );
  });
});

test('the same problem gets the same answer in a list of any length, without the cost of checking every item', async () => {
  const apps = await openApps();
  const items = new Array<number>(100_000).fill(0);
  const answer = await apps.app.inject({ method: 'POST', url: holds, payload: { items } });
  const { errors } = assertError(answer, 'VALIDATION_ERROR') as { errors: { path: string; message: string }[] };
  assert.deepEqual(errors, [
    { path: '/event_id', message: 'is required' },
    { path: '/session_key', message: 'is required' },
    { path: '/items', message: 'must have at most 20 items' },
  ]);
  await apps.close();
});

test('a problem is said in plain words, by what must be there', async () => {
  const apps = await openApps();
  const item = { ticket_type_id: 'single', selling_stage_id: 'general', quantity: 0, seat_ids: ['a', 'a'] };
  const payload = {
    event_id: '',
    session_key: 'short',
    accept_terms: 'yes',
    customer: { email: 'ada at home', name: ' ' },
    items: [item],
    success_url: 'javascript:alert(1)',
    installment_count: 13,
  };
  const start = await apps.app.inject({ method: 'POST', url: '/api/checkout/start', payload });
  assert.deepEqual(assertError(start, 'VALIDATION_ERROR')['errors'], [
    { path: '/event_id', message: 'must not be empty' },
    { path: '/session_key', message: 'must have at least 8 characters' },
    { path: '/items/0/seat_ids', message: 'must not have "a" twice' },
    { path: '/items/0/quantity', message: 'must be at least 1' },
    { path: '/customer/email', message: 'must be an e-mail address' },
    { path: '/customer/name', message: 'must be a text that is not blank, without control characters' },
    { path: '/accept_terms', message: 'must be true, false or null' },
    { path: '/success_url', message: 'must be an address that begins with http:// or https://' },
    { path: '/installment_count', message: 'must be at most 12' },
  ]);
  for (const [query, message] of [
    ['limit=0', 'must be a whole number from 1 to 500'],
    ['limit=ten', 'must be a whole number from 1 to 500'],
  ] as const) {
    const list = await apps.app.inject(`/api/events/public?${query}`);
    assert.deepEqual(assertError(list, 'VALIDATION_ERROR')['errors'], [{ path: '/limit', message }]);
  }
  await apps.close();
});

test('over the limit of requests in progress changes are OVERLOADED at once', async () => {
  const apps = await openApps({ limits: { ...LIMITS, inFlightRequestsMax: 3 } });
  const slowDisk = Promise.withResolvers<void>();
  apps.delay = slowDisk.promise;
  const place = (n: number) =>
    apps.app.inject({ method: 'POST', url: holds, payload: clubHold({ session_key: `session-${n}` }) });
  const taken = [place(1), place(2), place(3)];
  await apps.app.inject('/health/live');
  assertError(await place(4), 'OVERLOADED');
  slowDisk.resolve();
  for (const answer of await Promise.all(taken)) assert.equal(answer.statusCode, 201);
  assert.equal((await place(5)).statusCode, 201);
  await apps.close();
});

describe('The message of a refusal', () => {
  let apps: Apps;
  before(async () => {
    apps = await openApps({}, []);
    const event = sample('theatre-run');
    const ticketTypes = (event['ticketTypes'] as object[]).map((type) => ({ ...type, max_per_order: null }));
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
    const payload = { ...event, ticketTypes, max_tickets_per_order: null };
    await apps.admin.inject({ method: 'PUT', url: '/admin/events/evt_theatre', headers, payload });
  });
  after(() => apps.close());

  const messageOf = (answer: Answer): string => {
    assertError(answer, answer.body.includes('VALIDATION_ERROR') ? 'VALIDATION_ERROR' : 'INSUFFICIENT_TICKETS');
    return (JSON.parse(answer.body) as { message: string }).message;
  };

  test('names both ways of a session key that is missing or of wrong length', async () => {
    const url = `${holds}/hld_1_unknown`;
    const body = { session_key: 'session-one', items: [{ ticket_type_id: 'a', selling_stage_id: 'b', quantity: 1 }] };
    for (const request of [
      { method: 'GET', url },
      { method: 'GET', url: `${url}?session_key=short` },
      { method: 'DELETE', url, headers: { 'x-session-key': 'short' } },
      { method: 'PATCH', url, payload: body },
      { method: 'GET', url: '/api/events/public/the-glass-orchard?session_key=short' },
    ] as const) {
      assert.match(
        messageOf(await apps.app.inject(request)),
        /X-Session-Key.*query parameter session_key/,
        request.url,
      );
    }
  });

  test('says that texts of buyers have no control characters', async () => {
    const start = (customer: object) =>
      apps.app.inject({
        method: 'POST',
        url: '/api/checkout/start',
        payload: { event_id: 'evt_theatre', accept_terms: true, items: [], customer },
      });
    for (const [field, text] of Object.entries({
      name: 'Ada\u001b[2J',
      email: 'ada@example.org\n',
      phone: '+49\t30',
      document_number: 'A\u00851',
    })) {
      const answer = await start({ name: 'Ada', email: 'ada@example.org', [field]: text });
      const { errors } = assertError(answer, 'VALIDATION_ERROR') as { errors: { path: string }[] };
      assert.ok(
        errors.some(({ path }) => path === `/customer/${field}`),
        answer.body,
      );
    }
  });

  test('says where enough seats are left, but not side by side', async () => {
    const place = (quantity: number) => {
      const item = { ticket_type_id: 'stalls', selling_stage_id: 'general', performance_id: 'premiere', quantity };
      const payload = { event_id: 'evt_theatre', session_key: 'session-one', items: [item] };
      return apps.app.inject({ method: 'POST', url: holds, payload });
    };
    const apart = await place(40);
    const { available, largest_block: largest } = assertError(apart, 'INSUFFICIENT_TICKETS');
    assert.ok(Number(largest) < 40 && Number(available) >= 40, apart.body);
    assert.match(messageOf(apart), /not side by side/);
    assert.equal(messageOf(await place(2_000)), ERRORS.INSUFFICIENT_TICKETS.message);
  });
});
