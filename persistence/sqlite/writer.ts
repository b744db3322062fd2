/**
 * The SQLite journal of a data folder, worker-thread half: the only writer of `journal.db`.
 *
 * `journal.ts` starts it and hands over one batch at a time, in the page that both threads share (`shared-page.ts`).
 * Each batch is one transaction with one fsync and one commit row. DURABLE is posted when the commit has returned;
 * maintenance (watermark, checkpoints) comes after it.
 *
 *  1. A failed commit has an unknown outcome: it is never retried, and DURABLE is never posted for it.
 *  2. After a full disk nothing is written until a probe shows that writing works. Then the database is opened again,
 *     the head is read again, and WRITABLE reports it. Probes begin when the main thread has forgotten its pending
 *     facts, so no batch from before the fault is taken for a new one.
 *  3. Any other error is final: BROKEN is posted, and the process must stop.
 *  4. Checkpoints are PASSIVE and run after DURABLE, when no batch came for a while or the log is long.
 *  5. The watermark is at most `watermarkEveryMs` behind a durable batch. It is written as late as that allows, so that
 *     the batches of this time share one fsync, also at a few batches a second.
 *  6. Between two pieces of work the thread is blocked in the wait of the page and runs no timers. What is due later
 *     stands in `#due`, which bounds the wait.
 */

import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads';
import { batchInserter, newestBatch } from './chain.ts';
import { batchHash, columnValues, COLUMNS, type FactValue } from '../chain.ts';
import { errorCode, isNoSpace, messageOf } from '../faults.ts';
import { FILE_MODE } from '../files.ts';
import { stopwatchMs } from '../stopwatch.ts';
import { FaultInjector, type InjectedFault } from './fault-injector.ts';
import { pruneSlice } from './archive.ts';
import {
  journalPath,
  openWriting,
  readAnchor,
  noteKeysId,
  noteWrittenBy,
  readNotedKeysId,
  readWrittenBy,
  type Connection,
} from './schema.ts';
import { BATCH, DURABLE, MESSAGE, SharedPage, type Head } from './shared-page.ts';
import { WatermarkWriter } from './watermark.ts';

export interface WriterTuning {
  readonly watermarkEveryMs: number;
  readonly probeEveryMs: number;
  /** A checkpoint runs between two commits when more pages of the log than this are not in the database. */
  readonly checkpointPages: number;
  /**
   * When no batch came for `checkpointIdleMs`, a checkpoint runs above so many pages: fewer are not worth its fsyncs.
   */
  readonly checkpointIdlePages: number;
  readonly checkpointIdleMs: number;
}

export interface WriterOptions {
  readonly folder: string;
  /** Of the page that both threads share. */
  readonly memory: SharedArrayBuffer;
  readonly tuning: WriterTuning;
  readonly injectFault: InjectedFault | null;
  /** The version that is noted as the journal's last writer. */
  readonly program?: string | undefined;
}

export type ToWriter =
  /** A batch that did not fit into the page. */
  | { readonly kind: 'COMMIT'; readonly text: string }
  | { readonly kind: 'WATERMARK' }
  /** The main thread knows that the disk is full and has forgotten what was pending. */
  | { readonly kind: 'FORGOTTEN' }
  | { readonly kind: 'PRUNE'; readonly throughSeq: number }
  | { readonly kind: 'NOTE_KEYS_ID'; readonly keysId: string }
  | { readonly kind: 'CLOSE' };

export type FromWriter =
  | {
      readonly kind: 'READY';
      readonly journalId: string;
      readonly keysId: string | null;
      readonly baseSeq: number;
      readonly head: Head;
    }
  | { readonly kind: 'FULL'; readonly message: string }
  | { readonly kind: 'WRITABLE'; readonly head: Head }
  | { readonly kind: 'BROKEN'; readonly message: string; readonly code: string }
  | { readonly kind: 'WATERMARK_WRITTEN' }
  | { readonly kind: 'PRUNED' }
  | { readonly kind: 'KEYS_ID_NOTED' };

