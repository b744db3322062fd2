/** The names of rows at both of their ends. */
import { distance, type LayoutPoint, type SeatLayout } from '#client/seat-layout.ts';

export interface RowName extends LayoutPoint {
  /** The row, by number. */
  readonly row: number;
  readonly text: string;
}

/** The size of a seat on the screen from which the names of rows can be read. */
const ROW_PIXELS_MIN = 9;
/** A name is at least so many pixels high, and as many units of the plan as this times a seat's radius. */
export const PIXELS_MIN = 11;
const RADII = 1.1;
/** Half of a character's width, as a share of its height. */
export const HALF_WIDTH = 0.33;

/** A name stands so many radii beyond the last seat, and more for each character. */
const AWAY_RADII = 1.75;
const CHARACTER_RADII = 0.4;

/** The end of a label such as "Row 12", as far as there is room for it. */
export const shortLabel = (label: string): string => (/\S+$/.exec(label)?.[0] ?? '').slice(0, 4);

/** How high names are, in units of the plan. */
export const rowNameSize = (radius: number, scale: number): number => Math.max(radius * RADII, PIXELS_MIN / scale);

/** Where a name begins and ends at the smallest scale at which names are shown. */
export function endsOf({ x, y, text }: RowName, radius: number): readonly LayoutPoint[] {
  const reach = text.length * HALF_WIDTH * rowNameSize(radius, ROW_PIXELS_MIN / (radius * 2));
  return [-reach, reach].map((by) => ({ x: x + by, y }));
}

/** `isSeat` says whether a seat is at a point. */
export function rowNamesOf(plan: SeatLayout, isSeat: (x: number, y: number) => boolean): readonly RowName[] {
  return plan.rows.flatMap((row, number) => {
    const [first, last] = [plan.seats[row[0]!], plan.seats[row.at(-1)!]];
    if (first === undefined || last === undefined) return [];
    const text = shortLabel(plan.rowLabels[row[0]!]!);
    const away = plan.radius * (AWAY_RADII + text.length * CHARACTER_RADII);
    const ends = [
      beyond(first, plan.seats[row[1] ?? -1] ?? { x: first.x + 1, y: first.y }, away),
      beyond(last, plan.seats[row.at(-2) ?? -1] ?? { x: last.x - 1, y: last.y }, away),
    ];
    // Where the next block begins at once there is no room.
    return ends.filter(({ x, y }) => text !== '' && !isSeat(x, y)).map((at) => ({ ...at, text, row: number }));
  });
}

/** The point beyond the end of a row, in the direction from its second last seat. */
function beyond(end: LayoutPoint, before: LayoutPoint, away: number): LayoutPoint {
  const by = away / (distance(end, before) || 1);
  return { x: end.x + (end.x - before.x) * by, y: end.y + (end.y - before.y) * by };
}
