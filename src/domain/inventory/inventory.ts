/**
 * The stock of one date: how many tickets of each pool are held and sold, and the state of each numbered seat.
 *
 * Owns counters, seat maps, the numbering of seat changes and the queues of what returns when. Whose the tickets are belongs
 * to `holds.ts` and `orders.ts`; what would be if … to `trial.ts`; seats by id for the public to `occupancy.ts`; keeping and
 * changing of plans to `inventory-snapshot.ts` and `inventory-update.ts`. Only the date's box office calls the changes here,
 * while it evolves; decisions read.
 *
 * 1. In every place pool capacity = available + held + sold + blocked, each ≥ 0; asserted for the touched pools at each change.
 * 2. A line counts in its sale row's pool, its type's pool and its places', always in all three.
 * 3. The seats of a kind that are HELD (SOLD, BLOCKED) are as many as its pool counts held (sold, blocked).
 * 4. A change that cannot be is a defect and crashes: decisions were judged before, and facts are not judged again.
 * 5. `version` grows by one with every change of a seat; the newest changes are kept in a ring.
 */

import type { SeatStatus } from '#machines/seat.ts';
import { invariant } from '../invariant.ts';
import { LazyHeap } from '../collections/lazy-heap.ts';
import { findSeat, rowOf, UNCAPPED } from '../catalogue/sale-plan.ts';
import type { LocalityPlan, SalePlan, SaleRow } from '../catalogue/sale-plan.ts';
import {
  AVAILABLE,
  BLOCK,
  BLOCKED,
  changeSeat,
  createSeatMap,
  FREE,
  HELD,
  HOLD,
  seatStatusOf,
  SELL,
  SOLD,
  UNBLOCK,
  type SeatMap,
} from './seat-map.ts';

/** Tickets of one sale row of this performance; `seatIds` are as many as the tickets on numbered seating and none elsewhere. */
export interface StockLine {
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly ticketCount: number;
  readonly seatIds: readonly string[];
}

/** Tickets of one sale row on whatever performance. */
export interface ClaimedLine extends StockLine {
  readonly performanceId: string;
}

/** A hold, as far as the stock that it claims is concerned. */
export interface Claimant {
  readonly status: string;
  readonly expiresAt: number;
  readonly lines: readonly ClaimedLine[];
}

export interface Inventory {
  /** Replaced by `rebase`, with everything that is laid out by it. */
  plan: SalePlan;
  readonly performanceId: string;
  /** By pool. */
  held: Int32Array;
  sold: Int32Array;
  /** By pool; only places are ever blocked. */
  blocked: Int32Array;
  /** By pool; null where a pool has no cap, so that nobody ever waits for it. */
  releases: readonly (LazyHeap<Claimant> | null)[];
  /** By locality; null for a GENERAL one. */
  seatMaps: readonly (SeatMap | null)[];
  version: number;
  /** The seat number (see `SeatMap.firstNumber`) that version v changed, at v % length. */
  recentChanges: Uint32Array;
  /** No change up to this version is remembered. */
  forgottenVersion: number;
}

export interface StockTotals {
  readonly capacity: number;
  readonly available: number;
  readonly held: number;
  readonly sold: number;
  readonly blocked: number;
}

/** Changes of seats that are remembered for those who ask what changed; as many as there are seats, up to this. */
const RECENT_CHANGES_MAX = 4_096;

/** The stock of a date on which nothing has happened yet. */
export function createInventory(plan: SalePlan, performanceId: string): Inventory {
  const inventory: Inventory = {
    plan,
    performanceId,
    held: new Int32Array(0),
    sold: new Int32Array(0),
    blocked: new Int32Array(0),
    releases: [],
    seatMaps: [],
    version: 0,
    recentChanges: new Uint32Array(0),
    forgottenVersion: 0,
  };
  layOut(inventory, plan);
  return inventory;
}

/** Lays empty counters and seat maps out by a plan; whoever calls fills them. Changes before it are forgotten. */
export function layOut(inventory: Inventory, plan: SalePlan): void {
  let seatCount = 0;
  inventory.plan = plan;
  inventory.held = new Int32Array(plan.poolCount);
  inventory.sold = new Int32Array(plan.poolCount);
  inventory.blocked = new Int32Array(plan.poolCount);
  inventory.releases = Array.from(plan.poolCap, (cap) => (cap === UNCAPPED ? null : new LazyHeap()));
  inventory.seatMaps = plan.localities.map((locality) => {
    if (locality.seating === null) return null;
    const map = createSeatMap(locality, locality.seating, seatCount);
    seatCount += locality.seating.seatCount;
    return map;
  });
  inventory.recentChanges = new Uint32Array(Math.min(seatCount, RECENT_CHANGES_MAX));
  inventory.forgottenVersion = inventory.version;
}

