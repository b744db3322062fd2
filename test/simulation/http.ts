/**
 * The check of the HTTP layer with the commands and answers of a simulated sale: routes, schemas, bodies and error
 * table.
 *
 * A command is written as the request that a storefront would send, and goes through the real app. The event behind the
 * app asserts that it receives the same command and returns the answer that the simulation got; the response must be
 * what the API says. One request at a time.
 */
import assert from 'node:assert/strict';
import { createTicketSigner } from '#tickets/signing.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { LIMITS } from '#service/limits.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { buildPublicApp } from '#http/server/apps.ts';
import { newUseCount } from '#http/metrics/request-metrics.ts';
import { MemoryKeys } from '#persistence/memory/keys.ts';
import { servingState } from '../fixtures/test-service.ts';
import type { EventPort } from '#actors/event-port.ts';
import type { EventsPort, PublicPorts } from '#http/ports.ts';
import type { CheckoutItemRequest, Command, ItemRequest, Reply } from '#domain/command.ts';
import type { HoldView, OrderView, PaymentView } from '#domain/view.ts';

interface Request {
  readonly method: 'POST' | 'GET' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: object | null;
}

/** The command that the event must receive, and the answer it returns. */
interface ExpectedCall {
  readonly command: Command;
  readonly answer: Reply | Refusal;
  isReceived: boolean;
}

export interface HttpCheck {
  /** Sends a command over HTTP and checks the response; skips commands that no buyer sends. */
  check(eventId: string, command: Command, answer: Reply | Refusal, now: number): Promise<void>;
}

/** The statuses of the API that are not 400, by code. */
const STATUS: Readonly<Record<string, number>> = {
  QUEUE_PASS_REQUIRED: 403,
  QUEUE_PASS_INVALID: 403,
  EVENT_NOT_FOUND: 404,
  HOLD_NOT_FOUND: 404,
  ORDER_NOT_FOUND: 404,
  QUEUE_ENTRY_NOT_FOUND: 404,
  SEAT_TAKEN: 409,
  HOLD_EXPIRED: 409,
  HOLD_NOT_ACTIVE: 409,
  ORDER_NOT_PAYABLE: 409,
  IDEMPOTENCY_KEY_REUSED: 422,
};

/** Opens the app; one serves any number of sales. */
export async function openHttpCheck(): Promise<HttpCheck> {
  const current: { expected: ExpectedCall | null; now: number } = { expected: null, now: 0 };
  const app = await buildPublicApp(portsOf(current));
  await app.ready();
  let requests = 0;
  /** Another one each time: the guesses of an address are bounded by the minute, and sales go by in less. */
  const nextAddress = (): string => {
    requests += 1;
    return `10.${[16, 8, 0].map((bits) => (requests >> bits) & 255).join('.')}`;
  };
  return {
    async check(eventId, command, answer, now) {
      const request = requestOf(eventId, command);
      if (request === null) return;
      const expected: ExpectedCall = { command, answer, isReceived: false };
      Object.assign(current, { expected, now });
      const { method, url, headers, body } = request;
      const remoteAddress = nextAddress();
      const payload = body === null ? {} : { payload: body };
      const response = await app.inject({ method, url, headers, remoteAddress, ...payload });
      const answered = response.json<Record<string, unknown>>();
      const context = `${method} ${url} ${JSON.stringify(body)} ⇒ ${response.statusCode} ${response.body}`;
      if (!expected.isReceived) {
        assert.ok(isMalformed(command), `refused before the event: ${context}`);
        assert.deepEqual([response.statusCode, answered['code']], [400, 'VALIDATION_ERROR'], context);
      } else if (isRefusal(answer)) assertRefused(answer, response.statusCode, answered, now, context);
      else assertDone(command, answer, response.statusCode, answered, context);
    },
  };
}

