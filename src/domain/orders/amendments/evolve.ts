/**
 * Applies the facts of an amendment to an order, its hold and the counts over both.
 *
 * 1. An order without a ticket left keeps those that it last had, and their items: it is cancelled by the fact that
 *    follows.
 * 2. An order whose first amendment is pending is a changed order with the tickets and items of its purchase.
 * 3. The fact that applies a paid amendment has what changes in its order. The fact that requested it has the people
 *    and the note.
 */
import { amendmentTransitions, type AmendmentStatus } from '#machines/amendment.ts';
import { follow } from '#machines/compile.ts';
import { orderTransitions } from '#machines/order.ts';
import { amendHold } from '../../holds/evolve.ts';
import { endClaim } from '../../holds/wanted-lines.ts';
import { invariant } from '../../invariant.ts';
import {
  addPayment,
  changeOrder,
  closePayments,
  countOnOthers,
  countOrder,
  countWanted,
  notePending,
  requestedPayment,
} from '../evolve.ts';
import { agreedOf, amendmentsOf, countApplied, providerOf } from '../order.ts';
import type { AmendmentRecord, ChangedOrder, Order } from '../order.ts';
import { openOrder, type OrderState } from '../state.ts';
import { noteVoidTickets } from '../void-tickets.ts';
import { addUpTickets, originsOf } from './tickets.ts';
import type { AmendmentTerms, FactData, FactOf, OperatorNote } from '../../fact.ts';
import type { SealedPeople } from '../../personal.ts';

type Amended = FactData['OrderAmended'];

/** The fields of the fact that decide what the order has and keeps. */
type OrderChange = Pick<
  Amended,
  'ticketIds' | 'items' | 'promoCode' | 'totalCents' | 'installmentsCents' | 'feesCents' | 'goodwillCents'
>;

/**
 * An order after a change, which may name people. The origins of its tickets and its amendments are still as before.
 */
export function amendedOrder(
  order: Order,
  change: OrderChange,
  named: SealedPeople | null,
): Order & { readonly changed: ChangedOrder } {
  const { ticketIds, items, promoCode, totalCents, installmentsCents, feesCents, goodwillCents = 0 } = change;
  const people = order.changed?.people ?? [];
  const before = agreedOf(order);
  const { paymentProvider } = order.changed?.terms ?? {};
  const isEmpty = ticketIds.length === 0;
  const { origins = [], voidedTickets = [] } = order.changed ?? {};
  const changed: ChangedOrder = {
    terms: {
      items: isEmpty ? before.items : items,
      promoCode: isEmpty ? before.promoCode : promoCode,
      totalCents,
      installmentsCents,
      ...(paymentProvider !== undefined && { paymentProvider }),
    },
    origins,
    voidedTickets,
    amendments: amendmentsOf(order),
    feesCents,
    goodwillCents,
    people: named === null ? people : [...people, named],
  };
  return { ...order, changed, ticketIds: isEmpty ? order.ticketIds : ticketIds };
}

// ── applied ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export function evolveOrderAmended(state: OrderState, happened: FactOf<'OrderAmended'>, at: number): void {
  changeOrder(state, happened, () => applyAmended(state, happened.data, at));
}

