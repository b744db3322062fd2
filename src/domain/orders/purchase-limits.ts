/**
 * How much one buyer may have: limits per ticket type, per order and per e-mail address.
 *
 * 1. The tally of an address is the number of tickets on its live orders.
 * 2. An order that late money would bring back must fit into the limit of its address like a new one.
 * 3. Two addresses are one buyer's when they are equal after NFKC, full case folding and removal of invisible characters, trimmed,
 *    without a `+tag`. An address itself is kept as it was typed.
 */
import { invariant } from '../invariant.ts';
import { sumOf } from '../money.ts';
import { refuse, type Refusal } from '../refusal.ts';
import type { HashedTally } from '../collections/hash-tables.ts';
import type { FactData } from '../fact.ts';
import type { Sealing } from '../personal.ts';
import type { SalePlan } from '../catalogue/sale-plan.ts';

/** Bounds an order where the event has no limit of its own: each ticket is an id in memory and in the journal. */
export const ORDER_TICKETS_MAX = 10_000;

/** What the limits need of an item. */
export interface LimitedItem {
  readonly performanceId: string;
  readonly ticketTypeId: string;
  readonly quantity: number;
  readonly ticketCount: number;
}

/**
 * Checks a purchase against the event's limits. Refuses in order: as `checkCartLimits`, then MAX_TICKETS_PER_EMAIL_EXCEEDED.
 */
export function checkLimits(
  plan: SalePlan,
  items: readonly LimitedItem[],
  buyerKeys: readonly string[],
  ticketsByBuyer: Pick<HashedTally, 'get'>,
): Refusal | null {
  const overCart = checkCartLimits(plan, items);
  if (overCart !== null) return overCart;
  return checkEmailLimit(plan, items, buyerKeys, ticketsByBuyer);
}

/** Checks the limit of an address, over its live orders under all its keys: MAX_TICKETS_PER_EMAIL_EXCEEDED. */
export function checkEmailLimit(
  { definition }: SalePlan,
  items: readonly Pick<LimitedItem, 'ticketCount'>[],
  buyerKeys: readonly string[],
  ticketsByBuyer: Pick<HashedTally, 'get'>,
): Refusal | null {
  const { maxTicketsPerEmail: limit } = definition;
  if (limit === null) return null;
  const requested = sumOf(items, (item) => item.ticketCount);
  const already = sumOf(buyerKeys, (key) => ticketsByBuyer.get(key) ?? 0);
  return already + requested > limit ? refuse('MAX_TICKETS_PER_EMAIL_EXCEEDED', { limit, requested, already }) : null;
}

/**
 * Checks the limits of a cart, whoever buys it. Refuses in order: MAX_PER_ORDER_EXCEEDED (units of a type on a
 * performance, over all items and stages), MAX_TICKETS_PER_ORDER_EXCEEDED. Hot: every hold is checked, so nothing is allocated.
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

/** Counts the tickets of an order for its buyer (1), or with -1 no longer. */
export function countTickets(
  ticketsByBuyer: HashedTally,
  buyerKey: string,
  items: readonly LimitedItem[],
  sign: 1 | -1,
): void {
  const tickets = sumOf(items, (item) => item.ticketCount);
  ticketsByBuyer.add(buyerKey, sign * tickets);
}

/** What the orders of one buyer have in common: the keyed hash of the address, or the address itself where it is open. */
export function buyerKeyOf({ personal, customer }: Pick<FactData['OrderPlaced'], 'personal' | 'customer'>): string {
  if (personal !== undefined) return personal.addressHash;
  invariant(customer !== null, 'a customer is sealed or open');
  return emailKey(customer.email);
}

/**
 * The keys under which tickets of an order's buyer may count. Of an order with a sealed address, those of older orders with an open
 * one are not found: nothing but its hash is known.
 */
export function buyerKeysOf(
  purchase: Pick<FactData['OrderPlaced'], 'personal' | 'customer'>,
  sealing: Pick<Sealing, 'addressHash'> | null,
): readonly string[] {
  const key = buyerKeyOf(purchase);
  const { customer } = purchase;
  return customer === null || sealing === null ? [key] : [key, sealing.addressHash(customer.email)];
}

// ── e-mail addresses ─────────────────────────────────────────────────────────────────────────────────────────────────

/** Characters that are not seen: controls, format characters, what Unicode ignores by default, and the blank Braille pattern. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\u2800]/gu;

const PLAIN = /^[\x21-\x7e]*$/;

/** What makes two addresses the same buyer's (3). */
export function emailKey(email: string): string {
  const trimmed = email.trim();
  const folded = PLAIN.test(trimmed) ? trimmed.toLowerCase() : foldAll(trimmed);
  const domainAt = folded.lastIndexOf('@');
  const tagAt = folded.indexOf('+');
  const isTagged = tagAt > 0 && tagAt < domainAt;
  return isTagged ? folded.slice(0, tagAt) + folded.slice(domainAt) : folded;
}

/** NFKC once more after folding, because a folded letter may compose with what stands beside it. */
function foldAll(text: string): string {
  const visible = text.replace(INVISIBLE, '').normalize('NFKC').replace(INVISIBLE, '');
  return Array.from(visible, foldCase).join('').normalize('NFKC').trim();
}

/**
 * Full case folding of one character, which JavaScript does not have: lower case of upper case of lower case is the same for all
 * but the dotless i, a letter of its own. One character at a time, because a sigma's lower case depends on its neighbours.
 */
function foldCase(character: string): string {
  return character === 'ı' ? character : character.toLowerCase().toUpperCase().toLowerCase();
}
