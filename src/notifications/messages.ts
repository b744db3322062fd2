/**
 * Notifications: the messages that a fact causes, their bodies, and the signed post of one message.
 *
 * 1. A message is made from its fact and from what never changes about an order: made again, it is the same. Once the
 *    order was erased, nothing about its buyer is in it any more.
 * 2. An id names the fact and the type, so that a receiver recognizes a repeat.
 * 3. No personal data is sent: e-mail address and phone number are hex SHA-256 digests.
 * 4. Ids that grant access are digests too, except `order_id`, which is for the receiver itself; `dedupe_id` may be
 *    passed on.
 */
import { createHash } from 'node:crypto';
import product from '../../package.json' with { type: 'json' };
import { Webhook } from 'standardwebhooks';
import { invariant } from '#domain/invariant.ts';
import { readAt } from '#actors/event-port.ts';
import { callWithin } from '#actors/trouble.ts';
import type { FactView } from '#domain/event/query.ts';
import type { OpenedOrder, PersonalDataReader } from '#privacy/personal-data.ts';
import type { Customer } from '#domain/personal.ts';
import type { FactData, FactType } from '#domain/fact.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { Delivery } from './outbox.ts';

type MessageType =
  | 'AddToCart'
  | 'InitiateCheckout'
  | 'Purchase'
  | 'CompletePayment'
  | 'order.confirmed'
  | 'order.amended'
  | 'order.cancelled'
  | 'order.expired'
  | 'refund.due'
  | 'refund.succeeded'
  | 'refund.failed'
  | 'performance.cancelled';

/** A notification, ready to be signed. */
export interface Message {
  /** The webhook-id (rule 2). */
  readonly id: string;
  readonly type: MessageType;
  /** JSON. */
  readonly body: string;
}

/** The types of facts that may have messages. */
const NOTIFIABLE: ReadonlySet<string> = new Set<FactType>([
  'HoldPlaced',
  'CheckoutSessionOpened',
  'TicketsIssued',
  'OrderPaid',
  'OrderAmended',
  'OrderCancelled',
  'OrderExpired',
  'PaymentRecorded',
  'StrayMoneyRecorded',
  'RefundRecorded',
  'RefundAnswered',
  'PerformanceCancelled',
]);

/** Whether facts of this type may have messages. A fact of another type need not be parsed. */
export function isNotifiable(type: string): boolean {
  return NOTIFIABLE.has(type);
}

/**
 * What a message is made from: the view of its fact, as of then or later, and the opened data of the order that it is
 * about.
 */
interface MessageSource {
  readonly view: FactView;
  /** Null for a fact that names no order. */
  readonly opened: OpenedOrder | null;
}

/** Reads what the messages of a fact are made from. */
export async function openSource(
  view: FactView,
  personalData: Pick<PersonalDataReader, 'open'>,
): Promise<MessageSource> {
  return { view, opened: view.order === null ? null : await personalData.open(view.order) };
}

/**
 * The messages of a stored fact, in the order in which they are posted. A message has the same id whenever it is sent.
 * The label distinguishes facts that have the same number in several sequences of facts. The moment distinguishes the
 * facts of a journal that was restored to an earlier fact from the facts that it lost: a receiver drops a message whose
 * id it knows.
 */
export function messagesOf(row: FactRow, source: MessageSource, label = ''): readonly Message[] {
  return draftsOf(source).map(({ type, data }) => ({
    id: `msg_${label}${row.seq}_${row.at.toString(36)}_${type.replace('.', '_')}`,
    type,
    body: JSON.stringify({ type, timestamp: new Date(row.at).toISOString(), data }),
  }));
}

interface Draft {
  readonly type: MessageType;
  readonly data: object;
}

