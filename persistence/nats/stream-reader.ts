/**
 * Messages of a JetStream stream in their order, from one on: a consumer of its own, pulled in large batches.
 *
 * 1. At most BATCH messages or BATCH_BYTES wait here, so that a slow caller holds up the servers and not this process's
 *    memory.
 * 2. The number of each message follows the one before it; only the first may come later than asked, when those before
 *    it were purged. A gap, a lost connection, or silence ends the reading with LogUnreachable. The caller starts again
 *    after what it has.
 * 3. A consumer reads the replica of one server, which may be behind and send heartbeats alone. So a message that is
 *    known to be there and does not come ends the reading as silence does. The end of the range shows that it is there,
 *    or an earlier answer of the stream's leader.
 * 4. A consumer may be made before the server of this connection knows where it is (2 in 100 on three servers). A
 *    request to it is then refused, as if it did not exist, and is repeated a moment later.
 * 5. A consumer at a replica that does not have the first message yet begins with the next one that the replica gets,
 *    which may be earlier. Earlier messages than requested are left out: the caller has them already.
 */

import { AckPolicy, DeliverPolicy, type JetStreamManager } from '@nats-io/jetstream';
import { createInbox, nanos, type Msg, type Subscription } from '@nats-io/transport-node';
import { messageOf } from '../faults.ts';
import { stopwatchMs } from '../stopwatch.ts';
import type { ServerConnection } from './connection.ts';
import { LogUnreachable, type LogMessage } from '../shard-log.ts';

const BATCH = 4_096;
const BATCH_BYTES = 16 * 1024 * 1024;
const PULL_MS_MAX = 30_000;
const HEARTBEAT_MS = 1_000;
/** Longer than an election among servers that are busy; a caller that waits for one message waits no longer either. */
const SILENCE_MS_MAX = 5_000;
/** Rule 4. */
const ASK_AGAIN_MS = 10;
const REFUSALS_MAX = 30;
/** A consumer whose reader has ended without deleting it. */
const ABANDONED_MS = 30_000;
const HEARTBEAT = 100;
const NOBODY_THERE = 503;

export class StreamReader {
  readonly #connection: ServerConnection;
  readonly #jsm: JetStreamManager;
  readonly #stream: string;
  readonly #fromSeq: number;
  readonly #lastSeq: number;
  readonly #leadersLastSeq: () => Promise<number>;
  readonly #inbox = createInbox();
  #subscription: Subscription | null = null;
  #consumer = '';
  /** Received, and not read yet. */
  #received: LogMessage[] = [];
  /** Messages that were asked for and have not come. */
  #asked = 0;
  /** How often nobody was there, in a row (rule 4). */
  #refusals = 0;
  /** Since when no message has come although some were waited for (rule 3). */
  #quietSince = 0;
  /** The newest message that is known to be there. */
  #knownSeq: number;
  #failure: unknown = null;
  #changed: (() => void) | null = null;

  /**
   * Reads through `lastSeq`, or for ever with Infinity; `leadersLastSeq` asks the stream's leader for its newest
   * message.
   */
  constructor(
    connection: ServerConnection,
    jsm: JetStreamManager,
    range: { readonly stream: string; readonly fromSeq: number; readonly lastSeq: number },
    leadersLastSeq: () => Promise<number>,
  ) {
    this.#connection = connection;
    this.#jsm = jsm;
    this.#stream = range.stream;
    this.#lastSeq = range.lastSeq;
    this.#fromSeq = range.fromSeq;
    this.#knownSeq = range.lastSeq === Infinity ? 0 : range.lastSeq;
    this.#leadersLastSeq = leadersLastSeq;
  }

  /**
   * What has come, in pieces: a step of an asynchronous iteration for each message was measured to cost more than the
   * message.
   */
  async *pieces(signal?: AbortSignal): AsyncIterable<readonly LogMessage[]> {
    const wake = (): void => this.#changed?.();
    const endFollowing = this.#connection.onConnection(() => this.#fail(new Error('the connection was lost')));
    signal?.addEventListener('abort', wake);
    let seq = 0;
    try {
      await this.#open(this.#fromSeq);
      while (seq < this.#lastSeq && signal?.aborted !== true) {
        const piece = this.#received;
        if (piece.length === 0) {
          await this.#more(seq);
          continue;
        }
        this.#received = [];
        for (const message of piece) {
          if (seq !== 0 && message.seq !== seq + 1) throw new Error(`message ${message.seq} came after message ${seq}`);
          seq = message.seq;
        }
        // Where the first ones were purged, others beyond the last one came in their place.
        yield seq <= this.#lastSeq ? piece : piece.filter((message) => message.seq <= this.#lastSeq);
        this.#quietSince = stopwatchMs();
      }
    } catch (error) {
      throw new LogUnreachable(`the stream ${this.#stream} cannot be read: ${messageOf(error)}`, error);
    } finally {
      endFollowing();
      signal?.removeEventListener('abort', wake);
      this.#close();
    }
  }

