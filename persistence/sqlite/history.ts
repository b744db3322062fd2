/**
 * Reads every fact of a data folder, whether it lies in the journal or in the archive.
 *
 * A stream is walked back along `prev` from its newest fact, from the journal into the archive files that have facts of
 * it, and then read forward.
 *
 *  1. An archive file is opened only when a fact of it is wanted, and read only after it was proved.
 *  2. A fact that cannot be read ends the read with JournalDamaged, which names what is missing; no fact is skipped.
 *  3. Links are walked in slices, and the event loop is free in between.
 *  4. When facts are pruned while they are read, the read goes on in the file that the pruning wrote.
 */

import { setImmediate as nextRound } from 'node:timers/promises';
import { listArchives, openFile, proveArchiveOf, type ArchiveFile } from './archive.ts';
import { JournalDamaged } from '../faults.ts';
import type { FactRow } from '../journal.ts';
import { factReader, type FactReader, type StreamRange } from './reader.ts';
import { openReading, type Connection } from './schema.ts';

/** Finds and proves the archive file that has a fact, on this thread or in a worker. */
type ProveArchive = (folder: string, seq: number) => ArchiveFile | Promise<ArchiveFile>;

/** Sequence numbers of one stream's facts in one file; a `file` of null means the journal. */
interface Stretch {
  readonly file: ArchiveFile | null;
  readonly seqs: readonly number[];
}

/** The sequence numbers that a walk found, ascending, and the number before them at which the stream continues. */
interface Walked {
  readonly seqs: readonly number[];
  readonly next: number;
}

export class FactHistory {
  readonly #folder: string;
  readonly #journal: FactReader;
  readonly #prove: ProveArchive;
  #proved: ArchiveFile[] = [];

  constructor(folder: string, journal: Connection, prove: ProveArchive = proveArchiveOf) {
    this.#folder = folder;
    this.#journal = factReader(journal);
    this.#prove = prove;
  }

  /**
   * Adds an archive file that was just written and proved, before its facts are dropped from the journal (rule 4). One
   * that it overlaps was left by a prune that failed, and is gone.
   */
  noteArchived(file: ArchiveFile): void {
    this.#proved = this.#proved.filter(({ fromSeq, toSeq }) => toSeq < file.fromSeq || fromSeq > file.toSeq);
    this.#proved.push(file);
  }

  /**
   * The facts of a stream after `afterSeq`, in order. The promise and the iteration fail with JournalDamaged (rule 2).
   */
  async stream({ eventId, afterSeq, headSeq, baseSeq }: StreamRange): Promise<Iterable<FactRow>> {
    const stretches: Stretch[] = [];
    let next = headSeq;
    if (next > Math.max(afterSeq, baseSeq)) {
      const walked = await this.#walkJournal(next, Math.max(afterSeq, baseSeq));
      stretches.push({ file: null, seqs: walked.seqs });
      next = walked.next;
    }
    while (next > afterSeq) {
      const file = await this.#fileWith(next);
      const walked = await withFile(file, (db) => walkBack(factReader(db), next, Math.max(afterSeq, file.fromSeq - 1)));
      stretches.push({ file, seqs: walked.seqs });
      next = walked.next;
    }
    return this.#forward(eventId, stretches.reverse());
  }

  /** All facts after `afterSeq` up to `upToSeq` of a journal that was pruned up to `baseSeq`. */
  async *all(afterSeq: number, upToSeq: number, baseSeq: number): AsyncIterable<FactRow> {
    let seq = afterSeq;
    while (seq < Math.min(baseSeq, upToSeq)) {
      const file = await this.#fileWith(seq + 1);
      const endSeq = Math.min(file.toSeq, baseSeq, upToSeq);
      const db = openArchive(file);
      try {
        yield* factReader(db).all({ afterSeq: seq, upToSeq: endSeq });
      } finally {
        db.close();
      }
      seq = endSeq;
    }
    yield* this.#journal.all({ afterSeq: Math.max(afterSeq, baseSeq), upToSeq });
  }

  /** Walks the links in the journal back to `endSeq`, or to the new beginning of a journal that is pruned meanwhile. */
  async #walkJournal(headSeq: number, endSeq: number): Promise<Walked> {
    try {
      return await walkBack(this.#journal, headSeq, endSeq);
    } catch (error) {
      const prunedSeq = this.#proved.reduce((most, { toSeq }) => Math.max(most, toSeq), 0);
      if (!(error instanceof JournalDamaged) || prunedSeq <= endSeq) throw error;
      return prunedSeq >= headSeq ? { seqs: [], next: headSeq } : this.#walkJournal(headSeq, prunedSeq);
    }
  }

