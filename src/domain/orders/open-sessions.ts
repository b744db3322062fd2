/**
 * Finds sessions at payment providers that may still take money which their order cannot use, and payments whose
 * session is not opened yet.
 *
 * It only searches; `payments/session-expiry.ts` calls the providers.
 *
 * 1. A session is useless once its order or its amendment has ended, once another session has paid for the same, or
 *    once its installment has another amount. This holds for a declined session too, because its page may still be open
 *    at the provider.
 */
import {
  firstPaymentOf,
  isLiveOrder,
  isOfOtherAmount,
  isPaidFor,
  pendingAmendment,
  providerOf,
  waitingForAmendment,
  type Order,
  type Payment,
} from './order.ts';
import { viewOrder, viewPayment } from './view.ts';
import { refuse, type Refusal } from '../refusal.ts';
import type { Decision } from '../decision.ts';
import type { PaymentProviderName } from '../catalogue/definition.ts';
import type { OrderState } from './state.ts';
import type { OrderView, PaymentView } from '../view.ts';

export interface UselessSession {
  readonly provider: PaymentProviderName;
  readonly checkoutSessionId: string;
  /** When the provider closes it by itself; null where it does not say. */
  readonly expiresAt: number | null;
}

/** No provider keeps a session open for longer. */
const SESSION_MS_MAX = 24 * 60 * 60 * 1000;

/** The sessions of an order that are useless and not over by themselves yet (rule 1). */
export function uselessSessions(state: OrderState, orderId: string, now: number): readonly UselessSession[] {
  const order = state.orders.byId.get(orderId);
  return order === undefined ? [] : uselessSessionsOf(order, now);
}

function uselessSessionsOf(order: Order, now: number): readonly UselessSession[] {
  const provider = providerOf(order);
  if (provider === null) return [];
  const isOver = !isLiveOrder(order);
  const pendingId = pendingAmendment(order)?.id;
  const hasEnded = ({ amendmentId }: Payment): boolean => amendmentId !== undefined && amendmentId !== pendingId;
  return order.payments.flatMap((payment): UselessSession[] => {
    const { checkoutSessionId, sessionExpiresAt: expiresAt, status, strayOf, createdAt } = payment;
    if (checkoutSessionId === null || status === 'PAID' || strayOf !== null) return [];
    if ((expiresAt ?? createdAt + SESSION_MS_MAX) <= now) return [];
    const isUseless = isOver || hasEnded(payment) || isPaidFor(order, payment) || isOfOtherAmount(order, payment);
    return isUseless ? [{ provider, checkoutSessionId, expiresAt }] : [];
  });
}

export interface UnopenedSearch {
  readonly ageMsMin: number;
  readonly limit: number;
  readonly before: number | null;
}

export interface UnopenedPayment {
  /** Of the order; the next search may go on before it. */
  readonly number: number;
  readonly order: OrderView;
  readonly payment: PaymentView;
}

/**
 * The newest orders whose first session, or that of their pending amendment, is not opened, of those before number
 * `before`: asked for at least `ageMsMin` ago, and with a payment window that is open.
 */
export function findUnopenedPayments(
  state: OrderState,
  { ageMsMin, limit, before }: UnopenedSearch,
  now: number,
): readonly UnopenedPayment[] {
  const { awaitingSession, pendingAmendments, inOrder } = state.orders;
  const found: UnopenedPayment[] = [];
  const numbers = [...awaitingSession, ...pendingAmendments.values()].sort((one, other) => other - one);
  for (const number of numbers) {
    if (number >= (before ?? inOrder.length)) continue;
    const order = inOrder.at(number);
    const pending = pendingAmendment(order);
    const payment = pending === null ? firstPaymentOf(order) : waitingForAmendment(order, pending.id);
    const payableUntil = pending?.paid?.expiresAt ?? order.placedAt + state.plan.paymentWindowMs;
    if (payment === null || payment.checkoutSessionId !== null) continue;
    if (payment.createdAt + ageMsMin > now || payableUntil <= now) continue;
    found.push({ number, order: viewOrder(state, order), payment: viewPayment(order, payment) });
    if (found.length === limit) break;
  }
  return found;
}

/**
 * The decision, unless a session would have to be opened for it at a provider that cannot be asked in time: OVERLOADED.
 */
export function unlessBusy(
  { orders, plan }: OrderState,
  decision: Decision,
  busyProviders: readonly PaymentProviderName[],
): Decision | Refusal {
  const { reply } = decision;
  if (!('paymentId' in reply) || reply.paymentId === null) return decision;
  const order = orders.byId.get(reply.orderId);
  const payment = order?.payments.find(({ id }) => id === reply.paymentId);
  const provider = (order === undefined ? null : providerOf(order)) ?? plan.definition.paymentProvider;
  const isOpened = payment !== undefined && payment.checkoutSessionId !== null;
  if (isOpened || !busyProviders.includes(provider)) return decision;
  return refuse('OVERLOADED', {});
}

export interface OrderScan {
  /** Orders with useless sessions. */
  readonly orderIds: readonly string[];
  /** Where the next scan goes on; null when older orders can have none. */
  readonly before: number | null;
}

/**
 * Looks through some orders, the newest first, for useless sessions: at most `count` of those before number `before`.
 * Of old orders it looks only at those that had payments for amendments.
 */
export function scanForUselessSessions(
  { orders, plan }: OrderState,
  now: number,
  before: number | null,
  count: number,
): OrderScan {
  const { inOrder, payingAmendments } = orders;
  const oldest = now - SESSION_MS_MAX - plan.paymentWindowMs;
  const orderIds: string[] = [];
  let number = (before ?? inOrder.length) - 1;
  for (let left = count; number >= 0; number -= 1, left -= 1) {
    if (left === 0) return { orderIds, before: number + 1 };
    const order = inOrder.at(number);
    if (order.placedAt < oldest) break;
    if (uselessSessionsOf(order, now).length > 0) orderIds.push(order.id);
  }
  const amended = [...payingAmendments].filter((each) => each <= number).sort((one, other) => other - one);
  for (const [index, each] of amended.slice(0, count).entries()) {
    const order = inOrder.at(each);
    if (uselessSessionsOf(order, now).length > 0) orderIds.push(order.id);
    if (index === count - 1) return { orderIds, before: each };
  }
  return { orderIds, before: null };
}
