/**
 * One shard's replicated log in virtual time: the twin of the log on a JetStream stream, with everything that goes
 * wrong there.
 *
 * Owns the messages, the leader and its proposals. The port's rules hold (`persistence/shard-log.ts`); besides:
 *
 * 1. The leader compares an expectation with its newest proposal, committed or not. Proposals are committed in their
 *    order.
 * 2. An election keeps any number of the proposals that were not committed, from the first one on, and drops the
 *    others. Until it is over nothing is answered; a request may be lost, refused, or kept for the next leader. A
 *    leader that was lost for ELECTED_AFTER_MS or longer may only have stood still. Once it goes on it answers
 *    questions for a moment from what was committed when it stood still.
 * 3. A request may be lost, delayed, or arrive twice, so that it lands when its sender has long given it up, was paused
 *    or has ended.
 * 4. When the servers are split, some processes reach the smaller side. Where the leader was there, it answers their
 *    questions from what it knows until it notices, and commits nothing; the other side elects a leader when it has not
 *    heard the old one for a while.
 * 5. A message that was committed stays, unless it is damaged on purpose. Every one of them is shown to `onCommit`, in
 *    order.
 */
import { LogUnreachable, type AppendOutcome, type LogMessage, type ShardLog } from '#persistence/shard-log.ts';
import { wayMs, type Network } from './network.ts';
import type { Scheduler, SimulatedProcess } from './scheduler.ts';

/** A message and who sent it. */
export interface Entry {
  readonly seq: number;
  readonly body: Uint8Array;
  readonly process: SimulatedProcess;
  /** Called once when it is committed. */
  readonly acknowledge: () => void;
}

/** How long a client waits for an answer, at least and at most. */
const TIME_LIMIT_MS = [300, 4_000] as const;

/** Replicas elect another leader only when they have not heard one for so long. */
const ELECTED_AFTER_MS = 4_000;

/** How long after the election a leader that stood still goes on, at most, and for how long it does not notice. */
const RESUMED_AFTER_MS_MAX = 3_000;
const UNAWARE_MS_MAX = 2_000;

/**
 * In a split, the larger side elects a leader after so long, at the earliest: it may have heard the old one a second
 * before. The smaller side's steps down after so long, at the latest.
 */
const SPLIT_ELECTED_AFTER_MS = 3_100;
const STEPPED_DOWN_AFTER_MS = 10_000;

/** What the processes on the smaller side of a split see. */
interface SmallSide {
  readonly isThere: (process: SimulatedProcess) => boolean;
  /** The newest message that the leader there knows; null without a leader. */
  readonly committed: number | null;
  readonly untilMs: number;
}

/** Messages of a reading that arrive together. */
const READ_TOGETHER = 50;

export class SimulatedLog {
  readonly #scheduler: Scheduler;
  readonly #network: () => Network;
  readonly #onCommit: (entry: Entry) => void;
  /** Every message there ever was and the leader's proposals, by number. */
  #entries: Entry[] = [];
  #committed = 0;
  #firstSeq = 1;
  #leader = 1;
  #hasLeader = true;
  #smallSide: SmallSide | null = null;
  #committedByMs = 0;
  /** What a leader that stood still knows, while it answers. */
  #staleCommitted: number | null = null;
  /** Requests that wait for a leader. */
  #kept: (() => void)[] = [];

  constructor(scheduler: Scheduler, network: () => Network, onCommit: (entry: Entry) => void) {
    this.#scheduler = scheduler;
    this.#network = network;
    this.#onCommit = onCommit;
  }

  get lastSeq(): number {
    return this.#committed;
  }

  get firstSeq(): number {
    return this.#firstSeq;
  }

  get hasLeader(): boolean {
    return this.#hasLeader;
  }

