/**
 * The watermark: a small file beside the journal, `head.witness`, that says how far the journal must reach.
 *
 * The writer thread writes it at most `watermarkEveryMs` after a commit, and on demand. Opening, verifying and copying
 * a journal read it first: a journal that ends before its watermark, or has another hash at the watermark's fact, has
 * lost facts that were answered for.
 *
 *  1. Two slots, a page apart, are written in turn, each with a counter and a checksum: a write that a crash tore
 *     leaves the other slot readable.
 *  2. A slot is written only after its batch is durable, so that the watermark is never ahead of the journal.
 */

import { createHash } from 'node:crypto';
import { closeSync, constants, fsyncSync, openSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { FILE_MODE, readIfPresent, syncFolder } from '../files.ts';

interface Watermark {
  readonly journalId: string;
  readonly seq: number;
  /** Hash of the batch that ends with `seq`, in hex. */
  readonly hash: string;
}

/** What a read of the file found: no file, a watermark, or two unreadable slots. */
export type WatermarkResult =
  | { readonly found: 'NONE' }
  | { readonly found: 'WATERMARK'; readonly watermark: Watermark; readonly counter: number; readonly slot: 0 | 1 }
  | { readonly found: 'UNREADABLE' };

export const WATERMARK_FILE = 'head.witness';
/** The distance of the slots, so that one torn sector or page cannot damage both. */
const SLOT_BYTES = 4096;

export function watermarkPath(folder: string): string {
  return join(folder, WATERMARK_FILE);
}

/** Reads the newer readable slot. */
export function readWatermark(folder: string): WatermarkResult {
  const text = readIfPresent(watermarkPath(folder), 'latin1');
  if (text === null) return { found: 'NONE' };
  const readings = ([0, 1] as const)
    .map((slot) => parseSlot(text.slice(slot * SLOT_BYTES, (slot + 1) * SLOT_BYTES), slot))
    .filter((reading) => reading !== null)
    .sort((a, b) => b.counter - a.counter);
  return readings[0] ?? { found: 'UNREADABLE' };
}

/** Writes the slots in turn through one open descriptor; every write is synced before it returns. */
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
    const fields = { counter, journalId, seq, hash };
    const line = JSON.stringify({ ...fields, checksum: checksumOf(fields) });
    writeSync(this.#descriptor, slotText(line), this.#slot * SLOT_BYTES);
    fsyncSync(this.#descriptor);
    this.#counter = counter;
    this.#slot = otherSlot(this.#slot);
  }

  /** The second call does nothing, because the descriptor's number may be another file's by then. */
  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    closeSync(this.#descriptor);
  }
}

function parseSlot(line: string, slot: 0 | 1): Extract<WatermarkResult, { found: 'WATERMARK' }> | null {
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

function checksumOf(fields: Watermark & { readonly counter: number }): string {
  const { counter, journalId, seq, hash } = fields;
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
