/** Faults that tests inject into the journal's writer, where a disk would fail. The service never sets them. */

import Database from 'better-sqlite3';

export interface InjectedFault {
  /** SLOW makes every commit after those wait; the others fail one. */
  readonly kind: 'FULL' | 'IOERR' | 'SLOW';
  /** Commits that still work. */
  readonly afterCommits: number;
  /** Whether the failed commit is on disk all the same; its outcome is unknown to the one who is told. */
  readonly outcome: 'LOST' | 'KEPT';
  /** FULL only: probes that find the disk full still. */
  readonly fullProbes: number;
  /** SLOW only: how long the disk takes. */
  readonly delayMs?: number;
}

/** Fires once, a slow disk stays slow; without a fault to inject it does nothing. */
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
    if (this.#fault !== null && this.#probes <= this.#fault.fullProbes) throw full();
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
