/**
 * The journal in an array: the twin of `sqlite/journal.ts` for tests and simulation, which can inject the faults of a
 * disk.
 *
 * In auto mode it commits on `setImmediate`, or later after `slow(ms)`. In manual mode it commits only when `commit()`
 * is called, so that a simulation is deterministic.
 */

import { checkUnit } from '../faults.ts';
import { JournalFault, type FactRow, type Journal, type JournalStatus, type Unit } from '../journal.ts';

interface MemoryJournalOptions {
  /** Commits only when `commit` is called. */
  readonly manual?: boolean;
}

interface StoredRow extends FactRow {
  /** Sequence number of the last fact of the unit. */
  readonly unit: number;
}

export class MemoryJournal implements Journal {
  readonly #manual: boolean;
  /** All appended facts in order; those beyond `#durableSeq` are pending. */
  readonly #rows: StoredRow[];
  /** Sequence numbers of each stream's appended facts. */
  readonly #streams = new Map<string, number[]>();
  /** Promises of `durable` that are not settled, in the order of the calls. */
  #waits: (PromiseWithResolvers<void> & { readonly seq: number })[] = [];
  /** Facts that were pending when the disk filled or broke. */
  readonly #inDoubt: StoredRow[] = [];
  readonly #listeners: ((status: JournalStatus, fault: JournalFault | null) => void)[] = [];
  #durableSeq: number;
  #status: JournalStatus = 'OPEN';
  #fault: JournalFault | null = null;
  #delayMs = 0;
  /** Cancels the scheduled commit. */
  #unscheduleCommit: (() => void) | null = null;

  constructor(options: MemoryJournalOptions = {}, rows: readonly StoredRow[] = []) {
    this.#manual = options.manual ?? false;
    this.#rows = [...rows];
    this.#durableSeq = rows.length;
    for (const { seq, eventId } of rows) this.#seqsOf(eventId).push(seq);
  }

  get status(): JournalStatus {
    return this.#status;
  }

  get appendedSeq(): number {
    return this.#rows.length;
  }

  get durableSeq(): number {
    return this.#durableSeq;
  }

