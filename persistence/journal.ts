/**
 * The contract of a journal: an append-only sequence of facts, made durable in groups.
 *
 * A fact here is a type and a JSON text; only `src/domain` knows its meaning (I6). The journals that keep this contract
 * pass one test suite: `sqlite/journal.ts`, its twin for tests `memory/journal.ts`, and `log/journal.ts`.
 *
 *  1. `append` returns the sequence number of its last fact at once; numbers have no gaps (I9) and follow the order of
 *     the calls.
 *  2. A unit becomes durable as a whole or not at all.
 *  3. The promises of `durable` resolve many together, in the order in which facts become durable.
 *  4. A fault leaves the outcome of every fact that was not durable unknown, until the journal is opened again or,
 *     after a full disk, is OPEN again. Until then they are dropped from memory and may or may not be on the disk:
 *     `appendedSeq` falls back to `durableSeq`, status listeners run, then the promises of `durable` reject.
 *  5. Numbers of dropped facts are given out again, so `durable` is called in the turn that appended. When the status
 *     is OPEN again, `durableSeq` may have grown by facts whose outcome was unknown: states built while FULL are stale.
 */
import { channel } from 'node:diagnostics_channel';

/** The facts of one turn, which become durable together. */
export interface Unit {
  /** The stream the facts belong to: an event's id, or '' for the service itself. */
  readonly eventId: string;
  /** The moment of the turn, in milliseconds since 1970. */
  readonly at: number;
  readonly facts: readonly { readonly type: string; readonly data: string }[];
  /**
   * The command that led to the facts, where it may be sent again: a journal of several machines keeps it beside them.
   */
  readonly command?: { readonly id: string; readonly reply: string };
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
 * OPEN takes facts. FULL: the disk is full; nothing can be appended, and the journal probes the disk until it is OPEN
 * again. BROKEN: an I/O error; the outcome of pending facts is unknown and the process must stop. CLOSED: after
 * `close`.
 */
export type JournalStatus = 'OPEN' | 'FULL' | 'BROKEN' | 'CLOSED';

/** The disk failed or is full, or the journal is closed; the hint says what an operator can do. */
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
  /** The sequence number of the newest appended fact; 0 when nothing was ever appended. */
  readonly appendedSeq: number;
  /** The sequence number of the newest fact that is known to be on disk. */
  readonly durableSeq: number;

  /**
   * Takes a unit and returns the sequence number of its last fact, which becomes durable later.
   * Throws JournalFault when the status is not OPEN.
   */
  append(unit: Unit): number;

  /**
   * Resolves once everything up to `seq` is durable; rejects with the JournalFault that leaves it in doubt. A number
   * beyond `appendedSeq` belongs to a forgotten fact and is rejected (rule 5).
   */
  durable(seq: number): Promise<void>;

  /**
   * The durable facts after `afterSeq` (default 0) in order of sequence, of one stream or of all. The iterator reads a
   * consistent view and may be left early.
   */
  read(options?: { readonly afterSeq?: number; readonly eventId?: string }): Iterable<FactRow>;

  /** The streams of the journal, each with the sequence number of its newest durable fact. */
  streams(): Iterable<{ readonly eventId: string; readonly lastSeq: number }>;

  /** Calls the listener at each change of status, with the fault that caused it. */
  onStatus(listener: (status: JournalStatus, fault: JournalFault | null) => void): void;

  /** Makes everything appended durable, then closes. From the call on `append` throws. */
  close(): Promise<void>;
}

/** A batch of facts became durable. */
export interface BatchMessage {
  readonly facts: number;
  /** From the first row to the return of the fsync. */
  readonly commitMs: number;
}

/** Carries a message for each batch; a diagnostics channel, so that nothing is published without a subscriber. */
export const batchChannel = channel('holdfast:batch');
