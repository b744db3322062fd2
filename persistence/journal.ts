/**
 * The contract every journal keeps: an append-only sequence of facts, made durable in groups.
 *
 * A fact here is a type and a JSON text; what it means is known to `src/domain` alone (I6).
 * Two journals keep this contract and pass one suite: `sqlite/journal.ts` and `memory-journal.ts`.
 *
 *  1. `append` gives sequence numbers at once, without gaps (I9), in the order of the calls.
 *  2. A unit is durable whole or not at all.
 *  3. The promises of `durable` settle many together, in the order of what became durable: never one for a later
 *     number before one for an earlier number, when they were asked for in that order.
 *  4. After a fault nothing appended and unanswered is promised: its outcome is unknown until the journal is opened
 *     again or, after a full disk, comes back. It is forgotten here: `appendedSeq` falls back to `durableSeq`, status
 *     listeners run, then everybody who waits is told, in order.
 *  5. Numbers of forgotten facts are given out again, so `durable` is called in the turn that appended. When the
 *     status is OPEN again `durableSeq` may have grown by facts that were in doubt: states built while FULL are stale.
 */

import { channel } from 'node:diagnostics_channel';

/** What one turn leaves behind: facts that become durable together. */
export interface Unit {
  /** The stream the facts belong to: an event's id, or '' for the service itself. */
  readonly eventId: string;
  /** Milliseconds since 1970, stamped once for the turn. */
  readonly at: number;
  readonly facts: readonly { readonly type: string; readonly data: string }[];
}

/** One stored fact. */
export interface FactRow {
  readonly seq: number;
  readonly at: number;
  readonly eventId: string;
  readonly type: string;
  /** JSON text, as appended. */
  readonly data: string;
}

/**
 * OPEN takes facts. FULL: the disk is full; nothing can be appended, the journal probes and comes back by itself.
 * BROKEN: an I/O error; the outcome of what was under way is unknown and the process must stop. CLOSED: after `close`.
 */
export type JournalStatus = 'OPEN' | 'FULL' | 'BROKEN' | 'CLOSED';

/** Trouble with the disk, with a hint an operator can act on. */
export class JournalFault extends Error {
  readonly kind: 'FULL' | 'BROKEN' | 'CLOSED';
  readonly hint: string;
  constructor(kind: 'FULL' | 'BROKEN' | 'CLOSED', message: string, hint: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'JournalFault';
    this.kind = kind;
    this.hint = hint;
  }
}

export interface Journal {
  readonly status: JournalStatus;
  /** The last sequence number given out; 0 when nothing was ever appended. */
  readonly appendedSeq: number;
  /** The last sequence number that is known to be on disk. */
  readonly durableSeq: number;

  /**
   * Takes a unit and returns the sequence number of its last fact; the facts become durable soon after.
   * Throws JournalFault when the status is not OPEN.
   */
  append(unit: Unit): number;

  /**
   * Resolves once everything up to `seq` is durable; rejects with the JournalFault that leaves it in doubt. A number
   * beyond `appendedSeq` belongs to a forgotten fact and is rejected (rule 5).
   */
  durable(seq: number): Promise<void>;

  /**
   * Durable facts in order of sequence, after `afterSeq` (default 0), optionally of one stream only.
   * The iterator reads a consistent view and may be left early.
   */
  read(options?: { readonly afterSeq?: number; readonly eventId?: string }): Iterable<FactRow>;

  /** The streams in the journal with the sequence number of their newest durable fact. */
  streams(): Iterable<{ readonly eventId: string; readonly lastSeq: number }>;

  /** Called at each change of status, so that a service can drop what ran ahead and say why it is not ready. */
  onStatus(listener: (status: JournalStatus, fault: JournalFault | null) => void): void;

  /** Writes what was appended, closes, resolves; `append` throws from the call on. */
  close(): Promise<void>;
}

/** A batch of facts became durable. */
export interface BatchMessage {
  readonly facts: number;
  /** From the first row to the return of the fsync, in the writer's thread. */
  readonly commitMs: number;
}

/** Carries a message for each batch; a diagnostics channel, so that nothing is published without a subscriber. */
export const batchChannel = channel('holdfast:batch');
