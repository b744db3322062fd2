/**
 * Orders with their stored personal data, for searches that have to open it. A search by an attendee's address opens
 * orders with named tickets, because no hash of that address is kept; a search by a part of a name opens all.
 */
import { personalOf } from './order.ts';
import type { OrderState } from './state.ts';
import type { SealedOrder } from '../personal.ts';

export interface PersonalDataPage {
  readonly orders: readonly SealedOrder[];
  /** When the last of them was placed; null where there are none. */
  readonly placedAt: number | null;
  /** Where the next page begins; null at the end. */
  readonly next: number | null;
}

/** Orders that one call looks at, and tickets that they have: some milliseconds, where they are packed. */
const SCANNED_MAX = 500;
const SCANNED_TICKETS_MAX = 10_000;

interface Wanted {
  readonly from: number | null;
  readonly limit: number;
}

/** The orders with named tickets from order number `from` on, in the order of their placing. */
export function listNamedOrders({ orders: { inOrder } }: OrderState, { from, limit }: Wanted): PersonalDataPage {
  const orders: SealedOrder[] = [];
  let placedAt: number | null = null;
  let number = from ?? 0;
  let ticketCount = 0;
  const end = Math.min(inOrder.length, number + SCANNED_MAX);
  for (; number < end && orders.length < limit && ticketCount < SCANNED_TICKETS_MAX; number += 1) {
    const order = inOrder.at(number);
    ticketCount += order.ticketIds.length;
    const isNamed =
      order.purchase.items.some((item) => item.isNamed === true || item.attendees !== null) ||
      personalOf(order).amended !== undefined;
    const isErased = order.purchase.personal?.sealed === null;
    if (!isNamed || isErased) continue;
    placedAt = order.placedAt;
    orders.push(personalOf(order));
  }
  return { orders, placedAt, next: number < inOrder.length ? number : null };
}

/** All orders from order number `from` on, or from the newest, backwards. */
export function listSealedOrders({ orders: { inOrder } }: OrderState, { from, limit }: Wanted): PersonalDataPage {
  const orders: SealedOrder[] = [];
  let placedAt: number | null = null;
  let number = Math.min(from ?? inOrder.length - 1, inOrder.length - 1);
  for (let ticketCount = 0; number >= 0 && orders.length < limit && ticketCount < SCANNED_TICKETS_MAX; number -= 1) {
    const order = inOrder.at(number);
    ticketCount += order.ticketIds.length;
    placedAt = order.placedAt;
    orders.push(personalOf(order));
  }
  return { orders, placedAt, next: number >= 0 ? number : null };
}
