/**
 * A service with every kind of event on sale and customers whose data is secret, and the checks of every answer it
 * gives.
 *
 * The customers hold, queue and buy before the fuzzing client sends anything. Their session keys, addresses, orders and
 * tickets must not be in any answer to the client. The client knows the ids of some of their holds and entries and
 * tries them with keys of its own. `send` sends a request and asserts these rules, whatever was sent:
 *
 *  1. The status is below 500, or 503 OVERLOADED, or 502 during a simulated outage of the sandbox.
 *  2. The body has the schema of the OpenAPI document for this status; an error has the API's error body and a code of
 *     this status.
 *  3. The answer contains no data of the customers and no seed of a draw that has not happened.
 *  4. An answer with the id of a hold, an entry, an order or a session has Cache-Control: no-store.
 *  5. An answer that is not a success leaves no new facts, and the state is unchanged.
 *  6. New facts are of the types that the operation may write; without a new fact the state is unchanged.
 *  7. The facts of one request are limited in bytes.
 */
import assert from 'node:assert/strict';
import { Agent, request as sendRequest, type IncomingMessage } from 'node:http';
import { FACT_TYPES, type FactType } from '#domain/fact.ts';
import { snapshotPieces } from '#domain/event/snapshot.ts';
import { ERRORS } from '#http/protocol/errors.ts';
import { fingerprintOf } from '#persistence/snapshots.ts';
import type { HoldBody } from '#http/buyers/holds.ts';
import type { OrderStatusBody } from '#http/buyers/orders/schema.ts';
import type { QueueEntryBody } from '#http/buyers/queue.ts';
import { settle, signatureOf, start, type OrderStatus } from '../fixtures/checkout.ts';
import { RFC_3339 } from '../fixtures/checks.ts';
import { as, HOLDS, type Json } from '../fixtures/client.ts';
import { clubNight, floor, gala, item, seat, theatreRun } from '../fixtures/events.ts';
import { ADMIN_TOKEN, openServiceWith, type TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import {
  bodyCheckerOf,
  operationsOf,
  type BodyChecker,
  type ApiDocument,
  type Listener,
  type Operation,
} from './document.ts';
import { SIGNED, type FuzzRequest } from './requests.ts';
import type { Kind } from './values.ts';

interface FuzzAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface FuzzedService {
  readonly service: TestService;
  readonly operations: Readonly<Record<Listener, readonly Operation[]>>;
  /** Replaces placeholders with real ids, sends the request, asserts rules 1 to 7 and returns the answer. */
  send(request: FuzzRequest): Promise<FuzzAnswer>;
  /** Restarts the service and asserts that the state is unchanged. */
  restart(): Promise<void>;
  /** Asserts that the holds, entries and orders of the customers are unchanged. */
  assertCustomersUnchanged(): Promise<void>;
  /** Asserts that the list of all facts, as operators see it, contains no secret. */
  assertFactsTellNoSecret(): Promise<void>;
  /** Whether the client has so many orders that they should be cancelled. */
  hasManyOrders(): boolean;
  /** Cancels the orders of the client, so that the events do not sell out. */
  cancelOrders(): Promise<void>;
  /** How many answers of each status there were, by operation. */
  readonly tally: ReadonlyMap<string, Map<number, number>>;
  close(): Promise<void>;
}

interface FuzzedServiceOptions {
  /** Whether the client has the operators' token: it may then see the customers' orders and change everything. */
  readonly asOperator?: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

const ANSWER_MS_MAX = 20_000;

/** The events on sale, and a draft that no buyer may see. */
export const DEFINITIONS: readonly Json[] = [
  clubNight({ localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 5_000 }] }),
  theatreRun(),
  gala({ max_tickets_per_email: null }),
  clubNight({ id: 'evt_room', slug: 'room', waiting_room: true, waiting_room_rate: 10_000 }),
  clubNight({ id: 'evt_drawn', slug: 'drawn', waiting_room: true, waiting_room_opens_at: '2027-05-08T12:30:00Z' }),
  clubNight({ id: 'evt_draft', slug: 'draft', status: 'DRAFT', name: 'Draft of a surprise concert' }),
] as Json[];

