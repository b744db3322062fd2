/**
 * How a node becomes the owner of a shard: it reads what a checkpoint does not have, and appends a claim that must
 * follow what it read.
 *
 * 1. The claim's expectation proves that nothing is missing: whoever has the claim in the log knows every record before
 *    it.
 * 2. A claim without an answer is repeated with the same expectation until it is in the log, or another message is in
 *    its place: then it can never get there. A claim that the caller gave up may still get there; it fences the owner,
 *    and the next claim supersedes it.
 * 3. When another node claims the shard meanwhile, this one gives up (LOST): two nodes do not take it from each other
 *    in turn.
 * 4. A checkpoint serves while the log has every message after it. A node that was held up in between reads the newest
 *    one again (CheckpointOutdated).
 * 5. A log that ends before its checkpoint is not claimed. It may be a server that is catching up; if it stays so,
 *    messages were lost.
 */

import { randomUUID } from 'node:crypto';
import type { FactRow } from '../../journal.ts';
import { encodeRecord, type ClaimRecord, type ExecutedCommand, type ShardRecord } from './records.ts';
import { LogUnreachable, type ShardLog } from '../../shard-log.ts';
import { ShardJournal, type ShardContent, type ShardJournalOptions } from './journal.ts';
import { applyRecord, ChainBroken, copyHead, emptyHead, readRecord, type ShardHead } from './head.ts';
import { machineTiming, pauseFor, type Timing } from '../timing.ts';

export interface ClaimOptions extends ShardJournalOptions {
  readonly node: string;
  /** What is proved already, or was read ahead; null: the log is read from its first message. It is not changed. */
  readonly checkpoint: ShardContent | null;
  /** A unique id for the claim. */
  readonly newId?: () => string;
  /** Gives up, with LogUnreachable. */
  readonly signal?: AbortSignal;
}

export type ClaimOutcome =
  | {
      readonly outcome: 'CLAIMED';
      readonly journal: ShardJournal;
      /** What was known of the shard when it was claimed. */
      readonly recovered: ShardContent;
      /** The number of the claim before this one; 0 when there was none. */
      readonly previousEpoch: number;
    }
  | {
      readonly outcome: 'LOST';
      /** The node that owns it, or writes to it faster than it can be claimed. */
      readonly owner: string;
    };

const PAUSE_MS = 50;
/** An owner that appends all the time is alive: the shard is not taken from it by endless tries. */
const TRIES_MAX = 60;
/** A server that was just elected has what it acknowledged within a second or two. */
const SHORT_LOG_TRIES_MAX = 100;

/**
 * The log begins after the checkpoint: another owner wrote newer ones and purged what they cover. The newest one
 * serves.
 */
export class CheckpointOutdated extends Error {
  constructor(streamSeq: number, firstSeq: number) {
    super(`the log begins with message ${firstSeq}, after what the checkpoint has, message ${streamSeq}`);
    this.name = 'CheckpointOutdated';
  }
}

/** Reads what a shard has without claiming it: a claim that begins with it is short. Rejects as a claim does. */
export async function readAhead(log: ShardLog, options: ClaimOptions): Promise<ShardContent> {
  const recovery = new Recovery(log, options);
  await recovery.catchUp();
  return recovery.content();
}

/** Claims the shard. Rejects with LogUnreachable, CheckpointOutdated, or with ChainBroken when the log is damaged. */
export async function claimShard(log: ShardLog, options: ClaimOptions): Promise<ClaimOutcome> {
  const { node, newId = randomUUID, timing = machineTiming } = options;
  const recovery = new Recovery(log, options);
  await recovery.catchUp();
  const { epoch } = recovery.head;
  const record: ClaimRecord = { kind: 'claim', id: newId(), node };
  const body = encodeRecord(record);
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const { streamSeq } = recovery.head;
    const seq = await appendClaim(log, body, streamSeq, options);
    if (seq === null) await recovery.catchUp();
    else recovery.apply(seq, record);
    if (recovery.claimId === record.id) {
      const recovered = recovery.content();
      const journal = new ShardJournal(log, recovered, options);
      return { outcome: 'CLAIMED', journal, recovered, previousEpoch: epoch };
    }
    if (recovery.head.epoch !== epoch) break;
    if (recovery.head.streamSeq === streamSeq) await pauseFor(timing, PAUSE_MS);
  }
  return { outcome: 'LOST', owner: recovery.head.owner };
}

/** The claim's number, or null when it is not known to be in the log; repeats it while there is no answer (rule 2). */
async function appendClaim(
  log: ShardLog,
  body: Uint8Array,
  expectedLastSeq: number,
  { timing = machineTiming, signal }: ClaimOptions,
): Promise<number | null> {
  for (;;) {
    const answer = await log.append(body, expectedLastSeq);
    if (answer.outcome === 'APPENDED') return answer.seq;
    if (answer.outcome === 'CONFLICT') return null;
    if (signal?.aborted === true) throw new LogUnreachable('the claim was given up without an answer', answer.cause);
    await pauseFor(timing, PAUSE_MS);
  }
}

/** What is known of a shard so far. */
class Recovery {
  readonly head: ShardHead;
  /** The id of the newest claim that was read. */
  claimId: string | null = null;
  readonly #log: ShardLog;
  readonly #timing: Timing;
  readonly #rows: FactRow[];
  readonly #executed: ExecutedCommand[];

  constructor(log: ShardLog, { checkpoint, timing = machineTiming }: ClaimOptions) {
    this.#log = log;
    this.#timing = timing;
    this.head = checkpoint === null ? emptyHead() : copyHead(checkpoint.head);
    this.#rows = [...(checkpoint?.rows ?? [])];
    this.#executed = [...(checkpoint?.executed ?? [])];
  }

  content(): ShardContent {
    return { head: copyHead(this.head), rows: this.#rows, executed: this.#executed };
  }

  /** Reads what the log has after the head. */
  async catchUp(): Promise<void> {
    const { streamSeq } = this.head;
    let lastSeq = await this.#log.lastSeq();
    for (let tries = 0; lastSeq < streamSeq; tries += 1) {
      if (tries === SHORT_LOG_TRIES_MAX)
        throw new ChainBroken(streamSeq, `it is known from a checkpoint, but the log ends with message ${lastSeq}`);
      await pauseFor(this.#timing, PAUSE_MS);
      lastSeq = await this.#log.lastSeq();
    }
    if (lastSeq === streamSeq) return;
    for await (const { seq, body } of this.#log.read(streamSeq + 1, lastSeq)) {
      if (seq > streamSeq + 1 && this.head.streamSeq === streamSeq) throw new CheckpointOutdated(streamSeq, seq);
      this.apply(seq, readRecord(seq, body));
    }
    if (this.head.streamSeq < lastSeq)
      throw new LogUnreachable(`the log was read to message ${this.head.streamSeq} only`);
  }

  apply(seq: number, record: ShardRecord): void {
    const applied = applyRecord(this.head, seq, record);
    if (record.kind === 'claim') this.claimId = record.id;
    else if (applied.outcome === 'COUNTED' && record.kind === 'batch') {
      for (const row of applied.rows) this.#rows.push(row);
      for (const command of record.commands) this.#executed.push(command);
    }
  }
}
