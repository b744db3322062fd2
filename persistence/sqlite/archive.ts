/**
 * The archive of a data folder: files under `archive/`, each a closed journal database with the facts that one pruning
 * moved out of `journal.db`. Archive and journal together hold every fact from the first one on.
 *
 * It writes an archive file, drops the archived rows from the journal, and proves that a file is whole and belongs to
 * the journal. In a process that serves, writing and proving run in a worker thread (`archive-worker.ts`).
 *
 *  1. A file gets its name only after it was synced and its whole chain was walked again. What a crash leaves is a
 *     draft, which is never read and which the next pruning removes.
 *  2. Rows are dropped from the journal only when the file that has them carries its name.
 *  3. A file is read only when its chain holds from its first fact to its last and continues in the journal's anchor or
 *     in the file after it. So a damaged, exchanged or foreign file is never read. When what follows a file is lost, a
 *     file of this journal whose own chain holds is read all the same: its facts are all that is left.
 *  4. Files may overlap after a crash between archiving and dropping; any good one serves.
 */

import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { copyBatches, headAtAnchor, newestBatch, refuseBreak, walkChain, type Batch, type ChainHead } from './chain.ts';
import { newDriverLoad, terminateThread, type DriverLoad } from './driver-load.ts';
import { JournalDamaged, reasonOf, type Finding } from '../faults.ts';
import { entriesOf, makePrivateFolder, removeIfPresent, syncFile, syncFolder } from '../files.ts';
import {
  journalPath,
  openReading,
  openWriting,
  readAnchor,
  writeAnchor,
  type Anchor,
  type Connection,
} from './schema.ts';

export const ARCHIVE_FOLDER = 'archive';

export interface ArchiveFile {
  readonly path: string;
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** The file that a pruning wrote. */
export type ArchivedFacts = ArchiveFile;

/** A position in the chain: a fact, and the hash of the batch that ends with it. */
export interface ChainPosition {
  readonly journalId: string;
  readonly seq: number;
  readonly hash: Buffer;
}

export type ArchiveJob =
  | { readonly kind: 'ARCHIVE'; readonly folder: string; readonly throughSeq: number; readonly at: number }
  | { readonly kind: 'PROVE'; readonly folder: string; readonly seq: number }
  | { readonly kind: 'CHECK'; readonly folder: string };

const DRAFT_SUFFIX = '.tmp';
const FILE_NAME = /^([0-9]+)-([0-9]+)\.db$/;
const PUT_BACK = 'Put the archive file back from a backup: holdfast backup copies the archive too.';

/** The archive files of a folder by their first fact, and the longest first among those with the same first fact. */
export function listArchives(folder: string): ArchiveFile[] {
  return entriesOf(join(folder, ARCHIVE_FOLDER))
    .flatMap(({ name }) => {
      const parts = FILE_NAME.exec(name);
      if (parts === null) return [];
      return [{ path: join(folder, ARCHIVE_FOLDER, name), fromSeq: Number(parts[1]), toSeq: Number(parts[2]) }];
    })
    .sort((a, b) => a.fromSeq - b.fromSeq || b.toSeq - a.toSeq);
}

/** Archives the whole batches at or before `throughSeq` in a worker thread; null when there are none. */
export async function archiveFacts(folder: string, throughSeq: number, at: number): Promise<ArchivedFacts | null> {
  return (await runWorker({ kind: 'ARCHIVE', folder, throughSeq, at })) as ArchivedFacts | null;
}

/** The same as `proveArchiveOf`, in a worker thread. */
export async function proveArchiveAside(folder: string, seq: number): Promise<ArchiveFile> {
  return (await runWorker({ kind: 'PROVE', folder, seq })) as ArchiveFile;
}

/** Checks the whole archive in a worker thread, until the signal ends it; what is wrong with it. */
export async function checkArchiveAside(folder: string, signal: AbortSignal): Promise<Finding[]> {
  return (await runWorker({ kind: 'CHECK', folder }, signal)) as Finding[];
}

export interface ArchiveThreadData {
  readonly job: ArchiveJob;
  readonly load: DriverLoad;
}

async function runWorker(job: ArchiveJob, signal?: AbortSignal): Promise<unknown> {
  const workerData: ArchiveThreadData = { job, load: newDriverLoad() };
  const worker = new Worker(new URL('./archive-worker.ts', import.meta.url), { workerData, execArgv: [] });
  signal?.addEventListener('abort', () => void terminateThread(worker, workerData.load), { once: true });
  const outcome = await new Promise<{ result: unknown } | { error: object }>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(new Error('the archive worker ended without an outcome')));
  });
  if ('error' in outcome) throw toError(outcome.error);
  return outcome.result;
}

