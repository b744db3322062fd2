import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeOf } from '#cluster/placement.ts';
import { ShardClaims, type ClaimedShard } from '#cluster/shard-claims.ts';
import { openCluster, type TestCluster, type TestNode } from './nodes.ts';
import { VirtualTime } from './virtual-time.ts';

const EPOCH = 7;

/** A node that claims its only shard at once; what it announces is noted with the moment. */
async function prepare(holdOffMs: number) {
  const time = new VirtualTime();
  const begin = time.stopwatchMs();
  const announced: string[] = [];
  const say = (what: string): void => void announced.push(`${what} after ${time.stopwatchMs() - begin} ms`);
  let opensAtMs = 0;
  let fence = (): void => {};
  const shard: ClaimedShard = {
    journal: {
      epoch: EPOCH,
      status: 'OPEN',
      abandon: () => {},
      onFenced: (listener) => (fence = () => listener(null as never)),
    },
    get holdOffLeftMs() {
      return Math.max(0, opensAtMs - time.stopwatchMs());
    },
    giveUp: () => Promise.resolve(),
    lose: () => {},
    settle: () => {},
  };
  const owned = new Map<number, number>();
  const claims = new ShardClaims<ClaimedShard>({
    node: 'node-a',
    instance: 'node-a-1',
    shards: 1,
    bus: { isConnected: true },
    time,
    membership: {
      live: () => ['node-a'],
      nodes: () => [{ node: 'node-a', instance: 'node-a-1', isLeaving: false, shards: owned }],
      ownerOf: () => null,
      onChange: () => () => {},
      own: () => say('owned'),
      release: () => say('released'),
      leave: () => {},
    },
    open: () => {
      opensAtMs = time.stopwatchMs() + holdOffMs;
      return Promise.resolve({ owned: shard, previousEpoch: 3 });
    },
    serve: () => {},
    giveUp: () => {},
    changed: () => {},
  });
  await time.pass(1_000);
  assert.deepEqual(announced, ['owned after 750 ms']);
  return { time, claims, announced, fence: () => fence() };
}

describe('The shards of a node', () => {
  it('are released at once where its own hold-off is over', async () => {
    const { time, claims, announced } = await prepare(100);
    void claims.leave();
    await time.pass(10);
    assert.deepEqual(announced, ['owned after 750 ms', 'released after 1000 ms']);
  });

  it('are not released during its own hold-off, because the owner before may still answer', async () => {
    const { time, claims, announced } = await prepare(800);
    let hasLeft = false;
    void claims.leave().then(() => (hasLeft = true));
    await time.pass(500);
    assert.equal(announced.length, 1);
    assert.equal(hasLeft, false);
    await time.pass(100);
    assert.deepEqual(announced.slice(1), ['released after 1550 ms']);
    assert.equal(hasLeft, true);
  });

  it('are not released before either when another node has claimed them', async () => {
    const { time, claims, announced, fence } = await prepare(800);
    fence();
    await time.pass(540);
    assert.equal(claims.owned.size, 0);
    assert.equal(announced.length, 1);
    await time.pass(20);
    assert.equal(announced[1], 'released after 1550 ms');
    claims.stop();
  });
});

describe('The shards of a node that leaves', () => {
  const SHARDS = 20;

  /** A node that owns all shards, beside another one that takes a shard over `takesMs` after it was given up. */
  async function prepareMany(others: readonly string[], takesMs: number) {
    const time = new VirtualTime();
    const owners = new Map<number, string>();
    let released = 0;
    let isLeaving = false;
    let ownerless = 0;
    let ownerlessMax = 0;
    const claims = new ShardClaims<ClaimedShard>({
      node: 'node-a',
      instance: 'node-a-1',
      shards: SHARDS,
      bus: { isConnected: true },
      time,
      membership: {
        live: () => (isLeaving ? others : ['node-a']),
        nodes: () => [],
        ownerOf: (shard) => {
          const node = owners.get(shard);
          return node === undefined ? null : { node, instance: node, epoch: EPOCH };
        },
        onChange: () => () => {},
        own: (shard) => void owners.set(shard, 'node-a'),
        release: (shard) => {
          owners.delete(shard);
          released += 1;
          ownerlessMax = Math.max(ownerlessMax, (ownerless += 1));
          if (others.length === 0) return;
          time.after(takesMs, () => {
            owners.set(shard, others[0]!);
            ownerless -= 1;
          });
        },
        leave: () => (isLeaving = true),
      },
      open: () =>
        Promise.resolve({
          owned: {
            journal: { epoch: EPOCH, status: 'OPEN', abandon: () => {}, onFenced: () => {} },
            holdOffLeftMs: 0,
            giveUp: () => Promise.resolve(),
            lose: () => {},
            settle: () => {},
          },
          previousEpoch: 3,
        }),
      serve: () => {},
      giveUp: () => {},
      changed: () => {},
    });
    await time.pass(1_500);
    assert.equal(claims.owned.size, SHARDS);
    const leaving = claims.leave();
    return { time, leaving, released: () => released, ownerlessMax: () => ownerlessMax };
  }

  it('are given up a few at a time, the next when other nodes own those', async () => {
    const { time, leaving, released, ownerlessMax } = await prepareMany(['node-b'], 100);
    await time.pass(400);
    await leaving;
    assert.deepEqual([released(), ownerlessMax()], [SHARDS, 8]);
  });

  it('are given up within a second all the same where nobody takes them over', async () => {
    const { time, leaving, released } = await prepareMany(['node-b'], 60_000);
    await time.pass(900);
    assert.equal(released(), 8);
    await time.pass(200);
    await leaving;
    assert.equal(released(), SHARDS);
  });

  it('are given up at once where there is no other node', async () => {
    const { time, leaving, released } = await prepareMany([], 0);
    await time.pass(1);
    await leaving;
    assert.equal(released(), SHARDS);
  });
});

