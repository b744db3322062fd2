/** What an amendment asks for: plain data of commands and queries. */

/** What is asked of an order, whoever asks. */
export interface AmendmentRequest {
  /** The tickets that are given back. */
  readonly cancel: readonly string[];
  /** Operators' alone, in all; 0 of a buyer. */
  readonly feeCents: number;
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

/** A ticket of an amendment; where it is, or where it comes to. */
export interface QuotedTicket {
  readonly ticketId: string;
  readonly action: 'CANCEL' | 'CHANGE' | 'REISSUE' | 'RENAME';
  /** What is credited for its unit, on the unit's first ticket, without perks. */
  readonly creditCents: number;
  /** What the unit costs from now on, on its first ticket; 0 for one that is given back. */
  readonly priceCents: number;
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly performanceId: string;
  readonly section: string | null;
  readonly rowLabel: string | null;
  readonly seatId: string | null;
  readonly seatLabel: string | null;
}
