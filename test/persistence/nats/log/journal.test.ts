/**
 * The protocol of a shard's owner over a log that loses, holds and refuses: pipelining, ambiguity, fencing, void
 * batches.
 */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setImmediate as nextRound } from 'node:timers/promises';
import { describe, it } from 'node:test';
import { until } from '../../../fixtures/until.ts';
import { fc } from '../../../property.ts';
import { JournalFault, type Unit } from '#persistence/journal.ts';
import { MemoryLog, type AppendFault } from '#persistence/memory/shard-log.ts';
import { IN_FLIGHT_MAX } from '#persistence/nats/log/append-window.ts';
import { appendChannel, type AppendMessage, type ShardJournal } from '#persistence/nats/log/journal.ts';
import { EXECUTED_KEPT_MS } from '#persistence/nats/log/executed-commands.ts';
import { LogUnreachable, type ShardLog } from '#persistence/shard-log.ts';
import { machineTiming, type Timing } from '#persistence/nats/timing.ts';
import { appendAll, durable, outcome, unitOf } from '../../journals.ts';
import { claimed, readShard } from '../../shards.ts';

/** Pauses between tries cost nothing. */
const impatient: Timing = { ...machineTiming, after: (_, run) => machineTiming.after(0, run) };

function commandUnit(id: string, eventId = 'evt_a'): Unit {
  return { ...unitOf(eventId), command: { id, reply: JSON.stringify({ id }) } };
}

/** An owner past the time in which it sends one append at a time. */
async function settledOwner(log: MemoryLog, node = 'node-a'): Promise<ShardJournal> {
  const { journal } = await claimed(log, { node, timing: impatient });
  for (let count = 1; count < IN_FLIGHT_MAX; count += 1) {
    journal.append(unitOf('evt_first'));
    await durable(journal);
  }
  return journal;
}

/** Appends units of one fact, each in a message of its own, without waiting for answers. */
async function appendEach(journal: ShardJournal, count: number, eventId = 'evt_a'): Promise<void> {
  for (let unit = 0; unit < count; unit += 1) {
    journal.append(unitOf(eventId));
    await nextRound();
  }
}

/** The numbers that the appends of a connection were to follow. */
function expectations(log: MemoryLog): number[] {
  return [...new Set(log.sent.map(({ expectedLastSeq }) => expectedLastSeq))];
}

async function eventIds(log: MemoryLog): Promise<string[]> {
  return (await readShard(log)).rows.map(({ eventId }) => eventId);
}