/** Gives an error of the worker its class again, because callers treat JournalDamaged differently. */
function toError(error: object): Error {
  const fields = error as { name: string; message: string; lastGoodSeq?: number; hint?: string };
  const { name, message, lastGoodSeq = 0, hint } = fields;
  if (name !== 'JournalDamaged') return Object.assign(new Error(message), fields);
  return new JournalDamaged({
    message: reasonOf(new Error(message)),
    lastGoodSeq,
    ...(hint !== undefined && { hint }),
  });
}

// ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The archiving itself, synchronous; `at` is stored in the file as the moment when it was written. */
export function writeArchive(folder: string, throughSeq: number, at: number): ArchivedFacts | null {
  const source = openReading(journalPath(folder));
  if (source === null) return null;
  try {
    const anchor = readAnchor(source);
    const archive = join(folder, ARCHIVE_FOLDER);
    removeLeftovers(archive, anchor.baseSeq);
    const toSeq = source
      .prepare<[number], number | null>('SELECT max(last_seq) FROM batch WHERE last_seq <= ?')
      .pluck()
      .get(throughSeq);
    if (typeof toSeq !== 'number') return null;
    const fromSeq = anchor.baseSeq + 1;
    makePrivateFolder(archive);
    const path = join(archive, `${fromSeq}-${toSeq}.db`);
    const draft = `${path}${DRAFT_SUFFIX}`;
    try {
      writeDraft(source, anchor, draft, toSeq, at);
      syncFile(draft);
      proveFile({ path: draft, fromSeq, toSeq }, anchor.journalId);
      renameSync(draft, path);
    } catch (error) {
      removeDraft(draft);
      throw error;
    }
    syncFolder(archive);
    syncFolder(folder);
    return { path, fromSeq, toSeq };
  } finally {
    source.close();
  }
}

function writeDraft(source: Connection, anchor: Anchor, draft: string, toSeq: number, at: number): void {
  const target = openWriting(draft, anchor);
  try {
    const batches = walkChain(source, headAtAnchor(anchor), refuseBreak);
    for (const copied of copyBatches(batches, target, anchor, { seq: toSeq })) void copied;
    target.prepare("INSERT INTO meta VALUES ('archived_at', ?)").run(String(at));
    // A reader of a database in WAL mode would leave a log beside it.
    target.pragma('journal_mode = DELETE');
  } finally {
    target.close();
  }
}

/** Removes drafts, and files whose facts are all in the journal because a crash came before their rows were dropped. */
function removeLeftovers(archive: string, baseSeq: number): void {
  for (const { name } of entriesOf(archive)) {
    const fromSeq = Number(FILE_NAME.exec(name)?.[1] ?? 0);
    if (name.includes(DRAFT_SUFFIX) || fromSeq > baseSeq) removeIfPresent(join(archive, name));
  }
}

function removeDraft(draft: string): void {
  for (const suffix of ['', '-wal', '-shm', '-journal']) removeIfPresent(`${draft}${suffix}`);
}

/**
 * When the newest archive file was written, in milliseconds since 1970; null when there is none or it cannot be read.
 */
export function lastArchivedAt(folder: string): number | null {
  const newest = listArchives(folder).sort((a, b) => b.toSeq - a.toSeq)[0];
  if (newest === undefined) return null;
  try {
    return openFile(newest, (db) => {
      const text = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'archived_at'").pluck().get();
      return text === undefined ? (newestBatch(db)?.at ?? null) : Number(text);
    });
  } catch {
    return null;
  }
}

