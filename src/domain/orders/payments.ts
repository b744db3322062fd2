/**
 * What money does to an order: tries to pay, sessions at a provider, and what the provider reports of them.
 *
 * Decides only; the payments are kept by `orders.ts`. Called by `box-office.ts`.
 *
 * 1. Money is never lost: every report of money that is no repeat is recorded, and what the order cannot use is due back.
 * 2. A session brings its money once: a report with a known webhook id, or of the same sum through the same session, is a repeat.
 *    Another sum is other money.
 * 3. An installment is paid once, by whichever try brings the money first, closed tries too.
 * 4. Late money brings an order back only if all of it can be had again: tickets, seats, uses of codes, perks and the allowance of
 *    its address.
 */
import { orderTransitions } from '#machines/order.ts';
import { paymentTransitions } from '#machines/payment.ts';
import { canHaveAgain, canUseAgain } from '../catalogue/pricing.ts';
import { fact, type Fact, type FactData } from '../fact.ts';
import { invariant } from '../invariant.ts';
import { AMOUNT_CENTS_MAX, isAmount, sumOf } from '../money.ts';
import {
  cancelled,
  isInstallmentPaid,
  isLiveOrder,
  orderById,
  paidInstallments,
  refundDueAfter,
  refundDueCents,
  type Order,
  type Payment,
} from './orders.ts';
import { checkEmailLimit } from './purchase-limits.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../refusal.ts';
import { refundable } from './refunds.ts';
import { canRetake } from '../inventory/assignment.ts';
import type { CommandOf } from '../command.ts';
import type { TurnIds } from '../ids.ts';
import type { EventState } from '../event-state.ts';
import type { Decision, NamedReply } from '../decision.ts';

/** What orders need of a turn. */
export interface OrderTurn extends TurnIds {
  readonly now: number;
}

/** Bounds the memory of an order whose buyer tries again and again. */
export const ORDER_PAYMENTS_MAX = 100;

// ── tries and sessions ───────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Asks for the next unpaid installment. A try that still waits for its session, or whose session is still open, is no new one.
 * ORDER_NOT_FOUND; ORDER_NOT_PAYABLE when nothing is left to pay, the order is over, or it has been tried too often.
 */
export function decideOpenPayment(
  state: EventState,
  command: CommandOf<'OpenPayment'>,
  turn: OrderTurn,
): Decision | Refusal {
  const order = orderById(state, command.orderId);
  if (isRefusal(order)) return order;
  const { id: orderId, status } = order;
  const isPayable = status === 'PENDING' || status === 'PARTIALLY_PAID';
  if (!isPayable || order.payments.length >= ORDER_PAYMENTS_MAX) return refuse('ORDER_NOT_PAYABLE', { status });
  const installment = paidInstallments(order) + 1;
  const waiting = waitingPayment(order);
  if (waiting !== null && (waiting.sessionExpiresAt === null || turn.now < waiting.sessionExpiresAt)) {
    return { facts: [], reply: paymentReply(orderId, waiting.id) };
  }
  const paymentId = turn.newId('pay');
  const facts = [fact('PaymentRequested', { orderId, paymentId, installment })];
  if (waiting !== null) {
    facts.unshift(fact('PaymentClosed', { orderId, paymentId: waiting.id, outcome: 'EXPIRED', webhookId: null }));
  }
  return { facts, reply: paymentReply(orderId, paymentId) };
}

function paymentReply(orderId: string, paymentId: string): NamedReply {
  return { shows: 'PAYMENT', orderId, paymentId, resumed: false, replayed: false };
}

/** The try at the next unpaid installment that may still bring its money; null when one must be opened first. */
export function waitingPayment(order: Order): Payment | null {
  const installment = paidInstallments(order) + 1;
  return order.payments.findLast((payment) => payment.installment === installment && isWaiting(payment)) ?? null;
}

