/**
 * The SQLite journal of a data folder, main-thread half: gathers facts into batches, posts them to the writer thread
 * and settles the promises of `durable`.
 *
 * `writer.ts` writes, `pending.ts` keeps the facts that are not durable yet, `recovery.ts` proves the journal at the
 * start.
 *
 *  1. One batch is with the writer at a time. It is posted when the writer is idle, without a timer, and the next one
 *     is posted before the replies to the previous one are sent, so that disk and main thread work in parallel.
 *  2. Reads see facts up to the durable head of the moment they begin, never more, and hold no transaction open.
 *  3. After a fault all pending facts are forgotten: the state is put back, then status listeners run, then the
 *     promises of `durable` reject. Forgotten numbers are given out again after recovery, so `durable` is called in the
 *     turn that appended.
 *  4. At WRITABLE the head is read again; what was in doubt and is on disk counts as appended and durable from then on.
 */

import { Worker } from 'node:worker_threads';
import { archiveFacts, ARCHIVE_FOLDER, proveArchiveAside, type ArchivedFacts } from './archive.ts';
import { errorCode } from '../faults.ts';
import type { InjectedFault } from './fault-injector.ts';
import { tightenFolder } from '../files.ts';
import { FactHistory, surveyArchive, type ArchiveSurvey } from './history.ts';
import {
  batchChannel,
  type BatchMessage,
  JournalFault,
  type FactRow,
  type Journal,
  type JournalStatus,
  type Unit,
} from '../journal.ts';
import type { FromWriter, ToWriter, WriterOptions, WriterTuning } from './writer.ts';
import { lockFolder, type FolderLock } from './lock.ts';
import { PendingFacts, type BatchBounds } from './pending.ts';
import { recoverHead, type RecoveryListener } from './recovery.ts';
import { factReader, type FactReader } from './reader.ts';
import { journalPath, openReading, type Connection } from './schema.ts';
import { BATCH, DURABLE, MESSAGE, SharedPage, type Head } from './shared-page.ts';
import { SNAPSHOTS_FOLDER } from '../snapshots.ts';

export interface SqliteJournalOptions extends RecoveryListener, Partial<WriterTuning>, Partial<BatchBounds> {
  readonly folder: string;
  /** The version of the program, noted as the journal's last writer. */
  readonly program?: string | undefined;
  /** For tests only. */
  readonly injectFault?: InjectedFault | undefined;
}

/**
 * Large enough that many turns share an fsync, small enough that the first reply of a batch does not wait long for the
 * last.
 */
const BOUNDS: BatchBounds = { batchFactsMax: 500, batchBytesMax: 256 * 1024 };
const TUNING: WriterTuning = {
  watermarkEveryMs: 100,
  probeEveryMs: 1_000,
  checkpointPages: 4_000,
  checkpointIdlePages: 250,
  checkpointIdleMs: 20,
};

/**
 * Takes the folder's lock, proves watermark and chain in slices, and starts the writer. Rejects with FolderInUse,
 * JournalDamaged, JournalTooNew or JournalFault, and then leaves the folder as it was found.
 */
export async function openSqliteJournal(options: SqliteJournalOptions): Promise<SqliteJournal> {
  const { folder } = options;
  const lock = lockFolder(folder);
  try {
    const notPrivate = tightenFolder(folder, [SNAPSHOTS_FOLDER, ARCHIVE_FOLDER]);
    const recovered = await recoverHead(folder, options);
    const page = new SharedPage();
    const { worker, ready } = await startWriter({
      folder,
      memory: page.memory,
      tuning: withDefaults(TUNING, options),
      injectFault: options.injectFault ?? null,
      program: options.program,
    });
    const head = ready.head.seq;
    const db = openReading(journalPath(folder));
    if (db === null || head !== (recovered?.seq ?? 0)) {
      worker.postMessage({ kind: 'CLOSE' } satisfies ToWriter);
      page.signal(MESSAGE);
      throw new Error(`recovery proved fact ${recovered?.seq ?? 0}, but the writer starts at fact ${head}`);
    }
    const pending = new PendingFacts(head, recovered?.heads ?? new Map(), withDefaults(BOUNDS, options));
    const archivedHeads = recovered?.archivedHeads ?? new Map<string, number>();
    return new SqliteJournal({ folder, lock, worker, page, ready, db, pending, archivedHeads, notPrivate });
  } catch (error) {
    lock.abandon();
    throw error;
  }
}

