/**
 * What facts make of orders.
 *
 * The facts are decided in `checkout.ts`, `payments.ts` and `orders.ts`; the tickets of an order move with its hold. Called
 * by `box-office.ts`, in a turn as in a replay; a fact that cannot follow on what was before is a defect.
 */
import { follow } from '#machines/compile.ts';
import { orderLaw } from '#machines/order.ts';
import { paymentLaw, type PaymentTrigger } from '#machines/payment.ts';
import { consumeHold, convertHold, endConvertedHold, reclaimHold, returnHold } from './holds.ts';
import { remember } from './idempotency.ts';
import { invariant, unreachable } from './invariant.ts';
import { sumOf } from './money.ts';
import {
  countOrder,
  isInstallmentPaid,
  isLiveOrder,
  openOrder,
  settleOrder,
  type Order,
  type OrderBook,
  type OrderOffice,
  type Payment,
} from './orders.ts';
import { keepRefund } from './refunds.ts';
import { noteVoidTickets } from './void-tickets.ts';
import type { FactData, FactOf } from './fact.ts';

/** The types of facts that concern orders. */
export type OrderFactType =
  | 'OrderPlaced'
  | 'CheckoutResumed'
  | 'PaymentRequested'
  | 'CheckoutSessionOpened'
  | 'PaymentClosed'
  | 'PaymentRecorded'
  | 'StrayMoneyRecorded'
  | 'OrderPaid'
  | 'TicketsIssued'
  | 'OrderExpired'
  | 'OrderCancelled'
  | 'RefundRecorded';

export type OrderFact = { [Type in OrderFactType]: FactOf<Type> }[OrderFactType];

/** Applies a fact about an order that happened at a moment; the order is packed again when it is settled by it. */
export function evolveOrders(office: OrderOffice, happened: OrderFact, at: number): void {
  applyFact(office, happened, at);
  if (happened.type !== 'CheckoutResumed') settleOrder(office, openOrder(office.orders, happened.data.orderId));
}

function applyFact(office: OrderOffice, { type, data }: OrderFact, at: number): void {
  switch (type) {
    case 'OrderPlaced':
      return evolveOrderPlaced(office, data, at);
    case 'CheckoutResumed':
      return remember(office.idempotency, data.idempotency, at, { of: 'ORDER', orderId: data.orderId });
    case 'PaymentRequested':
      return evolvePaymentRequested(office, data, at);
    case 'CheckoutSessionOpened':
      return evolveCheckoutSessionOpened(office, data);
    case 'PaymentClosed':
      return evolvePaymentClosed(office, data);
    case 'PaymentRecorded':
      return evolvePaymentRecorded(office, data, at);
    case 'StrayMoneyRecorded':
      return evolveStrayMoneyRecorded(office, data, at);
    case 'OrderPaid':
      return evolveOrderPaid(office, data);
    case 'TicketsIssued':
      return evolveTicketsIssued(office, data);
    case 'OrderExpired':
      return evolveOrderExpired(office, data, at);
    case 'OrderCancelled':
      return evolveOrderCancelled(office, data, at);
    case 'RefundRecorded':
      return evolveRefundRecorded(office, data, at);
    default:
      return unreachable(type);
  }
}

function evolveOrderPlaced(office: OrderOffice, data: FactData['OrderPlaced'], at: number): void {
  const { idempotency, ...purchase } = data;
  const order: Order = {
    id: data.orderId,
    number: office.orders.inOrder.length,
    purchase,
    placedAt: at,
    status: orderLaw.initial,
    payments: [],
    ticketIds: [],
    refunds: [],
    cancellation: null,
  };
  office.orders.inOrder.append(order);
  convertHold(office, data.holdId, order.id, data.expiresAt);
  countOrder(office, order, 1);
  if (data.firstPaymentId !== null)
    addPayment(office.orders, order, requestedPayment(order, data.firstPaymentId, 1, at));
  remember(office.idempotency, idempotency, at, { of: 'ORDER', orderId: order.id });
}

function evolvePaymentRequested(office: OrderOffice, data: FactData['PaymentRequested'], at: number): void {
  const order = openOrder(office.orders, data.orderId);
  addPayment(office.orders, order, requestedPayment(order, data.paymentId, data.installment, at));
}

/** A session may also be opened for a payment that ended meanwhile; then it only makes reports of it findable. */
function evolveCheckoutSessionOpened(office: OrderOffice, data: FactData['CheckoutSessionOpened']): void {
  const order = openOrder(office.orders, data.orderId);
  const payment = paymentOf(order, data.paymentId);
  if (payment.status === 'REQUESTED') movePayment(payment, 'OPEN');
  payment.checkoutSessionId = data.checkoutSessionId;
  payment.redirectUrl = data.redirectUrl;
  payment.sessionExpiresAt = data.expiresAt;
  office.orders.inOrder.note(data.checkoutSessionId, order);
}

const triggerOfOutcome = { DECLINED: 'DECLINE', CANCELLED: 'CANCEL', EXPIRED: 'EXPIRE' } as const;

