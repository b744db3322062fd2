/**
 * The way to tickets: items asked for become lines of a hold, or a refusal, all or nothing.
 *
 * Owns the rules of dates, types, stages and of the lines of a hold that changes, in the API's order of checks; seats and stock
 * belong to `assignment.ts`. Holds, changes of holds and checkouts without a hold all come through here, so that they cannot
 * differ. Mutates nothing (I2).
 *
 * 1. Dates of all items are judged before types and stages of all, those before purchase limits, those before seats, those
 *    before stock.
 * 2. What a hold has already is never judged anew: it may be kept or shrunk after its stage closed or a quota fell.
 */
import { assignTickets, type OwnHold, type Seating, type WantedLine } from '../inventory/assignment.ts';
import { isSameHoldLine, lineKey, type HoldLineKey } from './hold-lines.ts';
import { findPerformanceOnSale } from '../inventory/performance.ts';
import { checkCartLimits } from '../orders/purchase-limits.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../refusal.ts';
import { isStageOpen, rowOf, type SaleRow } from '../catalogue/sale-plan.ts';
import type { HoldLine } from '../fact.ts';
import type { ItemRequest } from '../command.ts';
import type { EventState } from '../event-state.ts';

/** Lines that one hold may have; the API's bound on items. */
export const HOLD_LINES_MAX = 20;

/**
 * Reserves new items: lines ready for a hold, equal type, stage and date added up into one line.
 *
 * `own` is the session's hold that the new one would replace. Refuses in order: PERFORMANCE_*, VALIDATION_ERROR (one seat
 * named twice, seats on general admission), TICKET_TYPE_NOT_FOUND, SELLING_STAGE_NOT_FOUND, TICKET_NOT_ON_SALE,
 * MAX_PER_ORDER_EXCEEDED and MAX_TICKETS_PER_ORDER_EXCEEDED (unless the event leaves limits to the checkout), SEAT_COUNT_MISMATCH, SEAT_NOT_IN_TICKET_TYPE, SEAT_NOT_SELLABLE, SEAT_TAKEN, INSUFFICIENT_TICKETS.
 */
export function reserve(
  stock: EventState,
  items: readonly ItemRequest[],
  own: OwnHold | null,
  now: number,
): readonly HoldLine[] | Refusal {
  const wanted = findWanted(stock, items, now);
  if (isRefusal(wanted)) return wanted;
  return refuseOverLimits(stock, wanted) ?? assignTickets(stock, wanted, own);
}

/**
 * The first half of `reserve`: the date, type and stage of each item. A checkout judges limits, codes and perks before it goes
 * on to `assignTickets`. Refuses with what `reserve` refuses up to TICKET_NOT_ON_SALE.
 */
export function findWanted(
  stock: EventState,
  items: readonly ItemRequest[],
  now: number,
): readonly WantedLine[] | Refusal {
  const performanceIds: string[] = [];
  for (const item of items) {
    const performance = findPerformanceOnSale(stock, item.performanceId, now);
    if (isRefusal(performance)) return performance;
    performanceIds.push(performance.id);
  }
  const wanted: WantedLine[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const line = wantNew(stock, items[index]!, performanceIds[index]!, index, now);
    if (isRefusal(line)) return line;
    wanted.push(line);
  }
  return wanted;
}

/**
 * Changes the lines of a hold as a PATCH asks: named lines get the quantity given, 0 drops one, others stay.
 * Refuses like `reserve`; dropping the last line, naming a line twice and more than HOLD_LINES_MAX lines are VALIDATION_ERRORs.
 */
export function rearrange(
  stock: EventState,
  hold: OwnHold,
  items: readonly ItemRequest[],
  now: number,
): readonly HoldLine[] | Refusal {
  const named = nameLines(stock, hold, items, now);
  if (isRefusal(named)) return named;
  const wanted: WantedLine[] = [];
  for (const line of hold.lines) {
    if (!named.some((each) => each.line === line)) wanted.push(keep(stock, line));
  }
  for (const { item, line, name, index } of named) {
    if (item.quantity === 0) {
      const unknown = line === null ? refuseUnknown(stock, item) : null;
      if (unknown !== null) return unknown;
      continue;
    }
    const change =
      line === null ? wantNew(stock, item, name.performanceId, index, now) : wantChanged(stock, item, line, index, now);
    if (isRefusal(change)) return change;
    wanted.push(change);
  }
  if (wanted.length === 0) {
    return refuseProblems([{ path: ['items'], message: 'a hold keeps at least one line; DELETE releases it' }]);
  }
  if (wanted.length > HOLD_LINES_MAX) {
    return refuseProblems([{ path: ['items'], message: `a hold has at most ${HOLD_LINES_MAX} lines` }]);
  }
  return refuseOverLimits(stock, wanted) ?? assignTickets(stock, inHoldOrder(wanted, hold), hold);
}

/** The refusal of a hold that no order could take; a hold that changes is checked as it would be then. */
function refuseOverLimits({ plan }: EventState, wanted: readonly WantedLine[]): Refusal | null {
  return plan.limitsAtHold ? checkCartLimits(plan, wanted) : null;
}

interface NamedLine {
  readonly item: ItemRequest;
  readonly name: HoldLineKey;
  /** The line of the hold that the item names, or null when it would be added. */
  readonly line: HoldLine | null;
  readonly index: number;
}

