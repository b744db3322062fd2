/**
 * Proves a journal when it is opened: watermark, anchor, chain and end.
 *
 * It runs under the folder's lock, before the writer starts and before anything is written, so that a damaged folder stays
 * as it was found.
 */

import { setImmediate as nextRound } from 'node:timers/promises';
import { headAtAnchor, newestBatch, walkChain, type Batch, type ChainHead } from './chain.ts';
import { errorCode, isCorruption, JournalDamaged, messageOf } from '../faults.ts';
import { JournalFault, type FactRow } from '../journal.ts';
import { listSnapshots } from '../snapshots.ts';
import { stopwatchMs } from '../stopwatch.ts';
import { listArchives } from './archive.ts';
import { journalPath, openReading, readAnchor, unreadable, type Connection } from './schema.ts';
import { readWatermark, type WatermarkReading } from './watermark.ts';

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
export interface RecoveredHead extends ChainHead {
  readonly archivedHeads: ReadonlyMap<string, number>;
}

/**
 * Reads the whole journal of a folder and returns its proved head, or null when nothing was ever written there.
 * Throws JournalDamaged, JournalTooNew, or JournalFault when the disk cannot be read.
 */
export async function recoverHead(folder: string, listener: RecoveryListener): Promise<RecoveredHead | null> {
  const reading = readWatermark(folder);
  const db = openReading(journalPath(folder));
  if (db === null) {
    if (reading.found === 'WATERMARK' && reading.watermark.seq > 0) throw journalGone(reading.watermark.seq);
    refuseRemains(folder);
    return null;
  }
  let lastGoodSeq = 0;
  try {
    const anchor = readAnchor(db);
    const head = headAtAnchor(anchor);
    lastGoodSeq = head.seq;
    const check = new WatermarkCheck(reading, anchor.journalId, head);
    await walkInSlices(db, head, listener, (batch) => {
      check.see(batch.row.lastSeq, batch.row.hash);
      lastGoodSeq = batch.row.lastSeq;
    });
    const damage = check.damageAtEnd(head.seq);
    if (damage !== null) throw damage;
    if (head.seq === 0) refuseRemains(folder);
    return { ...head, archivedHeads: anchor.streams };
  } catch (error) {
    throw isCorruption(error) ? damagedAfter(lastGoodSeq, reading, error) : asReadFault(error);
  } finally {
    db.close();
  }
}

/** A copy that was cut off may have everything but the journal: it would be served as a new shop that knows old events. */
function refuseRemains(folder: string): void {
  const [remains] = [...listSnapshots(folder), ...listArchives(folder)];
  if (remains === undefined) return;
  throw new JournalDamaged({
    message: `it has no fact, but the folder has ${remains.path}`,
    lastGoodSeq: 0,
    hint: 'A backup or restore that did not finish leaves such a folder: repeat it into an empty one. If the journal was removed, restore a backup.',
  });
}

/** Compares a journal with its watermark while the chain is walked: `see` receives each batch. */
export class WatermarkCheck {
  readonly #reading: WatermarkReading;
  readonly #journalId: string;
  readonly #isNew: boolean;
  #hashAtWatermark: Uint8Array | null = null;

  constructor(reading: WatermarkReading, journalId: string, start: ChainHead) {
    this.#reading = reading;
    this.#journalId = journalId;
    this.#isNew = start.seq === 0;
    this.see(start.seq, start.hash);
  }

  see(seq: number, hash: Uint8Array): void {
    if (this.#reading.found === 'WATERMARK' && this.#reading.watermark.seq === seq) this.#hashAtWatermark = hash;
  }

  /** How a journal that ends at `endSeq` contradicts its watermark, or null when they agree. */
  damageAtEnd(endSeq: number): JournalDamaged | null {
    if (this.#reading.found !== 'WATERMARK') {
      if (this.#isNew && endSeq === 0) return null;
      const state = this.#reading.found === 'NONE' ? 'is missing' : 'cannot be read';
      return new JournalDamaged({
        message: `its watermark ${state}, so it is unknown whether facts were written after fact ${endSeq}`,
        lastGoodSeq: endSeq,
      });
    }
    const { journalId, seq, hash } = this.#reading.watermark;
    if (journalId !== this.#journalId) {
      return new JournalDamaged({ message: 'its watermark is that of another journal', lastGoodSeq: endSeq });
    }
    if (seq > endSeq) {
      const message = `it ends at fact ${endSeq}, but its watermark says that fact ${seq} was written`;
      return new JournalDamaged({ message, lastGoodSeq: endSeq, expectedSeq: seq });
    }
    if (this.#hashAtWatermark === null || Buffer.from(this.#hashAtWatermark).toString('hex') !== hash) {
      return new JournalDamaged({
        message: `at fact ${seq} it has another hash than its watermark`,
        lastGoodSeq: 0,
        hint: 'Journal and watermark do not belong together: restore a backup.',
      });
    }
    return null;
  }
}

async function walkInSlices(
  db: Connection,
  head: ChainHead,
  { onRow, onProgress }: RecoveryListener,
  onBatch: (batch: Batch) => void,
): Promise<void> {
  const headSeq = newestBatch(db)?.lastSeq ?? head.seq;
  let sliceBeganMs = stopwatchMs();
  const batches = walkChain(db, head, ({ message, lastGoodSeq, batchSeq }) => {
    throw new JournalDamaged({ message, lastGoodSeq, expectedSeq: Math.max(headSeq, batchSeq) });
  });
  for (const batch of batches) {
    onBatch(batch);
    if (onRow !== undefined)
      for (const { seq, at, eventId, type, data } of batch.facts) onRow({ seq, at, eventId, type, data });
    if (stopwatchMs() - sliceBeganMs < SLICE_MS) continue;
    onProgress?.({ seq: head.seq, headSeq });
    await nextRound();
    sliceBeganMs = stopwatchMs();
  }
  onProgress?.({ seq: head.seq, headSeq });
}

function journalGone(expectedSeq: number): JournalDamaged {
  return new JournalDamaged({
    message: 'it is gone or empty, but its watermark says that facts were written',
    lastGoodSeq: 0,
    expectedSeq,
  });
}

function damagedAfter(lastGoodSeq: number, reading: WatermarkReading, cause: unknown): JournalDamaged {
  if (lastGoodSeq === 0) return unreadable(cause);
  const expected = reading.found === 'WATERMARK' ? { expectedSeq: reading.watermark.seq } : {};
  return new JournalDamaged({
    message: `SQLite cannot read on (${messageOf(cause)})`,
    lastGoodSeq,
    ...expected,
    cause,
  });
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
