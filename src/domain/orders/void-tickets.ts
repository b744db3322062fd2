/**
 * The tickets of an event that are void, in the order in which they became so, for ticket checks without a network.
 *
 * An index that follows from the orders: an order that is cancelled after its tickets were issued makes them void for
 * good, and so does a change of an order for those that it takes away.
 *
 * 1. They are kept in the order of the moments at which they became void, then of the orders' numbers: the same however
 *    the state came to be. Until the state is restored, the list has tickets of one millisecond in the order of their
 *    arrival, so that new ones come last: a reader goes on after the last ticket.
 * 2. The list shows ticket ids alone, nothing about people. An entry costs some 100 B and is kept as long as the event.
 */
import { countLeading } from '../collections/sorted.ts';

interface VoidTicket {
  readonly ticketId: string;
  readonly voidSince: number;
  readonly orderNumber: number;
  /** Its index among the void tickets of its order, to which further ones are added at the end. */
  readonly index: number;
  /** How many came before. */
  readonly arrival: number;
}

export interface VoidTickets {
  readonly all: VoidTicket[];
  readonly byPerformance: Map<string, VoidTicket[]>;
}

/** The fields of an order that decide which of its tickets are void. */
export interface VoidableOrder {
  readonly number: number;
  readonly ticketIds: readonly string[];
  readonly purchase: VoidableTerms;
  readonly changed?: {
    readonly terms: VoidableTerms;
    readonly voidedTickets: readonly {
      readonly id: string;
      readonly performanceId: string;
      readonly voidSince: number;
    }[];
  };
  readonly cancellation: { readonly at: number } | null;
}

interface VoidableTerms {
  readonly items: readonly { readonly performanceId: string; readonly ticketCount: number }[];
}

export interface VoidTicketPage {
  readonly ticketIds: readonly string[];
  /** What to go on after, or null at the end. */
  readonly nextAfter: string | null;
}

export function noVoidTickets(): VoidTickets {
  return { all: [], byPerformance: new Map() };
}

/**
 * Notes the void tickets of an order from the one at `from` on; there are none where it had not been paid, or is as it
 * was bought.
 */
export function noteVoidTickets({ all, byPerformance }: VoidTickets, order: VoidableOrder, from = 0): void {
  for (const [index, { ticketId, performanceId, voidSince }] of voidTicketsOf(order).entries()) {
    if (index < from) continue;
    let ofPerformance = byPerformance.get(performanceId);
    if (ofPerformance === undefined) byPerformance.set(performanceId, (ofPerformance = []));
    const ticket = { ticketId, voidSince, orderNumber: order.number, index, arrival: all.length };
    insert(all, ticket);
    insert(ofPerformance, ticket);
  }
}

interface VoidTicketOfOrder extends Pick<VoidTicket, 'ticketId' | 'voidSince'> {
  readonly performanceId: string;
}

/** The void tickets of an order in the order in which they became so: those of its changes, then those of its end. */
function voidTicketsOf({ purchase, changed, ticketIds, cancellation }: VoidableOrder): readonly VoidTicketOfOrder[] {
  const tickets = (changed?.voidedTickets ?? []).map(({ id: ticketId, performanceId, voidSince }) => {
    return { ticketId, performanceId, voidSince };
  });
  if (cancellation === null || ticketIds.length === 0) return tickets;
  const voidSince = cancellation.at;
  let place = 0;
  for (const { performanceId, ticketCount } of (changed?.terms ?? purchase).items) {
    for (const end = place + ticketCount; place < end; place += 1) {
      tickets.push({ ticketId: ticketIds[place]!, performanceId, voidSince });
    }
  }
  return tickets;
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
  const index = afterOrder === null ? -1 : voidTicketsOf(afterOrder).findIndex(({ ticketId }) => ticketId === after);
  const known = index < 0 ? null : voidTicketOf(all, afterOrder!, index);
  const begin = known === null ? 0 : countLeading(tickets, ({ voidSince }) => voidSince < known.voidSince);
  const beforeEnd = known === null ? 0 : countLeading(tickets, ({ voidSince }) => voidSince <= known.voidSince);
  const last = tickets[Math.min(tickets.length, beforeEnd + limit + 1) - 1];
  const end = last === undefined ? 0 : countLeading(tickets, ({ voidSince }) => voidSince <= last.voidSince);
  const left = tickets
    .slice(begin, end)
    .sort((one, other) => one.voidSince - other.voidSince || one.arrival - other.arrival)
    .filter(({ voidSince, arrival }) => known === null || voidSince > known.voidSince || arrival > known.arrival);
  const page = left.slice(0, limit).map(({ ticketId }) => ticketId);
  return { ticketIds: page, nextAfter: left.length > limit ? page.at(-1)! : null };
}

/** Void tickets of some dates behind a position, which counts how many of its millisecond come before. */
export interface VoidPosition {
  readonly voidSince: number;
  readonly voidCount: number;
}

/** So many void tickets of these dates, null for all, behind a position; each with that behind itself. */
export function* voidTicketsBehind(
  { all, byPerformance }: VoidTickets,
  performanceIds: readonly string[] | null,
  { voidSince, voidCount }: VoidPosition,
  countMax: number,
): Generator<VoidPosition & { readonly ticketId: string }> {
  const from = (tickets: readonly VoidTicket[]): number =>
    countLeading(tickets, (ticket) => ticket.voidSince < voidSince);
  const lists = performanceIds === null ? [all] : performanceIds.map((id) => byPerformance.get(id) ?? []);
  const end = countMax + voidCount;
  const merged = lists
    .flatMap((tickets) => tickets.slice(from(tickets), from(tickets) + end))
    .sort(compare)
    .slice(0, end);
  let [since, count] = [voidSince, 0];
  for (const ticket of merged) {
    count = ticket.voidSince === since ? count + 1 : 1;
    since = ticket.voidSince;
    if (since === voidSince && count <= voidCount) continue;
    yield { ticketId: ticket.ticketId, voidSince: since, voidCount: count };
  }
}

function voidTicketOf(all: readonly VoidTicket[], order: VoidableOrder, index: number): VoidTicket {
  const { voidSince } = voidTicketsOf(order)[index]!;
  return all[countUpTo(all, { voidSince, orderNumber: order.number, index }) - 1]!;
}

type Position = Pick<VoidTicket, 'voidSince' | 'orderNumber' | 'index'>;

/** Inserts a ticket in order (rule 1), nearly always at the end. */
function insert(tickets: VoidTicket[], ticket: VoidTicket): void {
  tickets.splice(countUpTo(tickets, ticket), 0, ticket);
}

/** The number of tickets up to a position, included. */
function countUpTo(tickets: readonly VoidTicket[], position: Position): number {
  return countLeading(tickets, (ticket) => compare(ticket, position) <= 0);
}

function compare(one: Position, other: Position): number {
  return one.voidSince - other.voidSince || one.orderNumber - other.orderNumber || one.index - other.index;
}
