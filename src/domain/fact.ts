/**
 * Facts: what happened, as the journal keeps it. This file is the storage format.
 *
 * A field is never renamed or given another meaning; new ones are optional, and an upcaster below fills them in for
 * facts written earlier. A golden file with one of each fact is replayed in the tests. Times are milliseconds since
 * 1970, amounts cents. The moment of a fact (`at`) stands beside it in the journal.
 */
import type { OrderTrigger } from '#machines/order.ts';
import type { EventDefinition, PaymentKind, PaymentProviderName } from './catalogue/definition.ts';
import type { Steering } from './catalogue/state.ts';
import type { OrderTexts } from './order-texts.ts';
import type { CounterSale, HoldLine, OrderItem, AmendedTicket } from './sold-items.ts';
import type { Attendee, Customer, ErasureCause, MailRequest, SealedPersonal } from './personal.ts';
import type { FedChange, FeedKey, RecordedScan, ScanResult, StationKind } from './recorded-scan.ts';

export type { HoldLine, OrderedPerk, OrderItem, PricedItem, AmendmentAction, AmendedTicket } from './sold-items.ts';

/** The order's terms after an amendment. */
export interface AmendmentTerms {
  readonly orderId: string;
  readonly amendmentId: string;
  readonly by: CancellationCause;
  /** Every ticket that the amendment names; their new ones have ids once it is applied. */
  readonly tickets: readonly AmendedTicket[];
  /** The tickets that are valid from then on, in the order of the items and their seats. */
  readonly ticketIds: readonly string[];
  /** Without attendees: those of the purchase stay where they are. */
  readonly items: readonly OrderItem[];
  /** Of the order's hold. */
  readonly lines: readonly HoldLine[];
  readonly promoCode: string | null;
  /** Of the order from then on; the total has the fees in it. */
  readonly totalCents: number;
  readonly feesCents: number;
  /** What was not charged, which is taken off the total; absent where that is nothing. */
  readonly goodwillCents?: number;
  /** Of the amendment. */
  readonly differenceCents: number;
  readonly feeCents: number;
  /** Tickets are given back in the days of withdrawal. */
  readonly isWithdrawal?: true;
  /**
   * Who comes with tickets from then on, sealed; open where nothing can be sealed. Absent where nobody is named, and
   * where an earlier AmendmentRequested has them.
   */
  readonly sealedAttendees?: string;
  readonly attendees?: readonly Attendee[];
  /** As on OrderCancelled. */
  readonly sealedNote?: string;
}

/** Who caused a cancellation. Late money may bring an order back only after its buyer's own cancellation. */
export type CancellationCause = 'BUYER' | 'OPERATOR' | 'PERFORMANCE';

/** The key and digest by which a repeat of a request is recognized. */
export interface IdempotencyKey {
  readonly key: string;
  /** Digest of the route and the request's body. */
  readonly digest: string;
}

/** Who did it and why, on facts that come from the operators' side. */
export interface OperatorNote {
  readonly operator: string | null;
  readonly note: string | null;
}

/**
 * What an operator wrote about an order: open where it is about a performance, and in older facts; sealed in others.
 * Null and absent where nothing was written.
 */
export interface SealedOperatorNote extends OperatorNote {
  readonly sealedNote?: string;
}

/** The cancellation of a date. */
export interface DateCancellation extends OperatorNote {
  /** Of paid orders its tickets alone are cancelled; absent where orders with a ticket on it are cancelled whole. */
  readonly orders?: 'TICKETS';
}

/** Why a refund did not go, or needs an operator: a code of this service or of the provider. */
export interface RefundFailure {
  readonly code: string;
  readonly message: string;
}

/** What was answered to a marked request; of holds, orders and refunds what the facts before it made of them. */
export type RequestAnswer =
  | { readonly of: 'HOLD'; readonly holdId: string }
  | { readonly of: 'ORDER'; readonly orderId: string }
  | { readonly of: 'PAYMENT'; readonly orderId: string; readonly paymentId: string }
  | { readonly of: 'AMENDMENT'; readonly orderId: string; readonly amendmentId: string }
  | {
      readonly of: 'PERFORMANCE';
      readonly releasedHolds: number;
      readonly cancelledOrders: number;
      readonly amendedOrders?: number;
    }
  | { readonly of: 'SEATS'; readonly seats: number }
  | { readonly of: 'REFUNDS' }
  | { readonly of: 'SCAN'; readonly result: ScanResult };

