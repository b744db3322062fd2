/** The seats of an event by id, over all its localities: their names and zones. */
import { useMemo } from 'preact/hooks';
import type { EventPayload, Hold, Seating } from '#client/bodies.ts';
import { useLoaded } from '../../hooks.ts';
import { language, texts } from '../app/language.ts';
import { isBareLabel, labelled, listing } from '../app/format.ts';
import { client } from '../app/service.ts';
import type { SeatPlan } from '../../seat-map/plan.ts';

interface KnownSeat {
  /** Section and row in words. */
  readonly row: string;
  readonly label: string;
  readonly zone: string;
  readonly accessible: boolean;
  readonly locality: string;
}

export type KnownSeats = ReadonlyMap<string, KnownSeat>;

export function registerOf(seating: Seating | null): KnownSeats {
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

/** The seats of the event of a hold; nothing is loaded for a hold without seats. */
export function useRegister(event: EventPayload, hold: Hold): KnownSeats {
  const isSeated = hold.items.some((item) => item.seat_ids.length > 0);
  const seating = useLoaded(isSeated ? event.slug : null, (signal) => client.getSeating(event.slug, { signal }));
  return useMemo(() => registerOf(seating.value), [seating.value]);
}

/** The row and number of a seat in words, without its state. */
export function seatName(plan: SeatPlan, number: number): string {
  return `${labelled(texts.plan.Row, plan.rowLabels[number] ?? '')}, ${labelled(texts.plan.seat, plan.seats[number]?.seat_label ?? '')}`;
}

/** Seats in words, those of one row together: "Stalls, row A, seats 8 and 9". */
export function seatsInWords(register: KnownSeats, seatIds: readonly string[]): readonly string[] {
  const known = seatIds.map((id) => register.get(id) ?? { row: '', label: id });
  return [...Map.groupBy(known, ({ row }) => row)].map(([row, seats]) => {
    const labels = seats.map(({ label }) => label).sort((a, b) => a.localeCompare(b, language, { numeric: true }));
    const bare = labels.every(isBareLabel);
    const noun = bare ? `${texts.plan.seats(labels.length)} ` : '';
    return [row, noun + listing(labels)].filter((part) => part !== '').join(', ');
  });
}

interface SeatNamesProps {
  readonly register: KnownSeats;
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
