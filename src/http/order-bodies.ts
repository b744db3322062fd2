/**
 * Translates between the domain's orders and the API's bodies: the request of a checkout to its command, orders and tickets to JSON.
 *
 * What the public sees of an order is decided here: of the buyer only name and address, and no codes of attribution. Personal data
 * comes opened, for one answer; of an order that was erased every field about a person is null.
 */
import type { IdempotencyMark } from '#domain/fact.ts';
import type { OpenedOrder } from '#actors/personal-data.ts';
import type { Attendee } from '#domain/personal.ts';
import type { CheckoutItemRequest, CommandOf } from '#domain/command.ts';
import type { IssuedTicketView, NamedView, OrderItemView, OrderView, PaymentView, TicketView } from '#domain/views.ts';
import { returnUrl } from '#payments/checkout-sessions.ts';
import type { TicketClaims, TicketSigner } from '#tickets/signing.ts';
import { readItem } from './bodies.ts';
import { formatMoment, formatTime } from './formats.ts';
import type { OrderPorts } from './ports.ts';
import type { StartCheckoutBody, StartedCheckoutBody } from './schemas/checkout.ts';
import type { AdminOrderBody, AdminTicketBody, OrderStatusBody, TicketBody } from './schemas/orders.ts';

// ── a request to start a checkout ────────────────────────────────────────────────────────────────────────────────────

export function readStart(body: StartCheckoutBody, idempotency: IdempotencyMark | null): CommandOf<'StartCheckout'> {
  const { email, name, document_number: documentNumber, phone } = body.customer;
  return {
    type: 'StartCheckout',
    holdId: body.hold_id ?? null,
    sessionKey: body.session_key ?? null,
    items: body.items?.map(readCheckoutItem) ?? null,
    customer: { email, name, documentNumber: documentNumber ?? null, phone: phone ?? null },
    acceptTerms: body.accept_terms === true,
    successUrl: body.success_url ?? null,
    cancelUrl: body.cancel_url ?? null,
    installmentCount: body.installment_count ?? 1,
    promoCode: body.promo_code ?? null,
    promoterCode: body.promoter_code ?? null,
    referralCode: body.referral_code ?? null,
    tracking: body.tracking ?? null,
    queuePass: body.queue_pass ?? null,
    idempotency,
  };
}

function readCheckoutItem(item: NonNullable<StartCheckoutBody['items']>[number]): CheckoutItemRequest {
  return {
    ...readItem(item),
    discountCode: item.discount_code ?? null,
    attendees:
      item.attendees?.map(({ name, email, document_number, phone }) => ({
        name,
        email: email ?? null,
        documentNumber: document_number ?? null,
        phone: phone ?? null,
      })) ?? null,
    barPerks: (item.bar_perks ?? []).map(({ bar_perk_id: barPerkId, quantity }) => ({ barPerkId, quantity })),
  };
}

// ── what a checkout answers ──────────────────────────────────────────────────────────────────────────────────────────

/** The answer to a start, and to a further payment; the window of a further installment is its session's. */
export function toStartedBody(order: OrderView, payment: PaymentView | null, baseUrl: string): StartedCheckoutBody {
  const isFurther = payment !== null && payment.installment > 1;
  return {
    order_id: order.id,
    payment_provider: order.paymentProvider,
    redirect_url: payment?.redirectUrl ?? returnUrl(order, order.successUrl, baseUrl),
    total_amount: order.totalCents,
    currency: order.currency,
    checkout_session_id: payment?.checkoutSessionId ?? null,
    expires_at: formatMoment(isFurther ? payment.sessionExpiresAt : order.expiresAt),
  };
}

// ── orders ───────────────────────────────────────────────────────────────────────────────────────────────────────────

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
    customer: { name: customer?.name ?? null, email: customer?.email ?? null },
    erased_at: formatMoment(erasedAt),
  };
}

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
    orders.map((order, place) => ({ order, opened: opened[place]! })),
    tickets,
  );
}

/** Orders whose personal data were opened for this answer. */
export async function toOpenedAdminBodies(
  found: readonly { readonly order: OrderView; readonly opened: OpenedOrder }[],
  tickets: OrderPorts['tickets'],
): Promise<AdminOrderBody[]> {
  const bodies: AdminOrderBody[] = [];
  for (const { order, opened } of found) {
    await prepareCodes(order, tickets);
    bodies.push(toOpenedAdminBody(order, opened, tickets));
  }
  return bodies;
}

