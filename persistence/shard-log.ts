/**
 * The port of one shard's replicated log: messages in one order, each with a sequence number. The log is the lock: an
 * append names the sequence number of the message that it must follow, so that of two writers one is refused.
 *
 * `log/stream-log.ts` keeps it on a JetStream stream; the simulation has a twin that loses, delays and repeats answers.
 *
 * 1. Sequence numbers have no gaps. A purge drops messages from the beginning only.
 * 2. An append without an answer has an unknown outcome: it may have been appended, and may still be appended later. It
 *    may be repeated only with the same expectation and body; at most one of the repeats is appended.
 * 3. `lastSeq` and `get` are answered by the log's leader, so that they see every append that was acknowledged before
 *    the call. A leader that stood still until another one was elected may answer for a moment more from what it knew
 *    before: only an append proves that nothing was appended since.
 */

export interface LogMessage {
  readonly seq: number;
  readonly body: Uint8Array;
}

/** CONFLICT: the log does not end with the expected message. UNKNOWN: see rule 2. */
export type AppendOutcome =
  | { readonly outcome: 'APPENDED'; readonly seq: number }
  | { readonly outcome: 'CONFLICT' }
  | { readonly outcome: 'UNKNOWN'; readonly cause: unknown };

/** Why the outcome of an append is not known. */
export function causeOf(answer: AppendOutcome): unknown {
  return answer.outcome === 'UNKNOWN' ? answer.cause : undefined;
}

/** The log cannot be read now: no server, no leader, or a time limit. */
export class LogUnreachable extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'LogUnreachable';
  }
}

export interface ShardLog {
  /** Appends after the message `expectedLastSeq` (0: as the first one). Never rejects. */
  append(body: Uint8Array, expectedLastSeq: number): Promise<AppendOutcome>;
  /** The sequence number of the newest message; 0 when there was never one. Rejects with LogUnreachable. */
  lastSeq(): Promise<number>;
  /** One message; null when there is none, or it was purged. Rejects with LogUnreachable. */
  get(seq: number): Promise<LogMessage | null>;
  /** The messages from one to another in order, both included. Rejects with LogUnreachable. */
  read(fromSeq: number, throughSeq: number): AsyncIterable<LogMessage>;
  /** The messages from one on, and those to come, until the signal. Connects again by itself. */
  follow(fromSeq: number, signal: AbortSignal): AsyncIterable<LogMessage>;
  /** Drops every message before one. Rejects with LogUnreachable. */
  purge(beforeSeq: number): Promise<void>;
}
