/**
 * What an order costs: units at their prices, less what discount codes take off, plus bar perks.
 *
 * Owns the look-up of codes and perks, the tallies of their uses and sales, and the arithmetic. When a purchase is
 * checked belongs to `orders/checkout.ts`, when a tally changes to `orders/evolve.ts`.
 *
 * 1. A price is for one unit: a group ticket's covers all its tickets.
 * 2. An item's own code takes off first, then the order's promo code from what remains. Perks are never discounted.
 * 3. A percentage is rounded half up to whole cents for each item. An amount is for the item where the code is the
 *    item's, and for the order where it is the order's; then it is used up item by item, in their order.
 * 4. No item falls below zero.
 * 5. Codes are compared without regard to case and to spaces around them. An order uses a code once, on however many of
 *    its items. A code with `max_uses` is never used more often.
 * 6. A perk belongs to one ticket type, which its id is unique in; its stock is for that type, over all performances.
 *    The sold units of a perk are those of PENDING, PARTIALLY_PAID and CONFIRMED orders, never more than its stock at
 *    the time.
 */
import type { BarPerkDefinition, PromoCodeDefinition } from '../catalogue/definition.ts';
import type { SalePlan } from '../catalogue/sale-plan.ts';
import type { BarPerkRequest } from '../command.ts';
import type { OrderedPerk, OrderItem } from '../fact.ts';
import { addToTally, percentOf, sumOf } from '../money.ts';
import type { PurchaseItem } from './purchase.ts';
import { refuse, type Refusal } from '../refusal.ts';

/** An item, as far as its discount is concerned. */
interface DiscountedItem {
  readonly ticketTypeId: string;
  readonly discountCode: string | null;
}

/** The codes of a purchase, found and checked. */
interface FoundCodes {
  /** By item, in the order of the items. */
  readonly ofItems: readonly (PromoCodeDefinition | null)[];
  readonly ofOrder: PromoCodeDefinition | null;
}

/** The codes of an order. */
interface UsedCodes {
  readonly items: readonly { readonly discountCode: string | null }[];
  readonly promoCode: string | null;
}

/**
 * Finds the codes of a purchase. Refuses a code that is unknown, outside its time or not for these tickets with
 * PROMO_CODE_INVALID, then a code without a use left with PROMO_CODE_EXHAUSTED.
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
function isFor(code: PromoCodeDefinition, ticketTypeId: string): boolean {
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

/** The key under which a code is found and its uses are counted (rule 5); orders keep a promo code as it was typed. */
function codeKey(code: string): string {
  return code.trim().toLowerCase();
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
  const code = codesOf(plan).get(codeKey(text));
  if (code === undefined) return null;
  const { startsAt, endsAt } = code;
  return (startsAt === null || startsAt <= now) && (endsAt === null || now < endsAt) ? code : null;
}

/** How many different codes of these the event does not have at all, whatever their time and tickets. */
export function countUnknownCodes(plan: SalePlan, codes: readonly string[]): number {
  const keys = new Set(codes.map(codeKey));
  for (const key of keys) if (codesOf(plan).has(key)) keys.delete(key);
  return keys.size;
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

/** An item, as far as its perks are concerned. */
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

/** The former discount of units that get another price. */
interface KnownDiscount {
  readonly discountCode: string | null;
  readonly discountCents: number;
  readonly promoCode: string | null;
  readonly promoDiscountCents: number;
}

/** Whether units have the order's code: it must be for their type and for every type that they had before. */
export function hasPromo(
  plan: SalePlan,
  promoCode: string | null,
  { ticketTypeId, priced }: Pick<OrderItem, 'ticketTypeId' | 'priced'>,
): boolean {
  if (promoCode === null || priced?.withoutPromo === true) return false;
  const code = codesOf(plan).get(codeKey(promoCode));
  return code === undefined || isFor(code, ticketTypeId);
}

/**
 * The discount of the units' former codes on their new price. A code must be for the type; its time and uses do not
 * matter. Of an amount code the units keep their share.
 */
export function discountAnew(
  plan: SalePlan,
  ticketTypeId: string,
  listCents: number,
  { discountCode, discountCents, promoCode, promoDiscountCents }: KnownDiscount,
): Pick<OrderItem, 'discountCode' | 'discountCents' | 'promoDiscountCents'> {
  const codeFor = (text: string | null): PromoCodeDefinition | null => {
    const code = text === null ? undefined : codesOf(plan).get(codeKey(text));
    return code !== undefined && isFor(code, ticketTypeId) ? code : null;
  };
  const own = codeFor(discountCode);
  const promo = codeFor(promoCode);
  const ownCents = own === null ? 0 : takenOff(own, listCents, discountCents);
  const promoCents = promo === null ? 0 : takenOff(promo, listCents - ownCents, promoDiscountCents);
  return { discountCode: own?.code ?? null, discountCents: ownCents, promoDiscountCents: promoCents };
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