describe('A shard journal that appends', () => {
  it('puts the turns of one round into one message, of at most so many units', async () => {
    const log = new MemoryLog();
    const { journal } = await claimed(log, { batchUnitsMax: 10, timing: impatient });
    for (let count = 0; count < 25; count += 1) journal.append(unitOf('evt_a', 2));
    await durable(journal);
    assert.equal(log.sent.length, 1 + 3);
    assert.equal((await readShard(log)).rows.length, 50);
  });

  it('sends a unit that exceeds the size of a message alone, also one with the plan of a stadium', async () => {
    const log = new MemoryLog();
    const { journal } = await claimed(log, { timing: impatient });
    const data = JSON.stringify({ seats: Array.from({ length: 60_000 }, (_, seat) => ({ seat, row: seat % 90 })) });
    journal.append(unitOf('evt_a'));
    journal.append({ eventId: 'evt_b', at: 1, facts: [{ type: 'EventDefined', data }] });
    journal.append(unitOf('evt_a'));
    await durable(journal);
    assert.equal(log.sent.length, 1 + 3);
    assert.ok(log.sent.every(({ body }) => body.length < data.length / 2));
    const { rows } = await readShard(log);
    assert.equal(rows[1]?.data, data);
    assert.deepEqual(await eventIds(log), ['evt_a', 'evt_b', 'evt_a']);
  });

  it('refuses a unit that no message can have, and goes on as if it had not been there', async () => {
    const log = new MemoryLog();
    const { journal } = await claimed(log, { timing: impatient });
    const data = randomBytes(8_000_000).toString('base64');
    const facts = [{ type: 'EventDefined', data }];
    assert.throws(() => journal.append({ eventId: 'evt_a', at: 1, facts }), /does not fit into a message/);
    assert.equal(journal.appendedSeq, 0);
    await appendAll(journal, [unitOf('evt_a')]);
    assert.equal((await readShard(log)).rows.length, 1);
  });

  it('has several appends under way once its first ones are settled, and one before', async () => {
    const log = new MemoryLog();
    const { journal } = await claimed(log, { timing: impatient });
    log.fail('HELD', 'HELD', 'HELD');
    await appendEach(journal, 3);
    assert.deepEqual(expectations(log), [0, 1]);
    log.arrive();
    await durable(journal);
    const busy = new MemoryLog();
    const settled = await settledOwner(busy);
    busy.fail(...Array.from({ length: 20 }, () => 'HELD' as const));
    await appendEach(settled, IN_FLIGHT_MAX + 2);
    assert.deepEqual(expectations(busy), [0, 1, 2, 3, 4, 5, 6, 7]);
    settled.abandon();
  });

  it('keeps the order when the first of several appends is lost', async () => {
    const log = new MemoryLog();
    const journal = await settledOwner(log);
    log.fail('LOST');
    await appendEach(journal, IN_FLIGHT_MAX);
    await appendAll(journal, [unitOf('evt_b')]);
    const { outcomes } = await readShard(log);
    assert.ok(!outcomes.includes('VOID'));
    assert.deepEqual((await eventIds(log)).slice(3), ['evt_a', 'evt_a', 'evt_a', 'evt_a', 'evt_b']);
  });

  for (const fault of ['ANSWER_LOST', 'LOST', 'HELD', 'NOT_YET'] as const) {
    it(`appends each batch once when appends are ${fault}`, async () => {
      const log = new MemoryLog();
      const journal = await settledOwner(log);
      log.fail(fault, null, fault, fault, fault, fault);
      await appendEach(journal, 10);
      log.arrive();
      await durable(journal);
      log.arrive();
      assert.equal((await readShard(log)).head.factSeq, 13);
      assert.equal(journal.durableSeq, 13);
    });
  }

  it('says once that an append waits for long, and why, and goes on with it', async () => {
    let nowMs = 0;
    const timing: Timing = { ...impatient, stopwatchMs: () => nowMs };
    const log = new MemoryLog();
    const { journal } = await claimed(log, { timing });
    const causes: string[] = [];
    journal.onStalled((cause) => causes.push(String(cause)));
    log.fail('LOST', 'LOST', 'NOT_YET');
    await appendAll(journal, [unitOf('evt_a')]);
    assert.deepEqual(causes, []);
    log.isReachable = false;
    journal.append(unitOf('evt_a'));
    assert.equal(journal.isStalled, false);
    await until(() => (nowMs += 2_000) > 60_000);
    assert.equal(journal.isStalled, true);
    log.isReachable = true;
    await durable(journal);
    assert.deepEqual(causes, ['Error: no answer']);
    assert.equal(journal.isStalled, false);
  });

  it('publishes how long each batch took', async () => {
    const messages: AppendMessage[] = [];
    const listener = (message: unknown): void => void messages.push(message as AppendMessage);
    appendChannel.subscribe(listener);
    const { journal } = await claimed(new MemoryLog());
    for (let count = 0; count < 3; count += 1) journal.append(unitOf('evt_a', 2));
    await durable(journal);
    appendChannel.unsubscribe(listener);
    assert.deepEqual(
      messages.map(({ facts, units }) => [facts, units]),
      [[6, 3]],
    );
    assert.ok(messages.every(({ appendMs, bytes }) => appendMs > 0 && bytes > 100));
  });
});

