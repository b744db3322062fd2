/**
 * A node of a cluster: the counterpart of `actors/engine.ts` for a machine of several, with the same port for the service.
 *
 * Owns the node's parts and the order in which they start and stop. What it needs of the servers is given (`ClusterServers`), so that a
 * test runs several nodes in one process over logs, objects and messages in memory.
 *
 * 1. A node is ready when it is connected, its directory has been read, and a live node owns every shard.
 * 2. A node that stops gives up its shards first and goes on forwarding what its listeners have accepted.
 */
import { PersonalDataReader } from '#actors/personal-data.ts';
import { createClock, reportLeap, type ServiceClock } from '#actors/clock.ts';
import { startServiceStatus, troubleOf } from '#actors/service-status.ts';
import { inBackground, reportTrouble } from '#actors/trouble.ts';
import type { PastRetention } from '#actors/event-index.ts';
import type { EventPort } from '#actors/event-port.ts';
import type {
  EngineFigures,
  EnginePort,
  FactFollower,
  FactSource,
  FactsPage,
  FactsRequest,
  SnapshotSummary,
} from '#actors/engine-port.ts';
import type { IdempotencyMark } from '#domain/fact.ts';
import type { KeyStore } from '#persistence/keys.ts';
import { CallServer } from './call-server.ts';
import { ClusterEvents } from './cluster-events.ts';
import { ClusterView } from './cluster-view.ts';
import { EventDirectory } from './event-directory.ts';
import { Forwarding } from './forwarding.ts';
import { Maintenance } from './maintenance.ts';
import { Membership } from './membership.ts';
import { Moved, type Call } from './calls.ts';
import { newestOfAll } from './newest-of-all.ts';
import { Notices } from './notices.ts';
import { INDEX_SHARD } from './placement.ts';
import { RemoteReads } from './remote-reads.ts';
import { ShardClaims } from './shard-claims.ts';
import type { OwnedShard } from './owned-shard.ts';
import { ShardOpener, type ShardOpenerOptions, type ShardSurroundings } from './shard-opener.ts';
import { ShardRouter } from './router.ts';
import { Summaries, type SummariesPorts } from './summaries.ts';

export interface NodeOptions extends ShardOpenerOptions {
  /** Unique to this process. */
  readonly instance: string;
  /** The prefix of all subjects. */
  readonly cluster: string;
  /** The node's own clock, where it has one already. */
  readonly clock?: ServiceClock;
  /** Free space on the disk of the caches; null before it was measured. */
  readonly freeBytes: () => number | null;
}

/** Between two looks at what has grown enough for a snapshot or a checkpoint. */

/** Snapshots of everything take their time. */
const SNAPSHOT_MS_MAX = 120_000;

const NAMED_MAX = 3;

interface Parts {
  readonly membership: Membership;
  readonly forwarding: Forwarding;
  readonly server: CallServer;
  readonly router: ShardRouter;
  readonly notices: Notices;
  readonly opener: ShardOpener;
  readonly directory: EventDirectory;
}

export class ClusterNode implements EnginePort {
  readonly node: string;
  readonly cluster: ClusterView;
  readonly clock: ServiceClock;
  readonly events: ClusterEvents;
  readonly figures: EngineFigures;
  readonly keys: KeyStore;
  readonly personalData: PersonalDataReader;
  readonly pruning = null;
  readonly #options: NodeOptions;
  readonly #parts: Parts;
  readonly #claims: ShardClaims<OwnedShard>;
  readonly #status = startServiceStatus();
  readonly #ready = Promise.withResolvers<void>();
  #openFollower: ((source: FactSource) => Promise<FactFollower>) | null = null;
  #wasEmpty = false;
  #isReady = false;
  #left: Promise<void> | null = null;
  #stopped: Promise<void> | null = null;
  readonly #maintenance: Maintenance;

