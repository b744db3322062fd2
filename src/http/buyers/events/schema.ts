/** The bodies of the public event payload and the list of events. */
import { type Static, Type } from 'typebox';
import { Cents, Count, Id, IntegerText, Nullable, ref, SessionKey, Time } from '../../protocol/fields.ts';

export const Performance = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    starts_at: Nullable(Time),
    ends_at: Nullable(Time),
    doors_at: Type.Optional({ ...Time, description: 'When people are let in; absent where the event does not say.' }),
    status: Type.String({ enum: ['ON_SALE', 'SOLD_OUT', 'CANCELLED'] }),
    sort_order: Type.Integer(),
    on_sale: Type.Boolean({
      description:
        'Whether something of it can be bought now: false when it is over, cancelled or sold out, or when no stage is open.',
    }),
    total_available: Type.Optional(Count),
    from_price: Type.Optional(Cents),
    sold_out: Type.Optional(Type.Boolean()),
  },
  { $id: 'Performance' },
);

const BarPerk = Type.Object({
  id: Type.String(),
  name: Type.String(),
  price: Cents,
  max_per_ticket: Nullable(Count),
  available: Nullable(Count),
});

export const TicketType = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    locality_id: Type.String(),
    group_size: Count,
    max_per_order: Nullable(Count),
    accessible: Type.Boolean(),
    zone_keys: Nullable(Type.Array(Type.String())),
    entry_cutoff: Nullable(Type.String()),
    late_fee: Nullable(Cents),
    min_consumption: Nullable(Cents),
    barPerks: Type.Array(BarPerk),
  },
  { $id: 'TicketType' },
);

export const SellingStage = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    starts_at: Nullable(Time),
    ends_at: Nullable(Time),
    sort_order: Type.Integer(),
    on_sale: Type.Boolean(),
  },
  { $id: 'SellingStage' },
);

export const TicketAvailability = Type.Object(
  {
    ticket_type_id: Type.String(),
    selling_stage_id: Type.String(),
    performance_id: Nullable(Type.String()),
    price: Cents,
    on_sale: Type.Boolean(),
    available: Count,
    reserved: Count,
  },
  { $id: 'TicketAvailability' },
);

const Legal = Type.Object({
  terms_url: Nullable(Type.String()),
  imprint_url: Nullable(Type.String()),
  privacy_url: Nullable(Type.String()),
  vat_percent: Type.Unsafe<number | null>({
    type: ['number', 'null'],
    description: 'The value-added tax that is in all prices.',
  }),
  order_button: Nullable(
    Type.String({
      description:
        'The words of the button with which a buyer orders, and nothing else on it; null leaves them to the storefront.',
    }),
  ),
});

const Picture = Type.String({
  description:
    'The path of a picture on this service; absent where the event has none. It answers 404 where the file is gone.',
});

const Venue = Type.Object(
  {
    name: Type.String(),
    address: Nullable(Type.String()),
    city: Nullable(Type.String()),
    country: Nullable(Type.String({ description: 'Two letters of ISO 3166.' })),
  },
  { description: 'Where it takes place; absent where the event does not say.' },
);

const Lineup = Type.Array(
  Type.Object({
    name: Type.String(),
    time: Nullable(Type.String({ description: 'A time of the day at the venue, such as 21:30.' })),
  }),
  { description: 'Who performs; absent where the event does not say.' },
);

const ChangeRuleBody = Type.Object({
  until_minutes: { ...Count, description: 'Before the start of the date; one without a start until it is over.' },
  fee: { ...Cents, description: 'For a ticket.' },
  fee_percent: Type.Number({ description: 'Of what is credited, added to the fee.' }),
  ticket_type_ids: Type.Unsafe<string[] | null>({
    type: ['array', 'null'],
    items: Type.String(),
    description: 'The types that it is for; all where null.',
  }),
});

const NullableRule = (description: string) =>
  Type.Unsafe<Static<typeof ChangeRuleBody> | null>({ ...ChangeRuleBody, type: ['object', 'null'], description });

const BuyerChangesBody = Type.Object({
  cancel: NullableRule('Tickets are given back; null where that is not offered.'),
  change: NullableRule('Tickets go to another date, type or seat, or get a new code; null where not offered.'),
  attendees: NullableRule('Others are named on tickets; null where that is not offered.'),
  withdrawal_days: {
    ...Count,
    description: 'Days after the purchase in which tickets of dates that have not begun are given back without a fee.',
  },
});

const Colour = (description: string) => Type.String({ pattern: '^#[0-9a-f]{6}$', description });

