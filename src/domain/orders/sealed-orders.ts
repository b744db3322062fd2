/**
 * Orders with their personal data as they are kept, for searches that have to open them: those with people on their tickets, because no
 * hash of an attendee's address is kept, and all of them for a part of a name.
 */
import { personalOf } from './order.ts';
import type { EventState } from '../event-state.ts';
import type { SealedOrder } from '../personal.ts';

export interface NamedOrderPage {
  readonly orders: readonly SealedOrder[];
  /** The number of the order to go on after; null at the end. */
  readonly nextAfter: number | null;
}

/** Orders that one call looks at, and tickets that they have: some milliseconds, where they are packed. */
const SCANNED_MAX = 500;
const SCANNED_TICKETS_MAX = 10_000;

/** The orders with named tickets among those after order number `after`, in the order of their placing. */
export function listNamedOrders(
  { orders: { inOrder } }: EventState,
  { after, limit }: { readonly after: number | null; readonly limit: number },
): NamedOrderPage {
  const orders: SealedOrder[] = [];
  let number = after === null ? 0 : after + 1;
  let ticketCount = 0;
  const end = Math.min(inOrder.length, number + SCANNED_MAX);
  for (; number < end && orders.length < limit && ticketCount < SCANNED_TICKETS_MAX; number += 1) {
    const order = inOrder.at(number);
    ticketCount += order.ticketIds.length;
    const isNamed = order.purchase.items.some((item) => item.isNamed === true || item.attendees !== null);
    const isErased = order.purchase.personal?.sealed === null;
    if (isNamed && !isErased) orders.push(personalOf(order));
  }
  return { orders, nextAfter: number < inOrder.length ? number - 1 : null };
}

/** Orders, the newest first. */
export interface SealedOrderPage {
  readonly orders: readonly SealedOrder[];
  /** When the last of them was placed; null where there are none. */
  readonly placedAt: number | null;
  /** Names the orders before these; null at the end. */
  readonly nextBefore: number | null;
}

/** The orders placed before order number `before`, the newest first; null begins with the newest. */
export function listSealedOrders(
  { orders: { inOrder } }: EventState,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): SealedOrderPage {
  const orders: SealedOrder[] = [];
  let number = Math.min(before ?? inOrder.length, inOrder.length);
  let placedAt: number | null = null;
  for (let ticketCount = 0; number > 0 && orders.length < limit && ticketCount < SCANNED_TICKETS_MAX;) {
    number -= 1;
    const order = inOrder.at(number);
    ticketCount += order.ticketIds.length;
    placedAt = order.placedAt;
    orders.push(personalOf(order));
  }
  return { orders, placedAt, nextBefore: number > 0 ? number : null };
}
