/**
 * A client of the public API for storefronts: works in browsers and in Node, without packages.
 *
 * Owns the session key and the pace of polling. Bodies have the API's own names. Every method takes an AbortSignal and
 * throws ApiError.
 *
 *  1. The session key is made once and sent with everything that a buyer owns, in a header and never in an address.
 *  2. Waiting is polled every 4.5 s, or more slowly where the service says so.
 *  3. Countdowns go by `clock`, the service's time as every answer says it, and not by the clock of the buyer's
 *     machine.
 */
import type {
  Amendment,
  AmendmentQuote,
  AmendmentRequest,
  CheckoutRequest,
  Draw,
  EventList,
  EventPayload,
  FullOccupancy,
  Hold,
  HoldItemRequest,
  HoldRequest,
  Occupancy,
  Order,
  QueueEntry,
  Quote,
  Seat,
  Seating,
  StartedCheckout,
  VoidTickets,
  TicketKeys,
} from './bodies.ts';
import { followPerformance, type Watch } from './live.ts';
import { createServiceClock, type EstimatedClock } from './service-clock.ts';
import {
  createTransport,
  pause,
  randomText,
  type Answer,
  type Pause,
  type Transport,
  type TransportOptions,
} from './transport.ts';

export interface ClientOptions {
  /** Where the service is, without a slash at its end; the page's own origin by default. */
  readonly baseUrl?: string;
  /** Stores the session key: `localStorage` in a browser. Without one the key lives as long as the client. */
  readonly store?: SessionStore | null;
  /**
   * A key that is stored elsewhere, such as in the session of a storefront's own server: 8 to 128 characters that
   * nobody else can guess.
   */
  readonly sessionKey?: string;
  /** Sends the requests; the global `fetch` by default. */
  readonly fetch?: typeof globalThis.fetch;
  /** Stands in for timers in tests. */
  readonly pause?: Pause;
  /** How often a request is repeated before its error is thrown; 4 by default. */
  readonly repeatsMax?: number;
}

interface Abortable {
  /** Ends the request, its repeats and every wait between them; the method throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

interface Keyed extends Abortable {
  /** Give the same key again to repeat a request safely after a reload. */
  readonly idempotencyKey?: string | undefined;
}

interface OfPerformance extends Abortable {
  readonly performanceId?: string | null | undefined;
}

/**
 * The public API as methods. Moments are ISO 8601 texts in UTC, amounts are whole numbers in the currency's minor unit.
 * Every method throws an ApiError: match on its `code`, which the API reference lists for each operation; the code is
 * UNREACHABLE where no answer came within 20 s, after the repeats.
 */