  constructor(options: NodeOptions) {
    const { servers, time, node, instance, cluster } = options;
    const { bus, shards } = servers;
    const common = { bus, time, cluster, node, instance };
    this.#options = options;
    this.node = node;
    this.keys = servers.keys;
    this.personalData = new PersonalDataReader(servers.keys);
    this.clock = options.clock ?? createClock(options.clockSource, { onLeap: reportLeap });
    // 1. Calls: who is there, and the ways to the owners of shards.
    const membership = new Membership(common);
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
    // 4. Claims, as soon as it was heard who is there.
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
    this.figures = this.#figures();
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

  get status() {
    return this.#status.status;
  }

  /** A node that stops still forwards what comes to it (rule 2). */
  get isStopping(): boolean {
    return this.#status.status === 'STOPPED';
  }

  get wasEmpty(): boolean {
    return this.#wasEmpty;
  }

  get trouble(): string | null {
    const { status } = this.#status;
    return (
      (status === 'READY' || status === 'STARTING' ? null : troubleOf(status)) ?? this.#missing() ?? this.#stalled()
    );
  }

  get degraded(): readonly string[] {
    const broken = [...this.#claims.owned.values()].flatMap(({ events }) => events.actors.broken.ids(100));
    const ids = broken.slice(0, 100).map((eventId) => `event:${eventId}`);
    return this.clock.isDegraded ? ['clock', ...ids] : ids;
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

  /** Nobody is told when it ends, so that a start does not wait for it. */
  #stalled(): string | null {
    for (const [shard, { journal }] of this.#claims.owned)
      if (journal.isStalled) return `the NATS servers take nothing for shard ${shard}, which this node owns`;
    return null;
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

  active(): readonly EventPort[] {
    return [...this.#claims.owned.values()].flatMap(({ events }) => events.actors.active());
  }

  pastRetention(): readonly PastRetention[] {
    return [...this.#claims.owned.values()].flatMap(({ events }) => events.pastRetention());
  }

  #figures(): EngineFigures {
    const owned = () => [...this.#claims.owned.values()];
    const sum = (figure: (shard: ReturnType<typeof owned>[number]) => number): number =>
      owned().reduce((total, shard) => total + figure(shard), 0);
    const directory = this.#parts.directory;
    const { freeBytes } = this.#options;
    const { clock } = this;
    const hasFollower = (): boolean => this.#openFollower !== null;
    const forwarded = (): number => this.#parts.router.forwarded;
    return {
      journal: {
        get appendedSeq() {
          return sum(({ journal }) => journal.appendedSeq);
        },
        get durableSeq() {
          return sum(({ journal }) => journal.durableSeq);
        },
      },
      get events() {
        return directory.index.size;
      },
      get brokenEvents() {
        return sum(({ events }) => events.actors.broken.count);
      },
      get freeBytes() {
        return freeBytes();
      },
      get forwarded() {
        return forwarded();
      },
      snapshotAgeSeconds() {
        const newest = owned().reduce((latest, { lastSnapshotAt }) => Math.max(latest, lastSnapshotAt ?? 0), 0);
        return newest === 0 ? 0 : (clock.now() - newest) / 1_000;
      },
      notifiedSeq: () => (hasFollower() ? sum(({ followedSeq, journal }) => followedSeq ?? journal.durableSeq) : null),
    };
  }

  // ── what operators ask ─────────────────────────────────────────────────────────────────────────────────────────────

  async newestFacts(request: FactsRequest): Promise<FactsPage> {
    return newestOfAll(this.#parts.router, this.#options.servers.shards, request);
  }

  /** Time is moved on a single machine only. */
  advanceClock(): Promise<null> {
    return Promise.resolve(null);
  }

  takeSnapshots(options: { readonly prune: boolean }, mark: IdempotencyMark | null) {
    const call = { kind: 'shard', name: 'snapshotAll', args: { ...options, mark } } as const;
    return this.#parts.router.call(INDEX_SHARD, call, SNAPSHOT_MS_MAX);
  }

  /** Every shard in turn, so that the owners' threads share the work. */
  async #snapshotAll({ prune }: { readonly prune: boolean }): Promise<SnapshotSummary> {
    const { shards } = this.#options.servers;
    const call = { kind: 'shard', name: 'snapshot', args: { prune } } as const;
    const parts = await Promise.all(
      Array.from({ length: shards }, (_, shard) => this.#parts.router.call(shard, call, SNAPSHOT_MS_MAX)),
    );
    const sum = (figure: (part: SnapshotSummary) => number): number =>
      parts.reduce((total, part) => total + figure(part), 0);
    const archived = sum((part) => part.archived?.toSeq ?? 0);
    return {
      seq: sum(({ seq }) => seq),
      taken: sum(({ taken }) => taken),
      failed: sum(({ failed }) => failed),
      archived: archived === 0 ? null : { fromSeq: 1, toSeq: archived },
    };
  }

  async followFacts(open: (source: FactSource) => Promise<FactFollower>): Promise<void> {
    this.#openFollower = open;
    for (const shard of this.#claims.owned.keys()) this.#follow(shard);
  }

  #follow(shard: number): void {
    const owned = this.#claims.owned.get(shard);
    if (owned === undefined || this.#openFollower === null) return;
    inBackground('notifications', owned.follow(this.#openFollower));
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

  /** Ends everything at once and without a word, as a crash does; for tests. */
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
