/**
 * The schema of an event with what each field means and its default, for those who write events.
 *
 * The schema that checks is `schema.ts`; there a description says what a value must be, because errors quote it. A test compares the
 * fields with that schema and the defaults with what a definition without the field becomes.
 */
import type { TSchema } from 'typebox';
import { eventFileSchema } from './schema.ts';

/** What a field means, and what it is when it is left out; a text alone is of a field whose default the text itself says. */
type Meaning = string | readonly [meaning: string, value: unknown];

interface Part {
  readonly fields: Readonly<Record<string, Meaning>>;
  /** The fields of the objects in a field. */
  readonly parts?: Readonly<Record<string, Part>>;
}

const POINT: Part = { fields: { x: 'from left to right', y: 'from top to bottom' } };

const VENUE: Part = {
  fields: {
    name: 'what the place is called',
    address: ['street and number', null],
    city: ['the town', null],
    country: ['the country', null],
  },
};

const LINEUP: Part = {
  fields: { name: 'who performs', time: ['when, by the clock of the event’s zone', null] },
};

const LEGAL: Part = {
  fields: {
    terms_url: ['the terms of sale', null],
    imprint_url: ['who sells', null],
    privacy_url: ['what becomes of personal data', null],
    vat_percent: ['the tax that prices include', null],
    order_button: ['what the button says that places an order; a text of the page’s language where null', null],
  },
};

const PERFORMANCE: Part = {
  fields: {
    id: 'names the date in requests; it cannot change once something is held or sold',
    name: 'what buyers see; the event’s name where left out',
    starts_at: ['when it begins', null],
    ends_at: ['when it ends; nothing is sold from then on', null],
    doors_at: 'when people are let in; doors_minutes before the start where left out',
    status: [
      'DRAFT hides the date, SOLD_OUT closes it, CANCELLED cancels it with every order on it, for good',
      'ON_SALE',
    ],
    sort_order: 'the place of the date among the dates; its place in the list where left out',
  },
};

const SEAT: Part = {
  fields: {
    id: 'names the seat; section, row and label where left out',
    label: 'the number on the seat; its place in the row where left out',
    x: 'where it stands in the plan; beside the seat before where left out',
    y: 'the same from top to bottom',
    zone_key: 'its zone, where that is not the section’s',
    accessible: ['a place for a wheelchair', false],
    restricted_view: ['the view is restricted', false],
  },
};

const SECTION: Part = {
  fields: {
    id: 'names the section within its locality',
    name: 'what buyers see; the id where left out',
    zone_key: 'the zone of its seats; the section’s id where left out',
    position: 'where its first seat stands in the plan; behind the seats before where left out',
    rows: 'its rows, from the first to the last',
  },
  parts: {
    position: POINT,
    rows: {
      fields: {
        label: 'what the row is called; its number where left out',
        seats: 'how many seats it has, or each of them',
        aisle_after: ['after which places an aisle is: seats beside it are no neighbours', []],
        accessible: ['which places are for wheelchairs', []],
        restricted_view: ['which places have a restricted view', []],
      },
      parts: { seats: SEAT },
    },
  },
};

const LOCALITY: Part = {
  fields: {
    id: 'names the part of the venue in ticket types; it cannot change once something is held or sold',
    name: 'what buyers see; the id where left out',
    seating:
      'NUMBERED has seats, GENERAL a number of places; where left out, NUMBERED if it has sections or a seating_plan',
    capacity: 'places of GENERAL seating, for each date',
    seating_plan:
      'seats from a plan in pretix’s format: the plan, or its file beside the catalogue; in place of sections',
    focal_point: ['what people look at: rows near it are the best. Rows are best as listed where null', null],
    zones: 'names and colours of zones; those that only seats name need not be listed',
    sections: 'seats of NUMBERED seating by section and row',
    shapes: 'what is drawn beside the seats; shown, not sold',
  },
  parts: {
    focal_point: POINT,
    zones: {
      fields: {
        zone_key: 'names the zone in seats and ticket types',
        name: 'what buyers see; the key where left out',
        color: ['its colour in the plan; one of a set where null', null],
      },
    },
    sections: SECTION,
  },
};

const TICKET_TYPE: Part = {
  fields: {
    id: 'names the type in requests; it cannot change once something is held or sold',
    name: 'what buyers see; the id where left out',
    description: ['what else buyers see', ''],
    locality_id: 'where its tickets are; may be left out where there is only one locality',
    zone_keys: ['the zones of its seats; all of them where null', null],
    group_size: ['tickets of one unit: its price covers all of them', 1],
    max_per_order: ['units on a date in one order; no limit where null', null],
    quota: ['tickets of the type for each date, over all stages; no limit where null', null],
    accessible: ['only its units may have places for wheelchairs', false],
    entry_cutoff: ['until when one is let in, as a text', null],
    late_fee: ['what is to be paid at the entrance after that', null],
    min_consumption: ['what is to be spent inside', null],
    barPerks: ['what can be bought with its tickets', []],
  },
  parts: {
    barPerks: {
      fields: {
        id: 'names the perk within its type',
        name: 'what buyers see; the id where left out',
        price: 'of one, in the minor unit of the currency',
        stock: ['how many there are, over all dates; no limit where null', null],
        max_per_ticket: ['how many for each ticket; no limit where null', null],
      },
    },
  },
};

