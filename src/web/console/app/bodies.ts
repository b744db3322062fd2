/**
 * What the operators' API answers, as far as the console shows it: `npm run render` writes this file from
 * the schemas of `src/http`.
 */

import type { Amendment, Order, Payment, Ticket, TicketHolder } from '#client/bodies.ts';
import type { Verdict } from '#client/doors/wire.ts';

export interface Stock {
  readonly capacity: number;
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
}

export interface OverviewPerformance extends Stock {
  readonly id: string;
  readonly name: string;
  readonly starts_at: string | null;
  /** As buyers see it; DRAFT is hidden from them. */
  readonly status: string;
}

export interface WaitingRoom {
  readonly status: string;
  readonly opens_at: string | null;
  readonly waiting: number;
  readonly admitted: number;
  readonly admitted_last_minute: number;
  readonly joined: number;
  readonly draw_commitment: string | null;
}

export interface MoneySums {
  readonly currency: string;
  /** All money that came, also what is due back, in the minor unit. */
  readonly paid_amount: number;
  /** What of it was paid in cash at counters. */
  readonly cash_amount: number;
  readonly payments: number;
  /** What was given back; one that failed afterwards is taken off in its hour. */
  readonly refunded_amount: number;
  readonly refunds: number;
  /** Fees of amendments, of orders that keep them. */
  readonly fees_amount: number;
  /** What is being given back: refunds PENDING or NEEDS_OPERATOR. */
  readonly refunds_pending_amount: number;
}

export interface HourSums {
  /** When the hour began. */
  readonly at: string;
  readonly currency: string;
  /** All money that came, also what is due back, in the minor unit. */
  readonly paid_amount: number;
  /** What of it was paid in cash at counters. */
  readonly cash_amount: number;
  readonly payments: number;
  /** What was given back; one that failed afterwards is taken off in its hour. */
  readonly refunded_amount: number;
  readonly refunds: number;
}

export interface EventMoney {
  readonly event_id: string;
  readonly name: string;
  /** Not in memory: its figures are those last seen. */
  readonly evicted: boolean;
  /** Since the first order, by currency. */
  readonly totals: readonly MoneySums[];
  /** Hours in which money moved, the newest first. */
  readonly hours: readonly HourSums[];
}

export interface MoneyList {
  readonly now: string;
  readonly events: readonly EventMoney[];
  readonly next_cursor: string | null;
}

export interface SaleMoney {
  readonly currency: string;
  /** All money that came, also what is due back. */
  readonly paid_amount: number;
  /** What was given back. */
  readonly refunded_amount: number;
}

export interface SaleTotals {
  /** Tickets issued. */
  readonly tickets: number;
  /** Tickets that were given back or cancelled. */
  readonly returned: number;
  /** Orders that got tickets. */
  readonly orders: number;
  /** People who joined the line. */
  readonly joined: number;
  /** People in line who were admitted. */
  readonly admitted: number;
  /** By currency, where any moved. */
  readonly money: readonly SaleMoney[];
}

export interface SalePoint extends SaleTotals {
  /** When the step began. */
  readonly at: string;
  /** People in line at its end. */
  readonly waiting: number;
}

export interface SaleByMinute {
  readonly event_id: string;
  readonly now: string;
  /** When the sale opens, or did; null before it is published. */
  readonly opens_at: string | null;
  /** The beginning of the first step. */
  readonly from: string;
  readonly to: string;
  readonly step_minutes: number;
  /** Every step of the range up to now, the oldest first; none where it is over before the sale opened. */
  readonly points: readonly SalePoint[];
  /** Of everything since the first fact, whatever the range. */
  readonly totals: SaleTotals;
  readonly forecast: {
    /** Tickets free or held, of the dates on sale. */
    readonly unsold: number;
    /** Tickets issued less those returned, in the minutes of the pace. */
    readonly pace_tickets: number;
    /** The last minutes that are over, ten at most, since the sale opened. */
    readonly pace_minutes: number;
    /** At this pace; null where nothing is sold or left, or over a year away. */
    readonly sold_out_at: string | null;
  };
  /** Whether the journal was read up to now; if not, ask again. */
  readonly whole: boolean;
  /** The last fact of the event that was read. */
  readonly through_seq: number;
  /** A file of the archive cannot be read: archived facts are missing, those of its other files too. */
  readonly partial: boolean;
  /** Before this, single minutes are summed up in their hours. */
  readonly minutes_since: string | null;
}

