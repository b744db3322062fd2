/**
 * Definitions of events for the tests of stock and seats, typed briefly.
 *
 * A row of seats is a string with one character for a seat and a bar for an aisle: `.` an ordinary seat, `r` one with a
 * restricted view, `a` an accessible one, `z` one of the zone `side`, `s` a restricted one of that zone. All others, ordinary seats under any other character too, are of the zone `main`.
 * Seats are called by row and number, `0-0` being the first of the first row.
 */
import type {
  EventDefinition,
  LocalityDefinition,
  NumberedLocality,
  Point,
  SeatDefinition,
  SeatRowDefinition,
  SellingStageDefinition,
  TicketTypeDefinition,
} from '#domain/catalogue.ts';

export function seatRow(text: string, rowNumber: number): SeatRowDefinition {
  const seats: SeatDefinition[] = [];
  const aisleAfter: number[] = [];
  for (const kind of text) {
    if (kind === '|') aisleAfter.push(seats.length);
    else {
      seats.push({
        id: `${rowNumber}-${seats.length}`,
        label: String(seats.length + 1),
        x: seats.length * 10,
        y: rowNumber * 10,
        zoneKey: kind === 'z' || kind === 's' ? 'side' : 'main',
        accessible: kind === 'a',
        restrictedView: kind === 'r' || kind === 's',
      });
    }
  }
  return { label: String(rowNumber + 1), seats, aisleAfter };
}

export function hall(rows: readonly string[], focalPoint: Point | null = null): NumberedLocality {
  return {
    id: 'hall',
    name: 'Hall',
    seating: 'NUMBERED',
    focalPoint,
    zones: [
      { zoneKey: 'main', name: 'Main', color: null },
      { zoneKey: 'side', name: 'Side', color: null },
    ],
    sections: [{ id: 'all', name: 'All', rows: rows.map(seatRow) }],
    shapes: [],
  };
}

export function ticketType(
  id: string,
  localityId: string,
  more: Partial<TicketTypeDefinition> = {},
): TicketTypeDefinition {
  return {
    id,
    name: id,
    description: '',
    localityId,
    zoneKeys: null,
    groupSize: 1,
    maxPerOrder: null,
    quota: null,
    accessible: false,
    entryCutoff: null,
    lateFee: null,
    minConsumption: null,
    barPerks: [],
    ...more,
  };
}

export function stage(
  id: string,
  prices: Record<string, number>,
  quotas: Record<string, number> = {},
): SellingStageDefinition {
  return { id, name: id, startsAt: null, endsAt: null, sortOrder: 0, prices, quotas };
}

/** An event with one date, `d1`. */
export function eventOf(
  localities: readonly LocalityDefinition[],
  ticketTypes: readonly TicketTypeDefinition[],
  sellingStages: readonly SellingStageDefinition[],
  more: Partial<EventDefinition> = {},
): EventDefinition {
  return {
    id: 'evt',
    slug: 'evt',
    name: 'Event',
    description: '',
    status: 'PUBLISHED',
    currency: 'EUR',
    timezone: 'UTC',
    paymentProvider: 'provider_a',
    maxInstallments: 1,
    holdMinutes: 10,
    holdMaxMinutes: null,
    paymentMinutes: 30,
    waitingRoom: false,
    waitingRoomOpensAt: null,
    waitingRoomRate: 100,
    waitingRoomMinutes: 10,
    waitingRoomInactivitySeconds: 120,
    waitingRoomPauseWhenSoldOut: false,
    waitingRoomMaxAdmitted: null,
    maxTicketsPerOrder: null,
    maxTicketsPerEmail: null,
    requireIndividualData: false,
    performances: [{ id: 'd1', name: 'One', startsAt: null, endsAt: null, status: 'ON_SALE', sortOrder: 0 }],
    localities,
    ticketTypes,
    sellingStages,
    promoCodes: [],
    ...more,
  };
}

/** An event with one hall and the types `any` (all zones), `main`, `side` and `accessible`, in one stage `general`. */
export function hallEvent(rows: readonly string[], focalPoint: Point | null = null): EventDefinition {
  const types = [
    ticketType('any', 'hall'),
    ticketType('main', 'hall', { zoneKeys: ['main'] }),
    ticketType('side', 'hall', { zoneKeys: ['side'] }),
    ticketType('accessible', 'hall', { accessible: true }),
  ];
  return eventOf([hall(rows, focalPoint)], types, [
    stage('general', { any: 100, main: 100, side: 100, accessible: 100 }),
  ]);
}
