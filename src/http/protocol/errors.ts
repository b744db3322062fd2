/**
 * The error catalogue: every code of the API with its HTTP status, its message and its meaning.
 *
 * This is the only place that knows the status of a refusal. The page of errors and the OpenAPI document are made from
 * it.
 *
 * 1. Codes are stable identifiers: a code that was ever sent is never renamed or given another status.
 * 2. `detail` is always an object, with names in snake_case.
 */
import { isRefusal, refuse, type Refusal, type RefusalCode, type RefusalReason } from '#domain/refusal.ts';
import { toDetailBody, formatTime, type ListedProblem } from './formats.ts';

interface ErrorEntry {
  readonly status: number;
  /** For people; programs match on the code. */
  readonly message: string;
  /** One line for the page of errors: when it happens and what to do. */
  readonly meaning: string;
}

const HTTP_CODES = [
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'HEADERS_TOO_LARGE',
  'UNAUTHORIZED',
  'RATE_LIMITED',
  'OVERLOADED',
  'PAYMENT_PROVIDER_UNAVAILABLE',
  'MAIL_OFF',
  'INTERNAL',
] as const;

/** Errors of the HTTP layer itself, before or instead of a refusal by the domain. */
type HttpCode = (typeof HTTP_CODES)[number];

export type ErrorCode = RefusalCode | HttpCode;

const entry = (status: number, message: string, meaning: string): ErrorEntry => ({ status, message, meaning });

