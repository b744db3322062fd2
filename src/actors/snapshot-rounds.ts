/**
 * Snapshots of everything, and how far the journal may be pruned behind them.
 *
 * Owns the rule of what may go. Taking one snapshot belongs to `snapshotter.ts`, moving rows to the journal. Called by the
 * engine when an operator asks.
 *
 * 1. A fact may go when a snapshot from before this round covers it, so that two snapshots stand between a pruned fact and
 *    the need for it, or one where its stream has not grown since.
 * 2. Such a snapshot counts only after it was read and proved again, now. One that is bad or gone is taken anew in this round.
 * 3. The service's own stream is covered by snapshots like every other.
 * 4. Facts that somebody outside must still be told about stay.
 * 5. The cost of a pruning follows what happened since the last one: streams that have no fact in the journal are left alone,
 *    unless an operator asks for the proof of every snapshot.
 */
import type { ArchivedFacts } from '#persistence/sqlite/archive.ts';
import type { FactRow, Journal } from '#persistence/journal.ts';
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
  readonly journal: Pick<Journal, 'durableSeq' | 'streams'> & {
    readonly baseSeq: number;
    factsOf(eventId: string, afterSeq: number): Promise<Iterable<FactRow>>;
    prune(throughSeq: number, at: number): Promise<ArchivedFacts | null>;
  };
  readonly snapshots: Pick<SnapshotFolder, 'newest' | 'newestSeq'>;
  /** Snapshots a stream, awake or asleep, as of its newest durable fact. */
  snapshot(eventId: string, seq: number): Promise<SnapshotOutcome>;
  /** Facts after this one are still needed (4). */
  neededAfter(): number;
  /** Milliseconds since 1970. */
  now(): number;
}

export interface RoundOptions {
  /** Archive and drop what may go. */
  readonly prune: boolean;
  /** Read and prove the newest snapshot of every stream, also of those that did not grow (5). */
  readonly proveAll: boolean;
}

/** Snapshots every stream that has grown; with `prune`, archives and drops the facts before the snapshots that were there. */
export async function runSnapshotRound(
  ports: SnapshotRoundPorts,
  { prune, proveAll }: RoundOptions,
): Promise<SnapshotRound> {
  const { journal, snapshots } = ports;
  const limit = prune ? Math.min(ports.neededAfter(), await pruneLimit(journal, snapshots)) : 0;
  if (proveAll) for (const { eventId } of [...journal.streams()]) await snapshots.newest(eventId);
  const seq = journal.durableSeq;
  const outcomes: SnapshotOutcome[] = [];
  for (const { eventId, lastSeq } of [...journal.streams()]) {
    if (lastSeq > snapshots.newestSeq(eventId)) outcomes.push(await ports.snapshot(eventId, lastSeq));
  }
  const archived = limit > journal.baseSeq ? await journal.prune(limit, ports.now()) : null;
  return { seq, outcomes, archived };
}

/** The last fact such that no stream has one at or before it that its newest good snapshot does not cover. */
async function pruneLimit(
  journal: SnapshotRoundPorts['journal'],
  snapshots: Pick<SnapshotFolder, 'newest'>,
): Promise<number> {
  const { baseSeq } = journal;
  let limit = journal.durableSeq;
  for (const { eventId, lastSeq } of [...journal.streams()]) {
    if (lastSeq <= baseSeq) continue;
    const coveredSeq = (await snapshots.newest(eventId))?.header.seq ?? 0;
    if (coveredSeq >= lastSeq) continue;
    const [firstUncovered] = await journal.factsOf(eventId, Math.max(coveredSeq, baseSeq));
    if (firstUncovered !== undefined) limit = Math.min(limit, firstUncovered.seq - 1);
  }
  return limit;
}
