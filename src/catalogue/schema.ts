/**
 * The file form of an event, as an operator writes it or sends it to the admin API, as one JSON Schema.
 *
 * The schema describes types, ranges and patterns of single values. Rules that concern several values (an id that must exist,
 * a date that must come after another) are in `references.ts`. Names are those of the public payload.
 *
 * 1. Unknown fields are allowed and ignored everywhere. A wrong type is a problem and never coerced.
 * 2. Every list, text and number has a limit, so that a definition has a bounded size.
 * 3. A `description` completes the sentence "must be …", because problems quote it.
 */
import { Type, type Static } from 'typebox';

/** A year: no hold or pass is kept open longer. */
const windowMinutesMax = 525_600;
/** Twice the longest hold, because a payment window must be the longer of the two. */
const paymentMinutesMax = 2 * windowMinutesMax;
/** The default is four hold windows; this is the one of the longest window. */
const holdMaxMinutesMax = 4 * windowMinutesMax;
/** Ten million in the main unit of most currencies; sums of many stay exact integers. */
const priceCentsMax = 1_000_000_000;
/** More than any place on earth has. */
const ticketsMax = 10_000_000;
/** A claim names at most 200 seats, so a larger group could never be seated. */
const groupSizeMax = 200;
/** Ten years; whoever keeps for longer sets no retention. */
const retentionDaysMax = 3_650;
/** A day; whoever opens earlier sets the time. */
const doorsMinutesMax = 1_440;
/** The largest coordinate in every direction. */
export const coordinateMax = 1e9;
const rowSeatsMax = 2_000;
const shapesMax = 5_000;

/** No control character, and no half of a surrogate pair, which no address and no file can have. */
const printable = '^[^\\u0000-\\u001f\\u007f\\ud800-\\udfff]*$';
const id = Type.String({
  minLength: 1,
  maxLength: 128,
  pattern: printable,
  description: 'a text of 1 to 128 characters without control characters',
});
const label = Type.String({
  minLength: 1,
  maxLength: 100,
  pattern: printable,
  description: 'a text of 1 to 100 characters without control characters',
});
/** Long enough for the default id of a seat: the section's id, the row's label and the seat's. */
const seatId = Type.String({
  minLength: 1,
  maxLength: 400,
  pattern: printable,
  description: 'a text of 1 to 400 characters without control characters',
});
const addressable = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._~-]{0,99}$',
  description: '1 to 100 letters, digits, dots, hyphens, underscores or tildes, the first a letter or digit',
});
const name = Type.String({ minLength: 1, maxLength: 300 });
const text = Type.String({ maxLength: 20_000 });
const textOrNull = Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength: 300 });
const timeOrNull = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  format: 'date-time',
  description: 'a time with its offset (RFC 3339), such as 2027-05-07T18:00:00Z',
});
const colorOrNull = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 60,
  pattern: '^(#[0-9A-Fa-f]{3,8}|[A-Za-z]+|(rgb|hsl)a?\\([0-9.,%/ -]+\\))$',
  description: 'a colour, such as #0072B2',
});
/** A file below the catalogue's folder; no step of the path begins with a dot. */
const pictureOrNull = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 200,
  pattern: '^(?:[A-Za-z0-9][A-Za-z0-9._-]*/){0,4}[A-Za-z0-9][A-Za-z0-9._-]*\\.(?:jpg|jpeg|png|webp|avif)$',
  description:
    'the path of a .jpg, .jpeg, .png, .webp or .avif file in the catalogue’s folder, of letters, digits, dots, hyphens and underscores',
});
const coordinate = Type.Number({ minimum: -coordinateMax, maximum: coordinateMax });
const point = Type.Object({ x: coordinate, y: coordinate });
/** A position that is added to others: the sum of three is still a coordinate. */
const origin = Type.Object({ x: offset(), y: offset() });
const pointOrNull = Type.Unsafe<Static<typeof point> | null>({ ...point, type: ['object', 'null'] });
const price = Type.Integer({ minimum: 0, maximum: priceCentsMax });
const priceOrNull = countOrNull(0, priceCentsMax);
const rank = Type.Integer({ minimum: -1_000_000, maximum: 1_000_000 });

