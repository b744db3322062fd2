import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { ApiError, isApiError } from '#client/api-error.ts';
import { createClient, storedSessionKey, type Client, type ClientOptions } from '#client/client.ts';
import { nextState, type LiveState } from '#client/live.ts';
import { fillPath, OPERATIONS } from '#client/operations.ts';
import type { Json } from '../fixtures/client.ts';
import { sample } from '../fixtures/events.ts';
import { MINUTE, openService, type TestService } from '../fixtures/service.ts';

interface Sent {
  readonly method: string;
  readonly url: string;
  readonly headers: Headers;
  readonly body: Json | null;
}

type Scripted = Error | { readonly status: number; readonly body?: unknown; readonly retryAfter?: string };

/** A client with scripted answers, whose pauses end at once and are recorded. */
function scripted(answers: readonly Scripted[], options: ClientOptions = {}) {
  const sent: Sent[] = [];
  const pauses: number[] = [];
  const left = [...answers];
  const client = createClient({
    baseUrl: 'https://shop.example',
    ...options,
    fetch: async (input, init) => {
      init?.signal?.throwIfAborted();
      const body = init?.body === undefined ? null : (JSON.parse(String(init.body)) as Json);
      sent.push({ method: init?.method ?? 'GET', url: String(input), headers: new Headers(init?.headers), body });
      const answer = left.shift() ?? { status: 200, body: {} };
      if (answer instanceof Error) throw answer;
      const headers = answer.retryAfter === undefined ? {} : { 'retry-after': answer.retryAfter };
      return new Response(JSON.stringify(answer.body ?? {}), { status: answer.status, headers });
    },
    pause:
      options.pause ??
      (async (ms, signal) => {
        signal?.throwIfAborted();
        pauses.push(ms);
      }),
  });
  return { client, sent, pauses };
}

const busy = (retryAfter?: string): Scripted => ({
  status: 503,
  body: { statusCode: 503, code: 'OVERLOADED', message: 'busy', detail: {}, timestamp: '' },
  ...(retryAfter !== undefined && { retryAfter }),
});
const offline = new TypeError('fetch failed');
const request = { event_id: 'e', items: [{ ticket_type_id: 't', selling_stage_id: 's', quantity: 1 }] };

