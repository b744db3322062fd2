/**
 * What the HTTP layer needs of other modules: narrow types that `actors` and the service implement, and tests replace.
 */
import type { FastifyInstance } from 'fastify';
import type { Pictures } from '#catalogue/pictures.ts';
import type { Deployment, DeploymentState, FactsPage, FactsRequest, SnapshotSummary } from '#engine/deployment.ts';
import type { SaleAsRead, SaleRequest } from '#engine/sales-by-minute.ts';
import type { EventFinder, EventReader } from '#actors/event-port.ts';
import type { PersonalDataReader } from '#privacy/personal-data.ts';
import type { BrandDefinition, PaymentProviderName } from '#domain/catalogue/definition.ts';
import type { IdempotencyKey } from '#domain/fact.ts';
import type { EvictedCounts } from '#actors/event-entry.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { LargeBody } from './protocol/encoding.ts';
import type { PaymentService } from '#payments/service.ts';
import type { SandboxCheckout } from '#payments/sandbox-checkout.ts';
import type { Language } from '#texts/locale/language.ts';
import type { TicketSigner } from '#tickets/signing.ts';
import type { ShopViews } from '../web/shop-views.ts';
import type { TrustProxy } from './protocol/client-address.ts';

/** Finds, lists and defines events. */
export type EventsPort = Deployment['events'];

/** Finds and lists events, for buyers. */
type ListedEventsPort = EventFinder & Pick<EventsPort, 'list'>;

/** What the deployment is and how it is, as data. */
export type DeploymentPort = Pick<Deployment, 'state' | 'isStopping'>;

export interface ClockPort {
  now(): number;
}

/** What is read when the metrics are read. */
export interface GaugesPort {
  readonly deployment: DeploymentPort;
  readonly clock: ClockPort & { readonly leaps: number };
  /** The events in memory, the one used last first. */
  active(): readonly EventReader[];
  /** The counts of the other events. */
  notInMemory(): readonly EvictedCounts[];
  /** Refund attempts since the start, by outcome. */
  refundTries(): Readonly<Record<string, number>>;
  /** Absent where one thread does everything. */
  readonly threads?: ThreadsGauges;
  /** Absent where no mail is sent. */
  readonly mailer?: { readonly counts: Readonly<Record<string, number>>; readonly failingMs: number };
  /** Only at a gate: the state of its exchange with its service. */
  readonly gate?: GateGauges;
}

export interface GateGauges {
  /** Scans that the service has not taken yet. */
  readonly queued: number;
  /** Null while the service is in step. */
  readonly trouble: string | null;
}

/** What clients occupy while they are connected; it is freed however they leave. */
export type InUse =
  | 'live_streams'
  | 'changes_under_way'
  | 'claims_at_work'
  | 'claims_in_line'
  | 'body_bytes'
  | 'provider_calls'
  | 'provider_calls_waiting';

/** What requests have in use where they are answered; calls to providers are counted where they are made. */
export type RequestUse = Exclude<InUse, 'provider_calls' | 'provider_calls_waiting'>;

/** How much of something clients have in use: by the requests of one app, and of all apps that share its limits. */
export interface UseCount {
  readonly own: number;
  readonly total: number;
  set(own: number): void;
}

/** Counts what requests do. */
export interface RequestMetrics {
  /** A new count of what is in use by clients; counts of the same name are added up where they are shown. */
  countInUse(what: RequestUse): UseCount;
  /** Observes every request of an app from here on; call it before the routes are added. */
  observe(app: FastifyInstance): void;
}

/**
 * What a thread reports once about its counts: the memory of a series of its requests, or a code that it may answer
 * with.
 */
export type CountsNews =
  | { readonly kind: 'series'; readonly labels: Readonly<Record<string, string>>; readonly cells: Float64Array }
  | { readonly kind: 'code'; readonly command: string; readonly code: string };

