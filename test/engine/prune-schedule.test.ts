import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { startEngine, type Engine } from '#engine/engine.ts';
import { startPruneSchedule, type PruneSchedule } from '#engine/prune-schedule.ts';
import { verifyFolder } from '#offline/verification.ts';
import type { SnapshotRound } from '#engine/snapshot-rounds.ts';
import { concert, START } from '../fixtures/actors.ts';
import { newDataFolder } from '../fixtures/folders.ts';

const HOUR_MS = 3_600_000;

/** A service's engine on a clock of the test, with its schedule; each call of `open` is a start. */
function scheduled(t: TestContext) {
  const folder = newDataFolder(t);
  const time = { now: START };
  const rounds: SnapshotRound[] = [];
  const open = async (everyHours = 24): Promise<{ engine: Engine; schedule: PruneSchedule }> => {
    const engine = await startEngine({
      folder,
      liveEventsMax: 10,
      waitingRepliesMax: 100,
      clockSource: () => time.now,
      onFatal: ({ message }) => assert.fail(message),
    });
    t.after(() => engine.stop());
    const schedule = startPruneSchedule(everyHours * HOUR_MS, {
      clock: engine.clock,
      lastPrunedAt: () => engine.snapshots.lastPrunedAt,
      mayPrune: () => engine.state().trouble === null,
      prune: () => engine.snapshots.takeRound({ prune: true, proveAll: false }),
      onPruned: (round) => rounds.push(round),
      checkEveryMs: 1_000_000,
    });
    t.after(() => schedule.stop());
    return { engine, schedule };
  };
  return { folder, time, rounds, open };
}

async function define(engine: Engine, changes: object = {}): Promise<void> {
  const reply = await engine.events.define(concert(changes), { operator: null, note: null });
  assert.equal(reply.outcome, 'DONE');
}

describe('The schedule of prunes', () => {
  it('prunes every so many hours of the service’s clock, archives first and loses nothing', async (t) => {
    const { folder, time, rounds, open } = scheduled(t);
    const { engine, schedule } = await open();
    await define(engine);
    time.now += 24 * HOUR_MS - 1;
    await schedule.pruneWhenDue();
    assert.equal(rounds.length, 0);
    time.now += 1;
    await Promise.all([schedule.pruneWhenDue(), schedule.pruneWhenDue()]);
    assert.deepEqual([rounds.length, rounds[0]?.outcomes.length, rounds[0]?.archived], [1, 1, null]);
    await define(engine, { slug: 'renamed' });
    await schedule.pruneWhenDue();
    assert.equal(rounds.length, 1, 'not before the next day');
    time.now += 24 * HOUR_MS;
    await schedule.pruneWhenDue();
    assert.deepEqual([rounds[1]?.archived?.fromSeq, rounds[1]?.archived?.toSeq], [1, 1]);
    assert.deepEqual(readdirSync(path.join(folder, 'archive')), ['1-1.db']);
    await engine.stop();
    assert.deepEqual((await verifyFolder(folder)).problems, []);
  });

  it('does not wait anew after every start: the archive and the oldest fact say when a prune is due', async (t) => {
    const { time, rounds, open } = scheduled(t);
    for (let day = 0; day < 5; day += 1) {
      const { engine, schedule } = await open();
      await define(engine, { description: `day ${day}` });
      await schedule.pruneWhenDue();
      time.now += 13 * HOUR_MS;
      await schedule.pruneWhenDue();
      schedule.stop();
      await engine.stop();
    }
    assert.ok(rounds.length >= 2, `${rounds.length} prunings in 65 hours of five starts`);
    assert.ok(rounds.some(({ archived }) => archived !== null));
    const { engine, schedule } = await open();
    const count = rounds.length;
    const sinceMs = time.now - engine.snapshots.lastPrunedAt;
    time.now += 24 * HOUR_MS - sinceMs - 1;
    await schedule.pruneWhenDue();
    assert.equal(rounds.length, count, 'a start is no reason to prune again');
    time.now += 1;
    await schedule.pruneWhenDue();
    assert.equal(rounds.length, count + 1);
    await engine.stop();
  });

  it('never prunes with 0, and counts prunes that an operator requests', async (t) => {
    const { time, rounds, open } = scheduled(t);
    const never = await open(0);
    await define(never.engine);
    time.now += 1_000 * HOUR_MS;
    await never.schedule.pruneWhenDue();
    assert.equal(rounds.length, 0);
    await never.engine.stop();
    const { engine, schedule } = await open();
    await engine.snapshots.takeRound({ prune: true });
    time.now += 23 * HOUR_MS;
    await schedule.pruneWhenDue();
    assert.equal(rounds.length, 0);
    await engine.stop();
  });

  it('tries a failed prune again after an hour, and begins none while it may not', async () => {
    const time = { now: START };
    let mayPrune = false;
    let tries = 0;
    const schedule = startPruneSchedule(HOUR_MS, {
      clock: { now: () => time.now },
      lastPrunedAt: () => START - HOUR_MS,
      mayPrune: () => mayPrune,
      prune: () => Promise.reject(new Error(`try ${(tries += 1)}`)),
      onPruned: () => assert.fail('nothing was pruned'),
      checkEveryMs: 1_000_000,
    });
    await schedule.pruneWhenDue();
    assert.equal(tries, 0);
    mayPrune = true;
    await schedule.pruneWhenDue();
    time.now += HOUR_MS - 1;
    await schedule.pruneWhenDue();
    assert.equal(tries, 1);
    time.now += 1;
    await schedule.pruneWhenDue();
    assert.equal(tries, 2);
    schedule.stop();
  });
});
