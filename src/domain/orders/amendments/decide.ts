/**
 * Amendments of orders that were paid: quoted, and applied in one turn.
 *
 * 1. All of it or nothing: one fact has everything that changes (`OrderAmended`).
 * 2. Sessions of installments that are of another amount now are closed.
 */
import { fact, type Fact, type FactData } from '../../fact.ts';
import type { TurnIds } from '../../ids.ts';
import { isRefusal, refuse, type Refusal } from '../../refusal.ts';
import { sealMark } from '../erasure.ts';
import { amendmentsOf, isOfOtherAmount, isWaiting, refundDueCents, type Order } from '../order.ts';
import { requestsOfDue } from '../refund-requests.ts';
import { orderById, type OrderState, type OrderTurn } from '../state.ts';
import { planAmendment } from './plan.ts';
import type { AmendmentPlan } from './settlement.ts';
import { checkQuote, quoteOf, type QuoteTurn } from './quotes.ts';
import type { AmendedBy, CommandOf } from '../../command.ts';
import type { Decision } from '../../decision.ts';
import type { AmendmentView } from '../../view.ts';
import type { AmendmentQuote, AmendmentRequest } from '../../amendment-request.ts';

/** What an amendment would do now. ORDER_NOT_FOUND, and as `planAmendment`. */
export function quoteAmendment(
  state: OrderState,
  { orderId, by, request }: { readonly orderId: string; readonly by: AmendedBy; readonly request: AmendmentRequest },
  turn: QuoteTurn,
): AmendmentQuote | Refusal {
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  const plan = planAmendment(state, order, request, { by, now: turn.now });
  return isRefusal(plan) ? plan : quoteOf({ orderId, by, request, ...plan }, turn);
}

/** An amendment of an order: ORDER_NOT_FOUND, NOT_FOUND. */
export function findAmendment(
  state: OrderState,
  { orderId, amendmentId }: { readonly orderId: string; readonly amendmentId: string },
): AmendmentView | Refusal {
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  return amendmentsOf(order).find(({ id }) => id === amendmentId) ?? refuse('NOT_FOUND', {});
}

/** Amends an order. ORDER_NOT_FOUND, as `planAmendment`, and QUOTE_STALE. */
export function decideAmendOrder(
  state: OrderState,
  command: CommandOf<'AmendOrder'>,
  turn: OrderTurn,
): Decision | Refusal {
  const { orderId, by, request, quote } = command;
  const order = orderById(state, orderId);
  if (isRefusal(order)) return order;
  const plan = planAmendment(state, order, request, { by, now: turn.now });
  if (isRefusal(plan)) return plan;
  const stale = quote === null ? null : checkQuote(quote, { orderId, by, request, ...plan }, turn);
  if (stale !== null) return stale;
  const amendmentId = turn.newId('amd');
  return {
    facts: factsOfAmendment(
      state,
      order,
      plan,
      { amendmentId, ...sealMark(orderId, 'OrderAmended', command, turn), ...sealAttendees(orderId, request, turn) },
      turn,
    ),
    reply: { shows: 'AMENDMENT', orderId, amendmentId },
  };
}

/** The facts of an amendment as it was planned, with what it says beside that. */
export function factsOfAmendment(
  state: OrderState,
  order: Order,
  { change, after }: AmendmentPlan,
  said: Omit<FactData['OrderAmended'], keyof AmendmentPlan['change']>,
  turn: OrderTurn,
): readonly Fact[] {
  const { id: orderId } = order;
  const { amendmentId, operator, note } = said;
  const { by: cause } = change;
  const facts: Fact[] = [fact('OrderAmended', { ...withNewTickets(change, turn), ...said })];
  for (const { id: paymentId } of outdatedPayments(order, after)) {
    facts.push(fact('PaymentClosed', { orderId, paymentId, outcome: 'EXPIRED', webhookId: null }));
  }
  if (change.ticketIds.length === 0) {
    // The note of a cancelled date is about no order.
    const by = { operator, note: cause === 'PERFORMANCE' ? note : null };
    facts.push(fact('OrderCancelled', { orderId, cause, amendmentId, ...by, refundDueCents: refundDueCents(after) }));
  }
  const isAutomatic = state.plan.definition.refunds === 'AUTOMATIC';
  return isAutomatic ? [...facts, ...requestsOfDue(after, turn)] : facts;
}

/** The change with an id for each ticket that is issued. */
function withNewTickets(change: AmendmentPlan['change'], ids: TurnIds): AmendmentPlan['change'] {
  const newIds = new Map<string, string>();
  const tickets = change.tickets.map((ticket) => {
    if (ticket.action !== 'CHANGE' && ticket.action !== 'REISSUE') return ticket;
    const newTicketId = ids.newId('tkt');
    newIds.set(ticket.ticketId, newTicketId);
    return { ...ticket, newTicketId };
  });
  if (newIds.size === 0) return change;
  return { ...change, tickets, ticketIds: change.ticketIds.map((ticketId) => newIds.get(ticketId) ?? ticketId) };
}

/** The people that an amendment names, for its fact. */
function sealAttendees(
  orderId: string,
  { attendees = [] }: AmendmentRequest,
  { sealing }: OrderTurn,
): Pick<FactData['OrderAmended'], 'attendees' | 'sealedAttendees'> {
  if (attendees.length === 0) return {};
  const people = attendees.map(({ attendee }) => attendee);
  if (sealing === null) return { attendees: people };
  return { sealedAttendees: sealing.seal(orderId, 'OrderAmended', people) };
}

/** Payments that wait for another amount than their installment is of now (rule 2). */
function outdatedPayments(order: Order, after: Order): Order['payments'] {
  return order.payments.filter((payment) => isWaiting(payment) && isOfOtherAmount(after, payment));
}
