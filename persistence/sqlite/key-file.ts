/**
 * The file `keys.db`: its schema, and what is done to it.
 *
 * The bytes of a key stand in the table `slot`; `name` says which slot a key has, null once it was destroyed, and
 * `free` which slots have no key.
 *
 *  1. A row of `slot` is never deleted or moved: rows are added at the end alone, and a destroyed key is overwritten in
 *     its place. `secure_delete` alone is not enough: where rows are deleted SQLite moves other rows between pages, and
 *     some of their bytes were found at the old place (3 of 85,000 destroyed keys of a table without row ids, 42 of one
 *     with them).
 *  2. A destroyed key is also in older pages of the log, so the log is folded and truncated before the destruction is
 *     answered. The same is done each time the file is opened, because a crash may have come between the two.
 *  3. The id of a destroyed key stays, so that a verification tells it from one that is lost.
 *  4. Every setting that this depends on is set, read back and compared.
 *  5. A serving process must not open the file through `fs` (see `schema.ts`).
 */
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isCorruption, messageOf } from '../faults.ts';
import { makePrivateFile, syncFile, syncFolder } from '../files.ts';
import {
  KEY_BYTES,
  KeyStoreFault,
  KeysUnusable,
  newIdentity,
  type Key,
  type KeysIdentity,
  type KeyStore,
} from '../keys.ts';
import { expectPragma, hasTables, openDatabase, type Connection } from './schema.ts';

export const KEYS_FILE = 'keys.db';
const FORMAT = 1;
/** "HFKY": marks a SQLite file as a file of keys of this service. */
const APPLICATION_ID = 0x48464b59;
/** Pages of the log above which SQLite folds it by itself; a batch of keys has some thirty. */
const CHECKPOINT_PAGES = 1_000;
/** Read at a time. */
const PAGE_KEYS = 2_048;
/** Keys added by one statement. */
const ADDED_MAX = 2_048;
const ZEROS = Buffer.alloc(KEY_BYTES);

