/** The cluster as the node that answers sees it. On a single machine there is no such route. */
import { Type } from 'typebox';
import type { AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { Count, Nullable, ref, Time, bearer } from '../protocol/fields.ts';
import { formatTime } from '../protocol/formats.ts';
import { addRoute } from '../protocol/route.ts';

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

const getClusterSchema = {
  operationId: 'getCluster',
  tags: ['Service'],
  summary: 'Read the nodes of the cluster, which of them owns each shard, and the latest takeovers',
  description:
    'Heartbeats tell it, so it may be a second old. `holdfast cluster status` asks the NATS servers themselves.',
  security: bearer,
  response: { 200: ref(Cluster) },
};

export function clusterRoutes(app: HttpApp, { clock, deployment }: Pick<AdminPorts, 'clock' | 'deployment'>): void {
  if (deployment.state().cluster === null) return;
  addRoute(app, 'GET /admin/cluster', getClusterSchema, {
    answer: () => deployment.state().cluster!,
    body: ({ clusterName, nodeName, isConnected, nodes, shards, takeovers }) => ({
      now: formatTime(clock.now()),
      name: clusterName,
      node: nodeName,
      connected: isConnected,
      shards_owned: shards.filter(({ owner }) => owner === nodeName).length,
      shards_unowned: shards.filter(({ owner }) => owner === null).length,
      nodes: nodes.map(({ name, shards: owned, isLeaving }) => ({ name, shards: owned, leaving: isLeaving })),
      shards: shards.map(({ shard, owner, epoch }) => ({ shard, owner, epoch })),
      takeovers: takeovers.map(({ at, ownerlessMs, ...takeover }) => ({
        ...takeover,
        at: formatTime(at),
        ownerless_ms: Math.round(ownerlessMs),
      })),
    }),
  });
}
