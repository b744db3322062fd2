/**
 * The lines that say when and where an event is and what it costs, as lists and headings have them. Without browser
 * APIs: the service writes the same lines into the first HTML.
 */
import type { EventListEntry, EventPayload, LineupItem, Performance, Venue } from '#client/bodies.ts';
import type { Language } from './locale/language.ts';
import { TEXTS } from './texts.ts';
import { wordingOf } from './locale/wording.ts';

/** A longer span is no single evening: it is shown by its days. */
const LONG_MS = 36 * 3_600_000;

export function eventLinesOf(language: Language) {
  const wording = wordingOf(language);
  const texts = TEXTS[language];
  const price = (amount: number, currency: string): string =>
    amount === 0 ? texts.plan.noPrice : wording.shortMoney(amount, currency);
  return {
    price,
    /** The dates of an event in the list. */
    datesOf({ starts_at: start, ends_at: end, timezone }: EventListEntry): string {
      if (start === null) return texts.list.noDates;
      const isLong = end !== null && Date.parse(end) - Date.parse(start) > LONG_MS;
      return isLong ? wording.days(start, end) : wording.day(start, timezone);
    },
    fromPrice: ({ from_price: amount, currency }: EventListEntry): string =>
      amount === 0 ? texts.plan.noPrice : texts.list.from(wording.shortMoney(amount, currency)),
    /** What stands in place of the price of an event that nobody can buy; null where somebody can. */
    goneNote({ ends_at: end, sold_out: isSoldOut }: EventListEntry, now: number): string | null {
      if (end !== null && Date.parse(end) <= now) return texts.list.over;
      return isSoldOut ? texts.list.soldOut : null;
    },
    /** When the sale of an event begins; null where it has begun. */
    saleNote: ({ sale_starts_at: at, timezone }: EventListEntry): string | null =>
      at === undefined ? null : texts.list.saleFrom(wording.dayAndHour(at, timezone)),
    /** "Kesselhaus, Leipzig". */
    venueOf: ({ venue }: EventListEntry): string | null =>
      venue === undefined ? null : [venue.name, venue.city].filter((part) => part !== null).join(', '),
    /** "Kesselhaus, Lagerstraße 9, Leipzig, Germany". */
    addressOf({ name, address, city, country }: Venue): string {
      const land = country === null ? null : wording.country(country);
      return [name, address, city, land].filter((part) => part != null && part !== '').join(', ');
    },
    /** When people are let in; null where nobody knows, and where it is the time of the start. */
    entranceOf({ doors_at: at, starts_at: start }: Performance, { timezone }: EventPayload): string | null {
      return at === undefined || at === start ? null : texts.show.entrance(wording.hour(at, timezone));
    },
    /** "Mira Okafor (23:00)". */
    performerOf: ({ name, time }: LineupItem): string => (time === null ? name : `${name} (${time})`),
  };
}
