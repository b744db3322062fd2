/**
 * What a provider's report changes: money that came, and tries that ended without.
 *
 * 1. Money is never lost: every report of money that is no repeat is recorded, and what the order cannot use is due
 *    back.
 * 2. A session brings its money once: a report with a known webhook id, or of the same sum through the same session, is
 *    a repeat. Another sum is other money.
 * 3. An installment is paid once, by whichever try brings the money first, closed tries too.
 * 4. Late money brings an order back only if all of it can be had again: tickets, seats, uses of codes, perks and the
 *    limit of its e-mail address.
 */
import { orderTransitions } from '#machines/order.ts';
import { paymentTransitions } from '#machines/payment.ts';
import { canHaveAgain, canUseAgain } from './pricing.ts';
import { valuesReply, type Decision } from '../decision.ts';
import { fact, type Fact, type FactData } from '../fact.ts';
import { invariant } from '../invariant.ts';
import { AMOUNT_CENTS_MAX, isAmount, sumOf } from '../money.ts';
import { cancelled } from './decide.ts';
import type { OrderTurn, OrderState } from './state.ts';
import {
  agreedOf,
  isLiveOrder,
  isPaidFor,
  isWaiting,
  notGivenBack,
  providerOf,
  remainingCents,
  refundDueAfter,
  refundDueCents,
  type Order,
  type Payment,
} from './order.ts';
import { buyerKeysOf, checkEmailLimit } from './purchase-limits.ts';
import { isRefusal, refuseProblems, type Refusal } from '../refusal.ts';
import { canRetake } from '../inventory/assignment.ts';
import type { CommandOf } from '../command.ts';
import type { TurnIds } from '../ids.ts';

/**
 * The order and payment that a report is about: by its session, or else by this service's id of the payment. Null for a
 * report about no order, or about an order of another provider than the one that signed the report.
 */
function findReported(
  state: OrderState,
  report: Pick<CommandOf<'RecordPayment'>, 'provider' | 'checkoutSessionId' | 'paymentId'>,
): { readonly order: Order; readonly payment: Payment } | null {
  const { provider, checkoutSessionId, paymentId } = report;
  const order =
    (checkoutSessionId === null ? undefined : state.orders.byPayment.get(checkoutSessionId)) ??
    (paymentId === null ? undefined : state.orders.byPayment.get(paymentId));
  if (order === undefined || providerOf(order) !== provider) return null;
  const payment =
    order.payments.find((each) => checkoutSessionId !== null && each.checkoutSessionId === checkoutSessionId) ??
    order.payments.find((each) => each.id === paymentId);
  invariant(payment !== undefined, 'the index of payments leads to an order that has the payment');
  return { order, payment };
}

/** A report, and the payment that it is about. */
export interface ReportedPayment {
  readonly order: Order;
  readonly payment: Payment;
  readonly report: CommandOf<'RecordPayment'>;
}

/**
 * What a provider's report changes: nothing when the session is unknown or the report a repeat. VALIDATION_ERROR for no
 * amount. `ofAmendment` decides on a report about an amendment: that room imports this one.
 */
export function decideRecordPayment(
  state: OrderState,
  report: CommandOf<'RecordPayment'>,
  turn: OrderTurn,
  ofAmendment: (state: OrderState, reported: ReportedPayment, turn: OrderTurn) => readonly Fact[] | Refusal,
): Decision | Refusal {
  const found = findReported(state, report);
  if (found === null) {
    return { facts: [], reply: valuesReply<'RecordPayment'>({ order: null, repeated: false }) };
  }
  const factsOf = found.payment.amendmentId === undefined ? factsOfReport : ofAmendment;
  const facts = factsOf(state, { ...found, report }, turn);
  if (isRefusal(facts)) return facts;
  return { facts, reply: { shows: 'ORDER', orderId: found.order.id, repeated: facts.length === 0 } };
}

