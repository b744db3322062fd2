/** The kinds of ticket for picked seats, where a seat can be bought as more than one. */
import type { EventPayload, TicketAvailability, TicketType } from '#client/bodies.ts';
import { price } from '../format.ts';
import { seatsInWords, type SeatRegister } from './seat-register.tsx';
import { pickedAs, rowFor, typesForSeat, type PickedSeat } from './selection.ts';

interface SeatKindsProps {
  readonly event: EventPayload;
  readonly rows: readonly TicketAvailability[];
  readonly picked: readonly PickedSeat[];
  readonly register: SeatRegister;
  readonly onPick: (seats: readonly PickedSeat[]) => void;
}

export function SeatKinds({ event, rows, picked, register, onPick }: SeatKindsProps) {
  const typesOf = ({ seatId }: PickedSeat): readonly TicketType[] => {
    const known = register.get(seatId);
    return known === undefined ? [] : typesForSeat(event, rows, known);
  };
  const choices = picked.map((seat) => ({ seat, types: typesOf(seat) })).filter(({ types }) => types.length > 1);
  if (choices.length === 0) return null;
  return (
    <details class="kinds">
      <summary>Other kinds of ticket for your seats</summary>
      <ul>
        {choices.map(({ seat, types }) => (
          <li>
            <label class="field row">
              <span>{seatsInWords(register, [seat.seatId])[0]}</span>
              <select
                value={seat.ticketTypeId}
                onChange={(change) => {
                  const ticketTypeId = change.currentTarget.value;
                  const [changed] = pickedAs(rows, ticketTypeId, [seat.seatId]);
                  onPick(picked.map((each) => (each.seatId === seat.seatId ? changed! : each)));
                }}
              >
                {types.map((type) => (
                  <option value={type.id}>
                    {type.name} · {price(rowFor(rows, type.id)!.price, event.currency)}
                    {type.group_size > 1 ? ` for ${type.group_size}` : ''}
                  </option>
                ))}
              </select>
            </label>
          </li>
        ))}
      </ul>
    </details>
  );
}