const SELLING_STAGE: Part = {
  fields: {
    id: 'names the stage in requests; it cannot change once something is held or sold',
    name: 'what buyers see; the id where left out',
    starts_at: ['from when it sells; always where null', null],
    ends_at: ['until when it sells; for ever where null', null],
    sort_order: 'the place of the stage among the stages; its place in the list where left out',
    prices: 'the price of a unit of each type that it sells, by type, in the minor unit of the currency',
    quotas: ['tickets of a type that it sells for each date, by type; no limit where a type is not named', {}],
  },
};

const PROMO_CODE: Part = {
  fields: {
    code: 'what buyers type; case and spaces around it do not count',
    percent_off: ['what it takes off; one of percent_off and amount_off', null],
    amount_off: ['the same as an amount, in the minor unit of the currency', null],
    max_uses: ['how many orders may use it; no limit where null', null],
    ticket_type_ids: ['the types that it is for; all of them where null', null],
    starts_at: ['from when it counts', null],
    ends_at: ['until when it counts', null],
  },
};

/** The meaning of every field of an event. */
export const EVENT_MEANINGS: Part = {
  fields: {
    id: 'names the event for good',
    slug: 'names it in the shop’s addresses; may change',
    name: 'what buyers see',
    description: ['what else buyers see', ''],
    picture: ['its picture', null],
    venue: ['where it takes place', null],
    doors_minutes: ['how long before each date people are let in', null],
    lineup: ['who performs', null],
    status: ['a DRAFT is not shown', 'PUBLISHED'],
    currency: 'of all its amounts (ISO 4217)',
    timezone: ['in which buyers see its times, such as Europe/Berlin', 'UTC'],
    payment_provider: ['who takes the money', 'provider_a'],
    max_installments: ['in how many parts an order may be paid', 1],
    hold_minutes: ['how long a hold keeps its tickets', 10],
    hold_max_minutes:
      'the longest that a session’s hold lives through changes; four times hold_minutes where left out, 0 for no limit',
    limits_at_hold: ['a hold over the limits of an order is refused at once, not only at the checkout', true],
    payment_minutes:
      'how long an order waits for its payment, more than hold_minutes; the larger of 30 and hold_minutes + 20 where left out',
    waiting_room: ['people queue before they may hold tickets', false],
    waiting_room_opens_at: ['when the queue is drawn by lot and the first are admitted; at once where null', null],
    waiting_room_rate: ['people admitted in a minute, at most', 100],
    waiting_room_minutes: ['how long a pass is good', 10],
    waiting_room_inactivity_seconds: ['who does not poll for so long leaves the queue', 120],
    waiting_room_pause_when_sold_out: ['nobody is admitted while nothing is left', false],
    waiting_room_max_admitted: ['people with a pass at the same time; no limit where null', null],
    max_tickets_per_order: ['tickets of one order; 10,000 where null', null],
    max_tickets_per_email: ['tickets of one address over all its orders; no limit where null', null],
    require_individual_data: ['each ticket must name who comes', false],
    retention_days: ['days after the last date until personal data of orders are erased; never where null', null],
    legal: ['what the shop must say to buyers before they order', null],
    performances: 'its dates',
    localities: 'the parts of the venue, each with places or seats',
    ticketTypes: 'what is sold',
    sellingStages: 'when it is sold, and at which price',
    promoCodes: ['codes that make it cheaper', []],
  },
  parts: {
    venue: VENUE,
    lineup: LINEUP,
    legal: LEGAL,
    performances: PERFORMANCE,
    localities: LOCALITY,
    ticketTypes: TICKET_TYPE,
    sellingStages: SELLING_STAGE,
    promoCodes: PROMO_CODE,
  },
};

type AnySchema = TSchema & {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, AnySchema>>;
  readonly items?: AnySchema;
};

/** The event's schema with meanings and defaults; for documents, not for checks. */
export function describedEventSchema(): TSchema {
  return describe(eventFileSchema, EVENT_MEANINGS);
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function describe(schema: AnySchema, part: Part): AnySchema {
  if (schema.items !== undefined) return { ...schema, items: describe(schema.items, part) };
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const inner = part.parts?.[name];
    const whole = inner === undefined ? field : describe(field, inner);
    const meaning = part.fields[name] ?? '';
    const [says, value] = typeof meaning === 'string' ? [meaning, undefined] : meaning;
    const description = capitalised(field.description === undefined ? says : `${says} (${field.description})`);
    return [name, { ...whole, description, ...(value !== undefined && { default: value }) }] as const;
  });
  return { ...schema, properties: Object.fromEntries(fields) };
}
