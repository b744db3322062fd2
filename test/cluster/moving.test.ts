/** A shop moves up into a cluster and back: import of a folder, and backup of all shards into one. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { startEngine } from '#engine/engine.ts';
import { ImportFailed, ImportRefused } from '#cluster/moving/import.ts';
import { INDEX_SHARD, shardOf } from '#cluster/directory/placement.ts';
import { isNotifiable } from '#notifications/messages.ts';
import { CopyRefused } from '#persistence/folder/backup.ts';
import { ArchiveBucket } from '#persistence/nats/objects/archive-bucket.ts';
import { claimShard } from '#persistence/nats/log/claim.ts';
import { Checkpoints } from '#persistence/nats/objects/checkpoints.ts';
import { MemoryObjects } from '#persistence/memory/objects.ts';
import { ObjectDamaged } from '#persistence/objects.ts';
import { purgeLog, wholeLog } from '#persistence/nats/objects/purge.ts';
import { readShardFacts } from '#persistence/nats/log/shard-facts.ts';
import { ChainBroken } from '#persistence/nats/log/head.ts';
import { journalPath, openWriting } from '#persistence/sqlite/schema.ts';
import { newFolder } from '../fixtures/folders.ts';
import {
  backUp,
  CLUSTER,
  factsByStream,
  good,
  importInto,
  memoryCluster,
  momentsIn,
  sizesOf,
  SOLD_AT,
  soldFolder,
  undelivered,
  type MemoryCluster,
} from './moving.ts';

/** Every fact of a shard as text, in order. */
async function shardFacts(cluster: MemoryCluster, shard: number): Promise<string[]> {
  const found: string[] = [];
  const log = wholeLog(cluster.log(shard), new ArchiveBucket(cluster.archive, shard));
  for await (const facts of readShardFacts(log)) found.push(...facts.map(({ type, eventId }) => `${eventId} ${type}`));
  return found;
}

/** Makes a checkpoint at the end of each log, twice, and purges what may go. */
async function purgeAll(cluster: MemoryCluster, node: string): Promise<void> {
  for (let shard = 0; shard < cluster.shards; shard += 1) {
    const archive = new ArchiveBucket(cluster.archive, shard);
    const checkpoints = new Checkpoints(new MemoryObjects(), shard);
    for (let round = 0; round < 2; round += 1) {
      const claim = await claimShard(wholeLog(cluster.log(shard), archive), { node, checkpoint: null });
      if (claim.outcome === 'LOST') assert.fail('nobody else claims');
      await checkpoints.write({ ...claim.journal.content(), snapshots: [] });
      await claim.journal.close();
    }
    await purgeLog(cluster.log(shard), archive, checkpoints);
  }
}

