/**
 * Makes new data folders from old ones, also while another process serves: a backup is a copy without a limit, a
 * restore a copy as of a fact or a moment, from the archive too.
 *
 * Every batch is proved while it is copied, and the copy gets a watermark of its own, so that a copy that exists is
 * good. The source is never written to. Files other than the journal, the archive and the snapshots are copied only
 * when listed.
 *
 *  1. The target must be missing or empty, and counts as a journal only once its watermark is written, last.
 *  2. The source's journal is read in one transaction. Its snapshots are copied after that began, and only up to the
 *     journal's end, so that the copy's snapshots are never newer than its journal.
 *  3. A limit never splits a unit; without a limit the copy must reach the source's watermark.
 *  4. Damaged snapshots are not copied: archive and journal have their facts. Archive files are copied as they are, so
 *     that a verification of the copy names what is wrong with them.
 *  5. The keys are copied after the journal's end is fixed, so that no fact of the copy lacks its key; they are those
 *     of today, also where the copy ends earlier: what was erased stays erased.
 *  6. A copy that fails leaves nothing behind, so that the same command can be repeated.
 */

import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { ARCHIVE_FOLDER, archivedBatches, listArchives, openFile, type ArchiveFile } from '../sqlite/archive.ts';
import {
  copyBatches,
  headAtAnchor,
  newestBatch,
  walkChain,
  type Batch,
  type Copied,
  type CopyLimit,
} from '../sqlite/chain.ts';
import { errorCode } from '../faults.ts';
import { FILE_MODE, makePrivateFolder, removeIfPresent, syncFile, syncFolder, tightenFolder } from '../files.ts';
import { journalGone, WatermarkCheck, type RecoveryProgress } from '../sqlite/recovery.ts';
import { KeyReader, keysPath } from '../sqlite/key-file.ts';
import {
  journalPath,
  noteKeysId,
  noteWrittenBy,
  openReading,
  openWriting,
  readAnchor,
  readNotedKeysId,
  readWrittenBy,
  readOrigin,
  writeOrigin,
  type Anchor,
  type Connection,
} from '../sqlite/schema.ts';
import { listSnapshots, readSnapshot, SNAPSHOTS_FOLDER } from '../snapshots.ts';
import { readWatermark, WatermarkWriter, type WatermarkResult } from '../sqlite/watermark.ts';

export interface CopyReport {
  readonly journalId: string;
  /** Facts in the copy's journal. */
  readonly facts: number;
  readonly baseSeq: number;
  readonly headSeq: number;
  readonly headHash: string;
  readonly snapshots: number;
  /** Damaged snapshots of the source, which were not copied. */
  readonly snapshotsLeft: readonly string[];
  /** Archive files that were copied. */
  readonly archives: number;
  /** What was written and is not in the copy; null for nothing. */
  readonly lost: Loss | null;
  /** The copy of the keys; null where the source has none, or none were wanted. */
  readonly keys: string | null;
}

/** Facts that are known to have been written, or why nobody knows whether there were any. */
export type Loss = { readonly fromSeq: number; readonly toSeq: number } | { readonly unknown: string };

interface CopyOptions {
  readonly onProgress?: ((progress: RecoveryProgress) => void) | undefined;
  /** Further files of the source folder to copy, by name; missing ones are left out. */
  readonly files?: readonly string[] | undefined;
  /** Null leaves the keys out. */
  readonly keys?: KeysToCopy | null | undefined;
}

/** Files of keys; `keys.db` of source and target when not given. */
interface KeysToCopy {
  readonly from?: string | undefined;
  /** A file that must not exist. */
  readonly to?: string | undefined;
}

/** The target is not empty, or the source or the wanted beginning does not exist. */
export class CopyRefused extends Error {
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.name = 'CopyRefused';
    this.hint = hint;
  }
}

/** Removes what a failed copy has written to its target, which was missing or empty before (rules 1 and 6). */
export function removeDraft(out: string): void {
  if (!existsSync(out)) return;
  for (const name of readdirSync(out)) rmSync(join(out, name), { recursive: true, force: true });
}

/** Copies the archive files with facts before the copy's journal; returns how many. */
function copyArchive(source: string, out: string, baseSeq: number): number {
  const folder = join(out, ARCHIVE_FOLDER);
  let copied = 0;
  for (const { path, fromSeq } of listArchives(source)) {
    if (fromSeq > baseSeq) continue;
    makePrivateFolder(folder);
    if (copyIfPresent(path, join(folder, basename(path)))) copied += 1;
  }
  if (copied > 0) syncFolder(folder);
  return copied;
}

