/**
 * The appends of a shard's owner that are under way, a few at a time. The number that each must follow is predicted
 * from those before it. Each is repeated until its outcome is known.
 *
 * 1. Only the oldest append is settled; a later one that is acknowledged earlier waits. A settled append is in the log
 *    with everything before it, in the order of the calls.
 * 2. An append without an answer is repeated with the same expectation and body, for ever: it may already be in the
 *    log, and may still get there.
 * 3. An append that was refused while it is not the oldest one is repeated when it is: until then the one before it may
 *    be on its way.
 * 4. When the oldest one is refused, the message in its place decides. Its own: it was appended by an earlier try. A
 *    batch of an earlier epoch: that one is void, no try with this expectation can succeed any more, and the append
 *    expects the next number. Anything else: another writer claimed the shard, and this one is fenced. None: the log is
 *    not there yet; it is repeated.
 * 5. Void batches come right after a claim only. The writer before it had at most IN_FLIGHT_MAX appends under way, so
 *    that none of them fits after message `epoch + IN_FLIGHT_MAX - 1`. Until that one is settled, one append is sent at
 *    a time: if several were sent, a void batch in the place of the first would let the second get in before the first.
 * 6. An empty place before the end of the log was purged. Only a later owner purges, so this owner is fenced.
 */

import { decodeRecord } from './records.ts';
import type { ShardLog } from '../../shard-log.ts';
import type { Timing } from '../timing.ts';

/** Part of the protocol (rule 5): nodes of another version must have the same. */
export const IN_FLIGHT_MAX = 4;

/** Longer than servers take to elect a leader: somebody should look at them. */
const STALLED_MS = 15_000;
const PAUSE_MS_MIN = 10;
const PAUSE_MS_MAX = 500;

interface WindowOwner {
  /** The oldest append is in the log, with this number. */
  appended(id: string, seq: number): void;
  /** A void batch of an earlier owner has this number. */
  skipped(seq: number): void;
  /** The oldest append has had no outcome for STALLED_MS; called once an append. */
  stalled(cause: unknown): void;
  /** Another node may own the shard now; nothing more is sent. */
  fenced(reason: string): void;
}

interface WindowOptions {
  readonly log: ShardLog;
  readonly timing: Timing;
  /** The number of the claim. */
  readonly epoch: number;
  /** The newest message of the log that is known; not before the claim. */
  readonly streamSeq: number;
}

interface Append {
  readonly id: string;
  readonly body: Uint8Array;
  /** The number of the message that it must follow. */
  expected: number;
  /** SENT: its outcome is being found out. REFUSED: see rule 3. */
  state: 'SENT' | 'ACKNOWLEDGED' | 'REFUSED';
  pauseMs: number;
  readonly sentMs: number;
  isStalled: boolean;
}

export class AppendWindow {
  readonly #log: ShardLog;
  readonly #timing: Timing;
  readonly #epoch: number;
  readonly #owner: WindowOwner;
  /** Oldest first. */
  readonly #appends: Append[] = [];
  #streamSeq: number;
  #isStopped = false;

  constructor({ log, timing, epoch, streamSeq }: WindowOptions, owner: WindowOwner) {
    this.#log = log;
    this.#timing = timing;
    this.#epoch = epoch;
    this.#streamSeq = streamSeq;
    this.#owner = owner;
  }

  /** The newest message that is known to be in the log, with everything before it. */
  get streamSeq(): number {
    return this.#streamSeq;
  }

  /** Whether the oldest append has had no outcome for STALLED_MS. */
  get isStalled(): boolean {
    return this.#appends[0]?.isStalled === true;
  }

  get isFree(): boolean {
    const isAlone = this.#streamSeq < this.#epoch + IN_FLIGHT_MAX - 1;
    return !this.#isStopped && this.#appends.length < (isAlone ? 1 : IN_FLIGHT_MAX);
  }

