/**
 * The payment provider for Stripe Checkout. The SDK is loaded only when Stripe is configured.
 *
 * Owns the translation in both directions: a payment becomes a Checkout session, an event of Stripe becomes a report.
 *
 * 1. `metadata` names order and payment (`client_reference_id` the order too). An event without them belongs to another
 *    shop of the same account and is ignored.
 * 2. A session of Stripe stays open for at least 30 minutes, so it can outlast the payment window. Money that it takes
 *    then is late money.
 * 3. The idempotency key contains the payment and the end of the session, because Stripe refuses a known key with other
 *    parameters. After an error inside Stripe it also contains the number of the try, because Stripe would repeat that
 *    error for the same key.
 */
import { LRUCache } from 'lru-cache';
import type Stripe from 'stripe';
import {
  isFresh,
  ProviderUnavailable,
  type PaymentProvider,
  type PaymentReport,
  type SessionRequest,
  type WebhookDelivery,
  type WebhookResult,
  type PaymentClockPort,
} from './provider.ts';
import { currencyOf, minorAmount, orAborted, toStripeAmount, withAskedAmount } from './stripe-amounts.ts';
import { createStripeRefunds, toProviderRefund, type StripeRefunds } from './stripe-refunds.ts';

export interface StripeSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Address of Stripe's API; null for the real one. */
  readonly apiBase: string | null;
}

const MINUTE_MS = 60_000;
/** Stripe's 30 minutes and one more, because clocks differ. */
const LIFE_MS_MIN = 31 * MINUTE_MS;
/** Just under Stripe's maximum, for a further installment, which has no payment window. */
const LIFE_MS_MAX = 23 * 60 * MINUTE_MS;
/** Ends are rounded up to this, so that a repeat a little later asks for the same session (rule 3). */
const END_GRID_MS = 5 * MINUTE_MS;

const CALL_MS_MAX = 9_000;
const RETRIES_MAX = 1;
const DESCRIPTION_LENGTH_MAX = 250;

/** Keys for which Stripe itself failed, and would repeat its error. */
const FAILED_KEYS_MAX = 10_000;

/** Addresses that Stripe certainly accepts; a buyer with another one types it on Stripe's page. */
const PLAIN_EMAIL = /^[\w.+-]+@[\w-]+(\.[\w-]+)*\.[a-z]{2,}$/i;

export async function openStripe(
  settings: StripeSettings,
  clock: Pick<PaymentClockPort, 'now' | 'machineNow'>,
): Promise<PaymentProvider> {
  const { Stripe: StripeClient } = await import('stripe');
  const stripe = new StripeClient(settings.secretKey, {
    ...addressOf(settings.apiBase),
    timeout: CALL_MS_MAX,
    maxNetworkRetries: RETRIES_MAX,
    telemetry: false,
    appInfo: { name: 'Holdfast' },
  });
  const failedTries = new LRUCache<string, number>({ max: FAILED_KEYS_MAX });
  const refunds = createStripeRefunds(stripe, StripeClient.errors);
  return {
    async openSession(request) {
      const leadMs = leadOf(clock);
      const endsAt = request.expiresAt === null ? null : request.expiresAt - leadMs;
      const expiresAt = endOfSession(endsAt, clock.now() - leadMs);
      const key = `${request.paymentId}-${expiresAt / 1000}`;
      const tries = failedTries.get(key) ?? 0;
      const options = { idempotencyKey: tries === 0 ? key : `${key}-${tries}` };
      const params = sessionOf(request, await request.customerEmail(), expiresAt);
      const session = await stripe.checkout.sessions.create(params, options).catch((error) => {
        const { StripeAPIError, StripeInvalidRequestError, StripeIdempotencyError } = StripeClient.errors;
        if (error instanceof StripeAPIError) failedTries.set(key, tries + 1);
        const isRefused = error instanceof StripeInvalidRequestError || error instanceof StripeIdempotencyError;
        const message = `Stripe did not open a session: ${error instanceof Error ? error.message : ''}`;
        throw new ProviderUnavailable(message, error, isRefused);
      });
      if (session.url === null) throw new ProviderUnavailable('Stripe gave the session no address');
      return { checkoutSessionId: session.id, redirectUrl: session.url, expiresAt: expiresAt + leadMs };
    },
    async expireSession(checkoutSessionId, signal) {
      const call = stripe.checkout.sessions.expire(checkoutSessionId).catch((error) => {
        // Stripe refuses to expire a session that is over, or one that was opened with the key of another account.
        if (!(error instanceof StripeClient.errors.StripeInvalidRequestError)) throw error;
      });
      await orAborted(call, signal);
    },
    refunds,
    readWebhook(delivery, moments) {
      const event = verify(stripe, settings.webhookSecret, delivery, moments);
      return event === null ? { outcome: 'UNTRUSTED' } : readEvent(event, refunds.metadataOf);
    },
  };
}

