/**
 * How much one buyer may have: caps per ticket type, per order and per e-mail address.
 *
 * Owns the tally of tickets by address (`email-key.ts` compares them); which orders count is said by `orders.ts`, which calls
 * `countTickets` when one begins, ends or comes back. A checkout checks every cap; a hold those of a cart, unless the event
 * says otherwise (`limits_at_hold`), because a hold that no order can take keeps its tickets from everybody else.
 *
 * 1. The tally of an address is the number of tickets on its PENDING, PARTIALLY_PAID and CONFIRMED orders.
 * 2. An order that late money would bring back must fit into its address's allowance like a new one.
 */
import { emailKey } from './email-key.ts';
import { sumOf } from '../money.ts';
import { refuse, type Refusal } from '../refusal.ts';
import type { HashedTally } from '../collections/hash-tables.ts';
import type { SalePlan } from '../catalogue/sale-plan.ts';

/** Bounds an order where the event has no cap of its own: each ticket is an id in memory and in the journal. */
export const ORDER_TICKETS_MAX = 10_000;

/** What of an item this file judges. */
export interface LimitedItem {
  readonly performanceId: string;
  readonly ticketTypeId: string;
  readonly quantity: number;
  readonly ticketCount: number;
}

/**
 * Checks a purchase against the event's caps. Refuses in order: as `checkCartLimits`, then MAX_TICKETS_PER_EMAIL_EXCEEDED.
 */
export function checkLimits(
  plan: SalePlan,
  items: readonly LimitedItem[],
  email: string,
  ticketsByEmail: Pick<HashedTally, 'get'>,
): Refusal | null {
  const overCart = checkCartLimits(plan, items);
  if (overCart !== null) return overCart;
  return checkEmailLimit(plan, items, email, ticketsByEmail);
}

/** Checks the allowance of an address, over its live orders (2): MAX_TICKETS_PER_EMAIL_EXCEEDED. */
export function checkEmailLimit(
  { definition }: SalePlan,
  items: readonly Pick<LimitedItem, 'ticketCount'>[],
  email: string,
  ticketsByEmail: Pick<HashedTally, 'get'>,
): Refusal | null {
  const { maxTicketsPerEmail: limit } = definition;
  if (limit === null) return null;
  const requested = sumOf(items, (item) => item.ticketCount);
  const already = ticketsByEmail.get(emailKey(email)) ?? 0;
  return already + requested > limit ? refuse('MAX_TICKETS_PER_EMAIL_EXCEEDED', { limit, requested, already }) : null;
}

/**
 * Checks the caps that a cart is held to, whoever buys it. Refuses in order: MAX_PER_ORDER_EXCEEDED (units of a type on a
 * performance, over all items and stages), MAX_TICKETS_PER_ORDER_EXCEEDED. Hot: a hold asks it too, so nothing is allocated.
 */
export function checkCartLimits(plan: SalePlan, items: readonly LimitedItem[]): Refusal | null {
  let tickets = 0;
  for (const item of items) {
    const { ticketTypeId } = item;
    const limit = plan.ticketTypeById.get(ticketTypeId)?.definition.maxPerOrder ?? null;
    if (limit !== null) {
      const requested = items.length === 1 ? item.quantity : unitsLike(items, item);
      if (requested > limit) return refuse('MAX_PER_ORDER_EXCEEDED', { limit, requested, ticketTypeId });
    }
    tickets += item.ticketCount;
  }
  const limit = Math.min(plan.definition.maxTicketsPerOrder ?? ORDER_TICKETS_MAX, ORDER_TICKETS_MAX);
  return tickets > limit ? refuse('MAX_TICKETS_PER_ORDER_EXCEEDED', { limit, requested: tickets }) : null;
}

/** Units of all items that are of the same type on the same performance; items are few, so they are counted anew. */
function unitsLike(items: readonly LimitedItem[], { ticketTypeId, performanceId }: LimitedItem): number {
  let units = 0;
  for (const item of items) {
    if (item.ticketTypeId === ticketTypeId && item.performanceId === performanceId) units += item.quantity;
  }
  return units;
}

/** Counts the tickets of an order for its address (1), or with -1 no longer. */
export function countTickets(
  ticketsByEmail: HashedTally,
  email: string,
  items: readonly LimitedItem[],
  sign: 1 | -1,
): void {
  const tickets = sumOf(items, (item) => item.ticketCount);
  ticketsByEmail.add(emailKey(email), sign * tickets);
}
