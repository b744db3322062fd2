/** How much a cart may have, whoever buys it: limits per ticket type and per order. */
import { sumOf } from '../money.ts';
import { refuse, type Refusal } from '../refusal.ts';
import type { LimitedItem } from '../inventory/assignment.ts';
import type { SalePlan } from '../catalogue/sale-plan.ts';

/** Bounds an order where the event has no limit of its own: each ticket is an id in memory and in the journal. */
const ORDER_TICKETS_MAX = 10_000;

/**
 * Checks the limits of a cart, whoever buys it. Refuses in order: MAX_PER_ORDER_EXCEEDED (units of a type on a
 * performance, over all items and stages), MAX_TICKETS_PER_ORDER_EXCEEDED. Hot: every hold is checked, so nothing is
 * allocated.
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
  return checkTickets(tickets, plan.definition.maxTicketsPerOrder ?? ORDER_TICKETS_MAX);
}

/** Checks what bounds every cart, whatever its event says: MAX_TICKETS_PER_ORDER_EXCEEDED. */
export function checkCartSize(items: readonly LimitedItem[]): Refusal | null {
  const tickets = sumOf(items, ({ ticketCount }) => ticketCount);
  return checkTickets(tickets, ORDER_TICKETS_MAX);
}

function checkTickets(tickets: number, limitOfEvent: number): Refusal | null {
  const limit = Math.min(limitOfEvent, ORDER_TICKETS_MAX);
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
