/** Applies facts to orders. The tickets of an order move with its hold. */
import { follow } from '#machines/compile.ts';
import { orderTransitions } from '#machines/order.ts';
import { paymentTransitions, type PaymentTrigger } from '#machines/payment.ts';
import { consumeHold, convertHold, endConvertedHold, reclaimHold, returnHold } from '../holds/evolve.ts';
import { claimLines } from '../holds/wanted-lines.ts';
import { countPerks, countUses } from './pricing.ts';
import { invariant, unreachable } from '../invariant.ts';
import { sumOf } from '../money.ts';
import {
  agreedOf,
  awaitsFirstSession,
  isCash,
  hasSealed,
  amendmentsOf,
  isOfOtherAmount,
  isLiveOrder,
  isPaidOrder,
  isPaidFor,
  isSettled,
  isWaiting,
  pendingAmendment,
  performanceIdsOf,
  splitAnew,
  withoutSealed,
  withoutSealedNote,
  type Order,
  type Payment,
} from './order.ts';
import { addTo } from '../collections/maps.ts';
import { buyerKeyOf, countTickets } from './purchase-limits.ts';
import { isLeftOn, MAILS_A_DAY_MAX, openOrder, wantedItemsOf, type Orders, type OrderState } from './state.ts';
import { countRefunds, evolveRefundAnswered, evolveRefundRecorded, evolveRefundRequested } from './refund-facts.ts';
import { noteVoidTickets } from './void-tickets.ts';
import { noteLeft } from '../inventory/performance.ts';
import type { FactData, FactOf, OrderItem } from '../fact.ts';
import { sealingTypeOf } from '../personal.ts';
import { readTracking } from './tracking.ts';
import type { Hold } from '../holds/state.ts';

/** The types of facts that concern orders. */
type OrderFactType =
  | 'OrderPlaced'
  | 'SoldAtCounter'
  | 'PaymentRequested'
  | 'CheckoutSessionOpened'
  | 'PaymentClosed'
  | 'PaymentRecorded'
  | 'StrayMoneyRecorded'
  | 'OrderPaid'
  | 'TicketsIssued'
  | 'OrderExpired'
  | 'OrderCancelled'
  | 'RefundRequested'
  | 'RefundAnswered'
  | 'RefundRecorded'
  | 'MailRequested'
  | 'OrderErased';

type OrderFact = { [Type in OrderFactType]: FactOf<Type> }[OrderFactType];

/** Applies a fact about an order that happened at a moment; the order is packed again when it is settled by it. */
export function evolveOrders(state: OrderState, happened: OrderFact, at: number): void {
  changeOrder(state, happened, () => applyFact(state, happened, at));
}

/** Runs a change of an order, and updates the counts that follow from the order. */
export function changeOrder(
  state: OrderState,
  happened: OrderFact | FactOf<'AmendmentRequested' | 'AmendmentEnded' | 'OrderAmended' | 'TicketScannedByHand'>,
  apply: () => void,
): void {
  const { type } = happened;
  const mayBeSealed = type === 'OrderErased' || (type !== 'OrderPlaced' && sealingTypeOf(type) !== null);
  if (mayBeSealed) countSealed(state.orders, happened.data.orderId, -1);
  countRefunds(state.orders, happened, -1);
  apply();
  if (mayBeSealed) countSealed(state.orders, happened.data.orderId, 1);
  countRefunds(state.orders, happened, 1);
  const order = openOrder(state.orders, happened.data.orderId);
  noteAwaiting(state.orders, order);
  settleOrder(state, order);
}

