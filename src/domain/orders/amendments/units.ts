/**
 * The units of an order, which an amendment changes one by one, and what they cost.
 *
 * 1. A unit has one price: it is a ticket, or the tickets of a group. It is given back, kept or changed as a whole.
 * 2. Units that were priced together keep their discount in equal parts: k of n units keep k/n of it, rounded half up,
 *    after the discounts of the item's code and the order's promo code are added up. The credit for units that go is
 *    the cost of all units before less the cost of those that stay, so that the credits of parts add up to the whole.
 * 3. Perks go with their tickets, in the shares of `perk-shares.ts`.
 */
import { isSameHoldLine, lineKey } from '../../inventory/hold-line.ts';
import { shareOf, sumOf } from '../../money.ts';
import { addUpPerks, perksOfTicket } from '../../perk-shares.ts';
import { agreedOf, type Order, type TicketOrigin } from '../order.ts';
import { originsOf } from './tickets.ts';
import type { HoldLine, OrderItem, PricedItem } from '../../fact.ts';

/** A valid ticket of an order. */
export interface TicketSlot {
  readonly ticketId: string;
  readonly origin: TicketOrigin;
  readonly seatId: string | null;
}

/** A unit of an order. */
export interface OrderUnit extends Pick<
  OrderItem,
  'performanceId' | 'ticketTypeId' | 'sellingStageId' | 'unitPriceCents'
> {
  readonly slots: readonly TicketSlot[];
  readonly priced: PricedItem;
  readonly discountCode: string | null;
  readonly isNamed: boolean;
}

/** The units of an order, in the order of its tickets. */
export function unitsOf(order: Order): readonly OrderUnit[] {
  const { items } = agreedOf(order);
  const origins = originsOf(order);
  const units: OrderUnit[] = [];
  let place = 0;
  for (const [index, item] of items.entries()) {
    const { quantity, ticketCount, discountCents, promoDiscountCents, discountCode } = item;
    const { performanceId, ticketTypeId, sellingStageId, unitPriceCents, seatIds } = item;
    const priced = item.priced ?? { number: index, quantity, discountCents, promoDiscountCents };
    const isNamed = item.isNamed === true || item.attendees !== null;
    const size = ticketCount / quantity;
    for (let offset = 0; offset < ticketCount;) {
      const slots: TicketSlot[] = [];
      for (const end = offset + size; offset < end; offset += 1, place += 1) {
        slots.push({ ticketId: order.ticketIds[place]!, origin: origins[place]!, seatId: seatIds[offset] ?? null });
      }
      units.push({ performanceId, ticketTypeId, sellingStageId, unitPriceCents, slots, priced, discountCode, isNamed });
    }
  }
  return units;
}

/** The tickets of units. */
export function slotsOf(units: readonly OrderUnit[]): readonly TicketSlot[] {
  const all: TicketSlot[] = [];
  for (const { slots } of units) for (const slot of slots) all.push(slot);
  return all;
}

/** What so many units that were priced together cost (rule 2). */
export function costOf(
  { priced, unitPriceCents }: Pick<OrderUnit, 'priced' | 'unitPriceCents'>,
  units: number,
): number {
  const { quantity, discountCents, promoDiscountCents } = priced;
  return units * unitPriceCents - shareOf(discountCents + promoDiscountCents, units, quantity);
}

/** What is credited for a unit. */
export interface UnitCredit extends Pick<OrderItem, 'discountCents' | 'promoDiscountCents'> {
  /** Less what was not charged for it. */
  readonly creditCents: number;
  /** What of the order's goodwill goes with it. */
  readonly goodwillCents: number;
}

/** What is credited for each unit that goes, where they go one after another (rule 2). */
export function creditsOf(
  units: readonly OrderUnit[],
  goes: (unit: OrderUnit) => boolean,
): ReadonlyMap<OrderUnit, UnitCredit> {
  const left = countByNumber(units);
  const credits = new Map<OrderUnit, UnitCredit>();
  for (const unit of units) {
    if (!goes(unit)) continue;
    const { number } = unit.priced;
    const count = left.get(number)!;
    const cents = costOf(unit, count) - costOf(unit, count - 1);
    const goodwillCents = Math.min(cents, goodwillOf(unit));
    const shares = discountsOf(unit.priced, count - 1, count);
    credits.set(unit, { creditCents: cents - goodwillCents, goodwillCents, ...shares });
    left.set(number, count - 1);
  }
  return credits;
}

