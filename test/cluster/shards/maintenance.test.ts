/** Rounds of maintenance over the shards of a node. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { Maintenance } from '#cluster/shards/maintenance.ts';
import { troublesAt } from '../../fixtures/troubles.ts';
import { VirtualTime } from '../virtual-time.ts';

/** Shards whose maintenance is counted; those that are named fail or never end. */
function openShards(t: TestContext, names: readonly string[], doing: Readonly<Record<string, 'FAILS' | 'HANGS'>>) {
  const rounds: Record<string, number> = {};
  const shards = names.map((name) => ({
    maintain() {
      rounds[name] = (rounds[name] ?? 0) + 1;
      if (doing[name] === 'FAILS') return Promise.reject(new Error('the key stream cannot be written'));
      return doing[name] === 'HANGS' ? new Promise<void>(() => {}) : Promise.resolve();
    },
  }));
  const time = new VirtualTime();
  const maintenance = new Maintenance(time, () => shards);
  t.after(() => maintenance.stop());
  const pass = (seconds: number): Promise<void> => time.pass(seconds * 1_000);
  return { rounds, maintenance, pass };
}

describe('The maintenance of shards', () => {
  it('goes on with the others when it fails at one', async (t) => {
    const troubles = troublesAt(t, 'snapshot');
    const { rounds, pass } = openShards(t, ['a', 'b', 'c'], { b: 'FAILS' });
    await pass(32);
    assert.deepEqual(rounds, { a: 2, b: 2, c: 2 });
    assert.equal(troubles.length, 2);
  });

  it('goes on with the others when it does not end at one, and leaves that one out', async (t) => {
    const { rounds, pass } = openShards(t, ['a', 'b', 'c'], { b: 'HANGS' });
    await pass(80);
    assert.deepEqual(rounds, { a: 1, b: 1, c: 1 });
    await pass(32);
    assert.deepEqual(rounds, { a: 3, b: 1, c: 3 });
  });

  it('begins nothing after its end', async (t) => {
    const { rounds, maintenance, pass } = openShards(t, ['a'], {});
    await pass(16);
    maintenance.stop();
    await pass(60);
    assert.deepEqual(rounds, { a: 1 });
  });
});
