/**
 * Orders: what was bought, what was paid of it, and what is owed back.
 *
 * Owns the orders of one event with their payments, tickets and refunds, and decides how they end. How an order comes to be is
 * decided in `checkout.ts`, what money does to it in `payments.ts`; facts are applied in `order-evolve.ts`, where each change
 * of an order's tickets goes through its hold; what is shown of an order is in `order-views.ts`. Called by `till.ts`.
 *
 * 1. An order has one hold for life; the hold is CONVERTED while the order is PENDING, CONSUMED while tickets are out.
 * 2. Everything that came in is a PAID payment of the order; what the order cannot use is due back. Money of another currency is
 *    never added to the order's amounts (`refunds.ts`).
 * 3. Orders that are PENDING, PARTIALLY_PAID or CONFIRMED are live: they alone count for e-mail caps, uses of codes and
 *    perks sold. The tallies change only where an order becomes live or ceases to be.
 * 4. Orders that ended are kept: money may still come for them, and it must find them. One to which nothing more is expected
 *    to happen is settled: packed, with its hold, until something happens to it after all.
 * 5. After an operator's doing a cancelled order stays cancelled.
 */
import { orderTransitions } from '#machines/order.ts';
import { countPerks, countUses } from '../catalogue/pricing.ts';
import { fact, type CancellationCause, type Fact, type OperatorMark } from '../fact.ts';
import { sumOf } from '../money.ts';
import { invariant } from '../invariant.ts';
import { countTickets } from './purchase-limits.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { noteVoidTickets } from './void-tickets.ts';
import { readTracking } from './tracking.ts';
import type { CommandOf } from '../command.ts';
import { settleHold } from '../holds/evolve.ts';
import type { Hold } from '../holds/state.ts';
import type { Order, Payment } from './order.ts';
import type { EventState } from '../event-state.ts';
import type { Decision } from '../decision.ts';
import type { OrderBook } from './order-book.ts';

export type { Order, Payment };

// ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** An order by its id: ORDER_NOT_FOUND. */
export function orderById(state: EventState, orderId: string): Order | Refusal {
  return state.orders.byId.get(orderId) ?? refuse('ORDER_NOT_FOUND', {});
}

/** Whether the order has, or may soon have, tickets (3). */
export function isLiveOrder({ status }: Order): boolean {
  return status === 'PENDING' || status === 'PARTIALLY_PAID' || status === 'CONFIRMED';
}

/** Whether nothing more is expected to happen to the order (4): no payment waits, and what is paid for is issued. */
export function isSettled({ status, payments, ticketIds }: Order): boolean {
  if (status === 'PENDING' || status === 'PARTIALLY_PAID') return false;
  if (payments.some((payment) => payment.status === 'REQUESTED' || payment.status === 'OPEN')) return false;
  return status !== 'CONFIRMED' || ticketIds.length > 0;
}

/** The try at the order's first installment; null for a free order. */
export function firstPaymentOf({ payments }: Order): Payment | null {
  return payments[0] ?? null;
}

/** Whether the order still awaits the session that its buyer is to be sent to. */
export function awaitsFirstSession(order: Order): boolean {
  const first = firstPaymentOf(order);
  return order.status === 'PENDING' && first !== null && first.checkoutSessionId === null;
}

/** All money that came in the order's currency. */
export function paidCents({ payments, purchase }: Order): number {
  return sumOf(payments, ({ status, currency, amountCents }) =>
    status === 'PAID' && currency === purchase.currency ? amountCents : 0,
  );
}

/** The money that pays for the tickets. */
export function countedCents(order: Order): number {
  return sumOf(order.payments, (payment) => (payment.isCounted ? payment.amountCents : 0));
}

/** What was given back in the order's currency. */
export function refundedCents({ refunds }: Order): number {
  return sumOf(refunds, ({ currency, amountCents }) => (currency === undefined ? amountCents : 0));
}

/** What is owed in the order's currency: money that the order could not use, and all of it once the order is over. */
export function refundDueCents(order: Order): number {
  return refundDueAfter(order, 0, false);
}

