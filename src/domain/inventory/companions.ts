/**
 * Seats for people who come together and do not take the same kind of seat: companions beside accessible seats.
 *
 * Owns where the seats of companions are. What a block and an orphan are belongs to `block-index.ts`, the block of one item
 * alone to `best-available.ts`, which items are companions to `assignment.ts`.
 *
 * 1. The first block is as unrestricted as the best block of its item alone would be. Among those the one is taken that
 *    has its companions nearest, all in its row with no aisle between; where not all of them fit in any row, as many as do.
 * 2. Among equally near groups: fewest companions with a restricted view, then fewest orphans, then the row that is tried
 *    first, then the group nearest the row's centre, then the leftmost.
 * 3. A companion for whom no row has room gets the block nearest the first one; among equally near ones the order is that of 2.
 * 4. Companions sit down one after the other, each with no seat of the group between it and its own.
 */
import { bestGrade } from './best-available.ts';
import { distanceFromCentre, membersOf } from './block-index.ts';
import type { TicketTypePlan } from '../catalogue/sale-plan.ts';
import { AVAILABLE, type SeatMap } from './seat-map.ts';
import type { SeatingPlan } from '../catalogue/seating-plan.ts';
import { seatMapOf, stateInOverlay } from './stock-overlay.ts';
import type { StockOverlay } from './stock-overlay.ts';

/** An item that is given a block of seats. */
export interface BlockRequest {
  readonly type: TicketTypePlan;
  readonly count: number;
}

/** Seats [from, to) that are neighbours. */
interface Block {
  readonly from: number;
  readonly to: number;
}

/** Blocks in one stretch of a row without an aisle, as they are found: the first one's, then its companions'. */
interface Group {
  readonly blocks: readonly Block[];
  /** From the leftmost seat to the rightmost, with what lies between. */
  readonly hull: Block;
  /** What decides between groups (rule 2), the gaps between its blocks first; lower is better. */
  readonly grade: readonly number[];
}

/** One locality as an overlay has it, and the row in which a group is looked for. */
interface RowSearch {
  readonly overlay: StockOverlay;
  readonly map: SeatMap;
  readonly row: number;
  readonly rank: number;
}

/**
 * The block of the first item and those of as many companions as fit in one row with it, in their order, as seat indexes from left
 * to right; null when not even one does. All types must be of one NUMBERED locality. Cost: a pass over the rows with
 * seats for the first item.
 */
export function seatTogether(
  overlay: StockOverlay,
  first: BlockRequest,
  companions: readonly BlockRequest[],
): number[][] | null {
  const grade = bestGrade(overlay, first.type, first.count);
  if (grade === null) return null;
  const member = membersOf(first.type.seatClass!, grade.tier);
  for (let count = companions.length; count > 0; count -= 1) {
    const group = bestGroup(overlay, first, member, companions.slice(0, count));
    if (group !== null) return group.blocks.map(seatsOf);
  }
  return null;
}

/** The block for a companion of seats that are taken already: in their row with no aisle between, else the nearest; null for none. */
export function seatBeside(overlay: StockOverlay, taken: readonly number[], companion: BlockRequest): number[] | null {
  const map = seatMapOf(overlay, companion.type.locality);
  const first = firstStretch(map.seating, taken);
  const search = { overlay, map, row: map.seating.rowOf[first.from]!, rank: 0 };
  const group = joinGroup(search, { blocks: [first], hull: first, grade: [] }, companion);
  if (group !== null) return seatsOf(group.blocks[1]!);
  const nearest = nearestAnywhere(overlay, map, first, companion);
  return nearest === null ? null : seatsOf(nearest);
}

// ── groups in one row ────────────────────────────────────────────────────────────────────────────────────────────────

function bestGroup(
  overlay: StockOverlay,
  first: BlockRequest,
  member: Uint8Array,
  companions: readonly BlockRequest[],
): Group | null {
  const map = seatMapOf(overlay, first.type.locality);
  const { rows } = first.type.seatClass!;
  let best: Group | null = null;
  for (let rank = 0; rank < rows.length; rank += 1) {
    const search = { overlay, map, row: rows[rank]!, rank };
    if (!companions.every(({ type }) => type.seatClass!.bucketOfRow[search.row]! >= 0)) continue;
    const { rowStart } = map.seating;
    for (let from = rowStart[search.row]!; from + first.count <= rowStart[search.row + 1]!; from += 1) {
      const block = { from, to: from + first.count };
      if (!isBlock(search, block, member)) continue;
      const group = groupAround(search, block, companions);
      if (group !== null && (best === null || isBetter(group.grade, best.grade))) best = group;
    }
    // Gaps, restricted seats and orphans come before the row: without any, no later row has a better group.
    if (best !== null && best.grade[0] === 0 && best.grade[1] === 0 && best.grade[2] === 0) return best;
  }
  return best;
}

function groupAround(search: RowSearch, block: Block, companions: readonly BlockRequest[]): Group | null {
  let group: Group | null = { blocks: [block], hull: block, grade: [0, 0] };
  for (const companion of companions) {
    group = joinGroup(search, group, companion);
    if (group === null) return null;
  }
  return group;
}

/** The group with one companion more, on the better side of it; null where neither side has room. */
function joinGroup(search: RowSearch, group: Group, companion: BlockRequest): Group | null {
  const left = joinAt(search, group, blockLeftOf(search, group.hull, companion), companion);
  const right = joinAt(search, group, blockRightOf(search, group.hull, companion), companion);
  if (left === null || right === null) return left ?? right;
  return isBetter(right.grade, left.grade) ? right : left;
}

