/**
 * The stream of a cluster's keys on JetStream, `<cluster>_K`: a topic is a subject below `<cluster>.k`.
 *
 * 1. The expectation of an append concerns the whole stream, as in `log/stream-log.ts`. Reads ask the stream's leader:
 *    a direct get may be answered by a replica that lags behind, which would show a destroyed key, or miss one.
 * 2. The stream has no limit of messages a subject: the server does not overwrite what it drops by such a limit.
 * 3. Erasing is the server's secure delete: it overwrites the message with random bytes in the file of every replica.
 *    The servers also keep messages in their Raft log until it is compacted. Measured with three servers of 2.10.27:
 *    after a deletion a key is in no file of the stream, for up to three minutes in the Raft log, and then nowhere.
 */
import { JetStreamApiError, type JetStreamManager, type MsgRequest } from '@nats-io/jetstream';
import { type ServerConnection, StreamQuestions } from '../connection.ts';
import type { KeyLog, TopicMessage } from '../../key-log.ts';
import { LogUnreachable, type AppendOutcome, type LogMessage } from '../../shard-log.ts';
import { EXPECTED_LAST_SEQUENCE, publish, type StreamAddress } from '../log/stream-log.ts';

const NO_MESSAGE = 10_037;
const SEQUENCE_NOT_FOUND = 10_043;
const GETS_AT_A_TIME = 64;

/** The subject is the prefix of all topics. */
export function keyStreamPlace(clusterName: string): StreamAddress {
  return { stream: `${clusterName}_K`, subject: `${clusterName}.k` };
}

export class StreamKeyLog implements KeyLog {
  readonly #connection: ServerConnection;
  readonly #address: StreamAddress;
  readonly #questions: StreamQuestions;

  constructor(connection: ServerConnection, jsm: JetStreamManager, address: StreamAddress) {
    this.#connection = connection;
    this.#address = address;
    this.#questions = new StreamQuestions(connection, jsm, address.stream);
  }

  put(topic: string, body: Uint8Array): Promise<AppendOutcome> {
    return publish(this.#connection, this.#subject(topic), body);
  }

  append(topic: string, body: Uint8Array, expectedLastSeq: number): Promise<AppendOutcome> {
    const expectation = { [EXPECTED_LAST_SEQUENCE]: String(expectedLastSeq) };
    return publish(this.#connection, this.#subject(topic), body, expectation);
  }

  replace(topic: string, body: Uint8Array): Promise<AppendOutcome> {
    return publish(this.#connection, this.#subject(topic), body, { 'Nats-Rollup': 'sub' });
  }

  async lastSeq(): Promise<number> {
    return (await this.#questions.ends()).lastSeq;
  }

  newest(topic: string): Promise<LogMessage | null> {
    return this.#get({ last_by_subj: this.#subject(topic) });
  }

  oldest(topic: string): Promise<LogMessage | null> {
    return this.#get({ seq: 1, next_by_subj: this.#subject(topic) });
  }

  async *read(fromSeq: number, throughSeq: number): AsyncIterable<TopicMessage> {
    for (let begin = fromSeq; begin <= throughSeq; begin += GETS_AT_A_TIME) {
      const count = Math.min(GETS_AT_A_TIME, throughSeq - begin + 1);
      const messages = await Promise.all(Array.from({ length: count }, (_, n) => this.#get({ seq: begin + n })));
      // A leader that was just elected may lack what the one before it acknowledged.
      if (messages.includes(null) && (await this.lastSeq()) < throughSeq)
        throw new LogUnreachable(`the stream ${this.#address.stream} has not all of its messages yet`);
      for (const message of messages) if (message !== null) yield message;
    }
  }

  async erase(seq: number): Promise<void> {
    try {
      await this.#questions.answered(({ streams }) => streams.deleteMessage(this.#address.stream, seq, true));
    } catch (error) {
      const { cause } = error as LogUnreachable;
      const code = cause instanceof JetStreamApiError ? cause.code : 0;
      if (code !== SEQUENCE_NOT_FOUND && code !== NO_MESSAGE) throw error;
    }
  }

  #subject(topic: string): string {
    return `${this.#address.subject}.${topic}`;
  }

  async #get(
    query: MsgRequest | { readonly seq: number; readonly next_by_subj: string },
  ): Promise<TopicMessage | null> {
    // The client's type does not know the form with `next_by_subj`; the server does.
    const message = await this.#questions.get(query as MsgRequest);
    if (message === null) return null;
    const { seq, data, subject } = message;
    return { seq, body: data, topic: subject.slice(this.#address.subject.length + 1) };
  }
}
