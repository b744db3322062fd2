/** Which tickets of an order are valid after an amendment, and which ones it makes void. */
import { agreedOf, type Order, type TicketOrigin, type VoidedTicket } from '../order.ts';
import type { FactData } from '../../fact.ts';

/** The origins of the tickets that are valid now, and every void one; unchanged where no ticket is left. */
export function addUpTickets(
  order: Order,
  { ticketIds, tickets, by }: Pick<FactData['OrderAmended'], 'ticketIds' | 'tickets' | 'by'>,
  at: number,
): { readonly origins: readonly TicketOrigin[]; readonly voidedTickets: readonly VoidedTicket[] } {
  const before = placesOf(order);
  const voidedTickets = order.changed?.voidedTickets ?? [];
  if (ticketIds.length === 0) return { origins: [...before.values()].map(({ origin }) => origin), voidedTickets };
  const replaced = new Map(tickets.map(({ ticketId, newTicketId }) => [newTicketId, ticketId]));
  const origins = ticketIds.map((ticketId): TicketOrigin => {
    const replaces = replaced.get(ticketId);
    return replaces === undefined ? before.get(ticketId)!.origin : { ...before.get(replaces)!.origin, replaces };
  });
  const voided = tickets.flatMap(({ ticketId, action }): VoidedTicket[] => {
    if (action === 'RENAME') return [];
    const { origin, ...place } = before.get(ticketId)!;
    const voidReason = by === 'PERFORMANCE' ? 'PERFORMANCE_CANCELLED' : 'TICKET_CANCELLED';
    return [{ ...origin, id: ticketId, ...place, voidSince: at, voidReason }];
  });
  return { origins, voidedTickets: [...voidedTickets, ...voided] };
}

interface TicketPlace extends Pick<VoidedTicket, 'ticketTypeId' | 'performanceId' | 'seatId'> {
  readonly origin: TicketOrigin;
}

/** The valid tickets of an order by id, in their order. */
function placesOf(order: Order): ReadonlyMap<string, TicketPlace> {
  const places = new Map<string, TicketPlace>();
  for (const [itemIndex, { ticketTypeId, performanceId, seatIds, ticketCount }] of agreedOf(order).items.entries()) {
    const first = places.size;
    for (let offset = 0; offset < ticketCount; offset += 1) {
      const origin = order.changed?.origins[first + offset] ?? { itemIndex, offset, replaces: null };
      const place = { ticketTypeId, performanceId, seatId: seatIds[offset] ?? null };
      places.set(order.ticketIds[first + offset]!, { ...place, origin });
    }
  }
  return places;
}
