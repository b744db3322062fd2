/**
 * Generators of requests: to every operation of the OpenAPI documents, to the pages beside them, and to unknown
 * addresses. About half of the requests are valid; the others have a wrong part somewhere.
 */
import { METHODS } from 'node:http';
import { fc } from '../property.ts';
import type { Json } from '../fixtures/client.ts';
import type { Listener, Operation } from './document.ts';
import {
  anything,
  mutated,
  idOf,
  text,
  textOfJson,
  valueOf,
  CLIENT_KEYS,
  type Arbitrary,
  type Vocabulary,
} from './values.ts';

/** A request with placeholders in it. */
export interface FuzzRequest {
  readonly listener: Listener;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** The operation that is called; null for an address that no document lists. */
  readonly operationId: string | null;
}

// ── data of the events on sale ───────────────────────────────────────────────────────────────────────────────────────

const item = (type: string, stage: string, quantity: number, more: Json = {}): Json => ({
  ticket_type_id: type,
  selling_stage_id: stage,
  quantity,
  ...more,
});

/** Items that can be bought, for each event of `fuzz/service.ts`. */
const ITEMS: Readonly<Record<string, readonly Json[]>> = {
  evt_club: [item('single', 'regular', 1), item('single', 'regular', 3), item('crew', 'regular', 1)],
  evt_room: [item('single', 'regular', 1)],
  evt_gala: [
    item('single', 'regular', 2, { bar_perks: [{ bar_perk_id: 'beer', quantity: 1 }] }),
    item('guest', 'regular', 1, { discount_code: 'GIFT' }),
    item('crew', 'regular', 1, { discount_code: 'CREWS' }),
    item('seat', 'regular', 1),
  ],
  evt_play: [
    item('stalls', 'general', 1, { performance_id: 'fri' }),
    item('pair', 'general', 1, { performance_id: 'sat' }),
    item('gallery', 'general', 1, { performance_id: 'sat', seat_ids: ['G-A-2'] }),
    item('standing', 'general', 2, { performance_id: 'fri' }),
  ],
};

const EVENT_IDS = [...Object.keys(ITEMS), 'evt_drawn', 'evt_draft', 'evt_none'];
const SLUGS = ['club-night', 'room', 'drawn', 'gala', 'the-play', 'the-play', 'draft', 'none'];

const key = fc.constantFrom(...CLIENT_KEYS);
const pass = fc.oneof(idOf('entry', 'entry', 'other entry', 'hold'), fc.constant(null));
const oneOf = (...values: readonly unknown[]): Arbitrary<unknown> => fc.constantFrom(...values);
const mostly = (value: unknown, ...others: readonly unknown[]): Arbitrary<unknown> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(value) },
    { weight: others.length > 0 ? 1 : 0, arbitrary: oneOf(...others) },
  );

const customer = fc.record(
  {
    email: mostly('client@example.com', ' Client+tag@Example.COM ', 'ünï@exämple.de', 'a@b', 'no address'),
    name: mostly('A Client', '🎫', 'x', '   '),
    document_number: oneOf('123', null),
    phone: oneOf('+49 361 000', null),
  },
  { requiredKeys: ['email', 'name'] },
);

/** Attribution data as shops send it, and much longer data than the service keeps. */
const tracking = fc.oneof(
  fc.constantFrom<unknown>({ utm_source: 'mail', gclid: 'g' }, null, [], 'utm_source=mail', 7),
  fc.jsonValue({ maxDepth: 2 }),
  fc.record({ text: fc.constantFrom('x', '\0', '€', '🎫'), fields: fc.nat({ max: 200 }) }).map(({ text, fields }) => {
    const longest = Math.floor(150_000 / (Buffer.byteLength(JSON.stringify(text)) - 2) / (fields + 1));
    return Object.fromEntries(Array.from({ length: fields }, (_, field) => [`own_${field}`, text.repeat(longest)]));
  }),
);

