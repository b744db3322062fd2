/** The seats of a performance with their states: a layout that is read once, and states that follow the versions. */
import type { Occupancy, PlannedSeat, SeatedLocality } from '#client/bodies.ts';
import { seatStates, withSeatChanges, type SeatStates } from '#client/live.ts';
import type { LayoutPoint } from '#client/seat-layout.ts';
import { planOf, type SeatPlan } from '../../seat-map/plan.ts';

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
  readonly plan: SeatPlan;
  readonly seats: readonly DrawnSeat[];
  readonly categories: readonly Category[];
  /** Names of sections, above their first row, and of rows, at their ends. */
  readonly names: readonly DrawnName[];
}

interface DrawnName extends LayoutPoint {
  readonly text: string;
  readonly of: 'section' | 'row';
  /** The ids of its seats. */
  readonly seats: readonly string[];
}

/** A locality ready to be drawn. */
export function drawnLocality(locality: SeatedLocality): DrawnLocality {
  const plan = planOf(locality);
  const { rows, rowLabels, sectionNames, radius } = plan;
  const categories = plan.zones.map(({ name, hue }, zone) => {
    return { letter: String.fromCharCode(65 + (zone % 26)), name, hue };
  });
  const isOne = categories.length === 1;
  const seats = plan.seats.map((seat, number) => ({
    ...seat,
    number,
    name: `${sectionNames[number]}, row ${rowLabels[number]}, seat ${seat.seat_label}`,
    category: isOne ? null : (categories[plan.zoneOf[number]!] ?? null),
  }));
  const idsIn = (numbers: readonly number[]): string[] =>
    numbers.flatMap((row) => rows[row]!.map((number) => plan.seats[number]!.id));
  const names: DrawnName[] = [
    ...plan.sections.map(({ name: text, box, rows: numbers }) => {
      const [x, y] = [box.x + box.width / 2, box.y - radius * 3];
      return { text, x, y, of: 'section' as const, seats: idsIn(numbers) };
    }),
    ...plan.rowNames.map(({ text, x, y, row }) => ({ text, x, y, of: 'row' as const, seats: idsIn([row]) })),
  ];
  return { id: locality.id, name: locality.name, plan, seats, categories: isOne ? [] : categories, names };
}

/** Seats in words, a line for each row: "Stalls, row F: 7–12, 15". */
export function seatsInWords(localities: readonly DrawnLocality[], ids: ReadonlySet<string>): readonly string[] {
  const lines = new Map<string, string[]>();
  for (const { seats, plan } of localities) {
    for (const { id, number, seat_label: label } of seats) {
      if (!ids.has(id)) continue;
      const row = `${plan.sectionNames[number]}, row ${plan.rowLabels[number]}`;
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
