/**
 * A node of a cluster: the counterpart of `engine/engine.ts` for a machine of several, with the same port for the
 * service.
 *
 * Owns the node's parts and the order in which they start and stop. What it needs of the servers is given
 * (`ClusterServers`), so that a test runs several nodes in one process over logs, objects and messages in memory.
 *
 * 1. A node is ready when it is connected, its directory has been read, and a live node owns every shard.
 * 2. A node that stops gives up its shards first and goes on forwarding what its listeners have accepted.
 */
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { createClock, reportLeap, type ServiceClock } from '#actors/clock.ts';
import { startServiceStatus, troubleOf } from '#engine/service-status.ts';
import type { Delivered } from '#engine/service-facts.ts';
import { inBackground, reportTrouble } from '#actors/trouble.ts';
import type { EvictedCounts } from '#actors/event-entry.ts';
import type { PastRetention } from '#actors/event-index.ts';
import type { EventPort } from '#actors/event-port.ts';
import type {
  Deployment,
  DeploymentState,
  EnginePort,
  FactFollower,
  FactSource,
  FactsPage,
  FactsRequest,
  SnapshotSummary,
} from '#engine/deployment.ts';
import { sumOf } from '#domain/money.ts';
import type { IdempotencyKey } from '#domain/fact.ts';
import type { KeyStore } from '#persistence/keys.ts';
import { LONG_CALL_MS_MAX } from '#persistence/nats/timing.ts';
import { CallServer } from './calls/server.ts';
import { ClaimedEpochs } from './calls/claimed-epochs.ts';
import { ClusterEvents } from './directory/events.ts';
import { ClusterView } from './view.ts';
import { EventDirectory } from './directory/event-directory.ts';
import { Forwarding } from './calls/forwarding.ts';
import { Maintenance } from './shards/maintenance.ts';
import { Membership } from './calls/membership.ts';
import { Moved, type Call } from './calls/shard-calls.ts';
import { newestOfAll } from './directory/newest-facts.ts';
import type { SaleAsRead, SaleRequest } from '#engine/sales-by-minute.ts';
import { Notices } from './calls/notices.ts';
import { INDEX_SHARD, shardOf } from './directory/placement.ts';
import { RemoteReads } from './directory/remote-reads.ts';
import { signedBus, type MessageKeys } from './calls/signed-bus.ts';
import { ShardClaims } from './shards/claims.ts';
import type { OwnedShard } from './shards/owned-shard.ts';
import { ShardOpener, type ShardOpenerOptions, type ShardSurroundings } from './shards/opener.ts';
import { ShardRouter } from './calls/router.ts';
import { Summaries, type SummariesPorts } from './directory/summaries.ts';

export interface NodeOptions extends ShardOpenerOptions {
  /** Unique to this process. */
  readonly instance: string;
  /** The prefix of all subjects. */
  readonly cluster: string;
  /** The same at all nodes. */
  readonly messageKeys: MessageKeys;
  /** The node's own clock, where it has one already. */
  readonly clock?: ServiceClock;
  /** Free space on the disk of the caches; null before it was measured. */
  readonly freeBytes: () => number | null;
}

const NAMED_MAX = 3;

const BROKEN_NAMED_MAX = 100;

interface Parts {
  readonly membership: Membership;
  readonly forwarding: Forwarding;
  readonly server: CallServer;
  readonly router: ShardRouter;
  readonly notices: Notices;
  readonly opener: ShardOpener;
  readonly directory: EventDirectory;
}

type OpenFollower = (source: FactSource) => Promise<FactFollower>;

