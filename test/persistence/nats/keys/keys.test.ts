/** The keys of a cluster in one stream: the suite of key stores, and what several nodes and their failures do to it. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, describe, it, type TestContext } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { KeysUnusable, KeyStoreFault, newIdentity } from '#persistence/keys.ts';
import { MemoryKeyLog } from '#persistence/memory/key-log.ts';
import { BATCH_KEYS, batchesOf, decodeBatch, encodeBatch, groupIds } from '#persistence/nats/keys/batches.ts';
import { importKeys, readAllKeys, readKeysIdentity } from '#persistence/nats/keys/copy.ts';
import { openKeyStream, type StreamKeys } from '#persistence/nats/keys/keys.ts';
import { openServers, type ClusterServers } from '#persistence/nats/servers/servers.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import { filesWith } from '../../../fixtures/folders.ts';
import { nats, startNats, type NatsServer } from '../../../fixtures/nats.ts';
import { until } from '../../../fixtures/until.ts';
import { fc } from '../../../property.ts';
import { describeKeyStore } from '../../key-store-suite.ts';
import { keyOf } from '../../key-files.ts';

let nowMs = 0;

/** Pauses are over at once, and the time with them; nothing is forgotten by itself. */
const timing: Timing = {
  stopwatchMs: () => nowMs,
  soon: (run) => void setImmediate(run),
  after(delayMs, run) {
    if (delayMs >= 1_000) return () => {};
    const pause = setImmediate(() => {
      nowMs += delayMs;
      run();
    });
    return () => clearImmediate(pause);
  },
};

const open = (log: MemoryKeyLog, poolSize = 8): Promise<StreamKeys> => openKeyStream({ log, poolSize, timing });

/** Ids of one batch, which are taken from a pool. */
function take(keys: StreamKeys, count: number): readonly { readonly id: string; readonly key: Buffer }[] {
  return Array.from({ length: count }, () => keys.take() ?? assert.fail('the pool was full'));
}

/** Asks again when it fails, as whoever erases does. */
async function destroySurely(keys: StreamKeys, ids: readonly string[]): Promise<void> {
  for (;;) {
    try {
      return await keys.destroy(ids);
    } catch (error) {
      assert.ok(error instanceof KeyStoreFault);
    }
  }
}

/** Whether any message has the bytes of a key. */
function isAnywhere({ messages }: MemoryKeyLog, key: Buffer): boolean {
  return messages.some(({ body }) => Buffer.from(body).includes(key));
}

describeKeyStore({
  name: 'in a stream in memory',
  newStorage: async () => {
    const log = new MemoryKeyLog();
    return (poolSize) => openKeyStream({ log: log.reconnected(), poolSize, timing });
  },
});

describe('A batch of keys', () => {
  it('is read as it was written, with the marks of destroyed keys', () => {
    const place = fc.record({ n: fc.nat(5_000), isDestroyed: fc.boolean() });
    fc.assert(
      fc.property(fc.uniqueArray(place, { selector: ({ n }) => n }), (places) => {
        const idOfPlace = ({ n }: { n: number }): string => `aB_-9.${n.toString(36)}`;
        const keys = places.map((each) => ({ id: idOfPlace(each), key: keyOf(idOfPlace(each)) }));
        const destroyed = places.filter(({ isDestroyed }) => isDestroyed).map(idOfPlace);
        const batches = batchesOf(keys, destroyed);
        assert.equal(batches.length, new Set(places.map(({ n }) => Math.floor(n / BATCH_KEYS))).size);
        for (const batch of batches) assert.deepEqual(decodeBatch(encodeBatch(batch)), batch);
      }),
    );
  });

  it('has a place for each id of a pool alone', () => {
    for (const id of ['', 'a', 'a.', '.a', 'a.b.c', 'a.00', 'a.0A', 'a b.0', 'a.*', 'a.>', `${'a'.repeat(65)}.0`])
      assert.equal(groupIds([id]).size, 0, id);
    assert.deepEqual([...groupIds(['a.0', 'a.1r', 'a.1s', 'b.1']).keys()], ['keys.a.0', 'keys.a.1', 'keys.b.0']);
  });
});

