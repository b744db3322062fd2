/**
 * A shard's log on a JetStream stream.
 *
 * 1. The expectation of an append concerns the whole stream (`Nats-Expected-Last-Sequence`), which every replica checks
 *    in the order of the log. Expectations of one subject, and the servers' memory of message ids, were measured to let
 *    two writers in.
 * 2. `get` and `lastSeq` ask the stream's leader; a direct get may be answered by a replica that lags behind.
 * 3. A read that is not short uses a consumer, which is several times faster than a request for each message. Making a
 *    consumer needs more servers than the stream's leader; where that fails, the read goes on without one.
 * 4. An append that is neither clearly accepted nor clearly refused has an unknown outcome: a time limit, a lost
 *    connection, an election, a full disk.
 */

import type { JetStreamManager } from '@nats-io/jetstream';
import { headers } from '@nats-io/transport-node';
import { type ServerConnection, StreamQuestions } from '../connection.ts';
import { LogUnreachable, type AppendOutcome, type LogMessage, type ShardLog } from '../../shard-log.ts';
import { StreamReader } from '../stream-reader.ts';
import { machineTiming, pauseFor } from '../timing.ts';

/** Where a log lies. */
export interface StreamAddress {
  readonly stream: string;
  readonly subject: string;
}

const WRONG_LAST_SEQUENCE = 10_071;
/** An fsync on a busy disk takes a part of a second; an election takes seconds, and the append is then tried again. */
const APPEND_MS_MAX = 2_000;
/**
 * Messages that are read without a consumer: making one takes as long as so many gets, and each get costs ten times a
 * consumer's message.
 */
const GETS_MAX = 64;
/** Messages that are read this way where no consumer can be made, until the next try. */
const GETS_INSTEAD = 512;
const GETS_AT_A_TIME = 64;
const FOLLOW_PAUSE_MS = 200;

interface Acknowledgement {
  readonly seq?: number;
  readonly error?: { readonly err_code: number; readonly description: string };
}

/** The header with which an append names the message that it must follow. */
export const EXPECTED_LAST_SEQUENCE = 'Nats-Expected-Last-Sequence';

/** Appends a message to the stream of a subject. Never rejects. */
export async function publish(
  connection: ServerConnection,
  subject: string,
  body: Uint8Array,
  lines: Readonly<Record<string, string>> = {},
): Promise<AppendOutcome> {
  const given = headers();
  for (const [name, value] of Object.entries(lines)) given.set(name, value);
  try {
    const { data } = await connection.untilLost(
      connection.nats.request(subject, body, { headers: given, timeout: APPEND_MS_MAX }),
    );
    const { seq, error }: Acknowledgement = JSON.parse(new TextDecoder().decode(data));
    if (error?.err_code === WRONG_LAST_SEQUENCE) return { outcome: 'CONFLICT' };
    if (error !== undefined || seq === undefined)
      return { outcome: 'UNKNOWN', cause: new Error(error?.description ?? 'the servers answered without a number') };
    return { outcome: 'APPENDED', seq };
  } catch (cause) {
    return { outcome: 'UNKNOWN', cause };
  }
}

export class StreamLog implements ShardLog {
  readonly #connection: ServerConnection;
  readonly #jsm: JetStreamManager;
  readonly #address: StreamAddress;
  readonly #questions: StreamQuestions;

  constructor(connection: ServerConnection, jsm: JetStreamManager, address: StreamAddress) {
    this.#connection = connection;
    this.#jsm = jsm;
    this.#address = address;
    this.#questions = new StreamQuestions(connection, jsm, address.stream);
  }

  append(body: Uint8Array, expectedLastSeq: number): Promise<AppendOutcome> {
    return publish(this.#connection, this.#address.subject, body, {
      [EXPECTED_LAST_SEQUENCE]: String(expectedLastSeq),
    });
  }

  async lastSeq(): Promise<number> {
    return (await this.#questions.ends()).lastSeq;
  }

  async get(seq: number): Promise<LogMessage | null> {
    const message = await this.#questions.get({ seq });
    return message === null ? null : { seq: message.seq, body: message.data };
  }

  async *read(fromSeq: number, throughSeq: number): AsyncIterable<LogMessage> {
    let next = fromSeq;
    while (next <= throughSeq) {
      if (throughSeq - next >= GETS_MAX) {
        try {
          for await (const piece of this.#reader(next, throughSeq).pieces()) {
            for (const message of piece) {
              next = message.seq + 1;
              yield message;
            }
          }
          // Nothing came: all of it was purged meanwhile.
          return;
        } catch (error) {
          // Rule 3.
          if (!(error instanceof LogUnreachable)) throw error;
        }
      }
      const endSeq = Math.min(throughSeq, next + GETS_INSTEAD - 1);
      for await (const message of this.#getEach(next, endSeq)) yield message;
      next = endSeq + 1;
    }
  }

  async *follow(fromSeq: number, signal: AbortSignal): AsyncIterable<LogMessage> {
    let next = fromSeq;
    while (!signal.aborted) {
      try {
        for await (const piece of this.#reader(next, Infinity).pieces(signal)) {
          for (const message of piece) {
            if (signal.aborted) return;
            next = message.seq + 1;
            yield message;
          }
        }
      } catch (error) {
        if (!(error instanceof LogUnreachable)) throw error;
      }
      // Rule 3: until a consumer can be made again, the messages that are there are requested one by one.
      const endSeq = signal.aborted ? 0 : await this.lastSeq().catch(() => 0);
      const throughSeq = Math.min(endSeq, next + GETS_INSTEAD - 1);
      try {
        for await (const message of this.#getEach(next, throughSeq)) {
          if (signal.aborted) return;
          next = message.seq + 1;
          yield message;
        }
        next = Math.max(next, throughSeq + 1);
      } catch (error) {
        if (!(error instanceof LogUnreachable)) throw error;
      }
      await pauseFor(machineTiming, FOLLOW_PAUSE_MS, signal);
    }
  }

  async purge(beforeSeq: number): Promise<void> {
    if (beforeSeq <= 1) return;
    await this.#questions.answered(({ streams }) => streams.purge(this.#address.stream, { seq: beforeSeq }));
  }

  /** Asks the leader for each message, several at a time. */
  async *#getEach(fromSeq: number, throughSeq: number): AsyncIterable<LogMessage> {
    const answers: Promise<LogMessage | null>[] = [];
    let asked = fromSeq - 1;
    for (let seq = fromSeq; seq <= throughSeq; seq += 1) {
      while (answers.length < GETS_AT_A_TIME && asked < throughSeq) {
        const answer = this.get(++asked);
        // The first failure ends the reading; those after it have no listener.
        answer.catch(() => undefined);
        answers.push(answer);
      }
      const message = await answers.shift()!;
      if (message !== null) yield message;
      else await this.#requirePurged(seq);
    }
  }

  /** A leader that was just elected may lack what the one before it acknowledged, until it has caught up. */
  async #requirePurged(seq: number): Promise<void> {
    const { firstSeq } = await this.#questions.ends();
    if (seq >= firstSeq) throw new LogUnreachable(`the stream ${this.#address.stream} has no message ${seq} yet`);
  }

  #reader(fromSeq: number, lastSeq: number): StreamReader {
    const range = { stream: this.#address.stream, fromSeq, lastSeq };
    return new StreamReader(this.#connection, this.#jsm, range, () => this.lastSeq());
  }
}
