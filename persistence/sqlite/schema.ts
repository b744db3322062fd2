/**
 * The shape of `journal.db` and the way every connection to it is opened.
 *
 * One row a fact in `journal`, one row a commit in `batch`, what pruning left behind in `stream` and `meta`.
 * The writer opens with `openWriting`, everybody else with `openReading`; nobody opens the file in another way,
 * and nobody in a serving process may touch it through `fs`: closing any descriptor of it drops SQLite's POSIX locks,
 * after which a second process can write and answered facts vanish.
 *
 *  1. Every setting that durability rests on is set, read back and asserted; a build that ignores one does not start.
 *  2. `journal` and `batch` rows never change. Rows are added at the end by the writer and dropped from the
 *     beginning by pruning; the anchor (`meta`, `stream`) then says what the remaining rows build on.
 *  3. The anchor carries a checksum of its own, because the chain over the batches does not reach it.
 */

import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { isCorruption, JournalDamaged, JournalTooNew } from '../faults.ts';
import { makePrivateFile } from '../files.ts';

export type Connection = InstanceType<typeof Database>;

/** A fact with every column that the chain covers. */
export interface StoredFact {
  readonly seq: number;
  readonly at: number;
  readonly eventId: string;
  readonly type: string;
  readonly data: string;
  /** Sequence number of the stream's fact before this one; 0 when this is its first. */
  readonly prev: number;
  /** Sequence number of the last fact of the unit that this one belongs to. */
  readonly unit: number;
}

/** What the remaining rows build on: fact 0 of a new journal, or the last fact that pruning dropped. */
export interface Anchor {
  readonly journalId: string;
  readonly baseSeq: number;
  readonly baseHash: Buffer;
  /** The newest dropped fact of every stream that had one. */
  readonly streams: ReadonlyMap<string, number>;
}

export const JOURNAL_FILE = 'journal.db';
const FORMAT = 1;
/** "HFJL": tells a journal from any other SQLite file. */
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

/** The connection of the one writer: creates the file and its tables when there are none. */
export function openWriting(path: string, anchor: Anchor = newAnchor()): Connection {
  // SQLite gives its log and its shared memory the rights of the database.
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

/** A connection that cannot write, for recovery, reads, verification and copies; null when there is no journal yet. */
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
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new JournalDamaged({ message: `SQLite cannot read it (${reason})`, lastGoodSeq: 0, cause });
}

/** An anchor for a journal that begins at fact 1. The id is what its chain starts from. */
export function newAnchor(): Anchor {
  const journalId = randomUUID();
  return { journalId, baseSeq: 0, baseHash: createHash('sha256').update(journalId).digest(), streams: new Map() };
}

/** Reads the anchor and checks it; JournalDamaged when it is not the one that was written. */
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

/** Writes the anchor inside the caller's transaction; of the streams only those that the caller says changed. */
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

function anchorChecksum({ journalId, baseSeq, baseHash, streams }: Anchor): string {
  const hash = createHash('sha256').update(JSON.stringify([FORMAT, journalId, baseSeq, baseHash.toString('hex')]));
  const sorted = [...streams].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const stream of sorted) hash.update(JSON.stringify(stream));
  return hash.digest('hex');
}

function open(path: string, readonly: boolean): Connection {
  const db = new Database(path, { readonly, fileMustExist: readonly, timeout: BUSY_WAIT_MS });
  try {
    assertVersion(db.prepare<[], string>('SELECT sqlite_version()').pluck().get() ?? '');
    expectPragma(db, 'mmap_size', 0, '0');
    expectPragma(db, 'cell_size_check', 1, 'ON');
    expectPragma(db, 'trusted_schema', 0, 'OFF');
    return db;
  } catch (error) {
    db.close();
    throw isCorruption(error) ? unreadable(error) : error;
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

function hasTables(db: Connection): boolean {
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
  for (const [place, least] of SQLITE_VERSION_MIN.entries()) {
    const part = parts[place] ?? 0;
    if (part > least) return;
    if (part < least)
      throw new Error(`SQLite ${version} is too old; ${SQLITE_VERSION_MIN.join('.')} or later is needed`);
  }
}

function expectPragma(db: Connection, name: string, expected: string | number, value: string): void {
  db.pragma(`${name} = ${value}`);
  const found = db.pragma(name, { simple: true });
  if (found !== expected) throw new Error(`SQLite did not take ${name} = ${value}: it says ${String(found)}`);
}