function applyFact(state: OrderState, { type, data }: OrderFact, at: number): void {
  switch (type) {
    case 'OrderPlaced':
      return evolveOrderPlaced(state, data, at);
    case 'SoldAtCounter':
      return evolveSoldAtCounter(state, data);
    case 'PaymentRequested':
      return evolvePaymentRequested(state, data, at);
    case 'CheckoutSessionOpened':
      return evolveCheckoutSessionOpened(state, data);
    case 'PaymentClosed':
      return evolvePaymentClosed(state, data);
    case 'PaymentRecorded':
      return evolvePaymentRecorded(state, data, at);
    case 'StrayMoneyRecorded':
      return evolveStrayMoneyRecorded(state, data, at);
    case 'OrderPaid':
      return evolveOrderPaid(state, data);
    case 'TicketsIssued':
      return evolveTicketsIssued(state, data);
    case 'OrderExpired':
      return evolveOrderExpired(state, data, at);
    case 'OrderCancelled':
      return evolveOrderCancelled(state, data, at);
    case 'RefundRequested':
      return evolveRefundRequested(state, data, at);
    case 'RefundAnswered':
      return evolveRefundAnswered(state, data, at);
    case 'RefundRecorded':
      return evolveRefundRecorded(state, data, at);
    case 'MailRequested':
      return evolveMailRequested(state, data, at);
    case 'OrderErased':
      return evolveOrderErased(state, data, at);
    default:
      return unreachable(type);
  }
}

function evolveOrderPlaced(state: OrderState, data: FactData['OrderPlaced'], at: number): void {
  const { idempotency: _idempotency, ...purchase } = data;
  const order: Order = {
    id: data.orderId,
    number: state.orders.inOrder.length,
    purchase,
    placedAt: at,
    status: orderTransitions.initial,
    payments: [],
    ticketIds: [],
    refunds: [],
    cancellation: null,
  };
  state.orders.inOrder.append(order);
  countPersonal(state.orders, order);
  convertHold(state, data.holdId, order.id, data.expiresAt);
  countOrder(state, order, 1);
  if (data.firstPaymentId !== null)
    addPayment(state.orders, order, requestedPayment(order, { paymentId: data.firstPaymentId, installment: 1 }, at));
}

function evolveSoldAtCounter(state: OrderState, { orderId, ...counter }: FactData['SoldAtCounter']): void {
  openOrder(state.orders, orderId).counter = counter;
}

function evolvePaymentRequested(state: OrderState, data: FactData['PaymentRequested'], at: number): void {
  const order = openOrder(state.orders, data.orderId);
  addPayment(state.orders, order, requestedPayment(order, data, at));
}

/**
 * A session may also be opened for a payment that ended meanwhile; then only reports about the session can find the
 * payment by it.
 */
function evolveCheckoutSessionOpened(state: OrderState, data: FactData['CheckoutSessionOpened']): void {
  const order = openOrder(state.orders, data.orderId);
  const payment = paymentOf(order, data.paymentId);
  if (payment.status === 'REQUESTED') movePayment(payment, 'OPEN');
  payment.checkoutSessionId = data.checkoutSessionId;
  payment.redirectUrl = data.redirectUrl;
  payment.sessionExpiresAt = data.expiresAt;
  state.orders.inOrder.note(data.checkoutSessionId, order);
}

const triggerOfOutcome = { DECLINED: 'DECLINE', CANCELLED: 'CANCEL', EXPIRED: 'EXPIRE' } as const;

function evolvePaymentClosed(state: OrderState, data: FactData['PaymentClosed']): void {
  movePayment(paymentOf(openOrder(state.orders, data.orderId), data.paymentId), triggerOfOutcome[data.outcome]);
}

function evolvePaymentRecorded(state: OrderState, data: FactData['PaymentRecorded'], at: number): void {
  const order = openOrder(state.orders, data.orderId);
  const payment = paymentOf(order, data.paymentId);
  invariant(payment.amountCents === data.amountCents, 'money of another amount than was asked is stray');
  invariant(!data.isCounted || !isPaidFor(order, payment), 'an installment and an amendment are paid once');
  movePayment(payment, 'PAY');
  payment.paidAt = at;
  payment.isCounted = data.isCounted;
  payment.reference = data.reference;
  payment.webhookId = data.webhookId;
  const { changed } = order;
  // A session that was opened before the order was changed may ask for more than the present amount of its installment.
  if (changed !== undefined && data.isCounted && isOfOtherAmount(order, payment)) {
    const installmentsCents = splitAnew(order, changed.terms.totalCents);
    order.changed = { ...changed, terms: { ...changed.terms, installmentsCents } };
  }
  state.orders.money.notePayment(at, payment, isCash(order, payment));
}