interface Parts {
  readonly folder: string;
  readonly lock: FolderLock;
  readonly worker: Worker;
  readonly page: SharedPage;
  readonly ready: Extract<FromWriter, { kind: 'READY' }>;
  readonly db: Connection;
  readonly pending: PendingFacts;
  readonly archivedHeads: ReadonlyMap<string, number>;
  readonly notPrivate: readonly string[];
}

type Request = 'WATERMARK_WRITTEN' | 'PRUNED' | 'KEYS_ID_NOTED';

export class SqliteJournal implements Journal {
  readonly folder: string;
  readonly journalId: string;
  /** The id of the keys that the facts are sealed with, as of the opening; null where none was noted. */
  readonly keysId: string | null;
  /** The newest archived fact of each stream that had one when the journal was opened. */
  readonly archivedHeads: ReadonlyMap<string, number>;
  /** Paths that others than the owner may read, because this process is not allowed to change their rights. */
  readonly notPrivate: readonly string[];
  /** Whether the process that had the folder before ended without closing the journal. */
  readonly wasCutOff: boolean;
  readonly #lock: FolderLock;
  readonly #worker: Worker;
  readonly #page: SharedPage;
  readonly #db: Connection;
  readonly #reader: FactReader;
  readonly #history: FactHistory;
  readonly #pending: PendingFacts;
  readonly #listeners: ((status: JournalStatus, fault: JournalFault | null) => void)[] = [];
  readonly #requests: { readonly kind: Request; settle(fault: JournalFault | null): void }[] = [];
  #status: JournalStatus = 'OPEN';
  #fault: JournalFault | null = null;
  #head: Head;
  #baseSeq: number;
  #inFlight = false;
  #flushScheduled = false;
  #whenDrained: (() => void) | null = null;
  /** The fault that kept the writer from closing in order. */
  #closingFault: JournalFault | null = null;
  #closed: Promise<void> | null = null;

