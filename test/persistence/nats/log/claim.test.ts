/** How a shard is claimed and its log is read: races, ambiguity, damage. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fc } from '../../../property.ts';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { CheckpointOutdated, claimShard, readAhead } from '#persistence/nats/log/claim.ts';
import { decodeRecord, encodeRecord, type ShardRecord } from '#persistence/nats/log/records.ts';
import { LogUnreachable } from '#persistence/shard-log.ts';
import { applyRecord, ChainBroken, copyHead, emptyHead, readRecord } from '#persistence/nats/log/head.ts';
import { machineTiming, type Timing } from '#persistence/nats/timing.ts';
import { appendAll, durable, unitOf } from '../../journals.ts';
import { claimed, readShard } from '../../shards.ts';

const impatient: Timing = { ...machineTiming, after: (_, run) => machineTiming.after(0, run) };

function claimBody(node: string): Uint8Array {
  return encodeRecord({ kind: 'claim', id: `claim of ${node}`, node });
}

/** A log of two owners with five batches, and its messages. */
async function filledLog(): Promise<{ log: MemoryLog; bodies: Uint8Array[] }> {
  const log = new MemoryLog();
  for (const node of ['node-a', 'node-b']) {
    const { journal } = await claimed(log.reconnected(), { node });
    await appendAll(journal, [unitOf('evt_a', 2), unitOf('evt_b', 3)], 1);
  }
  const bodies: Uint8Array[] = [];
  for await (const { body } of log.read(1, await log.lastSeq())) bodies.push(body);
  return { log, bodies };
}

function logOf(bodies: readonly Uint8Array[]): MemoryLog {
  const log = new MemoryLog();
  for (const body of bodies) log.put(body);
  return log;
}