export async function openFuzzedService(options: FuzzedServiceOptions = {}): Promise<FuzzedService> {
  const fuzzing = await startFuzzing(options);
  const { service, customers, known, tally, agent } = fuzzing;
  return {
    service,
    operations: fuzzing.operations,
    tally,
    send: (request) => sendChecked(fuzzing, request),
    assertCustomersUnchanged: () => customers.assertUnchanged(),
    assertFactsTellNoSecret: () => assertFactsTellNoSecret(fuzzing),
    async restart() {
      const before = await fingerprintOfEvents(service);
      await service.restart();
      assert.equal(await fingerprintOfEvents(service), before);
      fuzzing.last = null;
    },
    hasManyOrders: () => (known.get('order')?.length ?? 0) > 20,
    async cancelOrders() {
      await service.post('/sandbox/outage', { seconds: 0 });
      const orders = known.get('order') ?? [];
      for (const id of orders.splice(0)) await service.admin.post(`/admin/orders/${id}/cancel`);
      fuzzing.last = null;
    },
    async close() {
      agent.destroy();
      await service.close();
    },
  };
}

/** The state of all events, after everything that is due was settled. */
interface Look {
  readonly print: string;
  readonly seq: number;
  readonly now: number;
}

interface Fuzzing {
  readonly service: TestService;
  readonly asOperator: boolean;
  readonly customers: Customers;
  readonly operations: FuzzedService['operations'];
  readonly checkers: Readonly<Record<Listener, BodyChecker>>;
  /** The operations by listener and operation id. */
  readonly byName: ReadonlyMap<string, Operation>;
  /** The ids that the client knows. */
  readonly known: Map<Kind, string[]>;
  readonly tally: Map<string, Map<number, number>>;
  readonly agent: Agent;
  /** The state after the last request; null when something else may have changed it. */
  last: Look | null;
}

async function startFuzzing({ asOperator = false, environment = {} }: FuzzedServiceOptions): Promise<Fuzzing> {
  const service = await openServiceWith(DEFINITIONS, {
    WEBHOOK_SECRET_A: WEBHOOK_SECRET,
    TRUST_PROXY: '1',
    ...environment,
  });
  const customers = await addCustomers(service);
  const documents = {
    public: (await service.get<ApiDocument>('/openapi.json')).body,
    admin: (await service.admin.get<ApiDocument>('/openapi.json')).body,
  };
  const operations = {
    public: operationsOf(documents.public, 'public'),
    admin: operationsOf(documents.admin, 'admin'),
  };
  return {
    service,
    asOperator,
    customers,
    operations,
    checkers: { public: bodyCheckerOf(documents.public), admin: bodyCheckerOf(documents.admin) },
    byName: new Map(
      [...operations.public, ...operations.admin].map((each) => [each.listener + each.operationId, each]),
    ),
    known: new Map<Kind, string[]>([
      ['other hold', customers.holds.map(({ id }) => id)],
      ['other entry', customers.entries.map(({ id }) => id)],
    ]),
    tally: new Map(),
    agent: new Agent({ keepAlive: true, maxSockets: 2 }),
    last: null,
  };
}

async function sendChecked(fuzzing: Fuzzing, wild: FuzzRequest): Promise<FuzzAnswer> {
  const { service, known } = fuzzing;
  const { journal } = service.internals.engine;
  const { last } = fuzzing;
  const before = last?.seq === journal.appendedSeq && last.now === service.now() ? last : await look(service);
  const request = {
    ...fill(wild, known),
    url: wild.listener === 'public' ? service.publicUrl : service.adminUrl,
  };
  sign(request, service.now());
  if (fuzzing.asOperator && wild.listener === 'admin') request.headers['authorization'] ??= `Bearer ${ADMIN_TOKEN}`;
  const seen = await exchange(request, fuzzing.agent);
  const operation = fuzzing.byName.get(wild.listener + wild.operationId) ?? null;
  const about = `${wild.method} ${request.path} → ${seen.status} ${seen.text.slice(0, 2_000)}`;
  count(fuzzing.tally, wild.operationId ?? 'beside', seen.status);
  assertAnswer(seen, operation, wild.method, fuzzing.checkers[wild.listener], about);
  assertNoSecret(fuzzing, seen.text, about);
  assertNoSecret(fuzzing, JSON.stringify(seen.headers), `in a header, ${about}`);
  const after = await look(service);
  const rows = [...journal.read({ afterSeq: before.seq })];
  const facts = rows.map(({ type }) => type);
  const bytes = rows.reduce((sum, { data }) => sum + Buffer.byteLength(data), 0);
  if (wild.listener === 'public') assert.ok(bytes <= FACTS_BYTES_MAX, `${bytes} bytes of facts were written: ${about}`);
  fuzzing.last = after;
  assertChange(
    { facts, isChanged: after.seq > before.seq, isPrintChanged: after.print !== before.print },
    seen,
    wild,
    about,
  );
  rememberIds(known, seen.text);
  return seen;
}

