/**
 * The refunds of an event: what they come to by status, what is due, and which are to be tried, or asked about, and
 * when.
 *
 * An index that follows from the orders. What a try does is decided in `refund-tries.ts`.
 */
import { refundTransitions, type RefundStatus } from '#machines/refund.ts';
import { LazyHeap } from '../collections/lazy-heap.ts';
import { countLeading } from '../collections/sorted.ts';
import { sumOf } from '../money.ts';
import {
  datesOfRefunds,
  isCash,
  refundsDue,
  refundStatusOf,
  reservedCents,
  type Order,
  type Payment,
} from './order.ts';
import type { CurrencyAmount, RefundSum, RefundSums, RefundView } from '../view.ts';

/** The part of a payment that is neither given back nor reserved, as far as refunds name their payment. */
export function roomOf({ refunds }: Order, { id, amountCents }: Payment): number {
  const gone = sumOf(refunds, (refund) =>
    refund.paymentId === id && refund.status !== 'FAILED' ? refund.amountCents : 0,
  );
  return Math.max(0, amountCents - gone);
}

/** The most that providers can give back in a currency: nothing of money that was paid in cash. */
export function roomAtProvider(order: Order, currency: string): number {
  if (order.purchase.paymentProvider !== 'CASH') return Number.POSITIVE_INFINITY;
  return sumOf(order.payments, (payment) =>
    payment.status === 'PAID' && payment.currency === currency && !isCash(order, payment) ? roomOf(order, payment) : 0,
  );
}

/** What is due, not reserved, and can be requested, by currency: the amount of a request that names none. */
export function refundsToAsk(order: Order, due = refundsDue(order)): readonly CurrencyAmount[] {
  return due
    .map(({ currency, amountCents }) => ({
      currency,
      amountCents: Math.min(amountCents - reservedCents(order, currency), roomAtProvider(order, currency)),
    }))
    .filter(({ amountCents }) => amountCents > 0);
}

export const REFUND_STATUSES = refundTransitions.statuses;
/** How many refunds there are of each status. */
export type RefundCounts = Readonly<Record<RefundStatus, number>>;
const KINDS = ['DUE', 'TO_ASK', ...REFUND_STATUSES] as const;

export function sumOfCounts(all: readonly RefundCounts[]): RefundCounts {
  const summed = REFUND_STATUSES.map((status) => [status, sumOf(all, (counts) => counts[status])]);
  return Object.fromEntries(summed) as RefundCounts;
}

/** By currency. */
type Sums = Map<string, RefundSum>;

function add(sums: Sums, { currency, amountCents }: CurrencyAmount, sign: 1 | -1): void {
  const known = sums.get(currency) ?? { amountCents: 0, count: 0 };
  const sum = { currency, amountCents: known.amountCents + sign * amountCents, count: known.count + sign };
  if (sum.count === 0) sums.delete(currency);
  else sums.set(currency, sum);
}

/** The index of the first number that is not below another. */
function firstAtLeast(ascending: readonly number[], least: number): number {
  return countLeading(ascending, (number) => number < least);
}

interface OpenRefund {
  readonly orderNumber: number;
  readonly at: number;
}

export class OpenRefunds {
  /** PENDING ones by id, in the order of their last change. */
  readonly #open = new Map<string, OpenRefund>();
  readonly #due = new LazyHeap<string>();
  readonly #toAskOn = new Map<string, Sums>();
  /** The numbers of the orders with refunds, ascending. */
  readonly #orders: number[] = [];
  readonly #sums = Object.fromEntries(KINDS.map((kind) => [kind, new Map()])) as Record<(typeof KINDS)[number], Sums>;

  /** Adds what is due to an order, or with -1 takes out what was before a change. */
  noteDue(order: Order, sign: 1 | -1): void {
    const all = refundsDue(order);
    for (const due of all) add(this.#sums.DUE, due, sign);
    for (const due of refundsToAsk(order, all)) {
      add(this.#sums.TO_ASK, due, sign);
      for (const performanceId of datesOfRefunds(order)) {
        let sums = this.#toAskOn.get(performanceId);
        if (sums === undefined) this.#toAskOn.set(performanceId, (sums = new Map()));
        add(sums, due, sign);
      }
    }
  }

  /** What is to be asked for, of orders with a ticket on a date where one is named. */
  toAsk(performanceId: string | null): readonly RefundSum[] {
    const sums = performanceId === null ? this.#sums.TO_ASK : this.#toAskOn.get(performanceId);
    return [...(sums?.values() ?? [])];
  }

  /** The numbers of up to `limit` orders with refunds, from number `from` on. */
  ordersFrom(from: number, limit: number): readonly number[] {
    const begin = firstAtLeast(this.#orders, from);
    return this.#orders.slice(begin, begin + limit);
  }

  /** Adds a refund of an order, or with -1 takes out what it was before a change. */
  note({ number: orderNumber, purchase }: Order, refund: RefundView | undefined, sign: 1 | -1): void {
    if (refund === undefined) return;
    const status = refundStatusOf(refund);
    add(this.#sums[status], { currency: purchase.currency, ...refund }, sign);
    const place = firstAtLeast(this.#orders, orderNumber);
    if (this.#orders[place] !== orderNumber) this.#orders.splice(place, 0, orderNumber);
    if (status !== 'PENDING') return;
    const { id, nextTryAt: at = 0 } = refund;
    if (sign === -1) return void this.#open.delete(id);
    this.#open.set(id, { orderNumber, at });
    this.#due.add(id, at);
    this.#due.clean(this.#stands);
  }

  readonly #stands = (id: string, at: number): boolean => this.#open.get(id)?.at === at;

  /** When the next one is to be tried; infinite where none is. */
  get nextAt(): number {
    return this.#due.first(this.#stands)?.at ?? Number.POSITIVE_INFINITY;
  }

  /** Up to `limit` that are to be tried by now, with the number of their order. */
  dueBy(now: number, limit: number): readonly { readonly refundId: string; readonly orderNumber: number }[] {
    const due = [];
    if (this.nextAt > now) return [];
    for (const [refundId, { orderNumber, at }] of this.#open) {
      if (due.length === limit) break;
      if (at <= now) due.push({ refundId, orderNumber });
    }
    return due;
  }

  get sums(): RefundSums {
    return Object.fromEntries(KINDS.map((kind) => [kind, [...this.#sums[kind].values()]])) as unknown as RefundSums;
  }

  get isEmpty(): boolean {
    return this.#orders.length === 0;
  }

  /** How many refunds there are of each status. */
  get counts(): RefundCounts {
    const counted = REFUND_STATUSES.map((status) => [
      status,
      sumOf([...this.#sums[status].values()], ({ count }) => count),
    ]);
    return Object.fromEntries(counted) as RefundCounts;
  }

  /** What is being given back in a currency. */
  pendingCents(currency: string): number {
    const { PENDING, NEEDS_OPERATOR } = this.#sums;
    return sumOf([PENDING, NEEDS_OPERATOR], (sums) => sums.get(currency)?.amountCents ?? 0);
  }
}