function count(minimum: number, maximum: number) {
  return Type.Integer({ minimum, maximum });
}

function countOrNull(minimum: number, maximum: number = ticketsMax) {
  return Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum, maximum });
}

function offset() {
  return Type.Number({ minimum: -coordinateMax / 4, maximum: coordinateMax / 4 });
}

function minutes(maximum: number) {
  return Type.Number({ exclusiveMinimum: 0, maximum });
}

const performanceFile = Type.Object({
  id,
  name: Type.Optional(name),
  starts_at: Type.Optional(timeOrNull),
  ends_at: Type.Optional(timeOrNull),
  doors_at: Type.Optional(timeOrNull),
  status: Type.Optional(Type.Enum(['ON_SALE', 'SOLD_OUT', 'CANCELLED', 'DRAFT'])),
  sort_order: Type.Optional(rank),
});

const seatFile = Type.Object({
  id: Type.Optional(seatId),
  label: Type.Optional(label),
  x: Type.Optional(coordinate),
  y: Type.Optional(coordinate),
  zone_key: Type.Optional(name),
  accessible: Type.Optional(Type.Boolean()),
  restricted_view: Type.Optional(Type.Boolean()),
});

/** Places in a row, counted from 1 as listed. */
const places = Type.Array(count(1, rowSeatsMax), { maxItems: rowSeatsMax });

const rowFile = Type.Object({
  label: Type.Optional(label),
  seats: Type.Unsafe<number | Static<typeof seatFile>[]>({
    type: ['integer', 'array'],
    minimum: 1,
    maximum: rowSeatsMax,
    minItems: 1,
    maxItems: rowSeatsMax,
    items: seatFile,
  }),
  aisle_after: Type.Optional(places),
  accessible: Type.Optional(places),
  restricted_view: Type.Optional(places),
});

const sectionFile = Type.Object({
  id,
  name: Type.Optional(name),
  zone_key: Type.Optional(name),
  /** The first seat of the first row, for seats without coordinates of their own. */
  position: Type.Optional(origin),
  rows: Type.Array(rowFile, { minItems: 1, maxItems: 2_000 }),
});

const zoneFile = Type.Object({ zone_key: name, name: Type.Optional(name), color: Type.Optional(colorOrNull) });

const shapes = Type.Array(Type.Unsafe<Record<string, unknown>>({ type: 'object' }), { maxItems: shapesMax });

const localityFile = Type.Object({
  id,
  name: Type.Optional(name),
  seating: Type.Optional(Type.Enum(['GENERAL', 'NUMBERED'])),
  capacity: Type.Optional(count(0, ticketsMax)),
  seating_plan: Type.Optional(Type.Unsafe<string | Record<string, unknown>>({ type: ['string', 'object'] })),
  focal_point: Type.Optional(pointOrNull),
  zones: Type.Optional(Type.Array(zoneFile, { maxItems: 1_000 })),
  sections: Type.Optional(Type.Array(sectionFile, { minItems: 1, maxItems: 5_000 })),
  shapes: Type.Optional(shapes),
});

const barPerkFile = Type.Object({
  id,
  name: Type.Optional(name),
  price,
  stock: Type.Optional(countOrNull(0)),
  max_per_ticket: Type.Optional(countOrNull(0)),
});

const ticketTypeFile = Type.Object({
  id,
  name: Type.Optional(name),
  description: Type.Optional(text),
  locality_id: Type.Optional(id),
  zone_keys: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: name,
      minItems: 1,
      maxItems: 1_000,
      uniqueItems: true,
    }),
  ),
  group_size: Type.Optional(count(1, groupSizeMax)),
  max_per_order: Type.Optional(countOrNull(1)),
  quota: Type.Optional(countOrNull(0)),
  accessible: Type.Optional(Type.Boolean()),
  entry_cutoff: Type.Optional(textOrNull),
  late_fee: Type.Optional(priceOrNull),
  min_consumption: Type.Optional(priceOrNull),
  barPerks: Type.Optional(Type.Array(barPerkFile, { maxItems: 200 })),
});

