/** How figures, money, moments and spans of time are written. */
import { moneyText } from '#client/money.ts';

export function number(count: number): string {
  return count.toLocaleString('en-GB');
}

export function money(amount: number, currency: string): string {
  return moneyText(amount, currency, 'en-GB');
}

/** The zone of every time in the console: the operator's own, which the header names. */
export const TIME_ZONE = new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** A moment such as "23 Sept 2028, 21:00"; with seconds where they matter. */
export function moment(time: string | null, timeStyle: 'short' | 'medium' = 'short'): string {
  if (time === null) return 'no time';
  const form = { dateStyle: 'medium', timeStyle, timeZone: TIME_ZONE } as const;
  return new Intl.DateTimeFormat('en-GB', form).format(new Date(time));
}

/** How many there are of something: "1 order", "2,000 orders". */
export function countOf(count: number, singular: string): string {
  return `${number(count)} ${singular}${count === 1 ? '' : 's'}`;
}

/** Sums of several currencies; `none` where there is nothing. */
export function sums(amounts: readonly { readonly amount: number; readonly currency: string }[], none: string): string {
  return amounts.length === 0 ? none : amounts.map(({ amount, currency }) => money(amount, currency)).join(' and ');
}

/** A span such as "4 s", "12 min", "3 h" or "5 days". */
export function span(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5_400) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} days`;
}

/** Bytes such as "12.4 GB". */
export function bytes(count: number): string {
  return count >= 1e9 ? `${(count / 1e9).toFixed(1)} GB` : `${Math.round(count / 1e6)} MB`;
}
