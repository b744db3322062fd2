/** The seats of a performance with their states: a layout that is read once, and states that follow the versions. */
import type { Occupancy, SeatedLocality } from '#client/bodies.ts';
import { seatStates, withSeatChanges, type SeatStates } from '#client/live.ts';
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

export const STATE_WORDS = { AVAILABLE: 'free', HELD: 'held', SOLD: 'sold', BLOCKED: 'blocked' } as const;

export interface PlannedLocality {
  readonly id: string;
  readonly name: string;
  readonly plan: SeatPlan;
}

export function plannedLocality(locality: SeatedLocality): PlannedLocality {
  return { id: locality.id, name: locality.name, plan: planOf(locality) };
}

/** Seats in words, a line for each row: "Stalls, row F: 7–12, 15". */
export function seatsInWords(localities: readonly PlannedLocality[], ids: ReadonlySet<string>): readonly string[] {
  const lines = new Map<string, string[]>();
  for (const { plan } of localities) {
    for (const [number, { id, seat_label: label }] of plan.seats.entries()) {
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
