/** What the owner of a hold is shown of it. */
import { keepingLast } from '../collections/last-answer.ts';
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
  const isSeated = lines.some(({ seatIds }) => seatIds.length > 0);
  const items = isSeated ? lines.map((line) => viewLine(line, seatLabels(state, line))) : viewUnseated(lines);
  return { id, eventId: state.eventId, status, expiresAt, orderId, items };
}

/** Most holds of a rush share their lines (`inventory/assignment.ts`). */
const viewUnseated = keepingLast((lines: readonly HoldLine[]) => lines.map((line) => viewLine(line, line.seatIds)));

function viewLine(line: HoldLine, labels: readonly string[]): HoldItemView {
  const { ticketTypeId, sellingStageId, performanceId, quantity, ticketCount, seatIds } = line;
  return { ticketTypeId, sellingStageId, performanceId, quantity, ticketCount, seatIds, seatLabels: labels };
}

function seatLabels({ plan }: HoldState, { ticketTypeId, seatIds }: HoldLine): readonly string[] {
  const seating = plan.ticketTypeById.get(ticketTypeId)?.locality.seating;
  return seatIds.map((seatId) => seating?.labels[seating.indexOf.get(seatId) ?? -1] ?? seatId);
}
