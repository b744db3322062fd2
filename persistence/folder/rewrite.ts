/**
 * Writes a data folder anew with other texts in its facts: a new journal whose chain names the journal that it came
 * from.
 *
 * Numbers, times, streams and units of the facts stay, and so do the ends of archive files. The old folder is only
 * read.
 *
 *  1. Every batch of the old folder is proved before its facts are written, and its journal must reach its watermark.
 *  2. The new chain begins with a hash over the new journal's id and the origin: the old journal's id, its last fact
 *     and the hash of its last batch. So nobody can name another origin later without breaking the chain. `meta` names
 *     it in words.
 *  3. Facts are handed to `rewrite` many at a time, and written when it has resolved, so that what they need is durable
 *     before.
 *  4. Snapshots are not taken over: they have what the old facts said.
 *  5. The target counts as a journal only once its watermark is written, last. A rewriting that fails leaves nothing
 *     behind.
 */

import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { basename, join } from 'node:path';
import { copyIfPresent, openWhole, prepareTarget, removeDraft, writeWatermark, type WholeFolder } from './backup.ts';
import { ARCHIVE_FOLDER, openFile, type ArchiveFile } from '../sqlite/archive.ts';
import { batchAppender, type Batch } from '../sqlite/chain.ts';
import { makePrivateFolder, syncFile, syncFolder } from '../files.ts';
import {
  hashOfOrigin,
  journalPath,
  noteKeysId,
  openWriting,
  writeOrigin,
  type Anchor,
  type Connection,
  type Origin,
} from '../sqlite/schema.ts';
import type { StoredFact } from '../chain.ts';

export interface RewriteReport {
  readonly journalId: string;
  readonly origin: Origin;
  readonly facts: number;
  readonly headSeq: number;
  readonly headHash: string;
  readonly archives: number;
}

export interface RewriteOptions {
  /**
   * Called once, when the target is there and empty; resolves with the id of the keys that its facts will be sealed
   * with.
   */
  readonly begin: () => Promise<string>;
  /** The new data of each of these facts, in their order. */
  readonly rewrite: (facts: readonly StoredFact[]) => Promise<readonly string[]>;
  /** Further files of the source folder to copy, by name. */
  readonly files: readonly string[];
  readonly onProgress?: (seq: number, headSeq: number) => void;
}

const FACTS_A_TRANSACTION = 4_000;

/**
 * Makes `out` a new data folder with the facts of `source` as `rewrite` makes them. Rejects with CopyRefused, with
 * JournalDamaged where the source's chain breaks, and with what `rewrite` rejects with.
 */
export async function rewriteFolder(source: string, out: string, options: RewriteOptions): Promise<RewriteReport> {
  const whole = openWhole(source);
  try {
    prepareTarget(out);
    try {
      return await writeAnew(whole, source, out, options);
    } catch (error) {
      removeDraft(out);
      throw error;
    }
  } finally {
    whole.close();
  }
}

async function writeAnew(
  whole: WholeFolder,
  source: string,
  out: string,
  { begin, rewrite, files, onProgress }: RewriteOptions,
): Promise<RewriteReport> {
  const { journalId, headSeq, headHash, archives } = whole;
  const origin = { journalId, headSeq, headHash: headHash.toString('hex') };
  const keysId = await begin();
  const target = new Target(out, origin, archives);
  try {
    for (const batches of inTransactions(whole.batches())) {
      const texts = await rewrite(batches.flatMap(({ facts }) => facts));
      target.append(batches, texts);
      onProgress?.(target.seq, headSeq);
    }
    for (const name of files) copyIfPresent(join(source, name), join(out, basename(name)));
    whole.refuseGrown();
    return { ...target.finish(keysId), origin, facts: headSeq };
  } finally {
    target.close();
  }
}

/** Batches that share a transaction. */
function* inTransactions(batches: Iterable<Batch>): Generator<readonly Batch[]> {
  let together: Batch[] = [];
  let facts = 0;
  for (const batch of batches) {
    together.push(batch);
    facts += batch.facts.length;
    if (facts < FACTS_A_TRANSACTION) continue;
    yield together;
    together = [];
    facts = 0;
  }
  if (together.length > 0) yield together;
}

