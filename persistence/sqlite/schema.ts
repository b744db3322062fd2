/**
 * The schema of `journal.db`, and the only two ways to open it: `openWriting` for the writer, `openReading` for all
 * others.
 *
 * One row per fact in `journal`, one row per commit in `batch`; `stream` and `meta` have the anchor. A serving process
 * must not open the file through `fs`: closing any descriptor of it drops SQLite's POSIX locks, after which a second
 * process could write and facts that were answered for would be lost.
 *
 *  1. Every setting that durability depends on is set, read back and compared; a build that ignores one does not start.
 *  2. Rows of `journal` and `batch` never change. The writer adds rows at the end, and pruning drops rows from the
 *     beginning; the anchor then says what the remaining rows continue from.
 *  3. The anchor has a checksum of its own, because the chain over the batches does not cover it.
 */

import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { isCorruption, JournalDamaged, JournalTooNew, messageOf } from '../faults.ts';
import { makePrivateFile } from '../files.ts';

export type Connection = InstanceType<typeof Database>;

/** What the remaining rows continue from: fact 0 of a new journal, or the last fact that pruning dropped. */
export interface Anchor {
  readonly journalId: string;
  readonly baseSeq: number;
  readonly baseHash: Buffer;
  /** The newest dropped fact of every stream that had one. */
  readonly streams: ReadonlyMap<string, number>;
}

export const JOURNAL_FILE = 'journal.db';
const FORMAT = 1;
/** "HFJL": marks a SQLite file as a journal of this service. */
const APPLICATION_ID = 0x48464a4c;
const SQLITE_VERSION_MIN = [3, 51, 3] as const;
const BUSY_WAIT_MS = 5_000;

