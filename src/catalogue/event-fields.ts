/**
 * The fields of an event: names, meanings, bounds and defaults, as a catalogue file or a PUT of the admin API carries
 * them.
 *
 * The schema that checks, the reader, the writer and the reference are made of these tables; `EventDefinition` is the
 * type of what is read. Rules that concern several values (an id that must exist, a date that must come after another)
 * are in `references.ts`.
 *
 * 1. An unknown field is a problem, and so is a wrong type, which is never coerced.
 * 2. Every list, text and number has a limit, so that a definition has a bounded size.
 */
import { Type } from 'typebox';
import type { EventDefinition, LocalityDefinition } from '#domain/catalogue/definition.ts';
import { invariant } from '#domain/invariant.ts';
import {
  derived,
  list,
  nullable,
  onlyInFile,
  optional,
  plain,
  present,
  record,
  required,
  type Codec,
  type FileOf,
  type ValuePosition,
} from './codec.ts';
import { brand } from './brand.ts';
import { locality, type LocalityFile } from './hall-fields.ts';
import { isNumbered, type Seatings } from './seating.ts';
import {
  addressable,
  count,
  countOrNull,
  id,
  label,
  minutes,
  name,
  oneOf,
  price,
  priceCentsMax,
  priceOrNull,
  printableText,
  printableWord,
  rank,
  someOrNull,
  text,
  textOrNull,
  timeOrNull,
  truth,
  webAddress,
} from './values.ts';

/** A year: no hold or pass is kept open longer. */
const windowMinutesMax = 525_600;
/** Twice the longest hold, because a payment window must be the longer of the two. */
const paymentMinutesMax = 2 * windowMinutesMax;
/** The default of this setting is four hold windows, so its maximum is four times the longest window. */
const holdMaxMinutesMax = 4 * windowMinutesMax;
/** A claim names at most 200 seats, so a larger group could never be seated. */
const groupSizeMax = 200;
/** Ten years; whoever keeps for longer sets no retention. */
const retentionDaysMax = 3_650;

/** A year. */
const changeMinutesMax = 525_600;
const withdrawalDaysMax = 60;
/** A day; whoever opens earlier sets the time. */
const doorsMinutesMax = 1_440;

export const defaultHoldMinutes = 10;

/** The payment window of an event that names none, in minutes. */
export function defaultPaymentMinutes(holdMinutes: number): number {
  return Math.max(30, holdMinutes + 20);
}

/** A file below the catalogue's folder; no step of the path begins with a dot. */
const picture = Type.String({
  maxLength: 200,
  pattern: '^(?:[A-Za-z0-9][A-Za-z0-9._-]*/){0,4}[A-Za-z0-9][A-Za-z0-9._-]*\\.(?:jpg|jpeg|png|webp|avif)$',
  description:
    'the path of a .jpg, .jpeg, .png, .webp or .avif file in the catalogue’s folder, of letters, digits, dots, hyphens and underscores',
});

const webAddressOrNull = nullable(webAddress);

const country = Type.String({ pattern: '^[A-Z]{2}$', description: 'two capital letters of ISO 3166, such as DE' });
const timeOfDay = Type.String({
  pattern: '^(?:[01][0-9]|2[0-3]):[0-5][0-9]$',
  description: 'a time of the day, such as 21:30',
});

const venue = record({
  name: required(name, 'what the place is called'),
  address: optional(textOrNull, null, 'street and number'),
  city: optional(textOrNull, null, 'the town'),
  country: optional(nullable(plain(country)), null, 'the country'),
});

const lineup = record({
  name: required(name, 'who performs'),
  time: optional(nullable(plain(timeOfDay)), null, 'when, by the clock of the event’s zone'),
});

/** What a shop is legally bound to say to buyers before they order. */
const legal = record({
  terms_url: optional(webAddressOrNull, null, 'the terms of sale'),
  imprint_url: optional(webAddressOrNull, null, 'who sells'),
  privacy_url: optional(webAddressOrNull, null, 'what becomes of personal data'),
  vat_percent: optional(
    nullable(plain(Type.Number({ minimum: 0, maximum: 100 }))),
    null,
    'the tax that prices include',
  ),
  order_button: optional(
    nullable(printableText(60)),
    null,
    'what the button says that places an order; a text of the page’s language where null',
  ),
});