describe('A shard that another node claims', () => {
  it('fences the owner before it: its facts are refused, and it takes none', async () => {
    const log = new MemoryLog();
    const first = await settledOwner(log);
    const faults: (JournalFault | null)[] = [];
    first.onStatus((_, fault) => faults.push(fault));
    first.onFenced((fault) => faults.push(fault));
    await claimed(log.reconnected(), { node: 'node-b' });
    const wait = outcome(first, first.append(unitOf('evt_a')));
    assert.ok((await wait) instanceof JournalFault);
    assert.match(faults[0]?.message ?? '', /node-b claimed the shard/);
    assert.equal(faults[0], faults[1]);
    assert.equal(first.status, 'CLOSED');
    assert.equal(first.appendedSeq, 3);
    assert.throws(() => first.append(unitOf('evt_a')), JournalFault);
    await assert.rejects(first.durable(4), JournalFault);
  });

  it('is continued by its new owner, with the facts and commands of the one before it', async () => {
    const log = new MemoryLog();
    const first = await settledOwner(log);
    first.append(commandUnit('cmd_1'));
    await durable(first);
    const { journal, recovered } = await claimed(log.reconnected(), { node: 'node-b' });
    assert.equal(recovered.rows.length, 4);
    assert.deepEqual(journal.executedCommand('cmd_1'), {
      ...recovered.executed[0],
      id: 'cmd_1',
      eventId: 'evt_a',
      reply: '{"id":"cmd_1"}',
      seq: 0,
    });
    assert.deepEqual([...journal.read()], [...first.read()]);
    await appendAll(journal, [unitOf('evt_a')]);
    assert.deepEqual((await readShard(log)).head, journal.content().head);
  });

  it('skips batches of the owner before it that arrive late, however many and in whatever order', async () => {
    for (let between = 0; between <= 3; between += 1) {
      const log = new MemoryLog();
      const first = await settledOwner(log);
      log.fail(...Array.from({ length: 200 }, () => 'HELD' as const));
      const waits: Promise<unknown>[] = [];
      for (let count = 0; count < IN_FLIGHT_MAX; count += 1) {
        waits.push(outcome(first, first.append(unitOf('evt_late'))));
        await nextRound();
      }
      const other = log.reconnected();
      const { journal } = await claimed(other, { node: 'node-b', timing: impatient });
      for (let count = 0; count < between; count += 1) await appendAll(journal, [unitOf('evt_b')]);
      log.arrive();
      await appendEach(journal, 6, 'evt_b');
      log.arrive();
      await durable(journal);
      const { rows, outcomes } = await readShard(other);
      assert.deepEqual(
        rows.slice(3).map(({ eventId }) => eventId),
        Array.from({ length: between + 6 }, () => 'evt_b'),
      );
      // With nothing in between, all but the first fit right after the claim.
      assert.equal(outcomes.filter((each) => each === 'VOID').length, Math.max(0, IN_FLIGHT_MAX - 1 - between));
      first.abandon();
      assert.ok((await Promise.all(waits)).every((fault) => fault instanceof JournalFault));
    }
  });

  it('gives no answer for a batch that got in after the claim', async () => {
    const log = new MemoryLog();
    const first = await settledOwner(log);
    log.fail('HELD', 'HELD');
    const waits: Promise<unknown>[] = [];
    for (let count = 0; count < 2; count += 1) {
      waits.push(outcome(first, first.append(unitOf('evt_late'))));
      await nextRound();
    }
    log.isReachable = false;
    const { journal } = await claimed(log.reconnected(), { node: 'node-b', timing: impatient });
    log.arrive();
    log.isReachable = true;
    assert.ok((await Promise.all(waits)).every((fault) => fault instanceof JournalFault));
    await appendAll(journal, [unitOf('evt_b')]);
    assert.deepEqual((await eventIds(log)).slice(3), ['evt_b']);
  });

  it('fences an owner that was away until its place in the log was purged', async () => {
    const log = new MemoryLog();
    const first = await settledOwner(log);
    const other = log.reconnected();
    const { journal } = await claimed(other, { node: 'node-b', timing: impatient });
    for (let count = 0; count < 8; count += 1) await appendAll(journal, [unitOf('evt_b')]);
    await other.purge(9);
    assert.match((await outcome(first, first.append(unitOf('evt_a'))))?.message ?? '', /purged/);
  });

  it('is confirmed to its owner while nobody else claims it, appends under way or not', async () => {
    const log = new MemoryLog();
    const first = await settledOwner(log);
    assert.equal(await first.confirmOwnership(), true);
    log.fail('ANSWER_LOST', 'ANSWER_LOST');
    await appendEach(first, 2);
    assert.equal(await first.confirmOwnership(), true);
    await durable(first);
    await claimed(log.reconnected(), { node: 'node-b' });
    log.fail('HELD');
    first.append(unitOf('evt_a'));
    await nextRound();
    assert.equal(await first.confirmOwnership(), false, 'a claim in the place of an append under way');
  });

  it('is fenced by the question whether it still owns the shard, so that it need not append to find out', async () => {
    const log = new MemoryLog();
    const first = await settledOwner(log);
    const faults: string[] = [];
    first.onFenced(({ message }) => faults.push(message));
    await claimed(log.reconnected(), { node: 'node-b' });
    assert.equal(await first.confirmOwnership(), false);
    assert.equal(first.status, 'CLOSED');
    assert.match(faults.join(), /node-b claimed it/);
    assert.equal(await first.confirmOwnership(), false);
  });

  it('is confirmed by an append where the newest one is not young, and by the leader of the log where it is', async () => {
    let nowMs = 0;
    const timing: Timing = { ...impatient, stopwatchMs: () => nowMs };
    const log = new MemoryLog();
    const { journal } = await claimed(log, { timing });
    assert.equal(await journal.confirmOwnership(), true);
    assert.deepEqual((await readShard(log)).outcomes, ['CLAIMED', 'VOID']);
    for (const passedMs of [1_500, 1_400]) {
      nowMs += passedMs;
      assert.equal(await journal.confirmOwnership(), true);
      assert.equal(await log.lastSeq(), 2);
    }
    nowMs += 100;
    assert.deepEqual(await Promise.all([journal.confirmOwnership(), journal.confirmOwnership()]), [true, true]);
    assert.equal(await log.lastSeq(), 3);
    nowMs += 3_000;
    journal.append(unitOf('evt_a'));
    assert.equal(await journal.confirmOwnership(), true, 'a batch is a proof');
    assert.deepEqual((await readShard(log)).outcomes, ['CLAIMED', 'VOID', 'VOID', 'COUNTED']);
    assert.deepEqual((await readShard(log)).head, journal.content().head);
    const next = await claimed(log.reconnected(), { node: 'node-b', timing });
    await appendAll(next.journal, [unitOf('evt_a')]);
    assert.equal((await readShard(log)).head.factSeq, 2);
  });

  it('is not confirmed by a leader that stood still and does not know the next one', async () => {
    let nowMs = 0;
    const timing: Timing = { ...impatient, stopwatchMs: () => nowMs };
    for (const pausedMs of [4_000, 3_000]) {
      const log = new MemoryLog();
      let frozenSeq: number | null = null;
      const seen: ShardLog = {
        append: (body, expected) => log.append(body, expected),
        lastSeq: async () => frozenSeq ?? log.lastSeq(),
        get: (seq) => log.get(seq),
        read: (from, through) => log.read(from, through),
        follow: (from, signal) => log.follow(from, signal),
        purge: (before) => log.purge(before),
      };
      const { journal } = await claimed(seen, { timing });
      await appendAll(journal, [unitOf('evt_a')]);
      frozenSeq = await log.lastSeq();
      nowMs += pausedMs;
      await claimed(log.reconnected(), { node: 'node-b' });
      assert.equal(await journal.confirmOwnership(), false);
      assert.equal(journal.status, 'CLOSED');
    }
  });

  it('is confirmed no more once its journal is closed or given up, also to those that wait', async () => {
    for (const end of ['close', 'abandon'] as const) {
      const log = new MemoryLog();
      const { journal } = await claimed(log, { timing: impatient });
      log.isReachable = false;
      const waiting = journal.confirmOwnership();
      await nextRound();
      await journal[end]();
      assert.equal(await waiting, false);
      assert.equal(await journal.confirmOwnership(), false);
    }
  });

  it('does not know who owns the shard while the log cannot be reached', async () => {
    const log = new MemoryLog();
    const first = await settledOwner(log);
    log.isReachable = false;
    await assert.rejects(first.confirmOwnership(), LogUnreachable);
    first.abandon();
  });
});

