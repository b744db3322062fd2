/**
 * Files and folders of a data folder: made for their owner alone, and made durable.
 *
 *  1. Everything in a data folder or a copy of one is made with FILE_MODE or FOLDER_MODE, whatever the umask: a umask
 *     only takes rights away.
 */

import {
  chmodSync,
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  type Dirent,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errorCode } from './faults.ts';

/** Readable and writable by the owner alone. */
export const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;

/** Makes a folder, and those above it that are missing, for their owner alone. */
export function makePrivateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
}

/** Makes an empty file for its owner alone, unless it exists. */
export function makePrivateFile(path: string): void {
  try {
    closeSync(openSync(path, 'wx', FILE_MODE));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/**
 * Removes all rights but the owner's from a folder, its files, the named subfolders and their files. Returns the paths
 * where that is not allowed. It opens no file, because closing a file of a database would drop the database's locks.
 */
export function tightenFolder(folder: string, subfolders: readonly string[] = []): string[] {
  const refused: string[] = [];
  const tighten = (path: string): void => {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined || !(stat.isFile() || stat.isDirectory())) return;
    if ((stat.mode & 0o077) === 0) return;
    try {
      chmodSync(path, stat.isDirectory() ? FOLDER_MODE : FILE_MODE);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') refused.push(path);
    }
  };
  for (const each of [folder, ...subfolders.map((name) => join(folder, name))]) {
    tighten(each);
    for (const entry of entriesOf(each)) if (entry.isFile()) tighten(join(each, entry.name));
  }
  return refused;
}

/** The entries of a folder; none when the folder does not exist. */
export function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Makes new, renamed and removed names of a folder durable. Windows cannot sync a folder. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  syncFile(folder);
}

/** The same without blocking the event loop. */
export async function syncFolderAside(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a closed file durable. Not for a database that this process has open: closing a descriptor drops its locks. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Replaces a small file, so that a reader sees the old text or the new one, also after a crash. */
export function replaceFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, text, { mode: FILE_MODE });
  renameSync(draft, path);
  syncFolder(dirname(path));
}

/** The text of a file, or null when there is none. */
export function readIfPresent(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string | null {
  try {
    return readFileSync(path, encoding);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return null;
    throw error;
  }
}

export function removeIfPresent(path: string): void {
  rmSync(path, { force: true });
}
