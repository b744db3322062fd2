/** Checks that concern all halls of an event: the number of seats, unique seat ids, the depth of outlines. */
import { pointer } from '#domain/schema-problems.ts';
import type { Report } from './shape.ts';

/**
 * Several times the largest hall with numbered seats. Without a limit, short forms such as `"seats": 2000` could grow
 * without bound.
 */
const eventSeatsMax = 200_000;

export interface SeatRegister {
  /** Counts further seats; reports a problem and returns false when the event would have too many. */
  addSeats(seatCount: number, path: string): boolean;
  /** Registers the id of a seat; reports a problem when another seat of the event has it. */
  addId(seatId: string, path: string): void;
}

/** Seat ids are unique in an event, because occupancy and blocking name seats by id alone. */
export function createSeatRegister(report: Report): SeatRegister {
  const ids = new Set<string>();
  let seats = 0;
  return {
    addSeats(seatCount, path) {
      if (seats + seatCount > eventSeatsMax) {
        report(path, `would bring the event over ${eventSeatsMax} seats`);
        return false;
      }
      seats += seatCount;
      return true;
    },
    addId(seatId, path) {
      if (ids.has(seatId)) report(path, `the seat id "${seatId}" is used by another seat of the event`);
      ids.add(seatId);
    },
  };
}

/**
 * The outlines of a hall's picture (stage, walls, areas) are kept as they are; deeper nesting could overflow the stack.
 */
const outlineDepthMax = 12;

/** Reports outlines that are nested too deep; `path` is that of the list. */
export function checkOutlines(outlines: readonly unknown[], path: string, report: Report): void {
  for (const [index, outline] of outlines.entries()) {
    if (!fitsDepth(outline, outlineDepthMax)) {
      report(pointer(path, index), `must not nest deeper than ${outlineDepthMax} levels`);
    }
  }
}

function fitsDepth(value: unknown, depthMax: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depthMax > 0 && Object.values(value).every((part) => fitsDepth(part, depthMax - 1));
}
