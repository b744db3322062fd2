/**
 * The index of all events at every node: a copy that follows the log of shard 0.
 *
 * 1. It begins with the newest checkpoint and the snapshot that this names, and goes on with the messages after it,
 *    folded as every reader of a log folds them.
 * 2. When messages are missing, because the log was purged while the node was away, it begins again.
 * 3. It is a copy: numbers and slugs are given by the owner of shard 0 alone (`index-keeper.ts`).
 * 4. A copy may be behind. Whoever does not find an event in it lets it catch up with the log before saying that there
 *    is none.
 */
import { evolveService, readServiceFact, restoreService, SERVICE_STREAM } from '#engine/service-facts.ts';
import { IndexedEvents } from '#engine/indexed-events.ts';
import { reportTrouble } from '#actors/trouble.ts';
import { copyHead, emptyHead, applyRecord, readRecord, type ShardHead } from '#persistence/nats/log/head.ts';
import { wholeLog } from '#persistence/nats/objects/purge.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { ArchiveBucket } from '#persistence/nats/objects/archive-bucket.ts';
import type { Checkpoint, Checkpoints } from '#persistence/nats/objects/checkpoints.ts';
import type { ShardLog } from '#persistence/shard-log.ts';
import type { SnapshotHeader } from '#persistence/snapshots.ts';
import { pauseFor, type Timing } from '#persistence/nats/timing.ts';

export interface EventDirectoryPorts {
  /** The log of shard 0. */
  readonly log: ShardLog;
  readonly checkpoints: Pick<Checkpoints, 'newest'>;
  readonly archive: ArchiveBucket;
  /** The pieces of a snapshot of shard 0's service stream; null where it is gone or damaged. */
  readonly readSnapshot: (header: SnapshotHeader) => Promise<readonly string[] | null>;
  readonly time: Timing;
}

/** The pause before another try to read the log. */
const RETRY_MS = 500;

export class EventDirectory {
  readonly #ports: EventDirectoryPorts;
  readonly #listeners = new Set<() => void>();
  /** Those who wait for something that a further message brings. */
  readonly #waiting = new Set<() => void>();
  readonly #stopping = new AbortController();
  #index = new IndexedEvents();
  #isRead = false;
  /** The index has what the log has up to this message. */
  #readSeq = 0;
  /** The question for the end of the log that is under way, and the one after it. */
  #question: Promise<unknown> = Promise.resolve();
  #nextQuestion: Promise<number> | null = null;

  constructor(ports: EventDirectoryPorts) {
    this.#ports = ports;
  }

  get index(): IndexedEvents {
    return this.#index;
  }

  /** Whether it has what the log had when it was first read. */
  get isRead(): boolean {
    return this.#isRead;
  }

  /** Follows the log until `stop`. */
  async start(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        if (signal.aborted) return;
        reportTrouble('cluster', 'the index of events could not be read; it is read again', error);
      }
      await pauseFor(this.#ports.time, RETRY_MS, signal);
    }
  }

  stop(): void {
    this.#stopping.abort();
    this.#changed();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when a condition holds, or when the time is up. */
  async until(holds: () => boolean, msMax: number): Promise<void> {
    if (holds()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = (): void => {
      if (holds()) resolve();
    };
    this.#waiting.add(look);
    const cancel = this.#ports.time.after(msMax, resolve);
    await promise;
    this.#waiting.delete(look);
    cancel();
  }

  /**
   * Resolves with true once it has everything that was in the log before the call; with false when that is not known in
   * time (rule 4).
   */
  async catchUp(msMax: number): Promise<boolean> {
    let endSeq = Number.POSITIVE_INFINITY;
    let isUnknown = false;
    const isThere = (): boolean => this.#readSeq >= endSeq;
    const asked = this.#endOfLog().then(
      (seq) => (endSeq = seq),
      () => (isUnknown = true),
    );
    void asked.then(() => this.#lookAgain());
    await this.until(() => isThere() || isUnknown, msMax);
    return isThere();
  }

  /**
   * Where the log ends, read after the call. Calls that come during a read share the next one, so that many cost one
   * read.
   */
  #endOfLog(): Promise<number> {
    this.#nextQuestion ??= this.#question.then(() => {
      this.#nextQuestion = null;
      const asked = this.#ports.log.lastSeq();
      this.#question = asked.catch(() => {});
      return asked;
    });
    return this.#nextQuestion;
  }

  // ── reading ────────────────────────────────────────────────────────────────────────────────────────────────────────

  async #follow(signal: AbortSignal): Promise<void> {
    const { head, state, log } = await this.#begin();
    const lastSeq = await log.lastSeq();
    let isCurrent = false;
    const show = (): void => {
      isCurrent = head.streamSeq >= lastSeq;
      if (!isCurrent) return;
      this.#index = state.index ?? this.#index;
      this.#isRead = true;
      this.#reached(head.streamSeq);
      this.#changed();
    };
    show();
    for await (const { seq, body } of log.follow(head.streamSeq + 1, signal)) {
      if (seq !== head.streamSeq + 1) return;
      const applied = applyRecord(head, seq, readRecord(seq, body));
      const own = applied.outcome === 'COUNTED' ? applied.rows.filter(({ eventId }) => eventId === SERVICE_STREAM) : [];
      for (const row of own) evolve(state, row);
      // Most messages are of the events of the shard, and change nothing here.
      if (own.length > 0 || !isCurrent) show();
      else this.#reached(head.streamSeq);
    }
  }

  /** Where reading begins (rule 1); without a good checkpoint and snapshot at the very first message. */
  async #begin(): Promise<{ readonly head: ShardHead; readonly state: Indexed; readonly log: ShardLog }> {
    const { log, archive, checkpoints } = this.#ports;
    const checkpoint = await checkpoints.newest();
    const state = checkpoint === null ? null : await this.#stateOf(checkpoint);
    if (checkpoint === null || state === null) {
      return { head: emptyHead(), state: { index: new IndexedEvents() }, log: wholeLog(log, archive) };
    }
    return { head: copyHead(checkpoint.head), state, log };
  }

  async #stateOf({ snapshots, rows }: Checkpoint): Promise<Indexed | null> {
    const header = snapshots.findLast(({ eventId }) => eventId === SERVICE_STREAM);
    const pieces = header === undefined ? [] : await this.#ports.readSnapshot(header);
    if (pieces === null) return null;
    const state: Indexed = { index: restoreService(pieces).index ?? new IndexedEvents() };
    for (const row of rows) if (row.seq > (header?.seq ?? 0)) evolve(state, row);
    return state;
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #reached(seq: number): void {
    this.#readSeq = seq;
    this.#lookAgain();
  }

  #lookAgain(): void {
    for (const look of this.#waiting) look();
  }
}

interface Indexed {
  index?: IndexedEvents;
}

function evolve(state: Indexed, row: FactRow): void {
  const fact = readServiceFact(row);
  if (fact !== null) evolveService(state, fact);
}
