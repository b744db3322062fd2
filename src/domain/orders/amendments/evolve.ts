/**
 * What the fact of an amendment makes of an order, its hold and what counts them.
 *
 * 1. An order without a ticket left keeps those that it last had, and their items: it is cancelled by the fact that
 *    follows.
 */
import { follow } from '#machines/compile.ts';
import { orderTransitions } from '#machines/order.ts';
import { amendHold } from '../../holds/evolve.ts';
import { addUpTickets } from './tickets.ts';
import { changeOrder, countOnOthers, countOrder } from '../evolve.ts';
import { agreedOf, amendmentsOf, type ChangedOrder, type Order } from '../order.ts';
import { openOrder, type OrderState } from '../state.ts';
import { noteVoidTickets } from '../void-tickets.ts';
import type { FactData, FactOf } from '../../fact.ts';
import type { AmendmentView } from '../../view.ts';

type Amended = FactData['OrderAmended'];

/** What of the fact decides what the order has and keeps. */
type OrderChange = Pick<
  Amended,
  | 'ticketIds'
  | 'items'
  | 'promoCode'
  | 'totalCents'
  | 'installmentsCents'
  | 'feesCents'
  | 'goodwillCents'
  | 'attendees'
  | 'sealedAttendees'
>;

/** What an order comes to after a change; where its tickets come from, and its amendments, are still as before. */
export function amendedOrder(order: Order, change: OrderChange): Order & { readonly changed: ChangedOrder } {
  const { ticketIds, items, promoCode, totalCents, installmentsCents, feesCents, goodwillCents = 0 } = change;
  const { sealedAttendees = null, attendees = null } = change;
  const people = order.changed?.people ?? [];
  const before = agreedOf(order);
  const isEmpty = ticketIds.length === 0;
  const { origins = [], voidedTickets = [] } = order.changed ?? {};
  const changed: ChangedOrder = {
    terms: {
      items: isEmpty ? before.items : items,
      promoCode: isEmpty ? before.promoCode : promoCode,
      totalCents,
      installmentsCents,
    },
    origins,
    voidedTickets,
    amendments: amendmentsOf(order),
    feesCents,
    goodwillCents,
    people:
      sealedAttendees === null && attendees === null
        ? people
        : [...people, { sealed: sealedAttendees, open: attendees }],
  };
  return { ...order, changed, ticketIds: isEmpty ? order.ticketIds : ticketIds };
}

export function evolveOrderAmended(state: OrderState, happened: FactOf<'OrderAmended'>, at: number): void {
  changeOrder(state, happened, () => applyAmended(state, happened.data, at));
}

function applyAmended(state: OrderState, data: Amended, at: number): void {
  const order = openOrder(state.orders, data.orderId);
  const before = { ...order };
  const { changed, ticketIds } = amendedOrder(order, data);
  const tickets = addUpTickets(order, data, at);
  if (data.trigger !== undefined) order.status = follow(orderTransitions, order.status, data.trigger);
  order.ticketIds = ticketIds;
  order.changed = { ...changed, ...tickets, amendments: [...amendmentsOf(order), amendmentOf(data, at)] };
  if (data.ticketIds.length === 0) return;
  // First what the order has now: a date that it stays on is not without orders in between.
  for (const [then, sign] of [
    [order, 1],
    [before, -1],
  ] as const) {
    countOrder(state, then, sign);
    countOnOthers(state.orders, then, sign);
  }
  amendHold(state, order.purchase.holdId, data.lines);
  for (const { newTicketId } of data.tickets) {
    if (newTicketId !== undefined) state.orders.inOrder.note(newTicketId, order);
  }
  noteVoidTickets(state.orders.voidTickets, order, before.changed?.voidedTickets.length);
}

function amendmentOf(data: Amended, at: number): AmendmentView {
  const { amendmentId: id, by, differenceCents, feeCents, toRefundCents, tickets, operator, note } = data;
  const { isWithdrawal, sealedNote } = data;
  return {
    id,
    status: 'APPLIED',
    by,
    createdAt: at,
    differenceCents,
    feeCents,
    toRefundCents,
    tickets,
    operator,
    note,
    ...(isWithdrawal === true && { isWithdrawal }),
    ...(sealedNote !== undefined && { sealedNote }),
  };
}
