/** Checkpoints, the archive of a shard and the purge of its log, over stores in memory. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { ArchiveBucket } from '#persistence/nats/objects/archive-bucket.ts';
import { Checkpoints, type Checkpoint } from '#persistence/nats/objects/checkpoints.ts';
import { MemoryObjects } from '#persistence/memory/objects.ts';
import { ObjectDamaged, ObjectsUnreachable } from '#persistence/objects.ts';
import { purgeLog, wholeLog } from '#persistence/nats/objects/purge.ts';
import type { LogMessage, ShardLog } from '#persistence/shard-log.ts';

const SHARD = 7;

function checkpointAt(streamSeq: number): Checkpoint {
  const heads = new Map([
    ['evt_a', streamSeq],
    ['', 1],
  ]);
  return {
    head: {
      streamSeq,
      epoch: 1,
      owner: 'node-a',
      factSeq: streamSeq,
      hash: 'ab'.repeat(32),
      at: 1_800_000_000_000,
      heads,
    },
    rows: [{ seq: streamSeq, at: 5, eventId: 'evt_a', type: 'HoldPlaced', data: '{"name":"Zoë \\n"}' }],
    executed: [{ id: 'c1', eventId: 'evt_a', at: 5, reply: '{}' }],
    snapshots: [{ format: 1, eventId: 'evt_a', seq: 3, at: 5, about: { slug: 'a' }, digest: 'cd' }],
  };
}

async function all(messages: AsyncIterable<LogMessage>): Promise<string[]> {
  const found: string[] = [];
  for await (const { seq, body } of messages) found.push(`${seq}:${Buffer.from(body).toString()}`);
  return found;
}

/** The numbers of the messages that were not purged. */
async function seqsOf(log: ShardLog): Promise<number[]> {
  return (await all(log.read(1, await log.lastSeq()))).map((text) => Number.parseInt(text));
}

async function logOf(count: number, bytes = 10): Promise<MemoryLog> {
  const log = new MemoryLog();
  for (let seq = 1; seq <= count; seq += 1) await log.append(Buffer.from(`m${seq}\n`.padEnd(bytes, 'x')), seq - 1);
  return log;
}

describe('The checkpoints of a shard', () => {
  it('give back what was written, and keep the newest two', async () => {
    const objects = new MemoryObjects();
    const checkpoints = new Checkpoints(objects, SHARD);
    assert.equal(await checkpoints.newest(), null);
    for (const seq of [5, 90, 1_000]) await checkpoints.write(checkpointAt(seq));
    assert.deepEqual(await checkpoints.newest(), checkpointAt(1_000));
    assert.equal((await objects.list('')).length, 2);
    assert.equal(await checkpoints.purgeableSeq(), 90);
    assert.equal(await new Checkpoints(objects, 70).newest(), null);
  });

  it('take the older one where the newest is damaged, in the store or in its bytes', async () => {
    for (const harm of ['store', 'bytes', 'name', 'cut'] as const) {
      const objects = new MemoryObjects();
      const bad: string[] = [];
      const checkpoints = new Checkpoints(objects, SHARD, { onBad: (name) => bad.push(name) });
      for (const seq of [5, 90]) await checkpoints.write(checkpointAt(seq));
      const [older = '', newest = ''] = await objects.list('');
      const bytes = (await objects.get(newest))!;
      if (harm === 'store') objects.damage(newest);
      if (harm === 'bytes')
        await objects.put(
          newest,
          bytes.map((byte, place) => (place === 40 ? byte ^ 1 : byte)),
        );
      if (harm === 'name') await objects.put(newest, (await objects.get(older))!);
      if (harm === 'cut') await objects.put(newest, bytes.subarray(0, 20));
      assert.deepEqual(await checkpoints.newest(), checkpointAt(5), harm);
      assert.deepEqual(bad, [newest], harm);
      assert.equal(await checkpoints.purgeableSeq(), 0, 'nothing may go before there are two good ones');
      await checkpoints.write(checkpointAt(120));
      assert.deepEqual(await checkpoints.newest(), checkpointAt(120), harm);
    }
  });

  it('tell a store that is not reachable from one without a checkpoint', async () => {
    const objects = new MemoryObjects();
    const checkpoints = new Checkpoints(objects, SHARD);
    await checkpoints.write(checkpointAt(5));
    objects.isReachable = false;
    await assert.rejects(checkpoints.newest(), ObjectsUnreachable);
    await assert.rejects(checkpoints.write(checkpointAt(6)), ObjectsUnreachable);
  });
});

