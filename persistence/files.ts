/** What the file system must be told so that a new file is still there after a power cut. */

import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorCode } from './faults.ts';

/** Makes new, renamed and removed names of a folder durable; systems that cannot sync a folder are left alone. */
export function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  syncFile(folder);
}

/** The same without holding up the event loop. */
export async function syncFolderAside(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Makes a closed file durable. Never for a database that a connection of this process has open. */
export function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Replaces a small file so that a reader, and a crash, see the old text or the new one. */
export function replaceFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}.tmp`;
  writeFileSync(draft, text);
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

/** Lets other work of the event loop run between two slices. */
export function nextSlice(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Elapsed milliseconds for bounded slices of work and pauses; not a time of day, and never in a fact. */
export function stopwatchMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
