/**
 * The head watermark: a small file beside the journal that tells how far the journal must reach.
 *
 * The writer thread writes it while it commits, at most `watermarkEveryMs` after a commit, and at each snapshot and
 * close. Whoever opens, verifies or copies a journal reads it first: a journal that ends before its watermark, or that
 * has another hash at the watermark's fact, has lost answered facts.
 *
 *  1. Two slots, a page apart, are written in turn, each with a counter and a checksum: a write that a crash tore
 *     leaves the other slot.
 *  2. A slot is written only after the batch it speaks of is durable, so that the watermark never runs ahead.
 */

import { createHash } from 'node:crypto';
import { closeSync, constants, fsyncSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FILE_MODE, readIfPresent, syncFolder } from '../files.ts';

export interface Watermark {
  readonly journalId: string;
  readonly seq: number;
  /** Hash of the batch that ends with `seq`, in hex. */
  readonly hash: string;
}

/** What the file says: nothing was ever written, a watermark, or that both slots are unreadable. */
export type WatermarkReading =
  | { readonly found: 'NONE' }
  | { readonly found: 'WATERMARK'; readonly watermark: Watermark; readonly counter: number; readonly slot: 0 | 1 }
  | { readonly found: 'UNREADABLE' };

const WATERMARK_FILE = 'head.witness';
/** Slots lie this far apart, so that one torn sector or page cannot take both. */
const SLOT_BYTES = 4096;

export function watermarkPath(folder: string): string {
  return join(folder, WATERMARK_FILE);
}

/** Reads the newer of the two good slots. */
export function readWatermark(folder: string): WatermarkReading {
  const text = readIfPresent(watermarkPath(folder), 'latin1');
  if (text === null) return { found: 'NONE' };
  const readings = ([0, 1] as const)
    .map((slot) => parseSlot(text.slice(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES), slot))
    .filter((reading) => reading !== null)
    .sort((a, b) => b.counter - a.counter);
  return readings[0] ?? { found: 'UNREADABLE' };
}

/** Writes slots in turn through one open descriptor; every write is fsynced before it returns. */
export class WatermarkWriter {
  readonly #descriptor: number;
  #counter: number;
  #slot: 0 | 1;
  #isOpen = true;

  constructor(folder: string) {
    const reading = readWatermark(folder);
    this.#counter = reading.found === 'WATERMARK' ? reading.counter : 0;
    this.#slot = reading.found === 'WATERMARK' ? otherSlot(reading.slot) : 0;
    this.#descriptor = openSync(watermarkPath(folder), constants.O_RDWR | constants.O_CREAT, FILE_MODE);
    if (reading.found === 'NONE') {
      for (const slot of [0, 1]) writeSync(this.#descriptor, slotText(''), slot * SLOT_BYTES);
      fsyncSync(this.#descriptor);
      syncFolder(dirname(watermarkPath(folder)));
    }
  }

  write({ journalId, seq, hash }: Watermark): void {
    const counter = this.#counter + 1;
    const spoken = { counter, journalId, seq, hash };
    const line = JSON.stringify({ ...spoken, checksum: checksumOf(spoken) });
    writeSync(this.#descriptor, slotText(line), this.#slot * SLOT_BYTES);
    fsyncSync(this.#descriptor);
    this.#counter = counter;
    this.#slot = otherSlot(this.#slot);
  }

  /** Closing twice does nothing: the number may be another file's by then. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#descriptor);
  }
}

function parseSlot(line: string, slot: 0 | 1): Extract<WatermarkReading, { found: 'WATERMARK' }> | null {
  try {
    const { counter, journalId, seq, hash, checksum } = JSON.parse(line) as Record<string, unknown>;
    if (typeof counter !== 'number' || typeof journalId !== 'string') return null;
    if (typeof seq !== 'number' || typeof hash !== 'string') return null;
    if (checksum !== checksumOf({ counter, journalId, seq, hash })) return null;
    return { found: 'WATERMARK', watermark: { journalId, seq, hash }, counter, slot };
  } catch {
    return null;
  }
}

function checksumOf(spoken: Watermark & { readonly counter: number }): string {
  const { counter, journalId, seq, hash } = spoken;
  return createHash('sha256')
    .update(JSON.stringify([counter, journalId, seq, hash]))
    .digest('hex');
}

function slotText(line: string): string {
  return `${line.padEnd(SLOT_BYTES - 1)}\n`;
}

function otherSlot(slot: 0 | 1): 0 | 1 {
  return slot === 0 ? 1 : 0;
}
