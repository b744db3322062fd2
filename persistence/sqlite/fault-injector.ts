/** Faults that tests inject into the journal's writer, where a disk would fail. The service never sets them. */

import Database from 'better-sqlite3';

export interface InjectedFault {
  /** SLOW delays every commit after `afterCommits`; the others fail the first commit after them. */
  readonly kind: 'FULL' | 'IOERR' | 'SLOW';
  /** Commits that work before the fault. */
  readonly afterCommits: number;
  /** Whether the failed commit is on disk all the same; the journal cannot know which. */
  readonly outcome: 'LOST' | 'KEPT';
  /** FULL only: probes that still find the disk full. */
  readonly fullProbes: number;
  /** FULL only, instead of `fullProbes`: the disk is full until the test writes 1 here. */
  readonly hasRoom?: Int32Array<SharedArrayBuffer>;
  /** SLOW only: the delay of each commit. */
  readonly delayMs?: number;
}

/** FULL and IOERR fire once, SLOW stays. Without a fault it does nothing. */
export class FaultInjector {
  readonly #fault: InjectedFault | null;
  #commits = 0;
  #probes = 0;

  constructor(fault: InjectedFault | null) {
    this.#fault = fault;
  }

  beforeCommit(): void {
    this.#commits += 1;
    if (this.#fault?.kind === 'SLOW') return this.#waitWhenDue(this.#fault);
    if (this.#fault?.outcome === 'LOST') this.#fireWhenDue(this.#fault);
  }

  afterCommit(): void {
    if (this.#fault?.kind !== 'SLOW' && this.#fault?.outcome === 'KEPT') this.#fireWhenDue(this.#fault);
  }

  beforeProbe(): void {
    this.#probes += 1;
    if (this.#fault === null) return;
    const { hasRoom, fullProbes } = this.#fault;
    if (hasRoom === undefined ? this.#probes <= fullProbes : Atomics.load(hasRoom, 0) === 0) throw full();
  }

  #waitWhenDue({ afterCommits, delayMs = 0 }: InjectedFault): void {
    if (this.#commits > afterCommits) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, delayMs);
  }

  #fireWhenDue({ kind, afterCommits }: InjectedFault): void {
    if (this.#commits !== afterCommits + 1) return;
    throw kind === 'FULL' ? full() : new Database.SqliteError('disk I/O error (injected)', 'SQLITE_IOERR_FSYNC');
  }
}

function full(): Error {
  return new Database.SqliteError('database or disk is full (injected)', 'SQLITE_FULL');
}