describe('A record', () => {
  it('is read as it was written, with any text', () => {
    const text = fc.string({ unit: 'grapheme' });
    const command = fc.record({ id: text, eventId: text, at: fc.nat(), reply: fc.json() });
    const hash = fc.constant('ab'.repeat(32));
    const anyRecord: fc.Arbitrary<ShardRecord> = fc.oneof(
      fc.record({ kind: fc.constant('claim' as const), id: text, node: text }),
      fc.record({ kind: fc.constant('proof' as const), id: text, epoch: fc.nat() }),
      fc.record({
        kind: fc.constant('batch' as const),
        ...{ id: text, epoch: fc.nat(), firstSeq: fc.nat(), lastSeq: fc.nat(), hash },
        commands: fc.array(command),
        canonicalTexts: fc.oneof(text, fc.constant('ü'.repeat(1_100_000))),
      }),
    );
    fc.assert(
      fc.property(anyRecord, (record) => {
        // In a larger buffer, as it comes from a connection.
        const body = encodeRecord(record);
        const bytes = new Uint8Array(body.length + 2);
        bytes.set(body, 1);
        // The generator's objects have no prototype.
        assert.deepEqual(decodeRecord(bytes.subarray(1, -1)), structuredClone(record));
      }),
      { numRuns: 60 },
    );
  });

  it('that is damaged is refused with what is wrong', () => {
    const texts = [
      '',
      'x',
      '\n',
      'x\n',
      '1\n',
      'null\n',
      '{}\n',
      '{"id":"1","kind":"claim"}\n',
      '{"id":"1","kind":"x"}\n',
    ];
    for (const text of [...texts, '{"id":"1","kind":"batch","epoch":1}\n'])
      assert.throws(() => readRecord(7, Buffer.from(text)), /message 7 .* \(.*record|a batch|a claim/, text);
    const body = encodeRecord({
      ...{ kind: 'batch', id: '1', epoch: 1, firstSeq: 1, lastSeq: 1, hash: '', commands: [] },
      canonicalTexts: ' '.repeat(1_100_000),
    });
    assert.throws(() => readRecord(7, body.subarray(0, -20)), ChainBroken);
  });
});

describe('The first line of a record', () => {
  it('is refused with any bit of it flipped, the reply of a command among them', () => {
    const commands = [{ id: 'c1', eventId: 'e', at: 1, reply: '{"price":700}' }];
    const rest = { id: '1', epoch: 1, firstSeq: 1, lastSeq: 1, hash: '', commands };
    const body = encodeRecord({ kind: 'batch', ...rest, canonicalTexts: '' });
    for (let bit = 0; bit < (body.length - 1) * 8; bit += 1) {
      const flipped = Buffer.from(body);
      flipped[bit >> 3]! ^= 1 << (bit & 7);
      assert.throws(() => readRecord(7, flipped), ChainBroken, `bit ${bit}`);
    }
  });
});

describe('The reading of a shard', () => {
  it('stops at every message that is lost, repeated, or changed, and then has the head before it', async () => {
    const { bodies } = await filledLog();
    for (let place = 0; place < bodies.length; place += 1) {
      const text = Buffer.from(bodies[place]!).toString();
      const damaged: Uint8Array[][] = [bodies.toSpliced(place + 1, 0, bodies[place]!)];
      // A claim that is lost or repeated changes the epochs; at the very end nothing shows that a message is missing.
      if (place < bodies.length - 1) damaged.push(bodies.toSpliced(place, 1));
      if (text.includes('"batch"')) {
        damaged.push(bodies.with(place, Buffer.from(text.replace('HoldPlaced', 'HoldPlaceD'))));
        damaged.push(bodies.with(place, Buffer.from(text.replace(/"epoch":\d/, '"epoch":9'))));
        damaged.push(bodies.with(place, Buffer.from(text.replace(/"lastSeq":\d+/, '"lastSeq":99'))));
      }
      for (const [kind, changed] of damaged.entries()) {
        const isClaimRepeated = kind === 0 && text.includes('"claim"');
        if (isClaimRepeated) continue;
        await assert.rejects(readShard(logOf(changed)), ChainBroken, `message ${place + 1}, kind ${kind}`);
      }
    }
  });

  it('leaves the head as it was where a record does not continue it', async () => {
    const { bodies } = await filledLog();
    const head = emptyHead();
    applyRecord(head, 1, decodeRecord(bodies[0]!));
    const before = copyHead(head);
    assert.throws(() => applyRecord(head, 2, decodeRecord(bodies[2]!)), ChainBroken);
    assert.deepEqual(head, before);
    assert.deepEqual(applyRecord(head, 2, decodeRecord(bodies[1]!)).outcome, 'COUNTED');
  });
});

describe('A claim', () => {
  it('is appended after everything that was read, also when others append meanwhile', async () => {
    const { log } = await filledLog();
    const other = log.reconnected();
    const owner = (await claimed(other, { node: 'node-b', timing: impatient })).journal;
    const late = log.reconnected();
    late.fail('NOT_YET', 'NOT_YET');
    const [won] = await Promise.all([
      claimed(late, { node: 'node-c', timing: impatient }),
      appendAll(owner, [unitOf('evt_a')]),
    ]);
    const { head } = await readShard(log);
    assert.equal(head.owner, 'node-c');
    assert.equal(won.journal.epoch, head.epoch);
    assert.deepEqual(won.journal.content().head, head);
    assert.equal(won.recovered.rows.length, 11);
  });

  it('is one claim, however often its answer is lost', async () => {
    const { log } = await filledLog();
    const other = log.reconnected();
    other.fail('LOST', 'ANSWER_LOST', 'LOST', 'LOST');
    const { journal } = await claimed(other, { node: 'node-c', timing: impatient });
    await appendAll(journal, [unitOf('evt_a')]);
    const { outcomes, head } = await readShard(log);
    assert.equal(outcomes.filter((each) => each === 'CLAIMED').length, 3);
    assert.equal(head.owner, 'node-c');
  });

  it('is given up when another node claims meanwhile', async () => {
    const { log } = await filledLog();
    const other = log.reconnected();
    other.fail('LOST');
    const timing: Timing = {
      ...impatient,
      after(_, run) {
        if (other.sent.length === 1) log.put(claimBody('node-d'));
        return machineTiming.after(0, run);
      },
    };
    const outcome = await claimShard(other, { node: 'node-c', checkpoint: null, timing });
    assert.deepEqual(outcome, { outcome: 'LOST', owner: 'node-d' });
  });

  it('that was given up and arrives late fences the owner, and the next claim gets over it', async () => {
    const { log } = await filledLog();
    const other = log.reconnected();
    other.fail('HELD');
    const signal = AbortSignal.abort();
    await assert.rejects(claimShard(other, { node: 'node-c', checkpoint: null, signal }), LogUnreachable);
    other.arrive();
    const { journal } = await claimed(log.reconnected(), { node: 'node-d' });
    await appendAll(journal, [unitOf('evt_a')]);
    assert.equal((await readShard(log)).head.factSeq, 11);
  });

  it('is not made on a log that ends before its checkpoint, nor with one from before a purge', async () => {
    const { log, bodies } = await filledLog();
    const { journal } = await claimed(log.reconnected(), { node: 'node-c' });
    await appendAll(journal, [unitOf('evt_a')]);
    const checkpoint = journal.content();
    const shorter = logOf(bodies);
    await assert.rejects(
      claimShard(shorter, { node: 'node-d', checkpoint, timing: impatient }),
      (error) => error instanceof ChainBroken && /ends with message 6/.test(error.message),
    );
    assert.equal(await shorter.lastSeq(), 6);
    await log.purge(4);
    await assert.rejects(claimShard(log.reconnected(), { node: 'node-d', checkpoint: null }), CheckpointOutdated);
    assert.equal((await claimed(log.reconnected(), { node: 'node-d', checkpoint })).recovered.head.factSeq, 11);
  });

  it('fails while nobody answers', async () => {
    const log = new MemoryLog();
    log.isReachable = false;
    await assert.rejects(claimShard(log, { node: 'node-a', checkpoint: null }), LogUnreachable);
  });

  it('has what was read ahead and everything after it', async () => {
    const { log } = await filledLog();
    const checkpoint = await readAhead(log.reconnected(), { node: 'node-d', checkpoint: null });
    const begun = await log.lastSeq();
    const { journal: before } = await claimed(log.reconnected(), { node: 'node-c' });
    await appendAll(before, [unitOf('evt_a', 2)], 1);
    const own = log.reconnected();
    const { recovered, previousEpoch } = await claimed(own, { node: 'node-d', checkpoint });
    const { rows } = await readShard(log);
    assert.deepEqual(recovered.rows, rows);
    assert.equal(checkpoint.head.streamSeq, begun);
    assert.equal(previousEpoch, before.epoch);
  });

  it('leaves the checkpoint as it was', async () => {
    const { log } = await filledLog();
    const first = (await claimed(log.reconnected(), { node: 'node-c' })).journal;
    const checkpoint = first.content();
    const before = structuredClone(checkpoint);
    const { journal } = await claimed(log.reconnected(), { node: 'node-d', checkpoint });
    journal.append(unitOf('evt_a'));
    await durable(journal);
    assert.deepEqual(checkpoint, before);
  });
});
