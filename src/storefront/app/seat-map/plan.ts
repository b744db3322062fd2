/**
 * A locality's seats laid out for drawing and walking: flat lists by seat number, and who is next to whom.
 *
 * Built once a layout. Numbers count the seats in the order of the plan.
 */
import type { PlannedSeat, SeatedLocality } from '#client/bodies.ts';
import { zonePalette } from './palette.ts';

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface SeatPlan {
  readonly seats: readonly PlannedSeat[];
  /** Of each seat: its row and section in words. */
  readonly rowLabels: readonly string[];
  readonly sectionNames: readonly string[];
  readonly numberById: ReadonlyMap<string, number>;
  /** Of each seat: the index of its zone. */
  readonly zoneOf: readonly number[];
  readonly zones: readonly { readonly key: string; readonly name: string; readonly hue: number }[];
  readonly rows: readonly (readonly number[])[];
  readonly rowOf: readonly number[];
  readonly sections: readonly { readonly name: string; readonly box: Box }[];
  /** Half the side of a seat, in plan units. */
  readonly radius: number;
  readonly box: Box;
  readonly shapes: readonly Shape[];
}

/** An outline of the hall's picture, as the open seating-plan format has them. */
export interface Shape {
  readonly shape?: string;
  readonly position?: Point;
  readonly rotation?: number;
  readonly rectangle?: { readonly width: number; readonly height: number };
  readonly circle?: { readonly radius: number };
  readonly ellipse?: { readonly radius: Point };
  readonly polygon?: { readonly points: readonly Point[] };
  readonly text?: { readonly position?: Point; readonly text?: string; readonly size?: number };
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Room around the whole plan, and above a section for its name. */
const MARGIN_RADII = 3;
const NAME_RADII = 4;

export function planOf(locality: SeatedLocality): SeatPlan {
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
  const hues = zonePalette(locality.zones.map(({ color }) => color));
  const zones = locality.zones.map((zone, index) => ({ key: zone.zone_key, name: zone.name, hue: hues[index]! }));
  const zoneIndex = new Map(zones.map(({ key }, index) => [key, index]));
  const radius = seatRadius(seats, rows);
  // A section's name stands above its first row.
  const names = sections.map(({ box }) => ({ x: box.x + box.width / 2, y: box.y - radius * NAME_RADII }));
  const shapes = (locality.shapes as readonly Shape[]).filter((shape) => typeof shape === 'object' && shape !== null);
  return {
    seats,
    rowLabels,
    sectionNames,
    rows,
    rowOf,
    sections,
    zones,
    zoneOf: seats.map((seat) => zoneIndex.get(seat.zone_key) ?? 0),
    numberById: new Map(seats.map((seat, number) => [seat.id, number])),
    radius,
    shapes,
    box: grown(boxAround([...seats, ...names, ...shapes.flatMap(cornersOf)]), radius * MARGIN_RADII),
  };
}

/** A seat in words: where it is, without its state. */
export function seatName(plan: SeatPlan, number: number): string {
  const row = plan.rowLabels[number] ?? '';
  const rowText = /^\w{1,4}$/.test(row) ? `Row ${row}` : row;
  const label = plan.seats[number]?.seat_label ?? '';
  return `${rowText}, ${/^\w{1,4}$/.test(label) ? `seat ${label}` : label}`;
}

/** The seat to go to from one by an arrow key: along the row, or to the nearest in the next row up or down. */
export function neighbourOf(plan: SeatPlan, from: number, key: string): number {
  const row = plan.rows[plan.rowOf[from]!]!;
  const place = row.indexOf(from);
  if (key === 'ArrowRight' || key === 'ArrowLeft') {
    const next = row[place + (key === 'ArrowRight' ? 1 : -1)];
    return next ?? nearest(plan, from, key === 'ArrowRight' ? { x: 1, y: 0 } : { x: -1, y: 0 });
  }
  if (key === 'Home') return row[0]!;
  if (key === 'End') return row.at(-1)!;
  return nearest(plan, from, key === 'ArrowDown' ? { x: 0, y: 1 } : { x: 0, y: -1 });
}

/** The nearest seat in a direction; what lies off the axis counts three times. The seat itself when there is none. */
function nearest(plan: SeatPlan, from: number, towards: Point): number {
  const { x, y } = plan.seats[from]!;
  let best = from;
  let bestCost = Number.POSITIVE_INFINITY;
  plan.seats.forEach((seat, number) => {
    const along = (seat.x - x) * towards.x + (seat.y - y) * towards.y;
    const off = Math.abs((seat.x - x) * towards.y) + Math.abs((seat.y - y) * towards.x);
    const cost = along + off * 3;
    if (along > plan.radius * 0.8 && number !== from && cost < bestCost) [best, bestCost] = [number, cost];
  });
  return best;
}

/** A little under half of the usual distance between neighbours. */
function seatRadius(seats: readonly PlannedSeat[], rows: readonly (readonly number[])[]): number {
  const gaps: number[] = [];
  for (const row of rows) {
    for (let i = 1; i < row.length; i += 1) {
      const [a, b] = [seats[row[i - 1]!]!, seats[row[i]!]!];
      gaps.push(Math.hypot(a.x - b.x, a.y - b.y));
    }
  }
  const usual = gaps.filter((gap) => gap > 0).sort((a, b) => a - b)[gaps.length >> 1] ?? 25;
  return usual * 0.42;
}

function boxAround(points: readonly Point[]): Box {
  if (points.length === 0) return { x: 0, y: 0, width: 100, height: 100 };
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of points) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  return { x: left, y: top, width: right - left, height: bottom - top };
}

function grown({ x, y, width, height }: Box, by: number): Box {
  return { x: x - by, y: y - by, width: width + by * 2, height: height + by * 2 };
}

/** Points that a shape reaches to, its rotation aside. */
function cornersOf(shape: Shape): Point[] {
  const at = shape.position ?? { x: 0, y: 0 };
  const reach = (x: number, y: number): Point => ({ x: at.x + x, y: at.y + y });
  if (shape.rectangle) return [at, reach(shape.rectangle.width, shape.rectangle.height)];
  if (shape.circle)
    return [reach(-shape.circle.radius, -shape.circle.radius), reach(shape.circle.radius, shape.circle.radius)];
  if (shape.ellipse)
    return [
      reach(-shape.ellipse.radius.x, -shape.ellipse.radius.y),
      reach(shape.ellipse.radius.x, shape.ellipse.radius.y),
    ];
  return (shape.polygon?.points ?? []).map(({ x, y }) => reach(x, y));
}
