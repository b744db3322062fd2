import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { placeOf } from '#cluster/directory/placement.ts';
import { ShardClaims, type ClaimedShard, type ShardClaimsPorts } from '#cluster/shards/claims.ts';
import { openCluster } from '../nodes.ts';
import { LogUnreachable } from '#persistence/shard-log.ts';
import { ObjectsUnreachable } from '#persistence/objects.ts';
import { VirtualTime } from '../virtual-time.ts';

const EPOCH = 7;

/** A node that hears of no other. */
const ALONE: ShardClaimsPorts<ClaimedShard>['membership'] = {
  live: () => ['node-a'],
  nodes: () => [],
  ownerOf: () => null,
  onChange: () => () => {},
  own: () => {},
  release: () => {},
  leave: () => {},
  isAwaited: () => false,
  setAwaited: () => {},
};

/** What a test does not look at. */
const NOTHING_ELSE = {
  readAhead: () => Promise.resolve(),
  forget: () => {},
  serve: () => {},
  giveUp: () => {},
  changed: () => {},
};

const NODE_A = { ...NOTHING_ELSE, node: 'node-a', instance: 'node-a-1', bus: { isConnected: true } };

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
    ...NODE_A,
    shards: 1,
    time,
    membership: {
      ...ALONE,
      nodes: () => [{ node: 'node-a', instance: 'node-a-1', isLeaving: false, shards: owned, awaited: new Set() }],
      own: () => say('owned'),
      release: () => say('released'),
      isAwaited: () => true,
    },
    open: () => {
      opensAtMs = time.stopwatchMs() + holdOffMs;
      return Promise.resolve({ owned: shard, previousEpoch: 3 });
    },
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
  async function prepareMany(
    others: readonly string[],
    takesMs: number,
    isAwaited: (shard: number) => boolean = () => true,
  ) {
    const time = new VirtualTime();
    const owners = new Map<number, string>();
    let released = 0;
    let isLeaving = false;
    let ownerless = 0;
    let ownerlessMax = 0;
    const claims = new ShardClaims<ClaimedShard>({
      ...NODE_A,
      shards: SHARDS,
      time,
      membership: {
        ...ALONE,
        live: () => (isLeaving ? others : ['node-a']),
        ownerOf: (shard) => {
          const node = owners.get(shard);
          return node === undefined ? null : { node, instance: node, epoch: EPOCH };
        },
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
        isAwaited: (shard) => isAwaited(shard),
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

  it('are given up within five seconds all the same where nobody takes them over', async () => {
    const { time, leaving, released } = await prepareMany(['node-b'], 60_000);
    await time.pass(4_900);
    assert.equal(released(), 8);
    await time.pass(200);
    await leaving;
    assert.equal(released(), SHARDS);
  });

  it('are given up when another node has read them ahead, or after five seconds', async () => {
    const { time, leaving, released } = await prepareMany(['node-b'], 10, (shard) => shard >= 17);
    await time.pass(4_500);
    assert.equal(released(), 3);
    await time.pass(600);
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

describe('The shards of several nodes', () => {
  const SHARDS = 8;

  /** Nodes that claim shards, with what each of them did. */
  function prepareNodes() {
    const cluster = openCluster();
    const claimed = new Map<number, string>();
    const done: string[] = [];
    const nodes: ShardClaims<ClaimedShard>[] = [];
    const start = (name: string): ShardClaims<ClaimedShard> => {
      const { bus, membership } = cluster.open(name);
      const claims = new ShardClaims<ClaimedShard>({
        ...NOTHING_ELSE,
        ...{ node: name, instance: `${name}-1`, shards: SHARDS, bus, membership, time: cluster.time },
        readAhead: (shard) => Promise.resolve(void done.push(`${name} reads ${shard}`)),
        open(shard, hasGivenUp) {
          const isFirst = !claimed.has(shard);
          done.push(`${name} claims ${shard}${isFirst || hasGivenUp(EPOCH) ? '' : ' with a hold-off'}`);
          claimed.set(shard, name);
          const owned = {
            journal: { epoch: EPOCH, status: 'OPEN', abandon: () => {}, onFenced: () => {} },
            holdOffLeftMs: 0,
            giveUp: () => Promise.resolve(void done.push(`${name} gives ${shard} up`)),
            lose: () => {},
            settle: () => {},
          } as const;
          return Promise.resolve({ owned, previousEpoch: isFirst ? 0 : EPOCH });
        },
      });
      nodes.push(claims);
      return claims;
    };
    const ownedBy = (name: string): number[] =>
      [...claimed.keys()].filter((shard) => claimed.get(shard) === name).toSorted((one, other) => one - other);
    const stop = (): void => nodes.forEach((claims) => claims.stop());
    return { time: cluster.time, start, stop, done, ownedBy };
  }

  const placedAt = (name: string, live: readonly string[], shards: readonly number[]): number[] =>
    shards.filter((shard) => placeOf(shard, live) === name);
  const ALL = Array.from({ length: SHARDS }, (_, shard) => shard);

  it('are read ahead before their owner gives them up, taken over without a hold-off, also by a node that still listens', async () => {
    const { time, start, stop, done, ownedBy } = prepareNodes();
    const first = start('a');
    start('b');
    await time.pass(1_500);
    const before = placedAt('a', ['a', 'b'], ALL);
    assert.deepEqual(ownedBy('a'), before);
    start('c');
    await time.pass(20);
    assert.deepEqual(ownedBy('c'), [], 'it does not know yet who owns what');
    const begin = done.length;
    const leaving = first.leave();
    await time.pass(100);
    await leaving;
    assert.deepEqual(ownedBy('a'), []);
    assert.ok(placedAt('c', ['b', 'c'], before).length > 0, 'some of them are its own');
    for (const shard of before) {
      const next = placeOf(shard, ['b', 'c']);
      const steps = done.filter((what, n) => what.includes(` ${shard}`) && (n >= begin || what.includes('reads')));
      assert.deepEqual(steps, [`${next} reads ${shard}`, `a gives ${shard} up`, `${next} claims ${shard}`]);
    }
    stop();
  });

  it('move to a node that joins when that one has read them ahead', async () => {
    const { time, start, stop, done, ownedBy } = prepareNodes();
    start('a');
    await time.pass(1_000);
    assert.deepEqual(ownedBy('a'), ALL);
    start('b');
    await time.pass(3_000);
    const moved = placedAt('b', ['a', 'b'], ALL);
    assert.deepEqual(ownedBy('b'), moved);
    for (const shard of moved) {
      const steps = done.filter((what) => what.includes(` ${shard}`)).slice(1);
      assert.deepEqual(steps, [`b reads ${shard}`, `a gives ${shard} up`, `b claims ${shard}`]);
    }
    stop();
  });
});

/** The moments of the tries to open a shard, each of which fails. */
function openFailing(error: Error) {
  const time = new VirtualTime();
  const tries: number[] = [];
  const claims = new ShardClaims<ClaimedShard>({
    ...NODE_A,
    shards: 1,
    time,
    membership: { ...ALONE, own: () => assert.fail('it is not opened') },
    open: () => {
      tries.push(time.stopwatchMs());
      return Promise.reject(error);
    },
  });
  return { time, tries, claims };
}

describe('A shard that cannot be opened', () => {
  it('is tried again after pauses that grow to half a minute, because each try may leave a claim in the log', async () => {
    const { time, tries, claims } = openFailing(new Error('its chain is broken'));
    await time.pass(10_000);
    assert.ok(tries.length >= 4 && tries.length <= 5, `${tries.length} tries in ten seconds`);
    await time.pass(290_000);
    assert.ok(tries.length >= 12 && tries.length <= 16, `${tries.length} tries in five minutes`);
    const pauses = tries.slice(1).map((at, place) => at - tries[place]!);
    assert.ok(Math.max(...pauses) <= 30_500, `${Math.max(...pauses)} ms`);
    claims.stop();
  });

  it('is tried again within seconds when the servers that could not be reached are back', async () => {
    for (const error of [new LogUnreachable('no leader'), new ObjectsUnreachable('no leader')]) {
      const { time, tries, claims } = openFailing(error);
      await time.pass(60_000);
      const pauses = tries.slice(1).map((at, place) => at - tries[place]!);
      assert.ok(pauses.length > 12 && Math.max(...pauses) <= 4_500, `${Math.max(...pauses)} ms`);
      claims.stop();
    }
  });
});
