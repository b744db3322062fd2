/**
 * The durable facts of a shard that no snapshot covers yet, in memory: what an event is activated from, besides its
 * snapshot.
 *
 * 1. The rows of a stream are in order. They are dropped from their beginning, when a snapshot covers them.
 */

import type { FactRow } from '../../journal.ts';

/** What a row takes besides its texts. */
const ROW_BYTES = 120;

export class RetainedRows {
  readonly #streams = new Map<string, FactRow[]>();
  #bytes = 0;

  constructor(rows: Iterable<FactRow>) {
    this.add(rows);
  }

  /** About how much memory the rows take. */
  get bytes(): number {
    return this.#bytes;
  }

  add(rows: Iterable<FactRow>): void {
    for (const row of rows) {
      const stream = this.#streams.get(row.eventId);
      if (stream === undefined) this.#streams.set(row.eventId, [row]);
      else stream.push(row);
      this.#bytes += bytesOf(row);
    }
  }

  /** The rows of a stream after a fact, in order. */
  of(eventId: string, afterSeq: number): readonly FactRow[] {
    const rows = this.#streams.get(eventId) ?? [];
    return rows.slice(firstAfter(rows, afterSeq));
  }

  /** The rows of all streams after a fact, in order. Cost: a pass over them and a sort. */
  all(afterSeq: number): readonly FactRow[] {
    const rows = [...this.#streams.keys()].flatMap((eventId) => this.of(eventId, afterSeq));
    return rows.sort((one, other) => one.seq - other.seq);
  }

  /** Drops the rows of a stream up to a fact. */
  release(eventId: string, throughSeq: number): void {
    const rows = this.#streams.get(eventId);
    if (rows === undefined) return;
    const kept = rows.slice(firstAfter(rows, throughSeq));
    for (const row of rows.slice(0, rows.length - kept.length)) this.#bytes -= bytesOf(row);
    if (kept.length === 0) this.#streams.delete(eventId);
    else this.#streams.set(eventId, kept);
  }
}

function bytesOf({ eventId, type, data }: FactRow): number {
  return ROW_BYTES + eventId.length + type.length + data.length;
}

/** The index of the first row after a fact. */
function firstAfter(rows: readonly FactRow[], seq: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]!.seq > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}
