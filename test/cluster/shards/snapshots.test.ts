/** Snapshots, checkpoints and purges of shards: what was sold is there, and little of it is read again. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { isRefusal } from '#domain/refusal.ts';
import { shardOf } from '#cluster/directory/placement.ts';
import { startSnapshotter } from '#engine/snapshotter.ts';
import { ShardSnapshots } from '#cluster/shards/snapshots.ts';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { ArchiveBucket } from '#persistence/nats/objects/archive-bucket.ts';
import { Checkpoints } from '#persistence/nats/objects/checkpoints.ts';
import { MemoryObjects } from '#persistence/memory/objects.ts';
import { SnapshotBucket } from '#persistence/nats/objects/snapshot-bucket.ts';
import { machineTiming, type Timing } from '#persistence/nats/timing.ts';
import { concert, place } from '../../fixtures/actors.ts';
import {
  defineAt,
  executeAt,
  findAt,
  withNodes,
  type TestNodes,
  ownerOf,
  type NodesOptions,
  type TestNode,
} from '../../fixtures/cluster-nodes.ts';
import type { FactFollower, FactSource } from '#engine/deployment.ts';
import { newFolder } from '../../fixtures/folders.ts';
import { claimed } from '../../persistence/shards.ts';
import { until } from '../../fixtures/until.ts';

const EVENT = 'evt_concert';
const SHARD = shardOf(EVENT, 4);

const withConcert = (
  work: (all: readonly TestNode[], nodes: TestNodes) => Promise<void>,
  options: NodesOptions = {},
): Promise<void> =>
  withNodes(
    ['a', 'b'],
    async (all, nodes) => {
      await defineAt(
        all,
        concert({ localities: [{ id: 'floor', name: 'Floor', seating: 'GENERAL', capacity: 10_000 }] }),
      );
      await work(all, nodes);
    },
    options,
  );

const sell = async (node: TestNode, count: number, name: string): Promise<void> => {
  await Promise.all(Array.from({ length: count }, (_, n) => executeAt(node, EVENT, place(`${name}-${n}`))));
};

const figuresAt = async (node: TestNode): Promise<unknown> => {
  const { counts } = await (await findAt(node.engine, EVENT)).read({ type: 'ReadTotals', performanceId: null });
  return counts;
};

const snapshot = async (node: TestNode, prune: boolean) => {
  const taken = await node.engine.takeSnapshots({ prune }, null);
  assert.ok(!isRefusal(taken));
  assert.equal(taken.answer.failed, 0, JSON.stringify(taken.answer));
  return taken.answer;
};

/** The snapshots of a shard that a node has just claimed. */
async function openShard(t: TestContext, timing: Timing = machineTiming) {
  const log = new MemoryLog();
  const { journal } = await claimed(log, { timing });
  const objects = new MemoryObjects();
  const bucket = await SnapshotBucket.open({ objects, shard: 0, dataFolder: newFolder(t), known: [] });
  const snapshotter = startSnapshotter(newFolder(t), () => timing.stopwatchMs());
  t.after(() => snapshotter.stop());
  const [checkpoints, archive] = [new Checkpoints(objects, 0), new ArchiveBucket(objects, 0)];
  const ports = { log, bucket, checkpoints, archive, snapshotter, statesAhead: null, checkpointHead: null };
  return { journal, bucket, checkpoints, snapshots: new ShardSnapshots(ports, journal) };
}