export interface Client {
  /** Who owns holds, orders and places in line; sent as a header, never in an address. */
  readonly sessionKey: string;
  /** The service's time. */
  readonly clock: EstimatedClock;
  /** A page of the events on sale; `next_cursor` of the answer is the `cursor` of the next page. */
  listEvents(options?: Abortable & { readonly limit?: number; readonly cursor?: string }): Promise<EventList>;
  /** The event with its stock, summed or of one performance; the session's own hold counts as free. */
  getEvent(slug: string, options?: OfPerformance): Promise<EventPayload>;
  /** The plan of an event's numbered seats, which changes only with the event. */
  getSeating(slug: string, options?: Abortable): Promise<Seating>;
  /** The seats of a performance that are not free; with `since`, a `version` of an earlier answer, what changed. */
  getOccupancy(slug: string, options?: OfPerformance & { readonly since?: number }): Promise<Occupancy>;
  /** The best free seats side by side, not reserved; none when there is no such block. */
  suggestSeats(
    slug: string,
    wanted: { readonly ticketTypeId: string; readonly count: number },
    options?: OfPerformance,
  ): Promise<readonly Seat[]>;
  /** Gives `onState` what is left of a performance, until the signal is aborted; falls back to polling. */
  watchDate(watch: Watch): Promise<void>;
  /** The proof of a waiting room's draw, a page of its entries at a time. */
  getDraw(slug: string, options?: Abortable & { readonly offset?: number; readonly limit?: number }): Promise<Draw>;
  /**
   * Holds tickets until `expires_at`. In a rush expect SEAT_TAKEN, which has the lost seats in `detail.seat_ids`,
   * INSUFFICIENT_TICKETS, SALE_PAUSED and QUEUE_PASS_REQUIRED (see `waitForAdmission`).
   */
  createHold(request: HoldRequest, options?: Keyed): Promise<Hold>;
  /** A hold of this session, also after it ended. */
  getHold(id: string, options?: Abortable): Promise<Hold>;
  /** Sets the quantities of the items named; 0 drops an item, items not named stay. */
  changeHold(id: string, items: readonly HoldItemRequest[], options?: Keyed): Promise<Hold>;
  /** Gives the tickets back. */
  releaseHold(id: string, options?: Abortable): Promise<Hold>;
  /** A place in line; the same one when the session has joined before. */
  joinQueue(eventId: string, options?: Abortable): Promise<QueueEntry>;
  getQueueEntry(id: string, options?: Abortable): Promise<QueueEntry>;
  /** Gives the place in line, or the pass, up. */
  leaveQueue(id: string, options?: Abortable): Promise<QueueEntry>;
  /**
   * Joins and polls, at the pace that the service names, until the buyer is ADMITTED or has LEFT; one who was dropped
   * joins again at the back. The `id` of an admitted entry is the `queue_pass` of a hold.
   */
  waitForAdmission(
    eventId: string,
    options?: Abortable & { readonly onEntry?: (entry: QueueEntry) => void },
  ): Promise<QueueEntry>;
  /** What the tickets of the session's hold cost with a promo code, which is not spent. */
  quoteCheckout(hold: Hold, promoCode: string | null, options?: Abortable): Promise<Quote>;
  /** Makes an order of a hold, and a payment session; the buyer goes to `redirect_url`. */
  startCheckout(request: CheckoutRequest, options?: Keyed): Promise<StartedCheckout>;
  getOrder(orderId: string, options?: Abortable): Promise<Order>;
  /** Polls until the order is no longer PENDING or its payment has FAILED. */
  waitForOrder(orderId: string, options?: Abortable & { readonly onOrder?: (order: Order) => void }): Promise<Order>;
  /** Opens a payment session for the next unpaid installment, or a new try after a decline. */
  payOrder(orderId: string, options?: Keyed): Promise<StartedCheckout>;
  /** What a change of a paid order would do; nothing is changed by it. */
  quoteAmendment(orderId: string, request: AmendmentRequest, options?: Abortable): Promise<AmendmentQuote>;
  /** Changes a paid order as it was quoted, or not at all; where that costs something, once it is paid. */
  amendOrder(orderId: string, request: AmendmentRequest, quote: string, options?: Keyed): Promise<Amendment>;
  getAmendment(orderId: string, amendmentId: string, options?: Abortable): Promise<Amendment>;
  /** Withdraws a change that is yet to be paid. */
  cancelAmendment(orderId: string, amendmentId: string, options?: Abortable): Promise<Amendment>;
  /** The public keys with which ticket codes are checked. */
  getTicketKeys(options?: Abortable): Promise<TicketKeys>;
  /** The void tickets of an event or of one performance, a page at a time; `after` is the last ticket that is known. */
  getVoidTickets(
    eventId: string,
    options?: OfPerformance & { readonly after?: string; readonly limit?: number },
  ): Promise<VoidTickets>;
  /** Pays, declines or cancels in the sandbox, as its payment page does. */
  settleSandbox(
    checkoutSessionId: string,
    outcome: 'paid' | 'declined' | 'cancelled',
    options?: Abortable,
  ): Promise<Order>;
  /** Moves the sandbox clock forward. */
  advanceClock(seconds: number, options?: Abortable): Promise<{ readonly now: string }>;
  isLive(options?: Abortable): Promise<{ readonly status: string }>;
  isReady(options?: Abortable): Promise<{ readonly status: string }>;
}

const REPEATS_MAX = 4;
const ADMISSION_POLL_MS = 4_500;
const ORDER_POLL_FIRST_MS = 1_000;
const ORDER_POLL_MS_MAX = 5_000;

