/**
 * A deployment is one machine or a node of a cluster, and it is starting or serving. `Deployment.state()` is the only
 * source of its state, as data.
 *
 * Listeners need a `Deployment` alone: it finds events, whatever transport of `EventPort` leads to them, and reads its
 * state, which is data and so may come from another thread. `EnginePort` has what only the code that runs the service
 * needs.
 */
import type { IdempotencyKey } from '#domain/fact.ts';
import type { Refusal } from '#domain/refusal.ts';
import type { FactRow, Journal } from '#persistence/journal.ts';
import type { ServiceClock } from '#actors/clock.ts';
import type { EvictedCounts } from '#actors/event-entry.ts';
import type { EventIndex, PastRetention } from '#actors/event-index.ts';
import type { EventFinder, EventPort } from '#actors/event-port.ts';
import type { PersonalDataReader } from '#privacy/personal-data.ts';
import type { SaleAsRead, SaleRequest } from './sales-by-minute.ts';
import type { Delivered, NotificationCursor } from './service-facts.ts';
import type { AnsweredOnce } from './service-stream.ts';

/** A node that was heard of a short time ago. */
export interface ClusterNodeState {
  readonly name: string;
  /** How many shards it says it owns. */
  readonly shards: number;
  /** Whether it was told to stop and hands its shards over. */
  readonly isLeaving: boolean;
}

export interface ClusterShardState {
  readonly shard: number;
  /** The owner and its epoch, as live nodes announce it; both null while nobody does. */
  readonly owner: string | null;
  readonly epoch: number | null;
}

/** A change of a shard's owner, as this node saw it. */
export interface Takeover {
  readonly shard: number;
  readonly at: number;
  readonly from: string;
  readonly to: string;
  readonly epoch: number;
  /** How long no live node announced the shard; 0 after a handover without a gap. */
  readonly ownerlessMs: number;
}

/**
 * The state of the cluster as this node knows it from heartbeats, so it may be a second old. The shards' logs alone
 * decide who may write.
 */
export interface ClusterState {
  readonly clusterName: string;
  readonly nodeName: string;
  /** Whether the connection to the NATS servers stands. */
  readonly isConnected: boolean;
  /** The live nodes, this one included, by name. */
  readonly nodes: readonly ClusterNodeState[];
  /** Every shard, by number. */
  readonly shards: readonly ClusterShardState[];
  /** The changes of owners since this node has started, the newest first; older ones are forgotten. */
  readonly takeovers: readonly Takeover[];
  /** Calls that were ever sent to other nodes. */
  readonly forwarded: number;
}

export interface DeploymentState {
  readonly phase: 'STARTING' | 'SERVING';
  /** Null on a single machine. */
  readonly cluster: ClusterState | null;
  /** Why not every request can be accepted now, or null. */
  readonly trouble: string | null;
  /** What is not in order though every request can be accepted. */
  readonly degraded: readonly string[];
  /** All events, in memory or not. */
  readonly events: number;
  readonly brokenEvents: number;
  /** Files of the archive that are damaged or missing, as of the last check; 0 on a node of a cluster. */
  readonly archiveProblems: number;
  /** On a node: sums over its shards. */
  readonly journal: { readonly appendedSeq: number; readonly durableSeq: number };
  /** Null before the first measurement. */
  readonly freeBytes: number | null;
  /** 0 while there is no snapshot. */
  readonly snapshotAgeSeconds: number;
  /** How far notifications have come; null without a receiver. */
  readonly notifiedSeq: number | null;
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

/**
 * One sequence of facts that something outside follows, for example to notify a receiver. A machine has one, a cluster
 * one a shard.
 */
export interface FactSource {
  /** Distinguishes fact numbers of this sequence from those of another one; '' on a single machine. */
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

/** What listeners need. While it starts, requests about events and people are refused as Overloaded. */
export interface Deployment {
  state(): DeploymentState;
  /** Whether requests that come now are to be refused, because nothing would answer them. */
  readonly isStopping: boolean;
  readonly events: EventFinder & Pick<EventIndex, 'list' | 'listAll' | 'readActive' | 'define'>;
  readonly clock: ServiceClock;
  /** Opens the personal data of orders, wherever their events are. */
  readonly personalData: PersonalDataReader;
  /** Whether this machine or node is the one whose turns change an event. */
  owns(eventId: string): boolean;
  /** The events in memory here, the one used last first. */
  active(): readonly EventPort[];
  /** The counts of the other events here. */
  notInMemory(): readonly EvictedCounts[];
  /** What runs it; while it starts it throws Overloaded. */
  serving(): EnginePort;
  /** The same, as soon as it serves: at once on a single machine. Rejects when it cannot serve. */
  readonly opened: Promise<EnginePort>;
  /**
   * From here on no new work is accepted; what was accepted is finished. A node gives up its shards, and forwards what
   * still comes to it: it resolves when that is done.
   */
  drain(): Promise<void>;
  /** Makes durable what was accepted, takes snapshots as time allows, closes. */
  stop(options?: { readonly snapshotMsMax?: number }): Promise<void>;
}

/** What a start found in its data folder. */
export interface StartFound {
  /** Facts of the journal that were read and proved. */
  readonly facts: number;
  /** The fact after which the journal begins: those up to it are in the archive. */
  readonly afterFact: number;
  /** Events that go on from a snapshot. */
  readonly snapshots: number;
  /** Whether the process that had the folder before stopped in order; `none` for a new folder. */
  readonly lastStop: 'none' | 'clean' | 'not clean';
}

/** What runs a deployment that serves. */
export interface EnginePort {
  /** Resolves when every request can be accepted for the first time; on a single machine at once. */
  whenReady(): Promise<void>;
  /** Whether there was no event when every request could be accepted. */
  readonly wasEmpty: boolean;
  /** What the start found; null on a node of a cluster, whose shards come and go. */
  readonly found: StartFound | null;
  /** The newest facts, for operators. */
  newestFacts(request: FactsRequest): Promise<FactsPage>;
  /** The sale of an event by minute, from its facts. */
  saleByMinute(request: SaleRequest): Promise<SaleAsRead>;
  /** Moves the clock forward once that is durable; resolves with the new moment, or null where that is too far. */
  advanceClock(seconds: number): Promise<number | null>;
  /** Snapshots everything that has grown; with `prune`, older facts move to the archive. */
  takeSnapshots(
    options: { readonly prune: boolean },
    idempotency: IdempotencyKey | null,
  ): Promise<AnsweredOnce<SnapshotSummary> | Refusal>;
  /** Opens a follower for each sequence of facts that is owned here, now or later; it is stopped when that ends. */
  followFacts(delivered: Delivered, open: (source: FactSource) => Promise<FactFollower>): Promise<void>;
  /** The events whose retention has passed, of those that are owned here. */
  pastRetention(): readonly PastRetention[];
}