describe('Snapshots of a cluster', () => {
  it('stand for the facts before them when the owner is killed', () =>
    withConcert(async (all, nodes) => {
      await sell(all[0]!, 200, 'first');
      const { taken } = await snapshot(all[0]!, false);
      assert.ok(taken >= 1);
      await sell(all[1]!, 20, 'second');
      const before = await figuresAt(all[0]!);
      const checkpoint = await new Checkpoints(nodes.objects.checkpoints, SHARD).newest();
      assert.equal(checkpoint!.rows.filter(({ eventId }) => eventId === EVENT).length, 0, 'the snapshot covers them');
      const owner = ownerOf(all, EVENT);
      const other = all.find((node) => node !== owner)!;
      owner.kill();
      assert.deepEqual(await figuresAt(other), before);
      await sell(other, 1, 'third');
    }));

  it('let the log be purged, and operators still see every fact', () =>
    withConcert(async (all) => {
      await sell(all[0]!, 50, 'first');
      await snapshot(all[0]!, true);
      await sell(all[0]!, 50, 'second');
      const { archived } = await snapshot(all[1]!, true);
      assert.notEqual(archived, null);
      const log = ownerOf(all, EVENT).logs[SHARD]!;
      assert.equal(await log.get(1), null, 'the first message left the log');
      const { facts } = await all[1]!.engine.newestFacts({ limit: 200, before: null, eventId: EVENT });
      assert.equal(facts.filter(({ type }) => type === 'HoldPlaced').length, 100);
      const everything = await all[0]!.engine.newestFacts({ limit: 200, before: null, eventId: null });
      assert.equal(everything.facts.filter(({ eventId }) => eventId === EVENT).length, 101);
    }));

  it('let sales by minute read on from where they were, though rows left memory', () =>
    withConcert(async (all) => {
      await sell(all[0]!, 60, 'first');
      const owner = ownerOf(all, EVENT);
      const log = owner.logs[SHARD]!;
      const read = log.read.bind(log);
      let messages = 0;
      log.read = (fromSeq, throughSeq) => {
        messages += throughSeq - fromSeq + 1;
        return read(fromSeq, throughSeq);
      };
      const range = { eventId: EVENT, from: null, to: null, stepMs: null };
      const saleAt = async () => {
        messages = 0;
        const { isWhole, throughSeq } = await owner.engine.saleByMinute(range);
        assert.ok(isWhole);
        return { throughSeq, messages };
      };
      await snapshot(owner, false);
      const whole = await saleAt();
      assert.ok(whole.messages > 0 && whole.throughSeq >= 60, 'the first reading is of the log');
      for (let round = 0; round < 3; round += 1) {
        const before = await log.lastSeq();
        await sell(owner, 3, `round-${round}`);
        const added = (await log.lastSeq()) - before;
        await snapshot(owner, false);
        const { facts } = await owner.engine.newestFacts({ limit: 1, before: null, eventId: EVENT });
        const later = await saleAt();
        assert.equal(later.throughSeq, facts[0]!.seq);
        assert.ok(later.messages > 0 && later.messages <= 4 * (added + 2), `${later.messages} read, ${added} added`);
      }
      assert.equal((await saleAt()).messages, 0, 'nothing is new');
    }));

  it('are read again from the facts where both of an event are damaged', () =>
    withConcert(async (all, nodes) => {
      await sell(all[0]!, 30, 'first');
      await snapshot(all[0]!, true);
      await sell(all[0]!, 30, 'second');
      await snapshot(all[0]!, true);
      await sell(all[0]!, 3, 'third');
      const before = await figuresAt(all[0]!);
      for (const name of await nodes.objects.snapshots.list(`${SHARD}/`)) nodes.objects.snapshots.damage(name);
      const owner = ownerOf(all, EVENT);
      owner.kill();
      const other = all.find((node) => node !== owner)!;
      assert.deepEqual(await figuresAt(other), before);
    }));

  it('have a checkpoint also where a shard was only read for long, so that a takeover does not read all of that', async (t) => {
    let nowMs = 0;
    const timing: Timing = { ...machineTiming, stopwatchMs: () => nowMs };
    const { journal, snapshots, checkpoints } = await openShard(t, timing);
    const none = { eventId: '', seq: 0, fingerprint: null, trouble: null };
    snapshots.attach({
      journal,
      now: () => nowMs,
      snapshotEvent: () => Promise.resolve(none),
      noteErasures: () => Promise.resolve(),
      neededAfter: () => 0,
    });
    for (let question = 0; question < 19_000; question += 1) {
      nowMs += 10_000;
      assert.ok(await journal.confirmOwnership());
    }
    await snapshots.maintain();
    assert.equal(await checkpoints.newest(), null);
    for (let question = 0; question < 1_100; question += 1) {
      nowMs += 10_000;
      await journal.confirmOwnership();
    }
    await snapshots.maintain();
    assert.equal((await checkpoints.newest())?.head.streamSeq, 20_101);
    await snapshots.maintain();
    assert.equal((await checkpoints.newest())?.head.streamSeq, 20_101, 'one is enough');
  });

  it('tell the next owner what is due, without a request for the event', () =>
    withConcert(async (all, nodes) => {
      const { hold } = await executeAt(all[0]!, EVENT, place('buyer'));
      await snapshot(all[0]!, false);
      const owner = ownerOf(all, EVENT);
      const other = all.find((node) => node !== owner)!;
      owner.kill();
      nodes.clock.now = hold.expiresAt;
      const isExpired = async (): Promise<boolean> => {
        const { facts } = await other.engine.newestFacts({ limit: 1, before: null, eventId: EVENT });
        return facts[0]?.type === 'HoldExpired';
      };
      await until(isExpired);
    }));

  it('are taken once under an idempotency key, also when another node is asked', () =>
    withConcert(async (all) => {
      await sell(all[0]!, 5, 'first');
      const mark = { key: 'POST /admin/snapshot once', digest: 'd' };
      const first = await all[0]!.engine.takeSnapshots({ prune: false }, mark);
      const again = await all[1]!.engine.takeSnapshots({ prune: false }, mark);
      assert.ok(!isRefusal(first) && !isRefusal(again));
      assert.deepEqual([first.replayed, again.replayed], [false, true]);
      assert.deepEqual(again.answer, first.answer);
    }));
});

