/** Who may come: the tickets of an event, order after order, with what became of them at its doors. */
import type { Order } from '../orders/order.ts';
import { personalOfTickets, viewTickets } from '../orders/view.ts';
import { refuse, type Refusal } from '../refusal.ts';
import { mergedOf, scansOf, type DoorState } from './state.ts';
import type { SealedOrder } from '../personal.ts';
import type { TicketView, VoidReason } from '../view.ts';

interface AttendeeTicket {
  readonly ticket: TicketView;
  readonly ticketTypeName: string;
  readonly performanceName: string;
  /** Null while it is valid. */
  readonly voidReason: VoidReason | null;
  /** When it was let in; null where it was not. */
  readonly enteredAt: number | null;
  readonly isInside: boolean;
}

interface AttendeeOrder {
  readonly orderId: string;
  readonly personal: SealedOrder;
  readonly tickets: readonly AttendeeTicket[];
}

export interface AttendeePage {
  readonly orders: readonly AttendeeOrder[];
  /** The order to go on after; null at the end. */
  readonly nextAfter: string | null;
}

export interface AttendeesWanted {
  readonly performanceId: string | null;
  /** An order; null from the first on. */
  readonly after: string | null;
}

/**
 * A page has whole orders: it takes another order while it has fewer tickets than this, and looks at no more orders
 * than this.
 */
const TICKETS_A_PAGE = 500;
const ORDERS_A_PAGE = 500;

/** The tickets of an event, or of one date, in the order of their orders: PERFORMANCE_NOT_FOUND. */
export function listAttendees(state: DoorState, { performanceId, after }: AttendeesWanted): AttendeePage | Refusal {
  if (performanceId !== null && !state.performances.has(performanceId)) {
    return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  }
  const { byId, inOrder } = state.orders;
  const begin = after === null ? 0 : (byId.get(after)?.number ?? -1) + 1;
  const orders: AttendeeOrder[] = [];
  let tickets = 0;
  for (let number = begin; number < inOrder.length; number += 1) {
    const order = inOrder.at(number);
    const listed = ticketsOf(state, order, performanceId);
    tickets += listed.length;
    if (listed.length > 0) orders.push({ orderId: order.id, personal: personalOfTickets(order), tickets: listed });
    const isFull = tickets >= TICKETS_A_PAGE || number - begin + 1 === ORDERS_A_PAGE;
    if (isFull && number + 1 < inOrder.length) return { orders, nextAfter: order.id };
  }
  return { orders, nextAfter: null };
}

function ticketsOf(state: DoorState, order: Order, performanceId: string | null): readonly AttendeeTicket[] {
  if (order.ticketIds.length === 0 && order.changed === undefined) return [];
  const { plan, doors } = state;
  return viewTickets(plan, order).flatMap(({ ticket, voidReason }): AttendeeTicket[] => {
    if (performanceId !== null && ticket.performanceId !== performanceId) return [];
    const scans = scansOf(state, ticket.id);
    const merged = scans.length === 0 ? null : mergedOf({ scans }, doors!.reentry);
    return [
      {
        ticket,
        ticketTypeName: plan.ticketTypeById.get(ticket.ticketTypeId)?.definition.name ?? ticket.ticketTypeId,
        performanceName: plan.performanceById.get(ticket.performanceId)?.name ?? ticket.performanceId,
        voidReason,
        enteredAt: merged?.admission?.at ?? null,
        isInside: merged?.isInside ?? false,
      },
    ];
  });
}
