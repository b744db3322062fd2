/** A folder that is written anew: other texts, everything else as it was, and a chain that names where it came from. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { copyUpTo, openWhole } from '#persistence/folder/backup.ts';
import { rewriteFolder, type RewriteOptions } from '#persistence/folder/rewrite.ts';
import { lastArchivedAt, listArchives } from '#persistence/sqlite/archive.ts';
import { verifyJournal } from '#persistence/folder/verify.ts';
import type { StoredFact } from '#persistence/chain.ts';
import { newDataFolder } from '../../fixtures/folders.ts';
import { appendAll, openJournal, unitOf } from '../journals.ts';

/** A closed folder with 150 facts; `prunes` of them end archive files. */
async function folderWith(t: TestContext, prunes: readonly number[] = []): Promise<string> {
  const folder = newDataFolder(t);
  const journal = await openJournal(t, { folder, batchFactsMax: 12 });
  const units = Array.from({ length: 50 }, (_, index) => unitOf(`evt_${index % 3}`, 3, 1_000 + index));
  await appendAll(journal, units, 2);
  for (const seq of prunes) await journal.prune(seq, 5_000 + seq);
  await journal.close();
  return folder;
}

function factsOf(folder: string): StoredFact[] {
  const whole = openWhole(folder);
  try {
    return [...whole.batches()].flatMap(({ facts }) => facts);
  } finally {
    whole.close();
  }
}

const asText = (data: string): string => JSON.stringify({ was: data });
const options: RewriteOptions = {
  begin: () => Promise.resolve('keys-a'),
  rewrite: (facts) => Promise.resolve(facts.map(({ data }) => asText(data))),
  files: ['ticket-key', 'not-there'],
};

const bytesOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !/-(?:wal|shm)$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, readFileSync(path, 'base64')]),
  );

describe('A rewritten folder', () => {
  for (const prunes of [[], [44, 86, 124], [150]]) {
    it(`has other texts and nothing else changed, with ${prunes.length} archive files`, async (t) => {
      const folder = await folderWith(t, prunes);
      writeFileSync(join(folder, 'ticket-key'), 'secret');
      const [before, facts, verified] = [bytesOf(folder), factsOf(folder), await verifyJournal(folder)];
      const out = newDataFolder(t);
      const seen: number[] = [];
      const report = await rewriteFolder(folder, out, { ...options, onProgress: (seq) => seen.push(seq) });
      assert.deepEqual(bytesOf(folder), before, 'the old folder is as it was');

      const rewritten = await verifyJournal(out);
      assert.deepEqual(rewritten.problems, []);
      assert.deepEqual(
        factsOf(out),
        facts.map((fact) => ({ ...fact, data: asText(fact.data) })),
      );
      const { journalId, headSeq, headHash } = verified;
      assert.deepEqual(rewritten.origin, { journalId, headSeq, headHash });
      assert.deepEqual(report.origin, rewritten.origin);
      assert.notEqual(rewritten.journalId, journalId);
      assert.deepEqual([rewritten.headHash, rewritten.headSeq], [report.headHash, 150]);
      assert.deepEqual([rewritten.baseSeq, rewritten.archives], [verified.baseSeq, prunes.length]);
      const ends = (from: string) => listArchives(from).map(({ fromSeq, toSeq }) => [fromSeq, toSeq]);
      assert.deepEqual(ends(out), ends(folder));
      assert.equal(lastArchivedAt(out), lastArchivedAt(folder));
      assert.equal(readFileSync(join(out, 'ticket-key'), 'utf8'), 'secret');
      assert.equal(seen.at(-1), 150);
    });
  }

  it('can be written to, pruned and copied, and names its origin still', async (t) => {
    const folder = await folderWith(t, [44]);
    const out = newDataFolder(t);
    const { origin } = await rewriteFolder(folder, out, options);
    const journal = await openJournal(t, { folder: out });
    await appendAll(journal, [unitOf('evt_0', 3, 9_000), unitOf('evt_new', 2, 9_001)]);
    await journal.prune(151, 9_002);
    await journal.close();
    const copy = newDataFolder(t);
    await copyUpTo(out, copy, {});
    for (const each of [out, copy]) {
      const { problems, headSeq, origin: named, baseSeq } = await verifyJournal(each);
      assert.deepEqual([problems, headSeq, baseSeq], [[], 155, 150]);
      assert.deepEqual(named, origin);
    }
    // As of a fact in the archive the copy has a journal from the first fact on.
    const early = newDataFolder(t);
    await copyUpTo(out, early, { seq: 30 });
    assert.deepEqual((await verifyJournal(early)).problems, []);
    assert.deepEqual((await verifyJournal(early)).origin, origin);
  });

  it('cannot be said to come from another journal', async (t) => {
    for (const prunes of [[], [44]]) {
      const folder = await folderWith(t, prunes);
      const out = newDataFolder(t);
      const { origin } = await rewriteFolder(folder, out, options);
      const db = new Database(join(out, 'journal.db'));
      db.prepare("UPDATE meta SET value = ? WHERE key = 'origin'").run(JSON.stringify({ ...origin, headSeq: 149 }));
      db.close();
      const { problems } = await verifyJournal(out);
      assert.match(problems[0]!.what, /does not begin from the journal that it names/);
    }
  });
});

describe('A rewriting that fails', () => {
  it('leaves nothing behind, whether texts, the chain or the archive fail', async (t) => {
    const folder = await folderWith(t, [44]);
    const out = newDataFolder(t);
    const failing = { ...options, rewrite: () => Promise.reject(new Error('no text')) };
    await assert.rejects(rewriteFolder(folder, out, failing), /no text/);
    const tooFew = { ...options, rewrite: () => Promise.resolve(['{}']) };
    await assert.rejects(rewriteFolder(folder, out, tooFew));
    const { path } = listArchives(folder)[0]!;
    const bytes = readFileSync(path);
    const place = bytes.indexOf('"index":0');
    assert.ok(place > 0);
    bytes[place] = bytes[place]! ^ 1;
    writeFileSync(path, bytes);
    await assert.rejects(rewriteFolder(folder, out, options), /fails its checksum|is damaged/);
    assert.ok(!existsSync(out) || readdirSync(out).length === 0);
  });

  it('is not made of a folder that grows meanwhile', async (t) => {
    const [folder, out] = [await folderWith(t), newDataFolder(t)];
    const selling = {
      ...options,
      async begin() {
        const journal = await openJournal(t, { folder });
        await journal.durable(
          journal.append({ eventId: 'evt_a', at: 9_000, facts: [{ type: 'HoldPlaced', data: '{}' }] }),
        );
        await journal.close();
        return 'keys-a';
      },
    };
    await assert.rejects(rewriteFolder(folder, out, selling), /has grown from fact \d+ to fact \d+ meanwhile/);
    assert.ok(!existsSync(out) || readdirSync(out).length === 0);
  });

  it('refuses a target that is not empty, and leaves it as it was', async (t) => {
    const [folder, out] = [await folderWith(t), newDataFolder(t)];
    mkdirSync(out);
    writeFileSync(join(out, 'mine'), 'text');
    await assert.rejects(rewriteFolder(folder, out, options), /is not empty/);
    assert.deepEqual(readdirSync(out), ['mine']);
  });
});
