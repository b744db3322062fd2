/**
 * Proves a journal when it is opened: watermark, anchor, chain and end.
 *
 * It runs under the folder's lock, before the writer starts and before anything is written, so that a damaged folder
 * stays as it was found.
 */

import { setImmediate as nextRound } from 'node:timers/promises';
import { headAtAnchor, newestBatch, walkChain, type Batch, type ChainBreak, type ChainHead } from './chain.ts';
import { errorCode, isCorruption, JournalDamaged, messageOf } from '../faults.ts';
import { JournalFault, type FactRow } from '../journal.ts';
import { listSnapshots } from '../snapshots.ts';
import { inSlices } from '../stopwatch.ts';
import { listArchives } from './archive.ts';
import { JOURNAL_FILE, journalPath, openReading, readAnchor, unreadable } from './schema.ts';
import { readWatermark, WATERMARK_FILE, type WatermarkResult } from './watermark.ts';

export interface RecoveryProgress {
  readonly seq: number;
  readonly headSeq: number;
}

export interface RecoveryListener {
  /** Receives every fact once, in order, so that a caller builds its index in the same pass. */
  readonly onRow?: ((row: FactRow) => void) | undefined;
  readonly onProgress?: ((progress: RecoveryProgress) => void) | undefined;
}

/** The length of one slice of work; the event loop is free between two of them. */
const SLICE_MS = 5;

/** The proved head of a journal, and the newest archived fact of each stream. */
interface RecoveredHead extends ChainHead {
  readonly archivedHeads: ReadonlyMap<string, number>;
}

/**
 * Reads the whole journal of a folder and returns its proved head, or null when nothing was ever written there.
 * Throws JournalDamaged, JournalTooNew, or JournalFault when the disk cannot be read.
 */
export async function recoverHead(folder: string, listener: RecoveryListener): Promise<RecoveredHead | null> {
  const head = await proveHead(folder, listener);
  const missing = head === null || head.seq === 0 ? journalMissing(folder) : null;
  if (missing !== null) throw missing;
  return head;
}

async function proveHead(folder: string, listener: RecoveryListener): Promise<RecoveredHead | null> {
  const reading = readWatermark(folder);
  const db = openReading(journalPath(folder));
  if (db === null) {
    const gone = journalGone(reading);
    if (gone !== null) throw gone;
    return null;
  }
  try {
    const anchor = readAnchor(db);
    const head = headAtAnchor(anchor);
    const newestSeq = newestBatch(db)?.lastSeq ?? head.seq;
    const check = new WatermarkCheck({ folder, reading, journalId: anchor.journalId, start: head, newestSeq });
    const batches = check.proved(walkChain(db, head, (found) => check.refuse(found)));
    await readInSlices(batches, head, newestSeq, listener);
    const damage = check.damageAtEnd(head.seq);
    if (damage !== null) throw damage;
    return { ...head, archivedHeads: anchor.streams };
  } catch (error) {
    throw isCorruption(error) ? unreadable(error) : asReadFault(error);
  } finally {
    db.close();
  }
}

/** The error of a folder without a journal whose watermark says that there was one; null where it says nothing. */
export function journalGone(reading: WatermarkResult): JournalDamaged | null {
  if (reading.found !== 'WATERMARK' || reading.watermark.seq === 0) return null;
  return new JournalDamaged({
    message: `it is gone or empty, but ${WATERMARK_FILE} says that facts were written`,
    lastGoodSeq: 0,
    expectedSeq: reading.watermark.seq,
  });
}

/**
 * The error of a folder whose journal has no fact, but that has snapshots or an archive; null where it has neither. A
 * copy that was cut off may have everything but the journal: it would be served as a new service with old events.
 */
export function journalMissing(folder: string): JournalDamaged | null {
  const [remains] = [...listSnapshots(folder), ...listArchives(folder)];
  if (remains === undefined) return null;
  return new JournalDamaged({
    message: `it has no fact, but the folder has ${remains.path}`,
    lastGoodSeq: 0,
    hint: 'A backup or restore that did not finish leaves such a folder: repeat it into an empty one. If the journal was removed, restore a backup.',
  });
}

/** Compares a journal with its watermark while its chain is walked, and says what is lost where either is damaged. */
export class WatermarkCheck {
  readonly #folder: string;
  readonly #reading: WatermarkResult;
  readonly #journalId: string;
  readonly #newestSeq: number;
  readonly #isNew: boolean;
  #provedSeq: number;
  #hashAtWatermark: Uint8Array | null = null;

  /** The walk begins at `start`; `newestSeq` is the last fact of the journal's rows. */
  constructor({ folder, reading, journalId, start, newestSeq }: WatermarkCheckOptions) {
    this.#folder = folder;
    this.#reading = reading;
    this.#journalId = journalId;
    this.#newestSeq = newestSeq;
    this.#isNew = start.seq === 0;
    this.#provedSeq = start.seq;
    this.#see(start.seq, start.hash);
  }

