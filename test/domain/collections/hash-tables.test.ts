import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HashedTally } from '#domain/collections/hash-tables.ts';
import { fc } from '../../property.ts';

describe('A tally that keeps no keys', () => {
  it('has the counts of a Map after any additions and removals', () => {
    const change = fc.record({ key: fc.nat({ max: 3_000 }), by: fc.integer({ min: -2, max: 2 }) });
    fc.assert(
      fc.property(fc.array(change, { minLength: 2_000, maxLength: 5_000, size: 'max' }), (changes) => {
        const tally = new HashedTally();
        const counts = new Map<string, number>();
        for (const { key, by } of changes) {
          const text = `buyer-${key}@example.org`;
          tally.add(text, by);
          const sum = (counts.get(text) ?? 0) + by;
          if (sum === 0) counts.delete(text);
          else counts.set(text, sum);
        }
        assert.equal(tally.size, counts.size);
        for (let key = 0; key <= 3_000; key += 1) {
          const text = `buyer-${key}@example.org`;
          assert.equal(tally.get(text), counts.get(text));
        }
      }),
      { numRuns: 10 },
    );
  });
});
