/**
 * Makes an ordinary data folder from the facts of all shards: one sequence with a chain of its own.
 *
 * The facts of each shard are first staged in a file of the new folder, so that memory does not follow their number;
 * then they are merged into the journal.
 *
 * 1. The order is by moment, and by shard at equal moments. Facts of one shard keep their order and their units, also
 *    where a clock was set back; so do those of an event, which are all in one shard.
 * 2. A fact gets a new sequence number; its moment, stream, type and data are as they were.
 * 3. The folder counts as one only once its watermark is written, last. A merge that fails leaves nothing behind.
 */

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextRound } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { prepareTarget, removeDraft, writeWatermark } from './backup.ts';
import { makePrivateFile } from '../files.ts';
import type { Unit } from '../journal.ts';
import { batchAppender } from '../sqlite/chain.ts';
import { journalPath, newAnchor, noteKeysId, openWriting, type Anchor, type Connection } from '../sqlite/schema.ts';
import type { StoredFact } from '../chain.ts';

export interface MergeReport {
  readonly journalId: string;
  readonly facts: number;
  /** SHA-256 in hex. */
  readonly headHash: string;
}

interface MergeListener {
  /** The keys that facts are sealed with, which the journal names; null for none. */
  readonly keysId: string | null;

  /** A fact of a shard has got its place in the merged sequence. */
  merged(shard: number, seq: number, fact: StagedFact): void;
  /** Units that come after all others; called once, when every fact has its place. */
  atEnd(headSeq: number, lastAt: number): readonly Unit[];
  onProgress?(done: number, total: number): void;
}

type StagedFact = Pick<StoredFact, 'seq' | 'at' | 'eventId' | 'type' | 'data' | 'unit'>;

const STAGE_FILE = 'merge.db.tmp';
/** A staged fact's key is its shard and its sequence number. */
const SHARD_STEP = 2 ** 40;
const STAGED_A_SLICE = 2_000;
const READ_AT_ONCE = 256;
const BATCH_FACTS = 256;
const TRANSACTION_FACTS = 8_192;

interface StageRow extends StagedFact {
  /** The latest moment in the shard up to the fact: its place in the order (rule 1). */
  readonly place: number;
}

/** A new data folder in the making. */
export class ShardMerge {
  readonly #out: string;
  readonly #stage: Connection;
  readonly #insert: (id: number, place: number, fact: StagedFact) => void;
  readonly #shards: number[] = [];
  #staged = 0;