describe('Nodes that share a stream of keys', () => {
  it('make one identity, whoever is first and whatever gets lost', async () => {
    for (const fault of [null, 'ANSWER_LOST', 'LOST', 'HELD'] as const) {
      const log = new MemoryKeyLog();
      const others = [log.reconnected(), log.reconnected(), log];
      log.fail(fault);
      const opening = Promise.all(others.map((each) => open(each)));
      const keys = await opening;
      log.arrive();
      assert.equal(new Set(keys.map(({ keysId }) => keysId)).size, 1);
      assert.equal(new Set(keys.map(({ addressKey }) => addressKey.toString('hex'))).size, 1);
    }
  });

  it('read each other’s keys, also when the leader shows a message late', async () => {
    const log = new MemoryKeyLog();
    const [one, other] = [await open(log), await open(log.reconnected())];
    const [taken] = take(one, 1);
    assert.deepEqual(await other.read([taken!.id]), new Map([[taken!.id, taken!.key]]));
    const late = log.reconnected();
    const third = await open(late);
    late.showOnly(0);
    assert.deepEqual(await third.read([taken!.id]), new Map([[taken!.id, taken!.key]]));
  });

  it('destroy keys of one batch at once, and none of them comes back', async () => {
    const log = new MemoryKeyLog();
    const keys = await open(log, BATCH_KEYS);
    const taken = take(keys, 12);
    const nodes = await Promise.all(Array.from({ length: 4 }, () => open(log.reconnected(), 1)));
    await Promise.all(nodes.map((node, n) => node.destroy(taken.slice(3 * n, 3 * n + 2).map(({ id }) => id))));
    const left = taken.filter((_, n) => n % 3 === 2);
    assert.deepEqual(await nodes[0]!.read(taken.map(({ id }) => id)), new Map(left.map(({ id, key }) => [id, key])));
    for (const [n, { key }] of taken.entries()) assert.equal(isAnywhere(log, key), n % 3 === 2);
  });

  it('are refused what they send late, with an old view of the batch', async () => {
    const log = new MemoryKeyLog();
    const keys = await open(log, BATCH_KEYS);
    const [first, second, third] = take(keys, 3);
    const paused = log.reconnected();
    const held = await open(paused, 1);
    paused.fail('HELD');
    const destroying = held.destroy([first!.id]);
    await until(() => log.messages.length > 0);
    await keys.destroy([second!.id]);
    paused.arrive();
    await destroying;
    paused.arrive();
    assert.deepEqual([...(await held.read([first!.id, second!.id, third!.id])).keys()], [third!.id]);
    assert.ok(!isAnywhere(log, first!.key) && !isAnywhere(log, second!.key));
  });

  it('destroy again what came back because a leader showed an older batch', async () => {
    const log = new MemoryKeyLog();
    const keys = await open(log, BATCH_KEYS);
    const [first, second, third] = take(keys, 3);
    const stopped = log.reconnected();
    const cutOff = await open(stopped, 1);
    const batchSeq = log.messages.find(({ topic }) => topic.startsWith('keys.'))!.seq;
    // The first destruction ends before it erases the older message.
    stopped.dieAfter(1);
    await assert.rejects(cutOff.destroy([first!.id]), KeyStoreFault);
    assert.ok(isAnywhere(log, first!.key));
    const late = log.reconnected();
    const other = await open(late, 1);
    late.showOnly(batchSeq);
    await other.destroy([second!.id]);
    assert.deepEqual([...(await other.read([first!.id, second!.id, third!.id])).keys()], [third!.id]);
    assert.ok(!isAnywhere(log, first!.key) && !isAnywhere(log, second!.key));
  });

  it('finish a destruction that was cut off after any of its steps, when it is repeated', async () => {
    for (let writes = 0; writes < 8; writes += 1) {
      const log = new MemoryKeyLog();
      const keys = await open(log, 3 * BATCH_KEYS);
      const taken = take(keys, 2 * BATCH_KEYS + 1);
      const victims = [taken[0]!, taken[1]!, taken.at(-1)!];
      const ids = victims.map(({ id }) => id);
      const mortal = log.reconnected();
      const cutOff = await open(mortal, 1);
      mortal.dieAfter(writes);
      await cutOff.destroy(ids).catch((error: unknown) => assert.ok(error instanceof KeyStoreFault));
      await (await open(log.reconnected(), 1)).destroy(ids);
      for (const { key } of victims) assert.ok(!isAnywhere(log, key));
      assert.equal((await keys.read(taken.map(({ id }) => id))).size, taken.length);
      const other = await open(log.reconnected(), 1);
      assert.equal((await other.read(taken.map(({ id }) => id))).size, taken.length - victims.length);
    }
  });

  it('lose no key and bring none back, whatever is lost, late and cut off in between', async () => {
    const fault = fc.constantFrom('ANSWER_LOST', 'LOST', 'HELD', null, null, null);
    const step = fc.record({
      node: fc.nat(2),
      which: fc.nat(),
      count: fc.integer({ min: 1, max: 4 }),
      faults: fc.array(fault, { maxLength: 3 }),
      shown: fc.option(fc.nat(40)),
      arrives: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 8 }), async (rounds) => {
        const log = new MemoryKeyLog();
        const maker = await open(log, 2 * BATCH_KEYS);
        const taken = take(maker, BATCH_KEYS + 8).slice(BATCH_KEYS - 8);
        const logs = Array.from({ length: 3 }, () => log.reconnected());
        const nodes = await Promise.all(logs.map((each) => open(each, 1)));
        const destroyed = new Set<string>();
        for (const round of rounds) {
          const work = round.map(async ({ node, which, count, faults, shown, arrives }) => {
            const ids = taken.map(({ id }) => id).splice(which % taken.length, count);
            logs[node]!.fail(...faults);
            if (shown !== null) logs[node]!.showOnly(shown);
            const asked = destroySurely(nodes[node]!, ids);
            if (arrives) logs[node]!.arrive();
            await asked;
            for (const id of ids) destroyed.add(id);
          });
          await Promise.all(work);
          for (const each of logs) each.arrive();
          const found = await (await open(log.reconnected(), 1)).read(taken.map(({ id }) => id));
          for (const { id, key } of taken) {
            assert.equal(found.has(id), !destroyed.has(id), id);
            if (destroyed.has(id)) assert.ok(!isAnywhere(log, key));
          }
        }
      }),
      { numRuns: 60 },
    );
  });

  it('erase at a clean end what was not handed out, and leave the rest', async () => {
    const log = new MemoryKeyLog();
    const keys = await open(log, 3 * BATCH_KEYS);
    const taken = take(keys, 5);
    await keys.close();
    const parts = [];
    for await (const { keys: some } of readAllKeys(log)) parts.push(...some.map(({ id }) => id));
    assert.deepEqual(parts.sort(), taken.map(({ id }) => id).sort());
    await assert.rejects(keys.read([taken[0]!.id]), KeyStoreFault);
  });

  it('wait together until the servers have elected a leader, and ask as one meanwhile', async (t) => {
    const log = new MemoryKeyLog();
    const [taken] = take(await open(log), 1);
    const waiting = log.reconnected();
    const keys = await open(waiting);
    const looks = t.mock.method(waiting, 'lastSeq');
    waiting.isReachable = false;
    const begin = nowMs;
    const reads = Array.from({ length: 200 }, () => keys.read([taken!.id]));
    // By rounds of the loop: in those of a real pause all of the time that a read waits may be over.
    while (nowMs - begin <= 5_000) await nextRound();
    waiting.isReachable = true;
    for (const found of await Promise.all(reads)) assert.deepEqual(found, new Map([[taken!.id, taken!.key]]));
    assert.ok(looks.mock.callCount() > 3 && looks.mock.callCount() <= (nowMs - begin) / 100);
  });

  it('wait no longer than a request does, and not for a store that was closed', async () => {
    const log = new MemoryKeyLog();
    const keys = await open(log);
    log.isReachable = false;
    const begin = nowMs;
    await assert.rejects(keys.read(['a.0']), KeyStoreFault);
    const waitedMs = nowMs - begin;
    assert.ok(waitedMs >= 12_000 && waitedMs < 13_000, `${waitedMs} ms`);
    const reading = assert.rejects(keys.read(['a.0']), KeyStoreFault);
    await assert.rejects(keys.close(), KeyStoreFault);
    const closedMs = nowMs;
    await reading;
    assert.ok(nowMs - closedMs < 1_000, `${nowMs - closedMs} ms`);
  });

  it('end also while nobody answers', async () => {
    const log = new MemoryKeyLog();
    const keys = await open(log);
    log.isReachable = false;
    await assert.rejects(keys.read(['a.0']), KeyStoreFault);
    await assert.rejects(keys.destroy(['a.0']), KeyStoreFault);
    await assert.rejects(keys.close(), KeyStoreFault);
  });

  it('prove once that a batch is not there, and do not make one by destroying', async () => {
    const log = new MemoryKeyLog();
    const keys = await open(log);
    const before = await log.lastSeq();
    assert.equal((await keys.read(['gone.0', 'gone.1'])).size, 0);
    assert.equal((await keys.read(['gone.1', 'no id'])).size, 0);
    assert.equal(await log.lastSeq(), before + 1);
    await keys.destroy(['gone.0', 'no id']);
    assert.ok(log.messages.every(({ topic }) => !topic.startsWith('keys.gone')));
  });
});

