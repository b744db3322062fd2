/**
 * Prunes by schedule: every so many hours the oldest facts of the journal move to the archive, so that the time of a
 * start follows recent sales. Which facts may move is the rule of `snapshot-rounds.ts`.
 *
 * 1. The archive says when the last prune was, and before the first one the oldest fact of the journal: a service that
 *    is restarted every night prunes all the same. Prunes that an operator requests count as well.
 * 2. A prune that fails is tried again after an hour. None begins while the disk is full or nearly full, or the service
 *    stops.
 */
import { reportTrouble } from '#actors/trouble.ts';
import type { Clock } from '#actors/clock.ts';
import type { SnapshotRound } from './snapshot-rounds.ts';

interface PruneSchedulePorts {
  readonly clock: Clock;
  /** Milliseconds since 1970 (rule 1). */
  lastPrunedAt(): number;
  /** Whether a prune may begin now (rule 2). */
  mayPrune(): boolean;
  prune(): Promise<SnapshotRound>;
  onPruned(round: SnapshotRound): void;
  /** Between two readings of the clock. */
  readonly checkEveryMs?: number;
}

export interface PruneSchedule {
  /** Prunes when it is time; resolves when that is over. */
  pruneWhenDue(): Promise<void>;
  stop(): void;
}

const CHECK_EVERY_MS = 60_000;
const RETRY_MS = 3_600_000;

/** Checks once a minute; with `everyMs` 0 it never prunes. */
export function startPruneSchedule(everyMs: number, ports: PruneSchedulePorts): PruneSchedule {
  const { clock, checkEveryMs = CHECK_EVERY_MS } = ports;
  let underWay: Promise<void> | null = null;
  let notBefore = 0;

  const pruneNow = async (): Promise<void> => {
    try {
      ports.onPruned(await ports.prune());
    } catch (error) {
      notBefore = clock.now() + RETRY_MS;
      reportTrouble('prune', 'the journal was not pruned; it is tried again in an hour', error);
    }
  };
  const pruneWhenDue = (): Promise<void> => {
    if (underWay !== null) return underWay;
    const now = clock.now();
    const isDue = everyMs > 0 && now >= ports.lastPrunedAt() + everyMs && now >= notBefore;
    if (!isDue || !ports.mayPrune()) return Promise.resolve();
    underWay = pruneNow().finally(() => (underWay = null));
    return underWay;
  };

  const interval = setInterval(() => void pruneWhenDue(), checkEveryMs);
  interval.unref();
  return { pruneWhenDue, stop: () => clearInterval(interval) };
}
