/**
 * Snapshots of everything, and how far the journal may be pruned behind them.
 *
 * Owns the rule of what may be pruned, the order of rounds, and when the last snapshot and the last prune were. The
 * thread that takes a snapshot belongs to `snapshotter.ts`; the journal moves the rows.
 *
 * 1. A fact may be pruned when a snapshot from before this round covers it. So a pruned fact is needed only if two
 *    snapshots are bad, or one where its stream has not grown since.
 * 2. Such a snapshot counts only after it was read and proved again, now. One that is bad or gone is taken anew in this
 *    round.
 * 3. The service's own stream is covered by snapshots like every other.
 * 4. Facts of which a receiver of notifications is not yet notified stay, and those with a mail that is not yet sent.
 * 5. The cost of a prune follows what happened since the last one: streams that have no fact in the journal are left
 *    alone, unless an operator requests the proof of every snapshot.
 * 6. One round runs at a time.
 */
import { lastArchivedAt, type ArchivedFacts } from '#persistence/sqlite/archive.ts';
import type { FactRow, Journal } from '#persistence/journal.ts';
import type { SnapshotFolder } from '#persistence/snapshots.ts';
import { Overloaded } from '#actors/admission.ts';
import { SERVICE_STREAM, type Delivered } from './service-facts.ts';
import { reportTrouble } from '#actors/trouble.ts';
import { startSnapshotter, type Snapshotter } from './snapshotter.ts';
import type { SnapshotJob, SnapshotOutcome } from '#actors/activation.ts';

export interface SnapshotRound {
  /** The last fact that every snapshot of the round could know. */
  readonly seq: number;
  /** One for each stream that had grown since its last snapshot. */
  readonly outcomes: readonly SnapshotOutcome[];
  /** What was moved to the archive; null when nothing was, or nothing was asked for. */
  readonly archived: ArchivedFacts | null;
}

interface SnapshotRoundsPorts {
  readonly folder: string;
  readonly journal: Pick<Journal, 'durableSeq' | 'streams'> & {
    readonly baseSeq: number;
    factsOf(eventId: string, afterSeq: number): Promise<Iterable<FactRow>>;
    prune(throughSeq: number, at: number): Promise<ArchivedFacts | null>;
  };
  readonly snapshots: Pick<SnapshotFolder, 'newest' | 'newestSeq' | 'noteWritten'>;
  /** Snapshots an event, in memory or not, as of its newest durable fact. */
  snapshotEvent(eventId: string, seq: number): Promise<SnapshotOutcome>;
  /** Called before facts are moved to the archive; they are moved even if it fails. */
  beforePrune(): Promise<void>;
  /** Called when the facts are moved; nobody waits for it. */
  afterPrune(): void;
  /** Milliseconds since 1970. */
  now(): number;
  /** When the newest snapshot of the folder was requested; null when there is none. */
  readonly lastSnapshotAt: number | null;
  /** When the oldest fact of the journal happened; null when it has none. */
  readonly firstFactAt: number | null;
}

interface RoundOptions {
  /** Archive and drop what may go. */
  readonly prune: boolean;
  /** Read and prove the newest snapshot of every stream, also of those that did not grow (rule 5). */
  readonly proveAll: boolean;
}

/** After an archive that could not be written: space on a disk takes longer to return. */
const PRUNE_RETRY_SECONDS = 60;

export class SnapshotRounds {
  readonly #ports: SnapshotRoundsPorts;
  readonly #snapshotter: Snapshotter;
  #lastSnapshotAt: number | null;
  #lastPrunedAt: number;
  readonly #neededAfter = new Map<Delivered, () => number>();
  #lastRound: Promise<unknown> = Promise.resolve();

  constructor(ports: SnapshotRoundsPorts) {
    this.#ports = ports;
    this.#snapshotter = startSnapshotter(ports.folder, () => ports.journal.baseSeq);
    this.#lastSnapshotAt = ports.lastSnapshotAt;
    this.#lastPrunedAt = Math.min(lastArchivedAt(ports.folder) ?? ports.firstFactAt ?? ports.now(), ports.now());
  }

  /** When the newest snapshot was requested, in milliseconds since 1970; null when there is none. */
  get lastSnapshotAt(): number | null {
    return this.#lastSnapshotAt;
  }

  /**
   * When the journal was last pruned, or, before the first time, when its oldest fact happened; milliseconds since
   * 1970.
   */
  get lastPrunedAt(): number {
    return this.#lastPrunedAt;
  }

  /** Facts after the sequence number that this returns are needed for a delivery, and not pruned (rule 4). */
  keepFactsAfter(delivered: Delivered, neededAfter: () => number): void {
    this.#neededAfter.set(delivered, neededAfter);
  }

  /** Takes one snapshot; resolves with what went wrong instead of rejecting. */
  async take(job: SnapshotJob): Promise<SnapshotOutcome> {
    const outcome = await this.#snapshotter.take(job);
    if (outcome.trouble !== null) return outcome;
    this.#ports.snapshots.noteWritten(job.eventId, outcome.seq);
    this.#lastSnapshotAt = job.at;
    return outcome;
  }

  /**
   * Snapshots every stream that has grown or whose newest snapshot is bad; with `prune`, facts before the snapshots
   * that were there move to the archive. Without `proveAll` only streams that grew are considered. Rejects with
   * Overloaded when the archive could not be written.
   */
  takeRound({ prune = false, proveAll = true }: Partial<RoundOptions> = {}): Promise<SnapshotRound> {
    const round = this.#lastRound
      .then(() => this.#runRound({ prune, proveAll }))
      .catch((error: unknown) => {
        throw new Overloaded(`the journal was not pruned: ${String(error)}`, PRUNE_RETRY_SECONDS, error);
      });
    this.#lastRound = round.catch(() => {});
    return round;
  }

  async #runRound({ prune, proveAll }: RoundOptions): Promise<SnapshotRound> {
    const { journal, snapshots } = this.#ports;
    const limit = prune
      ? Math.min(...Array.from(this.#neededAfter.values(), (needed) => needed()), await pruneLimit(journal, snapshots))
      : 0;
    if (proveAll) for (const { eventId } of [...journal.streams()]) await snapshots.newest(eventId);
    const seq = journal.durableSeq;
    const outcomes: SnapshotOutcome[] = [];
    for (const { eventId, lastSeq } of [...journal.streams()]) {
      if (lastSeq > snapshots.newestSeq(eventId)) outcomes.push(await this.#snapshotStream(eventId, lastSeq));
    }
    if (prune) await this.#ports.beforePrune().catch((error: unknown) => reportTrouble('keys', String(error), error));
    const archived = limit > journal.baseSeq ? await journal.prune(limit, this.#ports.now()) : null;
    if (prune) {
      this.#lastPrunedAt = this.#ports.now();
      this.#ports.afterPrune();
    }
    return { seq, outcomes, archived };
  }

  #snapshotStream(eventId: string, seq: number): Promise<SnapshotOutcome> {
    if (eventId !== SERVICE_STREAM) return this.#ports.snapshotEvent(eventId, seq);
    return this.take({ eventId, eventNumber: 0, seq, at: this.#ports.now(), about: null });
  }

  /** Ends the thread; snapshots that are not finished are not taken. */
  stop(): Promise<void> {
    return this.#snapshotter.stop();
  }
}

/** The last fact up to which the newest good snapshot of each stream covers all facts of the stream. */
async function pruneLimit(
  journal: SnapshotRoundsPorts['journal'],
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
