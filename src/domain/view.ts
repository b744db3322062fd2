/**
 * Views: what replies show of an event, as plain data. `src/http` makes the API's bodies from them.
 */
import type { ShownSteering } from './catalogue/state.ts';
import type { HoldStatus } from '#machines/hold.ts';
import type { OrderStatus } from '#machines/order.ts';
import type { PaymentStatus } from '#machines/payment.ts';
import type { PerformanceStatus } from '#machines/performance.ts';
import type { AmendmentStatus } from '#machines/amendment.ts';
import type { RefundStatus } from '#machines/refund.ts';
import type { QueueEntryStatus } from '#machines/queue-entry.ts';
import type { WaitingRoomStatus } from '#machines/waiting-room.ts';
import type { Given } from '#client/doors/scan.ts';
import type { DoorDefinition, PaymentKind, PaymentProviderName } from './catalogue/definition.ts';
import type {
  AmendedTicket,
  CancellationCause,
  HoldLine,
  SealedOperatorNote,
  OrderedPerk,
  OrderItem,
  RefundFailure,
  RequestAnswer,
} from './fact.ts';
import type { OrderTexts } from './order-texts.ts';
import type { SealedOrder } from './personal.ts';
import type { StationConflict, ScanView, StationKind, TicketPresence, VoidReason } from './recorded-scan.ts';

export type { ScannedTicketView, ScanResult, ScanView, VoidReason } from './recorded-scan.ts';

/** What a repeat of a marked request is answered from. */
export type IdempotentAnswer =
  | { readonly of: 'HOLD'; readonly hold: HoldView }
  /** The hold as it is: nothing has changed it since. */
  | { readonly of: 'LIVE_HOLD'; readonly holdId: string }
  | { readonly of: 'ORDER'; readonly orderId: string }
  | { readonly of: 'ORDER_THEN'; readonly orderId: string; readonly then: OrderThen }
  | {
      readonly of: 'PAYMENT';
      readonly orderId: string;
      readonly paymentId: string;
      /** Of an order that had been amended by then. */
      readonly changes?: object;
    }
  | { readonly of: 'AMENDMENT'; readonly orderId: string; readonly amendmentId: string }
  | { readonly of: 'REFUNDS'; readonly sums: RefundSums }
  | Extract<RequestAnswer, { readonly of: 'PERFORMANCE' }>
  | Extract<RequestAnswer, { readonly of: 'SEATS' | 'SCAN' }>;

/** What the later life of an order alters of its view, as it was at a moment. */
export type OrderThen = Pick<
  OrderView,
  | 'status'
  | 'paymentStatus'
  | 'paidCents'
  | 'remainingCents'
  | 'refundedCents'
  | 'refundDueCents'
  | 'refundsDue'
  | 'paidInstallments'
  | 'payments'
  | 'refunds'
  | 'event'
  | 'cancellation'
> & {
  readonly hasTickets: boolean;
  /** Of an order that had been amended by then. */
  readonly changes?: object;
};

/** A hold as the API shows it. */
export interface HoldView {
  readonly id: string;
  readonly eventId: string;
  readonly status: HoldStatus;
  readonly expiresAt: number;
  readonly orderId: string | null;
  readonly items: readonly HoldItemView[];
}

/** What the tickets of a hold cost: `ticketsCents` is less the discount, without perks. */
export interface QuoteView {
  readonly ticketsCents: number;
  readonly discountCents: number;
  readonly currency: string;
}

/** Snapshots keep it with the answers to idempotency keys (`event/repeats.ts`), so its fields stay as they are. */
export interface HoldItemView extends Omit<HoldLine, 'unitPriceCents'> {
  readonly seatLabels: readonly string[];
}

