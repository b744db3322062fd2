/**
 * What changed in the storage format since each released version: by it a folder itself says which older versions can
 * still read it.
 *
 * 1. A change is listed when an older version would refuse a folder that has it, or would read something else from it.
 *    Optional fields that an older version may ignore without harm are left out.
 * 2. With a release, its version is added to `RELEASED`; what changes afterwards names it in `after`.
 */
import type { FactRow } from '#persistence/journal.ts';

/** Released versions, the oldest first. */
export const RELEASED = ['0.1.0'] as const;

interface FormatChange {
  /** The last released version without the change. */
  readonly after: (typeof RELEASED)[number];
  readonly what: string;
  /** REFUSED: an older version does not start, or not the event. MISREAD: it goes on with something missing. */
  readonly effect: 'REFUSED' | 'MISREAD';
}

interface FactChange extends FormatChange {
  readonly type: string;
  /** Fields of the fact that are new; without them every fact of the type is. */
  readonly fields?: readonly string[];
}

const FACT_CHANGES: readonly FactChange[] = [
  {
    after: '0.1.0',
    type: 'RequestAnswered',
    what: 'answers under idempotency keys to more than holds and checkouts (RequestAnswered)',
    effect: 'REFUSED',
  },
  {
    after: '0.1.0',
    type: 'OldestDropped',
    what: 'records that left because the process kept too many (OldestDropped)',
    effect: 'REFUSED',
  },
  {
    after: '0.1.0',
    type: 'DrawStarted',
    fields: ['opening'],
    what: 'a draw with an opening (DrawStarted.opening): its proof would be wrong',
    effect: 'MISREAD',
  },
  {
    after: '0.1.0',
    type: 'QueuePassSpent',
    fields: ['withoutKey'],
    what: 'passes that stay with their session (QueuePassSpent.withoutKey): they would be spent for all',
    effect: 'MISREAD',
  },
  {
    after: '0.1.0',
    type: 'RefundRecorded',
    fields: ['sameAs', 'currency', 'provider', 'reportReference'],
    what: 'refunds known by their reference or in another currency (RefundRecorded): sums would differ',
    effect: 'MISREAD',
  },
  {
    after: '0.1.0',
    type: 'RefundRequested',
    what: 'refunds that are executed at their provider (RefundRequested)',
    effect: 'REFUSED',
  },
  {
    after: '0.1.0',
    type: 'AmendmentRequested',
    what: 'amendments of orders that had to be paid (AmendmentRequested)',
    effect: 'REFUSED',
  },
  {
    after: '0.1.0',
    type: 'OrderAmended',
    what: 'orders that were amended (OrderAmended)',
    effect: 'REFUSED',
  },
  {
    after: '0.1.0',
    type: 'PerformanceCancelled',
    fields: ['orders'],
    what: 'dates cancelled with their tickets alone (PerformanceCancelled.orders): orders would be cancelled whole',
    effect: 'MISREAD',
  },
  {
    after: '0.1.0',
    type: 'DueRefundsOrdered',
    what: 'executions of everything that is due (DueRefundsOrdered)',
    effect: 'REFUSED',
  },
  {
    after: '0.1.0',
    type: 'RefundAnswered',
    what: 'refunds that failed, or wait for their provider (RefundAnswered)',
    effect: 'REFUSED',
  },
  {
    after: '0.1.0',
    type: 'StrayMoneyRecorded',
    fields: ['foreignDueCents'],
    what: 'money in another currency than the order (StrayMoneyRecorded.foreignDueCents): sums would differ',
    effect: 'MISREAD',
  },
];

const SNAPSHOT_CHANGE: FormatChange = {
  after: '0.1.0',
  what: 'snapshots of format 2 or later',
  effect: 'REFUSED',
};

const ARCHIVE_CHANGE: FormatChange = {
  after: '0.1.0',
  what: 'events that are read from the archive because no older snapshot covers it',
  effect: 'REFUSED',
};

/** Collects the changes that a folder has. */
export class FormatTrace {
  readonly #found = new Set<FormatChange>();

  see({ type, data }: FactRow): void {
    for (const change of FACT_CHANGES) {
      if (change.type !== type || this.#found.has(change)) continue;
      const read = change.fields === undefined ? {} : (JSON.parse(data) as object);
      if (change.fields?.some((field) => Object.hasOwn(read, field)) ?? true) this.#found.add(change);
    }
  }

  /** A snapshot has this format; the archive has facts of its event or not. */
  seeSnapshot(format: number, isArchived: boolean): void {
    if (format < 2) return;
    this.#found.add(SNAPSHOT_CHANGE);
    if (isArchived) this.#found.add(ARCHIVE_CHANGE);
  }

  /** What each older version would make of the folder. */
  waysBack(): WayBack[] {
    return RELEASED.map((version, index) => {
      const later: readonly string[] = RELEASED.slice(index);
      const inTheWay = [...this.#found].filter(({ after }) => later.includes(after));
      const isRefused = inTheWay.some((change) => change.effect === 'REFUSED' && change !== SNAPSHOT_CHANGE);
      const withoutSnapshots = !isRefused && inTheWay.includes(SNAPSHOT_CHANGE);
      const reading = isRefused ? 'NO' : inTheWay.some(({ effect }) => effect === 'MISREAD') ? 'MISREAD' : 'YES';
      return { version, reading, withoutSnapshots, inTheWay: inTheWay.map(({ what }) => what) };
    });
  }
}

export interface WayBack {
  readonly version: string;
  readonly reading: 'YES' | 'MISREAD' | 'NO';
  /** Whether the folder `snapshots` must be removed first; everything is in the journal. */
  readonly withoutSnapshots: boolean;
  /** What is in the folder that the version does not know. */
  readonly inTheWay: readonly string[];
}