describe('A copy of all keys', () => {
  const copyOf = async (log: MemoryKeyLog) => {
    const keys = new Map<string, string>();
    const destroyed = new Set<string>();
    for await (const part of readAllKeys(log)) {
      for (const { id, key } of part.keys) keys.set(id, key.toString('hex'));
      for (const id of part.destroyedIds) destroyed.add(id);
    }
    for (const id of destroyed) keys.delete(id);
    return { keys, destroyed };
  };

  /** Of several versions of a batch the last one. */
  const newestOf = (messages: MemoryKeyLog['messages']) =>
    new Map(messages.map(({ topic, body }) => [topic, decodeBatch(body)])).values();

  it('is written into a cluster without keys, and has the same keys there', async () => {
    const log = new MemoryKeyLog();
    const keys = await open(log, 4 * BATCH_KEYS);
    const taken = take(keys, 100);
    await keys.destroy(taken.slice(0, 10).map(({ id }) => id));
    const target = new MemoryKeyLog();
    // What an import left that was cut off.
    await target.put('keys.left.0', encodeBatch(batchesOf([{ id: 'left.0', key: keyOf('left.0') }])[0]!));
    await assert.rejects(open(target), KeysUnusable);
    const identity = (await readKeysIdentity(log, timing))!;
    target.fail('LOST', 'ANSWER_LOST');
    const batches = log.messages.filter(({ topic }) => topic.startsWith('keys.'));
    await importKeys(target, identity, newestOf(batches), timing);
    assert.deepEqual(await copyOf(target), await copyOf(log));
    const opened = await openKeyStream({ log: target, mayCreate: false, poolSize: 1, timing });
    assert.deepEqual([opened.keysId, opened.addressKey], [keys.keysId, keys.addressKey]);
    assert.equal((await opened.read(taken.map(({ id }) => id))).size, 90);
    await assert.rejects(importKeys(target, newIdentity(), [], timing), KeysUnusable);
  });

  it('names keys that are destroyed while it is read', async () => {
    const log = new MemoryKeyLog();
    const keys = await open(log, BATCH_KEYS);
    const [victim, kept] = take(keys, 2);
    const found = new Map<string, boolean>();
    let isFirst = true;
    for await (const part of readAllKeys(log)) {
      for (const { id } of part.keys) found.set(id, true);
      for (const id of part.destroyedIds) found.set(id, false);
      if (isFirst) await keys.destroy([victim!.id]);
      isFirst = false;
    }
    assert.deepEqual([found.get(victim!.id), found.get(kept!.id)], [false, true]);
  });

  it('is not there where no node ever made keys', async () => {
    const log = new MemoryKeyLog();
    assert.equal(await readKeysIdentity(log, timing), null);
    await assert.rejects(openKeyStream({ log, mayCreate: false, timing }), KeysUnusable);
    assert.equal(log.messages.length, 0);
  });
});

