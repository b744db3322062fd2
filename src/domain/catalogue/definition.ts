/**
 * What is for sale: the checked definition of an event, as plain data.
 *
 * A definition is complete: every default is filled in and every seat is listed, so that the journal has all that a
 * replay needs. Money is in cents, times in milliseconds since 1970, windows in minutes as in the API. `src/catalogue`
 * reads and writes the files.
 */

type PublicationStatus = 'PUBLISHED' | 'DRAFT';
export type PaymentProviderName = 'provider_a' | 'provider_b';

/** How an order is paid: at a provider, in cash at a counter, or not at all. */
export type PaymentKind = PaymentProviderName | 'CASH' | 'FREE';

/** The provider of a kind of payment; null where there is none to ask. */
export function providerOfKind(kind: PaymentKind): PaymentProviderName | null {
  return kind === 'FREE' || kind === 'CASH' ? null : kind;
}
/** What the operator sets for a performance; SOLD_OUT by sales is derived, not defined. */
type DefinedPerformanceStatus = 'ON_SALE' | 'SOLD_OUT' | 'CANCELLED' | 'DRAFT';

export interface EventDefinition {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly description: string;
  /** A file below the catalogue's folder, from which each node serves it; its bytes are no part of the definition. */
  readonly picture?: string;
  /** Absent where the event sets nothing; so is `lineup`. */
  readonly venue?: VenueDefinition;
  readonly lineup?: readonly LineupItem[];
  readonly status: PublicationStatus;
  readonly currency: string;
  readonly timezone: string;
  readonly paymentProvider: PaymentProviderName;
  /**
   * AUTOMATIC: what becomes due is refunded at once. Absent in definitions from before the setting, where it counts as
   * MANUAL.
   */
  readonly refunds?: 'MANUAL' | 'AUTOMATIC';
  readonly maxInstallments: number;
  readonly holdMinutes: number;
  /**
   * The longest that one session's hold may live through changes, counted from its first placing; 0 means no ceiling.
   * Null stands only in definitions that were stored before the setting had a default, and means none.
   */
  readonly holdMaxMinutes: number | null;
  /**
   * Whether a hold over the purchase limits is refused; absent in definitions from before the setting, where it counts
   * as false.
   */
  readonly limitsAtHold?: boolean;
  readonly paymentMinutes: number;
  readonly waitingRoom: boolean;
  readonly waitingRoomOpensAt: number | null;
  readonly waitingRoomRate: number;
  readonly waitingRoomMinutes: number;
  readonly waitingRoomInactivitySeconds: number;
  readonly waitingRoomPauseWhenSoldOut: boolean;
  readonly waitingRoomMaxAdmitted: number | null;
  readonly maxTicketsPerOrder: number | null;
  readonly maxTicketsPerEmail: number | null;
  readonly requireIndividualData: boolean;
  /**
   * Days after the last performance when the personal data of the event's orders is erased; null: it is kept until
   * somebody asks. Absent in definitions from before the setting, where it counts as null.
   */
  readonly retentionDays?: number | null;
  /** What buyers may change of their paid orders; absent where that is nothing. */
  readonly buyerChanges?: BuyerChanges;
  /** The entrances at which tickets are checked; absent where it names none. */
  readonly doors?: readonly DoorDefinition[];
  /** Whether a ticket enters again; absent: after its exit. */
  readonly reentry?: 'AFTER_EXIT' | 'NEVER' | 'ALWAYS';
  /** Absent where the event sets nothing. */
  readonly legal?: LegalDefinition;
  /** Absent where its pages look like the service's own. */
  readonly brand?: BrandDefinition;
  readonly performances: readonly PerformanceDefinition[];
  readonly localities: readonly LocalityDefinition[];
  readonly ticketTypes: readonly TicketTypeDefinition[];
  readonly sellingStages: readonly SellingStageDefinition[];
  readonly promoCodes: readonly PromoCodeDefinition[];
}

/** Every setting of a definition that names nothing. */
export const NOTHING_DEFINED: EventDefinition = {
  id: '',
  slug: '',
  name: '',
  description: '',
  status: 'DRAFT',
  currency: '',
  timezone: 'UTC',
  paymentProvider: 'provider_a',
  maxInstallments: 1,
  holdMinutes: 10,
  holdMaxMinutes: null,
  limitsAtHold: false,
  paymentMinutes: 30,
  waitingRoom: false,
  waitingRoomOpensAt: null,
  waitingRoomRate: 1,
  waitingRoomMinutes: 1,
  waitingRoomInactivitySeconds: 120,
  waitingRoomPauseWhenSoldOut: false,
  waitingRoomMaxAdmitted: null,
  maxTicketsPerOrder: null,
  maxTicketsPerEmail: null,
  requireIndividualData: false,
  retentionDays: null,
  performances: [],
  localities: [],
  ticketTypes: [],
  sellingStages: [],
  promoCodes: [],
};

/** The part of an event's definition that decides how its pages look. */
export type BrandedEvent = Pick<EventDefinition, 'slug' | 'brand'>;

/** How a venue appears to buyers; where a field is absent, pages have the service's own. */
export interface BrandDefinition {
  readonly name?: string;
  /** A picture as a data: URL in base64. */
  readonly logo?: string;
  /** As #rrggbb, for light pages. */
  readonly accent?: string;
  /** As #rrggbb, for dark pages. */
  readonly accentDark?: string;
  readonly scheme?: 'AUTO' | 'LIGHT' | 'DARK';
  /** An e-mail address, or one that begins with https://. */
  readonly support?: string;
  readonly links?: readonly BrandLink[];
  /** Whether pages name the software that serves them. */
  readonly credit?: boolean;
}

