/**
 * Queries: what can be read of one event, and the view that each one answers.
 *
 * 1. Queries and views are plain data, so that they can cross a thread or a network. A view that can be refused says
 *    so.
 * 2. A query changes nothing. The view shows the event as it is after everything that is due by now has happened.
 * 3. A view that is large or asked often has a revision. A caller that names the revision it knows is answered
 *    UNCHANGED while that revision is still the newest. A revision is never the same in two activations of an event.
 */
import type { BrandedEvent, EventDefinition } from '../catalogue/definition.ts';
import type { AmendedBy } from '../command.ts';
import type { Fact } from '../fact.ts';
import type { EventTotals, Gauges, OperatorEventView } from './operator-view.ts';
import type { Audience, LiveView, OccupancyResult, PayloadView, SeatingResult, Unchanged } from './revisioned-views.ts';
import type { SeatFacts } from '../catalogue/seating-plan.ts';
import type { AmendmentQuote, AmendmentRequest } from '../amendment-request.ts';
import type { Order } from '../orders/order.ts';
import type { CancellationForecast, DateAsked } from '../orders/amendments/cancellation-forecast.ts';
import type { MoneyView } from '../orders/money-by-hour.ts';
import type { PersonalDataPage } from '../orders/sealed-orders.ts';
import type { OrderScan, UnopenedPayment, UnopenedSearch, UselessSession } from '../orders/open-sessions.ts';
import type { AttendeePage, AttendeesWanted } from '../doors/attendees.ts';
import type { StationList } from '../doors/stations.ts';
import type { FeedView } from '../doors/feed.ts';
import type { ConflictPage, DoorCountsView, ScanPage } from '../doors/view.ts';
import type { DueRefunds, RefundPage } from '../orders/refund-tries.ts';
import type { listOrders, OrderPage, TicketPage } from '../orders/view.ts';
import type { VoidTicketPage } from '../orders/void-tickets.ts';
import type { SealedOrder } from '../personal.ts';
import type { Refusal } from '../refusal.ts';
import type { EventFact } from './replay.ts';
import type {
  AmendmentView,
  DrawView,
  HoldView,
  IssuedTicketView,
  OrderView,
  PaymentView,
  QuoteView,
  TicketScanView,
} from '../view.ts';
import type { RefundStatus } from '#machines/refund.ts';

interface Queries {
  // inventory and catalogue
  /** The event as buyers see it, summed over its performances or for one; the session's own hold counts as free. */
  ReadPayload: {
    readonly performanceId: string | null;
    readonly sessionKey: string | null;
    readonly knownRevision: string | null;
  };
  /** The layout of the numbered seats. */
  ReadSeating: { readonly audience: Audience; readonly knownRevision: string | null };
  /** The seats of a performance that are not free, or those that changed after version `since`. */
  ReadOccupancy: {
    readonly audience: Audience;
    /** Null for the only visible performance. */
    readonly performanceId: string | null;
    readonly since: number | null;
    readonly knownRevision: string | null;
  };
  /** The best free seats side by side, which are not reserved by this. */
  SuggestSeats: {
    readonly ticketTypeId: string;
    readonly count: number;
    readonly performanceId: string | null;
    readonly sessionKey: string | null;
  };
  /** The id of a visible performance; null names the only one. */
  FindPerformance: { readonly performanceId: string | null };
  /** What is left of a performance: the changes since a revision where they are known, else everything. */
  ReadLivePerformance: { readonly performanceId: string; readonly knownRevision: string | null };
  /** How many of these discount codes the event does not have. */
  CountUnknownCodes: { readonly codes: readonly string[] };

  // holds
  FindHold: { readonly holdId: string; readonly sessionKey: string };