// ── proving ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * Returns the archive file that has a fact, proved by rule 3. Throws JournalDamaged, which names the file that is
 * damaged or the facts that no file has.
 */
export function proveArchiveOf(folder: string, seq: number): ArchiveFile {
  const files = listArchives(folder);
  let place = journalAnchor(folder);
  const troubles = new Map<ArchiveFile, string>();
  for (;;) {
    const step = stepBack(files, place, seq, troubles);
    if (step === null) break;
    if ('file' in step) return step.file;
    place = step.place;
  }
  const beyondGap = files.filter((file) => file.fromSeq <= seq && seq <= file.toSeq && !troubles.has(file));
  for (const file of beyondGap) {
    const proof = attempt(() => proveFile(file, place.journalId));
    if (!('trouble' in proof)) return file;
    troubles.set(file, proof.trouble);
  }
  throw notArchived(files, place.seq, seq, troubles);
}

/** The result of a proof, or what is wrong with the file. */
export function attempt<Result>(proof: () => Result): { readonly result: Result } | { readonly trouble: string } {
  try {
    return { result: proof() };
  } catch (error) {
    return { trouble: reasonOf(error) };
  }
}

/** The file with the fact, or the place before a file that lies between; null when no good file joins the place. */
function stepBack(
  files: readonly ArchiveFile[],
  place: ChainPosition,
  seq: number,
  troubles: Map<ArchiveFile, string>,
): { readonly file: ArchiveFile } | { readonly place: ChainPosition } | null {
  for (const file of files) {
    if (!reaches(file, place.seq) || (seq > place.seq ? file.toSeq < seq : file.fromSeq > place.seq)) continue;
    try {
      const before = meetPlace(file, place);
      if (seq < file.fromSeq) return { place: before };
      proveFile(file, place.journalId);
      return { file };
    } catch (error) {
      troubles.set(file, reasonOf(error));
    }
  }
  return null;
}

function reaches({ fromSeq, toSeq }: ArchiveFile, seq: number): boolean {
  return fromSeq - 1 <= seq && seq <= toSeq;
}

/** Checks that the chain of the file passes through the place; returns the place that the file begins after. */
export function meetPlace(file: ArchiveFile, { journalId, seq, hash }: ChainPosition): ChainPosition {
  return openFile(file, (db) => {
    const anchor = readAnchor(db);
    refuseForeign(file, anchor, journalId);
    const found =
      seq === anchor.baseSeq
        ? anchor.baseHash
        : db.prepare<[number], Buffer>('SELECT hash FROM batch WHERE last_seq = ?').pluck().get(seq);
    if (found === undefined || !Buffer.from(found).equals(hash)) {
      throw damaged(`at fact ${seq} it is not what the journal goes on from`, anchor.baseSeq);
    }
    return { journalId, seq: anchor.baseSeq, hash: anchor.baseHash };
  });
}

/** Walks the chain of a closed archive file; throws unless it holds and ends where the name says. */
export function proveFile(file: ArchiveFile, journalId: string): void {
  openFile(file, (db) => {
    const anchor = readAnchor(db);
    refuseForeign(file, anchor, journalId);
    const head: ChainHead = headAtAnchor(anchor);
    for (const { row } of walkChain(db, head, refuseBreak)) void row;
    if (head.seq !== file.toSeq) throw damaged(`it ends at fact ${head.seq}, not ${file.toSeq}`, head.seq);
  });
}

function refuseForeign({ fromSeq }: ArchiveFile, anchor: Anchor, journalId: string): void {
  if (anchor.journalId !== journalId) throw damaged('it is of another journal', 0);
  if (anchor.baseSeq !== fromSeq - 1) throw damaged(`it begins after fact ${anchor.baseSeq}, not ${fromSeq - 1}`, 0);
}

/** Runs a query over an archive file and closes it. */
export function openFile<Result>({ path }: Pick<ArchiveFile, 'path'>, query: (db: Connection) => Result): Result {
  const db = openReading(path);
  if (db === null) throw damaged('it is gone or empty', 0);
  try {
    return query(db);
  } finally {
    db.close();
  }
}

