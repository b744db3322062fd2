/** The orders of one event, as its state keeps them. */
import { orderTransitions, type OrderStatus } from '#machines/order.ts';
import { HashedTally } from '../collections/hash-tables.ts';
import { emailKey } from './email-key.ts';
import { OrderRecords, tagOf } from './order-records.ts';
import { noVoidTickets, type VoidTickets } from './void-tickets.ts';
import type { Order } from './order.ts';

/** Finds an order by one of its ids. A settled order is a copy, to be read only. */
interface OrderFinder {
  get(id: string): Order | undefined;
}

export interface OrderBook {
  /** In the order of placing. */
  readonly inOrder: OrderRecords;
  readonly byId: OrderFinder;
  /** By the id of a payment, and by the id of its provider's session. */
  readonly byPayment: OrderFinder;
  readonly byTicket: OrderFinder;
  /** Tallies over live orders (3). */
  readonly ticketsByEmail: HashedTally;
  readonly usesByCode: Map<string, number>;
  readonly voidTickets: VoidTickets;
}

export function noOrders(): OrderBook {
  const inOrder = new OrderRecords(({ status, purchase }) => orderTag(status, purchase.customer.email));
  const hasPayment = (order: Order, wanted: string): boolean =>
    order.payments.some(({ id, checkoutSessionId }) => id === wanted || checkoutSessionId === wanted);
  return {
    inOrder,
    byId: { get: (wanted) => inOrder.find(wanted, ({ id }) => id === wanted) },
    byPayment: { get: (wanted) => inOrder.find(wanted, (order) => hasPayment(order, wanted)) },
    byTicket: { get: (wanted) => inOrder.find(wanted, ({ ticketIds }) => ticketIds.includes(wanted)) },
    ticketsByEmail: new HashedTally(),
    usesByCode: new Map(),
    voidTickets: noVoidTickets(),
  };
}

/** By what lists of orders are chosen: a status and a buyer. */
export function orderTag(status: OrderStatus, email: string): number {
  return tagOf(orderTransitions.statuses.indexOf(status), emailKey(email));
}
