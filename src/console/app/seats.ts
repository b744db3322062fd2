/** The seats of a performance with their states: a layout that is read once, and states that follow the versions. */
import type { Occupancy, PlannedSeat, SeatedLocality } from '#client/bodies.ts';
import { seatStates, withSeatChanges, type SeatStates } from '#client/live.ts';
import { boxAround, grown, layoutOf, type Box, type Point } from '#client/seat-layout.ts';

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
  /** Section, row and seat in words. */
  readonly name: string;
  /** The ids of the seats in its row, from left to right. */
  readonly row: readonly string[];
}

export interface DrawnLocality {
  readonly id: string;
  readonly name: string;
  readonly seats: readonly DrawnSeat[];
  /** Names of sections, above their first row, and of rows, beside their first seat. */
  readonly names: readonly DrawnName[];
  readonly radius: number;
  readonly box: Box;
}

interface DrawnName extends Point {
  readonly text: string;
  readonly of: 'section' | 'row';
}

/** A locality ready to be drawn. */
export function drawnLocality(locality: SeatedLocality): DrawnLocality {
  const { seats, rows, rowOf, rowLabels, sectionNames, sections, radius } = layoutOf(locality);
  const rowIds = rows.map((row) => row.map((number) => seats[number]!.id));
  const drawnSeats = seats.map((seat, number) => ({
    ...seat,
    name: `${sectionNames[number]}, row ${rowLabels[number]}, seat ${seat.seat_label}`,
    row: rowIds[rowOf[number]!]!,
  }));
  const names: DrawnName[] = [
    ...sections.map(({ name, box }) => ({
      text: name,
      x: box.x + box.width / 2,
      y: box.y - radius * 3,
      of: 'section' as const,
    })),
    ...rows.flatMap(([first]) => {
      if (first === undefined) return [];
      const { x, y } = seats[first]!;
      return [{ text: rowLabels[first]!, x: x - radius * 2.6, y, of: 'row' as const }];
    }),
  ];
  const box = grown(boxAround([...seats, ...names]), radius * 2.5);
  return { id: locality.id, name: locality.name, seats: drawnSeats, names, radius, box };
}
