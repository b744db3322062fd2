/**
 * The bodies of the public API as a client reads and sends them, in the API's own names: `npm run render`
 * writes this file from the schemas of `src/http`. Times are RFC 3339 in UTC, money is integers in the
 * minor unit of a currency (ISO 4217): cents of EUR, yen of JPY, fils of KWD.
 */

export type QueueStatus = 'WAITING' | 'ADMITTED' | 'EXPIRED' | 'LEFT';

export type OrderState = 'PENDING' | 'PARTIALLY_PAID' | 'CONFIRMED' | 'EXPIRED' | 'CANCELLED';

export type SeatState = 'AVAILABLE' | 'HELD' | 'SOLD' | 'BLOCKED';

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
  /** When the next stage opens; absent where one is open, and where nothing is to be sold. */
  readonly sale_starts_at?: string;
  /** The zone in which its dates are read. */
  readonly timezone?: string;
  /**
   * The path of a picture on this service; absent where the event has none. It answers 404 where the file is
   * gone.
   */
  readonly picture?: string;
  /** Where it takes place; absent where the event does not say. */
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
  /** When people are let in; absent where the event does not say. */
  readonly doors_at?: string;
  readonly status: 'ON_SALE' | 'SOLD_OUT' | 'CANCELLED';
  readonly sort_order: number;
  /**
   * Whether something of it can be bought now: false when it is over, cancelled or sold out, or when no
   * stage is open.
   */
  readonly on_sale: boolean;
  readonly total_available?: number;
  readonly from_price?: number;
  readonly sold_out?: boolean;
}

/** Present while the sale is paused, or the organizer tells buyers something. */
export interface SaleSteering {
  readonly paused: boolean;
  readonly message: string | null;
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

/** How pages look: the event’s brand over that of the service. Absent where neither has one. */
export interface EventBrand {
  /** What the venue is called on every page. */
  readonly name: string | null;
  /** The address of its picture, from the root of this service. */
  readonly logo: string | null;
  /** Of buttons and links on light pages. */
  readonly accent: string;
  /** The same on dark pages. */
  readonly accent_dark: string;
  /** Whether pages are light, dark, or as a browser prefers. */
  readonly scheme: 'AUTO' | 'LIGHT' | 'DARK';
  /** Where buyers ask: an e-mail address, or one that begins with https://. */
  readonly support: string | null;
  /** At the foot of every page. */
  readonly links: readonly {
    /** By language. */
    readonly label: Readonly<Record<string, string>>;
    readonly url: string;
  }[];
  /** Whether pages say which software they are. */
  readonly credit: boolean;
  /** The address of its style sheet, from the root of this service. */
  readonly style: string | null;
}

export interface Legal {
  readonly terms_url: string | null;
  readonly imprint_url: string | null;
  readonly privacy_url: string | null;
  /** The value-added tax that is in all prices. */
  readonly vat_percent: number | null;
  /**
   * The words of the button with which a buyer orders, and nothing else on it; null leaves them to the
   * storefront.
   */
  readonly order_button: string | null;
}

export interface Venue {
  readonly name: string;
  readonly address: string | null;
  readonly city: string | null;
  /** Two letters of ISO 3166. */
  readonly country: string | null;
}

export interface LineupItem {
  readonly name: string;
  /** A time of the day at the venue, such as 21:30. */
  readonly time: string | null;
}

export interface ChangeTerms {
  /** Before the start of the date; one without a start until it is over. */
  readonly until_minutes: number;
  /** For a ticket. */
  readonly fee: number;
  /** Of what is credited, added to the fee. */
  readonly fee_percent: number;
  /** The types that it is for; all where null. */
  readonly ticket_type_ids: readonly string[] | null;
}

export interface EventPayload {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  /**
   * The path of a picture on this service; absent where the event has none. It answers 404 where the file is
   * gone.
   */
  readonly picture?: string;
  /** Where it takes place; absent where the event does not say. */
  readonly venue?: Venue;
  /** Who performs; absent where the event does not say. */
  readonly lineup?: readonly LineupItem[];
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
  readonly steering?: SaleSteering;
  /** What buyers may change of their paid orders by themselves; null where that is nothing. */
  readonly buyer_changes: {
    /** Tickets are given back; null where that is not offered. */
    readonly cancel: ChangeTerms | null;
    /** Tickets go to another date, type or seat, or get a new code; null where not offered. */
    readonly change: ChangeTerms | null;
    /** Others are named on tickets; null where that is not offered. */
    readonly attendees: ChangeTerms | null;
    /** Days after the purchase in which tickets of dates that have not begun are given back without a fee. */
    readonly withdrawal_days: number;
  } | null;
  /** The entrances at which tickets are checked. */
  readonly doors: readonly {
    readonly id: string;
    readonly name: string;
    /** The types that it takes; all where null. */
    readonly ticket_type_ids: readonly string[] | null;
  }[];
  /** Whether a ticket that entered enters again: after its exit, never or always. */
  readonly reentry: 'AFTER_EXIT' | 'NEVER' | 'ALWAYS';
  /** What the shop must say to buyers before they order; null where the event sets nothing. */
  readonly legal: Legal | null;
  readonly brand?: EventBrand;
  readonly performances: readonly Performance[];
  readonly localities: readonly Locality[];
  readonly ticketTypes: readonly TicketType[];
  readonly sellingStages: readonly SellingStage[];
  readonly ticketAvailability: readonly TicketAvailability[];
}

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
  /** Grows when the definition of the event changes. */
  readonly version: number;
  readonly localities: readonly SeatedLocality[];
}

