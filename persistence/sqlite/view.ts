/**
 * A read-only view of a journal as it was at one moment, also while another process serves from the folder.
 *
 * All reads of a view run in one transaction of a connection that cannot write, so that facts appended or pruned meanwhile
 * change nothing in it. An open view keeps the log from being checkpointed; close it soon.
 */

import { newestBatch } from './chain.ts';
import { FactHistory } from './history.ts';
import type { FactRow } from '../journal.ts';
import { journalPath, openReading, readAnchor, type Connection } from './schema.ts';

export interface JournalView {
  readonly journalId: string;
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
  const { journalId, baseSeq, streams } = readAnchor(db);
  const headSeq = newestBatch(db)?.lastSeq ?? baseSeq;
  const history = new FactHistory(folder, db);
  let heads: ReadonlyMap<string, number> | null = null;
  const view: JournalView = {
    journalId,
    baseSeq,
    headSeq,
    archivedHeads: streams,
    get heads() {
      return (heads ??= new Map([...streams, ...newestOfStreams(db)]));
    },
    facts: (afterSeq = 0) => history.all(afterSeq, headSeq, baseSeq),
    factsOf: (eventId, afterSeq = 0) =>
      history.stream({ eventId, afterSeq, headSeq: view.heads.get(eventId) ?? 0, baseSeq }),
    close: () => db.close(),
  };
  return view;
}

function newestOfStreams(db: Connection): [string, number][] {
  return db
    .prepare<[], { eventId: string; seq: number }>(
      'SELECT event_id AS eventId, max(seq) AS seq FROM journal GROUP BY event_id',
    )
    .all()
    .map(({ eventId, seq }) => [eventId, seq]);
}