  /** The leader is lost; another one is there after so long (rule 2). */
  elect(downMs: number): void {
    const { chance } = this.#scheduler;
    this.#leader += 1;
    this.#hasLeader = false;
    const leader = this.#leader;
    if (downMs >= ELECTED_AFTER_MS) this.#resume(this.#committed, downMs + chance.next() * RESUMED_AFTER_MS_MAX);
    const survivors = chance.between(0, this.#entries.length - this.#committed);
    this.#entries.length = this.#committed + survivors;
    this.#scheduler.after(downMs, () => {
      if (leader !== this.#leader) return;
      this.#hasLeader = true;
      this.#commitThrough(this.#entries.length);
      for (const arrive of this.#kept.splice(0)) arrive();
    });
  }

  #resume(committed: number, delayMs: number): void {
    const { chance } = this.#scheduler;
    this.#scheduler.after(delayMs, () => (this.#staleCommitted = committed));
    this.#scheduler.after(delayMs + chance.next() * UNAWARE_MS_MAX, () => (this.#staleCommitted = null));
  }

  /** Splits the servers (rule 4). */
  split(isThere: (process: SimulatedProcess) => boolean, hasLeader: boolean): void {
    const committed = hasLeader && this.#hasLeader ? this.#committed : null;
    this.#smallSide = { isThere, committed, untilMs: this.#scheduler.nowMs + STEPPED_DOWN_AFTER_MS };
    if (hasLeader) this.elect(SPLIT_ELECTED_AFTER_MS + this.#scheduler.chance.next() * 3_000);
  }

  join(): void {
    this.#smallSide = null;
  }

  /** Flips a bit of a message where it is kept; returns false when the log has none. */
  damage(): boolean {
    const { chance } = this.#scheduler;
    if (this.#firstSeq > this.#committed) return false;
    const place = chance.between(this.#firstSeq, this.#committed) - 1;
    const body = this.#entries[place]!.body.slice();
    body[chance.between(body.length >> 1, body.length - 1)]! ^= 1;
    this.#entries[place] = { ...this.#entries[place]!, body };
    return true;
  }

  /** The log as one process reaches it. */
  connect(process: SimulatedProcess): ShardLog {
    return {
      append: (body, expectedLastSeq) => this.#append(process, body, expectedLastSeq),
      lastSeq: () => this.#request(process, (committed) => committed),
      get: (seq) => this.#request(process, (committed) => this.#messageAt(seq, committed)),
      read: (fromSeq, throughSeq) => this.#read(process, fromSeq, throughSeq),
      follow: (fromSeq, signal) => this.#follow(process, fromSeq, signal),
      purge: (beforeSeq) =>
        this.#request(process, () => {
          if (this.#smallSide?.isThere(process) === true) return;
          this.#firstSeq = Math.max(this.#firstSeq, Math.min(beforeSeq, this.#committed + 1));
        }),
    };
  }

  // ── appends ────────────────────────────────────────────────────────────────────────────────────────────────────────

  #append(process: SimulatedProcess, body: Uint8Array, expectedLastSeq: number): Promise<AppendOutcome> {
    return new Promise((resolve) => {
      const { chance } = this.#scheduler;
      const network = this.#network();
      const bytes = body.slice();
      const settle = (outcome: AppendOutcome): void => {
        if (chance.percent(network.answerLost)) return;
        process.receiveAnswer(wayMs(chance, network), () => {
          if (!process.isCutOff) resolve(outcome);
        });
      };
      const arrive = (): void => this.#propose(process, bytes, expectedLastSeq, settle);
      process.after(chance.between(...TIME_LIMIT_MS), () => resolve({ outcome: 'UNKNOWN', cause: 'a time limit' }));
      if (process.isCutOff || chance.percent(network.requestLost)) return;
      this.#send(process, arrive);
      if (chance.percent(network.repeated)) this.#scheduler.after(chance.next() * 2_500, arrive);
    });
  }

  /** A request that was sent arrives even when its process has ended meanwhile. */
  #send(process: SimulatedProcess, arrive: () => void): void {
    this.#scheduler.after(wayMs(this.#scheduler.chance, this.#network()), () => {
      if (!process.isCutOff) arrive();
    });
  }

  #propose(
    process: SimulatedProcess,
    body: Uint8Array,
    expectedLastSeq: number,
    settle: (outcome: AppendOutcome) => void,
  ): void {
    const { chance } = this.#scheduler;
    const network = this.#network();
    if (this.#smallSide?.isThere(process) === true) return;
    if (!this.#hasLeader) {
      if (chance.percent(network.keptWithoutLeader))
        this.#kept.push(() => this.#propose(process, body, expectedLastSeq, settle));
      else if (chance.percent(40)) settle({ outcome: 'UNKNOWN', cause: 'no responders' });
      return;
    }
    if (expectedLastSeq !== this.#entries.length) return settle({ outcome: 'CONFLICT' });
    const seq = this.#entries.length + 1;
    const leader = this.#leader;
    this.#entries.push({ seq, body, process, acknowledge: () => settle({ outcome: 'APPENDED', seq }) });
    this.#committedByMs = Math.max(this.#committedByMs, this.#scheduler.nowMs + wayMs(chance, network) + 0.3);
    this.#scheduler.after(this.#committedByMs - this.#scheduler.nowMs, () => {
      if (leader === this.#leader) this.#commitThrough(seq);
    });
  }

  #commitThrough(seq: number): void {
    while (this.#committed < seq) {
      const entry = this.#entries[this.#committed]!;
      this.#committed += 1;
      this.#onCommit(entry);
      entry.acknowledge();
    }
  }

  // ── reading ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Asks the leader; rejects after a time without an answer. */
  #request<Answer>(process: SimulatedProcess, answer: (committed: number) => Answer): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { chance } = this.#scheduler;
      const network = this.#network();
      let isSettled = false;
      process.after(chance.between(...TIME_LIMIT_MS), () => {
        if (!isSettled) reject(new LogUnreachable('a time limit'));
      });
      if (process.isCutOff || chance.percent(network.requestLost)) return;
      this.#send(process, () => {
        const committed = this.#seenBy(process);
        if (committed === null || chance.percent(network.answerLost)) return;
        const given = answer(committed);
        process.receiveAnswer(wayMs(chance, network), () => {
          if (process.isCutOff) return;
          isSettled = true;
          resolve(given);
        });
      });
    });
  }

  /** The newest message as the leader that a process reaches knows it; null where it reaches none. */
  #seenBy(process: SimulatedProcess): number | null {
    const side = this.#smallSide;
    if (side?.isThere(process) === true) return this.#scheduler.nowMs < side.untilMs ? side.committed : null;
    if (this.#staleCommitted !== null && this.#scheduler.chance.percent(50)) return this.#staleCommitted;
    return this.#hasLeader ? this.#committed : null;
  }

  #messageAt(seq: number, committed: number): LogMessage | null {
    if (seq < this.#firstSeq || seq > committed) return null;
    const { body } = this.#entries[seq - 1]!;
    return { seq, body };
  }

  async *#read(process: SimulatedProcess, fromSeq: number, throughSeq: number): AsyncGenerator<LogMessage> {
    for (let next = fromSeq; next <= throughSeq;) {
      const piece = await this.#request(process, (committed) => {
        const end = Math.min(throughSeq, committed, next + READ_TOGETHER - 1);
        const from = Math.max(next, this.#firstSeq);
        return this.#entries.slice(from - 1, end).map(({ seq, body }) => ({ seq, body }));
      });
      if (piece.length === 0) return;
      yield* piece;
      next = piece.at(-1)!.seq + 1;
    }
  }

  async *#follow(process: SimulatedProcess, fromSeq: number, signal: AbortSignal): AsyncGenerator<LogMessage> {
    for (let next = fromSeq; !signal.aborted;) {
      try {
        for await (const message of this.#read(process, next, Number.MAX_SAFE_INTEGER)) {
          yield message;
          next = message.seq + 1;
        }
      } catch (error) {
        if (!(error instanceof LogUnreachable)) throw error;
      }
      await new Promise<void>((resolve) => process.after(20, resolve));
    }
  }
}
