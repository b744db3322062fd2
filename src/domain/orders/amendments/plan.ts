/**
 * What an amendment would do to an order now: everything that its quote says, and what its fact is made of.
 *
 * The checks run in the order of the API: the order's status, then the tickets; the quote is compared in `decide.ts`.
 *
 * 1. Nothing is changed here (I2). The same order, request and state give the same plan, which is what makes a quote
 *    comparable.
 * 2. A fee of cancelled tickets is at most their credit.
 * 3. Where no ticket is left the order keeps its fees and nothing else.
 */
import { seatFacts } from '../../catalogue/seating-plan.ts';
import { sumOf } from '../../money.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../../refusal.ts';
import { agreedOf, amendmentsOf, hasTicket, refundDueCents, remainingCents, splitAnew, type Order } from '../order.ts';
import { totalOf } from '../pricing.ts';
import { amendedOrder } from './evolve.ts';
import { creditsOf, itemsOf, linesOf, perksCentsOf, unitsOf, type OrderUnit } from './units.ts';
import type { CancellationCause, FactData, OrderItem } from '../../fact.ts';
import type { OrderState } from '../state.ts';
import type { AmendmentRequest, QuotedAmendment, QuotedTicket } from '../../amendment-request.ts';

/** Bounds the memory of an order. */
export const ORDER_AMENDMENTS_MAX = 100;

/** Tickets that one amendment names. */
export const AMENDED_TICKETS_MAX = 1_000;

/** The fields of the fact that the plan settles. */
type Change = Omit<FactData['OrderAmended'], 'amendmentId' | 'operator' | 'note' | 'sealedNote'>;

export interface AmendmentPlan {
  readonly quoted: QuotedAmendment;
  readonly change: Change;
  /** The order as the change leaves it. */
  readonly after: Order;
}

/** ORDER_NOT_AMENDABLE unless the order can be amended. */
function refuseUnlessAmendable(order: Order): Refusal | null {
  const { status } = order;
  const count = amendmentsOf(order).filter(({ by }) => by !== 'PERFORMANCE').length;
  const isAmendable = (status === 'CONFIRMED' || status === 'PARTIALLY_PAID') && count < ORDER_AMENDMENTS_MAX;
  return isAmendable ? null : refuse('ORDER_NOT_AMENDABLE', { status });
}

/** The units of tickets: TICKET_NOT_FOUND, TICKET_VOID, UNIT_INCOMPLETE. */
function findUnits(
  order: Order,
  units: readonly OrderUnit[],
  ticketIds: readonly string[],
): ReadonlySet<OrderUnit> | Refusal {
  const strange = ticketIds.filter((ticketId) => !hasTicket(order, ticketId));
  if (strange.length > 0) return refuse('TICKET_NOT_FOUND', { ticketIds: strange });
  const unitOf = new Map(units.flatMap((unit) => unit.slots.map(({ ticketId }) => [ticketId, unit] as const)));
  const voided = ticketIds.filter((ticketId) => !unitOf.has(ticketId));
  if (voided.length > 0) return refuse('TICKET_VOID', { ticketIds: voided });
  const named = new Set(ticketIds);
  const found = new Set(ticketIds.map((ticketId) => unitOf.get(ticketId)!));
  const missing = [...found].flatMap(({ slots }) =>
    slots.map(({ ticketId }) => ticketId).filter((ticketId) => !named.has(ticketId)),
  );
  return missing.length > 0 ? refuse('UNIT_INCOMPLETE', { ticketIds: missing }) : found;
}

/**
 * Plans an amendment: ORDER_NOT_AMENDABLE, TICKET_NOT_FOUND, TICKET_VOID, UNIT_INCOMPLETE; VALIDATION_ERROR for a fee
 * over the credit.
 */