/** The new folder: its archive files one after the other, each as long as an old one, then its journal. */
class Target {
  readonly #out: string;
  readonly #origin: Origin;
  /** Where the archive files that are still to come end. */
  readonly #ends: readonly ArchiveFile[];
  #archives = 0;
  #anchor: Anchor;
  readonly #heads = new Map<string, number>();
  #seq = 0;
  #hash: Buffer;
  #db: Connection;
  #append: ReturnType<typeof batchAppender>;

  constructor(out: string, origin: Origin, ends: readonly ArchiveFile[]) {
    this.#out = out;
    this.#origin = origin;
    this.#ends = ends;
    const journalId = randomUUID();
    this.#hash = hashOfOrigin(journalId, origin);
    this.#anchor = { journalId, baseSeq: 0, baseHash: this.#hash, streams: new Map() };
    if (ends.length > 0) makePrivateFolder(join(out, ARCHIVE_FOLDER));
    this.#db = this.#openNext();
    this.#append = batchAppender(this.#db);
  }

  get seq(): number {
    return this.#seq;
  }

  append(batches: readonly Batch[], texts: readonly string[]): void {
    let next = 0;
    for (const { facts } of batches) {
      if (!this.#db.inTransaction) this.#db.exec('BEGIN IMMEDIATE');
      this.#hash = this.#append(
        this.#hash,
        facts.map((fact) => ({ ...fact, data: texts[next++]! })),
      );
      for (const { eventId, seq } of facts) this.#heads.set(eventId, seq);
      this.#seq = facts.at(-1)!.seq;
      if (this.#seq === this.#ends[this.#archives]?.toSeq) this.#endArchive();
    }
    if (this.#db.inTransaction) this.#db.exec('COMMIT');
    if (next !== texts.length) throw new Error('a rewriting must give one text for each fact');
  }

  finish(keysId: string): Pick<RewriteReport, 'journalId' | 'headSeq' | 'headHash' | 'archives'> {
    if (this.#archives < this.#ends.length) throw new Error('an archive file must end with a batch');
    noteKeysId(this.#db, keysId);
    this.#db.pragma('wal_checkpoint(TRUNCATE)');
    this.#db.close();
    if (this.#archives > 0) syncFolder(join(this.#out, ARCHIVE_FOLDER));
    const { journalId } = this.#anchor;
    writeWatermark(this.#out, this.#anchor, { seq: this.#seq, hash: this.#hash });
    const headHash = this.#hash.toString('hex');
    return { journalId, headSeq: this.#seq, headHash, archives: this.#archives };
  }

  close(): void {
    this.#db.close();
  }

  #openNext(): Connection {
    const end = this.#ends[this.#archives];
    const db = openWriting(end === undefined ? journalPath(this.#out) : this.#draftOf(end), this.#anchor);
    writeOrigin(db, this.#origin);
    return db;
  }

  #draftOf(end: ArchiveFile): string {
    return `${this.#pathOf(end)}.tmp`;
  }

  #pathOf({ toSeq }: ArchiveFile): string {
    return join(this.#out, ARCHIVE_FOLDER, `${this.#anchor.baseSeq + 1}-${toSeq}.db`);
  }

  /** Closes an archive file as the pruning of a journal does, and goes on in the next file. */
  #endArchive(): void {
    const end = this.#ends[this.#archives]!;
    const archivedAt = openFile(end, (db) =>
      db.prepare<[], string>("SELECT value FROM meta WHERE key = 'archived_at'").pluck().get(),
    );
    if (archivedAt !== undefined) {
      this.#db.prepare("INSERT INTO meta VALUES ('archived_at', ?)").run(archivedAt);
    }
    this.#db.exec('COMMIT');
    this.#db.pragma('journal_mode = DELETE');
    this.#db.close();
    syncFile(this.#draftOf(end));
    renameSync(this.#draftOf(end), this.#pathOf(end));
    this.#archives += 1;
    const { journalId } = this.#anchor;
    this.#anchor = { journalId, baseSeq: this.#seq, baseHash: this.#hash, streams: new Map(this.#heads) };
    this.#db = this.#openNext();
    this.#append = batchAppender(this.#db);
  }
}