function evolveStrayMoneyRecorded(state: OrderState, data: FactData['StrayMoneyRecorded'], at: number): void {
  const order = openOrder(state.orders, data.orderId);
  const { paymentId, amountCents, currency, strayOf, reference, webhookId } = data;
  const { installment, amendmentId } = paymentOf(order, strayOf);
  const paidFor = { paymentId, installment, ...(amendmentId !== undefined && { amendmentId }) };
  const asked = { ...requestedPayment(order, paidFor, at), amountCents, currency, strayOf };
  const payment: Payment = { ...asked, paidAt: at, reference, webhookId };
  movePayment(payment, 'PAY');
  addPayment(state.orders, order, payment);
  state.orders.money.notePayment(at, payment, isCash(order, payment));
}

/**
 * Tickets that were held are sold, and those of an order that had ended are taken again; further installments move
 * none.
 */
function evolveOrderPaid(state: OrderState, { orderId, trigger }: FactData['OrderPaid']): void {
  const order = openOrder(state.orders, orderId);
  const { holdId } = order.purchase;
  const wasPaid = isPaidOrder(order);
  if (order.status === 'PENDING') consumeHold(state, holdId);
  else if (!isLiveOrder(order)) {
    invariant(
      order.cancellation === null || order.cancellation.cause === 'BUYER',
      'an order that an operator cancelled stays cancelled',
    );
    reclaimHold(state, holdId);
    countOrder(state, order, 1);
    order.cancellation = null;
  }
  order.status = follow(orderTransitions, order.status, trigger);
  if (!wasPaid) countOnOthers(state.orders, order, 1);
}

function evolveTicketsIssued(state: OrderState, { orderId, ticketIds }: FactData['TicketsIssued']): void {
  const order = openOrder(state.orders, orderId);
  invariant(order.ticketIds.length === 0, 'tickets are issued once');
  invariant(
    ticketIds.length === sumOf(agreedOf(order).items, (item) => item.ticketCount),
    'an order has one id for each ticket',
  );
  order.ticketIds = ticketIds;
  for (const ticketId of ticketIds) state.orders.inOrder.note(ticketId, order);
}

function evolveOrderExpired(state: OrderState, { orderId }: FactData['OrderExpired'], at: number): void {
  const order = openOrder(state.orders, orderId);
  order.status = follow(orderTransitions, order.status, 'EXPIRE');
  endConvertedHold(state, order.purchase.holdId, 'EXPIRE', at);
  closePayments(order, 'EXPIRE');
  countOrder(state, order, -1);
}

function evolveOrderCancelled(state: OrderState, data: FactData['OrderCancelled'], at: number): void {
  const { orderId, cause, amendmentId, operator, note, sealedNote } = data;
  const order = openOrder(state.orders, orderId);
  invariant(pendingAmendment(order) === null, 'a pending amendment ends before its order');
  const { holdId } = order.purchase;
  if (order.status === 'PENDING') endConvertedHold(state, holdId, 'RELEASE', at);
  else returnHold(state, holdId);
  countOnOthers(state.orders, order, -1);
  order.status = follow(orderTransitions, order.status, 'CANCEL');
  const sealed = sealedNote !== undefined && { sealedNote };
  order.cancellation = { cause, operator, note, at, ...(amendmentId !== undefined && { amendmentId }), ...sealed };
  closePayments(order, 'CANCEL');
  countOrder(state, order, -1);
  noteVoidTickets(state.orders.voidTickets, order, order.changed?.voidedTickets.length);
}

function evolveMailRequested(state: OrderState, { orderId }: FactData['MailRequested'], at: number): void {
  const order = openOrder(state.orders, orderId);
  order.mailsRequestedAt = [...(order.mailsRequestedAt ?? []), at].slice(-MAILS_A_DAY_MAX);
}

/**
 * What was sealed of the order leaves its state; the hash of the address stays, because the tickets of a live order
 * count for it.
 */
