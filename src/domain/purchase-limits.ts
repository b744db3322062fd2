/**
 * How much one buyer may have: caps per ticket type, per order and per e-mail address.
 *
 * Owns the comparison of addresses and the tally of tickets by address; which orders count is said by `orders.ts`, which calls
 * `countTickets` when one begins, ends or comes back. A checkout checks every cap; a hold those of a cart, unless the event
 * says otherwise (`limits_at_hold`), because a hold that no order can take keeps its tickets from everybody else.
 *
 * 1. The tally of an address is the number of tickets on its PENDING, PARTIALLY_PAID and CONFIRMED orders.
 * 2. Two addresses are one buyer's when they are equal trimmed, case-folded and without a +tag; kept is what was typed.
 */
import { addToTally, sumOf } from './money.ts';
import { refuse, type Refusal } from './refusal.ts';
import type { SalePlan } from './sale-plan.ts';

/** Bounds an order where the event has no cap of its own: each ticket is an id in memory and in the journal. */
export const ORDER_TICKETS_MAX = 10_000;

/** What of an item this file judges. */
export interface LimitedItem {
  readonly performanceId: string;
  readonly ticketTypeId: string;
  readonly quantity: number;
  readonly ticketCount: number;
}

/** What makes two addresses the same buyer's (2). */
export function emailKey(email: string): string {
  const folded = email.trim().normalize('NFKC').toLowerCase();
  const domainAt = folded.lastIndexOf('@');
  const tagAt = folded.indexOf('+');
  const isTagged = tagAt > 0 && tagAt < domainAt;
  return isTagged ? folded.slice(0, tagAt) + folded.slice(domainAt) : folded;
}

/**
 * Checks a purchase against the event's caps. Refuses in order: as `checkCartLimits`, then MAX_TICKETS_PER_EMAIL_EXCEEDED.
 */
export function judgeLimits(
  plan: SalePlan,
  items: readonly LimitedItem[],
  email: string,
  ticketsByEmail: ReadonlyMap<string, number>,
): Refusal | null {
  const overCart = checkCartLimits(plan, items);
  if (overCart !== null) return overCart;
  const requested = sumOf(items, (item) => item.ticketCount);
  const { maxTicketsPerEmail } = plan.definition;
  const already = ticketsByEmail.get(emailKey(email)) ?? 0;
  if (maxTicketsPerEmail !== null && already + requested > maxTicketsPerEmail) {
    return refuse('MAX_TICKETS_PER_EMAIL_EXCEEDED', { limit: maxTicketsPerEmail, requested, already });
  }
  return null;
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
  ticketsByEmail: Map<string, number>,
  email: string,
  items: readonly LimitedItem[],
  sign: 1 | -1,
): void {
  const tickets = sumOf(items, (item) => item.ticketCount);
  addToTally(ticketsByEmail, emailKey(email), sign * tickets);
}