async function look(service: TestService): Promise<Look> {
  await until(() => !isRefunding(service), 'no refund is under way', 10_000);
  const print = await fingerprintOfEvents(service);
  return { print, seq: service.internals.engine.journal.appendedSeq, now: service.now() };
}

/** Whether refunds are due to be asked for, or tried: their facts come by themselves. */
const isRefunding = ({ internals, now }: TestService): boolean =>
  internals.engine.events.actors
    .active()
    .some((actor) => actor.inspect(({ orders }) => orders.executing.length > 0 || orders.refunds.nextAt <= now()));

async function fingerprintOfEvents(service: TestService): Promise<string> {
  const { events } = service.internals.engine;
  const { eventIds } = await events.listAll({ limit: 10_000, after: null });
  const prints: string[] = [];
  for (const eventId of eventIds) {
    const actor = await events.byEventId(eventId);
    prints.push(actor!.inspect((state) => fingerprintOf(snapshotPieces(state))));
  }
  return prints.join();
}

/** The seeds of all draws that are not finished yet. */
function comingSeeds(service: TestService): readonly string[] {
  return service.internals.engine.events.actors.active().flatMap((actor) => {
    const draw = actor.inspect((state) => state.waitingRoom?.draw ?? null);
    return draw !== null && draw.drawnAt === null ? [draw.seed] : [];
  });
}

function assertNoSecret({ service, customers, asOperator }: Fuzzing, text: string, about: string): void {
  for (const secret of [...customers.secrets(asOperator), ...comingSeeds(service)]) {
    assert.ok(!text.includes(secret), `${secret} is in the answer: ${about}`);
  }
}

async function assertFactsTellNoSecret(fuzzing: Fuzzing): Promise<void> {
  let before: number | null = null;
  do {
    const address: string = `/admin/journal?limit=200${before === null ? '' : `&before=${before}`}`;
    const { body } = await fuzzing.service.admin.get<{ readonly next_before: number | null }>(address);
    assertNoSecret(fuzzing, JSON.stringify(body), address);
    before = body.next_before;
  } while (before !== null);
}

// ── the customers ────────────────────────────────────────────────────────────────────────────────────────────────────

const IDEMPOTENCY_KEY = 'key-of-ada';
const WEBHOOK_SECRET = `whsec_${Buffer.from('a secret that nobody may ever see').toString('base64')}`;

interface Customers {
  readonly holds: readonly HoldBody[];
  readonly entries: readonly QueueEntryBody[];
  /** Texts that no answer may contain; operators may see orders, but no keys, no passes and no ids of holds. */
  secrets(toOperator: boolean): readonly string[];
  assertUnchanged(): Promise<void>;
}