describe('A request of the client', () => {
  it('is repeated with growing pauses and the same Idempotency-Key until it is answered', async () => {
    const { client, sent, pauses } = scripted([offline, busy(), offline, { status: 201, body: { id: 'hld_1' } }]);
    assert.equal((await client.createHold(request)).id, 'hld_1');
    assert.equal(new Set(sent.map(({ headers }) => headers.get('idempotency-key'))).size, 1);
    assert.ok(sent[0]!.headers.get('idempotency-key')!.length >= 20);
    assert.ok(pauses[0]! < pauses[1]! && pauses[1]! < pauses[2]!, String(pauses));
  });

  it('has another Idempotency-Key than any other request, unless the caller gives one', async () => {
    const { client, sent } = scripted([]);
    await client.createHold(request);
    await client.createHold(request);
    await client.createHold(request, { idempotencyKey: 'mine' });
    const keys = sent.map(({ headers }) => headers.get('idempotency-key'));
    assert.notEqual(keys[0], keys[1]);
    assert.equal(keys[2], 'mine');
  });

  it('waits at least as long as Retry-After says, and leaves a long wait to the caller', async () => {
    const { client, pauses } = scripted([busy('3'), { status: 200, body: { events: [] } }]);
    await client.listEvents();
    assert.ok(pauses[0]! >= 3_000);
    const limited = { status: 429, body: { code: 'RATE_LIMITED', message: '', detail: {} }, retryAfter: '60' };
    const limitedOnce = scripted([limited]);
    await assert.rejects(limitedOnce.client.listEvents(), { code: 'RATE_LIMITED', status: 429, retryAfter: 60 });
    assert.deepEqual(limitedOnce.pauses, []);
  });

  it('is not repeated without an answer where a repeat could have a second effect', async () => {
    const { client, sent } = scripted([offline]);
    await assert.rejects(client.settleSandbox('cs_1', 'paid'), { code: 'UNREACHABLE', status: 0 });
    assert.equal(sent.length, 1);
    const refusedFirst = scripted([busy(), { status: 200, body: { order_id: 'ord_1' } }]);
    assert.equal((await refusedFirst.client.settleSandbox('cs_1', 'paid')).order_id, 'ord_1', 'a 503 changed nothing');
  });

  it('is given up after `repeatsMax` repeats', async () => {
    const { client, sent } = scripted([busy(), busy(), busy()], { repeatsMax: 2 });
    await assert.rejects(client.listEvents(), { code: 'OVERLOADED' });
    assert.equal(sent.length, 3);
  });

  it('throws refusals with code, detail and status, and is not repeated for them', async () => {
    const detail = { seat_ids: ['A-1'] };
    const body = { statusCode: 409, code: 'SEAT_TAKEN', message: 'A seat has just been taken.', detail, timestamp: '' };
    const { client, sent } = scripted([{ status: 409, body }]);
    const error = await client.createHold(request).catch((thrown: unknown) => thrown);
    assert.ok(error instanceof ApiError && isApiError(error, 'SEAT_TAKEN'));
    assert.deepEqual([error.status, error.detail], [409, detail]);
    assert.equal(sent.length, 1);
  });

  it('throws an error also for an answer that is not JSON, as a proxy may send it', async () => {
    const { client } = scripted([{ status: 413 }]);
    await assert.rejects(client.listEvents(), { code: 'HTTP_413' });
  });

  it('reads results that are wrapped in a data property', async () => {
    const { client } = scripted([{ status: 200, body: { data: { events: [], next_cursor: null } } }]);
    assert.deepEqual(await client.listEvents(), { events: [], next_cursor: null });
  });

  it('ends at once when its signal is aborted, during a pause too', async () => {
    const abort = new AbortController();
    const reason = new Error('the page was closed');
    const { client } = scripted([busy(), busy()], {
      pause: async (_ms, signal) => {
        abort.abort(reason);
        signal?.throwIfAborted();
      },
    });
    await assert.rejects(client.listEvents({ signal: abort.signal }), reason);
  });

  it('keeps the session key out of addresses', async () => {
    const { client, sent } = scripted([], { sessionKey: 'a-secret-session' });
    await client.getHold('hld_1');
    await client.getEvent('slug', { performanceId: 'd 1' });
    assert.ok(sent.every(({ url, headers }) => !url.includes('secret') && headers.get('x-session-key')));
    assert.equal(sent[1]!.url, 'https://shop.example/api/events/public/slug?performance_id=d+1');
  });
});

describe('The session key', () => {
  it('is made once and stored', () => {
    const stored = new Map<string, string>();
    const store = {
      getItem: (n: string) => stored.get(n) ?? null,
      setItem: (n: string, v: string) => void stored.set(n, v),
    };
    const key = storedSessionKey(store);
    assert.match(key, /^[\w-]{32}$/);
    assert.equal(storedSessionKey(store), key);
  });

  it('lives as long as the client where there is no store, or one that refuses', () => {
    const refuse = (): never => {
      throw new Error('denied');
    };
    assert.notEqual(storedSessionKey(null), storedSessionKey({ getItem: refuse, setItem: refuse }));
  });
});

