/**
 * Which seats a buyer gets who did not pick any: the block that the house would choose.
 *
 * Owns the order of preference. What a block and an orphan are belongs to `row-blocks.ts`, finding rows fast to
 * `block-index.ts`, seats that a hold has already to `held-block.ts`. Called by `assignment.ts` for holds and by the
 * suggestion of seats, so that both follow the same rules:
 *
 * 1. Seats of the type's zones, neighbours in one row with no aisle between; accessible ones only for accessible types,
 *    and for those no others.
 * 2. Blocks with an unrestricted view before those with a restricted seat; among equals those that leave fewer orphans; among
 *    equals those in the row that is tried first; in a row the one nearest its centre; among equally near ones the leftmost.
 *
 * Rows that differ under the trial are looked at one by one, all others through the index; the better of the two wins.
 */

import { blockIndexOf } from './seat-map.ts';
import type { SeatMap } from './seat-map.ts';
import { firstBucketWith, gradesOf, largestSize, membersOf } from './block-index.ts';
import type { BlockGrade, BlockIndex } from './block-index.ts';
import { forEachStretch, nearestBlock } from './row-blocks.ts';
import type { RowStates } from './row-blocks.ts';
import { INDEXED_SIZE_MAX } from './seat-class.ts';
import type { SeatClass } from './seat-class.ts';
import type { TicketTypePlan } from '../catalogue/sale-plan.ts';
import { changedRowsOf, seatMapOf } from './stock-overlay.ts';
import type { StockOverlay } from './stock-overlay.ts';

/** Where a block may be looked for: one class of seats of one hall, as it would be under a trial. */
interface SearchArea {
  readonly map: SeatMap;
  readonly seatClass: SeatClass;
  readonly index: BlockIndex;
  readonly changedRows: ReadonlyMap<number, RowStates>;
  /** The buckets of changed rows, first ones first; a few at most. */
  readonly changedBuckets: readonly number[];
}

const NO_BUCKETS: readonly number[] = [];

/**
 * The best block of `count` seats for a type of a NUMBERED locality, as seat indexes from left to right; null when there is
 * none. Cost: logarithmic in the rows of the hall, plus the rows that changed since the last question.
 */
export function bestBlock(overlay: StockOverlay, type: TicketTypePlan, count: number): number[] | null {
  const area = openArea(overlay, type);
  if (count < 1 || count > area.map.seating.longestRun) return null;
  for (const grade of gradesOf(area.seatClass)) {
    const start = firstOfGrade(area, grade, count);
    if (start >= 0) return seatsFrom(start, count);
  }
  return null;
}

function seatsFrom(start: number, count: number): number[] {
  const seats: number[] = [];
  for (let seat = start; seat < start + count; seat += 1) seats.push(seat);
  return seats;
}

/** The grade that the best block of `count` would have, or null when there is none. */
export function bestGrade(overlay: StockOverlay, type: TicketTypePlan, count: number): BlockGrade | null {
  const area = openArea(overlay, type);
  if (count < 1 || count > area.map.seating.longestRun) return null;
  return gradesOf(area.seatClass).find((grade) => firstOfGrade(area, grade, count) >= 0) ?? null;
}

/** The most seats that a type could be assigned side by side; 0 when it could not be assigned any. */
export function largestBlock(overlay: StockOverlay, type: TicketTypePlan): number {
  const area = openArea(overlay, type);
  const { seatClass } = area;
  let largest = 0;
  for (const bucket of area.changedBuckets) largest = Math.max(largest, largestInBucket(area, bucket));
  largest = largestSize(area.index, area.changedBuckets, largest);
  if (largest < INDEXED_SIZE_MAX) return largest;
  for (let bucket = 0; bucket < seatClass.bucketCount; bucket += 1) {
    largest = Math.max(largest, largestInBucket(area, bucket));
  }
  return largest;
}

function openArea(overlay: StockOverlay, type: TicketTypePlan): SearchArea {
  const map = seatMapOf(overlay, type.locality);
  const seatClass = type.seatClass!;
  const changedRows = changedRowsOf(overlay, type.locality);
  const changedBuckets = changedRows.size === 0 ? NO_BUCKETS : bucketsOf(seatClass, changedRows);
  return { map, seatClass, index: blockIndexOf(map, seatClass), changedRows, changedBuckets };
}

function bucketsOf(seatClass: SeatClass, rows: ReadonlyMap<number, RowStates>): readonly number[] {
  const buckets: number[] = [];
  for (const row of rows.keys()) {
    const bucket = seatClass.bucketOfRow[row]!;
    if (bucket >= 0 && !buckets.includes(bucket)) buckets.push(bucket);
  }
  return buckets.length > 1 ? buckets.sort((a, b) => a - b) : buckets;
}

/** The first seat of the best block of exactly this grade; -1 when there is none. */
function firstOfGrade(area: SearchArea, grade: BlockGrade, count: number): number {
  if (count > INDEXED_SIZE_MAX) return firstByWalking(area, grade, count);
  let bucket = firstBucketWith(area.index, grade, count, 0);
  while (area.changedBuckets.includes(bucket)) bucket = firstBucketWith(area.index, grade, count, bucket + 1);
  for (const changed of area.changedBuckets) {
    if (bucket >= 0 && changed > bucket) break;
    const start = nearestInBucket(area, changed, grade, count);
    if (start >= 0) return start;
  }
  return bucket < 0 ? -1 : nearestInBucket(area, bucket, grade, count);
}

function firstByWalking(area: SearchArea, grade: BlockGrade, count: number): number {
  for (let bucket = 0; bucket < area.seatClass.bucketCount; bucket += 1) {
    const start = nearestInBucket(area, bucket, grade, count);
    if (start >= 0) return start;
  }
  return -1;
}

/** The nearest block of the first row of a bucket that has one. */
function nearestInBucket(area: SearchArea, bucket: number, grade: BlockGrade, count: number): number {
  const { map, seatClass } = area;
  const member = membersOf(seatClass, grade.tier);
  for (let i = seatClass.bucketStart[bucket]!; i < seatClass.bucketStart[bucket + 1]!; i += 1) {
    const row = seatClass.rows[i]!;
    const start = nearestBlock(map.seating, row, statesOf(area, row), member, count, grade.orphans);
    if (start >= 0) return start;
  }
  return -1;
}

function largestInBucket(area: SearchArea, bucket: number): number {
  const { map, seatClass } = area;
  let largest = 0;
  for (let i = seatClass.bucketStart[bucket]!; i < seatClass.bucketStart[bucket + 1]!; i += 1) {
    const row = seatClass.rows[i]!;
    forEachStretch(map.seating, row, statesOf(area, row), seatClass.member, (_runFrom, _runTo, from, to) => {
      largest = Math.max(largest, to - from);
    });
  }
  return largest;
}

function statesOf(area: SearchArea, row: number): RowStates {
  return area.changedRows.get(row) ?? area.index.whole;
}