describe('A folder that was imported and backed up again', () => {
  it('has equal books and every fact of every event, and its chain holds', async (t) => {
    const source = await soldFolder(t);
    const cluster = memoryCluster();
    const report = await importInto(cluster, source);
    const out = path.join(newFolder(t), 'out');
    const merged = await backUp(cluster, out);
    const [before, after] = [await good(source), await good(out)];
    assert.deepEqual(after.figures, before.figures);
    assert.equal(after.figures.orders.CONFIRMED, 30);
    assert.equal(after.events, 18);
    assert.equal(report.events, 18);
    assert.equal(after.headHash, merged.headHash);
    assert.notEqual(after.headHash, before.headHash);
    assert.deepEqual(factsByStream(out), factsByStream(source));
    assert.equal(after.stateFingerprint, before.stateFingerprint);
    assert.deepEqual(
      readdirSync(out).filter((name) => !/^(journal|keys)\.db/.test(name)),
      ['head.witness'],
    );
  });

  it('is served by a single machine, which goes on selling', async (t) => {
    const cluster = memoryCluster();
    await importInto(cluster, await soldFolder(t));
    const out = path.join(newFolder(t), 'out');
    await backUp(cluster, out);
    const engine = await startEngine({
      folder: out,
      liveEventsMax: 100,
      waitingRepliesMax: 100,
      clockSource: () => SOLD_AT,
      onFatal: (fault) => assert.fail(fault),
    });
    t.after(() => engine.stop());
    const { eventIds } = await engine.events.listAll({ limit: 100, after: null });
    assert.deepEqual(eventIds.slice(0, 7), [...[0, 1, 2, 3, 4, 5].map((n) => `evt_past_${n}`), 'evt_0']);
    assert.equal((await engine.events.bySlug('renamed'))!.eventId, 'evt_3');
    const again = await engine.stream.once({ key: 'k1', digest: 'd1' }, () => assert.fail('it was answered before'));
    assert.equal(again.outcome, 'DONE');
  });

  it('has all facts also when the logs were purged, and fails when the archive is damaged', async (t) => {
    const source = await soldFolder(t);
    const cluster = memoryCluster();
    await importInto(cluster, source);
    await purgeAll(cluster, 'node-a');
    assert.ok(
      (await sizesOf(cluster)).every((size) => size <= 2),
      'next to nothing is left in the logs',
    );
    const out = path.join(newFolder(t), 'out');
    await backUp(cluster, out);
    await good(out);
    assert.deepEqual(factsByStream(out), factsByStream(source));
    cluster.archive.damage((await cluster.archive.list(''))[3]!);
    const second = path.join(newFolder(t), 'out');
    await assert.rejects(backUp(cluster, second), ObjectDamaged);
    assert.deepEqual(readdirSync(second), [], 'nothing is left');
  });

  it('has the facts in the order of their moments', async (t) => {
    const cluster = memoryCluster();
    await importInto(cluster, await soldFolder(t));
    const out = path.join(newFolder(t), 'out');
    await backUp(cluster, out);
    const moments = momentsIn(out);
    assert.equal(new Set(moments).size, 16);
    assert.deepEqual(
      moments,
      moments.toSorted((a, b) => a - b),
    );
  });

  it('leaves the same notifications to be delivered', async (t) => {
    for (const behind of [{}, { evt_1: 'first' }, { evt_1: 'first', evt_2: 'none' }]) {
      const source = await soldFolder(t, async (engine) => {
        const head = engine.journal.durableSeq;
        const facts = [...engine.journal.read({ eventId: 'evt_1' })].filter(({ type }) => type === 'HoldPlaced');
        const seqs = { evt_1: facts[0]!.seq, evt_2: 0 };
        const names = Object.keys(behind) as (keyof typeof seqs)[];
        await engine.stream.record({
          type: 'NotificationsDelivered',
          data: { throughSeq: head - 7, behind: Object.fromEntries(names.map((name) => [name, seqs[name]])) },
        });
      });
      const cluster = memoryCluster();
      await importInto(cluster, source);
      const out = path.join(newFolder(t), 'out');
      await backUp(cluster, out);
      assert.ok(undelivered(source)!.length > 0);
      assert.deepEqual(undelivered(out), undelivered(source));
      assert.deepEqual((await good(out)).figures, (await good(source)).figures);
    }
  });
});

describe('The notifications of a cluster', () => {
  it('are delivered by a single machine from where each shard had come', async (t) => {
    const cluster = memoryCluster(4);
    await importInto(cluster, await soldFolder(t));
    const expected: string[] = [];
    for (const [shard, throughShare] of [0.5, null, 1, 0].entries()) {
      const claim = await claimShard(cluster.log(shard), { node: 'node-a', checkpoint: null });
      if (claim.outcome === 'LOST') assert.fail('nobody else claims');
      const { journal } = claim;
      const facts = [...journal.read()].filter(({ eventId }) => eventId !== '');
      const places = new Map<string, number>();
      const throughSeq = throughShare === null ? null : Math.floor(throughShare * journal.durableSeq);
      const late = facts.find(({ seq, type }) => isNotifiable(type) && seq < (throughSeq ?? 0));
      const behind = late === undefined ? {} : { [late.eventId]: late.seq - 1 };
      for (const { eventId, seq, type } of facts) {
        places.set(eventId, (places.get(eventId) ?? 0) + 1);
        if (!isNotifiable(type) || throughSeq === null) continue;
        if (seq > (behind[eventId] ?? throughSeq)) expected.push(`${eventId} ${places.get(eventId)}`);
      }
      if (throughSeq === null) continue;
      const data = JSON.stringify({ throughSeq, behind });
      const cursor = { eventId: '', at: 5, facts: [{ type: 'NotificationsDelivered', data }] };
      await journal.durable(journal.append(cursor));
    }
    const out = path.join(newFolder(t), 'out');
    await backUp(cluster, out);
    assert.ok(expected.length > 20);
    assert.deepEqual(undelivered(out), expected.sort());
    await good(out);
  });
});

