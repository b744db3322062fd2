/**
 * What went wrong and what to do next: a sentence for each code that a buyer can meet, and those with figures in them.
 */
import { wordingOf } from '../locale/wording.ts';

const { count, number } = wordingOf('en');
const TICKETS = { one: 'ticket', other: 'tickets' };

/** By code of the API. */
export const refusals = {
  UNREACHABLE: 'We cannot reach the service. Check your connection and try again; nothing was lost.',
  OVERLOADED: 'The service is very busy right now. Please try again in a moment.',
  RATE_LIMITED: 'That was a lot of requests at once. Please wait a moment and try again.',
  INTERNAL: 'Something went wrong on our side. Please try again.',
  REQUEST_TIMEOUT: 'That took too long to arrive. Check your connection and try again.',
  SEAT_NOT_SELLABLE: 'One of these seats is not for sale. Please choose another one.',
  SEAT_NOT_IN_TICKET_TYPE: 'One of these seats is not sold with that kind of ticket. Please choose another one.',
  SEAT_COUNT_MISMATCH: 'The number of seats does not fit the tickets. Please choose again.',
  SEATING_NOT_ENABLED: 'These tickets have no numbered seats. Please choose again.',
  TICKET_NOT_ON_SALE: 'These tickets are not on sale at the moment.',
  TICKET_TYPE_NOT_FOUND: 'This kind of ticket does not exist any more. Please load the page again.',
  SELLING_STAGE_NOT_FOUND: 'This offer does not exist any more. Please load the page again.',
  PERFORMANCE_REQUIRED: 'Please choose a date first.',
  PERFORMANCE_NOT_ON_SALE: 'This date is no longer on sale.',
  PERFORMANCE_NOT_FOUND: 'This date does not exist any more.',
  EVENT_NOT_FOUND: 'We could not find this event. It may have been taken off sale.',
  HOLD_EXPIRED: 'Your reservation has run out and the tickets are back on sale. Please choose again.',
  HOLD_NOT_ACTIVE: 'This reservation is no longer open: an order was made from it, or it was given back.',
  HOLD_NOT_FOUND: 'This reservation is gone. Please choose again.',
  HOLD_ITEMS_MISMATCH: 'Your tickets were changed in another window. Please load the page again.',
  IDEMPOTENCY_KEY_REUSED: 'Your order was changed in the meantime. Please load the page again.',
  QUEUE_NOT_ENABLED: 'This event has no waiting room: you can choose tickets at once.',
  QUEUE_PASS_REQUIRED: 'This event has a waiting room. Please join the line first.',
  QUEUE_PASS_INVALID: 'Your turn has run out. Please join the line again.',
  QUEUE_ENTRY_NOT_FOUND: 'Your place in line is gone. Please join again.',
  TERMS_NOT_ACCEPTED: 'Please accept the terms to go on.',
  PROMO_CODE_INVALID: 'This code cannot be used for these tickets.',
  PROMO_CODE_EXHAUSTED: 'This code has been used up.',
  ATTENDEE_COUNT_MISMATCH: 'Please give one name for each ticket.',
  BAR_PERK_NOT_FOUND: 'This extra is no longer offered.',
  BAR_PERK_LIMIT_EXCEEDED: 'That is more of an extra than your tickets may carry.',
  INSTALLMENTS_NOT_ALLOWED: 'So many installments are not offered for this event.',
  PAYMENT_PROVIDER_UNAVAILABLE: 'The payment service cannot be reached. Your tickets are safe: please try again.',
  ORDER_NOT_FOUND: 'We could not find this order.',
  ORDER_NOT_PAYABLE: 'Nothing is left to pay on this order.',
  ORDER_NOT_AMENDABLE: 'This order can no longer be changed.',
  AMENDMENT_NOT_ALLOWED: 'This change is not offered, or it is too late for it. Please ask the organizer.',
  AMENDMENT_PENDING: 'Another change of this order waits for its payment. Please pay or drop it first.',
  AMENDMENT_NOT_PENDING: 'This change is over: it was made, dropped or ran out.',
  QUOTE_STALE: 'What we told you has changed meanwhile. Please look at it again.',
  TICKET_NOT_FOUND: 'One of these tickets is not of this order.',
  TICKET_VOID: 'One of these tickets is no longer valid.',
  UNIT_INCOMPLETE: 'The tickets of a group can only be changed together.',
  TICKET_ADMITTED: 'One of these tickets was used to enter and can no longer be changed. Please ask the organizer.',
  ORDER_ERASED: 'Personal data of this order was erased: nobody can be named on its tickets.',
};

/** Sentences that are put together from what the refusal tells. */
export const refused = {
  inPage: 'Something went wrong in this page. Please load it again.',
  other: 'That did not work. Please load the page again.',
  retryIn: (seconds: number) => `(in about ${number(seconds)} s)`,
  maxPerOrder: (limit: number) => `You can buy at most ${number(limit)} of this ticket in one order.`,
  maxTickets: (limit: number) => `You can buy at most ${count(limit, TICKETS)} in one order.`,
  perEmail: (limit: number) => `This event allows ${count(limit, TICKETS)} for one e-mail address.`,
  perkSoldOut: 'This extra is sold out.',
  perksLeft: (n: number) => `Only ${number(n)} of these extras are left.`,
  noBlock: (longest: number) =>
    `There are not so many free seats side by side; the longest free stretch has ${count(longest, { one: 'seat', other: 'seats' })}. Pick seats on the plan, or ask for fewer.`,
  onlyLeft: (tickets: number) => `Only ${count(tickets, TICKETS)} can be had right now.`,
  nothingLeft: 'Nothing is left right now.',
  paused: (message: string | null) =>
    `The sale is paused for a moment. What you hold can be bought.${message === null ? '' : ` ${message}`}`,
  soldOut: 'These tickets are sold out.',
  inBaskets: 'Others have some in their basket; if they let go, tickets may come back.',
  inBasketsUntil: (hour: string) =>
    `Others have some in their basket; if they let go, tickets may come back from ${hour} on.`,
  /** `names` are those of the seats, perhaps none. */
  seatsTaken: (seats: number, names: string) =>
    seats > 1
      ? `${number(seats)} of these seats were just taken by somebody else${inBrackets(names)}. Please choose others.`
      : `This seat was just taken by somebody else${inBrackets(names)}. Please choose another one.`,
  /** Why a buyer may not change something by themselves. */
  notOffered: 'This change is not offered here. Please ask the organizer.',
  notThisType: 'This kind of ticket cannot be changed here. Please ask the organizer.',
  tooLate: (when: string) => `This was possible until ${when}. Please ask the organizer.`,
  changesNothing: 'This changes nothing: please choose another date, kind of ticket or seat.',
  checkEmail: 'Please check the e-mail address.',
  checkName: 'Please check the name.',
  checkEntries: 'Please check your entries.',
};

function inBrackets(text: string): string {
  return text === '' ? '' : ` (${text})`;
}
