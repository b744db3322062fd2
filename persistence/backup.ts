/**
 * New data folders from old ones: `backupFolder` copies all there is while another process serves, `copyUpTo` restores
 * a folder as of a fact or a moment, out of the archive too.
 *
 * Every batch is proved while it is copied and the copy gets a witness of its own, so a copy that exists is good.
 * The commands `backup` and `restore` call this; neither ever writes to the source, and files other than the journal,
 * the archive and the snapshots (keys, tokens) are copied only when the caller lists them.
 *
 *  1. The target is missing or empty before, and counts as a journal only once its witness is written, last.
 *  2. The source's journal is read in one transaction, and its snapshots are copied after that began and only as far
 *     as it reaches, so that the copy's snapshots are never newer than its journal.
 *  3. A limit never splits a unit; without one, the copy must reach the source's witness.
 *  4. A copy that fails leaves nothing behind, so that the same command can be tried again.
 */

import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ARCHIVE_FOLDER } from './archive.ts';
import { headAtAnchor, newestBatch, refuseBreak, walkChain, type Batch, type ChainHead } from './chain.ts';
import { copyBatches, type Copied, type CopyLimit } from './copy.ts';
import { errorCode } from './faults.ts';
import { nextSlice, removeIfPresent, syncFile, syncFolder } from './files.ts';
import { WitnessCheck, type RecoveryProgress } from './recovery.ts';
import { journalPath, openReading, openWriting, readAnchor, type Anchor, type Connection } from './schema.ts';
import { listSnapshots, SNAPSHOTS_FOLDER } from './snapshots.ts';
import { readWitness, WitnessWriter, type WitnessReading } from './witness.ts';

export interface CopyReport {
  readonly journalId: string;
  /** Facts in the copy's journal. */
  readonly facts: number;
  readonly baseSeq: number;
  readonly headSeq: number;
  readonly headHash: string;
  readonly snapshots: number;
  /** Whether facts of the source lie beyond the copy's end. */
  readonly cut: boolean;
}

export interface CopyOptions {
  readonly onProgress?: ((progress: RecoveryProgress) => void) | undefined;
  /** Further files of the source folder to copy, by name; those that do not exist are left out. */
  readonly files?: readonly string[] | undefined;
}

/** The target holds something already, or the source or the asked-for beginning is not there. */
export class CopyRefused extends Error {
  readonly hint: string;
  constructor(message: string, hint: string) {
    super(message);
    this.name = 'CopyRefused';
    this.hint = hint;
  }
}

/** Makes `out` a new data folder with everything durable in `source`, its archive included. */
export async function backupFolder(source: string, out: string, options: CopyOptions = {}): Promise<CopyReport> {
  const report = await copyUpTo(source, out, {}, options);
  copyArchive(source, out);
  return report;
}

/** Takes away what a copy had made of its target, which was missing or empty before (1, 4). */
function removeDraft(out: string): void {
  if (!existsSync(out)) return;
  for (const name of readdirSync(out)) rmSync(join(out, name), { recursive: true, force: true });
}

/** Copies the archive, where there is one, to a copy whose journal begins after it. */
export function copyArchive(source: string, out: string): void {
  const archive = join(source, ARCHIVE_FOLDER);
  if (existsSync(archive)) {
    cpSync(archive, join(out, ARCHIVE_FOLDER), { recursive: true, filter: (path) => !/-(wal|shm)$/.test(path) });
    syncTree(join(out, ARCHIVE_FOLDER));
  }
  syncFolder(out);
}

/**
 * Makes `out` a new data folder as of a fact or a moment, or as of now when the limit is empty.
 * Throws CopyRefused, or JournalDamaged when the source breaks before the limit.
 */
export async function copyUpTo(
  source: string,
  out: string,
  limit: CopyLimit,
  { onProgress, files = [] }: CopyOptions = {},
): Promise<CopyReport> {
  refuseFilled(out);
  const witness = readWitness(source);
  const db = openReading(journalPath(source));
  if (db === null) throw new CopyRefused(`there is no journal in ${source}`, 'Name the data folder that has one.');
  try {
    db.exec('BEGIN');
    const history = new History(source, db, limit);
    mkdirSync(out, { recursive: true });
    const snapshotsEnd = Math.min(limit.seq ?? history.headSeq, history.headSeq);
    const drafts = copySnapshots(source, out, snapshotsEnd);
    const copied = await copyJournal(history, witness, out, limit, onProgress);
    const snapshots = dropSnapshotsAfter(out, drafts, copied.seq);
    for (const name of files) copyIfPresent(join(source, name), join(out, basename(name)));
    testify(out, history.anchor, copied);
    const { journalId, baseSeq } = history.anchor;
    const headHash = copied.hash.toString('hex');
    return {
      journalId,
      baseSeq,
      facts: copied.seq - baseSeq,
      headSeq: copied.seq,
      headHash,
      snapshots,
      cut: copied.cut,
    };
  } catch (error) {
    removeDraft(out);
    throw error;
  } finally {
    db.close();
  }
}

/** The batches of a folder from its archive, where the limit lies in it, through its journal. */
class History {
  readonly anchor: Anchor;
  readonly headSeq: number;
  readonly #db: Connection;
  readonly #archives: readonly string[];