function evolveOrderErased(state: OrderState, data: FactData['OrderErased'], at: number): void {
  const { orderId, operator, cause } = data;
  const order = openOrder(state.orders, orderId);
  const { personal } = order.purchase;
  if (personal !== undefined) order.purchase = { ...order.purchase, personal: { ...personal, sealed: null } };
  if (order.counter !== undefined) order.counter = withoutSealedNote(order.counter);
  if (order.cancellation !== null) order.cancellation = withoutSealedNote(order.cancellation);
  order.refunds.splice(0, Infinity, ...order.refunds.map(withoutSealedNote));
  const { changed } = order;
  if (changed !== undefined) {
    const people = changed.people.map(({ open }) => ({ sealed: null, open }));
    order.changed = { ...changed, amendments: changed.amendments.map(withoutSealed), people };
  }
  delete order.unshownNotes;
  if (order.scanNotes !== undefined) order.scanNotes = order.scanNotes.map(withoutSealedNote);
  order.erasure = { at, operator, cause };
}

/** A try to pay for an installment or an amendment. */
export function requestedPayment(
  order: Order,
  { paymentId, installment, amendmentId }: Omit<FactData['PaymentRequested'], 'orderId'>,
  at: number,
): Payment {
  const { installmentsCents, currency } = agreedOf(order);
  const amendment = amendmentsOf(order).find(({ id }) => id === amendmentId);
  return {
    id: paymentId,
    installment,
    ...(amendmentId !== undefined && { amendmentId }),
    amountCents: amendment?.paid?.toPayCents ?? installmentsCents[installment - 1]!,
    currency,
    status: paymentTransitions.initial,
    createdAt: at,
    paidAt: null,
    checkoutSessionId: null,
    redirectUrl: null,
    sessionExpiresAt: null,
    isCounted: false,
    strayOf: null,
    reference: null,
    webhookId: null,
  };
}

export function addPayment(orders: Orders, order: Order, payment: Payment): void {
  order.payments.push(payment);
  if (payment.amendmentId !== undefined) orders.payingAmendments.add(order.number);
  orders.inOrder.note(payment.id, order);
}

function movePayment(payment: Payment, trigger: PaymentTrigger): void {
  payment.status = follow(paymentTransitions, payment.status, trigger);
}

/** Ends every try that still waits, or those for an amendment. */
export function closePayments(order: Order, trigger: 'EXPIRE' | 'CANCEL', amendmentId?: string): void {
  for (const payment of order.payments) {
    const isMeant = amendmentId === undefined || payment.amendmentId === amendmentId;
    if (isMeant && isWaiting(payment)) movePayment(payment, trigger);
  }
}

function paymentOf(order: Order, paymentId: string): Payment {
  const payment = order.payments.find(({ id }) => id === paymentId);
  invariant(payment !== undefined, `a payment that a fact names is one of its order: ${paymentId}`);
  return payment;
}

// ── what can be erased ───────────────────────────────────────────────────────────────────────────────────────────────

/** Counts a new or restored order by how its personal data are kept. */
function countPersonal(orders: Orders, order: Order): void {
  if (order.purchase.personal === undefined) orders.openCount += 1;
  else if (hasSealed(order)) orders.sealedCount += 1;
}

function countSealed(orders: Orders, orderId: string, sign: 1 | -1): void {
  if (hasSealed(openOrder(orders, orderId))) orders.sealedCount += sign;
}

// ── tallies and packing ──────────────────────────────────────────────────────────────────────────────────────────────

/** Adds a live order to the tallies, or with -1 takes it out (rule 2 of `state.ts`). */
export function countOrder(state: OrderState, order: Order, sign: 1 | -1): void {
  const agreed = agreedOf(order);
  for (const performanceId of performanceIdsOf(order)) addTo(state.orders.liveByPerformance, performanceId, sign);
  countTickets(state.orders.ticketsByBuyer, buyerKeyOf(agreed), agreed.items, sign);
  countUses(state.orders.usesByCode, agreed, sign);
  countPerks(state.perksSold, agreed.items, sign);
}