describe('The commands of a shard', () => {
  it('are known while their facts are under way, and from then on for a while by the stopwatch', async () => {
    let nowMs = 0;
    const timing: Timing = { ...impatient, stopwatchMs: () => nowMs };
    const { journal } = await claimed(new MemoryLog(), { timing });
    const seq = journal.append(commandUnit('cmd_1'));
    assert.equal(journal.executedCommand('cmd_1')?.seq, seq);
    assert.deepEqual(journal.content().executed, []);
    await durable(journal);
    assert.deepEqual(
      journal.content().executed.map(({ id }) => id),
      ['cmd_1'],
    );
    nowMs += EXECUTED_KEPT_MS - 1;
    await appendAll(journal, [commandUnit('cmd_2')]);
    assert.ok(journal.executedCommand('cmd_1'));
    nowMs += 1;
    await appendAll(journal, [commandUnit('cmd_3')]);
    assert.equal(journal.executedCommand('cmd_1'), null);
    assert.ok(journal.executedCommand('cmd_2'));
  });
});

describe('The rows of a shard', () => {
  it('are retained until they are released, and a checkpoint has those that are', async () => {
    const log = new MemoryLog();
    const { journal } = await claimed(log, { timing: impatient });
    await appendAll(journal, [unitOf('evt_a', 2), unitOf('evt_b', 2), unitOf('evt_a', 2)]);
    const all = journal.retainedBytes;
    journal.release('evt_a', 2);
    assert.ok(journal.retainedBytes < all);
    assert.deepEqual(
      [...(await journal.factsOf('evt_a', 0))].map(({ seq }) => seq),
      [5, 6],
    );
    assert.deepEqual(
      [...journal.read({ afterSeq: 3 })].map(({ seq }) => seq),
      [4, 5, 6],
    );
    const checkpoint = journal.content();
    await appendAll(journal, [unitOf('evt_b')]);
    await log.purge(checkpoint.head.streamSeq + 1);
    const { recovered } = await claimed(log.reconnected(), { node: 'node-b', checkpoint });
    assert.deepEqual(recovered.rows, [...journal.read()]);
    assert.deepEqual(new Map(recovered.head.heads), new Map(Object.entries({ evt_a: 6, evt_b: 7 })));
    journal.release('evt_a', 6);
    journal.release('evt_b', 7);
    assert.equal(journal.retainedBytes, 0);
  });
});