/** Keeps the session that the provider opened; the first one stands. ORDER_NOT_FOUND. */
export function decideRecordCheckoutSession(
  state: EventState,
  command: CommandOf<'RecordCheckoutSession'>,
): Decision | Refusal {
  const order = orderById(state, command.orderId);
  if (isRefusal(order)) return order;
  const { orderId, paymentId, checkoutSessionId, redirectUrl, expiresAt } = command;
  const payment = order.payments.find(({ id }) => id === paymentId);
  if (payment === undefined) return refuse('ORDER_NOT_FOUND', {});
  const reply = paymentReply(orderId, paymentId);
  if (payment.checkoutSessionId !== null) return { facts: [], reply };
  const opened = fact('CheckoutSessionOpened', { orderId, paymentId, checkoutSessionId, redirectUrl, expiresAt });
  return { facts: [opened], reply };
}

// ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The order and payment that a report is about: by its session, or else by this service's id of the payment. Null for one that
 * nobody knows, or that is of another provider than the one whose signature the report bears.
 */
export function findReported(
  state: EventState,
  report: Pick<CommandOf<'RecordPayment'>, 'provider' | 'checkoutSessionId' | 'paymentId'>,
): { readonly order: Order; readonly payment: Payment } | null {
  const { provider, checkoutSessionId, paymentId } = report;
  const order =
    (checkoutSessionId === null ? undefined : state.orders.byPayment.get(checkoutSessionId)) ??
    (paymentId === null ? undefined : state.orders.byPayment.get(paymentId));
  if (order === undefined || order.purchase.paymentProvider !== provider) return null;
  const payment =
    order.payments.find((each) => checkoutSessionId !== null && each.checkoutSessionId === checkoutSessionId) ??
    order.payments.find((each) => each.id === paymentId);
  invariant(payment !== undefined, 'the index of payments leads to an order that has the payment');
  return { order, payment };
}

/** What a provider's report changes: nothing when the session is unknown or the report a repeat. VALIDATION_ERROR for no amount. */
export function decideRecordPayment(
  state: EventState,
  report: CommandOf<'RecordPayment'>,
  turn: OrderTurn,
): Decision | Refusal {
  const found = findReported(state, report);
  if (found === null) {
    return { facts: [], reply: { shows: 'VALUES', reply: { outcome: 'DONE', order: null, repeated: false } } };
  }
  const { order, payment } = found;
  const facts = factsOfReport(state, order, payment, report, turn);
  if (isRefusal(facts)) return facts;
  return { facts, reply: { shows: 'ORDER', orderId: order.id, repeated: facts.length === 0 } };
}

function factsOfReport(
  state: EventState,
  order: Order,
  payment: Payment,
  report: CommandOf<'RecordPayment'>,
  turn: OrderTurn,
): readonly Fact[] | Refusal {
  switch (report.outcome) {
    case 'paid':
      return takeMoney(state, order, payment, report, turn);
    case 'declined':
      return closePayment(order, payment, 'DECLINED', report);
    case 'expired':
      return closePayment(order, payment, 'EXPIRED', report);
    case 'cancelled': {
      const cancelsOrder = isWaiting(payment) && order.status === 'PENDING';
      if (cancelsOrder) return [cancelled(order, 'BUYER', { operator: null, note: null })];
      return closePayment(order, payment, 'CANCELLED', report);
    }
  }
}

function closePayment(
  order: Order,
  payment: Payment,
  outcome: FactData['PaymentClosed']['outcome'],
  { webhookId }: CommandOf<'RecordPayment'>,
): readonly Fact[] {
  const { id: orderId } = order;
  return isWaiting(payment) ? [fact('PaymentClosed', { orderId, paymentId: payment.id, outcome, webhookId })] : [];
}

function takeMoney(
  state: EventState,
  order: Order,
  payment: Payment,
  report: CommandOf<'RecordPayment'>,
  turn: OrderTurn,
): readonly Fact[] | Refusal {
  const amountCents = report.amountCents ?? payment.amountCents;
  const currency = report.currency ?? payment.currency;
  if (!isAmount(amountCents)) {
    return refuseProblems([{ path: ['amount'], message: `must be whole cents from 0 to ${AMOUNT_CENTS_MAX}` }]);
  }
  const money: Money = { amountCents, currency, reference: report.paymentId, webhookId: report.webhookId };
  if (isRepeat(order, payment, money)) return [];
  const isAsked = payment.amountCents === amountCents && payment.currency === currency;
  if (!isAsked || paymentTransitions.next(payment.status, 'PAY') === undefined)
    return [strayMoney(order, payment, money, turn)];
  const trigger = triggerOfMoney(state, order, payment, turn.now);
  if (trigger === null) return [recorded(order, payment, money, false)];
  const paid = [recorded(order, payment, money, true), fact('OrderPaid', { orderId: order.id, trigger })];
  return order.ticketIds.length > 0 ? paid : [...paid, issueTickets(order.id, order.purchase.items, turn)];
}