const WORDS: Vocabulary = {
  event_id: oneOf(...EVENT_IDS),
  session_key: key,
  hold_id: fc.oneof(idOf('hold', 'other hold'), fc.constant(null)),
  queue_pass: pass,
  ticket_type_id: oneOf('single', 'crew', 'guest', 'seat', 'stalls', 'gallery', 'pair', 'wheel', 'standing', 'none'),
  selling_stage_id: oneOf('regular', 'general', 'late', 'none'),
  performance_id: oneOf('night', 'fri', 'sat', 'eve', 'none', null),
  seat_ids: fc.array(fc.constantFrom('S-A-1', 'S-A-2', 'S-B-5', 'G-A-1', 'W-1-3', 'none'), {
    minLength: 1,
    maxLength: 3,
  }),
  customer,
  accept_terms: mostly(true, false, null),
  promo_code: oneOf('HALF', 'gift', 'CREWS', 'NONE', null),
  discount_code: oneOf('HALF', 'GIFT', 'CREWS', null),
  bar_perk_id: oneOf('beer', 'none'),
  installment_count: oneOf(1, 2, 3, 4, null),
  tracking,
  promoter_code: mostly('anna', 'x'.repeat(5_000), null),
  success_url: oneOf('https://shop.example/thanks?order={ORDER_ID}', 'http://%', 'ftp://x', null),
  seconds: oneOf(0, 0.5, 30),
  installment: mostly(1, 2, 3),
  amount: oneOf(1, 100, 1_900, 10 ** 12),
};

/** Bodies that are accepted, by operation: their parts belong to the same event. */
const COHERENT: Readonly<Record<string, Arbitrary<unknown>>> = {
  createHold: fc.constantFrom(...Object.keys(ITEMS)).chain((eventId) =>
    fc.record(
      { event_id: fc.constant(eventId), session_key: key, items: itemsOf(eventId), queue_pass: pass },
      {
        requiredKeys:
          eventId === 'evt_room'
            ? ['event_id', 'session_key', 'items', 'queue_pass']
            : ['event_id', 'session_key', 'items'],
      },
    ),
  ),
  changeHold: fc.constantFrom(...Object.keys(ITEMS)).chain((eventId) => fc.record({ items: itemsOf(eventId) })),
  startCheckout: fc.constantFrom(...Object.keys(ITEMS)).chain((eventId) =>
    fc.oneof(
      fc.record({
        event_id: fc.constant(eventId),
        items: itemsOf(eventId),
        customer,
        accept_terms: fc.constant(true),
        tracking,
      }),
      fc.record({ event_id: fc.constant(eventId), hold_id: idOf('hold'), customer, accept_terms: fc.constant(true) }),
    ),
  ),
  joinQueue: fc.record({ event_id: fc.constantFrom('evt_room', 'evt_drawn'), session_key: key }),
  suggestSeats: fc.record({
    ticket_type_id: fc.constantFrom('stalls', 'pair', 'gallery'),
    performance_id: fc.constantFrom('fri', 'sat'),
    count: fc.integer({ min: 1, max: 6 }),
  }),
  settleSandboxSession: fc.record({ outcome: fc.constantFrom('paid', 'paid', 'declined', 'cancelled') }),
  receivePaymentWebhook: fc.record({
    type: fc.constantFrom('payment.paid', 'payment.paid', 'payment.declined', 'payment.cancelled', 'payment.unheard'),
    timestamp: fc.constant('2027-05-08T12:00:00.000Z'),
    data: fc.record({
      checkout_session_id: idOf('session'),
      payment_id: fc.constantFrom(null, 'p1', 'p2'),
      amount: oneOf(1_900, 5_700, 0, -1),
      currency: mostly('EUR', 'USD', ''),
    }),
  }),
  changeSeats: fc.record({
    seat_ids: fc.subarray(['S-A-9', 'S-A-10', 'S-B-10', 'G-A-6'], { minLength: 1 }),
    action: fc.constantFrom('block', 'unblock'),
  }),
};

function itemsOf(eventId: string): Arbitrary<unknown> {
  const items = [...ITEMS[eventId]!];
  return fc.subarray(items, { minLength: 1, maxLength: Math.min(2, items.length) });
}

// ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────────