/** What buyers may do with tickets that they have. */
const changeRule = record({
  until_minutes: optional(
    count(0, changeMinutesMax),
    0,
    'minutes before the start of the ticket’s date, of a change before that of the new one too; a date without a start until it is over',
  ),
  fee: optional(price, 0, 'for a ticket, in the minor unit of the currency'),
  fee_percent: optional(plain(Type.Number({ minimum: 0, maximum: 100 })), 0, 'of what is credited, added to the fee'),
  ticket_type_ids: optional(nullable(list(id, { maxItems: 1_000 })), null, 'the types that it is for; all where null'),
});

const buyerChanges = record({
  cancel: optional(nullable(changeRule), null, 'tickets are given back; not offered where null'),
  change: optional(
    nullable(changeRule),
    null,
    'tickets go to another date, type or seat, or get a new code; not offered where null',
  ),
  attendees: optional(nullable(changeRule), null, 'others are named on tickets; not offered where null'),
  withdrawal_days: optional(
    count(0, withdrawalDaysMax),
    0,
    'days after the purchase in which tickets of dates that have not begun are given back without a fee, whatever cancel says',
  ),
});

const door = record({
  id: required(id, 'names the door in requests'),
  name: derived(label, 'what stations and tickets call it; the id where left out', idOf),
  ticket_type_ids: optional(someOrNull(id), null, 'the ticket types that it takes; all of them where null'),
});

const performance = record({
  id: required(id, 'names the date in requests; it cannot change once something is held or sold'),
  name: derived(
    name,
    'what buyers see; the event’s name where left out',
    (_: unknown, { owner }: ValuePosition<{ readonly name: string }>) => owner.name,
  ),
  starts_at: optional(timeOrNull, null, 'when it begins'),
  ends_at: optional(timeOrNull, null, 'when it ends; nothing is sold from then on'),
  doors_at: present(
    timeOrNull,
    'when people are let in; doors_minutes before the start where left out',
    undefined,
    (
      { startsAt }: { readonly startsAt: number | null },
      { owner }: ValuePosition<{ readonly doors_minutes?: number | null }>,
    ) =>
      startsAt === null || owner.doors_minutes == null
        ? undefined
        : Math.max(0, startsAt - owner.doors_minutes * 60_000),
  ),
  status: optional(
    oneOf('ON_SALE', 'SOLD_OUT', 'CANCELLED', 'DRAFT'),
    'ON_SALE',
    'DRAFT hides the date, SOLD_OUT closes it, CANCELLED cancels it with every order on it, for good',
  ),
  sort_order: derived(
    rank,
    'the place of the date among the dates; its place in the list where left out',
    (_: unknown, { index }: ValuePosition) => index,
  ),
});

/** A locality is complete with the seats that were read from its sections or its plan. */
function readLocality(file: LocalityFile, { index, context }: ValuePosition<unknown, Seatings>): LocalityDefinition {
  const { id, name = id, capacity, focal_point: focalPoint = null } = file;
  if (!isNumbered(file)) {
    invariant(capacity !== undefined, 'a GENERAL locality of a valid event has a capacity');
    return { id, name, seating: 'GENERAL', capacity };
  }
  const seating = context[index];
  invariant(seating !== undefined, 'a NUMBERED locality of a valid event has seats');
  const { zones, sections, shapes } = seating;
  return {
    id,
    name,
    seating: 'NUMBERED',
    focalPoint: focalPoint && { x: focalPoint.x, y: focalPoint.y },
    zones,
    sections,
    shapes,
  };
}

const localities: Codec<LocalityFile, LocalityDefinition> = {
  ...(locality as Codec<LocalityFile, object>),
  read: readLocality,
};

const barPerk = record({
  id: required(id, 'names the perk within its type'),
  name: derived(name, 'what buyers see; the id where left out', idOf),
  price: required(price, 'of one'),
  stock: optional(countOrNull(0), null, 'how many there are, over all dates; no limit where null'),
  max_per_ticket: optional(countOrNull(0), null, 'how many for each ticket; no limit where null'),
});

function idOf(before: { readonly id: string }): string {
  return before.id;
}