export interface SeatChange {
  readonly id: string;
  readonly state: SeatState;
}

export interface FullOccupancy {
  readonly event_id: string;
  readonly performance_id: string;
  /** Grows with every change of any seat of the date. */
  readonly version: number;
  readonly available: number;
  readonly held: readonly string[];
  readonly sold: readonly string[];
  readonly blocked: readonly string[];
}

export interface OccupancyChanges {
  readonly event_id: string;
  readonly performance_id: string;
  /** Grows with every change of any seat of the date. */
  readonly version: number;
  /** Only in the form of changes. */
  readonly since: number;
  readonly changes: readonly SeatChange[];
}

/** The full form has available, held, sold and blocked; the answer to ?since= has since and changes. */
export type Occupancy = FullOccupancy | OccupancyChanges;

export interface Seat extends PlannedSeat {
  readonly section_id: string;
  readonly row_label: string;
  readonly state: SeatState;
}

/** The first message, and again whenever changes cannot be told as such. */
export interface LiveSnapshot {
  readonly event_id: string;
  readonly performance_id: string;
  readonly now: string;
  /** Grows when the definition of the event changes: read it again. */
  readonly definition_version: number;
  readonly status: 'ON_SALE' | 'SOLD_OUT' | 'CANCELLED';
  readonly steering?: SaleSteering;
  readonly ticketAvailability: readonly TicketAvailability[];
  /** The seats that are not free; null where the event has no numbered seats. */
  readonly seats: {
    readonly held: readonly string[];
    readonly sold: readonly string[];
    readonly blocked: readonly string[];
  } | null;
}

/** The rows and seats that differ from the message before, in their new state; after a resume all rows. */
export interface LiveChange {
  readonly now: string;
  readonly status: 'ON_SALE' | 'SOLD_OUT' | 'CANCELLED';
  readonly steering?: SaleSteering;
  readonly ticketAvailability: readonly TicketAvailability[];
  readonly seats: readonly SeatChange[];
}

export interface HoldItemRequest {
  readonly ticket_type_id: string;
  readonly selling_stage_id: string;
  readonly performance_id?: string | null;
  /**
   * Seats to claim on numbered seating; left out, the best available are assigned, beside those of an
   * accessible ticket type of the same request.
   */
  readonly seat_ids?: readonly string[];
  readonly quantity: number;
}

