/** The cluster as operators see it, by heartbeats on a network in memory. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClusterView, TAKEOVERS_MAX } from '#cluster/view.ts';
import { DEAD_MS, HEARTBEAT_MS } from '#cluster/calls/membership.ts';
import { openCluster, type TestCluster, type TestNode } from './nodes.ts';

const NOON = Date.UTC(2027, 4, 7, 12);

function viewOf(cluster: TestCluster, { name, bus, membership }: TestNode): ClusterView {
  const { time } = cluster;
  const now = (): number => NOON + time.stopwatchMs();
  return new ClusterView({ clusterName: 'test', nodeName: name, shards: 3, bus, membership, time, now });
}

async function twoNodes() {
  const cluster = openCluster();
  const [north, south] = [cluster.open('north'), cluster.open('south')];
  north.own(0, 3);
  south.own(1, 4);
  await cluster.time.pass(2 * HEARTBEAT_MS);
  return { cluster, north, south, view: viewOf(cluster, north) };
}

describe('The view of a cluster', () => {
  it('has the live nodes by name, and the owner of every shard', async () => {
    const { view, south, cluster } = await twoNodes();
    south.membership.leave();
    await cluster.time.pass(10);
    assert.deepEqual(view.nodes(), [
      { name: 'north', shards: 1, isLeaving: false },
      { name: 'south', shards: 1, isLeaving: true },
    ]);
    assert.deepEqual(view.shards(), [
      { shard: 0, owner: 'north', epoch: 3 },
      { shard: 1, owner: 'south', epoch: 4 },
      { shard: 2, owner: null, epoch: null },
    ]);
  });

  it('notes no takeover of what was owned when it began, nor of a shard that had no owner before', async () => {
    const { view, north, cluster } = await twoNodes();
    north.own(2, 9);
    await cluster.time.pass(HEARTBEAT_MS);
    assert.deepEqual(view.takeovers(), []);
  });

  it('notes how long a shard of a dead node was without an owner', async () => {
    const { view, north, south, cluster } = await twoNodes();
    south.kill();
    await cluster.time.pass(DEAD_MS + HEARTBEAT_MS);
    assert.equal(view.shards()[1]!.owner, null);
    assert.deepEqual(
      view.nodes().map(({ name }) => name),
      ['north'],
    );
    const before = view.takeovers().length;
    await cluster.time.pass(700);
    const at = NOON + cluster.time.stopwatchMs();
    north.own(1, 12);
    const [takeover, ...more] = view.takeovers();
    assert.deepEqual([before, more.length], [0, 0]);
    const { ownerlessMs, ...rest } = takeover!;
    assert.deepEqual(rest, { shard: 1, at, from: 'south', to: 'north', epoch: 12 });
    assert.ok(ownerlessMs >= 700 && ownerlessMs <= 700 + HEARTBEAT_MS, `${ownerlessMs} ms`);
  });

  it('keeps the latest takeovers alone, the newest first', async () => {
    const { view, north, south, cluster } = await twoNodes();
    for (let n = 0; n <= TAKEOVERS_MAX; n += 1) {
      const [from, to] = n % 2 === 0 ? [south, north] : [north, south];
      to.own(1, 10 + n);
      await cluster.time.pass(10);
      from.release(1);
    }
    const epochs = view.takeovers().map(({ epoch }) => epoch);
    assert.deepEqual(
      epochs,
      Array.from({ length: TAKEOVERS_MAX }, (_, n) => 10 + TAKEOVERS_MAX - n),
    );
    assert.equal(view.takeovers()[0]!.ownerlessMs, 0);
  });

  it('shows whether the connection stands', async () => {
    const { view, cluster } = await twoNodes();
    assert.equal(view.state().isConnected, true);
    cluster.network.setConnected('north', false);
    assert.equal(view.state().isConnected, false);
  });
});
