/**
 * The blocks of one row: which sizes it has, with how many orphans, and which block of a size is the best.
 *
 * Owns what a block and an orphan are; which row comes first belongs to `best-available.ts`. Called by `block-index.ts`,
 * for each bucket that changed, and by `best-available.ts`, for the row that was chosen.
 *
 * 1. A *free run* is a longest stretch of AVAILABLE neighbours, seats of every kind, between aisles and row ends.
 * 2. A *block* is a stretch of a free run that has only members of a class.
 * 3. A side of a block has an *orphan* when exactly one seat of its free run lies beyond it: so 0, 1 or 2 orphans.
 * 4. States are read at `states[seat - offset]`: from a whole seat map with offset 0, from a copy of one row with its
 *    first seat.
 */

import type { SeatingPlan } from './seating-plan.ts';
import { AVAILABLE } from './seat-state.ts';

/** A window on the states of a row's seats (invariant 4). */
export interface RowStates {
  readonly states: Uint8Array;
  readonly offset: number;
}

export const ORPHANS_MAX = 2;

/** What a visitor of stretches is told: members [from, to) of the free run [runFrom, runTo). */
type StretchVisitor = (runFrom: number, runTo: number, from: number, to: number) => void;

/** Calls back with each longest stretch of members in each free run of a row, from left to right. */
export function forEachStretch(
  seating: SeatingPlan,
  row: number,
  { states, offset }: RowStates,
  member: Uint8Array,
  visit: StretchVisitor,
): void {
  const { startsRun } = seating;
  const rowEnd = seating.rowStart[row + 1]!;
  let seat = seating.rowStart[row]!;
  while (seat < rowEnd) {
    if (states[seat - offset] !== AVAILABLE) {
      seat += 1;
      continue;
    }
    const runFrom = seat;
    do seat += 1;
    while (seat < rowEnd && startsRun[seat] === 0 && states[seat - offset] === AVAILABLE);
    for (let from = runFrom; from < seat; from += 1) {
      if (member[from] !== 1) continue;
      let to = from + 1;
      while (to < seat && member[to] === 1) to += 1;
      visit(runFrom, seat, from, to);
      from = to;
    }
  }
}

/** How many orphans the block [from, to) leaves in its free run. */
export function orphansOf(runFrom: number, runTo: number, from: number, to: number): number {
  return (from === runFrom + 1 ? 1 : 0) + (to === runTo - 1 ? 1 : 0);
}

/**
 * Adds the sizes of all blocks of a row to three masks of `wordCount` words that begin at `at`: blocks without an orphan,
 * with one, with two. Size n is bit (n - 1) % 32 of word floor((n - 1) / 32); sizes beyond the words are left out.
 */
export function addBlockSizes(
  masks: Uint32Array,
  at: number,
  wordCount: number,
  seating: SeatingPlan,
  row: number,
  states: RowStates,
  member: Uint8Array,
): void {
  const one = at + wordCount;
  const two = one + wordCount;
  forEachStretch(seating, row, states, member, (runFrom, runTo, from, to) => {
    // The size of the block that leaves an orphan on both sides. One seat more to either side leaves one orphan.
    const between = runTo - runFrom - 2;
    const startsAfterOrphan = from <= runFrom + 1 && to > runFrom + 1;
    const endsBeforeOrphan = from < runTo - 1 && to >= runTo - 1;
    // From the run's own start: any end but the one before a last single seat.
    if (from === runFrom) addSizesUpTo(masks, at, wordCount, to - from, between + 1);
    // From the third seat of the run on: up to the run's own end, or to where two seats remain.
    const start = Math.max(from, runFrom + 2);
    addSizesUpTo(masks, at, wordCount, (to === runTo - 1 ? to - 1 : to) - start, 0);
    if (startsAfterOrphan) addSizesUpTo(masks, one, wordCount, to - runFrom - 1, between);
    if (endsBeforeOrphan) addSizesUpTo(masks, one, wordCount, runTo - 1 - from, between);
    if (startsAfterOrphan && endsBeforeOrphan) addSize(masks, two, wordCount, between);
  });
}

/**
 * The first seat of the block of `count` members with exactly `orphans` orphans that lies nearest the row's centre, the
 * leftmost of equally near ones; -1 when there is none. The centre of a row or block is the midpoint of its first and last seat.
 */
export function nearestBlock(
  seating: SeatingPlan,
  row: number,
  states: RowStates,
  member: Uint8Array,
  count: number,
  orphans: number,
): number {
  let best = -1;
  let bestDistance = Infinity;
  forEachStretch(seating, row, states, member, (runFrom, runTo, from, to) => {
    for (let start = from; start + count <= to; start += 1) {
      if (orphansOf(runFrom, runTo, start, start + count) !== orphans) continue;
      const distance = distanceFromCentre(seating, row, start, start + count - 1);
      if (distance >= bestDistance) continue;
      best = start;
      bestDistance = distance;
    }
  });
  return best;
}

/**
 * How far a block's centre lies from its row's, in millionths, so that a drawing program's rounding breaks no tie. Where all
 * of the row lies on one point, seats are counted instead.
 */
export function distanceFromCentre(seating: SeatingPlan, row: number, firstSeat: number, lastSeat: number): number {
  const { x, y, rowStart } = seating;
  const rowFirst = rowStart[row]!;
  const rowLast = rowStart[row + 1]! - 1;
  if (x[rowFirst] === x[rowLast] && y[rowFirst] === y[rowLast])
    return Math.abs(firstSeat + lastSeat - rowFirst - rowLast);
  const dx = x[firstSeat]! + x[lastSeat]! - x[rowFirst]! - x[rowLast]!;
  const dy = y[firstSeat]! + y[lastSeat]! - y[rowFirst]! - y[rowLast]!;
  return Math.round(Math.sqrt(dx * dx + dy * dy) * 5e5);
}

function addSizesUpTo(masks: Uint32Array, at: number, wordCount: number, largest: number, except: number): void {
  for (let word = 0, size = largest; word < wordCount && size > 0; word += 1, size -= 32) {
    let bits = size >= 32 ? -1 : (1 << size) - 1;
    if (except > 0 && (except - 1) >> 5 === word) bits &= ~(1 << ((except - 1) & 31));
    masks[at + word]! |= bits;
  }
}

function addSize(masks: Uint32Array, at: number, wordCount: number, size: number): void {
  const word = (size - 1) >> 5;
  if (size > 0 && word < wordCount) masks[at + word]! |= 1 << ((size - 1) & 31);
}
