/**
 * Items that ask for tickets become the lines of a hold, all or nothing, in the API's order of checks. Seats and stock
 * are checked by `inventory/assignment.ts`. Holds, their changes and checkouts without a hold all use this file, so
 * that they refuse alike.
 *
 * 1. Checks run over all items in this order: performances, types and stages, purchase limits, seats, stock.
 */
import { isStageOpen, offerOf, type Offer } from '../catalogue/sale-plan.ts';
import { assignTickets, type OwnHold, type SeatChoice, type RequestedLine } from '../inventory/assignment.ts';
import { findPerformanceOnSale, type SoldAt } from '../inventory/performance.ts';
import { checkCartLimits, checkCartSize } from './cart-limits.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../refusal.ts';
import type { ItemRequest } from '../command.ts';
import type { HoldState } from './state.ts';
import type { HoldLine } from '../fact.ts';

/**
 * The lines of a new hold; items of equal type, stage and performance share one.
 *
 * `own` is the session's hold that the new one would replace. Refuses in order: as `findRequested`, as
 * `checkHoldLimits`, as `assignTickets`.
 */
export function reserveLines(
  state: HoldState,
  items: readonly ItemRequest[],
  own: OwnHold | null,
  now: number,
): readonly HoldLine[] | Refusal {
  const requested = findRequested(state, items, now);
  if (isRefusal(requested)) return requested;
  return checkHoldLimits(state, requested) ?? assignTickets(state, requested, own);
}

/**
 * The performance, type and stage of each item. Refuses in order: PERFORMANCE_*, TICKET_TYPE_NOT_FOUND,
 * SELLING_STAGE_NOT_FOUND, TICKET_NOT_ON_SALE, VALIDATION_ERROR (seats named on general admission).
 */
export function findRequested(
  state: HoldState,
  items: readonly ItemRequest[],
  now: number,
  soldAt: SoldAt = 'SHOP',
): readonly RequestedLine[] | Refusal {
  const performanceIds: string[] = [];
  for (const item of items) {
    const performance = findPerformanceOnSale(state, item.performanceId, now, soldAt);
    if (isRefusal(performance)) return performance;
    performanceIds.push(performance.id);
  }
  const requested: RequestedLine[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const line = findRequestedLine(state, items[index]!, performanceIds[index]!, index, now, soldAt);
    if (isRefusal(line)) return line;
    requested.push(line);
  }
  return requested;
}

/**
 * Refuses a hold that no order could take, where the event does not leave the limits to the checkout:
 * MAX_PER_ORDER_EXCEEDED, MAX_TICKETS_PER_ORDER_EXCEEDED.
 */
export function checkHoldLimits({ plan }: HoldState, requested: readonly RequestedLine[]): Refusal | null {
  return plan.limitsAtHold ? checkCartLimits(plan, requested) : checkCartSize(requested);
}

/** The type and stage of an item that asks for tickets which the session does not have yet. */
export function findRequestedLine(
  state: HoldState,
  item: ItemRequest,
  performanceId: string,
  index: number,
  now: number,
  soldAt: SoldAt = 'SHOP',
): RequestedLine | Refusal {
  const offer = findOfferOnSale(state, item, now, soldAt);
  if (isRefusal(offer)) return offer;
  const seatChoice = seatChoiceOf(offer, item, index);
  if (isRefusal(seatChoice)) return seatChoice;
  return {
    performanceId,
    ticketTypeId: offer.ticketTypeId,
    offer,
    quantity: item.quantity,
    ticketCount: item.quantity * offer.ticketType.groupSize,
    unitPriceCents: offer.priceCents,
    seatChoice,
    had: false,
    index,
  };
}

/**
 * The offer of an item, if it is sold now, at a counter at any time: TICKET_TYPE_NOT_FOUND, SELLING_STAGE_NOT_FOUND,
 * TICKET_NOT_ON_SALE.
 */
export function findOfferOnSale(
  state: HoldState,
  item: ItemRequest,
  now: number,
  soldAt: SoldAt = 'SHOP',
): Offer | Refusal {
  const { ticketTypeId, sellingStageId } = item;
  const offer = offerOf(state.plan, ticketTypeId, sellingStageId);
  const isSold = soldAt === 'COUNTER' || (offer !== undefined && isStageOpen(offer.sellingStage.definition, now));
  if (offer !== undefined && isSold) return offer;
  return refuseUnknownOffer(state, item) ?? refuse('TICKET_NOT_ON_SALE', { ticketTypeId, sellingStageId });
}

/** TICKET_TYPE_NOT_FOUND, SELLING_STAGE_NOT_FOUND; null where the event has both. */
export function refuseUnknownOffer({ plan }: HoldState, { ticketTypeId, sellingStageId }: ItemRequest): Refusal | null {
  if (!plan.ticketTypeById.has(ticketTypeId)) return refuse('TICKET_TYPE_NOT_FOUND', { ticketTypeId });
  return plan.sellingStageById.has(sellingStageId) ? null : refuse('SELLING_STAGE_NOT_FOUND', { sellingStageId });
}

/** How the seats of an item are found. */
export function seatChoiceOf(offer: Offer, item: ItemRequest, index: number): SeatChoice | Refusal {
  const numbered = offer.ticketType.locality.seating !== null;
  if (numbered) return item.seatIds === null ? { how: 'BEST' } : { how: 'NAMED', seatIds: item.seatIds };
  if (item.seatIds === null) return { how: 'NONE' };
  return refuseProblems([{ path: ['items', index, 'seatIds'], message: 'general admission has no seats to pick' }]);
}