const server = { started: null as Promise<NatsServer> | null };

async function newServers(t: TestContext): Promise<ClusterServers> {
  server.started ??= startNats();
  const { url } = await server.started;
  const clusterName = `test-${randomUUID().slice(0, 8)}`;
  const servers = await openServers({ servers: [url], clusterName, shards: 1, replicas: 1 }, { name: 'test' });
  t.after(() => servers.close());
  return servers;
}

describe('The keys of a cluster on a NATS server', { skip: nats.missing }, () => {
  after(async () => (await server.started)?.close());

  describeKeyStore({
    name: 'in a JetStream stream',
    newStorage: async (t) => {
      const servers = await newServers(t);
      const log = await servers.keyLog();
      return (poolSize) => openKeyStream({ log, poolSize });
    },
    runs: 5,
  });

  it('are in no file of the server once they are destroyed', async (t) => {
    const servers = await newServers(t);
    const keys = await openKeyStream({ log: await servers.keyLog(), poolSize: 3 * BATCH_KEYS });
    const taken = take(keys, 2 * BATCH_KEYS + 7);
    const { folder } = await server.started!;
    for (const { key } of taken) assert.equal(filesWith(folder, key).length, 1);
    const dead = taken.filter((_, n) => n % 9 === 0);
    await keys.destroy(dead.map(({ id }) => id));
    for (const { id, key } of taken)
      assert.equal(filesWith(folder, key).length, dead.some((each) => each.id === id) ? 0 : 1);
    await keys.close();
    const other = await openKeyStream({ log: await servers.keyLog(), poolSize: 1 });
    assert.equal((await other.read(taken.map(({ id }) => id))).size, taken.length - dead.length);
    await other.close();
  });

  it('are noted with the cluster, so that a stream that is gone is found out', async (t) => {
    const servers = await newServers(t);
    assert.equal(await servers.existingKeyLog(), null);
    assert.equal(await servers.notedKeysId(), null);
    await servers.noteKeysId('first');
    await servers.noteKeysId('second');
    assert.equal(await servers.notedKeysId(), 'second');
    await servers.keyLog();
    await servers.keyLog();
    assert.equal(await readKeysIdentity((await servers.existingKeyLog())!), null);
    const again = await openServers(servers.settings, { name: 'again' });
    assert.equal(await again.notedKeysId(), 'second');
    await again.close();
  });
});