const sellingStageFile = Type.Object({
  id,
  name: Type.Optional(name),
  starts_at: Type.Optional(timeOrNull),
  ends_at: Type.Optional(timeOrNull),
  sort_order: Type.Optional(rank),
  prices: Type.Optional(Type.Unsafe<Record<string, number>>({ type: 'object', additionalProperties: price })),
  quotas: Type.Optional(
    Type.Unsafe<Record<string, number | null> | null>({
      type: ['object', 'null'],
      additionalProperties: countOrNull(0),
    }),
  ),
});

const promoCodeFile = Type.Object({
  code: Type.String({
    maxLength: 100,
    pattern: '^\\S(.*\\S)?$',
    description: 'a text of 1 to 100 characters without space at its ends',
  }),
  percent_off: Type.Optional(
    Type.Unsafe<number | null>({ type: ['number', 'null'], exclusiveMinimum: 0, maximum: 100 }),
  ),
  amount_off: Type.Optional(countOrNull(1, priceCentsMax)),
  max_uses: Type.Optional(countOrNull(0)),
  ticket_type_ids: Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: id,
      minItems: 1,
      maxItems: 1_000,
      uniqueItems: true,
    }),
  ),
  starts_at: Type.Optional(timeOrNull),
  ends_at: Type.Optional(timeOrNull),
});

const webAddressOrNull = Type.Unsafe<string | null>({
  type: ['string', 'null'],
  maxLength: 2_048,
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://\\S+$',
  description: 'an address that begins with http:// or https://',
});

const venueFile = Type.Object({
  name,
  address: Type.Optional(textOrNull),
  city: Type.Optional(textOrNull),
  country: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      pattern: '^[A-Z]{2}$',
      description: 'two capital letters of ISO 3166, such as DE',
    }),
  ),
});

const lineupFile = Type.Object({
  name,
  time: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      pattern: '^(?:[01][0-9]|2[0-3]):[0-5][0-9]$',
      description: 'a time of the day, such as 21:30',
    }),
  ),
});

/** What a shop is legally bound to say to buyers before they order. */
const legalFile = Type.Object({
  terms_url: Type.Optional(webAddressOrNull),
  imprint_url: Type.Optional(webAddressOrNull),
  privacy_url: Type.Optional(webAddressOrNull),
  vat_percent: Type.Optional(Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0, maximum: 100 })),
  order_button: Type.Optional(
    Type.Unsafe<string | null>({ type: ['string', 'null'], minLength: 1, maxLength: 60, pattern: printable }),
  ),
});

