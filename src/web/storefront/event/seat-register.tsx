/** The seats of an event by id, over all its localities, with their names in the language of the page. */
import type { EventPayload, Hold, Seating } from '#client/bodies.ts';
import { useLoaded } from '../../hooks.ts';
import { seatWords } from '../app/language.ts';
import { client } from '../app/service.ts';
import { knownSeats, namesOfSeats, type KnownSeats } from '../../seat-choice/words.ts';

export const registerOf = (seating: Seating | null): KnownSeats => knownSeats(seatWords, seating);

/** By the event's slug: what comes after a checkout names its seats at once. */
const loadedRegisters = new Map<string, KnownSeats>();

const NO_SEATS: KnownSeats = new Map();

/** The seats of the event of a hold; nothing is loaded for a hold without seats, or whose seats were loaded before. */
export function useRegister({ slug }: EventPayload, hold: Hold): KnownSeats {
  const seatIds = hold.items.flatMap((item) => item.seat_ids);
  const load = async (signal: AbortSignal): Promise<KnownSeats> => {
    const register = registerOf(await client.getSeating(slug, { signal }));
    loadedRegisters.set(slug, register);
    return register;
  };
  const kept = loadedRegisters.get(slug) ?? NO_SEATS;
  const isSeated = seatIds.length > 0;
  // A definition that was loaded since may have brought seats.
  const isKnown = isSeated && seatIds.every((id) => kept.has(id));
  return useLoaded(isSeated ? slug : null, load, null, isKnown ? kept : null).value ?? NO_SEATS;
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
