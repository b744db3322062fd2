/**
 * The contract of a payment provider, implemented by `sandbox.ts` and `stripe.ts`.
 *
 * A provider opens the session on whose page the buyer pays, and reports by signed webhooks what became of it.
 *
 * 1. For the same payment a provider returns the same session as far as it can, so that a repeat after a crash or a
 *    time-out opens no second one.
 * 2. A refund is given back once for one key: a repeat gets the answer of the first.
 * 3. A report names a payment, a session, or both; either id contains the number of its event.
 */
import type { PaymentProviderName } from '#domain/catalogue/definition.ts';
import type { CommandOf, ProviderRefund, RefundAnswer, RefundRequest } from '#domain/command.ts';
import type { RefundFailure } from '#domain/fact.ts';
import type { EventFinder } from '#actors/event-port.ts';

export interface SessionRequest {
  readonly orderId: string;
  /** Identifies a repeat (rule 1). */
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

/** Money that was given back at the provider, or the status of a refund. */
export interface RefundReport {
  readonly of: 'REFUND';
  /** Null where the report names the session alone. */
  readonly orderId: string | null;
  readonly checkoutSessionId?: string | null;
  /** The refund of this service, where the report names it. */
  readonly refundId?: string | null;
  /** Absent: it was given back. */
  readonly status?: ProviderRefund['status'];
  readonly failure?: RefundFailure;
  readonly amountCents: number;
  readonly currency: string | null;
  /** The provider's id of the refund; a repeat has the same. Null where the report names none. */
  readonly reference: string | null;
  /** The provider's id of a report that names no refund. */
  readonly reportReference?: string;
}

export type WebhookResult =
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

/**
 * How a provider gives money back. Both functions reject with ProviderUnavailable; its `isRefusal` marks a refusal by
 * the provider.
 */
export interface ProviderRefunds {
  /** The refunds of the payment of a session, of those under way and those that failed as well. */
  listRefunds(checkoutSessionId: string, signal: AbortSignal): Promise<readonly ProviderRefund[]>;
  /** Gives money of a session back (rule 2). Rejects where no answer says whether the money goes back. */
  refund(request: RefundRequest, signal: AbortSignal): Promise<RefundAnswer>;
}

export interface PaymentProvider {
  /** Opens the session of a payment (rule 1). Rejects with ProviderUnavailable. */
  openSession(request: SessionRequest, signal: AbortSignal): Promise<CheckoutSession>;
  /**
   * Ends a session that no order can use any more; a session that is over already is no error. Rejects when the
   * provider could not be reached. Null for a provider whose sessions need not be ended.
   */
  readonly expireSession: ((checkoutSessionId: string, signal: AbortSignal) => Promise<void>) | null;
  /** Null for a provider that has no way to give money back. */
  readonly refunds: ProviderRefunds | null;
  /**
   * Checks and reads a webhook; its timestamp must be close to one of the `moments`. Rejects with ProviderUnavailable
   * where the provider has to be asked which order it concerns, and cannot be.
   */
  readWebhook(delivery: WebhookDelivery, moments: readonly number[]): WebhookResult | Promise<WebhookResult>;
}

export type PaymentProviders = Readonly<Record<PaymentProviderName, PaymentProvider>>;

export function isProviderName(name: string): name is PaymentProviderName {
  return name === 'provider_a' || name === 'provider_b';
}

/** The provider cannot be reached, answers wrongly or takes too long. The order stays and can be resumed. */
export class ProviderUnavailable extends Error {
  /** The provider was asked and does not accept such a payment; it may accept others. */
  readonly isRefusal: boolean;
  /** How the provider calls its refusal. */
  readonly code: string;
  constructor(message: string, cause?: unknown, isRefusal = false, code = 'REFUSED') {
    super(message, { cause });
    this.name = 'ProviderUnavailable';
    this.isRefusal = isRefusal;
    this.code = code;
  }
}

/** The largest difference between a webhook's timestamp and the clock. */
const WEBHOOK_SKEW_MS_MAX = 5 * 60 * 1000;

/** Whether a timestamp in whole seconds is close enough to one of the moments. */
export function isFresh(timestampSeconds: number, moments: readonly number[]): boolean {
  return moments.some((moment) => Math.abs(moment - timestampSeconds * 1000) <= WEBHOOK_SKEW_MS_MAX);
}

/** What was opened, or null when the provider cannot be reached. */
export async function unlessUnavailable<Opened>(opening: Promise<Opened>): Promise<Opened | null> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof ProviderUnavailable) return null;
    throw error;
  }
}

export type EventFinderPort = Pick<EventFinder, 'byId'>;

export interface PaymentClockPort {
  now(): number;
  /** How far the clock is ahead of the machine's. */
  readonly offsetMs: number;
  /** The time of the machine's clock. */
  machineNow(): number;
}
