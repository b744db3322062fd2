/**
 * The SQLite journal of a data folder, worker-thread half: the only writer of `journal.db`.
 *
 * `journal.ts` starts it and posts one message per batch. Each batch is one transaction with one fsync and one commit row.
 * DURABLE is posted when the commit has returned; maintenance (watermark, checkpoints) comes after it.
 *
 *  1. A failed commit has an unknown outcome: it is never retried, and DURABLE is never posted for it.
 *  2. After a full disk nothing is written until a probe shows that writing works. Then the database is opened again, the
 *     head is read again, and WRITABLE reports it.
 *  3. Any other error is final: BROKEN is posted, and the process must stop.
 *  4. Checkpoints are PASSIVE and run after DURABLE, when no batch came for a while or the log is long.
 *  5. The watermark is at most `watermarkEveryMs` behind a durable batch.
 */

import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { batchHash, batchInserter, canonicalText, newestBatch, type FactValue } from './chain.ts';
import { errorCode, isNoSpace, messageOf } from '../faults.ts';
import { FILE_MODE } from '../files.ts';
import { stopwatchMs } from '../stopwatch.ts';
import { FaultInjector, type InjectedFault } from './fault-injector.ts';
import { NUMBERS_A_FACT, TEXTS_A_FACT } from './pending.ts';
import { pruneSlice } from './archive.ts';
import { journalPath, openWriting, readAnchor, type Connection } from './schema.ts';
import { WatermarkWriter } from './watermark.ts';

export interface WriterTuning {
  readonly watermarkEveryMs: number;
  readonly probeEveryMs: number;
  /** A checkpoint runs between two commits when more pages of the log than this are not in the database. */
  readonly checkpointPages: number;
  /** When no batch came for `checkpointIdleMs`, a checkpoint runs above so many pages: fewer are not worth its fsyncs. */
  readonly checkpointIdlePages: number;
  readonly checkpointIdleMs: number;
}

export interface WriterOptions {
  readonly folder: string;
  readonly tuning: WriterTuning;
  readonly injectFault: InjectedFault | null;
}

export interface CommitMessage {
  readonly kind: 'COMMIT';
  readonly firstSeq: number;
  readonly texts: readonly string[];
  readonly numbers: Float64Array;
}

export type ToWriter =
  | CommitMessage
  | { readonly kind: 'WATERMARK' }
  | { readonly kind: 'PRUNE'; readonly throughSeq: number }
  | { readonly kind: 'CLOSE' };

export interface Head {
  readonly seq: number;
  readonly hash: Uint8Array;
}

export type FromWriter =
  | { readonly kind: 'READY'; readonly journalId: string; readonly baseSeq: number; readonly head: Head }
  | { readonly kind: 'DURABLE'; readonly head: Head; readonly commitMs: number }
  | { readonly kind: 'FULL'; readonly message: string }
  | { readonly kind: 'WRITABLE'; readonly head: Head }
  | { readonly kind: 'BROKEN'; readonly message: string; readonly code: string }
  | { readonly kind: 'WATERMARK_WRITTEN' }
  | { readonly kind: 'PRUNED' };

/** Commits between two checks of the log's length; a batch is at most some seventy pages. */
const COMMITS_PER_CHECK = 32;
/** A probe writes as much as two of the largest usual batches. */
const PROBE_BYTES = 512 * 1024;

type State = 'WRITING' | 'FULL' | 'BROKEN' | 'CLOSED';

class Writer {
  readonly #folder: string;
  readonly #tuning: WriterTuning;
  readonly #faults: FaultInjector;
  readonly #post: (message: FromWriter) => void;
  #state: State = 'WRITING';
  #db: Connection;
  #insertBatch: (values: readonly FactValue[], hash: Uint8Array) => void;
  #watermark: WatermarkWriter;
  #head: Head;
  readonly #journalId: string;
  #watermarkSeq = -1;
  #watermarkWrittenMs = 0;
  #watermarkTimer: NodeJS.Timeout | null = null;
  #idleTimer: NodeJS.Timeout | null = null;
  #probeTimer: NodeJS.Timeout | null = null;
  #commitsUnchecked = 0;

