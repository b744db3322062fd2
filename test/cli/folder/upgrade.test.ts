/** `holdfast upgrade --check` on folders of every format ever written, and on folders that must not be taken over. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { RELEASED } from '#offline/format-changes.ts';
import { SnapshotFolder } from '#persistence/snapshots.ts';
import { folderOf, goldenFolder, goldenJournals, readGolden, readGoldenKeys, prune } from '../../golden/golden.ts';
import { newFolder } from '../../fixtures/folders.ts';
import { holdfast, samples, succeeded, type Environment } from '../holdfast.ts';

interface Report {
  readonly ok: boolean;
  readonly start_ms: number | null;
  readonly first_answers: readonly { event_id: string; facts: number; facts_replayed: number; ms: number | null }[];
  readonly unknown_facts: readonly { type: string; count: number; first_seq: number; event_ids: string[] }[];
  readonly settings: readonly { setting: string; event_ids: string[] }[];
  readonly ways_back: readonly { version: string; reading: string; without_snapshots: boolean; in_the_way: string[] }[];
  readonly troubles: readonly { what: string; hint: string }[];
  readonly verification: { problems: readonly { what: string; where: string; hint: string }[] } | null;
}

async function check(
  folder: string,
  environment: Environment = {},
): Promise<{ code: number | null; report: Report; stderr: string }> {
  const ended = await holdfast(['upgrade', '--check', folder, '--json'], environment);
  assert.equal(ended.stderr, '');
  return { code: ended.code, report: ended.json<Report>(), stderr: ended.stderr };
}

/** Every file of a folder with its digest; the empty log and shared memory that a reader may leave are not data. */
function bytesOf(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (name) => !/-(?:wal|shm)$/.test(name),
  );
  return Object.fromEntries(
    files
      .filter((name) => statSync(path.join(folder, name)).isFile())
      .map((name) => [
        name,
        createHash('sha256')
          .update(readFileSync(path.join(folder, name)))
          .digest('hex'),
      ]),
  );
}

describe('upgrade --check on golden journals', () => {
  for (const name of goldenJournals()) {
    it(`finds ${name} good, writes nothing, and measures a start and the first answers`, async (t) => {
      const rows = readGolden(name);
      const folder = await folderOf(t, rows, readGoldenKeys(name));
      const before = bytesOf(folder);
      const { code, report } = await check(folder);
      assert.deepEqual(report.troubles, []);
      assert.equal(code, 0);
      assert.equal(report.ok, true);
      assert.deepEqual(bytesOf(folder), before);
      assert.ok(report.start_ms! > 0);
      const facts = new Map<string, number>();
      for (const { eventId } of rows) if (eventId !== '') facts.set(eventId, (facts.get(eventId) ?? 0) + 1);
      assert.deepEqual(new Map(report.first_answers.map((each) => [each.event_id, each.facts])), facts);
      assert.ok(
        report.first_answers.every(({ ms, facts: all, facts_replayed: replayed }) => ms! > 0 && replayed === all),
      );
    });
  }

  it('finds a pruned folder with snapshots good', async (t) => {
    const folder = await folderOf(t, readGolden('journal-2.ndjson'));
    await prune(folder);
    const { code, report } = await check(folder);
    assert.equal(code, 0, JSON.stringify(report));
    assert.ok(report.first_answers.every(({ facts, facts_replayed: replayed }) => replayed < facts));
  });

  it('finds a folder with snapshots of format 1 good', async (t) => {
    const rows = readGolden('journal-1.ndjson');
    const folder = await folderOf(t, rows);
    const lines = readFileSync(new URL('snapshot-1.ndjson', goldenFolder), 'utf8').trimEnd().split('\n');
    const pieces = lines.map((line) => JSON.parse(line) as { readonly eventId: string; readonly piece: object });
    for (const eventId of new Set(pieces.map((each) => each.eventId))) {
      const seq = rows.findLast((row) => row.eventId === eventId)!.seq;
      const own = pieces.filter((each) => each.eventId === eventId).map(({ piece }) => JSON.stringify(piece));
      await new SnapshotFolder(folder).write({ eventId, seq, at: 1, about: null }, own);
    }
    const { code, report } = await check(folder);
    assert.equal(code, 0, JSON.stringify(report));
    assert.ok(report.first_answers.every(({ facts_replayed: replayed }) => replayed === 0));
    assert.deepEqual(
      report.ways_back.map(({ reading, without_snapshots: without }) => [reading, without]),
      [['YES', false]],
    );
  });
});

