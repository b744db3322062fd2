/**
 * The requests of invented people: what a step of a trace is over HTTP.
 *
 * 1. Every text in a request is an id or a code of the definition, an id that the service answered, or invented here.
 * 2. Addresses end in `.invalid`, which no mail ever reaches.
 */
import type { Request } from './connection.ts';
import type { TracedItem, TracedOrderItem } from './trace.ts';

/** A request with the pattern of its route, by which answers are counted. */
export interface RoutedRequest extends Request {
  readonly route: string;
}

/** What of an answer is read. */
export interface Reply {
  readonly status: number;
  readonly body: string;
}

/** The body of an answer; a service with RESPONSE_ENVELOPE=data wraps successful ones. */
export function bodyOf<Body>({ body }: Reply): Body {
  const read = JSON.parse(body) as { readonly data?: unknown };
  const isWrapped = typeof read.data === 'object' && read.data !== null && Object.keys(read).length === 1;
  return (isWrapped ? read.data : read) as Body;
}

export interface RequestBuilder {
  /** Whether every ticket needs a name. */
  readonly requiresNames: boolean;
  /** The key of a person's session; parts of a purchase that was split have sessions of their own. */
  sessionKey(person: number, part: number): string;
  readEvent(): RoutedRequest;
  readSeats(performanceId: string, since: number | null): RoutedRequest;
  readOrder(orderId: string): RoutedRequest;
  join(sessionKey: string): RoutedRequest;
  poll(sessionKey: string, entryId: string): RoutedRequest;
  leave(sessionKey: string, entryId: string): RoutedRequest;
  hold(sessionKey: string, items: readonly TracedItem[], pass: string | null): RoutedRequest;
  change(sessionKey: string, holdId: string, items: readonly TracedItem[]): RoutedRequest;
  release(sessionKey: string, holdId: string): RoutedRequest;
  start(start: StartRequest): RoutedRequest;
  requestPayment(orderId: string): RoutedRequest;
  pay(checkoutSessionId: string, outcome: string): RoutedRequest;
}

export interface StartRequest {
  readonly sessionKey: string;
  readonly holdId: string | null;
  readonly buyer: number;
  /** Null leaves the items to the hold. */
  readonly items: readonly TracedOrderItem[] | null;
  readonly promoCode: string | null;
  readonly installments: number;
  readonly pass: string | null;
}

export interface RequestTarget {
  readonly eventId: string;
  readonly slug: string;
  /** Whether every ticket needs a name. */
  readonly requiresNames: boolean;
  /** Different in each rehearsal, so that sessions never meet again. */
  readonly run: string;
}

export function requestsFor({ eventId, slug, requiresNames, run }: RequestTarget): RequestBuilder {
  const event = `/api/events/public/${encodeURIComponent(slug)}`;
  const withKey = (sessionKey: string) => ({ 'x-session-key': sessionKey });
  return {
    requiresNames,
    sessionKey: (person, part) => `rehearsal-${run}-${person}${part === 0 ? '' : `-${part}`}`,
    readEvent: () => get('/api/events/public/:slug', event),
    readSeats(performanceId, since) {
      const query = `performance_id=${encodeURIComponent(performanceId)}${since === null ? '' : `&since=${since}`}`;
      return get('/api/events/public/:slug/seating/occupancy', `${event}/seating/occupancy?${query}`);
    },
    readOrder: (orderId) => get('/api/checkout/status/:order_id', `/api/checkout/status/${orderId}`),
    join: (sessionKey) => post('/api/checkout/queue', { event_id: eventId, session_key: sessionKey }),
    poll: (sessionKey, id) => get('/api/checkout/queue/:id', `/api/checkout/queue/${id}`, withKey(sessionKey)),
    leave: (sessionKey, id) => ({
      route: 'DELETE /api/checkout/queue/:id',
      method: 'DELETE',
      path: `/api/checkout/queue/${id}`,
      headers: withKey(sessionKey),
    }),
    hold: (sessionKey, items, pass) =>
      post('/api/checkout/holds', {
        event_id: eventId,
        session_key: sessionKey,
        items: items.map(toItemBody),
        ...(pass !== null && { queue_pass: pass }),
      }),
    change: (sessionKey, holdId, items) => ({
      route: 'PATCH /api/checkout/holds/:id',
      method: 'PATCH',
      path: `/api/checkout/holds/${holdId}`,
      headers: withKey(sessionKey),
      body: JSON.stringify({ items: items.map(toItemBody) }),
    }),
    release: (sessionKey, holdId) => ({
      route: 'DELETE /api/checkout/holds/:id',
      method: 'DELETE',
      path: `/api/checkout/holds/${holdId}`,
      headers: withKey(sessionKey),
    }),
    start: ({ sessionKey, holdId, buyer, items, promoCode, installments, pass }) =>
      post('/api/checkout/start', {
        event_id: eventId,
        session_key: sessionKey,
        accept_terms: true,
        customer: { email: `buyer-${buyer}@${run}.rehearsal.invalid`, name: `Buyer ${buyer}` },
        installment_count: installments,
        ...(holdId !== null && { hold_id: holdId }),
        ...(items !== null && { items: items.map((item) => toOrderItemBody(item, requiresNames)) }),
        ...(promoCode !== null && { promo_code: promoCode }),
        ...(pass !== null && { queue_pass: pass }),
      }),
    requestPayment: (orderId) =>
      post('/api/checkout/orders/:order_id/payments', {}, `/api/checkout/orders/${orderId}/payments`),
    pay: (id, outcome) => post('/sandbox/payments/:checkout_session_id', { outcome }, `/sandbox/payments/${id}`),
  };
}

function get(route: string, path: string, headers?: Readonly<Record<string, string>>): RoutedRequest {
  return { route: `GET ${route}`, method: 'GET', path, ...(headers !== undefined && { headers }) };
}

function post(route: string, body: object, path = route): RoutedRequest {
  return { route: `POST ${route}`, method: 'POST', path, body: JSON.stringify(body) };
}

function toItemBody({ performanceId, ticketTypeId, sellingStageId, quantity, seatIds }: TracedItem): object {
  return {
    ticket_type_id: ticketTypeId,
    selling_stage_id: sellingStageId,
    performance_id: performanceId,
    quantity,
    ...(seatIds !== null && quantity > 0 && { seat_ids: seatIds }),
  };
}

function toOrderItemBody(item: TracedOrderItem, requiresNames: boolean): object {
  const { isNamed, ticketCount, discountCode, barPerks } = item;
  const attendees = Array.from({ length: ticketCount }, (_, index) => ({ name: `Guest ${index + 1}` }));
  return {
    ...toItemBody(item),
    ...((isNamed || requiresNames) && { attendees }),
    ...(discountCode !== null && { discount_code: discountCode }),
    ...(barPerks.length > 0 && {
      bar_perks: barPerks.map(({ barPerkId, quantity }) => ({ bar_perk_id: barPerkId, quantity })),
    }),
  };
}
