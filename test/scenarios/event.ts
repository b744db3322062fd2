/**
 * The event of the scenarios of checkout and payment, in the file form of a definition.
 *
 * Two dates; a floor for 20 with tickets for adults, who may have perks, groups of four and free guests; a hall of two
 * rows of six.
 */
import type { ItemRequest, Json } from '../fixtures/client.ts';

export const PRICES = { adult: 1000, group: 3000, guest: 0, seat: 2599 };

export const TYPES = [
  {
    id: 'adult',
    name: 'Adult',
    locality_id: 'floor',
    barPerks: [
      { id: 'beer', name: 'Beer', price: 500, stock: 5, max_per_ticket: 2 },
      { id: 'glass', name: 'Glass', price: 100 },
    ],
  },
  { id: 'group', name: 'Group', locality_id: 'floor', group_size: 4 },
  { id: 'guest', name: 'Guest', locality_id: 'floor' },
  { id: 'seat', name: 'Seat', locality_id: 'hall' },
];

export const DATES = ['d1', 'd2'].map((id, index) => ({
  id,
  name: id,
  starts_at: `2028-05-0${index + 1}T18:00:00.000Z`,
  ends_at: `2028-05-0${index + 1}T23:00:00.000Z`,
  sort_order: index,
}));

export const CODES = [
  { code: 'TENTH', percent_off: 10 },
  { code: 'THIRD', percent_off: 33.3 },
  { code: 'FIVE', amount_off: 500 },
  { code: 'ALL', percent_off: 100 },
  { code: 'ONCE', percent_off: 50, max_uses: 1 },
  { code: 'SEATS', percent_off: 50, ticket_type_ids: ['seat'] },
];

export const LOCALITIES = [
  { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 20 },
  {
    id: 'hall',
    name: 'Hall',
    seating: 'NUMBERED',
    sections: [
      {
        id: 'H',
        name: 'All',
        rows: [
          { label: '1', seats: 6 },
          { label: '2', seats: 6 },
        ],
      },
    ],
  },
];

export function evenings(overrides: object = {}): object {
  return {
    name: 'Evenings',
    currency: 'EUR',
    max_installments: 3,
    performances: DATES,
    localities: LOCALITIES,
    ticketTypes: TYPES,
    sellingStages: [{ id: 'general', name: 'General', prices: PRICES }],
    promoCodes: CODES,
    ...overrides,
  };
}

/** An item of the first evening. */
export function item(ticketTypeId: string, quantity: number, overrides: Json = {}): ItemRequest {
  const where = { performance_id: 'd1', selling_stage_id: 'general' };
  return { ticket_type_id: ticketTypeId, quantity, ...where, ...overrides };
}

/** The named seats of the hall, in one item. */
export const seats = (...seatIds: string[]): ItemRequest => item('seat', seatIds.length, { seat_ids: seatIds });

export const beers = (quantity: number) => ({ bar_perks: [{ bar_perk_id: 'beer', quantity }] });

export const people = (...names: string[]) => ({ attendees: names.map((name) => ({ name })) });