/** What would be owed after more money, which the order counts or does not; counted money makes an ended order live again. */
export function refundDueAfter(order: Order, amountCents: number, isCounted: boolean): number {
  const useful = (isLiveOrder(order) || isCounted ? countedCents(order) : 0) + (isCounted ? amountCents : 0);
  return Math.max(0, paidCents(order) + amountCents - useful - refundedCents(order));
}

export function isInstallmentPaid(order: Order, installment: number): boolean {
  return order.payments.some((payment) => payment.isCounted && payment.installment === installment);
}

/** How many installments are paid; they are paid in their order, so the next one is the one after. */
export function paidInstallments(order: Order): number {
  return order.payments.filter((payment) => payment.isCounted).length;
}

// ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Ends a PENDING order whose payment window ran out; nothing when the hold is not an order's, or not due. */
export function decideExpireOrder(hold: Hold | undefined, now: number): readonly Fact[] {
  const due = hold !== undefined && hold.status === 'CONVERTED' && hold.expiresAt <= now;
  return due ? [fact('OrderExpired', { orderId: hold.orderId! })] : [];
}

/** Cancels an order for the operator; what is cancelled by one already stays so. ORDER_NOT_FOUND, ORDER_NOT_CANCELLABLE. */
export function decideCancelOrder(state: EventState, command: CommandOf<'CancelOrder'>): Decision | Refusal {
  const order = orderById(state, command.orderId);
  if (isRefusal(order)) return order;
  const { id: orderId, status, cancellation } = order;
  const reply = { shows: 'ORDER', orderId, repeated: false } as const;
  if (cancellation !== null && cancellation.cause !== 'BUYER') return { facts: [], reply };
  if (orderTransitions.next(status, 'CANCEL') === undefined) return refuse('ORDER_NOT_CANCELLABLE', { status });
  return { facts: [cancelled(order, 'OPERATOR', command)], reply };
}

/** Cancels every live order with a ticket on one of the dates, whole. Cost: one pass over the event's orders. */
export function cancelOrdersOn(
  state: EventState,
  performanceIds: ReadonlySet<string>,
  mark: OperatorMark,
): readonly Fact[] {
  return [...state.orders.inOrder]
    .filter(isLiveOrder)
    .filter(({ purchase }) => purchase.items.some((item) => performanceIds.has(item.performanceId)))
    .map((order) => cancelled(order, 'PERFORMANCE', mark));
}

/** The fact that cancels a live order; everything that was paid and not refunded is due back. */
export function cancelled(order: Order, cause: CancellationCause, { operator, note }: OperatorMark): Fact {
  const refundDue = Math.max(0, paidCents(order) - refundedCents(order));
  return fact('OrderCancelled', { orderId: order.id, cause, operator, note, refundDueCents: refundDue });
}

// ── the book ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** An order that a fact is about, to be changed. */
export function openOrder(orders: OrderBook, orderId: string): Order {
  const order = orders.inOrder.open(orderId);
  invariant(order !== undefined, `a fact names an order that is not there: ${orderId}`);
  return order;
}

/** Packs an order and its hold where nothing more is expected to happen to them (4). */
export function settleOrder(state: EventState, order: Order): void {
  if (!isSettled(order)) return;
  state.orders.inOrder.settle(order);
  settleHold(state.holds, order.purchase.holdId, order.number);
}

/** Adds a live order to the tallies, or with -1 takes it out (3). */
export function countOrder(state: EventState, { purchase }: Order, sign: 1 | -1): void {
  countTickets(state.orders.ticketsByEmail, purchase.customer.email, purchase.items, sign);
  countUses(state.orders.usesByCode, purchase, sign);
  countPerks(state.perksSold, purchase.items, sign);
}

// ── snapshot ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** An order as a snapshot keeps it: whole, so that a snapshot needs nothing but itself. */
export type OrderRecord = Order;

/** Puts an order of a snapshot back; the tallies and indexes follow from it. */
export function restoreOrder(state: EventState, record: OrderRecord): void {
  const { purchase } = record;
  const order: Order = { ...record, purchase: { ...purchase, tracking: readTracking(purchase.tracking) } };
  state.orders.inOrder.append(order);
  if (isLiveOrder(order)) countOrder(state, order, 1);
  noteVoidTickets(state.orders.voidTickets, order);
  settleOrder(state, order);
}
