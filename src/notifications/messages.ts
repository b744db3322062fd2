/**
 * What the world outside is told: facts as messages with the funnel's and the orders' names.
 *
 * Owns the bodies of notifications. Which of them were delivered is the outbox's; posting is `poster.ts`. Called by
 * `outbox.ts` beside a live box office, and by `holdfast notify` over one that was read from disk.
 *
 * 1. A message is made from its fact and from what never changes about an order: made again, it is the same.
 * 2. An id names the fact and the type, so that a receiver tells a repeat.
 * 3. People leave the house as digests only: address and phone number in hex SHA-256.
 * 4. So do ids that grant access, but for `order_id`, which is for the receiver itself: `dedupe_id` may be passed on to others.
 */
import { createHash } from 'node:crypto';
import { invariant } from '#domain/invariant.ts';
import { readFact } from '#domain/replay.ts';
import type { BoxOffice } from '#domain/box-office.ts';
import type { Customer, Fact, FactData, FactType } from '#domain/fact.ts';
import type { Order } from '#domain/orders.ts';
import type { FactRow } from '#persistence/journal.ts';

export type MessageType =
  | 'AddToCart'
  | 'InitiateCheckout'
  | 'Purchase'
  | 'CompletePayment'
  | 'order.confirmed'
  | 'order.cancelled'
  | 'order.expired'
  | 'refund.due'
  | 'performance.cancelled';

/** A notification, ready to be signed. */
export interface Message {
  /** The webhook-id (2). */
  readonly id: string;
  readonly type: MessageType;
  /** JSON. */
  readonly body: string;
}

/** The types of facts that somebody may have to be told about. */
const TOLD: ReadonlySet<string> = new Set<FactType>([
  'HoldPlaced',
  'CheckoutSessionOpened',
  'TicketsIssued',
  'OrderPaid',
  'OrderCancelled',
  'OrderExpired',
  'PaymentRecorded',
  'StrayMoneyRecorded',
  'PerformanceCancelled',
]);

/** Whether facts of this type may have messages; cheap, for passing over the others unread. */
export function isTold(type: string): boolean {
  return TOLD.has(type);
}

/** The messages of a stored fact, in the order in which they are sent; `office` is its event's, as of the fact or later. */
export function messagesOf(row: FactRow, office: BoxOffice): readonly Message[] {
  return tellingsOf(readFact(row, office.plan), office).map(({ type, data }) => ({
    id: `msg_${row.seq}_${type.replace('.', '_')}`,
    type,
    body: JSON.stringify({ type, timestamp: new Date(row.at).toISOString(), data }),
  }));
}

interface Telling {
  readonly type: MessageType;
  readonly data: object;
}

function tellingsOf(fact: Fact, office: BoxOffice): readonly Telling[] {
  switch (fact.type) {
    case 'HoldPlaced':
      return isOfOrder(fact.data) ? [] : [{ type: 'AddToCart', data: cartOf(fact.data, office) }];
    case 'CheckoutSessionOpened':
      return isFirstSession(office, fact.data) ? ofOrder(office, fact.data, 'InitiateCheckout') : [];
    case 'TicketsIssued':
      return isFree(office, fact.data)
        ? ofOrder(office, fact.data, 'Purchase')
        : ofOrder(office, fact.data, 'Purchase', 'CompletePayment');
    case 'OrderPaid': {
      const { trigger } = fact.data;
      const isPaidInFull = trigger === 'PAY_IN_FULL' || trigger === 'PAY_LATE_IN_FULL';
      return isPaidInFull ? ofOrder(office, fact.data, 'order.confirmed') : [];
    }
    case 'OrderExpired':
      return ofOrder(office, fact.data, 'order.expired');
    case 'OrderCancelled':
      return [...ofOrder(office, fact.data, 'order.cancelled'), ...refundDueOf(office, fact.data)];
    case 'PaymentRecorded':
      return fact.data.isCounted ? [] : refundDueOf(office, fact.data);
    case 'StrayMoneyRecorded':
      return strayMoneyOf(office, fact.data);
    case 'PerformanceCancelled':
      return [{ type: 'performance.cancelled', data: performanceOf(fact.data, office) }];
    default:
      return [];
  }
}

