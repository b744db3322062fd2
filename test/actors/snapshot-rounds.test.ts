import assert from 'node:assert/strict';
import { rmSync, writeFileSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import { startEngine, type Engine } from '#actors/engine.ts';
import { verifyFolder } from '#actors/verification.ts';
import { listSnapshots, SnapshotFolder } from '#persistence/snapshots.ts';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import type { CommandOf } from '#domain/command.ts';
import { concert, START } from '../fixtures/actors.ts';
import { newDataFolder } from '../fixtures/folders.ts';

const place = (sessionKey: string): CommandOf<'PlaceHold'> => ({
  type: 'PlaceHold',
  sessionKey,
  items: [{ ticketTypeId: 'stand', sellingStageId: 'now', performanceId: null, quantity: 1, seatIds: null }],
  queuePass: null,
  idempotency: null,
});

function open(folder: string, now = START): Promise<Engine> {
  return startEngine({
    folder,
    liveEventsMax: 10,
    waitingRepliesMax: 100,
    clockSource: () => now,
    onFatal: ({ message }) => assert.fail(message),
  });
}

async function define(engine: Engine, changes: object = {}): Promise<void> {
  const reply = await engine.events.define(concert(changes), { operator: null, note: null });
  assert.equal(reply.outcome, 'DONE');
}

async function hold(engine: Engine, sessionKey: string): Promise<void> {
  const actor = await engine.events.byEventId('evt_concert');
  const reply = await actor!.execute(place(sessionKey));
  assert.equal(reply.outcome, 'DONE', JSON.stringify(reply));
}

describe('A round of snapshots', () => {
  it('takes one of every stream that grew, the service’s own too, and none of the others', async (t) => {
    const engine = await open(newDataFolder(t));
    await define(engine);
    await define(engine, { id: 'evt_other', slug: 'other' });
    await engine.stream.advanceClock(60);
    const first = await engine.snapshots.takeRound();
    assert.deepEqual(first.outcomes.map(({ eventId }) => eventId).sort(), ['', 'evt_concert', 'evt_other']);
    assert.ok(first.outcomes.every(({ trouble }) => trouble === null));
    assert.deepEqual((await engine.snapshots.takeRound()).outcomes, []);
    await hold(engine, 'session-1');
    assert.deepEqual(
      (await engine.snapshots.takeRound()).outcomes.map(({ eventId, seq }) => [eventId, seq]),
      [['evt_concert', 4]],
    );
    await engine.stop();
  });

  it('prunes nothing that was not in a snapshot before it', async (t) => {
    const engine = await open(newDataFolder(t));
    await define(engine);
    assert.equal((await engine.snapshots.takeRound({ prune: true })).archived, null);
    await hold(engine, 'session-1');
    await define(engine, { id: 'evt_other', slug: 'other' });
    await hold(engine, 'session-2');
    const { archived } = await engine.snapshots.takeRound({ prune: true });
    assert.deepEqual([archived?.fromSeq, archived?.toSeq], [1, 1]);
    const next = await engine.snapshots.takeRound({ prune: true });
    assert.deepEqual([next.archived?.fromSeq, next.archived?.toSeq], [2, 4]);
    await engine.stop();
  });

  it('keeps the clock, the events, their newest slug and the state when everything is pruned', async (t) => {
    const folder = newDataFolder(t);
    const engine = await open(folder);
    await define(engine);
    await engine.snapshots.takeRound();
    await define(engine, { slug: 'renamed' });
    await hold(engine, 'session-1');
    await engine.stream.advanceClock(300);
    await engine.snapshots.takeRound();
    const before = await verifyFolder(folder);
    await engine.snapshots.takeRound({ prune: true });
    await engine.stop();

    const after = await verifyFolder(folder);
    assert.deepEqual(after.problems, []);
    assert.equal(after.facts, 0);
    assert.equal(after.stateFingerprint, before.stateFingerprint);
    const again = await open(folder);
    assert.equal(again.wasEmpty, false);
    assert.equal(again.clock.offsetMs, 300_000);
    assert.equal(again.clock.now(), START + 300_000);
    const found = await again.events.bySlug('renamed');
    assert.equal(await again.events.bySlug('concert'), null);
    assert.equal(
      found?.inspect((state) => state.holds.byId.size),
      1,
    );
    await again.stop();
  });
});

describe('Verification', () => {
  it('finds no problem while a process serves from the folder', async (t) => {
    const folder = newDataFolder(t);
    const engine = await open(folder);
    await define(engine);
    for (const session of ['session-1', 'session-2', 'session-3']) await hold(engine, session);
    await engine.snapshots.takeRound();
    const report = await verifyFolder(folder);
    assert.deepEqual(report.problems, []);
    assert.equal(report.figures.tickets.held, 3);
    assert.equal(report.snapshotsReplayed, 1);
    assert.equal(report.stateFingerprint?.length, 64);
    await engine.stop();
  });

  it('names a snapshot that differs from the state of its facts', async (t) => {
    const folder = newDataFolder(t);
    const engine = await open(folder);
    await define(engine);
    await hold(engine, 'session-1');
    const { outcomes } = await engine.snapshots.takeRound();
    await engine.stop();
    const snapshots = new SnapshotFolder(folder);
    const good = await snapshots.newest('evt_concert');
    const pieces = good!.pieces.map((piece) => piece.replace('session-1', 'session-2'));
    await snapshots.write(good!.header, pieces);
    const report = await verifyFolder(folder);
    assert.equal(outcomes.length, 1);
    assert.deepEqual(
      report.problems.map(({ what }) => what),
      ['a snapshot is not what its facts add up to'],
    );
    assert.match(report.problems[0]!.where, /^event evt_concert, .*evt_concert-2\.snapshot$/);
  });

  it('names the fact after which a replay stops', async (t) => {
    const folder = newDataFolder(t);
    const engine = await open(folder);
    await define(engine);
    await engine.stop();
    const journal = await openSqliteJournal({ folder });
    journal.append({
      eventId: 'evt_concert',
      at: START,
      facts: [{ type: 'HoldReleased', data: JSON.stringify({ holdId: 'hld_nobody' }) }],
    });
    await journal.close();
    const report = await verifyFolder(folder);
    assert.equal(report.problems.length, 1);
    assert.match(report.problems[0]!.what, /its replay stops after fact 1: a hold that a fact names exists/);
    assert.match(report.problems[0]!.hint, /holdfast restore --to NEW_DIR --seq 1/);
    assert.equal(report.stateFingerprint, null);
  });

  it('names a damaged snapshot after a prune and, without the archive, the missing facts', async (t) => {
    const folder = newDataFolder(t);
    const engine = await open(folder);
    await define(engine);
    await engine.snapshots.takeRound();
    await engine.snapshots.takeRound({ prune: true });
    await engine.stop();
    for (const { path: file } of listSnapshots(folder)) {
      writeFileSync(file, readFileSync(file, 'utf8').replace('Concert', 'Concept'));
    }
    const damaged = await verifyFolder(folder);
    assert.deepEqual(
      damaged.problems.map(({ what }) => what),
      ['its header fails its digest'],
    );
    assert.equal(damaged.stateFingerprint?.length, 64);
    rmSync(path.join(folder, 'archive'), { recursive: true });
    const { problems, stateFingerprint } = await verifyFolder(folder);
    assert.equal(stateFingerprint, null);
    assert.ok(problems.some(({ what }) => /facts 1 to 1 .* no file of it has them/.test(what)));
  });
});