/** Commits between two checks of the log's length; a batch is at most some seventy pages. */
const COMMITS_PER_CHECK = 32;
/** A commit writes at most twice the pages that its texts would fill, plus the pages above the last rows. */
const PAGES_A_COMMIT = 8;
const PAGE_BYTES = 4096;
/** A probe writes as much as two of the largest usual batches. */
const PROBE_BYTES = 512 * 1024;

/** Rounds between two turns of the thread's event loop, in which Node frees native objects that were collected. */
const ROUNDS_A_TURN = 1_000;

type State = 'WRITING' | 'FULL' | 'BROKEN' | 'CLOSED';

/** Moments by the stopwatch; Infinity is never. */
interface DueMoments {
  watermark: number;
  idleCheckpoint: number;
  probe: number;
}

const nothingDue = (): DueMoments => ({ watermark: Infinity, idleCheckpoint: Infinity, probe: Infinity });

class Writer {
  readonly #folder: string;
  readonly #tuning: WriterTuning;
  readonly #faults: FaultInjector;
  readonly #page: SharedPage;
  readonly #port: MessagePort;
  #state: State = 'WRITING';
  #db: Connection;
  #insertBatch: (values: readonly FactValue[], hash: Uint8Array) => void;
  #logLength: ReturnType<typeof logLength>;
  #watermark: WatermarkWriter;
  #head: Head;
  readonly #journalId: string;
  #watermarkSeq = -1;
  #due = nothingDue();
  /** The facts through which rows are to be dropped, one number for each request. */
  #prunings: number[] = [];
  #commitsUnchecked = 0;
  /** How many pages of the log may be missing from the database, at most: a wait that ends for nothing costs 0.2 ms. */
  #logPagesMax = Infinity;

