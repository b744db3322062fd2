/** What the HTTP layer needs of other modules: narrow types that `actors` and the service implement, and tests replace. */
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import type { Pictures } from '#catalogue/pictures.ts';
import type { ClusterPort } from '#actors/cluster-port.ts';
import type { EnginePort, EventReader, FactsPage, FactsRequest, SnapshotSummary } from '#actors/engine-port.ts';
import type { PersonalDataReader } from '#actors/personal-data.ts';
import type { PaymentProviderName } from '#domain/catalogue/definition.ts';
import type { IdempotencyMark } from '#domain/fact.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { LargeBody } from './encoding.ts';
import type { PaymentService } from '#payments/service.ts';
import type { TicketSigner } from '#tickets/signing.ts';
import type { TrustProxy } from './client-address.ts';

/** Finds, lists and defines events. */
export type EventsPort = EnginePort['events'];

export interface ClockPort {
  now(): number;
}

export type Readiness =
  { readonly ready: true; readonly degraded: readonly string[] } | { readonly ready: false; readonly reason: string };

export interface HealthPort {
  /** Whether requests can be answered: recovered, the journal can be written, not draining. */
  readiness(): Readiness;
  /** True from the signal to stop on: what was accepted is finished, nothing new is taken on. */
  readonly draining: boolean;
  /** The name of the node; absent on a single machine. */
  readonly node?: string;
}

/** What is read when the metrics are read. */
export interface GaugesPort {
  readonly ready: boolean;
  /** All events, in memory or not. */
  readonly events: number;
  /** Events that cannot be activated. */
  readonly brokenEvents: number;
  /** Leaps of the machine's clock by more than a minute. */
  readonly clockLeaps: number;
  readonly journal: { readonly appendedSeq: number; readonly durableSeq: number };
  /** Null before the first measurement. */
  readonly freeBytes: number | null;
  snapshotAgeSeconds(): number;
  /** How far notifications have come; null without a receiver. */
  notifiedSeq(): number | null;
  /** The events in memory, the one used last first. */
  active(): readonly EventReader[];
}

/** What clients take up while they are there, and give back however they go. */
export type InUse =
  | 'live_streams'
  | 'changes_under_way'
  | 'claims_at_work'
  | 'claims_in_line'
  | 'provider_calls'
  | 'provider_calls_waiting';

/** Counts what happens. */
export interface Metrics {
  readonly contentType: string;
  /** Everything in Prometheus' text format. */
  read(): Promise<string>;
  /** Shows a count of what is in use by clients; counts of the same name are added up. */
  watchInUse(what: InUse, count: () => number): void;
  /** Observes every request of an app from here on; call it before the routes are added. */
  observe(app: FastifyInstance): void;
  /** Stops listening. */
  close(): void;
}

/** The part of a pino logger that is used here. */
export interface LogPort {
  error(details: object, message: string): void;
  debug(details: object, message: string): void;
}

/** The settings that concern HTTP; the service's configuration fits as it is. */
export interface HttpSettings {
  readonly corsOrigins: '*' | readonly string[];
  /** The address that buyers see, where one is set. */
  readonly baseUrl: string | null;
  readonly trustProxy: TrustProxy;
  readonly rateLimitPerMinute: number;
  readonly responseEnvelope: 'none' | 'data';
  readonly sandboxClock: boolean;
  readonly serverTiming: boolean;
  readonly limits: {
    readonly bodyBytesMax: number;
    readonly adminBodyBytesMax: number;
    readonly inFlightRequestsMax: number;
    readonly connectionsMax: number;
    readonly pipelinedRequestsMax: number;
    readonly claimsAtOnceMax: number;
    readonly claimWaitMsMax: number;
    readonly cachedPayloadsMax: number;
    readonly cachedPayloadBytesMax: number;
    readonly liveListenersMax: number;
    readonly rateLimitedAddressesMax: number;
    readonly wrongTokensPerMinuteMax: number;
    readonly unknownCodesPerMinuteMax: number;
    readonly requestReceiveMsMax: number;
    readonly stalledMsMax: number;
    readonly keepAliveMs: number;
  };
}

interface CommonPorts {
  readonly settings: HttpSettings;
  readonly events: EventsPort;
  readonly clock: ClockPort;
  readonly health: HealthPort;
  readonly log: LogPort;
  readonly tickets: TicketSigner;
  readonly metrics: Metrics;
  /** Prefix of the URLs handed to buyers, without a slash at its end. */
  baseUrl(): string;
  /** Opens what answers show of people. */
  readonly personalData: PersonalDataReader;
  /** Missing on a single machine. */
  readonly cluster?: ClusterPort;
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
  /** The page's HTML with its places open: `{{name}}`. */
  document(): Promise<string>;
  asset(name: string): Promise<PageFile | null>;
}

/** What the pages of the API reference need beside the app. */
export interface ReferencePort {
  /** The addresses of both listeners, without a slash at the end; known once they listen. */
  origins(): { readonly public: string; readonly admin: string };
  /** The script of the pages. */
  script(): Promise<PageFile>;
}

export interface PublicPorts extends CommonPorts {
  /** The storefront; without it the public listener has the API alone. */
  readonly storefront?: PagesPort;
  /** What events show; without it no picture is found. */
  readonly pictures?: Pictures;
  /** A storefront in a hundred lines, as an example. */
  readonly example?: PagesPort;
  readonly payments: PaymentService;
  /** Moves the service's clock forward and answers the new moment once that is durable; null where that is too far. */
  advanceClock(seconds: number): Promise<number | null>;
}

/** A fact of the journal, as it is stored; its event's id is '' where it belongs to the service itself. */
export type KeptFact = FactsPage['facts'][number];

export interface AdminPorts extends CommonPorts {
  /** The operators' pages; without them the listener has the API alone. */
  readonly console?: PagesPort;
  readonly gauges: GaugesPort;
  readonly adminToken: string;
  /** Names without a provider. */
  readonly absentProviders: readonly PaymentProviderName[];
  /** A page of the newest durable facts. */
  newestFacts(request: FactsRequest): Promise<FactsPage>;
  /** Snapshots everything that has grown; with `prune`, older facts move to the archive. */
  takeSnapshot(
    options: { readonly prune: boolean },
    idempotency: IdempotencyMark | null,
  ): Promise<{ readonly answer: SnapshotSummary; readonly replayed: boolean } | Refusal>;
}

/** What the routes of operators are given. */
export interface OperatorPorts extends AdminPorts {
  /** Lets a request pass only with the token. */
  readonly requireToken: onRequestHookHandler;
}
