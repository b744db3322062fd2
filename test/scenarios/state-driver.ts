/**
 * Runs scenarios on the state of an event alone: each request is one command that is decided and evolved, or one query.
 *
 * Bodies are translated as the HTTP layer does; routes, mailbox, journal, timers and providers are missing. A
 * provider's session is open as soon as its payment is.
 */
import assert from 'node:assert/strict';
import { createHashing } from '#actors/crypto.ts';
import { auditEventState } from '#domain/event/audit.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { CommandOf, CommandType, ReplyTo } from '#domain/command.ts';
import type { QueryOf, QueryType, Views } from '#domain/event/query.ts';
import { read } from '#domain/event/read.ts';
import type { IdempotencyKey } from '#domain/fact.ts';
import { isRefusal, refuseProblems, type Refusal } from '#domain/refusal.ts';
import type { OrderView, PaymentView } from '#domain/view.ts';
import { readStart, toStartedBody } from '#http/buyers/checkout/body.ts';
import type { StartCheckoutBody } from '#http/buyers/checkout/schema.ts';
import { toEventBody } from '#http/buyers/events/body.ts';
import { problemsOfSeats, readItem, toHoldBody, type ItemBody } from '#http/buyers/holds.ts';
import { toOrderStatusBody } from '#http/buyers/orders/body.ts';
import { toDrawBody, toQueueEntryBody } from '#http/buyers/queue.ts';
import { toFreeSeatBody, toOccupancyBody } from '#http/buyers/seating.ts';
import { toAdminOrderBodies, toAdminTicketBody } from '#http/operators/orders/body.ts';
import { readCounterOrder } from '#http/operators/orders/counter.ts';
import { toSteeringBody } from '#http/operators/steering.ts';
import { toDetailBody } from '#http/protocol/formats.ts';
import { readCursor, toCursor } from '#http/protocol/request-parts.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { createTicketSigner } from '#tickets/signing.ts';
import { assertSameAfterReplay, EventFixture, fingerprint, given } from '../fixtures/event-state.ts';
import { definitionOf } from '../fixtures/events.ts';
import type { Json } from '../fixtures/client.ts';
import { openSession } from '../fixtures/commands.ts';
import type { PaymentReport, ApiRequest, Bodies, Operation } from './requests.ts';
import type { Driver, Sale } from './scenario.ts';

const BASE_URL = 'http://shop.test';
const hashing = createHashing();
const tickets = createTicketSigner([Buffer.alloc(32, 7).toString('base64url')]);

type Answer<Name extends Operation> = Bodies[Name] | Refusal;
type Handlers = {
  readonly [Name in Operation]: (
    event: EventAtHand,
    request: ApiRequest<Name> & { readonly id: string; readonly body: Json },
  ) => Answer<Name> | Promise<Answer<Name>>;
};

/** The state of a scenario's event, and whether its last answer was that of an earlier request. */
class EventAtHand {
  readonly fixture: EventFixture;
  replayed = false;

  constructor(definition: EventDefinition, now: number) {
    this.fixture = given(definition, now);
  }

  get orderPorts() {
    return { tickets, personalData: new PersonalDataReader(this.fixture.sealing.keys) };
  }

  /** The body of the reply to a command, or its refusal. */
  execute<Type extends CommandType, Body>(
    command: CommandOf<Type>,
    toBody: (reply: ReplyTo<Type>) => Body,
  ): Body | Refusal {
    const reply: object = this.fixture.execute<Type>(command);
    if (isRefusal(reply)) return reply;
    const { replayed, repeated } = reply as { readonly replayed?: boolean; readonly repeated?: boolean };
    this.replayed = replayed === true || (command.type === 'RecordPayment' && repeated === true);
    return toBody(reply as ReplyTo<Type>);
  }

  /** The body of the view that answers a query, or its refusal. */
  read<Type extends QueryType, Body>(
    query: QueryOf<Type>,
    toBody: (view: Exclude<Views[Type], Refusal>) => Body,
  ): Body | Refusal {
    const { state, now, sealing } = this.fixture;
    const view: unknown = read(state, query, { now, activation: state.eventId, hashing, sealing: sealing.sealing });
    return isRefusal(view as object) ? (view as Refusal) : toBody(view as Exclude<Views[Type], Refusal>);
  }

