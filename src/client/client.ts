/**
 * A client of the public API for storefronts: works in browsers and in Node, needs nothing else.
 *
 * Owns the session key and the pace of polling; requests and repeats belong to `transport.ts`. Bodies have the API's own
 * names. Every method takes an AbortSignal and throws ApiError.
 *
 *  1. The session key is made once and sent with everything that a buyer owns, in a header and never in an address.
 *  2. Waiting is polled every 4.5 s, or more slowly where the service says so.
 */
import type {
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
  Seat,
  Seating,
  StartedCheckout,
  VoidTickets,
  TicketKeys,
} from './bodies.ts';
import { followDate, type LiveSource, type Watch } from './live.ts';
import { keptSessionKey, type KeyStore } from './session-key.ts';
import { createTransport, pause, type Answer, type Pause } from './transport.ts';

export interface ClientOptions {
  /** Where the service is, without a slash at its end; the page's own origin by default. */
  readonly baseUrl?: string;
  /** Keeps the session key: `localStorage` in a browser. Without one the key lives as long as the client. */
  readonly store?: KeyStore | null;
  /** A key that is kept elsewhere, such as in the session of a storefront's own server. */
  readonly sessionKey?: string;
  readonly fetch?: typeof globalThis.fetch;
  /** Stands in for timers in tests. */
  readonly pause?: Pause;
  /** How often a request is repeated before its error is thrown. */
  readonly repeatsMax?: number;
}

interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

interface Keyed extends Abortable {
  /** Give the same key again to repeat a request safely after a reload. */
  readonly idempotencyKey?: string | undefined;
}

interface OfDate extends Abortable {
  readonly performanceId?: string | null | undefined;
}

