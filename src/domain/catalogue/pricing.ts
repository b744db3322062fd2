/**
 * What an order costs: units at their prices, less discounts, plus bar perks.
 *
 * Owns the arithmetic only; which codes and perks are good was judged before. Called by `checkout.ts`.
 *
 * 1. A price is for one unit: a group ticket's covers all its tickets.
 * 2. An item's own code takes off first, then the order's promo code from what remains. Perks are never discounted.
 * 3. A percentage is rounded half up to whole cents for each item. An amount is for the item where the code is the item's, and
 *    for the order where it is the order's; then it is used up item by item, in their order.
 * 4. No item falls below zero.
 */
import { percentOf, sumOf } from '../money.ts';
import { isFor, type FoundCodes } from './promo-codes.ts';
import type { OrderedPerk, OrderItem } from '../fact.ts';
import type { PromoCodeDefinition } from './definition.ts';
import type { PurchaseItem } from '../orders/purchase.ts';

/** Prices each item, with the seats and perks that were found for it. */
export function priceItems(
  items: readonly PurchaseItem[],
  seats: readonly (readonly string[])[],
  perks: readonly (readonly OrderedPerk[])[],
  codes: FoundCodes,
): readonly OrderItem[] {
  const promo = codes.ofOrder;
  let promoAmountLeft = promo?.amountOff ?? 0;
  return items.map((item, index) => {
    const { performanceId, ticketTypeId, sellingStageId, quantity, ticketCount, unitPriceCents, attendees } = item;
    const listCents = quantity * unitPriceCents;
    const own = codes.ofItems[index]!;
    const discountCents = own === null ? 0 : takenOff(own, listCents, own.amountOff ?? 0);
    const promoApplies = promo !== null && isFor(promo, ticketTypeId);
    const promoDiscountCents = promoApplies ? takenOff(promo, listCents - discountCents, promoAmountLeft) : 0;
    promoAmountLeft -= promo?.amountOff === null ? 0 : promoDiscountCents;
    return {
      performanceId,
      ticketTypeId,
      sellingStageId,
      quantity,
      ticketCount,
      unitPriceCents,
      seatIds: seats[index]!,
      attendees,
      discountCode: own?.code ?? null,
      discountCents,
      promoDiscountCents,
      barPerks: perks[index]!,
    };
  });
}

/** The sum of an order over its items, in cents. */
export function totalOf(items: readonly OrderItem[]): number {
  return sumOf(items, (item) => {
    const ticketsCents = item.quantity * item.unitPriceCents - item.discountCents - item.promoDiscountCents;
    return ticketsCents + sumOf(item.barPerks, (perk) => perk.quantity * perk.unitPriceCents);
  });
}

/** What a code takes off an amount; `amountLeft` is what an amount code still has to give. */
function takenOff(code: PromoCodeDefinition, cents: number, amountLeft: number): number {
  return Math.min(cents, code.percentOff === null ? amountLeft : percentOf(cents, code.percentOff));
}
