/**
 * Amendments that cost something: asked for, paid, and ended before any money came.
 *
 * 1. While one is pending its order and tickets stay as they are. What it wants beyond the order's own places is held
 *    for the payment window.
 * 2. It is applied in the turn that records its money. Its effect on the order was fixed when it was requested; only
 *    the sum paid so far, and the split of the rest, are those of this turn.
 * 3. Money for an amendment that ended is late money. The amendment is applied if no other one was applied since or is
 *    pending, and its places can still be had; otherwise the money is due back.
 * 4. A declined payment leaves it pending; a payment that is cancelled at the provider ends it.
 * 5. An amendment that concerns a cancelled date ends with the date, in a later turn (`CancelNextOrders`). Until then
 *    no money brings it a place on that date.
 */
import { fact, type Fact, type FactData, type FactOf } from '../../fact.ts';
import { beyond } from '../../holds/wanted-lines.ts';
import { canRetake } from '../../inventory/assignment.ts';
import { invariant } from '../../invariant.ts';
import {
  agreedOf,
  amendmentsOf,
  countApplied,
  endOfPending,
  isWaiting,
  pendingAmendment,
  providerOf,
  type AmendmentRecord,
  type Order,
} from '../order.ts';
import { closePayment, recorded, takeMoney, type Money, type ReportedPayment } from '../payments.ts';
import { isRefusal, refuse, type Refusal } from '../../refusal.ts';
import { cancellingDatesOf, orderById, wantedItemsOf, type OrderState, type OrderTurn } from '../state.ts';
import { changeBy, closeOutdated, withNewTickets } from './settlement.ts';
import type { CommandOf } from '../../command.ts';
import type { Decision } from '../../decision.ts';

// ── asked for ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The fact that an amendment is asked for (rule 1). PAYMENT_PROVIDER_UNAVAILABLE for a provider that is absent. */
export function requestAmendment(
  { plan }: OrderState,
  order: Order,
  asked: Omit<
    FactData['AmendmentRequested'],
    'paymentProvider' | 'paymentId' | 'expiresAt' | 'successUrl' | 'cancelUrl'
  >,
  { successUrl = null, cancelUrl = null, absentProviders = [] }: CommandOf<'AmendOrder'>,
  turn: OrderTurn,
): FactOf<'AmendmentRequested'> | Refusal {
  const paymentProvider = providerOf(order) ?? plan.definition.paymentProvider;
  if (absentProviders.includes(paymentProvider)) return refuse('PAYMENT_PROVIDER_UNAVAILABLE', {});
  const paymentId = turn.newId('pay');
  const expiresAt = turn.now + plan.paymentWindowMs;
  const data = { ...asked, paymentProvider, paymentId, expiresAt, successUrl, cancelUrl };
  return { type: 'AmendmentRequested', data };
}

// ── ended ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Withdraws an amendment; one that is CANCELLED stays so. ORDER_NOT_FOUND, NOT_FOUND, AMENDMENT_NOT_PENDING. */
export function decideCancelAmendment(
  state: OrderState,
  { orderId, amendmentId, by: cause, operator }: CommandOf<'CancelAmendment'>,
): Decision | Refusal {
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  const amendment = amendmentsOf(order).find(({ id }) => id === amendmentId);
  if (amendment === undefined) return refuse('NOT_FOUND', {});
  const { status } = amendment;
  if (status !== 'PENDING' && status !== 'CANCELLED') return refuse('AMENDMENT_NOT_PENDING', { status });
  const facts = status === 'PENDING' ? endOfPending(order, { cause, operator }) : [];
  return { facts, reply: { shows: 'AMENDMENT', orderId, amendmentId } };
}

/** Ends an amendment whose payment window ran out; nothing for another subject. */
export function decideExpireAmendment(state: OrderState, amendmentId: string, now: number): readonly Fact[] {
  const { orders } = state;
  const number = orders.pendingAmendments.get(amendmentId);
  if (number === undefined) return [];
  const order = orders.inOrder.at(number);
  if (pendingAmendment(order)!.paid!.expiresAt > now) return [];
  const ended = endWithDate(state, order);
  if (ended.length > 0) return ended;
  return [fact('AmendmentEnded', { orderId: order.id, amendmentId, outcome: 'EXPIRED', cause: null, operator: null })];
}

