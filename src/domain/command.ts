/**
 * Commands: what may change an event, and the reply to each.
 *
 * Both are plain data, so that an event may be in this process or on another machine. A refusal may take the place of a
 * reply.
 */
import type { NO_TICKET, Given, ScanKind } from '#client/doors/scan.ts';
import type { EventDefinition, PaymentProviderName } from './catalogue/definition.ts';
import type { Steering } from './catalogue/state.ts';
import type {
  CancellationCause,
  DateCancellation,
  FactData,
  IdempotencyKey,
  RetainedKind,
  OperatorNote,
  RefundFailure,
} from './fact.ts';
import type { AmendmentRequest } from './amendment-request.ts';
import type { OrderTexts } from './order-texts.ts';
import type { Attendee, Customer } from './personal.ts';
import type {
  AmendmentView,
  CurrencyAmount,
  HoldView,
  OrderView,
  PaymentView,
  QueueEntryView,
  RefundSums,
  ScanResult,
  StationView,
  SyncView,
} from './view.ts';

/** One item of a request for tickets, as asked. */
export interface ItemRequest {
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly quantity: number;
  /** Null where the request left it out. */
  readonly performanceId: string | null;
  /** The seats picked, or null for the best available. */
  readonly seatIds: readonly string[] | null;
}

export interface BarPerkRequest {
  readonly barPerkId: string;
  readonly quantity: number;
}

/** One item of a checkout, as asked. */
export interface CheckoutItemRequest extends ItemRequest {
  readonly discountCode: string | null;
  /** One for each ticket, or null where the request left them out. */
  readonly attendees: readonly Attendee[] | null;
  readonly barPerks: readonly BarPerkRequest[];
}

/** A refund as its provider lists it. */
export interface ProviderRefund {
  readonly reference: string;
  /** The id of this service's refund; null for a refund that was made elsewhere. */
  readonly refundId: string | null;
  readonly amountCents: number;
  readonly status: 'SUCCEEDED' | 'PENDING' | 'FAILED';
  readonly failure?: RefundFailure;
}

/** A request to a provider to give money back. */
export interface RefundRequest {
  readonly orderId: string;
  readonly refundId: string;
  readonly checkoutSessionId: string;
  readonly amountCents: number;
  readonly currency: string;
  /** The provider keeps its first answer under it. */
  readonly key: string;
}

/** What a try to execute a refund came to. */
export type RefundAnswer =
  | {
      readonly outcome: 'SUCCEEDED' | 'PENDING' | 'FAILED';
      readonly reference: string;
      /**
       * The amount given back: an earlier request under the same key may have asked for more. As requested when absent.
       */
      readonly amountCents?: number;
      readonly failure?: RefundFailure;
    }
  /** The provider refuses it or cannot be asked: nothing was given back. */
  | { readonly outcome: 'REFUSED'; readonly failure: RefundFailure }
  /** `isAnswered`: the provider has failed, and would repeat that under the same key. */
  | { readonly outcome: 'UNCLEAR'; readonly isAnswered: boolean };

/** The content of a genuine code; a gate has no orders with the rest. */
interface FoundCode {
  readonly ticketId: string;
  readonly claims?: {
    readonly performanceId: string | null;
    readonly ticketTypeId: string | null;
    readonly seatId: string | null;
  };
}

/** A scan as a station sends it. */
export interface ScanRequest {
  readonly id: string;
  readonly kind: ScanKind;
  /** The ticket that a genuine code names, or why there is none; null for a scan that undoes another. */
  readonly found: FoundCode | (typeof NO_TICKET)[number] | 'CANNOT_TELL' | null;
  /** A keyed hash of code, kind, date and door, of 32 bits. */
  readonly digest: number;
  /** The scan to undo; null of any other. */
  readonly undoes: string | null;
  readonly performanceId: string;
  readonly doorId: string;
  readonly at: number;
  readonly given: Given | null;
  /** A gate's own check decided. */
  readonly isOfGate: boolean;
  /** The station that scanned, where a gate sends it. */
  readonly stationId: string | null;
  /** At a gate: what its service is sent as the code. */
  readonly code?: string;
}

/** A command whose request may carry an idempotency key; its reply says whether it is the answer of an earlier one. */
interface Keyed {
  readonly idempotency?: IdempotencyKey | null;
}

interface Replayable {
  readonly replayed?: boolean;
}

/** Who may ask for an amendment. */
export type AmendedBy = Exclude<CancellationCause, 'PERFORMANCE'>;

interface CallsProvider {
  /** Providers that cannot be asked in time: a command that needs a new session there is refused. */
  readonly busyProviders?: readonly PaymentProviderName[];
}

