/** The body of the cluster's overview, for operators. */
import { Type } from 'typebox';
import { Count, Nullable, Time } from './fields.ts';

const NodeName = Type.String();
const ShardNumber = Type.Integer({ minimum: 0 });
const Epoch = Type.Integer({ minimum: 1, description: "The number of the owner's claim in the shard's log." });

const ClusterNode = Type.Object({
  name: NodeName,
  shards: Type.Integer({ minimum: 0, description: 'Shards that it owns.' }),
  leaving: Type.Boolean({ description: 'It was told to stop and hands its shards over.' }),
});

const ClusterShard = Type.Object({
  shard: ShardNumber,
  owner: Nullable(NodeName),
  epoch: Nullable(Epoch),
});

const Takeover = Type.Object({
  shard: ShardNumber,
  at: Time,
  from: NodeName,
  to: NodeName,
  epoch: Epoch,
  ownerless_ms: Type.Integer({ minimum: 0, description: 'How long no live node announced the shard.' }),
});

export const Cluster = Type.Object(
  {
    now: Time,
    name: Type.String({ description: 'CLUSTER_NAME.' }),
    node: Type.String({ description: 'The node that answers.' }),
    connected: Type.Boolean({ description: 'Whether it is connected to a NATS server.' }),
    shards_owned: Count,
    shards_unowned: Type.Integer({ minimum: 0, description: 'Shards whose events nobody answers for at this moment.' }),
    nodes: Type.Array(ClusterNode, { description: 'The live nodes, by name.' }),
    shards: Type.Array(ClusterShard, { description: 'Every shard, by number.' }),
    takeovers: Type.Array(Takeover, {
      description: 'Changes of owners that this node has seen since its start, the newest first; at most 100.',
    }),
  },
  { $id: 'Cluster' },
);