function portsOf(current: { expected: ExpectedCall | null; now: number }): PublicPorts {
  const event = {
    execute(command: Command) {
      const expected = current.expected!;
      assert.deepEqual(plain(command), plain(expected.command), 'the event receives the command that was sent');
      expected.isReceived = true;
      return Promise.resolve(expected.answer);
    },
    // The only read is of wrong codes, whose limit is by address; here each request has its own.
    read: () => Promise.resolve({ count: 0 }),
  } as unknown as EventPort;
  const found = () => Promise.resolve(event);
  const events = { byEventId: found, bySlug: found, byId: found } as unknown as EventsPort;
  const inTime = (_found: unknown, execute: (busy: object) => unknown) => execute({});
  const openSession = ({ order, payment }: { order: OrderView; payment: PaymentView }) =>
    Promise.resolve({
      order,
      payment: payment.checkoutSessionId === null ? { ...payment, ...SESSION } : payment,
      isShared: false,
    });
  const settings = {
    brand: null,
    corsOrigins: '*',
    baseUrl: null,
    trustProxy: false,
    nodeName: null,
    rateLimitPerMinute: 0,
    clientLimits: true,
    serverTiming: false,
    responseEnvelope: 'none',
    sandboxClock: false,
    limits: LIMITS,
  } as const;
  return {
    events: events,
    settings,
    payments: {
      checkoutSessions: { inTime, openSession, calls: { underWay: 0, waiting: 0 } },
      webhooks: null,
      sandbox: null,
      absent: [],
    } as unknown as PublicPorts['payments'],
    tickets: createTicketSigner([Buffer.alloc(32, 7).toString('base64url')]),
    personalData: new PersonalDataReader(new MemoryKeys()),
    metrics: { observe: () => {}, countInUse: newUseCount } as unknown as PublicPorts['metrics'],
    clock: { now: () => current.now },
    deployment: { state: () => servingState, isStopping: false },
    log: { error: (details) => assert.fail(JSON.stringify(details)), debug: () => {} },
    baseUrl: () => 'http://shop.test',
    advanceClock: () => Promise.resolve(0),
  };
}

const SESSION = { checkoutSessionId: 'cs_1_of_the_simulation', redirectUrl: 'https://pay.example/' };

/** A command without the digest, and without the route before its key: only the HTTP layer makes both. */
function plain(command: Command): unknown {
  if (!('idempotency' in command) || command.idempotency == null) return { ...command, idempotency: null };
  return { ...command, idempotency: command.idempotency.key.split(' ').at(-1) };
}

/** Whether the schemas of the API refuse the command. */
function isMalformed(command: Command): boolean {
  const items: readonly ItemRequest[] = 'items' in command ? (command.items ?? []) : [];
  const places = items.flatMap(({ performanceId, seatIds }) => (seatIds ?? []).map((id) => `${performanceId} ${id}`));
  return items.some(({ seatIds }) => seatIds?.length === 0) || new Set(places).size < places.length;
}

// ── requests ─────────────────────────────────────────────────────────────────────────────────────────────────────────

function requestOf(eventId: string, command: Command): Request | null {
  const json = { 'content-type': 'application/json' };
  switch (command.type) {
    case 'PlaceHold': {
      const { sessionKey, items, queuePass, idempotency } = command;
      const headers = { ...json, ...(idempotency === null ? {} : { 'idempotency-key': idempotency.key }) };
      const body = { event_id: eventId, session_key: sessionKey, items: items.map(itemBody), queue_pass: queuePass };
      return { method: 'POST', url: '/api/checkout/holds', headers, body };
    }
    case 'ChangeHold': {
      const headers = { ...json, 'x-session-key': command.sessionKey };
      const body = { items: command.items.map(itemBody) };
      return { method: 'PATCH', url: `/api/checkout/holds/${command.holdId}`, headers, body };
    }
    case 'ReleaseHold': {
      const headers = { 'x-session-key': command.sessionKey };
      return { method: 'DELETE', url: `/api/checkout/holds/${command.holdId}`, headers, body: null };
    }
    case 'StartCheckout':
      return startRequest(eventId, command);
    case 'OpenPayment':
      return { method: 'POST', url: `/api/checkout/orders/${command.orderId}/payments`, headers: {}, body: null };
    case 'JoinQueue': {
      const body = { event_id: eventId, session_key: command.sessionKey };
      return { method: 'POST', url: '/api/checkout/queue', headers: json, body };
    }
    case 'PollQueue':
    case 'LeaveQueue': {
      const url = `/api/checkout/queue/${command.entryId}?session_key=${command.sessionKey}`;
      return { method: command.type === 'PollQueue' ? 'GET' : 'DELETE', url, headers: {}, body: null };
    }
    default:
      return null;
  }
}