  append(given: Unit): number {
    if (this.#status !== 'OPEN') throw this.#fault ?? fault('CLOSED');
    checkUnit(given);
    const { eventId, at, facts } = given;
    const unit = this.#rows.length + facts.length;
    const seqs = this.#seqsOf(eventId);
    for (const { type, data } of facts) {
      const seq = this.#rows.length + 1;
      this.#rows.push({ seq, at, eventId, type, data, unit });
      seqs.push(seq);
    }
    this.#commitSoon();
    return unit;
  }

  durable(seq: number): Promise<void> {
    if (seq <= this.#durableSeq) return Promise.resolve();
    if (seq > this.appendedSeq) return Promise.reject(this.#fault ?? fault('FULL'));
    const wait = { seq, ...Promise.withResolvers<void>() };
    this.#waits.push(wait);
    return wait.promise;
  }

  *read(options: { readonly afterSeq?: number; readonly eventId?: string } = {}): Iterable<FactRow> {
    const { afterSeq = 0, eventId } = options;
    const endSeq = this.#durableSeq;
    const seqs = eventId === undefined ? null : (this.#streams.get(eventId) ?? []);
    const count = seqs === null ? endSeq : seqs.length;
    for (let index = seqs === null ? afterSeq : firstAfter(seqs, afterSeq); index < count; index++) {
      const row = this.#rows[seqs === null ? index : (seqs[index] ?? 0) - 1];
      if (row === undefined || row.seq > endSeq) return;
      const { seq, at, eventId: stream, type, data } = row;
      yield { seq, at, eventId: stream, type, data };
    }
  }

  *streams(): Iterable<{ readonly eventId: string; readonly lastSeq: number }> {
    for (const [eventId, seqs] of this.#streams) {
      const lastSeq = seqs[firstAfter(seqs, this.#durableSeq) - 1];
      if (lastSeq !== undefined) yield { eventId, lastSeq };
    }
  }

  onStatus(listener: (status: JournalStatus, fault: JournalFault | null) => void): void {
    this.#listeners.push(listener);
  }

  async close(): Promise<void> {
    if (this.#status === 'CLOSED') return;
    const wasOpen = this.#status === 'OPEN';
    this.#setStatus('CLOSED', fault('CLOSED'));
    this.#unschedule();
    if (wasOpen) this.#durableSeq = this.#rows.length;
    this.commit();
  }

  // Control of the disk, for tests.

  /** Makes everything appended durable, or only the units up to `upToSeq`. */
  commit(upToSeq: number = this.#rows.length): void {
    if (this.#status === 'OPEN') this.#durableSeq += wholeUnits(this.#rows.slice(this.#durableSeq), upToSeq).length;
    for (const { seq, resolve } of this.#waits) if (seq <= this.#durableSeq) resolve();
    this.#waits = this.#waits.filter(({ seq }) => seq > this.#durableSeq);
  }

  /** Auto mode: delays each commit by so many milliseconds; 0 commits at the next `setImmediate`. */
  slow(delayMs: number): void {
    this.#delayMs = delayMs;
  }

  /**
   * Fills the disk, so that everything pending is forgotten, or makes room again. Of what was forgotten, whole units up
   * to `survivorsSeq` prove to be on disk when there is room again.
   */
  full(isFull: boolean, survivorsSeq: number = this.#durableSeq): void {
    if (isFull && this.#status === 'OPEN') {
      this.#forget(fault('FULL'));
    } else if (!isFull && this.#status === 'FULL') {
      for (const row of wholeUnits(this.#inDoubt.splice(0), survivorsSeq)) {
        this.#rows.push(row);
        this.#seqsOf(row.eventId).push(row.seq);
      }
      this.#durableSeq = this.#rows.length;
      this.#setStatus('OPEN', null);
    }
  }

  /** An I/O error: the journal takes no more facts and the outcome of what is pending is unknown. */
  breakDown(): void {
    if (this.#status === 'OPEN' || this.#status === 'FULL') this.#forget(fault('BROKEN'));
  }

  /**
   * Returns the journal that another process would open after a crash now: everything durable, and of what is pending,
   * or was when the disk filled or broke, the whole units up to `seq`. This journal is not changed.
   */
  crashAfter(seq: number = this.#durableSeq): MemoryJournal {
    const durable = this.#rows.slice(0, this.#durableSeq);
    const pending = [...this.#rows.slice(this.#durableSeq), ...this.#inDoubt];
    return new MemoryJournal({ manual: this.#manual }, [...durable, ...wholeUnits(pending, seq)]);
  }

  #forget(trouble: JournalFault): void {
    this.#unschedule();
    const forgotten = this.#rows.splice(this.#durableSeq);
    for (const { eventId } of forgotten) this.#seqsOf(eventId).pop();
    this.#inDoubt.push(...forgotten);
    this.#setStatus(trouble.kind, trouble);
    for (const { reject } of this.#waits) reject(trouble);
    this.#waits = [];
  }

  #setStatus(status: JournalStatus, trouble: JournalFault | null): void {
    this.#status = status;
    this.#fault = trouble;
    for (const listener of this.#listeners) listener(status, status === 'CLOSED' ? null : trouble);
  }

  #commitSoon(): void {
    if (this.#manual || this.#unscheduleCommit !== null) return;
    const commit = (): void => {
      this.#unscheduleCommit = null;
      this.commit();
    };
    if (this.#delayMs === 0) {
      const immediate = setImmediate(commit);
      this.#unscheduleCommit = () => clearImmediate(immediate);
    } else {
      const timeout = setTimeout(commit, this.#delayMs);
      this.#unscheduleCommit = () => clearTimeout(timeout);
    }
  }

  #unschedule(): void {
    this.#unscheduleCommit?.();
    this.#unscheduleCommit = null;
  }

  #seqsOf(eventId: string): number[] {
    const seqs = this.#streams.get(eventId) ?? [];
    if (seqs.length === 0) this.#streams.set(eventId, seqs);
    return seqs;
  }
}

/** The leading rows whose units end at or before `seq`. */
function wholeUnits(rows: readonly StoredRow[], seq: number): readonly StoredRow[] {
  const firstBeyond = rows.findIndex((row) => row.unit > seq);
  return firstBeyond === -1 ? rows : rows.slice(0, firstBeyond);
}

/** Index of the first number greater than `seq` in an ascending list. */
function firstAfter(seqs: readonly number[], seq: number): number {
  let low = 0;
  let high = seqs.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((seqs[middle] ?? 0) > seq) high = middle;
    else low = middle + 1;
  }
  return low;
}

function fault(kind: JournalFault['kind']): JournalFault {
  const reasons = { FULL: 'the disk is full', BROKEN: 'the disk failed', CLOSED: 'the journal is closed' };
  return new JournalFault(kind, `${reasons[kind]} (in memory)`, 'A test injected this fault.');
}
