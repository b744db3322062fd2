/** Which tickets of an order are valid after an amendment, and which ones it makes void. */
import {
  agreedOf,
  itemOfTicket,
  withoutSealed,
  type ChangedOrder,
  type Order,
  type TicketOrigin,
  type VoidedTicket,
} from '../order.ts';
import type { AmendedTicket, FactData } from '../../fact.ts';
import type { VoidReason } from '../../view.ts';

/** The origins of the tickets that are valid now, and every void one; unchanged where no ticket is left. */
export function addUpTickets(
  order: Order,
  { ticketIds, tickets, by }: Pick<FactData['OrderAmended'], 'ticketIds' | 'tickets' | 'by'>,
  at: number,
): { readonly origins: readonly TicketOrigin[]; readonly voidedTickets: readonly VoidedTicket[] } {
  const before = originsOf(order);
  const voidedTickets = order.changed?.voidedTickets ?? [];
  if (ticketIds.length === 0) return { origins: before, voidedTickets };
  const { items } = agreedOf(order);
  const placeOf = placesIn(order.ticketIds);
  const amended = new Map(tickets.map((ticket) => [ticket.newTicketId ?? ticket.ticketId, ticket]));
  const list = order.changed?.people.length ?? 0;
  const origins = ticketIds.map((ticketId): TicketOrigin => {
    const ticket = amended.get(ticketId);
    const origin = before[placeOf(ticket?.ticketId ?? ticketId)]!;
    return ticket === undefined ? origin : amendedOrigin(origin, ticket, list);
  });
  const voidedPlaceOf = placesIn(order.ticketIds);
  const voided = tickets.flatMap(({ ticketId, action }): VoidedTicket[] => {
    if (action === 'RENAME') return [];
    const place = voidedPlaceOf(ticketId);
    const { itemIndex, offset } = itemOfTicket(items, place);
    const { ticketTypeId, performanceId, seatIds } = items[itemIndex]!;
    const where = { ticketTypeId, performanceId, seatId: seatIds[offset] ?? null };
    const ofAction: VoidReason = action === 'CANCEL' ? 'TICKET_CANCELLED' : 'REPLACED';
    const voidReason = by === 'PERFORMANCE' ? 'PERFORMANCE_CANCELLED' : ofAction;
    return [{ ...before[place]!, id: ticketId, ...where, voidSince: at, voidReason }];
  });
  return { origins, voidedTickets: [...voidedTickets, ...voided] };
}

/** The index of each id in a list. Most look-ups come in order, so that no map of ten thousand is made. */
function placesIn(ids: readonly string[]): (id: string) => number {
  let next = 0;
  let known: Map<string, number> | null = null;
  return (id) => {
    while (known === null && next < ids.length) {
      next += 1;
      if (ids[next - 1] === id) return next - 1;
    }
    known ??= new Map(ids.map((each, place) => [each, place]));
    return known.get(id)!;
  };
}

/** `list`: the index of the amendment's people in the list of all people. */
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

/** Where the valid tickets of an order come from. */
export function originsOf(order: Order): readonly TicketOrigin[] {
  const known = order.changed?.origins ?? [];
  if (known.length > 0) return known;
  const origins: TicketOrigin[] = [];
  for (const [itemIndex, { ticketCount }] of agreedOf(order).items.entries()) {
    for (let offset = 0; offset < ticketCount; offset += 1) origins.push({ itemIndex, offset, replaces: null });
  }
  return origins;
}

/** What an answer about an order keeps of its changes: as they were then. */
export interface ChangesThen extends Pick<Order, 'ticketIds'> {
  readonly changed: ChangedOrder;
}

/** An order with the items and tickets that it had at an earlier answer; `then` is null for one that was as bought. */
export function asThen(order: Order, then: ChangesThen | null): Order {
  if (order.changed === undefined) return order;
  if (then === null) {
    const { changed: _changed, ...bought } = order;
    return { ...bought, ticketIds: boughtTickets(order) };
  }
  if (order.erasure === undefined) return { ...order, ...then };
  const { changed, ticketIds } = then;
  const people = changed.people.map(({ open }) => ({ sealed: null, open }));
  return {
    ...order,
    ticketIds,
    changed: { ...changed, amendments: changed.amendments.map(withoutSealed), people },
  };
}

/** The tickets that an order was issued first, in the order of its purchase. */
function boughtTickets({ purchase, changed, ticketIds }: Order): readonly string[] {
  const keyOf = ({ itemIndex, offset }: Pick<TicketOrigin, 'itemIndex' | 'offset'>): string => `${itemIndex} ${offset}`;
  const ids = new Map<string, string>();
  changed!.origins.forEach((origin, place) => origin.replaces ?? ids.set(keyOf(origin), ticketIds[place]!));
  for (const voided of changed!.voidedTickets) if (voided.replaces === null) ids.set(keyOf(voided), voided.id);
  return purchase.items.flatMap(({ ticketCount }, itemIndex) =>
    Array.from({ length: ticketCount }, (_, offset) => ids.get(keyOf({ itemIndex, offset }))!),
  );
}
