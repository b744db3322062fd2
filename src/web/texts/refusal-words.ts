/**
 * Refusals as sentences for buyers: what happened and what to do next, for every code that a buyer can meet.
 *
 * Owns which numbers of a refusal are shown; the sentences are in the texts of each language.
 */
import type { Texts } from './en/pages.ts';

type Detail = Readonly<Record<string, unknown>>;

interface Words extends Pick<Texts, 'refusals' | 'refused'> {
  /** Writes a moment as a time of the day, in the event's time zone. */
  readonly hour: (moment: string) => string;
  readonly dayAndHour: (moment: string) => string;
  /** The names of seats. */
  readonly seats?: ((seatIds: readonly string[]) => readonly string[]) | undefined;
}

const WITH_DETAIL: Readonly<Record<string, (detail: Detail, words: Words) => string>> = {
  AMENDMENT_NOT_ALLOWED: notAllowed,
  INSUFFICIENT_TICKETS: insufficient,
  SALE_PAUSED: ({ message }, { refused }) => refused.paused(typeof message === 'string' ? message : null),
  SEAT_TAKEN: taken,
  VALIDATION_ERROR: validation,
  MAX_PER_ORDER_EXCEEDED: ({ limit }, { refused }) => refused.maxPerOrder(Number(limit)),
  MAX_TICKETS_PER_ORDER_EXCEEDED: ({ limit }, { refused }) => refused.maxTickets(Number(limit)),
  MAX_TICKETS_PER_EMAIL_EXCEEDED: ({ limit }, { refused }) => refused.perEmail(Number(limit)),
  BAR_PERK_SOLD_OUT: ({ available }, { refused }) =>
    Number(available ?? 0) > 0 ? refused.perksLeft(Number(available)) : refused.perkSoldOut,
};

/** A refusal as a sentence or two; `detail` has the names of the API. */
export function refusalInWords({ code, detail }: { code: string; detail: Detail }, words: Words): string {
  const plain: Readonly<Record<string, string>> = words.refusals;
  return WITH_DETAIL[code]?.(detail, words) ?? plain[code] ?? words.refused.other;
}

/** Why a buyer may not change something, and since when. */
function notAllowed({ reason, until }: Detail, { refused, dayAndHour }: Words): string {
  if (reason === 'TOO_LATE' && typeof until === 'string') return refused.tooLate(dayAndHour(until));
  return reason === 'TICKET_TYPE' ? refused.notThisType : refused.notOffered;
}

function insufficient(detail: Detail, { refused, hour }: Words): string {
  const available = Number(detail['available'] ?? 0);
  const block = detail['largest_block'];
  if (typeof block === 'number' && block > 0) return refused.noBlock(block);
  const left = available > 0 ? refused.onlyLeft(available) : refused.nothingLeft;
  if (detail['reserved_by_others'] !== true) return available > 0 ? left : refused.soldOut;
  const nextRelease = detail['next_release_at'];
  const others = typeof nextRelease === 'string' ? refused.inBasketsUntil(hour(nextRelease)) : refused.inBaskets;
  return `${left} ${others}`;
}

function taken({ seat_ids: ids }: Detail, { refused, seats: nameSeats }: Words): string {
  const seats = Array.isArray(ids) ? (ids as string[]) : [];
  const names = seats.length > 6 ? [] : (nameSeats?.(seats) ?? []);
  return refused.seatsTaken(seats.length, names.join('; '));
}

/** What is wrong with a body; its own words are for programs. */
function validation({ errors }: Detail, { refused }: Words): string {
  const [first] = Array.isArray(errors) ? (errors as { readonly path?: string }[]) : [];
  if (first?.path?.includes('email')) return refused.checkEmail;
  if (first?.path?.startsWith('/change/')) return refused.changesNothing;
  return first?.path?.includes('name') ? refused.checkName : refused.checkEntries;
}
