/**
 * The seats of a locality as flat lists by seat number, with the geometry that every drawing of them needs.
 *
 * A layout is built once. Seat numbers count the seats in the order of the plan; each row lists its seats from left to right.
 */
import type { PlannedSeat, SeatedLocality } from './bodies.ts';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export interface SeatLayout {
  readonly seats: readonly PlannedSeat[];
  /** The row and section of each seat, as the plan labels them. */
  readonly rowLabels: readonly string[];
  readonly sectionNames: readonly string[];
  /** The seat numbers of each row, and the row of each seat. */
  readonly rows: readonly (readonly number[])[];
  readonly rowOf: readonly number[];
  /** The sections that have seats. */
  readonly sections: readonly { readonly name: string; readonly box: Box }[];
  /** Half the side of a seat, in plan units. */
  readonly radius: number;
}

export function layoutOf(locality: SeatedLocality): SeatLayout {
  const seats: PlannedSeat[] = [];
  const rowLabels: string[] = [];
  const sectionNames: string[] = [];
  const rows: number[][] = [];
  const rowOf: number[] = [];
  const sections: { name: string; box: Box }[] = [];
  for (const section of locality.sections) {
    const first = seats.length;
    for (const row of section.rows) {
      const numbers = row.seats.map((seat) => {
        rowOf.push(rows.length);
        rowLabels.push(row.label);
        sectionNames.push(section.name);
        return seats.push(seat) - 1;
      });
      rows.push(numbers.sort((a, b) => seats[a]!.x - seats[b]!.x));
    }
    if (seats.length > first) sections.push({ name: section.name, box: boxAround(seats.slice(first)) });
  }
  return { seats, rowLabels, sectionNames, rows, rowOf, sections, radius: seatRadius(seats, rows) };
}

/** A little under half of the median distance between neighbours. */
function seatRadius(seats: readonly PlannedSeat[], rows: readonly (readonly number[])[]): number {
  const gaps = rows
    .flatMap((row) => row.slice(1).map((number, i) => distance(seats[row[i]!]!, seats[number]!)))
    .filter((gap) => gap > 0)
    .sort((a, b) => a - b);
  return (gaps[gaps.length >> 1] ?? 25) * 0.42;
}

const distance = (a: Point, b: Point): number => Math.hypot(a.x - b.x, a.y - b.y);

/** The smallest box around points; a box of a usual size where there are none. */
export function boxAround(points: readonly Point[]): Box {
  if (points.length === 0) return { x: 0, y: 0, width: 100, height: 100 };
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of points) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

/** A box with a margin on each side. */
export function grown({ x, y, width, height }: Box, margin: number): Box {
  return { x: x - margin, y: y - margin, width: width + margin * 2, height: height + margin * 2 };
}