  // orders
  /** What the tickets of a hold cost with a promo code. */
  QuoteOrder: { readonly holdId: string; readonly sessionKey: string | null; readonly promoCode: string | null };
  /** What an amendment of an order would do. */
  QuoteAmendment: { readonly orderId: string; readonly by: AmendedBy; readonly request: AmendmentRequest };
  FindAmendment: { readonly orderId: string; readonly amendmentId: string };
  /** Without `tickets`, the first page of them is shown. */
  FindOrder: { readonly orderId: string; readonly tickets?: TicketPage; readonly withDefinition?: boolean };
  /** The ids of the orders with a given order number, or with a ticket that has the number. */
  FindNumbered: { readonly number: string };
  ListOrders: Parameters<typeof listOrders>[1];
  /**
   * The personal data of orders, from order number `from` on: of those that name people on their tickets, or of all,
   * the newest first.
   */
  ListPersonalData: { readonly of: 'NAMED' | 'ALL_NEWEST_FIRST'; readonly from: number | null; readonly limit: number };
  /** What cancelling a performance would do to the orders after number `after`. */
  ForecastCancellation: DateAsked & { readonly after: number | null };
  FindTicket: { readonly ticketId: string };
  /** The scans of tickets, one ticket after another. */
  FindScans: { readonly ticketIds: readonly string[] };
  /** The scans of the tickets after ticket number `after`: whole tickets, until there are `limit` scans. */
  ListScans: { readonly after: number | null; readonly limit: number };
  /** Every ticket with who comes and whether it entered. */
  ListAttendees: AttendeesWanted;
  ListVoidTickets: { readonly performanceId: string | null; readonly after: string | null; readonly limit: number };
  /** The order and the payment of a provider's session. */
  FindSession: { readonly checkoutSessionId: string };
  /** The newest orders that still have no session, were placed at least `ageMsMin` ago and can still be paid. */
  FindUnopenedPayments: UnopenedSearch;
  /** The sessions of an order whose money could not be used. */
  FindUselessSessions: { readonly orderId: string };
  /** The orders with such sessions among the `count` orders before number `before`; null begins with the newest. */
  ScanUselessSessions: { readonly before: number | null; readonly count: number };

  /** The refunds of the event, of one status or of all, from the first order on; and what all of them come to. */
  ListRefunds: { readonly status: RefundStatus | null; readonly after: string | null; readonly limit: number };
  /** The refunds that are to be tried now, and when the next one is. */
  ListDueRefunds: { readonly limit: number };

  // doors
  ListStations: Record<never, never>;
  /** Whether a token is of a station that is LIVE. */
  FindStation: { readonly tokenSha256: string };
  /** How far a gate has come with its service's feed. */
  ReadFeed: Record<never, never>;
  /** Entries and exits of the dates of the event, or of one. */
  ReadDoors: { readonly performanceId: string | null };
  ListConflicts: { readonly performanceId: string | null; readonly after: string | null; readonly limit: number };

  // waiting room
  FindDraw: { readonly offset: number; readonly limit: number };
  /** How the event's pages look, drafts included. */
  ReadBrand: Record<never, never>;

  // of several aggregates
  /** A stored fact in today's form, and what it is about. */
  ReadFact: { readonly stored: EventFact };
  ReadOperatorEvent: Record<never, never>;
  /** All money, in all and by hour. */
  ReadMoney: Record<never, never>;
  ReadGauges: Record<never, never>;
  /**
   * Everything that an event has, in numbers, and the offers of one performance. Cost: a pass over its holds, orders
   * and pools.
   */
  ReadTotals: { readonly performanceId: string | null };
}

