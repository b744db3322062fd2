/**
 * The journal of a shard for its owner, on the shard's replicated log: gathers facts into batches, one message each,
 * and settles the promises of `durable`.
 *
 * `claim.ts` makes it from what it recovered, `append-window.ts` has the protocol of the log, `gathered-facts.ts` the
 * facts that are not durable yet.
 *
 * 1. A message has everything that was gathered since the last one was sent. A turn is sent at once while fewer than
 *    the allowed number are under way; the more are under way, the more turns share a message.
 * 2. A fact is durable when its message and all before it are in the log.
 * 3. A fenced journal is CLOSED for ever, with a fault: what was not durable is forgotten, may be in the log or not,
 *    and the next owner knows which. No promise of `durable` resolves any more.
 * 4. Rows that are not released stay in memory; `read` shows those.
 * 5. An append that was sent after the question and is in the log proves that this is still the owner: a batch, or
 *    where none is due a proof record. While the newest append is young, the log's leader is asked instead, which costs
 *    no message.
 */

import { channel } from 'node:diagnostics_channel';
import {
  batchChannel,
  type BatchMessage,
  JournalFault,
  type FactRow,
  type Journal,
  type JournalStatus,
  type Unit,
} from '../../journal.ts';
import { AppendWindow, IN_FLIGHT_MAX } from './append-window.ts';
import { ExecutedCommands, type KnownCommand } from './executed-commands.ts';
import { GatheredFacts, type GatheringBounds, type GatheredBatch } from './gathered-facts.ts';
import {
  decodeRecord,
  encodeRecord,
  recordHash,
  type BatchRecord,
  type ExecutedCommand,
  type ProofRecord,
} from './records.ts';
import { RetainedRows } from './retained-rows.ts';
import type { ShardLog } from '../../shard-log.ts';
import { copyHead, type ShardHead } from './head.ts';
import { machineTiming, type Timing } from '../timing.ts';

/**
 * Large enough that many turns share a message, small enough that the first reply of a batch does not wait long for the
 * last.
 */
const BOUNDS: GatheringBounds = { batchUnitsMax: 256, batchSizeMax: 512 * 1024 };

/** A batch is in the log. */
export interface AppendMessage {
  readonly facts: number;
  readonly units: number;
  readonly bytes: number;
  /** From the first try to the acknowledgement of it and all before it. */
  readonly appendMs: number;
}

/** Carries a message for each batch of every shard. */
export const appendChannel = channel('holdfast:cluster-append');

/**
 * What is known of a shard at one moment: its head, the rows that no snapshot covers, the commands of the last while.
 */
export interface ShardContent {
  readonly head: ShardHead;
  readonly rows: readonly FactRow[];
  readonly executed: readonly ExecutedCommand[];
}

export interface ShardJournalOptions extends Partial<GatheringBounds> {
  readonly timing?: Timing;
}

interface Sent {
  /** Null for a proof. */
  readonly facts: { readonly batch: GatheredBatch; readonly hash: string } | null;
  readonly proofs: readonly PromiseWithResolvers<boolean>[];
  readonly bytes: number;
  readonly sentMs: number;
}

type Unsent<Sending> = Omit<Sending, 'id' | 'epoch'>;

/**
 * How long after an append the log's leader is believed, if it has that append. NATS servers elect another one only
 * when they have not heard it for four seconds; a leader that was paused answered for some milliseconds more from its
 * old state (measured).
 */
const LEADER_TRUSTED_MS = 3_000;

