/**
 * Proving a journal when it is opened: watermark, anchor, chain, end.
 *
 * Called under the folder's lock, before the writer starts and before anything is written, so that a damaged folder
 * stays exactly as it was found.
 */

import { headAtAnchor, newestBatch, walkChain, type Batch, type ChainHead } from './chain.ts';
import { errorCode, isCorruption, JournalDamaged } from '../faults.ts';
import { nextSlice, stopwatchMs } from '../files.ts';
import { JournalFault, type FactRow } from '../journal.ts';
import { journalPath, openReading, readAnchor, unreadable, type Connection } from './schema.ts';
import { readWatermark, type WatermarkReading } from './watermark.ts';

export interface RecoveryProgress {
  readonly seq: number;
  readonly headSeq: number;
}

export interface RecoveryListener {
  /** Sees every fact once, in order, so that a directory can be built in the same pass. */
  readonly onRow?: ((row: FactRow) => void) | undefined;
  readonly onProgress?: ((progress: RecoveryProgress) => void) | undefined;
}

/** Work of one slice; the event loop is free in between. */
const SLICE_MS = 5;

/** The proved head of a journal, and what of each stream was archived before. */
export interface RecoveredHead extends ChainHead {
  readonly archivedHeads: ReadonlyMap<string, number>;
}

/**
 * Reads the whole journal of a folder and returns its proved head, or null when nothing was ever written there.
 * Throws JournalDamaged, JournalTooNew, or JournalFault when the disk cannot be read.
 */
export async function recoverHead(folder: string, listener: RecoveryListener): Promise<RecoveredHead | null> {
  const watermark = readWatermark(folder);
  const db = openReading(journalPath(folder));
  if (db === null) {
    if (watermark.found === 'WATERMARK' && watermark.watermark.seq > 0) throw journalGone(watermark.watermark.seq);
    return null;
  }
  let lastGoodSeq = 0;
  try {
    const anchor = readAnchor(db);
    const head = headAtAnchor(anchor);
    lastGoodSeq = head.seq;
    const check = new WatermarkCheck(watermark, anchor.journalId, head);
    await walkInSlices(db, head, listener, (batch) => {
      check.see(batch.row.lastSeq, batch.row.hash);
      lastGoodSeq = batch.row.lastSeq;
    });
    const damage = check.damageAtEnd(head.seq);
    if (damage !== null) throw damage;
    return { ...head, archivedHeads: anchor.streams };
  } catch (error) {
    throw isCorruption(error) ? damagedAfter(lastGoodSeq, watermark, error) : asReadFault(error);
  } finally {
    db.close();
  }
}

/** Compares a journal with its watermark while the chain is walked. */
export class WatermarkCheck {
  readonly #watermark: WatermarkReading;
  readonly #journalId: string;
  readonly #isNew: boolean;
  #hashAtWatermark: Uint8Array | null = null;

  constructor(watermark: WatermarkReading, journalId: string, start: ChainHead) {
    this.#watermark = watermark;
    this.#journalId = journalId;
    this.#isNew = start.seq === 0;
    this.see(start.seq, start.hash);
  }

  see(seq: number, hash: Uint8Array): void {
    if (this.#watermark.found === 'WATERMARK' && this.#watermark.watermark.seq === seq) this.#hashAtWatermark = hash;
  }

  /** What the watermark has against a journal that ends at `endSeq`, or null when they agree. */
  damageAtEnd(endSeq: number): JournalDamaged | null {
    if (this.#watermark.found !== 'WATERMARK') {
      if (this.#isNew && endSeq === 0) return null;
      const fate = this.#watermark.found === 'NONE' ? 'is missing' : 'cannot be read';
      return new JournalDamaged({
        message: `its watermark ${fate}, so nothing tells whether it should go on after fact ${endSeq}`,
        lastGoodSeq: endSeq,
      });
    }
    const { journalId, seq, hash } = this.#watermark.watermark;
    if (journalId !== this.#journalId) {
      return new JournalDamaged({ message: 'its watermark is that of another journal', lastGoodSeq: endSeq });
    }
    if (seq > endSeq) {
      const message = `it ends at fact ${endSeq}, but its watermark says that fact ${seq} was written`;
      return new JournalDamaged({ message, lastGoodSeq: endSeq, expectedSeq: seq });
    }
    if (this.#hashAtWatermark === null || Buffer.from(this.#hashAtWatermark).toString('hex') !== hash) {
      return new JournalDamaged({
        message: `at fact ${seq} it is not the one that its watermark saw`,
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
    await nextSlice();
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

function damagedAfter(lastGoodSeq: number, watermark: WatermarkReading, cause: unknown): JournalDamaged {
  if (lastGoodSeq === 0) return unreadable(cause);
  const reason = cause instanceof Error ? cause.message : String(cause);
  const expected = watermark.found === 'WATERMARK' ? { expectedSeq: watermark.watermark.seq } : {};
  return new JournalDamaged({ message: `SQLite cannot read on (${reason})`, lastGoodSeq, ...expected, cause });
}

function asReadFault(error: unknown): unknown {
  if (!errorCode(error).startsWith('SQLITE_')) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new JournalFault('BROKEN', `the journal cannot be read: ${reason}`, 'Check the disk and its mount.', error);
}