/** The delay of a thread's event loop, in milliseconds. */
interface ThreadDelay {
  readonly thread: string;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

/** The threads that answer requests beside this one. */
export interface ThreadsGauges {
  readonly running: number;
  /** Threads that ended by themselves and were started again. */
  readonly restarts: number;
  delays(): readonly ThreadDelay[];
}

/** What the service measured in a minute. */
export interface HistoryMinute {
  /** When it began. */
  readonly at: number;
  /** Answers of the buyers' and stations' API, without live streams and webhooks; how many of them were 4xx and 5xx. */
  readonly requests: number;
  readonly clientErrors: number;
  readonly serverErrors: number;
  /** The latency of the same answers in milliseconds; null where there are none. */
  readonly latency: Percentiles | null;
  /** Writes to the journal, until each is durable, in milliseconds. */
  readonly commits: number;
  readonly commit: Percentiles | null;
  /** The most changes that waited in the admission queue at a sample. */
  readonly admissionQueueMax: number;
  /** Turns that were refused, and the codes that most of them had. */
  readonly refused: number;
  readonly refusals: readonly { readonly code: string; readonly count: number }[];
}

export interface Percentiles {
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

/** Counts what happens. */
export interface Metrics extends RequestMetrics {
  readonly contentType: string;
  /** Everything in Prometheus' text format. */
  read(): Promise<string>;
  /** Shows what another thread counts; the function that it returns keeps the counts when that thread ends. */
  include(news: CountsNews): () => void;
  /** Shows a count that somebody else keeps. */
  watchInUse(what: InUse, count: () => number): void;
  /** The minutes of the last hours that began in a range. */
  history(from: number, to: number): readonly HistoryMinute[];
  /** Stops listening. */
  close(): void;
}

/** What was counted of a key in its minute, which began at `since`. */
export interface CountedWindow {
  readonly since: number;
  readonly counted: number;
}

/** Counts of keys, each in a minute of its own that begins with the first thing counted. */
export interface WindowStore {
  read(key: string, now: number): CountedWindow;
  /** Returns the count, including what was added. */
  add(key: string, now: number, times: number): CountedWindow;
}

/** How many of something each client has open. */
export interface ClientCounts {
  of(client: string): number;
  add(client: string, by: number): void;
}

/** Counts by client that all threads of the process share, where several threads answer. */
interface SharedLimits {
  /** The windows of the limit with this name. */
  windows(limit: string): WindowStore;
  readonly streams: ClientCounts;
}

/** The part of a pino logger that is used here. */
export interface LogPort {
  error(details: object, message: string): void;
  debug(details: object, message: string): void;
}

/** The settings that concern HTTP; the service's configuration fits as it is. */
export interface HttpSettings {
  /** How pages look where an event does not say it. */
  readonly brand: BrandDefinition | null;
  readonly corsOrigins: '*' | readonly string[];
  /** The address that buyers see, where one is set. */
  readonly baseUrl: string | null;
  readonly trustProxy: TrustProxy;
  /** NODE_NAME; null where it is not set. */
  readonly nodeName: string | null;
  readonly rateLimitPerMinute: number;
  /** Whether searches, joins of a waiting room and live streams are limited for each client. */
  readonly clientLimits: boolean;
  readonly responseEnvelope: 'none' | 'data';
  readonly sandboxClock: boolean;
  readonly serverTiming: boolean;
  /** Absent or null: no mail is sent. */
  readonly mail?: object | null;
  readonly limits: {
    readonly bodyBytesMax: number;
    readonly bodiesBytesMax: number;
    readonly adminBodyBytesMax: number;
    readonly inFlightRequestsMax: number;
    readonly connectionsMax: number;
    readonly pipelinedRequestsMax: number;
    readonly runningRequestsMax: number;
    readonly admissionWaitMsMax: number;
    readonly cachedPayloadsMax: number;
    readonly cachedPayloadBytesMax: number;
    readonly liveListenersMax: number;
    readonly narrowedPagesPerMinuteMax: number;
    readonly joinsPerMinuteMax: number;
    readonly clientStreamsMax: number;
    readonly rateLimitedAddressesMax: number;
    readonly wrongTokensPerMinuteMax: number;
    readonly guessesPerMinuteMax: number;
    readonly requestReceiveMsMax: number;
    readonly stalledMsMax: number;
    readonly keepAliveMs: number;
  };
}

export interface CommonPorts {
  readonly settings: HttpSettings;
  readonly events: ListedEventsPort;
  readonly clock: ClockPort;
  readonly deployment: DeploymentPort;
  readonly log: LogPort;
  readonly tickets: TicketSigner;
  readonly metrics: RequestMetrics;
  /** Absent where one thread answers: its own counts are then the counts of the process. */
  readonly sharedLimits?: SharedLimits;
  /** Prefix of the URLs handed to buyers, without a slash at its end. */
  baseUrl(): string;
  /** Opens what answers show of people. */
  readonly personalData: PersonalDataReader;
  /** Without it the pages of the reference have no script. */
  readonly reference?: ReferencePort;
}

/** What the body of an order is made with. */
export type OrderPorts = Pick<CommonPorts, 'tickets' | 'personalData'>;

/** One file of a page, ready to be sent. */
export interface PageFile {
  readonly contentType: string;
  readonly etag: string;
  readonly body: LargeBody;
}

/** A page and the files that it loads, by name. */
export interface PagesPort {
  /** Where its files lie; ends with a slash. */
  readonly assetsPath: string;
  page(): Promise<PageFile>;
  /** The page's HTML with placeholders: `{{name}}`. */
  document(): Promise<string>;
  asset(name: string): Promise<PageFile | null>;
}

/** The page of stations. */
export interface DoorPagesPort extends PagesPort {
  /** Its address; the addresses of its files begin with it. */
  readonly path: string;
  serviceWorker(): Promise<PageFile>;
  /** Its icon and its manifest. */
  file(name: string): Promise<PageFile | null>;
}

/** The shop's pages. */
export interface StorefrontPort extends PagesPort {
  /** The components of its pages in a language. */
  views(language: Language): Promise<ShopViews>;
}

/** What the pages of the API reference need beside the app. */
export interface ReferencePort {
  /** The addresses of both listeners, without a slash at the end; known once they listen. */
  origins(): { readonly public: string; readonly admin: string };
  /** The script of the pages. */
  script(): Promise<PageFile>;
}

/** What requests need of the payment service, which may be on another thread. */
interface PaymentsPort extends Pick<PaymentService, 'webhooks' | 'absent'> {
  readonly checkoutSessions: Pick<PaymentService['checkoutSessions'], 'inTime' | 'openSession'>;
  /** Null where the sandbox is off. */
  readonly sandbox: SandboxPort | null;
}

/** The sandbox; answers may be given later. */
export interface SandboxPort extends Pick<
  SandboxCheckout,
  'find' | 'settle' | 'chooseRefunds' | 'listRefunds' | 'settleRefund'
> {
  simulateOutage(
    ...outage: Parameters<SandboxCheckout['simulateOutage']>
  ): Promise<ReturnType<SandboxCheckout['simulateOutage']>> | ReturnType<SandboxCheckout['simulateOutage']>;
}

export interface PublicPorts extends CommonPorts {
  /** The storefront; without it the public listener has the API alone. */
  readonly storefront?: StorefrontPort;
  /** What events show; without it no picture is found. */
  readonly pictures?: Pictures;
  /** A storefront in a hundred lines, as an example. */
  readonly example?: PagesPort;
  /** The page of stations; without it they have the API alone. */
  readonly door?: DoorPagesPort;
  readonly payments: PaymentsPort;
  /** The current state; only where the state of `deployment` may be old, because another thread owns it. */
  readState?(): Promise<DeploymentState>;
  /** Moves the service's clock forward and answers the new moment once that is durable; null where that is too far. */
  advanceClock(seconds: number): Promise<number | null>;
}

/** A fact of the journal, as it is stored; its event's id is '' where it belongs to the service itself. */
export type JournalFact = FactsPage['facts'][number];

/** Also logs who read which personal data. */
interface OperatorsLogPort extends LogPort {
  info(details: object, message: string): void;
}

export interface AdminPorts extends CommonPorts {
  readonly log: OperatorsLogPort;
  readonly events: EventsPort;
  readonly metrics: Metrics;
  /** The operators' pages; without them the listener has the API alone. */
  readonly console?: PagesPort;
  readonly adminToken: string;
  /** Names without a provider. */
  readonly absentProviders: readonly PaymentProviderName[];
  readonly checkoutSessions: PaymentsPort['checkoutSessions'];
  /** A page of the newest durable facts. */
  newestFacts(request: FactsRequest): Promise<FactsPage>;
  /** The sale of an event by minute, from its facts. */
  saleByMinute(request: SaleRequest): Promise<SaleAsRead>;
  /** Snapshots everything that has grown; with `prune`, older facts move to the archive. */
  takeSnapshot(
    options: { readonly prune: boolean },
    idempotency: IdempotencyKey | null,
  ): Promise<{ readonly answer: SnapshotSummary; readonly replayed: boolean } | Refusal>;
}
