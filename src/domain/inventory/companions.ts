/**
 * Seats for people who come together and do not take the same kind of seat: companions beside accessible seats.
 *
 * Owns where the seats of companions are. What a block and an orphan are belongs to `block-index.ts`, the block of one
 * item alone to `best-available.ts`, which items are companions to `assignment.ts`.
 *
 * 1. The first block is as unrestricted as the best block of its item alone would be. Among such blocks the one with
 *    the nearest companions is taken, all in its row with no aisle between. Where no row has room for all companions,
 *    as many as possible sit there.
 * 2. Among equally near groups: fewest companions with a restricted view, then fewest orphans, then the row that is
 *    tried first, then the group nearest the row's centre, then the leftmost.
 * 3. A companion for whom no row has room gets the block nearest the first one; among equally near ones rule 2 decides.
 * 4. Companions sit down one after the other, each with no seat of the group between it and its own.
 * 5. The search of one request has a budget, whatever the hall and however many items (`SearchBudget`). When it is
 *    spent, the best group found so far is taken, or the best block of each item alone.
 */
import { bestBlock, bestGrade } from './best-available.ts';
import { distanceFromCentre, membersOf } from './block-index.ts';
import type { TicketTypePlan } from '../catalogue/sale-plan.ts';
import { AVAILABLE, type RowStates, type SeatMap } from './seat-map.ts';
import type { SeatingPlan } from '../catalogue/seating-plan.ts';
import { changedRowsOf, seatMapOf } from './stock-overlay.ts';
import type { StockOverlay } from './stock-overlay.ts';

/** An item that is given a block of seats. */
export interface BlockRequest {
  readonly type: TicketTypePlan;
  readonly count: number;
}

/** What the search for one request may still look at. */
export interface SearchBudget {
  /** Seats of rows that are looked through: some 10 ns each. */
  seats: number;
  /** Companions tried beside a block: some 2 µs each. */
  joins: number;
}

/** In a hall of 100,000 seats an accessible item and two companions are looked for everywhere. */
export const createSearchBudget = (): SearchBudget => ({ seats: 300_000, joins: 3_000 });

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

/** One row of a locality, as an overlay has it. */
interface RowSearch {
  readonly seating: SeatingPlan;
  readonly states: RowStates;
  readonly row: number;
  readonly rank: number;
}

/**
 * The block of the first item and those of as many companions as fit in one row with it, in their order, as seat
 * indexes from left to right; null when not even one does. All types must be of one NUMBERED locality. Cost: a pass
 * over the rows with seats for the first item.
 */
export function seatTogether(
  overlay: StockOverlay,
  first: BlockRequest,
  companions: readonly BlockRequest[],
  budget = createSearchBudget(),
): number[][] | null {
  if (companions.length === 0) return null;
  const grade = bestGrade(overlay, first.type, first.count);
  if (grade === null) return null;
  const member = membersOf(first.type.seatClass!, grade.tier);
  const group = bestGroup({ overlay, budget }, first, member, companions);
  return group === null ? null : group.blocks.map(seatsOf);
}

/**
 * The block for a companion of seats that are taken already: in their row with no aisle between, else the nearest; null
 * for none.
 */
export function seatBeside(
  overlay: StockOverlay,
  taken: readonly number[],
  companion: BlockRequest,
  budget = createSearchBudget(),
): number[] | null {
  const map = seatMapOf(overlay, companion.type.locality);
  const first = firstStretch(map.seating, taken);
  const search = rowSearch(overlay, map, map.seating.rowOf[first.from]!, 0);
  const room = roomFor(search, companion, budget);
  const group = joinGroup(search, { blocks: [first], hull: first, grade: [] }, room, budget);
  if (group !== null) return seatsOf(group.blocks[1]!);
  if (bestGrade(overlay, companion.type, companion.count) === null) return null;
  const nearest = nearestAnywhere({ overlay, budget }, map, first, companion);
  return nearest === null ? bestBlock(overlay, companion.type, companion.count) : seatsOf(nearest);
}

