/**
 * The facts of a simulated process on a real disk: a data folder that is written like the journal writes it, and then
 * damaged.
 *
 * Owns the batches, the watermark and the damage. A power cut loses bytes that were not synced, whole, torn or out of
 * order; a bad disk flips a bit anywhere. The folder is opened by the real recovery.
 *
 * 1. After a power cut the folder opens with all durable facts and whole units of the others.
 * 2. After a flipped bit it opens with all durable facts, or is refused; it is never silently shorter.
 * 3. After a prune without any snapshot every event has all its facts in archive and journal. After a flipped bit in
 *    the archive too, unless the damage is reported.
 */
import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { listArchives, writeArchive } from '#persistence/sqlite/archive.ts';
import { batchAppender } from '#persistence/sqlite/chain.ts';
import { JournalDamaged, JournalTooNew } from '#persistence/faults.ts';
import { pruneSlice } from '#persistence/sqlite/archive.ts';
import { recoverHead } from '#persistence/sqlite/recovery.ts';
import { journalPath, openWriting, readAnchor } from '#persistence/sqlite/schema.ts';
import type { StoredFact } from '#persistence/chain.ts';
import { verifyJournal } from '#persistence/folder/verify.ts';
import { viewJournal } from '#persistence/sqlite/view.ts';
import { WatermarkWriter, watermarkPath } from '#persistence/sqlite/watermark.ts';
import type { Chance } from './chance.ts';
import type { FactRow } from '#persistence/journal.ts';

/** The journal of a process when it ends. */
interface DiskContents {
  readonly rows: readonly FactRow[];
  /** The last fact of each unit. */
  readonly unitEnds: ReadonlySet<number>;
  readonly durableSeq: number;
}

type Damage = 'torn' | 'zeroed' | 'reordered' | 'flipped' | 'pruned' | 'pruned and flipped';

export const DAMAGES: readonly Damage[] = ['torn', 'zeroed', 'reordered', 'flipped', 'pruned', 'pruned and flipped'];

const SECTOR_BYTES = 512;
const WAL_HEADER_BYTES = 32;

