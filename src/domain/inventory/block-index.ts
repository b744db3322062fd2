/**
 * The free blocks of a seat map: what a block is, which sizes a row has, and where the first row with a size stands.
 *
 * Owns the index of one class of seats at one performance. Which block is the best belongs to `best-available.ts`.
 *
 * 1. A *free run* is a longest stretch of AVAILABLE neighbours, seats of every kind, between aisles and row ends.
 * 2. A *block* is a stretch of a free run that has only members of a class.
 * 3. A side of a block has an *orphan* when exactly one seat of its free run lies beyond it: so 0, 1 or 2 orphans.
 * 4. The index is a tree over the rows in the order in which they are tried. A leaf stands for a bucket of rows, a node
 *    for the buckets below it. Each has masks of the sizes of blocks: three (without an orphan, with one, with two) of
 *    blocks with an unrestricted view, and, where the class has restricted seats, three more of all blocks.
 * 5. A node's masks are the union of its children's. A change of a seat only marks its bucket; marked buckets are
 *    determined again at the next look-up.
 * 6. Layout: the root is node 0; a node over m buckets has its left child, over the first floor(m / 2) = h of them,
 *    right behind it, and its right child 2h behind it. So 2m - 1 nodes, none unused.
 */
import { AVAILABLE, type BlockIndex, type RowStates, type SeatMap } from './seat-map.ts';
import type { SeatClass, SeatingPlan } from '../catalogue/seating-plan.ts';

const ORPHANS_MAX = 2;

// ── the blocks of one row ────────────────────────────────────────────────────────────────────────────────────────────

/** Gets the members [from, to) of the free run [runFrom, runTo). */
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
function orphansOf(runFrom: number, runTo: number, from: number, to: number): number {
  return (from === runFrom + 1 ? 1 : 0) + (to === runTo - 1 ? 1 : 0);
}

/**
 * The first seat of the block of `count` members with exactly `orphans` orphans that lies nearest the row's centre, the
 * leftmost of equally near ones; -1 when there is none.
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
 * How far a block's centre (the midpoint of its first and last seat) lies from its row's, in millionths, so that the
 * rounding of a drawing program breaks no tie. Where all of the row lies on one point, seats are counted instead.
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

/**
 * Adds the sizes of all blocks of a row to three masks of `wordCount` words that begin at `at`: blocks without an
 * orphan, with one, with two. Size n is bit (n - 1) % 32 of word floor((n - 1) / 32); sizes beyond the words are left
 * out.
 */
