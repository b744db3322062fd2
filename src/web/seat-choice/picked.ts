/** Seats that a buyer has picked, and as which ticket types a seat can be bought. */
import type { EventPayload, HoldItemRequest, TicketAvailability, TicketType } from '#client/bodies.ts';

export interface PickedSeat {
  readonly seatId: string;
  readonly ticketTypeId: string;
  /** The stage in which the type was on sale when the seat was picked. */
  readonly sellingStageId: string;
}

/** Seats picked as a ticket type. */
export function pickedAs(
  rows: readonly TicketAvailability[],
  ticketTypeId: string,
  seatIds: readonly string[],
): readonly PickedSeat[] {
  const sellingStageId = rowFor(rows, ticketTypeId)?.selling_stage_id ?? '';
  return seatIds.map((seatId) => ({ seatId, ticketTypeId, sellingStageId }));
}

/** The row in which a ticket type is bought: the first on sale with something left, else the first on sale. */
export function rowFor(rows: readonly TicketAvailability[], ticketTypeId: string): TicketAvailability | undefined {
  const onSale = rows.filter((row) => row.ticket_type_id === ticketTypeId && row.on_sale);
  return onSale.find(({ available }) => available > 0) ?? onSale[0];
}

/** What decides as which ticket types a seat can be bought. */
interface SeatClass {
  readonly locality: string;
  readonly zone: string;
  readonly accessible: boolean;
}

/**
 * The ticket types on sale that a seat can be bought as: an accessible seat as the accessible types of its zone alone,
 * where there are such.
 */
export function typesForSeat(
  ticketTypes: readonly TicketType[],
  rows: readonly TicketAvailability[],
  { locality, zone, accessible }: SeatClass,
): readonly TicketType[] {
  const sold = ticketTypes.filter(
    ({ id, locality_id: at, zone_keys: zones }) =>
      at === locality && (zones === null || zones.includes(zone)) && rows.some((row) => row.ticket_type_id === id),
  );
  const isReserved = accessible && sold.some((type) => type.accessible);
  return sold.filter((type) => type.accessible === isReserved && rowFor(rows, type.id) !== undefined);
}

/** The items of picked seats on a performance, one for each ticket type; `stageOf` has the selling stage of each. */
export function seatedItems(
  seats: readonly PickedSeat[],
  performanceId: string,
  event: EventPayload,
  stageOf: (ticketTypeId: string) => string | undefined,
): HoldItemRequest[] {
  return [...Map.groupBy(seats, (seat) => seat.ticketTypeId)].map(([ticketTypeId, picked]) => ({
    ticket_type_id: ticketTypeId,
    selling_stage_id: stageOf(ticketTypeId) ?? picked[0]!.sellingStageId,
    performance_id: performanceId,
    quantity: Math.ceil(picked.length / groupSize(event, ticketTypeId)),
    seat_ids: picked.map(({ seatId }) => seatId),
  }));
}

/** The tickets of one unit of a type. */
export function groupSize(event: EventPayload, ticketTypeId: string): number {
  return event.ticketTypes.find((type) => type.id === ticketTypeId)?.group_size ?? 1;
}
