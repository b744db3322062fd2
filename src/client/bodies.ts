/**
 * The bodies of the public API as a client reads and sends them, in the API's own names.
 *
 * They are written by hand, so that a storefront can take this folder without the service; `test/client/bodies.test.ts`
 * compares them with `/openapi.json`, property for property. Times are RFC 3339 in UTC, money is integers in the minor unit of the event's
 * currency (`money.ts` shows them).
 */

export type HoldStatus = 'ACTIVE' | 'CONVERTED' | 'CONSUMED' | 'RELEASED' | 'EXPIRED';
export type QueueStatus = 'WAITING' | 'ADMITTED' | 'EXPIRED' | 'LEFT';
export type OrderState = 'PENDING' | 'PARTIALLY_PAID' | 'CONFIRMED' | 'EXPIRED' | 'CANCELLED';
export type SeatState = 'AVAILABLE' | 'HELD' | 'SOLD' | 'BLOCKED';

// ── events ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface EventListEntry {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly starts_at: string | null;
  readonly ends_at: string | null;
  readonly currency: string;
  readonly from_price: number;
  readonly sold_out: boolean;
  readonly waiting_room: boolean;
  /** The zone in which its dates are read. */
  readonly timezone?: string;
  /** The path of a picture on the service. */
  readonly picture?: string;
  readonly venue?: { readonly name: string; readonly city: string | null };
}

export interface EventList {
  readonly events: readonly EventListEntry[];
  readonly next_cursor: string | null;
}

export interface Performance {
  readonly id: string;
  readonly name: string;
  readonly starts_at: string | null;
  readonly ends_at: string | null;
  /** When people are let in. */
  readonly doors_at?: string;
  readonly status: 'ON_SALE' | 'SOLD_OUT' | 'CANCELLED';
  readonly sort_order: number;
  /** Whether something of it can be bought now; `status` stays ON_SALE after its end. */
  readonly on_sale: boolean;
  /** The three figures are present on events with several performances only. */
  readonly total_available?: number;
  readonly from_price?: number;
  readonly sold_out?: boolean;
}

export interface Locality {
  readonly id: string;
  readonly name: string;
  readonly seating: 'GENERAL' | 'NUMBERED';
  readonly capacity: number;
}

export interface BarPerk {
  readonly id: string;
  readonly name: string;
  readonly price: number;
  readonly max_per_ticket: number | null;
  readonly available: number | null;
}

export interface TicketType {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly locality_id: string;
  readonly group_size: number;
  readonly max_per_order: number | null;
  readonly accessible: boolean;
  readonly zone_keys: readonly string[] | null;
  readonly entry_cutoff: string | null;
  readonly late_fee: number | null;
  readonly min_consumption: number | null;
  readonly barPerks: readonly BarPerk[];
}

export interface SellingStage {
  readonly id: string;
  readonly name: string;
  readonly starts_at: string | null;
  readonly ends_at: string | null;
  readonly sort_order: number;
  readonly on_sale: boolean;
}

export interface TicketAvailability {
  readonly ticket_type_id: string;
  readonly selling_stage_id: string;
  readonly performance_id: string | null;
  readonly price: number;
  readonly on_sale: boolean;
  readonly available: number;
  readonly reserved: number;
}

/** What a shop must say to buyers before they order. */
export interface Legal {
  readonly terms_url: string | null;
  readonly imprint_url: string | null;
  readonly privacy_url: string | null;
  /** The value-added tax that is in all prices. */
  readonly vat_percent: number | null;
  /** The words of the button with which a buyer orders. */
  readonly order_button: string | null;
}

export interface Venue {
  readonly name: string;
  readonly address: string | null;
  readonly city: string | null;
  /** Two letters of ISO 3166. */
  readonly country: string | null;
}

/** Somebody who performs, with a time of the day such as 21:30. */
export interface LineupEntry {
  readonly name: string;
  readonly time: string | null;
}

export interface EventPayload {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  /** The path of a picture on the service; absent where the event has none, as `venue` and `lineup` are. */
  readonly picture?: string;
  readonly venue?: Venue;
  readonly lineup?: readonly LineupEntry[];
  readonly currency: string;
  readonly timezone: string;
  readonly hold_minutes: number;
  readonly waiting_room: boolean;
  readonly waiting_room_opens_at: string | null;
  readonly waiting_room_rate: number;
  readonly waiting_room_minutes: number;
  readonly max_tickets_per_order: number | null;
  readonly max_tickets_per_email: number | null;
  readonly require_individual_data: boolean;
  readonly max_installments: number;
  readonly legal: Legal | null;
  readonly performances: readonly Performance[];
  readonly localities: readonly Locality[];
  readonly ticketTypes: readonly TicketType[];
  readonly sellingStages: readonly SellingStage[];
  readonly ticketAvailability: readonly TicketAvailability[];
}

