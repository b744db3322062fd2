/** The seats of an event by id, over all its localities: their names and zones. */
import type { Seating } from '#client/bodies.ts';
import { language, texts } from '../language.ts';
import { isBareLabel, labelled, listing } from '../format.ts';

export interface KnownSeat {
  /** Section and row in words. */
  readonly row: string;
  readonly label: string;
  readonly zone: string;
  readonly accessible: boolean;
  readonly locality: string;
}

export type SeatRegister = ReadonlyMap<string, KnownSeat>;

export function registerOf(seating: Seating | null): SeatRegister {
  const known = new Map<string, KnownSeat>();
  for (const locality of seating?.localities ?? []) {
    for (const section of locality.sections) {
      for (const row of section.rows) {
        for (const seat of row.seats) {
          known.set(seat.id, {
            row: `${section.name}, ${labelled(texts.plan.row, row.label)}`,
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

/** Seats in words, those of one row together: "Stalls, row A, seats 8 and 9". */
export function seatsInWords(register: SeatRegister, seatIds: readonly string[]): readonly string[] {
  const known = seatIds.map((id) => register.get(id) ?? { row: '', label: id });
  return [...Map.groupBy(known, ({ row }) => row)].map(([row, seats]) => {
    const labels = seats.map(({ label }) => label).sort((a, b) => a.localeCompare(b, language, { numeric: true }));
    const bare = labels.every(isBareLabel);
    const noun = bare ? `${texts.plan.seats(labels.length)} ` : '';
    return [row, noun + listing(labels)].filter((part) => part !== '').join(', ');
  });
}

interface SeatNamesProps {
  readonly register: SeatRegister;
  readonly seatIds: readonly string[];
}

/** The names of seats, one paragraph for each row. */
export function SeatNames({ register, seatIds }: SeatNamesProps) {
  return (
    <>
      {seatsInWords(register, seatIds).map((row) => (
        <p class="small seat-names">{row}</p>
      ))}
    </>
  );
}