/**
 * Makes `out` a new data folder as of a fact or a moment, or as of now when the limit is empty, with the archive before
 * its journal. Rejects with CopyRefused, or with JournalDamaged when the source's chain breaks before the limit.
 */
export async function copyUpTo(
  source: string,
  out: string,
  limit: CopyLimit,
  { onProgress, files = [], keys = {} }: CopyOptions = {},
): Promise<CopyReport> {
  refuseFilled(out);
  refuseKeys(keys);
  const reading = readWatermark(source);
  const db = openReading(journalPath(source));
  if (db === null) throw journalGone(reading) ?? noJournal(source);
  try {
    db.exec('BEGIN');
    const origin = new Origin(source, db, limit, reading);
    makeTarget(out);
    const snapshotsEnd = Math.min(limit.seq ?? origin.headSeq, origin.headSeq);
    const { copies, left } = await copySnapshots(source, out, snapshotsEnd);
    const copied = await copyJournal(origin, out, limit, onProgress);
    const snapshots = dropSnapshotsAfter(out, copies, copied.seq);
    for (const name of files) copyIfPresent(join(source, name), join(out, basename(name)));
    const archives = copyArchive(source, out, origin.anchor.baseSeq);
    const copiedKeys = keys && (await copyKeys(keys.from ?? keysPath(source), keys.to ?? keysPath(out)));
    writeWatermark(out, origin.anchor, copied);
    const { journalId, baseSeq } = origin.anchor;
    const headHash = copied.hash.toString('hex');
    return {
      journalId,
      baseSeq,
      facts: copied.seq - baseSeq,
      headSeq: copied.seq,
      headHash,
      snapshots,
      snapshotsLeft: left,
      archives,
      lost: lossAfter(copied.seq, origin.check),
      keys: copiedKeys,
    };
  } catch (error) {
    removeDraft(out);
    if (keys?.to !== undefined) removeIfPresent(keys.to);
    throw error;
  } finally {
    db.close();
  }
}

function lossAfter(seq: number, { writtenSeq, silence }: WatermarkCheck): Loss | null {
  if (writtenSeq > seq) return { fromSeq: seq + 1, toSeq: writtenSeq };
  return silence === null ? null : { unknown: silence };
}

/** Copies a file of keys; returns the path of the copy, or null where there is no such file. */
async function copyKeys(from: string, to: string): Promise<string | null> {
  if (!existsSync(from)) return null;
  const reader = new KeyReader(from);
  try {
    await reader.copyTo(to);
    return to;
  } finally {
    reader.close();
  }
}

/** Throws CopyRefused where the file to copy keys to exists, or the one to copy them from does not. */
export function refuseKeys(keys: KeysToCopy | null): void {
  if (keys?.to !== undefined && existsSync(keys.to)) {
    throw new CopyRefused(`${keys.to} exists`, 'Name a file for the keys that does not exist yet.');
  }
  if (keys?.from !== undefined && !existsSync(keys.from)) {
    throw new CopyRefused(`there is no file ${keys.from}`, 'Name the file of keys, or leave it out.');
  }
}

/** Every batch of a folder from the first fact on, and the head that it must reach. */
export interface WholeFolder {
  readonly journalId: string;
  readonly headSeq: number;
  /** The hash of the newest batch. */
  readonly headHash: Buffer;
  /** The keys that the folder is sealed with; null where none are noted. */
  readonly keysId: string | null;
  /** The archive files that have the facts before the journal's, the earliest first. */
  readonly archives: readonly ArchiveFile[];
  /** Proves each batch while it is read, and at the end that the watermark is reached. Throws JournalDamaged. */
  batches(): Iterable<Batch>;
  /** Throws CopyRefused when facts were written after it was opened: what was made of it lacks them. */
  refuseGrown(): void;
  close(): void;
}

/**
 * Opens a folder to be read from its first fact, archive included, to its last. Throws CopyRefused and JournalDamaged.
 */
