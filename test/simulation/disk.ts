/**
 * What a simulated process left, on a real disk: a data folder written as the journal's writer writes it, and then hurt.
 *
 * Owns batches, watermark and harm. A power cut takes what was not synced, whole or torn or out of order; a bad disk flips a bit
 * anywhere. What the folder opens with is read by the service's own recovery. Used by `service.ts` at a crash, now and then.
 *
 * 1. After a power cut the folder opens, with everything that was durable and whole units of what was not.
 * 2. After a flipped bit it opens with all that was durable, or is refused; it is never silently shorter.
 * 3. After a pruning, without any snapshot, every event has all its facts from archive and journal; after a bit flipped in the
 *    archive too, or the damage is named.
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
import { journalPath, openWriting, readAnchor, type StoredFact } from '#persistence/sqlite/schema.ts';
import { verifyJournal } from '#persistence/verify.ts';
import { viewJournal } from '#persistence/sqlite/view.ts';
import { WatermarkWriter, watermarkPath } from '#persistence/sqlite/watermark.ts';
import type { Chance } from './chance.ts';
import type { FactRow } from '#persistence/journal.ts';

/** The journal of a process at the moment it ends. */
export interface Remains {
  readonly rows: readonly FactRow[];
  /** The last fact of each unit. */
  readonly unitEnds: ReadonlySet<number>;
  readonly durableSeq: number;
}

export type Harm = 'torn' | 'zeroed' | 'reordered' | 'flipped' | 'pruned' | 'pruned and flipped';

export const HARMS: readonly Harm[] = ['torn', 'zeroed', 'reordered', 'flipped', 'pruned', 'pruned and flipped'];

const SECTOR_BYTES = 512;
const WAL_HEADER_BYTES = 32;

/** Hurts the remains on a disk and opens them: the last fact that is there, or null when the folder is refused. */
export async function openHurt(chance: Chance, remains: Remains, harm: Harm): Promise<number | null> {
  const parent = mkdtempSync(path.join(tmpdir(), 'holdfast-sale-'));
  try {
    const folder = path.join(parent, 'written');
    const syncedBytes = writeFolder(chance, remains, folder, parent);
    if (harm === 'pruned' || harm === 'pruned and flipped') {
      await readPruned(chance, parent, remains, harm);
      return remains.rows.length;
    }
    hurt(chance, parent, harm, syncedBytes);
    return await openFolder(parent, remains, harm);
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

/** Writes the remains; copies the files, open as they are, to `out`; returns how much of the log was synced. */
function writeFolder(chance: Chance, { rows, unitEnds, durableSeq }: Remains, folder: string, out: string): number {
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
  // What follows a checkpoint is written over the log from its beginning; so only one after which nothing follows.
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

/** Batches of whole units; one ends where what was synced ends. */
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

function hurt(chance: Chance, folder: string, harm: Harm, syncedBytes: number): void {
  const log = `${journalPath(folder)}-wal`;
  const target = harm === 'flipped' ? chance.pick([journalPath(folder), log, watermarkPath(folder)]) : log;
  if (harm === 'flipped') return flip(chance, target);
  const bytes = readFileSync(target);
  const cut = chance.between(syncedBytes, bytes.length);
  if (harm === 'torn') writeFileSync(target, bytes.subarray(0, cut));
  else if (harm === 'zeroed') writeFileSync(target, bytes.fill(0, cut, Math.min(bytes.length, cut + SECTOR_BYTES)));
  else {
    // Of what was not synced the end is on the disk and something before it is not.
    const end = chance.between(cut, bytes.length);
    writeFileSync(
      target,
      Buffer.concat([bytes.subarray(0, syncedBytes), Buffer.alloc(cut - syncedBytes), bytes.subarray(cut, end)]),
    );
  }
}

/** Moves some of the facts to one or two files of the archive, then reads every event without a snapshot (3). */
async function readPruned(chance: Chance, folder: string, { rows }: Remains, harm: Harm): Promise<void> {
  await writeWatermarkAtHead(folder);
  for (let count = chance.between(1, 2); count > 0; count -= 1) {
    const archived = writeArchive(folder, chance.between(1, rows.length), 0);
    const db = openWriting(journalPath(folder));
    while (archived !== null && pruneSlice(db, archived.toSeq) === 'MORE') continue;
    db.close();
  }
  const [file] = listArchives(folder);
  const isFlipped = harm === 'pruned and flipped' && file !== undefined;
  if (isFlipped) flip(chance, file.path);
  const { problems } = await verifyJournal(folder);
  assert.ok(isFlipped || problems.length === 0, `${harm}: ${problems[0]?.what}`);
  const view = viewJournal(folder);
  const text = ({ seq, at, eventId, type, data }: FactRow) => JSON.stringify([seq, at, eventId, type, data]);
  try {
    for (const eventId of new Set(rows.map((row) => row.eventId))) {
      const expected = rows.filter((row) => row.eventId === eventId).map(text);
      try {
        assert.deepEqual([...(await view!.factsOf(eventId))].map(text), expected, `${harm}: every fact is there`);
      } catch (error) {
        if (!isFlipped || !(error instanceof JournalDamaged)) throw error;
        assert.ok(problems.length > 0, `${harm}: verify names what the reader does`);
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

async function openFolder(folder: string, { rows, unitEnds, durableSeq }: Remains, harm: Harm): Promise<number | null> {
  const found: FactRow[] = [];
  try {
    const head = await recoverHead(folder, { onRow: (row) => found.push(row) });
    const headSeq = head?.seq ?? 0;
    assert.ok(headSeq >= durableSeq, `${harm}: ${durableSeq} facts were durable, ${headSeq} are there`);
    assert.ok(headSeq === 0 || unitEnds.has(headSeq), `${harm}: half a unit is there`);
    const text = ({ seq, at, eventId, type, data }: FactRow) => JSON.stringify([seq, at, eventId, type, data]);
    assert.deepEqual(found.map(text), rows.slice(0, headSeq).map(text), `${harm}: what is there is what was written`);
    return headSeq;
  } catch (error) {
    const isRefused = error instanceof JournalDamaged || error instanceof JournalTooNew;
    if (!isRefused || harm !== 'flipped') throw error;
    return null;
  }
}
