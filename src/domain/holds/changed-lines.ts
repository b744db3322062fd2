/**
 * A PATCH of a hold becomes its new lines, all or nothing.
 *
 * 1. A line that the request names gets the quantity given, 0 drops it; lines that it does not name stay.
 * 2. Tickets that the hold has are not checked again: a line may stay or shrink after its stage closed or a quota fell.
 */
import { offerOf } from '../catalogue/sale-plan.ts';
import { assignTickets, type OwnHold, type SeatChoice, type RequestedLine } from '../inventory/assignment.ts';
import { findPerformanceOnSale } from '../inventory/performance.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '../refusal.ts';
import { isSameHoldLine, lineKey, type HoldLineKey } from '../inventory/hold-line.ts';
import { checkHoldLimits, findOfferOnSale, findRequestedLine, refuseUnknownOffer, seatChoiceOf } from './new-lines.ts';
import { refuseWhilePaused } from '../steering.ts';
import type { ItemRequest } from '../command.ts';
import type { HoldState } from './state.ts';
import type { HoldLine } from '../fact.ts';

/** Lines that one hold may have; the API's bound on items. */
const HOLD_LINES_MAX = 20;

/**
 * The lines of a hold that changes. Refuses like `reserveLines`; a line that two items name, no line left and more than
 * HOLD_LINES_MAX lines are VALIDATION_ERRORs.
 */
export function changeLines(
  state: HoldState,
  hold: OwnHold,
  items: readonly ItemRequest[],
  now: number,
): readonly HoldLine[] | Refusal {
  const named = nameLines(state, hold, items, now);
  if (isRefusal(named)) return named;
  const requested: RequestedLine[] = [];
  for (const line of hold.lines) {
    if (!named.some((each) => each.line === line)) requested.push(keptLine(state, line));
  }
  for (const { item, line, name, index } of named) {
    if (item.quantity === 0) {
      const unknown = line === null ? refuseUnknownOffer(state, item) : null;
      if (unknown !== null) return unknown;
      continue;
    }
    const change =
      line === null
        ? findRequestedLine(state, item, name.performanceId, index, now)
        : changedLine(state, item, line, index, now);
    if (isRefusal(change)) return change;
    requested.push(change);
  }
  if (requested.length === 0) {
    return refuseProblems([{ path: ['items'], message: 'a hold keeps at least one line; DELETE releases it' }]);
  }
  if (requested.length > HOLD_LINES_MAX) {
    return refuseProblems([{ path: ['items'], message: `a hold has at most ${HOLD_LINES_MAX} lines` }]);
  }
  return checkHoldLimits(state, requested) ?? assignTickets(state, inHoldOrder(requested, hold), hold);
}

interface RequestedChange {
  readonly item: ItemRequest;
  readonly name: HoldLineKey;
  /** The line of the hold that the item names, or null when it would be added. */
  readonly line: HoldLine | null;
  readonly index: number;
}

/** The line that each item of a change names. Performances are checked only where tickets are added. */
function nameLines(
  state: HoldState,
  hold: OwnHold,
  items: readonly ItemRequest[],
  now: number,
): readonly RequestedChange[] | Refusal {
  const named: RequestedChange[] = [];
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index]!;
    const visible = state.plan.visiblePerformances;
    const { ticketTypeId, sellingStageId, performanceId } = item;
    const onlyPerformanceId = visible.length === 1 ? visible[0]!.id : '';
    const name = { performanceId: performanceId ?? onlyPerformanceId, ticketTypeId, sellingStageId };
    const line = hold.lines.find((each) => isSameHoldLine(each, name)) ?? null;
    if (named.some((each) => isSameHoldLine(each.name, name))) {
      return refuseProblems([{ path: ['items', index], message: 'names a line that another item names already' }]);
    }
    named.push({ item, name, line, index });
  }
  for (const { item, line } of named) {
    if (line !== null && item.quantity <= line.quantity) continue;
    const performance =
      refuseWhilePaused(state) ?? findPerformanceOnSale(state, line?.performanceId ?? item.performanceId, now);
    if (isRefusal(performance)) return performance;
  }
  return named;
}

/**
 * A line of the hold with another quantity or other seats; its price and the tickets of a unit stay, whatever the type
 * has now.
 */
function changedLine(
  state: HoldState,
  item: ItemRequest,
  line: HoldLine,
  index: number,
  now: number,
): RequestedLine | Refusal {
  const isGrowing = item.quantity > line.quantity;
  if (isGrowing) {
    const open = findOfferOnSale(state, item, now);
    if (isRefusal(open)) return open;
  }
  const offer = offerOf(state.plan, line.ticketTypeId, line.sellingStageId);
  if (offer === undefined) return refuse('TICKET_NOT_ON_SALE', line);
  const asked = seatChoiceOf(offer, item, index);
  if (isRefusal(asked)) return asked;
  const ticketCount = item.quantity * (line.ticketCount / line.quantity);
  const seatChoice = asked.how === 'BEST' ? seatChoiceFromHeld(line, ticketCount) : asked;
  const had = !isGrowing;
  const { performanceId, ticketTypeId, unitPriceCents } = line;
  const { quantity } = item;
  return { performanceId, ticketTypeId, offer, quantity, ticketCount, unitPriceCents, seatChoice, had, index };
}

function seatChoiceFromHeld(line: HoldLine, ticketCount: number): SeatChoice {
  const heldSeatIds = line.seatIds;
  if (ticketCount === line.ticketCount) return { how: 'KEPT', seatIds: heldSeatIds };
  return { how: ticketCount < line.ticketCount ? 'SHRINK' : 'GROW', heldSeatIds };
}

/** A line of the hold that stays as it is. */
function keptLine(state: HoldState, line: HoldLine): RequestedLine {
  const offer = offerOf(state.plan, line.ticketTypeId, line.sellingStageId)!;
  const seatChoice: SeatChoice = line.seatIds.length === 0 ? { how: 'NONE' } : { how: 'KEPT', seatIds: line.seatIds };
  const { performanceId, ticketTypeId, quantity, ticketCount, unitPriceCents } = line;
  return {
    performanceId,
    ticketTypeId,
    offer,
    quantity,
    ticketCount,
    unitPriceCents,
    seatChoice,
    had: true,
    index: -1,
  };
}

/** Lines that the hold had keep their order; new ones follow. */
function inHoldOrder(requested: readonly RequestedLine[], hold: OwnHold): readonly RequestedLine[] {
  if (requested.length === 1) return requested;
  const indexes = new Map(hold.lines.map((line, index) => [lineKey(line), index]));
  const indexOf = ({ performanceId, offer }: RequestedLine): number =>
    indexes.get(lineKey({ performanceId, ticketTypeId: offer.ticketTypeId, sellingStageId: offer.sellingStageId })) ??
    indexes.size;
  return [...requested].sort((a, b) => indexOf(a) - indexOf(b));
}
