/**
 * A shard's replicated log in an array: a port of `persistence/shard-log.ts` for tests. It can lose, hold and repeat
 * messages, as a network does.
 *
 * 1. Messages are shared by all logs that are made with `reconnected`: each is the connection of one writer.
 * 2. A fault is set for the next appends of one connection, in their order, so that a test says exactly what happens to
 *    which.
 */

import { setImmediate as nextRound } from 'node:timers/promises';
import { LogUnreachable, type AppendOutcome, type LogMessage, type ShardLog } from '../shard-log.ts';

/**
 * What happens to one append. ANSWER_LOST: it is appended, its answer never comes. LOST: it never arrives. HELD: it
 * arrives when `arrive` is called, its answer never comes. NOT_YET: it is refused as a server does that lags behind.
 */
export type AppendFault = 'ANSWER_LOST' | 'LOST' | 'HELD' | 'NOT_YET';

interface Shared {
  /** Index 0 is message 1; null where it was purged. */
  readonly messages: (Uint8Array | null)[];
  readonly changed: Set<() => void>;
}

export class MemoryLog implements ShardLog {
  readonly #shared: Shared;
  readonly #faults: (AppendFault | null)[] = [];
  readonly #held: (() => void)[] = [];
  /** Appends that this connection sent, each with its expectation. */
  readonly sent: { readonly body: Uint8Array; readonly expectedLastSeq: number }[] = [];
  /** While false nothing arrives and nothing is answered. */
  isReachable = true;
  #isLate = false;

  constructor(shared: Shared = { messages: [], changed: new Set() }) {
    this.#shared = shared;
  }

  /** Another connection to the same log. */
  reconnected(): MemoryLog {
    return new MemoryLog(this.#shared);
  }

  /** Sets what happens to the next appends; null: nothing. */
  fail(...faults: readonly (AppendFault | null)[]): void {
    this.#faults.push(...faults);
  }

  /** Lets held appends arrive, oldest first, or only so many of them. */
  arrive(count = this.#held.length): void {
    for (const run of this.#held.splice(0, count)) run();
  }

  /** While true those who follow the log over this connection see no further message. */
  set isLate(isLate: boolean) {
    this.#isLate = isLate;
    for (const run of this.#shared.changed) run();
  }

  /** Puts a message at the end, whatever anybody expects. */
  put(body: Uint8Array): number {
    this.#shared.messages.push(body);
    for (const run of this.#shared.changed) run();
    return this.#shared.messages.length;
  }

  async append(body: Uint8Array, expectedLastSeq: number): Promise<AppendOutcome> {
    this.sent.push({ body, expectedLastSeq });
    const fault = this.#faults.shift() ?? null;
    if (!this.isReachable || fault === 'LOST') return unknown();
    if (fault === 'NOT_YET') return { outcome: 'CONFLICT' };
    const arrive = (): AppendOutcome => {
      if (this.#shared.messages.length !== expectedLastSeq) return { outcome: 'CONFLICT' };
      return { outcome: 'APPENDED', seq: this.put(body) };
    };
    if (fault === 'HELD') {
      this.#held.push(arrive);
      return unknown();
    }
    await nextRound();
    const outcome = arrive();
    await nextRound();
    return fault === 'ANSWER_LOST' || !this.isReachable ? unknown() : outcome;
  }

  async lastSeq(): Promise<number> {
    await this.#answer();
    return this.#shared.messages.length;
  }

  async get(seq: number): Promise<LogMessage | null> {
    await this.#answer();
    const body = this.#shared.messages[seq - 1] ?? null;
    return body === null ? null : { seq, body };
  }

  async *read(fromSeq: number, throughSeq: number): AsyncIterable<LogMessage> {
    for (let seq = fromSeq; seq <= throughSeq; seq += 1) {
      if (seq % 64 === 0) await this.#answer();
      const body = this.#shared.messages[seq - 1] ?? null;
      if (body !== null) yield { seq, body };
    }
  }

  async *follow(fromSeq: number, signal: AbortSignal): AsyncIterable<LogMessage> {
    for (let seq = fromSeq; !signal.aborted; seq += 1) {
      while ((this.#isLate || this.#shared.messages.length < seq) && !signal.aborted) await this.#change(signal);
      if (signal.aborted) return;
      const body = this.#shared.messages[seq - 1] ?? null;
      if (body !== null) yield { seq, body };
    }
  }

  async purge(beforeSeq: number): Promise<void> {
    await this.#answer();
    this.#shared.messages.fill(null, 0, beforeSeq - 1);
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const settle = (): void => {
        this.#shared.changed.delete(settle);
        signal.removeEventListener('abort', settle);
        resolve();
      };
      this.#shared.changed.add(settle);
      signal.addEventListener('abort', settle);
    });
  }

  async #answer(): Promise<void> {
    await nextRound();
    if (!this.isReachable) throw new LogUnreachable('nobody answers');
  }
}

function unknown(): AppendOutcome {
  return { outcome: 'UNKNOWN', cause: new Error('no answer') };
}