/** What requests leave behind: answers under idempotency keys, items of holds that ended, ended holds and entries. */
export type RetainedKind = 'ANSWERS' | 'HOLD_ITEMS' | 'ENDED_HOLDS' | 'ENDED_ENTRIES';

export interface FactData {
  EventDefined: OperatorNote & {
    readonly eventNumber: number;
    /** 1 for the first definition, one more with each that differs. */
    readonly version: number;
    readonly definition: EventDefinition;
  };
  /** Operators steer the sale, over the definition: all of it as it is from now on. */
  SaleSteered: OperatorNote & Steering;
  PerformanceCancelled: DateCancellation & { readonly performanceId: string };
  SeatsBlocked: OperatorNote & { readonly performanceId: string; readonly seatIds: readonly string[] };
  SeatsUnblocked: OperatorNote & { readonly performanceId: string; readonly seatIds: readonly string[] };

  HoldPlaced: {
    readonly holdId: string;
    readonly sessionKey: string;
    readonly lines: readonly HoldLine[];
    readonly expiresAt: number;
    /** When this session's chain of replaced holds began; the ceiling of hold_max_minutes counts from here. */
    readonly firstPlacedAt: number;
    readonly replacedHoldId: string | null;
    readonly idempotency: IdempotencyKey | null;
    /**
     * The order that takes it over in the same turn: a checkout that began without a hold. Facts before this field lack
     * it.
     */
    readonly orderId?: string;
  };
  HoldChanged: { readonly holdId: string; readonly lines: readonly HoldLine[]; readonly expiresAt: number };
  HoldReleased: { readonly holdId: string };
  HoldExpired: { readonly holdId: string };

  /** The event got a waiting room; with an opening time its draw is sealed. */
  WaitingRoomAdded: {
    readonly opensAt: number | null;
    /** 32 random bytes in hex, a secret until the draw is finished. */
    readonly drawSeed: string | null;
    readonly drawCommitment: string | null;
  };
  WaitingRoomRescheduled: { readonly opensAt: number };
  WaitingRoomRemoved: Readonly<Record<never, never>>;
  WaitingRoomPaused: Readonly<Record<never, never>>;
  WaitingRoomResumed: Readonly<Record<never, never>>;
  /** The waiting room opens; so many take part in the draw. */
  DrawStarted: {
    readonly entryCount: number;
    /**
     * 32 random bytes in hex, made in this turn; absent in draws begun before there were openings, whose order is the
     * seed's alone.
     */
    readonly opening?: string;
  };
  /** A piece of the drawn line; `from` counts from 0. */
  LineDrawn: { readonly from: number; readonly entryIds: readonly string[] };
  DrawFinished: { readonly entriesDigest: string };

  QueueEntryJoined: { readonly entryId: string; readonly sessionKey: string };
  QueueEntriesAdmitted: { readonly entryIds: readonly string[]; readonly passExpiresAt: number };
  /** They were not seen for too long. */
  QueueEntriesDropped: { readonly entryIds: readonly string[] };
  QueueEntryLeft: { readonly entryId: string };
  QueuePassExpired: { readonly entryId: string };
  QueuePassSpent: {
    readonly entryId: string;
    /** Spent only for requests without a session key; its session may use it again. Facts before this field lack it. */
    readonly withoutKey?: true;
  };

