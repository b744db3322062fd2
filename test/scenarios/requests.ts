/**
 * The requests of scenarios: plain data, named by the operations of the OpenAPI document.
 *
 * A request names no event: its driver adds the id or the slug of the scenario's own. Buyer one is who asks where
 * nobody is named.
 */
import type { EventBody } from '#http/buyers/events/schema.ts';
import type { HoldBody } from '#http/buyers/holds.ts';
import type { OrderStatusBody } from '#http/buyers/orders/schema.ts';
import type { AdminOrderBody, AdminTicketBody } from '#http/operators/orders/schema.ts';
import type { OccupancyBody, SeatBody } from '#http/buyers/seating.ts';
import type { DrawBody, QueueEntryBody } from '#http/buyers/queue.ts';
import type { StartedCheckoutBody } from '#http/buyers/checkout/schema.ts';
import type { ItemRequest, Json } from '../fixtures/client.ts';

/** The operations that scenarios use, each with the body that it answers. */
export interface Bodies {
  createHold: HoldBody;
  getHold: HoldBody;
  changeHold: HoldBody;
  releaseHold: HoldBody;
  getEvent: EventBody;
  getOccupancy: OccupancyBody;
  suggestSeats: readonly SeatBody[];
  joinQueue: QueueEntryBody;
  pollQueue: QueueEntryBody;
  leaveQueue: QueueEntryBody;
  getDraw: DrawBody;
  startCheckout: StartedCheckoutBody;
  quoteCheckout: { readonly tickets_amount: number; readonly discount_amount: number; readonly currency: string };
  openPayment: StartedCheckoutBody;
  getOrderStatus: OrderStatusBody;
  receiveWebhook: { readonly result: 'recorded' | 'repeated' | 'ignored' };
  defineEvent: { readonly id: string; readonly version: number };
  cancelPerformance: {
    readonly released_holds: number;
    readonly cancelled_orders: number;
    readonly amended_orders: number;
  };
  changeSeats: { readonly blocked?: number; readonly unblocked?: number };
  steerSale: Json;
  sellAtCounter: AdminOrderBody;
  getOrder: AdminOrderBody;
  listOrders: { readonly orders: readonly AdminOrderBody[]; readonly next_cursor: string | null };
  getTicket: AdminTicketBody;
  cancelOrder: AdminOrderBody;
  recordRefund: AdminOrderBody;
  eraseOrder: AdminOrderBody;
}

export type Operation = keyof Bodies;

export interface ApiRequest<Name extends Operation = Operation> {
  readonly operation: Name;
  /** The hold, order, entry or performance that its path names. */
  readonly id?: string;
  readonly body?: Json;
  readonly query?: Readonly<Record<string, string>>;
  readonly sessionKey?: string;
  readonly idempotencyKey?: string;
}

/** Who asks, and with which pass or key. */
export interface Asking {
  readonly session?: string;
  readonly pass?: string;
  readonly key?: string;
}

export const one: Asking = { session: 'buyer-one' };
export const two: Asking = { session: 'buyer-two' };
export const three: Asking = { session: 'buyer-three' };

const sessionOf = ({ session = one.session! }: Asking): string => session;
const keyOf = ({ key }: Asking) => (key === undefined ? {} : { idempotencyKey: key });
const passOf = ({ pass }: Asking) => (pass === undefined ? {} : { queue_pass: pass });

type Items = ItemRequest | readonly ItemRequest[];
const listOf = (items: Items): readonly ItemRequest[] => [items].flat() as ItemRequest[];

interface WithId {
  readonly id: string;
}

// ── holds ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export function place(items: Items, asking: Asking = one): ApiRequest<'createHold'> {
  const body = { session_key: sessionOf(asking), items: listOf(items), ...passOf(asking) };
  return { operation: 'createHold', body, ...keyOf(asking) };
}

export function read({ id }: WithId, asking: Asking = one): ApiRequest<'getHold'> {
  return { operation: 'getHold', id, sessionKey: sessionOf(asking) };
}

export function change({ id }: WithId, items: Items, asking: Asking = one): ApiRequest<'changeHold'> {
  return {
    operation: 'changeHold',
    id,
    body: { items: listOf(items) },
    sessionKey: sessionOf(asking),
    ...keyOf(asking),
  };
}

export function release({ id }: WithId, asking: Asking = one): ApiRequest<'releaseHold'> {
  return { operation: 'releaseHold', id, sessionKey: sessionOf(asking) };
}

// ── what is left ─────────────────────────────────────────────────────────────────────────────────────────────────────

/** The event as everybody sees it, or as a session does. */
export function lookAt(asking: Asking = {}, query: Readonly<Record<string, string>> = {}): ApiRequest<'getEvent'> {
  const { session } = asking;
  return { operation: 'getEvent', query, ...(session !== undefined && { sessionKey: session }) };
}

export function occupancy(query: Readonly<Record<string, string>> = {}): ApiRequest<'getOccupancy'> {
  return { operation: 'getOccupancy', query };
}

export function suggest(ticketTypeId: string, count: number, overrides: Json = {}): ApiRequest<'suggestSeats'> {
  return { operation: 'suggestSeats', body: { ticket_type_id: ticketTypeId, count, ...overrides } };
}

// ── the waiting room ─────────────────────────────────────────────────────────────────────────────────────────────────

export function join(asking: Asking = one): ApiRequest<'joinQueue'> {
  return { operation: 'joinQueue', body: { session_key: sessionOf(asking) } };
}