function rowSearch(overlay: StockOverlay, map: SeatMap, row: number, rank: number): RowSearch {
  const states = changedRowsOf(overlay, map.locality).get(row) ?? { states: map.states, offset: 0 };
  return { seating: map.seating, states, row, rank };
}

// ── groups in one row ────────────────────────────────────────────────────────────────────────────────────────────────

interface BoundedSearch {
  readonly overlay: StockOverlay;
  readonly budget: SearchBudget;
}

/** Of the groups with the most companions the best, in one pass over the rows. */
function bestGroup(
  { overlay, budget }: BoundedSearch,
  first: BlockRequest,
  member: Uint8Array,
  companions: readonly BlockRequest[],
): Group | null {
  const map = seatMapOf(overlay, first.type.locality);
  const { rows } = first.type.seatClass!;
  /** By the number of companions. */
  const best: (Group | undefined)[] = [];
  for (let rank = 0; rank < rows.length && budget.seats > 0 && budget.joins > 0; rank += 1) {
    const search = rowSearch(overlay, map, rows[rank]!, rank);
    const own = freeLengths(search, member, budget);
    const [rowFrom, rowTo] = rowOf(search);
    const rooms = companions.map((companion) => ({ companion, room: null as Room | null }));
    for (let from = rowFrom; from + first.count <= rowTo && budget.joins > 0; from += 1) {
      if (own[from - rowFrom]! < first.count) continue;
      const block = { from, to: from + first.count };
      let group: Group | null = { blocks: [block], hull: block, grade: [0, 0] };
      for (const [index, each] of rooms.entries()) {
        each.room ??= roomFor(search, each.companion, budget);
        const most = best[companions.length - 1];
        group = joinGroup(search, group, each.room, budget, most?.grade[0]);
        if (group === null) break;
        const known = best[index];
        if (known === undefined || isBetter(group.grade, known.grade)) best[index] = group;
      }
    }
    // Gaps, restricted seats and orphans come before the row: without any, no later row has a better group.
    const most = best[companions.length - 1];
    if (most !== undefined && most.grade[0] === 0 && most.grade[1] === 0 && most.grade[2] === 0) return most;
  }
  return best.findLast((group) => group !== undefined) ?? null;
}

/** Where a companion has room in a row: its nearest blocks from each seat of the row on. */
interface Room {
  readonly companion: BlockRequest;
  /** Where the block ends that lies nearest to the left of a seat, before any aisle; -1 for none. */
  readonly leftEnd: Int32Array;
  /** Where the one begins that lies nearest to the right, with the seat itself; -1 for none. */
  readonly rightStart: Int32Array;
}

function roomFor(search: RowSearch, companion: BlockRequest, budget: SearchBudget): Room {
  const { startsRun } = search.seating;
  const [rowFrom, rowTo] = rowOf(search);
  const lengths = freeLengths(search, companion.type.seatClass!.member, budget);
  const leftEnd = new Int32Array(rowTo - rowFrom).fill(-1);
  const rightStart = new Int32Array(rowTo - rowFrom).fill(-1);
  let free = 0;
  for (let at = 1; at < leftEnd.length; at += 1) {
    if (startsRun[rowFrom + at] === 1) {
      free = 0;
      continue;
    }
    free = lengths[at - 1] === 0 ? 0 : free + 1;
    leftEnd[at] = free >= companion.count ? rowFrom + at : leftEnd[at - 1]!;
  }
  for (let at = rightStart.length - 1; at >= 0; at -= 1) {
    const isLast = at + 1 === rightStart.length || startsRun[rowFrom + at + 1] === 1;
    if (lengths[at]! >= companion.count) rightStart[at] = rowFrom + at;
    else if (!isLast) rightStart[at] = rightStart[at + 1]!;
  }
  return { companion, leftEnd, rightStart };
}

