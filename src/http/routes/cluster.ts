/** The cluster as the node that answers sees it. On a single machine there is no such route. */
import type { HttpApp } from '../app.ts';
import { formatTime } from '../formats.ts';
import { bearer, errorResponses } from '../openapi.ts';
import type { ClusterPort } from '#actors/cluster-port.ts';
import type { OperatorPorts } from '../ports.ts';
import { Cluster } from '../schemas/cluster.ts';
import { ref } from '../schemas/fields.ts';

const getClusterSchema = {
  operationId: 'getCluster',
  tags: ['Service'],
  summary: 'Read the nodes of the cluster, which of them owns each shard, and the latest takeovers',
  description:
    'Heartbeats tell it, so it may be a second old. `holdfast cluster status` asks the NATS servers themselves.',
  security: bearer,
  response: { 200: ref(Cluster), ...errorResponses },
};

export function clusterRoutes(
  app: HttpApp,
  { requireToken, clock }: Pick<OperatorPorts, 'requireToken' | 'clock'>,
  cluster: ClusterPort,
): void {
  app.get('/admin/cluster', { onRequest: requireToken, schema: getClusterSchema }, async (_request, reply) => {
    const shards = cluster.shards();
    return reply.send({
      now: formatTime(clock.now()),
      name: cluster.clusterName,
      node: cluster.nodeName,
      connected: cluster.isConnected,
      shards_owned: shards.filter(({ owner }) => owner === cluster.nodeName).length,
      shards_unowned: shards.filter(({ owner }) => owner === null).length,
      nodes: cluster.nodes().map(({ name, shards: owned, isLeaving }) => ({ name, shards: owned, leaving: isLeaving })),
      shards: shards.map(({ shard, owner, epoch }) => ({ shard, owner, epoch })),
      takeovers: cluster.takeovers().map(({ at, ownerlessMs, ...takeover }) => ({
        ...takeover,
        at: formatTime(at),
        ownerless_ms: Math.round(ownerlessMs),
      })),
    });
  });
}