function draftsOf(source: MessageSource): readonly Draft[] {
  const { view } = source;
  const { fact } = view;
  switch (fact.type) {
    case 'HoldPlaced':
      return isOfOrder(fact.data) ? [] : [{ type: 'AddToCart', data: cartOf(fact.data, view) }];
    case 'CheckoutSessionOpened':
      return isFirstSession(view, fact.data) ? ofOrder(source, 'InitiateCheckout') : [];
    case 'TicketsIssued':
      return orderOf(view).purchase.totalCents === 0
        ? ofOrder(source, 'Purchase')
        : ofOrder(source, 'Purchase', 'CompletePayment');
    case 'OrderPaid': {
      const { trigger } = fact.data;
      const isPaidInFull = trigger === 'PAY_IN_FULL' || trigger === 'PAY_LATE_IN_FULL';
      return isPaidInFull ? ofOrder(source, 'order.confirmed') : [];
    }
    case 'OrderAmended': {
      const { ticketIds, toRefundCents, trigger } = fact.data;
      const told = [amendmentOf(source, fact.data)];
      // An order that is left without tickets is cancelled: the other messages are those of the cancellation.
      if (ticketIds.length === 0) return told;
      if (trigger === 'COVER') told.push({ type: 'order.confirmed', data: amendedOrderOf(source, fact.data) });
      return toRefundCents > 0 ? [...told, ...refundDueOf(source, fact.data)] : told;
    }
    case 'OrderExpired':
      return ofOrder(source, 'order.expired');
    case 'OrderCancelled':
      return [...ofOrder(source, 'order.cancelled'), ...refundDueOf(source, fact.data)];
    case 'PaymentRecorded':
      return fact.data.isCounted && fact.data.toRefundCents === undefined ? [] : refundDueOf(source, fact.data);
    case 'StrayMoneyRecorded':
      return strayMoneyOf(source, fact.data);
    case 'RefundRecorded':
      return fact.data.isExecuted === true ? [refundOf(source, 'refund.succeeded', fact.data)] : [];
    case 'RefundAnswered': {
      const { answer, refundDueCents = 0, currency } = fact.data;
      if (answer !== 'FAILED' && answer !== 'NEEDS_OPERATOR') return [];
      const due = refundDueOf(source, { refundDueCents, ...(currency !== undefined && { currency }) });
      return [refundOf(source, 'refund.failed', fact.data), ...due];
    }
    case 'PerformanceCancelled':
      return [{ type: 'performance.cancelled', data: performanceOf(fact.data, view) }];
    default:
      return [];
  }
}

// ── which facts ──────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Whether a checkout without a hold placed it, and not POST holds; older facts show this by their session key alone.
 */
function isOfOrder({ orderId, sessionKey }: FactData['HoldPlaced']): boolean {
  return orderId !== undefined || sessionKey.startsWith('ord_');
}

/** Whether it is the session that a start opens: the first try at the first installment. */
function isFirstSession(view: FactView, { paymentId }: FactData['CheckoutSessionOpened']): boolean {
  return orderOf(view).firstPaymentId === paymentId;
}

// ── data ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

function cartOf({ holdId, lines }: FactData['HoldPlaced'], { eventId, currency }: FactView): object {
  const contents = lines.map((line) => contentOf(line.ticketTypeId, line.quantity, line.unitPriceCents));
  return {
    dedupe_id: digestOf(holdId),
    event_id: eventId,
    value: lines.reduce((sum, line) => sum + line.quantity * line.unitPriceCents, 0),
    currency,
    contents,
    customer: NOBODY,
    tracking: {},
  };
}

function ofOrder(source: MessageSource, ...types: readonly MessageType[]): readonly Draft[] {
  const data = orderDataOf(source);
  return types.map((type) => ({ type, data }));
}

/** What is owed to the buyer, in the order's currency unless another is named; empty when it is nothing. */
function refundDueOf(
  source: MessageSource,
  { refundDueCents: due, currency }: { readonly refundDueCents: number; readonly currency?: string },
): readonly Draft[] {
  if (due === 0) return [];
  return [{ type: 'refund.due', data: { ...moneyOf(source, due, currency), refund_due: due } }];
}

/** Money of another currency is due back in its own. */
function strayMoneyOf(source: MessageSource, stray: FactData['StrayMoneyRecorded']): readonly Draft[] {
  const { currency, foreignDueCents, refundDueCents } = stray;
  if (foreignDueCents === undefined) return refundDueOf(source, { refundDueCents });
  return refundDueOf(source, { refundDueCents: foreignDueCents, currency });
}

/** How a refund ended that this service executed. */
function refundOf(
  source: MessageSource,
  type: 'refund.succeeded' | 'refund.failed',
  { refundId, amountCents, currency }: FactData['RefundRecorded'] | FactData['RefundAnswered'],
): Draft {
  return { type, data: { ...moneyOf(source, amountCents, currency), refund_id: refundId, amount: amountCents } };
}

