/** Dropping the oldest rows of a journal, in slices that each leave a journal whose chain holds from its anchor on. */

import { readAnchor, writeAnchor, type Connection } from './schema.ts';

/** Facts dropped in one transaction, so that a commit in between waits for milliseconds only. */
const FACTS_A_SLICE = 2_000;

/**
 * Drops the next whole batches at or before `throughSeq`, at most `FACTS_A_SLICE` facts unless one batch is larger,
 * and moves the anchor up to them in the same transaction. Called by the writer thread until DONE.
 */
export function pruneSlice(db: Connection, throughSeq: number): 'MORE' | 'DONE' {
  return db
    .transaction(() => {
      const anchor = readAnchor(db);
      const last = lastBatchOfSlice(db, anchor.baseSeq, throughSeq);
      if (last === undefined) return 'DONE';
      const dropped = db
        .prepare<[number], { eventId: string; lastSeq: number }>(
          'SELECT event_id AS eventId, max(seq) AS lastSeq FROM journal WHERE seq <= ? GROUP BY event_id',
        )
        .all(last.seq);
      const streams = new Map(anchor.streams);
      for (const { eventId, lastSeq } of dropped) streams.set(eventId, lastSeq);
      db.prepare('DELETE FROM journal WHERE seq <= ?').run(last.seq);
      db.prepare('DELETE FROM batch WHERE last_seq <= ?').run(last.seq);
      const changed = dropped.map(({ eventId }) => eventId);
      writeAnchor(db, { journalId: anchor.journalId, baseSeq: last.seq, baseHash: last.hash, streams }, changed);
      return 'MORE';
    })
    .immediate();
}

function lastBatchOfSlice(
  db: Connection,
  baseSeq: number,
  throughSeq: number,
): { seq: number; hash: Buffer } | undefined {
  const columns = 'SELECT last_seq AS seq, hash FROM batch';
  const largest = db.prepare<[number], { seq: number; hash: Buffer }>(
    `${columns} WHERE last_seq <= ? ORDER BY last_seq DESC LIMIT 1`,
  );
  const next = db.prepare<[number], { seq: number; hash: Buffer }>(
    `${columns} WHERE last_seq <= ? ORDER BY last_seq LIMIT 1`,
  );
  return largest.get(Math.min(throughSeq, baseSeq + FACTS_A_SLICE)) ?? next.get(throughSeq);
}