/** For each seat of a row, how many free members follow on it, itself included, before an aisle. */
function freeLengths(search: RowSearch, member: Uint8Array, budget: SearchBudget): Int32Array {
  const { startsRun } = search.seating;
  const [rowFrom, rowTo] = rowOf(search);
  const lengths = new Int32Array(rowTo - rowFrom);
  budget.seats -= lengths.length;
  let length = 0;
  for (let seat = rowTo - 1; seat >= rowFrom; seat -= 1) {
    if (seat + 1 === rowTo || startsRun[seat + 1] === 1) length = 0;
    length = member[seat] === 1 && isFree(search, seat) ? length + 1 : 0;
    lengths[seat - rowFrom] = length;
  }
  return lengths;
}

const rowOf = ({ seating, row }: RowSearch): readonly [from: number, to: number] => [
  seating.rowStart[row]!,
  seating.rowStart[row + 1]!,
];

/**
 * The group with one companion more, on the better side of it; null where neither side has room that leaves no larger
 * gaps than `gapsMax`.
 */
function joinGroup(
  search: RowSearch,
  group: Group,
  room: Room,
  budget: SearchBudget,
  gapsMax = Infinity,
): Group | null {
  const { companion, leftEnd, rightStart } = room;
  const [rowFrom, rowTo] = rowOf(search);
  const { from, to } = group.hull;
  const leftTo = leftEnd[from - rowFrom]!;
  const rightFrom = to === rowTo || search.seating.startsRun[to] === 1 ? -1 : rightStart[to - rowFrom]!;
  const gapMax = gapsMax - (group.grade[0] ?? 0);
  const hasLeft = leftTo >= 0 && from - leftTo <= gapMax;
  const hasRight = rightFrom >= 0 && rightFrom - to <= gapMax;
  if (!hasLeft && !hasRight) return null;
  budget.joins -= group.blocks.length;
  const left = hasLeft ? joinAt(search, group, { from: leftTo - companion.count, to: leftTo }, companion) : null;
  const right = hasRight
    ? joinAt(search, group, { from: rightFrom, to: rightFrom + companion.count }, companion)
    : null;
  if (left === null || right === null) return left ?? right;
  return isBetter(right.grade, left.grade) ? right : left;
}

function joinAt(search: RowSearch, group: Group, block: Block, { type }: BlockRequest): Group {
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
      distanceFromCentre(search.seating, search.row, whole.from, whole.to - 1),
      whole.from,
      blocks[0]!.from,
    ],
  };
}

/** Single free seats that the blocks leave beside them. Hot. */
function orphansOf(search: RowSearch, blocks: readonly Block[]): number {
  let orphans = 0;
  for (const { from, to } of blocks) {
    // One between two blocks is counted once, with the block to its left.
    if (isOrphan(search, blocks, from - 1, from) && !blocks.some((other) => other.to === from - 1)) orphans += 1;
    if (isOrphan(search, blocks, to, to)) orphans += 1;
  }
  return orphans;
}

/**
 * Whether a seat beside a block is left free between it and the next taken seat, aisle or row end; `border` is the
 * right one of the two seats where both meet.
 */
function isOrphan(search: RowSearch, blocks: readonly Block[], seat: number, border: number): boolean {
  const { startsRun, seatCount } = search.seating;
  if (border === seatCount || startsRun[border] === 1 || !isLeft(search, blocks, seat)) return false;
  const isLeftward = seat < border;
  const next = isLeftward ? seat - 1 : seat + 1;
  const isEnd = isLeftward ? startsRun[seat] === 1 : next === seatCount || startsRun[next] === 1;
  return isEnd || !isLeft(search, blocks, next);
}

/** Whether a seat is free and in none of the blocks. */
function isLeft(search: RowSearch, blocks: readonly Block[], seat: number): boolean {
  if (!isFree(search, seat)) return false;
  for (const { from, to } of blocks) if (from <= seat && seat < to) return false;
  return true;
}

// ── elsewhere ────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The block whose centre is nearest that of the first one, in any row. Rows are looked through from the first one's
 * outwards, and left out where all of them lies farther away than the best block so far.
 */