/** Finds the line that each item of a change names. Performances are judged only where tickets are added. */
function nameLines(
  stock: EventState,
  hold: OwnHold,
  items: readonly ItemRequest[],
  now: number,
): readonly NamedLine[] | Refusal {
  const named: NamedLine[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index]!;
    const visible = stock.plan.visiblePerformances;
    const { ticketTypeId, sellingStageId, performanceId } = item;
    const onlyDate = visible.length === 1 ? visible[0]!.id : '';
    const name = { performanceId: performanceId ?? onlyDate, ticketTypeId, sellingStageId };
    const line = hold.lines.find((each) => isSameHoldLine(each, name)) ?? null;
    if (named.some((each) => isSameHoldLine(each.name, name))) {
      return refuseProblems([{ path: ['items', index], message: 'names a line that another item names already' }]);
    }
    named.push({ item, name, line, index });
  }
  for (const { item, line } of named) {
    if (line !== null && item.quantity <= line.quantity) continue;
    const performance = findPerformanceOnSale(stock, line?.performanceId ?? item.performanceId, now);
    if (isRefusal(performance)) return performance;
  }
  return named;
}

/** An item that asks for tickets the session does not have yet. */
function wantNew(
  stock: EventState,
  item: ItemRequest,
  performanceId: string,
  index: number,
  now: number,
): WantedLine | Refusal {
  const row = findRowOnSale(stock, item, now);
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

/** A line of the hold with another quantity or other seats; its price stays. */
function wantChanged(
  stock: EventState,
  item: ItemRequest,
  line: HoldLine,
  index: number,
  now: number,
): WantedLine | Refusal {
  const ticketGrowth = item.quantity - line.quantity;
  if (ticketGrowth > 0) {
    const open = findRowOnSale(stock, item, now);
    if (isRefusal(open)) return open;
  }
  const row = rowOf(stock.plan, line.ticketTypeId, line.sellingStageId);
  if (row === undefined) return refuse('TICKET_NOT_ON_SALE', line);
  const asked = seatingOf(row, item, index);
  if (isRefusal(asked)) return asked;
  const ticketCount = item.quantity * row.ticketType.groupSize;
  const seating = asked.how === 'BEST' ? seatingFromHeld(line, ticketCount) : asked;
  const had = ticketGrowth <= 0;
  const { performanceId, ticketTypeId, unitPriceCents } = line;
  const { quantity } = item;
  return { performanceId, ticketTypeId, row, quantity, ticketCount, unitPriceCents, seating, had, index };
}

function seatingFromHeld(line: HoldLine, ticketCount: number): Seating {
  const heldSeatIds = line.seatIds;
  if (ticketCount === line.ticketCount) return { how: 'KEPT', seatIds: heldSeatIds };
  return { how: ticketCount < line.ticketCount ? 'SHRINK' : 'GROW', heldSeatIds };
}

/** A line of the hold that stays as it is. */
function keep(stock: EventState, line: HoldLine): WantedLine {
  const row = rowOf(stock.plan, line.ticketTypeId, line.sellingStageId)!;
  const seating: Seating = line.seatIds.length === 0 ? { how: 'NONE' } : { how: 'KEPT', seatIds: line.seatIds };
  const { performanceId, ticketTypeId, quantity, ticketCount, unitPriceCents } = line;
  return { performanceId, ticketTypeId, row, quantity, ticketCount, unitPriceCents, seating, had: true, index: -1 };
}

/** The sale row of an item, if it is sold now: TICKET_TYPE_NOT_FOUND, SELLING_STAGE_NOT_FOUND, TICKET_NOT_ON_SALE. */
function findRowOnSale(stock: EventState, item: ItemRequest, now: number): SaleRow | Refusal {
  const { ticketTypeId, sellingStageId } = item;
  const row = rowOf(stock.plan, ticketTypeId, sellingStageId);
  if (row !== undefined && isStageOpen(row.sellingStage.definition, now)) return row;
  return refuseUnknown(stock, item) ?? refuse('TICKET_NOT_ON_SALE', { ticketTypeId, sellingStageId });
}

/** TICKET_TYPE_NOT_FOUND, SELLING_STAGE_NOT_FOUND; null where the event has both. */
function refuseUnknown({ plan }: EventState, { ticketTypeId, sellingStageId }: ItemRequest): Refusal | null {
  if (!plan.ticketTypeById.has(ticketTypeId)) return refuse('TICKET_TYPE_NOT_FOUND', { ticketTypeId });
  return plan.sellingStageById.has(sellingStageId) ? null : refuse('SELLING_STAGE_NOT_FOUND', { sellingStageId });
}

function seatingOf(row: SaleRow, item: ItemRequest, index: number): Seating | Refusal {
  const numbered = row.ticketType.locality.seating !== null;
  if (numbered) return item.seatIds === null ? { how: 'BEST' } : { how: 'NAMED', seatIds: item.seatIds };
  if (item.seatIds === null) return { how: 'NONE' };
  return refuseProblems([{ path: ['items', index, 'seatIds'], message: 'general admission has no seats to pick' }]);
}

/** Lines that the hold had keep their places; new ones follow. */
function inHoldOrder(wanted: readonly WantedLine[], hold: OwnHold): readonly WantedLine[] {
  if (wanted.length === 1) return wanted;
  const places = new Map(hold.lines.map((line, place) => [lineKey(line), place]));
  const placeOf = ({ performanceId, row }: WantedLine): number =>
    places.get(lineKey({ performanceId, ticketTypeId: row.ticketTypeId, sellingStageId: row.sellingStageId })) ??
    places.size;
  return [...wanted].sort((a, b) => placeOf(a) - placeOf(b));
}