export interface HoldRequest {
  readonly event_id: string;
  readonly items: readonly HoldItemRequest[];
  /** The id of an ADMITTED queue entry. */
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
  readonly status: 'ACTIVE' | 'CONVERTED' | 'CONSUMED' | 'RELEASED' | 'EXPIRED';
  readonly expires_at: string;
  readonly order_id: string | null;
  readonly items: readonly HoldItem[];
}

export interface QueueEntry {
  /** The pass: sent as queue_pass once the status is ADMITTED. */
  readonly id: string;
  readonly event_id: string;
  readonly status: QueueStatus;
  /** Place in line; null before the draw and when not waiting. */
  readonly position: number | null;
  readonly waiting_ahead: number;
  readonly estimated_minutes: number;
  /** Whether the doors are open. */
  readonly open: boolean;
  readonly opens_at: string | null;
  readonly admitted_at: string | null;
  readonly pass_expires_at: string | null;
  /** Admissions per minute. */
  readonly rate: number;
  /** SHA-256 of the seed of the draw; null where nothing is drawn. */
  readonly draw_commitment: string | null;
  readonly steering?: SaleSteering;
  /** Only on events that pause: whether the line stands because nothing is left. */
  readonly sold_out?: boolean;
}

export interface Draw {
  readonly event_id: string;
  readonly status: 'pending' | 'drawn';
  /** SHA-256 of the seed. */
  readonly draw_commitment: string;
  /** 32 bytes in hex, made with the room; null while pending. */
  readonly seed: string | null;
  /**
   * 32 bytes in hex, made at the opening; null while pending, and in draws recorded before there were
   * openings.
   */
  readonly opening: string | null;
  readonly drawn_at: string | null;
  readonly count: number;
  /** SHA-256 of all entries, sorted and joined. */
  readonly entries_digest: string | null;
  /**
   * SHA-256 of each entry id, in line order: ascending by HMAC-SHA-256 of digest and entry (both as hex
   * texts) under K, which is HMAC-SHA-256 of the bytes of the opening under the bytes of the seed. Without
   * an opening K is the seed.
   */
  readonly entries: readonly string[];
}

export interface Attendee {
  readonly name: string;
  /**
   * Kept as typed; compared trimmed, without regard to case, width and invisible characters, and without a
   * +tag.
   */
  readonly email?: string | null;
  readonly document_number?: string | null;
  readonly phone?: string | null;
}

export interface CheckoutItem extends HoldItemRequest {
  readonly discount_code?: string | null;
  /** One for each ticket; needed where the event issues tickets to people. */
  readonly attendees?: readonly Attendee[] | null;
  readonly bar_perks?: readonly { readonly bar_perk_id: string; readonly quantity: number }[] | null;
}

export interface CheckoutRequest {
  readonly event_id: string;
  /** The hold that the order takes over. */
  readonly hold_id?: string | null;
  /** Needed without hold_id; with one, the items of the hold or left out. */
  readonly items?: readonly CheckoutItem[] | null;
  readonly customer: {
    /**
     * Kept as typed; compared trimmed, without regard to case, width and invisible characters, and without a
     * +tag.
     */
    readonly email: string;
    readonly name: string;
    readonly document_number?: string | null;
    readonly phone?: string | null;
  };
  readonly accept_terms?: boolean | null;
  /** {ORDER_ID} in it is replaced. */
  readonly success_url?: string | null;
  /** {ORDER_ID} in it is replaced. */
  readonly cancel_url?: string | null;
  readonly installment_count?: number | null;
  readonly promo_code?: string | null;
  /** Cut to 128 characters. */
  readonly promoter_code?: string | null;
  /** Cut to 128 characters. */
  readonly referral_code?: string | null;
  /**
   * What advertising platforms match by: fbc, fbp, client_user_agent, client_ip_address, gclid, fbclid,
   * ttclid, ttp, referrer, landing_page, channel, utm_*. Texts of other names are kept as well. Never
   * refused: at most 40 fields are kept, each cut to 2048 characters, 16384 bytes in all; what is no text,
   * or no object, is left out.
   */
  readonly tracking?: unknown;
  /** Without its session_key a pass is good for one order. */
  readonly queue_pass?: string | null;
}

