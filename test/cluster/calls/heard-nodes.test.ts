import assert from 'node:assert/strict';
import { it } from 'node:test';
import { listenForNodes, heartbeatSubject, HEARTBEAT_MS } from '#cluster/calls/membership.ts';
import { CLUSTER, openCluster } from '../nodes.ts';

it('Somebody who is no node hears the live nodes with their shards, and is not taken for one', async () => {
  const cluster = openCluster();
  const { time, network } = cluster;
  const [south, north, dead] = [cluster.open('south'), cluster.open('north'), cluster.open('dead')];
  north.own(0, 7);
  north.own(2, 9);
  dead.own(1, 8);
  await time.pass(HEARTBEAT_MS);
  dead.kill();
  await time.pass(HEARTBEAT_MS);
  const bus = network.connect('listener');
  const hearing = listenForNodes(bus, time, CLUSTER, 1_000);
  south.membership.leave();
  bus.publish(heartbeatSubject(CLUSTER), Buffer.from('not a heartbeat'));
  await time.pass(1_000);
  assert.deepEqual(await hearing, [
    {
      name: 'north',
      isLeaving: false,
      shards: new Map([
        [0, 7],
        [2, 9],
      ]),
    },
    { name: 'south', isLeaving: true, shards: new Map() },
  ]);
  assert.ok(!north.membership.nodes().some(({ node }) => node === 'listener'));
});
