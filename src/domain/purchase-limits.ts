/**
 * How much one buyer may have: caps per item, per order and per e-mail address.
 *
 * Owns the comparison of addresses and the tally of tickets by address; which orders count is said by `orders.ts`, which calls
 * `countTickets` when one begins, ends or comes back. `checkout.ts` judges.
 *
 * 1. The tally of an address is the number of tickets on its PENDING, PARTIALLY_PAID and CONFIRMED orders.
 * 2. Two addresses are one buyer's when they are equal trimmed, case-folded and without a +tag; kept is what was typed.
 */
import { addToTally, sumOf } from './money.ts';
import { refuse, type Refusal } from './refusal.ts';
import { lineKey } from './reservation.ts';
import type { SalePlan } from './sale-plan.ts';

/** Bounds an order where the event has no cap of its own: each ticket is an id in memory and in the journal. */
export const ORDER_TICKETS_MAX = 10_000;

/** What of an item this file judges. */
interface LimitedItem {
  readonly performanceId: string;
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
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
 * Judges a purchase against the event's caps. Refuses in order: MAX_PER_ORDER_EXCEEDED (items of the same type, stage and
 * date added up), MAX_TICKETS_PER_ORDER_EXCEEDED, MAX_TICKETS_PER_EMAIL_EXCEEDED.
 */
export function judgeLimits(
  plan: SalePlan,
  items: readonly LimitedItem[],
  email: string,
  ticketsByEmail: ReadonlyMap<string, number>,
): Refusal | null {
  const requested = sumOf(items, (item) => item.ticketCount);
  const { maxTicketsPerOrder, maxTicketsPerEmail } = plan.definition;
  const overItemCap = judgeItems(plan, items);
  if (overItemCap !== null) return overItemCap;
  if (maxTicketsPerOrder !== null && requested > maxTicketsPerOrder) {
    return refuse('MAX_TICKETS_PER_ORDER_EXCEEDED', { limit: maxTicketsPerOrder, requested });
  }
  const already = ticketsByEmail.get(emailKey(email)) ?? 0;
  if (maxTicketsPerEmail !== null && already + requested > maxTicketsPerEmail) {
    return refuse('MAX_TICKETS_PER_EMAIL_EXCEEDED', { limit: maxTicketsPerEmail, requested, already });
  }
  return null;
}

function judgeItems(plan: SalePlan, items: readonly LimitedItem[]): Refusal | null {
  const units = new Map<string, number>();
  for (const item of items) addToTally(units, lineKey(item), item.quantity);
  for (const item of items) {
    const { ticketTypeId } = item;
    const limit = plan.ticketTypeById.get(ticketTypeId)?.definition.maxPerOrder ?? null;
    const requested = units.get(lineKey(item))!;
    if (limit !== null && requested > limit)
      return refuse('MAX_PER_ORDER_EXCEEDED', { limit, requested, ticketTypeId });
  }
  return null;
}

/** Judges the bound of the house (ORDER_TICKETS_MAX), after it is known that the tickets could be had. */
export function judgeSize(items: readonly LimitedItem[]): Refusal | null {
  const requested = sumOf(items, (item) => item.ticketCount);
  if (requested <= ORDER_TICKETS_MAX) return null;
  return refuse('MAX_TICKETS_PER_ORDER_EXCEEDED', { limit: ORDER_TICKETS_MAX, requested });
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
