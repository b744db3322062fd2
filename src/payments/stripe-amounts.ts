/**
 * Amounts as Stripe counts them, and calls of its SDK.
 *
 * 1. Stripe counts some currencies in units of its own. An amount that is not a whole number of them is rounded for
 *    Stripe; `metadata` keeps the requested amount, and Stripe's amount is read as the requested one.
 */
import type Stripe from 'stripe';
import { decimalPlaces } from '#client/money.ts';

/** Calls of the SDK take no signal; an abandoned one ends by its own time-out. */
export function orAborted<Result>(call: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = new Promise<never>((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  return Promise.race([call, aborted]);
}

/** The metadata, with the amount that was asked where Stripe's is another (rule 1). */
export function withAskedAmount(metadata: Record<string, string>, amountCents: number, currency: string) {
  const isExact = fromStripeAmount(toStripeAmount(amountCents, currency), currency) === amountCents;
  return isExact ? metadata : { ...metadata, asked_amount: String(amountCents) };
}

/** Stripe's amount in minor units; the rounded amount of a session counts as the amount that was asked (rule 1). */
export function minorAmount(
  amount: number | null,
  currency: string | null | undefined,
  metadata: Stripe.Metadata | null,
): number | null {
  const code = currencyOf(currency);
  if (amount === null || code === null) return amount;
  const asked = Number(metadata?.['asked_amount'] ?? Number.NaN);
  return toStripeAmount(asked, code) === amount ? asked : fromStripeAmount(amount, code);
}

/** Stripe writes currencies in lower case; null when an event names none. */
export function currencyOf(currency: string | null | undefined): string | null {
  return currency?.toUpperCase() ?? null;
}

/**
 * Decimal places of Stripe's units where they are not those of ISO 4217: Stripe charges MGA in whole units, and still
 * charges ISK and UGX in hundredths, which must be 00.
 */
const STRIPE_PLACES: Readonly<Record<string, number>> = { MGA: 0, ISK: 2, UGX: 2 };

/**
 * An amount in minor units as Stripe counts it, rounded half up to what Stripe can charge, and to no less than that.
 */
export function toStripeAmount(amount: number, currency: string): number {
  const { factor, step } = unitsOf(currency);
  return amount === 0 ? 0 : Math.max(step, Math.round((amount * factor) / step) * step);
}

/** Stripe's amount in minor units. */
export function fromStripeAmount(amount: number, currency: string): number {
  return Math.round(amount / unitsOf(currency).factor);
}

function unitsOf(currency: string): { readonly factor: number; readonly step: number } {
  const places = decimalPlaces(currency);
  const factor = 10 ** ((STRIPE_PLACES[currency] ?? places) - places);
  // Where there are three places, the last digit must be 0.
  return { factor, step: places === 3 ? 10 : Math.max(1, factor) };
}