export function poll({ id }: WithId, asking: Asking = one): ApiRequest<'pollQueue'> {
  return { operation: 'pollQueue', id, sessionKey: sessionOf(asking) };
}

export function leave({ id }: WithId, asking: Asking = one): ApiRequest<'leaveQueue'> {
  return { operation: 'leaveQueue', id, sessionKey: sessionOf(asking) };
}

export function draw(query: Readonly<Record<string, string>> = {}): ApiRequest<'getDraw'> {
  return { operation: 'getDraw', query };
}

// ── checkout and payment ─────────────────────────────────────────────────────────────────────────────────────────────

const ADA = { email: 'ada@example.com', name: 'Ada Lovelace' };

/** A checkout by Ada, with fields of the API's body. */
export function checkout(fields: Json, asking: Pick<Asking, 'key'> = {}): ApiRequest<'startCheckout'> {
  return { operation: 'startCheckout', body: { customer: ADA, accept_terms: true, ...fields }, ...keyOf(asking) };
}

/** A checkout of items, without a hold. */
export function buy(items: Items, fields: Json = {}, asking: Pick<Asking, 'key'> = {}): ApiRequest<'startCheckout'> {
  return checkout({ items: listOf(items), ...fields }, asking);
}

export const customer = (email: string): Json => ({ customer: { ...ADA, email } });

export function quote(hold: WithId, fields: Json = {}): ApiRequest<'quoteCheckout'> {
  return { operation: 'quoteCheckout', body: { hold_id: hold.id, session_key: one.session, ...fields } };
}

interface Ordered {
  readonly order_id: string;
}

export function openPayment({ order_id: id }: Ordered, asking: Pick<Asking, 'key'> = {}): ApiRequest<'openPayment'> {
  return { operation: 'openPayment', id, ...keyOf(asking) };
}

export function statusOf({ order_id: id }: Ordered): ApiRequest<'getOrderStatus'> {
  return { operation: 'getOrderStatus', id };
}

/** What a provider reports of a session; of a checkout that was just started with its amount. */
export interface PaymentReport {
  readonly provider?: string;
  readonly session: string | null;
  readonly paymentId?: string | null;
  readonly amount: number;
  readonly currency?: string;
  /** The webhook's own id; another one for each where absent. */
  readonly id?: string;
}

type Outcome = 'paid' | 'declined' | 'cancelled';

/** A provider's report about the session of a started checkout, with the order's amount unless another is given. */
export function reported(
  outcome: Outcome,
  started: Pick<StartedCheckoutBody, 'checkout_session_id' | 'total_amount' | 'currency' | 'payment_provider'>,
  more: Partial<PaymentReport> = {},
): ApiRequest<'receiveWebhook'> {
  const report = {
    provider: started.payment_provider,
    session: started.checkout_session_id,
    amount: started.total_amount,
    currency: started.currency,
    ...more,
  };
  return { operation: 'receiveWebhook', body: { type: `payment.${outcome}`, ...report } };
}

export const paid = (started: Parameters<typeof reported>[1], more: Partial<PaymentReport> = {}) =>
  reported('paid', started, more);

// ── operators ────────────────────────────────────────────────────────────────────────────────────────────────────────

export function define(definition: object): ApiRequest<'defineEvent'> {
  return { operation: 'defineEvent', body: definition as Json };
}

export function cancelPerformance(id: string, asking: Pick<Asking, 'key'> = {}): ApiRequest<'cancelPerformance'> {
  return { operation: 'cancelPerformance', id, body: { note: 'rain' }, ...keyOf(asking) };
}

export function block(id: string, ...seatIds: string[]): ApiRequest<'changeSeats'> {
  return { operation: 'changeSeats', id, body: { action: 'block', seat_ids: seatIds } };
}

export function unblock(id: string, ...seatIds: string[]): ApiRequest<'changeSeats'> {
  return { operation: 'changeSeats', id, body: { action: 'unblock', seat_ids: seatIds } };
}

/** Sold at a counter to Ada, in cash unless the fields say otherwise. */
export function sell(items: Items, fields: Json = {}, asking: Pick<Asking, 'key'> = {}): ApiRequest<'sellAtCounter'> {
  const body = { items: listOf(items), customer: ADA, payment: 'CASH', note: 'at the door', ...fields };
  return { operation: 'sellAtCounter', body, ...keyOf(asking) };
}

export function steer(changes: Json): ApiRequest<'steerSale'> {
  return { operation: 'steerSale', body: changes };
}

export function order({ order_id: id }: Ordered): ApiRequest<'getOrder'> {
  return { operation: 'getOrder', id };
}

export function orders(query: Readonly<Record<string, string>> = {}): ApiRequest<'listOrders'> {
  return { operation: 'listOrders', query };
}

export const ticket = (id: string): ApiRequest<'getTicket'> => ({ operation: 'getTicket', id });

export function cancelOrder({ order_id: id }: Ordered, asking: Pick<Asking, 'key'> = {}): ApiRequest<'cancelOrder'> {
  return { operation: 'cancelOrder', id, body: { note: 'asked by the buyer' }, ...keyOf(asking) };
}

export function refund(
  { order_id: id }: Ordered,
  amount: number,
  fields: Json = {},
  asking: Pick<Asking, 'key'> = {},
): ApiRequest<'recordRefund'> {
  return { operation: 'recordRefund', id, body: { amount, note: 'cash', ...fields }, ...keyOf(asking) };
}

export function erase({ order_id: id }: Ordered, asking: Pick<Asking, 'key'> = {}): ApiRequest<'eraseOrder'> {
  return { operation: 'eraseOrder', id, ...keyOf(asking) };
}