  constructor(folder: string, db: Connection, limit: CopyLimit) {
    const anchor = readAnchor(db);
    this.#db = db;
    this.headSeq = newestBatch(db)?.lastSeq ?? anchor.baseSeq;
    this.#archives = beginsBeyond(db, anchor, limit) ? archivePaths(folder) : [];
    this.anchor = this.#firstAnchor(anchor);
    const isReached = limit.seq === undefined || limit.seq >= this.anchor.baseSeq;
    const isBeyond = this.#archives.length === 0 && beginsBeyond(db, anchor, limit);
    if (!isReached || isBeyond) {
      throw new CopyRefused(
        `the journal begins after fact ${this.anchor.baseSeq}; what was before is not in ${join(folder, ARCHIVE_FOLDER)}`,
        'Put the archive files back, or choose a later fact or moment.',
      );
    }
    if (limit.seq !== undefined && limit.seq > this.headSeq) {
      throw new CopyRefused(
        `the journal ends at fact ${this.headSeq}, before fact ${limit.seq}`,
        'Choose an earlier fact.',
      );
    }
  }

  *batches(head: ChainHead): Generator<Batch> {
    for (const path of this.#archives) {
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
    const path = this.#archives[0];
    const db = path === undefined ? null : openReading(path);
    if (db === null) return live;
    try {
      return readAnchor(db);
    } finally {
      db.close();
    }
  }
}

/** Whether the limit lies before what the journal still has, so that its archive is needed. */
function beginsBeyond(db: Connection, { baseSeq }: Anchor, { seq, at }: CopyLimit): boolean {
  if (baseSeq === 0) return false;
  if (seq !== undefined && seq < baseSeq) return true;
  const firstAt = db.prepare<[], number>('SELECT at FROM journal ORDER BY seq LIMIT 1').pluck().get();
  return at !== undefined && (firstAt === undefined || firstAt > at);
}

/** The archive files in order of their first fact, without those that lie wholly within an earlier one. */
function archivePaths(folder: string): string[] {
  const archive = join(folder, ARCHIVE_FOLDER);
  if (!existsSync(archive)) return [];
  const found = readdirSync(archive).flatMap((name) => {
    const parts = /^([0-9]+)-([0-9]+)\.db$/.exec(name);
    return parts === null ? [] : [{ path: join(archive, name), from: Number(parts[1]), to: Number(parts[2]) }];
  });
  let reached = 0;
  return found
    .sort((a, b) => a.from - b.from || b.to - a.to)
    .filter(({ to }) => {
      const isNeeded = to > reached;
      reached = Math.max(reached, to);
      return isNeeded;
    })
    .map(({ path }) => path);
}

async function copyJournal(
  history: History,
  witness: WitnessReading,
  out: string,
  limit: CopyLimit,
  onProgress: CopyOptions['onProgress'],
): Promise<Copied> {
  const { anchor, headSeq } = history;
  const target = openWriting(journalPath(out), anchor);
  try {
    const head = headAtAnchor(anchor);
    const check = new WitnessCheck(witness, anchor.journalId, head);
    let copied: Copied = { seq: anchor.baseSeq, hash: anchor.baseHash, cut: false };
    for (copied of copyBatches(watched(history.batches(head), check), target, anchor, limit)) {
      onProgress?.({ seq: copied.seq, headSeq });
      await nextSlice();
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

function* watched(batches: Iterable<Batch>, check: WitnessCheck): Generator<Batch> {
  for (const batch of batches) {
    check.see(batch.row.lastSeq, batch.row.hash);
    yield batch;
  }
}

/** Writes the copy's witness, after everything it speaks of is on disk. */
function testify(out: string, { journalId }: Anchor, { seq, hash }: Copied): void {
  syncFile(journalPath(out));
  syncFolder(out);
  const witness = new WitnessWriter(out);
  witness.write({ journalId, seq, hash: hash.toString('hex') });
  witness.close();
  syncFolder(out);
}

function copySnapshots(source: string, out: string, endSeq: number): { readonly path: string; readonly seq: number }[] {
  const copies: { path: string; seq: number }[] = [];
  for (const { path, seq } of listSnapshots(source)) {
    if (seq > endSeq) continue;
    mkdirSync(join(out, SNAPSHOTS_FOLDER), { recursive: true });
    const copy = join(out, SNAPSHOTS_FOLDER, basename(path));
    if (copyIfPresent(path, copy)) copies.push({ path: copy, seq });
  }
  return copies;
}

/** A moment's place in the sequence is known only after the copy: snapshots beyond it go again. */
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

/** False when the file went away meanwhile, as old snapshots of a serving process do. */
function copyIfPresent(from: string, to: string): boolean {
  try {
    copyFileSync(from, to);
    syncFile(to);
    return true;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function syncTree(folder: string): void {
  for (const name of readdirSync(folder)) syncFile(join(folder, name));
  syncFolder(folder);
}

function refuseFilled(out: string): void {
  if (existsSync(out) && readdirSync(out).length > 0) {
    throw new CopyRefused(`${out} is not empty`, 'Name a folder that does not exist yet.');
  }
}