// prettier-ignore
export const ERRORS = {
  VALIDATION_ERROR: entry(400, 'The request is not valid.', 'The body, a parameter or a header has another shape than asked; detail.errors lists every problem with its path.'),
  TERMS_NOT_ACCEPTED: entry(400, 'The terms and conditions must be accepted.', 'accept_terms was not true.'),
  QUEUE_NOT_ENABLED: entry(400, 'This event has no waiting room.', 'The event needs no pass: just show the tickets.'),
  PERFORMANCE_REQUIRED: entry(400, 'This event has several dates: choose one.', 'Every item of an event with several dates names its performance_id.'),
  PERFORMANCE_NOT_FOUND: entry(400, 'There is no such date.', 'The performance_id is not of this event, its date is a draft, or the event shows no date at all.'),
  PERFORMANCE_NOT_ON_SALE: entry(400, 'This date is not on sale.', 'The date was cancelled, was closed by the operator or is over.'),
  TICKET_TYPE_NOT_FOUND: entry(400, 'There is no such ticket type.', 'The ticket_type_id is not of this event.'),
  SELLING_STAGE_NOT_FOUND: entry(400, 'There is no such selling stage.', 'The selling_stage_id is not of this event.'),
  TICKET_NOT_ON_SALE: entry(400, 'This ticket is not on sale now.', 'The stage is not open at this moment, or the ticket type is not sold in it.'),
  INSTALLMENTS_NOT_ALLOWED: entry(400, 'So many installments are not offered.', 'installment_count is over the max_installments of the event.'),
  MAX_PER_ORDER_EXCEEDED: entry(400, 'Too many of this ticket type for one order.', 'The items ask for more units of a ticket type on one date than it allows in one order; a hold is refused too where the event sets limits_at_hold.'),
  MAX_TICKETS_PER_ORDER_EXCEEDED: entry(400, 'Too many tickets for one order.', 'The tickets of all items together are over the cap of the event, or over 10,000; a hold is refused too, over the cap where the event sets limits_at_hold.'),
  MAX_TICKETS_PER_EMAIL_EXCEEDED: entry(400, 'Too many tickets for this e-mail address.', 'The live orders of this address and this one together are over the cap of the event; how many it has is not told.'),
  ATTENDEE_COUNT_MISMATCH: entry(400, 'The attendees do not match the tickets.', 'An item needs one attendee for each of its tickets.'),
  PROMO_CODE_INVALID: entry(400, 'This code cannot be used here.', 'The code is unknown, out of its time or not for these tickets.'),
  PROMO_CODE_EXHAUSTED: entry(400, 'This code has been used up.', 'The code was used as often as it may be; uses by orders that end unpaid return.'),
  BAR_PERK_NOT_FOUND: entry(400, 'There is no such bar perk.', 'The bar_perk_id is not of the ticket type.'),
  BAR_PERK_LIMIT_EXCEEDED: entry(400, 'Too many of this bar perk.', 'More perks than the tickets of the item may carry.'),
  BAR_PERK_SOLD_OUT: entry(400, 'This bar perk is sold out.', 'Fewer are left than asked; detail.available says how many.'),
  SEATING_NOT_ENABLED: entry(400, 'This ticket type has no numbered seats.', 'Seats can be suggested only for ticket types of a NUMBERED locality.'),
  SEAT_COUNT_MISMATCH: entry(400, 'The number of seats does not match the tickets.', 'seat_ids must name one seat for each ticket of the item.'),
  SEAT_NOT_IN_TICKET_TYPE: entry(400, 'A seat is not sold with this ticket type.', 'detail.seat_ids lists the seats that are unknown, of another zone, or not accessible where the ticket type is.'),
  SEAT_NOT_SELLABLE: entry(400, 'A seat is not for sale.', 'detail.seat_ids lists the seats that the operator has blocked.'),
  INSUFFICIENT_TICKETS: entry(400, 'Not enough tickets are left.', 'detail.available says how many are left; with reserved_by_others true some may return, at next_release_at at the earliest.'),
  TICKET_NOT_FOUND: entry(400, 'The order has no such ticket.', 'detail.ticket_ids lists the tickets that are not of this order.'),
  UNIT_INCOMPLETE: entry(400, 'Tickets of a group go together.', 'detail.ticket_ids lists the tickets that are missing to whole units.'),
  UNAUTHORIZED: entry(401, 'A valid credential is needed.', 'The bearer token or the signature is missing or wrong.'),
  STATION_REVOKED: entry(401, 'This station is not paired any more.', 'Its token was revoked or has expired: pair it anew; what it has not sent yet it keeps until then.'),
  QUEUE_PASS_REQUIRED: entry(403, 'This event has a waiting room: a pass is needed.', 'Join with POST /api/checkout/queue and send the admitted entry as queue_pass.'),
  QUEUE_PASS_INVALID: entry(403, 'The waiting-room pass is not valid.', 'The pass expired or is of another session or event: join again.'),
  AMENDMENT_NOT_ALLOWED: entry(403, 'This cannot be changed by the buyer.', 'detail.reason: NOT_OFFERED by the event, not for the TICKET_TYPE, or TOO_LATE since detail.until; the organizer still can.'),
  STATION_NOT_ALLOWED: entry(403, 'This station does not scan there.', 'detail.scan_ids lists the scans at a date or a door that is not its own; nothing of the batch was recorded.'),
  NOT_FOUND: entry(404, 'There is nothing at this address.', 'No route or resource has this address.'),
  EVENT_NOT_FOUND: entry(404, 'There is no such event.', 'The event is unknown or not published.'),
  HOLD_NOT_FOUND: entry(404, 'There is no such hold.', 'The id is unknown, or the session key does not own the hold.'),
  ORDER_NOT_FOUND: entry(404, 'There is no such order.', 'The id is unknown.'),
  QUEUE_ENTRY_NOT_FOUND: entry(404, 'There is no such place in line.', 'The id is unknown, or the session key does not own the entry.'),
  METHOD_NOT_ALLOWED: entry(405, 'This address does not take that method.', 'The Allow header lists the methods that it takes.'),
  REQUEST_TIMEOUT: entry(408, 'The request took too long to arrive.', 'The connection was closed before the whole request had been received.'),
  HOLD_EXPIRED: entry(409, 'The hold has run out.', 'Its tickets are back on sale: place a new hold.'),
  HOLD_NOT_ACTIVE: entry(409, 'The hold is no longer active.', 'It was released or an order has taken it over.'),
  HOLD_ITEMS_MISMATCH: entry(400, 'The items are not those of the hold.', 'With hold_id, items are left out or equal the lines of the hold.'),
  SEAT_TAKEN: entry(409, 'A seat has just been taken.', 'detail.seat_ids lists every taken seat: choose others.'),
  ORDER_NOT_PAYABLE: entry(409, 'Nothing is left to pay on this order.', 'The order is paid, or it is over.'),
  ORDER_NOT_CANCELLABLE: entry(409, 'This order cannot be cancelled.', 'The order is over already.'),
  ORDER_NOT_AMENDABLE: entry(409, 'This order cannot be amended.', 'Only an order that is CONFIRMED or PARTIALLY_PAID can, and at most 100 times; detail.status says what it is.'),
  ORDER_NOT_MAILABLE: entry(409, 'There is nothing to mail of this order.', 'Only an order that is CONFIRMED or PARTIALLY_PAID has a page with tickets to send the address of; detail.status says what it is.'),
  MAIL_OFF: entry(409, 'This service sends no mail.', 'SMTP_URL is not set: the address of the page has to be sent some other way.'),
  AMENDMENT_PENDING: entry(409, 'An amendment of this order is yet to be paid.', 'Pay it or withdraw it first: detail.amendment_id says which it is.'),
  AMENDMENT_NOT_PENDING: entry(409, 'This amendment is not pending.', 'Only one that is yet to be paid can be withdrawn; detail.status says what it is.'),
  TICKET_VOID: entry(409, 'A ticket is void.', 'detail.ticket_ids lists the tickets that are void already.'),
  TICKET_ADMITTED: entry(409, 'A ticket entered at a door.', 'detail.ticket_ids lists the tickets that did, also those that left since. Operators amend them with even_admitted.'),
  ORDER_ERASED: entry(409, 'The personal data of this order was erased.', 'Nobody is named on its tickets any more: amend it without attendees. No mail can be sent to its buyer.'),
  QUOTE_STALE: entry(409, 'The quote does not hold any more.', 'It ran out, or the amendment would come to something else by now: look at detail.quote, and send that.'),
  ORDER_NOT_ERASABLE: entry(409, 'The payment of this order is awaited.', 'Personal data of a PENDING order is kept: cancel the order first, or wait until its payment window has ended.'),
  ORDER_NOT_SEALED: entry(409, 'This order is of an older version, which kept personal data open.', 'Rewrite the data folder with holdfast seal: it makes a new one in which this order can be erased.'),
  STATION_LIMIT_EXCEEDED: entry(409, 'The event has too many stations.', 'detail.limit says how many may be LIVE at once: revoke some.'),
  REFUND_SUM_CHANGED: entry(409, 'Another sum is due by now.', 'detail.due is what would be asked for: look at it, and confirm that.'),
  REFUND_NOT_OPEN: entry(409, 'This refund needs no operator.', 'Only a refund that is NEEDS_OPERATOR can be resolved; detail.status says what it is.'),
  REFUND_TOO_HIGH: entry(409, 'More than was paid cannot be given back.', 'The amount is over what was paid and not yet given back.'),
  UPDATE_CONFLICT: entry(409, 'The update would take away something held, sold or in use.', 'detail.conflicts lists every conflict with its path; nothing was changed.'),
  PAYLOAD_TOO_LARGE: entry(413, 'The body is too large.', 'Bodies are limited to 256 KiB, those without lists to 16 KiB, webhooks to 64 KiB, scans of a station to 2 MiB, and bodies of the admin API to 16 MiB.'),
  UNSUPPORTED_MEDIA_TYPE: entry(415, 'The body must be JSON.', 'Send Content-Type: application/json.'),
  IDEMPOTENCY_KEY_REUSED: entry(422, 'This Idempotency-Key was used for another request.', 'Use a new key for each new request, and the same one only to repeat it.'),
  MAIL_LIMIT_EXCEEDED: entry(429, 'So many mails of this order were sent today.', 'A buyer may request detail.limit a day: the next one from detail.next_at on. Look into the folder for spam.'),
  RATE_LIMITED: entry(429, 'Too many requests.', 'Come back after the seconds in Retry-After.'),
  HEADERS_TOO_LARGE: entry(431, 'The headers are too large.', 'Address and headers together are limited to 16 KiB.'),
  INTERNAL: entry(500, 'Something went wrong on our side.', 'A defect of the service; detail.request_id finds it in the logs.'),
  PAYMENT_PROVIDER_UNAVAILABLE: entry(502, 'The payment provider cannot be reached.', 'Repeat the same request: with detail.order_id it goes on with that order. Without one nothing was placed, because nothing stands behind the payment_provider of the event.'),
  SALE_PAUSED: entry(503, 'The sale is paused.', 'Nothing more is held or admitted for now, what is held can be bought: come back after the seconds in Retry-After. detail.message is what the organizer says, or null.'),
  OVERLOADED: entry(503, 'The service is busy.', 'Nothing was changed; come back after the seconds in Retry-After. Where detail.event_id names an event, that one alone cannot be served.'),
} as const satisfies Record<ErrorCode, ErrorEntry>;