const TABLES = `
  CREATE TABLE slot (n INTEGER PRIMARY KEY, key BLOB NOT NULL CHECK (length(key) = ${KEY_BYTES})) STRICT;
  CREATE TABLE name (id TEXT PRIMARY KEY, slot INTEGER) STRICT, WITHOUT ROWID;
  CREATE TABLE free (slot INTEGER PRIMARY KEY) STRICT;
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;

type KeyState = 'PRESENT' | 'DESTROYED' | 'UNKNOWN';

export function keysPath(folder: string): string {
  return join(folder, KEYS_FILE);
}

export interface KeyFileOptions {
  /** The identity of a new file; an existing file keeps its own. */
  readonly identity?: KeysIdentity | undefined;
  /** How long other processes are waited for. */
  readonly busyWaitMs?: number | undefined;
}

/** The one writer of a file of keys. */
export class KeyFile {
  readonly identity: KeysIdentity;
  readonly #db: Connection;
  readonly #store: (keys: readonly Key[]) => void;
  readonly #overwrite: (ids: readonly string[]) => void;
  readonly #remove: (ids: readonly string[]) => void;

  /** Opens the file, or makes it where it is missing. Throws KeysUnusable when it cannot be read. */
  constructor(path: string, { identity = newIdentity(), busyWaitMs }: KeyFileOptions = {}) {
    this.#db = openForWriting(path, identity);
    if (busyWaitMs !== undefined) this.#db.pragma(`busy_timeout = ${busyWaitMs}`);
    try {
      this.identity = readIdentity(this.#db);
      this.#store = storing(this.#db);
      this.#overwrite = overwriting(this.#db, MARKED);
      this.#remove = overwriting(this.#db, FORGOTTEN);
      this.fold();
    } catch (error) {
      this.#db.close();
      throw asUnusable(path, error);
    }
  }

  /** Keys are durable when it returns. */
  store(keys: readonly Key[]): void {
    if (keys.length > 0) this.#store(keys);
  }

  /** The keys are nowhere in the files when it returns (rule 2); those that are not there are no fault. */
  destroy(ids: readonly string[]): void {
    if (ids.length > 0) this.#overwrite(ids);
    this.fold();
  }

  /** Overwrites keys that nothing is sealed with: the log may keep copies of them until it is folded. */
  remove(ids: readonly string[]): void {
    if (ids.length > 0) this.#remove(ids);
  }

  setMeta(key: string, value: string): void {
    this.#db.prepare('INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value').run(key, value);
  }

  /**
   * Moves the log into the database and truncates it. Throws KeyStoreFault while another process reads the file for
   * long.
   */
  fold(): void {
    const [outcome] = this.#db.pragma('wal_checkpoint(TRUNCATE)') as [{ readonly busy: number }];
    if (outcome.busy === 0) return;
    const hint = 'Let the other process end: a copy of keys.db is made with holdfast backup alone.';
    throw new KeyStoreFault('the log of keys.db cannot be folded while another process reads it', hint);
  }

  close(): void {
    this.#db.close();
  }
}

interface NamedKey {
  readonly id: string;
  /** Null where it is destroyed. */
  readonly key: Buffer | null;
}

/** A connection that only reads keys. */
export class KeyReader {
  readonly identity: KeysIdentity;
  readonly #db: Connection;
  readonly #select: (id: string) => Buffer | undefined;
  readonly #slotOf: (id: string) => number | null | undefined;

  /** Throws KeysUnusable when the file is missing or cannot be read. */
  constructor(path: string) {
    if (!existsSync(path)) throw new KeysUnusable(`${path} is missing`, 'Put it back from a copy of the keys.');
    try {
      this.#db = openDatabase(path, true);
    } catch (error) {
      throw asUnusable(path, error);
    }
    try {
      assertFormat(this.#db);
      this.identity = readIdentity(this.#db);
      const statement = this.#db
        .prepare<[string], Buffer>('SELECT slot.key FROM name JOIN slot ON slot.n = name.slot WHERE name.id = ?')
        .pluck();
      this.#select = (id) => statement.get(id);
      const slot = this.#db.prepare<[string], number | null>('SELECT slot FROM name WHERE id = ?').pluck();
      this.#slotOf = (id) => slot.get(id);
    } catch (error) {
      this.#db.close();
      throw asUnusable(path, error);
    }
  }

  find(id: string): Buffer | undefined {
    return this.#select(id);
  }

  read(ids: readonly string[]): ReadonlyMap<string, Buffer> {
    const found = new Map<string, Buffer>();
    for (const id of ids) {
      const key = this.find(id);
      if (key !== undefined) found.set(id, key);
    }
    return found;
  }

  /** What is known of a key; UNKNOWN is one that was never here, or was never used. */
  stateOf(id: string): KeyState {
    const slot = this.#slotOf(id);
    if (slot === undefined) return 'UNKNOWN';
    return slot === null ? 'DESTROYED' : 'PRESENT';
  }

  /**
   * Every id with its key, null where it is destroyed, in the order of ids' prefixes and then of their numbers; a page
   * is read at a time.
   */
  *inOrder(): Generator<NamedKey> {
    const next = this.#db.prepare<[string], string>('SELECT id FROM name WHERE id >= ? ORDER BY id LIMIT 1').pluck();
    for (let id = next.get(''); id !== undefined;) {
      const dot = id.indexOf('.');
      // Ids with a prefix lie between `<prefix>.` and `<prefix>/`, the next character.
      const [from, to] = dot === -1 ? [id, `${id}\0`] : [id.slice(0, dot + 1), `${id.slice(0, dot)}/`];
      yield* this.#inOrderOfNumbers(from, to);
      id = next.get(to);
    }
  }

  /** Of two numbers without leading zeros, the shorter one is smaller. */
  *#inOrderOfNumbers(from: string, to: string): Generator<NamedKey> {
    const lengths = this.#db
      .prepare<[string, string], number>('SELECT DISTINCT length(id) FROM name WHERE id >= ? AND id < ? ORDER BY 1')
      .pluck();
    const page = this.#db.prepare<[string, string, number], NamedKey>(
      `SELECT name.id, slot.key FROM name LEFT JOIN slot ON slot.n = name.slot
       WHERE name.id >= ? AND name.id < ? AND length(name.id) = ? ORDER BY name.id LIMIT ${PAGE_KEYS}`,
    );
    for (const length of lengths.all(from, to)) {
      let keys = page.all(from, to, length);
      for (; keys.length > 0; keys = page.all(`${keys.at(-1)!.id}\0`, to, length)) yield* keys;
    }
  }

  meta(key: string): string | null {
    return this.#db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck().get(key) ?? null;
  }

  /** Copies the file as it is now, while it is written to, for its owner alone; durable when it resolves. */
  async copyTo(path: string): Promise<void> {
    makePrivateFile(path);
    await this.#db.backup(path);
    syncFile(path);
    syncFolder(dirname(path));
  }

  close(): void {
    this.#db.close();
  }
}

function openForWriting(path: string, identity: KeysIdentity): Connection {
  const isNew = !existsSync(path);
  makePrivateFile(path);
  let db: Connection;
  try {
    db = openDatabase(path, false);
  } catch (error) {
    throw asUnusable(path, error);
  }
  try {
    expectPragma(db, 'journal_mode', 'wal', 'WAL');
    expectPragma(db, 'synchronous', 2, 'FULL');
    expectPragma(db, 'secure_delete', 1, 'ON');
    expectPragma(db, 'temp_store', 2, 'MEMORY');
    expectPragma(db, 'wal_autocheckpoint', CHECKPOINT_PAGES, String(CHECKPOINT_PAGES));
    if (!hasTables(db)) create(db, identity);
    assertFormat(db);
    if (isNew) syncFolder(dirname(path));
    return db;
  } catch (error) {
    db.close();
    throw asUnusable(path, error);
  }
}

function create(db: Connection, { keysId, addressKey }: KeysIdentity): void {
  db.transaction(() => {
    db.exec(TABLES);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${FORMAT}`);
    const insert = db.prepare('INSERT INTO meta VALUES (?, ?)');
    insert.run('keys_id', keysId);
    insert.run('address_key', addressKey.toString('base64url'));
  }).immediate();
}