  /** The operators' body of an order that a command changes, or its refusal. */
  async changeOrder<Type extends 'SellAtCounter' | 'CancelOrder' | 'RecordRefund' | 'EraseOrder'>(
    command: CommandOf<Type>,
  ) {
    const order = this.execute<Type, OrderView>(command, (reply) => reply.order);
    return isRefusal(order) ? order : (await toAdminOrderBodies([order], this.orderPorts))[0]!;
  }

  /** What was started or opened, its session opened by the provider. */
  started({ order, payment }: { readonly order: OrderView; readonly payment: PaymentView | null }) {
    if (payment === null || payment.checkoutSessionId !== null) return toStartedBody(order, payment, BASE_URL);
    return toStartedBody(order, openSession(this.fixture, order, payment), BASE_URL);
  }
}

function idempotencyOf({ operation, id, sessionKey, idempotencyKey, body }: ApiRequest): IdempotencyKey | null {
  if (idempotencyKey === undefined) return null;
  return { key: [operation, sessionKey, idempotencyKey].join(' '), digest: JSON.stringify([id, body]) };
}

const operator = (body: Json) => ({ operator: null, note: (body['note'] as string | undefined) ?? null });

function itemsOf(body: Json): { readonly items: readonly ItemBody[]; readonly problem: Refusal | null } {
  const items = (body['items'] ?? []) as ItemBody[];
  const problems = problemsOfSeats(items).map(({ path, message }) => ({ path: path.split('/').slice(1), message }));
  return { items, problem: problems.length === 0 ? null : refuseProblems(problems) };
}

