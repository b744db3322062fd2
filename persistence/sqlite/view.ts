/**
 * A journal seen from outside, as it was at one moment: for commands that read beside a serving process.
 *
 * All reads of a view happen in one transaction of a connection that cannot write, so that what is appended or pruned
 * meanwhile changes nothing in it. A view that stays open keeps the log from being folded back; close it soon.
 */

import { newestBatch } from './chain.ts';
import { FactHistory } from './history.ts';
import type { FactRow } from '../journal.ts';
import { journalPath, openReading, readAnchor, type Connection } from './schema.ts';

export interface JournalView {
  readonly journalId: string;
  /** The last fact that pruning moved to the archive; 0 when none was. */
  readonly baseSeq: number;
  readonly headSeq: number;
  /** Every stream with its newest fact. */
  readonly heads: ReadonlyMap<string, number>;
  /** The newest archived fact of each stream that has one. */
  readonly archivedHeads: ReadonlyMap<string, number>;
  /** All facts after `afterSeq`, from the archive and the journal; throws JournalDamaged where one is missing. */
  facts(afterSeq?: number): AsyncIterable<FactRow>;
  /** The facts of one stream after `afterSeq`, from the archive and the journal; JournalDamaged where one is missing. */
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