function assertFormat(db: Connection): void {
  if (db.pragma('application_id', { simple: true }) !== APPLICATION_ID) {
    throw new KeysUnusable(
      `${db.name} is not a file of keys of this service`,
      'Put the file back from a copy of the keys.',
    );
  }
  const format = Number(db.pragma('user_version', { simple: true }));
  if (format <= FORMAT) return;
  throw new KeysUnusable(
    `${db.name} has format ${format}; this version reads formats up to ${FORMAT}`,
    'Start it with the version that wrote it, or a later one.',
  );
}

function readIdentity(db: Connection): KeysIdentity {
  const select = db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck();
  const keysId = select.get('keys_id') ?? '';
  const addressKey = Buffer.from(select.get('address_key') ?? '', 'base64url');
  if (keysId !== '' && addressKey.length === KEY_BYTES) return { keysId, addressKey };
  throw new KeysUnusable(`${db.name} has no address key`, 'Put the file back from a copy of the keys.');
}

/**
 * Slots of destroyed keys are used again (rule 1); the other keys are added some at a time, which takes half as long as
 * one by one.
 */
function storing(db: Connection): (keys: readonly Key[]) => void {
  const selectFree = db.prepare<[number], number>('SELECT slot FROM free ORDER BY slot LIMIT ?').pluck();
  const reuse = reusing(db);
  const add = adding(db);
  return db.transaction((keys: readonly Key[]) => {
    const free = selectFree.all(keys.length);
    for (const [index, slot] of free.entries()) reuse(keys[index]!, slot);
    for (let next = free.length; next < keys.length; next += ADDED_MAX) add(keys.slice(next, next + ADDED_MAX));
  }).immediate;
}

