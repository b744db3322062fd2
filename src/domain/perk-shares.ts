/**
 * Which perks go with which ticket of an order: an item's perks are divided among its tickets at the purchase, for
 * good.
 *
 * 1. The remainder of an equal division goes to the first tickets of the item, one each.
 */
import type { OrderedPerk, OrderItem } from './fact.ts';

/** Where a ticket stands in the purchase of its order. */
interface BoughtTicket {
  readonly itemIndex: number;
  readonly offset: number;
  /** It is of another type by now. */
  readonly withoutPerks?: true;
}

const NO_PERKS: readonly OrderedPerk[] = [];

/** A ticket's share of the perks that were bought with its item. */
export function perksOfTicket(
  { items }: { readonly items: readonly Pick<OrderItem, 'ticketCount' | 'barPerks'>[] },
  { itemIndex, offset, withoutPerks }: BoughtTicket,
): readonly OrderedPerk[] {
  const { ticketCount, barPerks } = items[itemIndex]!;
  if (barPerks.length === 0 || withoutPerks === true) return NO_PERKS;
  return barPerks.flatMap((perk) => {
    const share = Math.floor(perk.quantity / ticketCount) + (offset < perk.quantity % ticketCount ? 1 : 0);
    return share === 0 ? [] : [{ ...perk, quantity: share }];
  });
}

/** The shares of several tickets added up. */
export function addUpPerks(shares: Iterable<readonly OrderedPerk[]>): readonly OrderedPerk[] {
  const sums = new Map<string, OrderedPerk>();
  for (const share of shares) {
    for (const perk of share) {
      const key = `${perk.barPerkId}\n${perk.unitPriceCents}`;
      sums.set(key, { ...perk, quantity: perk.quantity + (sums.get(key)?.quantity ?? 0) });
    }
  }
  return [...sums.values()];
}
