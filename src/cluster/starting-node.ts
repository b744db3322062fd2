/**
 * A node from its first moment on: until the servers are found to be good it answers that it is not ready and why,
 * afterwards it passes everything on to the node that was opened. So a load balancer and an operator see a node that
 * waits for its servers.
 */
import type { EvictedCounts } from '#actors/event-entry.ts';
import { PersonalDataReader } from '#privacy/personal-data.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import type { ServiceClock } from '#actors/clock.ts';
import type { EventPort } from '#actors/event-port.ts';
import type { Deployment, DeploymentState } from '#engine/deployment.ts';
import type { ClusterNode } from './node.ts';

export interface StartingNodeOptions {
  readonly node: string;
  readonly clusterName: string;
  readonly clock: ServiceClock;
  /** Opens the node; what it waits for is reported to `waiting`. Rejects when waiting longer does not help. */
  readonly open: (waiting: (reason: string) => void, signal: AbortSignal) => Promise<ClusterNode>;
}

export class StartingNode implements Deployment {
  readonly clock: ServiceClock;
  readonly events: Deployment['events'];
  readonly personalData: PersonalDataReader;
  readonly opened: Promise<ClusterNode>;
  readonly #names: { readonly clusterName: string; readonly nodeName: string };
  readonly #stopping = new AbortController();
  #node: ClusterNode | null = null;
  #reason = 'the NATS servers are being checked';

  constructor({ node: nodeName, clusterName, clock, open }: StartingNodeOptions) {
    this.clock = clock;
    this.#names = { clusterName, nodeName };
    this.personalData = new PersonalDataReader({ read: async (ids) => this.serving().keys.read(ids) });
    this.events = {
      byEventId: (eventId) => this.serving().events.byEventId(eventId),
      bySlug: (slug) => this.serving().events.bySlug(slug),
      byId: (prefix, id) => this.serving().events.byId(prefix, id),
      list: async (page) => this.serving().events.list(page),
      listAll: async (page) => this.serving().events.listAll(page),
      readActive: async (eventIds) => this.serving().events.readActive(eventIds),
      define: async (definition, by) => this.serving().events.define(definition, by),
    };
    this.opened = this.#open(open);
    // Whoever starts the node learns of it by `opened`.
    this.opened.catch(() => {});
  }

  async #open(open: StartingNodeOptions['open']): Promise<ClusterNode> {
    return (this.#node = await open((reason) => (this.#reason = reason), this.#stopping.signal));
  }

  serving(): ClusterNode {
    if (this.#node === null) throw new Overloaded(`the node is starting: ${this.#reason}`, RETRY_AFTER_SECONDS);
    return this.#node;
  }

  state(): DeploymentState {
    if (this.#node !== null) return this.#node.state();
    const nobody = { isConnected: false, nodes: [], shards: [], takeovers: [], forwarded: 0 };
    return { ...NOTHING_YET, cluster: { ...this.#names, ...nobody }, trouble: this.#reason };
  }

  get isStopping(): boolean {
    return this.#node?.isStopping ?? this.#stopping.signal.aborted;
  }

  owns(eventId: string): boolean {
    return this.#node?.owns(eventId) ?? false;
  }

  active(): readonly EventPort[] {
    return this.#node?.active() ?? [];
  }

  notInMemory(): readonly EvictedCounts[] {
    return this.#node?.notInMemory() ?? [];
  }

  async drain(): Promise<void> {
    this.#stopping.abort();
    await this.#node?.drain();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const node = await this.opened.catch(() => null);
    await node?.stop();
  }
}

const NOTHING_YET: Omit<DeploymentState, 'cluster' | 'trouble'> = {
  phase: 'STARTING',
  degraded: [],
  events: 0,
  brokenEvents: 0,
  archiveProblems: 0,
  journal: { appendedSeq: 0, durableSeq: 0 },
  freeBytes: null,
  snapshotAgeSeconds: 0,
  notifiedSeq: null,
};
