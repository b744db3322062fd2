/**
 * The event of the books, in the file form of a definition: two dates; a floor with ordinary and group tickets and
 * perks; a hall of ten seats. It is small, so that it sells out. The first date begins and the first stage ends while
 * it is on sale; the second date has no start.
 */

export interface Rule {
  readonly until_minutes?: number;
  readonly fee?: number;
  readonly fee_percent?: number;
  readonly ticket_type_ids?: readonly string[] | null;
}

export interface BuyerChanges {
  readonly cancel?: Rule | null;
  readonly change?: Rule | null;
  readonly attendees?: Rule | null;
  readonly withdrawal_days?: number;
}

/** What differs from sale to sale. */
export interface Terms {
  readonly refunds: 'MANUAL' | 'AUTOMATIC';
  readonly buyer_changes?: BuyerChanges | null;
}

export interface Code {
  readonly code: string;
  readonly percent_off?: number;
  readonly amount_off?: number;
  readonly max_uses?: number;
  readonly ticket_type_ids?: readonly string[];
}

interface Perk {
  readonly id: string;
  readonly name: string;
  readonly price: number;
  readonly stock?: number;
  readonly max_per_ticket?: number;
}

export interface TicketType {
  readonly id: string;
  readonly locality_id: string;
  readonly group_size?: number;
  readonly quota?: number;
  readonly max_per_order?: number;
  readonly barPerks?: readonly Perk[];
}

export interface Stage {
  readonly id: string;
  readonly ends_at?: string;
  readonly prices: Readonly<Record<string, number>>;
  readonly quotas?: Readonly<Record<string, number>>;
}

export const CURRENCY = 'EUR';
export const EVENT_ID = 'evt_money';
export const SLUG = 'money';
export const PAYMENT_MINUTES = 30;
export const MAX_PER_EMAIL = 9;

/** Moments stand between whole seconds, at which nothing is asked. */
export const PERFORMANCES: readonly {
  readonly id: string;
  readonly starts_at: string | null;
  readonly ends_at: string;
}[] = [
  { id: 'd1', starts_at: '2027-05-08T18:00:00.500Z', ends_at: '2027-07-08T23:00:00.500Z' },
  { id: 'd2', starts_at: null, ends_at: '2027-07-20T23:00:00.500Z' },
];

export const TYPES: readonly TicketType[] = [
  {
    id: 'adult',
    locality_id: 'floor',
    barPerks: [
      { id: 'beer', name: 'Beer', price: 500, stock: 6, max_per_ticket: 2 },
      { id: 'glass', name: 'Glass', price: 133 },
    ],
  },
  { id: 'child', locality_id: 'floor', quota: 6, max_per_order: 2 },
  { id: 'group', locality_id: 'floor', group_size: 3 },
  { id: 'guest', locality_id: 'floor' },
  { id: 'bench', locality_id: 'floor' },
  { id: 'seat', locality_id: 'hall' },
  { id: 'reduced', locality_id: 'hall' },
];

export const STAGES: readonly Stage[] = [
  { id: 'general', prices: { adult: 3333, child: 1250, group: 7001, guest: 0, seat: 2599, reduced: 1999 } },
  { id: 'premium', prices: { adult: 4100, seat: 3111 }, quotas: { adult: 2 } },
  { id: 'early', ends_at: '2027-05-07T13:30:00.500Z', prices: { adult: 2999, seat: 2500, bench: 1717 } },
];

export const CODES: readonly Code[] = [
  { code: 'TENTH', percent_off: 10 },
  { code: 'THIRD', percent_off: 33.3 },
  { code: 'THOUSAND', amount_off: 1000 },
  { code: 'FIVE', amount_off: 500 },
  { code: 'ALL', percent_off: 100 },
  { code: 'TWICE', percent_off: 50, max_uses: 2 },
  { code: 'ADULTS', percent_off: 25, max_uses: 3, ticket_type_ids: ['adult', 'child'] },
];

export const FLOOR_CAPACITY = 13;

/** Every seat of the hall. */
export const SEATS: readonly string[] = ['1', '2'].flatMap((row) =>
  [1, 2, 3, 4, 5].map((number) => `H-${row}-${number}`),
);

export function definitionWith(terms: Terms): object {
  return {
    id: EVENT_ID,
    slug: SLUG,
    name: 'Money',
    currency: CURRENCY,
    payment_minutes: PAYMENT_MINUTES,
    max_installments: 4,
    max_tickets_per_email: MAX_PER_EMAIL,
    performances: PERFORMANCES.map((date) => ({ ...date, name: date.id })),
    localities: [
      { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: FLOOR_CAPACITY },
      {
        id: 'hall',
        name: 'Hall',
        seating: 'NUMBERED',
        sections: [
          {
            id: 'H',
            name: 'Hall',
            rows: [
              { label: '1', seats: 5 },
              { label: '2', seats: 5 },
            ],
          },
        ],
      },
    ],
    ticketTypes: TYPES.map((type) => ({ ...type, name: type.id })),
    sellingStages: STAGES.map((stage) => ({ ...stage, name: stage.id })),
    promoCodes: CODES,
    ...terms,
  };
}
