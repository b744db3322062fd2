/**
 * A read-only view of a journal as it was at one moment, also while another process serves from the folder.
 *
 * All reads of a view run in one transaction of a connection that cannot write, so that facts appended or pruned
 * meanwhile change nothing in it. An open view keeps the log from being checkpointed; close it soon.
 */

import { listArchives, proveArchiveOf, type ArchiveFile } from './archive.ts';
import { newestBatch } from './chain.ts';
import { FactHistory } from './history.ts';
import type { FactRow } from '../journal.ts';
import { journalPath, openReading, readAnchor, readWrittenBy, type Anchor, type Connection } from './schema.ts';

export interface JournalView {
  readonly journalId: string;
  /** The version of the program that wrote to it last; null where none was ever noted. */
  readonly writtenBy: string | null;
  /** The newest fact that pruning moved to the archive; 0 when none was. */
  readonly baseSeq: number;
  readonly headSeq: number;
  /** The newest fact of every stream. */
  readonly heads: ReadonlyMap<string, number>;
  /** The newest archived fact of each stream that has one. */
  readonly archivedHeads: ReadonlyMap<string, number>;
  /** All facts after `afterSeq`, from archive and journal. Fails with JournalDamaged at a fact that cannot be read. */
  facts(afterSeq?: number): AsyncIterable<FactRow>;
  /** The same for one stream. */
  factsOf(eventId: string, afterSeq?: number): Promise<Iterable<FactRow>>;
  /** The same journal up to an earlier fact; it is closed with this view. */
  through(seq: number): JournalView;
  close(): void;
}

/** Opens a view of the folder's journal; null when there is none. Throws JournalDamaged and JournalTooNew. */
export function viewJournal(folder: string): JournalView | null {
  const db = openReading(journalPath(folder));
  if (db === null) return null;
  try {
    return makeView(folder, db);
  } catch (error) {
    db.close();
    throw error;
  }
}

function makeView(folder: string, db: Connection): JournalView {
  db.exec('BEGIN');
  const anchor = readAnchor(db);
  const history = new FactHistory(folder, db, proveOnce());
  return viewThrough(db, anchor, history, newestBatch(db)?.lastSeq ?? anchor.baseSeq);
}

function viewThrough(db: Connection, anchor: Anchor, history: FactHistory, headSeq: number): JournalView {
  const { journalId, baseSeq, streams } = anchor;
  let heads: ReadonlyMap<string, number> | null = null;
  const view: JournalView = {
    journalId,
    writtenBy: readWrittenBy(db),
    baseSeq,
    headSeq,
    archivedHeads: streams,
    get heads() {
      return (heads ??= new Map([...streams, ...newestOfStreams(db, headSeq)]));
    },
    facts: (afterSeq = 0) => history.all(afterSeq, headSeq, baseSeq),
    factsOf: (eventId, afterSeq = 0) =>
      history.stream({ eventId, afterSeq, headSeq: view.heads.get(eventId) ?? 0, baseSeq }),
    through: (seq) => viewThrough(db, anchor, history, Math.min(seq, headSeq)),
    close: () => db.close(),
  };
  return view;
}

/** Proves archive files. The reason why a file cannot be used is kept, because every stream asks for the file again. */
function proveOnce(): typeof proveArchiveOf {
  const unusable: { readonly file: Pick<ArchiveFile, 'fromSeq' | 'toSeq'>; readonly error: unknown }[] = [];
  return (folder, seq) => {
    const has = ({ fromSeq, toSeq }: Pick<ArchiveFile, 'fromSeq' | 'toSeq'>): boolean => fromSeq <= seq && seq <= toSeq;
    const known = unusable.find(({ file }) => has(file));
    if (known !== undefined) throw known.error;
    try {
      return proveArchiveOf(folder, seq);
    } catch (error) {
      unusable.push({ file: listArchives(folder).find(has) ?? { fromSeq: seq, toSeq: seq }, error });
      throw error;
    }
  };
}

function newestOfStreams(db: Connection, headSeq: number): [string, number][] {
  return db
    .prepare<[number], { eventId: string; seq: number }>(
      'SELECT event_id AS eventId, max(seq) AS seq FROM journal WHERE seq <= ? GROUP BY event_id',
    )
    .all(headSeq)
    .map(({ eventId, seq }) => [eventId, seq]);
}