/** A refusal of the HTTP layer, in the form of the domain's. */
export interface HttpRefusal {
  readonly outcome: 'REFUSED';
  readonly code: HttpCode | 'VALIDATION_ERROR';
  readonly detail: object;
  readonly reason?: RefusalReason;
}

/** Messages of special cases, in place of their code's. */
const REASONS: Readonly<Record<RefusalReason, string>> = {
  NOT_SIDE_BY_SIDE: 'So many seats are left, but not side by side.',
  SESSION_KEY:
    'The session key is needed: in the header X-Session-Key, which is preferred, or as the query parameter session_key.',
};

/** What a request is refused with: `reply.refuse` sends it, whoever refuses. */
export type Refused = Refusal | HttpRefusal;

export const isRefused = isRefusal as (value: object) => value is Refused;

/** Whether the HTTP layer itself refuses with a code; no turn has it. */
export function isHttpCode(code: ErrorCode): boolean {
  return (HTTP_CODES as readonly string[]).includes(code);
}

/** Makes the refusal of a code of the HTTP layer. */
export function fail(code: HttpCode, detail: object = {}): HttpRefusal {
  return { outcome: 'REFUSED', code, detail };
}

/** Makes the refusal of a request that is not valid. */
export function invalid(errors: readonly ListedProblem[]): HttpRefusal {
  return { outcome: 'REFUSED', code: 'VALIDATION_ERROR', detail: { errors } };
}

export const NOT_FOUND = fail('NOT_FOUND');
/** The same refusal in the domain's form, for a turn that is not run because its id names nothing. */
export const NOT_NAMED = refuse('NOT_FOUND', {});
export const EVENT_NOT_FOUND = refuse('EVENT_NOT_FOUND', {});
export const HOLD_NOT_FOUND = refuse('HOLD_NOT_FOUND', {});
export const ORDER_NOT_FOUND = refuse('ORDER_NOT_FOUND', {});
export const QUEUE_ENTRY_NOT_FOUND = refuse('QUEUE_ENTRY_NOT_FOUND', {});

/** The error body of the API. */
export interface ErrorBody {
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
  readonly detail: Readonly<Record<string, unknown>>;
  readonly timestamp: string;
}

/** The body of an error; `detail` has the domain's names and comes out in the API's. */
export function errorBody(code: ErrorCode, detail: object, now: number, reason?: RefusalReason): ErrorBody {
  const { status, message: usual } = ERRORS[code];
  const message = reason === undefined ? usual : REASONS[reason];
  return { statusCode: status, code, message, detail: toDetailBody(detail), timestamp: formatTime(now) };
}