/** Where the journal of a folder begins. */
export function journalAnchor(folder: string): ChainPosition {
  const { journalId, baseSeq, baseHash } = openFile({ path: journalPath(folder) }, readAnchor);
  return { journalId, seq: baseSeq, hash: baseHash };
}

/** The error when no good file has a fact: the file that should have it is damaged, or there is none. */
function notArchived(
  files: readonly ArchiveFile[],
  placeSeq: number,
  seq: number,
  troubles: ReadonlyMap<ArchiveFile, string>,
): JournalDamaged {
  const damages = [...troubles].map(([{ path }, trouble]) => unusable(path, trouble));
  if (damages.length > 0) return damaged(damages.join('; '), 0);
  const before = files.filter(({ toSeq }) => toSeq < placeSeq).reduce((most, { toSeq }) => Math.max(most, toSeq), 0);
  return damaged(
    `facts ${before + 1} to ${Math.max(placeSeq, seq)} were moved to the archive, and no file of it has them`,
    0,
  );
}

function unusable(path: string, trouble: string): string {
  return `the archive file ${path} cannot be used: ${trouble}`;
}

function damaged(message: string, lastGoodSeq: number): JournalDamaged {
  return new JournalDamaged({ message, lastGoodSeq, hint: PUT_BACK });
}

/** The batches of an archive file from `head` on, proved while they are read. Throws JournalDamaged, which names it. */
export function* archivedBatches({ path }: ArchiveFile, head: ChainHead): Generator<Batch> {
  let db: Connection | null = null;
  try {
    db = openReading(path);
    if (db !== null) yield* walkChain(db, head, refuseBreak);
  } catch (error) {
    throw damaged(unusable(path, reasonOf(error)), head.seq);
  } finally {
    db?.close();
  }
}

// ── dropping ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Facts dropped in one transaction, so that a commit in between waits for milliseconds only. */
const FACTS_A_SLICE = 2_000;

/**
 * Drops the next whole batches at or before `throughSeq`, at most `FACTS_A_SLICE` facts unless one batch is larger, and
 * moves the anchor up to them in the same transaction. Every call leaves a journal whose chain holds from its anchor
 * on.
 */
export function pruneSlice(db: Connection, throughSeq: number): 'MORE' | 'DONE' {
  return db
    .transaction(() => {
      const anchor = readAnchor(db);
      const last = lastBatchOfSlice(db, anchor.baseSeq, throughSeq);
      if (last === undefined) return 'DONE';
      const dropped = db
        .prepare<[number], { eventId: string; lastSeq: number }>(
          'SELECT event_id AS eventId, max(seq) AS lastSeq FROM journal WHERE seq <= ? GROUP BY event_id',
        )
        .all(last.seq);
      const streams = new Map(anchor.streams);
      for (const { eventId, lastSeq } of dropped) streams.set(eventId, lastSeq);
      db.prepare('DELETE FROM journal WHERE seq <= ?').run(last.seq);
      db.prepare('DELETE FROM batch WHERE last_seq <= ?').run(last.seq);
      const changed = dropped.map(({ eventId }) => eventId);
      writeAnchor(db, { journalId: anchor.journalId, baseSeq: last.seq, baseHash: last.hash, streams }, changed);
      return 'MORE';
    })
    .immediate();
}

function lastBatchOfSlice(
  db: Connection,
  baseSeq: number,
  throughSeq: number,
): { seq: number; hash: Buffer } | undefined {
  const columns = 'SELECT last_seq AS seq, hash FROM batch';
  const largest = db.prepare<[number], { seq: number; hash: Buffer }>(
    `${columns} WHERE last_seq <= ? ORDER BY last_seq DESC LIMIT 1`,
  );
  const next = db.prepare<[number], { seq: number; hash: Buffer }>(
    `${columns} WHERE last_seq <= ? ORDER BY last_seq LIMIT 1`,
  );
  return largest.get(Math.min(throughSeq, baseSeq + FACTS_A_SLICE)) ?? next.get(throughSeq);
}
