/** Questions to the leader of a stream. Whatever is no answer is LogUnreachable. */
import type { JetStreamManager, MsgRequest, StoredMsg } from '@nats-io/jetstream';
import { messageOf } from '../faults.ts';
import type { ServerConnection } from './connection.ts';
import { LogUnreachable } from './shard-log.ts';

export class StreamQuestions {
  readonly #connection: ServerConnection;
  readonly #jsm: JetStreamManager;
  readonly #stream: string;

  constructor(connection: ServerConnection, jsm: JetStreamManager, stream: string) {
    this.#connection = connection;
    this.#jsm = jsm;
    this.#stream = stream;
  }

  /** The numbers of the oldest and the newest message. */
  async ends(): Promise<{ readonly firstSeq: number; readonly lastSeq: number }> {
    const { state } = await this.answered(this.#jsm.streams.info(this.#stream));
    return { firstSeq: state.first_seq, lastSeq: state.last_seq };
  }

  get(query: MsgRequest): Promise<StoredMsg | null> {
    return this.answered(this.#jsm.streams.getMessage(this.#stream, query));
  }

  /** An answer of the servers to something that was asked about the stream. */
  async answered<Answer>(answer: Promise<Answer>): Promise<Answer> {
    try {
      return await this.#connection.untilLost(answer);
    } catch (error) {
      throw new LogUnreachable(`the stream ${this.#stream} does not answer: ${messageOf(error)}`, error);
    }
  }
}
