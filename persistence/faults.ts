/** The troubles that stop a journal from being opened; each says what an operator can do about it. */

/** Another process serves from the folder; nothing was read or written. */
export class FolderInUse extends Error {
  readonly folder: string;
  /** The process that serves, when it left its id. */
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

/** What an operator is told about a journal that is damaged or shorter than it must be. */
export interface Damage {
  readonly message: string;
  /** Everything up to here is proved to be as it was written. */
  readonly lastGoodSeq: number;
  /** How far the journal reached for certain, when a watermark or a later row tells. */
  readonly expectedSeq?: number;
  readonly hint?: string;
  readonly cause?: unknown;
}

/** The journal is not what was written: a row, a batch, its end or its watermark is wrong. Nothing was changed. */
export class JournalDamaged extends Error {
  readonly lastGoodSeq: number;
  readonly expectedSeq: number | null;
  readonly hint: string;
  constructor({ message, lastGoodSeq, expectedSeq, hint, cause }: Damage) {
    const lost =
      expectedSeq !== undefined && expectedSeq > lastGoodSeq
        ? `; facts ${lastGoodSeq + 1} to ${expectedSeq} are lost or in doubt`
        : '';
    super(`the journal is damaged: ${message}${lost}`, { cause });
    this.name = 'JournalDamaged';
    this.lastGoodSeq = lastGoodSeq;
    this.expectedSeq = expectedSeq ?? null;
    this.hint =
      hint ??
      (lastGoodSeq === 0 ? 'Nothing in this folder could be proved: restore a backup.' : acceptance(lastGoodSeq));
  }
}

function acceptance(lastGoodSeq: number): string {
  return (
    `Restore a backup, or accept the loss of everything after fact ${lastGoodSeq} with: ` +
    `holdfast restore --to NEW_DIR --seq ${lastGoodSeq} (the damaged folder stays as it is).`
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

/** The code of a Node or SQLite error, or '' when there is none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** What SQLite says of a file that is not as it was written; a flipped bit in its schema reads as an unknown column. */
const CORRUPTION_CODES = ['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'SQLITE_FORMAT', 'SQLITE_SCHEMA', 'SQLITE_ERROR'];

/** Whether SQLite found the file itself wrong, as opposed to failing to read it. */
export function isCorruption(error: unknown): boolean {
  const code = errorCode(error);
  return CORRUPTION_CODES.some((prefix) => code.startsWith(prefix));
}
