/**
 * Errors as sentences for buyers: what happened and what to do next, for every code that a buyer can meet.
 *
 * A code that is not listed is shown with the service's own message.
 */
import { isApiError, type ApiError } from '#client/api-error.ts';
import { count, hour } from './format.ts';

interface Words {
  /** The event's time zone, for moments in a sentence. */
  readonly timezone?: string | undefined;
  /** The names of seats. */
  readonly seats?: (seatIds: readonly string[]) => readonly string[];
}

type Sentence = (detail: Readonly<Record<string, unknown>>, words: Words) => string;

const SENTENCES: Readonly<Record<string, string | Sentence>> = {
  UNREACHABLE: 'We cannot reach the service. Check your connection and try again; nothing was lost.',
  OVERLOADED: 'The service is very busy right now. Please try again in a moment.',
  RATE_LIMITED: 'That was a lot of requests at once. Please wait a moment and try again.',
  INTERNAL: 'Something went wrong on our side. Please try again.',
  INSUFFICIENT_TICKETS: (detail, words) => insufficient(detail, words),
  SEAT_TAKEN: ({ seat_ids: ids }, words) => taken(ids, words),
  SEAT_NOT_SELLABLE: 'One of these seats is not for sale. Please choose another one.',
  SEAT_NOT_IN_TICKET_TYPE: 'One of these seats is not sold with that kind of ticket. Please choose another one.',
  SEAT_COUNT_MISMATCH: 'The number of seats does not fit the tickets. Please choose again.',
  TICKET_NOT_ON_SALE: 'These tickets are not on sale at the moment.',
  PERFORMANCE_NOT_ON_SALE: 'This date is no longer on sale.',
  PERFORMANCE_NOT_FOUND: 'This date does not exist any more.',
  EVENT_NOT_FOUND: 'We could not find this event. It may have been taken off sale.',
  HOLD_EXPIRED: 'Your reservation has run out and the tickets are back on sale. Please choose again.',
  HOLD_NOT_ACTIVE: 'This reservation is no longer open: an order was made from it, or it was given back.',
  HOLD_NOT_FOUND: 'This reservation is gone. Please choose again.',
  QUEUE_PASS_REQUIRED: 'This event has a waiting room. Please join the line first.',
  QUEUE_PASS_INVALID: 'Your turn has run out. Please join the line again.',
  QUEUE_ENTRY_NOT_FOUND: 'Your place in line is gone. Please join again.',
  TERMS_NOT_ACCEPTED: 'Please accept the terms to go on.',
  MAX_PER_ORDER_EXCEEDED: ({ limit }) => `You can buy at most ${String(limit)} of this ticket in one order.`,
  MAX_TICKETS_PER_ORDER_EXCEEDED: ({ limit }) => `You can buy at most ${count(Number(limit), 'ticket')} in one order.`,
  MAX_TICKETS_PER_EMAIL_EXCEEDED: ({ limit, already }) => perEmail(Number(limit), Number(already ?? 0)),
  PROMO_CODE_INVALID: 'This code cannot be used for these tickets.',
  PROMO_CODE_EXHAUSTED: 'This code has been used up.',
  ATTENDEE_COUNT_MISMATCH: 'Please give one name for each ticket.',
  BAR_PERK_SOLD_OUT: ({ available }) =>
    Number(available ?? 0) > 0 ? `Only ${String(available)} of these extras are left.` : 'This extra is sold out.',
  BAR_PERK_LIMIT_EXCEEDED: 'That is more of an extra than your tickets may carry.',
  INSTALLMENTS_NOT_ALLOWED: 'So many installments are not offered for this event.',
  PAYMENT_PROVIDER_UNAVAILABLE: 'The payment service cannot be reached. Your tickets are safe: please try again.',
  ORDER_NOT_FOUND: 'We could not find this order.',
};

/** An error as a sentence or two for the buyer. */
export function inWords(error: unknown, words: Words = {}): string {
  if (!isApiError(error)) return 'Something went wrong in this page. Please load it again.';
  const known = SENTENCES[error.code];
  const text = typeof known === 'function' ? known(error.detail, words) : (known ?? validation(error) ?? error.message);
  return error.retryAfter !== null && error.retryAfter > 10 ? `${text} (in about ${error.retryAfter} s)` : text;
}

function insufficient(detail: Readonly<Record<string, unknown>>, { timezone }: Words): string {
  const available = Number(detail['available'] ?? 0);
  const block = detail['largest_block'];
  if (typeof block === 'number' && block > 0) {
    return `There are not so many free seats side by side; the longest free stretch has ${count(block, 'seat')}. Pick seats on the plan, or ask for fewer.`;
  }
  const left =
    available > 0 ? `Only ${count(available, 'ticket')} can be had right now.` : 'Nothing is left right now.';
  if (detail['reserved_by_others'] !== true) return available > 0 ? left : 'These tickets are sold out.';
  const nextRelease = detail['next_release_at'];
  const when = typeof nextRelease === 'string' ? ` from ${hour(nextRelease, timezone)} on` : '';
  return `${left} Others have some in their basket; if they let go, tickets may come back${when}.`;
}

function taken(ids: unknown, { seats: nameSeats }: Words): string {
  const seats = Array.isArray(ids) ? (ids as string[]) : [];
  const names = seats.length > 6 ? [] : (nameSeats?.(seats) ?? []);
  const which = names.length > 0 ? ` (${names.join('; ')})` : '';
  return seats.length > 1
    ? `${seats.length} of these seats were just taken by somebody else${which}. Please choose others.`
    : `This seat was just taken by somebody else${which}. Please choose another one.`;
}

function perEmail(limit: number, already: number): string {
  const has = already > 0 ? ` You have ${count(already, 'ticket')} already.` : '';
  return `This event allows ${count(limit, 'ticket')} for one e-mail address.${has}`;
}

function validation(error: ApiError): string | null {
  if (error.code !== 'VALIDATION_ERROR') return null;
  const problems = error.detail['errors'];
  const first = Array.isArray(problems) ? (problems[0] as { path?: string; message?: string } | undefined) : undefined;
  if (first?.path?.includes('email')) return 'Please check the e-mail address.';
  if (first?.path?.includes('name')) return 'Please check the name.';
  return `Please check your entries${first?.message === undefined ? '' : `: ${first.path ?? ''} ${first.message}`}.`;
}