interface Commands {
  PlaceHold: {
    readonly sessionKey: string;
    readonly items: readonly ItemRequest[];
    readonly queuePass: string | null;
    readonly idempotency: IdempotencyKey | null;
  };
  ChangeHold: Keyed & { readonly holdId: string; readonly sessionKey: string; readonly items: readonly ItemRequest[] };
  ReleaseHold: { readonly holdId: string; readonly sessionKey: string };
  StartCheckout: CallsProvider &
    OrderTexts & {
      /** The hold to take over, or null to reserve the items here and now. */
      readonly holdId: string | null;
      /** Where given, the hold or the pass must be that session's. */
      readonly sessionKey: string | null;
      /** Null only beside a hold: then its lines are bought as they are. */
      readonly items: readonly CheckoutItemRequest[] | null;
      readonly customer: Customer;
      readonly acceptTerms: boolean;
      readonly successUrl: string | null;
      readonly cancelUrl: string | null;
      readonly installmentCount: number;
      readonly promoCode: string | null;
      /** As it came; the order keeps what `tracking.ts` leaves of it. */
      readonly tracking: unknown;
      readonly queuePass: string | null;
      readonly idempotency: IdempotencyKey | null;
      /** Providers that are not configured: no order that costs money is placed for them. */
      readonly absentProviders?: readonly PaymentProviderName[];
    };
  /** An order that an operator makes at a counter; it is CONFIRMED at once. */
  SellAtCounter: Keyed &
    OperatorNote & {
      readonly items: readonly CheckoutItemRequest[];
      readonly customer: Customer;
      readonly payment: 'CASH' | 'FREE';
      /** The limits of the event are not checked. */
      readonly exceedsLimits: boolean;
    };
  /** Asks for the next unpaid installment, or for a new try at it. */
  OpenPayment: Keyed & CallsProvider & { readonly orderId: string };
  /** What the provider answered when it was asked for a session. */
  RecordCheckoutSession: {
    readonly orderId: string;
    readonly paymentId: string;
    readonly checkoutSessionId: string;
    readonly redirectUrl: string;
    readonly expiresAt: number | null;
  };
  /** What a provider reports of a session. */
  RecordPayment: {
    /** The provider that reports it; a report about an order of another provider is a report about no order. */
    readonly provider: PaymentProviderName;
    readonly checkoutSessionId: string | null;
    /** This service's payment id, or the provider's own reference. */
    readonly paymentId: string | null;
    readonly outcome: 'paid' | 'declined' | 'cancelled' | 'expired';
    /** Of a paid one; null where the provider does not say, then it is what was asked. */
    readonly amountCents: number | null;
    readonly currency: string | null;
    readonly webhookId: string | null;
  };
  CancelOrder: Keyed & OperatorNote & { readonly orderId: string };
  AmendOrder: Keyed &
    CallsProvider &
    OperatorNote & {
      readonly orderId: string;
      readonly by: AmendedBy;
      readonly request: AmendmentRequest;
      /** The text of the quote by which it is done; null where none was asked for. */
      readonly quote: string | null;
      /** Where its buyer returns to from the payment page; null, or absent: to the order's page. */
      readonly successUrl?: string | null;
      readonly cancelUrl?: string | null;
      /** As of StartCheckout. */
      readonly absentProviders?: readonly PaymentProviderName[];
    };
  /** Withdraws an amendment that is yet to be paid. */
  CancelAmendment: {
    readonly orderId: string;
    readonly amendmentId: string;
    readonly by: AmendedBy;
    readonly operator: string | null;
  };
  RecordRefund: Keyed &
    OperatorNote & {
      /** Null where a provider names the session alone. */
      readonly orderId: string | null;
      readonly checkoutSessionId?: string | null;
      /** The refund that was executed here, where the report names it. */
      readonly refundId?: string | null;
      /** Absent: the money was given back. */
      readonly status?: 'SUCCEEDED' | 'PENDING' | 'FAILED';
      readonly failure?: RefundFailure;
      readonly amountCents: number;
      /** Null for the order's. */
      readonly currency: string | null;
      /** The provider's or the operator's own reference; a refund with a known reference counts once. */
      readonly reference: string | null;
      /** How the provider calls its report, where that names no refund. */
      readonly reportReference?: string;
      /** Who reports it; null where an operator notes it. */
      readonly provider: PaymentProviderName | null;
    };
  /** Has the provider give money back; without an amount all that is due and not asked for. */
  ExecuteRefund: Keyed &
    OperatorNote & {
      readonly orderId: string;
      readonly amountCents: number | null;
      /** Null: the newest payments first. */
      readonly paymentId: string | null;
    };
  /**
   * Starts the refunds of everything that is due and not requested, if `confirm` names that sum; `AskNextRefunds`
   * requests them.
   */
  ExecuteDueRefunds: Keyed &
    OperatorNote & {
      /** Null: of all orders, and not of those with a ticket on a date. */
      readonly performanceId: string | null;
      readonly confirm: readonly CurrencyAmount[];
    };
  /** Asks for what is due to orders, from the one after number `after` on; looks at no more than `limit`. */
  AskNextRefunds: { readonly after: number | null; readonly limit: number };
  /** What was already given back of a refund's payment, as its provider reports before it is asked for the refund. */
  MatchRefunds: {
    readonly orderId: string;
    readonly refundId: string;
    readonly found: readonly ProviderRefund[];
  };
  /** What a try to execute a refund came to. */
  AnswerRefund: { readonly orderId: string; readonly refundId: string; readonly answer: RefundAnswer };
  /** What an operator decides about a refund that needs one. */
  ResolveRefund: Keyed &
    OperatorNote & {
      readonly orderId: string;
      readonly refundId: string;
      readonly outcome: 'RETRY' | 'GIVEN_BACK' | 'NOT_GIVEN_BACK';
      readonly reference: string | null;
    };
  /** Has the address of an order's page mailed to its buyer. */
  RequestMail: Keyed & FactData['MailRequested'];
  /** Makes the personal data of an order unreadable for good. */
  EraseOrder: Keyed & OperatorNote & { readonly orderId: string; readonly note: null };
  /** The same for orders whose retention has passed, from the one after number `after` on. */
  EraseDueOrders: { readonly after: number | null; readonly limit: number };
  /** A station may scan from now on; the caller made its token. */
  AddStation: Omit<FactData['StationAdded'], 'stationId'>;
  RevokeStation: { readonly stationId: string; readonly operator: string | null };
  /** What a station scanned; its token is known by its SHA-256 in hex. */
  RecordScans: { readonly tokenSha256: string; readonly scans: readonly ScanRequest[] };
  /** A ticket let in or out by an operator, or a scan of it undone; `doorId` is null with UNDO alone. */
  ScanByHand: Keyed &
    OperatorNote & {
      readonly ticketId: string;
      readonly kind: ScanKind;
      readonly doorId: string | null;
      readonly undoes: string | null;
    };
  /** What a station needs without a network, from its cursor on. */
  SyncStation: {
    readonly tokenSha256: string;
    readonly after: string | null;
    readonly limit: number;
    /** Scans that wait on it, and what it runs; null where it does not say. */
    readonly queued: number | null;
    readonly version: string | null;
    /** Of the keys of codes, which the head has. */
    readonly keysDigest: string;
  };
  /** A gate takes a page of its service's feed, with the stations of its head. */
  TakeFeed: FactData['FeedTaken'] & {
    readonly stations: readonly (Omit<FactData['StationAdded'], 'operator'> & { readonly isRevoked: boolean })[];
  };
  JoinQueue: { readonly sessionKey: string };
  PollQueue: { readonly entryId: string; readonly sessionKey: string };
  LeaveQueue: { readonly entryId: string; readonly sessionKey: string };
  /** A piece of the order that a worker thread drew; `from` counts from 0. */
  RecordDraw: { readonly from: number; readonly entryIds: readonly string[]; readonly entriesDigest: string };
  /** Ends what has run out; the event actor executes it before anything else in a turn. */
  SettleDeadline: { readonly subjectId: string };
  /** Drops the oldest records of a kind, because the process keeps too many. */
  DropOldest: { readonly of: RetainedKind };
  DefineEvent: OperatorNote & { readonly definition: EventDefinition };
  /** Its orders are cancelled, or amended, by `CancelNextOrders`. `executes`: what is due then is given back. */
  CancelPerformance: Keyed & DateCancellation & { readonly performanceId: string; readonly executes?: boolean };
  /** Ends what is on cancelled performances, holds first, from the part after number `after` on; `limit` at most. */
  CancelNextOrders: { readonly after: number | null; readonly limit: number };
  /** Sets the named fields of the steering; null takes a field back. */
  SteerSale: OperatorNote & { readonly changes: Partial<Steering> };
  BlockSeats: Keyed & OperatorNote & { readonly performanceId: string; readonly seatIds: readonly string[] };
  UnblockSeats: Keyed & OperatorNote & { readonly performanceId: string; readonly seatIds: readonly string[] };
}

