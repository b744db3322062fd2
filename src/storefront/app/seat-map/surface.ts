/**
 * What the seat map draws on: the contract of two twins, SVG for halls up to a few thousand seats and canvas above.
 */
import type { SeatPlan } from './plan.ts';

/** How a seat looks: the API's states, and those of this buyer. */
export type Look = 'free' | 'other' | 'held' | 'sold' | 'blocked' | 'mine';

/** Where the plan lies on the screen: screen = plan × scale + (x, y), in CSS pixels. */
export interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

export interface Surface {
  readonly element: SVGSVGElement | HTMLCanvasElement;
  /** Draws seats in their looks; only those that differ from before cost anything. */
  show(looks: readonly Look[], nameOf: (seat: number) => string): void;
  place(view: View, width: number, height: number): void;
  /** Marks the seat that the keyboard is on; null for none. */
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

/** Whether a seat's number is shown in it; what has a mark of its own has no room for it. */
export function isNumbered(plan: SeatPlan, seat: number, look: Look): boolean {
  return (look === 'free' || look === 'other') && !plan.seats[seat]!.accessible;
}

/** The number in a seat: the end of its label. */
export function numberIn(plan: SeatPlan, seat: number): string {
  return (/\S+$/.exec(plan.seats[seat]!.seat_label)?.[0] ?? '').slice(0, 4);
}

/** How large the names of sections are in plan units: readable from afar, never larger than a heading from near. */
export function nameSizeOf(plan: SeatPlan, scale: number): number {
  const fromAfar = Math.min(Math.max(plan.radius * 2.4, 11 / scale), plan.radius * 4.5);
  return Math.min(fromAfar, 18 / scale);
}

/** Seats by squares of the plan, so that the one under a point is found without looking at all. */
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