export interface Client {
  readonly sessionKey: string;
  listEvents(options?: Abortable & { readonly limit?: number; readonly cursor?: string }): Promise<EventList>;
  /** The event with its stock, summed or of one date; the session's own hold counts as free. */
  getEvent(slug: string, options?: OfDate): Promise<EventPayload>;
  getSeating(slug: string, options?: Abortable): Promise<Seating>;
  getOccupancy(slug: string, options?: OfDate & { readonly since?: number }): Promise<Occupancy>;
  /** The best free seats side by side, not reserved; none when there is no such block. */
  suggestSeats(
    slug: string,
    wanted: { readonly ticketTypeId: string; readonly count: number },
    options?: OfDate,
  ): Promise<readonly Seat[]>;
  /** Keeps `onPicture` told of what is left of a date until the signal is aborted; falls back to polling. */
  watchDate(watch: Watch): Promise<void>;
  /** The proof of a waiting room's draw, a page of its line at a time. */
  getDraw(slug: string, options?: Abortable & { readonly offset?: number; readonly limit?: number }): Promise<Draw>;
  createHold(request: HoldRequest, options?: Keyed): Promise<Hold>;
  getHold(id: string, options?: Abortable): Promise<Hold>;
  /** Sets the quantities of the lines named; 0 drops a line, lines not named stay. */
  changeHold(id: string, items: readonly HoldItemRequest[], options?: Keyed): Promise<Hold>;
  releaseHold(id: string, options?: Abortable): Promise<Hold>;
  joinQueue(eventId: string, options?: Abortable): Promise<QueueEntry>;
  getQueueEntry(id: string, options?: Abortable): Promise<QueueEntry>;
  leaveQueue(id: string, options?: Abortable): Promise<QueueEntry>;
  /** Joins and polls until the buyer is ADMITTED or has LEFT; one who was dropped joins again at the back. */
  waitForAdmission(
    eventId: string,
    options?: Abortable & { readonly onEntry?: (entry: QueueEntry) => void },
  ): Promise<QueueEntry>;
  startCheckout(request: CheckoutRequest, options?: Keyed): Promise<StartedCheckout>;
  getOrder(orderId: string, options?: Abortable): Promise<Order>;
  /** Polls until the order is no longer PENDING or its payment has FAILED. */
  waitForOrder(orderId: string, options?: Abortable & { readonly onOrder?: (order: Order) => void }): Promise<Order>;
  /** Opens a payment session for the next unpaid installment, or a new try after a decline. */
  payOrder(orderId: string, options?: Keyed): Promise<StartedCheckout>;
  getTicketKeys(options?: Abortable): Promise<TicketKeys>;
  /** The void tickets of an event or of one date, a page at a time; `after` is the last ticket that is known. */
  getVoidTickets(
    eventId: string,
    options?: OfDate & { readonly after?: string; readonly limit?: number },
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

/** Makes a client. Cheap: it asks nothing of the service by itself. */
export function createClient(options: ClientOptions = {}): Client {
  const settings = {
    baseUrl: options.baseUrl ?? '',
    fetch: options.fetch ?? ((input, init) => fetch(input, init)),
    pause: options.pause ?? pause,
    repeatsMax: options.repeatsMax ?? REPEATS_MAX,
  } satisfies Required<Pick<ClientOptions, 'baseUrl' | 'fetch' | 'pause' | 'repeatsMax'>>;
  const call = createTransport(settings);
  const sessionKey = options.sessionKey ?? keptSessionKey(options.store ?? null);
  const bodyOf = async <Body>(answer: Promise<Answer<Body>>): Promise<Body> => (await answer).body;
  const pollQueue = (id: string, signal?: AbortSignal) =>
    call<QueueEntry>('getQueueEntry', { path: [id], sessionKey, signal });
  const joinQueue = (eventId: string, signal?: AbortSignal) =>
    call<QueueEntry>('joinQueue', { body: { event_id: eventId, session_key: sessionKey }, signal });

  const client: Client = {
    sessionKey,
    listEvents: ({ limit, cursor, signal } = {}) => bodyOf(call('listEvents', { query: { limit, cursor }, signal })),
    getEvent: (slug, { performanceId, signal } = {}) =>
      bodyOf(call('getEvent', { path: [slug], query: { performance_id: performanceId }, sessionKey, signal })),
    getSeating: (slug, { signal } = {}) => bodyOf(call('getSeating', { path: [slug], signal })),
    getOccupancy: (slug, { performanceId, since, signal } = {}) =>
      bodyOf(call('getOccupancy', { path: [slug], query: { performance_id: performanceId, since }, signal })),
    suggestSeats: (slug, { ticketTypeId, count }, { performanceId, signal } = {}) => {
      const body = { ticket_type_id: ticketTypeId, count, performance_id: performanceId, session_key: sessionKey };
      return bodyOf(call('suggestSeats', { path: [slug], body, signal }));
    },
    watchDate: (watch) => followDate(liveSource, watch),
    getDraw: (slug, { offset, limit, signal } = {}) =>
      bodyOf(call('getDraw', { path: [slug], query: { offset, limit }, signal })),
    createHold: (request, { idempotencyKey, signal } = {}) =>
      bodyOf(call('createHold', { body: { ...request, session_key: sessionKey }, idempotencyKey, signal })),
    getHold: (id, { signal } = {}) => bodyOf(call('getHold', { path: [id], sessionKey, signal })),
    changeHold: (id, items, { idempotencyKey, signal } = {}) =>
      bodyOf(call('changeHold', { path: [id], body: { items }, sessionKey, idempotencyKey, signal })),
    releaseHold: (id, { signal } = {}) => bodyOf(call('releaseHold', { path: [id], sessionKey, signal })),
    joinQueue: (eventId, { signal } = {}) => bodyOf(joinQueue(eventId, signal)),
    getQueueEntry: (id, { signal } = {}) => bodyOf(pollQueue(id, signal)),
    leaveQueue: (id, { signal } = {}) => bodyOf(call('leaveQueue', { path: [id], sessionKey, signal })),
    async waitForAdmission(eventId, { onEntry, signal } = {}) {
      let { body: entry, retryAfter } = await joinQueue(eventId, signal);
      for (;;) {
        onEntry?.(entry);
        if (entry.status === 'ADMITTED' || entry.status === 'LEFT') return entry;
        if (entry.status === 'WAITING') {
          await settings.pause(Math.max(ADMISSION_POLL_MS, (retryAfter ?? 0) * 1000), signal);
        }
        const next = entry.status === 'WAITING' ? pollQueue(entry.id, signal) : joinQueue(eventId, signal);
        ({ body: entry, retryAfter } = await next);
      }
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
    getTicketKeys: ({ signal } = {}) => bodyOf(call('getTicketKeys', { signal })),
    getVoidTickets: (eventId, { performanceId, after, limit, signal } = {}) => {
      const query = { event_id: eventId, performance_id: performanceId, after, limit };
      return bodyOf(call('getVoidTickets', { query, signal }));
    },
    settleSandbox: (checkoutSessionId, outcome, { signal } = {}) =>
      bodyOf(call('settleSandbox', { path: [checkoutSessionId], body: { outcome }, signal })),
    advanceClock: (seconds, { signal } = {}) =>
      bodyOf(call('advanceClock', { body: { advance_seconds: seconds }, signal })),
    isLive: ({ signal } = {}) => bodyOf(call('isLive', { signal })),
    isReady: ({ signal } = {}) => bodyOf(call('isReady', { signal })),
  };

  const liveSource: LiveSource = {
    ...settings,
    getEvent: (slug, performanceId, signal) => client.getEvent(slug, { performanceId, signal }),
    getOccupancy: (slug, performanceId, signal) =>
      client.getOccupancy(slug, { performanceId, signal }) as Promise<FullOccupancy>,
  };
  return client;
}