export class ShardJournal implements Journal {
  /** The number of the claim. */
  readonly epoch: number;
  readonly #log: ShardLog;
  readonly #timing: Timing;
  /** At the newest durable fact, and at the newest message that is known. */
  readonly #head: ShardHead;
  readonly #gathered: GatheredFacts;
  readonly #window: AppendWindow;
  readonly #retained: RetainedRows;
  readonly #executed: ExecutedCommands;
  readonly #listeners: ((status: JournalStatus, fault: JournalFault | null) => void)[] = [];
  readonly #stallListeners: ((cause: unknown) => void)[] = [];
  readonly #fenceListeners: ((fault: JournalFault) => void)[] = [];
  /** What was sent, by the id of its record. */
  readonly #sent = new Map<string, Sent>();
  #status: JournalStatus = 'OPEN';
  #fault: JournalFault | null = null;
  /** The hash of the newest batch that was sent. */
  #sentHash: string;
  #sentCount = 0;
  /** Whoever asked for a proof since the last record was sent. */
  readonly #proofs: PromiseWithResolvers<boolean>[] = [];
  /** By the stopwatch: when the newest append that is in the log was sent. */
  #provenMs = Number.NEGATIVE_INFINITY;
  #isFlushScheduled = false;
  #isEnded = false;
  #drained: PromiseWithResolvers<void> | null = null;

