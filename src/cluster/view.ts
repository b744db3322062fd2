/**
 * The cluster as this node hears it, for operators: live nodes, owners of shards, and the changes of owners.
 *
 * Owns the latest takeovers.
 *
 * 1. A change is noted when a shard whose owner was known gets another one; what a node finds when it starts is no
 *    change.
 * 2. All of it comes from heartbeats and decides nothing.
 */
import type { ClusterNodeState, ClusterShardState, ClusterState, Takeover } from '#engine/deployment.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import type { Bus } from './calls/bus.ts';
import type { Membership, Owner } from './calls/membership.ts';

export const TAKEOVERS_MAX = 100;

interface ClusterViewPorts {
  readonly clusterName: string;
  readonly nodeName: string;
  readonly shards: number;
  readonly bus: Pick<Bus, 'isConnected'>;
  readonly membership: Pick<Membership, 'nodes' | 'ownerOf' | 'onChange'>;
  readonly time: Pick<Timing, 'stopwatchMs'>;
  /** The time of day. */
  readonly now: () => number;
}

interface LastOwner extends Owner {
  /** When the shard had no owner any more; null while it has one. */
  lostAt: number | null;
}

export class ClusterView {
  readonly #ports: ClusterViewPorts;
  /** By shard. */
  readonly #lastOwners = new Map<number, LastOwner>();
  /** The newest last. */
  readonly #takeovers: Takeover[] = [];
  /** Ends the watch. */
  readonly stop: () => void;

  constructor(ports: ClusterViewPorts) {
    this.#ports = ports;
    this.#compareOwners();
    this.stop = ports.membership.onChange(() => this.#compareOwners());
  }

  state(): Omit<ClusterState, 'forwarded'> {
    const { clusterName, nodeName, bus } = this.#ports;
    const [nodes, shards, takeovers] = [this.nodes(), this.shards(), this.takeovers()];
    return { clusterName, nodeName, isConnected: bus.isConnected, nodes, shards, takeovers };
  }

  nodes(): readonly ClusterNodeState[] {
    return this.#ports.membership
      .nodes()
      .map(({ node, isLeaving, shards }) => ({ name: node, shards: shards.size, isLeaving }))
      .sort((one, other) => (one.name < other.name ? -1 : 1));
  }

  shards(): readonly ClusterShardState[] {
    return Array.from({ length: this.#ports.shards }, (_, shard) => {
      const owner = this.#ports.membership.ownerOf(shard);
      return { shard, owner: owner?.node ?? null, epoch: owner?.epoch ?? null };
    });
  }

  takeovers(): readonly Takeover[] {
    return this.#takeovers.toReversed();
  }

  #compareOwners(): void {
    for (let shard = 0; shard < this.#ports.shards; shard += 1) {
      const owner = this.#ports.membership.ownerOf(shard);
      const last = this.#lastOwners.get(shard);
      if (owner === null) {
        if (last !== undefined) last.lostAt ??= this.#ports.time.stopwatchMs();
        continue;
      }
      if (last !== undefined && last.epoch !== owner.epoch) this.#note(shard, last, owner);
      this.#lastOwners.set(shard, { ...owner, lostAt: null });
    }
  }

  #note(shard: number, last: LastOwner, { node, epoch }: Owner): void {
    const { time, now } = this.#ports;
    const ownerlessMs = last.lostAt === null ? 0 : time.stopwatchMs() - last.lostAt;
    this.#takeovers.push({ shard, at: now(), from: last.node, to: node, epoch, ownerlessMs });
    if (this.#takeovers.length > TAKEOVERS_MAX) this.#takeovers.shift();
  }
}