async function addCustomers(service: TestService): Promise<Customers> {
  const keys = ['customer-key-ada', 'customer-key-ben', 'customer-key-cleo'];
  const customer = {
    email: 'ada.secret@secret.example',
    name: 'Ada Secret',
    document_number: 'DOC-4711',
    phone: '+49 4711',
  };
  const [ada, ben, cleo] = keys as [string, string, string];
  const playItems = [seat('stalls', 'fri', 2, { seat_ids: ['S-A-5', 'S-A-6'] })];
  const holds = [
    await service.hold({ session_key: ada, items: [floor(2)] }),
    await service.hold({ session_key: ben, event_id: 'evt_play', items: playItems }),
  ];
  const join = { event_id: 'evt_room', session_key: cleo };
  const { body: entry } = await service.post<QueueEntryBody>('/api/checkout/queue', join);
  const early = { event_id: 'evt_drawn', session_key: cleo };
  const { body: undrawn } = await service.post<QueueEntryBody>('/api/checkout/queue', early);
  const paid = await start(service, { customer, items: [item('seat', 2)] }, { 'idempotency-key': IDEMPOTENCY_KEY });
  const order: OrderStatus = await settle(service, paid, 'paid');
  const pending = await start(service, {
    customer: { ...customer, email: 'ben.secret@secret.example', name: 'Ben Secret' },
  });
  const { body: open } = await service.get<OrderStatusBody>(`/api/checkout/status/${pending.order_id}`);
  const orders = [order, open];
  const passes = [...holds.map(({ id }) => id), entry.id, undrawn.id];
  const strict = [...keys, ...passes, IDEMPOTENCY_KEY, WEBHOOK_SECRET, WEBHOOK_SECRET.slice('whsec_'.length)];
  const personal = [
    ...['ada.secret@', 'ben.secret@', 'Ada Secret', 'Ben Secret', 'DOC-4711', '+49 4711', 'surprise concert'],
    ...orders.flatMap((each) => [
      each.order_id,
      ...each.tickets,
      ...each.ticket_objects.flatMap(({ code }) => code ?? []),
    ]),
    ...[paid, pending].map(({ checkout_session_id: id }) => id!),
  ];
  return {
    holds,
    entries: [entry],
    secrets: (toOperator) => (toOperator ? strict : [...strict, ...personal, ADMIN_TOKEN]),
    async assertUnchanged() {
      const owners = [ada, ben];
      for (const [index, hold] of holds.entries()) {
        const { body } = await service.get<HoldBody>(`${HOLDS}/${hold.id}`, as(owners[index]!));
        assert.deepEqual(body, hold);
      }
      const { body: place } = await service.get<QueueEntryBody>(`/api/checkout/queue/${entry.id}`, as(cleo));
      assert.deepEqual([place.id, place.status, place.admitted_at], [entry.id, entry.status, entry.admitted_at]);
      for (const each of orders) {
        assert.deepEqual((await service.get(`/api/checkout/status/${each.order_id}`)).body, each);
      }
    },
  };
}

// ── sending ──────────────────────────────────────────────────────────────────────────────────────────────────────────

interface FilledRequest {
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | null;
}

const PREFIXES: Readonly<Record<string, Kind>> = {
  hld: 'hold',
  que: 'entry',
  ord: 'order',
  cs: 'session',
  tkt: 'ticket',
};

/** Replaces placeholders with known ids; where none of the kind is known, with a made-up id. */
function fill(wild: FuzzRequest, known: ReadonlyMap<Kind, readonly string[]>): Omit<FilledRequest, 'url'> {
  const put = (text: string): string =>
    text.replaceAll(/‹([a-z ]+) (\d+)›/g, (_, kind: Kind, index: string) => {
      const ids = known.get(kind) ?? [];
      // The newest first, because it is most likely still active.
      return ids.at(-1 - (Number(index) % Math.max(1, ids.length))) ?? `ord_1_${index.padStart(24, 'x')}`;
    });
  const { method, path, headers, body } = wild;
  return { method, path: put(path), headers: { ...headers }, body: body === null ? null : put(body) };
}

/** Signs a webhook that is to be signed, as provider_a would. */
function sign({ headers, body }: Omit<FilledRequest, 'url'>, now: number): void {
  if (headers['webhook-signature'] !== SIGNED) return;
  const timestamp = String(Math.floor(now / 1_000));
  const content = `${headers['webhook-id']}.${timestamp}.${body ?? ''}`;
  headers['webhook-timestamp'] = timestamp;
  headers['webhook-signature'] = `v1,${signatureOf(WEBHOOK_SECRET, content)}`;
}

/** Remembers the ids in an answer to the client. */
function rememberIds(known: Map<Kind, string[]>, text: string): void {
  for (const [id, prefix] of text.matchAll(/\b(hld|que|ord|cs|tkt)_[0-9a-z]{1,8}_[A-Za-z0-9_-]{24}/g)) {
    const kind = PREFIXES[prefix!]!;
    const ids = known.get(kind) ?? [];
    known.set(kind, ids);
    if (!ids.includes(id)) ids.push(id);
  }
}