  /** For the node whose claim the content ends with, or whose claim only void batches follow. */
  constructor(log: ShardLog, content: ShardContent, options: ShardJournalOptions = {}) {
    const { timing = machineTiming, ...bounds } = options;
    this.#log = log;
    this.#timing = timing;
    this.#head = copyHead(content.head);
    this.epoch = this.#head.epoch;
    this.#sentHash = this.#head.hash;
    this.#gathered = new GatheredFacts(this.#head.factSeq, this.#head.heads, { ...BOUNDS, ...bounds });
    this.#retained = new RetainedRows(content.rows);
    this.#executed = new ExecutedCommands(timing, content.executed);
    const { epoch, streamSeq } = this.#head;
    this.#window = new AppendWindow(
      { log, timing, epoch, streamSeq },
      {
        appended: (id, seq) => this.#advance(id, seq),
        skipped: (seq) => (this.#head.streamSeq = seq),
        stalled: (cause) => {
          for (const listener of this.#stallListeners) listener(cause);
        },
        fenced: (reason) => this.#end(fencedFault(reason), true),
      },
    );
  }

  get status(): JournalStatus {
    return this.#status;
  }

  get appendedSeq(): number {
    return this.#gathered.appendedSeq;
  }

  get durableSeq(): number {
    return this.#head.factSeq;
  }

  /** The newest message of the log that this owner knows with everything before it. */
  get streamSeq(): number {
    return this.#head.streamSeq;
  }

  /** About how much memory the retained rows take. */
  get retainedBytes(): number {
    return this.#retained.bytes;
  }

  append(unit: Unit): number {
    if (this.#status !== 'OPEN') throw this.#fault ?? closedFault();
    const seq = this.#gathered.add(unit);
    if (unit.command !== undefined) {
      const { id, reply } = unit.command;
      this.#executed.add({ id, eventId: unit.eventId, at: unit.at, reply }, seq);
    }
    this.#flushSoon();
    return seq;
  }

  durable(seq: number): Promise<void> {
    if (seq <= this.durableSeq) return Promise.resolve();
    if (seq > this.appendedSeq) return Promise.reject(this.#fault ?? forgottenFault(seq));
    return this.#gathered.batches.durable(seq);
  }

  /** The retained durable facts (rule 4). */
  *read(options: { readonly afterSeq?: number; readonly eventId?: string } = {}): Iterable<FactRow> {
    const { afterSeq = 0, eventId } = options;
    yield* eventId === undefined ? this.#retained.all(afterSeq) : this.#retained.of(eventId, afterSeq);
  }

  /** The retained durable facts of a stream, in the form of the journal of one machine. */
  factsOf(eventId: string, afterSeq: number): Promise<Iterable<FactRow>> {
    return Promise.resolve(this.#retained.of(eventId, afterSeq));
  }

  *streams(): Iterable<{ readonly eventId: string; readonly lastSeq: number }> {
    for (const [eventId, lastSeq] of this.#head.heads) yield { eventId, lastSeq };
  }

  /** Drops the rows of a stream that a snapshot covers. */
  release(eventId: string, throughSeq: number): void {
    this.#retained.release(eventId, Math.min(throughSeq, this.durableSeq));
  }

  /** A command that this owner or one before it carried out in the last while; null for any other. */
  executedCommand(id: string): KnownCommand | null {
    return this.#executed.get(id);
  }

  /** What another node would recover of the durable part: the content of a checkpoint. */
  content(): ShardContent {
    return {
      head: copyHead(this.#head),
      rows: this.#retained.all(0),
      executed: this.#executed.durable(this.durableSeq),
    };
  }

  /**
   * Whether this is still the owner at some moment after the call (rule 5). A journal that is no longer the owner's is
   * fenced by this call, because it may never append again and so never notice. Rejects with LogUnreachable, or waits
   * until the log can be reached.
   */
  async confirmOwnership(): Promise<boolean> {
    if (this.#status !== 'OPEN') return false;
    const provenMs = this.#provenMs;
    if (this.#timing.stopwatchMs() - provenMs < LEADER_TRUSTED_MS) {
      const isSeen = await this.#isLastOwner();
      if (this.#status !== 'OPEN') return false;
      if (isSeen && this.#timing.stopwatchMs() - provenMs < LEADER_TRUSTED_MS) return true;
    }
    const proof = Promise.withResolvers<boolean>();
    this.#proofs.push(proof);
    this.#flushSoon();
    return proof.promise;
  }

  onStatus(listener: (status: JournalStatus, fault: JournalFault | null) => void): void {
    this.#listeners.push(listener);
  }

  /** Calls the listener when another node owns the shard, or may own it. */
  onFenced(listener: (fault: JournalFault) => void): void {
    this.#fenceListeners.push(listener);
  }

  /** Whether the servers have not taken an append for STALLED_MS. */
  get isStalled(): boolean {
    return this.#window.isStalled;
  }

  /**
   * Calls the listener when the servers have not taken an append for STALLED_MS; the append is tried again all the
   * same.
   */
  onStalled(listener: (cause: unknown) => void): void {
    this.#stallListeners.push(listener);
  }

  /** Waits until everything that was appended is durable, or this journal is fenced or abandoned. */
  async close(): Promise<void> {
    if (this.#status === 'OPEN') {
      this.#status = 'CLOSED';
      for (const listener of this.#listeners) listener('CLOSED', null);
    }
    if (this.#gathered.batches.isEmpty) return this.#stopSending();
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  /** Closes at once; what is not durable stays unknown. */
  abandon(): void {
    this.#end(closedFault(), false);
  }

  /**
   * Whether the log, as its leader sees it, has no claim after this owner's; false also for a leader that knows less
   * than this owner.
   */
  async #isLastOwner(): Promise<boolean> {
    const known = this.#window.streamSeq;
    const lastSeq = await this.#log.lastSeq();
    if (lastSeq < known) return false;
    const newest = this.#window.streamSeq;
    // The log can go beyond this owner's appends under way, and void ones, only when another node writes it.
    if (lastSeq > newest + 2 * IN_FLIGHT_MAX) return this.#doubt(`its log went on to message ${lastSeq}`);
    for (let seq = newest + 1; seq <= lastSeq; seq += 1) {
      const message = await this.#log.get(seq);
      if (message === null) return this.#doubt(`message ${seq} of its log was purged`);
      const record = decodeRecord(message.body);
      if (record.kind === 'claim') return this.#doubt(`node ${record.node} claimed it`);
    }
    return true;
  }

  #doubt(reason: string): false {
    this.#end(fencedFault(reason), true);
    return false;
  }

  #flushSoon(): void {
    if (this.#isFlushScheduled || !this.#window.isFree) return;
    this.#isFlushScheduled = true;
    this.#timing.soon(() => {
      this.#isFlushScheduled = false;
      this.#flush();
    });
  }

  #flush(): void {
    while (this.#window.isFree) {
      const batch = this.#gathered.batches.take();
      if (batch !== null) this.#sendBatch(batch);
      else if (this.#proofs.length > 0) this.#sendProof();
      else return;
    }
  }

  #sendBatch(batch: GatheredBatch): void {
    const { firstSeq, lastSeq, text, commands } = batch;
    const hash = recordHash(this.#sentHash, text);
    this.#sentHash = hash;
    this.#send({ kind: 'batch', firstSeq, lastSeq, hash, commands, canonicalTexts: text }, { batch, hash });
  }

  #sendProof(): void {
    this.#send({ kind: 'proof' }, null);
  }

  /** Sends a record; it gives every proof that was requested until now (rule 5). */
  #send(record: Unsent<BatchRecord> | Unsent<ProofRecord>, facts: Sent['facts']): void {
    const id = `${this.epoch}-${++this.#sentCount}`;
    const body = encodeRecord({ ...record, id, epoch: this.epoch });
    const proofs = this.#proofs.splice(0);
    this.#sent.set(id, { facts, proofs, bytes: body.length, sentMs: this.#timing.stopwatchMs() });
    this.#window.send(id, body);
  }

  #advance(id: string, seq: number): void {
    const sent = this.#sent.get(id);
    if (sent === undefined) throw new Error('a record must be settled once');
    this.#sent.delete(id);
    this.#head.streamSeq = seq;
    this.#provenMs = Math.max(this.#provenMs, sent.sentMs);
    if (sent.facts !== null) this.#advanceFacts(sent.facts);
    this.#flush();
    for (const proof of sent.proofs) proof.resolve(true);
    if (sent.facts !== null) this.#publish(sent, sent.facts.batch);
    if (this.#gathered.batches.isEmpty) this.#settleClose();
  }

  #advanceFacts({ batch, hash }: NonNullable<Sent['facts']>): void {
    if (this.#gathered.batches.settleOldest() !== batch)
      throw new Error('batches must be settled in the order in which they were sent');
    const { rows, lastSeq } = batch;
    this.#retained.add(rows);
    for (const row of rows) this.#head.heads.set(row.eventId, row.seq);
    this.#head.factSeq = lastSeq;
    this.#head.hash = hash;
    this.#head.at = rows.at(-1)!.at;
  }

  #publish({ bytes, sentMs }: Sent, { rows, units }: GatheredBatch): void {
    const appendMs = this.#timing.stopwatchMs() - sentMs;
    if (batchChannel.hasSubscribers)
      batchChannel.publish({ facts: rows.length, commitMs: appendMs } satisfies BatchMessage);
    if (appendChannel.hasSubscribers)
      appendChannel.publish({ facts: rows.length, units, bytes, appendMs } satisfies AppendMessage);
  }

  #end(fault: JournalFault, isFenced: boolean): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#stopSending();
    const wasOpen = this.#status === 'OPEN';
    this.#status = 'CLOSED';
    this.#fault = fault;
    this.#gathered.forget(this.durableSeq, fault);
    if (wasOpen) for (const listener of this.#listeners) listener('CLOSED', isFenced ? fault : null);
    if (isFenced) for (const listener of this.#fenceListeners) listener(fault);
    this.#drained?.reject(fault);
    this.#drained = null;
  }

  #settleClose(): void {
    if (this.#drained === null) return;
    this.#stopSending();
    this.#drained.resolve();
    this.#drained = null;
  }

  /** Nothing proves any more that this is the owner. */
  #stopSending(): void {
    this.#window.stop();
    const proofs = [...this.#sent.values()].flatMap((sent) => sent.proofs);
    this.#sent.clear();
    for (const proof of [...proofs, ...this.#proofs.splice(0)]) proof.resolve(false);
  }
}

function fencedFault(reason: string): JournalFault {
  return new JournalFault('CLOSED', `this node no longer owns the shard: ${reason}`, 'Ask the owner of the shard.');
}

function forgottenFault(seq: number): JournalFault {
  return new JournalFault('CLOSED', `fact ${seq} was never appended`, 'Ask again.');
}

function closedFault(): JournalFault {
  return new JournalFault('CLOSED', 'the journal of the shard is closed', 'Ask the owner of the shard.');
}
