/**
 * The orders of one event as its state keeps them.
 *
 * 1. An order has one hold for life; the hold is CONVERTED while the order is PENDING, CONSUMED while tickets are out.
 * 2. Live orders alone count for the limits of an e-mail address, the uses of codes and the perks sold.
 * 3. Orders that ended are kept, because money may still come for them. An order to which nothing more is expected to
 *    happen is settled: it is packed, with its hold, until something happens to it after all.
 * 4. A cancelled performance has live orders, pending amendments and ACTIVE holds only until the turns that follow its
 *    cancellation have ended them, or cancelled their tickets on it. Until then the operator's cancellation is kept for
 *    the facts of these turns. The turns go on while it is kept, also after a crash.
 */
import { orderTransitions, type OrderStatus } from '#machines/order.ts';
import { Deadlines } from '../collections/lazy-heap.ts';
import { HashedTally } from '../collections/hash-tables.ts';
import { MoneyByHour } from './money-by-hour.ts';
import { OpenRefunds } from './open-refunds.ts';
import { OrderRecords, tagOf } from './order-records.ts';
import { noVoidTickets, type VoidTickets } from './void-tickets.ts';
import { buyerKeyOf } from './purchase-limits.ts';
import { refuse, type Refusal } from '../refusal.ts';
import { invariant } from '../invariant.ts';
import { pendingAmendment, type Order } from './order.ts';
import type { OrderItem } from '../fact.ts';
import type { HoldState } from '../holds/state.ts';
import type { TurnIds } from '../ids.ts';
import type { Sealing } from '../personal.ts';

/** Finds an order by one of its ids. A settled order is a copy, to be read only. */
interface OrderFinder {
  get(id: string): Order | undefined;
}

/** What orders keep of one event, and what they may read. */
export interface OrderState extends HoldState {
  readonly orders: Orders;
  /** Bar perks sold, by perk, over live orders. */
  readonly perksSold: Map<string, number>;
}

/** An execution of everything that is due, of orders with a ticket on a date or of all. */
export interface DueExecution {
  readonly performanceId: string | null;
  readonly operator: string | null;
}

export interface Orders {
  /** In the order of placing. */
  readonly inOrder: OrderRecords;
  readonly byId: OrderFinder;
  /** By the id of a payment, and by the id of its provider's session. */
  readonly byPayment: OrderFinder;
  readonly byTicket: OrderFinder;
  /** Tallies over live orders (rule 2). */
  readonly ticketsByBuyer: HashedTally;
  readonly usesByCode: Map<string, number>;
  readonly liveByPerformance: Map<string, number>;
  /** Those of them that were paid and have tickets on other performances too. */
  readonly onOthersByPerformance: Map<string, number>;
  /** Pending amendments that want something on a performance. */
  readonly wantedByPerformance: Map<string, number>;
  /** The numbers of the orders that await their first session, in the order of placing. */
  readonly awaitingSession: Set<number>;
  /** The numbers of the orders with a PENDING amendment, by its id. */
  readonly pendingAmendments: Deadlines<number>;
  /** The numbers of orders that had payments for amendments, whose sessions may be open although they are old. */
  readonly payingAmendments: Set<number>;
  readonly refunds: OpenRefunds;
  /** The executions of everything that is due, with the operator of each; they run one after the other. */
  readonly executing: DueExecution[];
  readonly voidTickets: VoidTickets;
  readonly money: MoneyByHour;
  /** Orders of which something can be erased, and orders with open personal data of older facts. */
  sealedCount: number;
  openCount: number;
}

export function noOrders(): Orders {
  const inOrder = new OrderRecords(({ status, purchase }) => orderTag(status, buyerKeyOf(purchase)));
  const hasPayment = (order: Order, wanted: string): boolean =>
    order.payments.some(({ id, checkoutSessionId }) => id === wanted || checkoutSessionId === wanted);
  return {
    inOrder,
    byId: inOrder,
    byPayment: { get: (wanted) => inOrder.find(wanted, (order) => hasPayment(order, wanted)) },
    byTicket: { get: (wanted) => inOrder.read(wanted, (order) => hasTicket(order, wanted)) },
    ticketsByBuyer: new HashedTally(),
    usesByCode: new Map(),
    liveByPerformance: new Map(),
    onOthersByPerformance: new Map(),
    wantedByPerformance: new Map(),
    awaitingSession: new Set(),
    pendingAmendments: new Deadlines(),
    payingAmendments: new Set(),
    refunds: new OpenRefunds(),
    executing: [],
    voidTickets: noVoidTickets(),
    money: new MoneyByHour(),
    sealedCount: 0,
    openCount: 0,
  };
}

/** The tag by which lists of orders are filtered: a status and a buyer. */
export function orderTag(status: OrderStatus, buyerKey: string): number {
  return tagOf(orderTransitions.statuses.indexOf(status), buyerKey);
}

/** Whether a ticket is of an order, void or not. */
function hasTicket({ ticketIds, changed }: Order, ticketId: string): boolean {
  return ticketIds.includes(ticketId) || (changed?.voidedTickets.some(({ id }) => id === ticketId) ?? false);
}

/** An order by its id: ORDER_NOT_FOUND. */
export function orderById({ orders }: { readonly orders: Orders }, orderId: string): Order | Refusal {
  return orders.byId.get(orderId) ?? refuse('ORDER_NOT_FOUND', {});
}

/** Live orders with a ticket on a performance. */
export function liveOrdersOn({ orders }: { readonly orders: Orders }, performanceId: string): number {
  return orders.liveByPerformance.get(performanceId) ?? 0;
}

/** Those of them that go on where only their tickets on it are cancelled. */
export function liveOrdersOnOthers({ orders }: { readonly orders: Orders }, performanceId: string): number {
  return orders.onOthersByPerformance.get(performanceId) ?? 0;
}

/** Whether turns have to request refunds that are due; the orders of cancelled performances end first. */
export function isAskingForRefunds(state: OrderState): boolean {
  return state.orders.executing.length > 0 && !isCancelling(state);
}

/** Whether something on a cancelled performance has yet to end (rule 4). */
export function isCancelling({ cancelling }: OrderState): boolean {
  return cancelling.size > 0;
}

/** Whether something is left on a performance that a cancellation of it has to end. */
export function isLeftOn({ orders, performances }: OrderState, performanceId: string): boolean {
  const { liveByPerformance, wantedByPerformance } = orders;
  return (
    liveByPerformance.has(performanceId) ||
    wantedByPerformance.has(performanceId) ||
    (performances.get(performanceId)?.activeHolds ?? 0) > 0
  );
}

/** The cancelled dates that items are on. */
export function cancellingDatesOf({ cancelling }: OrderState, items: readonly OrderItem[]): ReadonlySet<string> {
  return new Set(items.map(({ performanceId }) => performanceId).filter((id) => cancelling.has(id)));
}

/** The items that an order is to have by its pending amendment. */
export function wantedItemsOf(order: Order): readonly OrderItem[] {
  return pendingAmendment(order)?.asked!.change.items ?? [];
}

/** An order that a fact is about, to be changed. */
export function openOrder(orders: Orders, orderId: string): Order {
  const order = orders.inOrder.open(orderId);
  invariant(order !== undefined, `an order that a fact names exists: ${orderId}`);
  return order;
}

/** Mails of an order that its buyer may request in 24 hours. */
export const MAILS_A_DAY_MAX = 5;

/** What orders need of a turn. */
export interface OrderTurn extends TurnIds {
  readonly now: number;
  /** Null where nothing can be sealed: facts have open fields then. */
  readonly sealing: Sealing | null;
}