function addressOf(apiBase: string | null): Pick<Stripe.StripeConfig, 'host' | 'port' | 'protocol'> {
  if (apiBase === null) return {};
  const { hostname, port, protocol } = new URL(apiBase);
  const scheme = protocol === 'http:' ? 'http' : 'https';
  return { host: hostname, port: port === '' ? (scheme === 'http' ? 80 : 443) : Number(port), protocol: scheme };
}

// ── a payment as a session ───────────────────────────────────────────────────────────────────────────────────────────

/**
 * How far the service's clock is ahead of the machine's, which Stripe's clock resembles, in whole minutes: a repeat
 * must ask for the same end (rule 3).
 */
function leadOf(clock: Pick<PaymentClockPort, 'now' | 'machineNow'>): number {
  return Math.round((clock.now() - clock.machineNow()) / MINUTE_MS) * MINUTE_MS;
}

/**
 * When Stripe shall close the session: at the end of the payment window, or as soon after it as Stripe allows (rule 2).
 */
function endOfSession(windowEndsAt: number | null, now: number): number {
  const wanted = windowEndsAt ?? now + LIFE_MS_MAX;
  const soonest = Math.ceil((now + LIFE_MS_MIN) / END_GRID_MS) * END_GRID_MS;
  const end = Math.max(Math.min(wanted, now + LIFE_MS_MAX), soonest);
  return Math.ceil(end / 1000) * 1000;
}

/** Stripe takes plain addresses alone; it asks the buyer itself where it is given none. */
function isPlainEmail(email: string | null): email is string {
  return email !== null && PLAIN_EMAIL.test(email.trim());
}

function sessionOf(
  request: SessionRequest,
  customerEmail: string | null,
  expiresAt: number,
): Stripe.Checkout.SessionCreateParams {
  const { orderId, paymentId, amountCents, currency, description, successUrl, cancelUrl } = request;
  const unitAmount = toStripeAmount(amountCents, currency);
  const metadata = withAskedAmount({ order_id: orderId, payment_id: paymentId }, amountCents, currency);
  const product = { name: description.slice(0, DESCRIPTION_LENGTH_MAX) };
  return {
    mode: 'payment',
    client_reference_id: orderId,
    ...(isPlainEmail(customerEmail) && { customer_email: customerEmail.trim() }),
    success_url: successUrl,
    cancel_url: cancelUrl,
    expires_at: expiresAt / 1000,
    line_items: [
      {
        quantity: 1,
        price_data: { currency: currency.toLowerCase(), unit_amount: unitAmount, product_data: product },
      },
    ],
    metadata,
    payment_intent_data: { metadata },
  };
}

// ── an event as a report ─────────────────────────────────────────────────────────────────────────────────────────────

/** The event of a delivery whose signature is good and fresh; null for another delivery. */
function verify(
  stripe: Stripe,
  secret: string,
  { headers, rawBody }: WebhookDelivery,
  moments: readonly number[],
): Stripe.Event | null {
  const header = headers['stripe-signature'];
  const signedAt = typeof header === 'string' ? timestampOf(header) : null;
  if (typeof header !== 'string' || signedAt === null || !isFresh(signedAt, moments)) return null;
  try {
    // The age was checked against the service's clock; the SDK would use the machine's.
    return stripe.webhooks.constructEvent(rawBody, header, secret, 0);
  } catch {
    return null;
  }
}

/**
 * The timestamp of a signature header, in seconds; null unless there is exactly one. The SDK verifies the last one that
 * it finds, so a header with two could be fresh by the first and verified by the second.
 */
function timestampOf(header: string): number | null {
  const [first, ...others] = header.split(',').filter((part) => part.trim().startsWith('t='));
  const seconds = first === undefined || others.length > 0 ? null : /^t=(\d{1,12})$/.exec(first)?.[1];
  return seconds === null || seconds === undefined ? null : Number(seconds);
}

