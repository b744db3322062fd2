/** With what a claim begins: what was read ahead, as long as it is fresh, or the newest checkpoint. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ShardBegins } from '#cluster/shards/start-content.ts';
import { StatesAhead } from '#cluster/shards/states-ahead.ts';
import { AHEAD_MS_MAX } from '#cluster/shards/read-ahead.ts';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { machineTiming } from '#persistence/nats/timing.ts';
import { unitOf } from '../../persistence/journals.ts';
import { claimed } from '../../persistence/shards.ts';

const SHARD = 2;

async function prepare() {
  const log = new MemoryLog();
  const { journal } = await claimed(log);
  let nowMs = 0;
  const made: StatesAhead[] = [];
  const begins = new ShardBegins({
    node: 'node-b',
    time: { ...machineTiming, stopwatchMs: () => nowMs },
    checkpoints: () => ({ newest: async () => null }),
    log: () => log.reconnected(),
    async states() {
      const snapshots = { newest: async () => null, newestSeq: () => 0 };
      made.push(new StatesAhead({ snapshots, time: machineTiming, eventsMax: 10 }));
      return made.at(-1)!;
    },
  });
  const append = async (): Promise<void> => {
    await journal.durable(journal.append(unitOf('evt_a')));
  };
  await append();
  return { begins, made, append, pass: (ms: number) => void (nowMs += ms) };
}

describe('A claim', () => {
  it('begins with what was read ahead, once', async () => {
    const { begins, made } = await prepare();
    await begins.readAhead(SHARD);
    const { content, states } = await begins.take(SHARD);
    assert.equal(content?.rows.length, 1);
    assert.equal(states, made[0]);
    assert.deepEqual(await begins.take(SHARD), { checkpoint: null, content: null, states: null });
  });

  it('begins with the newest checkpoint where too much time has passed, or it was forgotten', async () => {
    const { begins, pass } = await prepare();
    await begins.readAhead(SHARD);
    pass(AHEAD_MS_MAX);
    assert.equal((await begins.take(SHARD)).content, null);
    await begins.readAhead(SHARD);
    begins.forget(SHARD);
    assert.equal((await begins.take(SHARD)).content, null);
  });

  it('goes on from what was read ahead before', async () => {
    const { begins, append } = await prepare();
    await begins.readAhead(SHARD);
    await append();
    await begins.readAhead(SHARD);
    assert.equal((await begins.take(SHARD)).content?.rows.length, 2);
  });

  it('leaves nothing behind of a reading that it came before', async () => {
    const { begins } = await prepare();
    const reading = begins.readAhead(SHARD);
    await begins.take(SHARD);
    await reading;
    assert.equal((await begins.take(SHARD)).content, null);
    const forgotten = begins.readAhead(SHARD);
    begins.forget(SHARD);
    await forgotten;
    assert.equal((await begins.take(SHARD)).content, null);
  });
});
