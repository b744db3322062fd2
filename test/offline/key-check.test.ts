import assert from 'node:assert/strict';
import { copyFileSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { KEYED_TYPES, KeyCheck, type KeysReport } from '#offline/key-check.ts';
import { copyUpTo, CopyRefused } from '#persistence/folder/backup.ts';
import { KeyFile, keysPath } from '#persistence/sqlite/key-file.ts';
import type { Finding } from '#persistence/faults.ts';
import { verifyJournal } from '#persistence/folder/verify.ts';
import { newDataFolder } from '../fixtures/folders.ts';
import { openSealedFolder } from '../actors/sealed-folders.ts';

/** What a verification says of the keys of a folder. */
async function check(
  folder: string,
  keys: string | null = keysPath(folder),
): Promise<{ readonly report: KeysReport; readonly problems: readonly Finding[] }> {
  const keyCheck = new KeyCheck(keys);
  const onRow = keyCheck.see.bind(keyCheck);
  const { keysId } = await verifyJournal(folder, { onRow, archived: { types: KEYED_TYPES, onRow } });
  const found = keyCheck.finish(keysId);
  keyCheck.close();
  return found;
}

describe('A verification of keys', () => {
  it('counts sealed texts with their keys and erased ones, in archive and journal, and finds nothing', async (t) => {
    const folder = newDataFolder(t);
    const opened = await openSealedFolder(t, folder);
    const [first, second] = [await opened.place(), await opened.place()];
    await opened.journal.prune(opened.journal.durableSeq);
    await opened.place();
    await opened.erase(first);
    await opened.keys.destroy([first]);
    await opened.note(second);
    await opened.close();
    const { report, problems } = await check(folder);
    assert.deepEqual(problems, []);
    const counts = { sealedTexts: 4, openable: 3, destroyed: 1, lost: 0, erasedOrders: 1, kept: 0 };
    assert.deepEqual(report, { file: keysPath(folder), ...counts });
  });

  it('finds keys that are lost, and keys that are there although their order was erased', async (t) => {
    const folder = newDataFolder(t);
    const opened = await openSealedFolder(t, folder);
    const [lost, kept] = [await opened.place(), await opened.place()];
    await opened.erase(kept);
    await opened.close();
    const file = new KeyFile(keysPath(folder));
    file.remove([lost]);
    file.close();
    const { report, problems } = await check(folder);
    assert.deepEqual([report.lost, report.kept], [1, 1]);
    assert.equal(problems.length, 2);
    await (await openSealedFolder(t, folder)).close();
    assert.deepEqual((await check(folder)).report.kept, 0, 'a start destroyed it');
  });

  it('finds a file of keys that is missing, of another journal, or no file of keys', async (t) => {
    const folder = newDataFolder(t);
    const other = newDataFolder(t);
    for (const each of [folder, other]) {
      const opened = await openSealedFolder(t, each);
      await opened.place();
      await opened.close();
    }
    const own = `${keysPath(folder)}-own`;
    copyFileSync(keysPath(folder), own);
    copyFileSync(keysPath(other), keysPath(folder));
    assert.equal((await check(folder)).problems.length, 2);
    rmSync(keysPath(folder));
    assert.equal((await check(folder)).problems.length, 1);
    assert.deepEqual((await check(folder, null)).problems, [], 'keys may be left out');
    assert.deepEqual((await check(folder, own)).problems, [], 'or be elsewhere');
    copyFileSync(join(folder, 'journal.db'), keysPath(folder));
    assert.equal((await check(folder)).problems.length, 1);
  });
});

describe('A copy of a folder', () => {
  it('has the keys of today, also where it ends earlier, so that what was erased stays erased', async (t) => {
    const folder = newDataFolder(t);
    const opened = await openSealedFolder(t, folder);
    const [erased, living] = [await opened.place(), await opened.place()];
    const seq = opened.journal.durableSeq;
    await opened.erase(erased);
    await opened.keys.destroy([erased]);
    const out = newDataFolder(t);
    // While the service runs.
    const { keys } = await copyUpTo(folder, out, { seq });
    await opened.close();
    assert.equal(keys, keysPath(out));
    const { report, problems } = await check(out);
    assert.deepEqual(problems, []);
    assert.deepEqual([report.destroyed, report.openable, report.erasedOrders], [1, 1, 0]);
    const copy = await openSealedFolder(t, out);
    assert.equal(copy.journal.keysId, copy.keys.keysId);
    assert.deepEqual([await copy.has(erased), await copy.has(living)], [false, true]);
    await copy.close();
  });

  it('has its keys elsewhere or none where that is wanted, and takes the keys of another file', async (t) => {
    const folder = newDataFolder(t);
    const opened = await openSealedFolder(t, folder);
    const erased = await opened.place();
    const bare = newDataFolder(t);
    assert.equal((await copyUpTo(folder, bare, {}, { keys: null })).keys, null);
    assert.ok(!existsSync(keysPath(bare)));
    const apart = newDataFolder(t);
    const old = join(bare, 'old-keys.db');
    assert.equal((await copyUpTo(folder, apart, {}, { keys: { to: old } })).keys, old);
    assert.ok(!existsSync(keysPath(apart)));
    await assert.rejects(copyUpTo(folder, newDataFolder(t), {}, { keys: { to: old } }), CopyRefused);
    await assert.rejects(copyUpTo(folder, newDataFolder(t), {}, { keys: { from: `${old}-none` } }), CopyRefused);

    await opened.erase(erased);
    await opened.keys.destroy([erased]);
    await opened.close();
    const restored = newDataFolder(t);
    await copyUpTo(apart, restored, {}, { keys: { from: keysPath(folder) } });
    const { report, problems } = await check(restored);
    assert.deepEqual(problems, []);
    assert.deepEqual([report.destroyed, report.openable], [1, 0], "yesterday's journal with today's keys");
  });
});
