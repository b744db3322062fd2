/**
 * Snapshots and checkpoints of a shard at its owner: when they are taken, what may leave memory then, and what may
 * leave the log.
 *
 * The thread that takes snapshots belongs to the node and is shared by its shards. `persistence/nats/` has the formats
 * and the rule of the purge.
 *
 * 1. Rows leave memory only when a snapshot that counts covers them and no follower needs them.
 * 2. A checkpoint is written after so many facts or messages, so that the time of a takeover is bounded whatever was
 *    sold before. Large streams are snapshotted first, so that it is small.
 * 3. One round runs at a time.
 * 4. A snapshot replaces an older one in the store, so that at most one a stream is taken between two checkpoints: of
 *    the two that a checkpoint names, one at least is there.
 * 5. A next owner does not see the erasures that a checkpoint leaves out: that they are complete is noted first.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { purgeLog, wholeLog } from '#persistence/nats/objects/purge.ts';
import { reportTrouble } from '#actors/trouble.ts';
import { SERVICE_STREAM } from '#engine/service-facts.ts';
import type { ActivationSource, SnapshotJob, SnapshotOutcome } from '#actors/activation.ts';
import type { SnapshotSummary } from '#engine/deployment.ts';
import type { Snapshotter } from '#engine/snapshotter.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { ArchiveBucket } from '#persistence/nats/objects/archive-bucket.ts';
import type { Checkpoints } from '#persistence/nats/objects/checkpoints.ts';
import type { ShardJournal } from '#persistence/nats/log/journal.ts';
import type { ShardLog } from '#persistence/shard-log.ts';
import type { ShardHead } from '#persistence/nats/log/head.ts';
import type { SnapshotBucket } from '#persistence/nats/objects/snapshot-bucket.ts';
import type { SnapshotHeader } from '#persistence/snapshots.ts';
import { readStream, streamFacts, type ClaimAt } from './log-facts.ts';
import type { StatesAhead } from './states-ahead.ts';

interface ShardSnapshotsPorts {
  readonly log: ShardLog;
  readonly bucket: SnapshotBucket;
  readonly checkpoints: Checkpoints;
  readonly archive: ArchiveBucket;
  readonly snapshotter: Snapshotter;
  /** States that were made before the claim; null without any. */
  readonly statesAhead: Pick<StatesAhead, 'take' | 'clear'> | null;
  /** How far the newest checkpoint goes; null without one. */
  readonly checkpointHead: Pick<ShardHead, 'factSeq' | 'streamSeq'> | null;
}

/** What is known once the shard's events are there. */
interface SnapshottedShard {
  readonly journal: ShardJournal;
  now(): number;
  snapshotEvent(eventId: string, seq: number): Promise<SnapshotOutcome>;
  /** Notes how far erasures are complete. Rejects where keys of some up to this fact cannot be destroyed now. */
  noteErasures(throughSeq: number): Promise<void>;
  /** Facts after this one are needed by a follower. */
  neededAfter(): number;
}

/**
 * A takeover reads so many facts after the checkpoint at most, give or take those of a maintenance interval: a tenth of
 * a second.
 */
const CHECKPOINT_FACTS = 20_000;
/** The same for messages without facts, which a shard that is only read has. */
const CHECKPOINT_MESSAGES = 20_000;

/**
 * Facts in the memory of one shard, above which streams are snapshotted, the longest first, until half of it is left.
 */
const RETAINED_BYTES_MAX = 4 * 1024 * 1024;

/** Streams whose facts are counted before other work runs. */
const STREAMS_A_SLICE = 50;

export class ShardSnapshots {
  /** The log with what was purged from it. */
  readonly wholeLog: ShardLog;
  readonly source: ActivationSource;
  readonly #ports: ShardSnapshotsPorts;
  readonly #claim: ClaimAt;
  /** After which fact the rows of a stream are all in memory; absent where all of them are. */
  readonly #releasedSeq = new Map<string, number>();
  /** Up to where this owner has dropped rows of a stream. */
  readonly #droppedSeq = new Map<string, number>();
  /** The last row that this owner has dropped of any stream. */
  #releasedThroughSeq = 0;
  /** Streams with a snapshot that no checkpoint names yet (rule 4). */
  readonly #uploaded = new Set<string>();
  #shard: SnapshottedShard | null = null;
  #checkpointHead: Pick<ShardHead, 'factSeq' | 'streamSeq'>;
  #lastRound: Promise<unknown> = Promise.resolve();
  #isStopped = false;
  #lastSnapshotAt: number | null = null;

