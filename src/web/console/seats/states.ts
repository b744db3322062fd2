/** The seats of a performance with their states: a layout that is read once, and states that follow the versions. */
import type { Occupancy, PlannedSeat, SeatedLocality } from '#client/bodies.ts';
import { seatStates, withSeatChanges, type SeatStates } from '#client/live.ts';
import {
  boxAround,
  cornersOf,
  grown,
  layoutOf,
  shapesOf,
  type Box,
  type Point,
  type SeatLayout,
  type Shape,
} from '#client/seat-layout.ts';

export interface VersionedStates {
  readonly version: number;
  readonly states: SeatStates;
}

/** The states after an answer, which has all seats or the changes since the states before. */
export function followStates(before: VersionedStates | null, answer: Occupancy): VersionedStates {
  const states =
    'changes' in answer ? withSeatChanges(before?.states ?? new Map(), answer.changes) : seatStates(answer);
  return { version: answer.version, states };
}

export interface DrawnSeat extends PlannedSeat {
  readonly number: number;
  /** Section, row and seat in words. */
  readonly name: string;
  /** Null where the locality has one category alone. */
  readonly category: Category | null;
}

/** A category of seats. Its letter stands on its seats, so that nobody needs to tell colours apart. */
export interface Category {
  readonly letter: string;
  readonly name: string;
  /** By number into the hues of the style sheet. */
  readonly hue: number;
}

export interface DrawnLocality {
  readonly id: string;
  readonly name: string;
  readonly layout: SeatLayout;
  readonly seats: readonly DrawnSeat[];
  readonly categories: readonly Category[];
  /** Names of sections, above their first row, and of rows, at both of their ends. */
  readonly names: readonly DrawnName[];
  readonly shapes: readonly Shape[];
  readonly box: Box;
}

export interface DrawnName extends Point {
  readonly text: string;
  readonly of: 'section' | 'row';
  readonly side: 'left' | 'middle' | 'right';
  /** The ids of its seats. */
  readonly seats: readonly string[];
}

/** As many hues as the style sheet has; with more categories they are used again. */
const HUES = 6;

/** A locality ready to be drawn. */
export function drawnLocality(locality: SeatedLocality): DrawnLocality {
  const layout = layoutOf(locality);
  const { rowLabels, sectionNames, radius } = layout;
  const zones = locality.zones.map((zone, n): [string, Category] => [
    zone.zone_key,
    { letter: String.fromCharCode(65 + (n % 26)), name: zone.name, hue: n % HUES },
  ]);
  const categoryOf = new Map(zones.length > 1 ? zones : []);
  const seats = layout.seats.map((seat, number) => ({
    ...seat,
    number,
    name: `${sectionNames[number]}, row ${rowLabels[number]}, seat ${seat.seat_label}`,
    category: categoryOf.get(seat.zone_key) ?? null,
  }));
  const names = [...sectionNamesOf(layout), ...rowNamesOf(layout)];
  const shapes = shapesOf(locality);
  const box = grown(boxAround([...seats, ...names, ...shapes.flatMap(cornersOf)]), radius * 2.5);
  return {
    id: locality.id,
    name: locality.name,
    layout,
    seats,
    categories: [...categoryOf.values()],
    names,
    shapes,
    box,
  };
}

function sectionNamesOf({ seats, sections, sectionNames, radius }: SeatLayout): readonly DrawnName[] {
  return sections.map(({ name, box }) => ({
    text: name,
    x: box.x + box.width / 2,
    y: box.y - radius * 3,
    of: 'section',
    side: 'middle',
    seats: seats.filter((_, number) => sectionNames[number] === name).map(({ id }) => id),
  }));
}

/** Between two sections that stand close together a row is named once. */
function rowNamesOf({ seats, rows, rowLabels, radius }: SeatLayout): readonly DrawnName[] {
  const names: DrawnName[] = [];
  for (const row of rows) {
    const [first, last] = [row[0], row.at(-1)];
    if (first === undefined || last === undefined) continue;
    const ids = row.map((number) => seats[number]!.id);
    for (const [number, side, step] of [
      [first, 'left', -2.6],
      [last, 'right', 2.6],
    ] as const) {
      const [x, y] = [seats[number]!.x + radius * step, seats[number]!.y];
      const text = rowLabels[number]!;
      const isNamed = names.some((other) => other.text === text && Math.hypot(other.x - x, other.y - y) < radius * 4);
      if (!isNamed) names.push({ text, x, y, of: 'row', side, seats: ids });
    }
  }
  return names;
}

/** Seats in words, a line for each row: "Stalls, row F: 7–12, 15". */
export function seatsInWords(localities: readonly DrawnLocality[], ids: ReadonlySet<string>): readonly string[] {
  const lines = new Map<string, string[]>();
  for (const { seats, layout } of localities) {
    for (const { id, number, seat_label: label } of seats) {
      if (!ids.has(id)) continue;
      const row = `${layout.sectionNames[number]}, row ${layout.rowLabels[number]}`;
      lines.set(row, [...(lines.get(row) ?? []), label]);
    }
  }
  return [...lines].map(([row, labels]) => `${row}: ${inRanges(labels).join(', ')}`);
}

/** Three and more numbers that follow one another as "7–12". */
function inRanges(labels: readonly string[]): readonly string[] {
  const ranges: string[][] = [];
  for (const label of labels) {
    const range = ranges.at(-1);
    if (range !== undefined && String(Number(range.at(-1)) + 1) === label) range.push(label);
    else ranges.push([label]);
  }
  return ranges.flatMap((range) => (range.length > 2 ? [`${range[0]}–${range.at(-1)}`] : range));
}
