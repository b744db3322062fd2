/** The kinds of ticket for picked seats, where a seat can be bought as more than one. */
import type { EventPayload, TicketAvailability } from '#client/bodies.ts';
import { price } from '../format.ts';
import { seatsInWords, type KnownSeat, type SeatRegister } from './seat-register.ts';
import { rowFor, type PickedSeat } from './selection.ts';

interface SeatKindsProps {
  readonly event: EventPayload;
  readonly rows: readonly TicketAvailability[];
  readonly picked: readonly PickedSeat[];
  readonly register: SeatRegister;
  readonly onPick: (seats: readonly PickedSeat[]) => void;
}

export function SeatKinds({ event, rows, picked, register, onPick }: SeatKindsProps) {
  const choices = picked
    .map((seat) => ({ seat, types: typesFor(event, rows, register.get(seat.seatId)) }))
    .filter(({ types }) => types.length > 1);
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
                  onPick(picked.map((each) => (each.seatId === seat.seatId ? { ...each, ticketTypeId } : each)));
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

function typesFor(event: EventPayload, rows: readonly TicketAvailability[], at: KnownSeat | undefined) {
  if (at === undefined) return [];
  return event.ticketTypes.filter(
    (type) =>
      type.locality_id === at.locality &&
      (type.zone_keys === null || type.zone_keys.includes(at.zone)) &&
      (at.accessible || !type.accessible) &&
      rowFor(rows, type.id)?.on_sale === true,
  );
}
