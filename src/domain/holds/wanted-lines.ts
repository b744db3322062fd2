/** What the order of a hold wants beyond its lines, while an amendment of it is pending. */
import { WantedStock } from '../inventory/claims.ts';
import { isSameHoldLine } from '../inventory/hold-line.ts';
import { followStock } from '../inventory/performance.ts';
import { invariant } from '../invariant.ts';
import type { HoldLine } from '../fact.ts';
import type { HoldState } from './state.ts';

/** An order with this hold is to have other lines: holds what it wants beyond its own until a moment. */
export function claimLines(
  state: HoldState,
  { orderId, holdId, lines, expiresAt }: WantedLines,
  isKnown = false,
): void {
  // Opened, so that the hold is not settled while something is wanted: a snapshot restores it before the order.
  const hold = state.holds.byId.open(holdId);
  invariant(hold !== undefined, 'an order keeps its hold');
  const before = hold.lines;
  for (const performanceId of new Set([...before, ...lines].map((line) => line.performanceId))) {
    const isHere = (line: HoldLine): boolean => line.performanceId === performanceId;
    const performance = state.performances.get(performanceId);
    invariant(performance !== undefined, `a performance that an order wants exists: ${performanceId}`);
    const claim = new WantedStock(expiresAt, before.filter(isHere), lines.filter(isHere));
    performance.inventory.claim(orderId, claim, isKnown);
    followStock(performance);
  }
}

interface WantedLines {
  readonly orderId: string;
  readonly holdId: string;
  readonly lines: readonly HoldLine[];
  readonly expiresAt: number;
}

/** Releases what an order wanted beyond its own. */
export function endClaim(state: HoldState, orderId: string): void {
  for (const performance of state.performances.values()) {
    performance.inventory.endClaim(orderId);
    followStock(performance);
  }
}

/** What lines have that others have not. */
export function beyond(lines: readonly HoldLine[], others: readonly HoldLine[]): readonly HoldLine[] {
  return lines.flatMap((line) => {
    const other = others.find((each) => isSameHoldLine(each, line));
    if (other === undefined) return [line];
    const seats = new Set(other.seatIds);
    const seatIds = line.seatIds.filter((seatId) => !seats.has(seatId));
    const ticketCount = line.seatIds.length > 0 ? seatIds.length : line.ticketCount - other.ticketCount;
    return ticketCount > 0 ? [{ ...line, ticketCount, seatIds }] : [];
  });
}
