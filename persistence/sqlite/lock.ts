/**
 * One process per data folder: a lock that the kernel releases when its process dies, however it dies.
 *
 * The lock is an exclusive transaction on a database of its own, `lock.db`, held as long as the process serves.
 * `holdfast.pid` is a courtesy beside it, for people and for messages; a stale one is no obstacle, for it decides
 * nothing. As with every open database, nobody in the serving process may open `lock.db` through `fs`.
 */

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { errorCode, FolderInUse } from '../faults.ts';
import { JournalFault } from '../journal.ts';
import { makePrivateFile, makePrivateFolder, readIfPresent, removeIfPresent, replaceFile } from '../files.ts';

export interface FolderLock {
  release(): void;
}

export const LOCK_FILE = 'lock.db';
export const PID_FILE = 'holdfast.pid';
/** Long enough to outwait a process that only asks who serves, short enough for a clear refusal. */
const ASKING_WAIT_MS = 250;

/**
 * Takes the folder for this process, makes it when it is missing. Throws FolderInUse when another one has it, and JournalFault
 * when nothing can be written there.
 */
export function lockFolder(folder: string): FolderLock {
  try {
    return takeLock(folder);
  } catch (error) {
    throw error instanceof FolderInUse ? error : unwritable(folder, error);
  }
}

function takeLock(folder: string): FolderLock {
  makePrivateFolder(folder);
  makePrivateFile(join(folder, LOCK_FILE));
  const db = new Database(join(folder, LOCK_FILE), { timeout: ASKING_WAIT_MS });
  try {
    db.exec('BEGIN EXCLUSIVE');
    replaceFile(join(folder, PID_FILE), `${process.pid}\n`);
  } catch (error) {
    db.close();
    throw isBusy(error) ? new FolderInUse(folder, readPid(folder)) : error;
  }
  return {
    release() {
      if (!db.open) return;
      removeIfPresent(join(folder, PID_FILE));
      db.close();
    },
  };
}

/** The id of the process that serves from the folder, or null when nobody does; a stale file left by a crash counts as nobody. */
export function readServingPid(folder: string): number | null {
  const pid = readPid(folder);
  return pid !== null && isLocked(folder) ? pid : null;
}

function isLocked(folder: string): boolean {
  let db: InstanceType<typeof Database> | null = null;
  try {
    db = new Database(join(folder, LOCK_FILE), { readonly: true, fileMustExist: true, timeout: 0 });
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    if (errorCode(error) === 'SQLITE_CANTOPEN') return false;
    throw error;
  } finally {
    db?.close();
  }
}

function readPid(folder: string): number | null {
  const text = readIfPresent(join(folder, PID_FILE))?.trim() ?? '';
  return /^[1-9][0-9]{0,9}$/.test(text) ? Number(text) : null;
}

function unwritable(folder: string, cause: unknown): JournalFault {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const message = `the data folder ${folder} cannot be written: ${reason}`;
  if (['SQLITE_FULL', 'ENOSPC', 'EDQUOT'].includes(errorCode(cause))) {
    return new JournalFault('FULL', message, 'Make room on the disk of the data folder, then start again.', cause);
  }
  return new JournalFault('BROKEN', message, 'Check the disk, its mount, and the rights on the data folder.', cause);
}

function isBusy(error: unknown): boolean {
  return errorCode(error).startsWith('SQLITE_BUSY') || errorCode(error) === 'SQLITE_LOCKED';
}