function amendmentOf(source: MessageSource, amended: FactData['OrderAmended']): Draft {
  const { amendmentId, differenceCents, isWithdrawal } = amended;
  const told = { amendment_id: amendmentId, difference: differenceCents, withdrawal: isWithdrawal === true };
  return { type: 'order.amended', data: { ...amendedOrderOf(source, amended), ...told } };
}

/** The data of an order as an amendment left it. */
function amendedOrderOf(source: MessageSource, { items, totalCents }: FactData['OrderAmended']): object {
  return { ...orderDataOf(source), value: totalCents, contents: contentsOf(items) };
}

/** The data of an order with an amount of money. */
function moneyOf(source: MessageSource, value: number, currency: string | undefined): object {
  return { ...orderDataOf(source), value, ...(currency !== undefined && { currency }) };
}

function orderOf({ order }: FactView): NonNullable<FactView['order']> {
  invariant(order !== null, 'a fact about an order follows the fact that placed it, and orders are never dropped');
  return order;
}

function orderDataOf({ view, opened }: MessageSource): object {
  const { purchase } = orderOf(view);
  const { orderId, items, totalCents, currency } = purchase;
  return {
    dedupe_id: digestOf(orderId),
    order_id: orderId,
    event_id: view.eventId,
    value: totalCents,
    currency,
    contents: contentsOf(items),
    customer: opened?.customer == null ? NOBODY : digestsOf(opened.customer),
    tracking: opened?.tracking ?? {},
  };
}

function performanceOf({ performanceId }: FactData['PerformanceCancelled'], { eventId, currency }: FactView): object {
  return {
    dedupe_id: performanceId,
    event_id: eventId,
    performance_id: performanceId,
    value: 0,
    currency,
    contents: [],
    customer: NOBODY,
    tracking: {},
  };
}

/** Of a message about nobody, and of an order that was erased. */
const NOBODY = { email: null, phone: null };

/** The same text has the same digest, from which the text cannot be derived (rules 3 and 4). */
function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function contentsOf(items: FactData['OrderPlaced']['items']): readonly object[] {
  return items.flatMap((item) => [
    contentOf(item.ticketTypeId, item.quantity, item.unitPriceCents),
    ...item.barPerks.map((perk) => contentOf(perk.barPerkId, perk.quantity, perk.unitPriceCents)),
  ]);
}

function contentOf(id: string, quantity: number, price: number) {
  return { id, quantity, price };
}

/**
 * The buyer as advertising platforms match it: the address trimmed and in lower case, the digits of the phone number.
 */
function digestsOf({ email, phone }: Customer) {
  const digits = (phone ?? '').replace(/\D/g, '');
  return { email: digestOf(email.trim().toLowerCase()), phone: digits === '' ? null : digestOf(digits) };
}

/** Notifications as an outbox delivers them: those of one event in the order of its facts. */
export function notificationDelivery(ports: {
  readonly personalData: Pick<PersonalDataReader, 'open'>;
  readonly post: Post;
}): Delivery<Message> {
  return {
    where: 'notifications',
    what: 'notification',
    queueOf: notificationQueueOf,
    async messagesOf(row, { events, label }) {
      const view = await readAt(events.byEventId(row.eventId), null, { type: 'ReadFact', stored: row });
      return view === null ? [] : messagesOf(row, await openSource(view, ports.personalData), label);
    },
    post: ports.post,
  };
}

/** The queue of a fact; null where it has no notifications. */
export function notificationQueueOf({ type, eventId }: Pick<FactRow, 'type' | 'eventId'>): string | null {
  return isNotifiable(type) ? eventId : null;
}

// ── posting ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Posts one message; rejects when the receiver did not accept it. */
type Post = (message: Message, stopping?: AbortSignal) => Promise<void>;

const POST_MS_MAX = 10_000;

/** Posts to one address, signed as Standard Webhooks describes; a receiver compares `now` with its own clock. */
export function createPoster(target: { readonly url: string; readonly secret: string }, now: () => number): Post {
  const signer = new Webhook(target.secret);
  return async ({ id, body }, stopping) => {
    const sentAt = new Date(now());
    const headers = {
      'content-type': 'application/json',
      'user-agent': `Holdfast/${product.version}`,
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      'webhook-signature': signer.sign(id, sentAt, body),
    };
    await callWithin(POST_MS_MAX, stopping, async (signal) => {
      const response = await fetch(target.url, { method: 'POST', headers, body, redirect: 'manual', signal });
      await response.body?.cancel();
      if (!response.ok) throw new Error(`the receiver answered ${response.status}`);
    });
  };
}