  constructor(ports: ShardSnapshotsPorts, journal: ShardJournal) {
    const { log, archive, bucket } = ports;
    this.#ports = ports;
    this.#claim = { epoch: journal.epoch, factSeq: journal.durableSeq };
    this.#checkpointHead = ports.checkpointHead ?? { factSeq: 0, streamSeq: 0 };
    this.wholeLog = wholeLog(log, archive);
    for (const { eventId, seq, at } of bucket.headers()) {
      this.#releasedSeq.set(eventId, Math.max(seq, this.#releasedSeq.get(eventId) ?? 0));
      this.#lastSnapshotAt = Math.max(at, this.#lastSnapshotAt ?? 0);
    }
    this.source = {
      newestSnapshot: (eventId, atMostSeq) => bucket.newest(eventId, atMostSeq),
      factsAfter: (eventId, afterSeq) => this.#factsAfter(journal, eventId, afterSeq),
      takeAhead: (eventId) => ports.statesAhead?.take(eventId) ?? null,
    };
  }

  /** When the newest snapshot was requested, in milliseconds since 1970; null when there is none. */
  get lastSnapshotAt(): number | null {
    return this.#lastSnapshotAt;
  }

  headers(): Iterable<SnapshotHeader> {
    return this.#ports.bucket.headers();
  }

  attach(shard: SnapshottedShard): void {
    this.#shard = shard;
  }

