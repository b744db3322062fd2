/**
 * The requests of invented people: what a step of a trace is over HTTP.
 *
 * 1. Every text in a request is an id or a code of the definition, an id that the service answered, or invented here.
 * 2. Addresses end in `.invalid`, which no mail ever reaches.
 */
import {
  changeHold,
  get,
  joinQueue,
  leaveQueue,
  openPayment,
  placeHold,
  pollQueue,
  readOrder,
  releaseHold,
  settlePayment,
  startCheckout,
  type RoutedRequest,
} from './buyer-requests.ts';
import type { TracedCounterSale, TracedItem, TracedOrderItem } from '../trace/trace.ts';

/** What of an answer is read. */
export interface ReadAnswer {
  readonly status: number;
  readonly body: string;
}

/** The body of an answer; a service with RESPONSE_ENVELOPE=data wraps successful ones. */
export function bodyOf<Body>({ body }: ReadAnswer): Body {
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
  /** The body of an order that an operator makes. */
  counterOrder(sale: TracedCounterSale): object;
}

interface StartRequest {
  readonly sessionKey: string;
  readonly holdId: string | null;
  readonly buyer: number;
  /** Null leaves the items to the hold. */
  readonly items: readonly TracedOrderItem[] | null;
  readonly promoCode: string | null;
  readonly installments: number;
  readonly pass: string | null;
}

interface RequestTarget {
  readonly eventId: string;
  readonly slug: string;
  /** Whether every ticket needs a name. */
  readonly requiresNames: boolean;
  /** Different in each rehearsal, so that sessions never meet again. */
  readonly run: string;
}

export function requestsFor({ eventId, slug, requiresNames, run }: RequestTarget): RequestBuilder {
  const event = `/api/events/public/${encodeURIComponent(slug)}`;
  const customerOf = (buyer: number) => ({
    email: `buyer-${buyer}@${run}.rehearsal.invalid`,
    name: `Buyer ${buyer}`,
  });
  const orderItems = (items: readonly TracedOrderItem[]) => items.map((item) => toOrderItemBody(item, requiresNames));
  return {
    requiresNames,
    sessionKey: (person, part) => `rehearsal-${run}-${person}${part === 0 ? '' : `-${part}`}`,
    readEvent: () => get('/api/events/public/:slug', event),
    readSeats(performanceId, since) {
      const query = `performance_id=${encodeURIComponent(performanceId)}${since === null ? '' : `&since=${since}`}`;
      return get('/api/events/public/:slug/seating/occupancy', `${event}/seating/occupancy?${query}`);
    },
    readOrder,
    join: (sessionKey) => joinQueue(eventId, sessionKey),
    poll: pollQueue,
    leave: leaveQueue,
    hold: (sessionKey, items, pass) =>
      placeHold(eventId, sessionKey, items.map(toItemBody), pass === null ? {} : { queue_pass: pass }),
    change: (sessionKey, holdId, items) => changeHold(sessionKey, holdId, items.map(toItemBody)),
    release: releaseHold,
    start: ({ sessionKey, holdId, buyer, items, promoCode, installments, pass }) =>
      startCheckout(eventId, {
        session_key: sessionKey,
        customer: customerOf(buyer),
        installment_count: installments,
        ...(holdId !== null && { hold_id: holdId }),
        ...(items !== null && { items: orderItems(items) }),
        ...(promoCode !== null && { promo_code: promoCode }),
        ...(pass !== null && { queue_pass: pass }),
      }),
    requestPayment: openPayment,
    pay: settlePayment,
    counterOrder: ({ buyer, items, payment, exceedsLimits }) => ({
      customer: customerOf(buyer),
      items: orderItems(items),
      payment,
      exceed_limits: exceedsLimits,
    }),
  };
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