/** An order with everything on it; the code that makes the bodies decides what the public sees. */
export interface OrderView extends OrderTexts {
  readonly id: string;
  readonly holdId: string;
  readonly status: OrderStatus;
  readonly paymentStatus: 'PENDING' | 'COMPLETED' | 'FAILED';
  readonly placedAt: number;
  /** The end of the payment window, also after it; null for a free order. */
  readonly expiresAt: number | null;
  readonly currency: string;
  readonly totalCents: number;
  /** All money that came in the order's currency, what is due back included. */
  readonly paidCents: number;
  readonly remainingCents: number;
  readonly refundedCents: number;
  /** What is due and being given back, in the order's currency. */
  readonly refundPendingCents: number;
  /** What is due back in the order's currency. */
  readonly refundDueCents: number;
  /** All that is due back, by currency; empty when nothing is. */
  readonly refundsDue: readonly CurrencyAmount[];
  readonly paymentProvider: PaymentKind;
  readonly installmentsCents: readonly number[];
  readonly paidInstallments: number;
  readonly payments: readonly PaymentView[];
  readonly refunds: readonly RefundView[];
  /** A page of them (`TicketPage`). */
  readonly tickets: readonly TicketView[];
  readonly ticketCount: number;
  /** The ticket after which the next page begins; null on the last one. */
  readonly ticketsNextAfter: string | null;
  readonly items: readonly OrderItemView[];
  /** What was bought, by its name today; missing where the definition has it no more. */
  readonly ticketTypes: readonly IdAndName[];
  readonly barPerks: readonly IdAndName[];
  readonly discounts: readonly DiscountView[];
  readonly event: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    /** The performances of the order's tickets. */
    readonly performances: readonly OrderedPerformanceView[];
  };
  /** Customer, attendees and tracking. */
  readonly personal: SealedOrder;
  readonly promoCode: string | null;
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
  /** Null of an order that its buyer placed. */
  readonly counter: CounterView | null;
  readonly cancellation: CancellationView | null;
  /** The newest first, and no more than `AMENDMENTS_SHOWN_MAX` where it is not shown whole. */
  readonly amendments: readonly AmendmentView[];
  /** In the total. */
  readonly feesCents: number;
  /** Taken off the total. */
  readonly goodwillCents: number;
  /** Tickets that amendments made void, the newest first and no more than a page of them. */
  readonly voidTickets: readonly (TicketView & { readonly voidReason: VoidReason })[];
}

export interface IdAndName {
  readonly id: string;
  readonly name: string;
}

/** Who comes is among the order's personal data; `isNamed` says that of sealed data. */
export type OrderItemView = Omit<OrderItem, 'attendees' | 'priced'> & {
  /** Of a changed order: where the people of the item's tickets stand in `PersonalData`. */
  readonly people?: readonly Pick<TicketView, 'itemIndex' | 'offset'>[];
};

/** Who scanned a ticket by hand, or undid a scan of it, and why. */
export interface ScanNote extends SealedOperatorNote {
  readonly scanId: string;
  /** The scan was undone. */
  readonly isUndoing?: true;
}

/** Who made an order at a counter, and why. */
export interface CounterView extends SealedOperatorNote {
  /** The limits of the event were not asked. */
  readonly exceedsLimits?: true;
}

export interface CancellationView extends SealedOperatorNote {
  readonly cause: CancellationCause;
  readonly at: number;
  /** The amendment that left no ticket: the order keeps its fees, and stays cancelled. */
  readonly amendmentId?: string;
}

/** A change of an order that was paid. */
export interface AmendmentView extends SealedOperatorNote {
  readonly id: string;
  readonly status: AmendmentStatus;
  readonly by: CancellationCause;
  readonly createdAt: number;
  readonly appliedAt: number | null;
  /** The end of its payment window, also after it; null where nothing was to be paid. */
  readonly expiresAt: number | null;
  /** Below zero where something was given up. */
  readonly differenceCents: number;
  readonly feeCents: number;
  readonly toPayCents: number;
  readonly toRefundCents: number;
  readonly tickets: readonly AmendedTicket[];
  /** Tickets were given back in the days of withdrawal. */
  readonly isWithdrawal?: true;
  /** The newest try to pay for it; null where nothing was to be paid. */
  readonly payment: Pick<PaymentView, 'id' | 'provider' | 'redirectUrl' | 'checkoutSessionId'> | null;
}

