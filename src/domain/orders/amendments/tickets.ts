/** Which tickets of an order are valid after an amendment, and which ones it makes void. */
import { agreedOf, type Order, type TicketOrigin, type VoidedTicket } from '../order.ts';
import type { AmendedTicket, FactData } from '../../fact.ts';
import type { VoidReason } from '../../view.ts';

/** The origins of the tickets that are valid now, and every void one; unchanged where no ticket is left. */
export function addUpTickets(
  order: Order,
  { ticketIds, tickets, by }: Pick<FactData['OrderAmended'], 'ticketIds' | 'tickets' | 'by'>,
  at: number,
): { readonly origins: readonly TicketOrigin[]; readonly voidedTickets: readonly VoidedTicket[] } {
  const before = placesOf(order);
  const voidedTickets = order.changed?.voidedTickets ?? [];
  if (ticketIds.length === 0) return { origins: [...before.values()].map(({ origin }) => origin), voidedTickets };
  const amended = new Map(tickets.map((ticket) => [ticket.newTicketId ?? ticket.ticketId, ticket]));
  const list = order.changed?.people.length ?? 0;
  const origins = ticketIds.map((ticketId): TicketOrigin => {
    const ticket = amended.get(ticketId);
    const { origin } = before.get(ticket?.ticketId ?? ticketId)!;
    return ticket === undefined ? origin : amendedOrigin(origin, ticket, list);
  });
  const voided = tickets.flatMap(({ ticketId, action }): VoidedTicket[] => {
    if (action === 'RENAME') return [];
    const { origin, ...place } = before.get(ticketId)!;
    const ofAction: VoidReason = action === 'CANCEL' ? 'TICKET_CANCELLED' : 'REPLACED';
    const voidReason = by === 'PERFORMANCE' ? 'PERFORMANCE_CANCELLED' : ofAction;
    return [{ ...origin, id: ticketId, ...place, voidSince: at, voidReason }];
  });
  return { origins, voidedTickets: [...voidedTickets, ...voided] };
}

/** `list`: where the people of the amendment stand among those of all. */
function amendedOrigin(origin: TicketOrigin, ticket: AmendedTicket, list: number): TicketOrigin {
  const { ticketId, newTicketId, withoutPerks, goodwillCents, person } = ticket;
  const { goodwillCents: goodwillBefore = 0, ...others } = origin;
  const goodwill = goodwillCents ?? goodwillBefore;
  return {
    ...others,
    ...(newTicketId !== undefined && { replaces: ticketId }),
    ...(withoutPerks === true && { withoutPerks }),
    ...(goodwill > 0 && { goodwillCents: goodwill }),
    ...(person !== undefined && { person: { list, index: person } }),
  };
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