/** Writes, damages and opens a folder: the last fact in it, or null when the folder is refused. */
export async function openDamaged(chance: Chance, contents: DiskContents, damage: Damage): Promise<number | null> {
  const parent = mkdtempSync(path.join(tmpdir(), 'holdfast-sale-'));
  try {
    const folder = path.join(parent, 'written');
    const syncedBytes = writeFolder(chance, contents, folder, parent);
    if (damage === 'pruned' || damage === 'pruned and flipped') {
      await readPruned(chance, parent, contents, damage);
      return contents.rows.length;
    }
    damageFolder(chance, parent, damage, syncedBytes);
    return await openFolder(parent, contents, damage);
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** Writes the facts; copies the files to `out` while they are open; returns how many bytes of the log were synced. */
function writeFolder(
  chance: Chance,
  { rows, unitEnds, durableSeq }: DiskContents,
  folder: string,
  out: string,
): number {
  const db = openWriting(journalPath(mkdtempSync(folder)));
  const home = path.dirname(db.name);
  const watermark = new WatermarkWriter(home);
  const append = db.transaction(batchAppender(db));
  const { journalId, baseHash } = readAnchor(db);
  let hash = baseHash;
  let syncedBytes = WAL_HEADER_BYTES;
  const write = (facts: readonly StoredFact[]): void => {
    hash = append(hash, facts);
    const { seq } = facts.at(-1)!;
    if (seq > durableSeq) return;
    syncedBytes = statSync(`${db.name}-wal`).size;
    if (seq === durableSeq || chance.percent(30))
      watermark.write({ journalId, seq, hash: Buffer.from(hash).toString('hex') });
  };
  for (const batch of batchesOf(chance, storedFacts(rows, unitEnds), durableSeq)) write(batch);
  // Writes after a checkpoint overwrite the log from its beginning, so a checkpoint is only made at the end.
  if (durableSeq === rows.length && chance.percent(50)) db.pragma('wal_checkpoint(PASSIVE)');
  for (const name of [db.name, `${db.name}-wal`, watermarkPath(home)])
    copyFileSync(name, path.join(out, path.basename(name)));
  watermark.close();
  db.close();
  return syncedBytes;
}

function storedFacts(rows: readonly FactRow[], unitEnds: ReadonlySet<number>): StoredFact[] {
  const newest = new Map<string, number>();
  const ends = [...unitEnds].sort((a, b) => a - b);
  return rows.map((row) => {
    const prev = newest.get(row.eventId) ?? 0;
    newest.set(row.eventId, row.seq);
    return { ...row, prev, unit: ends.find((end) => end >= row.seq)! };
  });
}

/** Batches of whole units; one of them ends at the durable head. */
function* batchesOf(chance: Chance, facts: readonly StoredFact[], durableSeq: number): Generator<StoredFact[]> {
  let batch: StoredFact[] = [];
  for (const fact of facts) {
    batch.push(fact);
    const mayEnd = fact.seq === fact.unit;
    if (!mayEnd || (fact.seq !== durableSeq && chance.percent(60))) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

function damageFolder(chance: Chance, folder: string, damage: Damage, syncedBytes: number): void {
  const log = `${journalPath(folder)}-wal`;
  const target = damage === 'flipped' ? chance.pick([journalPath(folder), log, watermarkPath(folder)]) : log;
  if (damage === 'flipped') return flip(chance, target);
  const bytes = readFileSync(target);
  const cut = chance.between(syncedBytes, bytes.length);
  if (damage === 'torn') writeFileSync(target, bytes.subarray(0, cut));
  else if (damage === 'zeroed') writeFileSync(target, bytes.fill(0, cut, Math.min(bytes.length, cut + SECTOR_BYTES)));
  else {
    // The last unsynced bytes are on the disk, and bytes before them are not.
    const end = chance.between(cut, bytes.length);
    writeFileSync(
      target,
      Buffer.concat([bytes.subarray(0, syncedBytes), Buffer.alloc(cut - syncedBytes), bytes.subarray(cut, end)]),
    );
  }
}

/** Moves some of the facts to one or two files of the archive, then reads every event without a snapshot (rule 3). */
async function readPruned(chance: Chance, folder: string, { rows }: DiskContents, damage: Damage): Promise<void> {
  await writeWatermarkAtHead(folder);
  for (let count = chance.between(1, 2); count > 0; count -= 1) {
    const archived = writeArchive(folder, chance.between(1, rows.length), 0);
    const db = openWriting(journalPath(folder));
    while (archived !== null && pruneSlice(db, archived.toSeq) === 'MORE') continue;
    db.close();
  }
  const [file] = listArchives(folder);
  const isFlipped = damage === 'pruned and flipped' && file !== undefined;
  if (isFlipped) flip(chance, file.path);
  const { problems } = await verifyJournal(folder);
  assert.ok(isFlipped || problems.length === 0, `${damage}: ${problems[0]?.what}`);
  const view = viewJournal(folder);
  const text = ({ seq, at, eventId, type, data }: FactRow) => JSON.stringify([seq, at, eventId, type, data]);
  try {
    for (const eventId of new Set(rows.map((row) => row.eventId))) {
      const expected = rows.filter((row) => row.eventId === eventId).map(text);
      try {
        assert.deepEqual([...(await view!.factsOf(eventId))].map(text), expected, `${damage}: every fact is there`);
      } catch (error) {
        if (!isFlipped || !(error instanceof JournalDamaged)) throw error;
        assert.ok(problems.length > 0, `${damage}: verify names what the reader does`);
      }
    }
  } finally {
    view?.close();
  }
}

/** Before it prunes, the writer brings the watermark up to the head. */
async function writeWatermarkAtHead(folder: string): Promise<void> {
  const head = await recoverHead(folder, {});
  const view = viewJournal(folder);
  if (head !== null && view !== null && head.seq > 0) {
    const watermark = new WatermarkWriter(folder);
    watermark.write({ journalId: view.journalId, seq: head.seq, hash: Buffer.from(head.hash).toString('hex') });
    watermark.close();
  }
  view?.close();
}

function flip(chance: Chance, target: string): void {
  const bytes = readFileSync(target);
  const bit = chance.between(0, bytes.length * 8 - 1);
  bytes[bit >> 3]! ^= 1 << (bit & 7);
  writeFileSync(target, bytes);
}

async function openFolder(
  folder: string,
  { rows, unitEnds, durableSeq }: DiskContents,
  damage: Damage,
): Promise<number | null> {
  const found: FactRow[] = [];
  try {
    const head = await recoverHead(folder, { onRow: (row) => found.push(row) });
    const headSeq = head?.seq ?? 0;
    assert.ok(headSeq >= durableSeq, `${damage}: ${durableSeq} facts were durable, ${headSeq} are there`);
    assert.ok(headSeq === 0 || unitEnds.has(headSeq), `${damage}: half a unit is there`);
    const text = ({ seq, at, eventId, type, data }: FactRow) => JSON.stringify([seq, at, eventId, type, data]);
    assert.deepEqual(found.map(text), rows.slice(0, headSeq).map(text), `${damage}: what is there is what was written`);
    return headSeq;
  } catch (error) {
    const isRefused = error instanceof JournalDamaged || error instanceof JournalTooNew;
    if (!isRefused || damage !== 'flipped') throw error;
    return null;
  }
}
