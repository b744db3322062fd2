/** The events of a soak: general admission, numbered seats, a waiting room and free tickets. */
import { largeHall } from '../fixtures/events.ts';

export interface SoakEvent {
  readonly id: string;
  readonly slug: string;
  readonly performanceIds: readonly string[];
  readonly ticketTypeIds: readonly string[];
  readonly hasRoom: boolean;
}

interface Built {
  readonly event: SoakEvent;
  readonly definition: object;
}

const BASE = {
  currency: 'EUR',
  hold_minutes: 0.2,
  payment_minutes: 0.5,
  max_tickets_per_order: 12,
  max_installments: 3,
};
const STAGE = 'general';

function build(id: string, performanceIds: readonly string[], prices: Record<string, number>, rest: object): Built {
  const slug = id.replace('evt_', '');
  const hasRoom = 'waiting_room' in rest;
  const performances = performanceIds.map((performanceId) => ({ id: performanceId, name: performanceId }));
  return {
    event: { id, slug, performanceIds, ticketTypeIds: Object.keys(prices), hasRoom },
    definition: {
      ...BASE,
      id,
      slug,
      name: slug,
      performances,
      sellingStages: [{ id: STAGE, name: 'General sale', prices }],
      promoCodes: [{ code: 'EARLY', percent_off: 10, max_uses: 1_000_000 }],
      ...rest,
    },
  };
}

const floor = (capacity: number) => [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity }];

const hall = [largeHall(60, { seats: 60, aisle_after: [30] })];

/** The events, each with so many tickets for general admission. */
export function soakEvents(capacity: number): readonly Built[] {
  const single = [{ id: 'single', name: 'Single', locality_id: 'floor' }];
  const clubs = Array.from({ length: 4 }, (_, n) =>
    build(`evt_club${n}`, ['night'], { single: 1_900 }, { localities: floor(capacity), ticketTypes: single }),
  );
  const theatre = build(
    'evt_theatre',
    ['fri', 'sat'],
    { stalls: 4_000, pair: 7_000 },
    {
      localities: hall,
      ticketTypes: [
        { id: 'stalls', name: 'Stalls', locality_id: 'hall', zone_keys: ['stalls'] },
        { id: 'pair', name: 'Pair', locality_id: 'hall', zone_keys: ['stalls'], group_size: 2 },
      ],
    },
  );
  const rush = build(
    'evt_rush',
    ['day'],
    { single: 1_000 },
    {
      localities: floor(capacity),
      ticketTypes: single,
      waiting_room: true,
      waiting_room_rate: 600,
      waiting_room_minutes: 0.2,
      waiting_room_inactivity_seconds: 10,
    },
  );
  const free = build('evt_free', ['day'], { single: 0 }, { localities: floor(capacity), ticketTypes: single });
  return [...clubs, theatre, rush, free];
}