// ── seats ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface PlannedSeat {
  readonly id: string;
  readonly seat_label: string;
  readonly x: number;
  readonly y: number;
  readonly zone_key: string;
  readonly accessible: boolean;
  readonly restricted_view: boolean;
}

export interface SeatRow {
  readonly label: string;
  readonly seats: readonly PlannedSeat[];
}

export interface SeatSection {
  readonly id: string;
  readonly name: string;
  readonly rows: readonly SeatRow[];
}

export interface SeatedLocality {
  readonly id: string;
  readonly name: string;
  readonly zones: readonly { readonly zone_key: string; readonly name: string; readonly color: string | null }[];
  readonly sections: readonly SeatSection[];
  readonly shapes: readonly unknown[];
}

export interface Seating {
  readonly event_id: string;
  readonly version: number;
  readonly localities: readonly SeatedLocality[];
}

export interface SeatChange {
  readonly id: string;
  readonly state: SeatState;
}

interface OccupancyOf {
  readonly event_id: string;
  readonly performance_id: string;
  readonly version: number;
}

export interface FullOccupancy extends OccupancyOf {
  readonly available: number;
  readonly held: readonly string[];
  readonly sold: readonly string[];
  readonly blocked: readonly string[];
}

export interface OccupancyChanges extends OccupancyOf {
  readonly since: number;
  readonly changes: readonly SeatChange[];
}

/** The changes since the version in `since`, or the full form when that version is too old. */
export type Occupancy = FullOccupancy | OccupancyChanges;

export interface Seat extends PlannedSeat {
  readonly section_id: string;
  readonly row_label: string;
  readonly state: SeatState;
}

/** The first message of a live stream, and again whenever changes are not enough. */
export interface LiveSnapshot {
  readonly event_id: string;
  readonly performance_id: string;
  /** The service's time; a buyer's own clock may be off. */
  readonly now: string;
  /** Grows when the definition of the event changes: read the event again. */
  readonly definition_version: number;
  readonly status: Performance['status'];
  readonly ticketAvailability: readonly TicketAvailability[];
  /** The seats that are not free; null where the event has no numbered seats. */
  readonly seats: Pick<FullOccupancy, 'held' | 'sold' | 'blocked'> | null;
}

/** What changed since the message before: the rows and seats that differ, in their new state. */
export interface LiveChange {
  readonly now: string;
  readonly status: Performance['status'];
  readonly ticketAvailability: readonly TicketAvailability[];
  readonly seats: readonly SeatChange[];
}

// ── holds ────────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface HoldItemRequest {
  readonly ticket_type_id: string;
  readonly selling_stage_id: string;
  readonly performance_id?: string | null;
  readonly quantity: number;
  readonly seat_ids?: readonly string[];
}

export interface HoldRequest {
  readonly event_id: string;
  readonly items: readonly HoldItemRequest[];
  readonly queue_pass?: string | null;
}

export interface HoldItem {
  readonly ticket_type_id: string;
  readonly selling_stage_id: string;
  readonly performance_id: string;
  readonly quantity: number;
  readonly ticket_count: number;
  readonly seat_ids: readonly string[];
  readonly seat_labels: readonly string[];
}

export interface Hold {
  readonly id: string;
  readonly event_id: string;
  readonly status: HoldStatus;
  readonly expires_at: string;
  readonly order_id: string | null;
  readonly items: readonly HoldItem[];
}

// ── waiting room ─────────────────────────────────────────────────────────────────────────────────────────────────────

export interface QueueEntry {
  readonly id: string;
  readonly event_id: string;
  readonly status: QueueStatus;
  readonly position: number | null;
  readonly waiting_ahead: number;
  readonly estimated_minutes: number;
  readonly open: boolean;
  readonly opens_at: string | null;
  readonly admitted_at: string | null;
  readonly pass_expires_at: string | null;
  readonly rate: number;
  /** Only on events whose queue can pause: whether it stands still because nothing is left. */
  readonly sold_out?: boolean;
  readonly draw_commitment: string | null;
}

