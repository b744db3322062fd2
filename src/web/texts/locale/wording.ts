/**
 * How a language writes money, dates, numbers and lists. Without browser APIs: the service's own pages are written with
 * it too.
 */
import { moneyText } from '#client/money.ts';
import type { Language } from './language.ts';

/** A noun or a phrase in the forms that it has beside numbers; a language uses those that it knows. */
type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

type Moment = string | number;

/** English dates are European: the day comes first, and hours are counted to 24. */
const DATES: Readonly<Record<Language, string>> = { en: 'en-GB', de: 'de-DE' };

/** How the parts of a moment are written. */
const STYLES = {
  day: { weekday: 'short', day: 'numeric', month: 'long', year: 'numeric' },
  hour: { hour: '2-digit', minute: '2-digit' },
  month: { month: 'long', year: 'numeric' },
  span: { day: 'numeric', month: 'long', year: 'numeric' },
  zone: { timeZoneName: 'longGeneric' },
  sheetDay: { day: 'numeric' },
  sheetMonth: { month: 'short' },
  sheetWeekday: { weekday: 'short' },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;

type Style = keyof typeof STYLES;

const wordings = new Map<Language, ReturnType<typeof makeWording>>();

/** The wording of a language, made once: its formatters cost far more to make than to use. */
export function wordingOf(language: Language): ReturnType<typeof makeWording> {
  const known = wordings.get(language) ?? makeWording(language);
  wordings.set(language, known);
  return known;
}

/** Formatters take milliseconds to make, and a language needs few of them at first. */
function madeAtFirstUse<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

function makeWording(language: Language) {
  const dates = DATES[language];
  const plurals = madeAtFirstUse(() => new Intl.PluralRules(language));
  const numbers = madeAtFirstUse(() => new Intl.NumberFormat(dates));
  const countries = madeAtFirstUse(() => new Intl.DisplayNames(language, { type: 'region' }));
  const lists = madeAtFirstUse(() => new Intl.ListFormat(dates, { type: 'conjunction' }));
  /** By style and zone: as many as events have zones. */
  const formats = new Map<string, Intl.DateTimeFormat>();
  const formatOf = (style: Style, timeZone: string | undefined): Intl.DateTimeFormat => {
    const key = `${style} ${timeZone ?? ''}`;
    const known = formats.get(key);
    if (known !== undefined) return known;
    const format = new Intl.DateTimeFormat(dates, { ...STYLES[style], ...(timeZone !== undefined && { timeZone }) });
    formats.set(key, format);
    return format;
  };
  const date = (moment: Moment, timeZone: string | undefined, style: Style): string =>
    formatOf(style, timeZone).format(new Date(moment));
  const number = (n: number): string => numbers().format(n);
  /** The form of a noun beside a number. */
  const plural = (n: number, forms: Forms): string => forms[plurals().select(n)] ?? forms.other;
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
    day: (moment: Moment, timeZone?: string): string => date(moment, timeZone, 'day'),
    /** A time of the day such as "20:30". */
    hour: (moment: Moment, timeZone?: string): string => date(moment, timeZone, 'hour'),
    dayAndHour: (moment: Moment, timeZone?: string): string =>
      `${date(moment, timeZone, 'day')}, ${date(moment, timeZone, 'hour')}`,
    /** A span of days such as "14 October – 11 November 2028". */
    days: (start: Moment, end: Moment): string =>
      formatOf('span', undefined).formatRange(new Date(start), new Date(end)),
    /** A month such as "October 2028". */
    month: (moment: Moment, timeZone?: string): string => date(moment, timeZone, 'month'),
    /** The name of a time zone such as "Central European Time". */
    zone: (moment: Moment, timeZone: string): string =>
      formatOf('zone', timeZone)
        .formatToParts(new Date(moment))
        .find(({ type }) => type === 'timeZoneName')!.value,
    /** The parts of a date for a calendar sheet. */
    dayParts: (moment: Moment, timeZone?: string): { day: string; month: string; weekday: string } => ({
      // A German day alone is "14.": a sheet has the number.
      day: String(Number.parseInt(date(moment, timeZone, 'sheetDay'), 10)),
      month: date(moment, timeZone, 'sheetMonth'),
      weekday: date(moment, timeZone, 'sheetWeekday'),
    }),
    /** The name of a country by its two letters. */
    country: (code: string): string => countries().of(code) ?? code,
    /** "a, b and c". */
    listing: (parts: readonly string[]): string => lists().format(parts),
  };
}
