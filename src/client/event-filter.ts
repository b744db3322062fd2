/**
 * Which events of the list somebody wants to see, as a page's address says it, and what there is to choose from.
 *
 * All of it is done on the list as the API gives it; the service's first HTML has the same choices.
 */
import type { EventListEntry } from './bodies.ts';
import { decimalPlaces } from './money.ts';

export interface Filter {
  readonly q: string;
  readonly city: string;
  /** Such as "2028-10". */
  readonly month: string;
  /** In the currency's main unit; '' for any. */
  readonly price: string;
}

/** From so many events on, a list is searched rather than read. */
export const SEARCHED_FROM = 10;

/** Events that a search reads at once. */
export const SEARCH_PAGE = 500;

/** Characters of a search that count. */
export const QUERY_LENGTH_MAX = 100;

/** What the events of a list differ in. */
interface FilterChoices {
  readonly cities: readonly string[];
  readonly months: readonly string[];
  /** Null where events have several: prices cannot be compared then. */
  readonly currency: string | null;
}

export function choicesOf(events: readonly EventListEntry[]): FilterChoices {
  const currencies = namesIn(events.map(({ currency }) => currency));
  return {
    cities: namesIn(events.map(({ venue }) => venue?.city)),
    months: namesIn(events.flatMap((event) => searchedIn(event).months)),
    currency: currencies.length === 1 ? currencies[0]! : null,
  };
}

/** Each name once, in order. */
function namesIn(names: readonly (string | null | undefined)[]): readonly string[] {
  return [...new Set(names.filter((name) => typeof name === 'string'))].sort();
}

export function filterOf(query: URLSearchParams): Filter {
  const [q, city, month, price] = ['q', 'city', 'month', 'price'].map((name) => query.get(name) ?? '');
  return {
    q: [...q!].slice(0, QUERY_LENGTH_MAX).join(''),
    city: city!,
    month: month!,
    price: /^\d{1,9}$/.test(price!) ? price! : '',
  };
}

/** The query of an address; empty parts are left out. */
export function queryOf(filter: Filter): string {
  const set = Object.entries(filter).filter(([, value]) => value !== '');
  return set.length === 0 ? '' : `?${new URLSearchParams(set).toString()}`;
}

export const isEmpty = (filter: Filter): boolean => queryOf(filter) === '';

/** The events that a filter leaves, in their order. */
export function narrowed(events: readonly EventListEntry[], { q, city, month, price }: Filter): EventListEntry[] {
  const words = [...new Set(plainText(q).split(' '))];
  return events.filter((event) => {
    if (city !== '' && event.venue?.city !== city) return false;
    if (price !== '' && event.from_price > Number(price) * 10 ** decimalPlaces(event.currency)) return false;
    const { months, text } = searchedIn(event);
    return (month === '' || months.includes(month)) && words.every((word) => text.includes(word));
  });
}

interface Searched {
  /** From the month in which the event begins to the one in which it ends. */
  readonly months: readonly string[];
  readonly text: string;
}

/** Kept with each event, because making it costs many times what a search in it does. */
const searched = new WeakMap<EventListEntry, Searched>();

function searchedIn(event: EventListEntry): Searched {
  const known = searched.get(event);
  if (known !== undefined) return known;
  const text = plainText([event.name, event.venue?.name, event.venue?.city].join(' '));
  const made = { months: monthsOf(event), text };
  searched.set(event, made);
  return made;
}

function monthsOf({ starts_at: start, ends_at: end, timezone }: EventListEntry): readonly string[] {
  const moments = [start, end].filter((moment) => moment !== null);
  const months = moments.map((moment) => monthOf(moment, timezone));
  return months.length === 2 ? monthsBetween(months[0]!, months[1]!) : months;
}

/** By zone: as many as events have. */
const monthFormats = new Map<string, Intl.DateTimeFormat>();

function monthOf(moment: string, timeZone = 'UTC'): string {
  const format =
    monthFormats.get(timeZone) ?? new Intl.DateTimeFormat('en', { timeZone, year: 'numeric', month: '2-digit' });
  monthFormats.set(timeZone, format);
  const parts = format.formatToParts(new Date(moment));
  const valueOf = (type: string): string => parts.find((part) => part.type === type)?.value ?? '';
  return `${valueOf('year')}-${valueOf('month')}`;
}

/** A run over years is found by its first ones. */
const MONTHS_MAX = 60;

function monthsBetween(first: string, last: string): readonly string[] {
  const months = [first];
  while (months.at(-1)! < last && months.length < MONTHS_MAX) {
    const [year, month] = months.at(-1)!.split('-').map(Number) as [number, number];
    months.push(month === 12 ? `${year + 1}-01` : `${year}-${String(month + 1).padStart(2, '0')}`);
  }
  return months;
}

/** Letters without case and accents: "Brücke" is found by "brucke". */
function plainText(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .trim()
    .replace(/\s+/g, ' ');
}
