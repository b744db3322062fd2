/** The merge of shards into one journal: its order, its links and its units. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, it } from 'node:test';
import { openWhole } from '#persistence/folder/backup.ts';
import { ShardMerge } from '#persistence/folder/shard-merge.ts';
import type { StoredFact } from '#persistence/chain.ts';
import { newFolder } from '../../fixtures/folders.ts';
import { chanceOf } from '../../simulation/chance.ts';

/** Facts of a shard from units of a moment and a number of facts each. */
function factsOf(shard: number, units: readonly (readonly [at: number, facts: number])[]): StoredFact[] {
  const facts: StoredFact[] = [];
  for (const [at, count] of units) {
    const unit = facts.length + count;
    for (let n = 0; n < count; n += 1) {
      const seq = facts.length + 1;
      facts.push({ seq, at, eventId: `evt_${shard}_${unit % 2}`, type: 'T', data: `"${shard}/${seq}"`, prev: 0, unit });
    }
  }
  return facts;
}

async function* inBatches(facts: readonly StoredFact[]): AsyncGenerator<readonly StoredFact[]> {
  await Promise.resolve();
  yield facts;
}

async function merged(out: string, shards: readonly (readonly StoredFact[])[]): Promise<StoredFact[]> {
  const merge = new ShardMerge(out);
  for (const [shard, facts] of shards.entries()) await merge.stage(shard, inBatches(facts), () => true);
  await merge.finish({ keysId: null, merged: () => {}, atEnd: () => [] });
  const whole = openWhole(out);
  const facts = [...whole.batches()].flatMap((batch) => batch.facts);
  whole.close();
  return facts;
}

describe('A merge of shards', () => {
  it('orders units by their moments, and keeps the order of a shard whose clock was set back', async (t) => {
    const shards = [
      factsOf(0, [
        [10, 2],
        [40, 1],
        [20, 2],
        [50, 1],
      ]),
      factsOf(1, [
        [10, 1],
        [30, 1],
        [45, 3],
      ]),
    ];
    const facts = await merged(path.join(newFolder(t), 'out'), shards);
    assert.deepEqual(
      facts.map(({ data }) => JSON.parse(data) as string),
      ['0/1', '0/2', '1/1', '1/2', '0/3', '0/4', '0/5', '1/3', '1/4', '1/5', '0/6'],
    );
    assert.deepEqual(
      facts.map(({ unit }) => unit),
      [2, 2, 3, 4, 5, 7, 7, 10, 10, 10, 11],
    );
  });

  it('keeps every fact, unit and order of shards of any shape', async (t) => {
    const folder = newFolder(t);
    for (let seed = 0; seed < 12; seed += 1) {
      const chance = chanceOf(seed);
      const shards = Array.from({ length: chance.between(1, 5) }, (_, shard) =>
        factsOf(
          shard,
          Array.from(
            { length: chance.between(0, 400) },
            () => [chance.between(0, 50), chance.between(1, seed === 3 ? 300 : 4)] as const,
          ),
        ),
      );
      const facts = await merged(path.join(folder, String(seed)), shards);
      const sizes = (all: readonly StoredFact[]) => all.map(({ at, data, seq, unit }) => [at, data, unit - seq]);
      for (const [shard, own] of shards.entries())
        assert.deepEqual(sizes(facts.filter(({ data }) => data.startsWith(`"${shard}/`))), sizes(own), `seed ${seed}`);
      assert.equal(facts.length, shards.flat().length);
    }
  });
});
