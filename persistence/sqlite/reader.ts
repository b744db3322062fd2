/**
 * Reads facts from one database: the journal, or a file of the archive.
 *
 * Facts never change, so a read that ends at the durable head needs no transaction: it reads in slices, does not block
 * checkpoints, and may be left at any time. There is no index by stream: a stream is walked back along `prev` to where
 * the caller stands, then read forward.
 *
 *  1. A missing row ends the read with JournalDamaged; no fact is skipped.
 */

import { JournalDamaged } from '../faults.ts';
import type { FactRow } from '../journal.ts';
import type { Connection } from './schema.ts';

/** A part of a stream. */
export interface StreamRange {
  readonly eventId: string;
  /** The caller has this fact and wants those after it. */
  readonly afterSeq: number;
  /** The newest fact of the stream. */
  readonly headSeq: number;
  /** The journal was pruned up to here. */
  readonly baseSeq: number;
}

export interface FactReader {
  /** All facts after `afterSeq` up to `upToSeq`. */
  all(range: { readonly afterSeq: number; readonly upToSeq: number }): Iterable<FactRow>;
  /** The facts of one stream after `afterSeq`; throws JournalDamaged when some of them were archived. */
  stream(range: StreamRange): Iterable<FactRow>;
  /**
   * Adds to `seqs` a slice of a stream's numbers, from `headSeq` back to `endSeq`; returns the first number not added.
   */
  linksBack(headSeq: number, endSeq: number, seqs: number[]): number;
  /** The facts of a stream with these numbers. */
  listed(eventId: string, seqs: readonly number[]): Iterable<FactRow>;
  /** The facts of one type up to `upToSeq`. Cost: a pass over the table. */
  ofType(type: string, upToSeq: number): readonly FactRow[];
}

const FACTS_A_SLICE = 256;
const LINKS_A_SLICE = 4_096;
const COLUMNS = 'journal.seq, journal.at, journal.event_id AS eventId, journal.type, journal.data';

export function factReader(db: Connection): FactReader {
  const selectRange = db.prepare<[number, number], FactRow>(
    `SELECT ${COLUMNS} FROM journal WHERE seq > ? AND seq <= ? ORDER BY seq`,
  );
  // One statement walks many links, which was measured to be four times faster than one statement each.
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

  const selectType = db.prepare<[string, number], FactRow>(
    `SELECT ${COLUMNS} FROM journal WHERE type = ? AND seq <= ? ORDER BY seq`,
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

  function linksBack(headSeq: number, endSeq: number, seqs: number[]): number {
    const links = selectBack.all(headSeq, endSeq);
    if (links.length === 0) throw missing(headSeq);
    let next = headSeq;
    for (const { seq, prev } of links) {
      if (seq !== next || prev >= seq) throw missing(next);
      seqs.push(seq);
      next = prev;
    }
    return next;
  }

  function* listed(eventId: string, seqs: readonly number[]): Iterable<FactRow> {
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

  function* stream({ eventId, afterSeq, headSeq, baseSeq }: StreamRange): Iterable<FactRow> {
    const seqs: number[] = [];
    const endSeq = Math.max(afterSeq, baseSeq);
    let next = headSeq;
    while (next > endSeq) next = linksBack(next, endSeq, seqs);
    if (next > afterSeq) throw archived(eventId, next);
    yield* listed(eventId, seqs.reverse());
  }

  return { all, stream, linksBack, listed, ofType: (type, upToSeq) => selectType.all(type, upToSeq) };
}

function missing(seq: number): JournalDamaged {
  return new JournalDamaged({ message: `fact ${seq} is missing`, lastGoodSeq: seq - 1 });
}

function archived(eventId: string, seq: number): JournalDamaged {
  return new JournalDamaged({
    message: `facts of ${eventId === '' ? 'the service' : eventId} up to ${seq} were moved to the archive`,
    lastGoodSeq: seq,
    hint: 'Read them from the archive: holdfast journal does.',
  });
}