function reusing(db: Connection): (key: Key, slot: number) => void {
  const occupy = db.prepare('DELETE FROM free WHERE slot = ?');
  const write = db.prepare('UPDATE slot SET key = ? WHERE n = ?');
  const name = db.prepare('INSERT INTO name VALUES (?, ?)');
  return ({ id, key }, slot) => {
    occupy.run(slot);
    write.run(key, slot);
    name.run(id, slot);
  };
}

function adding(db: Connection): (keys: readonly Key[]) => void {
  const selectNext = db.prepare<[], number>('SELECT coalesce(max(n), 0) + 1 FROM slot').pluck();
  const addSlots = db.prepare(
    `INSERT INTO slot SELECT @first + key, substr(@bytes, key * ${KEY_BYTES} + 1, ${KEY_BYTES}) FROM json_each(@ids)`,
  );
  const addNames = db.prepare('INSERT INTO name SELECT value, @first + key FROM json_each(@ids)');
  return (keys) => {
    const first = selectNext.get()!;
    const ids = JSON.stringify(keys.map(({ id }) => id));
    addSlots.run({ first, ids, bytes: Buffer.concat(keys.map(({ key }) => key)) });
    addNames.run({ first, ids });
  };
}

/** What stays of the name of a destroyed key (rule 3), and of one that was never used. */
const MARKED = 'INSERT INTO name VALUES (?, NULL) ON CONFLICT DO UPDATE SET slot = NULL';
const FORGOTTEN = 'DELETE FROM name WHERE id = ?';

function overwriting(db: Connection, rename: string): (ids: readonly string[]) => void {
  const slotOf = db.prepare<[string], number | null>('SELECT slot FROM name WHERE id = ?').pluck();
  const write = db.prepare('UPDATE slot SET key = ? WHERE n = ?');
  const vacate = db.prepare('INSERT INTO free VALUES (?)');
  const endName = db.prepare(rename);
  return db.transaction((ids: readonly string[]) => {
    for (const id of ids) {
      const slot = slotOf.get(id) ?? null;
      endName.run(id);
      if (slot === null) continue;
      write.run(ZEROS, slot);
      vacate.run(slot);
    }
  }).immediate;
}

function asUnusable(path: string, error: unknown): unknown {
  if (!isCorruption(error)) return error;
  return new KeysUnusable(
    `${path} cannot be read (${messageOf(error)})`,
    'Put the file back from a copy of the keys.',
    error,
  );
}

/**
 * The keys of a data folder that is only read; a service may run on the folder meanwhile.
 *
 * Every read is a statement of its own, so that the service can fold the log of the keys between two of them. A folder
 * without a file of keys has none: what is sealed reads as erased there.
 */
export interface KeysOnDisk extends Pick<KeyStore, 'read'> {
  /** Null where the folder has no keys. */
  readonly addressKey: Buffer | null;
  stateOf(id: string): ReturnType<KeyReader['stateOf']>;
  close(): void;
}

/** Opens the keys of a folder for reading. Throws KeysUnusable when they cannot be read. */
export function openKeysOnDisk(folder: string): KeysOnDisk {
  const path = keysPath(folder);
  if (!existsSync(path)) {
    return { addressKey: null, stateOf: () => 'UNKNOWN', read: () => Promise.resolve(new Map()), close: () => {} };
  }
  const reader = new KeyReader(path);
  return {
    addressKey: reader.identity.addressKey,
    stateOf: (id) => reader.stateOf(id),
    read: (ids) => Promise.resolve(reader.read(ids)),
    close: () => reader.close(),
  };
}