  async #open(fromSeq: number): Promise<void> {
    const { name } = await this.#jsm.consumers.add(this.#stream, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: fromSeq,
      mem_storage: true,
      num_replicas: 1,
      inactive_threshold: nanos(ABANDONED_MS),
    });
    this.#consumer = name;
    this.#subscription = this.#connection.nats.subscribe(this.#inbox, {
      callback: (error, message) => (error === null ? this.#receive(message) : this.#fail(error)),
    });
  }

  #close(): void {
    this.#subscription?.unsubscribe();
    if (this.#consumer !== '') this.#jsm.consumers.delete(this.#stream, this.#consumer).catch(() => undefined);
  }

  #receive(message: Msg): void {
    const code = message.headers?.code ?? 0;
    if (code === NOBODY_THERE) return this.#askAgain();
    this.#refusals = 0;
    if (code === HEARTBEAT && message.data.length === 0) return this.#changed?.();
    if (code >= HEARTBEAT) {
      // The servers have ended a request: its time is over, or its bytes are there. Anything else is seen as silence.
      const left = Number(message.headers?.get('Nats-Pending-Messages'));
      this.#asked = Number.isInteger(left) ? Math.max(0, this.#asked - left) : 0;
      return this.#changed?.();
    }
    this.#asked -= 1;
    const seq = seqOf(message.reply ?? '');
    // Rule 5.
    if (seq >= this.#fromSeq) this.#received.push({ seq, body: message.data });
    this.#changed?.();
  }

  #askAgain(): void {
    this.#refusals += 1;
    if (this.#refusals > REFUSALS_MAX) return this.#fail(new Error('no server knows its consumer'));
    setTimeout(() => {
      this.#asked = 0;
      this.#changed?.();
    }, ASK_AGAIN_MS);
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.#changed?.();
  }

  /** Asks for more where little is under way, and waits for a message or a sign of life. */
  async #more(seq: number): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    if (this.#asked === 0) this.#ask(Math.min(BATCH, this.#lastSeq - Math.max(seq, this.#fromSeq - 1)));
    let timeout: NodeJS.Timeout | undefined;
    const isInTime = await new Promise<boolean>((resolve) => {
      this.#changed = () => resolve(true);
      timeout = setTimeout(() => resolve(false), SILENCE_MS_MAX);
    });
    clearTimeout(timeout);
    this.#changed = null;
    if (!isInTime) throw new Error('the servers are silent');
    if (this.#received.length === 0 && stopwatchMs() - this.#quietSince >= SILENCE_MS_MAX) {
      await this.#requireCurrent(Math.max(seq, this.#fromSeq - 1));
    }
  }

  /** Throws when a message is missing that was known to be there before the quiet began (rule 3). */
  async #requireCurrent(seq: number): Promise<void> {
    if (this.#knownSeq > seq) throw new Error(`the replica that was asked does not send message ${seq + 1}`);
    this.#knownSeq = await this.#leadersLastSeq().catch(() => 0);
    this.#quietSince = stopwatchMs();
  }

  #ask(batch: number): void {
    const request = {
      batch,
      max_bytes: BATCH_BYTES,
      expires: nanos(PULL_MS_MAX),
      idle_heartbeat: nanos(HEARTBEAT_MS),
    };
    this.#asked = batch;
    this.#quietSince = stopwatchMs();
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${this.#stream}.${this.#consumer}`;
    this.#connection.nats.publish(subject, JSON.stringify(request), { reply: this.#inbox });
  }
}

/**
 * The number of a message, from the subject for its acknowledgement:
 * $JS.ACK.[domain.account.]stream.consumer.tries.seq.…
 */
function seqOf(reply: string): number {
  const parts = reply.split('.');
  return Number(parts[parts.length > 9 ? 7 : 5]);
}
