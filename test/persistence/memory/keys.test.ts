import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KeyPool } from '#persistence/key-pool.ts';
import { MemoryKeys, MemoryKeyStorage } from '#persistence/memory/keys.ts';
import { KeyStoreFault, type Key } from '#persistence/keys.ts';
import { until } from '../../fixtures/until.ts';
import { describeKeyStore, takeSoon } from '../key-store-suite.ts';

describeKeyStore({
  name: 'in memory',
  newStorage: async () => {
    const storage = new MemoryKeyStorage();
    return async (poolSize) => new MemoryKeys({ storage, poolSize });
  },
});

describe('MemoryKeys', () => {
  it('hands out the rest of its pool while it fails, and goes on by itself afterwards', async () => {
    const keys = new MemoryKeys({ poolSize: 2 });
    keys.fail(true);
    assert.ok(keys.take() !== null && keys.take() !== null);
    assert.equal(keys.take(), null);
    await assert.rejects(keys.destroy(['x']), KeyStoreFault);
    await assert.rejects(keys.read(['x']), KeyStoreFault);
    keys.fail(false);
    await takeSoon(keys);
    await keys.close();
  });

  it('removes at a clean stop what was not handed out, and leaves it at a crash', async () => {
    const storage = new MemoryKeyStorage();
    const keys = new MemoryKeys({ storage, poolSize: 5 });
    const { id } = keys.take()!;
    assert.equal(storage.keys.size, 5);
    await keys.close();
    assert.deepEqual([...storage.keys.keys()], [id]);
  });
});

describe('KeyPool', () => {
  it('has one batch under way at a time, and hands out no key before its batch is stored', async () => {
    const batches: { readonly keys: readonly Key[]; readonly stored: PromiseWithResolvers<void> }[] = [];
    const pool = new KeyPool({
      size: 4,
      store: (keys) => {
        const stored = Promise.withResolvers<void>();
        batches.push({ keys, stored });
        return stored.promise;
      },
    });
    const filled = pool.fill();
    assert.equal(batches.length, 1);
    assert.equal(pool.readyCount, 0);
    batches[0]!.stored.resolve();
    await filled;
    for (let taken = 0; taken < 4; taken++) assert.ok(pool.take());
    assert.equal(pool.take(), null);
    assert.equal(batches.length, 2, 'a batch was begun below the low-water mark, and no second one beside it');
    batches[1]!.stored.resolve();
    await until(() => pool.readyCount > 0);
    const stored = new Set(batches.flatMap(({ keys }) => keys.map(({ id }) => id)));
    assert.ok(stored.has(pool.take()!.id));
  });

  it('has the keys that were handed out last at hand, some thousand of them, until they are forgotten', () => {
    const pool = new KeyPool({ size: 20_000, refillBelow: 0, store: async () => {} });
    pool.fillNow(() => {});
    const taken = Array.from({ length: 20_000 }, () => pool.take()!);
    const atHand = taken.filter(({ id }) => pool.recent(id) !== undefined);
    assert.ok(atHand.length >= 2_048 && atHand.length <= 4_096, String(atHand.length));
    assert.deepEqual(atHand, taken.slice(-atHand.length));
    assert.ok(atHand.every(({ id, key }) => pool.recent(id) === key));
    pool.forget([atHand[0]!.id, atHand.at(-1)!.id]);
    assert.equal(pool.recent(atHand[0]!.id), undefined);
    assert.equal(pool.recent(atHand.at(-1)!.id), undefined);
    pool.forgetRecent();
    assert.ok(taken.every(({ id }) => pool.recent(id) === undefined));
  });

  it('reports a batch that failed and makes other keys afterwards', async () => {
    const tried: (readonly Key[])[] = [];
    const faults: unknown[] = [];
    let isFailing = false;
    const pool = new KeyPool({
      size: 2,
      retryMs: 1,
      store: async (keys) => {
        tried.push(keys);
        if (isFailing) throw new Error('no room');
      },
      onFault: (fault) => {
        faults.push(fault);
        isFailing = false;
      },
    });
    await pool.fill();
    isFailing = true;
    assert.ok(pool.take() !== null && pool.take() !== null);
    await until(() => pool.readyCount > 0);
    assert.equal(faults.length, 1);
    const ids = tried.flatMap((keys) => keys.map(({ id }) => id));
    assert.equal(new Set(ids).size, ids.length, 'an id in doubt is not used again');
    await pool.close();
  });
});
