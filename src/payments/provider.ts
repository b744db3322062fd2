/**
 * The contract of a payment provider, kept by `sandbox.ts` and `stripe.ts`.
 *
 * A provider is asked for a session that the buyer is sent to, and reports by signed webhooks what became of it. It knows no
 * box office: `cashier.ts` asks it, `webhooks.ts` carries its reports on.
 *
 * 1. Asked again for the same payment, a provider answers the same session as far as it can, so that a repeat after a crash
 *    or a time-out opens no second one.
 * 2. A report names our payment, our session, or both; both carry the number of their event.
 */
import type { PaymentProviderName } from '#domain/catalogue.ts';
import type { CommandOf } from '#domain/command.ts';

export interface SessionRequest {
  readonly orderId: string;
  /** The key under which a repeat is recognized (1). */
  readonly paymentId: string;
  readonly amountCents: number;
  readonly currency: string;
  /** What the buyer reads on the provider's page. */
  readonly description: string;
  readonly customerEmail: string;
  readonly successUrl: string;
  readonly cancelUrl: string;
  /** The end of the payment window; null for a further installment, which has none. */
  readonly expiresAt: number | null;
}

export interface CheckoutSession {
  readonly checkoutSessionId: string;
  readonly redirectUrl: string;
  /** When the provider closes the session; null where it does not say. */
  readonly expiresAt: number | null;
}

/** A webhook as it came. */
export interface WebhookDelivery {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly rawBody: string;
}

/** What a session came to, in the words of the command that records it. */
export type PaymentNews = { readonly of: 'PAYMENT' } & Omit<CommandOf<'RecordPayment'>, 'type' | 'provider'>;

/** Money that was given back at the provider. */
export interface RefundNews {
  readonly of: 'REFUND';
  readonly orderId: string;
  readonly amountCents: number;
  readonly currency: string | null;
  /** How the provider calls the refund; a repeat has the same. */
  readonly reference: string;
}

export type WebhookReading =
  | { readonly outcome: 'NEWS'; readonly news: PaymentNews | RefundNews }
  /** Well signed, and nothing that concerns an order. */
  | { readonly outcome: 'IGNORED' }
  /** Badly signed, or signed too long ago. */
  | { readonly outcome: 'UNTRUSTED' }
  /** Well signed, and not what was agreed on; paths are JSON pointers into the body. */
  | {
      readonly outcome: 'MALFORMED';
      readonly problems: readonly { readonly path: string; readonly message: string }[];
    };

export interface PaymentProvider {
  /** Opens the session of a payment (1). Rejects with ProviderUnavailable. */
  openSession(request: SessionRequest, signal: AbortSignal): Promise<CheckoutSession>;
  /**
   * Ends a session that no order can use any more; one that is over already is as good. Rejects when the provider could not be asked.
   * Null where nothing need be asked, because a session ends with its order.
   */
  readonly expireSession: ((checkoutSessionId: string, signal: AbortSignal) => Promise<void>) | null;
  /** Judges and reads a webhook; `moments` are the clocks that its timestamp may go by. */
  readWebhook(delivery: WebhookDelivery, moments: readonly number[]): WebhookReading;
}

export type PaymentProviders = Readonly<Record<PaymentProviderName, PaymentProvider>>;

export function isProviderName(name: string): name is PaymentProviderName {
  return name === 'provider_a' || name === 'provider_b';
}

/** The provider cannot be reached, answers nonsense or takes too long; the order stands and can be resumed. */
export class ProviderUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ProviderUnavailable';
  }
}

/** How far the timestamp of a webhook may be off. */
const WEBHOOK_SKEW_MS_MAX = 5 * 60 * 1000;

/** Whether a timestamp in whole seconds is near enough to one of the moments. */
export function isFresh(timestampSeconds: number, moments: readonly number[]): boolean {
  return moments.some((moment) => Math.abs(moment - timestampSeconds * 1000) <= WEBHOOK_SKEW_MS_MAX);
}
