/** Facts and data of an applied amendment: its new tickets, and the ends of payments whose amount has changed. */
import { fact, type Fact } from '../../fact.ts';
import type { TurnIds } from '../../ids.ts';
import { isOfOtherAmount, isWaiting, type Order } from '../order.ts';
import type { AmendmentPlan } from './settlement.ts';

/** The change with an id for each ticket that is issued. */
export function withNewTickets(change: AmendmentPlan['change'], ids: TurnIds): AmendmentPlan['change'] {
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

/** Closes waiting payments whose amount differs from the present amount of their installment. */
export function closeOutdated({ id: orderId, payments }: Order, after: Order): readonly Fact[] {
  return payments
    .filter((payment) => isWaiting(payment) && isOfOtherAmount(after, payment))
    .map(({ id: paymentId }) => fact('PaymentClosed', { orderId, paymentId, outcome: 'EXPIRED', webhookId: null }));
}