const PATH_WORDS: Readonly<Record<string, Arbitrary<string>>> = {
  slug: fc.constantFrom(...SLUGS),
  order_id: idOf('order', 'order', 'hold'),
  checkout_session_id: idOf('session', 'session', 'order'),
  performance_id: fc.constantFrom('night', 'fri', 'sat', 'eve', 'none'),
  provider: fc.constantFrom('provider_a', 'provider_b', 'provider_c'),
};

/** The kind of id that `{id}` stands for, by the path before it. */
function idAt(path: string): Arbitrary<string> {
  if (path.includes('/holds/')) return idOf('hold', 'hold', 'other hold', 'entry');
  if (path.includes('/queue/')) return idOf('entry', 'entry', 'other entry', 'hold');
  if (path.includes('/orders/')) return idOf('order');
  if (path.includes('/tickets/')) return idOf('ticket', 'order');
  return fc.constantFrom(...EVENT_IDS);
}

const oddSegment = fc.oneof(
  fc.constantFrom(
    '..',
    '%2e%2e',
    '%00',
    '%E0%A4%A',
    '%',
    '%2F',
    '*',
    ';',
    "'",
    'constructor',
    '__proto__',
    'x'.repeat(3_000),
  ),
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }).map(encodeURIComponent),
);

/** Requests to an operation; `definition` makes the bodies that define an event. */
export function requestTo(operation: Operation, definition?: Arbitrary<unknown>): Arbitrary<FuzzRequest> {
  const { listener, method, path, operationId } = operation;
  return fc
    .record({
      path: pathTo(operation),
      query: queryOf(operation),
      headers: headers(operation),
      body: bodyOf(operation, definition),
    })
    .map(({ path: address, query, headers: given, body }) => ({
      listener,
      method,
      path: address + query,
      headers: withType(given, body, path),
      body,
      operationId,
    }));
}

/** Events with one of their performances, as the operators' addresses name them. */
const DATES = ['evt_play/performances/fri', 'evt_play/performances/sat', 'evt_gala/performances/eve'];

function pathTo({ path }: Operation): Arbitrary<string> {
  const apart = segmentsOf(path);
  if (!path.includes('{performance_id}')) return apart;
  const together = fc.constantFrom(...DATES).map((date) => path.replace('{id}/performances/{performance_id}', date));
  return fc.oneof({ weight: 2, arbitrary: together }, { weight: 1, arbitrary: apart });
}

function segmentsOf(path: string): Arbitrary<string> {
  const segments = path.split(/(\{\w+\})/).map((piece) => {
    const name = /^\{(\w+)\}$/.exec(piece)?.[1];
    if (name === undefined) return fc.constant(piece);
    const known = PATH_WORDS[name] ?? idAt(path);
    return fc.oneof({ weight: 8, arbitrary: known }, { weight: 1, arbitrary: oddSegment });
  });
  return fc.tuple(...segments).map((pieces) => pieces.join(''));
}

function queryOf({ parameters, path }: Operation): Arbitrary<string> {
  const known = parameters.filter((parameter) => parameter.in === 'query');
  const word = (name: string): Arbitrary<unknown> =>
    name === 'session_key' || name === 'performance_id'
      ? WORDS[name]!
      : oneOf(0, 1, 3, '01', '-1', '1e2', 'YWZ0ZXI6', 'PENDING');
  const pairs = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.subarray(known).chain((some) => fc.tuple(...some.map(({ name }) => pair(name, word(name))))),
    },
    { weight: 1, arbitrary: fc.array(pair('limit[]', fc.jsonValue({ maxDepth: 2 })), { maxLength: 2 }) },
    {
      weight: 1,
      arbitrary: fc.array(
        fc.constantFrom(...known.map(({ name }) => name), '__proto__', 'x').chain((name) => pair(name, text)),
        {
          minLength: 1,
          maxLength: 4,
        },
      ),
    },
  );
  const owned = path.includes('/holds/{id}') || path.includes('/queue/{id}');
  return fc.oneof(
    { weight: 8, arbitrary: pairs.map((some) => (some.length === 0 ? '' : `?${some.join('&')}`)) },
    { weight: owned ? 4 : 0, arbitrary: key.map((each) => `?session_key=${encodeURIComponent(each)}`) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('?', '?&&&', '?%', '?session_key=%E0%A4%A', '?a=b?c=d', '?limit=1&limit=2'),
    },
  );
}

