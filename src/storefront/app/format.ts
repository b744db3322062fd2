/** How money, dates, spans of time, counts and labels are written. */
import { moneyText } from '#client/money.ts';

const language = navigator.language || 'en';
const english = 'en-GB';

/** An amount as money of a currency; whole amounts without decimals. */
export function money(amount: number, currency: string): string {
  return moneyText(amount, currency, language, { short: true });
}

export function price(amount: number, currency: string): string {
  return amount === 0 ? 'Free' : money(amount, currency);
}

/** A day such as "Sat, 23 September 2028", in the event's own time zone. */
export function day(time: string, timezone?: string): string {
  return dateText(time, timezone, { weekday: 'short', day: 'numeric', month: 'long', year: 'numeric' });
}

/** A span of days such as "14 October – 11 November 2028". */
export function days(start: string, end: string): string {
  const form = new Intl.DateTimeFormat(english, { day: 'numeric', month: 'long', year: 'numeric' });
  return form.formatRange(new Date(start), new Date(end));
}

/** A time of the day such as "20:30". */
export function hour(time: string, timezone?: string): string {
  return dateText(time, timezone, { hour: '2-digit', minute: '2-digit' });
}

/** The parts of a date for a calendar sheet. */
export function dayParts(time: string, timezone?: string): { day: string; month: string; weekday: string } {
  return {
    day: dateText(time, timezone, { day: 'numeric' }),
    month: dateText(time, timezone, { month: 'short' }),
    weekday: dateText(time, timezone, { weekday: 'short' }),
  };
}

export function dayAndHour(time: string, timezone?: string): string {
  return `${day(time, timezone)}, ${hour(time, timezone)}`;
}

/** The time zone by its city, for an event that is not in the buyer's own zone. */
export function zoneNote(timezone: string): string | null {
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return own === timezone ? null : `${timezone.split('/').at(-1)?.replaceAll('_', ' ') ?? timezone} time`;
}

function dateText(time: string, timeZone: string | undefined, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(english, { ...options, ...(timeZone !== undefined && { timeZone }) }).format(
    new Date(time),
  );
}

/** The time left in whole seconds as "9:05", "1:02:30" from an hour on, or "3 days, 1:02:30" from a day on. */
export function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const days = Math.floor(seconds / 86_400);
  if (days > 0) return `${count(days, 'day')}, ${clockText(ms % 86_400_000)}`;
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n: number): string => String(n).padStart(2, '0');
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** Whether a label is short enough to need a noun: "7" is shown as "row 7", while "Row 7" stays as it is. */
export const isBareLabel = (label: string): boolean => /^\w{1,4}$/.test(label);

/** A label with its noun where it needs one: "row 7". */
export function labelled(noun: string, label: string): string {
  return isBareLabel(label) ? `${noun} ${label}` : label;
}

/** "1 ticket", "3 tickets". */
export function count(n: number, noun: string, plural = `${noun}s`): string {
  return `${n.toLocaleString(english)} ${n === 1 ? noun : plural}`;
}

/** "a, b and c". */
export function listing(parts: readonly string[]): string {
  return new Intl.ListFormat(english, { type: 'conjunction' }).format(parts);
}
