/**
 * The pictures that events name: files below the catalogue's folder, which each node serves from its own disk.
 *
 * The definition, a fact of the journal, keeps the name alone: pictures are large, are no part of a sale, and may be
 * replaced. In a cluster each node is given the same folder; a node that lacks a file answers 404 for it, and pages
 * then draw a poster.
 *
 * 1. What a file is, its first bytes say, never its name.
 * 2. Pictures are bounded in bytes, each and those kept in memory (I10).
 * 3. A file that was replaced is read again: each read compares its size and time of change.
 */
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync, statSync, realpathSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { LRUCache } from 'lru-cache';
import { isAbsolute, relative, resolve, sep } from 'node:path';

/** Several times a picture that fills a screen. */
export const pictureBytesMax = 2 * 1024 * 1024;
const retainedBytesMax = 64 * 1024 * 1024;
/** A name in a request; longer ones name nothing. */
const nameLengthMax = 200;
const HEAD_BYTES = 16;

interface Picture {
  readonly contentType: string;
  readonly etag: string;
  readonly bytes: Buffer;
}

export interface Pictures {
  /** Null where there is no such picture. */
  read(name: string): Promise<Picture | null>;
}

/** What is wrong with a picture that an event names; null where it can be shown. */
export function problemOfPicture(folder: string, name: string): string | null {
  try {
    const path = findBelow(folder, name);
    const { size } = statSync(path);
    if (size > pictureBytesMax) return `is larger than ${pictureBytesMax} bytes`;
    return pictureType(headOf(path)) === null ? 'is not a JPEG, PNG, WebP or AVIF file by its content' : null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** The pictures below a folder. */
export function openPictures(folder: string): Pictures {
  const kept = new LRUCache<string, { readonly fileVersion: string; readonly picture: Picture }>({
    max: 1_000,
    maxSize: retainedBytesMax,
    sizeCalculation: ({ picture }) => picture.bytes.length + 200,
  });
  return {
    async read(name) {
      const path = pathOf(folder, name);
      const about = path === null ? null : await stat(path).catch(() => null);
      if (path === null || about === null || !about.isFile() || about.size > pictureBytesMax) return null;
      const fileVersion = `${about.mtimeMs} ${about.size}`;
      const known = kept.get(path);
      if (known?.fileVersion === fileVersion) return known.picture;
      const bytes = await readFile(path).catch(() => null);
      const contentType = bytes === null ? null : pictureType(bytes);
      if (bytes === null || contentType === null) return null;
      const etag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`;
      const picture = { contentType, etag, bytes };
      kept.set(path, { fileVersion, picture });
      return picture;
    },
  };
}

function pathOf(folder: string, name: string): string | null {
  if (name.length > nameLengthMax || name.split('/').some((step) => step === '' || step.startsWith('.'))) return null;
  try {
    return findBelow(folder, name);
  } catch {
    return null;
  }
}

function headOf(path: string): Buffer {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(HEAD_BYTES);
    return head.subarray(0, readSync(file, head));
  } finally {
    closeSync(file);
  }
}

/** The type of a picture by its signature (rule 1); null for anything else, SVG included, which can carry scripts. */
export function pictureType(bytes: Buffer): string | null {
  const at = (start: number, end: number): string => bytes.toString('latin1', start, end);
  if (at(0, 3) === '\u00ff\u00d8\u00ff') return 'image/jpeg';
  if (at(0, 8) === '\u0089PNG\r\n\u001a\n') return 'image/png';
  if (at(0, 4) === 'RIFF' && at(8, 12) === 'WEBP') return 'image/webp';
  if (at(4, 8) === 'ftyp' && ['avif', 'avis'].includes(at(8, 12))) return 'image/avif';
  return null;
}

/**
 * The real path of a file that a catalogue file names: in its folder or below, and nothing that a link leads out to.
 * Throws what is wrong with the name.
 */
export function findBelow(folder: string, name: string): string {
  const root = realpathSync(folder);
  const named = resolve(root, name);
  const found = liesIn(root, named) ? realpathOf(named, name) : null;
  if (found === null || !liesIn(root, found))
    throw new Error(`"${name}" is outside the folder of the file that names it`);
  return found;
}

function realpathOf(path: string, shown: string): string {
  try {
    return realpathSync(path);
  } catch {
    throw new Error(`"${shown}" cannot be found in the folder of the file that names it`);
  }
}

function liesIn(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
