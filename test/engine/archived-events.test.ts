/** Archive and journal together have every fact: lost snapshots after a prune cost time alone. */
import assert from 'node:assert/strict';
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, it, type TestContext } from 'node:test';
import { startEngine, type Engine } from '#engine/engine.ts';
import { verifyFolder } from '#offline/verification.ts';
import { listSnapshots, SnapshotFolder } from '#persistence/snapshots.ts';
import { concert, place, START } from '../fixtures/actors.ts';
import { newDataFolder } from '../fixtures/folders.ts';
import { troublesAt } from '../fixtures/troubles.ts';
import { until } from '../fixtures/until.ts';

function start(folder: string): Promise<Engine> {
  return startEngine({
    folder,
    liveEventsMax: 10,
    waitingRepliesMax: 100,
    clockSource: () => START,
    onFatal: ({ message }) => assert.fail(message),
  });
}

async function open(t: Pick<TestContext, 'after'>, folder: string): Promise<Engine> {
  const engine = await start(folder);
  t.after(() => engine.stop());
  return engine;
}

async function define(engine: Engine, changes: object = {}): Promise<void> {
  const reply = await engine.events.define(concert(changes), { operator: null, note: null });
  assert.equal(reply.outcome, 'DONE');
}

async function hold(engine: Engine, eventId: string, sessionKey: string): Promise<void> {
  const actor = await engine.events.byEventId(eventId);
  const reply = await actor!.execute(place(sessionKey));
  assert.equal(reply.outcome, 'DONE', JSON.stringify(reply));
}

async function held(engine: Engine, eventId: string): Promise<readonly string[]> {
  const actor = await engine.events.byEventId(eventId);
  return actor!.inspect(({ holds }) => [...holds.byId.values()].map(({ sessionKey }) => sessionKey)).sort();
}

interface PrunedFolder {
  readonly folder: string;
  readonly stateFingerprint: string | null;
}

let pruned: Promise<PrunedFolder> | null = null;
let removePruned = (): void => {};
after(() => removePruned());

/** The folder of a stopped service with two events; all facts but the newest hold are archived, in two files. */
async function prunedFolder(t: TestContext): Promise<PrunedFolder> {
  const { folder: source, stateFingerprint } = await (pruned ??= makePrunedFolder());
  const folder = newDataFolder(t);
  cpSync(source, folder, { recursive: true });
  return { folder, stateFingerprint };
}

/** Makes the one that each test gets a copy of. */
async function makePrunedFolder(): Promise<PrunedFolder> {
  const cleanup = { after: (remove: () => void) => void (removePruned = remove) };
  const folder = newDataFolder(cleanup);
  const engine = await start(folder);
  await define(engine);
  await define(engine, { id: 'evt_other', slug: 'other' });
  await engine.stream.advanceClock(300);
  await hold(engine, 'evt_concert', 'session-1');
  await engine.snapshots.takeRound({ prune: true });
  await define(engine, { slug: 'renamed' });
  await hold(engine, 'evt_other', 'session-2');
  const first = await engine.snapshots.takeRound({ prune: true });
  const second = await engine.snapshots.takeRound({ prune: true });
  assert.deepEqual([first.archived?.toSeq, second.archived?.fromSeq, second.archived?.toSeq], [4, 5, 6]);
  await hold(engine, 'evt_concert', 'session-3');
  await engine.stop();
  const { stateFingerprint, problems, snapshots, snapshotsReplayed } = await verifyFolder(folder);
  assert.deepEqual(problems, []);
  assert.ok(snapshots.length > 3);
  assert.equal(snapshotsReplayed, snapshots.length, 'every snapshot is compared with archive and journal');
  return { folder, stateFingerprint };
}

const losses: Readonly<Record<string, (folder: string) => void>> = {
  'are gone': (folder) => rmSync(path.join(folder, 'snapshots'), { recursive: true }),
  'are damaged in the middle': (folder) => {
    for (const { path: file } of listSnapshots(folder)) {
      const bytes = readFileSync(file);
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(file, bytes);
    }
  },
  'are damaged in their first line': (folder) => {
    for (const { path: file } of listSnapshots(folder))
      writeFileSync(file, readFileSync(file, 'utf8').replaceAll('renamed', 'mistake').replaceAll('other', 'brother'));
  },
  'are empty': (folder) => {
    for (const { path: file } of listSnapshots(folder)) writeFileSync(file, '');
  },
  'are all but the oldest gone': (folder) => {
    const seen = new Set<string>();
    for (const { path: file, header } of listSnapshots(folder)) {
      if (seen.has(header!.eventId)) rmSync(file);
      seen.add(header!.eventId);
    }
  },
};

