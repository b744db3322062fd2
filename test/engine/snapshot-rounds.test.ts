import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { startEngine, type Engine, type EngineOptions } from '#engine/engine.ts';
import { verifyFolder } from '#offline/verification.ts';
import { JournalDamaged } from '#persistence/faults.ts';
import { listSnapshots, SnapshotFolder } from '#persistence/snapshots.ts';
import { openSqliteJournal } from '#persistence/sqlite/journal.ts';
import { concert, place, START } from '../fixtures/actors.ts';
import { newDataFolder, newFolder } from '../fixtures/folders.ts';
import { troublesAt } from '../fixtures/troubles.ts';

function open(folder: string, now = START, options: Partial<EngineOptions> = {}): Promise<Engine> {
  return startEngine({
    ...options,
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

  it('prunes nothing of which the receiver was not notified, also by an engine that notifies nobody', async (t) => {
    const folder = newDataFolder(t);
    const first = await open(folder);
    await define(first);
    await first.stream.record({ type: 'NotificationsDelivered', data: { throughSeq: 1, behind: {} } });
    for (let n = 0; n < 5; n += 1) await hold(first, `session-${n}`);
    await first.stop();
    const offline = await open(folder);
    for (let round = 0; round < 2; round += 1) await offline.snapshots.takeRound({ prune: true });
    assert.equal(offline.journal.baseSeq, 1);
    await offline.stop();
    const troubles = troublesAt(t, 'notifications');
    const without = await open(folder, START, { keepsUndelivered: [] });
    await without.snapshots.takeRound({ prune: true });
    assert.equal(without.journal.baseSeq, 7);
    await without.stop();
    const later = await open(folder);
    await later.followFacts('notifications', async ({ cursor }) => ({
      deliveredSeq: cursor!.throughSeq,
      stop: async () => {},
    }));
    assert.match(troubles[0]?.message ?? '', /facts 2 to 7 .* holdfast notify --from 2 sends them/);
    await later.stop();
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
    const { what, hint } = report.problems[0]!;
    assert.match(
      what,
      /^fact 2 \(HoldReleased\) contradicts .* rule that does not hold: a hold that a fact names exists/,
    );
    assert.ok(hint.endsWith(`holdfast restore ${folder} --to NEW_DIR --seq 1`), hint);
    assert.deepEqual([report.stateFingerprint, report.leftOut], [null, 1]);
  });

  it('is as of the last fact before a damage of the journal, which is one problem', async (t) => {
    const folder = newDataFolder(t);
    const engine = await open(folder);
    await define(engine);
    await hold(engine, 'session-1');
    await engine.snapshots.takeRound();
    const { stateFingerprint } = await verifyFolder(folder);
    await hold(engine, 'session-2');
    await hold(engine, 'session-3');
    await engine.stop();
    const db = new Database(path.join(folder, 'journal.db'));
    db.exec(`UPDATE journal SET data = replace(data, 'session-2', 'session-9') WHERE seq = 3`);
    db.close();
    const report = await verifyFolder(folder);
    assert.deepEqual([report.headSeq, report.provedSeq, report.figures.tickets.held], [4, 2, 1]);
    assert.equal(report.stateFingerprint, stateFingerprint);
    assert.deepEqual(
      report.problems.map(({ what }) => what),
      ['the journal is damaged: the batch of fact 3 fails its checksum; facts 3 to 4 are lost or in doubt'],
    );
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

describe('A snapshot without its journal', () => {
  /** A folder with a snapshot of its only event, after some holds. */
  async function sold(t: TestContext, holds: number): Promise<string> {
    const folder = newDataFolder(t);
    const engine = await open(folder);
    await define(engine);
    for (let n = 0; n < holds; n += 1) await hold(engine, `session-${n}`);
    await engine.snapshots.takeRound();
    await engine.stop();
    return folder;
  }

  it('is not served as a shop of its own: a copy that was cut off is refused', async (t) => {
    const folder = newFolder(t);
    cpSync(path.join(await sold(t, 2), 'snapshots'), path.join(folder, 'snapshots'), { recursive: true });
    await assert.rejects(open(folder), /it has no fact, but the folder has .*\.snapshot/);
    await assert.rejects(
      open(folder),
      JournalDamaged,
      'the first start left nothing that the second takes for a journal',
    );
    const archived = newFolder(t);
    mkdirSync(path.join(archived, 'archive'));
    writeFileSync(path.join(archived, 'archive', '1-4.db'), '');
    await assert.rejects(open(archived), JournalDamaged);
  });

  it('of a later fact than the journal has is set aside, and hides nothing that is sold from then on', async (t) => {
    const folder = await sold(t, 1);
    cpSync(path.join(await sold(t, 4), 'snapshots'), path.join(folder, 'snapshots'), { recursive: true });
    const troubles = troublesAt(t, 'snapshot');
    const engine = await open(folder);
    assert.match(troubles[0]?.message ?? '', /is set aside: the journal ends before it, at fact 2/);
    for (let n = 10; n < 16; n += 1) await hold(engine, `session-${n}`);
    await engine.stop();
    const again = await open(folder);
    const actor = await again.events.byEventId('evt_concert');
    assert.equal(
      actor!.inspect((state) => state.holds.byId.size),
      7,
    );
    await again.stop();
    assert.deepEqual((await verifyFolder(folder)).problems, []);
  });
});