/** Money given back; the fields that may be missing do not apply, or were not known to the first version. */
export interface RefundView extends SealedOperatorNote, Partial<RefundExecution> {
  readonly id: string;
  readonly amountCents: number;
  readonly at: number;
  /** How the provider, or the operator, calls it. */
  readonly reference?: string;
  /** How the provider calls a report of it that does not name it. */
  readonly reportReference?: string;
  /** Where it is not the order's. */
  readonly currency?: string;
  /** Who reported it; of one that an operator noted, once the report has come. */
  readonly provider?: PaymentProviderName;
  /** An operator's note and the provider's report both stand behind it. */
  readonly isMatched?: true;
}

/** The fields of a refund that this service executed, or is executing. */
interface RefundExecution {
  /** Absent where it was recorded, and has not failed since: SUCCEEDED. */
  readonly status: RefundStatus;
  /** The payment whose money it is; of a recorded one where a provider said so. */
  readonly paymentId: string;
  /** The amendment that asked for it. */
  readonly amendmentId: string;
  readonly failure: RefundFailure;
  /** Tries so far, and the number of the last one that the provider answered with nothing given back. */
  readonly tries: number;
  readonly keyTry: number;
  /** Tries in a row without a clear answer, and since when there is none. */
  readonly unclearTries: number;
  readonly unclearSince: number;
  readonly nextTryAt: number;
  readonly finishedAt: number;
}

export interface CurrencyAmount {
  readonly amountCents: number;
  readonly currency: string;
}

/** Of so many refunds, or of orders to which something is due. */
export interface RefundSum extends CurrencyAmount {
  readonly count: number;
}

/** By currency: what is due, what of it is not asked for, and the refunds of each status. */
export type RefundSums = Readonly<Record<'DUE' | 'TO_ASK' | RefundStatus, readonly RefundSum[]>>;

export interface OrderedPerformanceView {
  readonly id: string;
  readonly name: string;
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  readonly status: PerformanceStatus;
}

export interface PaymentView {
  readonly id: string;
  /** From 1; 0 of a payment for an amendment. */
  readonly installment: number;
  readonly amountCents: number;
  readonly currency: string;
  readonly status: PaymentStatus;
  readonly provider: PaymentKind;
  readonly createdAt: number;
  readonly paidAt: number | null;
  /** Null until the provider opened a session. */
  readonly checkoutSessionId: string | null;
  readonly redirectUrl: string | null;
  readonly sessionExpiresAt: number | null;
  /** The amendment that it pays for, which is no installment. */
  readonly amendment?: PaidAmendment;
}

/** The data of an amendment that the session of its payment needs. */
export interface PaidAmendment {
  readonly id: string;
  readonly expiresAt: number;
  readonly successUrl: string | null;
  readonly cancelUrl: string | null;
}

/** The discount of an order's code, on one item or, with `itemIndex` null, on the order. */
export interface DiscountView {
  readonly code: string;
  readonly itemIndex: number | null;
  readonly amountCents: number;
}

/** A ticket without its signed code, which is made from these values. */
export interface TicketView {
  readonly id: string;
  /** False for good once its order was cancelled. */
  readonly isValid: boolean;
  readonly ticketTypeId: string;
  readonly performanceId: string;
  readonly section: string | null;
  readonly rowLabel: string | null;
  readonly seatId: string | null;
  readonly seatLabel: string | null;
  /**
   * The index of its item among the order's, and its own among the item's tickets: where its attendee stands in
   * `PersonalData`.
   */
  readonly itemIndex: number;
  readonly offset: number;
  /** From 1, over the order: tickets of one unit have the same. Null for one that an amendment made void. */
  readonly unit: number | null;
  /** The ticket that it was issued for. */
  readonly replaces: string | null;
  /** Its share of what was bought with its item. */
  readonly barPerks: readonly OrderedPerk[];
}

/** One ticket, and why it is void when it is. */
export interface IssuedTicketView {
  readonly ticket: TicketView;
  /** Of its order. */
  readonly personal: SealedOrder;
  readonly orderId: string;
  readonly eventId: string;
  readonly voidReason: VoidReason | null;
  /** The oldest first; at most 50 that were refused. */
  readonly scans: readonly TicketScanView[];
}