/** Sends a request unchanged and reads the answer; of a stream, the first message. */
function exchange({ method, url, path, headers, body }: FilledRequest, agent: Agent): Promise<FuzzAnswer> {
  const { hostname, port } = new URL(url);
  if (body !== null) headers['content-length'] = String(Buffer.byteLength(body));
  return new Promise((resolve, reject) => {
    const request = sendRequest({
      hostname,
      port,
      method,
      path: encodeOutside(path),
      headers,
      agent,
      timeout: ANSWER_MS_MAX,
    });
    request.on('timeout', () => request.destroy(new Error(`no answer to ${method} ${path}`)));
    request.on('error', (error) => reject(new Error(`${method} ${path} ${JSON.stringify(headers)}: ${error.message}`)));
    request.on('response', (answer) => {
      const chunks: Buffer[] = [];
      const { statusCode: status = 0 } = answer;
      const finish = (): void => resolve({ status, headers: answer.headers, text: Buffer.concat(chunks).toString() });
      const isStream = String(answer.headers['content-type']).includes('event-stream');
      answer.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        if (!isStream || !Buffer.concat(chunks).includes('event: snapshot')) return;
        finish();
        answer.destroy();
      });
      answer.on('end', finish);
      answer.on('error', reject);
    });
    request.end(body ?? undefined);
  });
}

/** Escapes the characters that Node's client refuses in an address. */
function encodeOutside(path: string): string {
  return path.replaceAll(/[^\x21-\x7e]/g, (character) => encodeURIComponent(character));
}

