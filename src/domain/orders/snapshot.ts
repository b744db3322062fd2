/** An order back from a snapshot. */
import { countOrder, countPersonal, noteAwaiting, settleOrder } from './evolve.ts';
import { isLiveOrder, type Order } from './order.ts';
import { readTracking } from './tracking.ts';
import { noteVoidTickets } from './void-tickets.ts';
import type { EventState } from '../event-state.ts';

/** An order as a snapshot keeps it: whole, so that a snapshot needs nothing but itself. */
export type OrderRecord = Order;

/** Restores an order; the tallies and indexes follow from it. */
export function restoreOrder(state: EventState, record: OrderRecord): void {
  const { purchase } = record;
  const order: Order = { ...record, purchase: { ...purchase, tracking: readTracking(purchase.tracking) } };
  state.orders.inOrder.append(order);
  countPersonal(state.orders, order);
  if (isLiveOrder(order)) countOrder(state, order, 1);
  noteVoidTickets(state.orders.voidTickets, order);
  state.orders.money.noteOrder(order);
  noteAwaiting(state.orders, order);
  settleOrder(state, order);
}