  /** Takes no further snapshot and writes no further checkpoint. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Rows in memory, or from the log where a snapshot that covered them turned out to be damaged. */
  #factsAfter(
    journal: ShardJournal,
    eventId: string,
    afterSeq: number,
  ): Iterable<FactRow> | Promise<Iterable<FactRow>> {
    if (afterSeq >= (this.#releasedSeq.get(eventId) ?? 0)) return journal.read({ eventId, afterSeq });
    return readStream(this.wholeLog, eventId, afterSeq);
  }

  /** The same for readers that can wait: rows that left memory are handed on as the log is read. */
  factsInPassing(eventId: string, afterSeq: number): Iterable<FactRow> | AsyncIterable<FactRow> {
    const { journal } = this.#shard!;
    if (afterSeq >= (this.#releasedSeq.get(eventId) ?? 0)) return journal.read({ eventId, afterSeq });
    return streamFacts(this.wholeLog, this.#claim, eventId, afterSeq);
  }

  // ── one snapshot ───────────────────────────────────────────────────────────────────────────────────────────────────

  /** Takes a snapshot and uploads it; resolves with what went wrong instead of rejecting. */
  async take(job: SnapshotJob): Promise<SnapshotOutcome> {
    const { bucket, snapshotter } = this.#ports;
    const { eventId, seq } = job;
    try {
      if (this.#isStopped) throw new Error('the shard was given up before it was taken');
      // Reading it has it in the folder too, where the thread goes on from it.
      const before = (await bucket.newest(eventId, seq))?.header.seq ?? 0;
      const rows = [...(await this.source.factsAfter(eventId, before))].filter((row) => row.seq <= seq);
      const outcome = await snapshotter.take({ ...job, given: { folder: bucket.folder, afterSeq: before, rows } });
      if (outcome.trouble !== null || this.#isStopped) return outcome;
      if (this.#uploaded.has(eventId)) await this.#writeCheckpoint();
      this.#uploaded.add(eventId);
      await bucket.upload(eventId, seq);
      this.#lastSnapshotAt = job.at;
      this.#release(eventId);
      return outcome;
    } catch (error) {
      const trouble = error instanceof Error ? error.message : String(error);
      reportTrouble('snapshot', `no snapshot of ${eventId || 'a shard'}: ${trouble}`, error);
      return { eventId, seq, fingerprint: null, trouble };
    }
  }

  /** Lets go of the rows that a snapshot covers (rule 1). */
  #release(eventId: string): void {
    const { journal, neededAfter } = this.#shard!;
    const throughSeq = Math.min(this.#ports.bucket.newestSeq(eventId), neededAfter());
    if (throughSeq <= (this.#droppedSeq.get(eventId) ?? 0)) return;
    this.#droppedSeq.set(eventId, throughSeq);
    this.#releasedThroughSeq = Math.max(this.#releasedThroughSeq, throughSeq);
    this.#releasedSeq.set(eventId, Math.max(throughSeq, this.#releasedSeq.get(eventId) ?? 0));
    journal.release(eventId, throughSeq);
  }

  // ── rounds ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Snapshots every stream that has grown, and writes a checkpoint; with `prune`, the log is purged behind the older
   * one.
   */
  takeRound({ prune }: { readonly prune: boolean }): Promise<SnapshotSummary> {
    return this.#inTurn(async () => {
      const { journal } = this.#shard!;
      const seq = journal.durableSeq;
      const { bucket } = this.#ports;
      const grown = [...journal.streams()].filter(({ eventId, lastSeq }) => lastSeq > bucket.newestSeq(eventId));
      let failed = 0;
      for (const { eventId, lastSeq } of grown) {
        if ((await this.#snapshotStream(eventId, lastSeq)).trouble !== null) failed += 1;
      }
      await this.#writeCheckpoint();
      const purgedSeq = prune ? await this.#purge() : 0;
      return {
        seq,
        taken: grown.length - failed,
        failed,
        archived: purgedSeq === 0 ? null : { fromSeq: 1, toSeq: purgedSeq },
      };
    });
  }

  /** What is due beside the calls (rule 2). */
  maintain(): Promise<void> {
    // Whoever waited for the claim has taken what was made for it.
    this.#ports.statesAhead?.clear();
    return this.#inTurn(async () => {
      const { journal } = this.#shard!;
      for (const eventId of new Set(Array.from(this.headers(), (header) => header.eventId))) this.#release(eventId);
      if (journal.retainedBytes > RETAINED_BYTES_MAX) await this.#snapshotLongest();
      const { factSeq, streamSeq } = this.#checkpointHead;
      const isFar =
        journal.durableSeq - factSeq >= CHECKPOINT_FACTS || journal.streamSeq - streamSeq >= CHECKPOINT_MESSAGES;
      if (!isFar) return;
      await this.#writeCheckpoint();
      await this.#purge();
    });
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const round = this.#lastRound.then(work);
    this.#lastRound = round.catch(() => {});
    return round;
  }

  async #snapshotLongest(): Promise<void> {
    const { journal } = this.#shard!;
    const { bucket } = this.#ports;
    const streams: { readonly eventId: string; readonly lastSeq: number; readonly count: number }[] = [];
    for (const { eventId, lastSeq } of [...journal.streams()]) {
      // What is kept for a receiver of notifications is covered already: another snapshot would let go of nothing.
      if (lastSeq <= bucket.newestSeq(eventId)) continue;
      streams.push({ eventId, lastSeq, count: [...journal.read({ eventId })].length });
      if (streams.length % STREAMS_A_SLICE === 0) await nextRound();
    }
    streams.sort((one, other) => other.count - one.count);
    for (const { eventId, lastSeq } of streams) {
      if (this.#isStopped || journal.retainedBytes <= RETAINED_BYTES_MAX / 2) return;
      await this.#snapshotStream(eventId, lastSeq);
    }
  }

  #snapshotStream(eventId: string, seq: number): Promise<SnapshotOutcome> {
    const { now, snapshotEvent } = this.#shard!;
    if (eventId !== SERVICE_STREAM) return snapshotEvent(eventId, seq);
    return this.take({ eventId, eventNumber: 0, seq, at: now(), about: null });
  }

  async #writeCheckpoint(): Promise<void> {
    if (this.#isStopped) return;
    const { checkpoints, bucket } = this.#ports;
    const { journal, noteErasures } = this.#shard!;
    // Repeated while rows have left memory that the note does not cover (rule 5).
    for (let notedSeq = 0; notedSeq === 0 || notedSeq < this.#releasedThroughSeq;) {
      notedSeq = Math.max(1, journal.durableSeq);
      await noteErasures(notedSeq);
    }
    // Both in one turn: what is not among the rows is covered by the snapshots.
    const content = journal.content();
    const uploaded = [...this.#uploaded];
    await checkpoints.write({ ...content, snapshots: [...bucket.headers()] });
    const { factSeq, streamSeq } = content.head;
    this.#checkpointHead = { factSeq, streamSeq };
    for (const eventId of uploaded) this.#uploaded.delete(eventId);
  }

  /** Returns the last message that is no longer in the log. */
  async #purge(): Promise<number> {
    if (this.#isStopped) return 0;
    const { log, archive, checkpoints } = this.#ports;
    return purgeLog(log, archive, checkpoints);
  }
}
