/**
 * The buyer, the people on the tickets and the extras in the checkout form, and what is read from them. How it is paid
 * is in `payment-fields.tsx`. Values are stored by name, so that a reload restores them.
 */
import type { EventPayload, Hold } from '#client/bodies.ts';
import { price, texts } from '../app/language.ts';
import { Stepper } from '../parts/controls.tsx';
import { seatsInWords } from '../event/seat-register.tsx';
import type { KnownSeats } from '../../seat-choice/words.ts';
import { ticketTypeOf } from '../event/selection.ts';

const words = texts.checkout;

export type FormValues = Readonly<Record<string, string>>;

const perkField = (itemIndex: number, perkId: string): string => `perk-${itemIndex}-${perkId}`;
export const attendeeField = (itemIndex: number, ticket: number): string => `attendee-${itemIndex}-${ticket}`;

/** The bar perks that are chosen for one item of a hold. */
export function chosenPerks(event: EventPayload, item: Hold['items'][number], index: number, values: FormValues) {
  return (ticketTypeOf(event, item.ticket_type_id)?.barPerks ?? [])
    .map((perk) => ({ perk, quantity: Number(values[perkField(index, perk.id)] ?? 0) }))
    .filter(({ quantity }) => quantity > 0);
}

export interface FieldsProps {
  readonly values: FormValues;
  readonly set: (name: string, value: string) => void;
  /** What is wrong, by the name of the field. */
  readonly problems: FieldProblems;
}

/** Sentences by the names of the fields that they are about, in the order of the form. */
export type FieldProblems = Readonly<Record<string, string>>;

interface OfHold extends FieldsProps {
  readonly event: EventPayload;
  readonly hold: Hold;
}

export function BuyerFields(fields: FieldsProps) {
  return (
    <fieldset>
      <legend>{words.yourDetails}</legend>
      <TextField name="name" label={words.name} autocomplete="name" {...fields} />
      <TextField name="email" label={words.email} type="email" autocomplete="email" {...fields} />
      <TextField name="phone" label={words.phone} type="tel" autocomplete="tel" optional {...fields} />
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
  problems,
}: TextFieldProps) {
  const problem = problems[name];
  return (
    <div class="field">
      <label for={`field-${name}`}>
        {label} {optional && <span class="quiet">{words.optional}</span>}
      </label>
      <input
        id={`field-${name}`}
        name={name}
        type={type as 'text'}
        autocomplete={autocomplete as 'name'}
        required={!optional}
        maxLength={200}
        value={values[name] ?? ''}
        onInput={(input) => set(name, input.currentTarget.value)}
        {...described(name, problem)}
      />
      <Problem name={name} problem={problem} />
    </div>
  );
}

/** The attributes that tie a field to what is wrong with it. */
export function described(name: string, problem: string | undefined) {
  return problem === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': `problem-${name}` };
}

/** What is wrong with a field, beneath it. */
export function Problem({ name, problem }: { readonly name: string; readonly problem: string | undefined }) {
  if (problem === undefined) return null;
  return (
    <p class="problem small" id={`problem-${name}`}>
      {problem}
    </p>
  );
}

/**
 * One name for each ticket, where the event issues tickets to people. The first is the buyer's own, as long as they say
 * so.
 */
export function Attendees({ event, hold, register, ...fields }: OfHold & { readonly register: KnownSeats }) {
  if (!event.require_individual_data) return null;
  const { values, set } = fields;
  const labelOf = (item: Hold['items'][number], ticket: number): string => {
    const seatId = item.seat_ids[ticket];
    const type = ticketTypeOf(event, item.ticket_type_id)?.name ?? words.ticket;
    return seatId === undefined ? `${type} ${ticket + 1}` : (seatsInWords(register, [seatId])[0] ?? type);
  };
  return (
    <fieldset>
      <legend>{words.attendees}</legend>
      <p class="quiet small">{words.attendeesNote}</p>
      {hold.items.map((item, index) =>
        Array.from({ length: item.ticket_count }, (_, ticket) => (
          <div key={attendeeField(index, ticket)} class="attendee">
            {isBuyers(index, ticket) && (
              <label class="check">
                <input
                  type="checkbox"
                  checked={isSameAsBuyer(values)}
                  onChange={(change) => set(SAME_FIELD, change.currentTarget.checked ? 'yes' : 'no')}
                />
                <span>{words.sameAsBuyer(labelOf(item, ticket))}</span>
              </label>
            )}
            {!(isBuyers(index, ticket) && isSameAsBuyer(values)) && (
              <TextField name={attendeeField(index, ticket)} label={labelOf(item, ticket)} {...fields} />
            )}
          </div>
        )),
      )}
    </fieldset>
  );
}

const SAME_FIELD = 'same-as-buyer';
const isBuyers = (itemIndex: number, ticket: number): boolean => itemIndex === 0 && ticket === 0;
const isSameAsBuyer = (values: FormValues): boolean => values[SAME_FIELD] !== 'no';

/** The name on a ticket as the form has it. */
export function attendeeName(values: FormValues, itemIndex: number, ticket: number): string {
  const isOwn = isBuyers(itemIndex, ticket) && isSameAsBuyer(values);
  return (values[isOwn ? 'name' : attendeeField(itemIndex, ticket)] ?? '').trim();
}

/** The bar perks that can be bought with the tickets. */
export function Extras({ event, hold, values, set }: Omit<OfHold, 'problems'>) {
  const offers = hold.items.flatMap((item, index) =>
    (ticketTypeOf(event, item.ticket_type_id)?.barPerks ?? []).map((perk) => ({ item, index, perk })),
  );
  if (offers.length === 0) return null;
  const severalItems = new Set(offers.map(({ index }) => index)).size > 1;
  return (
    <fieldset>
      <legend>{words.extras}</legend>
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
                  {severalItems &&
                    ` · ${words.withTicket(ticketTypeOf(event, item.ticket_type_id)?.name ?? words.ticket)}`}
                  {perk.available === 0 && ` · ${texts.notes.soldOut}`}
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