export interface Replies {
  /** `replayed`: the answer of an earlier request with the same idempotency key. */
  PlaceHold: { readonly hold: HoldView; readonly replayed: boolean };
  ChangeHold: Replayable & { readonly hold: HoldView };
  ReleaseHold: { readonly hold: HoldView };
  /**
   * `payment` is the one to open a session for while its `checkoutSessionId` is null; it is null for a free order.
   * `resumed`: an earlier start that has no session yet; `replayed`: the answer of an earlier request with the same
   * idempotency key, whose session was the order's first.
   */
  StartCheckout: {
    readonly order: OrderView;
    readonly payment: PaymentView | null;
    readonly resumed: boolean;
    readonly replayed: boolean;
  };
  /** `resumed`: an earlier request with the same idempotency key, whose session is not open yet. */
  OpenPayment: Replayable & { readonly order: OrderView; readonly payment: PaymentView; readonly resumed?: boolean };
  /** `replayed`: the payment had its session already, of another request. */
  RecordCheckoutSession: Replayable & { readonly order: OrderView; readonly payment: PaymentView };
  /** `order` is null when the session is of no order; `repeated`: it was recorded already and nothing changed. */
  RecordPayment: { readonly order: OrderView | null; readonly repeated: boolean };
  SellAtCounter: Replayable & { readonly order: OrderView };
  CancelOrder: Replayable & { readonly order: OrderView };
  /** Where the amendment is to be paid and has no session yet: the payment to open one for, and its order. */
  AmendOrder: Replayable & {
    readonly amendment: AmendmentView;
    readonly order: OrderView | null;
    readonly payment: PaymentView | null;
  };
  CancelAmendment: { readonly amendment: AmendmentView };
  /** `repeated`: it was recorded already and nothing changed. */
  RecordRefund: Replayable & { readonly order: OrderView; readonly repeated: boolean };
  ExecuteRefund: Replayable & { readonly order: OrderView; readonly repeated: boolean };
  /** What the provider is to be asked for; null where the refund has ended, or waits for the provider. */
  MatchRefunds: { readonly request: RefundRequest | null };
  AnswerRefund: Record<never, never>;
  ResolveRefund: Replayable & { readonly order: OrderView; readonly repeated: boolean };
  RequestMail: Replayable & { readonly order: OrderView };
  /** `repeated`: nothing of it was left to erase. */
  EraseOrder: Replayable & { readonly order: OrderView; readonly repeated: boolean };
  /** Orders with open data of older facts cannot be erased. `nextAfter` is null when none are left to look at. */
  EraseDueOrders: {
    readonly erasedOrders: number;
    readonly unsealedOrders: number;
    readonly nextAfter: number | null;
  };
  AddStation: { readonly station: StationView };
  RevokeStation: { readonly station: StationView };
  /** In the order of the request. */
  RecordScans: { readonly results: readonly ScanResult[] };
  ScanByHand: Replayable & { readonly result: ScanResult };
  SyncStation: SyncView;
  TakeFeed: Record<never, never>;
  /** `joined`: the entry is new. */
  JoinQueue: { readonly entry: QueueEntryView; readonly joined: boolean };
  PollQueue: { readonly entry: QueueEntryView };
  LeaveQueue: { readonly entry: QueueEntryView };
  RecordDraw: { readonly drawnEntries: number };
  SettleDeadline: Record<never, never>;
  DropOldest: Record<never, never>;
  DefineEvent: { readonly eventId: string; readonly version: number; readonly changed: boolean };
  SteerSale: { readonly steering: Steering };
  /** Live orders with a ticket on it, which later turns cancel; and those of them that go on with other tickets. */
  CancelPerformance: Replayable & {
    readonly releasedHolds: number;
    readonly cancelledOrders: number;
    readonly amendedOrders: number;
  };
  /** `nextAfter` is null when none are left to look at. */
  CancelNextOrders: { readonly nextAfter: number | null };
  AskNextRefunds: { readonly nextAfter: number | null };
  ExecuteDueRefunds: Replayable & { readonly sums: RefundSums };
  BlockSeats: Replayable & { readonly blockedSeats: number };
  UnblockSeats: Replayable & { readonly unblockedSeats: number };
}

export type CommandType = keyof Commands;

export type CommandOf<Type extends CommandType> = { readonly type: Type } & Commands[Type];

export type Command = { [Type in CommandType]: CommandOf<Type> }[CommandType];

export type ReplyTo<Type extends CommandType> = { readonly outcome: 'DONE' } & Replies[Type];

export type Reply = { [Type in CommandType]: ReplyTo<Type> }[CommandType];
