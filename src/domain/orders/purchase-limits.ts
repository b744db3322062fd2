/**
 * How much one buyer may have: the limits of a cart, and one per e-mail address.
 *
 * 1. The tally of an address is the number of tickets on its live orders.
 * 2. An order that late money would bring back must fit into the limit of its address like a new one.
 */
import { emailKey } from '../email-key.ts';
import { checkCartLimits } from '../holds/cart-limits.ts';
import { invariant } from '../invariant.ts';
import { sumOf } from '../money.ts';
import { refuse, type Refusal } from '../refusal.ts';
import type { HashedTally } from '../collections/hash-tables.ts';
import type { FactData } from '../fact.ts';
import type { Sealing } from '../personal.ts';
import type { LimitedItem } from '../inventory/assignment.ts';
import type { SalePlan } from '../catalogue/sale-plan.ts';

/**
 * Checks a purchase against the event's limits. Refuses in order: as `checkCartLimits`, then
 * MAX_TICKETS_PER_EMAIL_EXCEEDED.
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
  return already + requested > limit ? refuse('MAX_TICKETS_PER_EMAIL_EXCEEDED', { limit, requested }) : null;
}

/** Counts the tickets of an order for its buyer (rule 1), or with -1 no longer. */
export function countTickets(
  ticketsByBuyer: HashedTally,
  buyerKey: string,
  items: readonly LimitedItem[],
  sign: 1 | -1,
): void {
  const tickets = sumOf(items, (item) => item.ticketCount);
  ticketsByBuyer.add(buyerKey, sign * tickets);
}

/**
 * What the orders of one buyer have in common: the keyed hash of the address, or the address itself where it is open.
 */
export function buyerKeyOf({ personal, customer }: Pick<FactData['OrderPlaced'], 'personal' | 'customer'>): string {
  if (personal !== undefined) return personal.addressHash;
  invariant(customer !== null, 'a customer is sealed or open');
  return emailKey(customer.email);
}

/**
 * The keys under which tickets of an order's buyer may count. For an order with a sealed address, tickets of older
 * orders with an open address are not found: only the hash is known.
 */
export function buyerKeysOf(
  purchase: Pick<FactData['OrderPlaced'], 'personal' | 'customer'>,
  sealing: Pick<Sealing, 'addressHash'> | null,
): readonly string[] {
  const key = buyerKeyOf(purchase);
  const { customer } = purchase;
  return customer === null || sealing === null ? [key] : [key, sealing.addressHash(customer.email)];
}
