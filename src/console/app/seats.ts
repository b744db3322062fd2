/** The seats of a date with their states: a layout that comes once, and states that follow the date's versions. */
import type { Occupancy, PlannedSeat, Seating } from '#client/bodies.ts';

export type SeatState = 'AVAILABLE' | 'HELD' | 'SOLD' | 'BLOCKED';

export interface SeatStates {
  readonly version: number;
  /** Those that are not AVAILABLE. */
  readonly taken: ReadonlyMap<string, SeatState>;
}

/** What the states are after an answer; one in the form of changes goes on from those before. */
export function followStates(before: SeatStates | null, answer: Occupancy): SeatStates {
  if ('changes' in answer) {
    const taken = new Map(before?.taken);
    for (const { id, state } of answer.changes) {
      if (state === 'AVAILABLE') taken.delete(id);
      else taken.set(id, state);
    }
    return { version: answer.version, taken };
  }
  const listed = (ids: readonly string[], state: SeatState) => ids.map((id): [string, SeatState] => [id, state]);
  return {
    version: answer.version,
    taken: new Map([
      ...listed(answer.held, 'HELD'),
      ...listed(answer.sold, 'SOLD'),
      ...listed(answer.blocked, 'BLOCKED'),
    ]),
  };
}

export interface DrawnSeat extends PlannedSeat {
  /** In words: section, row and seat. */
  readonly name: string;
  /** The ids of its row, in order. */
  readonly row: readonly string[];
}

export interface DrawnLocality {
  readonly id: string;
  readonly name: string;
  readonly seats: readonly DrawnSeat[];
  /** Words beside the seats: sections above their first row, rows before their first seat. */
  readonly names: readonly {
    readonly text: string;
    readonly x: number;
    readonly y: number;
    readonly of: 'section' | 'row';
  }[];
  readonly radius: number;
  readonly box: { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
}

/** The localities of an event ready to be drawn. Cost: one pass over the seats. */
export function drawnLocalities(seating: Seating): readonly DrawnLocality[] {
  return seating.localities.map(({ id, name, sections }) => {
    const rows = sections.flatMap((section) => section.rows.map((row) => ({ section, row })));
    const seats = rows.flatMap(({ section, row }) => {
      const ids = row.seats.map((seat) => seat.id);
      return row.seats.map((seat) => ({
        ...seat,
        name: `${section.name}, row ${row.label}, seat ${seat.seat_label}`,
        row: ids,
      }));
    });
    const radius = usualGap(rows.map(({ row }) => row.seats)) * 0.42;
    const names = sections.flatMap((section) => namesIn(section, radius));
    return { id, name, seats, names, radius, box: boxAround([...seats, ...names], radius * 2.5) };
  });
}

function namesIn({ name, rows }: Seating['localities'][number]['sections'][number], radius: number) {
  const seats = rows.flatMap((row) => row.seats);
  if (seats.length === 0) return [];
  const { x, y, width } = boxAround(seats, 0);
  const ofRows = rows.flatMap(({ label, seats: [first] }) =>
    first === undefined ? [] : [{ text: label, x: first.x - radius * 2.6, y: first.y, of: 'row' as const }],
  );
  return [{ text: name, x: x + width / 2, y: y - radius * 3, of: 'section' as const }, ...ofRows];
}

/** The middle one of the distances between neighbours. */
function usualGap(rows: readonly (readonly PlannedSeat[])[]): number {
  const gaps = rows
    .flatMap((seats) => seats.slice(1).map((seat, i) => Math.hypot(seat.x - seats[i]!.x, seat.y - seats[i]!.y)))
    .filter((gap) => gap > 0)
    .sort((a, b) => a - b);
  return gaps[gaps.length >> 1] ?? 25;
}

function boxAround(seats: readonly { readonly x: number; readonly y: number }[], margin: number): DrawnLocality['box'] {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (const { x, y } of seats) {
    [left, right] = [Math.min(left, x), Math.max(right, x)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y)];
  }
  if (seats.length === 0) return { x: 0, y: 0, width: 100, height: 100 };
  return { x: left - margin, y: top - margin, width: right - left + margin * 2, height: bottom - top + margin * 2 };
}
