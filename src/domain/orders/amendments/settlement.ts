/**
 * The sums of an amendment whose tickets and places are settled, for its quote and its facts, and what else is written
 * when it is applied: ids of new tickets, and the ends of payments whose amount has changed.
 *
 * 1. An amount that is not charged (goodwill) stays with its tickets: it is taken off their credit later.
 * 2. A positive difference is paid at once, apart from the unpaid rest of the order, which stays as it was.
 */
import { placeNames } from '../../catalogue/sale-plan.ts';
import { AMOUNT_CENTS_MAX, isAmount } from '../../money.ts';
import { refuseProblems, type Refusal } from '../../refusal.ts';
import { requestedPayment } from '../evolve.ts';
import {
  agreedOf,
  isOfOtherAmount,
  isWaiting,
  refundDueCents,
  remainingCents,
  splitAnew,
  type Order,
  type Payment,
} from '../order.ts';
import { hasPromo, totalOf } from '../pricing.ts';
import { amendedOrder } from './evolve.ts';
import { itemsOf, linesOf, slotsOf, type OrderUnit, type TicketSlot } from './units.ts';
import type { QuotedAmendment, QuotedTicket } from '../../amendment-request.ts';
import {
  fact,
  type AmendedTicket,
  type AmendmentTerms,
  type CancellationCause,
  type Fact,
  type FactData,
} from '../../fact.ts';
import type { TurnIds } from '../../ids.ts';
import type { OrderState } from '../state.ts';

type Named = 'amendmentId' | 'operator' | 'note' | 'sealedNote' | 'attendees' | 'sealedAttendees';

/** The fields of the fact that a plan settles; its new tickets have no ids yet. */
type Change = Omit<FactData['OrderAmended'], Named>;

/** The fields that stay the same whatever is paid until the amendment is applied. */
type Terms = Omit<AmendmentTerms, Named>;

export interface AmendmentPlan {
  readonly quoted: QuotedAmendment;
  readonly terms: Terms;
  readonly change: Change;
  /** The order as the change leaves it. */
  readonly after: Order;
  /** When the plan could be another; null where that is not foreseen. */
  readonly endsAt: number | null;
}

/** The action on a ticket, and its former unit. */
export interface PlannedTicket
  extends Omit<AmendedTicket, 'newTicketId'>, Pick<QuotedTicket, 'creditCents' | 'priceCents'> {
  readonly unit: OrderUnit;
}

interface Settled {
  /** The units that the order has from now on, by its items. */
  readonly groups: readonly (readonly OrderUnit[])[];
  readonly tickets: readonly PlannedTicket[];
  readonly perksCreditCents: number;
  readonly creditCents: number;
  readonly chargeCents: number;
  /** The part of the order's goodwill that its leaving tickets take along. */
  readonly goodwillGoneCents: number;
  readonly feeCents: number;
  readonly isGoodwill: boolean;
  readonly isWithdrawal: boolean;
  readonly by: CancellationCause;
  /** When the plan could be another; null where that is not foreseen. */
  readonly endsAt: number | null;
}

/** The plan of an amendment: VALIDATION_ERROR where the total would exceed the limit of all orders. */
export function settle(state: OrderState, order: Order, settled: Settled): AmendmentPlan | Refusal {
  const { groups, perksCreditCents, creditCents, chargeCents, feeCents, isWithdrawal, by } = settled;
  const differenceCents = chargeCents + feeCents - creditCents;
  const waivedCents = settled.isGoodwill ? Math.max(0, differenceCents) : 0;
  const toPayCents = Math.max(0, differenceCents) - waivedCents;
  const tickets = withGoodwill(settled.tickets, waivedCents);
  const hold = state.holds.byId.get(order.purchase.holdId);
  const items = itemsOf(order, groups);
  const units = groups.flat();
  const { promoCode } = agreedOf(order);
  const feesCents = (order.changed?.feesCents ?? 0) + feeCents;
  const goodwillBefore = order.changed?.goodwillCents ?? 0;
  const goodwillCents = goodwillBefore - settled.goodwillGoneCents + waivedCents;
  const totalCents = Math.max(0, totalOf(items) + feesCents - goodwillCents);
  if (!isAmount(totalCents)) {
    return refuseProblems([{ path: ['change'], message: `the order comes to more than ${AMOUNT_CENTS_MAX} cents` }]);
  }
  const terms: Terms = {
    orderId: order.id,
    by,
    tickets: tickets.map(({ unit: _unit, creditCents: _credit, priceCents: _price, ...ticket }) => ticket),
    ticketIds: slotsOf(units).map(({ ticketId }) => ticketId),
    items,
    lines: linesOf(items, hold?.lines ?? []),
    promoCode: items.some((item) => hasPromo(state.plan, promoCode, item)) ? promoCode : null,
    totalCents,
    feesCents,
    ...(goodwillCents > 0 && { goodwillCents }),
    differenceCents,
    feeCents,
    ...(isWithdrawal && { isWithdrawal: true as const }),
  };
  const { change, after } = changeBy(order, terms, toPayCents);
  return {
    quoted: {
      tickets: quotedTickets(state, tickets, units),
      perksCreditCents,
      creditCents,
      chargeCents,
      feeCents,
      differenceCents,
      toPayCents,
      toRefundCents: change.toRefundCents,
      totalCents,
      remainingCents: remainingCents(after),
      currency: order.purchase.currency,
    },
    terms,
    change,
    after,
    endsAt: settled.endsAt,
  };
}