const handlers: Handlers = {
  createHold(event, request) {
    const { items, problem } = itemsOf(request.body);
    const { session_key: sessionKey, queue_pass: pass } = request.body as Record<string, string>;
    const asked = { sessionKey: sessionKey!, queuePass: pass ?? null, idempotency: idempotencyOf(request) };
    const command = { type: 'PlaceHold', items: items.map(readItem), ...asked } as const;
    return problem ?? event.execute(command, ({ hold }) => toHoldBody(hold));
  },
  getHold: (event, { id, sessionKey }) =>
    event.read({ type: 'FindHold', holdId: id, sessionKey: sessionKey! }, toHoldBody),
  changeHold(event, request) {
    const { items, problem } = itemsOf(request.body);
    const asked = { holdId: request.id, sessionKey: request.sessionKey!, idempotency: idempotencyOf(request) };
    const command = { type: 'ChangeHold', items: items.map(readItem), ...asked } as const;
    return problem ?? event.execute(command, ({ hold }) => toHoldBody(hold));
  },
  releaseHold: (event, { id, sessionKey }) =>
    event.execute({ type: 'ReleaseHold', holdId: id, sessionKey: sessionKey! }, ({ hold }) => toHoldBody(hold)),

  getEvent(event, { query, sessionKey }) {
    const asked = { performanceId: query?.['performance_id'] ?? null, sessionKey: sessionKey ?? null };
    return event.read({ type: 'ReadPayload', ...asked, knownRevision: null }, (view) => {
      assert.ok('event' in view);
      return toEventBody(view.event, null);
    });
  },
  getOccupancy(event, { query }) {
    const { performance_id: performanceId = null, since } = query ?? {};
    const asked = { performanceId, since: since === undefined ? null : Number(since) };
    return event.read({ type: 'ReadOccupancy', audience: 'BUYERS', ...asked, knownRevision: null }, (view) => {
      assert.ok('form' in view);
      return toOccupancyBody(view);
    });
  },
  suggestSeats(event, { body }) {
    const { performance_id: performanceId = null, session_key: sessionKey = null } = body as Record<string, string>;
    const asked = { ticketTypeId: body['ticket_type_id'] as string, count: body['count'] as number };
    const query = { type: 'SuggestSeats', ...asked, performanceId, sessionKey } as const;
    return event.read(query, (seats) => seats.map(toFreeSeatBody));
  },

  joinQueue: (event, { body }) =>
    event.execute({ type: 'JoinQueue', sessionKey: body['session_key'] as string }, ({ entry }) =>
      toQueueEntryBody(entry),
    ),
  pollQueue: (event, { id, sessionKey }) =>
    event.execute({ type: 'PollQueue', entryId: id, sessionKey: sessionKey! }, ({ entry }) => toQueueEntryBody(entry)),
  leaveQueue: (event, { id, sessionKey }) =>
    event.execute({ type: 'LeaveQueue', entryId: id, sessionKey: sessionKey! }, ({ entry }) => toQueueEntryBody(entry)),
  getDraw(event, { query: { offset = '0', limit = '1000' } = {} }) {
    return event.read({ type: 'FindDraw', offset: Number(offset), limit: Number(limit) }, ({ draw }) => {
      assert.ok(draw !== null);
      return toDrawBody(draw);
    });
  },

  startCheckout(event, request) {
    const { problem } = itemsOf(request.body);
    const command = readStart(request.body as StartCheckoutBody, idempotencyOf(request));
    return problem ?? event.execute(command, (reply) => event.started(reply));
  },
  quoteCheckout(event, { body }) {
    const {
      hold_id: holdId,
      session_key: sessionKey = null,
      promo_code: promoCode = null,
    } = body as Record<string, string>;
    return event.read({ type: 'QuoteOrder', holdId: holdId!, sessionKey, promoCode }, (quote) => ({
      tickets_amount: quote.ticketsCents,
      discount_amount: quote.discountCents,
      currency: quote.currency,
    }));
  },
  openPayment: (event, request) =>
    event.execute({ type: 'OpenPayment', orderId: request.id, idempotency: idempotencyOf(request) }, (reply) =>
      event.started(reply),
    ),
  getOrderStatus(event, { id }) {
    const found = event.read({ type: 'FindOrder', orderId: id }, ({ order }) => order);
    return isRefusal(found) ? found : toOrderStatusBody(found, event.orderPorts);
  },
  receiveWebhook(event, { body }) {
    const {
      provider,
      session,
      paymentId = null,
      amount,
      currency = null,
      id = null,
    } = body as unknown as PaymentReport;
    const outcome = (body['type'] as string).replace('payment.', '') as CommandOf<'RecordPayment'>['outcome'];
    const named = { provider: provider as 'provider_a', checkoutSessionId: session, paymentId, webhookId: id };
    const command = { type: 'RecordPayment', ...named, outcome, amountCents: amount, currency } as const;
    return event.execute(command, ({ order, repeated }) => {
      if (order === null) return { outcome: 'REFUSED', code: 'ORDER_NOT_FOUND', detail: {} } as const;
      return { result: repeated ? ('repeated' as const) : ('recorded' as const) };
    });
  },

  defineEvent(event, { body }) {
    const { eventId } = event.fixture.state;
    const command = {
      type: 'DefineEvent',
      definition: named(body, eventId),
      operator: null,
      note: null,
    } as const;
    const answer = event.execute(command, ({ version }) => ({ id: eventId, version }));
    if (!isRefusal(answer)) event.fixture.cancelOrders();
    return answer;
  },
  cancelPerformance(event, request) {
    const asked = { performanceId: request.id, idempotency: idempotencyOf(request), ...operator(request.body) };
    const answer = event.execute({ type: 'CancelPerformance', ...asked }, (reply) => ({
      released_holds: reply.releasedHolds,
      cancelled_orders: reply.cancelledOrders,
      amended_orders: reply.amendedOrders,
    }));
    if (!isRefusal(answer)) event.fixture.cancelOrders();
    return answer;
  },
  changeSeats(event, request) {
    const { action, seat_ids: seatIds } = request.body as { action: string; seat_ids: string[] };
    const asked = {
      performanceId: request.id,
      seatIds,
      idempotency: idempotencyOf(request),
      ...operator(request.body),
    };
    return action === 'block'
      ? event.execute({ type: 'BlockSeats', ...asked }, ({ blockedSeats: blocked }) => ({ blocked }))
      : event.execute({ type: 'UnblockSeats', ...asked }, ({ unblockedSeats: unblocked }) => ({ unblocked }));
  },

  steerSale: (event, { body }) =>
    event.execute({ type: 'SteerSale', changes: body, ...operator(body) }, ({ steering }) => toSteeringBody(steering)),
  sellAtCounter(event, request) {
    const { problem } = itemsOf(request.body);
    const command = readCounterOrder(request.body as Parameters<typeof readCounterOrder>[0]);
    const asked = { idempotency: idempotencyOf(request), ...operator(request.body) };
    return problem ?? event.changeOrder<'SellAtCounter'>({ ...command, ...asked });
  },
  async getOrder(event, { id }) {
    const found = event.read({ type: 'FindOrder', orderId: id }, ({ order }) => order);
    return isRefusal(found) ? found : (await toAdminOrderBodies([found], event.orderPorts))[0]!;
  },
  async listOrders(event, { query = {} }) {
    const { status = null, email = null, cursor, limit = 100 } = query;
    const start = readCursor(cursor);
    if ('outcome' in start) return start;
    const asked = { email, ...start, newestFirst: query['order'] === 'newest', limit: Number(limit) };
    const page = event.read({ type: 'ListOrders', status: status as OrderView['status'], ...asked }, (view) => view);
    if (isRefusal(page)) return page;
    return { orders: await toAdminOrderBodies(page.orders, event.orderPorts), next_cursor: toCursor(page.nextAfter) };
  },
  async getTicket(event, { id }) {
    const { personalData } = event.orderPorts;
    const issued = event.read({ type: 'FindTicket', ticketId: id }, (view) => view.issued);
    assert.ok(issued !== null && !isRefusal(issued));
    return toAdminTicketBody(issued, await personalData.open(issued), tickets);
  },
  cancelOrder: (event, request) =>
    event.changeOrder({
      type: 'CancelOrder',
      orderId: request.id,
      idempotency: idempotencyOf(request),
      ...operator(request.body),
    }),
  recordRefund(event, request) {
    const { amount, currency = null, reference = null } = request.body as Record<string, string>;
    const asked = { orderId: request.id, amountCents: Number(amount), currency, reference, provider: null };
    const named = { idempotency: idempotencyOf(request), ...operator(request.body) };
    return event.changeOrder({ type: 'RecordRefund', ...asked, ...named });
  },
  async eraseOrder(event, request) {
    const asked = { orderId: request.id, idempotency: idempotencyOf(request), operator: null, note: null };
    const { journal, sealing } = event.fixture;
    const before = journal.length;
    event.fixture.settle();
    const answer = event.changeOrder({ type: 'EraseOrder', ...asked });
    for (const { fact } of journal.slice(before)) {
      if (fact.type === 'OrderErased') await sealing.keys.destroy(fact.data.keyIds);
    }
    return answer;
  },
};

