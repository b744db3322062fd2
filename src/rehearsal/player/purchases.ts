/**
 * What invented people have at the service: holds, orders and sessions, by the numbers of the trace, and what they
 * bought.
 *
 * A hold of the trace may become several parts, when the best seats for a party could not be had side by side.
 */
import type { SoldLine } from '../trace/sales.ts';

interface HeldItem {
  readonly ticket_type_id: string;
  readonly selling_stage_id: string;
  readonly performance_id: string;
  readonly quantity: number;
  readonly ticket_count: number;
  readonly seat_ids: readonly string[];
}

/** The body of a hold, as far as it is read. */
export interface PlacedHold {
  readonly id: string;
  readonly items: readonly HeldItem[];
}

export interface Part {
  readonly sessionKey: string;
  readonly holdId: string;
  items: readonly HeldItem[];
}

/** An order at the service; one of the trace may be several here. */
export interface PlacedOrder {
  readonly orderId: string;
  checkoutSessionId: string | null;
  readonly totalCents: number;
  /** Null until the answer to the payment says it, for a checkout without a hold. */
  items: readonly HeldItem[] | null;
  readonly lines: readonly SoldLine[];
  isSold: boolean;
}

export function ticketsIn(items: readonly HeldItem[]): number {
  return items.reduce((sum, { ticket_count: count }) => sum + count, 0);
}

export function seatsIn(items: readonly HeldItem[]): string[] {
  return items.flatMap(({ performance_id: performance, seat_ids: ids }) => ids.map((id) => `${performance} ${id}`));
}

export function linesIn(items: readonly HeldItem[]): SoldLine[] {
  return items.map(({ ticket_type_id: ticketTypeId, selling_stage_id: sellingStageId, quantity }) => ({
    ticketTypeId,
    sellingStageId,
    quantity,
  }));
}

interface TicketBody {
  readonly ticket_type_id: string;
  readonly performance_id: string;
  readonly seat_id: string | null;
}

/** What an order status says was bought; its tickets name no stage. */
export function itemsOfTickets(tickets: readonly TicketBody[]): HeldItem[] {
  const items = new Map<string, { item: HeldItem; seats: string[]; count: number }>();
  for (const { ticket_type_id, performance_id, seat_id } of tickets) {
    const key = `${ticket_type_id} ${performance_id}`;
    const item = { ticket_type_id, performance_id, selling_stage_id: '', quantity: 0, ticket_count: 0, seat_ids: [] };
    const entry = items.get(key) ?? { item, seats: [], count: 0 };
    items.set(key, entry);
    entry.count += 1;
    if (seat_id !== null) entry.seats.push(seat_id);
  }
  return Array.from(items.values(), ({ item, seats, count }) => {
    return { ...item, quantity: count, ticket_count: count, seat_ids: seats };
  });
}