describe('Polling', () => {
  const entry = (status: string, id = 'que_1') => ({ status: 200, body: { id, status }, retryAfter: '5' });

  it('reads a queue entry at the pace that the service names, until it is admitted', async () => {
    const { client, sent, pauses } = scripted([entry('WAITING'), entry('WAITING'), entry('ADMITTED')]);
    const seen: string[] = [];
    await client.waitForAdmission('evt', { onEntry: ({ status }) => seen.push(status) });
    assert.deepEqual(seen, ['WAITING', 'WAITING', 'ADMITTED']);
    assert.deepEqual(pauses, [5_000, 5_000]);
    assert.deepEqual(
      sent.map(({ method }) => method),
      ['POST', 'GET', 'GET'],
    );
  });

  it('joins the queue again when the entry has expired', async () => {
    const { client, sent } = scripted([
      entry('WAITING'),
      entry('EXPIRED'),
      entry('WAITING', 'que_2'),
      entry('ADMITTED'),
    ]);
    const admitted = await client.waitForAdmission('evt');
    assert.equal(admitted.status, 'ADMITTED');
    assert.equal(sent.filter(({ method }) => method === 'POST').length, 2);
    assert.ok(sent.at(-1)!.url.endsWith('/que_2'));
  });

  it('reads an order until it is no longer pending, with growing pauses', async () => {
    const pending = { status: 200, body: { status: 'PENDING', payment_status: 'PENDING' } };
    const done = { status: 200, body: { status: 'CONFIRMED', payment_status: 'COMPLETED' } };
    const { client, pauses } = scripted([pending, pending, pending, done]);
    assert.equal((await client.waitForOrder('ord_1')).status, 'CONFIRMED');
    assert.deepEqual(pauses, [1_000, 1_500, 2_250]);
  });
});