/** An entry or exit of a ticket, or one that was refused; by hand with who did it and why. */
export interface TicketScanView extends ScanView, SealedOperatorNote {
  readonly ticketId: string;
  readonly kind: 'ENTRY' | 'EXIT';
  readonly performanceId: string;
  readonly verdict: Given;
  readonly given: Given | null;
  readonly isUndone: boolean;
  /** Null unless an operator undid it by hand. */
  readonly undoneBy: SealedOperatorNote | null;
}

/** A station as operators see it; its token is shown nowhere again. */
export interface StationView {
  readonly id: string;
  readonly name: string;
  readonly kind: StationKind;
  /** Null: at all. */
  readonly performanceIds: readonly string[] | null;
  readonly doorIds: readonly string[] | null;
  readonly expiresAt: number | null;
  /** Of a GATE, where it was named. */
  readonly gateUrl: string | null;
  readonly createdAt: number;
  readonly status: 'LIVE' | 'EXPIRED' | 'REVOKED';
  readonly lastSeenAt: number | null;
  readonly syncedAt: number | null;
  readonly queued: number | null;
  readonly version: string | null;
}

/** A ticket by its digest, its state, since when in seconds, and the index of the door in the list of doors. */
export type SyncChange = readonly [digest: string, state: TicketPresence, at: number, door: number | null];

/** What a station knows of its event without a network. */
export interface SyncHead {
  readonly event: { readonly id: string; readonly name: string };
  readonly station: StationView;
  readonly performances: readonly {
    readonly id: string;
    readonly name: string;
    readonly doorsAt: number | null;
    readonly startsAt: number | null;
    readonly endsAt: number | null;
    readonly status: string;
    /** Valid tickets when the head was made. */
    readonly expected: number;
  }[];
  readonly doors: readonly DoorDefinition[];
  readonly ticketTypes: readonly IdAndName[];
  readonly reentry: 'AFTER_EXIT' | 'NEVER' | 'ALWAYS';
  /** For a gate: all stations, with the digests of their tokens. */
  readonly stations?: readonly { readonly station: StationView; readonly tokenSha256: string }[];
}

export interface SyncView {
  readonly now: number;
  readonly cursor: string;
  readonly more: boolean;
  readonly reset: boolean;
  /** Null where it is as the cursor says. */
  readonly head: SyncHead | null;
  readonly changes: readonly SyncChange[];
  /** Those of tickets in `changes`; absent where there are none. */
  readonly conflicts?: readonly SyncConflict[];
}

/** A conflict of an entry of the station, by its ticket's digest; `stationId` for a gate. */
export interface SyncConflict extends Omit<StationConflict, 'stationId'> {
  readonly digest: string;
  readonly stationId?: string;
}

/** An entry of the waiting room as the API shows it to its owner. */
export interface QueueEntryView {
  readonly id: string;
  readonly eventId: string;
  readonly status: QueueEntryStatus;
  /** From 1; null while not drawn and when not waiting. */
  readonly position: number | null;
  readonly waitingAhead: number;
  readonly estimatedMinutes: number;
  readonly open: boolean;
  readonly opensAt: number | null;
  readonly admittedAt: number | null;
  readonly passExpiresAt: number | null;
  readonly rate: number;
  readonly drawCommitment: string | null;
  /** Whether nobody is admitted because nothing is left; null on an event whose room does not pause. */
  readonly soldOut: boolean | null;
  /** Absent while there is nothing to show. */
  readonly steering?: ShownSteering;
}

/** A waiting room as operators see it. */
export interface WaitingRoomCounts {
  readonly status: WaitingRoomStatus;
  readonly opensAt: number | null;
  readonly waiting: number;
  /** Live passes. */
  readonly admitted: number;
  readonly admittedLastMinute: number;
  readonly joined: number;
  readonly drawCommitment: string | null;
}

/** A page of the proof of a draw; seed, time and digest are null and the page is empty until it is held. */
export interface DrawView {
  readonly eventId: string;
  readonly status: 'pending' | 'drawn';
  readonly drawCommitment: string;
  readonly seed: string | null;
  /** Null while pending, and in a draw that was recorded before there were openings. */
  readonly opening: string | null;
  readonly drawnAt: number | null;
  readonly count: number;
  readonly entriesDigest: string | null;
  /** SHA-256 of each entry id, in the drawn order. */
  readonly entries: readonly string[];
}