describe('upgrade --check on a folder that must not be taken over', () => {
  it('names a type of fact that a newer version wrote, how often and where', async (t) => {
    const rows = readGolden('journal-1.ndjson');
    const unknown = (eventId: string) => ({ seq: 0, at: rows.at(-1)!.at, eventId, type: 'SeatTeleported', data: '{}' });
    const { code, report } = await check(
      await folderOf(t, [...rows, unknown('evt_gala'), unknown('evt_gala'), unknown('')]),
    );
    assert.equal(code, 1);
    const named = { type: 'SeatTeleported', count: 3, first_seq: rows.length + 1, event_ids: ['evt_gala', ''] };
    assert.deepEqual(report.unknown_facts, [named]);
    assert.match(report.troubles[0]!.hint, /run that version, or a later one/);
    assert.ok(report.verification!.problems.some(({ where }) => where.includes('evt_gala')));
  });

  it('names a snapshot that is not what its facts add up to, and what to do', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson'));
    await prune(folder, 1);
    const name = readdirSync(path.join(folder, 'snapshots')).find((each) => each.startsWith('evt_gala'))!;
    const file = path.join(folder, 'snapshots', name);
    const [header = '', ...further] = readFileSync(file, 'utf8').trimEnd().split('\n');
    const pieces = further.slice(0, -1).map((piece) => piece.replace('"unitPriceCents":4000', '"unitPriceCents":4001'));
    assert.notDeepEqual(pieces, further.slice(0, -1), 'a price was changed');
    const { eventId, seq, at, about } = JSON.parse(header) as {
      eventId: string;
      seq: number;
      at: number;
      about: unknown;
    };
    await new SnapshotFolder(folder).write({ eventId, seq, at, about }, pieces);
    const { code, report } = await check(folder);
    assert.equal(code, 1);
    const [problem] = report.verification!.problems;
    assert.match(problem!.what, /a snapshot is not what its facts add up to/);
    assert.ok(problem!.where.includes(name));
    assert.match(problem!.hint, /^Delete .*snapshot: the journal decides/);
  });

  it('names an archive file that is broken, and what to do', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson'));
    await prune(folder);
    const [name = assert.fail('there is an archive')] = readdirSync(path.join(folder, 'archive'));
    const file = path.join(folder, 'archive', name);
    const bytes = readFileSync(file);
    bytes.fill(0x20, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 512);
    writeFileSync(file, bytes);
    const { code, report } = await check(folder);
    assert.equal(code, 1);
    assert.ok(
      report.verification!.problems.some(({ where }) => where.includes(name)),
      JSON.stringify(report),
    );
    assert.ok(report.verification!.problems.some(({ hint }) => /Put the archive file back from a backup/.test(hint)));
  });

  it('says of a journal in a newer format that only a newer version reads it', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson').slice(0, 1));
    const db = new Database(path.join(folder, 'journal.db'));
    db.pragma('user_version = 2');
    db.close();
    const { code, report } = await check(folder);
    assert.equal(code, 1);
    assert.match(report.troubles[0]!.what, /format 2; this version reads formats up to 1/);
    assert.match(report.troubles[0]!.hint, /the version that wrote it/);
  });

  it('names a setting with which this version does not start', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson'));
    const { code, report } = await check(folder, { TRUST_PROXY: 'true' });
    assert.equal(code, 1);
    assert.match(report.troubles[0]!.what, /^TRUST_PROXY is "true"/);
  });
});

