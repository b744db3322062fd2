/** The seats of one event while its halls are laid out: how many there are so far, and that no id is given twice. */
import type { Report } from './problem.ts';

/** Several times the largest hall with numbered seats; keeps a short form such as `"seats": 2000` from growing without end. */
export const eventSeatsMax = 200_000;

export interface SeatRegister {
  /** Makes room for so many seats, or reports that the event would have too many and answers false. */
  admit(seatCount: number, path: string): boolean;
  /** Takes an id for one seat, or reports that another seat of the event has it. */
  claim(seatId: string, path: string): void;
}

/** An empty register. Seat ids are unique over the event, because occupancy and blocking name seats by id alone. */
export function makeSeatRegister(report: Report): SeatRegister {
  const claimed = new Set<string>();
  let admitted = 0;
  return {
    admit(seatCount, path) {
      if (admitted + seatCount > eventSeatsMax) {
        report(path, `would bring the event over ${eventSeatsMax} seats`);
        return false;
      }
      admitted += seatCount;
      return true;
    },
    claim(seatId, path) {
      if (claimed.has(seatId)) report(path, `the seat id "${seatId}" is used by another seat of the event`);
      claimed.add(seatId);
    },
  };
}
