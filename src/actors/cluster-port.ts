/** The cluster as a node sees it, as plain data for operators. A single machine has none. */

/** A node that was heard of a short time ago. */
export interface ClusterNodeView {
  readonly name: string;
  /** How many shards it says it owns. */
  readonly shards: number;
  /** It was told to stop and hands its shards over. */
  readonly isLeaving: boolean;
}

export interface ClusterShardView {
  readonly shard: number;
  /** The owner and its epoch, as live nodes announce it; both null while nobody does. */
  readonly owner: string | null;
  readonly epoch: number | null;
}

/** A change of a shard's owner, as this node saw it. */
export interface TakeoverView {
  readonly shard: number;
  readonly at: number;
  readonly from: string;
  readonly to: string;
  readonly epoch: number;
  /** How long no live node announced the shard; 0 after a handover without a gap. */
  readonly ownerlessMs: number;
}

/** What this node knows of its cluster. Heartbeats tell it, so it may be a second old; the shards' logs alone decide who may write. */
export interface ClusterPort {
  readonly clusterName: string;
  readonly nodeName: string;
  /** Whether the connection to the NATS servers stands. */
  readonly isConnected: boolean;
  /** The live nodes, this one included, by name. */
  nodes(): readonly ClusterNodeView[];
  /** Every shard, by number. */
  shards(): readonly ClusterShardView[];
  /** The changes of owners since this node has started, the newest first; older ones are forgotten. */
  takeovers(): readonly TakeoverView[];
}