/** Ends the pending amendment of an order by whoever cancelled a date that it is about; nothing where none is. */
export function endWithDate(state: OrderState, order: Order): readonly Fact[] {
  if (pendingAmendment(order) === null) return [];
  const [performanceId] = cancellingDatesOf(state, [...agreedOf(order).items, ...wantedItemsOf(order)]);
  if (performanceId === undefined) return [];
  return endOfPending(order, { cause: 'PERFORMANCE', operator: state.cancelling.get(performanceId)!.operator });
}

// ── paid ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** What a report about the payment of an amendment changes (rules 2 to 4). As `takeMoney` refuses. */
export function factsOfAmendmentReport(
  state: OrderState,
  reported: ReportedPayment,
  turn: OrderTurn,
): readonly Fact[] | Refusal {
  const { order, payment, report } = reported;
  const amendment = amendmentsOf(order).find(({ id }) => id === payment.amendmentId);
  invariant(amendment !== undefined, 'a payment for an amendment is one of its order');
  switch (report.outcome) {
    case 'paid':
      return takeMoney(reported, turn, (money) => useMoney(state, { ...reported, amendment }, money, turn));
    case 'declined':
      return closePayment(order, payment, 'DECLINED', report);
    case 'expired':
      return closePayment(order, payment, 'EXPIRED', report);
    case 'cancelled': {
      const endsIt = isWaiting(payment) && amendment.status === 'PENDING';
      if (endsIt) return endOfPending(order, { cause: 'BUYER', operator: null });
      return closePayment(order, payment, 'CANCELLED', report);
    }
  }
}

function useMoney(
  state: OrderState,
  { order, payment, amendment }: ReportedPayment & { readonly amendment: AmendmentRecord },
  money: Money,
  turn: OrderTurn,
): readonly Fact[] {
  const { asked } = amendment;
  const isUseful =
    amendment.status === 'PENDING'
      ? !wantsCancelled(state, order, amendment)
      : canApplyLate(state, order, amendment, turn.now);
  if (asked === undefined || !isUseful) return [recorded(order, payment, money, false)];
  const { id: orderId } = order;
  const { id: amendmentId, by, differenceCents, feeCents, operator } = amendment;
  const terms = { orderId, by, ...asked.change, differenceCents, feeCents };
  const { change, after } = changeBy(order, terms, money.amountCents);
  const others = order.payments.filter(
    (other) => other !== payment && other.amendmentId === amendmentId && isWaiting(other),
  );
  return [
    recorded(order, payment, money, true, change.refundDueCents),
    fact('OrderAmended', { ...withNewTickets(change, turn), amendmentId, operator, note: null }),
    ...others.map(({ id: paymentId }) =>
      fact('PaymentClosed', { orderId, paymentId, outcome: 'EXPIRED', webhookId: null }),
    ),
    ...closeOutdated(order, after),
  ];
}

/** Whether an amendment wants a place on a cancelled performance (rule 5). */
function wantsCancelled({ holds, cancelling }: OrderState, order: Order, { asked }: AmendmentRecord): boolean {
  if (cancelling.size === 0) return false;
  const hold = holds.byId.get(order.purchase.holdId)!;
  return beyond(asked!.change.lines, hold.lines).some(({ performanceId }) => cancelling.has(performanceId));
}

/** Whether late money still applies the amendment (rule 3). */
function canApplyLate(state: OrderState, order: Order, { status, asked }: AmendmentRecord, now: number): boolean {
  if (asked === undefined || status === 'APPLIED') return false;
  if (order.status !== 'CONFIRMED' && order.status !== 'PARTIALLY_PAID') return false;
  const isAsItWas = countApplied(order) === asked.appliedBefore;
  if (!isAsItWas || pendingAmendment(order) !== null) return false;
  const hold = state.holds.byId.get(order.purchase.holdId);
  invariant(hold !== undefined, 'an order keeps its hold');
  const { lines } = asked.change;
  return canRetake(state, beyond(lines, hold.lines), now, beyond(hold.lines, lines));
}
