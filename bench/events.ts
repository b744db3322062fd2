/**
 * The events of the scenarios: one with a hot ticket type, and halls of several sizes. The catalogue's own reader
 * checks them.
 */

const TICKETS_MAX = 10_000_000;

const common = {
  currency: 'EUR',
  hold_minutes: 600,
  payment_minutes: 700,
  performances: [{ id: 'night', name: 'Night', starts_at: '2099-05-08T20:00:00Z', ends_at: '2099-05-09T04:00:00Z' }],
};

/** An event in the form of a catalogue file. */
export interface EventFile {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** One hot ticket type of a large general admission. */
export const hotEvent = {
  ...common,
  id: 'evt_hot',
  slug: 'hot',
  name: 'Everybody wants to go',
  localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: TICKETS_MAX }],
  ticketTypes: [{ id: 'single', name: 'Single', locality_id: 'floor' }],
  sellingStages: [{ id: 'general', name: 'General sale', prices: { single: 4500 } }],
};

/** The same with a waiting room that admits nearly nobody and expires nobody for not polling. */
export const waitingRoomEvent = {
  ...hotEvent,
  id: 'evt_line',
  slug: 'line',
  name: 'Everybody waits',
  waiting_room: true,
  waiting_room_rate: 1,
  waiting_room_minutes: 10,
  waiting_room_inactivity_seconds: 86_400,
};

/** The catalogue's limit for one section. */
const SECTION_ROWS_MAX = 2_000;

/**
 * A hall of rows of 40 seats with an aisle in the middle, those beyond the stalls on a balcony, and a floor beside it.
 */
export function hallEvent(seats: number): EventFile {
  const rows = Array.from({ length: seats / 40 }, (_, i) => ({ label: String(i + 1), seats: 40, aisle_after: [20] }));
  const stalls = { id: 'S', name: 'Stalls', zone_key: 'stalls', rows: rows.slice(0, SECTION_ROWS_MAX) };
  const balcony = { id: 'B', name: 'Balcony', zone_key: 'balcony', rows: rows.slice(SECTION_ROWS_MAX) };
  return {
    ...common,
    id: 'evt_hall',
    slug: 'hall',
    name: 'A hall',
    localities: [
      {
        id: 'hall',
        name: 'Hall',
        seating: 'NUMBERED',
        sections: balcony.rows.length === 0 ? [stalls] : [stalls, balcony],
      },
      { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: TICKETS_MAX },
    ],
    ticketTypes: [
      { id: 'seat', name: 'Seat', locality_id: 'hall' },
      { id: 'single', name: 'Single', locality_id: 'floor' },
    ],
    sellingStages: [{ id: 'general', name: 'General sale', prices: { seat: 4500, single: 1500 } }],
  };
}

/** One of many events, with many ticket types on one floor. */
export function spreadEvent(n: number, types: number): EventFile {
  const ids = Array.from({ length: types }, (_, i) => `type-${i}`);
  return {
    ...hotEvent,
    id: `evt_${n}`,
    slug: `event-${n}`,
    name: `Event ${n}`,
    ticketTypes: ids.map((id) => ({ id, name: id, locality_id: 'floor' })),
    sellingStages: [{ id: 'general', name: 'General sale', prices: Object.fromEntries(ids.map((id) => [id, 4500])) }],
  };
}

/** Seats of one block of a stadium. */
export const BLOCK_SEATS = 1_250;

/** A stadium of blocks, each of 25 rows of 50 seats. */
export function stadiumOf(blocks: number): EventFile {
  const rows = Array.from({ length: 25 }, (_, i) => ({ label: String(i + 1), seats: 50 }));
  const sections = Array.from({ length: blocks }, (_, i) => ({
    id: `B${i + 1}`,
    name: `Block ${i + 1}`,
    zone_key: 'bowl',
    rows,
  }));
  return {
    ...common,
    id: 'evt_stadium',
    slug: 'stadium',
    name: 'A stadium',
    localities: [{ id: 'bowl', name: 'Bowl', seating: 'NUMBERED', sections }],
    ticketTypes: [{ id: 'seat', name: 'Seat', locality_id: 'bowl' }],
    sellingStages: [{ id: 'general', name: 'General sale', prices: { seat: 6500 } }],
  };
}

/** The stadium of 60,000 seats. */
export const stadiumEvent = stadiumOf(48);
