/**
 * The money of an event: what came in and what was given back, in all and by hour.
 *
 * An index that follows from the orders, so that it is the same whether they were lived, replayed or restored.
 *
 * 1. Everything that came in counts, also what is due back. Amounts of two currencies are never added up.
 * 2. The newest hours with money are kept apart; what older ones had is in the totals alone.
 */
import { isCash, keptFeesCents, refundStatusOf, type Order } from './order.ts';
import type { CurrencyAmount } from '../view.ts';

interface MoneySums {
  readonly currency: string;
  readonly paidCents: number;
  readonly payments: number;
  /** What of it was paid in cash. */
  readonly cashCents: number;
  readonly refundedCents: number;
  readonly refunds: number;
}

/** The sums of one hour in one currency. */
interface HourSums extends MoneySums {
  /** When the hour began. */
  readonly at: number;
}

interface MoneyTotals extends MoneySums {
  /** What is being given back. */
  readonly pendingCents: number;
  /** Fees of amendments, of orders that keep them. */
  readonly feesCents: number;
}

export interface MoneyView {
  readonly totals: readonly MoneyTotals[];
  /** The newest first. */
  readonly hours: readonly HourSums[];
}

export const HOUR_MS = 60 * 60 * 1000;

/** Hours with money that are kept apart: 83 days without a pause, some 200 KB. */
export const HOURS_MAX = 2_000;

type Sums = { -readonly [Field in keyof MoneySums]: MoneySums[Field] };

/** The sums of each currency; hardly ever more than one. */
type ByCurrency = Sums[];

export class MoneyByHour {
  readonly #totals: ByCurrency = [];
  readonly #fees = new Map<string, number>();
  readonly #hours = new Map<number, ByCurrency>();
  /** Hours up to this one are not kept apart any more (rule 2). */
  #forgottenHour = -Infinity;

  notePayment(at: number, { amountCents, currency }: CurrencyAmount, inCash: boolean): void {
    for (const sums of this.#sumsAt(at, currency)) {
      sums.paidCents += amountCents;
      sums.payments += 1;
      if (inCash) sums.cashCents += amountCents;
    }
  }

  /** Adds a refund that succeeded; with -1 takes one off that failed afterwards. */
  noteRefund(at: number, amountCents: number, currency: string, sign: 1 | -1 = 1): void {
    for (const sums of this.#sumsAt(at, currency)) {
      sums.refundedCents += sign * amountCents;
      sums.refunds += sign;
    }
  }

  /** Adds the fees of an order, or with -1 takes out what they were before a change. */
  noteFees(order: Order, sign: 1 | -1): void {
    const { currency } = order.purchase;
    const cents = keptFeesCents(order);
    if (cents > 0) this.#fees.set(currency, (this.#fees.get(currency) ?? 0) + sign * cents);
  }

  /** Notes all money of a restored order. */
  noteOrder(order: Order): void {
    const { payments, refunds, purchase } = order;
    this.noteFees(order, 1);
    for (const payment of payments) {
      const { status, paidAt, createdAt } = payment;
      if (status === 'PAID') this.notePayment(paidAt ?? createdAt, payment, isCash(order, payment));
    }
    for (const refund of refunds) {
      const { at, finishedAt = at, amountCents, currency = purchase.currency } = refund;
      if (refundStatusOf(refund) === 'SUCCEEDED') this.noteRefund(finishedAt, amountCents, currency);
    }
  }

  /** The totals, and the hours that began at `since` or later. */
  view(since: number, refunds: { pendingCents(currency: string): number }): MoneyView {
    const hours: [number, ByCurrency][] = [];
    for (const hour of this.#hours) if (hour[0] >= since) hours.push(hour);
    hours.sort(([one], [other]) => other - one);
    return {
      totals: this.#totals.map((sums) => ({
        ...sums,
        pendingCents: refunds.pendingCents(sums.currency),
        feesCents: this.#fees.get(sums.currency) ?? 0,
      })),
      hours: hours.flatMap(([at, ofHour]) => ofHour.map((sums) => ({ at, ...sums }))),
    };
  }

  #sumsAt(at: number, currency: string): readonly Sums[] {
    const hour = at - (at % HOUR_MS);
    const total = sumsOf(this.#totals, currency);
    if (hour <= this.#forgottenHour) return [total];
    let ofHour = this.#hours.get(hour);
    if (ofHour === undefined) this.#hours.set(hour, (ofHour = []));
    const sums = sumsOf(ofHour, currency);
    if (this.#hours.size > HOURS_MAX) this.#forgetOldest();
    return [total, sums];
  }

  #forgetOldest(): void {
    const oldest = Math.min(...this.#hours.keys());
    this.#hours.delete(oldest);
    this.#forgottenHour = oldest;
  }
}

function sumsOf(all: ByCurrency, currency: string): Sums {
  const known = all.find((sums) => sums.currency === currency);
  if (known !== undefined) return known;
  const sums = { currency, paidCents: 0, payments: 0, cashCents: 0, refundedCents: 0, refunds: 0 };
  all.push(sums);
  return sums;
}