describe('The purge of a log', () => {
  it('drops nothing before there are two checkpoints, then everything up to the older one', async () => {
    const objects = new MemoryObjects();
    const log = await logOf(30);
    const checkpoints = new Checkpoints(new MemoryObjects(), SHARD);
    const archive = new ArchiveBucket(objects, SHARD);
    await checkpoints.write(checkpointAt(10));
    assert.equal(await purgeLog(log, archive, checkpoints), 0);
    assert.equal((await seqsOf(log)).length, 30);
    await checkpoints.write(checkpointAt(20));
    assert.equal(await purgeLog(log, archive, checkpoints), 10);
    assert.equal((await seqsOf(log))[0], 11);
    await checkpoints.write(checkpointAt(30));
    assert.equal(await purgeLog(log, archive, checkpoints), 20);
    assert.equal(await purgeLog(log, archive, checkpoints), 20);
    assert.deepEqual(await seqsOf(log), [21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
    assert.deepEqual(await all(wholeLog(log, archive).read(1, 30)), await all((await logOf(30)).read(1, 30)));
  });

  it('splits the archive into objects of a few megabytes', async () => {
    const objects = new MemoryObjects();
    const archive = new ArchiveBucket(objects, SHARD);
    const log = await logOf(12, 1_000_000);
    await archive.add(log.read(1, 12));
    assert.equal((await archive.parts()).length, 3);
    assert.equal(await archive.throughSeq(), 12);
    assert.deepEqual(
      (await all(archive.read(4, 9))).map((text) => text.slice(0, 3)),
      ['4:m', '5:m', '6:m', '7:m', '8:m', '9:m'],
    );
  });

  it('leaves out what another owner archived meanwhile', async () => {
    const objects = new MemoryObjects();
    const log = await logOf(12);
    const [mine, other] = [new ArchiveBucket(objects, SHARD), new ArchiveBucket(objects, SHARD)];
    const fromSeq = (await mine.throughSeq()) + 1;
    await other.add(log.read(1, 10));
    await mine.add(log.read(fromSeq, 12));
    assert.equal(await mine.throughSeq(), 12);
    assert.deepEqual(
      (await mine.parts()).map((part) => [part.fromSeq, part.toSeq]),
      [
        [1, 10],
        [11, 12],
      ],
    );
  });

  it('goes on behind what another owner archived and purged while it read the log', async () => {
    const objects = new MemoryObjects();
    const log = await logOf(12);
    const [mine, other] = [new ArchiveBucket(objects, SHARD), new ArchiveBucket(objects, SHARD)];
    async function* readMeanwhile(): AsyncGenerator<LogMessage> {
      yield* log.read(1, 3);
      await other.add(log.read(1, 5));
      await log.purge(6);
      yield* log.read(6, 12);
    }
    await mine.add(readMeanwhile());
    assert.equal(await mine.throughSeq(), 12);
    assert.deepEqual(await all(mine.read(1, 12)), await all((await logOf(12)).read(1, 12)));
    await assert.rejects(new ArchiveBucket(new MemoryObjects(), SHARD).add(log.read(6, 12)), /message 6 must follow/);
  });

  it('drops nothing whose object cannot be read back, and archives it again', async () => {
    const objects = new MemoryObjects();
    const log = await logOf(30);
    const checkpoints = new Checkpoints(new MemoryObjects(), SHARD);
    const archive = new ArchiveBucket(objects, SHARD);
    for (const seq of [10, 20]) await checkpoints.write(checkpointAt(seq));
    await archive.add(log.read(1, 10));
    objects.damage((await objects.list(''))[0]!);
    await assert.rejects(purgeLog(log, archive, checkpoints), ObjectDamaged);
    assert.equal((await seqsOf(log)).length, 30);
    assert.equal(await purgeLog(log, archive, checkpoints), 10);
    assert.equal((await seqsOf(log))[0], 11);
    assert.equal((await all(wholeLog(log, archive).read(1, 30))).length, 30);
  });

  it('proves every object that has a message to drop, also one that begins with messages that are gone', async () => {
    const objects = new MemoryObjects();
    const log = await logOf(30);
    const checkpoints = new Checkpoints(new MemoryObjects(), SHARD);
    const archive = new ArchiveBucket(objects, SHARD);
    // Two owners archived at once: both began with the first message.
    await archive.add(log.read(1, 10));
    const [shorter = ''] = await objects.list('');
    const bytes = (await objects.get(shorter))!;
    await objects.delete(shorter);
    await archive.add(log.read(1, 20));
    await objects.put(shorter, bytes);
    await log.purge(11);
    objects.damage((await archive.parts())[0]!.name);
    for (const seq of [20, 25]) await checkpoints.write(checkpointAt(seq));
    await assert.rejects(purgeLog(log, archive, checkpoints), ObjectDamaged);
    assert.equal((await seqsOf(log))[0], 11);
    assert.equal(await purgeLog(log, archive, checkpoints), 20);
    assert.equal((await all(wholeLog(log, archive).read(1, 30))).length, 30);
  });

  it('goes on where another owner, or a cut, left it, at every step', async () => {
    const whole = await all((await logOf(40)).read(1, 40));
    for (let cutAfter = 0; cutAfter < 12; cutAfter += 1) {
      const objects = new MemoryObjects();
      const log = await logOf(40);
      const checkpoints = new Checkpoints(new MemoryObjects(), SHARD);
      for (const seq of [17, 25]) await checkpoints.write(checkpointAt(seq));
      const cut = cutting({ objects, log, cutAfter });
      await purgeLog(cut.log, new ArchiveBucket(cut.objects, SHARD), checkpoints).catch(() => {});
      const archive = new ArchiveBucket(objects, SHARD);
      assert.deepEqual(await all(wholeLog(log, archive).read(1, 40)), whole, `cut after ${cutAfter}`);
      await checkpoints.write(checkpointAt(33));
      assert.equal(await purgeLog(log, archive, checkpoints), 25);
      assert.equal((await seqsOf(log))[0], 26);
      assert.deepEqual(await all(wholeLog(log, archive).read(1, 40)), whole, `cut after ${cutAfter}`);
    }
  });

  it('leaves a log that is read and followed from its first message on', async () => {
    const log = await logOf(20);
    const archive = new ArchiveBucket(new MemoryObjects(), SHARD);
    await archive.add(log.read(1, 12));
    await log.purge(9);
    const stopping = new AbortController();
    const followed: number[] = [];
    for await (const { seq } of wholeLog(log, archive).follow(3, stopping.signal)) {
      followed.push(seq);
      if (seq === 20) await log.append(Buffer.from('new'), 20);
      if (seq === 21) stopping.abort();
    }
    assert.deepEqual(
      followed,
      Array.from({ length: 19 }, (_, index) => index + 3),
    );
    assert.equal(Buffer.from((await wholeLog(log, archive).get(5))!.body).toString(), 'm5\nxxxxxxx');
    assert.equal(await wholeLog(log, archive).get(22), null);
  });

  it('is not hidden: a message that neither the log nor the archive has is an error', async () => {
    const log = await logOf(20);
    const objects = new MemoryObjects();
    const archive = new ArchiveBucket(objects, SHARD);
    await archive.add(log.read(1, 12));
    objects.damage((await objects.list(''))[0]!);
    assert.equal((await all(wholeLog(log, archive).read(1, 20))).length, 20, 'the log still has them');
    await log.purge(9);
    await assert.rejects(all(wholeLog(log, archive).read(1, 20)), ObjectDamaged);
  });
});

/** The store and the log with every call after the first few failing. */
function cutting({
  objects,
  log,
  cutAfter,
}: {
  readonly objects: MemoryObjects;
  readonly log: MemoryLog;
  readonly cutAfter: number;
}): { readonly objects: MemoryObjects; readonly log: ShardLog } {
  let calls = 0;
  const failing = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get(_, name) {
        const member = Reflect.get(target, name) as unknown;
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => {
          calls += 1;
          if (calls > cutAfter) throw new Error('cut');
          return (member as (...args: unknown[]) => unknown).apply(target, args);
        };
      },
    });
  return { objects: failing(objects), log: failing(log) };
}
