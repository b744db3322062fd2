import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hashOf } from '#domain/collections/hash-tables.ts';
import { ShardedMap } from '#domain/collections/maps.ts';
import { fc } from '../../property.ts';

/**
 * Keys of one part whose searches begin at one slot, in tables of up to 1,024 slots: the high bits of their hashes are
 * equal.
 */
const CROWDED = Array.from({ length: 200_000 }, (_, n) => `session-${n}-end`).filter(
  (key) => hashOf(key, 0) >>> 22 === 7,
);

const SPREAD = Array.from({ length: 3_000 }, (_, n) => `hld_1_${Math.imul(n, 0x9e3779b1).toString(36)}`);

/** A plain Map for each part, in the order of the parts. */
function modelOf(): Map<string, object>[] {
  return Array.from({ length: 256 }, () => new Map<string, object>());
}

function partOf(key: string): number {
  const [c, b, a] = [...key.slice(-3)].map((each) => each.charCodeAt(0)) as [number, number, number];
  return (a * 31 + b * 7 + c) % 256;
}

describe('A map in many parts', () => {
  for (const [name, keys] of Object.entries({ 'keys that are spread': SPREAD, 'keys chosen to collide': CROWDED })) {
    it(`has the entries and the order of plain Maps after any changes, with ${name}`, () => {
      assert(keys.length > 150, 'there must be enough keys');
      const change = fc.record({ action: fc.constantFrom('set', 'set', 'delete'), key: fc.nat(keys.length - 1) });
      fc.assert(
        fc.property(fc.array(change, { minLength: 1_000, maxLength: 6_000, size: 'max' }), (changes) => {
          const map = new ShardedMap<object>();
          const model = modelOf();
          for (const { action, key: index } of changes) {
            const key = keys[index]!;
            const part = model[partOf(key)]!;
            assert.equal(map.get(key), part.get(key));
            const value = { index };
            if (action === 'set') map.set(key, value);
            if (action === 'set') part.set(key, value);
            else assert.equal(map.delete(key), part.delete(key));
            assert.equal(map.get(key), part.get(key));
          }
          const expected = model.flatMap((part) => [...part]);
          assert.equal(map.size, expected.length);
          assert.deepEqual(
            [...map.keys()],
            expected.map(([key]) => key),
          );
          assert.deepEqual(
            [...map.values()],
            expected.map(([, value]) => value),
          );
          for (const key of keys) assert.equal(map.has(key), model[partOf(key)]!.has(key));
        }),
        { numRuns: 10 },
      );
    });
  }

  it('reads ahead of most keys what they lead to, and nothing else', () => {
    const map = new ShardedMap<{ readonly index: number }>();
    for (const [index, key] of SPREAD.entries()) if (index % 2 === 0) map.set(key, { index });
    for (const [index, key] of SPREAD.entries()) if (index % 10 === 0) map.delete(key);
    const read = new Set<number>();
    const absent = Array.from({ length: 500 }, (_, n) => `none-${n}`);
    map.readAhead([...SPREAD, ...absent], ({ index }) => read.add(index).size);
    assert(read.size > map.size / 2, `${read.size} of ${map.size} were read`);
    assert.deepEqual(
      [...read].filter((index) => !map.has(SPREAD[index]!)),
      [],
    );
  });
});
