/**
 * Items that ask for tickets become the lines of a hold, all or nothing, in the API's order of checks. Seats and stock are checked by
 * `inventory/assignment.ts`. Holds, their changes and checkouts without a hold all use this file, so that they refuse alike.
 *
 * 1. The performances of all items are checked before the types and stages of all, those before the purchase limits, those before
 *    seats, those before state.
 */
import { isStageOpen, rowOf, type SaleRow } from '../catalogue/sale-plan.ts';
import { assignTickets, type OwnHold, type Seating, type WantedLine } from '../inventory/assignment.ts';
import { findPerformanceOnSale } from '../inventory/performance.ts';
import { checkCartLimits } from '../orders/purchase-limits.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../refusal.ts';
import type { ItemRequest } from '../command.ts';
import type { EventState } from '../event-state.ts';
import type { HoldLine } from '../fact.ts';

/**
 * The lines of a new hold; items of equal type, stage and performance share one.
 *
 * `own` is the session's hold that the new one would replace. Refuses in order: as `findWanted`, as `checkHoldLimits`,
 * as `assignTickets`.
 */
export function reserveLines(
  state: EventState,
  items: readonly ItemRequest[],
  own: OwnHold | null,
  now: number,
): readonly HoldLine[] | Refusal {
  const wanted = findWanted(state, items, now);
  if (isRefusal(wanted)) return wanted;
  return checkHoldLimits(state, wanted) ?? assignTickets(state, wanted, own);
}

/**
 * The performance, type and stage of each item. Refuses in order: PERFORMANCE_*, TICKET_TYPE_NOT_FOUND, SELLING_STAGE_NOT_FOUND,
 * TICKET_NOT_ON_SALE, VALIDATION_ERROR (seats named on general admission).
 */
export function findWanted(
  state: EventState,
  items: readonly ItemRequest[],
  now: number,
): readonly WantedLine[] | Refusal {
  const performanceIds: string[] = [];
  for (const item of items) {
    const performance = findPerformanceOnSale(state, item.performanceId, now);
    if (isRefusal(performance)) return performance;
    performanceIds.push(performance.id);
  }
  const wanted: WantedLine[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const line = findWantedLine(state, items[index]!, performanceIds[index]!, index, now);
    if (isRefusal(line)) return line;
    wanted.push(line);
  }
  return wanted;
}

/**
 * Refuses a hold that no order could take, unless the event leaves the limits to the checkout: MAX_PER_ORDER_EXCEEDED,
 * MAX_TICKETS_PER_ORDER_EXCEEDED.
 */
export function checkHoldLimits({ plan }: EventState, wanted: readonly WantedLine[]): Refusal | null {
  return plan.limitsAtHold ? checkCartLimits(plan, wanted) : null;
}

/** The type and stage of an item that asks for tickets which the session does not have yet. */
export function findWantedLine(
  state: EventState,
  item: ItemRequest,
  performanceId: string,
  index: number,
  now: number,
): WantedLine | Refusal {
  const row = findRowOnSale(state, item, now);
  if (isRefusal(row)) return row;
  const seating = seatingOf(row, item, index);
  if (isRefusal(seating)) return seating;
  return {
    performanceId,
    ticketTypeId: row.ticketTypeId,
    row,
    quantity: item.quantity,
    ticketCount: item.quantity * row.ticketType.groupSize,
    unitPriceCents: row.priceCents,
    seating,
    had: false,
    index,
  };
}

/** The sale row of an item, if it is sold now: TICKET_TYPE_NOT_FOUND, SELLING_STAGE_NOT_FOUND, TICKET_NOT_ON_SALE. */
export function findRowOnSale(state: EventState, item: ItemRequest, now: number): SaleRow | Refusal {
  const { ticketTypeId, sellingStageId } = item;
  const row = rowOf(state.plan, ticketTypeId, sellingStageId);
  if (row !== undefined && isStageOpen(row.sellingStage.definition, now)) return row;
  return refuseUnknownRow(state, item) ?? refuse('TICKET_NOT_ON_SALE', { ticketTypeId, sellingStageId });
}

/** TICKET_TYPE_NOT_FOUND, SELLING_STAGE_NOT_FOUND; null where the event has both. */
export function refuseUnknownRow({ plan }: EventState, { ticketTypeId, sellingStageId }: ItemRequest): Refusal | null {
  if (!plan.ticketTypeById.has(ticketTypeId)) return refuse('TICKET_TYPE_NOT_FOUND', { ticketTypeId });
  return plan.sellingStageById.has(sellingStageId) ? null : refuse('SELLING_STAGE_NOT_FOUND', { sellingStageId });
}

/** How the seats of an item are found. */
export function seatingOf(row: SaleRow, item: ItemRequest, index: number): Seating | Refusal {
  const numbered = row.ticketType.locality.seating !== null;
  if (numbered) return item.seatIds === null ? { how: 'BEST' } : { how: 'NAMED', seatIds: item.seatIds };
  if (item.seatIds === null) return { how: 'NONE' };
  return refuseProblems([{ path: ['items', index, 'seatIds'], message: 'general admission has no seats to pick' }]);
}
