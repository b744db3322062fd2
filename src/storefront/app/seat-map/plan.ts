/**
 * A locality ready to be drawn by the seat map: its layout, the hues of its zones and the shapes of the hall.
 *
 * Owns the names of seats and which seat an arrow key leads to.
 */
import { boxAround, grown, layoutOf, type Box, type Point, type SeatLayout } from '#client/seat-layout.ts';
import type { SeatedLocality } from '#client/bodies.ts';
import { labelled } from '../format.ts';
import { zonePalette } from './palette.ts';

export interface SeatPlan extends SeatLayout {
  readonly numberById: ReadonlyMap<string, number>;
  /** The index of each seat's zone. */
  readonly zoneOf: readonly number[];
  readonly zones: readonly { readonly key: string; readonly name: string; readonly hue: number }[];
  readonly box: Box;
  readonly shapes: readonly Shape[];
}

/** A shape of the hall in the open seating-plan format. */
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

/** Space around the whole plan, and above a section for its name. */
const MARGIN_RADII = 3;
const NAME_RADII = 4;

export function planOf(locality: SeatedLocality): SeatPlan {
  const layout = layoutOf(locality);
  const { seats, sections, radius } = layout;
  const hues = zonePalette(locality.zones.map(({ color }) => color));
  const zones = locality.zones.map((zone, index) => ({ key: zone.zone_key, name: zone.name, hue: hues[index]! }));
  const zoneIndex = new Map(zones.map(({ key }, index) => [key, index]));
  const names = sections.map(({ box }) => ({ x: box.x + box.width / 2, y: box.y - radius * NAME_RADII }));
  const shapes = (locality.shapes as readonly Shape[]).filter((shape) => typeof shape === 'object' && shape !== null);
  return {
    ...layout,
    zones,
    zoneOf: seats.map((seat) => zoneIndex.get(seat.zone_key) ?? 0),
    numberById: new Map(seats.map((seat, number) => [seat.id, number])),
    shapes,
    box: grown(boxAround([...seats, ...names, ...shapes.flatMap(cornersOf)]), radius * MARGIN_RADII),
  };
}

/** The row and number of a seat in words, without its state. */
export function seatName(plan: SeatPlan, number: number): string {
  return `${labelled('Row', plan.rowLabels[number] ?? '')}, ${labelled('seat', plan.seats[number]?.seat_label ?? '')}`;
}

/** The seat to which an arrow key leads: the next one along the row, or the nearest one above or below. */
export function neighbourOf(plan: SeatPlan, from: number, key: string): number {
  const row = plan.rows[plan.rowOf[from]!]!;
  const index = row.indexOf(from);
  if (key === 'ArrowRight' || key === 'ArrowLeft') {
    const next = row[index + (key === 'ArrowRight' ? 1 : -1)];
    return next ?? nearest(plan, from, key === 'ArrowRight' ? { x: 1, y: 0 } : { x: -1, y: 0 });
  }
  if (key === 'Home') return row[0]!;
  if (key === 'End') return row.at(-1)!;
  return nearest(plan, from, key === 'ArrowDown' ? { x: 0, y: 1 } : { x: 0, y: -1 });
}

/** The nearest seat in a direction, where distance off the axis counts three times; the seat itself when there is none. */
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

/** Points that a shape reaches, its rotation not considered. */
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
