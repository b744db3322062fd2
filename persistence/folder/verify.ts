/**
 * Reads a data folder from end to end without writing, and lists everything that is missing or differs from what was
 * written.
 *
 * It works beside a serving process and on a folder that a crash left. It continues after a problem; only what follows
 * a damage of the chain is not read, because nothing of it is proved. What facts mean is not checked here: `onRow`
 * receives each of them. Reading a log takes SQLite's shared memory, so an empty `-wal` and a `-shm` may appear beside
 * a closed journal. It must run in a process that does not serve, because `quick_check` would block one that does.
 *
 *  1. A damage is one problem with one advice: what follows from it is not listed beside it, and what is lost is what a
 *     start would say.
 */

import { setImmediate as nextRound } from 'node:timers/promises';
import { headAtAnchor, newestBatch, walkChain } from '../sqlite/chain.ts';
import { attempt, listArchives, openFile, type ChainPosition } from '../sqlite/archive.ts';
import { errorCode, isCorruption, JournalDamaged, messageOf, type Finding } from '../faults.ts';
import type { FactRow } from '../journal.ts';
import { journalGone, journalMissing, WatermarkCheck, type RecoveryListener } from '../sqlite/recovery.ts';
import {
  hashOfOrigin,
  journalPath,
  openReading,
  readAnchor,
  readNotedKeysId,
  readOrigin,
  unreadable,
  type Anchor,
  type Connection,
  type Origin,
} from '../sqlite/schema.ts';
import { listSnapshots, readSnapshot, type SnapshotFile } from '../snapshots.ts';
import { NO_ARCHIVE, verifyArchive, type ArchiveReport, type ShownFacts } from '../sqlite/archive-check.ts';
import { readWatermark, type WatermarkResult } from '../sqlite/watermark.ts';

export interface SnapshotFinding {
  readonly path: string;
  readonly eventId: string | null;
  readonly seq: number;
  /** Fingerprint of the state, or null when the snapshot is bad. */
  readonly fingerprint: string | null;
}

export interface VerifyReport extends ArchiveReport {
  readonly journalId: string | null;
  /** The journal that this one was rewritten from; null for any other. */
  readonly origin: Origin | null;
  readonly streams: number;
  readonly facts: number;
  readonly batches: number;
  /** The newest fact that was moved to the archive; 0 when none was. */
  readonly baseSeq: number;
  readonly headSeq: number;
  /** The last fact before the first damage of the chain; the head where there is none. */
  readonly provedSeq: number;
  /** The hash of the chain at `provedSeq`, in hex. */
  readonly headHash: string | null;
  readonly watermarkSeq: number | null;
  /** The keys that the journal says its facts are sealed with. */
  readonly keysId: string | null;
  readonly snapshots: readonly SnapshotFinding[];
  readonly problems: readonly Finding[];
  /** Problems beyond those listed. */
  readonly moreProblems: number;
}

export const PROBLEMS_MAX = 100;
const BATCHES_A_SLICE = 16;

interface VerifyListener extends RecoveryListener {
  /** Facts of the archive that are shown too. */
  readonly archived?: ShownFacts;
}

/**
 * Verifies the journal, its watermark, the archive and the snapshots of a folder. Throws only when the format is too
 * new.
 */
export async function verifyJournal(folder: string, listener: VerifyListener = {}): Promise<VerifyReport> {
  const problems = new Problems();
  // Listed before the journal is read, so that none of them is of a later fact than the journal's last.
  const files = listSnapshots(folder);
  const { anchor, ...journal } = await verifyChain(folder, listener, problems);
  const archive =
    anchor === null
      ? NO_ARCHIVE
      : await verifyArchive(folder, anchor, (finding) => problems.add(finding), listener.archived);
  // The end of a journal that cannot be read is not known.
  const snapshots = await verifySnapshots(files, anchor === null ? Infinity : journal.headSeq, problems);
  return { ...journal, ...archive, snapshots, problems: problems.listed, moreProblems: problems.more };
}

interface ChainReport extends Omit<VerifyReport, keyof ArchiveReport | 'snapshots' | 'problems' | 'moreProblems'> {
  /** Where the journal begins; null when that cannot be read, or its facts are missing. */
  readonly anchor: ChainPosition | null;
}

const NO_JOURNAL: ChainReport = {
  anchor: null,
  journalId: null,
  origin: null,
  streams: 0,
  facts: 0,
  batches: 0,
  baseSeq: 0,
  headSeq: 0,
  provedSeq: 0,
  headHash: null,
  watermarkSeq: null,
  keysId: null,
};

async function verifyChain(folder: string, listener: RecoveryListener, problems: Problems): Promise<ChainReport> {
  // It is read before the journal: a serving process writes all of them meanwhile, and the journal must not be older
  // than the watermark or a snapshot.
  const reading = readWatermark(folder);
  const missing = journalMissing(folder);
  const report = { ...NO_JOURNAL, watermarkSeq: reading.found === 'WATERMARK' ? reading.watermark.seq : null };
  let db: Connection | null = null;
  try {
    db = openReading(journalPath(folder));
    if (db !== null)
      return { ...report, ...(await verifyBatches(folder, db, { reading, missing }, listener, problems)) };
    const gone = journalGone(reading) ?? missing;
    if (gone !== null) throw gone;
  } catch (error) {
    if (!(error instanceof JournalDamaged) && !isSqliteError(error)) throw error;
    problems.addDamage(isCorruption(error) ? unreadable(error) : error, folder);
  } finally {
    db?.close();
  }
  return report;
}