// Queries.

/** Tickets that a sale row can still sell: the least of what its places, its type's quota and its stage's quota leave. Hot. */
export function left(inventory: Inventory, row: SaleRow): number {
  const { ticketType } = row;
  let places = 0;
  for (const pool of ticketType.placePools) places += leftInPool(inventory, pool);
  return Math.max(0, Math.min(places, leftInPool(inventory, ticketType.pool), leftInPool(inventory, row.index)));
}

/** What a pool's cap leaves; below zero where an update set a quota under what was already taken. */
export function leftInPool(inventory: Inventory, pool: number): number {
  return inventory.plan.poolCap[pool]! - inventory.held[pool]! - inventory.sold[pool]! - inventory.blocked[pool]!;
}

/** Tickets of ACTIVE and CONVERTED holds on a sale row. */
export function reserved(inventory: Inventory, row: SaleRow): number {
  return inventory.held[row.index]!;
}

/** When the first hold other than `except` with tickets of one of the pools runs out; null when none does. */
export function nextRelease(inventory: Inventory, pools: readonly number[], except: Claimant | null): number | null {
  let next: number | null = null;
  for (const pool of pools) {
    const queue = inventory.releases[pool]!;
    if (queue === null || inventory.held[pool] === 0) continue;
    const release = queue.first(
      (claimant, at) => stillEndsAt(claimant, at) && haveTicketsOf(inventory, claimant.lines, pool),
      except,
    );
    if (release !== null && (next === null || release.at < next)) next = release.at;
  }
  return next;
}

/** The date's places over all localities, each counted once. */
export function totals(inventory: Inventory): StockTotals {
  return inventory.plan.localities.map((locality) => totalsOf(inventory, locality)).reduce(addTotals, NO_PLACES);
}

/** Whether there are places and each of them is sold or blocked: nothing is left, and nothing merely held. Hot. */
export function isSoldOut({ plan, held, sold, blocked }: Inventory): boolean {
  let placesLeft = 0;
  let capacity = 0;
  for (const { firstPlacePool, placePoolCount, capacity: places } of plan.localities) {
    capacity += places;
    placesLeft += places;
    for (let pool = firstPlacePool; pool < firstPlacePool + placePoolCount; pool += 1) {
      if (held[pool]! > 0) return false;
      placesLeft -= sold[pool]! + blocked[pool]!;
    }
  }
  return capacity > 0 && placesLeft === 0;
}

export function totalsOf(inventory: Inventory, locality: LocalityPlan): StockTotals {
  let held = 0;
  let sold = 0;
  let blocked = 0;
  const { firstPlacePool, placePoolCount, capacity } = locality;
  for (let pool = firstPlacePool; pool < firstPlacePool + placePoolCount; pool += 1) {
    held += inventory.held[pool]!;
    sold += inventory.sold[pool]!;
    blocked += inventory.blocked[pool]!;
  }
  return { capacity, available: capacity - held - sold - blocked, held, sold, blocked };
}

/** The state of a seat; undefined for an id that no locality has. */
export function seatState(inventory: Inventory, seatId: string): SeatStatus | undefined {
  const place = findSeat(inventory.plan, seatId);
  if (place === null) return undefined;
  return seatStatusOf(inventory.seatMaps[place.locality.index]!.states[place.seat]!);
}

// Evolve.

/**
 * A hold takes a line off sale; set the claimant's status and `expiresAt` first. Where a changed hold keeps its window, `before`
 * are the lines that it had: their pools know of it already, and would else gather an entry with every change. Hot.
 */
export function take(
  inventory: Inventory,
  claimant: Claimant,
  line: StockLine,
  before: readonly ClaimedLine[] = NO_LINES,
): void {
  const row = rowOfLine(inventory, line);
  shift(inventory, row, line, null, inventory.held, AVAILABLE, HOLD);
  schedule(inventory, row, claimant, line, before);
}