function pair(name: string, value: Arbitrary<unknown>): Arbitrary<string> {
  return value.map((each) => `${encodeURIComponent(name)}=${encodeURIComponent(asText(each).toWellFormed())}`);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

/** A placeholder for the signature of the body by provider_a. */
export const SIGNED = '‹signed›';

/** Header values that Node's client accepts. */
const headerText = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    'x',
    'ÿþ',
    'a,b',
    '"',
    'W/"x"',
    '*',
    '0',
    '-1',
    'x'.repeat(300),
    'bytes=0-1',
    'text/html',
    '*/*;q=0',
  ),
  fc.string({ maxLength: 30 }).map((each) => each.replaceAll(/[^\x20-\x7e]/g, '?')),
);

const oddHeader = fc.tuple(
  fc.constantFrom(
    ...[
      'accept',
      'accept-encoding',
      'authorization',
      'cookie',
      'expect',
      'forwarded',
      'if-none-match',
      'idempotency-key',
    ],
    ...[
      'last-event-id',
      'origin',
      'range',
      'x-forwarded-for',
      'x-operator',
      'x-request-id',
      'x-session-key',
      'content-type',
    ],
    ...['content-encoding', 'x-http-method-override', 'webhook-id', 'webhook-timestamp', 'webhook-signature', 'te'],
  ),
  headerText,
);

function headers({ path }: Operation): Arbitrary<Record<string, string>> {
  const owned = path.includes('/holds/{id}') || path.includes('/queue/{id}') || path.includes('/events/public/{slug}');
  const bytes = (each: string): string => Buffer.from(each).toString('latin1');
  return fc
    .record({
      sessionKey: fc.oneof(
        { weight: owned ? 3 : 0, arbitrary: key.map(bytes) },
        { weight: 1, arbitrary: fc.constant(null) },
      ),
      idempotencyKey: fc.oneof(
        { weight: 5, arbitrary: fc.constant(null) },
        { weight: 1, arbitrary: fc.constantFrom('client-1', 'client-2', 'planted') },
      ),
      // `fuzz/service.ts` replaces the placeholder with the provider's signature.
      signed: fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 30 }) }, { weight: 1, arbitrary: fc.constant(null) }),
      odd: fc.oneof(
        { weight: 3, arbitrary: fc.constant([]) },
        { weight: 1, arbitrary: fc.array(oddHeader, { maxLength: 4 }) },
      ),
    })
    .map(({ sessionKey, idempotencyKey, signed, odd }) => ({
      ...(signed !== null &&
        path.includes('/webhooks/') && { 'webhook-id': `msg_${signed}`, 'webhook-signature': SIGNED }),
      ...(sessionKey !== null && { 'x-session-key': sessionKey }),
      ...(idempotencyKey !== null && { 'idempotency-key': idempotencyKey }),
      ...Object.fromEntries(odd),
    }));
}

