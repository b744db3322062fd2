/** What the cancellation of a performance would do to its orders, told before somebody decides on it. */
import { agreedOf, foreignCurrencies, isLiveOrder, notGivenBack, type Order } from './order.ts';
import { refuse, type Refusal } from '../refusal.ts';
import type { OrderState } from './state.ts';
import type { CurrencyAmount } from '../view.ts';

/** Of a part of the orders; the parts are added up by who asks. */
export interface CancellationForecast {
  /** Live orders with a ticket on the performance: they are cancelled whole. */
  readonly orders: number;
  /** Those of them for which money came. */
  readonly paidOrders: number;
  /** All tickets of these orders. */
  readonly tickets: number;
  /** What becomes due back, and what is due already. */
  readonly due: readonly CurrencyAmount[];
  /** The number of the order to go on after; null at the end. */
  readonly nextAfter: number | null;
}

/** Orders that one call looks at: some milliseconds, where they are packed. */
const SCANNED_MAX = 500;

/** The forecast for the orders after number `after`; null begins with the first. PERFORMANCE_NOT_FOUND. */
export function forecastCancellation(
  { orders: { inOrder }, performances }: OrderState,
  { performanceId, after }: { readonly performanceId: string; readonly after: number | null },
): CancellationForecast | Refusal {
  if (!performances.has(performanceId)) return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  const due = new Map<string, number>();
  const sums = { orders: 0, paidOrders: 0, tickets: 0 };
  const begin = after === null ? 0 : after + 1;
  const end = Math.min(inOrder.length, begin + SCANNED_MAX);
  for (let number = begin; number < end; number += 1) {
    const order = inOrder.at(number);
    const { items } = agreedOf(order);
    if (!isLiveOrder(order) || !items.some((item) => item.performanceId === performanceId)) continue;
    sums.orders += 1;
    sums.tickets += items.reduce((sum, { ticketCount }) => sum + ticketCount, 0);
    if (order.payments.some(({ status }) => status === 'PAID')) sums.paidOrders += 1;
    addRefundable(due, order);
  }
  return {
    ...sums,
    due: Array.from(due, ([currency, amountCents]) => ({ amountCents, currency })),
    nextAfter: end < inOrder.length ? end - 1 : null,
  };
}

function addRefundable(due: Map<string, number>, order: Order): void {
  for (const currency of [order.purchase.currency, ...foreignCurrencies(order)]) {
    const amountCents = notGivenBack(order, currency);
    if (amountCents > 0) due.set(currency, (due.get(currency) ?? 0) + amountCents);
  }
}
