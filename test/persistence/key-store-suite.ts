/** What every key store keeps; the files that have a store run it. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { KEY_BYTES, type Key, type KeyStore } from '#persistence/keys.ts';
import { fc } from '../property.ts';
import { until } from '../fixtures/until.ts';

/** Opens stores over one storage, as several processes or starts would. */
type OpenStore = (poolSize: number) => Promise<KeyStore>;

interface KeyStoreKind {
  readonly name: string;
  /** Makes a new storage. */
  readonly newStorage: (t: TestContext) => Promise<OpenStore>;
  /** Commands a run of the property, where one costs more. */
  readonly runs?: number;
}

/** Takes a key, waiting while the pool is filled again. */
export async function takeSoon(store: KeyStore): Promise<Key> {
  let key = store.take();
  await until(() => (key ??= store.take()) !== null, 'a key is ready');
  return key!;
}

type Step =
  | { readonly kind: 'TAKE' }
  | { readonly kind: 'DESTROY'; readonly which: number; readonly count: number }
  | { readonly kind: 'REOPEN' }
  | { readonly kind: 'NOTE'; readonly seq: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.constant({ kind: 'TAKE' } as const) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('DESTROY' as const), which: fc.nat(), count: fc.nat(3) }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'REOPEN' } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('NOTE' as const), seq: fc.nat() }) },
);

export function describeKeyStore({ name, newStorage, runs = 25 }: KeyStoreKind): void {
  describe(`The key store ${name}`, () => {
    it('has every key that was handed out until it is destroyed, over any number of starts', async (t) => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const open = await newStorage(t);
          let store = await open(4);
          const { addressKey } = store;
          const handedOut = new Map<string, string>();
          const destroyed = new Set<string>();
          let noted = 0;
          for (const each of steps) {
            if (each.kind === 'TAKE') {
              const { id, key } = await takeSoon(store);
              assert.equal(key.length, KEY_BYTES);
              assert.ok(!handedOut.has(id) && !destroyed.has(id), `key ${id} was handed out twice`);
              handedOut.set(id, key.toString('hex'));
            } else if (each.kind === 'DESTROY') {
              const ids = [...handedOut.keys()].slice(each.which % (handedOut.size + 1)).slice(0, each.count);
              await store.destroy([...ids, 'never.made', ...[...destroyed].slice(0, 1)]);
              for (const id of ids) {
                handedOut.delete(id);
                destroyed.add(id);
              }
            } else if (each.kind === 'NOTE') {
              await store.noteErased('shard', each.seq);
              noted = each.seq;
            } else {
              await store.close();
              store = await open(4);
            }
            const found = await store.read([...handedOut.keys(), ...destroyed, 'never.made']);
            const hex = new Map([...found].map(([id, key]) => [id, key.toString('hex')]));
            assert.deepEqual(hex, handedOut);
            assert.equal(await store.erasedThrough('shard'), noted);
            assert.equal(await store.erasedThrough('other'), 0);
            assert.deepEqual(store.addressKey, addressKey);
          }
          await store.close();
        }),
        { numRuns: runs },
      );
    });

    it('hands out nothing but what is stored, null when the pool is empty, and more soon after', async (t) => {
      const store = await (await newStorage(t))(3);
      const taken = [store.take(), store.take(), store.take()].map(
        (key) => key?.id ?? assert.fail('the pool was full'),
      );
      assert.equal(store.take(), null, 'a fourth key would not be durable yet');
      const { id } = await takeSoon(store);
      assert.equal(new Set([...taken, id]).size, 4);
      assert.equal((await store.read([...taken, id])).size, 4);
      await store.close();
      assert.equal(store.take(), null);
    });

    it('gives two stores over one storage different keys and the same address key', async (t) => {
      const open = await newStorage(t);
      const first = await open(8);
      const firstIds = Array.from({ length: 8 }, () => first.take()!.id);
      const { addressKey } = first;
      await first.close();
      const second = await open(8);
      const secondIds = Array.from({ length: 8 }, () => second.take()!.id);
      assert.equal(new Set([...firstIds, ...secondIds]).size, 16);
      assert.deepEqual(second.addressKey, addressKey);
      await second.close();
    });
  });
}