describe('An import', () => {
  it('puts each event on its shard, and the index on shard 0 after everything else', async (t) => {
    const cluster = memoryCluster();
    const { shardsUsed } = await importInto(cluster, await soldFolder(t));
    const used = new Set<number>();
    for (let shard = 0; shard < cluster.shards; shard += 1) {
      const facts = await shardFacts(cluster, shard);
      const ofEvents = facts.filter((fact) => !fact.startsWith(' '));
      if (ofEvents.length > 0) used.add(shard);
      for (const fact of ofEvents) assert.equal(shardOf(fact.split(' ')[0]!, cluster.shards), shard);
      if (shard !== INDEX_SHARD) assert.equal(facts.length, ofEvents.length);
    }
    assert.equal(used.size, shardsUsed);
    assert.deepEqual(
      (await shardFacts(cluster, INDEX_SHARD)).slice(-18),
      Array.from({ length: 18 }, () => ' EventIndexed'),
    );
  });

  it('sends hundreds of facts in a message', async (t) => {
    const cluster = memoryCluster(1);
    const { facts } = await importInto(cluster, await soldFolder(t));
    assert.ok(facts > 150);
    const [messages = 0] = await sizesOf(cluster);
    assert.ok(messages < 8, `${facts} facts in ${messages} messages`);
  });

  it('is refused while a node is live, and writes nothing', async (t) => {
    const source = await soldFolder(t);
    const cluster = memoryCluster();
    const node = cluster.network.connect('node-b');
    const beat = setInterval(
      () =>
        node.publish(
          `${CLUSTER}.hb`,
          Buffer.from('{"node":"node-b","instance":"b-1","beat":1,"shards":[],"leaving":false}'),
        ),
      2,
    );
    t.after(() => clearInterval(beat));
    await assert.rejects(importInto(cluster, source), (error) => {
      assert.ok(error instanceof ImportRefused);
      assert.match(error.message, /are running: node-b$/);
      return true;
    });
    assert.deepEqual(new Set(await sizesOf(cluster)), new Set([0]));
  });

  it('is refused by a cluster with any record, also one of a single claim', async (t) => {
    const source = await soldFolder(t);
    const cluster = memoryCluster();
    await claimShard(cluster.log(5), { node: 'node-a', checkpoint: null });
    await assert.rejects(importInto(cluster, source), /is not empty: shard 5 has records/);
    const second = memoryCluster();
    await importInto(second, source);
    await assert.rejects(importInto(second, source), ImportRefused);
  });

  it('is refused for a folder whose sandbox clock was moved', async (t) => {
    const source = await soldFolder(t, async (engine) => void (await engine.stream.advanceClock(60)));
    await assert.rejects(importInto(memoryCluster(), source), /sandbox clock/);
  });

  it('is refused for a folder that is damaged, and writes nothing', async (t) => {
    const source = await soldFolder(t);
    const db = openWriting(journalPath(source));
    db.exec("UPDATE journal SET data = replace(data, 'session-11', 'session-12') WHERE type = 'HoldPlaced'");
    db.close();
    const cluster = memoryCluster();
    await assert.rejects(importInto(cluster, source), /the journal is damaged/);
    assert.deepEqual(new Set(await sizesOf(cluster)), new Set([0]));
  });

  it('fails when a node takes a shard meanwhile, and says what to do', async (t) => {
    const source = await soldFolder(t);
    const cluster = memoryCluster();
    const log = cluster.logs[2]!;
    const append = log.append.bind(log);
    let appends = 0;
    log.append = async (body, expectedLastSeq) => {
      const outcome = await append(body, expectedLastSeq);
      appends += 1;
      if (appends === 1) await append(Buffer.from('{"kind":"claim","id":"x","node":"node-c"}\n'), 1);
      return outcome;
    };
    await assert.rejects(importInto(cluster, source), (error) => {
      assert.ok(error instanceof ImportFailed);
      assert.match(error.hint, /Delete the streams whose names begin with shop_/);
      return true;
    });
  });
});

describe('A backup of all shards', () => {
  it('of a cluster that was never used is an empty folder that verifies', async (t) => {
    const out = path.join(newFolder(t), 'deep', 'out');
    const { facts } = await backUp(memoryCluster(), out);
    assert.equal(facts, 0);
    await good(out);
  });

  it('goes into an empty folder only', async (t) => {
    const out = path.join(newFolder(t), 'out');
    mkdirSync(out);
    writeFileSync(path.join(out, 'notes.txt'), 'kept');
    await assert.rejects(backUp(memoryCluster(), out), CopyRefused);
    assert.ok(existsSync(path.join(out, 'notes.txt')));
  });

  it('stops at a shard whose chain is broken, and leaves nothing', async (t) => {
    const cluster = memoryCluster();
    await importInto(cluster, await soldFolder(t));
    const log = cluster.logs[shardOf('evt_1', 8)]!;
    const read = log.read.bind(log);
    log.read = async function* (fromSeq, throughSeq) {
      for await (const { seq, body } of read(fromSeq, throughSeq)) {
        const text = Buffer.from(body).toString().replace('session-', 'session_');
        yield { seq, body: Buffer.from(text) };
      }
    };
    const out = path.join(newFolder(t), 'out');
    await assert.rejects(backUp(cluster, out), ChainBroken);
    assert.deepEqual(readdirSync(out), []);
  });
});