const ticketType = record({
  id: required(id, 'names the type in requests; it cannot change once something is held or sold'),
  name: derived(name, 'what buyers see; the id where left out', idOf),
  description: optional(text, '', 'what else buyers see'),
  locality_id: derived(
    id,
    'where its tickets are; may be left out where there is only one locality',
    (_: unknown, { owner }: ValuePosition<{ readonly localities: readonly LocalityFile[] }>) =>
      owner.localities[0]?.id ?? '',
  ),
  zone_keys: optional(someOrNull(name), null, 'the zones of its seats; all of them where null'),
  group_size: optional(count(1, groupSizeMax), 1, 'tickets of one unit: its price covers all of them'),
  max_per_order: optional(countOrNull(1), null, 'units on a date in one order; no limit where null'),
  quota: optional(countOrNull(0), null, 'tickets of the type for each date, over all stages; no limit where null'),
  accessible: optional(truth, false, 'only its units may have places for wheelchairs'),
  entry_cutoff: optional(textOrNull, null, 'until when one is let in, as a text'),
  late_fee: optional(priceOrNull, null, 'what is to be paid at the entrance after that'),
  min_consumption: optional(priceOrNull, null, 'what is to be spent inside'),
  barPerks: optional(list(barPerk, { maxItems: 200 }), [], 'what can be bought with its tickets'),
});

/** Limits by ticket type; null is no limit, and is not kept. */
const quotasOrNull: Codec<Record<string, number | null> | null, Readonly<Record<string, number>>> = {
  ...plain(
    Type.Unsafe<Record<string, number>>({
      type: ['object', 'null'],
      additionalProperties: countOrNull(0).schema,
    }),
  ),
  read: (file) =>
    Object.fromEntries(Object.entries(file ?? {}).filter((entry): entry is [string, number] => entry[1] !== null)),
  write: (value) => ({ ...value }),
};

const sellingStage = record({
  id: required(id, 'names the stage in requests; it cannot change once something is held or sold'),
  name: derived(name, 'what buyers see; the id where left out', idOf),
  starts_at: optional(timeOrNull, null, 'from when it sells; always where null'),
  ends_at: optional(timeOrNull, null, 'until when it sells; for ever where null'),
  sort_order: derived(
    rank,
    'the place of the stage among the stages; its place in the list where left out',
    (_: unknown, { index }: ValuePosition) => index,
  ),
  prices: derived(
    plain(Type.Unsafe<Record<string, number>>({ type: 'object', additionalProperties: price.schema })),
    'the price of a unit of each type that it sells, by type, in the minor unit of the currency',
    () => ({}),
  ),
  quotas: optional(
    quotasOrNull,
    {},
    'tickets of a type that it sells for each date, by type; no limit where a type is not named',
  ),
});

const promoCode = record({
  code: required(
    plain(
      Type.String({
        maxLength: 100,
        pattern: printableWord,
        description: 'a text of 1 to 100 characters without control characters or space at its ends',
      }),
    ),
    'what buyers type; case and spaces around it do not count',
  ),
  percent_off: optional(
    nullable(plain(Type.Number({ exclusiveMinimum: 0, maximum: 100 }))),
    null,
    'what it takes off; one of percent_off and amount_off',
  ),
  amount_off: optional(countOrNull(1, priceCentsMax), null, 'the same as an amount, in the minor unit of the currency'),
  max_uses: optional(countOrNull(0), null, 'how many orders may use it; no limit where null'),
  ticket_type_ids: optional(someOrNull(id), null, 'the types that it is for; all of them where null'),
  starts_at: optional(timeOrNull, null, 'from when it counts'),
  ends_at: optional(timeOrNull, null, 'until when it counts'),
});