  /** Sends one more, when `isFree`. */
  send(id: string, body: Uint8Array): void {
    if (!this.isFree) throw new Error('no more appends may be under way');
    const append: Append = {
      id,
      body,
      expected: this.#streamSeq + this.#appends.length,
      state: 'SENT',
      pauseMs: PAUSE_MS_MIN,
      sentMs: this.#timing.stopwatchMs(),
      isStalled: false,
    };
    this.#appends.push(append);
    void this.#try(append);
  }

  /** Forgets what is under way; its outcome stays unknown. */
  stop(): void {
    this.#isStopped = true;
    this.#appends.length = 0;
  }

  async #try(append: Append): Promise<void> {
    append.state = 'SENT';
    const { expected } = append;
    const answer = await this.#log.append(append.body, expected);
    if (this.#isStopped) return;
    switch (answer.outcome) {
      case 'APPENDED':
        if (answer.seq !== expected + 1) return this.#fence(`an append after message ${expected} became ${answer.seq}`);
        append.state = 'ACKNOWLEDGED';
        return this.#settle();
      case 'CONFLICT':
        if (append === this.#appends[0]) return this.#resolve(append);
        append.state = 'REFUSED';
        return;
      case 'UNKNOWN':
        return this.#tryLater(append, answer.cause);
    }
  }

  #tryLater(append: Append, cause: unknown): void {
    if (!append.isStalled && append === this.#appends[0] && this.#timing.stopwatchMs() - append.sentMs >= STALLED_MS) {
      append.isStalled = true;
      this.#owner.stalled(cause);
    }
    const delayMs = append.pauseMs;
    append.pauseMs = Math.min(delayMs * 2, PAUSE_MS_MAX);
    this.#timing.after(delayMs, () => {
      if (!this.#isStopped) void this.#try(append);
    });
  }

  /**
   * Settles the oldest appends as far as they are acknowledged (rule 1), and repeats the next one if it was refused
   * (rule 3).
   */
  #settle(): void {
    for (let oldest = this.#appends[0]; oldest?.state === 'ACKNOWLEDGED'; oldest = this.#appends[0]) {
      this.#appends.shift();
      this.#streamSeq = oldest.expected + 1;
      this.#owner.appended(oldest.id, this.#streamSeq);
      if (this.#isStopped) return;
    }
    const next = this.#appends[0];
    if (next?.state === 'REFUSED') void this.#try(next);
  }

  /** Finds out why the oldest append was refused (rule 4). */
  async #resolve(append: Append): Promise<void> {
    const place = append.expected + 1;
    let body: Uint8Array | null;
    try {
      body = (await this.#log.get(place))?.body ?? null;
      if (body === null && (await this.#log.lastSeq()) >= place && (await this.#log.get(place)) === null) {
        if (!this.#isStopped) this.#fence(`message ${place} was purged by a later owner`);
        return;
      }
    } catch (error) {
      if (!this.#isStopped) this.#tryLater(append, error);
      return;
    }
    if (this.#isStopped) return;
    if (body === null) return this.#tryLater(append, new Error(`the log does not end with message ${append.expected}`));
    this.#resolveBy(append, body);
  }

  #resolveBy(append: Append, body: Uint8Array): void {
    const record = readable(body);
    if (record === null) return this.#fence('the log has a message that cannot be read');
    if (record.id === append.id) {
      append.state = 'ACKNOWLEDGED';
      return this.#settle();
    }
    if (record.kind === 'claim') return this.#fence(`node ${record.node} claimed the shard`);
    if (record.epoch >= this.#epoch || this.#appends.length > 1)
      return this.#fence(`message ${append.expected + 1} is a batch of epoch ${record.epoch}, where none may be`);
    append.expected += 1;
    append.pauseMs = PAUSE_MS_MIN;
    this.#streamSeq = append.expected;
    this.#owner.skipped(append.expected);
    void this.#try(append);
  }

  #fence(reason: string): void {
    this.stop();
    this.#owner.fenced(reason);
  }
}

function readable(body: Uint8Array): ReturnType<typeof decodeRecord> | null {
  try {
    return decodeRecord(body);
  } catch {
    return null;
  }
}
