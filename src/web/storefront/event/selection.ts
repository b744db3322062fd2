/**
 * What a buyer has selected on the performances of an event, as plain values: the items to request, their price,
 * whether the hold has them already, and what prevents a hold.
 */
import type { EventPayload, Hold, HoldItemRequest, TicketAvailability, TicketType } from '#client/bodies.ts';
import { rowKey } from '#client/live.ts';
import { texts } from '../app/language.ts';
import { groupSize, rowFor, seatedItems, type PickedSeat } from '../../seat-choice/picked.ts';

export interface Selection {
  /** Units of general admission by row (`rowKey`). */
  readonly units: Readonly<Record<string, number>>;
  /** Picked seats, each with the ticket type it is picked as, in the order of picking. */
  readonly seats: readonly PickedSeat[];
}

export const NOTHING: Selection = { units: {}, seats: [] };

/** The selection of which a hold was made, as far as one performance goes. */
export function selectionOf(hold: Hold | null, performanceId: string): Selection {
  const items = (hold?.items ?? []).filter((item) => item.performance_id === performanceId);
  const general = items.filter((item) => item.seat_ids.length === 0);
  return {
    units: Object.fromEntries(general.map((item) => [rowKey(item), item.quantity])),
    seats: items.flatMap(({ seat_ids: seatIds, ticket_type_id: ticketTypeId, selling_stage_id: sellingStageId }) =>
      seatIds.map((seatId) => ({ seatId, ticketTypeId, sellingStageId })),
    ),
  };
}

/** What identifies an item of a hold. */
export function itemKey(item: Pick<HoldItemRequest, 'ticket_type_id' | 'selling_stage_id' | 'performance_id'>): string {
  return `${item.performance_id ?? ''} ${rowKey(item)}`;
}

/**
 * The items of a choice on all its performances. `rows` are those of the performance that is shown. A seated type keeps
 * the selling stage of its item in the hold.
 */
export function itemsOf(
  choices: Readonly<Record<string, Selection>>,
  shownId: string,
  event: EventPayload,
  rows: readonly TicketAvailability[],
  hold: Hold | null,
): readonly HoldItemRequest[] {
  const order = event.performances.map(({ id }) => id);
  const chosen = Object.entries(choices).sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  return chosen.flatMap(([performanceId, selection]) => [
    ...generalItems(selection, performanceId),
    ...seatedItems(selection.seats, performanceId, event, (ticketTypeId) => {
      const standing = hold?.items.find(
        (item) => item.ticket_type_id === ticketTypeId && item.performance_id === performanceId,
      );
      const row = performanceId === shownId ? rowFor(rows, ticketTypeId) : undefined;
      return standing?.selling_stage_id ?? row?.selling_stage_id;
    }),
  ]);
}

function generalItems({ units }: Selection, performanceId: string): readonly HoldItemRequest[] {
  return Object.entries(units)
    .filter(([, quantity]) => quantity > 0)
    .map(([key, quantity]) => {
      const [ticketTypeId = '', sellingStageId = ''] = key.split(' ');
      return {
        ticket_type_id: ticketTypeId,
        selling_stage_id: sellingStageId,
        performance_id: performanceId,
        quantity,
      };
    });
}

/** An item of a hold as it is requested. */
export function asRequest(item: Hold['items'][number]): HoldItemRequest {
  const { ticket_type_id, selling_stage_id, performance_id, quantity, seat_ids } = item;
  const seats = seat_ids.length > 0 && { seat_ids };
  return { ticket_type_id, selling_stage_id, performance_id, quantity, ...seats };
}

/** Whether a hold has exactly these items. */
export function isHeld(items: readonly HoldItemRequest[], hold: Hold | null): boolean {
  if (hold === null) return false;
  return items.map(textOf).sort().join('|') === hold.items.map(asRequest).map(textOf).sort().join('|');
}

/** Whether a hold has exactly this item. */
export function isItemHeld(item: HoldItemRequest, hold: Hold): boolean {
  return hold.items.some((held) => textOf(asRequest(held)) === textOf(item));
}

function textOf(item: HoldItemRequest): string {
  return `${itemKey(item)} ${item.quantity} ${[...(item.seat_ids ?? [])].sort().join()}`;
}

/** What prevents a hold of a choice, as a sentence; null when nothing does. */
export function obstacle(
  choices: Readonly<Record<string, Selection>>,
  items: readonly HoldItemRequest[],
  event: EventPayload,
): string | null {
  for (const [ticketTypeId, picked] of Object.values(choices).flatMap(({ seats }) => [
    ...Map.groupBy(seats, (seat) => seat.ticketTypeId),
  ])) {
    const size = groupSize(event, ticketTypeId);
    const missing = (size - (picked.length % size)) % size;
    if (missing > 0) {
      const name = ticketTypeOf(event, ticketTypeId)?.name ?? texts.basket.ticketMissing;
      return texts.basket.groupIncomplete(name, size, missing);
    }
  }
  const tickets = ticketCount(items, event);
  const most = event.max_tickets_per_order;
  return most !== null && tickets > most ? texts.basket.atMost(most) : null;
}

export function ticketCount(items: readonly HoldItemRequest[], event: EventPayload): number {
  return items.reduce((sum, item) => sum + item.quantity * groupSize(event, item.ticket_type_id), 0);
}

/** Cents of all items, by the prices of the event's rows. */
export function totalOf(items: readonly HoldItemRequest[], event: EventPayload): number {
  return items.reduce((sum, item) => sum + item.quantity * unitPrice(event, item), 0);
}

export function unitPrice(
  event: EventPayload,
  item: Pick<HoldItemRequest, 'ticket_type_id' | 'selling_stage_id'>,
): number {
  return event.ticketAvailability.find((row) => rowKey(row) === rowKey(item))?.price ?? 0;
}

export function ticketTypeOf(event: EventPayload, id: string): TicketType | undefined {
  return event.ticketTypes.find((type) => type.id === id);
}