export function openWhole(folder: string): WholeFolder {
  const reading = readWatermark(folder);
  const db = openReading(journalPath(folder));
  if (db === null) throw journalGone(reading) ?? noJournal(folder);
  try {
    db.exec('BEGIN');
    // The beginning of time lies in the archive, where there is one.
    const origin = new Origin(folder, db, { at: 0 }, reading);
    const { anchor, headSeq, headHash, archives, keysId } = origin;
    const { journalId } = anchor;
    return {
      journalId,
      headSeq,
      headHash,
      keysId,
      archives,
      batches: () => provedBatches(origin),
      refuseGrown: () => refuseGrown(folder, headSeq),
      close: () => db.close(),
    };
  } catch (error) {
    db.close();
    throw error;
  }
}

function refuseGrown(folder: string, headSeq: number): void {
  const db = openReading(journalPath(folder));
  const newest = db === null ? null : newestBatch(db);
  db?.close();
  if (newest === null || newest.lastSeq <= headSeq) return;
  const grown = `${folder} has grown from fact ${headSeq} to fact ${newest.lastSeq} meanwhile`;
  throw new CopyRefused(grown, 'A service sells on it. Stop that service, and do it again.');
}

function* provedBatches(origin: Origin): Generator<Batch> {
  yield* origin.batches();
  const damage = origin.check.damageAtEnd(origin.headSeq);
  if (damage !== null) throw damage;
}

function noJournal(folder: string): CopyRefused {
  return new CopyRefused(`there is no journal in ${folder}`, 'Name the data folder that has one.');
}

/** The batches of a folder: from its archive, when the limit lies in it, to the end of its journal. */
class Origin {
  readonly anchor: Anchor;
  readonly headSeq: number;
  readonly headHash: Buffer;
  readonly archives: readonly ArchiveFile[];
  readonly rewrittenFrom: ReturnType<typeof readOrigin>;
  readonly keysId: string | null;
  readonly writtenBy: string | null;
  readonly check: WatermarkCheck;
  readonly #db: Connection;

  constructor(folder: string, db: Connection, limit: CopyLimit, reading: WatermarkResult) {
    const anchor = readAnchor(db);
    const newest = newestBatch(db);
    this.#db = db;
    this.rewrittenFrom = readOrigin(db);
    this.keysId = readNotedKeysId(db);
    this.writtenBy = readWrittenBy(db);
    this.headSeq = newest?.lastSeq ?? anchor.baseSeq;
    this.headHash = newest?.hash ?? anchor.baseHash;
    this.archives = liesInArchive(db, anchor, limit) ? archivesUpTo(folder, anchor.baseSeq, limit) : [];
    this.anchor = this.#firstAnchor(anchor);
    this.check = new WatermarkCheck({
      folder,
      reading,
      journalId: anchor.journalId,
      start: headAtAnchor(this.anchor),
      newestSeq: this.headSeq,
    });
    if (limit.seq !== undefined && limit.seq > this.headSeq) {
      throw new CopyRefused(
        `the journal ends at fact ${this.headSeq}, before fact ${limit.seq}`,
        'Choose an earlier fact.',
      );
    }
  }

  /** Every batch, proved while it is read. */
  batches(): Generator<Batch> {
    return this.check.proved(this.#walk());
  }

  *#walk(): Generator<Batch> {
    const head = headAtAnchor(this.anchor);
    for (const file of this.archives) yield* archivedBatches(file, head);
    yield* walkChain(this.#db, head, (found) => this.check.refuse(found));
  }

  #firstAnchor(live: Anchor): Anchor {
    const first = this.archives[0];
    return first === undefined ? live : openFile(first, readAnchor);
  }
}

/** Whether the limit lies before the journal's first fact, so that the archive is needed. */
function liesInArchive(db: Connection, { baseSeq }: Anchor, { seq, at }: CopyLimit): boolean {
  if (baseSeq === 0) return false;
  if (seq !== undefined && seq < baseSeq) return true;
  const firstAt = db.prepare<[], number>('SELECT at FROM journal ORDER BY seq LIMIT 1').pluck().get();
  return at !== undefined && (firstAt === undefined || firstAt > at);
}

/**
 * The archive files from the first fact to the limit, or to the journal when the limit is a moment, without files that
 * lie wholly within an earlier one. Throws CopyRefused, which names the facts that no file has.
 */