export class ClusterNode implements Deployment, EnginePort {
  readonly cluster: ClusterView;
  readonly clock: ServiceClock;
  readonly events: ClusterEvents;
  readonly keys: KeyStore;
  readonly personalData: PersonalDataReader;
  readonly #options: NodeOptions;
  readonly #parts: Parts;
  readonly #claims: ShardClaims<OwnedShard>;
  readonly #status = startServiceStatus();
  readonly #ready = Promise.withResolvers<void>();
  readonly #openFollowers = new Map<Delivered, OpenFollower>();
  readonly found = null;
  #wasEmpty = false;
  #isReady = false;
  #left: Promise<void> | null = null;
  #stopped: Promise<void> | null = null;
  readonly #maintenance: Maintenance;

  constructor(options: NodeOptions) {
    const { servers, time, node, instance, cluster, messageKeys: keys } = options;
    const { shards } = servers;
    const bus = signedBus({ bus: servers.bus, time, keys, instance });
    const common = { bus, time, cluster, node, instance };
    this.#options = options;
    this.keys = servers.keys;
    this.personalData = new PersonalDataReader(servers.keys);
    this.clock = options.clock ?? createClock(options.clockSource, { onLeap: reportLeap });
    // 1. Calls: who is there, and the ways to the owners of shards.
    const claimed = new ClaimedEpochs({
      time,
      log: (shard) => servers.log(shard),
      changed: () => membership.reconsider(),
    });
    const membership: Membership = new Membership({ ...common, verdict: (announced) => claimed.verdict(announced) });
    const forwarding = new Forwarding(common);
    const handle = (shard: number, call: Call): Promise<unknown> => this.#handle(shard, call);
    const isOwned = (shard: number): boolean => this.#claims.owned.has(shard);
    const server = new CallServer({ ...common, handle });
    const router = new ShardRouter({ membership, forwarding, time, instance, isOwned, handle });
    // 2. What is read elsewhere, until a notice says that it has changed.
    const reads = new RemoteReads(time);
    const summaries = summariesBy(router, { shards, time });
    const notices = new Notices(common, (eventIds) => {
      reads.forget(eventIds);
      summaries.forget(eventIds);
    });
    // 3. The shards of this node, the index of all events, and the events.
    const snapshotAll: ShardSurroundings['snapshotAll'] = (asked) => this.#snapshotAll(asked);
    const opener = new ShardOpener(options, { router, noteChanged: (eventId) => notices.note(eventId), snapshotAll });
    const directory = new EventDirectory(opener.directoryPorts());
    this.events = new ClusterEvents({ shards, directory, router, reads, summaries, isOwned });
    this.#parts = { membership, forwarding, server, router, notices, opener, directory };
    // 4. Claims, as soon as it is known which nodes are there.
    membership.start();
    this.#claims = new ShardClaims({
      ...common,
      shards,
      membership,
      open: (shard, hasGivenUp) => opener.open(shard, hasGivenUp),
      readAhead: (shard) => opener.readAhead(shard),
      forget: (shard) => opener.forget(shard),
      serve: (shard, epoch) => {
        server.serve(shard, epoch);
        this.#follow(shard);
      },
      giveUp: (shard, epoch) => server.giveUp(shard, epoch),
      changed: () => router.lookNow(),
    });
    this.#maintenance = new Maintenance(time, () => this.#claims.owned.values());
    const now = (): number => this.clock.now();
    this.cluster = new ClusterView({ clusterName: cluster, nodeName: node, shards, bus, membership, time, now });
    this.#start();
  }

  #start(): void {
    inBackground('cluster', this.#parts.directory.start());
    this.#parts.membership.onChange(() => this.#noteReady());
    this.#parts.directory.onChange(() => this.#noteReady());
  }

  /** Calls that this node is asked, or asks itself. */
  #handle(shard: number, call: Call): Promise<unknown> {
    const owned = this.#claims.owned.get(shard);
    return owned === undefined ? Promise.reject(new Moved(shard, 'this node does not own it')) : owned.handle(call);
  }

  // ── state ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A node that stops still forwards what comes to it (rule 2). */
  get isStopping(): boolean {
    return this.#status.status === 'STOPPED';
  }

  get wasEmpty(): boolean {
    return this.#wasEmpty;
  }

  serving(): EnginePort {
    return this;
  }

  get opened(): Promise<EnginePort> {
    return Promise.resolve(this);
  }

  state(): DeploymentState {
    const owned = [...this.#claims.owned.values()];
    const sum = (count: (shard: OwnedShard) => number): number => sumOf(owned, count);
    const durableSeq = sum(({ journal }) => journal.durableSeq);
    const broken = owned.flatMap(({ events }) => events.actors.broken.ids(BROKEN_NAMED_MAX));
    const ids = broken.slice(0, BROKEN_NAMED_MAX).map((eventId) => `event:${eventId}`);
    const newestSnapshot = owned.reduce((latest, { lastSnapshotAt }) => Math.max(latest, lastSnapshotAt ?? 0), 0);
    return {
      phase: 'SERVING',
      cluster: { ...this.cluster.state(), forwarded: this.#parts.router.forwarded },
      trouble: this.#trouble(),
      degraded: this.clock.isDegraded ? ['clock', ...ids] : ids,
      events: this.#parts.directory.index.size,
      brokenEvents: sum(({ events }) => events.actors.broken.count),
      archiveProblems: 0,
      journal: { appendedSeq: sum(({ journal }) => journal.appendedSeq), durableSeq },
      freeBytes: this.#options.freeBytes(),
      snapshotAgeSeconds: newestSnapshot === 0 ? 0 : (this.clock.now() - newestSnapshot) / 1_000,
      notifiedSeq: this.#openFollowers.has('notifications')
        ? sum(({ notifiedSeq, journal }) => notifiedSeq ?? journal.durableSeq)
        : null,
    };
  }

  #trouble(): string | null {
    const { status } = this.#status;
    return (
      (status === 'READY' || status === 'STARTING' ? null : troubleOf(status)) ??
      this.#missing() ??
      this.#stalled() ??
      this.#unanswered()
    );
  }

  /** What is missing for every request to be accepted (rule 1). */
  #missing(): string | null {
    if (!this.#options.servers.bus.isConnected) return 'there is no connection to a NATS server';
    if (!this.#parts.directory.isRead) return 'the index of events is not read yet';
    const unowned = this.cluster.shards().filter(({ owner }) => owner === null);
    if (unowned.length === 0) return null;
    const named = unowned.slice(0, NAMED_MAX).map(({ shard }) => shard);
    const more = unowned.length > named.length ? ` and ${unowned.length - named.length} more` : '';
    return `no node owns shard ${named.join(', ')}${more}`;
  }

  /** Nothing reports when this ends, so a start does not wait for it. */
  #stalled(): string | null {
    for (const [shard, { journal }] of this.#claims.owned)
      if (journal.isStalled) return `the NATS servers take nothing for shard ${shard}, which this node owns`;
    return null;
  }

  /** Its heartbeats come, or it would not be known as the owner. */
  #unanswered(): string | null {
    const silent = this.#parts.forwarding.silentOwner;
    if (silent === null) return null;
    const owner = this.#parts.membership.ownerOf(silent.shard)?.node ?? 'nobody';
    return `calls of this node find nobody: ${owner}, which announces shard ${silent.shard}, answers none of them`;
  }

  #noteReady(): void {
    if (this.#isReady || this.#missing() !== null) return;
    this.#isReady = true;
    this.#wasEmpty = this.#parts.directory.index.size === 0;
    this.#status.send('RECOVERED');
    this.#ready.resolve();
  }

  whenReady(): Promise<void> {
    return this.#ready.promise;
  }

  owns(eventId: string): boolean {
    return this.#claims.owned.has(shardOf(eventId, this.#options.servers.shards));
  }

  active(): readonly EventPort[] {
    return [...this.#claims.owned.values()].flatMap(({ events }) => events.actors.active());
  }

  notInMemory(): readonly EvictedCounts[] {
    return [...this.#claims.owned.values()].flatMap(({ events }) => events.notInMemory);
  }

  pastRetention(): readonly PastRetention[] {
    return [...this.#claims.owned.values()].flatMap(({ events, journal: { epoch } }) =>
      events.pastRetention().map((past) => ({ ...past, epoch })),
    );
  }

  // ── what operators ask ─────────────────────────────────────────────────────────────────────────────────────────────

  async newestFacts(request: FactsRequest): Promise<FactsPage> {
    return newestOfAll(this.#parts.router, this.#options.servers.shards, request);
  }

  saleByMinute(request: SaleRequest): Promise<SaleAsRead> {
    const call = { kind: 'shard', name: 'saleByMinute', args: request } as const;
    return this.#parts.router.call(shardOf(request.eventId, this.#options.servers.shards), call);
  }

  /** Time is moved on a single machine only. */
  advanceClock(): Promise<null> {
    return Promise.resolve(null);
  }

  takeSnapshots(options: { readonly prune: boolean }, idempotency: IdempotencyKey | null) {
    const call = { kind: 'shard', name: 'snapshotAll', args: { ...options, idempotency } } as const;
    return this.#parts.router.call(INDEX_SHARD, call, LONG_CALL_MS_MAX);
  }

  /** Every shard in turn, so that the owners' threads share the work. */
  async #snapshotAll({ prune }: { readonly prune: boolean }): Promise<SnapshotSummary> {
    const { shards } = this.#options.servers;
    const call = { kind: 'shard', name: 'snapshot', args: { prune } } as const;
    const parts = await Promise.all(
      Array.from({ length: shards }, (_, shard) => this.#parts.router.call(shard, call, LONG_CALL_MS_MAX)),
    );
    const sum = (figure: (part: SnapshotSummary) => number): number => sumOf(parts, figure);
    const archived = sum((part) => part.archived?.toSeq ?? 0);
    return {
      seq: sum(({ seq }) => seq),
      taken: sum(({ taken }) => taken),
      failed: sum(({ failed }) => failed),
      archived: archived === 0 ? null : { fromSeq: 1, toSeq: archived },
    };
  }

  async followFacts(delivered: Delivered, open: OpenFollower): Promise<void> {
    this.#openFollowers.set(delivered, open);
    for (const owned of this.#claims.owned.values()) inBackground(delivered, owned.follow(delivered, open));
  }

  #follow(shard: number): void {
    const owned = this.#claims.owned.get(shard);
    if (owned === undefined) return;
    for (const [delivered, open] of this.#openFollowers) inBackground(delivered, owned.follow(delivered, open));
  }

  // ── the end ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Resolves when other nodes may have the shards of this one. */
  drain(): Promise<void> {
    this.#status.send('DRAIN');
    return (this.#left ??= this.#claims.leave());
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    await this.drain();
    this.#end();
    await this.#parts.opener.stop();
    // Keys that were not handed out and cannot be removed now do no harm.
    await this.keys
      .close()
      .catch((fault) => reportTrouble('keys', `the keys were not closed in order: ${String(fault)}`, fault));
    await this.#options.servers.close();
    this.#status.send('STOP');
  }

  /** Ends everything at once and tells nobody, as a crash does; for tests. */
  kill(): void {
    this.#stopped = this.#parts.opener.stop();
    this.#end();
  }

  #end(): void {
    this.#maintenance.stop();
    this.#claims.stop();
    this.#parts.directory.stop();
    this.cluster.stop();
    this.#parts.notices.close();
    this.#parts.router.close();
    this.#parts.forwarding.close();
    this.#parts.server.close();
    this.#parts.membership.stop();
    // Whoever waits for a node that never was ready goes on.
    this.#ready.resolve();
  }
}

function summariesBy(router: ShardRouter, ports: Omit<SummariesPorts, 'ask'>): Summaries {
  const ask: SummariesPorts['ask'] = (shard, eventIds) =>
    router.call(shard, { kind: 'shard', name: 'summary', args: { eventIds } });
  return new Summaries({ ...ports, ask });
}