/** Makes a client. It sends no request by itself. */
export function createClient(options: ClientOptions = {}): Client {
  const clock = createServiceClock();
  const send = options.fetch ?? ((input, init) => fetch(input, init));
  const settings: TransportOptions = {
    baseUrl: options.baseUrl ?? '',
    async fetch(input, init) {
      const response = await send(input, init);
      clock.noteAnswer(response.headers);
      return response;
    },
    pause: options.pause ?? pause,
    repeatsMax: options.repeatsMax ?? REPEATS_MAX,
  };
  const sessionKey = options.sessionKey ?? storedSessionKey(options.store ?? null);
  const context: Context = { settings, call: createTransport(settings), sessionKey, clock };
  return {
    sessionKey,
    clock,
    ...eventMethods(context),
    ...holdMethods(context),
    ...queueMethods(context),
    ...orderMethods(context),
    ...serviceMethods(context),
  };
}

interface Context {
  readonly settings: TransportOptions;
  readonly call: Transport;
  readonly sessionKey: string;
  readonly clock: EstimatedClock;
}

async function bodyOf<Body>(answer: Promise<Answer<Body>>): Promise<Body> {
  return (await answer).body;
}

function eventMethods({ settings, call, sessionKey, clock }: Context) {
  const getEvent: Client['getEvent'] = (slug, { performanceId, signal } = {}) =>
    bodyOf(call('getEvent', { path: [slug], query: { performance_id: performanceId }, sessionKey, signal }));
  const getOccupancy: Client['getOccupancy'] = (slug, { performanceId, since, signal } = {}) =>
    bodyOf(call('getOccupancy', { path: [slug], query: { performance_id: performanceId, since }, signal }));
  return {
    listEvents: ({ limit, cursor, signal } = {}) => bodyOf(call('listEvents', { query: { limit, cursor }, signal })),
    getEvent,
    getSeating: (slug, { signal } = {}) => bodyOf(call('getSeating', { path: [slug], signal })),
    getOccupancy,
    suggestSeats: (slug, { ticketTypeId, count }, { performanceId, signal } = {}) => {
      const body = { ticket_type_id: ticketTypeId, count, performance_id: performanceId, session_key: sessionKey };
      return bodyOf(call('suggestSeats', { path: [slug], body, signal }));
    },
    watchDate: (watch) =>
      followPerformance(
        {
          ...settings,
          noteTime: clock.note,
          getEvent: (slug, performanceId, signal) => getEvent(slug, { performanceId, signal }),
          getOccupancy: (slug, performanceId, signal) =>
            getOccupancy(slug, { performanceId, signal }) as Promise<FullOccupancy>,
        },
        watch,
      ),
    getDraw: (slug, { offset, limit, signal } = {}) =>
      bodyOf(call('getDraw', { path: [slug], query: { offset, limit }, signal })),
  } satisfies Partial<Client>;
}

function holdMethods({ call, sessionKey }: Context) {
  return {
    createHold: (request, { idempotencyKey, signal } = {}) =>
      bodyOf(call('createHold', { body: { ...request, session_key: sessionKey }, idempotencyKey, signal })),
    getHold: (id, { signal } = {}) => bodyOf(call('getHold', { path: [id], sessionKey, signal })),
    changeHold: (id, items, { idempotencyKey, signal } = {}) =>
      bodyOf(call('changeHold', { path: [id], body: { items }, sessionKey, idempotencyKey, signal })),
    releaseHold: (id, { signal } = {}) => bodyOf(call('releaseHold', { path: [id], sessionKey, signal })),
  } satisfies Partial<Client>;
}

function queueMethods({ settings, call, sessionKey }: Context) {
  const poll = (id: string, signal?: AbortSignal) =>
    call<QueueEntry>('getQueueEntry', { path: [id], sessionKey, signal });
  const join = (eventId: string, signal?: AbortSignal) =>
    call<QueueEntry>('joinQueue', { body: { event_id: eventId, session_key: sessionKey }, signal });
  return {
    joinQueue: (eventId, { signal } = {}) => bodyOf(join(eventId, signal)),
    getQueueEntry: (id, { signal } = {}) => bodyOf(poll(id, signal)),
    leaveQueue: (id, { signal } = {}) => bodyOf(call('leaveQueue', { path: [id], sessionKey, signal })),
    async waitForAdmission(eventId, { onEntry, signal } = {}) {
      let { body: entry, retryAfter } = await join(eventId, signal);
      for (;;) {
        onEntry?.(entry);
        if (entry.status === 'ADMITTED' || entry.status === 'LEFT') return entry;
        if (entry.status === 'WAITING') {
          await settings.pause(Math.max(ADMISSION_POLL_MS, (retryAfter ?? 0) * 1000), signal);
        }
        const next = entry.status === 'WAITING' ? poll(entry.id, signal) : join(eventId, signal);
        ({ body: entry, retryAfter } = await next);
      }
    },
  } satisfies Partial<Client>;
}

