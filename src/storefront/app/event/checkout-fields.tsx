/** The parts of the checkout form. Values are kept by name, so that a reload finds them again. */
import type { EventPayload, Hold } from '#client/bodies.ts';
import { money, price } from '../format.ts';
import { Stepper } from '../parts/stepper.tsx';
import { seatsInWords, type SeatRegister } from './seat-register.ts';
import { ticketTypeOf } from './selection.ts';

export type FormValues = Readonly<Record<string, string>>;

interface FieldsProps {
  readonly values: FormValues;
  readonly set: (name: string, value: string) => void;
}

interface OfHold extends FieldsProps {
  readonly event: EventPayload;
  readonly hold: Hold;
}

export function BuyerFields({ values, set }: FieldsProps) {
  return (
    <fieldset>
      <legend>Your details</legend>
      <TextField name="name" label="Name" autocomplete="name" values={values} set={set} />
      <TextField name="email" label="E-mail" type="email" autocomplete="email" values={values} set={set} />
      <TextField name="phone" label="Phone" type="tel" autocomplete="tel" optional values={values} set={set} />
    </fieldset>
  );
}

interface TextFieldProps extends FieldsProps {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'email' | 'tel';
  readonly autocomplete?: string;
  readonly optional?: boolean;
}

function TextField({
  name,
  label,
  type = 'text',
  autocomplete = 'off',
  optional = false,
  values,
  set,
}: TextFieldProps) {
  return (
    <label class="field">
      <span>
        {label} {optional && <span class="quiet">(optional)</span>}
      </span>
      <input
        name={name}
        type={type as 'text'}
        autocomplete={autocomplete as 'name'}
        required={!optional}
        maxLength={200}
        value={values[name] ?? ''}
        onInput={(input) => set(name, input.currentTarget.value)}
      />
    </label>
  );
}

/** One name for each ticket, where the event issues tickets to people. */
export function Attendees({ event, hold, register, values, set }: OfHold & { readonly register: SeatRegister }) {
  if (!event.require_individual_data) return null;
  const placeOf = (line: Hold['items'][number], ticket: number): string => {
    const seatId = line.seat_ids[ticket];
    const type = ticketTypeOf(event, line.ticket_type_id)?.name ?? 'Ticket';
    return seatId === undefined ? `${type} ${ticket + 1}` : (seatsInWords(register, [seatId])[0] ?? type);
  };
  return (
    <fieldset>
      <legend>Who is coming</legend>
      <p class="quiet small">Each ticket is issued to one person.</p>
      {hold.items.map((line, index) =>
        Array.from({ length: line.ticket_count }, (_, ticket) => (
          <TextField name={`attendee-${index}-${ticket}`} label={placeOf(line, ticket)} values={values} set={set} />
        )),
      )}
    </fieldset>
  );
}

/** What can be bought with the tickets. */
export function Extras({ event, hold, values, set }: OfHold) {
  const offers = hold.items.flatMap((line, index) =>
    (ticketTypeOf(event, line.ticket_type_id)?.barPerks ?? []).map((perk) => ({ line, index, perk })),
  );
  if (offers.length === 0) return null;
  const severalLines = new Set(offers.map(({ index }) => index)).size > 1;
  return (
    <fieldset>
      <legend>Extras</legend>
      <ul class="extras">
        {offers.map(({ line, index, perk }) => {
          const name = `perk-${index}-${perk.id}`;
          const most = Math.min(perk.available ?? 99, (perk.max_per_ticket ?? 99) * line.ticket_count);
          return (
            <li>
              <div>
                <b>{perk.name}</b>
                <p class="small quiet">
                  {price(perk.price, event.currency)}
                  {severalLines && ` · with ${ticketTypeOf(event, line.ticket_type_id)?.name}`}
                  {perk.available === 0 && ' · sold out'}
                </p>
              </div>
              <Stepper
                label={perk.name}
                value={Math.min(Number(values[name] ?? 0), most)}
                max={most}
                onChange={(quantity) => set(name, String(quantity))}
              />
            </li>
          );
        })}
      </ul>
    </fieldset>
  );
}

interface InstallmentsProps extends FieldsProps {
  readonly event: EventPayload;
  readonly total: number;
}

/** In how many parts it is paid, where the event allows that. */
export function Installments({ event, total, values, set }: InstallmentsProps) {
  if (event.max_installments < 2 || total === 0) return null;
  return (
    <label class="field">
      <span>How to pay</span>
      <select
        name="installments"
        value={values['installments'] ?? '1'}
        onChange={(change) => set('installments', change.currentTarget.value)}
      >
        {Array.from({ length: event.max_installments }, (_, index) => index + 1).map((parts) => (
          <option value={String(parts)}>
            {parts === 1
              ? 'All at once'
              : `In ${parts} parts, the first ${money(Math.ceil(total / parts), event.currency)}`}
          </option>
        ))}
      </select>
    </label>
  );
}