/** How the pages of an event look. */
export const EventBrand = Type.Object(
  {
    name: Nullable({ ...Type.String(), description: 'What the venue is called on every page.' }),
    logo: Nullable({ ...Type.String(), description: 'The address of its picture, from the root of this service.' }),
    accent: Colour('Of buttons and links on light pages.'),
    accent_dark: Colour('The same on dark pages.'),
    scheme: Type.Unsafe<'AUTO' | 'LIGHT' | 'DARK'>({
      type: 'string',
      enum: ['AUTO', 'LIGHT', 'DARK'],
      description: 'Whether pages are light, dark, or as a browser prefers.',
    }),
    support: Nullable({
      ...Type.String(),
      description: 'Where buyers ask: an e-mail address, or one that begins with https://.',
    }),
    links: Type.Array(
      Type.Object({
        label: Type.Unsafe<Record<string, string>>({
          type: 'object',
          additionalProperties: Type.String(),
          description: 'By language.',
        }),
        url: Type.String(),
      }),
      { description: 'At the foot of every page.' },
    ),
    credit: Type.Boolean({ description: 'Whether pages say which software they are.' }),
    style: Nullable({
      ...Type.String(),
      description: 'The address of its style sheet, from the root of this service.',
    }),
  },
  {
    $id: 'EventBrand',
    description: 'How pages look: the event’s brand over that of the service. Absent where neither has one.',
  },
);

/** What operators set of a sale, as buyers see it. */
export const SaleSteering = Type.Object(
  { paused: Type.Boolean(), message: Nullable(Type.String()) },
  {
    $id: 'SaleSteering',
    description: 'Present while the sale is paused, or the organizer tells buyers something.',
  },
);

export const EventPayload = Type.Object(
  {
    id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    description: Type.String(),
    picture: Type.Optional(Picture),
    venue: Type.Optional(Venue),
    lineup: Type.Optional(Lineup),
    currency: Type.String(),
    timezone: Type.String(),
    hold_minutes: Type.Number(),
    waiting_room: Type.Boolean(),
    waiting_room_opens_at: Nullable(Time),
    waiting_room_rate: Type.Integer(),
    waiting_room_minutes: Type.Number(),
    max_tickets_per_order: Nullable(Count),
    max_tickets_per_email: Nullable(Count),
    require_individual_data: Type.Boolean(),
    max_installments: Type.Integer(),
    steering: Type.Optional(ref(SaleSteering)),
    buyer_changes: Type.Unsafe<Static<typeof BuyerChangesBody> | null>({
      ...BuyerChangesBody,
      type: ['object', 'null'],
      description: 'What buyers may change of their paid orders by themselves; null where that is nothing.',
    }),
    doors: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        ticket_type_ids: Type.Unsafe<string[] | null>({
          type: ['array', 'null'],
          items: { type: 'string' },
          description: 'The types that it takes; all where null.',
        }),
      }),
      { description: 'The entrances at which tickets are checked.' },
    ),
    reentry: Type.Unsafe<'AFTER_EXIT' | 'NEVER' | 'ALWAYS'>({
      type: 'string',
      enum: ['AFTER_EXIT', 'NEVER', 'ALWAYS'],
      description: 'Whether a ticket that entered enters again: after its exit, never or always.',
    }),
    legal: Type.Unsafe<Static<typeof Legal> | null>({
      ...Legal,
      type: ['object', 'null'],
      description: 'What the shop must say to buyers before they order; null where the event sets nothing.',
    }),
    brand: Type.Optional(ref(EventBrand)),
    performances: Type.Array(ref(Performance)),
    localities: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        seating: Type.String({ enum: ['GENERAL', 'NUMBERED'] }),
        capacity: Count,
      }),
    ),
    ticketTypes: Type.Array(ref(TicketType)),
    sellingStages: Type.Array(ref(SellingStage)),
    ticketAvailability: Type.Array(ref(TicketAvailability)),
  },
  { $id: 'EventPayload' },
);

export const EventListEntry = Type.Object(
  {
    id: Type.String(),
    slug: Type.String(),
    name: Type.String(),
    starts_at: Nullable(Time),
    ends_at: Nullable(Time),
    currency: Type.String(),
    from_price: Cents,
    sold_out: Type.Boolean(),
    waiting_room: Type.Boolean(),
    sale_starts_at: Type.Optional({
      ...Time,
      description: 'When the next stage opens; absent where one is open, and where nothing is to be sold.',
    }),
    timezone: Type.Optional(Type.String({ description: 'The zone in which its dates are read.' })),
    picture: Type.Optional(Picture),
    venue: Type.Optional(
      Type.Object(
        { name: Type.String(), city: Nullable(Type.String()) },
        { description: 'Where it takes place; absent where the event does not say.' },
      ),
    ),
  },
  { $id: 'EventListEntry' },
);

export const EventList = Type.Object(
  { events: Type.Array(ref(EventListEntry)), next_cursor: Nullable(Type.String()) },
  { $id: 'EventList' },
);

export const PageQuery = Type.Object({
  limit: Type.Optional(IntegerText({ minimum: 1, maximum: 500, default: 100 })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 512, description: 'next_cursor of the page before.' })),
});

export const EventQuery = Type.Object({
  performance_id: Type.Optional({ ...Id, description: "Shows this date's stock." }),
  session_key: Type.Optional({
    ...SessionKey,
    description: "The session's own hold counts as free; or X-Session-Key.",
  }),
});

export type EventBody = Static<typeof EventPayload>;
export type EventListEntryBody = Static<typeof EventListEntry>;
