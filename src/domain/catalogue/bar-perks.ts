/**
 * Bar perks: drinks and the like that are bought along with tickets.
 *
 * Owns their caps and the tally of what is sold of each; prices are summed by `pricing.ts`. `checkout.ts` judges; `orders.ts`
 * calls `countPerks` when an order begins, ends or comes back.
 *
 * 1. A perk belongs to one ticket type, which its id is unique in; its stock is for that type, over all dates.
 * 2. Sold of a perk is what PENDING, PARTIALLY_PAID and CONFIRMED orders have of it, never more than its stock at the time.
 */
import { addToTally } from '../money.ts';
import { refuse, type Refusal } from '../refusal.ts';
import type { BarPerkDefinition } from './definition.ts';
import type { BarPerkRequest } from '../command.ts';
import type { OrderedPerk } from '../fact.ts';
import type { SalePlan } from './sale-plan.ts';

/** What of an item this file judges. */
interface PerkedItem {
  readonly ticketTypeId: string;
  readonly ticketCount: number;
  readonly barPerks: readonly BarPerkRequest[];
}

/**
 * Finds the perks of each item at their prices, equal ones of an item added up. Refuses in order: BAR_PERK_NOT_FOUND,
 * BAR_PERK_LIMIT_EXCEEDED (over max_per_ticket × tickets of the item), BAR_PERK_SOLD_OUT (over all items).
 */
export function findPerks(
  plan: SalePlan,
  items: readonly PerkedItem[],
  perksSold: ReadonlyMap<string, number>,
): readonly (readonly OrderedPerk[])[] | Refusal {
  for (const { ticketTypeId, barPerks } of items) {
    for (const { barPerkId } of barPerks) {
      if (perkOf(plan, ticketTypeId, barPerkId) === undefined) return refuse('BAR_PERK_NOT_FOUND', { barPerkId });
    }
  }
  const perks = items.map((item) => addUp(plan, item));
  return checkPerTicket(plan, items, perks) ?? checkStock(plan, items, perks, perksSold) ?? perks;
}

/** Whether the perks of an order that ended could be had once more; a perk that is gone has no stock to exceed. */
export function canHaveAgain(
  plan: SalePlan,
  items: readonly { readonly ticketTypeId: string; readonly barPerks: readonly OrderedPerk[] }[],
  perksSold: ReadonlyMap<string, number>,
): boolean {
  const wanted = new Map<string, number>();
  return items.every(({ ticketTypeId, barPerks }) =>
    barPerks.every(({ barPerkId, quantity }) => {
      const key = perkKey(ticketTypeId, barPerkId);
      addToTally(wanted, key, quantity);
      const perk = perkOf(plan, ticketTypeId, barPerkId);
      return perk === undefined || wanted.get(key)! <= perkLeft(ticketTypeId, perk, perksSold);
    }),
  );
}

/** Counts the perks of an order as sold, or with -1 returns them. */
export function countPerks(
  perksSold: Map<string, number>,
  items: readonly { readonly ticketTypeId: string; readonly barPerks: readonly OrderedPerk[] }[],
  sign: 1 | -1,
): void {
  for (const { ticketTypeId, barPerks } of items) {
    for (const { barPerkId, quantity } of barPerks) {
      addToTally(perksSold, perkKey(ticketTypeId, barPerkId), sign * quantity);
    }
  }
}

function addUp(plan: SalePlan, { ticketTypeId, barPerks }: PerkedItem): readonly OrderedPerk[] {
  const quantities = new Map<string, number>();
  for (const { barPerkId, quantity } of barPerks) addToTally(quantities, barPerkId, quantity);
  return [...quantities].map(([barPerkId, quantity]) => ({
    barPerkId,
    quantity,
    unitPriceCents: perkOf(plan, ticketTypeId, barPerkId)!.price,
  }));
}

function checkPerTicket(
  plan: SalePlan,
  items: readonly PerkedItem[],
  perks: readonly (readonly OrderedPerk[])[],
): Refusal | null {
  for (const [index, { ticketTypeId, ticketCount }] of items.entries()) {
    for (const { barPerkId, quantity: requested } of perks[index]!) {
      const { maxPerTicket } = perkOf(plan, ticketTypeId, barPerkId)!;
      const limit = maxPerTicket === null ? null : maxPerTicket * ticketCount;
      if (limit !== null && requested > limit)
        return refuse('BAR_PERK_LIMIT_EXCEEDED', { limit, requested, barPerkId });
    }
  }
  return null;
}

function checkStock(
  plan: SalePlan,
  items: readonly PerkedItem[],
  perks: readonly (readonly OrderedPerk[])[],
  perksSold: ReadonlyMap<string, number>,
): Refusal | null {
  const wanted = new Map<string, number>();
  for (const [index, { ticketTypeId }] of items.entries()) {
    for (const { barPerkId, quantity } of perks[index]!) {
      const key = perkKey(ticketTypeId, barPerkId);
      addToTally(wanted, key, quantity);
      const available = perkLeft(ticketTypeId, perkOf(plan, ticketTypeId, barPerkId)!, perksSold);
      if (wanted.get(key)! > available) return refuse('BAR_PERK_SOLD_OUT', { barPerkId, available });
    }
  }
  return null;
}

/** What the tally of sold perks counts by. */
export function perkKey(ticketTypeId: string, barPerkId: string): string {
  return `${ticketTypeId}\n${barPerkId}`;
}

/** How many of a perk can still be bought; infinite without a cap. */
export function perkLeft(
  ticketTypeId: string,
  { id, stock }: BarPerkDefinition,
  perksSold: ReadonlyMap<string, number>,
): number {
  if (stock === null) return Number.POSITIVE_INFINITY;
  return Math.max(0, stock - (perksSold.get(perkKey(ticketTypeId, id)) ?? 0));
}

function perkOf(plan: SalePlan, ticketTypeId: string, barPerkId: string): BarPerkDefinition | undefined {
  return plan.ticketTypeById.get(ticketTypeId)?.definition.barPerks.find((perk) => perk.id === barPerkId);
}
