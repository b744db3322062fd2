/** Counts by key that several threads share: here several views of the same memory. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SharedClients, SharedWindows } from '#threads/keyed-counts.ts';
import { fc } from '../property.ts';

const WINDOW_MS = 60_000;
const secret = 'of this test';

function viewsOf(count: number, keysMax: number): readonly SharedWindows[] {
  const memory = SharedWindows.memoryFor(keysMax);
  return Array.from({ length: count }, () => new SharedWindows({ memory, secret }, WINDOW_MS));
}

describe('Windows that threads share', () => {
  it('count as one map does, whichever thread counts', () => {
    const count = fc.record({
      view: fc.nat(2),
      key: fc.constantFrom('a', 'b', 'c', 'd'),
      times: fc.integer({ min: 1, max: 5 }),
      afterMs: fc.nat(30_000),
    });
    // In 2027, and where a begin gets one bit more than before: in 2109 and in 2248.
    const begin = fc.constantFrom(1_800_000_000_000, 2 ** 42 - WINDOW_MS, 2 ** 43 - WINDOW_MS);
    fc.assert(
      fc.property(begin, fc.array(count, { maxLength: 100 }), (startsAt, counts) => {
        const views = viewsOf(3, 1_000);
        const model = new Map<string, { since: number; counted: number }>();
        let now = startsAt;
        for (const { view, key, times, afterMs } of counts) {
          now += afterMs;
          const known = model.get(key);
          const current = known !== undefined && now - known.since < WINDOW_MS ? known : { since: now, counted: 0 };
          assert.deepEqual(views[(view + 1) % 3]!.read(key, now), current);
          const expected = { since: current.since, counted: current.counted + times };
          assert.deepEqual(views[view]!.add(key, now, times), expected);
          model.set(key, expected);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('forget the key that was counted longest ago where there are too many', () => {
    const [view] = viewsOf(1, 8);
    for (let n = 0; n < 8; n += 1) view!.add(`key ${n}`, 1_000 + n, 1);
    view!.add('one more', 2_000, 1);
    const counted = (key: string): number => view!.read(key, 2_000).counted;
    assert.equal(counted('one more'), 1);
    assert.equal(counted('key 0'), 0);
    for (let n = 1; n < 8; n += 1) assert.equal(counted(`key ${n}`), 1, `key ${n}`);
  });

  it('count no further than they can', () => {
    const [view] = viewsOf(1, 8);
    view!.add('key', 1_000, 2_000_000);
    const { since, counted } = view!.add('key', 1_001, 2_000_000);
    assert.equal(since, 1_000);
    assert.ok(counted > 2_000_000);
  });
});

describe('What clients have open on several threads', () => {
  it('is the sum, and what a thread that ended had open is taken back', () => {
    const memories = [SharedClients.memoryFor(100), SharedClients.memoryFor(100)];
    const [one, other] = [new SharedClients(memories, 0, secret), new SharedClients(memories, 1, secret)];
    one.add('client', 1);
    one.add('client', 1);
    other.add('client', 1);
    other.add('another', 1);
    assert.deepEqual([one.of('client'), other.of('client'), one.of('another')], [3, 3, 1]);
    one.add('client', -1);
    assert.equal(other.of('client'), 2);
    new BigInt64Array(memories[1]!).fill(0n);
    assert.deepEqual([one.of('client'), one.of('another')], [1, 0]);
    one.add('client', -1);
    one.add('client', -1);
    assert.equal(one.of('client'), 0);
    one.add('client', 1);
    assert.equal(one.of('client'), 1);
  });
});