function joinAt(search: RowSearch, group: Group, block: Block | null, { type }: BlockRequest): Group | null {
  if (block === null) return null;
  const { seating } = search.map;
  const { hull, grade } = group;
  const gap = block.to <= hull.from ? hull.from - block.to : block.from - hull.to;
  const blocks = [...group.blocks, block];
  const whole = { from: Math.min(hull.from, block.from), to: Math.max(hull.to, block.to) };
  const isRestricted = isAllIn(type.seatClass!.clearMember, block) ? 0 : 1;
  return {
    blocks,
    hull: whole,
    grade: [
      (grade[0] ?? 0) + gap,
      (grade[1] ?? 0) + isRestricted,
      orphansOf(search, blocks),
      search.rank,
      distanceFromCentre(seating, search.row, whole.from, whole.to - 1),
      whole.from,
      blocks[0]!.from,
    ],
  };
}

/** The block for a companion that lies nearest to the left of the hull, before any aisle. */
function blockLeftOf(search: RowSearch, hull: Block, { type, count }: BlockRequest): Block | null {
  const { startsRun } = search.map.seating;
  let to = hull.from;
  for (let seat = hull.from; startsRun[seat] === 0; seat -= 1) {
    if (!isFree(search, seat - 1) || type.seatClass!.member[seat - 1] !== 1) to = seat - 1;
    else if (to - seat + 1 === count) return { from: seat - 1, to };
  }
  return null;
}

function blockRightOf(search: RowSearch, hull: Block, { type, count }: BlockRequest): Block | null {
  const { startsRun, seatCount } = search.map.seating;
  let from = hull.to;
  for (let seat = hull.to; seat < seatCount && startsRun[seat] === 0; seat += 1) {
    if (!isFree(search, seat) || type.seatClass!.member[seat] !== 1) from = seat + 1;
    else if (seat + 1 - from === count) return { from, to: seat + 1 };
  }
  return null;
}

/** Single free seats that the blocks leave beside them. */
function orphansOf(search: RowSearch, blocks: readonly Block[]): number {
  const { startsRun, seatCount } = search.map.seating;
  const isLeft = (seat: number): boolean =>
    isFree(search, seat) && !blocks.some(({ from, to }) => from <= seat && seat < to);
  const hasNext = (seat: number): boolean => seat + 1 < seatCount && startsRun[seat + 1] === 0;
  const orphans = new Set<number>();
  for (const { from, to } of blocks) {
    if (startsRun[from] === 0 && isLeft(from - 1) && (startsRun[from - 1] === 1 || !isLeft(from - 2))) {
      orphans.add(from - 1);
    }
    if (hasNext(to - 1) && isLeft(to) && (!hasNext(to) || !isLeft(to + 1))) orphans.add(to);
  }
  return orphans.size;
}

// ── elsewhere ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The block whose centre is nearest that of the first one, in any row. Cost: a pass over the rows of the type. */
function nearestAnywhere(
  overlay: StockOverlay,
  map: SeatMap,
  first: Block,
  { type, count }: BlockRequest,
): Block | null {
  const { rows, member, clearMember } = type.seatClass!;
  const { rowStart, rowOf } = map.seating;
  let best: Block | null = null;
  let bestGrade: readonly number[] = [];
  for (let rank = 0; rank < rows.length; rank += 1) {
    const search = { overlay, map, row: rows[rank]!, rank };
    for (let from = rowStart[search.row]!; from + count <= rowStart[search.row + 1]!; from += 1) {
      const block = { from, to: from + count };
      const distance = distanceBetween(map.seating, first, block);
      if (best !== null && distance > bestGrade[0]!) continue;
      if (!isBlock(search, block, member)) continue;
      const rowsAway = Math.abs(search.row - rowOf[first.from]!);
      const isRestricted = isAllIn(clearMember, block) ? 0 : 1;
      const grade = [distance, rowsAway, isRestricted, orphansOf(search, [block]), rank, from];
      if (best !== null && !isBetter(grade, bestGrade)) continue;
      best = block;
      bestGrade = grade;
    }
  }
  return best;
}

/** Between the centres of two blocks, in millionths, so that a drawing program's rounding breaks no tie. */
function distanceBetween({ x, y }: SeatingPlan, a: Block, b: Block): number {
  const dx = x[a.from]! + x[a.to - 1]! - x[b.from]! - x[b.to - 1]!;
  const dy = y[a.from]! + y[a.to - 1]! - y[b.from]! - y[b.to - 1]!;
  return Math.round(Math.sqrt(dx * dx + dy * dy) * 5e5);
}

// ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function isFree({ overlay, map }: RowSearch, seat: number): boolean {
  return stateInOverlay(overlay, map, seat) === AVAILABLE;
}

/** Whether the seats are free members and neighbours. */
function isBlock(search: RowSearch, { from, to }: Block, member: Uint8Array): boolean {
  const { startsRun } = search.map.seating;
  for (let seat = from; seat < to; seat += 1) {
    if (member[seat] !== 1 || !isFree(search, seat) || (seat > from && startsRun[seat] === 1)) return false;
  }
  return true;
}

function isAllIn(member: Uint8Array, { from, to }: Block): boolean {
  for (let seat = from; seat < to; seat += 1) if (member[seat] !== 1) return false;
  return true;
}

/** The seats around the first of some, as far as they are neighbours. */
function firstStretch({ startsRun }: SeatingPlan, seats: readonly number[]): Block {
  const sorted = [...seats].sort((a, b) => a - b);
  const from = sorted[0]!;
  let to = from + 1;
  while (sorted[to - from] === to && startsRun[to] === 0) to += 1;
  return { from, to };
}

function seatsOf({ from, to }: Block): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

/** Whether the first of the figures that differ is lower. */
function isBetter(a: readonly number[], b: readonly number[]): boolean {
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return a[i]! < b[i]!;
  return false;
}