describe('The memory of a shard', () => {
  it('keeps few megabytes of facts, because the longest streams are snapshotted when it is looked after', async (t) => {
    const { journal, snapshots } = await openShard(t);
    const taken: string[] = [];
    snapshots.attach({
      journal,
      now: () => 1,
      // What the thread would write stands for the state; here only its effect on memory counts.
      snapshotEvent: async (eventId, seq) => {
        taken.push(eventId);
        journal.release(eventId, seq);
        return { eventId, seq, fingerprint: '', trouble: null };
      },
      noteErasures: () => Promise.resolve(),
      neededAfter: () => Number.MAX_SAFE_INTEGER,
    });
    const data = JSON.stringify('x'.repeat(1_000));
    const append = (eventId: string, count: number): void => {
      for (let at = 1; at <= count; at += 1) journal.append({ eventId, at, facts: [{ type: 'HoldPlaced', data }] });
    };
    append('evt_short', 500);
    append('evt_long', 3_000);
    append('evt_middle', 1_500);
    await journal.durable(journal.appendedSeq);
    assert.ok(journal.retainedBytes > 4 * 1024 * 1024, `${journal.retainedBytes} bytes`);
    await snapshots.maintain();
    assert.equal(taken[0], 'evt_long');
    assert.ok(journal.retainedBytes <= 2 * 1024 * 1024, `${journal.retainedBytes} bytes`);
    const { length } = taken;
    await snapshots.maintain();
    assert.equal(taken.length, length);
  });

  it('has one snapshot of each stream whose facts a receiver of notifications has not got, not one in every round', async (t) => {
    const newest = new Map<string, number>();
    const { journal, snapshots, bucket } = await openShard(t);
    t.mock.method(bucket, 'newestSeq', (eventId: string) => newest.get(eventId) ?? 0);
    const taken: string[] = [];
    snapshots.attach({
      journal,
      now: () => 1,
      snapshotEvent: (eventId, seq) => {
        taken.push(eventId);
        newest.set(eventId, seq);
        return Promise.resolve({ eventId, seq, fingerprint: '', trouble: null });
      },
      noteErasures: () => Promise.resolve(),
      neededAfter: () => 0,
    });
    const data = JSON.stringify('x'.repeat(1_000));
    for (let at = 1; at <= 5_000; at += 1) {
      journal.append({ eventId: `evt_${at % 2}`, at, facts: [{ type: 'HoldPlaced', data }] });
    }
    await journal.durable(journal.appendedSeq);
    for (let round = 0; round < 3; round += 1) await snapshots.maintain();
    assert.deepEqual(taken.sort(), ['evt_0', 'evt_1']);
  });
});

describe('Facts of a cluster that are followed', () => {
  it('are followed on by the next owner from where the one before had come', () =>
    withConcert(async (all) => {
      const seen: string[] = [];
      /** Takes what is there a few times a second and stores how far it is. */
      const open = async (source: FactSource): Promise<FactFollower> => {
        let deliveredSeq = source.cursor?.throughSeq ?? 0;
        const look = async (): Promise<void> => {
          const rows = [...source.journal.read({ afterSeq: deliveredSeq })].filter(({ type }) => type === 'HoldPlaced');
          const { durableSeq } = source.journal;
          if (durableSeq === deliveredSeq) return;
          for (const { seq } of rows) seen.push(`${source.label}${seq}`);
          deliveredSeq = durableSeq;
          if (rows.length > 0) await source.storeCursor({ throughSeq: durableSeq, behind: {} });
        };
        const timer = setInterval(() => void look().catch(() => {}), 20);
        return {
          get deliveredSeq() {
            return deliveredSeq;
          },
          stop: () => Promise.resolve(clearInterval(timer)),
        };
      };
      for (const { engine } of all) await engine.followFacts('notifications', open);
      await sell(all[0]!, 20, 'first');
      await until(() => new Set(seen).size === 20);
      await snapshot(all[0]!, true);
      const owner = ownerOf(all, EVENT);
      const other = all.find((node) => node !== owner)!;
      owner.kill();
      const before = seen.length;
      await sell(other, 20, 'second');
      await until(() => new Set(seen).size === 40);
      assert.ok(seen.length - before <= 22, `${seen.length - before} facts for the 20 that were new`);
    }));
});