  constructor({ folder, lock, worker, page, ready, db, pending, archivedHeads, notPrivate }: Parts) {
    this.folder = folder;
    this.journalId = ready.journalId;
    this.keysId = ready.keysId;
    this.wasCutOff = lock.wasLeft;
    this.#lock = lock;
    this.#worker = worker;
    this.#page = page;
    this.#db = db;
    this.#reader = factReader(db);
    this.#history = new FactHistory(folder, db, proveArchiveAside);
    this.archivedHeads = archivedHeads;
    this.notPrivate = notPrivate;
    this.#pending = pending;
    this.#head = ready.head;
    this.#baseSeq = ready.baseSeq;
    worker.on('message', (message: FromWriter | typeof DURABLE) => this.#onMessage(message));
    worker.on('error', (error) => this.#break(error.message, errorCode(error)));
    worker.on('exit', () => this.#onExit());
  }

  get status(): JournalStatus {
    return this.#status;
  }

  get appendedSeq(): number {
    return this.#pending.appendedSeq;
  }

  get durableSeq(): number {
    return this.#head.seq;
  }

  /** Hash of the chain at `durableSeq`, in hex. */
  get headHash(): string {
    return Buffer.from(this.#head.hash).toString('hex');
  }

  /** The newest fact that pruning moved into the archive; reads begin after it. */
  get baseSeq(): number {
    return this.#baseSeq;
  }

  append(unit: Unit): number {
    if (this.#status !== 'OPEN') throw this.#fault ?? closedFault();
    const seq = this.#pending.add(unit);
    if (!this.#inFlight && !this.#flushScheduled) {
      this.#flushScheduled = true;
      setImmediate(() => {
        this.#flushScheduled = false;
        this.#flush();
      });
    }
    return seq;
  }

  durable(seq: number): Promise<void> {
    if (seq <= this.durableSeq) return Promise.resolve();
    if (seq > this.appendedSeq) return Promise.reject(this.#fault ?? forgottenFault(seq));
    return this.#pending.batches.durable(seq);
  }

  read(options: { readonly afterSeq?: number; readonly eventId?: string } = {}): Iterable<FactRow> {
    const { afterSeq = 0, eventId } = options;
    const upToSeq = this.durableSeq;
    const baseSeq = this.#baseSeq;
    if (eventId === undefined) return this.#reader.all({ afterSeq: Math.max(afterSeq, baseSeq), upToSeq });
    const headSeq = this.#pending.durableHead(eventId, upToSeq);
    return this.#reader.stream({ eventId, afterSeq, headSeq, baseSeq });
  }

  /**
   * The durable facts of a stream after `afterSeq`, from archive and journal. The promise and the iteration fail with
   * JournalDamaged when a fact cannot be read.
   */
  factsOf(eventId: string, afterSeq: number): Promise<Iterable<FactRow>> {
    const headSeq = this.#pending.durableHead(eventId, this.durableSeq);
    return this.#history.stream({ eventId, afterSeq, headSeq, baseSeq: this.#baseSeq });
  }

  /** The archived facts of one type after `afterSeq`, as far as the archive can be read. */
  surveyArchive(type: string, afterSeq = 0): Promise<ArchiveSurvey> {
    return surveyArchive(this.folder, { afterSeq, baseSeq: this.#baseSeq }, type, proveArchiveAside);
  }

  *streams(): Iterable<{ readonly eventId: string; readonly lastSeq: number }> {
    for (const eventId of this.#pending.eventIds()) {
      const lastSeq = this.#pending.durableHead(eventId, this.durableSeq);
      if (lastSeq > 0) yield { eventId, lastSeq };
    }
  }

  onStatus(listener: (status: JournalStatus, fault: JournalFault | null) => void): void {
    this.#listeners.push(listener);
  }

  /** Writes the watermark of the durable head now, instead of within `watermarkEveryMs`. */
  watermark(): Promise<void> {
    return this.#send('WATERMARK_WRITTEN', { kind: 'WATERMARK' });
  }

  /** Keeps the id of the keys beside the facts; durable when it resolves. */
  noteKeysId(keysId: string): Promise<void> {
    return this.#send('KEYS_ID_NOTED', { kind: 'NOTE_KEYS_ID', keysId });
  }

  /**
   * Moves whole batches at or before `throughSeq` into an archive file, proves it, then drops them from the journal, in
   * slices between other commits. The caller must have snapshots at or after `throughSeq` of every stream in them; `at`
   * is now.
   */
  async prune(throughSeq: number, at = 0): Promise<ArchivedFacts | null> {
    const archived = await archiveFacts(this.folder, Math.min(throughSeq, this.durableSeq), at);
    if (archived === null) return null;
    this.#history.noteArchived(archived);
    // A read that starts from now on must not touch rows that are being dropped.
    this.#baseSeq = Math.max(this.#baseSeq, archived.toSeq);
    await this.#send('PRUNED', { kind: 'PRUNE', throughSeq: archived.toSeq });
    return archived;
  }

  /**
   * Makes pending facts durable, checkpoints the log and releases the lock. Rejects with JournalFault when the disk
   * fails.
   */
  close(): Promise<void> {
    this.#closed ??= this.#shutDown();
    return this.#closed;
  }

  async #shutDown(): Promise<void> {
    const isBroken = this.#status === 'BROKEN';
    this.#setStatus('CLOSED', closedFault());
    if (!this.#pending.batches.isEmpty) await new Promise<void>((resolve) => (this.#whenDrained = resolve));
    // The last connection to close checkpoints the log. That is the writer's, except after an I/O error: then it must
    // not write.
    if (!isBroken) this.#db.close();
    await new Promise<void>((resolve) => {
      if (this.#worker.threadId === -1) return resolve();
      this.#worker.once('exit', () => resolve());
      this.#post({ kind: 'CLOSE' });
    });
    if (isBroken) this.#db.close();
    this.#lock.release();
    if (this.#closingFault !== null) throw this.#closingFault;
  }

  #flush(): void {
    if (this.#inFlight) return;
    const batch = this.#pending.batches.take();
    if (batch === null) return;
    this.#inFlight = true;
    if (this.#page.put(batch.text)) this.#page.signal(BATCH);
    else this.#post({ kind: 'COMMIT', text: batch.text });
  }

  #post(message: ToWriter): void {
    this.#worker.postMessage(message);
    this.#page.signal(MESSAGE);
  }

  #onMessage(message: FromWriter | typeof DURABLE): void {
    // The failure of a thread may arrive before its last DURABLE; the batch was forgotten then.
    if (message === DURABLE) return this.#inFlight ? this.#advance() : undefined;
    switch (message.kind) {
      case 'FULL':
        this.#forget(fullFault(message.message));
        return this.#post({ kind: 'FORGOTTEN' });
      case 'BROKEN':
        return this.#break(message.message, message.code);
      case 'WRITABLE':
        return this.#resume(message.head);
      case 'PRUNED':
      case 'WATERMARK_WRITTEN':
      case 'KEYS_ID_NOTED':
        return this.#settleRequest(message.kind);
      case 'READY':
        return;
    }
  }

  #advance(): void {
    const { head, commitMs } = this.#page.readOutcome();
    const facts = head.seq - this.#head.seq;
    this.#head = head;
    this.#inFlight = false;
    this.#pending.batches.settleOldest();
    this.#flush();
    if (this.#pending.batches.isEmpty) this.#drained();
    if (batchChannel.hasSubscribers) batchChannel.publish({ facts, commitMs } satisfies BatchMessage);
  }

  #forget(fault: JournalFault): void {
    this.#inFlight = false;
    this.#pending.forget(this.durableSeq, fault);
    if (this.#status !== 'CLOSED') this.#setStatus(fault.kind, fault);
    for (const request of this.#requests.splice(0)) request.settle(fault);
    this.#drained();
  }

  #break(reason: string, code: string): void {
    if (this.#status === 'BROKEN') return;
    const hint =
      'Check the disk and its mount, then start again: what was under way is settled by reading the journal.';
    const fault = new JournalFault('BROKEN', `the journal cannot be written: ${reason}${code && ` (${code})`}`, hint);
    if (this.#status === 'CLOSED') this.#closingFault ??= fault;
    this.#forget(fault);
  }

  #resume(head: Head): void {
    for (const { seq, eventId } of this.#reader.all({ afterSeq: this.durableSeq, upToSeq: head.seq })) {
      this.#pending.adopt(seq, eventId);
    }
    this.#head = head;
    if (this.#status === 'FULL') this.#setStatus('OPEN', null);
  }

  #onExit(): void {
    if (this.#closed === null || !this.#pending.batches.isEmpty) this.#break('its writer thread ended', '');
  }

  #setStatus(status: JournalStatus, fault: JournalFault | null): void {
    this.#status = status;
    this.#fault = fault;
    for (const listener of this.#listeners) listener(status, status === 'CLOSED' ? null : fault);
  }

  #drained(): void {
    this.#whenDrained?.();
    this.#whenDrained = null;
  }

  #send(kind: Request, message: ToWriter): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#status !== 'OPEN') return reject(this.#fault ?? closedFault());
      const settle = (fault: JournalFault | null): void => (fault === null ? resolve() : reject(fault));
      this.#requests.push({ kind, settle });
      this.#post(message);
    });
  }

  #settleRequest(kind: Request): void {
    const index = this.#requests.findIndex((request) => request.kind === kind);
    if (index >= 0) this.#requests.splice(index, 1)[0]?.settle(null);
  }
}

async function startWriter(
  options: WriterOptions,
): Promise<{ worker: Worker; ready: Extract<FromWriter, { kind: 'READY' }> }> {
  // Without execArgv the worker does not load the loader of the main thread; Node strips the types itself, which is
  // faster.
  const worker = new Worker(new URL('./writer.ts', import.meta.url), { workerData: options, execArgv: [] });
  const first = await new Promise<FromWriter>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  if (first.kind === 'READY') return { worker, ready: first };
  const reason = first.kind === 'BROKEN' || first.kind === 'FULL' ? first.message : first.kind;
  if (first.kind === 'FULL') throw fullFault(reason);
  throw new JournalFault(
    'BROKEN',
    `the journal cannot be opened for writing: ${reason}`,
    'Check the disk and the rights on the data folder.',
  );
}

function withDefaults<T extends object>(defaults: T, given: Partial<T>): T {
  const chosen = { ...defaults };
  for (const key of Object.keys(defaults) as (keyof T)[]) {
    const value = given[key];
    if (value !== undefined) chosen[key] = value;
  }
  return chosen;
}

function fullFault(reason: string): JournalFault {
  const hint = 'Make room on the disk of the data folder; the service goes on by itself when writing works again.';
  return new JournalFault('FULL', `the disk of the journal is full: ${reason}`, hint);
}

function forgottenFault(seq: number): JournalFault {
  return new JournalFault('FULL', `fact ${seq} was forgotten when the disk was full`, 'Ask again.');
}

function closedFault(): JournalFault {
  return new JournalFault('CLOSED', 'the journal is closed', 'Start the service again.');
}
