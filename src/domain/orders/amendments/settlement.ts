/**
 * The sums of an amendment whose tickets and places are settled, for its quote and its fact.
 *
 * 1. What is not charged goes with the tickets that it was not charged for: it is taken off what they are credited with
 *    later.
 */
import { placeNames } from '../../catalogue/sale-plan.ts';
import { refuse, refuseProblems, type Refusal } from '../../refusal.ts';
import { agreedOf, refundDueCents, remainingCents, splitAnew, type Order } from '../order.ts';
import { hasPromo, totalOf } from '../pricing.ts';
import { amendedOrder } from './evolve.ts';
import { itemsOf, linesOf, type OrderUnit, type TicketSlot } from './units.ts';
import type { QuotedAmendment, QuotedTicket } from '../../amendment-request.ts';
import type { AmendedTicket, CancellationCause, FactData } from '../../fact.ts';
import type { OrderState } from '../state.ts';

/** The fields of the fact that a plan settles; its new tickets have no ids yet. */
type Change = Omit<
  FactData['OrderAmended'],
  'amendmentId' | 'operator' | 'note' | 'sealedNote' | 'attendees' | 'sealedAttendees'
>;

export interface AmendmentPlan {
  readonly quoted: QuotedAmendment;
  readonly change: Change;
  /** The order as the change leaves it. */
  readonly after: Order;
  /** When the plan could be another; null where that is not foreseen. */
  readonly endsAt: number | null;
}

/** What is done to a ticket, and the unit that it was of. */
export interface PlannedTicket
  extends Omit<AmendedTicket, 'newTicketId'>, Pick<QuotedTicket, 'creditCents' | 'priceCents'> {
  readonly unit: OrderUnit;
}

interface Settled {
  /** The units that the order has from now on, in the order of its items. */
  readonly units: readonly OrderUnit[];
  readonly tickets: readonly PlannedTicket[];
  readonly perksCreditCents: number;
  readonly creditCents: number;
  readonly chargeCents: number;
  /** What of the order's goodwill goes with tickets. */
  readonly goodwillGoneCents: number;
  readonly feeCents: number;
  readonly isGoodwill: boolean;
  readonly isWithdrawal: boolean;
  readonly by: CancellationCause;
  /** When the plan could be another; null where that is not foreseen. */
  readonly endsAt: number | null;
}

/**
 * The plan of an amendment. Where it costs something: AMENDMENT_NOT_ALLOWED to a buyer, VALIDATION_ERROR to an operator
 * who does not say that it is not charged.
 */
export function settle(state: OrderState, order: Order, settled: Settled): AmendmentPlan | Refusal {
  const { units, perksCreditCents, creditCents, chargeCents, feeCents, isWithdrawal, by } = settled;
  const differenceCents = chargeCents + feeCents - creditCents;
  if (differenceCents > 0 && by === 'BUYER') {
    return refuse('AMENDMENT_NOT_ALLOWED', { reason: 'NOT_OFFERED', until: null });
  }
  if (differenceCents > 0 && !settled.isGoodwill) {
    const message = `must be true: the amendment costs ${differenceCents} more, which cannot be paid afterwards`;
    return refuseProblems([{ path: ['goodwill'], message }]);
  }
  const tickets = withGoodwill(settled.tickets, Math.max(0, differenceCents));
  const hold = state.holds.byId.get(order.purchase.holdId);
  const items = itemsOf(order, units);
  const { promoCode } = agreedOf(order);
  const feesCents = (order.changed?.feesCents ?? 0) + feeCents;
  const goodwillBefore = order.changed?.goodwillCents ?? 0;
  const goodwillCents = goodwillBefore - settled.goodwillGoneCents + Math.max(0, differenceCents);
  const totalCents = Math.max(0, totalOf(items) + feesCents - goodwillCents);
  const isCovered = order.status === 'PARTIALLY_PAID' && remainingCents(order, totalCents) === 0;
  const change: Omit<Change, 'refundDueCents' | 'toRefundCents'> = {
    orderId: order.id,
    by,
    tickets: tickets.map(({ unit: _unit, creditCents: _credit, priceCents: _price, ...ticket }) => ticket),
    ticketIds: units.flatMap(({ slots }) => slots.map(({ ticketId }) => ticketId)),
    items,
    lines: linesOf(items, hold?.lines ?? []),
    promoCode: items.some((item) => hasPromo(state.plan, promoCode, item)) ? promoCode : null,
    totalCents,
    feesCents,
    ...(goodwillCents > 0 && { goodwillCents }),
    installmentsCents: splitAnew(order, totalCents),
    differenceCents,
    feeCents,
    ...(isCovered && { trigger: 'COVER' as const }),
    ...(isWithdrawal && { isWithdrawal: true as const }),
  };
  const after = amendedOrder(order, change);
  const refundDue = refundDueCents(after);
  const toRefundCents = Math.max(0, refundDue - refundDueCents(order));
  return {
    quoted: {
      tickets: quotedTickets(state, tickets, units),
      perksCreditCents,
      creditCents,
      chargeCents,
      feeCents,
      differenceCents,
      toPayCents: 0,
      toRefundCents,
      totalCents,
      remainingCents: remainingCents(after),
      currency: order.purchase.currency,
    },
    change: { ...change, toRefundCents, refundDueCents: refundDue },
    after,
    endsAt: settled.endsAt,
  };
}

/** What is not charged stands on the tickets that are, in their order (rule 1); what is left of it on the first. */
function withGoodwill(tickets: readonly PlannedTicket[], cents: number): readonly PlannedTicket[] {
  let left = cents;
  const shared = tickets.map((ticket): PlannedTicket => {
    const goodwillCents = Math.min(left, ticket.priceCents);
    left -= goodwillCents;
    return goodwillCents === 0 ? ticket : { ...ticket, goodwillCents };
  });
  return left === 0 ? shared : shared.map((ticket, index) => (index === 0 ? plusGoodwill(ticket, left) : ticket));
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
  const named = new Set(tickets.map(({ ticketId }) => ticketId));
  const now = new Map<string, { readonly unit: OrderUnit; readonly slot: TicketSlot }>();
  for (const unit of units) {
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