/** A held line returns to sale. Hot. */
export function giveBack(inventory: Inventory, line: StockLine): void {
  shift(inventory, rowOfLine(inventory, line), line, inventory.held, null, HELD, FREE);
}

/** A held line is sold. */
export function sell(inventory: Inventory, line: StockLine): void {
  shift(inventory, rowOfLine(inventory, line), line, inventory.held, inventory.sold, HELD, SELL);
}

/** A sold line returns to sale. */
export function returnSold(inventory: Inventory, line: StockLine): void {
  shift(inventory, rowOfLine(inventory, line), line, inventory.sold, null, SOLD, FREE);
}

/** A line that had returned to sale is taken and sold in one step, for money that landed late. */
export function retake(inventory: Inventory, line: StockLine): void {
  shift(inventory, rowOfLine(inventory, line), line, null, inventory.held, AVAILABLE, HOLD);
  sell(inventory, line);
}

/** The operator takes seats off sale; each must be AVAILABLE. */
export function block(inventory: Inventory, seatIds: readonly string[]): void {
  for (const seatId of seatIds) changeBlocking(inventory, seatId, AVAILABLE, BLOCK, 1);
}

/** The operator puts seats back on sale; each must be BLOCKED. */
export function unblock(inventory: Inventory, seatIds: readonly string[]): void {
  for (const seatId of seatIds) changeBlocking(inventory, seatId, BLOCKED, UNBLOCK, -1);
}

/** A claimant's window ends at another time, or the inventory was restored or rebased; set `expiresAt` first. */
export function reschedule(inventory: Inventory, claimant: Claimant, lines: readonly StockLine[]): void {
  for (const line of lines) schedule(inventory, rowOfLine(inventory, line), claimant, line, NO_LINES);
}

/** Counts what a row had in another inventory's books: for a snapshot, or a plan that replaces another. */
export function carryRow(inventory: Inventory, row: SaleRow, held: number, sold: number): void {
  const { ticketType } = row;
  const pools = [row.index, ticketType.pool];
  if (ticketType.locality.seating === null) pools.push(ticketType.placePools[0]!);
  for (const pool of pools) {
    shiftPool(inventory, pool, held, null, inventory.held);
    shiftPool(inventory, pool, sold, null, inventory.sold);
  }
}

/** Puts an AVAILABLE seat into the state that it had in another inventory's books; not a change, so no version. */
export function carrySeat(inventory: Inventory, map: SeatMap, seat: number, state: number): void {
  map.states[seat] = state;
  const pool = placePoolOf(map, seat);
  if (state === HELD) inventory.held[pool]! += 1;
  else if (state === SOLD) inventory.sold[pool]! += 1;
  else if (state === BLOCKED) inventory.blocked[pool]! += 1;
}

/** Moves a line's tickets from one kind of counter to another in all its pools, and its seats along. */
function shift(
  inventory: Inventory,
  row: SaleRow,
  line: StockLine,
  from: Int32Array | null,
  to: Int32Array | null,
  fromState: number,
  trigger: number,
): void {
  const { seatIds, ticketCount } = line;
  const { ticketType } = row;
  shiftPool(inventory, row.index, ticketCount, from, to);
  shiftPool(inventory, ticketType.pool, ticketCount, from, to);
  const map = inventory.seatMaps[ticketType.locality.index]!;
  if (map === null) {
    invariant(seatIds.length === 0, 'a line of a general locality names seats');
    shiftPool(inventory, ticketType.placePools[0]!, ticketCount, from, to);
    return;
  }
  invariant(seatIds.length === ticketCount, 'a line of a numbered locality names as many seats as tickets');
  for (const seatId of seatIds) {
    const seat = map.seating.indexOf.get(seatId);
    invariant(seat !== undefined, 'a line names a seat that its locality does not have');
    changeSeat(map, seat, fromState, trigger);
    shiftPool(inventory, placePoolOf(map, seat), 1, from, to);
    recordChange(inventory, map, seat);
  }
}

function shiftPool(
  inventory: Inventory,
  pool: number,
  count: number,
  from: Int32Array | null,
  to: Int32Array | null,
): void {
  if (from !== null) {
    from[pool]! -= count;
    invariant(from[pool]! >= 0, 'more tickets leave a pool than it has');
    if (from === inventory.held && from[pool] === 0) inventory.releases[pool]?.clear();
  }
  if (to !== null) to[pool]! += count;
  const placesFrom = inventory.plan.rows.length + inventory.plan.ticketTypes.length;
  invariant(pool < placesFrom || leftInPool(inventory, pool) >= 0, 'more places are taken than there are');
}

