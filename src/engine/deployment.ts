/**
 * What the service needs of the engine of one machine, and of a node of a cluster alike: finding events and calling them, the state
 * that operators see, and following the facts. Everything is plain data or another port.
 */
import type { IdempotencyMark } from '#domain/fact.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { ServiceStatus } from '#machines/service.ts';
import type { FactRow, Journal } from '#persistence/journal.ts';
import type { ServiceClock } from './clock.ts';
import type { ClusterPort } from './cluster-port.ts';
import type { EventIndex, PastRetention } from './event-index.ts';
import type { EventFinder, EventPort } from './event-port.ts';
import type { PersonalDataReader } from './personal-data.ts';
import type { NotificationCursor } from './service-facts.ts';
import type { AnsweredOnce } from './service-stream.ts';
import type { SnapshotRound } from './snapshot-rounds.ts';

/** An event in memory, for reading alone. */
export type EventReader = Pick<EventPort, 'eventId' | 'read'>;

/** Figures that are read when the metrics are read. */
export interface EngineFigures {
  /** All events, in memory or not. */
  readonly events: number;
  readonly brokenEvents: number;
  /** On a node: sums over its shards. */
  readonly journal: { readonly appendedSeq: number; readonly durableSeq: number };
  readonly freeBytes: number | null;
  /** Calls that were ever sent to other nodes; absent on a single machine. */
  readonly forwarded?: number;
  snapshotAgeSeconds(): number;
  /** How far notifications have come; null without a receiver. */
  notifiedSeq(): number | null;
}

export interface FactsRequest {
  readonly limit: number;
  /** As an earlier page named it; null for the newest facts. */
  readonly before: number | null;
  /** The facts of one event alone; null for those of all. */
  readonly eventId: string | null;
  /** The facts of one type alone; absent for those of all. */
  readonly type?: string;
  /** The facts that name an order alone; absent for all. */
  readonly orderId?: string;
}

/** Facts, the newest first. */
export interface FactsPage {
  readonly facts: readonly FactRow[];
  /** Names the facts before these; null where there are none. */
  readonly nextBefore: number | null;
}

export interface SnapshotSummary {
  /** The last fact that the snapshots could know; on a node the facts of all shards. */
  readonly seq: number;
  readonly taken: number;
  readonly failed: number;
  /** The facts that moved to the archive; on a node the messages of the shards' logs. */
  readonly archived: { readonly fromSeq: number; readonly toSeq: number } | null;
}

/** One sequence of facts that something outside follows, for example to notify a receiver. A machine has one, a cluster one a shard. */
export interface FactSource {
  /** Tells numbers of facts of this sequence from those of another one; '' on a single machine. */
  readonly label: string;
  readonly journal: Pick<Journal, 'durableSeq' | 'read'>;
  /** How far an earlier run had come; null when there was none. */
  readonly cursor: NotificationCursor | null;
  readonly events: Pick<EventFinder, 'byEventId'>;
  /** Resolves when the cursor is durable. */
  storeCursor(cursor: NotificationCursor): Promise<void>;
}

export interface FactFollower {
  /** Facts after this one are still needed. */
  readonly deliveredSeq: number;
  stop(): Promise<void>;
}

export interface EnginePort {
  /** The name of the node; null on a single machine. */
  readonly node: string | null;
  /** What the node knows of its cluster; null on a single machine. */
  readonly cluster: ClusterPort | null;
  readonly events: EventFinder & Pick<EventIndex, 'list' | 'listAll' | 'readActive' | 'define'>;
  readonly clock: ServiceClock;
  /** Opens the personal data of orders, wherever their events are. */
  readonly personalData: PersonalDataReader;
  readonly figures: EngineFigures;
  readonly status: ServiceStatus;
  /** Whether requests that come now are to be refused, because nothing would answer them. */
  readonly isStopping: boolean;
  /** Why not every request can be accepted now, or null. */
  readonly trouble: string | null;
  /** What is not in order though every request can be accepted. */
  readonly degraded: readonly string[];
  /** Resolves when every request can be accepted for the first time; on a single machine at once. */
  whenReady(): Promise<void>;
  /** Whether there was no event when every request could be accepted. */
  readonly wasEmpty: boolean;
  /** The events in memory here, the one used last first. */
  active(): readonly EventPort[];
  /** The newest facts, for operators. */
  newestFacts(request: FactsRequest): Promise<FactsPage>;
  /** Moves the clock forward once that is durable; resolves with the new moment, or null where that is too far. */
  advanceClock(seconds: number): Promise<number | null>;
  /** Snapshots everything that has grown; with `prune`, older facts move to the archive. */
  takeSnapshots(
    options: { readonly prune: boolean },
    mark: IdempotencyMark | null,
  ): Promise<AnsweredOnce<SnapshotSummary> | Refusal>;
  /** Opens a follower for each sequence of facts that is owned here, now or later; it is stopped when that ends. */
  followFacts(open: (source: FactSource) => Promise<FactFollower>): Promise<void>;
  /** The events whose retention has passed, of those that are owned here. */
  pastRetention(): readonly PastRetention[];
  /** Prunes by schedule, where that is not the engine's own concern. */
  readonly pruning: { lastPrunedAt(): number; prune(): Promise<SnapshotRound> } | null;
  /**
   * From here on no new work is accepted; what was accepted is finished. A node gives up its shards, and forwards what still comes to
   * it: it resolves when that is done.
   */
  drain(): Promise<void>;
  /** Makes durable what was accepted, takes snapshots as time allows, closes. */
  stop(options?: { readonly snapshotMsMax?: number }): Promise<void>;
}
