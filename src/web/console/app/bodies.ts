/** What the operators' API answers, as far as the console shows it. A test compares it with the API's OpenAPI document. */
import type { OrderState, Payment } from '#client/bodies.ts';

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
  readonly status: string;
}

export interface WaitingRoom {
  readonly status: string;
  readonly opens_at: string | null;
  readonly waiting: number;
  readonly admitted: number;
  readonly admitted_last_minute: number;
  readonly joined: number;
}

export interface MoneySums {
  readonly currency: string;
  readonly paid_amount: number;
  readonly payments: number;
  readonly refunded_amount: number;
  readonly refunds: number;
}

export interface HourSums extends MoneySums {
  readonly at: string;
}

export interface EventMoney {
  readonly event_id: string;
  readonly name: string;
  readonly evicted: boolean;
  readonly totals: readonly MoneySums[];
  readonly hours: readonly HourSums[];
}

export interface MoneyList {
  readonly now: string;
  readonly events: readonly EventMoney[];
  readonly next_cursor: string | null;
}

export interface Cancellation {
  readonly orders: number;
  readonly paid_orders: number;
  readonly tickets: number;
  readonly refunds_due: readonly { readonly amount: number; readonly currency: string }[];
}

export interface OverviewEvent {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly status: 'PUBLISHED' | 'DRAFT';
  readonly currency: string;
  readonly timezone: string;
  readonly numbered: boolean;
  readonly evicted: boolean;
  readonly performances: readonly OverviewPerformance[];
  readonly waiting_room: WaitingRoom | null;
  readonly money: readonly MoneySums[];
}

export interface ServiceFigures {
  readonly ready: boolean;
  readonly reason: string | null;
  readonly degraded: readonly string[];
  /** Where buyers go; the page of an order is behind it. */
  readonly public_url: string;
  /** The node of a cluster that answers; null on a single machine. */
  readonly node: string | null;
  readonly events: number;
  readonly appended_seq: number;
  readonly durable_seq: number;
  readonly journal_lag: number;
  readonly notification_lag: number | null;
  readonly snapshot_age_seconds: number;
  readonly event_loop_delay_ms: number;
  readonly free_bytes: number | null;
}

export interface Overview {
  readonly now: string;
  readonly service: ServiceFigures;
  readonly events: readonly OverviewEvent[];
  readonly next_cursor: string | null;
}

export interface Order {
  readonly order_id: string;
  readonly status: OrderState;
  readonly payment_status: 'PENDING' | 'COMPLETED' | 'FAILED';
  readonly placed_at: string;
  readonly expires_at: string | null;
  readonly currency: string;
  readonly total_amount: number;
  readonly paid_amount: number;
  readonly refund_due: number;
  readonly refunds_due: readonly { readonly amount: number; readonly currency: string }[];
  readonly refunded_amount: number;
  readonly payment_provider: string;
  readonly customer: {
    readonly name: string | null;
    readonly email: string | null;
    readonly phone: string | null;
  };
  readonly personal_data: 'OPEN' | 'ERASED' | 'UNREADABLE';
  readonly erased_at: string | null;
  readonly erased_by: string | null;
  readonly event: {
    readonly id: string;
    readonly name: string;
    readonly performances: readonly { readonly id: string; readonly name: string; readonly starts_at: string | null }[];
  };
  readonly ticket_count: number;
  readonly ticket_objects: readonly {
    readonly id: string;
    readonly valid: boolean;
    readonly ticket_type_id: string;
    readonly performance_id: string;
    readonly section: string | null;
    readonly row_label: string | null;
    readonly seat_label: string | null;
    readonly attendee: { readonly name: string; readonly email: string | null } | null;
  }[];
  readonly discounts: readonly { readonly code: string; readonly amount: number }[];
  readonly items: readonly {
    readonly ticket_type_id: string;
    readonly ticket_type_name: string;
    readonly performance_id: string;
    readonly ticket_count: number;
    readonly seat_ids: readonly string[];
    readonly unit_price: number;
    readonly quantity: number;
    readonly bar_perks: readonly {
      readonly bar_perk_id: string;
      readonly name: string;
      readonly quantity: number;
      readonly unit_price: number;
    }[];
  }[];
  readonly payments: readonly {
    readonly id: string;
    readonly installment: number;
    readonly amount: number;
    readonly currency: string;
    readonly status: Payment['status'];
    readonly paid_at: string | null;
  }[];
  readonly refunds: readonly {
    readonly id: string;
    readonly amount: number;
    readonly currency: string;
    readonly reference: string | null;
    readonly note: string | null;
    readonly created_at: string;
  }[];
  readonly cancelled_by: 'BUYER' | 'OPERATOR' | 'PERFORMANCE' | null;
  readonly cancelled_at: string | null;
  readonly cancellation_note: string | null;
}

export interface Fact {
  readonly seq: number;
  readonly at: string;
  readonly event_id: string | null;
  readonly type: string;
  readonly data: string;
}

export interface JournalPage {
  readonly facts: readonly Fact[];
  readonly next_before: number | null;
}

export interface ClusterNode {
  readonly name: string;
  readonly shards: number;
  readonly leaving: boolean;
}

export interface ClusterShard {
  readonly shard: number;
  readonly owner: string | null;
  readonly epoch: number | null;
}

export interface Takeover {
  readonly shard: number;
  readonly at: string;
  readonly from: string;
  readonly to: string;
  readonly epoch: number;
  readonly ownerless_ms: number;
}

export interface Cluster {
  readonly name: string;
  readonly node: string;
  readonly connected: boolean;
  readonly shards_unowned: number;
  readonly nodes: readonly ClusterNode[];
  readonly shards: readonly ClusterShard[];
  readonly takeovers: readonly Takeover[];
}

export interface OrderPage {
  readonly orders: readonly Order[];
  readonly next_cursor: string | null;
}

export interface FoundOrders {
  readonly found: readonly {
    readonly found_in: 'BUYER' | 'GUEST' | 'ORDER' | 'TICKET' | 'PAYMENT';
    readonly order: Order;
  }[];
  readonly searched_orders: number;
  readonly reached: { readonly event_id: string; readonly placed_at: string | null } | null;
  readonly unread_events: readonly string[];
  readonly next_cursor: string | null;
}
