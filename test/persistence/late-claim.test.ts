import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { CheckpointOutdated, claimShard } from '#persistence/nats/log/claim.ts';
import { claimed } from './shards.ts';

const UNIT = { eventId: 'event-a', at: 1_000, facts: [{ type: 'Tested', data: '{}' }] };

describe('A claim by a node that was held up', () => {
  it('asks for a newer checkpoint when the log was purged beyond its own', async () => {
    const log = new MemoryLog();
    const { journal } = await claimed(log);
    for (let count = 0; count < 3; count += 1) await journal.durable(journal.append(UNIT));
    const checkpoint = journal.content();
    await log.purge(checkpoint.head.streamSeq + 1);
    await journal.durable(journal.append(UNIT));
    await assert.rejects(claimShard(log, { node: 'node-b', checkpoint: null }), CheckpointOutdated);
    const again = await claimed(log, { node: 'node-b', checkpoint });
    assert.equal(again.recovered.head.factSeq, 4);
    await again.journal.close();
  });

  it('names the claim before its own, so that a caller knows whose answers may still leave', async () => {
    const log = new MemoryLog();
    const first = await claimed(log);
    assert.equal(first.previousEpoch, 0);
    await first.journal.durable(first.journal.append(UNIT));
    const second = await claimed(log, { node: 'node-b' });
    assert.equal(second.previousEpoch, first.journal.epoch);
    assert.equal(second.journal.epoch, 3);
  });
});
