/**
 * The tickets of an event that are void, in the order in which they became so, for ticket checks without a network.
 *
 * An index that follows from the orders: an order that is cancelled after its tickets were issued makes them void for
 * good.
 *
 * 1. The order is that of the cancellations' moments, then of the orders' numbers, so that it is the same however the
 *    state came to be, and what is new comes last: who has read the list goes on after its last ticket.
 * 2. The list shows ticket ids alone, nothing about people. An entry costs some 100 B and is kept as long as the event.
 */

interface VoidTicket {
  readonly ticketId: string;
  readonly voidSince: number;
  readonly orderNumber: number;
  /** Its index among the tickets of its order. */
  readonly index: number;
}

export interface VoidTickets {
  readonly all: VoidTicket[];
  readonly byPerformance: Map<string, VoidTicket[]>;
}

/** What of an order decides which of its tickets are void. */
export interface VoidableOrder {
  readonly number: number;
  readonly ticketIds: readonly string[];
  readonly purchase: { readonly items: readonly { readonly performanceId: string; readonly ticketCount: number }[] };
  readonly cancellation: { readonly at: number } | null;
}

export interface VoidTicketPage {
  readonly ticketIds: readonly string[];
  /** What to go on after, or null at the end. */
  readonly nextAfter: string | null;
}

export function noVoidTickets(): VoidTickets {
  return { all: [], byPerformance: new Map() };
}

/** Notes the tickets of an order that was cancelled; there are none where it had not been paid. */
export function noteVoidTickets({ all, byPerformance }: VoidTickets, order: VoidableOrder): void {
  if (order.cancellation === null || order.ticketIds.length === 0) return;
  const { number: orderNumber, ticketIds } = order;
  const voidSince = order.cancellation.at;
  let index = 0;
  for (const { performanceId, ticketCount } of order.purchase.items) {
    let ofPerformance = byPerformance.get(performanceId);
    if (ofPerformance === undefined) byPerformance.set(performanceId, (ofPerformance = []));
    for (const end = index + ticketCount; index < end; index += 1) {
      const ticket = { ticketId: ticketIds[index]!, voidSince, orderNumber, index };
      insert(all, ticket);
      insert(ofPerformance, ticket);
    }
  }
}

/**
 * A page of the void tickets of one performance or of all, after a ticket of `afterOrder`; from the first where that is
 * not void.
 */
export function pageOfVoidTickets(
  { all, byPerformance }: VoidTickets,
  wanted: { readonly performanceId: string | null; readonly after: string | null; readonly limit: number },
  afterOrder: VoidableOrder | null,
): VoidTicketPage {
  const { performanceId, after, limit } = wanted;
  const tickets = performanceId === null ? all : (byPerformance.get(performanceId) ?? []);
  const index = after === null ? -1 : (afterOrder?.ticketIds.indexOf(after) ?? -1);
  const begin =
    afterOrder === null || afterOrder.cancellation === null || index < 0
      ? 0
      : countUpTo(tickets, { voidSince: afterOrder.cancellation.at, orderNumber: afterOrder.number, index });
  const page = tickets.slice(begin, begin + limit).map(({ ticketId }) => ticketId);
  return { ticketIds: page, nextAfter: begin + limit < tickets.length ? page.at(-1)! : null };
}

type Position = Omit<VoidTicket, 'ticketId'>;

/** Inserts a ticket in order (rule 1), nearly always at the end. */
function insert(tickets: VoidTicket[], ticket: VoidTicket): void {
  const last = tickets.at(-1);
  if (last === undefined || compare(last, ticket) < 0) tickets.push(ticket);
  else tickets.splice(countUpTo(tickets, ticket), 0, ticket);
}

/** The number of tickets up to a position, included. */
function countUpTo(tickets: readonly VoidTicket[], position: Position): number {
  let low = 0;
  let high = tickets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(tickets[middle]!, position) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compare(one: Position, other: Position): number {
  return one.voidSince - other.voidSince || one.orderNumber - other.orderNumber || one.index - other.index;
}