describe('A node that has just started', () => {
  const SHARDS = 8;

  /** A node that claims shards; each claim is noted, with whether a hold-off is needed. */
  function claimsOf({ time }: TestCluster, { name, membership, bus }: TestNode, claimed: Map<number, string>) {
    return new ShardClaims<ClaimedShard>({
      node: name,
      instance: `${name}-1`,
      shards: SHARDS,
      bus,
      time,
      membership,
      open: (shard, hasGivenUp) => {
        const before = claimed.get(shard);
        claimed.set(shard, before === undefined || hasGivenUp(EPOCH) ? name : `${name} with a hold-off`);
        return Promise.resolve({
          owned: {
            journal: { epoch: EPOCH, status: 'OPEN', abandon: () => {}, onFenced: () => {} },
            holdOffLeftMs: 0,
            giveUp: () => Promise.resolve(),
            lose: () => {},
            settle: () => {},
          },
          previousEpoch: before === undefined ? 0 : EPOCH,
        });
      },
      serve: () => {},
      giveUp: () => {},
      changed: () => {},
    });
  }

  it('takes over what another one gives up without having listened to the end, and without a hold-off', async () => {
    const cluster = openCluster();
    const claimed = new Map<number, string>();
    const nodes: ReturnType<typeof claimsOf>[] = [];
    const start = (name: string): ShardClaims<ClaimedShard> => {
      const claims = claimsOf(cluster, cluster.open(name), claimed);
      nodes.push(claims);
      return claims;
    };
    const first = start('a');
    start('b');
    await cluster.time.pass(1_500);
    const owners = [...claimed].toSorted(([one], [other]) => one - other).map(([, name]) => name);
    const shards = [...owners.keys()];
    assert.deepEqual(
      owners,
      shards.map((shard) => placeOf(shard, ['a', 'b'])),
    );
    start('c');
    await cluster.time.pass(20);
    assert.equal(
      [...claimed.values()].filter((name) => name.startsWith('c')).length,
      0,
      'it does not know who owns what',
    );
    const leaving = first.leave();
    await cluster.time.pass(100);
    await leaving;
    const expected = owners.map((owner, shard) => (owner === 'a' ? placeOf(shard, ['b', 'c']) : owner));
    assert.ok(expected.includes('c'), 'some of them are its own');
    assert.deepEqual(
      shards.map((shard) => claimed.get(shard)),
      expected,
    );
    for (const claims of nodes) claims.stop();
  });
});

describe('A shard that cannot be opened', () => {
  it('is tried again after pauses that grow to half a minute, because each try may leave a claim in the log', async () => {
    const time = new VirtualTime();
    const tries: number[] = [];
    const claims = new ShardClaims<ClaimedShard>({
      node: 'node-a',
      instance: 'node-a-1',
      shards: 1,
      bus: { isConnected: true },
      time,
      membership: {
        live: () => ['node-a'],
        nodes: () => [],
        ownerOf: () => null,
        onChange: () => () => {},
        own: () => assert.fail('it is not opened'),
        release: () => {},
        leave: () => {},
      },
      open: () => {
        tries.push(time.stopwatchMs());
        return Promise.reject(new Error('its chain is broken'));
      },
      serve: () => {},
      giveUp: () => {},
      changed: () => {},
    });
    await time.pass(10_000);
    assert.ok(tries.length >= 4 && tries.length <= 5, `${tries.length} tries in ten seconds`);
    await time.pass(290_000);
    assert.ok(tries.length >= 12 && tries.length <= 16, `${tries.length} tries in five minutes`);
    const pauses = tries.slice(1).map((at, place) => at - tries[place]!);
    assert.ok(Math.max(...pauses) <= 30_500, `${Math.max(...pauses)} ms`);
    claims.stop();
  });
});
