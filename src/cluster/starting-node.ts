/**
 * A node from its first moment on: until the servers are found to be good it answers that it is not ready and why, afterwards it passes
 * everything on to the node that was opened. So a load balancer and an operator see a node that waits for its servers.
 */
import { PersonalDataReader, type KeySource } from '#actors/personal-data.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import type { PastRetention } from '#actors/event-index.ts';
import type { ClusterPort } from '#actors/cluster-port.ts';
import type { ServiceClock } from '#actors/clock.ts';
import type { EventPort } from '#actors/event-port.ts';
import type {
  EngineFigures,
  EnginePort,
  FactFollower,
  FactsPage,
  FactSource,
  FactsRequest,
} from '#actors/engine-port.ts';
import type { IdempotencyMark } from '#domain/fact.ts';
import type { ClusterNode } from './node.ts';

export interface StartingNodeOptions {
  readonly node: string;
  readonly clusterName: string;
  readonly clock: ServiceClock;
  /** Opens the node; what it waits for is reported to `waiting`. Rejects when waiting longer does not help. */
  readonly open: (waiting: (reason: string) => void, signal: AbortSignal) => Promise<ClusterNode>;
}

const NO_FACTS = { appendedSeq: 0, durableSeq: 0 };

export class StartingNode implements EnginePort {
  readonly node: string;
  readonly clock: ServiceClock;
  readonly cluster: ClusterPort;
  readonly events: EnginePort['events'];
  readonly figures: EngineFigures;
  readonly personalData: PersonalDataReader;
  readonly pruning = null;
  readonly #opening: Promise<ClusterNode>;
  readonly #stopping = new AbortController();
  #opened: ClusterNode | null = null;
  #reason = 'the NATS servers are being checked';
  #follow: ((source: FactSource) => Promise<FactFollower>) | null = null;

  constructor({ node, clusterName, clock, open }: StartingNodeOptions) {
    this.node = node;
    this.clock = clock;
    this.cluster = clusterOf(node, clusterName, () => this.#opened);
    this.figures = figuresOf(() => this.#opened);
    this.personalData = new PersonalDataReader(keysOf(() => this.#now()));
    this.events = {
      byEventId: (eventId) => this.#now().events.byEventId(eventId),
      bySlug: (slug) => this.#now().events.bySlug(slug),
      byId: (prefix, id) => this.#now().events.byId(prefix, id),
      list: async (page) => this.#now().events.list(page),
      listAll: async (page) => this.#now().events.listAll(page),
      readActive: async (eventIds) => this.#now().events.readActive(eventIds),
      define: async (definition, mark) => this.#now().events.define(definition, mark),
    };
    this.#opening = this.#open(open);
    // Whoever starts the node learns of it by `whenReady`.
    this.#opening.catch(() => {});
  }

  async #open(open: StartingNodeOptions['open']): Promise<ClusterNode> {
    const opened = await open((reason) => (this.#reason = reason), this.#stopping.signal);
    this.#opened = opened;
    if (this.#follow !== null) await opened.followFacts(this.#follow);
    return opened;
  }

  #now(): ClusterNode {
    if (this.#opened === null) throw new Overloaded(`the node is starting: ${this.#reason}`, RETRY_AFTER_SECONDS);
    return this.#opened;
  }

  get status() {
    return this.#opened?.status ?? (this.#stopping.signal.aborted ? 'STOPPED' : 'STARTING');
  }

  get isStopping(): boolean {
    return this.#opened?.isStopping ?? this.#stopping.signal.aborted;
  }

  get trouble(): string | null {
    return this.#opened === null ? this.#reason : this.#opened.trouble;
  }

  get degraded(): readonly string[] {
    return this.#opened?.degraded ?? [];
  }

  get wasEmpty(): boolean {
    return this.#opened?.wasEmpty ?? false;
  }

  /** Rejects when the servers cannot be used as they are. */
  async whenReady(): Promise<void> {
    await (await this.#opening).whenReady();
  }

  active(): readonly EventPort[] {
    return this.#opened?.active() ?? [];
  }

  pastRetention(): readonly PastRetention[] {
    return this.#opened?.pastRetention() ?? [];
  }

  async newestFacts(request: FactsRequest): Promise<FactsPage> {
    return this.#now().newestFacts(request);
  }

  advanceClock(): Promise<null> {
    return Promise.resolve(null);
  }

  async takeSnapshots(options: { readonly prune: boolean }, mark: IdempotencyMark | null) {
    return this.#now().takeSnapshots(options, mark);
  }

  async followFacts(open: (source: FactSource) => Promise<FactFollower>): Promise<void> {
    this.#follow = open;
    await this.#opened?.followFacts(open);
  }

  async drain(): Promise<void> {
    this.#stopping.abort();
    await this.#opened?.drain();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const opened = await this.#opening.catch(() => null);
    await opened?.stop();
  }
}

function clusterOf(nodeName: string, clusterName: string, opened: () => ClusterNode | null): ClusterPort {
  return {
    nodeName,
    clusterName,
    get isConnected() {
      return opened()?.cluster.isConnected ?? false;
    },
    nodes: () => opened()?.cluster.nodes() ?? [],
    shards: () => opened()?.cluster.shards() ?? [],
    takeovers: () => opened()?.cluster.takeovers() ?? [],
  };
}

/** Until the node is opened nothing can be read: whoever asks is refused as Overloaded. */
function keysOf(opened: () => ClusterNode): KeySource {
  return { read: async (ids) => opened().keys.read(ids) };
}

function figuresOf(opened: () => ClusterNode | null): EngineFigures {
  return {
    journal: {
      get appendedSeq() {
        return (opened()?.figures.journal ?? NO_FACTS).appendedSeq;
      },
      get durableSeq() {
        return (opened()?.figures.journal ?? NO_FACTS).durableSeq;
      },
    },
    get events() {
      return opened()?.figures.events ?? 0;
    },
    get brokenEvents() {
      return opened()?.figures.brokenEvents ?? 0;
    },
    get freeBytes() {
      return opened()?.figures.freeBytes ?? null;
    },
    get forwarded() {
      return opened()?.figures.forwarded ?? 0;
    },
    snapshotAgeSeconds: () => opened()?.figures.snapshotAgeSeconds() ?? 0,
    notifiedSeq: () => opened()?.figures.notifiedSeq() ?? null,
  };
}
