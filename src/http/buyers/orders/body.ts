/**
 * Orders and tickets in the API's names.
 *
 * What the public sees of an order is decided here: of the buyer only name and address, and no codes of attribution.
 * Personal data comes opened, for one answer; of an order that was erased every field about a person is null.
 */
import { numberOf } from '#domain/orders/told-numbers.ts';
import type { Attendee } from '#domain/personal.ts';
import type { OrderView, PaymentView, RefundView, TicketView } from '#domain/view.ts';
import type { OpenedOrder } from '#privacy/personal-data.ts';
import type { TicketPayload, TicketCodes } from '#tickets/signing.ts';
import type { OrderPorts } from '../../ports.ts';
import { formatMoment, formatTime } from '../../protocol/formats.ts';
import { toAmendmentBody } from './amendments.ts';
import type { OrderStatusBody, TicketBody } from './schema.ts';

export async function toOrderStatusBody(
  order: OrderView,
  { tickets, personalData }: OrderPorts,
): Promise<OrderStatusBody> {
  const [opened] = await Promise.all([personalData.open(order), prepareCodes(order, tickets)]);
  return { ...toStatusBody(order, opened), ...toTicketBodies(order, opened, tickets) };
}

/** The status of an order without its tickets. */
export function toStatusBody(
  order: OrderView,
  { customer, erasedAt }: OpenedOrder,
): Omit<OrderStatusBody, 'tickets' | 'ticket_objects'> {
  return {
    ...toOrderBody(order),
    payments: order.payments.map(toPaymentBody),
    refunds: order.refunds.map((refund) => toRefundBody(refund, order)),
    customer: { name: customer?.name ?? null, email: customer?.email ?? null },
    erased_at: formatMoment(erasedAt),
  };
}

export function toOrderBody(order: OrderView) {
  const { event } = order;
  return {
    order_id: order.id,
    number: numberOf(order.id),
    status: order.status,
    payment_status: order.paymentStatus,
    total_amount: order.totalCents,
    fees_amount: order.feesCents,
    goodwill_amount: order.goodwillCents,
    paid_amount: order.paidCents,
    remaining_amount: order.remainingCents,
    refund_due: order.refundDueCents,
    refund_pending: order.refundPendingCents,
    currency: order.currency,
    total_installments: order.installmentsCents.length,
    paid_installments: order.paidInstallments,
    ticket_count: order.ticketCount,
    next_after: order.ticketsNextAfter,
    event: {
      id: event.id,
      slug: event.slug,
      name: event.name,
      performances: event.performances.map(({ id, name, startsAt, endsAt, status }) => ({
        id,
        name,
        starts_at: formatMoment(startsAt),
        ends_at: formatMoment(endsAt),
        status,
      })),
    },
    discounts: order.discounts.map(({ code, itemIndex, amountCents }) => ({
      code,
      item_index: itemIndex,
      amount: amountCents,
    })),
    expires_at: formatMoment(order.expiresAt),
    amendments: order.amendments.map((amendment) => toAmendmentBody(amendment)),
  };
}

export function toPaymentBody(payment: PaymentView): OrderStatusBody['payments'][number] {
  const { id, installment, amendment, amountCents, currency, status, provider, createdAt, paidAt } = payment;
  return {
    id,
    installment,
    amendment_id: amendment?.id ?? null,
    amount: amountCents,
    currency,
    status,
    provider,
    created_at: formatTime(createdAt),
    paid_at: formatMoment(paidAt),
  };
}

export function toRefundBody(
  refund: RefundView,
  order: Pick<OrderView, 'currency'>,
): OrderStatusBody['refunds'][number] {
  const { id, amountCents, currency = order.currency, at, status = 'SUCCEEDED', finishedAt } = refund;
  // A refund that was only recorded has no status of its own: it had succeeded before.
  const isOpen = status === 'PENDING' || status === 'NEEDS_OPERATOR';
  return {
    id,
    amount: amountCents,
    currency,
    status,
    created_at: formatTime(at),
    finished_at: isOpen ? null : formatTime(finishedAt ?? at),
  };
}

export function toTicketBodies(
  order: OrderView,
  opened: OpenedOrder,
  tickets: TicketCodes,
): Pick<OrderStatusBody, 'tickets' | 'ticket_objects'> {
  return {
    tickets: order.tickets.map(({ id }) => id),
    ticket_objects: order.tickets.map((ticket) => toTicketBody(ticket, opened, order.event.id, tickets)),
  };
}

export function toTicketBody(
  ticket: TicketView,
  { attendees }: Pick<OpenedOrder, 'attendees'>,
  eventId: string,
  tickets: TicketCodes,
): TicketBody {
  const attendee = attendees[ticket.itemIndex]?.[ticket.offset];
  return {
    ...toNamelessTicketBody(ticket, eventId, tickets),
    attendee: attendee === undefined ? null : toAttendeeBody(attendee),
  };
}

/** A ticket without the person on it. */
export function toNamelessTicketBody(
  ticket: TicketView,
  eventId: string,
  tickets: TicketCodes,
): Omit<TicketBody, 'attendee'> {
  return {
    id: ticket.id,
    number: numberOf(ticket.id),
    valid: ticket.isValid,
    code: codeOf(ticket, eventId, tickets),
    ticket_type_id: ticket.ticketTypeId,
    performance_id: ticket.performanceId,
    section: ticket.section,
    row_label: ticket.rowLabel,
    seat_id: ticket.seatId,
    seat_label: ticket.seatLabel,
    unit: ticket.unit,
    replaces: ticket.replaces,
  };
}

/**
 * The signed code of a ticket of an event; a void ticket has none, because a station without a network could not tell
 * it from a valid one.
 */
export function codeOf(ticket: TicketView, eventId: string, tickets: TicketCodes): string | null {
  return ticket.isValid ? tickets.codeOf(claimsOf(ticket, eventId)) : null;
}

/** Has the codes of an order signed, so that they can be printed without a pause. */
export function prepareCodes(order: OrderView, tickets: TicketCodes): Promise<void> {
  return tickets.prepare(
    order.tickets.filter(({ isValid }) => isValid).map((ticket) => claimsOf(ticket, order.event.id)),
  );
}

export function claimsOf({ id, performanceId, seatId, ticketTypeId }: TicketView, eventId: string): TicketPayload {
  return { ticketId: id, eventId, performanceId, seatId, ticketTypeId };
}

export function toAttendeeBody({ name, email, documentNumber, phone }: Attendee) {
  return { name, email, document_number: documentNumber, phone };
}
