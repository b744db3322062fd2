/**
 * A locality ready to be drawn: its layout, the hues of its zones, the names of its rows and the shapes of the hall.
 *
 * Owns which seat lies at a point, and which block an arrow key leads to.
 */
import {
  boxAround,
  cornersOf,
  distance,
  grown,
  layoutOf,
  nearestIn,
  shapesOf,
  type Box,
  type LayoutPoint,
  type SeatLayout,
  type Shape,
} from '#client/seat-layout.ts';
import type { SeatedLocality } from '#client/bodies.ts';
import { blocksOf, isByBlock, type Block } from './blocks.ts';
import { gridOf, type PointGrid } from './grid.ts';
import { zonePalette } from './palette.ts';
import { endsOf, rowNamesOf, type RowName } from './row-names.ts';

export interface SeatPlan extends SeatLayout {
  readonly numberById: ReadonlyMap<string, number>;
  /** The index of each seat's zone. */
  readonly zoneOf: readonly number[];
  readonly zones: readonly Zone[];
  readonly box: Box;
  /** The sections that have seats, and which of them a seat is in. */
  readonly blocks: readonly Block[];
  readonly blockOf: readonly number[];
  /** Whether seats are chosen block by block from afar. */
  readonly isByBlock: boolean;
  readonly grid: PointGrid;
  readonly rowNames: readonly RowName[];
  /** The box around each row. */
  readonly rowBoxes: readonly Box[];
  readonly shapes: readonly Shape[];
}

interface Zone {
  readonly key: string;
  readonly name: string;
  /** The operator's own colour. */
  readonly color: string | null;
  /** Our hue in its place, by index into `HUES`. */
  readonly hue: number;
}

/** Space around the whole plan, and above a section for its name. */
const MARGIN_RADII = 3;
const NAME_RADII = 4;
/** The side of a square of the index of seats: a few seats lie in each. */
const GRID_RADII = 12;

export function planOf(locality: SeatedLocality): SeatPlan {
  const layout = layoutOf(locality);
  const { seats, sections, radius } = layout;
  const hues = zonePalette(locality.zones.map(({ color }) => color));
  const zones = locality.zones.map((zone, index) => ({
    key: zone.zone_key,
    name: zone.name,
    color: zone.color,
    hue: hues[index]!,
  }));
  const blocks = blocksOf(layout);
  const blockOf = new Array<number>(seats.length).fill(0);
  for (const [index, block] of blocks.entries()) for (const seat of block.seats) blockOf[seat] = index;
  const zoneIndex = new Map(zones.map(({ key }, index) => [key, index]));
  const names = sections.map(({ box }) => ({ x: box.x + box.width / 2, y: box.y - radius * NAME_RADII }));
  const shapes = shapesOf(locality);
  const seated = { ...layout, grid: gridOf(seats, radius * GRID_RADII) };
  const rowNames = rowNamesOf(layout, (x, y) => seatAt(seated, x, y) !== null);
  const around = grown(boxAround([...seats, ...names, ...shapes.flatMap(cornersOf)]), radius * MARGIN_RADII);
  const end = { x: around.x + around.width, y: around.y + around.height };
  return {
    ...seated,
    zones,
    zoneOf: seats.map((seat) => zoneIndex.get(seat.zone_key) ?? 0),
    numberById: new Map(seats.map((seat, number) => [seat.id, number])),
    shapes,
    blocks,
    blockOf,
    isByBlock: isByBlock(layout),
    rowNames,
    rowBoxes: layout.rows.map((row) => boxAround(row.map((seat) => seats[seat]!))),
    box: boxAround([around, end, ...rowNames.flatMap((name) => endsOf(name, radius))]),
  };
}

/** The seat at a point of the plan. */
export function seatAt(plan: Pick<SeatPlan, 'seats' | 'radius' | 'grid'>, x: number, y: number): number | null {
  let best: number | null = null;
  let bestDistance = plan.radius * 1.25;
  for (const seat of plan.grid.within(grown({ x, y, width: 0, height: 0 }, bestDistance))) {
    const away = distance(plan.seats[seat]!, { x, y });
    if (away <= bestDistance) [best, bestDistance] = [seat, away];
  }
  return best;
}

/** The nearest of the seats that pass, seen from a point; null where none does. */
export function nearestSeat(plan: SeatPlan, point: LayoutPoint, passes: (seat: number) => boolean): number | null {
  let best: number | null = null;
  let bestDistance = Infinity;
  plan.seats.forEach((seat, number) => {
    const away = distance(seat, point);
    if (away < bestDistance && passes(number)) [best, bestDistance] = [number, away];
  });
  return best;
}

/** The block to which an arrow key leads; the first one, to begin with. */
export function nextBlock(plan: SeatPlan, from: number | null, key: string): number {
  const last = plan.blocks.length - 1;
  if (key === 'Home' || (from === null && key !== 'End')) return 0;
  if (key === 'End' || from === null) return last;
  const middles = plan.blocks.map(({ box }) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 }));
  return nearestIn(middles, middles[from]!, key, plan.radius) ?? from;
}
