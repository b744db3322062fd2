/** The seats of an event by id, over all its localities, with their names in the language of the page. */
import { useMemo } from 'preact/hooks';
import type { EventPayload, Hold, Seating } from '#client/bodies.ts';
import { useLoaded } from '../../hooks.ts';
import { seatWords } from '../app/format.ts';
import { client } from '../app/service.ts';
import { knownSeats, namesOfSeats, type KnownSeats } from '../../seat-choice/seat-names.ts';

export const registerOf = (seating: Seating | null): KnownSeats => knownSeats(seatWords, seating);

/** By the event's slug: what comes after a checkout names its seats at once. */
const loadedSeatings = new Map<string, Seating>();

/** The seats of the event of a hold; nothing is loaded for a hold without seats. */
export function useRegister({ slug }: EventPayload, hold: Hold): KnownSeats {
  const isSeated = hold.items.some((item) => item.seat_ids.length > 0);
  const load = async (signal: AbortSignal): Promise<Seating> => {
    const seating = await client.getSeating(slug, { signal });
    loadedSeatings.set(slug, seating);
    return seating;
  };
  const seating = useLoaded(isSeated ? slug : null, load, null, loadedSeatings.get(slug) ?? null);
  return useMemo(() => registerOf(seating.value), [seating.value]);
}

/** Seats in words, those of one row together: "Stalls, row A, seats 8 and 9". */
export function seatsInWords(register: KnownSeats, seatIds: readonly string[]): readonly string[] {
  return namesOfSeats(seatWords, register, seatIds);
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
