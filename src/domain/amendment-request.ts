/** What an amendment asks for: plain data of commands and queries. */
import type { AmendmentAction } from './fact.ts';
import type { Attendee } from './personal.ts';

/** What is asked of an order, whoever asks. */
export interface AmendmentRequest {
  /** The tickets that are given back. */
  readonly cancel: readonly string[];
  /** Tickets that get a new code for the same place. */
  readonly reissue?: readonly string[];
  readonly change?: readonly TicketChange[];
  /** Who comes with which ticket from now on. */
  readonly attendees?: readonly NewAttendee[];
  /** Operators' alone, in all; 0 of a buyer. */
  readonly feeCents: number;
  /** Operators' alone: a positive difference is not charged. */
  readonly goodwill?: boolean;
  /** Operators' alone: tickets that entered at a door too. */
  readonly evenAdmitted?: true;
}

/** Tickets that go to another date, type, stage or seat; a field that is null stays as it is. */
export interface TicketChange {
  readonly ticketIds: readonly string[];
  readonly performanceId: string | null;
  readonly ticketTypeId: string | null;
  readonly sellingStageId: string | null;
  /** One for each ticket, in their order. */
  readonly seatIds: readonly string[] | null;
}

interface NewAttendee {
  readonly ticketId: string;
  readonly attendee: Attendee;
}

/** A quote: what an amendment would do now, and the text by which it is done. */
export interface AmendmentQuote extends QuotedAmendment {
  readonly quote: string;
  readonly expiresAt: number;
}

/** What an amendment would do. */
export interface QuotedAmendment {
  readonly tickets: readonly QuotedTicket[];
  /** Of `creditCents`, what is credited for perks. */
  readonly perksCreditCents: number;
  readonly creditCents: number;
  readonly chargeCents: number;
  readonly feeCents: number;
  /** charge + fee − credit. */
  readonly differenceCents: number;
  readonly toPayCents: number;
  /** What becomes due back. */
  readonly toRefundCents: number;
  /** Of the order after it. */
  readonly totalCents: number;
  readonly remainingCents: number;
  readonly currency: string;
}

/** A ticket of an amendment: its present place, or its new one. */
export interface QuotedTicket {
  readonly ticketId: string;
  readonly action: AmendmentAction;
  /** What is credited for its unit, on the unit's first ticket, without perks. */
  readonly creditCents: number;
  /** What is charged for its unit, on the unit's first ticket; 0 where the price stays. */
  readonly priceCents: number;
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly performanceId: string;
  readonly section: string | null;
  readonly rowLabel: string | null;
  readonly seatId: string | null;
  readonly seatLabel: string | null;
}
