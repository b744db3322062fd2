/**
 * Refunds at Stripe: listed by the payment intent of a Checkout session, and created with the refund's id in
 * `metadata`.
 *
 * 1. A refusal of Stripe says that nothing was given back. An error inside Stripe, status 500, ends the request and is
 *    repeated for the same key, so it counts as answered. A call does not count as answered when it was cut off, found
 *    its key in use, or was answered by something before Stripe: the request may still be executed, under that key
 *    alone.
 */
import { LRUCache } from 'lru-cache';
import type Stripe from 'stripe';
import type { ProviderRefund, RefundAnswer } from '#domain/command.ts';
import type { RefundFailure } from '#domain/fact.ts';
import { ProviderUnavailable, type ProviderRefunds } from './provider.ts';
import { minorAmount, orAborted, toStripeAmount, withAskedAmount } from './stripe-amounts.ts';

/** Sessions whose payment intent is remembered. */
const INTENTS_MAX = 10_000;

/** Refunds of one payment that are read; Stripe itself allows no more in practice. */
const LISTED_MAX = 1_000;

/** The status of an error inside Stripe, kept under its key (rule 1). */
const ENDED_BY_ERROR = 500;

/** Stripe has a call under this key under way. */
const KEY_IN_USE = 'idempotency_key_in_use';

export interface StripeRefunds extends ProviderRefunds {
  /** What a payment carries; null where Stripe knows no such payment. Rejects with ProviderUnavailable. */
  metadataOf(payment: Stripe.Refund['payment_intent']): Promise<Stripe.Metadata | null>;
}

export function createStripeRefunds(stripe: Stripe, errors: typeof Stripe.errors): StripeRefunds {
  const intents = new LRUCache<string, string>({ max: INTENTS_MAX });

  const isRefusal = (error: unknown): error is Stripe.errors.StripeError =>
    (error instanceof errors.StripeInvalidRequestError ||
      error instanceof errors.StripeCardError ||
      error instanceof errors.StripeIdempotencyError) &&
    error.code !== KEY_IN_USE;

  /** The error that a call to Stripe rejects with. */
  const toFault = (error: unknown): ProviderUnavailable => {
    if (error instanceof ProviderUnavailable) return error;
    const refused = isRefusal(error) ? error : null;
    const message = `Stripe: ${error instanceof Error ? error.message : 'no answer'}`;
    return new ProviderUnavailable(message, error, refused !== null, refused?.code ?? refused?.rawType);
  };

  const intentOf = async (checkoutSessionId: string): Promise<string> => {
    const known = intents.get(checkoutSessionId);
    if (known !== undefined) return known;
    const { payment_intent: found } = await stripe.checkout.sessions.retrieve(checkoutSessionId);
    const intent = typeof found === 'string' ? found : found?.id;
    if (intent === undefined) {
      throw new ProviderUnavailable('Stripe has no payment of this session', undefined, true, 'PAYMENT_UNKNOWN');
    }
    intents.set(checkoutSessionId, intent);
    return intent;
  };

  return {
    async metadataOf(payment) {
      if (payment === null || typeof payment !== 'string') return payment?.metadata ?? null;
      const { metadata } = await stripe.paymentIntents.retrieve(payment).catch((error: unknown) => {
        if (isRefusal(error)) return { metadata: null };
        throw toFault(error);
      });
      return metadata;
    },
    async listRefunds(checkoutSessionId, signal) {
      const listing = intentOf(checkoutSessionId).then((intent) =>
        stripe.refunds.list({ payment_intent: intent, limit: 100 }).autoPagingToArray({ limit: LISTED_MAX }),
      );
      const refunds = await orAborted(listing, signal).catch((error: unknown) => Promise.reject(toFault(error)));
      return refunds.map(toProviderRefund);
    },
    async refund({ orderId, refundId, checkoutSessionId, amountCents, currency, key }, signal): Promise<RefundAnswer> {
      const metadata = withAskedAmount({ order_id: orderId, refund_id: refundId }, amountCents, currency);
      try {
        const intent = await orAborted(intentOf(checkoutSessionId), signal);
        const asked = { payment_intent: intent, amount: toStripeAmount(amountCents, currency), metadata };
        const call = stripe.refunds.create(asked, { idempotencyKey: key });
        const made = toProviderRefund(await orAborted(call, signal));
        const { reference, status, failure } = made;
        return { outcome: status, reference, amountCents: made.amountCents, ...(failure !== undefined && { failure }) };
      } catch (error) {
        if (error instanceof errors.StripeAPIError && error.statusCode === ENDED_BY_ERROR)
          return { outcome: 'UNCLEAR', isAnswered: true };
        throw toFault(error);
      }
    },
  };
}

/** A refund of Stripe in this service's words. */
export function toProviderRefund(refund: Stripe.Refund): ProviderRefund {
  const { id: reference, amount, currency, metadata, failure_reason: reason } = refund;
  const status = statusOf(refund);
  const failure: RefundFailure = {
    code: reason ?? refund.status ?? 'failed',
    message: `Stripe: ${reason ?? 'failed'}`,
  };
  return {
    reference,
    refundId: metadata?.['refund_id'] ?? null,
    amountCents: minorAmount(amount, currency, metadata) ?? 0,
    status,
    ...(status === 'FAILED' && { failure }),
  };
}

function statusOf({ status }: Stripe.Refund): ProviderRefund['status'] {
  if (status === 'succeeded') return 'SUCCEEDED';
  return status === 'failed' || status === 'canceled' ? 'FAILED' : 'PENDING';
}