describe('After a prune, when the snapshots', () => {
  for (const [what, lose] of Object.entries(losses)) {
    it(`${what}, everything is activated from archive and journal, and the next round writes them anew`, async (t) => {
      const { folder, stateFingerprint } = await prunedFolder(t);
      lose(folder);
      assert.equal((await verifyFolder(folder)).stateFingerprint, stateFingerprint);
      const engine = await open(t, folder);
      assert.equal(engine.clock.now(), START + 300_000, 'the clock is where its archived fact set it');
      const renamed = await engine.events.bySlug('renamed');
      assert.deepEqual([renamed?.eventId, await engine.events.bySlug('concert')], ['evt_concert', null]);
      assert.deepEqual(await held(engine, 'evt_concert'), ['session-1', 'session-3']);
      assert.deepEqual(await held(engine, 'evt_other'), ['session-2']);
      const { outcomes } = await engine.snapshots.takeRound();
      assert.ok(outcomes.every(({ trouble }) => trouble === null));
      const taken = new Set(outcomes.map(({ eventId }) => eventId));
      assert.ok(taken.has('evt_concert') && taken.has('evt_other'));
      assert.deepEqual((await engine.snapshots.takeRound()).outcomes, [], 'all newest ones are good');
      await engine.stop();
      assert.equal((await verifyFolder(folder)).stateFingerprint, stateFingerprint);
    });
  }
});

describe('An archive with a file that is damaged', () => {
  it('is seen at the start and by a prune, until the file is put back', async (t) => {
    const { folder } = await prunedFolder(t);
    const file = path.join(folder, 'archive', '1-4.db');
    const sound = readFileSync(file);
    writeFileSync(file, sound.subarray(0, sound.length / 2));
    const troubles = troublesAt(t, 'archive');
    const engine = await open(t, folder);
    await until(() => engine.state().degraded.includes('archive'));
    assert.equal(engine.state().archiveProblems, 1);
    assert.match(
      troubles[0]!.message,
      /archive\/1-4\.db: .*; no other file has facts 1 to 4\. Put the archive file back/,
    );
    await hold(engine, 'evt_concert', 'session-4');
    writeFileSync(file, sound);
    await engine.takeSnapshots({ prune: true }, null);
    await until(() => engine.state().degraded.length === 0);
    rmSync(path.join(folder, 'archive'), { recursive: true });
    await engine.takeSnapshots({ prune: true }, null);
    await until(() => engine.state().degraded.includes('archive'));
  });
});

describe('Verification after a prune', () => {
  it('names a snapshot that is not what the archived facts add up to', async (t) => {
    const { folder } = await prunedFolder(t);
    const snapshots = new SnapshotFolder(folder);
    const { header, pieces, path: file } = (await snapshots.newest('evt_concert', 6))!;
    await snapshots.write(
      header,
      pieces.map((piece) => piece.replace('session-1', 'session-9')),
    );
    assert.deepEqual(
      (await verifyFolder(folder)).problems.map(({ what, where }) => [what, where]),
      [['a snapshot is not what its facts add up to', `event evt_concert, ${file}`]],
    );
  });

  it('goes on from the oldest snapshot after a file of the archive that is lost', async (t) => {
    const { folder, stateFingerprint } = await prunedFolder(t);
    rmSync(path.join(folder, 'archive', '1-4.db'));
    const report = await verifyFolder(folder);
    assert.equal(report.stateFingerprint, stateFingerprint);
    assert.ok(report.snapshotsReplayed > 0 && report.snapshotsReplayed < report.snapshots.length);
    assert.match(
      report.problems.map(({ what }) => what).join(),
      /^facts 1 to 4 were moved to the archive[^,]*, [^,]*$/,
    );
  });
});

describe('An event whose archived facts cannot be read', () => {
  it('exists and cannot be activated; it is never defined anew, and no other event gets its number', async (t) => {
    const { folder } = await prunedFolder(t);
    rmSync(path.join(folder, 'snapshots'), { recursive: true });
    const [first = ''] = readdirSync(path.join(folder, 'archive')).sort();
    rmSync(path.join(folder, 'archive', first));
    const engine = await open(t, folder);
    const before = engine.journal.appendedSeq;
    const isNamed = ({ cause }: Error): boolean =>
      /facts 1 to 4 were moved to the archive, and no file of it has them/.test(String(cause));
    await assert.rejects(engine.events.define(concert(), { operator: null, note: null }), isNamed);
    await assert.rejects(Promise.resolve(engine.events.byEventId('evt_other')), isNamed);
    assert.equal(engine.journal.appendedSeq, before, 'nothing was written');
    await define(engine, { id: 'evt_new', slug: 'new' });
    const actor = await engine.events.byEventId('evt_new');
    assert.equal(
      actor!.inspect(({ eventNumber }) => eventNumber),
      3,
    );
    await engine.stop();
    const { problems, stateFingerprint } = await verifyFolder(folder);
    assert.equal(stateFingerprint, null);
    assert.ok(problems.some(({ what, where }) => /facts 1 to 4/.test(what) && /evt_other/.test(where)));
  });
});