export interface Quote {
  /** The tickets less the discount; perks come on top at their prices. */
  readonly tickets_amount: number;
  readonly discount_amount: number;
  readonly currency: string;
}

export interface StartedCheckout {
  readonly order_id: string;
  readonly payment_provider: 'provider_a' | 'provider_b' | 'FREE';
  /** The provider's page, or the confirmation page of a free order. */
  readonly redirect_url: string;
  readonly total_amount: number;
  /** What is paid now, where the order is paid in installments. */
  readonly amount_due?: number;
  readonly currency: string;
  readonly checkout_session_id: string | null;
  readonly expires_at: string | null;
}

export interface TicketHolder {
  readonly name: string;
  readonly email: string | null;
  readonly document_number: string | null;
  readonly phone: string | null;
}

export interface Ticket {
  readonly id: string;
  /** For people to tell: operators search by it. Seldom two of one event have the same. */
  readonly number: string;
  /** False once it was given back or its order was cancelled: the ticket is void. */
  readonly valid: boolean;
  /** base64url(payload).base64url(signature); checked with GET /api/tickets/key. Null for a void ticket. */
  readonly code: string | null;
  readonly ticket_type_id: string;
  readonly performance_id: string;
  readonly section: string | null;
  readonly row_label: string | null;
  readonly seat_id: string | null;
  readonly seat_label: string | null;
  /** From 1, over the order: tickets of one unit have the same. Null for one that was given back. */
  readonly unit: number | null;
  /** The ticket that it was issued for. */
  readonly replaces: string | null;
  readonly attendee: TicketHolder | null;
}

export interface AmendmentRequest {
  /** The tickets that are given back; of a group all of them. */
  readonly cancel?: readonly string[];
  /** Tickets that get a new code for the same place; the old one is void. */
  readonly reissue?: readonly string[];
  readonly change?: readonly {
    /** Of a group all of them. */
    readonly ticket_ids: readonly string[];
    readonly performance_id?: string | null;
    readonly ticket_type_id?: string | null;
    /** Where none is named: its own where that sells the type now, else the first open. */
    readonly selling_stage_id?: string | null;
    /** One for each ticket, in their order. Without it the same ones where they are free, else the best. */
    readonly seat_ids?: readonly string[] | null;
  }[];
  /** Who comes with which ticket from now on. The code stays; with `reissue` the ticket gets another. */
  readonly attendees?: readonly { readonly ticket_id: string; readonly attendee: Attendee }[];
  /** {ORDER_ID} in it is replaced. */
  readonly success_url?: string | null;
  /** {ORDER_ID} in it is replaced. */
  readonly cancel_url?: string | null;
}

export interface AmendmentQuote {
  /** Sent with the same request, it has done what stands here. */
  readonly quote: string;
  readonly expires_at: string;
  readonly tickets: readonly {
    readonly ticket_id: string;
    readonly action: 'CANCEL' | 'CHANGE' | 'REISSUE' | 'RENAME';
    /** For its unit, on the first ticket of that, without perks. */
    readonly credit: number;
    /** What is charged for its unit, on the first ticket of that; 0 where the price stays. */
    readonly price: number;
    readonly ticket_type_id: string;
    readonly selling_stage_id: string;
    readonly performance_id: string;
    readonly section: string | null;
    readonly row_label: string | null;
    readonly seat_id: string | null;
    readonly seat_label: string | null;
  }[];
  /** What of `credit` is for perks. */
  readonly perks_credit: number;
  readonly credit: number;
  readonly charge: number;
  readonly fee: number;
  /** `charge` + `fee` − `credit`. */
  readonly difference: number;
  readonly to_pay: number;
  /** What becomes due back. */
  readonly to_refund: number;
  /** Of the order from then on. */
  readonly total_amount: number;
  readonly remaining_amount: number;
  readonly currency: string;
}

