/** Shards are spread evenly over nodes, events over shards, and only what has to move moves. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { INDEX_SHARD, placeOf, shardOf } from '#cluster/directory/placement.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

/** How often each value comes. */
function countsOf<Value>(values: readonly Value[]): Map<Value, number> {
  const counts = new Map<Value, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** How far counts are from equal ones: about 1 for values drawn by chance, growing with any pattern. */
function chiSquarePerFreedom(counts: readonly number[]): number {
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - mean) ** 2 / mean, 0) / (counts.length - 1);
}

/** Names that people and machines give to events. */
const eventIdForms: Readonly<Record<string, (index: number) => string>> = {
  'numbered ones': (index) => `evt_${index}`,
  'padded ones': (index) => `evt_${String(index).padStart(6, '0')}`,
  'dates of a tour': (index) => `tour-2027-${String(1 + (index % 12)).padStart(2, '0')}-${index}`,
  'slugs that end alike': (index) => `${index}-concert-in-the-park`,
  UUIDs: (index) => `0190f3c2-7b1e-7a64-9c58-${index.toString(16).padStart(12, '0')}`,
  'ones in base 36': (index) => `e${(index * 7919).toString(36)}`,
};

const nodeNameForms: Readonly<Record<string, (index: number) => string>> = {
  numbered: (index) => `node-${index + 1}`,
  'stateful set': (index) => `holdfast-${index}.holdfast.shop.svc`,
  'host names': (index) => `ip-10-0-${index}-17-x${(index * 48_271 + 11).toString(36)}`,
  letters: (index) => String.fromCharCode(97 + index),
};

describe('The shard of an event', () => {
  for (const [form, idOf] of Object.entries(eventIdForms)) {
    it(`is spread evenly: ${form}`, () => {
      for (const shards of [16, 64, 1_024]) {
        const counts = countsOf(numbers(shards * 100).map((index) => shardOf(idOf(index), shards)));
        const all = numbers(shards).map((shard) => counts.get(shard) ?? 0);
        const unevenness = chiSquarePerFreedom(all);
        assert.ok(unevenness < 2.2, `${shards} shards: ${unevenness.toFixed(2)}`);
        assert.ok(Math.min(...all) > 50 && Math.max(...all) < 160, `${shards} shards: ${Math.min(...all)}`);
      }
    });
  }

  it('never changes: the facts of an event stay where they are', () => {
    const ids = ['evt_concert', 'erfurt-volley', 'evt_1', 'evt_2', 'Ä', '木'];
    assert.deepEqual(
      ids.map((id) => shardOf(id, 64)),
      [29, 44, 59, 31, 15, 50],
    );
  });

  it('of the service itself is the one of the index', () => {
    assert.equal(shardOf('', 64), INDEX_SHARD);
  });
});

describe('The node that should own a shard', () => {
  for (const [form, nameOf] of Object.entries(nodeNameForms)) {
    it(`is spread evenly over nodes with ${form}`, () => {
      for (const count of [2, 3, 5, 9]) {
        const nodes = numbers(count).map(nameOf);
        for (const shards of [64, 1_024]) {
          const counts = countsOf(numbers(shards).map((shard) => placeOf(shard, nodes)));
          const mean = shards / count;
          // Shards fall to nodes as by chance: within four standard deviations of the mean.
          const spread = 4 * Math.sqrt(mean * (1 - 1 / count));
          for (const node of nodes) {
            const owned = counts.get(node) ?? 0;
            assert.ok(Math.abs(owned - mean) < spread, `${node} of ${count} has ${owned} of ${shards}`);
          }
        }
      }
    });
  }

  it('changes for the shards of a node that went, and for no other', () => {
    for (const nameOf of Object.values(nodeNameForms)) {
      const nodes = numbers(5).map(nameOf);
      for (const gone of nodes) {
        const left = nodes.filter((node) => node !== gone);
        const heirs = new Set<string | null>();
        for (const shard of numbers(1_024)) {
          const before = placeOf(shard, nodes);
          const after = placeOf(shard, left);
          if (before === gone) heirs.add(after);
          else assert.equal(after, before);
        }
        assert.equal(heirs.size, left.length, 'every node takes over some of them');
      }
    }
  });

  it('does not depend on the order in which nodes are named', () => {
    const nodes = numbers(7).map((index) => `node-${index}`);
    for (const shard of numbers(256)) assert.equal(placeOf(shard, nodes.toReversed()), placeOf(shard, nodes));
  });

  it('is nobody where there is no node', () => {
    assert.equal(placeOf(3, []), null);
  });
});