function changeBlocking(inventory: Inventory, seatId: string, from: number, trigger: number, change: number): void {
  const place = findSeat(inventory.plan, seatId);
  invariant(place !== null, `seat ${seatId} is in no locality`);
  const map = inventory.seatMaps[place.locality.index]!;
  changeSeat(map, place.seat, from, trigger);
  const pool = placePoolOf(map, place.seat);
  inventory.blocked[pool]! += change;
  invariant(
    inventory.blocked[pool]! >= 0 && leftInPool(inventory, pool) >= 0,
    'more places are blocked than there are',
  );
  recordChange(inventory, map, place.seat);
}

function schedule(
  inventory: Inventory,
  row: SaleRow,
  claimant: Claimant,
  line: StockLine,
  before: readonly ClaimedLine[],
): void {
  const { ticketType } = row;
  scheduleIn(inventory, row.index, claimant, before);
  scheduleIn(inventory, ticketType.pool, claimant, before);
  const map = inventory.seatMaps[ticketType.locality.index]!;
  if (map === null) {
    scheduleIn(inventory, ticketType.placePools[0]!, claimant, before);
    return;
  }
  let lastPool = -1;
  for (const seatId of line.seatIds) {
    const pool = placePoolOf(map, map.seating.indexOf.get(seatId)!);
    if (pool !== lastPool) scheduleIn(inventory, pool, claimant, before);
    lastPool = pool;
  }
}

function scheduleIn(inventory: Inventory, pool: number, claimant: Claimant, before: readonly ClaimedLine[]): void {
  const queue = inventory.releases[pool]!;
  if (queue === null) return;
  const isKnown = before.length > 0 && queue.length > 0 && haveTicketsOf(inventory, before, pool);
  if (isKnown) return;
  queue.add(claimant, claimant.expiresAt);
  queue.clean(stillEndsAt);
}

/** Whether a claimant is live and its window still ends at a moment that was noted. */
function stillEndsAt(claimant: Claimant, at: number): boolean {
  return claimant.expiresAt === at && (claimant.status === 'ACTIVE' || claimant.status === 'CONVERTED');
}

/** Whether any of the lines has tickets of a pool on this performance. */
function haveTicketsOf(inventory: Inventory, lines: readonly ClaimedLine[], pool: number): boolean {
  for (const { performanceId, ticketTypeId, sellingStageId, seatIds } of lines) {
    if (performanceId !== inventory.performanceId) continue;
    const row = rowOf(inventory.plan, ticketTypeId, sellingStageId);
    if (row === undefined) continue;
    const { ticketType } = row;
    if (pool === row.index || pool === ticketType.pool) return true;
    const map = inventory.seatMaps[ticketType.locality.index]!;
    if (map === null ? pool === ticketType.placePools[0] : hasSeatOf(map, seatIds, pool)) return true;
  }
  return false;
}

function hasSeatOf(map: SeatMap, seatIds: readonly string[], pool: number): boolean {
  return seatIds.some((seatId) => placePoolOf(map, map.seating.indexOf.get(seatId)!) === pool);
}

function recordChange(inventory: Inventory, map: SeatMap, seat: number): void {
  inventory.version += 1;
  inventory.recentChanges[inventory.version % inventory.recentChanges.length] = map.firstNumber + seat;
}

function rowOfLine(inventory: Inventory, line: StockLine): SaleRow {
  const row = rowOf(inventory.plan, line.ticketTypeId, line.sellingStageId);
  invariant(row !== undefined, 'a line is of a type and stage that are not on sale together');
  return row;
}

function placePoolOf(map: SeatMap, seat: number): number {
  return map.locality.firstPlacePool + map.seating.kindOf[seat]!;
}

const NO_LINES: readonly ClaimedLine[] = [];

const NO_PLACES: StockTotals = { capacity: 0, available: 0, held: 0, sold: 0, blocked: 0 };

function addTotals(a: StockTotals, b: StockTotals): StockTotals {
  return {
    capacity: a.capacity + b.capacity,
    available: a.available + b.available,
    held: a.held + b.held,
    sold: a.sold + b.sold,
    blocked: a.blocked + b.blocked,
  };
}
