/**
 * Which seats a buyer gets who did not pick any, and which seats a hold keeps when its buyer wants fewer or more.
 *
 * Owns the order of preference. What a block and an orphan are, and finding rows fast, belongs to `block-index.ts`;
 * seats for people who come together but take different kinds of seats to `companions.ts`.
 *
 * 1. Seats of the type's zones, neighbours in one row with no aisle between; accessible ones only for accessible types,
 *    and for those no others.
 * 2. Blocks with an unrestricted view before those with a restricted seat; among equals those that leave fewer orphans;
 *    among equals those in the row that is tried first; in a row the one nearest its centre; among equally near ones
 *    the leftmost.
 * 3. Shrinking keeps neighbours together, and of those the stretch that leaves the fewest orphans. Seats that do not
 *    lie together are kept in as few stretches as possible, longest first.
 * 4. Growing keeps every held seat and adds seats that could be assigned, in one block, with the fewest orphans. A
 *    neighbour with a restricted view is added only where no block of that size is without one.
 * 5. Among equals by rules 3 and 4 the block nearest its row's centre is chosen, then the leftmost.
 *
 * Rows that differ in the overlay are examined one by one, all others through the index; the better of the two wins.
 */
import type { TicketTypePlan } from '../catalogue/sale-plan.ts';
import { INDEXED_SIZE_MAX, type SeatClass } from '../catalogue/seating-plan.ts';
import {
  blockIndexOf,
  distanceFromCentre,
  firstBucketWith,
  forEachStretch,
  gradesOf,
  largestSize,
  membersOf,
  nearestBlock,
  type BlockGrade,
} from './block-index.ts';
import { AVAILABLE, type BlockIndex, type RowStates, type SeatMap } from './seat-map.ts';
import { changedRowsOf, seatMapOf, stateInOverlay, type StockOverlay } from './stock-overlay.ts';

/** Where a block may be looked for: one class of seats of one locality, as the overlay has it. */
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
 * The best block of `count` seats for a type of a NUMBERED locality, as seat indexes from left to right; null when
 * there is none. Cost: logarithmic in the rows of the locality, plus the rows that changed since the last call.
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

/** Tells whether a seat is free for the choice at hand. */
type IsFree = (seat: number) => boolean;

/** Seats [from, to) that are neighbours. */
interface Stretch {
  readonly from: number;
  readonly to: number;
}

/**
 * The `count` of the held seats to keep, as seat indexes from left to right; null when fewer are left to keep, because
 * another item of the same request took some.
 */
export function shrinkBlock(
  overlay: StockOverlay,
  type: TicketTypePlan,
  heldSeatIds: readonly string[],
  count: number,
): number[] | null {
  const map = seatMapOf(overlay, type.locality);
  const keepable = seatsOf(map, heldSeatIds).filter((seat) => stateInOverlay(overlay, map, seat) === AVAILABLE);
  if (keepable.length < count) return null;
  const kept = new Set<number>();
  const isFree: IsFree = (seat) => stateInOverlay(overlay, map, seat) === AVAILABLE && !kept.has(seat);
  const stretches = stretchesOf(map, keepable).sort((a, b) => lengthOf(b) - lengthOf(a) || a.from - b.from);
  while (kept.size < count && stretches.length > 0) {
    const missing = count - kept.size;
    const longEnough = stretches.filter((stretch) => lengthOf(stretch) >= missing);
    const candidates = longEnough.length > 0 ? longEnough : [stretches.shift()!];
    const best = bestPart(map, candidates, Math.min(missing, lengthOf(candidates[0]!)), isFree)!;
    for (let seat = best.from; seat < best.to; seat += 1) kept.add(seat);
  }
  return [...kept].sort((a, b) => a - b);
}

/** A block of `count` that has every held seat, as seat indexes from left to right; null where that cannot be. */
export function growBlock(
  overlay: StockOverlay,
  type: TicketTypePlan,
  heldSeatIds: readonly string[],
  count: number,
): number[] | null {
  const map = seatMapOf(overlay, type.locality);
  const held = seatsOf(map, heldSeatIds);
  const isFree: IsFree = (seat) => stateInOverlay(overlay, map, seat) === AVAILABLE;
  if (held.length === 0 || held.length > count || !held.every(isFree)) return null;
  const { member, clearMember } = type.seatClass!;
  const clear = growWith(map, held, count, isFree, clearMember);
  if (clear !== null) return clear;
  const restricted = growWith(map, held, count, isFree, member);
  return restricted !== null && bestGrade(overlay, type, count)?.tier !== 0 ? restricted : null;
}

/** Grows into seats that are held or free members. */
function growWith(
  map: SeatMap,
  held: readonly number[],
  count: number,
  isFree: IsFree,
  member: Uint8Array,
): number[] | null {
  const first = held[0]!;
  const last = held.at(-1)!;
  const isOurs = new Set(held);
  const mayHave: IsFree = (seat) => isOurs.has(seat) || (isFree(seat) && member[seat] === 1);
  const { from, to } = reach(map, first, mayHave);
  if (last >= to) return null;
  const room = { from: Math.max(from, last + 1 - count), to: Math.min(to, first + count) };
  const best = bestPart(map, [room], count, isFree);
  return best === null ? null : Array.from({ length: count }, (_, i) => best.from + i);
}

/** The `count` seats in one of the stretches with the fewest orphans, then nearest the centre, then leftmost. */
function bestPart(map: SeatMap, stretches: readonly Stretch[], count: number, isFree: IsFree): Stretch | null {
  let best: Stretch | null = null;
  let fewestOrphans = Infinity;
  let nearest = Infinity;
  for (const stretch of stretches) {
    const run = reach(map, stretch.from, isFree);
    const row = map.seating.rowOf[stretch.from]!;
    for (let from = stretch.from; from + count <= stretch.to; from += 1) {
      const to = from + count;
      const orphans = (from - run.from === 1 ? 1 : 0) + (run.to - to === 1 ? 1 : 0);
      const distance = distanceFromCentre(map.seating, row, from, to - 1);
      if (orphans > fewestOrphans || (orphans === fewestOrphans && distance >= nearest)) continue;
      best = { from, to };
      fewestOrphans = orphans;
      nearest = distance;
    }
  }
  return best;
}

/** The longest stretch of neighbours around a seat that all satisfy. */
function reach(map: SeatMap, seat: number, satisfies: IsFree): Stretch {
  const { startsRun, seatCount } = map.seating;
  let from = seat;
  while (startsRun[from] === 0 && satisfies(from - 1)) from -= 1;
  let to = seat + 1;
  while (to < seatCount && startsRun[to] === 0 && satisfies(to)) to += 1;
  return { from, to };
}

/** Sorted seats as stretches of neighbours. */
function stretchesOf(map: SeatMap, seats: readonly number[]): Stretch[] {
  const stretches: Stretch[] = [];
  for (const seat of seats) {
    const last = stretches.at(-1);
    if (last !== undefined && last.to === seat && map.seating.startsRun[seat] === 0) {
      stretches[stretches.length - 1] = { from: last.from, to: seat + 1 };
    } else stretches.push({ from: seat, to: seat + 1 });
  }
  return stretches;
}

function seatsOf(map: SeatMap, seatIds: readonly string[]): number[] {
  return seatIds.map((seatId) => map.seating.indexOf.get(seatId)!).sort((a, b) => a - b);
}

function lengthOf({ from, to }: Stretch): number {
  return to - from;
}
