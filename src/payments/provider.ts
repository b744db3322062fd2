/**
 * The contract of a payment provider, implemented by `sandbox.ts` and `stripe.ts`.
 *
 * A provider opens the session on whose page the buyer pays, and reports by signed webhooks what became of it.
 *
 * 1. For the same payment a provider returns the same session as far as it can, so that a repeat after a crash or a time-out
 *    opens no second one.
 * 2. A report names a payment, a session, or both; either id contains the number of its event.
 */
import type { PaymentProviderName } from '#domain/catalogue/definition.ts';
import type { CommandOf } from '#domain/command.ts';

export interface SessionRequest {
  readonly orderId: string;
  /** Identifies a repeat (1). */
  readonly paymentId: string;
  readonly amountCents: number;
  readonly currency: string;
  /** Shown to the buyer on the provider's page. */
  readonly description: string;
  /** Opens the buyer's address, for a provider that asks for it; null once it was erased. */
  readonly customerEmail: () => Promise<string | null>;
  readonly successUrl: string;
  readonly cancelUrl: string;
  /** The end of the payment window; null for a further installment, which has none. */
  readonly expiresAt: number | null;
}

export interface CheckoutSession {
  readonly checkoutSessionId: string;
  readonly redirectUrl: string;
  /** When the provider closes the session; null when it does not say. */
  readonly expiresAt: number | null;
}

/** A webhook as it was received. */
export interface WebhookDelivery {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly rawBody: string;
}

/** What became of a session, with the fields of the command that records it. */
export type PaymentReport = { readonly of: 'PAYMENT' } & Omit<CommandOf<'RecordPayment'>, 'type' | 'provider'>;

/** Money that was given back at the provider. */
export interface RefundReport {
  readonly of: 'REFUND';
  readonly orderId: string;
  readonly amountCents: number;
  readonly currency: string | null;
  /** The provider's id of the refund; a repeat has the same. */
  readonly reference: string;
}

export type WebhookReading =
  | { readonly outcome: 'REPORT'; readonly report: PaymentReport | RefundReport }
  /** The signature is good; the webhook concerns no order. */
  | { readonly outcome: 'IGNORED' }
  /** The signature is bad or too old. */
  | { readonly outcome: 'UNTRUSTED' }
  /** The signature is good, the body is not as agreed; paths are JSON pointers into it. */
  | {
      readonly outcome: 'MALFORMED';
      readonly problems: readonly { readonly path: string; readonly message: string }[];
    };

export interface PaymentProvider {
  /** Opens the session of a payment (1). Rejects with ProviderUnavailable. */
  openSession(request: SessionRequest, signal: AbortSignal): Promise<CheckoutSession>;
  /**
   * Ends a session that no order can use any more; a session that is over already is no error. Rejects when the provider could
   * not be reached. Null for a provider whose sessions need not be ended.
   */
  readonly expireSession: ((checkoutSessionId: string, signal: AbortSignal) => Promise<void>) | null;
  /** Checks and reads a webhook; its timestamp must be close to one of the `moments`. */
  readWebhook(delivery: WebhookDelivery, moments: readonly number[]): WebhookReading;
}

export type PaymentProviders = Readonly<Record<PaymentProviderName, PaymentProvider>>;

export function isProviderName(name: string): name is PaymentProviderName {
  return name === 'provider_a' || name === 'provider_b';
}

/** The provider cannot be reached, answers wrongly or takes too long. The order stays and can be resumed. */
export class ProviderUnavailable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ProviderUnavailable';
  }
}

/** The largest difference between a webhook's timestamp and the clock. */
const WEBHOOK_SKEW_MS_MAX = 5 * 60 * 1000;

/** Whether a timestamp in whole seconds is close enough to one of the moments. */
export function isFresh(timestampSeconds: number, moments: readonly number[]): boolean {
  return moments.some((moment) => Math.abs(moment - timestampSeconds * 1000) <= WEBHOOK_SKEW_MS_MAX);
}