export function planAmendment(
  state: OrderState,
  order: Order,
  { cancel, feeCents }: AmendmentRequest,
  by: CancellationCause,
): AmendmentPlan | Refusal {
  const barred = refuseUnlessAmendable(order);
  if (barred !== null) return barred;
  const units = unitsOf(order);
  const gone = findUnits(order, units, cancel);
  if (isRefusal(gone)) return gone;
  const credits = creditsOf(units, (unit) => gone.has(unit));
  const perksCreditCents = perksCentsOf(order, [...gone]);
  const creditCents = perksCreditCents + sumOf(credits.values(), (cents) => cents);
  if (feeCents > creditCents) {
    return refuseProblems([{ path: ['fee'], message: `must be at most the credit of ${creditCents}` }]);
  }
  const left = units.filter((unit) => !gone.has(unit));
  const tickets = units.flatMap((unit) =>
    credits.has(unit) ? quotedTickets(state, unit, { action: 'CANCEL', creditCents: credits.get(unit)! }) : [],
  );
  return settle(state, order, { left, tickets, perksCreditCents, creditCents, chargeCents: 0, feeCents, by });
}

function quotedTickets(
  { plan }: OrderState,
  { slots, ticketTypeId, sellingStageId, performanceId }: OrderUnit,
  { action, creditCents }: Pick<QuotedTicket, 'action' | 'creditCents'>,
): readonly QuotedTicket[] {
  const seating = plan.ticketTypeById.get(ticketTypeId)?.locality.seating ?? null;
  return slots.map(({ ticketId, seatId }, index) => {
    const seat = seatId === null ? undefined : seating?.indexOf.get(seatId);
    const facts = seating === null || seat === undefined ? null : seatFacts(seating, seat);
    return {
      ticketId,
      action,
      creditCents: index === 0 ? creditCents : 0,
      priceCents: 0,
      ticketTypeId,
      sellingStageId,
      performanceId,
      section: facts?.sectionName ?? null,
      rowLabel: facts?.rowLabel ?? null,
      seatId,
      seatLabel: facts?.seatLabel ?? seatId,
    };
  });
}

interface Settled {
  /** The units that the order has from now on. */
  readonly left: readonly OrderUnit[];
  readonly tickets: readonly QuotedTicket[];
  readonly perksCreditCents: number;
  readonly creditCents: number;
  readonly chargeCents: number;
  readonly feeCents: number;
  readonly by: CancellationCause;
}

/** The sums of an order whose units are settled. */
function settle(state: OrderState, order: Order, settled: Settled): AmendmentPlan {
  const { left, tickets, perksCreditCents, creditCents, chargeCents, feeCents, by } = settled;
  const hold = state.holds.byId.get(order.purchase.holdId);
  const items = itemsOf(order, left);
  const feesCents = (order.changed?.feesCents ?? 0) + feeCents;
  const totalCents = totalOf(items) + feesCents;
  const differenceCents = chargeCents + feeCents - creditCents;
  const isCovered = order.status === 'PARTIALLY_PAID' && remainingCents(order, totalCents) === 0;
  const change: Omit<Change, 'refundDueCents' | 'toRefundCents'> = {
    orderId: order.id,
    by,
    tickets: tickets.map(({ ticketId, action }) => ({ ticketId, action })),
    ticketIds: left.flatMap(({ slots }) => slots.map(({ ticketId }) => ticketId)),
    items,
    lines: linesOf(items, hold?.lines ?? []),
    promoCode: hasPromoCode(order, items) ? order.purchase.promoCode : null,
    totalCents,
    feesCents,
    installmentsCents: splitAnew(order, totalCents),
    differenceCents,
    feeCents,
    ...(isCovered && { trigger: 'COVER' as const }),
  };
  const after = amendedOrder(order, change);
  const refundDue = refundDueCents(after);
  const toRefundCents = Math.max(0, refundDue - refundDueCents(order));
  return {
    quoted: {
      tickets,
      perksCreditCents,
      creditCents,
      chargeCents,
      feeCents,
      differenceCents,
      toPayCents: Math.max(0, differenceCents),
      toRefundCents,
      totalCents,
      remainingCents: remainingCents(after),
      currency: order.purchase.currency,
    },
    change: { ...change, toRefundCents, refundDueCents: refundDue },
    after,
  };
}

/** Whether the order's code is still used: by an item that has something of it, where one had. */
function hasPromoCode(order: Order, items: readonly OrderItem[]): boolean {
  const { items: before, promoCode } = agreedOf(order);
  const uses = (of: readonly OrderItem[]): boolean =>
    of.some(({ priced, promoDiscountCents }) => (priced?.promoDiscountCents ?? promoDiscountCents) > 0);
  return promoCode !== null && (uses(items) || (items.length > 0 && !uses(before)));
}