/** Counts a paid order on its performances where it has several. */
export function countOnOthers({ onOthersByPerformance }: Orders, order: Order, sign: 1 | -1): void {
  if (!isPaidOrder(order) || agreedOf(order).items.length === 1) return;
  const performanceIds = performanceIdsOf(order);
  if (performanceIds.size === 1) return;
  for (const performanceId of performanceIds) addTo(onOthersByPerformance, performanceId, sign);
}

/** Counts what the pending amendment of an order wants. */
export function countWanted({ wantedByPerformance }: Orders, items: readonly OrderItem[], sign: 1 | -1): void {
  for (const performanceId of new Set(items.map((item) => item.performanceId))) {
    addTo(wantedByPerformance, performanceId, sign);
  }
}

/** Notes a performance that was cancelled, where something has to end after it (rule 4 of `state.ts`). */
export function noteCancelled(
  state: OrderState,
  { performanceId, ...cancellation }: FactData['PerformanceCancelled'],
): void {
  if (isLeftOn(state, performanceId)) state.cancelling.set(performanceId, cancellation);
}

/** Called when something may have ended: forgets the cancelled performances on which nothing is left. */
export function forgetDone(state: OrderState): void {
  for (const id of state.cancelling.keys()) if (!isLeftOn(state, id)) state.cancelling.delete(id);
}

/** Notes whether an order awaits its first session; once it does not, it never does again. */
function noteAwaiting({ awaitingSession }: Orders, order: Order): void {
  if (awaitsFirstSession(order)) awaitingSession.add(order.number);
  else awaitingSession.delete(order.number);
}

/** Packs an order and its hold where nothing more is expected to happen to them (rule 3 of `state.ts`). */
function settleOrder(state: OrderState, order: Order): void {
  if (!isSettled(order)) return;
  state.orders.inOrder.settle(order);
  state.holds.byId.settle(order.purchase.holdId, order.number);
}

/** An order as a snapshot keeps it: whole, so that a snapshot needs nothing but itself. */
export type OrderRecord = Order;

/** Restores an order; the tallies and indexes follow from it. */
export function restoreOrder(state: OrderState, record: OrderRecord): void {
  const { purchase } = record;
  const order: Order = { ...record, purchase: { ...purchase, tracking: readTracking(purchase.tracking) } };
  state.orders.inOrder.append(order);
  countPersonal(state.orders, order);
  if (isLiveOrder(order)) countOrder(state, order, 1);
  countOnOthers(state.orders, order, 1);
  noteVoidTickets(state.orders.voidTickets, order);
  state.orders.money.noteOrder(order);
  state.orders.refunds.noteDue(order, 1);
  for (const refund of order.refunds) state.orders.refunds.note(order, refund, 1);
  noteAwaiting(state.orders, order);
  notePending(state, order, true);
  if (order.payments.some(({ amendmentId }) => amendmentId !== undefined)) {
    state.orders.payingAmendments.add(order.number);
  }
  settleOrder(state, order);
}

/** Notes that an amendment of an order is pending, and holds what is wanted; `isKnown`: a snapshot has its seats. */
export function notePending(state: OrderState, order: Order, isKnown = false): void {
  const pending = pendingAmendment(order);
  if (pending === null) return;
  const { expiresAt } = pending.paid!;
  state.orders.pendingAmendments.add(pending.id, order.number, expiresAt);
  const { lines } = pending.asked!.change;
  claimLines(state, { orderId: order.id, holdId: order.purchase.holdId, lines, expiresAt }, isKnown);
  const items = wantedItemsOf(order);
  countWanted(state.orders, items, 1);
  for (const { performanceId } of items) noteLeft(state, performanceId);
}

/** Restores the hold of a settled order, which was restored before. */
export function restoreSettledHold({ holds, orders }: OrderState, hold: Hold): void {
  const order = orders.byId.get(hold.orderId ?? '');
  invariant(order !== undefined, 'the snapshot has the order of a settled hold');
  holds.byId.restoreSettled(hold, order.number);
}
