/**
 * Stripe Checkout behind a provider name. The SDK is loaded only where Stripe is configured.
 *
 * Owns the translation both ways: a payment to a Checkout session, Stripe's events to the news of a session. Called by
 * `cashier.ts` and `webhooks.ts` through the contract in `provider.ts`.
 *
 * 1. Order and payment travel in `metadata` (and the order in `client_reference_id`): an event without them is another
 *    shop's on the same account and is ignored.
 * 2. A session lives at least 30 minutes at Stripe, so it may outlive the payment window; money that comes then is late money.
 * 3. The idempotency key names the payment and the session's end, because Stripe refuses a known key with other parameters,
 *    and after an error of Stripe's own the try, because Stripe would repeat that error under the same key.
 * 4. Stripe counts in units of its own (`stripe-amounts.ts`). Where an amount is not a whole number of them, the session is for the
 *    nearest one and its metadata has what was asked, so that the report of that session's money is one of what was asked.
 */
import { LRUCache } from 'lru-cache';
import type Stripe from 'stripe';
import { isFresh, ProviderUnavailable, type PaymentNews, type PaymentProvider } from './provider.ts';
import type { SessionRequest, WebhookDelivery, WebhookReading } from './provider.ts';
import { fromStripeAmount, toStripeAmount } from './stripe-amounts.ts';
import type { ClockPort } from './ports.ts';

export interface StripeSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  /** Where Stripe's API is; null for the real one. */
  readonly apiBase: string | null;
}

const MINUTE_MS = 60_000;
/** A session opened now lives longer than Stripe's 30 minutes by this much, for clocks that differ. */
const LIFE_MS_MIN = 31 * MINUTE_MS;
/** A further installment has no window of its own; just under Stripe's longest. */
const LIFE_MS_MAX = 23 * 60 * MINUTE_MS;
/** Ends fall on a grid, so that a repeat a little later asks for the same session (3). */
const END_GRID_MS = 5 * MINUTE_MS;

const CALL_MS_MAX = 9_000;
const RETRIES_MAX = 1;
const DESCRIPTION_LENGTH_MAX = 250;

/** Keys under which Stripe itself failed lately, whose errors it would repeat. */
const SPOILT_KEYS_MAX = 10_000;

/** Addresses that Stripe takes for sure; others the buyer types there. */
const PLAIN_EMAIL = /^[\w.+-]+@[\w-]+(\.[\w-]+)*\.[a-z]{2,}$/i;

/** Loads Stripe's SDK and stands it behind a provider name. */
export async function openStripe(
  settings: StripeSettings,
  clock: Pick<ClockPort, 'now' | 'machineNow'>,
): Promise<PaymentProvider> {
  const { Stripe: StripeClient } = await import('stripe');
  const stripe = new StripeClient(settings.secretKey, {
    ...addressOf(settings.apiBase),
    timeout: CALL_MS_MAX,
    maxNetworkRetries: RETRIES_MAX,
    telemetry: false,
    appInfo: { name: 'Holdfast' },
  });
  const spoiltTries = new LRUCache<string, number>({ max: SPOILT_KEYS_MAX });
  return {
    async openSession(request) {
      const leadMs = leadOf(clock);
      const endsAt = request.expiresAt === null ? null : request.expiresAt - leadMs;
      const expiresAt = endOfSession(endsAt, clock.now() - leadMs);
      const key = `${request.paymentId}-${expiresAt / 1000}`;
      const tries = spoiltTries.get(key) ?? 0;
      const options = { idempotencyKey: tries === 0 ? key : `${key}-${tries}` };
      const session = await stripe.checkout.sessions.create(sessionOf(request, expiresAt), options).catch((error) => {
        if (error instanceof StripeClient.errors.StripeAPIError) spoiltTries.set(key, tries + 1);
        return unavailable(error);
      });
      if (session.url === null) throw new ProviderUnavailable('Stripe gave the session no address');
      return { checkoutSessionId: session.id, redirectUrl: session.url, expiresAt: expiresAt + leadMs };
    },
    async expireSession(checkoutSessionId, signal) {
      const call = stripe.checkout.sessions.expire(checkoutSessionId).catch((error) => {
        // Stripe refuses to expire what is over, or what another account's key opened before this one.
        if (!(error instanceof StripeClient.errors.StripeInvalidRequestError)) throw error;
      });
      await orAborted(call, signal);
    },
    readWebhook(delivery, moments) {
      const event = verify(stripe, settings.webhookSecret, delivery, moments);
      return event === null ? { outcome: 'UNTRUSTED' } : readEvent(event);
    },
  };
}

function addressOf(apiBase: string | null): Pick<Stripe.StripeConfig, 'host' | 'port' | 'protocol'> {
  if (apiBase === null) return {};
  const { hostname, port, protocol } = new URL(apiBase);
  const scheme = protocol === 'http:' ? 'http' : 'https';
  return { host: hostname, port: port === '' ? (scheme === 'http' ? 80 : 443) : Number(port), protocol: scheme };
}

