import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { KeyStoreFault, KeysUnusable } from '#persistence/keys.ts';
import { makePrivateFolder } from '#persistence/files.ts';
import { KeyFile, KeyReader, keysPath } from '#persistence/sqlite/key-file.ts';
import { openSqliteKeys, readKeysId } from '#persistence/sqlite/keys.ts';
import { openDatabase } from '#persistence/sqlite/schema.ts';
import { fc } from '../../property.ts';
import { newDataFolder } from '../../fixtures/folders.ts';
import { until } from '../../fixtures/until.ts';
import { describeKeyStore, takeSoon } from '../key-store-suite.ts';
import { keyOf, rawKeyFiles } from '../key-files.ts';

function idsIn(reader: KeyReader, of: 'PRESENT' | 'DESTROYED'): string[] {
  return [...reader.inOrder()].filter(({ key }) => (key === null) === (of === 'DESTROYED')).map(({ id }) => id);
}

describeKeyStore({
  name: 'in keys.db',
  newStorage: async (t) => {
    const folder = newDataFolder(t);
    makePrivateFolder(folder);
    return (poolSize) => openSqliteKeys({ folder, poolSize });
  },
  runs: 5,
});

describe('keys.db', () => {
  it('has no byte of a destroyed key, whatever else was stored and destroyed around it', (t) => {
    const change = fc.record({ store: fc.nat(300), destroy: fc.nat(250), pick: fc.nat(), isUnfolded: fc.boolean() });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 25 }), (changes) => {
        const folder = newDataFolder(t);
        makePrivateFolder(folder);
        const file = new KeyFile(keysPath(folder));
        const living: string[] = [];
        const dead: string[] = [];
        let made = 0;
        for (const { store, destroy, pick, isUnfolded } of changes) {
          const batch = Array.from({ length: store }, () => `p${pick % 7}-${(made++).toString(36)}`);
          file.store(batch.map((id) => ({ id, key: keyOf(id) })));
          living.push(...batch);
          const victims = Array.from({ length: Math.min(destroy, living.length) }, (_, at) =>
            living.splice((pick + at * 97) % living.length, 1),
          ).flat();
          if (isUnfolded) file.remove(victims);
          file.destroy(isUnfolded ? [] : victims);
          dead.push(...victims);
        }
        const raw = rawKeyFiles(folder);
        for (const id of dead) assert.ok(!raw.includes(keyOf(id)), `key ${id} was destroyed and is in the files`);
        for (const id of living) assert.ok(raw.includes(keyOf(id)), 'the search finds what is there');
        const reader = new KeyReader(keysPath(folder));
        assert.deepEqual(idsIn(reader, 'PRESENT').sort(), [...living].sort());
        for (const [id, key] of reader.read([...living, ...dead])) assert.deepEqual(key, keyOf(id));
        for (const id of living) assert.equal(reader.stateOf(id), 'PRESENT');
        const destroyed = new Set(idsIn(reader, 'DESTROYED'));
        for (const id of destroyed) assert.equal(reader.stateOf(id), 'DESTROYED');
        assert.ok([...destroyed].every((id) => dead.includes(id)));
        reader.close();
        file.close();
      }),
      { numRuns: 12 },
    );
  });

  it('uses the places of destroyed keys again, so that it does not grow by keys that were never used', (t) => {
    const folder = newDataFolder(t);
    makePrivateFolder(folder);
    const file = new KeyFile(keysPath(folder));
    const sizes = Array.from({ length: 6 }, (_, round) => {
      const ids = Array.from({ length: 500 }, (_, at) => `r${round}.${at}`);
      file.store(ids.map((id) => ({ id, key: keyOf(id) })));
      file.remove(ids);
      file.fold();
      return statSync(keysPath(folder)).size;
    });
    assert.ok(sizes.at(-1)! <= sizes[1]!, `the file grew: ${sizes.join(', ')}`);
    file.close();
  });

  it('remembers which keys were destroyed, also such that it never had, and nothing of keys that were never used', (t) => {
    const folder = newDataFolder(t);
    makePrivateFolder(folder);
    const file = new KeyFile(keysPath(folder));
    file.store(['a', 'b', 'c'].map((id) => ({ id, key: keyOf(id) })));
    file.destroy(['a', 'never.here']);
    file.remove(['b']);
    file.destroy(['a']);
    file.close();
    const reader = new KeyReader(keysPath(folder));
    const states = ['a', 'never.here', 'b', 'c'].map((id) => reader.stateOf(id));
    assert.deepEqual(states, ['DESTROYED', 'DESTROYED', 'UNKNOWN', 'PRESENT']);
    assert.deepEqual(idsIn(reader, 'DESTROYED').sort(), ['a', 'never.here']);
    reader.close();
  });

  it('is read in the order of the numbers in ids, with destroyed keys in their places, over pages', (t) => {
    const folder = newDataFolder(t);
    makePrivateFolder(folder);
    const file = new KeyFile(keysPath(folder));
    const idsOf = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, n) => `${prefix}.${n.toString(36)}`);
    const ids = ['a', ...idsOf('a', 3_000), ...idsOf('a-b', 40), ...idsOf('b', 2)];
    file.store(ids.map((id) => ({ id, key: keyOf(id) })).reverse());
    file.destroy(['a.10', 'b.0']);
    file.close();
    const reader = new KeyReader(keysPath(folder));
    const read = [...reader.inOrder()];
    reader.close();
    // The prefix "a-b" sorts between the id "a" and those that begin with "a.".
    assert.deepEqual(
      read.map(({ id }) => id),
      ['a', ...idsOf('a-b', 40), ...idsOf('a', 3_000), ...idsOf('b', 2)],
    );
    assert.deepEqual(
      read.filter(({ key }) => key === null).map(({ id }) => id),
      ['a.10', 'b.0'],
    );
    assert.deepEqual(read.find(({ id }) => id === 'a.z1')!.key, keyOf('a.z1'));
  });

  it('is copied while it is written to, and the copy has the same keys', async (t) => {
    const folder = newDataFolder(t);
    makePrivateFolder(folder);
    const keys = await openSqliteKeys({ folder, poolSize: 100 });
    const taken = Array.from({ length: 40 }, () => keys.take()!);
    const reader = new KeyReader(keysPath(folder));
    const copying = reader.copyTo(join(folder, 'copy.db'));
    await keys.destroy([taken[0]!.id]);
    await copying;
    reader.close();
    assert.equal(statSync(join(folder, 'copy.db')).mode & 0o077, 0);
    const copy = new KeyReader(join(folder, 'copy.db'));
    assert.equal(copy.identity.keysId, keys.keysId);
    assert.deepEqual(copy.identity.addressKey, keys.addressKey);
    const found = copy.read(taken.map(({ id }) => id));
    for (const { id, key } of taken.slice(1)) assert.deepEqual(found.get(id), key);
    copy.close();
    await keys.close();
  });

  it('is readable for its owner alone, with its log and shared memory', async (t) => {
    const folder = newDataFolder(t);
    makePrivateFolder(folder);
    const keys = await openSqliteKeys({ folder, poolSize: 4 });
    for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).mode & 0o077, 0, name);
    assert.equal(readKeysId(folder), keys.keysId);
    await keys.close();
  });

  it('leaves at a clean stop the handed-out keys alone, and no log', async (t) => {
    const folder = newDataFolder(t);
    makePrivateFolder(folder);
    const keys = await openSqliteKeys({ folder, poolSize: 50 });
    const taken = [keys.take()!, keys.take()!];
    await keys.close();
    assert.deepEqual(readdirSync(folder), ['keys.db']);
    const reader = new KeyReader(keysPath(folder));
    assert.deepEqual(idsIn(reader, 'PRESENT').sort(), taken.map(({ id }) => id).sort());
    reader.close();
    await assert.rejects(keys.destroy([]), KeyStoreFault);
    await assert.rejects(keys.read([]), KeyStoreFault);
  });

  it('answers no destruction while a reader keeps the log from being folded, and does it when asked again', async (t) => {
    const folder = newDataFolder(t);
    makePrivateFolder(folder);
    const file = new KeyFile(keysPath(folder), { busyWaitMs: 50 });
    file.store([{ id: 'a.0', key: keyOf('a.0') }]);
    const other = openDatabase(keysPath(folder), true);
    const iterator = other.prepare('SELECT id FROM name').iterate();
    iterator.next();
    assert.throws(() => file.destroy(['a.0']), KeyStoreFault);
    iterator.return?.();
    file.destroy(['a.0']);
    assert.ok(!rawKeyFiles(folder).includes(keyOf('a.0')));
    other.close();
    file.close();
  });

  it('is refused with what to do when it is no file of keys', async (t) => {
    for (const content of ['no database', Buffer.alloc(8_192, 7)]) {
      const folder = newDataFolder(t);
      mkdirSync(folder);
      writeFileSync(keysPath(folder), content);
      await assert.rejects(openSqliteKeys({ folder }), KeysUnusable);
      assert.throws(() => readKeysId(folder), KeysUnusable);
      assert.deepEqual(readFileSync(keysPath(folder)), Buffer.from(content), 'it stays as it was found');
    }
  });

  it('reports a batch that cannot be stored, and has keys again by itself', async (t) => {
    const folder = newDataFolder(t);
    makePrivateFolder(folder);
    const faults: unknown[] = [];
    const onFault = (fault: unknown): void => void faults.push(fault);
    const keys = await openSqliteKeys({ folder, poolSize: 2, busyWaitMs: 20, onFault });
    const blocker = openDatabase(keysPath(folder), false);
    blocker.exec('BEGIN IMMEDIATE');
    assert.ok(keys.take() !== null && keys.take() !== null);
    await until(() => faults.length > 0, 'the fault is reported');
    assert.ok(faults[0] instanceof KeyStoreFault);
    assert.equal(keys.take(), null);
    await assert.rejects(keys.destroy(['x.0']), KeyStoreFault);
    blocker.exec('ROLLBACK');
    blocker.close();
    await takeSoon(keys);
    await keys.destroy(['x.0']);
    await keys.close();
  });
});