describe('The client and a service', () => {
  let service: TestService;
  let client: Client;

  before(async () => {
    service = await openService({ environment: { SANDBOX_CLOCK: 'on' } });
    for (const name of ['club-night', 'theatre-run', 'lighthouse-rush']) await service.define(sample(name));
    client = createClient({ baseUrl: service.publicUrl });
  });

  after(() => service.close());

  it('know the same operations', async () => {
    const { body } = await service.call<{ paths: Record<string, Record<string, unknown>> }>('GET', '/openapi.json');
    const served = Object.entries(body.paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .map((method) => `${method.toUpperCase()} ${nameless(path)}`)
        .filter((operation) => !/\/webhooks\/|\/sandbox\/(outage|refunds)|\/api\/doors\//.test(operation)),
    );
    const known = Object.values(OPERATIONS).map(({ method, path }) => `${method} ${nameless(path)}`);
    assert.deepEqual(known.sort(), [...new Set(served)].filter((each) => !each.startsWith('HEAD')).sort());
  });

  const nameless = (path: string): string => path.replace(/\{\w+\}/g, '{}').replace(/:\w+/g, '{}');

  it('buy seats together from the list to the ticket', async () => {
    const { events } = await client.listEvents();
    const slug = events.find(({ id }) => id === 'evt_theatre')!.slug;
    const event = await client.getEvent(slug, { performanceId: 'matinee' });
    const row = event.ticketAvailability.find(({ ticket_type_id: type }) => type === 'stalls')!;
    const seats = await client.suggestSeats(slug, { ticketTypeId: 'stalls', count: 2 }, { performanceId: 'matinee' });
    const items = [
      {
        ticket_type_id: 'stalls',
        selling_stage_id: row.selling_stage_id,
        performance_id: 'matinee',
        quantity: 2,
        seat_ids: seats.map(({ id }) => id),
      },
    ];
    const hold = await client.createHold({ event_id: event.id, items });
    assert.equal((await client.getHold(hold.id)).status, 'ACTIVE');
    const own = await client.getEvent(slug, { performanceId: 'matinee' });
    assert.equal(
      own.ticketAvailability.find(({ ticket_type_id: type }) => type === 'stalls')!.available,
      row.available,
    );
    const fewer = { ...items[0]!, quantity: 1, seat_ids: [seats[0]!.id] };
    assert.equal((await client.changeHold(hold.id, [fewer])).items[0]!.ticket_count, 1);
    const started = await client.startCheckout({
      event_id: event.id,
      hold_id: hold.id,
      customer: { email: 'ada@example.com', name: 'Ada' },
      accept_terms: true,
    });
    await client.settleSandbox(started.checkout_session_id!, 'paid');
    const order = await client.waitForOrder(started.order_id);
    assert.equal(order.status, 'CONFIRMED');
    assert.equal(order.ticket_objects[0]!.seat_id, seats[0]!.id);
    assert.deepEqual(
      (await client.getTicketKeys()).keys.map(({ kty }) => kty),
      ['OKP'],
    );
  });

  it('answer HOLD_NOT_FOUND to another session key', async () => {
    const hold = await client.createHold({
      event_id: 'evt_club',
      items: [{ ticket_type_id: 'single', selling_stage_id: 'regular', quantity: 1 }],
    });
    const other = createClient({ baseUrl: service.publicUrl });
    await assert.rejects(other.getHold(hold.id), { code: 'HOLD_NOT_FOUND', status: 404 });
    assert.equal((await client.releaseHold(hold.id)).status, 'RELEASED');
  });

  it('pass the waiting room', async () => {
    const entry = await client.waitForAdmission('evt_rush');
    assert.equal(entry.status, 'ADMITTED');
    const items = [{ ticket_type_id: 'field', selling_stage_id: 'general', quantity: 1 }];
    await assert.rejects(client.createHold({ event_id: 'evt_rush', items }), { code: 'QUEUE_PASS_REQUIRED' });
    assert.equal((await client.createHold({ event_id: 'evt_rush', items, queue_pass: entry.id })).status, 'ACTIVE');
    assert.equal((await client.leaveQueue(entry.id)).status, 'LEFT');
  });

  it('follow a performance live, with the same figures as the event’s payload', async () => {
    const abort = new AbortController();
    let live: LiveState | null = null;
    const seen = Promise.withResolvers<void>();
    const watching = client.watchDate({
      slug: 'the-glass-orchard',
      performanceId: 'friday',
      signal: abort.signal,
      onState(next) {
        live = next;
        if (next.seats?.get('stalls-F-7') === 'HELD') seen.resolve();
      },
    });
    const seat = { ticket_type_id: 'stalls', selling_stage_id: 'general', performance_id: 'friday', quantity: 1 };
    await client.createHold({ event_id: 'evt_theatre', items: [{ ...seat, seat_ids: ['stalls-F-7'] }] });
    await seen.promise;
    const event = await createClient({ baseUrl: service.publicUrl }).getEvent('the-glass-orchard', {
      performanceId: 'friday',
    });
    const shown = live as LiveState | null;
    assert.deepEqual(shown?.rows, event.ticketAvailability);
    assert.equal(shown?.now, service.now());
    abort.abort();
    await watching;
  });

  it('fall back to polling where the stream cannot be had', async () => {
    const abort = new AbortController();
    const polled = Promise.withResolvers<LiveState>();
    const blocked = createClient({
      baseUrl: service.publicUrl,
      pause: async () => {},
      fetch: (input, init) =>
        String(input).includes('/live') ? Promise.reject(new TypeError('blocked')) : fetch(input, init),
    });
    const watching = blocked.watchDate({
      slug: 'the-glass-orchard',
      performanceId: 'saturday',
      signal: abort.signal,
      onState: polled.resolve,
    });
    const live = await polled.promise;
    assert.equal(live.now, null);
    assert.equal(live.rows.length, 5);
    assert.equal(live.seats?.size, 0);
    abort.abort();
    await watching;
    service.wait(MINUTE);
  });
});

describe('The live state of a performance', () => {
  it('keeps the identity of what did not change', () => {
    const rows = [{ ticket_type_id: 'a', selling_stage_id: 's', available: 3 }];
    const seats = { held: ['A-1'], sold: [], blocked: [] };
    const now = '2027-05-08T12:00:00.000Z';
    const first = nextState(null, 'snapshot', {
      now,
      definition_version: 1,
      status: 'ON_SALE',
      ticketAvailability: rows,
      seats,
    })!;
    const second = nextState(first, 'change', { now, status: 'ON_SALE', ticketAvailability: [], seats: [] })!;
    assert.equal(second.rows, first.rows);
    assert.equal(second.seats, first.seats);
    const third = nextState(second, 'change', {
      now,
      status: 'ON_SALE',
      ticketAvailability: [],
      seats: [
        { id: 'A-1', state: 'AVAILABLE' },
        { id: 'A-2', state: 'SOLD' },
      ],
    })!;
    assert.deepEqual([...third.seats!], [['A-2', 'SOLD']]);
    assert.equal(nextState(null, 'change', {}), null);
  });

  it('is read from addresses whose parts are escaped', () => {
    assert.equal(fillPath('/a/{x}/b/{y}', ['1/2', 'ä']), '/a/1%2F2/b/%C3%A4');
  });
});