function factsOfReport(state: OrderState, reported: ReportedPayment, turn: OrderTurn): readonly Fact[] | Refusal {
  const { order, payment, report } = reported;
  switch (report.outcome) {
    case 'paid':
      return takeMoney(reported, turn, (money) => useMoney(state, order, payment, money, turn));
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

export function closePayment(
  order: Order,
  payment: Payment,
  outcome: FactData['PaymentClosed']['outcome'],
  { webhookId }: CommandOf<'RecordPayment'>,
): readonly Fact[] {
  const { id: orderId } = order;
  return isWaiting(payment) ? [fact('PaymentClosed', { orderId, paymentId: payment.id, outcome, webhookId })] : [];
}

/**
 * The facts of a report's money: none for a repeat, stray money where no payment asked for it, otherwise as the order
 * uses it.
 */
export function takeMoney(
  { order, payment, report }: ReportedPayment,
  turn: OrderTurn,
  use: (money: Money) => readonly Fact[],
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
  return use(money);
}

function useMoney(state: OrderState, order: Order, payment: Payment, money: Money, turn: OrderTurn): readonly Fact[] {
  const trigger = triggerOfMoney(state, order, payment, turn);
  if (trigger === null) return [recorded(order, payment, money, false)];
  const paid = [recorded(order, payment, money, true), fact('OrderPaid', { orderId: order.id, trigger })];
  return order.ticketIds.length > 0 ? paid : [...paid, issueTickets(order.id, agreedOf(order).items, turn)];
}

export interface Money {
  readonly amountCents: number;
  readonly currency: string;
  readonly reference: string | null;
  readonly webhookId: string | null;
}

/** How the order takes the money of a payment, or null when it has no use for it. */
function triggerOfMoney(
  state: OrderState,
  order: Order,
  payment: Payment,
  turn: OrderTurn,
): FactData['OrderPaid']['trigger'] | null {
  // An amendment can leave nothing to pay while a session is open.
  if (isPaidFor(order, payment) || remainingCents(order) === 0) return null;
  const isLast = remainingCents(order) <= payment.amountCents;
  if (isLiveOrder(order)) return isLast ? 'PAY_IN_FULL' : 'PAY_INSTALLMENT';
  const trigger = isLast ? 'PAY_LATE_IN_FULL' : 'PAY_LATE_INSTALLMENT';
  const isAllowed = orderTransitions.next(order.status, trigger) !== undefined;
  return isAllowed && canBeHadAgain(state, order, turn) ? trigger : null;
}

/** Whether all of an order that ended by the buyer or by time can be had again (rule 4). */
function canBeHadAgain(state: OrderState, order: Order, { now, sealing }: OrderTurn): boolean {
  const { cancellation } = order;
  if (cancellation !== null && (cancellation.cause !== 'BUYER' || cancellation.amendmentId !== undefined)) return false;
  const { plan, orders, perksSold } = state;
  const agreed = agreedOf(order);
  const hold = state.holds.byId.get(agreed.holdId);
  invariant(hold !== undefined, 'an order keeps its hold');
  return (
    checkEmailLimit(plan, agreed.items, buyerKeysOf(agreed, sealing), orders.ticketsByBuyer) === null &&
    canUseAgain(plan, agreed, orders.usesByCode) &&
    canHaveAgain(plan, agreed.items, perksSold) &&
    canRetake(state, hold.lines, now)
  );
}

/** One new ticket for each place of an order's items. */
export function issueTickets(orderId: string, items: readonly { readonly ticketCount: number }[], ids: TurnIds): Fact {
  const ticketCount = sumOf(items, (item) => item.ticketCount);
  const ticketIds = Array.from({ length: ticketCount }, () => ids.newId('tkt'));
  return fact('TicketsIssued', { orderId, ticketIds });
}

/** The fact of money that a payment asked for; for an amendment, the caller gives what is due after it. */
export function recorded(
  order: Order,
  payment: Payment,
  money: Money,
  isCounted: boolean,
  refundDueAmended?: number,
): Fact {
  const refundDue = refundDueAmended ?? refundDueAfter(order, money.amountCents, isCounted);
  // The fact of the amendment says what the amendment makes due.
  const toRefundCents = isCounted && refundDueAmended === undefined ? refundDue - refundDueCents(order) : 0;
  return fact('PaymentRecorded', {
    orderId: order.id,
    paymentId: payment.id,
    ...money,
    isCounted,
    refundDueCents: refundDue,
    ...(toRefundCents > 0 && { toRefundCents }),
  });
}

function strayMoney(order: Order, payment: Payment, money: Money, ids: TurnIds): Fact {
  const { id: orderId, purchase } = order;
  const { amountCents, currency } = money;
  const isOwn = currency === purchase.currency;
  const due = isOwn
    ? { refundDueCents: refundDueAfter(order, amountCents, false) }
    : { refundDueCents: refundDueCents(order), foreignDueCents: notGivenBack(order, currency) + amountCents };
  const paymentId = ids.newId('pay');
  return fact('StrayMoneyRecorded', { orderId, paymentId, strayOf: payment.id, ...money, ...due });
}

/** Whether this money came before, through the same session (rule 2). */
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
