/** How figures, money, moments and spans of time are written. */
import { moneyText } from '#client/money.ts';

export function figure(count: number): string {
  return count.toLocaleString('en-GB');
}

export function money(amount: number, currency: string): string {
  return moneyText(amount, currency, 'en-GB');
}

/** A moment such as "23 Sept 2028, 21:00"; in the zone of the event where one is given, with seconds where they matter. */
export function moment(time: string | null, timeZone?: string, timeStyle: 'short' | 'medium' = 'short'): string {
  if (time === null) return 'no time';
  const form = { dateStyle: 'medium', timeStyle, ...(timeZone !== undefined && { timeZone }) } as const;
  return new Intl.DateTimeFormat('en-GB', form).format(new Date(time));
}

/** A span such as "4 s", "12 min" or "3 h". */
export function span(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  return seconds < 5_400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

/** Bytes such as "12.4 GB". */
export function bytes(count: number): string {
  return count >= 1e9 ? `${(count / 1e9).toFixed(1)} GB` : `${Math.round(count / 1e6)} MB`;
}