  #known(seq: number): ArchiveFile | undefined {
    return this.#proved.find(({ fromSeq, toSeq }) => fromSeq <= seq && seq <= toSeq);
  }

  async #fileWith(seq: number): Promise<ArchiveFile> {
    const known = this.#known(seq);
    if (known !== undefined) return known;
    const file = await this.#prove(this.#folder, seq);
    this.#proved.push(file);
    return file;
  }

  *#forward(eventId: string, stretches: readonly Stretch[]): Iterable<FactRow> {
    for (const { file, seqs } of stretches) {
      if (file === null) {
        yield* this.#listedInJournal(eventId, seqs);
        continue;
      }
      yield* listedIn(file, eventId, seqs);
    }
  }

  *#listedInJournal(eventId: string, seqs: readonly number[]): Iterable<FactRow> {
    let count = 0;
    try {
      for (const row of this.#journal.listed(eventId, seqs)) {
        count += 1;
        yield row;
      }
    } catch (error) {
      const file = this.#known(seqs[count] ?? 0);
      if (!(error instanceof JournalDamaged) || file === undefined) throw error;
      const rest = seqs.slice(count);
      yield* listedIn(
        file,
        eventId,
        rest.filter((seq) => seq <= file.toSeq),
      );
      yield* this.#listedInJournal(
        eventId,
        rest.filter((seq) => seq > file.toSeq),
      );
    }
  }
}

/** What the readable archive files contain. */
export interface ArchiveSurvey {
  /** The facts of the wanted type, in order of sequence. */
  readonly rows: readonly FactRow[];
  /** When the last archived fact happened; null when no file could be read. */
  readonly lastAt: number | null;
}

/**
 * Reads the facts of one type after `afterSeq` from the archive files that have any. Each is proved first; damaged ones
 * are left out.
 */
export async function surveyArchive(
  folder: string,
  { afterSeq, baseSeq }: { readonly afterSeq: number; readonly baseSeq: number },
  type: string,
  prove: ProveArchive,
): Promise<ArchiveSurvey> {
  const rows: FactRow[] = [];
  let lastAt: number | null = null;
  let seq = afterSeq;
  for (const listed of listArchives(folder)) {
    if (listed.toSeq <= seq || listed.fromSeq > baseSeq) continue;
    try {
      const file = await prove(folder, Math.min(Math.max(seq + 1, listed.fromSeq), baseSeq));
      openFile(file, (db) => {
        rows.push(
          ...factReader(db)
            .ofType(type, Math.min(file.toSeq, baseSeq))
            .filter((row) => row.seq > seq),
        );
        lastAt =
          db
            .prepare<[number], number>('SELECT at FROM journal WHERE seq = ?')
            .pluck()
            .get(Math.min(file.toSeq, baseSeq)) ?? lastAt;
      });
      seq = file.toSeq;
    } catch (error) {
      if (!(error instanceof JournalDamaged)) throw error;
    }
  }
  return { rows, lastAt };
}

/** Opens an archive file that was proved. */
function openArchive(file: ArchiveFile): Connection {
  const db = openReading(file.path);
  if (db !== null) return db;
  throw new JournalDamaged({ message: `the archive file ${file.path} is gone`, lastGoodSeq: 0 });
}

function* listedIn(file: ArchiveFile, eventId: string, seqs: readonly number[]): Iterable<FactRow> {
  const db = openArchive(file);
  try {
    yield* factReader(db).listed(eventId, seqs);
  } finally {
    db.close();
  }
}

async function withFile<Result>(file: ArchiveFile, query: (db: Connection) => Promise<Result>): Promise<Result> {
  const db = openArchive(file);
  try {
    return await query(db);
  } finally {
    db.close();
  }
}

/** Walks a stream's links back to `endSeq`. */
async function walkBack(reader: FactReader, headSeq: number, endSeq: number): Promise<Walked> {
  const seqs: number[] = [];
  let next = headSeq;
  while (next > endSeq) {
    next = reader.linksBack(next, endSeq, seqs);
    if (next > endSeq) await nextRound();
  }
  return { seqs: seqs.reverse(), next };
}