function evolvePaymentClosed(office: OrderOffice, data: FactData['PaymentClosed']): void {
  movePayment(paymentOf(openOrder(office.orders, data.orderId), data.paymentId), triggerOfOutcome[data.outcome]);
}

function evolvePaymentRecorded(office: OrderOffice, data: FactData['PaymentRecorded'], at: number): void {
  const order = openOrder(office.orders, data.orderId);
  const payment = paymentOf(order, data.paymentId);
  invariant(payment.amountCents === data.amountCents, 'money of another amount is stray');
  invariant(!data.isCounted || !isInstallmentPaid(order, payment.installment), 'an installment is paid once');
  movePayment(payment, 'PAY');
  payment.paidAt = at;
  payment.isCounted = data.isCounted;
  payment.reference = data.reference;
  payment.webhookId = data.webhookId;
}

function evolveStrayMoneyRecorded(office: OrderOffice, data: FactData['StrayMoneyRecorded'], at: number): void {
  const order = openOrder(office.orders, data.orderId);
  const { paymentId, amountCents, currency, strayOf, reference, webhookId } = data;
  const { installment } = paymentOf(order, strayOf);
  const asked = { ...requestedPayment(order, paymentId, installment, at), amountCents, currency, strayOf };
  const payment: Payment = { ...asked, paidAt: at, reference, webhookId };
  movePayment(payment, 'PAY');
  addPayment(office.orders, order, payment);
}

/** Tickets that were held are sold, and those of an order that had ended are taken again; further installments move none. */
function evolveOrderPaid(office: OrderOffice, { orderId, trigger }: FactData['OrderPaid']): void {
  const order = openOrder(office.orders, orderId);
  const { holdId } = order.purchase;
  if (order.status === 'PENDING') consumeHold(office, holdId);
  else if (!isLiveOrder(order)) {
    invariant(order.cancellation === null || order.cancellation.cause === 'BUYER', 'an operator cancels for good (5)');
    reclaimHold(office, holdId);
    countOrder(office, order, 1);
    order.cancellation = null;
  }
  order.status = follow(orderLaw, order.status, trigger);
}

function evolveTicketsIssued(office: OrderOffice, { orderId, ticketIds }: FactData['TicketsIssued']): void {
  const order = openOrder(office.orders, orderId);
  invariant(order.ticketIds.length === 0, 'tickets are issued once');
  invariant(ticketIds.length === sumOf(order.purchase.items, (item) => item.ticketCount), 'one id for each ticket');
  order.ticketIds = ticketIds;
  for (const ticketId of ticketIds) office.orders.inOrder.note(ticketId, order);
}

function evolveOrderExpired(office: OrderOffice, { orderId }: FactData['OrderExpired'], at: number): void {
  const order = openOrder(office.orders, orderId);
  order.status = follow(orderLaw, order.status, 'EXPIRE');
  endConvertedHold(office, order.purchase.holdId, 'EXPIRE', at);
  closePayments(order, 'EXPIRE');
  countOrder(office, order, -1);
}

function evolveOrderCancelled(office: OrderOffice, data: FactData['OrderCancelled'], at: number): void {
  const { orderId, cause, operator, note } = data;
  const order = openOrder(office.orders, orderId);
  const { holdId } = order.purchase;
  if (order.status === 'PENDING') endConvertedHold(office, holdId, 'RELEASE', at);
  else returnHold(office, holdId);
  order.status = follow(orderLaw, order.status, 'CANCEL');
  order.cancellation = { cause, operator, note, at };
  closePayments(order, 'CANCEL');
  countOrder(office, order, -1);
  noteVoidTickets(office.orders.voidTickets, order);
}

function evolveRefundRecorded(office: OrderOffice, data: FactData['RefundRecorded'], at: number): void {
  keepRefund(openOrder(office.orders, data.orderId), data, at);
}

function requestedPayment(order: Order, paymentId: string, installment: number, at: number): Payment {
  const { installmentsCents, currency } = order.purchase;
  return {
    id: paymentId,
    installment,
    amountCents: installmentsCents[installment - 1]!,
    currency,
    status: paymentLaw.initial,
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

function addPayment(orders: OrderBook, order: Order, payment: Payment): void {
  order.payments.push(payment);
  orders.inOrder.note(payment.id, order);
}

function movePayment(payment: Payment, trigger: PaymentTrigger): void {
  payment.status = follow(paymentLaw, payment.status, trigger);
}

/** Ends every try that still waits. */
function closePayments(order: Order, trigger: 'EXPIRE' | 'CANCEL'): void {
  for (const payment of order.payments) {
    if (payment.status === 'REQUESTED' || payment.status === 'OPEN') movePayment(payment, trigger);
  }
}

function paymentOf(order: Order, paymentId: string): Payment {
  const payment = order.payments.find(({ id }) => id === paymentId);
  invariant(payment !== undefined, `a fact names a payment that its order does not have: ${paymentId}`);
  return payment;
}