const event = record({
  id: required(addressable, 'names the event for good'),
  slug: required(addressable, 'names it in the shop’s addresses; may change'),
  name: required(name, 'what buyers see'),
  description: optional(text, '', 'what else buyers see'),
  picture: present(nullable(plain(picture)), 'its picture', null),
  venue: present(nullable(venue), 'where it takes place', null),
  doors_minutes: onlyInFile(countOrNull(0, doorsMinutesMax), 'how long before each date people are let in', null),
  lineup: present(nullable(list(lineup, { maxItems: 200 })), 'who performs', null),
  status: optional(oneOf('PUBLISHED', 'DRAFT'), 'PUBLISHED', 'a DRAFT is not shown'),
  currency: required(
    plain(Type.String({ pattern: '^[A-Z]{3}$', description: 'three capital letters, such as EUR' })),
    'of all its amounts (ISO 4217)',
  ),
  timezone: optional(name, 'UTC', 'in which buyers see its times, such as Europe/Berlin'),
  payment_provider: optional(oneOf('provider_a', 'provider_b'), 'provider_a', 'who takes the money'),
  refunds: optional(
    oneOf('MANUAL', 'AUTOMATIC'),
    'MANUAL',
    'AUTOMATIC: what becomes due is given back at once at the provider; MANUAL: an operator has it done',
  ),
  max_installments: optional(count(1, 12), 1, 'in how many parts an order may be paid'),
  hold_minutes: optional(minutes(windowMinutesMax), defaultHoldMinutes, 'how long a hold keeps its tickets'),
  hold_max_minutes: optional(
    nullable(plain(Type.Number({ minimum: 0, maximum: holdMaxMinutesMax }))),
    0,
    'the longest that a session’s hold lives through changes, from its first; 0 for no limit. For a rush in which nobody may keep tickets off sale by changing a hold again and again',
  ),
  limits_at_hold: optional(
    truth,
    false,
    'a hold over the limits of an order is refused at once, not only at the checkout. For a rush in which nobody may keep more off sale than one can buy',
  ),
  payment_minutes: derived(
    minutes(paymentMinutesMax),
    'how long an order waits for its payment, more than hold_minutes; the larger of 30 and hold_minutes + 20 where left out',
    ({ holdMinutes }: Windows) => defaultPaymentMinutes(holdMinutes),
  ),
  waiting_room: optional(truth, false, 'people queue before they may hold tickets'),
  waiting_room_opens_at: optional(
    timeOrNull,
    null,
    'when the queue is drawn by lot and the first are admitted; at once where null',
  ),
  waiting_room_rate: optional(count(1), 100, 'people admitted in a minute, at most'),
  waiting_room_minutes: optional(minutes(windowMinutesMax), 10, 'how long a pass is good'),
  waiting_room_inactivity_seconds: optional(
    minutes(60 * windowMinutesMax),
    120,
    'who does not poll for so long leaves the queue',
  ),
  waiting_room_pause_when_sold_out: optional(truth, false, 'nobody is admitted while nothing is left'),
  waiting_room_max_admitted: optional(countOrNull(1), null, 'people with a pass at the same time; no limit where null'),
  max_tickets_per_order: optional(countOrNull(1), null, 'tickets of one order; 10,000 where null'),
  max_tickets_per_email: optional(
    countOrNull(1),
    null,
    'tickets of one address over all its orders; no limit where null',
  ),
  require_individual_data: optional(truth, false, 'each ticket must name who comes'),
  retention_days: optional(
    countOrNull(1, retentionDaysMax),
    null,
    'days after the last date until personal data of orders are erased; never where null',
  ),
  buyer_changes: present(
    nullable(buyerChanges),
    'what buyers may change of their paid orders by themselves; nothing where null',
    null,
  ),
  doors: present(
    nullable(list(door, { minItems: 1, maxItems: 200 })),
    'the entrances at which stations check its tickets; one, main, called Entrance, where null',
    null,
  ),
  reentry: present(
    oneOf('AFTER_EXIT', 'NEVER', 'ALWAYS'),
    'whether a ticket that entered enters again: after its exit, never or always',
    'AFTER_EXIT',
  ),
  legal: present(nullable(legal), 'what the shop must say to buyers before they order', null),
  brand: present(nullable(brand), 'how its pages look where that is not as BRAND says', null),
  performances: required(list(performance, { minItems: 1, maxItems: 1_000 }), 'its dates'),
  localities: required(
    list(localities, { minItems: 1, maxItems: 500 }),
    'the parts of the venue, each with places or seats',
  ),
  ticketTypes: required(list(ticketType, { minItems: 1, maxItems: 1_000 }), 'what is sold'),
  sellingStages: required(list(sellingStage, { minItems: 1, maxItems: 200 }), 'when it is sold, and at which price'),
  promoCodes: optional(list(promoCode, { maxItems: 10_000 }), [], 'codes that make it cheaper'),
});

interface Windows {
  readonly holdMinutes: number;
}

export type EventFile = FileOf<typeof event>;
export type TicketTypeFile = FileOf<typeof ticketType>;
export type SellingStageFile = FileOf<typeof sellingStage>;
export type PromoCodeFile = FileOf<typeof promoCode>;

export const eventFileSchema = event.schema;

/** The event's schema with meanings and defaults; for documents, not for checks. */
export const describedEventSchema = event.described;

/**
 * The complete definition of an event that was found to be valid: every default is filled in and every seat is listed.
 */
export function readEvent(file: EventFile, seatings: Seatings): EventDefinition {
  return event.read(file, { index: 0, owner: null, context: seatings });
}

/**
 * Every field is present and every seat, zone and shape listed; a plan becomes the sections that were read from it.
 * What an older definition lacks has its fallback.
 */
export function toEventFile(definition: EventDefinition): EventFile {
  return event.write(definition as ReturnType<typeof event.read>);
}