  /** Why the watermark says nothing about this journal, or null. */
  get silence(): string | null {
    if (this.#reading.found === 'NONE') return `${WATERMARK_FILE} is missing`;
    if (this.#reading.found === 'UNREADABLE') return `${WATERMARK_FILE} is damaged`;
    return this.#reading.watermark.journalId === this.#journalId ? null : `${WATERMARK_FILE} is of another journal`;
  }

  /** The last fact that is known to have been written, by the journal's rows or by the watermark. */
  get writtenSeq(): number {
    if (this.#reading.found !== 'WATERMARK' || this.silence !== null) return this.#newestSeq;
    return Math.max(this.#newestSeq, this.#reading.watermark.seq);
  }

  /** Passes the batches of a walk on. Throws JournalDamaged where SQLite cannot read on. */
  *proved(batches: Iterable<Batch>): Generator<Batch> {
    try {
      for (const batch of batches) {
        this.#see(batch.row.lastSeq, batch.row.hash);
        yield batch;
      }
    } catch (error) {
      if (!isCorruption(error)) throw error;
      if (this.#provedSeq === 0) throw unreadable(error);
      const message = `SQLite cannot read on (${messageOf(error)})`;
      throw this.#damageAfter(this.#provedSeq, this.writtenSeq, message, error);
    }
  }

  /** Throws JournalDamaged for a place where the chain does not hold. */
  refuse({ message, lastGoodSeq, batchSeq }: ChainBreak): never {
    throw this.#damageAfter(lastGoodSeq, Math.max(this.writtenSeq, batchSeq), message);
  }

  /** How a journal that ends at `endSeq` contradicts its watermark, or null when they agree. */
  damageAtEnd(endSeq: number): JournalDamaged | null {
    const { silence } = this;
    if (silence !== null || this.#reading.found !== 'WATERMARK') {
      if (this.#isNew && endSeq === 0 && this.#reading.found !== 'WATERMARK') return null;
      return new JournalDamaged({
        fault: silence!,
        message: `it is unknown whether facts were written after fact ${endSeq}, the last one of ${JOURNAL_FILE}`,
        lastGoodSeq: endSeq,
        folder: this.#folder,
      });
    }
    const { seq, hash } = this.#reading.watermark;
    if (seq > endSeq) {
      return this.#damageAfter(
        endSeq,
        seq,
        `${JOURNAL_FILE} ends at fact ${endSeq}, but ${WATERMARK_FILE} says that fact ${seq} was written`,
      );
    }
    if (this.#hashAtWatermark === null || Buffer.from(this.#hashAtWatermark).toString('hex') !== hash) {
      return new JournalDamaged({
        fault: `${WATERMARK_FILE} and ${JOURNAL_FILE} do not belong together`,
        message: `they have another hash at fact ${seq}`,
        lastGoodSeq: 0,
        hint: 'One of them was put here from somewhere else: restore a backup.',
      });
    }
    return null;
  }

  #see(seq: number, hash: Uint8Array): void {
    this.#provedSeq = seq;
    if (this.#reading.found === 'WATERMARK' && this.#reading.watermark.seq === seq) this.#hashAtWatermark = hash;
  }

  #damageAfter(lastGoodSeq: number, expectedSeq: number, message: string, cause?: unknown): JournalDamaged {
    return new JournalDamaged({ message, lastGoodSeq, expectedSeq, folder: this.#folder, cause });
  }
}

interface WatermarkCheckOptions {
  readonly folder: string;
  readonly reading: WatermarkResult;
  readonly journalId: string;
  readonly start: ChainHead;
  readonly newestSeq: number;
}

async function readInSlices(
  batches: Iterable<Batch>,
  head: ChainHead,
  headSeq: number,
  { onRow, onProgress }: RecoveryListener,
): Promise<void> {
  const pause = inSlices(SLICE_MS, async () => {
    onProgress?.({ seq: head.seq, headSeq });
    await nextRound();
  });
  for (const batch of batches) {
    if (onRow !== undefined)
      for (const { seq, at, eventId, type, data } of batch.facts) onRow({ seq, at, eventId, type, data });
    // Nothing is awaited in most rounds: there are millions.
    const rest = pause();
    if (rest !== undefined) await rest;
  }
  onProgress?.({ seq: head.seq, headSeq });
}

function asReadFault(error: unknown): unknown {
  if (!errorCode(error).startsWith('SQLITE_')) return error;
  return new JournalFault(
    'BROKEN',
    `the journal cannot be read: ${messageOf(error)}`,
    'Check the disk and its mount.',
    error,
  );
}
