/**
 * Pruning by itself: every so many hours the journal's oldest facts move to the archive, so that what is read at a start follows
 * what was sold lately.
 *
 * Started by `src/service.ts` once it is known which facts must stay. What may go is the rule of `snapshot-rounds.ts`.
 *
 *  1. When the last pruning was is told by the archive, and before the first one by the journal's oldest fact: a service that is
 *     started anew every night prunes all the same. Prunings that an operator asks for count as well.
 *  2. One that fails is tried again after an hour; while the disk is full or nearly full, or the service stops, none is begun.
 */
import { reportTrouble } from './trouble.ts';
import type { Clock } from './clock.ts';
import type { SnapshotRound } from './snapshot-rounds.ts';

export interface PruneSchedulePorts {
  readonly clock: Clock;
  /** Milliseconds since 1970 (1). */
  lastPrunedAt(): number;
  /** Whether a pruning may begin now (2). */
  mayPrune(): boolean;
  prune(): Promise<SnapshotRound>;
  onPruned(round: SnapshotRound): void;
  /** Between two looks at the clock. */
  readonly lookEveryMs?: number;
}

export interface PruneSchedule {
  /** Prunes when it is time; resolves when that is over. */
  look(): Promise<void>;
  stop(): void;
}

const LOOK_EVERY_MS = 60_000;
const RETRY_MS = 3_600_000;

/** Looks once a minute whether it is time; `everyMs` 0 is never. */
export function startPruneSchedule(everyMs: number, ports: PruneSchedulePorts): PruneSchedule {
  const { clock, lookEveryMs = LOOK_EVERY_MS } = ports;
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
  const look = (): Promise<void> => {
    if (underWay !== null) return underWay;
    const now = clock.now();
    const isDue = everyMs > 0 && now >= ports.lastPrunedAt() + everyMs && now >= notBefore;
    if (!isDue || !ports.mayPrune()) return Promise.resolve();
    underWay = pruneNow().finally(() => (underWay = null));
    return underWay;
  };

  const interval = setInterval(() => void look(), lookEveryMs);
  interval.unref();
  return { look, stop: () => clearInterval(interval) };
}