function readEvent(
  event: Stripe.Event,
  metadataOf: StripeRefunds['metadataOf'],
): WebhookResult | Promise<WebhookResult> {
  switch (event.type) {
    case 'checkout.session.completed':
      return event.data.object.payment_status === 'paid' ? paid(event, event.data.object) : { outcome: 'IGNORED' };
    case 'checkout.session.async_payment_succeeded':
      return paid(event, event.data.object);
    case 'checkout.session.async_payment_failed':
      return closed(event, event.data.object, 'declined', event.data.object.id);
    case 'checkout.session.expired':
      return closed(event, event.data.object, 'expired', event.data.object.id);
    case 'payment_intent.payment_failed':
      return closed(event, event.data.object, 'declined', null);
    case 'charge.refunded':
      return refunded(event);
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
    case 'charge.refund.updated':
      return refundedAlone(event.data.object, metadataOf);
    default:
      return { outcome: 'IGNORED' };
  }
}

function paid(event: Stripe.Event, session: Stripe.Checkout.Session): WebhookResult {
  return paymentReport(session.metadata, {
    outcome: 'paid',
    checkoutSessionId: session.id,
    amountCents: minorAmount(session.amount_total, session.currency, session.metadata),
    currency: currencyOf(session.currency),
    webhookId: event.id,
  });
}

function closed(
  event: Stripe.Event,
  { metadata }: { readonly metadata: Stripe.Metadata | null },
  outcome: 'declined' | 'expired',
  checkoutSessionId: string | null,
): WebhookResult {
  return paymentReport(metadata, {
    outcome,
    checkoutSessionId,
    amountCents: null,
    currency: null,
    webhookId: event.id,
  });
}

function paymentReport(
  metadata: Stripe.Metadata | null,
  report: Omit<PaymentReport, 'of' | 'paymentId'>,
): WebhookResult {
  const paymentId = metadata?.['payment_id'];
  return paymentId === undefined
    ? { outcome: 'IGNORED' }
    : { outcome: 'REPORT', report: { of: 'PAYMENT', paymentId, ...report } };
}

/**
 * A charge has the sum of its refunds, and the refunds themselves only in older versions of the API. The event has the
 * previous sum.
 */
function refunded(event: Stripe.ChargeRefundedEvent): WebhookResult {
  const { metadata, amount_refunded: refundedSoFar, currency, refunds } = event.data.object;
  const refundedBefore = event.data.previous_attributes?.amount_refunded ?? 0;
  const inMinorUnits = (amount: number): number => minorAmount(amount, currency, metadata) ?? 0;
  const amountCents = inMinorUnits(refundedSoFar) - inMinorUnits(refundedBefore);
  const orderId = metadata['order_id'];
  if (orderId === undefined || amountCents <= 0) return { outcome: 'IGNORED' };
  // The first refund listed is the newest; operators see its id at Stripe.
  const latest = refunds?.data[0];
  const named =
    latest?.amount === refundedSoFar - refundedBefore
      ? { reference: latest.id, refundId: latest.metadata?.['refund_id'] ?? null, ...statusAt(latest) }
      : { reference: null, reportReference: event.id };
  return {
    outcome: 'REPORT',
    report: { of: 'REFUND', orderId, amountCents, currency: currencyOf(currency), ...named },
  };
}

/** Older versions of the API do not say it of the refunds of a charge. */
const statusAt = (refund: Stripe.Refund) => refund.status != null && { status: toProviderRefund(refund).status };

/**
 * The report of one refund, whose metadata names the order. A refund that was made on Stripe's page names none: the
 * event of its charge reports the money that it gave back. Where such a refund fails, the metadata of its payment names
 * the order.
 */
async function refundedAlone(refund: Stripe.Refund, metadataOf: StripeRefunds['metadataOf']): Promise<WebhookResult> {
  const isNamed = refund.metadata?.['order_id'] !== undefined;
  const isLost = !isNamed && toProviderRefund(refund).status === 'FAILED';
  const metadata = isLost ? await metadataOf(refund.payment_intent) : refund.metadata;
  const orderId = metadata?.['order_id'];
  const { reference, refundId, amountCents, status, failure } = toProviderRefund({ ...refund, metadata });
  if (orderId === undefined || amountCents <= 0) return { outcome: 'IGNORED' };
  const said = { orderId, refundId, reference, amountCents, status, ...(failure !== undefined && { failure }) };
  return { outcome: 'REPORT', report: { of: 'REFUND', currency: currencyOf(refund.currency), ...said } };
}