export interface BrandLink {
  /** Texts by language: two letters of ISO 639. */
  readonly label: Readonly<Record<string, string>>;
  readonly url: string;
}

export interface VenueDefinition {
  readonly name: string;
  readonly address: string | null;
  readonly city: string | null;
  /** Two letters of ISO 3166. */
  readonly country: string | null;
}

/** Somebody who performs, and when, as a time of the day at the venue. */
interface LineupItem {
  readonly name: string;
  readonly time: string | null;
}

/** What buyers may change by themselves; null: it is not offered. */
export interface BuyerChanges {
  readonly cancel: ChangeRule | null;
  /** To another date, type or seat, and new codes. */
  readonly change: ChangeRule | null;
  readonly attendees: ChangeRule | null;
  /** Days after the purchase in which tickets of dates that have not begun are given back without a fee. */
  readonly withdrawalDays: number;
}

export interface ChangeRule {
  /** Before the start of the ticket's date; one without a start: until it is over. */
  readonly untilMinutes: number;
  /** Cents, for a ticket. */
  readonly fee: number;
  /** Of what is credited. */
  readonly feePercent: number;
  /** Null: of all types. */
  readonly ticketTypeIds: readonly string[] | null;
}

export interface DoorDefinition {
  readonly id: string;
  readonly name: string;
  /** The ticket types that it takes; null: all of them. */
  readonly ticketTypeIds: readonly string[] | null;
}

/** The doors of an event that names none. */
const ONE_DOOR: readonly DoorDefinition[] = [{ id: 'main', name: 'Entrance', ticketTypeIds: null }];

export function doorsOf({ doors = ONE_DOOR }: Pick<EventDefinition, 'doors'>): readonly DoorDefinition[] {
  return doors;
}

export function reentryOf({
  reentry = 'AFTER_EXIT',
}: Pick<EventDefinition, 'reentry'>): 'AFTER_EXIT' | 'NEVER' | 'ALWAYS' {
  return reentry;
}

/** What a seller must tell buyers before they order, by legal duty. */
interface LegalDefinition {
  readonly termsUrl: string | null;
  readonly imprintUrl: string | null;
  readonly privacyUrl: string | null;
  /** The value-added tax that is in all prices. */
  readonly vatPercent: number | null;
  /** The words of the button with which a buyer orders; null: the storefront's own. */
  readonly orderButton: string | null;
}

export interface PerformanceDefinition {
  readonly id: string;
  readonly name: string;
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  /** When people are let in; absent where nothing is known. */
  readonly doorsAt?: number;
  readonly status: DefinedPerformanceStatus;
  readonly sortOrder: number;
}

export type LocalityDefinition = GeneralLocality | NumberedLocality;

interface GeneralLocality {
  readonly id: string;
  readonly name: string;
  readonly seating: 'GENERAL';
  /** Places at each performance. */
  readonly capacity: number;
}

export interface NumberedLocality {
  readonly id: string;
  readonly name: string;
  readonly seating: 'NUMBERED';
  /**
   * The point that the audience faces; rows are tried by their centre's distance from it. Null: as listed, front first.
   */
  readonly focalPoint: Point | null;
  readonly zones: readonly ZoneDefinition[];
  readonly sections: readonly SectionDefinition[];
  /** Outlines for the picture (stage, walls, areas), passed through as they came. */
  readonly shapes: readonly unknown[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface ZoneDefinition {
  readonly zoneKey: string;
  readonly name: string;
  readonly color: string | null;
}

export interface SectionDefinition {
  readonly id: string;
  readonly name: string;
  readonly rows: readonly SeatRowDefinition[];
}

export interface SeatRowDefinition {
  readonly label: string;
  readonly seats: readonly SeatDefinition[];
  /** Counts of seats after which an aisle runs: [6] means between the sixth and the seventh seat as listed. */
  readonly aisleAfter: readonly number[];
}

export interface SeatDefinition {
  /** Unique over the event: occupancy and blocking name seats by id alone. */
  readonly id: string;
  readonly label: string;
  readonly x: number;
  readonly y: number;
  readonly zoneKey: string;
  readonly accessible: boolean;
  readonly restrictedView: boolean;
}

export interface TicketTypeDefinition {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly localityId: string;
  /** The zones of a NUMBERED locality it may sit in; null means all of them. */
  readonly zoneKeys: readonly string[] | null;
  readonly groupSize: number;
  /** Units per order item; null means no cap. */
  readonly maxPerOrder: number | null;
  /** Tickets per performance over all stages; null means no cap. */
  readonly quota: number | null;
  readonly accessible: boolean;
  readonly entryCutoff: string | null;
  readonly lateFee: number | null;
  readonly minConsumption: number | null;
  readonly barPerks: readonly BarPerkDefinition[];
}

export interface BarPerkDefinition {
  readonly id: string;
  readonly name: string;
  readonly price: number;
  /** How many the whole event has; null means no cap. */
  readonly stock: number | null;
  readonly maxPerTicket: number | null;
}

export interface SellingStageDefinition {
  readonly id: string;
  readonly name: string;
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  readonly sortOrder: number;
  /** Cents for one unit, by ticket type id; a type without a price is not sold in this stage. */
  readonly prices: Readonly<Record<string, number>>;
  /** Tickets per performance in this stage, by ticket type id; a type without an entry has no cap. */
  readonly quotas: Readonly<Record<string, number>>;
}

export interface PromoCodeDefinition {
  readonly code: string;
  readonly percentOff: number | null;
  readonly amountOff: number | null;
  readonly maxUses: number | null;
  readonly ticketTypeIds: readonly string[] | null;
  readonly startsAt: number | null;
  readonly endsAt: number | null;
}