/** The SDK's calls take no signal; one that is left behind ends by its own time-out. */
function orAborted(call: Promise<unknown>, signal: AbortSignal): Promise<unknown> {
  const aborted = new Promise<never>((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([call, aborted]);
}

function unavailable(error: unknown): never {
  throw new ProviderUnavailable(`Stripe did not open a session: ${error instanceof Error ? error.message : ''}`, error);
}

// ── a payment as a session ───────────────────────────────────────────────────────────────────────────────────────────

/**
 * How far the service's clock is ahead of the one that Stripe's is like, in whole minutes: what is less is no difference, and
 * a repeat must ask for the same end (3).
 */
function leadOf(clock: Pick<ClockPort, 'now' | 'machineNow'>): number {
  return Math.round((clock.now() - clock.machineNow()) / MINUTE_MS) * MINUTE_MS;
}

/** When Stripe is to close the session: with the payment window, or as soon after it as Stripe allows (2). */
function endOfSession(windowEndsAt: number | null, now: number): number {
  const wanted = windowEndsAt ?? now + LIFE_MS_MAX;
  const soonest = Math.ceil((now + LIFE_MS_MIN) / END_GRID_MS) * END_GRID_MS;
  const end = Math.max(Math.min(wanted, now + LIFE_MS_MAX), soonest);
  return Math.ceil(end / 1000) * 1000;
}

function sessionOf(request: SessionRequest, expiresAt: number): Stripe.Checkout.SessionCreateParams {
  const { orderId, paymentId, amountCents, currency, description, customerEmail, successUrl, cancelUrl } = request;
  const unitAmount = toStripeAmount(amountCents, currency);
  const isExact = fromStripeAmount(unitAmount, currency) === amountCents;
  const asked = isExact ? {} : { asked_amount: String(amountCents) };
  const metadata = { order_id: orderId, payment_id: paymentId, ...asked };
  const product = { name: description.slice(0, DESCRIPTION_LENGTH_MAX) };
  return {
    mode: 'payment',
    client_reference_id: orderId,
    ...(PLAIN_EMAIL.test(customerEmail.trim()) && { customer_email: customerEmail.trim() }),
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

// ── an event as news ─────────────────────────────────────────────────────────────────────────────────────────────────

/** The event of a delivery whose signature holds and is fresh; null otherwise. */
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
    // The age was judged by the service's clock; the SDK knows only the machine's.
    return stripe.webhooks.constructEvent(rawBody, header, secret, 0);
  } catch {
    return null;
  }
}

/**
 * The one timestamp of a signature header, in seconds; null where there is none or several. The SDK signs with the last that it
 * finds, so that a header with two would be fresh by one and verified by the other.
 */
function timestampOf(header: string): number | null {
  const [first, ...others] = header.split(',').filter((part) => part.trim().startsWith('t='));
  const seconds = first === undefined || others.length > 0 ? null : /^t=(\d{1,12})$/.exec(first)?.[1];
  return seconds === null || seconds === undefined ? null : Number(seconds);
}

function readEvent(event: Stripe.Event): WebhookReading {
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
    default:
      return { outcome: 'IGNORED' };
  }
}

function paid(event: Stripe.Event, session: Stripe.Checkout.Session): WebhookReading {
  return paymentNews(session.metadata, {
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
): WebhookReading {
  return paymentNews(metadata, { outcome, checkoutSessionId, amountCents: null, currency: null, webhookId: event.id });
}

function paymentNews(metadata: Stripe.Metadata | null, news: Omit<PaymentNews, 'of' | 'paymentId'>): WebhookReading {
  const paymentId = metadata?.['payment_id'];
  return paymentId === undefined
    ? { outcome: 'IGNORED' }
    : { outcome: 'NEWS', news: { of: 'PAYMENT', paymentId, ...news } };
}

/** An amount of Stripe's in minor units; what the session was rounded to stands for what was asked (4). */
function minorAmount(
  amount: number | null,
  currency: string | null | undefined,
  metadata: Stripe.Metadata | null,
): number | null {
  const code = currencyOf(currency);
  if (amount === null || code === null) return amount;
  const asked = Number(metadata?.['asked_amount'] ?? Number.NaN);
  return toStripeAmount(asked, code) === amount ? asked : fromStripeAmount(amount, code);
}

/** Stripe writes currencies in lower case; null where an event names none. */
function currencyOf(currency: string | null | undefined): string | null {
  return currency?.toUpperCase() ?? null;
}

/** A charge counts what was given back so far; the event says what it was before. */
function refunded(event: Stripe.ChargeRefundedEvent): WebhookReading {
  const { metadata, amount_refunded: refundedSoFar, currency, refunds } = event.data.object;
  const refundedBefore = event.data.previous_attributes?.amount_refunded ?? 0;
  const inMinorUnits = (amount: number): number => minorAmount(amount, currency, metadata) ?? 0;
  const amountCents = inMinorUnits(refundedSoFar) - inMinorUnits(refundedBefore);
  const orderId = metadata['order_id'];
  if (orderId === undefined || amountCents <= 0) return { outcome: 'IGNORED' };
  // Where the event lists refunds, the newest is the first; its id is the one that operators see at Stripe.
  const latest = refunds?.data[0];
  const reference = latest?.amount === refundedSoFar - refundedBefore ? latest.id : event.id;
  return { outcome: 'NEWS', news: { of: 'REFUND', orderId, amountCents, currency: currencyOf(currency), reference } };
}