export interface Views {
  ReadPayload: PayloadView | Unchanged | Refusal;
  ReadSeating: SeatingResult | Unchanged | Refusal;
  ReadOccupancy: OccupancyResult | Unchanged | Refusal;
  SuggestSeats: readonly SeatFacts[] | Refusal;
  FindPerformance: { readonly performanceId: string } | Refusal;
  ReadLivePerformance: LiveView | Unchanged | Refusal;
  CountUnknownCodes: { readonly count: number };
  FindHold: HoldView | Refusal;
  QuoteOrder: QuoteView | Refusal;
  QuoteAmendment: AmendmentQuote | Refusal;
  FindAmendment: AmendmentView | Refusal;
  FindOrder: FoundOrder | Refusal;
  FindNumbered: { readonly orderIds: readonly string[] };
  ListOrders: OrderPage;
  ListPersonalData: PersonalDataPage;
  ForecastCancellation: CancellationForecast | Refusal;
  /** Null for a ticket that no order has. */
  FindTicket: { readonly issued: IssuedTicketView | null };
  FindScans: readonly TicketScanView[];
  ListScans: ScanPage;
  ListAttendees: AttendeePage | Refusal;
  ListVoidTickets: VoidTicketPage | Refusal;
  FindSession:
    | {
        readonly order: OrderView;
        readonly payment: PaymentView;
        readonly timezone: string;
        readonly look: BrandedEvent;
      }
    | Refusal;
  FindUnopenedPayments: readonly UnopenedPayment[];
  FindUselessSessions: readonly UselessSession[];
  ScanUselessSessions: OrderScan;
  ListRefunds: RefundPage | Refusal;
  ListDueRefunds: DueRefunds;
  ListStations: StationList;
  FindStation: { readonly eventId: string } | Refusal;
  /** `isForSale`: tickets of the event may be sold here, so that this is no gate. */
  ReadFeed: { readonly feed: FeedView | null; readonly isForSale: boolean };
  ReadDoors: { readonly performances: readonly DoorCountsView[] } | Refusal;
  ListConflicts: ConflictPage | Refusal;
  /** `draw` is null in an event without one. */
  FindDraw:
    | {
        readonly draw: DrawView | null;
        readonly opensAt: number | null;
        readonly name: string;
        readonly timezone: string;
        readonly look: BrandedEvent;
      }
    | Refusal;
  ReadBrand: BrandedEvent | Refusal;
  ReadFact: FactView;
  ReadOperatorEvent: OperatorEventView;
  ReadMoney: MoneyView & { readonly name: string };
  ReadGauges: Gauges;
  ReadTotals: EventTotals;
}

export interface FoundOrder {
  readonly order: OrderView;
  readonly definitionVersion: number;
  /** The names of the things bought; null unless requested. */
  readonly definition: EventDefinition | null;
  /** The dates that are on sale; empty unless the definition was asked for. */
  readonly datesOnSale: readonly string[];
  readonly now: number;
}

/** A fact with the event and the order that it is about. */
export interface FactView {
  readonly fact: Fact;
  readonly eventId: string;
  readonly currency: string;
  /** Null for a fact that names no order. */
  readonly order: {
    readonly purchase: Order['purchase'];
    readonly firstPaymentId: string | null;
    readonly personal: SealedOrder;
  } | null;
}

export type QueryType = keyof Queries;

export type QueryOf<Type extends QueryType> = { readonly type: Type } & Queries[Type];

export type Query = { [Type in QueryType]: QueryOf<Type> }[QueryType];

/**
 * Whether the view of a query waits until everything that it shows is durable (I4). The view of one hold, order,
 * ticket, session or draw does, because somebody relies on it; availability and figures are advisory and do not.
 */
export const WAITS_FOR_DURABILITY: Readonly<Record<QueryType, boolean>> = {
  ReadPayload: false,
  ReadSeating: false,
  ReadOccupancy: false,
  SuggestSeats: false,
  FindPerformance: false,
  ReadLivePerformance: false,
  CountUnknownCodes: false,
  FindHold: true,
  QuoteOrder: false,
  QuoteAmendment: true,
  FindAmendment: true,
  FindOrder: true,
  FindNumbered: true,
  ListOrders: true,
  ListPersonalData: true,
  ForecastCancellation: false,
  FindTicket: true,
  FindScans: true,
  ListScans: true,
  ListAttendees: true,
  ListVoidTickets: true,
  FindSession: true,
  FindUnopenedPayments: false,
  FindUselessSessions: true,
  ScanUselessSessions: false,
  ListRefunds: true,
  ListDueRefunds: true,
  ListStations: true,
  FindStation: true,
  ReadFeed: true,
  ReadDoors: false,
  ListConflicts: true,
  FindDraw: true,
  ReadBrand: false,
  ReadFact: false,
  ReadOperatorEvent: false,
  ReadMoney: false,
  ReadGauges: false,
  ReadTotals: false,
};
