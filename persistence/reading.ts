/**
 * Reading facts back, for the live journal's read connection.
 *
 * Facts never change, so a read bounded by the durable head needs no transaction: it reads in slices, keeps the log
 * free for checkpoints, and may be left at any time. There is no index on the stream: a stream is walked back along
 * `prev` to where the reader stands, then read forward.
 *
 *  1. No fact is skipped in silence: a missing row stops the read with JournalDamaged.
 */

import { JournalDamaged } from './faults.ts';
import type { FactRow } from './journal.ts';
import type { Connection } from './schema.ts';

export interface FactReader {
  /** All facts after `afterSeq` up to `upToSeq`. */
  all(range: { readonly afterSeq: number; readonly upToSeq: number }): Iterable<FactRow>;
  /** The facts of one stream after `afterSeq`, whose newest is `headSeq`, in a journal pruned up to `baseSeq`. */
  stream(range: {
    readonly eventId: string;
    readonly afterSeq: number;
    readonly headSeq: number;
    readonly baseSeq: number;
  }): Iterable<FactRow>;
}

const FACTS_A_SLICE = 256;
const LINKS_A_SLICE = 4_096;
const COLUMNS = 'journal.seq, journal.at, journal.event_id AS eventId, journal.type, journal.data';

export function factReader(db: Connection): FactReader {
  const selectRange = db.prepare<[number, number], FactRow>(
    `SELECT ${COLUMNS} FROM journal WHERE seq > ? AND seq <= ? ORDER BY seq`,
  );
  // One statement walks many links: measured, this is four times faster than a statement for each.
  const selectBack = db.prepare<[number, number], { seq: number; prev: number }>(`
    WITH RECURSIVE line(seq, prev) AS (
      SELECT seq, prev FROM journal WHERE seq = ?
      UNION ALL
      SELECT journal.seq, journal.prev FROM line CROSS JOIN journal ON journal.seq = line.prev WHERE line.prev > ?
      LIMIT ${LINKS_A_SLICE}
    )
    SELECT seq, prev FROM line`);
  const selectListed = db.prepare<[string], FactRow>(
    `SELECT ${COLUMNS} FROM json_each(?) AS wanted CROSS JOIN journal ON journal.seq = wanted.value`,
  );

  function* all({ afterSeq, upToSeq }: { readonly afterSeq: number; readonly upToSeq: number }): Iterable<FactRow> {
    let seq = afterSeq;
    while (seq < upToSeq) {
      const sliceEnd = Math.min(seq + FACTS_A_SLICE, upToSeq);
      for (const row of selectRange.all(seq, sliceEnd)) {
        if (row.seq !== seq + 1) break;
        yield row;
        seq = row.seq;
      }
      if (seq !== sliceEnd) throw missing(seq + 1);
    }
  }

  function* stream(range: Parameters<FactReader['stream']>[0]): Iterable<FactRow> {
    const { eventId, afterSeq, headSeq, baseSeq } = range;
    const seqs: number[] = [];
    const endSeq = Math.max(afterSeq, baseSeq);
    let next = headSeq;
    while (next > endSeq) {
      const links = selectBack.all(next, endSeq);
      if (links.length === 0) throw missing(next);
      for (const { seq, prev } of links) {
        if (seq !== next || prev >= seq) throw missing(next);
        seqs.push(seq);
        next = prev;
      }
    }
    if (next > afterSeq) throw archived(eventId, next);
    seqs.reverse();
    for (let index = 0; index < seqs.length; index += FACTS_A_SLICE) {
      const wanted = seqs.slice(index, index + FACTS_A_SLICE);
      const rows = selectListed.all(JSON.stringify(wanted));
      for (const [place, seq] of wanted.entries()) {
        const row = rows[place];
        if (row === undefined || row.seq !== seq || row.eventId !== eventId) throw missing(seq);
        yield row;
      }
    }
  }

  return { all, stream };
}

function missing(seq: number): JournalDamaged {
  return new JournalDamaged({ message: `fact ${seq} is missing`, lastGoodSeq: seq - 1 });
}

function archived(eventId: string, seq: number): JournalDamaged {
  return new JournalDamaged({
    message: `facts of ${eventId === '' ? 'the service' : eventId} up to ${seq} were moved to the archive and no snapshot at hand covers them`,
    lastGoodSeq: seq,
    hint: 'Put back a snapshot of it from a backup, or restore a backup.',
  });
}