export interface Draw {
  readonly event_id: string;
  readonly status: 'pending' | 'drawn';
  readonly draw_commitment: string;
  readonly seed: string | null;
  /** Null while pending, and in draws recorded before there were openings. */
  readonly opening: string | null;
  readonly drawn_at: string | null;
  readonly count: number;
  readonly entries_digest: string | null;
  readonly entries: readonly string[];
}

// ── checkout ─────────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Attendee {
  readonly name: string;
  readonly email?: string;
  readonly document_number?: string;
  readonly phone?: string;
}

export interface CheckoutItem extends HoldItemRequest {
  readonly discount_code?: string;
  readonly attendees?: readonly Attendee[];
  readonly bar_perks?: readonly { readonly bar_perk_id: string; readonly quantity: number }[];
}

export interface CheckoutRequest {
  readonly event_id: string;
  readonly hold_id?: string;
  readonly items?: readonly CheckoutItem[];
  readonly customer: {
    readonly email: string;
    readonly name: string;
    readonly document_number?: string;
    readonly phone?: string;
  };
  readonly accept_terms: boolean;
  readonly success_url?: string;
  readonly cancel_url?: string;
  readonly installment_count?: number;
  readonly promo_code?: string;
  readonly promoter_code?: string;
  readonly referral_code?: string;
  readonly tracking?: Readonly<Record<string, string>>;
  readonly queue_pass?: string;
}

/** What the tickets of a hold cost, less the discount; perks come on top. */
export interface Quote {
  readonly tickets_amount: number;
  readonly discount_amount: number;
  readonly currency: string;
}

export interface StartedCheckout {
  readonly order_id: string;
  readonly payment_provider: 'provider_a' | 'provider_b' | 'FREE';
  readonly redirect_url: string;
  readonly total_amount: number;
  readonly currency: string;
  readonly checkout_session_id: string | null;
  readonly expires_at: string | null;
}

export interface Ticket {
  readonly id: string;
  /** False once its order was cancelled. */
  readonly valid: boolean;
  /** Null for a void ticket. */
  readonly code: string | null;
  readonly ticket_type_id: string;
  readonly performance_id: string;
  readonly section: string | null;
  readonly row_label: string | null;
  readonly seat_id: string | null;
  readonly seat_label: string | null;
  readonly attendee: {
    readonly name: string;
    readonly email: string | null;
    readonly document_number: string | null;
    readonly phone: string | null;
  } | null;
}

export interface Payment {
  readonly id: string;
  readonly installment: number;
  readonly amount: number;
  readonly currency: string;
  readonly status: 'REQUESTED' | 'OPEN' | 'PAID' | 'DECLINED' | 'CANCELLED' | 'EXPIRED';
  readonly provider: string;
  readonly created_at: string;
  readonly paid_at: string | null;
}

export interface Order {
  readonly order_id: string;
  readonly status: OrderState;
  readonly payment_status: 'PENDING' | 'COMPLETED' | 'FAILED';
  readonly total_amount: number;
  readonly paid_amount: number;
  readonly remaining_amount: number;
  readonly refund_due: number;
  readonly currency: string;
  readonly total_installments: number;
  readonly paid_installments: number;
  readonly payments: readonly Payment[];
  /** At most 1,000 at once. */
  readonly tickets: readonly string[];
  readonly ticket_objects: readonly Ticket[];
  readonly ticket_count: number;
  /** Where the next page of tickets begins; null on the last one. */
  readonly next_after: string | null;
  readonly event: {
    readonly id: string;
    readonly slug: string;
    readonly name: string;
    readonly performances: readonly {
      readonly id: string;
      readonly name: string;
      readonly starts_at: string | null;
      readonly ends_at: string | null;
      readonly status: string;
    }[];
  };
  /** Nulls once it was erased. */
  readonly customer: { readonly name: string | null; readonly email: string | null };
  readonly erased_at: string | null;
  readonly discounts: readonly { readonly code: string; readonly item_index: number | null; readonly amount: number }[];
  readonly expires_at: string | null;
}

/** The public half of a key that signs or has signed ticket codes, as a JWK. */
export interface TicketKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
}

/** The keys with which ticket codes are checked: the one that signs, then those that signed before it. */
export interface TicketKeys {
  readonly keys: readonly TicketKey[];
}

/** Void tickets, in the order in which they became void. */
export interface VoidTickets {
  readonly tickets: readonly string[];
  readonly next_after: string | null;
}
