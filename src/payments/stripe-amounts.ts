/**
 * Amounts as Stripe counts them: mostly in the minor units of ISO 4217, with exceptions of its own.
 *
 * 1. A currency that ISO 4217 gives two places and Stripe none (MGA) is charged in whole units.
 * 2. One that has lost its minor unit since Stripe began (ISK, UGX) is still charged in hundredths, and these must be 00.
 * 3. Where the minor unit has three places its last digit must be 0.
 */
import { decimalPlaces } from '#client/money.ts';

/** Places in which Stripe counts a currency where they are not ISO 4217's (1, 2). */
const STRIPE_PLACES: Readonly<Record<string, number>> = { MGA: 0, ISK: 2, UGX: 2 };

/** An amount in minor units as Stripe takes it, rounded half up to what can be charged, never to nothing. */
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
  return { factor, step: places === 3 ? 10 : Math.max(1, factor) };
}
