import assert from 'node:assert/strict';
import { copyFileSync, cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { describe, it, type TestContext } from 'node:test';
import { destroyAfterDoubt, noteErasures } from '#privacy/folder-keys.ts';
import { KeyDestruction } from '#privacy/key-destruction.ts';
import { KeysUnusable } from '#persistence/keys.ts';
import { MemoryJournal } from '#persistence/memory/journal.ts';
import { MemoryKeys } from '#persistence/memory/keys.ts';
import { keysPath } from '#persistence/sqlite/key-file.ts';
import { readKeysId } from '#persistence/sqlite/keys.ts';
import { journalPath, openDatabase } from '#persistence/sqlite/schema.ts';
import { newDataFolder } from '../fixtures/folders.ts';
import { until } from '../fixtures/until.ts';
import { openSealedFolder } from '../actors/sealed-folders.ts';

const unsealed = { eventId: 'evt_a', at: 1, facts: [{ type: 'OrderPlaced', data: '{"orderId":"ord_1"}' }] };

/** A folder with two sealed orders; the key of the first was to be destroyed when the process ended. */
async function halfErased(t: TestContext, prune = false): Promise<{ folder: string; erased: string; kept: string }> {
  const folder = newDataFolder(t);
  const opened = await openSealedFolder(t, folder);
  const [erased, kept] = [await opened.place(), await opened.place()];
  await opened.erase(erased);
  if (prune) await opened.journal.prune(opened.journal.durableSeq);
  await opened.close();
  return { folder, erased, kept };
}

describe('The keys of a folder at a start', () => {
  for (const prune of [false, true]) {
    it(`are destroyed again after erasures that a crash cut short${prune ? ', from the archive too' : ''}`, async (t) => {
      const { folder, erased, kept } = await halfErased(t, prune);
      const opened = await openSealedFolder(t, folder);
      assert.equal(await opened.has(erased), false);
      assert.equal(await opened.has(kept), true);
      assert.equal(await opened.keys.erasedThrough(opened.journal.journalId), opened.journal.durableSeq);
      await opened.close();
    });
  }

  it('are destroyed again when an older copy of keys.db was put back', async (t) => {
    const { folder, erased } = await halfErased(t);
    const copy = `${keysPath(folder)}-copy`;
    copyFileSync(keysPath(folder), copy);
    await (await openSealedFolder(t, folder)).close();
    copyFileSync(copy, keysPath(folder));
    const opened = await openSealedFolder(t, folder);
    assert.equal(await opened.has(erased), false);
    await opened.close();
  });

  it('are destroyed again after erasures in a journal that went on from an earlier fact', async (t) => {
    const folder = newDataFolder(t);
    let opened = await openSealedFolder(t, folder);
    const key = await opened.place();
    await opened.close();
    const older = `${folder}-older`;
    cpSync(folder, older, { recursive: true });
    t.after(() => rmSync(older, { recursive: true, force: true }));
    opened = await openSealedFolder(t, folder);
    for (let facts = 0; facts < 20; facts++) await opened.place();
    await noteErasures(opened.journal, opened.keys, { destroy: async () => {} });
    await opened.close();
    // Yesterday's journal with today's keys.
    copyFileSync(keysPath(folder), keysPath(older));
    opened = await openSealedFolder(t, older);
    await opened.erase(key);
    await opened.close();
    opened = await openSealedFolder(t, older);
    assert.equal(await opened.has(key), false);
    await opened.close();
  });

  it('are made where nothing was sealed yet, whatever was noted', async (t) => {
    const folder = newDataFolder(t);
    await (await openSealedFolder(t, folder)).close();
    rmSync(keysPath(folder));
    const opened = await openSealedFolder(t, folder);
    await opened.close();
    assert.ok(existsSync(keysPath(folder)));
  });

  it('must be there where something was sealed, and be the same', async (t) => {
    const { folder, kept } = await halfErased(t);
    const { folder: other } = await halfErased(t);
    const own = `${keysPath(folder)}-own`;
    copyFileSync(keysPath(folder), own);

    rmSync(keysPath(folder));
    await assert.rejects(
      openSealedFolder(t, folder),
      (error) => error instanceof KeysUnusable && /KEYS_LOST=accept/.test(error.hint),
    );
    assert.ok(!existsSync(keysPath(folder)), 'no keys are made in their place');
    copyFileSync(keysPath(other), keysPath(folder));
    await assert.rejects(openSealedFolder(t, folder), KeysUnusable);
    assert.equal(readKeysId(folder), readKeysId(other), 'the other keys stay as they were found');

    copyFileSync(own, keysPath(folder));
    const opened = await openSealedFolder(t, folder);
    assert.equal(await opened.has(kept), true);
    await opened.close();
  });

  it('must be there where something in the archive was sealed, and are made where nothing in it was', async (t) => {
    for (const isSealed of [true, false]) {
      const folder = newDataFolder(t);
      const opened = await openSealedFolder(t, folder);
      if (isSealed) await opened.place();
      else await opened.journal.durable(opened.journal.append(unsealed));
      await opened.journal.prune(opened.journal.durableSeq);
      await opened.close();
      rmSync(keysPath(folder));
      if (isSealed) await assert.rejects(openSealedFolder(t, folder), KeysUnusable);
      else await (await openSealedFolder(t, folder)).close();
    }
  });

  it('must be there also where their id was never noted', async (t) => {
    const { folder, kept } = await halfErased(t);
    const journal = openDatabase(journalPath(folder), false);
    journal.prepare("DELETE FROM meta WHERE key = 'keys_id'").run();
    journal.close();
    const own = `${keysPath(folder)}-own`;
    renameSync(keysPath(folder), own);
    await assert.rejects(openSealedFolder(t, folder), KeysUnusable);
    renameSync(own, keysPath(folder));
    let opened = await openSealedFolder(t, folder);
    assert.equal(await opened.has(kept), true);
    await opened.close();
    opened = await openSealedFolder(t, folder);
    assert.equal(opened.journal.keysId, opened.keys.keysId, 'they are noted from then on');
    await opened.close();
  });

  it('may be missing once an operator accepts it, and then the new ones are the journal’s', async (t) => {
    const { folder, kept } = await halfErased(t);
    rmSync(keysPath(folder));
    let opened = await openSealedFolder(t, folder, true);
    assert.equal(await opened.has(kept), false);
    const made = await opened.place();
    await opened.close();
    opened = await openSealedFolder(t, folder);
    assert.equal(await opened.has(made), true);
    await opened.close();
  });
});

describe('How far erasures are complete', () => {
  it('is noted once all keys are destroyed, and not before', async (t) => {
    const folder = newDataFolder(t);
    const opened = await openSealedFolder(t, folder);
    const { journal, keys } = opened;
    await opened.erase(await opened.place());
    await assert.rejects(noteErasures(journal, keys, { destroy: () => Promise.reject(new Error('not now')) }));
    assert.equal(await keys.erasedThrough(journal.journalId), 0);
    await noteErasures(journal, keys, { destroy: async () => {} });
    assert.equal(await keys.erasedThrough(journal.journalId), 2);
    await opened.close();
  });
});

describe('Erasures whose facts were in doubt while the disk was full', () => {
  it('destroy their keys when the facts prove to be on the disk, and not otherwise', async () => {
    const keys = new MemoryKeys();
    const [durable, doubted, lost] = [keys.take()!.id, keys.take()!.id, keys.take()!.id];
    const journal = new MemoryJournal({ manual: true });
    const erase = (keyId: string): number =>
      journal.append({
        eventId: 'evt_a',
        at: 1,
        facts: [{ type: 'OrderErased', data: JSON.stringify({ orderId: 'o', keyIds: [keyId] }) }],
      });
    erase(durable);
    journal.commit();
    const certainSeq = journal.durableSeq;
    const doubtedSeq = erase(doubted);
    erase(lost);
    journal.full(true);
    journal.full(false, doubtedSeq);
    destroyAfterDoubt(journal, certainSeq, new KeyDestruction(keys));
    await until(() => !keys.storage.keys.has(doubted), 'the key is destroyed');
    assert.ok(keys.storage.keys.has(lost) && keys.storage.keys.has(durable));
  });
});
