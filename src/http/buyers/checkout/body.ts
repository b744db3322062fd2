/** Makes the command of a checkout request, and the body that answers its start. */
import type { Static } from 'typebox';
import type { CheckoutItemRequest, CommandOf } from '#domain/command.ts';
import type { IdempotencyKey } from '#domain/fact.ts';
import { forOrderTexts } from '#domain/order-texts.ts';
import type { Customer } from '#domain/personal.ts';
import type { OrderView, PaymentView } from '#domain/view.ts';
import { returnUrl } from '#payments/checkout-sessions.ts';
import { formatMoment, orderTextKeys } from '../../protocol/formats.ts';
import { readItem } from '../holds.ts';
import { readAttendee } from '../orders/people.ts';
import type { CheckoutItem, StartCheckoutBody, StartedCheckoutBody } from './schema.ts';

export function readStart(body: StartCheckoutBody, idempotency: IdempotencyKey | null): CommandOf<'StartCheckout'> {
  return {
    type: 'StartCheckout',
    holdId: body.hold_id ?? null,
    sessionKey: body.session_key ?? null,
    items: body.items?.map(readCheckoutItem) ?? null,
    customer: readCustomer(body.customer),
    acceptTerms: body.accept_terms === true,
    successUrl: body.success_url ?? null,
    cancelUrl: body.cancel_url ?? null,
    installmentCount: body.installment_count ?? 1,
    promoCode: body.promo_code ?? null,
    ...forOrderTexts((name) => body[orderTextKeys[name]] ?? null),
    tracking: body.tracking ?? null,
    queuePass: body.queue_pass ?? null,
    idempotency,
  };
}

export function readCustomer({ email, name, document_number, phone }: StartCheckoutBody['customer']): Customer {
  return { email, name, documentNumber: document_number ?? null, phone: phone ?? null };
}

export function readCheckoutItem(item: Static<typeof CheckoutItem>): CheckoutItemRequest {
  return {
    ...readItem(item),
    discountCode: item.discount_code ?? null,
    attendees: item.attendees?.map(readAttendee) ?? null,
    barPerks: (item.bar_perks ?? []).map(({ bar_perk_id: barPerkId, quantity }) => ({ barPerkId, quantity })),
  };
}

/**
 * The answer to a start and to a further payment. A further installment expires with its session, the payment of an
 * amendment with the amendment.
 */
export function toStartedBody(order: OrderView, payment: PaymentView | null, baseUrl: string): StartedCheckoutBody {
  const isFurther = payment !== null && payment.installment > 1;
  const amendment = payment?.amendment;
  const isPart = amendment !== undefined || order.installmentsCents.length > 1;
  return {
    order_id: order.id,
    payment_provider: order.paymentProvider,
    redirect_url: payment?.redirectUrl ?? returnUrl(order, (amendment ?? order).successUrl, baseUrl),
    total_amount: order.totalCents,
    ...(payment !== null && isPart && { amount_due: payment.amountCents }),
    currency: order.currency,
    checkout_session_id: payment?.checkoutSessionId ?? null,
    expires_at: formatMoment(amendment?.expiresAt ?? (isFurther ? payment.sessionExpiresAt : order.expiresAt)),
  };
}
