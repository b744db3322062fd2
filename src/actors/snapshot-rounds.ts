/**
 * Snapshots of everything, and how far the journal may be pruned behind them.
 *
 * Owns the rule of what may go. Taking one snapshot belongs to `snapshotter.ts`, moving rows to the journal. Called by the
 * engine when an operator asks.
 *
 * 1. A fact may go when a snapshot from before this round covers it, so that two snapshots stand between a pruned fact and
 *    the need for it, or one where its stream has not grown since.
 * 2. Such a snapshot counts only after it was read and proved again, now.
 * 3. The service's own stream is covered by snapshots like every other.
 * 4. Facts that somebody outside must still be told about stay.
 */
import type { ArchivedFacts } from '#persistence/archive.ts';
import type { Journal } from '#persistence/journal.ts';
import type { SnapshotFolder } from '#persistence/snapshots.ts';
import type { SnapshotOutcome } from './snapshotter.ts';

export interface SnapshotRound {
  /** The last fact that every snapshot of the round could know. */
  readonly seq: number;
  /** One for each stream that had grown since its last snapshot. */
  readonly outcomes: readonly SnapshotOutcome[];
  /** What was moved to the archive; null when nothing was, or nothing was asked for. */
  readonly archived: ArchivedFacts | null;
}

export interface SnapshotRoundPorts {
  readonly journal: Journal & { prune(throughSeq: number): Promise<ArchivedFacts | null> };
  readonly snapshots: Pick<SnapshotFolder, 'newest' | 'newestSeq'>;
  /** Snapshots a stream, awake or asleep, as of its newest durable fact. */
  snapshot(eventId: string, seq: number): Promise<SnapshotOutcome>;
  /** Facts after this one are still needed (4). */
  neededAfter(): number;
}

/** Snapshots every stream that has grown; with `prune`, archives and drops the facts before the snapshots that were there. */
export async function runSnapshotRound(ports: SnapshotRoundPorts, prune: boolean): Promise<SnapshotRound> {
  const { journal, snapshots } = ports;
  const limit = prune ? Math.min(ports.neededAfter(), await pruneLimit(journal, snapshots)) : 0;
  const seq = journal.durableSeq;
  const outcomes: SnapshotOutcome[] = [];
  for (const { eventId, lastSeq } of [...journal.streams()]) {
    if (lastSeq > snapshots.newestSeq(eventId)) outcomes.push(await ports.snapshot(eventId, lastSeq));
  }
  const archived = limit > 0 ? await journal.prune(limit) : null;
  return { seq, outcomes, archived };
}

/** The last fact such that no stream has one at or before it that its newest good snapshot does not cover. */
async function pruneLimit(journal: Journal, snapshots: Pick<SnapshotFolder, 'newest'>): Promise<number> {
  let limit = journal.durableSeq;
  for (const { eventId } of [...journal.streams()]) {
    const newest = await snapshots.newest(eventId);
    const [firstUncovered] = journal.read({ eventId, afterSeq: newest?.header.seq ?? 0 });
    if (firstUncovered !== undefined) limit = Math.min(limit, firstUncovered.seq - 1);
  }
  return limit;
}