function startRequest(eventId: string, command: Extract<Command, { type: 'StartCheckout' }>): Request {
  const { customer, idempotency, items } = command;
  const key = idempotency === null ? {} : { 'idempotency-key': idempotency.key };
  const body = {
    event_id: eventId,
    session_key: command.sessionKey,
    hold_id: command.holdId,
    items: items?.map(checkoutItemBody) ?? null,
    customer: { email: customer.email, name: customer.name },
    accept_terms: command.acceptTerms,
    installment_count: command.installmentCount,
    promo_code: command.promoCode,
    queue_pass: command.queuePass,
  };
  return { method: 'POST', url: '/api/checkout/start', headers: { 'content-type': 'application/json', ...key }, body };
}

/** An item of a request; absent fields are left out, or null where both mean the same. */
function itemBody({ ticketTypeId, sellingStageId, quantity, performanceId, seatIds }: ItemRequest): object {
  return {
    ticket_type_id: ticketTypeId,
    selling_stage_id: sellingStageId,
    quantity,
    ...(performanceId === null ? {} : { performance_id: performanceId }),
    ...(seatIds === null ? {} : { seat_ids: seatIds }),
  };
}

function checkoutItemBody(item: CheckoutItemRequest): object {
  const perks = item.barPerks.map(({ barPerkId, quantity }) => ({ bar_perk_id: barPerkId, quantity }));
  const people = item.attendees?.map(({ name }) => ({ name })) ?? null;
  return { ...itemBody(item), discount_code: item.discountCode, attendees: people, bar_perks: perks };
}

// ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────────

function assertRefused(
  { code }: Refusal,
  statusCode: number,
  body: Record<string, unknown>,
  now: number,
  context: string,
): void {
  const status = STATUS[code] ?? 400;
  const { message, detail, ...rest } = body;
  assert.deepEqual(rest, { statusCode: status, code, timestamp: new Date(now).toISOString() }, context);
  assert.equal(statusCode, status, context);
  assert.ok(typeof message === 'string' && typeof detail === 'object' && detail !== null, context);
}

function assertDone(
  command: Command,
  answer: Reply,
  statusCode: number,
  body: Record<string, unknown>,
  context: string,
): void {
  if ('hold' in answer) {
    assert.equal(statusCode, command.type === 'PlaceHold' ? 201 : 200, context);
    assertHold(answer.hold, body, context);
  } else if ('entry' in answer) {
    assert.equal(statusCode, 'joined' in answer && answer.joined ? 201 : 200, context);
    const { id, status, position } = answer.entry;
    assert.deepEqual([body['id'], body['status'], body['position']], [id, status, position], context);
  } else if ('order' in answer && 'payment' in answer && answer.order !== null) {
    assert.equal(statusCode, 201, context);
    const { order, payment } = answer;
    const session = payment === null ? null : (payment.checkoutSessionId ?? SESSION.checkoutSessionId);
    assert.deepEqual(
      [body['order_id'], body['total_amount'], body['currency'], body['checkout_session_id']],
      [order.id, order.totalCents, order.currency, session],
      context,
    );
    assert.equal(body['payment_provider'] === 'FREE', payment === null, context);
  } else assert.fail(context);
}

function assertHold(hold: HoldView, body: Record<string, unknown>, context: string): void {
  const { id, event_id, status, expires_at, order_id, items } = body;
  const expected = [hold.id, hold.eventId, hold.status, new Date(hold.expiresAt).toISOString(), hold.orderId];
  assert.deepEqual([id, event_id, status, expires_at, order_id], expected, context);
  const lines = (items as Record<string, unknown>[]).map((item) => [
    item['quantity'],
    item['ticket_count'],
    item['seat_ids'],
  ]);
  assert.deepEqual(
    lines,
    hold.items.map(({ quantity, ticketCount, seatIds }) => [quantity, ticketCount, [...seatIds]]),
    context,
  );
}
