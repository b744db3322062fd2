/**
 * Attribution data of an order: what a storefront sends along for advertising platforms.
 *
 * Attribution never prevents a sale: data beyond a bound is cut or left out, never refused.
 *
 * 1. Kept are texts alone, the first TRACKING_FIELDS_MAX of them in the order of the request. Numbers, nested values
 *    and fields with a name over TRACKING_NAME_LENGTH_MAX are left out; a `tracking` that is no object is left out
 *    whole.
 * 2. A text is cut to TRACKING_TEXT_LENGTH_MAX characters, and the last one that still fits to what is left of
 *    TRACKING_BYTES_MAX; the fields after it are left out.
 * 3. Control characters are left out of texts and names.
 */
import { forOrderTexts, type OrderTexts } from '../order-texts.ts';

/** Names and texts of a request's attribution data that were kept. */
type Tracking = Readonly<Record<string, string>>;

/** The API names eleven fields and all `utm_*`; this leaves as many for fields of a storefront's own. */
export const TRACKING_FIELDS_MAX = 40;

/** As long as the longest address that browsers and proxies take (`landing_page`, `referrer`). */
export const TRACKING_TEXT_LENGTH_MAX = 2_048;

/** Longer than any name in use; a name is kept as often as a value. */
const TRACKING_NAME_LENGTH_MAX = 128;

/** What a buyer can store with each order: all names and texts together, as JSON in UTF-8. */
export const TRACKING_BYTES_MAX = 16 * 1024;

const utf8 = new TextEncoder();

/** The texts of an order as they are kept: cut, like every attribution, where they are too long. */
export function boundOrderTexts(given: OrderTexts): OrderTexts {
  return forOrderTexts((name, { lengthMax }) => {
    const text = given[name] ?? null;
    return text === null ? null : cleaned(text, lengthMax);
  });
}

/** What is kept of a request's attribution data; null for what is no object. */
export function boundTracking(given: unknown): Tracking | null {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return null;
  const kept: [name: string, text: string][] = [];
  let bytesLeft = TRACKING_BYTES_MAX - bytesOf('');
  for (const [name, value] of Object.entries(given as Readonly<Record<string, unknown>>)) {
    if (kept.length === TRACKING_FIELDS_MAX) break;
    if (typeof value !== 'string' || name.length > TRACKING_NAME_LENGTH_MAX || !name.isWellFormed()) continue;
    const wanted = cleaned(value, TRACKING_TEXT_LENGTH_MAX);
    const field = withoutControls(name);
    const text = firstBytes(wanted, bytesLeft - bytesOf(field));
    if (text === null) break;
    kept.push([field, text]);
    bytesLeft -= bytesOf(field) + bytesOf(text);
    if (text.length < wanted.length) break;
  }
  return Object.fromEntries(kept);
}

/** Attribution data of an older fact or snapshot: as they are where they are small, otherwise bounded as today's. */
export function readTracking(
  stored: Readonly<Record<string, unknown>> | null,
): Readonly<Record<string, unknown>> | null {
  return stored === null || JSON.stringify(stored).length <= TRACKING_BYTES_MAX ? stored : boundTracking(stored);
}

const withoutControls = (text: string): string => text.replace(/\p{Cc}/gu, '');

function cleaned(text: string, lengthMax: number): string {
  return firstCharacters(withoutControls(text), lengthMax).toWellFormed();
}

/** Counts characters as people and JSON Schema do; a surrogate pair is one. */
function firstCharacters(text: string, max: number): string {
  if (text.length <= max) return text;
  return Array.from(text.slice(0, 2 * max))
    .slice(0, max)
    .join('');
}

/** As much of a text as fits, in whole characters; null when not even an empty one does. */
function firstBytes(text: string, bytesMax: number): string | null {
  if (bytesMax < bytesOf('')) return null;
  if (bytesOf(text) <= bytesMax) return text;
  const characters = Array.from(text);
  let fits = 0;
  let fitsNot = characters.length;
  while (fitsNot - fits > 1) {
    const tried = Math.floor((fits + fitsNot) / 2);
    if (bytesOf(characters.slice(0, tried).join('')) <= bytesMax) fits = tried;
    else fitsNot = tried;
  }
  return characters.slice(0, fits).join('');
}

/** What a text takes as a part of JSON: quotes, escapes and a separator included. */
function bytesOf(text: string): number {
  return utf8.encode(JSON.stringify(text)).length + 1;
}