  OrderPlaced: OrderTexts & {
    readonly orderId: string;
    /** The hold that the order takes over; one placed in the same turn where the checkout began without. */
    readonly holdId: string;
    readonly items: readonly OrderItem[];
    /** Null where it is sealed. */
    readonly customer: Customer | null;
    /** Customer, attendees and tracking, sealed; absent in facts from before there was sealing. */
    readonly personal?: SealedPersonal;
    readonly promoCode: string | null;
    /** Null where it is sealed; of older facts as in `PersonalData`. */
    readonly tracking: Readonly<Record<string, unknown>> | null;
    readonly successUrl: string | null;
    readonly cancelUrl: string | null;
    readonly currency: string;
    readonly totalCents: number;
    readonly paymentProvider: PaymentKind;
    /** What is to be paid, one after the other; empty for a free order. */
    readonly installmentsCents: readonly number[];
    /** The try at the first installment; null for a free order. */
    readonly firstPaymentId: string | null;
    /** The end of the payment window; null for a free order. */
    readonly expiresAt: number | null;
    readonly idempotency: IdempotencyKey | null;
  };
  /** An operator made the order at a counter: paid in cash, or given away. Comes behind its OrderPlaced. */
  SoldAtCounter: OperatorNote & CounterSale;
  /** A start that had got no session was made again, under another idempotency key. */
  CheckoutResumed: { readonly orderId: string; readonly idempotency: IdempotencyKey };
  /** A further try, or the first at a further installment; `installment` counts from 1. */
  PaymentRequested: {
    readonly orderId: string;
    readonly paymentId: string;
    /** 0 where it is for an amendment. */
    readonly installment: number;
    readonly amendmentId?: string;
  };
  CheckoutSessionOpened: {
    readonly orderId: string;
    readonly paymentId: string;
    readonly checkoutSessionId: string;
    readonly redirectUrl: string;
    /** When the provider closes the session; null where it does not say. */
    readonly expiresAt: number | null;
  };
  /** A try ended without money; the order is not moved by it. */
  PaymentClosed: {
    readonly orderId: string;
    readonly paymentId: string;
    readonly outcome: 'DECLINED' | 'CANCELLED' | 'EXPIRED';
    readonly webhookId: string | null;
  };
  /** The money that a payment asked for is there. */
  PaymentRecorded: {
    readonly orderId: string;
    readonly paymentId: string;
    readonly amountCents: number;
    readonly currency: string;
    /** Whether it pays its installment; other money is due as a refund. */
    readonly isCounted: boolean;
    /** The payment's id as the provider reported it, or null. */
    readonly reference: string | null;
    readonly webhookId: string | null;
    /** What the order owes to the buyer after it. */
    readonly refundDueCents: number;
    /** The part of it that became due because a counted payment brought more than was left to pay; absent: nothing. */
    readonly toRefundCents?: number;
  };
  /** Money that no payment asked for, kept as a payment of its own: another sum or currency, or a second time. */
  StrayMoneyRecorded: {
    readonly orderId: string;
    readonly paymentId: string;
    /** The payment whose session it came through. */
    readonly strayOf: string;
    readonly amountCents: number;
    readonly currency: string;
    readonly reference: string | null;
    readonly webhookId: string | null;
    /** What the order owes to the buyer in its own currency. */
    readonly refundDueCents: number;
    /** What is due back in the money's own currency; absent where that is the order's. */
    readonly foreignDueCents?: number;
  };
  /** Something was paid, or nothing was to be paid; comes with each counted PaymentRecorded and with a free order. */
  OrderPaid: {
    readonly orderId: string;
    readonly trigger: Exclude<OrderTrigger, 'COVER' | 'EXPIRE' | 'CANCEL'>;
  };
  /** One id for each ticket, in the order of the items and their seats. */
  TicketsIssued: { readonly orderId: string; readonly ticketIds: readonly string[] };
  OrderExpired: { readonly orderId: string };
  /**
   * An order is to be amended once its buyer has paid for the amendment. Until then the places that it wants beyond its
   * own are held, and everything else stays as it is.
   */
  AmendmentRequested: OperatorNote &
    AmendmentTerms & {
      readonly toPayCents: number;
      /** Of the order, from now on, where it was free. */
      readonly paymentProvider: PaymentProviderName;
      /** The first try to pay for it. */
      readonly paymentId: string;
      /** The end of its payment window. */
      readonly expiresAt: number;
      readonly successUrl: string | null;
      readonly cancelUrl: string | null;
    };
  /** The amendment ended before any money came, and so did the tries to pay for it. */
  AmendmentEnded: {
    readonly orderId: string;
    readonly amendmentId: string;
    readonly outcome: 'EXPIRED' | 'CANCELLED';
    /** Who caused the end; null for the end of its payment window. */
    readonly cause: CancellationCause | null;
    readonly operator: string | null;
  };
  /**
   * An order is amended, with everything that changes by it. Where no ticket is left an OrderCancelled follows, and the
   * order keeps the tickets and items that it had.
   */
  OrderAmended: OperatorNote &
    AmendmentTerms & {
      /** What was paid and what is left, one after the other. */
      readonly installmentsCents: readonly number[];
      readonly toRefundCents: number;
      /** What the order owes to the buyer after it. */
      readonly refundDueCents: number;
      /** Nothing of a PARTIALLY_PAID order is left to pay. */
      readonly trigger?: 'COVER';
    };
  OrderCancelled: SealedOperatorNote & {
    readonly orderId: string;
    readonly cause: CancellationCause;
    /** The amendment that left no ticket. */
    readonly amendmentId?: string;
    readonly refundDueCents: number;
  };
  /** A refund is to be executed at the provider of the order; the provider is asked once this is durable. */
  RefundRequested: SealedOperatorNote & {
    readonly orderId: string;
    readonly refundId: string;
    /** The payment whose money is given back. */
    readonly paymentId: string;
    /** The amendment that asked for it, where the event refunds by itself. */
    readonly amendmentId?: string;
    readonly amountCents: number;
    /** Absent where it is the order's. */
    readonly currency?: string;
  };
  /** What a try to execute a refund came to, a report of its failure, or what an operator decided about it. */
  RefundAnswered: SealedOperatorNote & {
    readonly orderId: string;
    readonly refundId: string;
    /**
     * PENDING: the provider works on it. UNCLEAR: no answer that says whether the money goes. REDUCED: a part was given
     * back otherwise. RETRY: an operator has it tried again.
     */
    readonly answer: 'PENDING' | 'UNCLEAR' | 'REDUCED' | 'FAILED' | 'NEEDS_OPERATOR' | 'RETRY';
    /** What the refund is of from now on. */
    readonly amountCents: number;
    /** Absent where it is the order's. */
    readonly currency?: string;
    /** Tries so far, this one included. */
    readonly tries: number;
    /** How the provider calls it. */
    readonly reference?: string;
    readonly failure?: RefundFailure;
    /** When it is tried, or asked about, again; absent where it is not. */
    readonly nextTryAt?: number;
    /** The number of the try that the provider answered with nothing given back; the next key ends with this number. */
    readonly keyTry?: number;
    /** With FAILED: what the order owes to the buyer in the currency of the refund after it. */
    readonly refundDueCents?: number;
  };
  /** Everything that is due is to be given back: of orders with a ticket on a date, or of all, by turns that follow. */
  DueRefundsOrdered: { readonly performanceId: string | null; readonly operator: string | null };
  /** The last of these turns has asked for what was due. */
  DueRefundsAsked: { readonly performanceId: string | null };
  /** Money was given back: a refund that was executed has succeeded, or it happened outside of this service. */
  RefundRecorded: SealedOperatorNote & {
    readonly orderId: string;
    readonly refundId: string;
    readonly amountCents: number;
    readonly refundDueCents: number;
    /** How the provider, or the operator, calls it; absent where nobody said. */
    readonly reference?: string;
    /** How the provider calls its report, where that names no refund; `reference` is absent then. */
    readonly reportReference?: string;
    /** Absent where it is the order's. */
    readonly currency?: string;
    /** Who reported it; absent where an operator noted it. */
    readonly provider?: PaymentProviderName;
    /** The recorded refund that is the same as this one; the amount is what was not recorded yet, nearly always 0. */
    readonly sameAs?: string;
    /** The refund was executed by this service, and is the one that was requested under its id. */
    readonly isExecuted?: true;
    /** Of an executed one: the tries that it took. */
    readonly tries?: number;
    /** The payment whose money it was; absent where that is not known. */
    readonly paymentId?: string;
  };
  /** A station may scan at the doors; its token is known by its digest alone. */
  StationAdded: {
    readonly stationId: string;
    readonly name: string;
    readonly kind: StationKind;
    /** Null: at all, later ones too. */
    readonly performanceIds: readonly string[] | null;
    readonly doorIds: readonly string[] | null;
    readonly expiresAt: number | null;
    /** SHA-256, in hex. */
    readonly tokenSha256: string;
    readonly gateUrl?: string;
    readonly operator: string | null;
  };
  StationRevoked: { readonly stationId: string; readonly operator: string | null };
  /** A batch of scans that a station sent. */
  TicketsScanned: { readonly stationId: string; readonly scans: readonly RecordedScan[] };
  /** An operator scanned a ticket in or out by hand, or undid a scan of it; the scan may have been refused. */
  TicketScannedByHand: SealedOperatorNote & {
    readonly orderId: string;
    readonly scan: RecordedScan;
  };
  /** At a gate: a page of its service's feed. */
  FeedTaken: {
    readonly cursor: string;
    /** The feed begins anew: after its last page only the tickets that it named count. */
    readonly isAnew: boolean;
    readonly more: boolean;
    /** The gate's own scans that it received until then are in it. */
    readonly includesUntil: number;
    /** Absent where it is as before. */
    readonly head?: {
      /** The gate itself. */
      readonly stationId: string;
      readonly keys: readonly FeedKey[];
      readonly performances: readonly { readonly id: string; readonly status: string; readonly expected: number }[];
    };
    /** Tickets by digest: state, since when, and at which door. */
    readonly changes: readonly FedChange[];
  };
  MailRequested: MailRequest & { readonly orderId: string };
  /** The keys of these ids are destroyed once this is durable: nobody can read what they sealed of the order. */
  OrderErased: {
    readonly orderId: string;
    readonly keyIds: readonly string[];
    readonly operator: string | null;
    readonly cause: ErasureCause;
  };
  /**
   * A request with an idempotency key was answered; the last fact of its turn. HoldPlaced and OrderPlaced carry their
   * own marks.
   */
  RequestAnswered: { readonly idempotency: IdempotencyKey; readonly answer: RequestAnswer };
  /** The process kept too many records of a kind, and this event most of them: its oldest are dropped. */
  OldestDropped: { readonly of: RetainedKind };
}

