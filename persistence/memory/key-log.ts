/**
 * The stream of a cluster's keys in an array: a port of `persistence/key-log.ts` for tests. It can lose and delay
 * messages, and answer from an old state, as servers do.
 *
 * 1. Messages are shared by all logs that are made with `reconnected`: each is the connection of one node.
 * 2. A fault is set for the next calls of one connection, so that a test says exactly what happens to which.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import type { KeyLog, TopicMessage } from '../key-log.ts';
import { LogUnreachable, type AppendOutcome } from '../shard-log.ts';

/**
 * What happens to one append. ANSWER_LOST: it is appended, its answer never comes. LOST: it never arrives. HELD: it
 * arrives when `arrive` is called, its answer never comes.
 */
type KeyAppendFault = 'ANSWER_LOST' | 'LOST' | 'HELD';

interface Shared {
  /** Index 0 is message 1; null where it was erased or replaced. */
  readonly messages: (TopicMessage | null)[];
}

export class MemoryKeyLog implements KeyLog {
  readonly #shared: Shared;
  readonly #faults: (KeyAppendFault | null)[] = [];
  readonly #held: (() => void)[] = [];
  /** For each of the next reads the newest message that it sees, where a leader lags behind; null where none does. */
  #shownSeqs: (number | null)[] = [];
  /** Steps that are still done; then the node is dead and nothing of it arrives any more. */
  #stepsLeft = Infinity;
  isReachable = true;

  constructor(shared: Shared = { messages: [] }) {
    this.#shared = shared;
  }

  /** Another connection to the same stream. */
  reconnected(): MemoryKeyLog {
    return new MemoryKeyLog(this.#shared);
  }

  /** Every message that is there, whoever asks. */
  get messages(): readonly TopicMessage[] {
    return this.#shared.messages.filter((message) => message !== null);
  }

  /** Sets what happens to the next appends; null: nothing. */
  fail(...faults: readonly (KeyAppendFault | null)[]): void {
    this.#faults.push(...faults);
  }

  /** Lets held appends arrive. */
  arrive(): void {
    for (const run of this.#held.splice(0)) run();
  }

  /** Each of the next reads of a newest message sees messages up to one of these; null: all of them. */
  showOnly(...throughSeqs: readonly (number | null)[]): void {
    this.#shownSeqs.push(...throughSeqs);
  }

  /** Makes the node die after so many more writes: no further write arrives, and nothing is answered. */
  dieAfter(writes: number): void {
    this.#stepsLeft = writes;
  }

  put(topic: string, body: Uint8Array): Promise<AppendOutcome> {
    return this.#write(topic, body, null);
  }

  append(topic: string, body: Uint8Array, expectedLastSeq: number): Promise<AppendOutcome> {
    return this.#write(topic, body, expectedLastSeq);
  }

  async replace(topic: string, body: Uint8Array): Promise<AppendOutcome> {
    const answer = await this.#write(topic, body, null);
    if (answer.outcome !== 'APPENDED') return answer;
    for (const [index, message] of this.#shared.messages.entries())
      if (message?.topic === topic && message.seq < answer.seq) this.#shared.messages[index] = null;
    return answer;
  }

  async lastSeq(): Promise<number> {
    await this.#answer();
    return this.#shared.messages.length;
  }

  async newest(topic: string): Promise<TopicMessage | null> {
    await this.#answer();
    const shownSeq = this.#shownSeqs.shift() ?? Infinity;
    return this.messages.findLast((message) => message.topic === topic && message.seq <= shownSeq) ?? null;
  }

  async oldest(topic: string): Promise<TopicMessage | null> {
    await this.#answer();
    return this.messages.find((message) => message.topic === topic) ?? null;
  }

  async *read(fromSeq: number, throughSeq: number): AsyncIterable<TopicMessage> {
    await this.#answer();
    for (const message of this.#shared.messages.slice(fromSeq - 1, throughSeq)) if (message !== null) yield message;
  }

  async erase(seq: number): Promise<void> {
    await this.#answer();
    this.#countStep();
    this.#shared.messages[seq - 1] = null;
  }

  async #write(topic: string, body: Uint8Array, expectedLastSeq: number | null): Promise<AppendOutcome> {
    const fault = this.#faults.shift() ?? null;
    if (!this.isReachable || fault === 'LOST') return unknown();
    const arrive = (): AppendOutcome => {
      const { messages } = this.#shared;
      if (expectedLastSeq !== null && messages.length !== expectedLastSeq) return { outcome: 'CONFLICT' };
      const seq = messages.length + 1;
      messages.push({ seq, topic, body: Buffer.from(body) });
      return { outcome: 'APPENDED', seq };
    };
    if (fault === 'HELD') {
      this.#held.push(arrive);
      return unknown();
    }
    await nextRound();
    try {
      this.#countStep();
    } catch {
      return unknown();
    }
    const outcome = arrive();
    await nextRound();
    return fault === 'ANSWER_LOST' || !this.isReachable ? unknown() : outcome;
  }

  #countStep(): void {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft >= 0) return;
    this.isReachable = false;
    throw new LogUnreachable('the node is dead');
  }

  async #answer(): Promise<void> {
    await nextRound();
    if (!this.isReachable) throw new LogUnreachable('nobody answers');
  }
}

function unknown(): AppendOutcome {
  return { outcome: 'UNKNOWN', cause: new Error('no answer') };
}