export interface HistoryMinute {
  readonly at: string;
  /** Answers of the API of buyers and stations, but for live streams and webhooks. */
  readonly requests: number;
  /** Those of them that were 4xx. */
  readonly client_errors: number;
  /** Those that were 5xx: 503 where the service was overloaded. */
  readonly server_errors: number;
  readonly p50_ms: number | null;
  readonly p95_ms: number | null;
  readonly p99_ms: number | null;
  /**
   * Writes of the journal: each until it is on disk, on a node of a cluster until the append is
   * acknowledged.
   */
  readonly commits: number;
  readonly commit_p50_ms: number | null;
  readonly commit_p95_ms: number | null;
  readonly commit_p99_ms: number | null;
  /** The most changes found in the admission queue, sampled every 5 s. */
  readonly admission_queue_max: number;
  /** Commands that were refused, of every event. */
  readonly refused: number;
  /** By code, the most frequent first, at most 20. */
  readonly refusals: readonly { readonly code: string; readonly count: number }[];
}

export interface ServiceHistory {
  readonly now: string;
  /** The node whose figures they are; null on a single machine. */
  readonly node: string | null;
  /** The oldest first; the last one may still run. */
  readonly minutes: readonly HistoryMinute[];
}

export interface AmountDue {
  readonly amount: number;
  readonly currency: string;
}

export interface Cancellation {
  /** Orders with a ticket on the date that are not over: they are cancelled, but for those amended. */
  readonly orders: number;
  /** With `orders=TICKETS`: those of them that go on with their tickets on other dates. */
  readonly amended_orders?: number;
  /** Those of all for which money came. */
  readonly paid_orders: number;
  /** What of their tickets is cancelled; of whole orders those on other dates too. */
  readonly tickets: number;
  /** What is due back to their buyers then, by currency. */
  readonly refunds_due: readonly AmountDue[];
}

export interface CountedAmount {
  readonly amount: number;
  readonly currency: string;
  readonly count: number;
}

export interface Refund {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  /**
   * PENDING: asked for, or the provider works on it. SUCCEEDED: the money was given back. FAILED: it did not
   * go, and is due again. NEEDS_OPERATOR: an operator looks at it.
   */
  readonly status: 'PENDING' | 'SUCCEEDED' | 'FAILED' | 'NEEDS_OPERATOR';
  readonly created_at: string;
  /** When it succeeded or failed; null until then. */
  readonly finished_at: string | null;
  /** The payment whose money it is, where that is known. */
  readonly payment_id: string | null;
  /** The amendment that had it executed by itself; else what is due is one sum of the order. */
  readonly amendment_id: string | null;
  /** Why it did not go, or needs an operator. */
  readonly failure: { readonly code: string; readonly message: string } | null;
  /** How often the provider was asked. */
  readonly tries: number;
  /** When it is tried, or asked about, again. */
  readonly next_try_at: string | null;
  readonly reference: string | null;
  /** The provider that reported it; null where it was only noted. */
  readonly provider: string | null;
}

export interface ListedRefund extends Refund {
  readonly order_id: string;
}

export interface RefundList {
  /** What is due to buyers, by currency; `count` is of orders. */
  readonly due: readonly CountedAmount[];
  /** What of it is not asked for yet. */
  readonly to_ask: readonly CountedAmount[];
  /** Refunds that are PENDING. */
  readonly pending: readonly CountedAmount[];
  /** Refunds that have SUCCEEDED. */
  readonly succeeded: readonly CountedAmount[];
  /** Refunds that have FAILED. */
  readonly failed: readonly CountedAmount[];
  /** Refunds that are NEEDS_OPERATOR. */
  readonly needs_operator: readonly CountedAmount[];
  /** In the order in which their orders were placed. */
  readonly refunds: readonly ListedRefund[];
  readonly next_cursor: string | null;
}

/** What operators set of a sale, over its definition. */
export interface Steering {
  readonly paused: boolean;
  /** People admitted in a minute, at most; null for the definition’s `waiting_room_rate`. */
  readonly waiting_room_rate: number | null;
  /** What buyers are told, without control characters; null for nothing. */
  readonly message: string | null;
}

export interface OverviewEvent {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly status: 'PUBLISHED' | 'DRAFT';
  readonly currency: string;
  readonly timezone: string;
  /** Whether any locality has numbered seats. */
  readonly numbered: boolean;
  /** Not in memory: its figures are those last seen. */
  readonly evicted: boolean;
  readonly performances: readonly OverviewPerformance[];
  readonly waiting_room: WaitingRoom | null;
  readonly steering: Steering;
  /** Since the first order, by currency; the hours are at /admin/money. */
  readonly money: readonly MoneySums[];
  /** Refunds that are NEEDS_OPERATOR. */
  readonly refunds_needing_operator: number;
}

