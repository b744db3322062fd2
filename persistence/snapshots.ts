/**
 * Snapshot files under `snapshots/`: one file per snapshot of one stream, in JSON lines.
 *
 * A header line names the stream and its last fact, then come the pieces as the caller gave them, then a trailer with
 * their number, their fingerprint and a checksum of everything before it. Only the caller knows what a piece means. In
 * a folder only the serving process writes.
 *
 *  1. A snapshot gets its name only after its bytes were synced; it counts only after its bytes were read back and
 *     proved to be those that were written.
 *  2. Older ones are removed only after a newer one counts, bad ones first; the newest `keepMax` good ones stay.
 *  3. A bad snapshot is reported and skipped in favour of an older one, never deleted by a reader. It no longer counts
 *     as the newest, so that the next round writes a new one in its place.
 *  4. Writing and reading work in bounded slices; the pieces must be of a state that does not change meanwhile.
 *  5. The header has a digest of its own, because it is read without the rest.
 */

import { createHash, type Hash } from 'node:crypto';
import { closeSync, openSync, readSync, renameSync } from 'node:fs';
import { open, readFile, rename, rm, writeFile, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import { messageOf } from './faults.ts';
import { entriesOf, FILE_MODE, makePrivateFolder, removeIfPresent, syncFolderAside } from './files.ts';

export interface SnapshotHeader {
  readonly format: number;
  /** The stream: an event's id, or '' for the service itself. */
  readonly eventId: string;
  /** The last fact of the stream that the state includes. */
  readonly seq: number;
  readonly at: number;
  /** JSON that the caller can read without the pieces. */
  readonly about: unknown;
  /** SHA-256 over the header's other fields, in hex; snapshots of earlier versions have none. */
  readonly digest?: string;
}

export interface Snapshot {
  readonly path: string;
  readonly header: SnapshotHeader;
  readonly pieces: readonly string[];
  readonly fingerprint: string;
}

export interface SnapshotFile {
  readonly path: string;
  readonly seq: number;
  /** Null when the first line cannot be read. */
  readonly header: SnapshotHeader | null;
}

interface SnapshotFolderOptions {
  /** Snapshots kept of each stream. */
  readonly keepMax?: number;
  /** Called for each bad snapshot that is skipped. */
  readonly onBad?: (path: string, reason: string) => void;
}

/** A snapshot could not be written; the older ones are still valid. */
export class SnapshotFault extends Error {
  readonly hint = 'The journal is not touched by this; make room on the disk and try again.';
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'SnapshotFault';
  }
}

interface Trailer {
  readonly pieces: number;
  readonly fingerprint: string;
  readonly checksum: string;
}

export const SNAPSHOTS_FOLDER = 'snapshots';
const FORMAT = 1;
const KEEP_MAX = 3;
const SUFFIX = '.snapshot';
/** Added to the name of a snapshot that is not of this journal. */
const ASIDE = '.aside';
/** Bytes hashed, written or split in one slice. */
const SLICE_BYTES = 512 * 1024;
/** Most header lines are shorter than this. */
const HEADER_BYTES_USUAL = 4 * 1024;
/** Header lines longer than this are not written. */
const HEADER_BYTES_MAX = 64 * 1024;
/** Longer names are replaced by a hash: file systems end at 255 bytes. */
const NAME_CHARS_MAX = 150;

/** SHA-256 over the pieces, a newline after each, in hex. Equal states have equal fingerprints. */
export function fingerprintOf(pieces: Iterable<string>): string {
  const hash = createHash('sha256');
  for (const piece of pieces) hash.update(piece).update('\n');
  return hash.digest('hex');
}

/** The snapshots of one data folder. Only a write creates the folder. */
export class SnapshotFolder {
  readonly #folder: string;
  readonly #keepMax: number;
  readonly #onBad: (path: string, reason: string) => void;
  /** Sequence numbers of each stream's files, ascending, by the stream's part of the name. */
  readonly #seqs = new Map<string, number[]>();
  /** Paths that were found bad or missing and were not written again since. */
  readonly #bad = new Set<string>();
  #hasRemovedDrafts = false;
  #drafts = 0;

