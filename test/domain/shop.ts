/**
 * An event with something of everything that a checkout can meet, and short words for what buyers and providers do.
 *
 * Two dates; a floor for 20 where adults and groups of four stand (beer and glasses for adults), a hall of two rows of six, and
 * guests who pay nothing.
 */
import assert from 'node:assert/strict';
import type { CheckoutItemRequest, Command, CommandOf, ItemRequest, ReplyTo } from '#domain/command.ts';
import type { EventDefinition, PromoCodeDefinition } from '#domain/catalogue.ts';
import type { OrderView, PaymentView } from '#domain/views.ts';
import { EVENT_NUMBER, given, START, type Desk } from './office.ts';
import { eventOf, hall, stage, ticketType } from './stock-fixtures.ts';

export { EVENT_NUMBER, START };

export const anna = { email: 'anna@example.org', name: 'Anna', documentNumber: null, phone: null };

export const visitor = (name: string) => ({ name, email: null, documentNumber: null, phone: null });

export function code(text: string, more: Partial<PromoCodeDefinition>): PromoCodeDefinition {
  const unlimited = { percentOff: null, amountOff: null, maxUses: null, ticketTypeIds: null };
  return { code: text, ...unlimited, startsAt: null, endsAt: null, ...more };
}

const date = (id: string, sortOrder: number) =>
  ({ id, name: id, startsAt: START + 1e9, endsAt: START + 2e9, status: 'ON_SALE', sortOrder }) as const;

export const bothDates = [date('d1', 0), date('d2', 1)];

export function shopEvent(more: Partial<EventDefinition> = {}): EventDefinition {
  const floor = { id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 20 } as const;
  const beer = { id: 'beer', name: 'Beer', price: 500, stock: 5, maxPerTicket: 2 };
  const glass = { id: 'glass', name: 'Glass', price: 100, stock: null, maxPerTicket: null };
  const types = [
    ticketType('adult', 'floor', { barPerks: [beer, glass] }),
    ticketType('group', 'floor', { groupSize: 4 }),
    ticketType('guest', 'floor'),
    ticketType('seat', 'hall'),
  ];
  const prices = { adult: 1000, group: 3000, guest: 0, seat: 2599 };
  const promoCodes = [
    code('TENTH', { percentOff: 10 }),
    code('THIRD', { percentOff: 33.3 }),
    code('FIVE', { amountOff: 500 }),
    code('ALL', { percentOff: 100 }),
    code('ONCE', { percentOff: 50, maxUses: 1 }),
    code('SEATS', { percentOff: 50, ticketTypeIds: ['seat'] }),
    code('OVER', { percentOff: 50, endsAt: START }),
  ];
  const event = eventOf([floor, hall(['......', '......'])], types, [stage('general', prices)], {
    paymentMinutes: 30,
    maxInstallments: 3,
    performances: bothDates,
    promoCodes,
  });
  return { ...event, ...more };
}

/** The shop, open, with changes to its definition. */
export function openShop(more: Partial<EventDefinition> = {}): Desk {
  return given(shopEvent(more));
}

/** An item on date d1 in the only stage. */
export function item(
  ticketTypeId: string,
  quantity: number,
  more: Partial<CheckoutItemRequest> = {},
): CheckoutItemRequest {
  const where = { performanceId: 'd1', sellingStageId: 'general', seatIds: null };
  return { ticketTypeId, quantity, ...where, discountCode: null, attendees: null, barPerks: [], ...more };
}

type Start = CommandOf<'StartCheckout'>;

export function start(more: Partial<Start>): Start {
  return {
    type: 'StartCheckout',
    holdId: null,
    sessionKey: null,
    items: null,
    customer: anna,
    acceptTerms: true,
    successUrl: null,
    cancelUrl: null,
    installmentCount: 1,
    promoCode: null,
    promoterCode: null,
    referralCode: null,
    tracking: null,
    queuePass: null,
    idempotency: null,
    ...more,
  };
}

export function buy(items: readonly CheckoutItemRequest[], more: Partial<Start> = {}): Start {
  return start({ items, ...more });
}

export function placeHold(desk: Desk, items: readonly ItemRequest[], sessionKey = 'session-1'): string {
  const { hold } = desk.do({ type: 'PlaceHold', sessionKey, items, queuePass: null, idempotency: null });
  return hold.id;
}

/** Starts a checkout and opens the provider's session for it. */
export function checkOut(desk: Desk, command: Start): ReplyTo<'StartCheckout'> {
  const started = desk.do(command);
  if (started.payment !== null) openSession(desk, started.order, started.payment);
  return started;
}

export const sessionOf = ({ id }: PaymentView): string => `cs_of_${id}`;

export function openSession(desk: Desk, order: OrderView, payment: PaymentView): PaymentView {
  const reply = desk.do({
    type: 'RecordCheckoutSession',
    orderId: order.id,
    paymentId: payment.id,
    checkoutSessionId: sessionOf(payment),
    redirectUrl: `https://pay.example/${payment.id}`,
    expiresAt: null,
  });
  return reply.payment;
}

/** A provider's report on a payment, with the sum that was asked unless another is given. */
export function report(
  payment: PaymentView,
  outcome: CommandOf<'RecordPayment'>['outcome'],
  more: Partial<CommandOf<'RecordPayment'>> = {},
): CommandOf<'RecordPayment'> {
  const { amountCents, currency } = payment;
  const checkoutSessionId = sessionOf(payment);
  const provider = payment.provider === 'provider_b' ? 'provider_b' : 'provider_a';
  const sum = { provider, amountCents, currency, paymentId: null, webhookId: null } as const;
  return { type: 'RecordPayment', checkoutSessionId, outcome, ...sum, ...more };
}

/** Reports it and returns the order as it is then. */
export function tell(desk: Desk, command: CommandOf<'RecordPayment'>): OrderView {
  const { order } = desk.do(command);
  assert.ok(order !== null);
  return order;
}

/** The payment that a started checkout or an opened payment asks for. */
export function paymentOf({ payment }: { readonly payment: PaymentView | null }): PaymentView {
  assert.ok(payment !== null);
  return payment;
}

/** An operator's note of money given back. */
export function refundNote(
  orderId: string,
  amountCents: number,
  more: Partial<CommandOf<'RecordRefund'>> = {},
): CommandOf<'RecordRefund'> {
  const note = { operator: 'olga', note: 'cash', currency: null, reference: null, provider: null } as const;
  return { type: 'RecordRefund', orderId, amountCents, ...note, ...more };
}

export const cancelByOperator = (orderId: string): Command => ({
  type: 'CancelOrder',
  orderId,
  operator: 'olga',
  note: null,
});