export interface ServiceState {
  readonly ready: boolean;
  readonly reason: string | null;
  /** As /health/ready has it. */
  readonly degraded: readonly string[];
  /** The address that buyers see; the page of an order is /orders/{id} there. */
  readonly public_url: string;
  /** The node of the cluster that answers; null on a single machine. */
  readonly node: string | null;
  readonly events: number;
  /** The last fact handed to the journal. */
  readonly appended_seq: number;
  /** The last fact known to be on disk. */
  readonly durable_seq: number;
  /** Facts on their way to the disk. */
  readonly journal_lag: number;
  /** Durable facts not yet told; null where nobody is. */
  readonly notification_lag: number | null;
  /** Since the newest snapshot; 0 while there is none. */
  readonly snapshot_age_seconds: number;
  /** The 99th percentile over the last half minute or so. */
  readonly event_loop_delay_ms: number;
  /** On the disk of the data folder; null before the first look. */
  readonly free_bytes: number | null;
}

export interface Overview {
  readonly now: string;
  readonly service: ServiceState;
  readonly events: readonly OverviewEvent[];
  readonly next_cursor: string | null;
}

export interface OrderedItem {
  readonly ticket_type_id: string;
  readonly ticket_type_name: string;
  readonly selling_stage_id: string;
  readonly performance_id: string;
  readonly quantity: number;
  readonly ticket_count: number;
  readonly unit_price: number;
  readonly seat_ids: readonly string[];
  readonly attendees: readonly TicketHolder[];
  readonly discount_code: string | null;
  readonly discount_amount: number;
  readonly bar_perks: readonly {
    readonly bar_perk_id: string;
    readonly name: string;
    readonly quantity: number;
    readonly unit_price: number;
  }[];
}

export interface OrderPayment extends Payment {
  /** By it the provider finds the payment. */
  readonly checkout_session_id: string | null;
  readonly session_expires_at: string | null;
}

export interface OrderRefund extends Refund {
  readonly note: string | null;
}

export interface OrderAmendment extends Amendment {
  readonly note: string | null;
}

export interface VoidTicket extends Ticket {
  readonly void_reason: 'ORDER_CANCELLED' | 'PERFORMANCE_CANCELLED' | 'TICKET_CANCELLED' | 'REPLACED';
}

export interface AdminOrder extends Order {
  /** The newest 20, the newest first. */
  readonly amendments: readonly OrderAmendment[];
  readonly placed_at: string;
  readonly payment_provider: string;
  readonly refunded_amount: number;
  readonly customer: {
    readonly name: string | null;
    readonly email: string | null;
    readonly document_number: string | null;
    readonly phone: string | null;
  };
  /**
   * ERASED: the key is destroyed, and every field about a person is null. UNREADABLE: the stored text is
   * damaged.
   */
  readonly personal_data: 'OPEN' | 'ERASED' | 'UNREADABLE';
  /** The operator who had it erased, where one gave a name. */
  readonly erased_by: string | null;
  readonly items: readonly OrderedItem[];
  readonly payments: readonly OrderPayment[];
  /** All that is due back, by currency, the order's own first; empty when nothing is. */
  readonly refunds_due: readonly AmountDue[];
  readonly refunds: readonly OrderRefund[];
  readonly promo_code: string | null;
  readonly promoter_code: string | null;
  readonly referral_code: string | null;
  readonly tracking: Readonly<Record<string, unknown>> | null;
  readonly success_url: string | null;
  readonly cancel_url: string | null;
  /** Who made it at a counter, and why; null of an order that its buyer placed. */
  readonly counter: {
    readonly operator: string | null;
    readonly note: string | null;
    readonly exceeds_limits: boolean;
  } | null;
  readonly cancelled_by: 'BUYER' | 'OPERATOR' | 'PERFORMANCE' | null;
  readonly cancelled_at: string | null;
  readonly cancellation_note: string | null;
  /** Those that amendments made void, the newest first; at most as many as tickets. */
  readonly void_tickets: readonly VoidTicket[];
}

export interface Fact {
  readonly seq: number;
  readonly at: string;
  readonly event_id: string | null;
  readonly type: string;
  /** JSON text; a long one is told by its length. */
  readonly data: string;
}

export interface JournalPage {
  readonly facts: readonly Fact[];
  /** Ask with it as `before` for what happened earlier. A page of chosen facts may be empty and not the last. */
  readonly next_before: number | null;
}

export interface ClusterNode {
  readonly name: string;
  /** Shards that it owns. */
  readonly shards: number;
  /** It was told to stop and hands its shards over. */
  readonly leaving: boolean;
}

export interface ClusterShard {
  readonly shard: number;
  readonly owner: string | null;
  /** The number of the owner's claim in the shard's log. */
  readonly epoch: number | null;
}

