/**
 * The events that are measured: one that everybody wants, and halls of several sizes.
 *
 * Definitions are made by the catalogue's own reader, so that they are what a file would be.
 */
import { checkDefinition } from '#catalogue/definition.ts';
import type { EventDefinition } from '#domain/catalogue.ts';

const TICKETS_MAX = 1_000_000;

const common = {
  currency: 'EUR',
  hold_minutes: 600,
  payment_minutes: 700,
  performances: [{ id: 'night', name: 'Night', starts_at: '2099-05-08T20:00:00Z', ends_at: '2099-05-09T04:00:00Z' }],
};

/** One hot ticket type of a large general admission, in the form of a catalogue file. */
export const hotEvent = {
  ...common,
  id: 'evt_hot',
  slug: 'hot',
  name: 'Everybody wants to go',
  localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: TICKETS_MAX }],
  ticketTypes: [{ id: 'single', name: 'Single', locality_id: 'floor' }],
  sellingStages: [{ id: 'general', name: 'General sale', prices: { single: 4500 } }],
};

/** The same behind a waiting room that lets nearly nobody in, and forgets nobody for not polling. */
export const lineEvent = {
  ...hotEvent,
  id: 'evt_line',
  slug: 'line',
  name: 'Everybody waits',
  waiting_room: true,
  waiting_room_rate: 1,
  waiting_room_minutes: 10,
  waiting_room_inactivity_seconds: 86_400,
};

/** A hall of rows of 40 seats with an aisle in the middle, and a floor beside it. */
export function hallEvent(seats: number): object {
  const rows = Array.from({ length: seats / 40 }, (_, i) => ({ label: String(i + 1), seats: 40, aisle_after: [20] }));
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
        sections: [{ id: 'S', name: 'Stalls', zone_key: 'stalls', rows }],
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

/** A definition as the domain knows it. */
export function definitionOf(json: object): EventDefinition {
  const checked = checkDefinition(json);
  if ('problems' in checked) throw new Error(JSON.stringify(checked.problems));
  return checked.definition;
}