interface Step {
  readonly kind: 'append' | 'claim' | 'wait' | 'arrive' | 'fault';
  readonly node: number;
  readonly faults: readonly (AppendFault | null)[];
}

const NODES = 3;
const anyStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('append', 'append', 'append', 'append', 'claim', 'wait', 'wait', 'arrive', 'fault'),
  node: fc.nat(NODES - 1),
  faults: fc.array(fc.constantFrom<AppendFault | null>(null, 'HELD', 'HELD', 'LOST', 'ANSWER_LOST', 'NOT_YET'), {
    maxLength: 6,
  }),
});

describe('Nodes that claim a shard from each other at any time', () => {
  it('lose no fact that was durable, and have none twice', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 5, maxLength: 60 }), async (steps) => {
        const root = new MemoryLog();
        const logs = Array.from({ length: NODES }, () => root.reconnected());
        const journals: (ShardJournal | null)[] = Array.from({ length: NODES }, () => null);
        const answered: string[] = [];
        let units = 0;
        for (const { kind, node, faults } of steps) {
          const journal = journals[node] ?? null;
          if (kind === 'fault') logs[node]!.fail(...faults);
          if (kind === 'arrive') logs[node]!.arrive(1);
          if (kind === 'wait') for (let round = 0; round < 6; round += 1) await nextRound();
          if (kind === 'claim' && journal?.status !== 'OPEN') {
            journals[node] = (await claimed(logs[node]!, { node: `node-${node}`, timing: impatient })).journal;
          }
          if (kind === 'append' && journal?.status === 'OPEN') {
            const data = String(units++);
            const seq = journal.append({ eventId: 'evt_a', at: 1, facts: [{ type: 'HoldPlaced', data }] });
            void outcome(journal, seq).then((fault) => fault === null && answered.push(data));
            await nextRound();
          }
        }
        for (const log of logs) log.arrive();
        const last = (await claimed(root, { timing: impatient })).journal;
        for (const log of logs) log.arrive();
        await appendAll(last, [unitOf('evt_last'), unitOf('evt_last')]);
        for (const journal of journals) journal?.abandon();
        const { rows, head } = await readShard(root);
        assert.deepEqual(head, last.content().head);
        const stored = rows.filter(({ eventId }) => eventId === 'evt_a').map(({ data }) => data);
        assert.equal(new Set(stored).size, stored.length, 'a fact is there twice');
        assert.deepEqual(
          answered.filter((data) => !stored.includes(data)),
          [],
          'a durable fact is lost',
        );
      }),
      { numRuns: 300 },
    );
  });
});
