/**
 * Discount codes: which one is good for what, and how often each was used.
 *
 * Owns the look-up of codes and the tally of their uses; what a code takes off belongs to `pricing.ts`. `checkout.ts` judges;
 * `orders.ts` calls `countUses` when an order begins, ends or comes back.
 *
 * 1. Codes are compared without regard to case, as the catalogue compares them.
 * 2. An order uses a code once, on however many of its items. A code with `max_uses` is never used more often.
 */
import { addToTally } from '../money.ts';
import { refuse, type Refusal } from '../refusal.ts';
import type { PromoCodeDefinition } from './definition.ts';
import type { SalePlan } from './sale-plan.ts';

/** What of an item this file judges. */
interface DiscountedItem {
  readonly ticketTypeId: string;
  readonly discountCode: string | null;
}

/** The codes of a purchase, found and judged. */
export interface FoundCodes {
  /** By item, in the order of the items. */
  readonly ofItems: readonly (PromoCodeDefinition | null)[];
  readonly ofOrder: PromoCodeDefinition | null;
}

/** The codes of an order, as `orders.ts` keeps them. */
export interface UsedCodes {
  readonly items: readonly { readonly discountCode: string | null }[];
  readonly promoCode: string | null;
}

/**
 * Finds the codes of a purchase. Refuses with PROMO_CODE_INVALID what is unknown, outside its time or not for these tickets,
 * and then with PROMO_CODE_EXHAUSTED what has no use left.
 */
export function findCodes(
  plan: SalePlan,
  items: readonly DiscountedItem[],
  promoCode: string | null,
  usesByCode: ReadonlyMap<string, number>,
  now: number,
): FoundCodes | Refusal {
  const ofItems: (PromoCodeDefinition | null)[] = [];
  for (const { discountCode, ticketTypeId } of items) {
    const code = discountCode === null ? null : findCode(plan, discountCode, now);
    if (discountCode !== null && (code === null || !isFor(code, ticketTypeId))) return invalid(discountCode);
    ofItems.push(code);
  }
  const ofOrder = promoCode === null ? null : findCode(plan, promoCode, now);
  if (promoCode !== null && (ofOrder === null || !items.some((item) => isFor(ofOrder, item.ticketTypeId)))) {
    return invalid(promoCode);
  }
  for (const code of [...ofItems, ofOrder]) {
    if (code !== null && !hasUseLeft(code, usesByCode)) {
      return refuse('PROMO_CODE_EXHAUSTED', { promoCode: code.code });
    }
  }
  return { ofItems, ofOrder };
}

/** Whether the code may take something off tickets of a type. */
export function isFor(code: PromoCodeDefinition, ticketTypeId: string): boolean {
  return code.ticketTypeIds === null || code.ticketTypeIds.includes(ticketTypeId);
}

/** Whether every code of an order that ended could be used once more; a code that is gone has no limit to break. */
export function canUseAgain(plan: SalePlan, used: UsedCodes, usesByCode: ReadonlyMap<string, number>): boolean {
  return distinctCodes(used).every((key) => {
    const code = codesOf(plan).get(key);
    return code === undefined || hasUseLeft(code, usesByCode);
  });
}

/** Counts one use of each code of an order, or with -1 returns them. */
export function countUses(usesByCode: Map<string, number>, used: UsedCodes, sign: 1 | -1): void {
  for (const key of distinctCodes(used)) addToTally(usesByCode, key, sign);
}

/** The key under which uses of a code are counted (1). */
export function codeKey(code: string): string {
  return code.toLowerCase();
}

function distinctCodes({ items, promoCode }: UsedCodes): readonly string[] {
  const keys = new Set<string>();
  for (const { discountCode } of items) if (discountCode !== null) keys.add(codeKey(discountCode));
  if (promoCode !== null) keys.add(codeKey(promoCode));
  return [...keys];
}

function hasUseLeft({ code, maxUses }: PromoCodeDefinition, usesByCode: ReadonlyMap<string, number>): boolean {
  return maxUses === null || (usesByCode.get(codeKey(code)) ?? 0) < maxUses;
}

function findCode(plan: SalePlan, text: string, now: number): PromoCodeDefinition | null {
  const code = codesOf(plan).get(keyOfTyped(text));
  if (code === undefined) return null;
  const { startsAt, endsAt } = code;
  return (startsAt === null || startsAt <= now) && (endsAt === null || now < endsAt) ? code : null;
}

/** How many different codes of these the event does not have at all, whatever their time and tickets. */
export function countUnknownCodes(plan: SalePlan, codes: readonly string[]): number {
  const keys = new Set(codes.map(keyOfTyped));
  for (const key of keys) if (codesOf(plan).has(key)) keys.delete(key);
  return keys.size;
}

function keyOfTyped(text: string): string {
  return codeKey(text.trim());
}

function invalid(promoCode: string): Refusal {
  return refuse('PROMO_CODE_INVALID', { promoCode });
}

const codesOfPlan = new WeakMap<SalePlan, ReadonlyMap<string, PromoCodeDefinition>>();

/** The codes of a plan by key; a plan never changes, so they are laid out once. */
function codesOf(plan: SalePlan): ReadonlyMap<string, PromoCodeDefinition> {
  const known = codesOfPlan.get(plan);
  if (known !== undefined) return known;
  const codes = new Map(plan.definition.promoCodes.map((code) => [codeKey(code.code), code]));
  codesOfPlan.set(plan, codes);
  return codes;
}
