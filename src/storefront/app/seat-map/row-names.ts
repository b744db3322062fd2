/** The names of rows at both of their ends. */
import { distance, type Point } from '#client/seat-layout.ts';
import { shortLabel } from './look.ts';
import { seatAt, type SeatPlan } from './plan.ts';

export interface RowName extends Point {
  readonly text: string;
}

/** A name stands so many radii beyond the last seat, and more for each character. */
const AWAY_RADII = 1.75;
const CHARACTER_RADII = 0.4;

export function rowNamesOf(plan: SeatPlan): readonly RowName[] {
  return plan.rows.flatMap((row) => {
    const [first, last] = [plan.seats[row[0]!], plan.seats[row.at(-1)!]];
    if (first === undefined || last === undefined) return [];
    const text = shortLabel(plan.rowLabels[row[0]!]!);
    const away = plan.radius * (AWAY_RADII + text.length * CHARACTER_RADII);
    const beside = [
      beyond(first, plan.seats[row[1] ?? -1] ?? { x: first.x + 1, y: first.y }, away),
      beyond(last, plan.seats[row.at(-2) ?? -1] ?? { x: last.x - 1, y: last.y }, away),
    ];
    // Where the next block begins at once there is no room.
    return beside.filter(({ x, y }) => text !== '' && seatAt(plan, x, y) === null).map((at) => ({ ...at, text }));
  });
}

/** The point beyond the end of a row, in the direction from its second last seat. */
function beyond(end: Point, before: Point, away: number): Point {
  const by = away / (distance(end, before) || 1);
  return { x: end.x + (end.x - before.x) * by, y: end.y + (end.y - before.y) * by };
}
