/**
 * The sections of a hall as blocks: the first step of a choice where there are too many seats to look at each.
 *
 * The convex hull outlines a block. Where seats of another block lie in it, as with rows that are bent around a stage,
 * the outline goes along the first and last row and the ends of the others, unless that leaves seats out.
 */
import { distance, type Box, type LayoutPoint, type SeatLayout } from '#client/seat-layout.ts';

export interface Block {
  readonly name: string;
  readonly box: Box;
  readonly outline: readonly LayoutPoint[];
  /** Where its name stands: a seat in its middle. */
  readonly middle: LayoutPoint;
  readonly seats: readonly number[];
}

/** Buyers first choose a block in a hall with more seats, or with MANY_BLOCKS and more than SEATS_BY_MANY_BLOCKS. */
const SEATS_BY_BLOCK = 2_000;
const MANY_BLOCKS = 5;
const SEATS_BY_MANY_BLOCKS = 600;
/** This many seats are tried to see whether an outline leaves some out. */
const PROBES = 40;
const ROW_PROBES = 6;

export function isByBlock({ seats, sections }: SeatLayout): boolean {
  if (sections.length < 2) return false;
  return seats.length > SEATS_BY_BLOCK || (sections.length >= MANY_BLOCKS && seats.length > SEATS_BY_MANY_BLOCKS);
}

export function blocksOf(layout: SeatLayout): readonly Block[] {
  return layout.sections.map((section) => {
    const { name, box, rows } = section;
    const pointsOf = (row: number): LayoutPoint[] => layout.rows[row]!.map((seat) => layout.seats[seat]!);
    const seats = rows.flatMap((row) => [...layout.rows[row]!]);
    const middleRow = pointsOf(rows[rows.length >> 1]!);
    const points = seats.map((seat) => layout.seats[seat]!);
    const hull = hullOf(points);
    const others = layout.sections.filter((other) => other !== section && overlap(box, other.box));
    const isAlone = !others.some((other) =>
      other.rows.some((row) => some(pointsOf(row), ROW_PROBES).some((point) => contains(hull, point))),
    );
    const outline = isAlone ? hull : outlineAlong(rows.map(pointsOf));
    const isWhole = some(points, PROBES).every(
      (point) => contains(outline, point) || nearest(outline, point) <= layout.radius * 2.5,
    );
    return { name, box, seats, middle: middleRow[middleRow.length >> 1]!, outline: isWhole ? outline : hull };
  });
}

/** Points spread over a list. */
const some = (points: readonly LayoutPoint[], count: number): readonly LayoutPoint[] =>
  points.filter((_, i) => i % Math.ceil(points.length / count) === 0);

const overlap = (a: Box, b: Box): boolean =>
  a.x <= b.x + b.width && b.x <= a.x + a.width && a.y <= b.y + b.height && b.y <= a.y + a.height;

/** The first row, the right ends, the last row backwards and the left ends. */
function outlineAlong(rows: readonly (readonly LayoutPoint[])[]): LayoutPoint[] {
  const first = rows[0]!;
  if (rows.length === 1) return [...first];
  // Rows may be listed in opposite directions; each continues at the end that is nearer.
  const ordered: (readonly LayoutPoint[])[] = [first];
  for (const row of rows.slice(1)) {
    const before = ordered.at(-1)!;
    const isTurned =
      distance(before[0]!, row.at(-1)!) + distance(before.at(-1)!, row[0]!) <
      distance(before[0]!, row[0]!) + distance(before.at(-1)!, row.at(-1)!);
    ordered.push(isTurned ? row.toReversed() : row);
  }
  const between = ordered.slice(1, -1);
  return [
    ...first,
    ...between.map((row) => row.at(-1)!),
    ...ordered.at(-1)!.toReversed(),
    ...between.map((row) => row[0]!).toReversed(),
  ];
}

/** Whether a point lies within an outline. */
export function contains(outline: readonly LayoutPoint[], { x, y }: LayoutPoint): boolean {
  let isInside = false;
  outline.forEach((a, i) => {
    const b = outline[(i + 1) % outline.length]!;
    if (a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x) isInside = !isInside;
  });
  return isInside;
}

/** How far a point is from the nearest edge of an outline. */
export function nearest(outline: readonly LayoutPoint[], point: LayoutPoint): number {
  let best = Infinity;
  outline.forEach((a, i) => {
    const b = outline[(i + 1) % outline.length]!;
    const [dx, dy] = [b.x - a.x, b.y - a.y];
    const length = dx * dx + dy * dy || 1;
    const share = Math.min(1, Math.max(0, ((point.x - a.x) * dx + (point.y - a.y) * dy) / length));
    best = Math.min(best, distance(point, { x: a.x + dx * share, y: a.y + dy * share }));
  });
  return best;
}

/** The convex hull, by Andrew's monotone chain. */
function hullOf(points: readonly LayoutPoint[]): LayoutPoint[] {
  const sorted = points.toSorted((a, b) => a.x - b.x || a.y - b.y);
  const half = (ordered: readonly LayoutPoint[]): LayoutPoint[] => {
    const chain: LayoutPoint[] = [];
    for (const point of ordered) {
      while (chain.length > 1 && turn(chain.at(-2)!, chain.at(-1)!, point) <= 0) chain.pop();
      chain.push(point);
    }
    return chain.slice(0, -1);
  };
  return sorted.length < 3 ? sorted : [...half(sorted), ...half(sorted.toReversed())];
}

const turn = (a: LayoutPoint, b: LayoutPoint, c: LayoutPoint): number =>
  (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
