/** A forecast of what the cancellation of a performance would do to its orders, before an operator decides. */
import { sumOf } from '../../money.ts';
import { refuse, type Refusal } from '../../refusal.ts';
import {
  agreedOf,
  foreignCurrencies,
  isLiveOrder,
  isPaidOrder,
  notGivenBack,
  refundsDue,
  type Order,
} from '../order.ts';
import { planWithoutDates } from './cancelled-dates.ts';
import type { DateCancellation } from '../../fact.ts';
import type { OrderState } from '../state.ts';
import type { CurrencyAmount } from '../../view.ts';

/** A date, and how its orders would end with it. */
export interface DateAsked extends Pick<DateCancellation, 'orders'> {
  readonly performanceId: string;
}

/** For a part of the orders; the caller adds up the parts. */
export interface CancellationForecast {
  /** Live orders with a ticket on the performance. */
  readonly orders: number;
  /** Those of them that go on with tickets on other dates; null where all are cancelled whole. */
  readonly amendedOrders: number | null;
  /** Those of all for which money came. */
  readonly paidOrders: number;
  /** Their tickets that are cancelled. */
  readonly tickets: number;
  /** What becomes due back, and what is due already. */
  readonly due: readonly CurrencyAmount[];
  /** The number of the order to go on after; null at the end. */
  readonly nextAfter: number | null;
}

/** Orders that one call looks at, and those whose amendments it plans: some milliseconds. */
const SCANNED_MAX = 250;
const PLANNED_MAX = 50;
/** The same where these are large. */
const TICKETS_MAX = 500;

/** The forecast for the orders after number `after`; null begins with the first. PERFORMANCE_NOT_FOUND. */
export function forecastCancellation(
  state: OrderState,
  { performanceId, after, orders }: DateAsked & { readonly after: number | null },
): CancellationForecast | Refusal {
  const { inOrder } = state.orders;
  if (!state.performances.has(performanceId)) return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  const dates = new Set([performanceId]);
  const due = new Map<string, number>();
  const sums = { orders: 0, amendedOrders: 0, paidOrders: 0, tickets: 0 };
  const begin = after === null ? 0 : after + 1;
  const end = Math.min(inOrder.length, begin + SCANNED_MAX);
  let number = begin;
  let planned = 0;
  for (; number < end && planned < PLANNED_MAX && sums.tickets < TICKETS_MAX; number += 1) {
    const order = inOrder.at(number);
    const { items } = agreedOf(order);
    if (!isLiveOrder(order) || !items.some((item) => item.performanceId === performanceId)) continue;
    sums.orders += 1;
    if (order.payments.some(({ status }) => status === 'PAID')) sums.paidOrders += 1;
    if (orders === 'TICKETS' && isPaidOrder(order)) {
      planned += 1;
      const { change, after: left } = planWithoutDates(state, order, dates);
      if (change.ticketIds.length > 0) sums.amendedOrders += 1;
      sums.tickets += change.tickets.length;
      for (const each of refundsDue(left)) addTo(due, each);
    } else {
      sums.tickets += sumOf(items, ({ ticketCount }) => ticketCount);
      addRefundable(due, order);
    }
  }
  return {
    ...sums,
    amendedOrders: orders === undefined ? null : sums.amendedOrders,
    due: Array.from(due, ([currency, amountCents]) => ({ amountCents, currency })),
    nextAfter: number < inOrder.length ? number - 1 : null,
  };
}

function addRefundable(due: Map<string, number>, order: Order): void {
  for (const currency of [order.purchase.currency, ...foreignCurrencies(order)]) {
    addTo(due, { currency, amountCents: notGivenBack(order, currency) });
  }
}

function addTo(due: Map<string, number>, { currency, amountCents }: CurrencyAmount): void {
  if (amountCents > 0) due.set(currency, (due.get(currency) ?? 0) + amountCents);
}
