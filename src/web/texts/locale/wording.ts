/** How a language writes money, dates, numbers and lists. Without browser APIs: the service's own pages are written with it too. */
import { moneyText } from '#client/money.ts';
import type { Language } from './language.ts';

/** A noun or a phrase in the forms that it has beside numbers; a language uses those that it knows. */
export type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

type Moment = string | number;

/** English dates are European: the day comes first, and hours are counted to 24. */
const DATES: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' };

const DAY = { weekday: 'short', day: 'numeric', month: 'long', year: 'numeric' } as const;
const HOUR = { hour: '2-digit', minute: '2-digit' } as const;

export type Wording = ReturnType<typeof wordingOf>;

export function wordingOf(language: Language) {
  const dates = DATES[language];
  const plurals = new Intl.PluralRules(language);
  const date = (moment: Moment, timeZone: string | undefined, options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat(dates, { ...options, ...(timeZone !== undefined && { timeZone }) }).format(
      new Date(moment),
    );
  const number = (n: number): string => n.toLocaleString(dates);
  /** The form of a noun beside a number. */
  const plural = (n: number, forms: Forms): string => forms[plurals.select(n)] ?? forms.other;
  return {
    number,
    plural,
    /** "1 ticket", "3 tickets". */
    count: (n: number, forms: Forms): string => `${number(n)} ${plural(n, forms)}`,
    /** An amount as money of a currency. */
    money: (amount: number, currency: string): string => moneyText(amount, currency, language),
    /** The same without the decimals of a whole amount. */
    shortMoney: (amount: number, currency: string): string => moneyText(amount, currency, language, { short: true }),
    /** A day such as "Sat, 23 September 2028", in the event's own time zone. */
    day: (moment: Moment, timeZone?: string): string => date(moment, timeZone, DAY),
    /** A time of the day such as "20:30". */
    hour: (moment: Moment, timeZone?: string): string => date(moment, timeZone, HOUR),
    dayAndHour: (moment: Moment, timeZone?: string): string =>
      `${date(moment, timeZone, DAY)}, ${date(moment, timeZone, HOUR)}`,
    /** A span of days such as "14 October – 11 November 2028". */
    days: (start: Moment, end: Moment): string =>
      new Intl.DateTimeFormat(dates, { day: 'numeric', month: 'long', year: 'numeric' }).formatRange(
        new Date(start),
        new Date(end),
      ),
    /** A month such as "October 2028". */
    month: (moment: Moment, timeZone?: string): string => date(moment, timeZone, { month: 'long', year: 'numeric' }),
    /** The name of a time zone such as "Central European Time". */
    zone: (moment: Moment, timeZone: string): string =>
      new Intl.DateTimeFormat(dates, { timeZone, timeZoneName: 'longGeneric' })
        .formatToParts(new Date(moment))
        .find(({ type }) => type === 'timeZoneName')!.value,
    /** The parts of a date for a calendar sheet. */
    dayParts: (moment: Moment, timeZone?: string): { day: string; month: string; weekday: string } => ({
      // A German day alone is "14.": a sheet has the number.
      day: String(Number.parseInt(date(moment, timeZone, { day: 'numeric' }), 10)),
      month: date(moment, timeZone, { month: 'short' }),
      weekday: date(moment, timeZone, { weekday: 'short' }),
    }),
    /** "a, b and c". */
    listing: (parts: readonly string[]): string => new Intl.ListFormat(dates, { type: 'conjunction' }).format(parts),
  };
}