const TABLES = `
  CREATE TABLE journal (
    seq      INTEGER PRIMARY KEY,
    at       INTEGER NOT NULL,
    event_id TEXT    NOT NULL,
    type     TEXT    NOT NULL,
    data     TEXT    NOT NULL,
    prev     INTEGER NOT NULL,
    unit     INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE batch (
    last_seq  INTEGER PRIMARY KEY,
    first_seq INTEGER NOT NULL,
    count     INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    hash      BLOB    NOT NULL
  ) STRICT;
  CREATE TABLE stream (event_id TEXT PRIMARY KEY, last_seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE meta   (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

export function journalPath(folder: string): string {
  return join(folder, JOURNAL_FILE);
}

/** Opens the connection of the one writer; creates the file and its tables when there are none. */
export function openWriting(path: string, anchor: Anchor = newAnchor()): Connection {
  // SQLite gives its log and its shared memory the same rights as the database.
  makePrivateFile(path);
  const db = open(path, false);
  try {
    expectPragma(db, 'journal_mode', 'wal', 'WAL');
    expectPragma(db, 'synchronous', 2, 'FULL');
    expectPragma(db, 'wal_autocheckpoint', 0, '0');
    if (!hasTables(db)) create(db, anchor);
    assertFormat(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Opens a connection that cannot write; null when there is no journal yet. */
export function openReading(path: string): Connection | null {
  if (!existsSync(path)) return null;
  const db = open(path, true);
  try {
    if (!hasTables(db)) {
      db.close();
      return null;
    }
    assertFormat(db);
    return db;
  } catch (error) {
    db.close();
    throw isCorruption(error) ? unreadable(error) : error;
  }
}

export function unreadable(cause: unknown): JournalDamaged {
  return new JournalDamaged({ message: `SQLite cannot read it (${messageOf(cause)})`, lastGoodSeq: 0, cause });
}

/** The anchor of a journal that begins at fact 1. Its chain starts from a hash of its id. */
export function newAnchor(): Anchor {
  const journalId = randomUUID();
  return { journalId, baseSeq: 0, baseHash: createHash('sha256').update(journalId).digest(), streams: new Map() };
}

/** Reads the anchor; throws JournalDamaged when it fails its checksum. */
export function readAnchor(db: Connection): Anchor {
  const meta = new Map(
    db
      .prepare<[], { key: string; value: string }>('SELECT key, value FROM meta')
      .all()
      .map(({ key, value }) => [key, value]),
  );
  const streams = new Map(
    db
      .prepare<[], { eventId: string; lastSeq: number }>(
        'SELECT event_id AS eventId, last_seq AS lastSeq FROM stream ORDER BY event_id',
      )
      .all()
      .map(({ eventId, lastSeq }) => [eventId, lastSeq]),
  );
  const anchor = {
    journalId: meta.get('journal_id') ?? '',
    baseSeq: Number(meta.get('base_seq')),
    baseHash: Buffer.from(meta.get('base_hash') ?? '', 'hex'),
    streams,
  };
  if (meta.get('anchor_checksum') !== anchorChecksum(anchor)) {
    throw new JournalDamaged({ message: 'its anchor (tables meta and stream) fails its checksum', lastGoodSeq: 0 });
  }
  return anchor;
}

/** The id of the file of keys that facts of this journal are sealed with; null where none was ever noted. */
export const readNotedKeysId = (db: Connection): string | null => readNote(db, 'keys_id');
export const noteKeysId = (db: Connection, keysId: string): void => writeNote(db, 'keys_id', keysId);

/** The version of the program that wrote to this journal last; null where none was ever noted. */
export const readWrittenBy = (db: Connection): string | null => readNote(db, 'written_by');
export const noteWrittenBy = (db: Connection, program: string): void => writeNote(db, 'written_by', program);

function readNote(db: Connection, key: string): string | null {
  return db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck().get(key) ?? null;
}

function writeNote(db: Connection, key: string, value: string): void {
  db.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value').run(key, value);
}

/** Writes the anchor inside the caller's transaction; of its streams only the `changed` ones. */
export function writeAnchor(db: Connection, anchor: Anchor, changed: Iterable<string> = anchor.streams.keys()): void {
  const setMeta = db.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value');
  setMeta.run('journal_id', anchor.journalId);
  setMeta.run('base_seq', String(anchor.baseSeq));
  setMeta.run('base_hash', anchor.baseHash.toString('hex'));
  setMeta.run('anchor_checksum', anchorChecksum(anchor));
  const setStream = db.prepare(
    'INSERT INTO stream VALUES (?, ?) ON CONFLICT DO UPDATE SET last_seq = excluded.last_seq',
  );
  for (const eventId of changed) setStream.run(eventId, anchor.streams.get(eventId));
}

/** The journal that a rewritten one came from: its id, its last fact, and the hash of its last batch in hex. */
export interface Origin {
  readonly journalId: string;
  readonly headSeq: number;
  readonly headHash: string;
}

/** What a rewritten journal came from; null for any other. */
export function readOrigin(db: Connection): Origin | null {
  const text = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'origin'").pluck().get();
  return text === undefined ? null : (JSON.parse(text) as Origin);
}

export function writeOrigin(db: Connection, { journalId, headSeq, headHash }: Origin): void {
  db.prepare("INSERT INTO meta VALUES ('origin', ?)").run(JSON.stringify({ journalId, headSeq, headHash }));
}

/**
 * The hash that the chain of a rewritten journal begins with: it covers the origin, so that nobody can name another one
 * without breaking the chain.
 */
export function hashOfOrigin(newId: string, { journalId, headSeq, headHash }: Origin): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([newId, journalId, headSeq, headHash]))
    .digest();
}

function anchorChecksum({ journalId, baseSeq, baseHash, streams }: Anchor): string {
  const hash = createHash('sha256').update(JSON.stringify([FORMAT, journalId, baseSeq, baseHash.toString('hex')]));
  const sorted = [...streams].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const stream of sorted) hash.update(JSON.stringify(stream));
  return hash.digest('hex');
}

function open(path: string, readonly: boolean): Connection {
  try {
    return openDatabase(path, readonly);
  } catch (error) {
    throw isCorruption(error) ? unreadable(error) : error;
  }
}

/** Opens a database of a data folder with the settings that all of them have (rule 1). */
export function openDatabase(path: string, readonly: boolean): Connection {
  const db = new Database(path, { readonly, fileMustExist: readonly, timeout: BUSY_WAIT_MS });
  try {
    assertVersion(db.prepare<[], string>('SELECT sqlite_version()').pluck().get() ?? '');
    expectPragma(db, 'mmap_size', 0, '0');
    expectPragma(db, 'cell_size_check', 1, 'ON');
    expectPragma(db, 'trusted_schema', 0, 'OFF');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function create(db: Connection, anchor: Anchor): void {
  db.transaction(() => {
    db.exec(TABLES);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${FORMAT}`);
    writeAnchor(db, anchor);
  }).immediate();
}

export function hasTables(db: Connection): boolean {
  return db.prepare<[], number>('SELECT count(*) FROM sqlite_schema').pluck().get() !== 0;
}

function assertFormat(db: Connection): void {
  const applicationId = db.pragma('application_id', { simple: true });
  if (applicationId !== APPLICATION_ID) {
    throw new JournalDamaged({ message: `${db.name} is not a journal of this service`, lastGoodSeq: 0 });
  }
  const format = Number(db.pragma('user_version', { simple: true }));
  if (format > FORMAT) throw new JournalTooNew(format, FORMAT);
}

function assertVersion(version: string): void {
  const parts = version.split('.').map(Number);
  for (const [index, least] of SQLITE_VERSION_MIN.entries()) {
    const part = parts[index] ?? 0;
    if (part > least) return;
    if (part < least)
      throw new Error(`SQLite ${version} is too old; ${SQLITE_VERSION_MIN.join('.')} or later is needed`);
  }
}

/** Sets a pragma, reads it back and compares (rule 1). */
export function expectPragma(db: Connection, name: string, expected: string | number, value: string): void {
  db.pragma(`${name} = ${value}`);
  const found = db.pragma(name, { simple: true });
  if (found !== expected) throw new Error(`SQLite did not take ${name} = ${value}: it is ${String(found)}`);
}
