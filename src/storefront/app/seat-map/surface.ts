/**
 * What the seat map draws on: the interface of two surfaces, SVG for halls of up to `SVG_SEATS_MAX` seats and a canvas above.
 */
import type { SeatPlan } from './plan.ts';

/**
 * How a seat looks to this buyer: the states of the API, `chosen` for picked seats, `mine` for those of them that are held,
 * `other` for seats not on sale.
 */
export type Look = 'free' | 'other' | 'held' | 'sold' | 'blocked' | 'chosen' | 'mine';

/** Where the plan lies on the screen: screen = plan × scale + (x, y), in CSS pixels. */
export interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

export interface Surface {
  readonly element: SVGSVGElement | HTMLCanvasElement;
  /** Draws seats with these looks; `nameOf` gives the accessible name of a seat. */
  show(looks: readonly Look[], nameOf: (seat: number) => string): void;
  place(view: View, width: number, height: number): void;
  /** Marks the seat that the keyboard points to; null for none. */
  point(seat: number | null): void;
  /** The seat under a point of the screen, or null. */
  seatAt(x: number, y: number): number | null;
  /** Colours may have changed. */
  recolour(): void;
  dispose(): void;
}

/** Above this many seats a canvas draws several times faster. */
export const SVG_SEATS_MAX = 5_000;

/** Size on the screen from which a seat's number fits into it. */
export const LABEL_PIXELS_MIN = 22;

/** Whether a seat shows its number; a seat with a mark has no space for it. */
export function isNumbered(plan: SeatPlan, seat: number, look: Look): boolean {
  return (look === 'free' || look === 'other') && !plan.seats[seat]!.accessible;
}

/** The number in a seat: the end of its label. */
export function numberIn(plan: SeatPlan, seat: number): string {
  return (/\S+$/.exec(plan.seats[seat]!.seat_label)?.[0] ?? '').slice(0, 4);
}

/** The size of section names in plan units: readable when zoomed out, at most as large as a heading when zoomed in. */
export function nameSizeOf(plan: SeatPlan, scale: number): number {
  const fromAfar = Math.min(Math.max(plan.radius * 2.4, 11 / scale), plan.radius * 4.5);
  return Math.min(fromAfar, 18 / scale);
}

/** Finds the seat at a point of the plan. Seats are indexed by squares, so that few are compared. */
export function hitGrid(plan: SeatPlan): (x: number, y: number) => number | null {
  const cell = plan.radius * 4;
  const cells = new Map<string, number[]>();
  const keyOf = (x: number, y: number): string => `${Math.floor(x / cell)} ${Math.floor(y / cell)}`;
  plan.seats.forEach(({ x, y }, seat) => {
    const key = keyOf(x, y);
    const list = cells.get(key);
    if (list === undefined) cells.set(key, [seat]);
    else list.push(seat);
  });
  return (x, y) => {
    let best: number | null = null;
    let bestDistance = plan.radius * 1.25;
    for (const dx of [-cell, 0, cell]) {
      for (const dy of [-cell, 0, cell]) {
        for (const seat of cells.get(keyOf(x + dx, y + dy)) ?? []) {
          const distance = Math.hypot(plan.seats[seat]!.x - x, plan.seats[seat]!.y - y);
          if (distance <= bestDistance) [best, bestDistance] = [seat, distance];
        }
      }
    }
    return best;
  };
}