function archivesUpTo(folder: string, baseSeq: number, { seq = baseSeq }: CopyLimit): ArchiveFile[] {
  const chosen: ArchiveFile[] = [];
  const missing: string[] = [];
  let reached = 0;
  for (const file of listArchives(folder)) {
    if (file.toSeq <= reached || reached >= seq) continue;
    if (file.fromSeq > reached + 1) missing.push(rangeOf(reached + 1, file.fromSeq - 1));
    chosen.push(file);
    reached = file.toSeq;
  }
  if (reached < seq) missing.push(rangeOf(reached + 1, baseSeq));
  if (missing.length === 0) return chosen;
  throw new CopyRefused(
    `the journal begins after fact ${baseSeq}, and ${missing.join(' and ')} are not in ${join(folder, ARCHIVE_FOLDER)}`,
    `Put the archive files back from a backup, or restore from fact ${baseSeq} on.`,
  );
}

function rangeOf(fromSeq: number, toSeq: number): string {
  return `facts ${fromSeq} to ${toSeq}`;
}

async function copyJournal(
  origin: Origin,
  out: string,
  limit: CopyLimit,
  onProgress: CopyOptions['onProgress'],
): Promise<Copied> {
  const { anchor, check, headSeq } = origin;
  const target = openWriting(journalPath(out), anchor);
  try {
    if (origin.rewrittenFrom !== null) writeOrigin(target, origin.rewrittenFrom);
    if (origin.keysId !== null) noteKeysId(target, origin.keysId);
    if (origin.writtenBy !== null) noteWrittenBy(target, origin.writtenBy);
    let copied: Copied = { seq: anchor.baseSeq, hash: anchor.baseHash, cut: false };
    for (copied of copyBatches(origin.batches(), target, anchor, limit)) {
      onProgress?.({ seq: copied.seq, headSeq });
      await nextRound();
    }
    const isWhole = limit.seq === undefined && !copied.cut;
    const damage = isWhole ? check.damageAtEnd(copied.seq) : null;
    if (damage !== null) throw damage;
    target.pragma('wal_checkpoint(TRUNCATE)');
    return copied;
  } finally {
    target.close();
  }
}

/** Writes the copy's watermark, after everything that it covers is on disk. */
export function writeWatermark(
  out: string,
  { journalId }: Anchor,
  { seq, hash }: { readonly seq: number; readonly hash: Buffer },
): void {
  syncFile(journalPath(out));
  syncFolder(out);
  const watermark = new WatermarkWriter(out);
  watermark.write({ journalId, seq, hash: hash.toString('hex') });
  watermark.close();
  syncFolder(out);
}

async function copySnapshots(
  source: string,
  out: string,
  endSeq: number,
): Promise<{ readonly copies: { readonly path: string; readonly seq: number }[]; readonly left: readonly string[] }> {
  const copies: { path: string; seq: number }[] = [];
  const left: string[] = [];
  for (const { path, seq } of listSnapshots(source)) {
    if (seq > endSeq) continue;
    makePrivateFolder(join(out, SNAPSHOTS_FOLDER));
    const copy = join(out, SNAPSHOTS_FOLDER, basename(path));
    if (!copyIfPresent(path, copy)) continue;
    if (await isGood(copy, seq)) copies.push({ path: copy, seq });
    else {
      removeIfPresent(copy);
      left.push(path);
    }
  }
  return { copies, left };
}

async function isGood(path: string, seq: number): Promise<boolean> {
  try {
    return (await readSnapshot(path)).header.seq === seq;
  } catch {
    return false;
  }
}

/** Removes snapshots after the copy's end: the last fact before a moment is known only after the copy. */
function dropSnapshotsAfter(
  out: string,
  copies: readonly { readonly path: string; readonly seq: number }[],
  endSeq: number,
): number {
  let kept = 0;
  for (const { path, seq } of copies) {
    if (seq > endSeq) removeIfPresent(path);
    else kept += 1;
  }
  if (copies.length > 0) syncFolder(join(out, SNAPSHOTS_FOLDER));
  return kept;
}

/** Returns false when the file no longer exists, because a serving process removes old snapshots. */
export function copyIfPresent(from: string, to: string): boolean {
  try {
    copyFileSync(from, to);
    chmodSync(to, FILE_MODE);
    syncFile(to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function makeTarget(out: string): void {
  makePrivateFolder(out);
  tightenFolder(out);
}

/** Makes an empty folder for a copy (rule 1). Throws CopyRefused. */
export function prepareTarget(out: string): void {
  refuseFilled(out);
  makeTarget(out);
}

function refuseFilled(out: string): void {
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new CopyRefused(`${out} is not empty`, 'Name a folder that does not exist yet.');
  }
}
