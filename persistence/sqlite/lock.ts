/**
 * The lock that allows one process per data folder. The kernel releases it when the process ends, however it ends.
 *
 * The lock is an exclusive transaction on a database of its own, `lock.db`, held while the process serves.
 * `holdfast.pid` only names that process in messages and decides nothing, so a stale one does no harm. The serving
 * process must not open `lock.db` through `fs`: closing any descriptor of it would drop the lock.
 */

import { join } from 'node:path';
import Database from 'better-sqlite3';
import { errorCode, FolderInUse, isNoSpace, messageOf } from '../faults.ts';
import { JournalFault } from '../journal.ts';
import { makePrivateFile, makePrivateFolder, readIfPresent, removeIfPresent, replaceFile } from '../files.ts';

export interface FolderLock {
  /** Whether the process that had the lock before ended without releasing it. */
  readonly wasLeft: boolean;
  release(): void;
  /** Releases it after a refused start: the folder stays as it was found, and the next lock has the same `wasLeft`. */
  abandon(): void;
}

const LOCK_FILE = 'lock.db';
const PID_FILE = 'holdfast.pid';
/** Longer than another process holds the lock to read who serves, and short enough for a prompt refusal. */
const LOCK_WAIT_MS = 250;

/**
 * Takes the lock of a data folder, which it makes when it is missing. Throws FolderInUse when another process has the
 * lock, and JournalFault when the folder cannot be written.
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
  const db = new Database(join(folder, LOCK_FILE), { timeout: LOCK_WAIT_MS });
  let formerPid: number | null = null;
  try {
    db.exec('BEGIN EXCLUSIVE');
    formerPid = readPid(folder);
    replaceFile(join(folder, PID_FILE), `${process.pid}\n`);
  } catch (error) {
    db.close();
    throw isBusy(error) ? new FolderInUse(folder, readPid(folder)) : error;
  }
  const releaseWith = (pid: number | null): void => {
    if (!db.open) return;
    if (pid === null) removeIfPresent(join(folder, PID_FILE));
    else replaceFile(join(folder, PID_FILE), `${pid}\n`);
    db.close();
  };
  return { wasLeft: formerPid !== null, release: () => releaseWith(null), abandon: () => releaseWith(formerPid) };
}

/** The id of the process that has the lock of the folder, or null when none has; a stale pid file counts as none. */
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
  const message = `the data folder ${folder} cannot be written: ${messageOf(cause)}`;
  if (isNoSpace(cause)) {
    return new JournalFault('FULL', message, 'Make room on the disk of the data folder, then start again.', cause);
  }
  return new JournalFault('BROKEN', message, 'Check the disk, its mount, and the rights on the data folder.', cause);
}

function isBusy(error: unknown): boolean {
  return errorCode(error).startsWith('SQLITE_BUSY') || errorCode(error) === 'SQLITE_LOCKED';
}
