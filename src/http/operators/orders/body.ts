/** Orders and tickets with everything on them, in the API's names. */
import type { Attendee } from '#domain/personal.ts';
import type {
  IssuedTicketView,
  IdAndName,
  OrderItemView,
  OrderView,
  RefundView,
  TicketScanView,
} from '#domain/view.ts';
import { peopleOfItem, type OpenedOrder } from '#privacy/personal-data.ts';
import type { TicketCodes } from '#tickets/signing.ts';
import { toAmendmentBody } from '../../buyers/orders/amendments.ts';
import {
  prepareCodes,
  toAttendeeBody,
  toOrderBody,
  toPaymentBody,
  toRefundBody,
  toTicketBodies,
  toTicketBody,
} from '../../buyers/orders/body.ts';
import type { OrderPorts } from '../../ports.ts';
import { formatMoment, formatTime, orderTextFields } from '../../protocol/formats.ts';
import type { AdminOrderBody, AdminTicketBody, TicketScanBody } from './schema.ts';

export async function toAdminOrderBody(order: OrderView, ports: OrderPorts): Promise<AdminOrderBody> {
  const [body] = await toAdminOrderBodies([order], ports);
  return body!;
}

/** Several orders, their personal data opened together. */
export async function toAdminOrderBodies(
  orders: readonly OrderView[],
  { tickets, personalData }: OrderPorts,
): Promise<AdminOrderBody[]> {
  const opened = await personalData.openAll(orders);
  return toOpenedAdminBodies(
    orders.map((order, index) => ({ order, opened: opened[index]! })),
    tickets,
  );
}

/** Orders whose personal data were opened for this answer. */
export async function toOpenedAdminBodies(
  found: readonly { readonly order: OrderView; readonly opened: OpenedOrder }[],
  tickets: TicketCodes,
): Promise<AdminOrderBody[]> {
  const bodies: AdminOrderBody[] = [];
  for (const { order, opened } of found) {
    await prepareCodes(order, tickets);
    bodies.push(toOpenedAdminBody(order, opened, tickets));
  }
  return bodies;
}

function toOpenedAdminBody(order: OrderView, opened: OpenedOrder, tickets: TicketCodes): AdminOrderBody {
  const { customer, attendees, tracking } = opened;
  const { cancellation } = order;
  return {
    ...toOrderBody(order),
    ...toTicketBodies(order, opened, tickets),
    placed_at: formatTime(order.placedAt),
    payment_provider: order.paymentProvider,
    refunded_amount: order.refundedCents,
    customer: toCustomerBody(customer),
    personal_data: opened.state,
    erased_at: formatMoment(opened.erasedAt),
    erased_by: order.personal.erasure?.operator ?? null,
    items: order.items.map((item, index) => toOrderItemBody(order, item, peopleOfItem(order, index, attendees))),
    payments: order.payments.map((payment) => ({
      ...toPaymentBody(payment),
      checkout_session_id: payment.checkoutSessionId,
      session_expires_at: formatMoment(payment.sessionExpiresAt),
    })),
    refunds_due: order.refundsDue.map(({ amountCents: amount, currency }) => ({ amount, currency })),
    refunds: order.refunds.map((refund, index) => ({
      ...toRefundDetails(refund, order),
      note: opened.refundNotes[index] ?? null,
    })),
    amendments: order.amendments.map((amendment, index) => ({
      ...toAmendmentBody(amendment),
      note: opened.amendmentNotes[index] ?? null,
    })),
    promo_code: order.promoCode,
    ...orderTextFields((name) => order[name] ?? null),
    tracking: tracking === null ? null : { ...tracking },
    success_url: order.successUrl,
    cancel_url: order.cancelUrl,
    counter: order.counter && {
      operator: order.counter.operator,
      note: opened.counterNote,
      exceeds_limits: order.counter.exceedsLimits === true,
    },
    cancelled_by: cancellation?.cause ?? null,
    cancelled_at: formatMoment(cancellation?.at ?? null),
    cancellation_note: opened.cancellationNote,
    void_tickets: order.voidTickets.map((ticket) => ({
      ...toTicketBody(ticket, opened, order.event.id, tickets),
      void_reason: ticket.voidReason,
    })),
  };
}

/** A refund as operators see it, without its note. */
export function toRefundDetails(refund: RefundView, order: Pick<OrderView, 'currency'>) {
  return {
    ...toRefundBody(refund, order),
    payment_id: refund.paymentId ?? null,
    amendment_id: refund.amendmentId ?? null,
    failure: refund.failure ?? null,
    tries: refund.tries ?? 0,
    next_try_at: formatMoment(refund.nextTryAt ?? null),
    reference: refund.reference ?? null,
    provider: refund.provider ?? null,
  };
}

function toOrderItemBody(
  { ticketTypes, barPerks }: OrderView,
  item: OrderItemView,
  attendees: readonly Attendee[] | null,
): AdminOrderBody['items'][number] {
  return {
    ticket_type_id: item.ticketTypeId,
    ticket_type_name: nameOf(ticketTypes, item.ticketTypeId),
    selling_stage_id: item.sellingStageId,
    performance_id: item.performanceId,
    quantity: item.quantity,
    ticket_count: item.ticketCount,
    unit_price: item.unitPriceCents,
    seat_ids: [...item.seatIds],
    attendees: (attendees ?? []).map(toAttendeeBody),
    discount_code: item.discountCode,
    discount_amount: item.discountCents + item.promoDiscountCents,
    bar_perks: item.barPerks.map(({ barPerkId, quantity, unitPriceCents }) => ({
      bar_perk_id: barPerkId,
      name: nameOf(barPerks, barPerkId),
      quantity,
      unit_price: unitPriceCents,
    })),
  };
}

/** What is no longer in the definition is shown by its id. */
function nameOf(names: readonly IdAndName[], id: string): string {
  return names.find((named) => named.id === id)?.name ?? id;
}

export function toAdminTicketBody(
  issued: IssuedTicketView,
  opened: OpenedOrder,
  tickets: TicketCodes,
): AdminTicketBody {
  const { ticket, eventId, orderId, voidReason, scans } = issued;
  return {
    ...toTicketBody(ticket, opened, eventId, tickets),
    event_id: eventId,
    order_id: orderId,
    void_reason: voidReason,
    scans: toTicketScanBodies(scans, opened),
  };
}

/** The scans of a ticket with the notes that were opened with them. */
export function toTicketScanBodies(
  scans: readonly TicketScanView[],
  { scanNotes }: Pick<OpenedOrder, 'scanNotes'>,
): TicketScanBody[] {
  return scans.map((scan, index) => ({
    id: scan.scanId,
    kind: scan.kind,
    verdict: scan.verdict,
    given: scan.given,
    at: formatTime(scan.at),
    received_at: formatTime(scan.receivedAt),
    performance_id: scan.performanceId,
    door_id: scan.doorId,
    door_name: scan.doorName,
    station_id: scan.stationId,
    station_name: scan.stationName,
    offline: scan.offline,
    undone: scan.isUndone,
    operator: scan.operator,
    note: scanNotes[index]?.note ?? null,
    undone_by_hand: scan.undoneBy && {
      operator: scan.undoneBy.operator,
      note: scanNotes[index]?.undoneNote ?? null,
    },
  }));
}

function toCustomerBody(customer: OpenedOrder['customer']): AdminOrderBody['customer'] {
  if (customer === null) return { name: null, email: null, document_number: null, phone: null };
  return toAttendeeBody(customer);
}