  /** Begins with an empty folder. Throws CopyRefused. */
  constructor(out: string) {
    prepareTarget(out);
    this.#out = out;
    const path = join(out, STAGE_FILE);
    makePrivateFile(path);
    this.#stage = new Database(path);
    this.#stage.pragma('journal_mode = OFF');
    this.#stage.pragma('synchronous = OFF');
    this.#stage.exec(
      `CREATE TABLE fact (id INTEGER PRIMARY KEY, place INTEGER NOT NULL, at INTEGER NOT NULL, event_id TEXT NOT NULL,
        type TEXT NOT NULL, data TEXT NOT NULL, unit INTEGER NOT NULL) STRICT`,
    );
    const insert = this.#stage.prepare('INSERT INTO fact VALUES (?, ?, ?, ?, ?, ?, ?)');
    this.#insert = (id, place, { at, eventId, type, data, unit }) =>
      insert.run(id, place, at, eventId, type, data, unit);
  }

  /** Stages the facts of a shard for which `isKept` is true; facts of one unit are kept or left out together. */
  async stage(
    shard: number,
    batches: AsyncIterable<readonly StoredFact[]>,
    isKept: (fact: StoredFact) => boolean,
  ): Promise<void> {
    let place = 0;
    let sliced = 0;
    this.#stage.exec('BEGIN');
    for await (const facts of batches) {
      for (const fact of facts) {
        if (!isKept(fact)) continue;
        place = Math.max(place, fact.at);
        this.#insert(shard * SHARD_STEP + fact.seq, place, fact);
        sliced += 1;
      }
      if (sliced < STAGED_A_SLICE) continue;
      this.#staged += sliced;
      sliced = 0;
      await nextRound();
    }
    this.#staged += sliced;
    this.#stage.exec('COMMIT');
    this.#shards.push(shard);
  }

  /** Writes the journal and its watermark. */
  async finish(listener: MergeListener): Promise<MergeReport> {
    const anchor = newAnchor();
    const target = openWriting(journalPath(this.#out), anchor);
    const writer = new MergedWriter(target, anchor);
    try {
      if (listener.keysId !== null) noteKeysId(target, listener.keysId);
      let lastAt = 0;
      for (const { shard, unit } of this.#inOrder()) {
        for (const fact of unit) {
          writer.add(fact, unit.length);
          lastAt = Math.max(lastAt, fact.at);
          listener.merged(shard, writer.seq, fact);
        }
        if (!writer.isSliceFull) continue;
        writer.commit();
        listener.onProgress?.(writer.seq, this.#staged);
        await nextRound();
      }
      for (const { eventId, at, facts } of listener.atEnd(writer.seq, lastAt)) {
        for (const { type, data } of facts) writer.add({ at, eventId, type, data }, facts.length);
      }
      writer.commit();
      target.pragma('wal_checkpoint(TRUNCATE)');
    } finally {
      target.close();
    }
    this.#stage.close();
    rmSync(join(this.#out, STAGE_FILE), { force: true });
    writeWatermark(this.#out, anchor, writer);
    return { journalId: anchor.journalId, facts: writer.seq, headHash: writer.hash.toString('hex') };
  }

  /** Removes everything that was written (rule 3). */
  discard(): void {
    this.#stage.close();
    removeDraft(this.#out);
  }

  /** The units of all shards in their order (rule 1). */
  *#inOrder(): Generator<{ readonly shard: number; readonly unit: readonly StageRow[] }> {
    const heads = this.#shards.toSorted((a, b) => a - b).map((shard) => new StagedShard(this.#stage, shard));
    for (;;) {
      let first: StagedShard | null = null;
      for (const each of heads) {
        if (each.place !== null && each.place < (first?.place ?? Infinity)) first = each;
      }
      if (first === null) return;
      yield { shard: first.shard, unit: first.nextUnit() };
    }
  }
}

/** The staged facts of one shard, read in slices. */
class StagedShard {
  readonly shard: number;
  readonly #select: (afterId: number) => StageRow[];
  #rows: StageRow[] = [];
  #next = 0;
  #lastSeq = 0;

  constructor(stage: Connection, shard: number) {
    this.shard = shard;
    const statement = stage.prepare<[number, number], StageRow>(
      `SELECT id - ${shard * SHARD_STEP} AS seq, place, at, event_id AS eventId, type, data, unit FROM fact
        WHERE id > ? AND id < ? ORDER BY id LIMIT ${READ_AT_ONCE}`,
    );
    this.#select = (afterSeq) => statement.all(shard * SHARD_STEP + afterSeq, (shard + 1) * SHARD_STEP);
  }

  /** Of the next fact; null at the end. */
  get place(): number | null {
    return this.#peek()?.place ?? null;
  }

  nextUnit(): StageRow[] {
    const unit: StageRow[] = [];
    for (let row = this.#peek(); row !== null && row.unit === (unit[0]?.unit ?? row.unit); row = this.#peek()) {
      unit.push(row);
      this.#next += 1;
    }
    return unit;
  }

  #peek(): StageRow | null {
    if (this.#next >= this.#rows.length) {
      this.#rows = this.#select(this.#lastSeq);
      this.#next = 0;
      this.#lastSeq = this.#rows.at(-1)?.seq ?? this.#lastSeq;
    }
    return this.#rows[this.#next] ?? null;
  }
}

/** Numbers facts, links them to the one before in their stream, and writes them in batches. */
class MergedWriter {
  readonly #target: Connection;
  readonly #append: (previousHash: Uint8Array, facts: readonly StoredFact[]) => Buffer;
  readonly #heads = new Map<string, number>();
  #batch: StoredFact[] = [];
  /** The last fact of the unit that is being added. */
  #unit = 0;
  #uncommitted = 0;
  #hash: Buffer;
  seq = 0;

  constructor(target: Connection, anchor: Anchor) {
    this.#target = target;
    this.#append = batchAppender(target);
    this.#hash = anchor.baseHash;
  }

  /** Of the newest batch. */
  get hash(): Buffer {
    return this.#hash;
  }

  /** Whether a transaction has enough facts. */
  get isSliceFull(): boolean {
    return this.#uncommitted >= TRANSACTION_FACTS;
  }

  /** Adds the next fact of a unit of so many. */
  add(fact: Pick<StoredFact, 'at' | 'eventId' | 'type' | 'data'>, unitFacts: number): void {
    if (this.seq === this.#unit) {
      if (this.#batch.length + unitFacts > BATCH_FACTS) this.#flush();
      this.#unit = this.seq + unitFacts;
    }
    const { at, eventId, type, data } = fact;
    const prev = this.#heads.get(eventId) ?? 0;
    this.seq += 1;
    this.#batch.push({ seq: this.seq, at, eventId, type, data, prev, unit: this.#unit });
    this.#heads.set(eventId, this.seq);
    this.#uncommitted += 1;
  }

  /** Makes what was added durable; a unit must be complete. */
  commit(): void {
    this.#flush();
    if (this.#target.inTransaction) this.#target.exec('COMMIT');
    this.#uncommitted = 0;
  }

  #flush(): void {
    if (this.#batch.length === 0) return;
    if (!this.#target.inTransaction) this.#target.exec('BEGIN IMMEDIATE');
    this.#hash = this.#append(this.#hash, this.#batch);
    this.#batch = [];
  }
}
