/**
 * The stores of a cluster on a real server: snapshots, checkpoints, archive and purge of a shard work on them as on
 * their twins.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ArchiveBucket } from '#persistence/nats/objects/archive-bucket.ts';
import { Checkpoints } from '#persistence/nats/objects/checkpoints.ts';
import { openBuckets, type ClusterBuckets } from '#persistence/nats/servers/buckets.ts';
import { purgeLog, wholeLog } from '#persistence/nats/objects/purge.ts';
import { openServers, type ClusterServers } from '#persistence/nats/servers/servers.ts';
import type { LogMessage } from '#persistence/shard-log.ts';
import { emptyHead } from '#persistence/nats/log/head.ts';
import { shardFolder, SnapshotBucket } from '#persistence/nats/objects/snapshot-bucket.ts';
import { SnapshotFolder, type SnapshotHeader } from '#persistence/snapshots.ts';
import { newFolder } from '../../../fixtures/folders.ts';
import { nats, startNats, type NatsServer } from '../../../fixtures/nats.ts';

const SHARD = 1;

async function numbers(messages: AsyncIterable<LogMessage>): Promise<number[]> {
  const found: number[] = [];
  for await (const { seq, body } of messages) {
    assert.equal(Buffer.from(body).toString(), `message ${seq}`);
    found.push(seq);
  }
  return found;
}

const from = (first: number, last: number): number[] => Array.from({ length: last - first + 1 }, (_, n) => first + n);

describe('The stores of a cluster on a NATS server', { skip: nats.missing }, () => {
  let server: NatsServer;
  let servers: ClusterServers;
  let buckets: ClusterBuckets;

  before(async () => {
    server = await startNats();
    const settings = { servers: [server.url], clusterName: 'shop', shards: 2, replicas: 1 };
    servers = await openServers(settings, { name: 'test' });
    buckets = await openBuckets(servers.connection.nats, settings);
  });
  after(async () => {
    await servers?.close();
    await server?.close();
  });

  it('let a log be purged behind the older checkpoint, and be read from its first message all the same', async () => {
    const log = servers.log(SHARD);
    for (const seq of from(1, 40)) await log.append(Buffer.from(`message ${seq}`), seq - 1);
    const checkpoints = new Checkpoints(buckets.checkpoints, SHARD);
    const archive = new ArchiveBucket(buckets.archive, SHARD);
    const checkpointAt = (streamSeq: number) =>
      checkpoints.write({ head: { ...emptyHead(), streamSeq }, rows: [], executed: [], snapshots: [] });
    await checkpointAt(15);
    assert.equal(await purgeLog(log, archive, checkpoints), 0);
    await checkpointAt(30);
    assert.equal(await purgeLog(log, archive, checkpoints), 15);
    assert.equal(await log.get(15), null);
    assert.equal(await purgeLog(log, archive, checkpoints), 15);
    await checkpointAt(40);
    assert.equal(await purgeLog(log, archive, checkpoints), 30);
    assert.deepEqual(await numbers(log.read(1, 40)), from(31, 40));
    assert.deepEqual(await numbers(wholeLog(log, archive).read(1, 40)), from(1, 40));
    assert.deepEqual(await numbers(wholeLog(log, archive).read(10, 12)), [10, 11, 12]);
    assert.equal((await wholeLog(log, archive).get(7))!.seq, 7);
    assert.equal((await new Checkpoints(buckets.checkpoints, SHARD).newest())!.head.streamSeq, 40);
    assert.equal(await new Checkpoints(buckets.checkpoints, 0).newest(), null);
    const stopping = new AbortController();
    for await (const { seq } of wholeLog(log, archive).follow(5, stopping.signal)) if (seq === 40) stopping.abort();
  });

  it('give a snapshot of one node to another', async (t) => {
    const parent = newFolder(t);
    const open = (node: string, known: Iterable<SnapshotHeader>): Promise<SnapshotBucket> =>
      SnapshotBucket.open({ objects: buckets.snapshots, shard: SHARD, dataFolder: path.join(parent, node), known });
    const first = await open('first', []);
    const files = new SnapshotFolder(shardFolder(path.join(parent, 'first'), SHARD));
    const pieces = Array.from({ length: 5_000 }, (_, n) => JSON.stringify({ n, text: 'x'.repeat(100) }));
    for (const seq of [5, 9, 12]) {
      await files.write({ eventId: 'evt_a', seq, at: 1, about: { slug: 'a' } }, pieces);
      await first.upload('evt_a', seq);
    }
    const second = await open('second', [...first.headers()]);
    assert.deepEqual((await second.newest('evt_a'))!.pieces, pieces);
    assert.equal((await second.newest('evt_a', 11))!.header.seq, 9);
    assert.equal((await buckets.snapshots.list(`${SHARD}/`)).length, 2);
  });
});
