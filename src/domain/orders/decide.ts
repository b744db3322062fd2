/**
 * What happens to an order that was placed: tries to pay, sessions at a provider, cancellation and expiry.
 * `checkout.ts` places orders, `payments.ts` decides on reports of money, `refunds.ts` on refunds, and
 * `amendments/cancelled-dates.ts` on the orders of cancelled dates.
 *
 * 1. An order that an operator cancelled stays cancelled.
 */
import { orderTransitions } from '#machines/order.ts';
import { type Decision, type ReplyReference } from '../decision.ts';
import { fact, type CancellationCause, type Fact, type SealedOperatorNote } from '../fact.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { sealMark } from './erasure.ts';
import {
  endOfPending,
  isErased,
  isPaidOrder,
  paidCents,
  paidInstallments,
  pendingAmendment,
  refundedCents,
  waitingForAmendment,
  waitingPayment,
  type Order,
} from './order.ts';
import { MAILS_A_DAY_MAX, orderById, type OrderState, type OrderTurn } from './state.ts';
import type { CommandOf } from '../command.ts';
import type { Hold } from '../holds/state.ts';

/** Bounds the memory of an order whose buyer tries again and again. */
export const ORDER_PAYMENTS_MAX = 100;

/**
 * Opens a payment for the order's pending amendment, or else for the next unpaid installment. A try that still waits
 * for its session, or whose session is still open, is used again. ORDER_NOT_FOUND; ORDER_NOT_PAYABLE when nothing is
 * left to pay, the order is over, or it has been tried too often.
 */
export function decideOpenPayment(
  state: OrderState,
  command: CommandOf<'OpenPayment'>,
  turn: OrderTurn,
): Decision | Refusal {
  const order = orderById(state, command.orderId);
  if (isRefusal(order)) return order;
  const { id: orderId, status } = order;
  const pending = pendingAmendment(order);
  const isPayable = pending !== null || status === 'PENDING' || status === 'PARTIALLY_PAID';
  if (!isPayable || order.payments.length >= ORDER_PAYMENTS_MAX) return refuse('ORDER_NOT_PAYABLE', { status });
  const paidFor =
    pending === null ? { installment: paidInstallments(order) + 1 } : { installment: 0, amendmentId: pending.id };
  const waiting = pending === null ? waitingPayment(order) : waitingForAmendment(order, pending.id);
  if (waiting !== null && (waiting.sessionExpiresAt === null || turn.now < waiting.sessionExpiresAt)) {
    return { facts: [], reply: paymentReply(orderId, waiting.id) };
  }
  const paymentId = turn.newId('pay');
  const facts = [fact('PaymentRequested', { orderId, paymentId, ...paidFor })];
  if (waiting !== null) {
    facts.unshift(fact('PaymentClosed', { orderId, paymentId: waiting.id, outcome: 'EXPIRED', webhookId: null }));
  }
  return { facts, reply: paymentReply(orderId, paymentId) };
}

function paymentReply(orderId: string, paymentId: string): Extract<ReplyReference, { shows: 'PAYMENT' }> {
  return { shows: 'PAYMENT', orderId, paymentId, resumed: false, replayed: false };
}

/** Keeps the session that the provider opened; the first one stands. ORDER_NOT_FOUND. */
export function decideRecordCheckoutSession(
  state: OrderState,
  command: CommandOf<'RecordCheckoutSession'>,
): Decision | Refusal {
  const order = orderById(state, command.orderId);
  if (isRefusal(order)) return order;
  const { orderId, paymentId, checkoutSessionId, redirectUrl, expiresAt } = command;
  const payment = order.payments.find(({ id }) => id === paymentId);
  if (payment === undefined) return refuse('ORDER_NOT_FOUND', {});
  const reply = paymentReply(orderId, paymentId);
  if (payment.checkoutSessionId !== null) return { facts: [], reply: { ...reply, replayed: true } };
  const opened = fact('CheckoutSessionOpened', { orderId, paymentId, checkoutSessionId, redirectUrl, expiresAt });
  return { facts: [opened], reply };
}

/** Ends a PENDING order whose payment window ran out; nothing when the hold is not an order's, or not due. */
export function decideExpireOrder(hold: Hold | undefined, now: number): readonly Fact[] {
  const due = hold !== undefined && hold.status === 'CONVERTED' && hold.expiresAt <= now;
  return due ? [fact('OrderExpired', { orderId: hold.orderId! })] : [];
}

/**
 * Cancels an order for the operator; one that an operator cancelled already stays as it is. ORDER_NOT_FOUND,
 * ORDER_NOT_CANCELLABLE.
 */
export function decideCancelOrder(
  state: OrderState,
  command: CommandOf<'CancelOrder'>,
  turn: OrderTurn,
): Decision | Refusal {
  const order = orderById(state, command.orderId);
  if (isRefusal(order)) return order;
  const { id: orderId, status, cancellation } = order;
  const reply = { shows: 'ORDER', orderId, repeated: false } as const;
  if (cancellation !== null && cancellation.cause !== 'BUYER') return { facts: [], reply };
  if (orderTransitions.next(status, 'CANCEL') === undefined) return refuse('ORDER_NOT_CANCELLABLE', { status });
  const mark = sealMark(orderId, 'OrderCancelled', command, turn);
  const ended = endOfPending(order, { cause: 'OPERATOR', operator: command.operator });
  return { facts: [...ended, cancelled(order, 'OPERATOR', mark)], reply };
}

const DAY_MS = 86_400_000;

/**
 * Requests that the address of an order's page is mailed again. ORDER_NOT_FOUND; ORDER_NOT_MAILABLE where it has no
 * tickets; ORDER_ERASED; MAIL_LIMIT_EXCEEDED for its buyer alone.
 */
export function decideRequestMail(
  state: OrderState,
  { orderId, by, operator, language }: CommandOf<'RequestMail'>,
  { now }: OrderTurn,
): Decision | Refusal {
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  if (!isPaidOrder(order)) return refuse('ORDER_NOT_MAILABLE', { status: order.status });
  if (isErased(order)) return refuse('ORDER_ERASED', {});
  const nextAt = (order.mailsRequestedAt?.at(-MAILS_A_DAY_MAX) ?? -Infinity) + DAY_MS;
  if (by === 'BUYER' && now < nextAt) return refuse('MAIL_LIMIT_EXCEEDED', { limit: MAILS_A_DAY_MAX, nextAt });
  return {
    facts: [fact('MailRequested', { orderId, by, operator, language })],
    reply: { shows: 'ORDER', orderId, repeated: false },
  };
}

/** The fact that cancels a live order; everything that was paid and not refunded is due back. */
export function cancelled(
  order: Order,
  cause: CancellationCause,
  { operator, note, sealedNote }: SealedOperatorNote,
): Fact {
  const refundDue = Math.max(0, paidCents(order) - refundedCents(order));
  const by = { operator, note, ...(sealedNote !== undefined && { sealedNote }) };
  return fact('OrderCancelled', { orderId: order.id, cause, ...by, refundDueCents: refundDue });
}