/** The change of an order by an amendment's terms, when so much is paid for the amendment (rule 2). */
export function changeBy(
  order: Order,
  terms: Terms,
  paidCents: number,
): { readonly change: Change; readonly after: Order } {
  const { totalCents } = terms;
  const paid = paidCents === 0 ? order : withMoney(order, paidCents);
  const isCovered = order.status === 'PARTIALLY_PAID' && remainingCents(paid, totalCents) === 0;
  const change = {
    ...terms,
    installmentsCents: splitAnew(paid, totalCents),
    ...(isCovered && { trigger: 'COVER' as const }),
  };
  const after = amendedOrder(paid, change, null);
  const refundDue = refundDueCents(after);
  const toRefundCents = Math.max(0, refundDue - refundDueCents(order));
  return { change: { ...change, toRefundCents, refundDueCents: refundDue }, after };
}

/** The order with so much more paid. */
function withMoney(order: Order, amountCents: number): Order {
  const about = { paymentId: '', installment: 0, amendmentId: '' };
  const payment: Payment = { ...requestedPayment(order, about, 0), amountCents, status: 'PAID', isCounted: true };
  return { ...order, payments: [...order.payments, payment] };
}

/**
 * Puts the goodwill on the tickets that are charged, in their order (rule 1), and the rest on the first ticket that
 * stays. There is one, because the fee of tickets that are given back is at most their credit.
 */
function withGoodwill(tickets: readonly PlannedTicket[], cents: number): readonly PlannedTicket[] {
  let left = cents;
  const shared = tickets.map((ticket): PlannedTicket => {
    const goodwillCents = Math.min(left, ticket.priceCents);
    left -= goodwillCents;
    return goodwillCents === 0 ? ticket : { ...ticket, goodwillCents };
  });
  const first = shared.findIndex(({ action }) => action !== 'CANCEL');
  return left === 0 ? shared : shared.map((ticket, index) => (index === first ? plusGoodwill(ticket, left) : ticket));
}

function plusGoodwill(ticket: PlannedTicket, cents: number): PlannedTicket {
  const { origin } = ticket.unit.slots.find(({ ticketId }) => ticketId === ticket.ticketId)!;
  return { ...ticket, goodwillCents: (ticket.goodwillCents ?? origin.goodwillCents ?? 0) + cents };
}

function quotedTickets(
  { plan }: OrderState,
  tickets: readonly PlannedTicket[],
  units: readonly OrderUnit[],
): readonly QuotedTicket[] {
  const named = new Set(tickets.flatMap(({ ticketId, action }) => (action === 'CHANGE' ? [ticketId] : [])));
  const now = new Map<string, { readonly unit: OrderUnit; readonly slot: TicketSlot }>();
  for (const unit of named.size === 0 ? [] : units) {
    for (const slot of unit.slots) if (named.has(slot.ticketId)) now.set(slot.ticketId, { unit, slot });
  }
  return tickets.map(({ ticketId, action, creditCents, priceCents, unit: before }) => {
    const slotBefore = before.slots.find((slot) => slot.ticketId === ticketId)!;
    const { unit, slot } = now.get(ticketId) ?? { unit: before, slot: slotBefore };
    const { ticketTypeId, sellingStageId, performanceId } = unit;
    const { seatId } = slot;
    return {
      ticketId,
      action,
      creditCents,
      priceCents,
      ticketTypeId,
      sellingStageId,
      performanceId,
      seatId,
      ...placeNames(plan, ticketTypeId, seatId),
    };
  });
}

// ── applied ──────────────────────────────────────────────────────────────────────────────────────────────────────────

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
