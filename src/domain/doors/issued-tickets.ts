/** The part of an order that the check of a ticket at a door needs. */
import { agreedOf, itemOfTicket, voidReasonOf, type VoidedTicket } from '../orders/order.ts';
import type { OrderState } from '../orders/state.ts';
import type { VoidReason } from '../view.ts';

/** A ticket without its order and the people on it. */
export interface IssuedTicket extends Pick<VoidedTicket, 'ticketTypeId' | 'performanceId' | 'seatId'> {
  readonly orderId: string;
  /** Null while it is valid. */
  readonly voided: { readonly since: number; readonly reason: VoidReason } | null;
}

/** A ticket, void ones too; null where no order has it. */
export function issuedTicket({ orders }: Pick<OrderState, 'orders'>, ticketId: string): IssuedTicket | null {
  const order = orders.byTicket.get(ticketId);
  if (order === undefined) return null;
  const { id: orderId, cancellation } = order;
  const voided = order.changed?.voidedTickets.find(({ id }) => id === ticketId);
  if (voided !== undefined) {
    const { ticketTypeId, performanceId, seatId, voidSince: since, voidReason: reason } = voided;
    return { orderId, ticketTypeId, performanceId, seatId, voided: { since, reason } };
  }
  const { items } = agreedOf(order);
  const { itemIndex, offset } = itemOfTicket(items, order.ticketIds.indexOf(ticketId));
  const { ticketTypeId, performanceId, seatIds } = items[itemIndex]!;
  const ended = cancellation && { since: cancellation.at, reason: voidReasonOf(order) };
  return { orderId, ticketTypeId, performanceId, seatId: seatIds[offset] ?? null, voided: ended };
}