  constructor({ folder, memory, tuning, injectFault, program }: WriterOptions, port: MessagePort) {
    this.#folder = folder;
    this.#tuning = tuning;
    this.#faults = new FaultInjector(injectFault);
    this.#page = new SharedPage(memory);
    this.#port = port;
    this.#db = openWriting(journalPath(folder));
    if (program !== undefined && readWrittenBy(this.#db) !== program) noteWrittenBy(this.#db, program);
    const { journalId, baseSeq } = readAnchor(this.#db);
    this.#journalId = journalId;
    this.#head = this.#readHead();
    this.#insertBatch = this.#prepareInsert();
    this.#logLength = logLength(this.#db);
    this.#watermark = new WatermarkWriter(folder);
    this.#writeWatermark();
    this.#post({ kind: 'READY', journalId, keysId: readNotedKeysId(this.#db), baseSeq, head: this.#head });
  }

  /** Works until CLOSE, in rounds. */
  run(): void {
    for (let round = 0; round < ROUNDS_A_TURN; round++) {
      if (this.#state === 'CLOSED') return this.#port.close();
      const signals = this.#page.wait(this.#nextDueMs() - stopwatchMs());
      if ((signals & MESSAGE) !== 0) this.#receiveAll();
      if ((signals & BATCH) !== 0) this.#attempt(() => this.#commitPage());
      this.#attempt(() => this.#runDue());
    }
    setImmediate(() => this.run());
  }

  #receiveAll(): void {
    for (;;) {
      const received = receiveMessageOnPort(this.#port) as { readonly message: ToWriter } | undefined;
      if (received === undefined) return;
      this.#attempt(() => this.#receive(received.message));
    }
  }

  #receive(message: ToWriter): void {
    if (message.kind === 'CLOSE') this.#close();
    else if (message.kind === 'FORGOTTEN') this.#probeLater();
    else if (this.#state !== 'WRITING') return;
    else if (message.kind === 'COMMIT') this.#commit(message.text, message.text);
    else if (message.kind === 'WATERMARK') this.#writeWatermarkNow();
    else if (message.kind === 'NOTE_KEYS_ID') this.#noteKeysId(message.keysId);
    else this.#prune(message.throughSeq);
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #post(message: FromWriter | typeof DURABLE): void {
    this.#port.postMessage(message);
  }

  #commitPage(): void {
    if (this.#state !== 'WRITING') return;
    const bytes = this.#page.take();
    this.#commit(bytes.toString(), bytes);
  }

  /** Commits the batch with these canonical texts; `hashed` are the same, or their bytes where they are at hand. */
  #commit(texts: string, hashed: string | Uint8Array): void {
    const values = columnValues(texts);
    const begunMs = stopwatchMs();
    this.#faults.beforeCommit();
    const hash = batchHash(this.#head.hash, hashed);
    this.#insertBatch(values, hash);
    this.#faults.afterCommit();
    this.#head = { seq: lastSeqOf(values), hash };
    const nowMs = stopwatchMs();
    this.#page.leaveOutcome(this.#head, nowMs - begunMs);
    this.#post(DURABLE);
    this.#logPagesMax += PAGES_A_COMMIT + (2 * texts.length) / PAGE_BYTES;
    this.#maintain(nowMs);
  }

  #prepareInsert(): (values: readonly FactValue[], hash: Uint8Array) => void {
    return this.#db.transaction(batchInserter(this.#db)).immediate;
  }

  #readHead(): Head {
    const newest = newestBatch(this.#db);
    if (newest !== null) return { seq: newest.lastSeq, hash: newest.hash };
    const { baseSeq, baseHash } = readAnchor(this.#db);
    return { seq: baseSeq, hash: baseHash };
  }

  // Maintenance, after DURABLE.

  #maintain(nowMs: number): void {
    const { watermarkEveryMs, checkpointPages, checkpointIdlePages, checkpointIdleMs } = this.#tuning;
    this.#due.watermark = Math.min(this.#due.watermark, nowMs + watermarkEveryMs);
    this.#due.idleCheckpoint = this.#logPagesMax > checkpointIdlePages ? nowMs + checkpointIdleMs : Infinity;
    this.#commitsUnchecked += 1;
    if (this.#commitsUnchecked >= COMMITS_PER_CHECK) this.#checkpointAbove(checkpointPages);
  }

  #nextDueMs(): number {
    if (this.#prunings.length > 0) return 0;
    return Math.min(this.#due.watermark, this.#due.idleCheckpoint, this.#due.probe);
  }

  #runDue(): void {
    const nowMs = stopwatchMs();
    if (nowMs >= this.#due.watermark) this.#writeWatermark();
    if (nowMs >= this.#due.idleCheckpoint) {
      this.#due.idleCheckpoint = Infinity;
      this.#checkpointAbove(this.#tuning.checkpointIdlePages);
    }
    if (this.#prunings.length > 0) this.#pruneSlice();
    if (nowMs >= this.#due.probe) this.#probe();
  }

  #writeWatermark(): void {
    this.#due.watermark = Infinity;
    if (this.#watermarkSeq === this.#head.seq) return;
    const hash = Buffer.from(this.#head.hash).toString('hex');
    this.#watermark.write({ journalId: this.#journalId, seq: this.#head.seq, hash });
    this.#watermarkSeq = this.#head.seq;
  }

  #writeWatermarkNow(): void {
    this.#writeWatermark();
    this.#post({ kind: 'WATERMARK_WRITTEN' });
  }

  #noteKeysId(keysId: string): void {
    noteKeysId(this.#db, keysId);
    this.#post({ kind: 'KEYS_ID_NOTED' });
  }

  #checkpointAbove(pages: number): void {
    this.#commitsUnchecked = 0;
    const { log = 0, checkpointed = 0 } = this.#logLength.get() ?? {};
    this.#logPagesMax = log - checkpointed;
    if (this.#logPagesMax <= pages) return;
    this.#db.pragma('wal_checkpoint(PASSIVE)');
    this.#logPagesMax = 0;
  }

  #prune(throughSeq: number): void {
    this.#writeWatermark();
    this.#prunings.push(throughSeq);
  }

  /** One slice a round, so that a batch that came meanwhile is committed before the next slice. */
  #pruneSlice(): void {
    if (pruneSlice(this.#db, this.#prunings[0]!) === 'MORE') return;
    this.#prunings.shift();
    this.#post({ kind: 'PRUNED' });
  }

  // Faults.

  #fail(error: unknown): void {
    const wasFull = this.#state === 'FULL';
    const fault = faultOf(error, this.#folder);
    this.#forgetDue();
    if (this.#state !== 'CLOSED') this.#state = fault.kind;
    if (wasFull && fault.kind === 'FULL') return this.#probeLater();
    this.#post(fault);
    if (this.#state === 'FULL') this.#closeFiles();
  }

  #probeLater(): void {
    if (this.#state === 'FULL') this.#due.probe = stopwatchMs() + this.#tuning.probeEveryMs;
  }

  /**
   * Tries to write a file, then to commit. A commit that works also makes durable what the failed one left in the log.
   */
  #probe(): void {
    this.#due.probe = Infinity;
    this.#faults.beforeProbe();
    writeProbeFile(join(this.#folder, 'probe.tmp'));
    this.#db = openWriting(journalPath(this.#folder));
    try {
      this.#db.prepare("INSERT INTO meta VALUES ('probes', '1') ON CONFLICT DO UPDATE SET value = value + 1").run();
      this.#head = this.#readHead();
      this.#insertBatch = this.#prepareInsert();
      this.#logLength = logLength(this.#db);
      this.#watermark = new WatermarkWriter(this.#folder);
      this.#watermarkSeq = -1;
      this.#writeWatermark();
    } catch (error) {
      this.#closeFiles();
      throw error;
    }
    this.#state = 'WRITING';
    this.#logPagesMax = Infinity;
    this.#post({ kind: 'WRITABLE', head: this.#head });
  }

  #close(): void {
    const wasWriting = this.#state === 'WRITING';
    this.#state = 'CLOSED';
    this.#forgetDue();
    if (!wasWriting) return;
    this.#finishLog();
    this.#closeFiles();
  }

  /** Moves the log into the database. On a full disk the facts stay in the log, where they are durable. */
  #finishLog(): void {
    try {
      this.#writeWatermark();
      this.#db.pragma('wal_checkpoint(PASSIVE)');
    } catch (error) {
      if (!isDiskFull(error, this.#folder)) throw error;
    }
  }

  #forgetDue(): void {
    this.#due = nothingDue();
    this.#prunings = [];
  }

  #closeFiles(): void {
    this.#watermark.close();
    this.#db.close();
  }
}

function lastSeqOf(values: readonly FactValue[]): number {
  return Number(values[values.length - COLUMNS]);
}

/** Pages of the log, and how many of them are in the database. */
function logLength(db: Connection) {
  return db.prepare<[], { readonly log: number; readonly checkpointed: number }>('PRAGMA wal_checkpoint(NOOP)');
}

/**
 * SQLite reports a full disk as such, except where it grows its shared memory: there it only reports that growing
 * failed.
 */
function isDiskFull(error: unknown, folder: string): boolean {
  return isNoSpace(error) || (errorCode(error) === 'SQLITE_IOERR_SHMSIZE' && statfsSync(folder).bavail === 0);
}

function faultOf(error: unknown, folder: string): Extract<FromWriter, { kind: 'FULL' | 'BROKEN' }> {
  const message = messageOf(error);
  return isDiskFull(error, folder) ? { kind: 'FULL', message } : { kind: 'BROKEN', message, code: errorCode(error) };
}

function writeProbeFile(path: string): void {
  const descriptor = openSync(path, 'w', FILE_MODE);
  try {
    writeSync(descriptor, Buffer.alloc(PROBE_BYTES, 1));
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
    rmSync(path, { force: true });
  }
}

function start(port: MessagePort): Writer | null {
  const options = workerData as WriterOptions;
  try {
    return new Writer(options, port);
  } catch (error) {
    port.postMessage(faultOf(error, options.folder));
    port.close();
    return null;
  }
}

if (parentPort === null) throw new Error('the journal writer must run in a worker thread');
start(parentPort)?.run();
