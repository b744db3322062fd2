/** What the owner of a hold is shown of it. */
import { refuse, type Refusal } from '../refusal.ts';
import { findAnyHold, type Hold } from './state.ts';
import type { HoldState } from './state.ts';
import type { HoldLine } from '../fact.ts';
import type { HoldItemView, HoldView } from '../view.ts';

/** The hold as its owner sees it. An unknown id and another session's key get the same HOLD_NOT_FOUND. */
export function findHold(state: HoldState, holdId: string, sessionKey: string): HoldView | Refusal {
  const hold = findAnyHold(state, holdId, sessionKey);
  return hold === undefined ? refuse('HOLD_NOT_FOUND', {}) : viewHold(state, hold);
}

export function viewHold(state: HoldState, hold: Hold): HoldView {
  const { id, status, expiresAt, orderId, lines } = hold;
  return { id, eventId: state.eventId, status, expiresAt, orderId, items: lines.map((line) => viewLine(state, line)) };
}

function viewLine(state: HoldState, line: HoldLine): HoldItemView {
  const { ticketTypeId, sellingStageId, performanceId, quantity, ticketCount, seatIds } = line;
  const labels = seatIds.length === 0 ? seatIds : seatLabels(state, line);
  return { ticketTypeId, sellingStageId, performanceId, quantity, ticketCount, seatIds, seatLabels: labels };
}

function seatLabels({ plan }: HoldState, { ticketTypeId, seatIds }: HoldLine): readonly string[] {
  const seating = plan.ticketTypeById.get(ticketTypeId)?.locality.seating;
  return seatIds.map((seatId) => seating?.labels[seating.indexOf.get(seatId) ?? -1] ?? seatId);
}
