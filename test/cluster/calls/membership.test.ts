/** Who is there and who owns what, as each node hears it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DEAD_MS, HEARTBEAT_MS } from '#cluster/calls/membership.ts';
import { troublesAt } from '../../fixtures/troubles.ts';
import { CLUSTER, openCluster, type TestCluster, type TestNode } from '../nodes.ts';

async function openThree(): Promise<{ cluster: TestCluster; a: TestNode; b: TestNode; c: TestNode }> {
  const cluster = openCluster();
  const [a, b, c] = [cluster.open('a'), cluster.open('b'), cluster.open('c')];
  await cluster.time.pass(10);
  return { cluster, a, b, c };
}

const ownerAt = (node: TestNode, shard: number): string | null => node.membership.ownerOf(shard)?.node ?? null;

describe('The nodes of a cluster', () => {
  it('know each other at once, also one that comes later', async () => {
    const { cluster, a, b } = await openThree();
    for (const { membership } of [a, b]) assert.deepEqual(membership.live(), ['a', 'b', 'c']);
    const d = cluster.open('d');
    await cluster.time.pass(5);
    for (const { membership } of [a, b, d]) assert.deepEqual(membership.live(), ['a', 'b', 'c', 'd']);
  });

  it('hear at once who owns a shard, and who does not any more', async () => {
    const { cluster, a, b } = await openThree();
    a.own(5, 17);
    await cluster.time.pass(2);
    const { instance } = a.membership.nodes()[0]!;
    for (const { membership } of [a, b]) assert.deepEqual(membership.ownerOf(5), { node: 'a', instance, epoch: 17 });
    a.release(5);
    await cluster.time.pass(2);
    for (const { membership } of [a, b]) assert.equal(membership.ownerOf(5), null);
  });

  it('hear at once which shards another one awaits, until it owns them or leaves', async () => {
    const { cluster, a, b, c } = await openThree();
    const heard = async (): Promise<boolean[]> => {
      await cluster.time.pass(2);
      return [a, b, c].map(({ membership }) => membership.isAwaited(5));
    };
    c.membership.setAwaited(5, true);
    assert.deepEqual(await heard(), [true, true, false]);
    c.membership.setAwaited(5, false);
    assert.deepEqual(await heard(), [false, false, false]);
    c.membership.setAwaited(5, true);
    c.own(5, 17);
    assert.deepEqual(await heard(), [false, false, false]);
    b.membership.setAwaited(5, true);
    assert.deepEqual(await heard(), [true, false, true]);
    b.membership.leave();
    assert.deepEqual(await heard(), [false, false, false]);
  });

  it('hold the one with the highest epoch for the owner, in whatever order they hear of it', async () => {
    const { cluster, a, b, c } = await openThree();
    b.own(5, 30);
    await cluster.time.pass(2);
    a.own(5, 17);
    await cluster.time.pass(2);
    for (const node of [a, b, c]) assert.equal(ownerAt(node, 5), 'b');
    a.own(5, 31);
    await cluster.time.pass(2);
    for (const node of [a, b, c]) assert.equal(ownerAt(node, 5), 'a');
  });

  it('drop one that is silent for 1.5 s, and neither sooner nor much later', async () => {
    const { cluster, a, b, c } = await openThree();
    c.own(5, 17);
    await cluster.time.pass(3_000);
    c.kill();
    let changes = 0;
    a.membership.onChange(() => (changes += 1));
    await cluster.time.pass(DEAD_MS - HEARTBEAT_MS - 5);
    for (const node of [a, b]) assert.equal(ownerAt(node, 5), 'c');
    assert.equal(changes, 0);
    await cluster.time.pass(HEARTBEAT_MS + 20);
    for (const node of [a, b]) {
      assert.equal(ownerAt(node, 5), null);
      assert.deepEqual(node.membership.live(), ['a', 'b']);
    }
    assert.equal(changes, 1);
  });

  it('drop nobody because of their own pause, and are not alone after it', async () => {
    const { cluster, a, b } = await openThree();
    b.own(5, 17);
    await cluster.time.pass(300);
    let isAlone = false;
    a.membership.onChange(() => (isAlone ||= a.membership.live().length < 3));
    a.pause();
    await cluster.time.pass(5_000);
    assert.deepEqual(b.membership.live(), ['b', 'c']);
    a.resume();
    await cluster.time.pass(2_000);
    assert.equal(isAlone, false);
    assert.deepEqual(b.membership.live(), ['a', 'b', 'c']);
  });

  it('still drop a node that died while they were paused', async () => {
    const { cluster, a, b } = await openThree();
    a.pause();
    b.kill();
    await cluster.time.pass(5_000);
    a.resume();
    await cluster.time.pass(DEAD_MS + 2 * HEARTBEAT_MS);
    assert.deepEqual(a.membership.live(), ['a', 'c']);
  });

  it('keep what they know while their own connection is gone', async () => {
    const { cluster, a, b } = await openThree();
    b.own(5, 17);
    await cluster.time.pass(300);
    cluster.network.setConnected('a', false);
    await cluster.time.pass(4_000);
    assert.equal(ownerAt(a, 5), 'b');
    assert.deepEqual(b.membership.live(), ['b', 'c']);
    let isAlone = false;
    a.membership.onChange(() => (isAlone ||= a.membership.live().length < 3));
    cluster.network.setConnected('a', true);
    await cluster.time.pass(300);
    assert.equal(isAlone, false);
    assert.deepEqual(a.membership.live(), ['a', 'b', 'c']);
    assert.deepEqual(b.membership.live(), ['a', 'b', 'c']);
  });

  it('place nothing on one that is leaving, which owns its shards until it has given them up', async () => {
    const { cluster, a, b } = await openThree();
    b.own(5, 17);
    await cluster.time.pass(5);
    b.membership.leave();
    await cluster.time.pass(5);
    assert.deepEqual(a.membership.live(), ['a', 'c']);
    assert.equal(ownerAt(a, 5), 'b');
    b.membership.stop();
    await cluster.time.pass(5);
    assert.equal(ownerAt(a, 5), null);
  });

  it('tell a process from an earlier one of the same name', async () => {
    const { cluster, a, b } = await openThree();
    b.own(5, 17);
    await cluster.time.pass(5);
    b.kill();
    const restarted = cluster.open('b');
    await cluster.time.pass(5);
    restarted.own(6, 19);
    await cluster.time.pass(5);
    assert.equal(a.membership.ownerOf(6)?.instance, restarted.membership.nodes()[0]!.instance);
    assert.deepEqual(a.membership.live(), ['a', 'b', 'c']);
    await cluster.time.pass(DEAD_MS + HEARTBEAT_MS);
    assert.deepEqual([ownerAt(a, 5), ownerAt(a, 6)], [null, 'b']);
  });

  it('report that two of them have one name, and not that one was restarted', async (t) => {
    const troubles = troublesAt(t, 'cluster');
    const reports = (): string[] => troubles.map(({ message }) => message);
    const { cluster, b } = await openThree();
    b.kill();
    cluster.open('b');
    await cluster.time.pass(20_000);
    assert.deepEqual(reports(), []);
    // A second process of the name elsewhere; a network in memory takes one of each name.
    const instance = 'b-elsewhere';
    const bus = cluster.network.connect('elsewhere');
    for (let beat = 1; beat <= 40; beat += 1) {
      bus.publish(
        `${CLUSTER}.hb`,
        Buffer.from(JSON.stringify({ node: 'b', instance, beat, shards: [], leaving: false })),
      );
      await cluster.time.pass(HEARTBEAT_MS);
    }
    assert.equal(troubles.length, 1);
    assert.match(reports()[0]!, /two nodes have the name b/);
  });

  it('take a heartbeat that comes late for no news', async () => {
    const { cluster, a, b } = await openThree();
    const { instance } = b.membership.nodes()[0]!;
    b.own(5, 17);
    await cluster.time.pass(1_000);
    const late = { node: 'b', instance, beat: 1, shards: [[5, 99]], leaving: true };
    cluster.network.connect('x').publish(`${CLUSTER}.hb`, Buffer.from(JSON.stringify(late)));
    await cluster.time.pass(5);
    assert.equal(a.membership.ownerOf(5)?.epoch, 17);
    assert.deepEqual(a.membership.live(), ['a', 'b', 'c']);
  });

  it('take what is no heartbeat for nothing', async () => {
    const { cluster, a } = await openThree();
    const stranger = cluster.network.connect('x');
    for (const text of ['', 'null', '{"node":', '{"node":1}', '{"instance":"x","shards":7}']) {
      stranger.publish(`${CLUSTER}.hb`, Buffer.from(text));
    }
    await cluster.time.pass(5);
    assert.deepEqual(a.membership.live(), ['a', 'b', 'c']);
  });
});
