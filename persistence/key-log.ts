/**
 * The port of the stream that has a cluster's keys: messages with topics in one order, of which the newest of a topic
 * counts.
 *
 * `keys/stream-log.ts` keeps it on a JetStream stream, and the twin for tests `memory/key-log.ts`.
 *
 * 1. Sequence numbers only grow; a message that was erased or replaced leaves a gap.
 * 2. An append without an answer has an unknown outcome: it may have been appended, and may still be appended later.
 * 3. What is read is answered by the stream's leader. One that was just elected may not have the newest messages yet. A
 *    reader that appended a message and has its number sees everything before it, unless another leader was elected
 *    since.
 */
import type { AppendOutcome, LogMessage } from './shard-log.ts';

export interface KeyLog {
  /** Appends whatever was appended before. Never rejects. */
  put(topic: string, body: Uint8Array): Promise<AppendOutcome>;
  /** Appends after the message `expectedLastSeq` of the whole stream (0: as the first one). Never rejects. */
  append(topic: string, body: Uint8Array, expectedLastSeq: number): Promise<AppendOutcome>;
  /** Appends, and drops the earlier messages of the topic without overwriting them. Never rejects. */
  replace(topic: string, body: Uint8Array): Promise<AppendOutcome>;
  /** The number of the newest message; 0 when there was never one. Rejects with LogUnreachable. */
  lastSeq(): Promise<number>;
  /** The newest message of a topic, or null. Rejects with LogUnreachable. */
  newest(topic: string): Promise<LogMessage | null>;
  /** The oldest message of a topic that is still there, or null. Rejects with LogUnreachable. */
  oldest(topic: string): Promise<LogMessage | null>;
  /** The messages of all topics from one to another in order, both included. Rejects with LogUnreachable. */
  read(fromSeq: number, throughSeq: number): AsyncIterable<TopicMessage>;
  /**
   * Overwrites a message on the disk of every server; one that is not there is no fault. Rejects with LogUnreachable.
   */
  erase(seq: number): Promise<void>;
}

export interface TopicMessage extends LogMessage {
  readonly topic: string;
}