describe('upgrade --check', () => {
  it('asks the folder which older version can go back, and says what is in the way', async (t) => {
    const [oldest, middle, newest] = ['journal-1.ndjson', 'journal-2.ndjson', 'journal-3.ndjson'];
    const wayBack = async (name: string) => (await check(await folderOf(t, readGolden(name)))).report.ways_back;
    const [first, second, third] = await Promise.all([oldest, middle, newest].map(wayBack));
    assert.deepEqual(
      first!.map(({ version }) => version),
      [...RELEASED],
    );
    assert.deepEqual(first![0], { version: '0.1.0', reading: 'YES', without_snapshots: false, in_the_way: [] });
    assert.equal(second![0]!.reading, 'MISREAD');
    assert.match(second![0]!.in_the_way.join('\n'), /DrawStarted\.opening/);
    assert.equal(third![0]!.reading, 'NO');
    assert.match(third![0]!.in_the_way.join('\n'), /RequestAnswered/);
  });

  it('says of each type of fact that 0.1.0 does not know, and of sealed people, that there is no way back', async (t) => {
    const newest = goldenJournals().at(-1)!;
    const typesOf = (name: string) => new Set(readGolden(name).map(({ type }) => type));
    const since = typesOf(newest);
    for (const known of typesOf('journal-1.ndjson')) since.delete(known);
    // A cluster's index is in no folder, and an older version sends no mails.
    for (const harmless of ['MailDelivered', 'EventReserved', 'EventIndexed', 'EventReservationEnded']) {
      assert.ok(since.delete(harmless));
    }
    const { report } = await check(await folderOf(t, readGolden(newest), readGoldenKeys(newest)));
    const [{ reading, in_the_way: inTheWay } = assert.fail('a version was released')] = report.ways_back;
    assert.equal(reading, 'NO');
    const named = inTheWay.join('\n');
    assert.deepEqual(
      [...since, 'OrderPlaced.personal'].filter((each) => !named.includes(`(${each})`)),
      [],
    );
  });

  it('says that new snapshots have to go before an older version can read the folder, and that a pruned one has no way back', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson'));
    await prune(folder, 1);
    const [unpruned] = (await check(folder)).report.ways_back;
    assert.deepEqual([unpruned!.reading, unpruned!.without_snapshots], ['YES', true]);
    await prune(folder);
    const [pruned] = (await check(folder)).report.ways_back;
    assert.deepEqual([pruned!.reading, pruned!.without_snapshots], ['NO', false]);
  });

  it('names settings that mean something else than before where they concern somebody, and only there', async (t) => {
    const rows = readGolden('journal-1.ndjson');
    const folder = await folderOf(t, rows);
    const settings = async (environment: Environment) =>
      new Map((await check(folder, environment)).report.settings.map(({ setting, event_ids: ids }) => [setting, ids]));
    const bare = await settings({});
    assert.deepEqual(bare.get('PRUNE_EVERY_HOURS'), []);
    assert.deepEqual(bare.get('retention_days'), ['evt_gala', 'evt_rush']);
    assert.ok(!(await settings({ PRUNE_EVERY_HOURS: '24' })).has('PRUNE_EVERY_HOURS'));
  });

  it('says that nothing changes for a folder that this version wrote, and for a copy of it', async (t) => {
    const parent = newFolder(t);
    const [data, copy] = [path.join(parent, 'data'), path.join(parent, 'copy')];
    const event = path.join(samples, 'club-night.json');
    succeeded(await holdfast(['load', '--offline', event], { DATA_DIR: data }));
    succeeded(await holdfast(['backup', copy], { DATA_DIR: data }));
    for (const folder of [data, copy]) {
      const { stdout } = succeeded(await holdfast(['upgrade', '--check', folder]));
      assert.match(stdout, /settings +version .+, which is this one, wrote this folder: all means what it meant/);
      assert.doesNotMatch(stdout, /since 0\.1\.0/);
      assert.ok(stdout.endsWith(`Nothing changes for ${folder}.\n`), stdout);
    }
  });

  it('needs --check, and prints the same for people', async (t) => {
    const folder = await folderOf(t, readGolden('journal-1.ndjson'));
    const [without, text] = await Promise.all([
      holdfast(['upgrade', folder]),
      holdfast(['upgrade', '--check', folder]),
    ]);
    assert.equal(without.code, 2);
    assert.match(without.stderr, /--check is missing/);
    assert.equal(text.code, 0, text.stderr);
    assert.match(text.stdout, /start +\d+ ms to read the journal/);
    assert.match(text.stdout, /way back +version 0\.1\.0 can read this folder/);
    assert.match(text.stdout, /This version can take .+ over\.\n$/);
  });
});