function nearestAnywhere(
  { overlay, budget }: BoundedSearch,
  map: SeatMap,
  first: Block,
  { type, count }: BlockRequest,
): Block | null {
  const { rows, member, clearMember } = type.seatClass!;
  const { seating } = map;
  const ownRow = seating.rowOf[first.from]!;
  const ranks = Array.from(rows, (_, rank) => rank).sort(
    (a, b) => Math.abs(rows[a]! - ownRow) - Math.abs(rows[b]! - ownRow),
  );
  let best: Block | null = null;
  let bestGrade: readonly number[] = [];
  for (const rank of ranks) {
    const row = rows[rank]!;
    if (best !== null && leastDistance(seating, first, row) > bestGrade[0]!) continue;
    if (budget.seats <= 0) break;
    const search = rowSearch(overlay, map, row, rank);
    const lengths = freeLengths(search, member, budget);
    const rowFrom = seating.rowStart[row]!;
    for (let from = rowFrom; from - rowFrom + count <= lengths.length; from += 1) {
      if (lengths[from - rowFrom]! < count) continue;
      const block = { from, to: from + count };
      const distance = distanceBetween(seating, first, block);
      if (best !== null && distance > bestGrade[0]!) continue;
      const isRestricted = isAllIn(clearMember, block) ? 0 : 1;
      const grade = [distance, Math.abs(row - ownRow), isRestricted, orphansOf(search, [block]), rank, from];
      if (best !== null && !isBetter(grade, bestGrade)) continue;
      best = block;
      bestGrade = grade;
    }
  }
  return best;
}

/** Left, right, top and bottom of each row: the centre of a block is never outside. */
const boxes = new WeakMap<SeatingPlan, Float64Array>();

function boxesOf(seating: SeatingPlan): Float64Array {
  const known = boxes.get(seating);
  if (known !== undefined) return known;
  const { x, y, rowStart, rowCount } = seating;
  const made = new Float64Array(4 * rowCount);
  for (let row = 0; row < rowCount; row += 1) {
    const box = [Infinity, -Infinity, Infinity, -Infinity] as [number, number, number, number];
    for (let seat = rowStart[row]!; seat < rowStart[row + 1]!; seat += 1) {
      box[0] = Math.min(box[0], x[seat]!);
      box[1] = Math.max(box[1], x[seat]!);
      box[2] = Math.min(box[2], y[seat]!);
      box[3] = Math.max(box[3], y[seat]!);
    }
    made.set(box, 4 * row);
  }
  boxes.set(seating, made);
  return made;
}

/** The lower bound of the distance of any block of a row, less what rounding may hide. */
function leastDistance(seating: SeatingPlan, { from, to }: Block, row: number): number {
  const box = boxesOf(seating);
  const centreX = (seating.x[from]! + seating.x[to - 1]!) / 2;
  const centreY = (seating.y[from]! + seating.y[to - 1]!) / 2;
  const dx = Math.max(box[4 * row]! - centreX, centreX - box[4 * row + 1]!, 0);
  const dy = Math.max(box[4 * row + 2]! - centreY, centreY - box[4 * row + 3]!, 0);
  return Math.hypot(dx, dy) * 1e6 * (1 - 1e-9) - 2;
}

/** Between the centres of two blocks, in millionths, so that a drawing program's rounding breaks no tie. */
function distanceBetween({ x, y }: SeatingPlan, a: Block, b: Block): number {
  const dx = x[a.from]! + x[a.to - 1]! - x[b.from]! - x[b.to - 1]!;
  const dy = y[a.from]! + y[a.to - 1]! - y[b.from]! - y[b.to - 1]!;
  return Math.round(Math.sqrt(dx * dx + dy * dy) * 5e5);
}

// ── blocks ───────────────────────────────────────────────────────────────────────────────────────────────────────────

function isFree({ states: { states, offset } }: RowSearch, seat: number): boolean {
  return states[seat - offset] === AVAILABLE;
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