function bodyOf({ body, operationId, method }: Operation, definition?: Arbitrary<unknown>): Arbitrary<string | null> {
  if (definition !== undefined) return textOfJson(mutated(definition));
  const coherent = COHERENT[operationId];
  if (body === null && coherent === undefined) {
    if (method === 'GET') return fc.constant(null);
    return fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, textOfJson(anything));
  }
  if (body?.['type'] === 'string') return fc.oneof(fc.constantFrom(...(body['examples'] as string[])), text);
  const made = body === null ? anything : valueOf(body, WORDS);
  const good = coherent ?? made;
  return fc.oneof(
    { weight: 12, arbitrary: good.map((each) => JSON.stringify(each)) },
    { weight: 5, arbitrary: textOfJson(mutated(good)) },
    { weight: 3, arbitrary: textOfJson(mutated(made)) },
    { weight: 1, arbitrary: textOfJson(anything) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
}

function withType(given: Record<string, string>, body: string | null, path: string): Record<string, string> {
  if (body === null || given['content-type'] !== undefined) return given;
  // The forms of the pages are sent in this type.
  const isForm = /^\/(?:orders|sandbox\/pay)\//.test(path);
  return { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json', ...given };
}

/** Valid requests for the holds and entries of the customers, with the session keys of the client. */
export const requestForOthers: Arbitrary<FuzzRequest> = fc
  .record({
    call: fc.constantFrom(
      ...(['GET', 'PATCH', 'DELETE'] as const).map((method) => ({
        method,
        path: '/api/checkout/holds/‹other hold 0›',
      })),
      ...(['GET', 'DELETE'] as const).map((method) => ({ method, path: '/api/checkout/queue/‹other entry 0›' })),
      { method: 'POST', path: '/api/checkout/holds' },
      { method: 'POST', path: '/api/checkout/start' },
    ),
    which: fc.nat({ max: 3 }),
    sessionKey: fc.constantFrom('client-key-one', 'client-key-two'),
  })
  .map(({ call: { method, path }, which, sessionKey }) => ({
    listener: 'public',
    method,
    path: path.replace(' 0›', ` ${which}›`),
    headers: { 'x-session-key': sessionKey, ...(/^P/.test(method) && { 'content-type': 'application/json' }) },
    body: /^P/.test(method) ? JSON.stringify(bodyForOthers(path, which, sessionKey)) : null,
    operationId: null,
  }));

function bodyForOthers(path: string, which: number, sessionKey: string): Json {
  const customer = { email: 'client@example.com', name: 'A Client' };
  const hold = {
    hold_id: `‹other hold ${which}›`,
    event_id: which % 2 === 0 ? 'evt_play' : 'evt_club',
    session_key: sessionKey,
  };
  if (path.endsWith('/start')) return { ...hold, customer, accept_terms: true };
  const items = [item('single', 'regular', 1), item('single', 'regular', 2)].slice(0, 1 + (which % 2));
  return { event_id: 'evt_room', session_key: sessionKey, items, queue_pass: '‹other entry 0›' };
}

/** Pages and files that no document lists, described as operations. */
export const PAGES: readonly Operation[] = (
  [
    ['GET', '/orders/{order_id}'],
    ['GET', '/orders/{order_id}/calendar.ics'],
    ['POST', '/orders/{order_id}/pay'],
    ['GET', '/orders/{order_id}/changes/cancel'],
    ['GET', '/orders/{order_id}/changes/withdrawal'],
    ['POST', '/orders/{order_id}/changes/cancel'],
    ['GET', '/sandbox/pay/{checkout_session_id}'],
    ['POST', '/sandbox/pay/{checkout_session_id}'],
    ['GET', '/openapi.json'],
    ['GET', '/docs/errors'],
  ] as const
).map(([method, path]) => {
  const examples = path.startsWith('/sandbox')
    ? ['outcome=paid', 'outcome=declined']
    : ['unit.0=tkt_none', 'unit.0=tkt_none+tkt_none&quote=q', 'name.tkt_none=&quote='];
  const body = method === 'POST' && !path.endsWith('/pay') ? { type: 'string', examples } : null;
  return { listener: 'public', method, path, operationId: `${method} ${path}`, parameters: [], body, responses: {} };
});

/** Any method at any address, which is in most cases unknown. */
export function undocumentedRequest(operations: readonly Operation[]): Arbitrary<FuzzRequest> {
  const methods = METHODS.filter((method) => method !== 'CONNECT');
  const nowhere = fc.array(oddSegment, { maxLength: 4 }).map((segments) => `/${segments.join('/')}`);
  const somewhere = fc.constantFrom(...operations).chain((operation) => pathTo(operation));
  return fc
    .record({
      listener: fc.constantFrom<Listener>('public', 'admin'),
      method: fc.constantFrom(...methods),
      path: fc.oneof(nowhere, somewhere),
      headers: fc.array(oddHeader, { maxLength: 4 }).map((all) => Object.fromEntries(all) as Record<string, string>),
      body: fc.constantFrom(null, '', '{}', '[1'),
    })
    .map((request) => ({ ...request, operationId: null }));
}
