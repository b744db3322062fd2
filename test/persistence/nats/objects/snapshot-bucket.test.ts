/** The snapshots of a shard: files of a node as a cache of objects that every node reads. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { MemoryObjects } from '#persistence/memory/objects.ts';
import { ObjectsUnreachable, type Objects } from '#persistence/objects.ts';
import { SnapshotBucket, shardFolder } from '#persistence/nats/objects/snapshot-bucket.ts';
import { SnapshotFolder, type SnapshotHeader } from '#persistence/snapshots.ts';
import { newFolder } from '../../../fixtures/folders.ts';

const SHARD = 7;

interface Node {
  readonly dataFolder: string;
  readonly bucket: SnapshotBucket;
  readonly bad: string[];
  /** Writes a snapshot as the snapshot thread does, then uploads it. */
  take(eventId: string, seq: number): Promise<SnapshotHeader>;
}

async function openNode(objects: Objects, dataFolder: string, known: Iterable<SnapshotHeader> = []): Promise<Node> {
  const bad: string[] = [];
  const onBad = (place: string) => void bad.push(path.basename(place));
  const bucket = await SnapshotBucket.open({ objects, shard: SHARD, dataFolder, known, onBad });
  return {
    dataFolder,
    bucket,
    bad,
    async take(eventId, seq) {
      await write(dataFolder, eventId, seq);
      return bucket.upload(eventId, seq);
    },
  };
}

async function write(dataFolder: string, eventId: string, seq: number): Promise<void> {
  const about = { dataFolder: path.basename(dataFolder) };
  await new SnapshotFolder(shardFolder(dataFolder, SHARD)).write({ eventId, seq, at: seq, about }, [
    `"${eventId} ${seq}"`,
  ]);
}

/** Two nodes and their store; the first one has taken snapshots of two streams. */
async function twoNodes(t: TestContext): Promise<{ objects: MemoryObjects; first: Node; secondFolder: string }> {
  const objects = new MemoryObjects();
  const parent = newFolder(t);
  const first = await openNode(objects, path.join(parent, 'first'));
  for (const seq of [3, 8, 12]) await first.take('evt_ä/b', seq);
  await first.take('', 10);
  return { objects, first, secondFolder: path.join(parent, 'second') };
}

const filesIn = (dataFolder: string): string[] => readdirSync(path.join(shardFolder(dataFolder, SHARD), 'snapshots'));

describe('The snapshots of a shard', () => {
  it('are read by another node, which keeps them as files', async (t) => {
    const { objects, first, secondFolder } = await twoNodes(t);
    const second = await openNode(objects, secondFolder, first.bucket.headers());
    const { header, pieces } = (await second.bucket.newest('evt_ä/b'))!;
    assert.deepEqual([header.seq, pieces], [12, ['"evt_ä/b 12"']]);
    assert.equal((await second.bucket.newest('evt_ä/b', 11))!.header.seq, 8);
    assert.equal((await second.bucket.newest(''))!.header.seq, 10);
    assert.equal(await second.bucket.newest('evt_other'), null);
    assert.equal(second.bucket.newestSeq('evt_ä/b'), 12);
    objects.isReachable = false;
    assert.equal((await second.bucket.newest('evt_ä/b'))!.header.seq, 12, 'without the store');
  });

  it('are two of each stream, and older ones are removed', async (t) => {
    const { objects, first } = await twoNodes(t);
    assert.equal((await objects.list('')).length, 3);
    assert.deepEqual(
      [...first.bucket.headers()].map(({ eventId, seq }) => [eventId, seq]),
      [
        ['evt_ä/b', 8],
        ['evt_ä/b', 12],
        ['', 10],
      ],
    );
  });

  it('are taken from the older one where the newest is damaged', async (t) => {
    const { objects, first, secondFolder } = await twoNodes(t);
    const newest = (await objects.list(`${SHARD}/evt`)).at(-1)!;
    for (const harm of [
      () => objects.damage(newest),
      () => objects.put(newest, Buffer.from('no snapshot\n')),
      () => objects.delete(newest),
    ]) {
      rmSync(secondFolder, { recursive: true, force: true });
      const second = await openNode(objects, secondFolder, first.bucket.headers());
      await harm();
      assert.equal((await second.bucket.newest('evt_ä/b'))!.header.seq, 8);
      assert.equal(second.bad.length, 1);
    }
  });

  it('are taken from the store where a file is damaged', async (t) => {
    const { first } = await twoNodes(t);
    const [file] = filesIn(first.dataFolder).filter((name) => name.includes('12'));
    writeFileSync(path.join(shardFolder(first.dataFolder, SHARD), 'snapshots', file!), 'no snapshot\n');
    assert.deepEqual((await first.bucket.newest('evt_ä/b'))!.pieces, ['"evt_ä/b 12"']);
    assert.deepEqual(first.bad, [file]);
    assert.deepEqual((await first.bucket.newest('evt_ä/b'))!.pieces, ['"evt_ä/b 12"']);
    assert.equal(first.bad.length, 1, 'the file was replaced');
  });

  it('are never taken from files of another cluster', async (t) => {
    const { objects, first, secondFolder } = await twoNodes(t);
    await write(secondFolder, 'evt_ä/b', 12);
    await write(secondFolder, 'evt_ä/b', 40);
    const second = await openNode(objects, secondFolder, first.bucket.headers());
    assert.deepEqual(filesIn(secondFolder), []);
    const { header } = (await second.bucket.newest('evt_ä/b'))!;
    assert.deepEqual([header.seq, header.about], [12, { dataFolder: 'first' }]);
    assert.equal(await (await openNode(objects, secondFolder)).bucket.newest('evt_ä/b'), null);
  });

  it('do not count when the upload failed', async (t) => {
    const { objects, first } = await twoNodes(t);
    objects.isReachable = false;
    await assert.rejects(first.take('evt_ä/b', 20), ObjectsUnreachable);
    assert.equal(first.bucket.newestSeq('evt_ä/b'), 12);
    objects.isReachable = true;
    await first.bucket.upload('evt_ä/b', 20);
    assert.equal(first.bucket.newestSeq('evt_ä/b'), 20);
    await assert.rejects(first.bucket.upload('evt_ä/b', 21), /is not in the folder/);
  });

  it('that a former owner left are removed by a sweep, newer ones of other streams are not', async (t) => {
    const { objects, first, secondFolder } = await twoNodes(t);
    const known = [...first.bucket.headers()];
    for (const seq of [15, 17]) await first.take('evt_ä/b', seq);
    await first.take('evt_new', 16);
    const second = await openNode(objects, secondFolder, known);
    for (const seq of [30, 31]) await second.take('evt_ä/b', seq);
    await second.bucket.sweep();
    const seqs = (await objects.list('')).map((name) => name.replace(/^(.*)\/0*/, '$1 '));
    assert.deepEqual(seqs, ['7/@service 10', '7/evt_%C3%A4%2Fb 30', '7/evt_%C3%A4%2Fb 31', '7/evt_new 16']);
  });
});
