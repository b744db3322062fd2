/** Keys of a cluster in a file: all that are there, none of a destroyed one, and nothing where the copy fails. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { MemoryKeyLog } from '#persistence/memory/key-log.ts';
import { importKeys, readKeysIdentity } from '#persistence/nats/keys/copy.ts';
import { BATCH_KEYS } from '#persistence/nats/keys/batches.ts';
import { batchesOfFile, copyKeysToFile } from '#cluster/moving/key-file-copy.ts';
import { openKeyStream } from '#persistence/nats/keys/keys.ts';
import { LogUnreachable } from '#persistence/shard-log.ts';
import { KeyReader } from '#persistence/sqlite/key-file.ts';
import type { Key } from '#persistence/keys.ts';
import type { KeyLog } from '#persistence/key-log.ts';
import { newFolder } from '../../fixtures/folders.ts';
import { rawKeyFiles } from '../../persistence/key-files.ts';

const KEYS = 150;

async function newStream(t: TestContext) {
  const log = new MemoryKeyLog();
  const keys = await openKeyStream({ log, poolSize: KEYS });
  t.after(() => keys.close());
  const taken = Array.from({ length: KEYS / 2 }, () => keys.take()!);
  return { log, keys, taken };
}

/** A log that does something after it has given the first message. */
function interrupted(log: KeyLog, interrupt: () => Promise<void>): KeyLog {
  let isFirst = true;
  return new Proxy(log, {
    get(target, name) {
      if (name === 'read')
        return async function* (fromSeq: number, throughSeq: number) {
          for await (const message of target.read(fromSeq, throughSeq)) {
            yield message;
            if (isFirst && message.topic.startsWith('keys.')) {
              isFirst = false;
              await interrupt();
            }
          }
        };
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

describe('The copy of keys to a file', () => {
  it('has every key and names the destroyed ones, and a stream that is made of it is the same', async (t) => {
    const { log, keys, taken } = await newStream(t);
    const [gone, ...kept] = taken as [Key, ...Key[]];
    await keys.destroy([gone.id]);
    const identity = (await readKeysIdentity(log))!;
    const folder = newFolder(t);
    const file = path.join(folder, 'keys.db');
    await copyKeysToFile(log, identity, file);
    const reader = new KeyReader(file);
    t.after(() => reader.close());
    assert.deepEqual(reader.identity, identity);
    assert.equal(reader.stateOf(gone.id), 'DESTROYED');
    for (const { id, key } of kept) assert.deepEqual(reader.find(id), key);
    assert.ok(!rawKeyFiles(folder).includes(gone.key));

    const target = new MemoryKeyLog();
    const erased = kept[3]!;
    await importKeys(target, reader.identity, batchesOfFile(reader, new Set([erased.id])));
    const opened = await openKeyStream({ log: target, mayCreate: false, poolSize: 1 });
    t.after(() => opened.close());
    const found = await opened.read(taken.map(({ id }) => id));
    assert.deepEqual(
      [...found.keys()].toSorted(),
      kept
        .filter(({ id }) => id !== erased.id)
        .map(({ id }) => id)
        .toSorted(),
    );
    assert.ok(target.messages.every(({ body }) => !Buffer.from(body).includes(erased.key)));
    // Each batch came once, and was full but for the last ones.
    const topics = target.messages.map(({ topic }) => topic).filter((topic) => topic.startsWith('keys.'));
    const ofFile = topics.filter((topic) => topic.includes(gone.id.split('.')[0]!));
    assert.deepEqual([new Set(ofFile).size, ofFile.length], [ofFile.length, Math.ceil(KEYS / BATCH_KEYS)]);
  });

  it('has nothing of a key that is destroyed while it is made', async (t) => {
    const { log, keys, taken } = await newStream(t);
    const identity = (await readKeysIdentity(log))!;
    const folder = newFolder(t);
    const gone = taken.slice(0, 5);
    const source = interrupted(log, () => keys.destroy(gone.map(({ id }) => id)));
    await copyKeysToFile(source, identity, path.join(folder, 'keys.db'));
    const raw = rawKeyFiles(folder);
    for (const [index, { key }] of taken.entries()) assert.equal(raw.includes(key), index >= gone.length);
  });

  it('leaves no file where it fails', async (t) => {
    const { log } = await newStream(t);
    const identity = (await readKeysIdentity(log))!;
    const folder = newFolder(t);
    const source = interrupted(log, () => Promise.reject(new LogUnreachable('nobody answers')));
    await assert.rejects(copyKeysToFile(source, identity, path.join(folder, 'keys.db')), LogUnreachable);
    assert.deepEqual(readdirSync(folder), []);
  });
});
