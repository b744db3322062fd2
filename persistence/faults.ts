/**
 * The errors that keep a journal from being opened, each with a hint for the operator, and the check of appended units.
 */

import type { Unit } from './journal.ts';

/** Something that is wrong with a folder, where, and what to do about it. */
export interface Finding {
  readonly what: string;
  readonly where: string;
  readonly hint: string;
}

/** Another process has the data folder; nothing was read or written. */
export class FolderInUse extends Error {
  readonly folder: string;
  /** The id of that process, when it is known. */
  readonly pid: number | null;
  readonly hint: string;
  constructor(folder: string, pid: number | null) {
    super(`the data folder ${folder} is in use${pid === null ? '' : ` by process ${pid}`}`);
    this.name = 'FolderInUse';
    this.folder = folder;
    this.pid = pid;
    this.hint = 'Stop that process first, or give this one a data folder of its own (DATA_DIR).';
  }
}

/** What is known about a journal that is damaged or shorter than it must be. */
interface Damage {
  /** What is wrong; the journal is damaged when not given. */
  readonly fault?: string;
  readonly message: string;
  /** Every fact up to this one is proved to be as it was written. */
  readonly lastGoodSeq: number;
  /** The newest fact that is known to have been written, from the watermark or from a later row. */
  readonly expectedSeq?: number;
  /** The folder that can be restored up to the last good fact. */
  readonly folder?: string;
  readonly hint?: string;
  readonly cause?: unknown;
}

const DAMAGED = 'the journal is damaged';

/**
 * The journal differs from what was written: a row, a batch, its end or its watermark is wrong. Nothing was changed.
 */
export class JournalDamaged extends Error {
  readonly lastGoodSeq: number;
  readonly expectedSeq: number | null;
  readonly hint: string;
  constructor({ fault = DAMAGED, message, lastGoodSeq, expectedSeq, folder, hint, cause }: Damage) {
    const lost =
      expectedSeq !== undefined && expectedSeq > lastGoodSeq
        ? `; ${factsFrom(lastGoodSeq + 1, expectedSeq)} lost or in doubt`
        : '';
    super(`${fault}: ${message}${lost}`, { cause });
    this.name = 'JournalDamaged';
    this.lastGoodSeq = lastGoodSeq;
    this.expectedSeq = expectedSeq ?? null;
    this.hint =
      hint ??
      (lastGoodSeq === 0
        ? 'Nothing in this folder could be proved: restore a backup.'
        : acceptance(lastGoodSeq, folder === undefined ? '' : ` ${folder}`));
  }
}

function factsFrom(fromSeq: number, toSeq: number): string {
  return fromSeq === toSeq ? `fact ${fromSeq} is` : `facts ${fromSeq} to ${toSeq} are`;
}

function acceptance(lastGoodSeq: number, folder: string): string {
  return (
    `Restore a backup, or accept the loss of everything after fact ${lastGoodSeq} with: ` +
    `holdfast restore${folder} --to NEW_DIR --seq ${lastGoodSeq} (the damaged folder stays as it is).`
  );
}

/** The journal was written by a later version of this service. */
export class JournalTooNew extends Error {
  readonly hint: string;
  constructor(found: number, known: number) {
    super(`the journal has format ${found}; this version reads formats up to ${known}`);
    this.name = 'JournalTooNew';
    this.hint = 'Start it with the version that wrote it, or a later one.';
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The same without the beginning that all messages about damage share. */
export function reasonOf(error: unknown): string {
  return messageOf(error).replace(`${DAMAGED}: `, '');
}

/** The code of a Node or SQLite error, or '' when there is none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Codes of SQLite for a damaged file. A flipped bit in the schema shows as SQLITE_ERROR: an unknown column. */
const CORRUPTION_CODES = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_FORMAT', 'SQLITE_SCHEMA', 'SQLITE_ERROR'];

/** Whether SQLite found the file damaged, as opposed to failing to read it. */
export function isCorruption(error: unknown): boolean {
  const code = errorCode(error);
  return CORRUPTION_CODES.some((prefix) => code.startsWith(prefix));
}

/** Whether an error means that a disk has no room left. */
export function isNoSpace(error: unknown): boolean {
  return ['SQLITE_FULL', 'ENOSPC', 'EDQUOT'].includes(errorCode(error));
}

/** Throws an Error for a unit that no journal takes; a defect of the caller. */
export function checkUnit({ at, facts }: Unit): void {
  if (facts.length === 0) throw new Error('a unit must have at least one fact');
  if (!Number.isSafeInteger(at) || at < 0) throw new Error(`a unit must have a moment since 1970, not ${at}`);
}
