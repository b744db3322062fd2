/** The parts of the checkout form, and what is read from it. Values are stored by name, so that a reload restores them. */
import type { EventPayload, Hold } from '#client/bodies.ts';
import { money, price } from '../format.ts';
import { Stepper } from '../parts/controls.tsx';
import { seatsInWords, type SeatRegister } from './seat-register.tsx';
import { ticketTypeOf } from './selection.ts';

export type FormValues = Readonly<Record<string, string>>;

const perkField = (itemIndex: number, perkId: string): string => `perk-${itemIndex}-${perkId}`;
export const attendeeField = (itemIndex: number, ticket: number): string => `attendee-${itemIndex}-${ticket}`;

/** The bar perks that are chosen for one item of a hold. */
export function chosenPerks(event: EventPayload, item: Hold['items'][number], index: number, values: FormValues) {
  return (ticketTypeOf(event, item.ticket_type_id)?.barPerks ?? [])
    .map((perk) => ({ perk, quantity: Number(values[perkField(index, perk.id)] ?? 0) }))
    .filter(({ quantity }) => quantity > 0);
}

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
  const labelOf = (item: Hold['items'][number], ticket: number): string => {
    const seatId = item.seat_ids[ticket];
    const type = ticketTypeOf(event, item.ticket_type_id)?.name ?? 'Ticket';
    return seatId === undefined ? `${type} ${ticket + 1}` : (seatsInWords(register, [seatId])[0] ?? type);
  };
  return (
    <fieldset>
      <legend>Who is coming</legend>
      <p class="quiet small">Each ticket is issued to one person.</p>
      {hold.items.map((item, index) =>
        Array.from({ length: item.ticket_count }, (_, ticket) => (
          <TextField name={attendeeField(index, ticket)} label={labelOf(item, ticket)} values={values} set={set} />
        )),
      )}
    </fieldset>
  );
}

/** The bar perks that can be bought with the tickets. */
export function Extras({ event, hold, values, set }: OfHold) {
  const offers = hold.items.flatMap((item, index) =>
    (ticketTypeOf(event, item.ticket_type_id)?.barPerks ?? []).map((perk) => ({ item, index, perk })),
  );
  if (offers.length === 0) return null;
  const severalItems = new Set(offers.map(({ index }) => index)).size > 1;
  return (
    <fieldset>
      <legend>Extras</legend>
      <ul class="extras">
        {offers.map(({ item, index, perk }) => {
          const name = perkField(index, perk.id);
          const most = Math.min(perk.available ?? 99, (perk.max_per_ticket ?? 99) * item.ticket_count);
          return (
            <li>
              <div>
                <b>{perk.name}</b>
                <p class="small quiet">
                  {price(perk.price, event.currency)}
                  {severalItems && ` · with ${ticketTypeOf(event, item.ticket_type_id)?.name}`}
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

/** The number of installments, where the event allows more than one. */
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

/** A promo or discount code. */
export function CodeField({ values, set }: FieldsProps) {
  return (
    <label class="field">
      <span>
        Code <span class="quiet">(optional)</span>
      </span>
      <input
        name="promo"
        autocomplete="off"
        maxLength={128}
        value={values['promo'] ?? ''}
        onInput={(input) => set('promo', input.currentTarget.value)}
      />
      <span class="small quiet">Taken off when you go on; you see the new amount before you pay.</span>
    </label>
  );
}
