/**
 * Which sizes of blocks one hall has on one date for one class of seats: a tree over the rows in the order in which they
 * are tried, so that the first row with a block of a size is found in a walk from the root, however large the hall.
 *
 * Owns the tree and its freshness. What a block is belongs to `row-blocks.ts`, what is best to `best-available.ts`.
 * Created by `seat-map.ts` when a class is first asked for; told by it of every seat that changes.
 *
 * 1. A leaf stands for a bucket of rows, a node for the buckets below it. Each has masks of the sizes of blocks: three
 *    (without an orphan, with one, with two) of blocks with an unrestricted view, and, where the class has restricted
 *    seats, three more of all blocks.
 * 2. A node's masks are the union of its children's, once `refresh` ran. A change only marks its bucket; buckets are worked
 *    out again at the next question.
 * 3. Layout: the root is node 0; a node over m buckets has its left child, over the first floor(m / 2) = h of them,
 *    right behind it and its right child 2h behind it. So 2m - 1 nodes, none unused.
 */

import type { SeatClass } from './seat-class.ts';
import type { SeatingPlan } from './seating-plan.ts';
import { addBlockSizes, ORPHANS_MAX } from './row-blocks.ts';
import type { RowStates } from './row-blocks.ts';

export interface BlockIndex {
  readonly seating: SeatingPlan;
  readonly seatClass: SeatClass;
  readonly whole: RowStates;
  readonly masks: Uint32Array;
  /** Words of a node: tiers × 3 × words of a mask. */
  readonly stride: number;
  readonly isChanged: Uint8Array;
  readonly changedBuckets: Uint32Array;
  changedCount: number;
}

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

/** The seats that a block of a tier may have. Tier 1 need not ask for a restricted seat: it is only tried where tier 0 has none. */
export function membersOf(seatClass: SeatClass, tier: number): Uint8Array {
  return tier === 0 ? seatClass.clearMember : seatClass.member;
}

/** An index over the living states of a seat map. Cost: one pass over the class's rows at the first question. */
export function createBlockIndex(seating: SeatingPlan, seatClass: SeatClass, states: Uint8Array): BlockIndex {
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

/** Notes that a seat of the row changed. Hot. */
export function markRowChanged(index: BlockIndex, row: number): void {
  const bucket = index.seatClass.bucketOfRow[row]!;
  if (bucket < 0 || index.isChanged[bucket] === 1) return;
  index.isChanged[bucket] = 1;
  index.changedBuckets[index.changedCount] = bucket;
  index.changedCount += 1;
}

/** Works out the buckets that changed and the nodes above them; call before any question. */
export function refresh(index: BlockIndex): void {
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

/** The first bucket at or after `from` that has a block of `size` (at most INDEXED_SIZE_MAX) of a grade; -1 when none has. */
export function firstBucketWith(index: BlockIndex, grade: BlockGrade, size: number, from: number): number {
  const { bucketCount, wordCount } = index.seatClass;
  const word = (grade.tier * GRADES_PER_TIER + grade.orphans) * wordCount + ((size - 1) >> 5);
  return seek(index, 0, 0, bucketCount, from, word, 1 << ((size - 1) & 31));
}

/** The largest indexed size that any bucket but the skipped ones has a block of, if above `floor`; else `floor`. */
export function largestSize(index: BlockIndex, skipped: readonly number[], floor: number): number {
  return climb(index, 0, 0, index.seatClass.bucketCount, skipped, floor);
}

function refreshAll(index: BlockIndex, node: number, from: number, to: number): void {
  if (to - from > 1) {
    const middle = from + ((to - from) >> 1);
    refreshAll(index, node + 1, from, middle);
    refreshAll(index, node + 2 * (middle - from), middle, to);
  }
  workOut(index, node, from, to);
}

function refreshPath(index: BlockIndex, node: number, from: number, to: number, bucket: number): void {
  if (to - from > 1) {
    const middle = from + ((to - from) >> 1);
    if (bucket < middle) refreshPath(index, node + 1, from, middle, bucket);
    else refreshPath(index, node + 2 * (middle - from), middle, to, bucket);
  }
  workOut(index, node, from, to);
}

/** A leaf's masks from its rows, a node's from its children. */
function workOut(index: BlockIndex, node: number, from: number, to: number): void {
  const { masks, stride } = index;
  const at = node * stride;
  if (to - from === 1) {
    masks.fill(0, at, at + stride);
    readBucket(index, from, at);
    return;
  }
  const left = (node + 1) * stride;
  const right = (node + 2 * ((to - from) >> 1)) * stride;
  for (let word = 0; word < stride; word += 1) masks[at + word] = masks[left + word]! | masks[right + word]!;
}

function readBucket(index: BlockIndex, bucket: number, at: number): void {
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

function climb(
  index: BlockIndex,
  node: number,
  from: number,
  to: number,
  skipped: readonly number[],
  floor: number,
): number {
  if (to <= from) return floor;
  const most = largestSizeAt(index, node);
  if (most <= floor) return floor;
  if (to - from === 1) return skipped.includes(from) ? floor : most;
  const middle = from + ((to - from) >> 1);
  const left = climb(index, node + 1, from, middle, skipped, floor);
  return climb(index, node + 2 * (middle - from), middle, to, skipped, left);
}

/** Of all blocks, whatever their view and orphans: the last tier has them all. */
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