function toOpenedAdminBody(order: OrderView, opened: OpenedOrder, tickets: TicketSigner): AdminOrderBody {
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
    items: order.items.map((item, index) => toOrderItemBody(order, item, attendees[index] ?? null)),
    payments: order.payments.map((payment) => ({
      ...toPaymentBody(payment),
      checkout_session_id: payment.checkoutSessionId,
      session_expires_at: formatMoment(payment.sessionExpiresAt),
    })),
    refunds_due: order.refundsDue.map(({ amountCents: amount, currency }) => ({ amount, currency })),
    refunds: order.refunds.map((refund, place) => ({
      id: refund.id,
      amount: refund.amountCents,
      currency: refund.currency ?? order.currency,
      reference: refund.reference ?? null,
      provider: refund.provider ?? null,
      note: opened.refundNotes[place] ?? null,
      created_at: formatTime(refund.at),
    })),
    promo_code: order.promoCode,
    promoter_code: order.promoterCode,
    referral_code: order.referralCode,
    tracking: tracking === null ? null : { ...tracking },
    success_url: order.successUrl,
    cancel_url: order.cancelUrl,
    cancelled_by: cancellation?.cause ?? null,
    cancelled_at: formatMoment(cancellation?.at ?? null),
    cancellation_note: opened.cancellationNote,
  };
}

function toOrderBody(order: OrderView) {
  const { event } = order;
  return {
    order_id: order.id,
    status: order.status,
    payment_status: order.paymentStatus,
    total_amount: order.totalCents,
    paid_amount: order.paidCents,
    remaining_amount: order.remainingCents,
    refund_due: order.refundDueCents,
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
  };
}

function toPaymentBody(payment: PaymentView): OrderStatusBody['payments'][number] {
  const { id, installment, amountCents, currency, status, provider, createdAt, paidAt } = payment;
  return {
    id,
    installment,
    amount: amountCents,
    currency,
    status,
    provider,
    created_at: formatTime(createdAt),
    paid_at: formatMoment(paidAt),
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

/** What the definition has no more is shown by its id. */
function nameOf(names: readonly NamedView[], id: string): string {
  return names.find((named) => named.id === id)?.name ?? id;
}

// ── tickets ──────────────────────────────────────────────────────────────────────────────────────────────────────────

export function toAdminTicketBody(
  issued: IssuedTicketView,
  opened: OpenedOrder,
  tickets: TicketSigner,
): AdminTicketBody {
  const { ticket, eventId, orderId, voidReason } = issued;
  return {
    ...toTicketBody(ticket, opened, eventId, tickets),
    event_id: eventId,
    order_id: orderId,
    void_reason: voidReason,
  };
}

function toTicketBodies(
  order: OrderView,
  opened: OpenedOrder,
  tickets: TicketSigner,
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
  tickets: TicketSigner,
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
  tickets: TicketSigner,
): Omit<TicketBody, 'attendee'> {
  return {
    id: ticket.id,
    valid: ticket.isValid,
    code: codeOf(ticket, eventId, tickets),
    ticket_type_id: ticket.ticketTypeId,
    performance_id: ticket.performanceId,
    section: ticket.section,
    row_label: ticket.rowLabel,
    seat_id: ticket.seatId,
    seat_label: ticket.seatLabel,
  };
}

/** The signed code of a ticket of an event; a void one has none, because nobody without a network could tell it from a good one. */
export function codeOf(ticket: TicketView, eventId: string, tickets: TicketSigner): string | null {
  return ticket.isValid ? tickets.codeOf(claimsOf(ticket, eventId)) : null;
}

/** Has the codes of an order signed, so that they can be printed without a pause. */
export function prepareCodes(order: OrderView, tickets: TicketSigner): Promise<void> {
  return tickets.prepare(
    order.tickets.filter(({ isValid }) => isValid).map((ticket) => claimsOf(ticket, order.event.id)),
  );
}

export function claimsOf({ id, performanceId, seatId }: TicketView, eventId: string): TicketClaims {
  return { ticketId: id, eventId, performanceId, seatId };
}

function toCustomerBody(customer: OpenedOrder['customer']): AdminOrderBody['customer'] {
  if (customer === null) return { name: null, email: null, document_number: null, phone: null };
  return toAttendeeBody(customer);
}

export function toAttendeeBody({ name, email, documentNumber, phone }: Attendee) {
  return { name, email, document_number: documentNumber, phone };
}
