/**
 * Refusals: each refusal code of the API with the shape of its detail.
 *
 * A refusal is a value that `decide` returns; it is never thrown. Its HTTP status is in `protocol/errors.ts` alone.
 */

/** A problem in a request, found after its shape was checked; `path` leads to it through the request's body. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

type Nothing = Readonly<Record<never, never>>;

/** How many were allowed and how many the request would come to. */
interface LimitDetail {
  readonly limit: number;
  readonly requested: number;
}

interface TicketsDetail {
  readonly ticketIds: readonly string[];
}

interface InsufficientTicketsDetail {
  /** Tickets this session could still take, its own hold counted as free. */
  readonly available: number;
  /** Whether other sessions' holds are in the way, so that stock may return. */
  readonly reservedByOthers: boolean;
  /** When the first of the holds in the way runs out, or null. */
  readonly nextReleaseAt: number | null;
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly performanceId: string;
  /** The most seats that can be had side by side, when seats were to be assigned and no block was long enough. */
  readonly largestBlock?: number;
}

interface RefusalDetails {
  VALIDATION_ERROR: { readonly errors: readonly Problem[] };
  EVENT_NOT_FOUND: Nothing;
  IDEMPOTENCY_KEY_REUSED: Nothing;
  TERMS_NOT_ACCEPTED: Nothing;
  HOLD_NOT_FOUND: Nothing;
  HOLD_EXPIRED: Nothing;
  HOLD_NOT_ACTIVE: { readonly status: string };
  HOLD_ITEMS_MISMATCH: Nothing;
  QUEUE_NOT_ENABLED: Nothing;
  QUEUE_ENTRY_NOT_FOUND: Nothing;
  QUEUE_PASS_REQUIRED: Nothing;
  QUEUE_PASS_INVALID: Nothing;
  PERFORMANCE_REQUIRED: Nothing;
  /** Null where none was named and the event shows none. */
  PERFORMANCE_NOT_FOUND: { readonly performanceId: string | null };
  PERFORMANCE_NOT_ON_SALE: { readonly performanceId: string };
  TICKET_TYPE_NOT_FOUND: { readonly ticketTypeId: string };
  SELLING_STAGE_NOT_FOUND: { readonly sellingStageId: string };
  TICKET_NOT_ON_SALE: { readonly ticketTypeId: string; readonly sellingStageId: string };
  INSTALLMENTS_NOT_ALLOWED: LimitDetail;
  MAX_PER_ORDER_EXCEEDED: LimitDetail & { readonly ticketTypeId: string };
  MAX_TICKETS_PER_ORDER_EXCEEDED: LimitDetail;
  MAX_TICKETS_PER_EMAIL_EXCEEDED: LimitDetail;
  ATTENDEE_COUNT_MISMATCH: {
    readonly ticketTypeId: string;
    readonly expected: number;
    readonly given: number;
  };
  PROMO_CODE_INVALID: { readonly promoCode: string };
  PROMO_CODE_EXHAUSTED: { readonly promoCode: string };
  BAR_PERK_NOT_FOUND: { readonly barPerkId: string };
  BAR_PERK_LIMIT_EXCEEDED: LimitDetail & { readonly barPerkId: string };
  BAR_PERK_SOLD_OUT: { readonly barPerkId: string; readonly available: number };
  PAYMENT_PROVIDER_UNAVAILABLE: Nothing;
  /** The payment provider could not be asked in time. */
  OVERLOADED: Nothing;
  /** What operators tell buyers; null where they said nothing. */
  SALE_PAUSED: { readonly message: string | null };
  SEATING_NOT_ENABLED: { readonly ticketTypeId: string };
  SEAT_COUNT_MISMATCH: {
    readonly ticketTypeId: string;
    readonly expected: number;
    readonly given: number;
  };
  SEAT_NOT_IN_TICKET_TYPE: { readonly seatIds: readonly string[] };
  SEAT_NOT_SELLABLE: { readonly seatIds: readonly string[] };
  SEAT_TAKEN: { readonly seatIds: readonly string[] };
  INSUFFICIENT_TICKETS: InsufficientTicketsDetail;
  ORDER_NOT_FOUND: Nothing;
  ORDER_NOT_PAYABLE: { readonly status: string };
  ORDER_NOT_CANCELLABLE: { readonly status: string };
  ORDER_NOT_AMENDABLE: { readonly status: string };
  ORDER_NOT_MAILABLE: { readonly status: string };
  /** `limit` a day; the next one from `nextAt` on. */
  MAIL_LIMIT_EXCEEDED: { readonly limit: number; readonly nextAt: number };
  AMENDMENT_PENDING: { readonly amendmentId: string };
  AMENDMENT_NOT_PENDING: { readonly status: string };
  TICKET_NOT_FOUND: TicketsDetail;
  TICKET_VOID: TicketsDetail;
  UNIT_INCOMPLETE: TicketsDetail;
  TICKET_ADMITTED: TicketsDetail;
  ORDER_ERASED: Nothing;
  /** `until`: when it was allowed for the last time; null where it never is. */
  AMENDMENT_NOT_ALLOWED: {
    readonly reason: 'NOT_OFFERED' | 'TOO_LATE' | 'TICKET_TYPE';
    readonly until: number | null;
  };
  /** What the amendment would do now: a quote. */
  QUOTE_STALE: { readonly quote: object };
  ORDER_NOT_ERASABLE: { readonly status: string };
  ORDER_NOT_SEALED: Nothing;
  /** Something that the path names, beside the order, does not exist. */
  NOT_FOUND: Nothing;
  STATION_REVOKED: Nothing;
  /** Scans at a date or a door that is not the station's. */
  STATION_NOT_ALLOWED: { readonly scanIds: readonly string[] };
  STATION_LIMIT_EXCEEDED: { readonly limit: number };
  REFUND_SUM_CHANGED: { readonly due: readonly { readonly amount: number; readonly currency: string }[] };
  REFUND_NOT_OPEN: { readonly status: string };
  REFUND_TOO_HIGH: { readonly refundable: number; readonly requested: number };
  UPDATE_CONFLICT: { readonly conflicts: readonly Problem[] };
}

export type RefusalCode = keyof RefusalDetails;

/** A special case of a code, which has a message of its own. */
export type RefusalReason =
  /** As many are left as wanted, but not side by side. */
  | 'NOT_SIDE_BY_SIDE'
  /** The key of a session, which can be sent in two ways, is missing or of wrong length. */
  | 'SESSION_KEY';

/** `code` is the API's stable identifier; `detail` has the keys of that code. */
export type Refusal = {
  [Code in RefusalCode]: {
    readonly outcome: 'REFUSED';
    readonly code: Code;
    readonly detail: RefusalDetails[Code];
    readonly reason?: RefusalReason;
  };
}[RefusalCode];

/** Makes the refusal of a code, with the detail that the code calls for. */
export function refuse<Code extends RefusalCode>(code: Code, detail: RefusalDetails[Code]): Refusal {
  return { outcome: 'REFUSED', code, detail } as Refusal;
}

/** A refusal for problems that the shape of a body cannot show, such as one seat named by two items. */
export function refuseProblems(errors: readonly Problem[]): Refusal {
  return refuse('VALIDATION_ERROR', { errors });
}

export function isRefusal(value: object): value is Refusal {
  // Reading a name that may not be there is faster than asking whether it is (measured: a third of a turn's checks).
  return (value as { readonly outcome?: unknown }).outcome === 'REFUSED';
}
