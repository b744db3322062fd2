/**
 * Makes new data folders from old ones, also while another process serves: a backup is a copy without a limit, a restore a
 * copy as of a fact or a moment, from the archive too.
 *
 * Every batch is proved while it is copied, and the copy gets a watermark of its own, so that a copy that exists is good. The
 * source is never written to. Files other than the journal, the archive and the snapshots are copied only when listed.
 *
 *  1. The target must be missing or empty, and counts as a journal only once its watermark is written, last.
 *  2. The source's journal is read in one transaction. Its snapshots are copied after that began, and only up to the
 *     journal's end, so that the copy's snapshots are never newer than its journal.
 *  3. A limit never splits a unit; without a limit the copy must reach the source's watermark.
 *  4. Damaged snapshots are not copied: archive and journal have their facts. Archive files are copied as they are, so that a
 *     verification of the copy names what is wrong with them.
 *  5. A copy that fails leaves nothing behind, so that the same command can be repeated.
 */

import { chmodSync, copyFileSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { ARCHIVE_FOLDER, listArchives, openFile, type ArchiveFile } from './sqlite/archive.ts';
import {
  copyBatches,
  headAtAnchor,
  newestBatch,
  refuseBreak,
  walkChain,
  type Batch,
  type ChainHead,
  type Copied,
  type CopyLimit,
} from './sqlite/chain.ts';
import { errorCode } from './faults.ts';
import { FILE_MODE, makePrivateFolder, removeIfPresent, syncFile, syncFolder, tightenFolder } from './files.ts';
import { WatermarkCheck, type RecoveryProgress } from './sqlite/recovery.ts';
import { journalPath, openReading, openWriting, readAnchor, type Anchor, type Connection } from './sqlite/schema.ts';
import { listSnapshots, readSnapshot, SNAPSHOTS_FOLDER } from './snapshots.ts';
import { readWatermark, WatermarkWriter, type WatermarkReading } from './sqlite/watermark.ts';

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
  /** Whether facts of the source lie beyond the copy's end. */
  readonly cut: boolean;
}

export interface CopyOptions {
  readonly onProgress?: ((progress: RecoveryProgress) => void) | undefined;
  /** Further files of the source folder to copy, by name; missing ones are left out. */
  readonly files?: readonly string[] | undefined;
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

/** Removes what a failed copy has written to its target, which was missing or empty before (rules 1 and 5). */
function removeDraft(out: string): void {
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
 * Makes `out` a new data folder as of a fact or a moment, or as of now when the limit is empty, with the archive before its
 * journal. Rejects with CopyRefused, or with JournalDamaged when the source's chain breaks before the limit.
 */
export async function copyUpTo(
  source: string,
  out: string,
  limit: CopyLimit,
  { onProgress, files = [] }: CopyOptions = {},
): Promise<CopyReport> {
  refuseFilled(out);
  const watermark = readWatermark(source);
  const db = openReading(journalPath(source));
  if (db === null) throw new CopyRefused(`there is no journal in ${source}`, 'Name the data folder that has one.');
  try {
    db.exec('BEGIN');
    const origin = new Origin(source, db, limit);
    makePrivateFolder(out);
    tightenFolder(out);
    const snapshotsEnd = Math.min(limit.seq ?? origin.headSeq, origin.headSeq);
    const { copies, left } = await copySnapshots(source, out, snapshotsEnd);
    const copied = await copyJournal(origin, watermark, out, limit, onProgress);
    const snapshots = dropSnapshotsAfter(out, copies, copied.seq);
    for (const name of files) copyIfPresent(join(source, name), join(out, basename(name)));
    const archives = copyArchive(source, out, origin.anchor.baseSeq);
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
      cut: copied.cut,
    };
  } catch (error) {
    removeDraft(out);
    throw error;
  } finally {
    db.close();
  }
}

/** The batches of a folder: from its archive, when the limit lies in it, to the end of its journal. */
class Origin {
  readonly anchor: Anchor;
  readonly headSeq: number;
  readonly #db: Connection;
  readonly #archives: readonly ArchiveFile[];

  constructor(folder: string, db: Connection, limit: CopyLimit) {
    const anchor = readAnchor(db);
    this.#db = db;
    this.headSeq = newestBatch(db)?.lastSeq ?? anchor.baseSeq;
    this.#archives = liesInArchive(db, anchor, limit) ? archivesUpTo(folder, anchor.baseSeq, limit) : [];
    this.anchor = this.#firstAnchor(anchor);
    if (limit.seq !== undefined && limit.seq > this.headSeq) {
      throw new CopyRefused(
        `the journal ends at fact ${this.headSeq}, before fact ${limit.seq}`,
        'Choose an earlier fact.',
      );
    }
  }

  *batches(head: ChainHead): Generator<Batch> {
    for (const { path } of this.#archives) {
      const archive = openReading(path);
      if (archive === null) continue;
      try {
        yield* walkChain(archive, head, refuseBreak);
      } finally {
        archive.close();
      }
    }
    yield* walkChain(this.#db, head, refuseBreak);
  }

  #firstAnchor(live: Anchor): Anchor {
    const first = this.#archives[0];
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
 * The archive files from the first fact to the limit, or to the journal when the limit is a moment, without files that lie
 * wholly within an earlier one. Throws CopyRefused, which names the facts that no file has.
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
  watermark: WatermarkReading,
  out: string,
  limit: CopyLimit,
  onProgress: CopyOptions['onProgress'],
): Promise<Copied> {
  const { anchor, headSeq } = origin;
  const target = openWriting(journalPath(out), anchor);
  try {
    const head = headAtAnchor(anchor);
    const check = new WatermarkCheck(watermark, anchor.journalId, head);
    let copied: Copied = { seq: anchor.baseSeq, hash: anchor.baseHash, cut: false };
    for (copied of copyBatches(checked(origin.batches(head), check), target, anchor, limit)) {
      onProgress?.({ seq: copied.seq, headSeq });
      await nextRound();
    }
    const isWhole = limit.seq === undefined && !copied.cut;
    const damage = isWhole ? check.damageAtEnd(copied.seq) : null;
    if (damage !== null) throw damage;
    target.pragma('wal_checkpoint(TRUNCATE)');
    return { ...copied, cut: copied.seq < headSeq };
  } finally {
    target.close();
  }
}

/** Passes the batches on and shows each to the check. */
function* checked(batches: Iterable<Batch>, check: WatermarkCheck): Generator<Batch> {
  for (const batch of batches) {
    check.see(batch.row.lastSeq, batch.row.hash);
    yield batch;
  }
}

/** Writes the copy's watermark, after everything that it covers is on disk. */
function writeWatermark(out: string, { journalId }: Anchor, { seq, hash }: Copied): void {
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

/** Removes snapshots after the copy's end: where a moment lies in the sequence is known only after the copy. */
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
function copyIfPresent(from: string, to: string): boolean {
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

function refuseFilled(out: string): void {
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new CopyRefused(`${out} is not empty`, 'Name a folder that does not exist yet.');
  }
}