  constructor(dataFolder: string, { keepMax = KEEP_MAX, onBad = () => {} }: SnapshotFolderOptions = {}) {
    this.#folder = join(dataFolder, SNAPSHOTS_FOLDER);
    this.#keepMax = keepMax;
    this.#onBad = onBad;
    for (const { stream, seq } of fileNames(this.#folder))
      this.#seqs.set(stream, [...(this.#seqs.get(stream) ?? []), seq]);
    for (const seqs of this.#seqs.values()) seqs.sort((a, b) => a - b);
  }

  /**
   * Writes, syncs, names, reads back and proves a snapshot, then removes the oldest of its stream. When a step fails it
   * removes the new file and rejects with SnapshotFault.
   */
  async write(
    header: Omit<SnapshotHeader, 'format' | 'digest'>,
    pieces: Iterable<string>,
  ): Promise<Pick<Snapshot, 'path' | 'fingerprint'>> {
    const { eventId, seq } = header;
    const path = this.#pathOf(streamName(eventId), seq);
    const draft = `${path}.${process.pid}-${++this.#drafts}.tmp`;
    let isNamed = false;
    try {
      makePrivateFolder(this.#folder);
      this.#removeDraftsOnce();
      const { fingerprint, digest } = await writeDraft(draft, withDigest(header), pieces);
      await rename(draft, path);
      isNamed = true;
      await syncFolderAside(this.#folder);
      if ((await digestOfFile(path)) !== digest)
        throw new Error('the file read back must have the bytes that were written');
      await this.#remember(streamName(eventId), seq);
      return { path, fingerprint };
    } catch (error) {
      await rm(isNamed ? path : draft, { force: true });
      throw new SnapshotFault(`the snapshot ${path} could not be written: ${messageOf(error)}`, error);
    }
  }

  /** The newest good snapshot of a stream at or before `atMostSeq`, or null. */
  async newest(eventId: string, atMostSeq = Number.MAX_SAFE_INTEGER): Promise<Snapshot | null> {
    const stream = streamName(eventId);
    for (const seq of [...(this.#seqs.get(stream) ?? [])].reverse()) {
      if (seq > atMostSeq) continue;
      const snapshot = await this.#read(eventId, seq);
      if (snapshot !== null) return snapshot;
    }
    return null;
  }

  /** The snapshot of a stream as of one fact, when it is there and good; or null. */
  async asOf(eventId: string, seq: number): Promise<Snapshot | null> {
    return this.#seqs.get(streamName(eventId))?.includes(seq) === true ? this.#read(eventId, seq) : null;
  }

  /**
   * Adds the file of a snapshot whose bytes come from elsewhere, as a cache: it is not synced. Returns it once it is
   * proved to be the one with this header; otherwise rejects with SnapshotFault and leaves no file.
   */
  async takeIn({ eventId, seq, digest }: SnapshotHeader, bytes: Uint8Array): Promise<Snapshot> {
    const path = this.#pathOf(streamName(eventId), seq);
    const draft = `${path}.${process.pid}-${++this.#drafts}.tmp`;
    try {
      makePrivateFolder(this.#folder);
      this.#removeDraftsOnce();
      await writeFile(draft, bytes, { mode: FILE_MODE });
      const snapshot = await readSnapshot(draft);
      refuseOther(snapshot.header, eventId, seq);
      if (snapshot.header.digest !== digest) throw new Error('it has another header');
      await rename(draft, path);
      await this.#remember(streamName(eventId), seq);
      return { ...snapshot, path };
    } catch (error) {
      await rm(draft, { force: true });
      throw new SnapshotFault(`the snapshot ${path} could not be taken in: ${messageOf(error)}`, error);
    }
  }

  /** Removes every snapshot that is not one of the given ones: a cache may have those of another journal. */
  async keepOnly(headers: Iterable<SnapshotHeader>): Promise<void> {
    const known = new Set(Array.from(headers, ({ digest }) => digest));
    for (const { name, stream, seq } of fileNames(this.#folder)) {
      const digest = readHeader(join(this.#folder, name))?.digest;
      if (digest !== undefined && known.has(digest)) continue;
      const seqs = this.#seqs.get(stream)?.filter((each) => each !== seq) ?? [];
      this.#seqs.set(stream, seqs);
      await rm(join(this.#folder, name), { force: true });
    }
  }

  /**
   * Renames the snapshots of facts after `headSeq`, which the journal does not have, and returns their paths. They are
   * of another journal, as when a copy was cut off, and would be taken for this one's as soon as it has grown.
   */
  setAsideAfter(headSeq: number): readonly string[] {
    const setAside: string[] = [];
    for (const [stream, seqs] of this.#seqs) {
      const kept = seqs.filter((seq) => seq <= headSeq);
      for (const seq of seqs.slice(kept.length)) {
        const path = this.#pathOf(stream, seq);
        renameSync(path, `${path}${ASIDE}`);
        setAside.push(path);
      }
      this.#seqs.set(stream, kept);
    }
    return setAside;
  }

  /** Null for a bad one, which is reported. */
  async #read(eventId: string, seq: number): Promise<Snapshot | null> {
    const path = this.#pathOf(streamName(eventId), seq);
    try {
      const snapshot = await readSnapshot(path);
      refuseOther(snapshot.header, eventId, seq);
      return snapshot;
    } catch (error) {
      this.#bad.add(path);
      this.#onBad(path, messageOf(error));
      return null;
    }
  }

  /** Adds a snapshot that another thread of this process wrote. */
  noteWritten(eventId: string, seq: number): void {
    const stream = streamName(eventId);
    const seqs = [...new Set([...(this.#seqs.get(stream) ?? []), seq])].sort((a, b) => a - b);
    this.#bad.delete(this.#pathOf(stream, seq));
    this.#seqs.set(stream, seqs.slice(-this.#keepMax));
  }

  /**
   * The last fact of a stream's newest snapshot that was not found bad; 0 when it has none. Does not read the disk.
   */
  newestSeq(eventId: string): number {
    const stream = streamName(eventId);
    return this.#seqs.get(stream)?.findLast((seq) => !this.#bad.has(this.#pathOf(stream, seq))) ?? 0;
  }

  /** Whether a stream has a snapshot file, good or bad. Does not read the disk. */
  has(eventId: string): boolean {
    return (this.#seqs.get(streamName(eventId))?.length ?? 0) > 0;
  }

  async #remember(stream: string, seq: number): Promise<void> {
    const seqs = [...new Set([...(this.#seqs.get(stream) ?? []), seq])].sort((a, b) => a - b);
    this.#bad.delete(this.#pathOf(stream, seq));
    // Bad ones have no use once a newer one is proved.
    const isBad = (each: number): boolean => this.#bad.has(this.#pathOf(stream, each));
    const kept = seqs.filter((each) => !isBad(each)).slice(-this.#keepMax);
    this.#seqs.set(stream, kept);
    for (const each of seqs.filter((each) => !kept.includes(each))) {
      this.#bad.delete(this.#pathOf(stream, each));
      await rm(this.#pathOf(stream, each), { force: true });
    }
  }

  #pathOf(stream: string, seq: number): string {
    return join(this.#folder, `${stream}-${seq}${SUFFIX}`);
  }

  /** Removes the drafts that a crash left behind. */
  #removeDraftsOnce(): void {
    if (this.#hasRemovedDrafts) return;
    this.#hasRemovedDrafts = true;
    for (const { name } of entriesOf(this.#folder)) {
      if (name.endsWith('.tmp')) removeIfPresent(join(this.#folder, name));
    }
  }
}

/** Every snapshot file of a data folder with its header, by stream, oldest first. Reads only first lines. */
export function listSnapshots(dataFolder: string): SnapshotFile[] {
  const folder = join(dataFolder, SNAPSHOTS_FOLDER);
  return fileNames(folder)
    .sort((a, b) => (a.stream === b.stream ? a.seq - b.seq : a.stream < b.stream ? -1 : 1))
    .map(({ name, seq }) => ({ path: join(folder, name), seq, header: readHeader(join(folder, name)) }));
}

/** The header of each stream's newest snapshot with a readable header. Reads only first lines. */
export function newestHeaders(dataFolder: string): SnapshotHeader[] {
  const folder = join(dataFolder, SNAPSHOTS_FOLDER);
  const names = fileNames(folder).sort((a, b) => b.seq - a.seq);
  const headers = new Map<string, SnapshotHeader>();
  for (const { stream, name } of names) {
    if (headers.has(stream)) continue;
    const header = readHeader(join(folder, name));
    if (header !== null) headers.set(stream, header);
  }
  return [...headers.values()];
}

/**
 * Reads a snapshot and proves it; rejects with an Error that says what is wrong with it. The header is proved by its
 * own digest and the pieces by their fingerprint, so that each byte is hashed once; the checksum is for headers without
 * a digest (rule 5).
 */
export async function readSnapshot(path: string): Promise<Snapshot> {
  const bytes = await readFile(path);
  const trailerBegin = bytes.lastIndexOf('\n', bytes.length - 2) + 1;
  if (bytes.at(-1) !== 0x0a || trailerBegin === 0) throw new Error('it has no trailer');
  const trailer = JSON.parse(bytes.toString('utf8', trailerBegin)) as Trailer;
  const piecesBegin = bytes.indexOf(0x0a) + 1;
  const header = JSON.parse(bytes.toString('utf8', 0, piecesBegin)) as SnapshotHeader;
  if (header.format !== FORMAT) throw new Error(`it has format ${header.format}; this version reads format ${FORMAT}`);
  if (header.digest !== undefined && header.digest !== digestOf(header)) throw new Error('its header fails its digest');
  const checksum = header.digest === undefined ? createHash('sha256').update(bytes.subarray(0, piecesBegin)) : null;
  const fingerprint = createHash('sha256');
  for (let offset = piecesBegin; offset < trailerBegin; offset += SLICE_BYTES) {
    const slice = bytes.subarray(offset, Math.min(offset + SLICE_BYTES, trailerBegin));
    checksum?.update(slice);
    fingerprint.update(slice);
    await nextRound();
  }
  if (fingerprint.digest('hex') !== trailer.fingerprint) throw new Error('it fails its fingerprint');
  if (checksum !== null && checksum.digest('hex') !== trailer.checksum) throw new Error('it fails its checksum');
  const pieces = await linesOf(bytes.subarray(piecesBegin, trailerBegin));
  if (pieces.length !== trailer.pieces) throw new Error(`it has ${pieces.length} pieces, not ${trailer.pieces}`);
  return { path, header, pieces, fingerprint: trailer.fingerprint };
}

/** Returns the fingerprint of the pieces and the SHA-256 of the whole file. */
async function writeDraft(
  path: string,
  header: SnapshotHeader,
  pieces: Iterable<string>,
): Promise<{ readonly fingerprint: string; readonly digest: string }> {
  const first = JSON.stringify(header);
  if (Buffer.byteLength(first) > HEADER_BYTES_MAX)
    throw new Error(`its header is longer than ${HEADER_BYTES_MAX} bytes`);
  const file = await open(path, 'wx', FILE_MODE);
  try {
    const whole = createHash('sha256');
    const ofPieces = createHash('sha256');
    let count = 0;
    let slice = '';
    await writeSlice(file, `${first}\n`, whole);
    for (const piece of pieces) {
      if (piece.includes('\n')) throw new Error('a piece must be one line');
      slice += `${piece}\n`;
      count += 1;
      if (slice.length < SLICE_BYTES) continue;
      await writeSlice(file, slice, whole, ofPieces);
      slice = '';
    }
    await writeSlice(file, slice, whole, ofPieces);
    const fingerprint = ofPieces.digest('hex');
    const trailer: Trailer = { pieces: count, fingerprint, checksum: whole.copy().digest('hex') };
    await writeSlice(file, `${JSON.stringify(trailer)}\n`, whole);
    await file.sync();
    return { fingerprint, digest: whole.digest('hex') };
  } finally {
    await file.close();
  }
}

async function writeSlice(file: FileHandle, slice: string, ...hashes: readonly Hash[]): Promise<void> {
  const bytes = Buffer.from(slice);
  for (const hash of hashes) hash.update(bytes);
  await file.writeFile(bytes);
}

/**
 * SHA-256 of a file, in hex. Its bytes alone are read: to split them into pieces as well costs as much as to write
 * them.
 */
async function digestOfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  const slice = Buffer.allocUnsafe(SLICE_BYTES);
  const file = await open(path, 'r');
  try {
    for (;;) {
      const { bytesRead } = await file.read(slice, 0, SLICE_BYTES);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(slice.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

async function linesOf(bytes: Buffer): Promise<string[]> {
  const lines: string[] = [];
  let sliceBegin = 0;
  for (let begin = 0; begin < bytes.length;) {
    const end = bytes.indexOf(0x0a, begin);
    lines.push(bytes.toString('utf8', begin, end));
    begin = end + 1;
    if (begin - sliceBegin < SLICE_BYTES) continue;
    sliceBegin = begin;
    await nextRound();
  }
  return lines;
}

function readHeader(path: string): SnapshotHeader | null {
  try {
    const descriptor = openSync(path, 'r');
    try {
      const line = readLine(descriptor, HEADER_BYTES_USUAL) ?? readLine(descriptor, HEADER_BYTES_MAX + 1);
      const header = JSON.parse(line ?? '') as SnapshotHeader;
      return header.digest === undefined || header.digest === digestOf(header) ? header : null;
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return null;
  }
}

/** The first line of a file; null when it is longer than `bytesMax`. */
function readLine(descriptor: number, bytesMax: number): string | null {
  const bytes = Buffer.allocUnsafe(bytesMax);
  const end = bytes.subarray(0, readSync(descriptor, bytes, 0, bytesMax, 0)).indexOf(0x0a);
  return end < 0 ? null : bytes.toString('utf8', 0, end);
}

function withDigest(header: Omit<SnapshotHeader, 'format' | 'digest'>): SnapshotHeader {
  const whole = { format: FORMAT, ...header };
  return { ...whole, digest: digestOf(whole) };
}

function digestOf({ format, eventId, seq, at, about }: SnapshotHeader): string {
  return createHash('sha256')
    .update(JSON.stringify([format, eventId, seq, at, about]))
    .digest('hex');
}

function refuseOther(header: SnapshotHeader, eventId: string, seq: number): void {
  if (header.eventId !== eventId || header.seq !== seq) throw new Error('it has another name than header');
}

function fileNames(folder: string): { name: string; stream: string; seq: number }[] {
  return entriesOf(folder).flatMap(({ name }) => {
    const parts = /^(.+)-([0-9]+)\.snapshot$/.exec(name);
    return parts === null ? [] : [{ name, stream: parts[1] ?? '', seq: Number(parts[2]) }];
  });
}

/**
 * A stream's part of the name of its snapshots: its id, encoded for file systems. '@' marks names that no encoded id
 * can have.
 */
export function streamName(eventId: string): string {
  if (eventId === '') return '@service';
  const encoded = encodeURIComponent(eventId).replaceAll('*', '%2A');
  return encoded.length <= NAME_CHARS_MAX ? encoded : `@${createHash('sha256').update(eventId).digest('hex')}`;
}