export interface Takeover {
  readonly shard: number;
  readonly at: string;
  readonly from: string;
  readonly to: string;
  /** The number of the owner's claim in the shard's log. */
  readonly epoch: number;
  /** How long no live node announced the shard. */
  readonly ownerless_ms: number;
}

export interface Cluster {
  readonly now: string;
  /** CLUSTER_NAME. */
  readonly name: string;
  /** The node that answers. */
  readonly node: string;
  /** Whether it is connected to a NATS server. */
  readonly connected: boolean;
  readonly shards_owned: number;
  /** Shards whose events nobody answers for at this moment. */
  readonly shards_unowned: number;
  /** The live nodes, by name. */
  readonly nodes: readonly ClusterNode[];
  /** Every shard, by number. */
  readonly shards: readonly ClusterShard[];
  /** Changes of owners that this node has seen since its start, the newest first; at most 100. */
  readonly takeovers: readonly Takeover[];
}

export interface OrderPage {
  readonly orders: readonly AdminOrder[];
  readonly next_cursor: string | null;
}

export interface TicketScan {
  readonly id: string;
  readonly kind: 'ENTRY' | 'EXIT';
  readonly verdict: Verdict;
  /** What the station decided by itself: it counts, whatever `verdict` says. */
  readonly given: Verdict | null;
  /** When it counts. */
  readonly at: string;
  readonly received_at: string;
  readonly performance_id: string;
  readonly door_id: string;
  readonly door_name: string;
  /** Null of a scan by hand. */
  readonly station_id: string | null;
  readonly station_name: string | null;
  /** The station itself decided. */
  readonly offline: boolean;
  readonly undone: boolean;
  /** Of a scan by hand, where one gave a name. */
  readonly operator: string | null;
  /** Of a scan by hand; erased with the order. */
  readonly note: string | null;
  /** Null unless an operator undid it. */
  readonly undone_by_hand: { readonly operator: string | null; readonly note: string | null } | null;
}

export interface AdminTicket extends Ticket {
  readonly event_id: string;
  readonly order_id: string;
  readonly void_reason: 'ORDER_CANCELLED' | 'PERFORMANCE_CANCELLED' | 'TICKET_CANCELLED' | 'REPLACED' | null;
  /** Entries and exits in their order, and the first 50 that were refused. */
  readonly scans: readonly TicketScan[];
}

export interface ConflictingScan {
  readonly scan_id: string;
  readonly at: string;
  readonly received_at: string;
  readonly door_id: string;
  /** Null of a scan by hand. */
  readonly station_id: string | null;
  readonly station_name: string | null;
  /** The station itself decided. */
  readonly offline: boolean;
}

export interface ScanConflicts {
  readonly conflicts: readonly {
    readonly kind: 'DOUBLE_ENTRY' | 'ENTERED_VOID' | 'ENTERED_OTHERWISE';
    /** Null where the code is of no ticket of the event. */
    readonly ticket_id: string | null;
    readonly order_id: string | null;
    readonly performance_id: string;
    /** Null where there is but one scan. */
    readonly first: ConflictingScan | null;
    readonly second: ConflictingScan;
  }[];
  readonly next_cursor: string | null;
}

export interface MadeStation {
  readonly id: string;
  readonly name: string;
  /** A GATE is a machine of the hall, at which other stations scan. */
  readonly kind: 'STATION' | 'GATE';
  /** Null for all. */
  readonly performance_ids: readonly string[] | null;
  /** Null for all. */
  readonly door_ids: readonly string[] | null;
  readonly expires_at: string | null;
  /** Of a GATE: stations of its hall are paired at `{gate_url}/door#{token}`. */
  readonly gate_url: string | null;
  readonly created_at: string;
  /** Shown this once: only its digest is kept. */
  readonly token: string;
  /** Opened on a device it pairs it. It has the token in it. */
  readonly pairing_url: string;
}

export interface FoundOrders {
  readonly found: readonly {
    /** Whose name or address it is, or which number. */
    readonly found_in: 'BUYER' | 'GUEST' | 'ORDER' | 'TICKET' | 'PAYMENT';
    readonly order: AdminOrder;
  }[];
  /** Orders that were opened for this page. */
  readonly searched_orders: number;
  /** How far this page came: the event, and when the last order that was looked at was placed. */
  readonly reached: { readonly event_id: string; readonly placed_at: string | null } | null;
  /** Events that cannot be read now: what they have is missing here. */
  readonly unread_events: readonly string[];
  /** Ask again with it: a page may be empty and not the last. Null once everything was searched. */
  readonly next_cursor: string | null;
}