export interface Amendment {
  readonly id: string;
  readonly status: 'APPLIED' | 'PENDING' | 'EXPIRED' | 'CANCELLED';
  readonly by: 'BUYER' | 'OPERATOR' | 'PERFORMANCE';
  readonly created_at: string;
  readonly applied_at: string | null;
  /** Until when it can be paid; null where nothing was to be paid. */
  readonly expires_at: string | null;
  /** Below zero where something was given up. */
  readonly difference: number;
  readonly fee: number;
  /** What is paid before it is applied. */
  readonly to_pay: number;
  readonly to_refund: number;
  readonly tickets: readonly {
    readonly ticket_id: string;
    readonly action: 'CANCEL' | 'CHANGE' | 'REISSUE' | 'RENAME';
    /** The ticket that was issued in its place. */
    readonly new_ticket_id: string | null;
  }[];
  readonly payment_provider: string | null;
  /** Where it is paid, while it is PENDING. */
  readonly redirect_url: string | null;
  readonly checkout_session_id: string | null;
}

export interface Payment {
  readonly id: string;
  /** From 1; 0 of a payment for an amendment. */
  readonly installment: number;
  /** The amendment that it pays for; null for an installment. */
  readonly amendment_id: string | null;
  readonly amount: number;
  readonly currency: string;
  readonly status: 'REQUESTED' | 'OPEN' | 'PAID' | 'DECLINED' | 'CANCELLED' | 'EXPIRED';
  readonly provider: string;
  readonly created_at: string;
  readonly paid_at: string | null;
}

export interface Order {
  readonly order_id: string;
  /** For people to tell: operators search by it. Seldom two of one event have the same. */
  readonly number: string;
  readonly status: OrderState;
  readonly payment_status: 'PENDING' | 'COMPLETED' | 'FAILED';
  readonly total_amount: number;
  /** What amendments cost, which is in the total. */
  readonly fees_amount: number;
  /** What was taken off the total. */
  readonly goodwill_amount: number;
  readonly paid_amount: number;
  readonly remaining_amount: number;
  /** What is owed to the buyer in the order's currency; 0 when nothing is. */
  readonly refund_due: number;
  /** What of `refund_due` is being given back: refunds that are PENDING or NEEDS_OPERATOR. */
  readonly refund_pending: number;
  readonly currency: string;
  readonly total_installments: number;
  readonly paid_installments: number;
  /** At most 1,000 at once. */
  readonly tickets: readonly string[];
  /** The same tickets with their codes. */
  readonly ticket_objects: readonly Ticket[];
  /** All tickets of the order. */
  readonly ticket_count: number;
  /** Where the next page of tickets begins (`?after=`); null on the last one. */
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
  readonly discounts: readonly {
    readonly code: string;
    /** Null for the code of the whole order. */
    readonly item_index: number | null;
    readonly amount: number;
  }[];
  readonly expires_at: string | null;
  /** The newest 20, the newest first. */
  readonly amendments: readonly Amendment[];
  readonly payments: readonly Payment[];
  /** Money that was given back, or is on its way. */
  readonly refunds: readonly {
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
  }[];
  /** Nulls once it was erased. */
  readonly customer: { readonly name: string | null; readonly email: string | null };
  /** When its personal data was erased; null where it was not. */
  readonly erased_at: string | null;
}

export interface TicketKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  /** The public key, base64url. */
  readonly x: string;
  /** Its RFC 7638 thumbprint. */
  readonly kid: string;
}

export interface TicketKeys {
  /** The key that signs first, then those that signed before it. */
  readonly keys: readonly TicketKey[];
}

export interface VoidTickets {
  /** Ids of void tickets, in the order in which they became void. */
  readonly tickets: readonly string[];
  /** Where the next page begins; null on the last one. */
  readonly next_after: string | null;
}
