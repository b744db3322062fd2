/**
 * Metrics of a node of a cluster: who is there, what it owns and forwards, takeovers, and how long appends to the
 * shards' logs take.
 *
 * The cluster publishes on diagnostics channels, whose names and messages are the contract between both modules.
 */
import { Counter, Gauge, Histogram, type Registry } from '@platformatic/prom-client';
import type { DeploymentState } from '#engine/deployment.ts';

const APPEND_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const TAKEOVER_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

type Listener = readonly [name: string, (message: unknown) => void];

/** Adds the metrics of a node; returns what they listen to. */
export function addClusterMetrics(registers: Registry[], state: () => DeploymentState): Listener[] {
  if (state().cluster === null) return [];
  const cluster = () => state().cluster!;
  new Gauge({
    name: 'holdfast_cluster_nodes',
    help: 'Nodes that this one has heard of lately, itself included.',
    registers,
    collect() {
      this.set(cluster().nodes.length);
    },
  });
  new Gauge({
    name: 'holdfast_cluster_shards_owned',
    help: 'Shards that this node owns.',
    registers,
    collect() {
      const { nodes, nodeName } = cluster();
      this.set(nodes.find(({ name }) => name === nodeName)?.shards ?? 0);
    },
  });
  new Counter({
    name: 'holdfast_cluster_forwarded_total',
    help: 'Commands and queries that were sent to other nodes.',
    registers,
    collect() {
      this.reset();
      this.inc(cluster().forwarded);
    },
  });
  return [...listenToNodes(registers), ...listenToAppends(registers)];
}

function listenToNodes(registers: Registry[]): Listener[] {
  const takeovers = new Counter({
    name: 'holdfast_cluster_takeovers_total',
    help: 'Shards that this node took over from an earlier owner.',
    registers,
  });
  const seconds = new Histogram({
    name: 'holdfast_cluster_takeover_seconds',
    help: 'From the moment at which a shard was found without an owner until its events are served here.',
    buckets: TAKEOVER_SECONDS,
    registers,
  });
  const fenced = new Counter({
    name: 'holdfast_cluster_fenced_total',
    help: 'Shards that another node claimed while this one took itself for the owner.',
    registers,
  });
  const foreign = new Counter({
    name: 'holdfast_cluster_foreign_messages_total',
    help: 'Messages that were ignored because no node of this cluster signed them, or because they came before.',
    registers,
  });
  const onClaim = (message: unknown): void => {
    const { isTakeover, tookMs } = message as { readonly isTakeover: boolean; readonly tookMs: number };
    if (!isTakeover) return;
    takeovers.inc();
    seconds.observe(tookMs / 1_000);
  };
  return [
    ['holdfast:cluster-claim', onClaim],
    ['holdfast:cluster-fenced', () => fenced.inc()],
    ['holdfast:cluster-foreign', () => foreign.inc()],
  ];
}

function listenToAppends(registers: Registry[]): Listener[] {
  const appends = new Histogram({
    name: 'holdfast_cluster_append_seconds',
    help: "One message to a shard's log, from the first try until it and all before it are acknowledged.",
    buckets: APPEND_SECONDS,
    registers,
  });
  const onAppend = (message: unknown): void =>
    appends.observe((message as { readonly appendMs: number }).appendMs / 1_000);
  return [['holdfast:cluster-append', onAppend]];
}