function orderMethods({ settings, call, sessionKey }: Context) {
  return {
    quoteCheckout: ({ id, event_id }, promoCode, { signal } = {}) => {
      const body = { event_id, hold_id: id, promo_code: promoCode, session_key: sessionKey };
      return bodyOf(call('quoteCheckout', { body, signal }));
    },
    startCheckout: (request, { idempotencyKey, signal } = {}) =>
      bodyOf(call('startCheckout', { body: { ...request, session_key: sessionKey }, idempotencyKey, signal })),
    getOrder: (orderId, { signal } = {}) => bodyOf(call('getOrder', { path: [orderId], signal })),
    async waitForOrder(orderId, { onOrder, signal } = {}) {
      for (let pauseMs = ORDER_POLL_FIRST_MS; ; pauseMs = Math.min(pauseMs * 1.5, ORDER_POLL_MS_MAX)) {
        const { body: order, retryAfter } = await call<Order>('getOrder', { path: [orderId], signal });
        onOrder?.(order);
        if (order.status !== 'PENDING' || order.payment_status === 'FAILED') return order;
        await settings.pause(Math.max(pauseMs, (retryAfter ?? 0) * 1000), signal);
      }
    },
    payOrder: (orderId, { idempotencyKey, signal } = {}) =>
      bodyOf(call('payOrder', { path: [orderId], idempotencyKey, signal })),
    quoteAmendment: (orderId, request, { signal } = {}) =>
      bodyOf(call('quoteAmendment', { path: [orderId], body: request, signal })),
    amendOrder: (orderId, request, quote, { idempotencyKey, signal } = {}) =>
      bodyOf(call('amendOrder', { path: [orderId], body: { ...request, quote }, idempotencyKey, signal })),
    getAmendment: (orderId, amendmentId, { signal } = {}) =>
      bodyOf(call('getAmendment', { path: [orderId, amendmentId], signal })),
    cancelAmendment: (orderId, amendmentId, { signal } = {}) =>
      bodyOf(call('cancelAmendment', { path: [orderId, amendmentId], signal })),
    getTicketKeys: ({ signal } = {}) => bodyOf(call('getTicketKeys', { signal })),
    getVoidTickets: (eventId, { performanceId, after, limit, signal } = {}) => {
      const query = { event_id: eventId, performance_id: performanceId, after, limit };
      return bodyOf(call('getVoidTickets', { query, signal }));
    },
  } satisfies Partial<Client>;
}

function serviceMethods({ call }: Context) {
  return {
    settleSandbox: (checkoutSessionId, outcome, { signal } = {}) =>
      bodyOf(call('settleSandbox', { path: [checkoutSessionId], body: { outcome }, signal })),
    advanceClock: (seconds, { signal } = {}) =>
      bodyOf(call('advanceClock', { body: { advance_seconds: seconds }, signal })),
    isLive: ({ signal } = {}) => bodyOf(call('isLive', { signal })),
    isReady: ({ signal } = {}) => bodyOf(call('isReady', { signal })),
  } satisfies Partial<Client>;
}

// ── the session key ──────────────────────────────────────────────────────────────────────────────────────────────────

/** The part of `localStorage` that is used. */
export interface SessionStore {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

const KEY_NAME = 'holdfast.session';
const KEY_BYTES = 24;

/**
 * The stored key, or a new one of 192 random bits. Where the store cannot be used (private windows, full disks) the key
 * lives as long as the page.
 */
export function storedSessionKey(store: SessionStore | null): string {
  const known = attempt(() => store?.getItem(KEY_NAME) ?? null);
  if (known !== null && known.length >= 8 && known.length <= 128) return known;
  const key = randomText(KEY_BYTES);
  attempt(() => store?.setItem(KEY_NAME, key) ?? null);
  return key;
}

function attempt<Result>(action: () => Result | null): Result | null {
  try {
    return action();
  } catch {
    return null;
  }
}
