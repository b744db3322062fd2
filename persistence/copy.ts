/** Copying checked batches from one journal database into another; the copy's chain holds like the source's. */

import { batchAppender, type Batch } from './chain.ts';
import type { Anchor, Connection, StoredFact } from './schema.ts';

/** Where a copy ends: behind the last whole unit at or before the sequence number and the time, where given. */
export interface CopyLimit {
  readonly seq?: number | undefined;
  /** Milliseconds since 1970; the copy ends before the first later fact. */
  readonly at?: number | undefined;
}

/** How far a copy came; `cut` when the limit ended it before the source did. */
export interface Copied {
  readonly seq: number;
  readonly hash: Buffer;
  readonly cut: boolean;
}

const FACTS_A_TRANSACTION = 4_000;

/**
 * Appends the batches to the target, many in one transaction, and yields after each transaction how far it came.
 * Whole batches keep their commit row; one that the limit cuts gets a new one over the units that are left.
 */
export function* copyBatches(
  batches: Iterable<Batch>,
  target: Connection,
  anchor: Anchor,
  limit: CopyLimit,
): Generator<Copied> {
  const append = batchAppender(target);
  const limitSeq = limit.seq ?? Number.MAX_SAFE_INTEGER;
  let copied: Copied = { seq: anchor.baseSeq, hash: anchor.baseHash, cut: anchor.baseSeq >= limitSeq };
  let facts = 0;
  const commit = (): void => {
    if (target.inTransaction) target.exec('COMMIT');
    facts = 0;
  };
  // A batch is asked for only while the limit is not reached: what lies behind it may be damaged.
  const source = batches[Symbol.iterator]();
  while (!copied.cut) {
    const next = source.next();
    if (next.done === true) break;
    const { row, facts: all } = next.value;
    const kept = keptUnits(all, limit);
    if (kept.length > 0) {
      if (!target.inTransaction) target.exec('BEGIN IMMEDIATE');
      const hash = append(copied.hash, kept);
      if (kept.length === all.length && !hash.equals(row.hash))
        throw new Error(`batch ${row.lastSeq} was copied wrongly`);
      copied = { seq: kept.at(-1)?.seq ?? copied.seq, hash, cut: false };
      facts += kept.length;
    }
    if (kept.length < all.length || copied.seq >= limitSeq) copied = { ...copied, cut: true };
    if (facts < FACTS_A_TRANSACTION) continue;
    commit();
    yield copied;
  }
  commit();
  yield copied;
}

/** The whole units at the beginning of a batch that lie within the limit. */
function keptUnits(facts: readonly StoredFact[], { seq, at }: CopyLimit): readonly StoredFact[] {
  const firstBeyond = facts.findIndex(
    (fact) => (seq !== undefined && fact.seq > seq) || (at !== undefined && fact.at > at),
  );
  if (firstBeyond === -1) return facts;
  const lastWithin = facts[firstBeyond - 1]?.seq ?? 0;
  return facts.slice(0, firstBeyond).filter((fact) => fact.unit <= lastWithin);
}