/** Walks the chain to its end, or to its first damage, from which on nothing is proved (rule 1). */
async function verifyBatches(
  folder: string,
  db: Connection,
  { reading, missing }: { readonly reading: WatermarkResult; readonly missing: JournalDamaged | null },
  { onRow, onProgress }: RecoveryListener,
  problems: Problems,
): Promise<Omit<ChainReport, 'watermarkSeq'>> {
  db.exec('BEGIN');
  const anchor = readAnchor(db);
  const { journalId, baseSeq } = anchor;
  const head = headAtAnchor(anchor);
  const newestSeq = newestBatch(db)?.lastSeq ?? head.seq;
  const check = new WatermarkCheck({ folder, reading, journalId, start: head, newestSeq });
  const origin = readOrigin(db);
  if (origin !== null && !beginsFrom(origin, anchor, folder)) {
    problems.add({
      what: 'its chain does not begin from the journal that it names as its origin',
      where: journalPath(folder),
      hint: 'Somebody wrote into its table meta: restore a backup.',
    });
  }
  let [facts, batches] = [0, 0];
  let damage: JournalDamaged | null = null;
  try {
    for (const batch of check.proved(walkChain(db, head, (found) => check.refuse(found)))) {
      facts += batch.facts.length;
      batches += 1;
      for (const fact of batch.facts) {
        if (isJson(fact.data)) onRow?.(rowOf(fact));
        else {
          const hint = 'Written by a defect: report it.';
          problems.add({ what: 'its data is not JSON', where: `fact ${fact.seq}`, hint });
        }
      }
      if (batches % BATCHES_A_SLICE > 0) continue;
      onProgress?.({ seq: head.seq, headSeq: newestSeq });
      await nextRound();
    }
    onProgress?.({ seq: head.seq, headSeq: newestSeq });
    damage = check.damageAtEnd(head.seq) ?? (head.seq === 0 ? missing : null);
  } catch (error) {
    if (!(error instanceof JournalDamaged)) throw error;
    damage = error;
  }
  if (damage === null) quickCheck(db, problems);
  else problems.addDamage(damage, folder);
  return {
    journalId,
    keysId: readNotedKeysId(db),
    origin,
    baseSeq,
    anchor: damage !== null && damage === missing ? null : { journalId, seq: baseSeq, hash: anchor.baseHash },
    streams: head.heads.size,
    facts,
    batches,
    headSeq: newestSeq,
    provedSeq: head.seq,
    headHash: Buffer.from(head.hash).toString('hex'),
  };
}

/** Whether the chain of a rewritten journal begins with its origin; what cannot be read is the archive's finding. */
function beginsFrom(origin: Origin, { journalId, baseSeq, baseHash }: Anchor, folder: string): boolean {
  let firstHash: Uint8Array | null = baseHash;
  if (baseSeq > 0) {
    const [first] = listArchives(folder);
    const read = first === undefined || first.fromSeq > 1 ? null : attempt(() => openFile(first, readAnchor));
    firstHash = read !== null && 'result' in read ? read.result.baseHash : null;
  }
  return firstHash === null || hashOfOrigin(journalId, origin).equals(firstHash);
}

async function verifySnapshots(
  files: readonly SnapshotFile[],
  headSeq: number,
  problems: Problems,
): Promise<SnapshotFinding[]> {
  const findings: SnapshotFinding[] = [];
  for (const { path, seq, header } of files) {
    const hint = 'It is skipped, for an older one or for the facts themselves; holdfast snapshot writes a new one.';
    let fingerprint: string | null = null;
    try {
      const snapshot = await readSnapshot(path);
      if (snapshot.header.seq !== seq)
        throw new Error(`its name says fact ${seq}, its header fact ${snapshot.header.seq}`);
      if (seq > headSeq) throw new Error(`it is of fact ${seq}, but the journal ends at fact ${headSeq}`);
      fingerprint = snapshot.fingerprint;
    } catch (error) {
      // A serving process removes old ones meanwhile.
      if (errorCode(error) === 'ENOENT') continue;
      problems.add({ what: messageOf(error), where: path, hint });
    }
    findings.push({ path, eventId: header?.eventId ?? null, seq, fingerprint });
  }
  return findings;
}

/**
 * SQLite's check of its pages: it does not see missing rows, but finds damage that reading along the key does not
 * touch. Not after a damage of the chain, which it would name again.
 */
function quickCheck(db: Connection, problems: Problems): void {
  const lines = db.pragma(`quick_check(${PROBLEMS_MAX})`) as { quick_check: string }[];
  for (const { quick_check: line } of lines) {
    if (line === 'ok') continue;
    problems.add({ what: line, where: db.name, hint: 'Make a backup: the copy has the same facts on sound pages.' });
  }
}

class Problems {
  readonly listed: Finding[] = [];
  more = 0;

  add(finding: Finding): void {
    if (this.listed.length < PROBLEMS_MAX) this.listed.push(finding);
    else this.more += 1;
  }

  addDamage(error: JournalDamaged | Error, where: string): void {
    const hint = error instanceof JournalDamaged ? error.hint : 'Check the disk and its mount.';
    this.add({ what: error.message, where, hint });
  }
}

function isSqliteError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'SqliteError';
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function rowOf({ seq, at, eventId, type, data }: FactRow): FactRow {
  return { seq, at, eventId, type, data };
}
