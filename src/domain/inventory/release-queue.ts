/**
 * When the tickets of a pool return: the ends of the windows of the holds that claim them, soonest first.
 *
 * Owns one heap for each pool and keeps it small; whether a hold is over is the hold's own business. Called by
 * `inventory.ts`, which adds a claimant whenever it takes tickets or its window moves, and by `trial.ts`, which asks.
 *
 * 1. An entry is true as long as its claimant is live, still ends at the entry's time and still claims tickets of the pool.
 *    Nothing is taken out when a hold ends, moves or changes its lines: false entries are dropped when they surface.
 * 2. At most about twice as many entries are kept as were true at the last draining. A queue that grew beyond that is
 *    drained: it moves leaf by leaf (the last leaf of a heap can always be taken off) into a new one, a few with each
 *    entry added, so that no turn ever pays for the whole.
 */

import FlatQueue from 'flatqueue';

/** A hold, seen by the stock that it claims. */
export interface Claimant {
  readonly status: string;
  readonly expiresAt: number;
  /** What it claims while it is live, on whatever performances. */
  readonly lines: readonly ClaimedLine[];
}

export interface ClaimedLine {
  readonly performanceId: string;
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly seatIds: readonly string[];
}

/** Whether a live claimant has tickets of the pool that is asked about. */
export type HasClaim = (claimant: Claimant) => boolean;

export interface ReleaseQueue {
  current: FlatQueue<Claimant>;
  /** The queue that is being drained into `current`, if any. */
  draining: FlatQueue<Claimant> | null;
  drainAbove: number;
}

const DRAIN_ABOVE_MIN = 64;
const LEAVES_PER_ENTRY = 4;

export function createReleaseQueue(): ReleaseQueue {
  return { current: new FlatQueue(), draining: null, drainAbove: DRAIN_ABOVE_MIN };
}

/** Notes that the claimant's tickets return at its `expiresAt`. Hot; constant time but for the heap. */
export function addRelease(queue: ReleaseQueue, claimant: Claimant): void {
  queue.current.push(claimant, claimant.expiresAt);
  if (queue.draining !== null) drain(queue, queue.draining);
  else if (queue.current.length > queue.drainAbove) {
    queue.draining = queue.current;
    queue.current = new FlatQueue();
  }
}

/** Forgets everything: nobody claims tickets of the pool any more. */
export function clearReleases(queue: ReleaseQueue): void {
  if (queue.current.length > 0) queue.current = new FlatQueue();
  queue.draining = null;
  queue.drainAbove = DRAIN_ABOVE_MIN;
}

/** When the first of the claimants other than `except` ends, or null when there is none. Drops what is no longer true. */
export function firstRelease(queue: ReleaseQueue, except: Claimant | null, hasClaim: HasClaim): number | null {
  const first = firstTrue(queue.current, except, hasClaim);
  if (queue.draining === null) return first;
  return sooner(first, firstTrue(queue.draining, except, hasClaim));
}

/** Whether nothing was added since the pool was last empty. */
export function hasNoReleases(queue: ReleaseQueue): boolean {
  return queue.current.length === 0 && queue.draining === null;
}

/** The earlier of two moments, where null is never. */
export function sooner(a: number | null, b: number | null): number | null {
  if (a === null) return b;
  return b === null || a < b ? a : b;
}

function isTrue(claimant: Claimant, expiresAt: number): boolean {
  return claimant.expiresAt === expiresAt && (claimant.status === 'ACTIVE' || claimant.status === 'CONVERTED');
}

/** An entry of `except` is lifted off for a look beneath it, and put back. */
function firstTrue(heap: FlatQueue<Claimant>, except: Claimant | null, hasClaim: HasClaim): number | null {
  while (heap.length > 0) {
    const claimant = heap.peek()!;
    const expiresAt = heap.peekValue()!;
    if (!isTrue(claimant, expiresAt) || !hasClaim(claimant)) {
      heap.pop();
    } else if (claimant !== except) {
      return expiresAt;
    } else {
      heap.pop();
      const beneath = firstTrue(heap, except, hasClaim);
      heap.push(claimant, expiresAt);
      return beneath;
    }
  }
  return null;
}

function drain(queue: ReleaseQueue, draining: FlatQueue<Claimant>): void {
  for (let moved = 0; moved < LEAVES_PER_ENTRY && draining.length > 0; moved += 1) {
    draining.length -= 1;
    const claimant = draining.ids[draining.length]!;
    const expiresAt = draining.values[draining.length]!;
    if (isTrue(claimant, expiresAt)) queue.current.push(claimant, expiresAt);
  }
  draining.shrink();
  if (draining.length > 0) return;
  queue.draining = null;
  queue.drainAbove = Math.max(DRAIN_ABOVE_MIN, 2 * queue.current.length);
}