export type FactType = keyof FactData;

/** Every type of fact; an unknown type was written by a newer version. */
export const FACT_TYPES = {
  EventDefined: true,
  SaleSteered: true,
  PerformanceCancelled: true,
  SeatsBlocked: true,
  SeatsUnblocked: true,
  HoldPlaced: true,
  HoldChanged: true,
  HoldReleased: true,
  HoldExpired: true,
  OrderPlaced: true,
  SoldAtCounter: true,
  CheckoutResumed: true,
  PaymentRequested: true,
  CheckoutSessionOpened: true,
  PaymentClosed: true,
  PaymentRecorded: true,
  StrayMoneyRecorded: true,
  OrderPaid: true,
  TicketsIssued: true,
  OrderExpired: true,
  AmendmentRequested: true,
  AmendmentEnded: true,
  OrderAmended: true,
  OrderCancelled: true,
  RefundRequested: true,
  RefundAnswered: true,
  DueRefundsOrdered: true,
  DueRefundsAsked: true,
  RefundRecorded: true,
  MailRequested: true,
  OrderErased: true,
  StationAdded: true,
  StationRevoked: true,
  TicketsScanned: true,
  TicketScannedByHand: true,
  FeedTaken: true,
  WaitingRoomAdded: true,
  WaitingRoomRescheduled: true,
  WaitingRoomRemoved: true,
  WaitingRoomPaused: true,
  WaitingRoomResumed: true,
  DrawStarted: true,
  LineDrawn: true,
  DrawFinished: true,
  QueueEntryJoined: true,
  QueueEntriesAdmitted: true,
  QueueEntriesDropped: true,
  QueueEntryLeft: true,
  QueuePassExpired: true,
  QueuePassSpent: true,
  RequestAnswered: true,
  OldestDropped: true,
} as const satisfies Record<FactType, true>;

export type FactOf<Type extends FactType> = { readonly type: Type; readonly data: FactData[Type] };

export type Fact = { [Type in FactType]: FactOf<Type> }[FactType];

/** Makes a fact; a function and not a literal only so that the compiler ties the data to the type. */
export function fact<Type extends FactType>(type: Type, data: FactData[Type]): Fact {
  return { type, data } as Fact;
}