// ── moments ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Whether a hold was placed by a checkout without one, and not by POST holds; older facts show it by their session key alone. */
function isOfOrder({ orderId, sessionKey }: FactData['HoldPlaced']): boolean {
  return orderId !== undefined || sessionKey.startsWith('ord_');
}

/** Whether the session is the one to which a start leads: the first try at the first installment. */
function isFirstSession(office: BoxOffice, { orderId, paymentId }: FactData['CheckoutSessionOpened']): boolean {
  return orderNamed(office, orderId).payments[0]?.id === paymentId;
}

function isFree(office: BoxOffice, { orderId }: FactData['TicketsIssued']): boolean {
  return orderNamed(office, orderId).purchase.totalCents === 0;
}

// ── data ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

function cartOf({ holdId, lines }: FactData['HoldPlaced'], { eventId, plan }: BoxOffice): object {
  const contents = lines.map((line) => contentOf(line.ticketTypeId, line.quantity, line.unitPriceCents));
  return {
    dedupe_id: digestOf(holdId),
    event_id: eventId,
    value: lines.reduce((sum, line) => sum + line.quantity * line.unitPriceCents, 0),
    currency: plan.definition.currency,
    contents,
    customer: { email: null, phone: null },
    tracking: {},
  };
}

function ofOrder(
  office: BoxOffice,
  { orderId }: { readonly orderId: string },
  ...types: readonly MessageType[]
): readonly Telling[] {
  const data = orderOf(office, orderId);
  return types.map((type) => ({ type, data }));
}

/** Tells what is owed, where something is. */
function refundDueOf(
  office: BoxOffice,
  { orderId, refundDueCents }: { readonly orderId: string; readonly refundDueCents: number },
): readonly Telling[] {
  if (refundDueCents === 0) return [];
  const data = { ...orderOf(office, orderId), value: refundDueCents, refund_due: refundDueCents };
  return [{ type: 'refund.due', data }];
}

/** Money of another currency is due back in its own. */
function strayMoneyOf(office: BoxOffice, stray: FactData['StrayMoneyRecorded']): readonly Telling[] {
  const { orderId, currency, foreignDueCents: due } = stray;
  if (due === undefined) return refundDueOf(office, stray);
  return [{ type: 'refund.due', data: { ...orderOf(office, orderId), value: due, currency, refund_due: due } }];
}

function orderNamed({ orders }: BoxOffice, orderId: string): Order {
  const order = orders.byId.get(orderId);
  invariant(order !== undefined, 'a fact about an order comes after its placing, and orders are kept');
  return order;
}

function orderOf(office: BoxOffice, orderId: string): object {
  const { items, totalCents, currency, customer, tracking } = orderNamed(office, orderId).purchase;
  return {
    dedupe_id: digestOf(orderId),
    order_id: orderId,
    event_id: office.eventId,
    value: totalCents,
    currency,
    contents: items.flatMap((item) => [
      contentOf(item.ticketTypeId, item.quantity, item.unitPriceCents),
      ...item.barPerks.map((perk) => contentOf(perk.barPerkId, perk.quantity, perk.unitPriceCents)),
    ]),
    customer: digestsOf(customer),
    tracking: tracking ?? {},
  };
}

function performanceOf({ performanceId }: FactData['PerformanceCancelled'], { eventId, plan }: BoxOffice): object {
  return {
    dedupe_id: performanceId,
    event_id: eventId,
    performance_id: performanceId,
    value: 0,
    currency: plan.definition.currency,
    contents: [],
    customer: { email: null, phone: null },
    tracking: {},
  };
}

/** The same for all messages of an order or a hold, and no key to it (4). */
function digestOf(id: string): string {
  return createHash('sha256').update(id).digest('hex');
}

function contentOf(id: string, quantity: number, price: number) {
  return { id, quantity, price };
}

/** Who bought, as advertising platforms match it: the address trimmed and in lower case, the digits of the phone number. */
function digestsOf({ email, phone }: Customer) {
  const digits = (phone ?? '').replace(/\D/g, '');
  return { email: sha256(email.trim().toLowerCase()), phone: digits === '' ? null : sha256(digits) };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