function applyAmended(state: OrderState, data: Amended, at: number): void {
  const order = openOrder(state.orders, data.orderId);
  const known = amendmentsOf(order).find(({ id }) => id === data.amendmentId);
  if (known?.status === 'PENDING') stopAwaiting(state, known, order);
  const before = { ...order };
  const named = known === undefined ? peopleOf(data) : (known.asked?.people ?? null);
  const { changed, ticketIds } = amendedOrder(order, data, named);
  const tickets = addUpTickets(order, data, at);
  if (data.trigger !== undefined) order.status = follow(orderTransitions, order.status, data.trigger);
  order.ticketIds = ticketIds;
  order.changed = { ...changed, ...tickets };
  noteAmendment(order, known === undefined ? appliedAtOnce(data, at) : applied(known, data, at));
  if (data.ticketIds.length === 0) return;
  // The order is counted with its new items first, so that a date on which it stays is never without orders.
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

/** The people that a fact names; null where it names none. */
function peopleOf({
  sealedAttendees: sealed,
  attendees: open,
}: Pick<AmendmentTerms, 'sealedAttendees' | 'attendees'>): SealedPeople | null {
  return sealed === undefined && open === undefined ? null : { sealed: sealed ?? null, open: open ?? null };
}

function appliedAtOnce(data: Amended, at: number): AmendmentRecord {
  const status = follow(amendmentTransitions, amendmentTransitions.initial, 'APPLY');
  return recordOf(data, status, data.toRefundCents, at);
}

/** One that was asked for before. */
function applied({ asked: _asked, paid, ...record }: AmendmentRecord, data: Amended, at: number): AmendmentRecord {
  const { tickets, toRefundCents } = data;
  invariant(paid !== undefined, 'an amendment that was asked for is paid');
  const status = follow(amendmentTransitions, record.status, record.status === 'PENDING' ? 'APPLY' : 'APPLY_LATE');
  return { ...record, status, toRefundCents, tickets, paid: { ...paid, appliedAt: at } };
}

function recordOf(
  data: AmendmentTerms & OperatorNote,
  status: AmendmentStatus,
  toRefundCents: number,
  at: number,
): AmendmentRecord {
  const { amendmentId: id, by, differenceCents, feeCents, tickets, operator, note, isWithdrawal, sealedNote } = data;
  const noted = {
    operator,
    note,
    ...(isWithdrawal === true && { isWithdrawal }),
    ...(sealedNote !== undefined && { sealedNote }),
  };
  return { id, status, by, createdAt: at, differenceCents, feeCents, toRefundCents, tickets, ...noted };
}

/** Replaces the record with the same id, or adds this one at the end. */
function noteAmendment(order: Order, record: AmendmentRecord): void {
  const { amendments } = order.changed!;
  const index = amendments.findIndex(({ id }) => id === record.id);
  order.changed = {
    ...order.changed!,
    amendments: index < 0 ? [...amendments, record] : amendments.with(index, record),
  };
}

// ── asked for, and ended ─────────────────────────────────────────────────────────────────────────────────────────────

export function evolveAmendmentRequested(state: OrderState, happened: FactOf<'AmendmentRequested'>, at: number): void {
  changeOrder(state, happened, () => {
    const { data } = happened;
    const order = openOrder(state.orders, data.orderId);
    order.changed = asBought(order, data);
    noteAmendment(order, requested(order, data, at));
    const about = { paymentId: data.paymentId, installment: 0, amendmentId: data.amendmentId };
    addPayment(state.orders, order, requestedPayment(order, about, at));
    notePending(state, order);
  });
}

/** The data that a changed order keeps (rule 2); where it had no provider, with its provider from now on. */
function asBought(order: Order, { paymentProvider }: FactData['AmendmentRequested']): ChangedOrder {
  const { items, promoCode, totalCents, installmentsCents } = order.purchase;
  const changed = order.changed ?? {
    terms: { items, promoCode, totalCents, installmentsCents },
    origins: originsOf(order),
    voidedTickets: [],
    amendments: [],
    feesCents: 0,
    goodwillCents: 0,
    people: [],
  };
  if (providerOf(order) !== null) return changed;
  return { ...changed, terms: { ...changed.terms, paymentProvider } };
}

function requested(order: Order, data: FactData['AmendmentRequested'], at: number): AmendmentRecord {
  const { amendmentId: id, toPayCents, expiresAt, successUrl, cancelUrl } = data;
  const { tickets, ticketIds, items, lines, promoCode, totalCents, feesCents, goodwillCents, isWithdrawal } = data;
  const optional = {
    ...(goodwillCents !== undefined && { goodwillCents }),
    ...(isWithdrawal !== undefined && { isWithdrawal }),
  };
  const change = { tickets, ticketIds, items, lines, promoCode, totalCents, feesCents, ...optional };
  return {
    ...recordOf(data, amendmentTransitions.initial, 0, at),
    paid: { id, expiresAt, successUrl, cancelUrl, toPayCents, appliedAt: null },
    asked: { change, people: peopleOf(data), appliedBefore: countApplied(order) },
  };
}

export function evolveAmendmentEnded(state: OrderState, happened: FactOf<'AmendmentEnded'>): void {
  changeOrder(state, happened, () => {
    const { orderId, amendmentId, outcome } = happened.data;
    const order = openOrder(state.orders, orderId);
    const known = amendmentsOf(order).find(({ id }) => id === amendmentId);
    invariant(known !== undefined, 'an amendment that ends was asked for');
    const trigger = outcome === 'EXPIRED' ? 'EXPIRE' : 'CANCEL';
    noteAmendment(order, { ...known, status: follow(amendmentTransitions, known.status, trigger) });
    stopAwaiting(state, known, order);
    closePayments(order, trigger, amendmentId);
  });
}

/** Its payment is no longer awaited: the places that it held are free. */
function stopAwaiting(state: OrderState, { id, asked }: AmendmentRecord, order: Order): void {
  state.orders.pendingAmendments.delete(id);
  countWanted(state.orders, asked!.change.items, -1);
  endClaim(state, order.id);
}