/** What was not charged for a unit. */
export function goodwillOf({ slots }: OrderUnit): number {
  return sumOf(slots, ({ origin }) => origin.goodwillCents ?? 0);
}

function countByNumber(units: readonly OrderUnit[]): Map<number, number> {
  const counts = new Map<number, number>();
  let begin = 0;
  for (let end = 1; end <= units.length; end += 1) {
    const { number } = units[begin]!.priced;
    if (units[end]?.priced.number === number) continue;
    counts.set(number, (counts.get(number) ?? 0) + end - begin);
    begin = end;
  }
  return counts;
}

/** What the perks of units cost (rule 3). */
export function perksCentsOf({ purchase }: Order, units: readonly OrderUnit[]): number {
  return sumOf(units, ({ slots }) =>
    sumOf(slots, ({ origin }) =>
      sumOf(perksOfTicket(purchase, origin), ({ quantity, unitPriceCents }) => quantity * unitPriceCents),
    ),
  );
}

/** Units by the items that they make, each where the first of its units stands. */
export function groupsOf(units: readonly OrderUnit[]): readonly (readonly OrderUnit[])[] {
  const groups = new Map<string, OrderUnit[]>();
  let group: OrderUnit[] = [];
  for (const unit of units) {
    // Nearly always it is of the same item as the unit before, so that no keys are made for ten thousand units.
    if (group.length === 0 || !isOfSameItem(group[0]!, unit)) {
      const key = `${unit.priced.number}\n${lineKey(unit)}`;
      group = groups.get(key) ?? [];
      groups.set(key, group);
    }
    group.push(unit);
  }
  return [...groups.values()];
}

function isOfSameItem(one: OrderUnit, other: OrderUnit): boolean {
  return one.priced.number === other.priced.number && isSameHoldLine(one, other);
}

/** Units as the items of an order. */
export function itemsOf({ purchase }: Order, groups: readonly (readonly OrderUnit[])[]): readonly OrderItem[] {
  const before = new Map<number, number>();
  return groups.map((group): OrderItem => {
    const { priced, performanceId, ticketTypeId, sellingStageId, unitPriceCents, discountCode } = group[0]!;
    const from = before.get(priced.number) ?? 0;
    const to = from + group.length;
    before.set(priced.number, to);
    const slots = slotsOf(group);
    return {
      performanceId,
      ticketTypeId,
      sellingStageId,
      quantity: group.length,
      ticketCount: slots.length,
      unitPriceCents,
      seatIds: slots.map(({ seatId }) => seatId).filter((seatId) => seatId !== null),
      attendees: null,
      ...(group.some(({ isNamed }) => isNamed) && { isNamed: true }),
      discountCode,
      ...discountsOf(priced, from, to),
      barPerks: addUpPerks(slots.map(({ origin }) => perksOfTicket(purchase, origin))),
      priced,
    };
  });
}

/** What the codes take off the units of an item from one number up to, not including, another. */
function discountsOf({ quantity, discountCents, promoDiscountCents }: PricedItem, from: number, to: number) {
  const shareIn = (cents: number): number => shareOf(cents, to, quantity) - shareOf(cents, from, quantity);
  const both = shareIn(discountCents + promoDiscountCents);
  const own = Math.min(both, shareIn(discountCents));
  return { discountCents: own, promoDiscountCents: both - own };
}

/** The lines of a hold that has the items, in the order of the lines that it had. */
export function linesOf(items: readonly OrderItem[], before: readonly HoldLine[]): readonly HoldLine[] {
  const lines = new Map<string, HoldLine>(
    before.map((line) => [lineKey(line), { ...line, quantity: 0, ticketCount: 0, seatIds: [] }]),
  );
  for (const item of items) {
    const { performanceId, ticketTypeId, sellingStageId, quantity, ticketCount, unitPriceCents, seatIds } = item;
    const key = lineKey(item);
    const known = lines.get(key);
    const at = { performanceId, ticketTypeId, sellingStageId };
    lines.set(key, {
      ...at,
      quantity: (known?.quantity ?? 0) + quantity,
      ticketCount: (known?.ticketCount ?? 0) + ticketCount,
      unitPriceCents: known?.unitPriceCents ?? unitPriceCents,
      seatIds: [...(known?.seatIds ?? []), ...seatIds],
    });
  }
  return [...lines.values()].filter(({ ticketCount }) => ticketCount > 0);
}