function addBlockSizes(
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

// ── the index ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** How good a block is: its view first (tier 0 unrestricted, tier 1 any), then its orphans. Lower is better. */
export interface BlockGrade {
  readonly tier: number;
  readonly orphans: number;
}

const GRADES_PER_TIER = ORPHANS_MAX + 1;

const clearGrades: readonly BlockGrade[] = [0, 1, 2].map((orphans) => ({ tier: 0, orphans }));
const allGrades: readonly BlockGrade[] = [...clearGrades, ...[0, 1, 2].map((orphans) => ({ tier: 1, orphans }))];

/** The grades that blocks of a class can have, best first. */
export function gradesOf(seatClass: SeatClass): readonly BlockGrade[] {
  return seatClass.hasRestricted ? allGrades : clearGrades;
}

/**
 * The seats that a block of a tier may have. Tier 1 need not require a restricted seat: it is only tried where tier 0
 * has none.
 */
export function membersOf(seatClass: SeatClass, tier: number): Uint8Array {
  return tier === 0 ? seatClass.clearMember : seatClass.member;
}

/** The up-to-date index of a class's free blocks; made at the first call, with one pass over the class's rows. */
export function blockIndexOf(map: SeatMap, seatClass: SeatClass): BlockIndex {
  const index = (map.blockIndexes[seatClass.index] ??= createBlockIndex(map, seatClass));
  refresh(index);
  return index;
}

/**
 * The first bucket at or after `from` that has a block of `size` (at most INDEXED_SIZE_MAX) of a grade; -1 when none
 * has.
 */
export function firstBucketWith(index: BlockIndex, grade: BlockGrade, size: number, from: number): number {
  const { bucketCount, wordCount } = index.seatClass;
  const word = (grade.tier * GRADES_PER_TIER + grade.orphans) * wordCount + ((size - 1) >> 5);
  return seek(index, 0, 0, bucketCount, from, word, 1 << ((size - 1) & 31));
}

/** The largest indexed size that any bucket but the skipped ones has a block of, if above `floor`; else `floor`. */
export function largestSize(index: BlockIndex, skipped: readonly number[], floor: number): number {
  return largestBelow(index, 0, 0, index.seatClass.bucketCount, skipped, floor);
}

/** The masks of each class where every seat is free: a performance differs from them in the rows that are not. */
const masksOfFree = new WeakMap<SeatClass, Uint32Array>();

function createBlockIndex({ seating, states }: SeatMap, seatClass: SeatClass): BlockIndex {
  const known = masksOfFree.get(seatClass);
  if (known === undefined) {
    const free = indexOfAll(seating, new Uint8Array(seating.seatCount).fill(AVAILABLE), seatClass);
    refresh(free);
    masksOfFree.set(seatClass, free.masks);
  }
  const index = { ...indexOfAll(seating, states, seatClass), masks: masksOfFree.get(seatClass)!.slice() };
  index.isChanged.fill(0);
  index.changedCount = 0;
  for (let bucket = 0; bucket < seatClass.bucketCount; bucket += 1) {
    if (!hasTaken(index, bucket)) continue;
    index.isChanged[bucket] = 1;
    index.changedBuckets[index.changedCount] = bucket;
    index.changedCount += 1;
  }
  return index;
}

function hasTaken({ seating, seatClass, whole }: BlockIndex, bucket: number): boolean {
  const { rows, bucketStart } = seatClass;
  for (let i = bucketStart[bucket]!; i < bucketStart[bucket + 1]!; i += 1) {
    const rowEnd = seating.rowStart[rows[i]! + 1]!;
    for (let seat = seating.rowStart[rows[i]!]!; seat < rowEnd; seat += 1) {
      if (whole.states[seat] !== AVAILABLE) return true;
    }
  }
  return false;
}

/** An index in which every bucket is still to be determined. */
function indexOfAll(seating: SeatingPlan, states: Uint8Array, seatClass: SeatClass): BlockIndex {
  const { bucketCount, wordCount } = seatClass;
  const stride = gradesOf(seatClass).length * wordCount;
  return {
    seating,
    seatClass,
    whole: { states, offset: 0 },
    masks: new Uint32Array(Math.max(0, 2 * bucketCount - 1) * stride),
    stride,
    isChanged: new Uint8Array(bucketCount).fill(1),
    changedBuckets: Uint32Array.from({ length: bucketCount }, (_, bucket) => bucket),
    changedCount: bucketCount,
  };
}

/** Determines the buckets that changed and the nodes above them. */
function refresh(index: BlockIndex): void {
  if (index.changedCount === 0) return;
  const { bucketCount } = index.seatClass;
  if (index.changedCount * 4 > bucketCount) {
    refreshAll(index, 0, 0, bucketCount);
  } else {
    for (let i = 0; i < index.changedCount; i += 1) refreshPath(index, 0, 0, bucketCount, index.changedBuckets[i]!);
  }
  for (let i = 0; i < index.changedCount; i += 1) index.isChanged[index.changedBuckets[i]!] = 0;
  index.changedCount = 0;
}

function refreshAll(index: BlockIndex, node: number, from: number, to: number): void {
  if (to - from > 1) {
    const middle = from + ((to - from) >> 1);
    refreshAll(index, node + 1, from, middle);
    refreshAll(index, node + 2 * (middle - from), middle, to);
  }
  refreshNode(index, node, from, to);
}

function refreshPath(index: BlockIndex, node: number, from: number, to: number, bucket: number): void {
  if (to - from > 1) {
    const middle = from + ((to - from) >> 1);
    if (bucket < middle) refreshPath(index, node + 1, from, middle, bucket);
    else refreshPath(index, node + 2 * (middle - from), middle, to, bucket);
  }
  refreshNode(index, node, from, to);
}

/** A leaf's masks from its rows, a node's from its children. */
function refreshNode(index: BlockIndex, node: number, from: number, to: number): void {
  const { masks, stride } = index;
  const at = node * stride;
  if (to - from === 1) {
    masks.fill(0, at, at + stride);
    addBucket(index, from, at);
    return;
  }
  const left = (node + 1) * stride;
  const right = (node + 2 * ((to - from) >> 1)) * stride;
  for (let word = 0; word < stride; word += 1) masks[at + word] = masks[left + word]! | masks[right + word]!;
}

function addBucket(index: BlockIndex, bucket: number, at: number): void {
  const { seating, seatClass, whole, masks } = index;
  const { rows, bucketStart, wordCount } = seatClass;
  const tierCount = seatClass.hasRestricted ? 2 : 1;
  for (let i = bucketStart[bucket]!; i < bucketStart[bucket + 1]!; i += 1) {
    for (let tier = 0; tier < tierCount; tier += 1) {
      const tierAt = at + tier * GRADES_PER_TIER * wordCount;
      addBlockSizes(masks, tierAt, wordCount, seating, rows[i]!, whole, membersOf(seatClass, tier));
    }
  }
}

function seek(
  index: BlockIndex,
  node: number,
  from: number,
  to: number,
  earliest: number,
  word: number,
  bit: number,
): number {
  if (to <= earliest || (index.masks[node * index.stride + word]! & bit) === 0) return -1;
  if (to - from === 1) return from;
  const middle = from + ((to - from) >> 1);
  const found = seek(index, node + 1, from, middle, earliest, word, bit);
  return found >= 0 ? found : seek(index, node + 2 * (middle - from), middle, to, earliest, word, bit);
}

function largestBelow(
  index: BlockIndex,
  node: number,
  from: number,
  to: number,
  skipped: readonly number[],
  floor: number,
): number {
  if (to <= from) return floor;
  const largest = largestSizeAt(index, node);
  if (largest <= floor) return floor;
  if (to - from === 1) return skipped.includes(from) ? floor : largest;
  const middle = from + ((to - from) >> 1);
  const left = largestBelow(index, node + 1, from, middle, skipped, floor);
  return largestBelow(index, node + 2 * (middle - from), middle, to, skipped, left);
}

/** The largest block of a node, whatever its view and orphans: the last tier counts all blocks. */
function largestSizeAt(index: BlockIndex, node: number): number {
  const { wordCount, hasRestricted } = index.seatClass;
  const at = node * index.stride + (hasRestricted ? GRADES_PER_TIER * wordCount : 0);
  for (let word = wordCount - 1; word >= 0; word -= 1) {
    let bits = 0;
    for (let orphans = 0; orphans <= ORPHANS_MAX; orphans += 1) bits |= index.masks[at + orphans * wordCount + word]!;
    if (bits !== 0) return word * 32 + 32 - Math.clz32(bits);
  }
  return 0;
}