/** One event as a catalogue file or a PUT of the admin API carries it. */
export const eventFileSchema = Type.Object({
  id: addressable,
  slug: addressable,
  name,
  description: Type.Optional(text),
  picture: Type.Optional(pictureOrNull),
  venue: Type.Optional(Type.Unsafe<Static<typeof venueFile> | null>({ ...venueFile, type: ['object', 'null'] })),
  doors_minutes: Type.Optional(countOrNull(0, doorsMinutesMax)),
  lineup: Type.Optional(
    Type.Unsafe<Static<typeof lineupFile>[] | null>({ type: ['array', 'null'], items: lineupFile, maxItems: 200 }),
  ),
  status: Type.Optional(Type.Enum(['PUBLISHED', 'DRAFT'])),
  currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'three capital letters, such as EUR' }),
  timezone: Type.Optional(name),
  payment_provider: Type.Optional(Type.Enum(['provider_a', 'provider_b'])),
  max_installments: Type.Optional(count(1, 12)),
  hold_minutes: Type.Optional(minutes(windowMinutesMax)),
  hold_max_minutes: Type.Optional(
    Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0, maximum: holdMaxMinutesMax }),
  ),
  limits_at_hold: Type.Optional(Type.Boolean()),
  payment_minutes: Type.Optional(minutes(paymentMinutesMax)),
  waiting_room: Type.Optional(Type.Boolean()),
  waiting_room_opens_at: Type.Optional(timeOrNull),
  waiting_room_rate: Type.Optional(count(1, ticketsMax)),
  waiting_room_minutes: Type.Optional(minutes(windowMinutesMax)),
  waiting_room_inactivity_seconds: Type.Optional(minutes(60 * windowMinutesMax)),
  waiting_room_pause_when_sold_out: Type.Optional(Type.Boolean()),
  waiting_room_max_admitted: Type.Optional(countOrNull(1)),
  max_tickets_per_order: Type.Optional(countOrNull(1)),
  max_tickets_per_email: Type.Optional(countOrNull(1)),
  require_individual_data: Type.Optional(Type.Boolean()),
  retention_days: Type.Optional(countOrNull(1, retentionDaysMax)),
  legal: Type.Optional(Type.Unsafe<Static<typeof legalFile> | null>({ ...legalFile, type: ['object', 'null'] })),
  performances: Type.Array(performanceFile, { minItems: 1, maxItems: 1_000 }),
  localities: Type.Array(localityFile, { minItems: 1, maxItems: 500 }),
  ticketTypes: Type.Array(ticketTypeFile, { minItems: 1, maxItems: 1_000 }),
  sellingStages: Type.Array(sellingStageFile, { minItems: 1, maxItems: 200 }),
  promoCodes: Type.Optional(Type.Array(promoCodeFile, { maxItems: 10_000 })),
});

/** Plan editors write an empty text for a missing name. */
const labelOrEmpty = Type.String({
  maxLength: 100,
  pattern: printable,
  description: 'a text of at most 100 characters without control characters',
});

const planSeat = Type.Object({
  seat_guid: seatId,
  seat_number: Type.Optional(label),
  position: origin,
  category: name,
  wheelchair: Type.Optional(Type.Boolean()),
});

const planRow = Type.Object({
  row_number: Type.Optional(labelOrEmpty),
  position: Type.Optional(origin),
  seats: Type.Array(planSeat, { maxItems: rowSeatsMax }),
});

const planArea = Type.Unsafe<{ position?: Static<typeof origin> } & Record<string, unknown>>({
  type: 'object',
  properties: { position: origin },
});

const planZone = Type.Object({
  zone_id: Type.Optional(id),
  name: Type.Optional(labelOrEmpty),
  position: origin,
  rows: Type.Optional(Type.Array(planRow, { maxItems: 2_000 })),
  areas: Type.Optional(Type.Array(planArea, { maxItems: shapesMax })),
});

/** A plan in pretix's open seating-plan format: the parts that a sale needs. */
export const seatingPlanSchema = Type.Object({
  categories: Type.Array(Type.Object({ name, color: Type.Optional(colorOrNull) }), { maxItems: 1_000 }),
  zones: Type.Array(planZone, { minItems: 1, maxItems: 5_000 }),
});

export type EventFile = Static<typeof eventFileSchema>;
export type VenueFile = Static<typeof venueFile>;
export type LineupFile = Static<typeof lineupFile>;
export type PerformanceFile = Static<typeof performanceFile>;
export type LocalityFile = Static<typeof localityFile>;
export type ZoneFile = Static<typeof zoneFile>;
export type SectionFile = Static<typeof sectionFile>;
export type SeatRowFile = Static<typeof rowFile>;
export type SeatFile = Static<typeof seatFile>;
export type TicketTypeFile = Static<typeof ticketTypeFile>;
export type SellingStageFile = Static<typeof sellingStageFile>;
export type PromoCodeFile = Static<typeof promoCodeFile>;
export type SeatingPlanFile = Static<typeof seatingPlanSchema>;
export type PlanZoneFile = Static<typeof planZone>;
export type PlanRowFile = Static<typeof planRow>;
