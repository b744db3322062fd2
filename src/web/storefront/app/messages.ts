/**
 * Errors as sentences for buyers: what happened and what to do next, for every code that a buyer can meet.
 *
 * Owns which numbers of a refusal are shown; the sentences are in `texts`.
 */
import { isApiError, type ApiError } from '#client/api-error.ts';
import { hour } from './format.ts';
import { texts } from './language.ts';

interface Words {
  /** The event's time zone, for moments in a sentence. */
  readonly timezone?: string | undefined;
  /** The names of seats. */
  readonly seats?: (seatIds: readonly string[]) => readonly string[];
}

type Detail = Readonly<Record<string, unknown>>;

const { refusals, refused } = texts;
const PLAIN: Readonly<Record<string, string>> = refusals;

const WITH_DETAIL: Readonly<Record<string, (detail: Detail, words: Words) => string>> = {
  INSUFFICIENT_TICKETS: insufficient,
  SEAT_TAKEN: taken,
  VALIDATION_ERROR: validation,
  MAX_PER_ORDER_EXCEEDED: ({ limit }) => refused.maxPerOrder(Number(limit)),
  MAX_TICKETS_PER_ORDER_EXCEEDED: ({ limit }) => refused.maxTickets(Number(limit)),
  MAX_TICKETS_PER_EMAIL_EXCEEDED: ({ limit }) => refused.perEmail(Number(limit)),
  BAR_PERK_SOLD_OUT: ({ available }) =>
    Number(available ?? 0) > 0 ? refused.perksLeft(Number(available)) : refused.perkSoldOut,
};

/** An error as a sentence or two for the buyer. */
export function inWords(error: unknown, words: Words = {}): string {
  if (!isApiError(error)) return refused.inPage;
  const text = sentenceOf(error, words);
  return error.retryAfter !== null && error.retryAfter > 10 ? `${text} ${refused.retryIn(error.retryAfter)}` : text;
}

function sentenceOf({ code, detail }: ApiError, words: Words): string {
  return WITH_DETAIL[code]?.(detail, words) ?? PLAIN[code] ?? refused.other;
}

function insufficient(detail: Detail, { timezone }: Words): string {
  const available = Number(detail['available'] ?? 0);
  const block = detail['largest_block'];
  if (typeof block === 'number' && block > 0) return refused.noBlock(block);
  const left = available > 0 ? refused.onlyLeft(available) : refused.nothingLeft;
  if (detail['reserved_by_others'] !== true) return available > 0 ? left : refused.soldOut;
  const nextRelease = detail['next_release_at'];
  const others =
    typeof nextRelease === 'string' ? refused.inBasketsUntil(hour(nextRelease, timezone)) : refused.inBaskets;
  return `${left} ${others}`;
}

function taken({ seat_ids: ids }: Detail, { seats: nameSeats }: Words): string {
  const seats = Array.isArray(ids) ? (ids as string[]) : [];
  const names = seats.length > 6 ? [] : (nameSeats?.(seats) ?? []);
  return refused.seatsTaken(seats.length, names.join('; '));
}

/** What is wrong with a body; its own words are for programs. */
function validation({ errors }: Detail): string {
  const [first] = Array.isArray(errors) ? (errors as { readonly path?: string }[]) : [];
  if (first?.path?.includes('email')) return refused.checkEmail;
  return first?.path?.includes('name') ? refused.checkName : refused.checkEntries;
}
