/**
 * The seats of a locality as flat lists by seat number, with the geometry that every drawing of them needs.
 *
 * A layout is built once. Seat numbers count the seats in the order of the plan; each row lists its seats from left to
 * right, or from the top where it runs downwards. It also knows which seat an arrow key leads to, which seats lie in a
 * rectangle, and what the shapes of a hall are.
 */
import type { PlannedSeat, SeatedLocality } from './bodies.ts';

export interface LayoutPoint {
  readonly x: number;
  readonly y: number;
}

export interface Box extends LayoutPoint {
  readonly width: number;
  readonly height: number;
}

interface SectionLayout {
  readonly name: string;
  readonly box: Box;
  /** The numbers of its rows, as the plan lists them. */
  readonly rows: readonly number[];
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
  readonly sections: readonly SectionLayout[];
  /** Half the side of a seat, in plan units. */
  readonly radius: number;
}

export function layoutOf(locality: SeatedLocality): SeatLayout {
  const seats: PlannedSeat[] = [];
  const rowLabels: string[] = [];
  const sectionNames: string[] = [];
  const rows: number[][] = [];
  const rowOf: number[] = [];
  const sections: SectionLayout[] = [];
  for (const section of locality.sections) {
    const [first, firstRow] = [seats.length, rows.length];
    for (const row of section.rows) {
      const numbers = row.seats.map((seat) => {
        rowOf.push(rows.length);
        rowLabels.push(row.label);
        sectionNames.push(section.name);
        return seats.push(seat) - 1;
      });
      rows.push(alongRow(numbers, seats));
    }
    if (seats.length === first) continue;
    const ownRows = [...rows.keys()].slice(firstRow).filter((row) => rows[row]!.length > 0);
    sections.push({ name: section.name, box: boxAround(seats.slice(first)), rows: ownRows });
  }
  return { seats, rowLabels, sectionNames, rows, rowOf, sections, radius: seatRadius(seats, rows) };
}

/** The seats of a row in the order in which one walks along it. */
function alongRow(numbers: number[], seats: readonly PlannedSeat[]): number[] {
  const { width, height } = boxAround(numbers.map((number) => seats[number]!));
  return numbers.sort((a, b) => (height > width ? seats[a]!.y - seats[b]!.y : seats[a]!.x - seats[b]!.x));
}

/** A little under half of the median distance between neighbours. */
function seatRadius(seats: readonly PlannedSeat[], rows: readonly (readonly number[])[]): number {
  const gaps = rows
    .flatMap((row) => row.slice(1).map((number, i) => distance(seats[row[i]!]!, seats[number]!)))
    .filter((gap) => gap > 0)
    .sort((a, b) => a - b);
  return (gaps[gaps.length >> 1] ?? 25) * 0.42;
}

export const distance = (a: LayoutPoint, b: LayoutPoint): number => Math.hypot(a.x - b.x, a.y - b.y);

/**
 * The seat to which an arrow key, Home or End leads: along the row, else the nearest one in that direction; else the
 * seat itself.
 */
export function neighbourOf({ seats, rows, rowOf, radius }: SeatLayout, from: number, key: string): number {
  const row = rows[rowOf[from]!]!;
  const index = row.indexOf(from);
  if (key === 'Home') return row[0]!;
  if (key === 'End') return row.at(-1)!;
  const { width, height } = boxAround(row.map((seat) => seats[seat]!));
  const [next, previous] = height > width ? ['ArrowDown', 'ArrowUp'] : ['ArrowRight', 'ArrowLeft'];
  const adjacent = key === next ? row[index + 1] : key === previous ? row[index - 1] : undefined;
  return adjacent ?? nearestIn(seats, seats[from]!, key, radius * 0.8) ?? from;
}

/**
 * The nearest point in the direction of an arrow key and at least so far, where distance off the axis counts three
 * times.
 */
export function nearestIn(
  points: readonly LayoutPoint[],
  { x, y }: LayoutPoint,
  key: string,
  least: number,
): number | null {
  const across = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
  const down = across !== 0 ? 0 : key === 'ArrowDown' ? 1 : -1;
  let best: number | null = null;
  let bestCost = Infinity;
  for (const [number, point] of points.entries()) {
    const along = (point.x - x) * across + (point.y - y) * down;
    const off = Math.abs((point.x - x) * down) + Math.abs((point.y - y) * across);
    if (along > least && along + off * 3 < bestCost) [best, bestCost] = [number, along + off * 3];
  }
  return best;
}

/** The seats whose middle lies in a box. */
export function seatsWithin({ seats }: SeatLayout, { x, y, width, height }: Box): number[] {
  const found: number[] = [];
  for (const [number, seat] of seats.entries()) {
    if (seat.x >= x && seat.x <= x + width && seat.y >= y && seat.y <= y + height) found.push(number);
  }
  return found;
}

/** The rectangle between two seats: within a section by rows, which may be curved, otherwise by place. */
export function seatsBetween(layout: SeatLayout, one: number, other: number): number[] {
  const { seats, rows, rowOf, sectionNames, radius } = layout;
  const { x, y, width, height } = grown(boxAround([seats[one]!, seats[other]!]), radius * 0.5);
  if (sectionNames[one] !== sectionNames[other]) return seatsWithin(layout, { x, y, width, height });
  const [first, last] = [rowOf[one]!, rowOf[other]!].sort((a, b) => a - b) as [number, number];
  const between = rows.slice(first, last + 1).flat();
  return between.filter((number) => seats[number]!.x >= x && seats[number]!.x <= x + width);
}

/** A shape of the hall, such as its stage, in the open seating-plan format. */
export interface Shape {
  readonly position?: LayoutPoint;
  readonly rotation?: number;
  readonly rectangle?: { readonly width: number; readonly height: number };
  readonly circle?: { readonly radius: number };
  readonly ellipse?: { readonly radius: LayoutPoint };
  readonly polygon?: { readonly points: readonly LayoutPoint[] };
  readonly text?: { readonly position?: LayoutPoint; readonly text?: string; readonly size?: number };
}

export function shapesOf({ shapes }: SeatedLocality): readonly Shape[] {
  return (shapes as readonly Shape[]).filter((shape) => typeof shape === 'object' && shape !== null);
}

/** Points that a shape reaches, its rotation not considered. */
export function cornersOf({
  position = { x: 0, y: 0 },
  rectangle,
  circle,
  ellipse,
  polygon,
}: Shape): readonly LayoutPoint[] {
  const at = (x: number, y: number): LayoutPoint => ({ x: position.x + x, y: position.y + y });
  if (rectangle) return [position, at(rectangle.width, rectangle.height)];
  const reach = circle ? { x: circle.radius, y: circle.radius } : ellipse?.radius;
  if (reach) return [at(-reach.x, -reach.y), at(reach.x, reach.y)];
  return (polygon?.points ?? []).map(({ x, y }) => at(x, y));
}

/** The smallest box around points; a box of a usual size where there are none. */
export function boxAround(points: readonly LayoutPoint[]): Box {
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