  constructor({ folder, tuning, injectFault }: WriterOptions, post: (message: FromWriter) => void) {
    this.#folder = folder;
    this.#tuning = tuning;
    this.#faults = new FaultInjector(injectFault);
    this.#post = post;
    this.#db = openWriting(journalPath(folder));
    const { journalId, baseSeq } = readAnchor(this.#db);
    this.#journalId = journalId;
    this.#head = this.#readHead();
    this.#insertBatch = this.#prepareInsert();
    this.#watermark = new WatermarkWriter(folder);
    this.#writeWatermark();
    post({ kind: 'READY', journalId, baseSeq, head: this.#head });
  }

  receive(message: ToWriter): void {
    try {
      if (message.kind === 'CLOSE') this.#close();
      else if (this.#state !== 'WRITING') return;
      else if (message.kind === 'COMMIT') this.#commit(message);
      else if (message.kind === 'WATERMARK') this.#writeWatermarkNow();
      else this.#prune(message.throughSeq);
    } catch (error) {
      this.#fail(error);
      if (message.kind === 'CLOSE') parentPort?.close();
    }
  }

  #commit(message: CommitMessage): void {
    const { values, texts } = factsOf(message);
    const begunMs = stopwatchMs();
    this.#faults.beforeCommit();
    const hash = batchHash(this.#head.hash, texts);
    this.#insertBatch(values, hash);
    this.#faults.afterCommit();
    this.#head = { seq: message.firstSeq + message.texts.length / TEXTS_A_FACT - 1, hash };
    this.#post({ kind: 'DURABLE', head: this.#head, commitMs: stopwatchMs() - begunMs });
    this.#maintain();
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

  #maintain(): void {
    const sinceWatermarkMs = stopwatchMs() - this.#watermarkWrittenMs;
    if (sinceWatermarkMs >= this.#tuning.watermarkEveryMs) this.#writeWatermark();
    else
      this.#watermarkTimer ??= this.#later(this.#tuning.watermarkEveryMs - sinceWatermarkMs, () =>
        this.#writeWatermark(),
      );
    this.#commitsUnchecked += 1;
    if (this.#commitsUnchecked >= COMMITS_PER_CHECK) this.#checkpointAbove(this.#tuning.checkpointPages);
    if (this.#idleTimer === null) {
      this.#idleTimer = this.#later(this.#tuning.checkpointIdleMs, () =>
        this.#checkpointAbove(this.#tuning.checkpointIdlePages),
      );
    } else {
      this.#idleTimer.refresh();
    }
  }

  #writeWatermark(): void {
    if (this.#watermarkTimer !== null) clearTimeout(this.#watermarkTimer);
    this.#watermarkTimer = null;
    if (this.#watermarkSeq === this.#head.seq) return;
    const hash = Buffer.from(this.#head.hash).toString('hex');
    this.#watermark.write({ journalId: this.#journalId, seq: this.#head.seq, hash });
    this.#watermarkSeq = this.#head.seq;
    this.#watermarkWrittenMs = stopwatchMs();
  }

  #writeWatermarkNow(): void {
    this.#writeWatermark();
    this.#post({ kind: 'WATERMARK_WRITTEN' });
  }

  #checkpointAbove(pages: number): void {
    this.#commitsUnchecked = 0;
    const [found] = this.#db.pragma('wal_checkpoint(NOOP)') as { log: number; checkpointed: number }[];
    if (found !== undefined && found.log - found.checkpointed > pages) this.#db.pragma('wal_checkpoint(PASSIVE)');
  }

  #prune(throughSeq: number): void {
    this.#writeWatermark();
    const next = (): void => {
      if (pruneSlice(this.#db, throughSeq) === 'DONE') this.#post({ kind: 'PRUNED' });
      else this.#later(0, next);
    };
    next();
  }

  /** Runs maintenance later, unless the writer has failed or closed by then. */
  #later(delayMs: number, work: () => void): NodeJS.Timeout {
    return setTimeout(() => {
      if (this.#state !== 'WRITING') return;
      try {
        work();
      } catch (error) {
        this.#fail(error);
      }
    }, delayMs);
  }

  // Faults.

  #fail(error: unknown): void {
    if (this.#state === 'CLOSED') return;
    this.#stopTimers();
    const fault = faultOf(error, this.#folder);
    this.#state = fault.kind;
    this.#post(fault);
    if (this.#state === 'BROKEN') return;
    this.#closeFiles();
    this.#probeLater();
  }

  #probeLater(): void {
    this.#probeTimer = setTimeout(() => {
      if (this.#state !== 'FULL') return;
      try {
        this.#probe();
      } catch (error) {
        if (isDiskFull(error, this.#folder)) this.#probeLater();
        else this.#fail(error);
      }
    }, this.#tuning.probeEveryMs);
  }

  /** Tries to write a file, then to commit. A commit that works also makes durable what the failed one left in the log. */
  #probe(): void {
    this.#faults.beforeProbe();
    writeProbeFile(join(this.#folder, 'probe.tmp'));
    this.#db = openWriting(journalPath(this.#folder));
    try {
      this.#db.prepare("INSERT INTO meta VALUES ('probes', '1') ON CONFLICT DO UPDATE SET value = value + 1").run();
      this.#head = this.#readHead();
      this.#insertBatch = this.#prepareInsert();
      this.#watermark = new WatermarkWriter(this.#folder);
      this.#watermarkSeq = -1;
      this.#writeWatermark();
    } catch (error) {
      this.#closeFiles();
      throw error;
    }
    this.#state = 'WRITING';
    this.#post({ kind: 'WRITABLE', head: this.#head });
  }

  #close(): void {
    const wasWriting = this.#state === 'WRITING';
    if (wasWriting) this.#finishLog();
    this.#stopTimers();
    this.#state = 'CLOSED';
    if (wasWriting) this.#closeFiles();
    parentPort?.close();
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

  #closeFiles(): void {
    this.#watermark.close();
    this.#db.close();
  }

  #stopTimers(): void {
    if (this.#watermarkTimer !== null) clearTimeout(this.#watermarkTimer);
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#watermarkTimer = null;
    if (this.#probeTimer !== null) clearTimeout(this.#probeTimer);
    this.#idleTimer = null;
    this.#probeTimer = null;
  }
}

function factsOf({ firstSeq, texts, numbers }: CommitMessage): { values: FactValue[]; texts: string } {
  const values: FactValue[] = [];
  let canonical = '';
  for (let text = 0, number = 0, seq = firstSeq; text < texts.length; text += TEXTS_A_FACT, number += NUMBERS_A_FACT) {
    const at = numbers[number]!;
    const prev = numbers[number + 1]!;
    const unit = numbers[number + 2]!;
    const eventId = texts[text]!;
    const type = texts[text + 1]!;
    const data = texts[text + 2]!;
    values.push(seq, at, eventId, type, data, prev, unit);
    canonical += canonicalText({ seq, at, eventId, type, data, prev, unit });
    seq += 1;
  }
  return { values, texts: canonical };
}

/** SQLite reports a full disk as such, except where it grows its shared memory: there it only reports that growing failed. */
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

function start(port: MessagePort): void {
  const post = (message: FromWriter): void => port.postMessage(message);
  const options = workerData as WriterOptions;
  try {
    const writer = new Writer(options, post);
    port.on('message', (message: ToWriter) => writer.receive(message));
  } catch (error) {
    post(faultOf(error, options.folder));
  }
}

if (parentPort === null) throw new Error('the journal writer must run in a worker thread');
start(parentPort);
