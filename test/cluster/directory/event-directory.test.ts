/**
 * The copy of the index at every node: what it reads, what it does when messages are missing, and when it says that it
 * has changed.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { EventDirectory } from '#cluster/directory/event-directory.ts';
import { nodeTiming } from '#persistence/nats/timing.ts';
import { draftEntry } from '#actors/event-entry.ts';
import { MemoryLog } from '#persistence/memory/shard-log.ts';
import { ArchiveBucket } from '#persistence/nats/objects/archive-bucket.ts';
import { Checkpoints } from '#persistence/nats/objects/checkpoints.ts';
import { claimShard } from '#persistence/nats/log/claim.ts';
import { MemoryObjects } from '#persistence/memory/objects.ts';
import { purgeLog } from '#persistence/nats/objects/purge.ts';
import type { ShardJournal } from '#persistence/nats/log/journal.ts';
import { until } from '../../fixtures/until.ts';

/** The log of shard 0 with an owner that writes it. */
async function openShard() {
  const log = new MemoryLog();
  const objects = new MemoryObjects();
  const checkpoints = new Checkpoints(objects, 0);
  const archive = new ArchiveBucket(new MemoryObjects(), 0);
  const claimed = await claimShard(log, { node: 'owner', checkpoint: null });
  assert.equal(claimed.outcome, 'CLAIMED');
  const { journal } = claimed as { readonly journal: ShardJournal };
  const index = (name: string, eventNumber: number): Promise<void> => {
    const entry = draftEntry(`evt_${name}`, name, eventNumber);
    const facts = [{ type: 'EventIndexed', data: JSON.stringify({ entry }) }];
    return journal.durable(journal.append({ eventId: '', at: 1, facts }));
  };
  const open = (own: MemoryLog): EventDirectory => {
    const ports = { checkpoints, archive, readSnapshot: async () => null, time: nodeTiming };
    return new EventDirectory({ ...ports, log: own });
  };
  return { log, checkpoints, archive, journal, index, open };
}

describe('The directory of events', () => {
  it('has what the log has, and follows it', async () => {
    const { log, index, open } = await openShard();
    await index('one', 1);
    const directory = open(log.reconnected());
    assert.equal(directory.isRead, false);
    const following = directory.start();
    await until(() => directory.isRead);
    assert.equal(directory.index.bySlug('one')?.eventNumber, 1);
    await index('two', 2);
    await until(() => directory.index.size === 2);
    directory.stop();
    await following;
  });

  it('says that it has changed when the index has, and not when an event of the shard was sold', async () => {
    const { log, journal, index, open } = await openShard();
    const directory = open(log.reconnected());
    const following = directory.start();
    await until(() => directory.isRead);
    let changes = 0;
    directory.onChange(() => (changes += 1));
    for (let at = 2; at < 12; at += 1) {
      const facts = [{ type: 'HoldPlaced', data: '{}' }];
      await journal.durable(journal.append({ eventId: 'evt_one', at, facts }));
    }
    await index('one', 1);
    await until(() => directory.index.size === 1);
    assert.equal(changes, 1);
    directory.stop();
    await following;
  });

  it('catches up with what was in the log before it was asked to, however late it hears of that', async () => {
    const { log, index, open } = await openShard();
    const own = log.reconnected();
    const directory = open(own);
    const following = directory.start();
    await until(() => directory.isRead);
    own.isLate = true;
    await index('one', 1);
    assert.equal(await directory.catchUp(1), false, 'the time was up');
    let isCurrent: boolean | null = null;
    const catchingUp = directory.catchUp(60_000).then((value) => (isCurrent = value));
    await log.lastSeq();
    assert.deepEqual([isCurrent, directory.index.size], [null, 0]);
    own.isLate = false;
    assert.equal(await catchingUp, true);
    assert.equal(directory.index.bySlug('one')?.eventNumber, 1);
    own.isReachable = false;
    assert.equal(await directory.catchUp(60_000), false, 'the log does not answer');
    directory.stop();
    await following;
  });

  it('lets nobody wait for a message where a checkpoint has all that was in the log', async () => {
    const { log, checkpoints, archive, journal, index } = await openShard();
    await index('one', 1);
    await checkpoints.write({ ...journal.content(), snapshots: [] });
    const ports = { checkpoints, archive, readSnapshot: async () => null, log: log.reconnected() };
    // No time is ever up.
    const directory = new EventDirectory({ ...ports, time: { ...nodeTiming, after: () => () => {} } });
    const catchingUp = directory.catchUp(1);
    const following = directory.start();
    await until(() => directory.isRead);
    assert.equal(await Promise.race([catchingUp, pause(5_000, 'still waiting', { ref: false })]), true);
    directory.stop();
    await following;
  });

  it('asks for the end of the log once for all who wait, and again for those who came meanwhile', async () => {
    const { log, open } = await openShard();
    const own = log.reconnected();
    const directory = open(own);
    const following = directory.start();
    await until(() => directory.isRead);
    let questions = 0;
    own.lastSeq = async () => {
      questions += 1;
      return log.lastSeq();
    };
    const ask = () => Promise.all(Array.from({ length: 100 }, () => directory.catchUp(60_000)));
    const first = ask();
    await until(() => questions === 1);
    const answers = await Promise.all([first, ask(), ask()]);
    assert.ok(answers.flat().every(Boolean));
    assert.equal(questions, 2);
    directory.stop();
    await following;
  });

  it('begins again from a checkpoint when messages that it had not read were purged', async () => {
    const { log, checkpoints, archive, journal, index, open } = await openShard();
    const purged = Promise.withResolvers<void>();
    let follows = 0;
    /** The connection of a node that is held up: it sees the next message only after the purge. */
    const own = log.reconnected();
    const follow = own.follow.bind(own);
    own.follow = async function* (fromSeq, signal) {
      follows += 1;
      if (follows > 1) return yield* follow(fromSeq, signal);
      yield* log.read(fromSeq, await log.lastSeq());
      await purged.promise;
      yield (await log.get(await log.lastSeq()))!;
    };
    const directory = open(own);
    await index('one', 1);
    const following = directory.start();
    await until(() => directory.isRead);
    for (let number = 2; number < 8; number += 1) {
      await index(`event-${number}`, number);
      await checkpoints.write({ ...journal.content(), snapshots: [] });
    }
    await purgeLog(log, archive, checkpoints);
    const facts = [{ type: 'HoldPlaced', data: '{}' }];
    await journal.durable(journal.append({ eventId: 'evt_one', at: 2, facts }));
    purged.resolve();
    await until(() => directory.index.size === 7);
    assert.equal(follows, 2);
    directory.stop();
    await following;
  });
});
