/** The seats of an event by id, over all its localities, and their names. */
import type { Seating } from '#client/bodies.ts';
import type { SeatPlan } from '../seat-map/plan.ts';
import { isBareLabel, labelled, type SeatWords } from './words.ts';

interface KnownSeat {
  /** Section and row in words. */
  readonly row: string;
  readonly label: string;
  readonly zone: string;
  readonly accessible: boolean;
  readonly locality: string;
}

export type KnownSeats = ReadonlyMap<string, KnownSeat>;

export function knownSeats({ plan }: SeatWords, seating: Seating | null): KnownSeats {
  const known = new Map<string, KnownSeat>();
  for (const locality of seating?.localities ?? []) {
    for (const section of locality.sections) {
      for (const row of section.rows) {
        for (const seat of row.seats) {
          known.set(seat.id, {
            row: `${section.name}, ${labelled(plan.row, row.label)}`,
            label: seat.seat_label,
            zone: seat.zone_key,
            accessible: seat.accessible,
            locality: locality.id,
          });
        }
      }
    }
  }
  return known;
}

/** The row and number of a seat in words, without its state. */
export function seatName(words: SeatWords, plan: SeatPlan, number: number): string {
  const { Row, seat } = words.plan;
  return `${labelled(Row, plan.rowLabels[number] ?? '')}, ${labelled(seat, plan.seats[number]?.seat_label ?? '')}`;
}

/** Seats in words, those of one row together: "Stalls, row A, seats 8 and 9". */
export function namesOfSeats(words: SeatWords, register: KnownSeats, seatIds: readonly string[]): readonly string[] {
  const known = seatIds.map((id) => register.get(id) ?? { row: '', label: id });
  return [...Map.groupBy(known, ({ row }) => row)].map(([row, seats]) => {
    const labels = seats
      .map(({ label }) => label)
      .sort((a, b) => a.localeCompare(b, words.language, { numeric: true }));
    const noun = labels.every(isBareLabel) ? `${words.plan.seats(labels.length)} ` : '';
    return [row, noun + words.listing(labels)].filter((part) => part !== '').join(', ');
  });
}