interface Money {
  readonly amountCents: number;
  readonly currency: string;
  readonly reference: string | null;
  readonly webhookId: string | null;
}

/** How the order takes the money of a payment, or null when it has no use for it. */
function triggerOfMoney(
  state: EventState,
  order: Order,
  payment: Payment,
  now: number,
): FactData['OrderPaid']['trigger'] | null {
  const isUseless = isInstallmentPaid(order, payment.installment);
  if (isUseless) return null;
  const isLast = paidInstallments(order) + 1 === order.purchase.installmentsCents.length;
  if (isLiveOrder(order)) return isLast ? 'PAY_IN_FULL' : 'PAY_INSTALLMENT';
  const trigger = isLast ? 'PAY_LATE_IN_FULL' : 'PAY_LATE_INSTALLMENT';
  const isAllowed = orderTransitions.next(order.status, trigger) !== undefined;
  return isAllowed && canBeHadAgain(state, order, now) ? trigger : null;
}

/** Whether all of an order that ended by the buyer or by time can be had again (4). */
function canBeHadAgain(state: EventState, { purchase, cancellation }: Order, now: number): boolean {
  if (cancellation !== null && cancellation.cause !== 'BUYER') return false;
  const { plan, orders, perksSold } = state;
  const hold = state.holds.byId.get(purchase.holdId);
  invariant(hold !== undefined, 'an order keeps its hold');
  const { items, customer } = purchase;
  return (
    checkEmailLimit(plan, items, customer.email, orders.ticketsByEmail) === null &&
    canUseAgain(plan, purchase, orders.usesByCode) &&
    canHaveAgain(plan, purchase.items, perksSold) &&
    canRetake(state, hold.lines, now)
  );
}

/** One new ticket for each place of an order's items. */
export function issueTickets(orderId: string, items: readonly { readonly ticketCount: number }[], ids: TurnIds): Fact {
  const ticketCount = sumOf(items, (item) => item.ticketCount);
  const ticketIds = Array.from({ length: ticketCount }, () => ids.newId('tkt'));
  return fact('TicketsIssued', { orderId, ticketIds });
}

function recorded(order: Order, payment: Payment, money: Money, isCounted: boolean): Fact {
  const refundDue = refundDueAfter(order, money.amountCents, isCounted);
  const { id: orderId } = order;
  return fact('PaymentRecorded', { orderId, paymentId: payment.id, ...money, isCounted, refundDueCents: refundDue });
}

function strayMoney(order: Order, payment: Payment, money: Money, ids: TurnIds): Fact {
  const { id: orderId, purchase } = order;
  const { amountCents, currency } = money;
  const isOwn = currency === purchase.currency;
  const due = isOwn
    ? { refundDueCents: refundDueAfter(order, amountCents, false) }
    : { refundDueCents: refundDueCents(order), foreignDueCents: refundable(order, currency) + amountCents };
  const paymentId = ids.newId('pay');
  return fact('StrayMoneyRecorded', { orderId, paymentId, strayOf: payment.id, ...money, ...due });
}

/** Whether this money came before, through the same session (2). */
function isRepeat(order: Order, payment: Payment, money: Money): boolean {
  return order.payments.some(
    (known) =>
      (known === payment || known.strayOf === payment.id) && known.status === 'PAID' && isSameMoney(known, money),
  );
}

function isSameMoney(known: Payment, { amountCents, currency, webhookId }: Money): boolean {
  const isSameReport = known.webhookId !== null && known.webhookId === webhookId;
  return isSameReport || (known.amountCents === amountCents && known.currency === currency);
}

function isWaiting({ status }: Payment): boolean {
  return status === 'REQUESTED' || status === 'OPEN';
}
