/** Reading all facts of a shard for a copy of it. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { claimShard } from '#persistence/nats/log/claim.ts';
import { encodeRecord } from '#persistence/nats/log/records.ts';
import { readShardFacts } from '#persistence/nats/log/shard-facts.ts';
import { LogUnreachable } from '#persistence/shard-log.ts';
import { ChainBroken } from '#persistence/nats/log/head.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import { machineTiming } from '#persistence/nats/timing.ts';

/**
 * A log that two owners wrote, 20 units of two facts each, with a void batch of the first owner after the second one's
 * claim.
 */
async function writtenLog(): Promise<MemoryLog> {
  const log = new MemoryLog();
  for (const node of ['node-a', 'node-b']) {
    const claim = await claimShard(log, { node, checkpoint: null });
    if (claim.outcome === 'LOST') assert.fail('nobody else claims');
    if (node === 'node-b') await appendVoid(log);
    for (let n = 0; n < 10; n += 1) {
      const facts = ['A', 'B'].map((type) => ({ type, data: `"${node} ${n}"` }));
      await claim.journal.durable(claim.journal.append({ eventId: `evt_${n % 3}`, at: n, facts }));
    }
    await claim.journal.close();
  }
  return log;
}

async function appendVoid(log: MemoryLog): Promise<void> {
  const canonicalTexts = '21 5 0 21 5 1 4 evt_9A"no"\n';
  const batch = { kind: 'batch', id: 'late', epoch: 1, firstSeq: 21, lastSeq: 21, hash: '', commands: [] } as const;
  await log.append(encodeRecord({ ...batch, canonicalTexts }), await log.lastSeq());
}

async function allOf(log: MemoryLog, timing: Timing = atOnce()): Promise<string[]> {
  const found: string[] = [];
  for await (const facts of readShardFacts(log, timing))
    found.push(...facts.map(({ seq, type, data, unit }) => `${seq} ${type} ${data} ${unit}`));
  return found;
}

/** Pauses that take no time, counted. */
function atOnce(): Timing & { pauses: number } {
  return {
    ...machineTiming,
    pauses: 0,
    after(_, run) {
      this.pauses += 1;
      setImmediate(run);
      return () => {};
    },
  };
}

describe('All facts of a shard', () => {
  it('are those that count, once each, with their units', async () => {
    const found = await allOf(await writtenLog());
    assert.equal(found.length, 40);
    assert.deepEqual(found.slice(19, 22), ['20 B "node-a 9" 20', '21 A "node-b 0" 22', '22 B "node-b 0" 22']);
    assert.deepEqual(await allOf(new MemoryLog()), []);
  });

  it('are read on from where the servers were lost, wherever that is', async () => {
    const log = await writtenLog();
    const whole = await allOf(log);
    const read = log.read.bind(log);
    for (let lostAfter = 0; lostAfter < 6; lostAfter += 1) {
      const timing = atOnce();
      let calls = 0;
      log.read = async function* (fromSeq, throughSeq) {
        let messages = 0;
        calls += 1;
        for await (const message of read(fromSeq, throughSeq)) {
          if (messages === lostAfter && calls % 2 === 1) throw new LogUnreachable('the connection was lost');
          messages += 1;
          yield message;
          if (messages > 3) throw new LogUnreachable('the connection was lost again');
        }
      };
      assert.deepEqual(await allOf(log, timing), whole, `lost after ${lostAfter}`);
      assert.ok(timing.pauses > 3);
    }
  });

  it('are given up when the servers stay away, and at once when the chain is broken', async () => {
    const log = await writtenLog();
    const timing = atOnce();
    log.read = async function* () {
      await Promise.resolve();
      yield* [];
      throw new LogUnreachable('no server');
    };
    await assert.rejects(allOf(log, timing), LogUnreachable);
    assert.equal(timing.pauses, 29);
    const short = await writtenLog();
    const read = short.read.bind(short);
    short.read = (fromSeq, throughSeq) => read(fromSeq, throughSeq - 1);
    await assert.rejects(allOf(short), ChainBroken);
  });
});