// ── checking ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Ids that grant access; those in the examples of a document are of a service that is gone. */
const PERSONAL = /\b(hld|que|ord|cs)_[0-9a-z]{1,8}_[A-Za-z0-9_-]{24}/;
const DOCUMENT = /^\{"openapi":/;

function assertAnswer(
  seen: FuzzAnswer,
  operation: Operation | null,
  method: string,
  check: BodyChecker,
  about: string,
): void {
  const { status, headers, text } = seen;
  assert.equal(headers['x-api-version'], '1.3.0', about);
  assert.ok(typeof headers['x-request-id'] === 'string', about);
  if (status >= 400) return assertError(seen, operation, method, about);
  const isJson = String(headers['content-type']).startsWith('application/json');
  if (PERSONAL.test(text) && !DOCUMENT.test(text))
    assert.match(String(headers['cache-control']), /\bno-store\b/, about);
  if (operation === null || method === 'HEAD' || !isJson) return;
  const trouble = check(operation, status, JSON.parse(text));
  assert.equal(trouble, null, `${trouble}: ${about}`);
}

function assertError(
  { status, headers, text }: FuzzAnswer,
  operation: Operation | null,
  method: string,
  about: string,
): void {
  if (method === 'HEAD') return assert.ok(status < 500, about);
  if (String(headers['content-type']).startsWith('text/html'))
    return assert.ok(operation === null && status < 500, about);
  const body = JSON.parse(text) as Json;
  assert.deepEqual(Object.keys(body).sort(), ['code', 'detail', 'message', 'statusCode', 'timestamp'], about);
  const code = String(body['code']);
  assert.ok(Object.hasOwn(ERRORS, code), about);
  assert.equal(ERRORS[code as keyof typeof ERRORS].status, status, about);
  assert.equal(body['statusCode'], status, about);
  assert.match(String(body['timestamp']), RFC_3339, about);
  assert.ok(typeof body['detail'] === 'object' && body['detail'] !== null && !Array.isArray(body['detail']), about);
  const isAllowed =
    status < 500 || code === 'OVERLOADED' || code === 'SALE_PAUSED' || code === 'PAYMENT_PROVIDER_UNAVAILABLE';
  assert.ok(isAllowed, `no request is answered with a 5xx: ${about}`);
}

/** The longest checkout that is accepted: tracking, two return addresses, a customer and several named tickets. */
const FACTS_BYTES_MAX = 48 * 1024;

const PAYING: readonly FactType[] = [
  ...(['PaymentRequested', 'CheckoutSessionOpened', 'PaymentClosed', 'PaymentRecorded', 'StrayMoneyRecorded'] as const),
  ...(['OrderPaid', 'TicketsIssued', 'OrderCancelled', 'HoldPlaced'] as const),
  ...(['AmendmentEnded', 'OrderAmended'] as const),
];
const REFUNDING: readonly FactType[] = ['RefundRequested', 'RefundRecorded', 'RefundAnswered'];
const EXECUTING: readonly FactType[] = ['DueRefundsOrdered', 'DueRefundsAsked', ...REFUNDING];
const AMENDING: readonly FactType[] = [
  ...(['AmendmentRequested', 'AmendmentEnded', 'CheckoutSessionOpened', 'OrderAmended'] as const),
  ...(['PaymentClosed', 'OrderCancelled'] as const),
];
const QUEUING: readonly FactType[] = ['QueueEntriesAdmitted', 'QueueEntriesDropped', 'QueuePassExpired'];

/** The types of facts that each operation may write; an operation that is not listed writes none. */
const FACTS: Readonly<Record<string, readonly FactType[]>> = {
  createHold: ['HoldPlaced', 'QueuePassSpent'],
  changeHold: ['HoldChanged', 'RequestAnswered'],
  releaseHold: ['HoldReleased'],
  startCheckout: [
    'HoldPlaced',
    'OrderPlaced',
    'CheckoutResumed',
    'CheckoutSessionOpened',
    'OrderPaid',
    'TicketsIssued',
    'QueuePassSpent',
  ],
  openPayment: [...PAYING, 'RequestAnswered'],
  settleSandboxSession: PAYING,
  receivePaymentWebhook: PAYING,
  'POST /sandbox/pay/{checkout_session_id}': PAYING,
  'POST /orders/{order_id}/pay': PAYING,
  joinQueue: ['QueueEntryJoined', ...QUEUING],
  pollQueue: QUEUING,
  leaveQueue: ['QueueEntryLeft', ...QUEUING],
  defineEvent: ['EventDefined', 'WaitingRoomAdded', 'WaitingRoomRescheduled', 'WaitingRoomRemoved', ...QUEUING],
  cancelPerformance: ['PerformanceCancelled', 'HoldReleased', ...AMENDING, ...EXECUTING, 'RequestAnswered'],
  steerSale: ['SaleSteered'],
  sellAtCounter: [
    'HoldPlaced',
    'OrderPlaced',
    'SoldAtCounter',
    'PaymentRecorded',
    'OrderPaid',
    'TicketsIssued',
    'RequestAnswered',
  ],
  changeSeats: ['SeatsBlocked', 'SeatsUnblocked', 'RequestAnswered'],
  cancelOrder: ['AmendmentEnded', 'OrderCancelled', 'RequestAnswered'],
  cancelAmendment: ['AmendmentEnded'],
  cancelOwnAmendment: ['AmendmentEnded'],
  amendOrder: [...AMENDING, ...REFUNDING, 'RequestAnswered'],
  amendOwnOrder: [...AMENDING, ...REFUNDING, 'RequestAnswered'],
  recordRefund: [...REFUNDING, 'RequestAnswered'],
  executeDueRefunds: [...EXECUTING, 'RequestAnswered'],
  resolveRefund: [...REFUNDING, 'RequestAnswered'],
  advanceClock: REFUNDING,
  mailOrder: ['MailRequested', 'RequestAnswered'],
  'POST /orders/{order_id}/mail': ['MailRequested'],
  eraseOrder: ['OrderErased', 'RequestAnswered'],
  addStation: ['StationAdded'],
  revokeStation: ['StationRevoked'],
  recordScans: ['TicketsScanned'],
  scanTicket: ['TicketScannedByHand', 'RequestAnswered'],
};

interface Change {
  readonly facts: readonly string[];
  readonly isChanged: boolean;
  readonly isPrintChanged: boolean;
}

function assertChange(
  { facts, isChanged, isPrintChanged }: Change,
  seen: FuzzAnswer,
  wild: FuzzRequest,
  about: string,
): void {
  if (!isChanged) return assert.ok(!isPrintChanged, `the state changed without a fact: ${about}`);
  // The order is kept when its provider cannot be reached.
  const isGranted = seen.status < 400 || seen.status === 502;
  assert.ok(isGranted, `a refusal wrote ${facts.join()}: ${about}`);
  const allowed: readonly string[] = FACTS[wild.operationId ?? ''] ?? [];
  const others = facts.filter((type) => Object.hasOwn(FACT_TYPES, type) && !allowed.includes(type));
  assert.deepEqual(others, [], about);
  // Facts of the service itself, such as an answer kept for a repeat, do not change the state of an event.
  const isOfEvent = facts.some((type) => Object.hasOwn(FACT_TYPES, type));
  assert.ok(isPrintChanged || !isOfEvent, `facts without a change of state, ${facts.join()}: ${about}`);
}

function count(tally: Map<string, Map<number, number>>, name: string, status: number): void {
  const statuses = tally.get(name) ?? new Map<number, number>();
  tally.set(name, statuses.set(status, (statuses.get(status) ?? 0) + 1));
}