const named = (file: object, id: string): EventDefinition =>
  definitionOf({ ...file, id, slug: id.replaceAll('_', '-') });

/** A Friday noon, before every event of the tests. */
const BEGIN = Date.UTC(2027, 4, 7, 12);

export const stateDriver: Driver = {
  async open(file) {
    const event = new EventAtHand(named(typeof file === 'function' ? file(BEGIN) : file, 'evt_rule'), BEGIN);
    const { fixture } = event;
    const answerTo = async <Name extends Operation>(request: ApiRequest<Name>): Promise<Answer<Name>> => {
      fixture.settle();
      event.replayed = false;
      const handler = handlers[request.operation] as (event: EventAtHand, request: ApiRequest<Name>) => Answer<Name>;
      return handler(event, request);
    };
    const ask: Sale['ask'] = async (request) => {
      const answer = await answerTo(request);
      if (isRefusal(answer as object)) assert.fail(`${request.operation} was refused: ${JSON.stringify(answer)}`);
      return answer as never;
    };
    return {
      ask,
      async repeats(request) {
        const body = await ask(request);
        assert.ok(event.replayed, `${request.operation} was not answered as before`);
        return body;
      },
      async changesNothing(request) {
        fixture.settle();
        const facts = fixture.journal.length;
        const body = await ask(request);
        assert.equal(fixture.journal.length, facts, `${request.operation} gave facts`);
        return body;
      },
      async refuses(request, code, detail) {
        fixture.settle();
        const before = fingerprint(fixture.state);
        const refusal = await answerTo(request);
        assert.ok(isRefusal(refusal), `${request.operation} was not refused, but should have been with ${code}`);
        assert.equal(refusal.code, code, JSON.stringify(refusal));
        assert.deepEqual(fingerprint(fixture.state), before, 'a refusal changes nothing');
        const body = toDetailBody(refusal.detail);
        if (detail !== undefined) assert.deepEqual(body, detail);
        return body;
      },
      wait: (ms) => void fixture.wait(ms),
      now: () => fixture.now,
      async stock(performanceId) {
        fixture.settle();
        const [first] = fixture.state.performances.keys();
        const { id, inventory } = fixture.state.performances.get(performanceId ?? first!)!;
        return { id, ...inventory.totals() };
      },
      async close() {
        fixture.settle();
        assertSameAfterReplay(fixture);
        assert.deepEqual(auditEventState(fixture.state), []);
      },
    };
  },
};
