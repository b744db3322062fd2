/**
 * The tentative stock of a performance: its inventory with some lines given back and others taken, without changing it.
 *
 * Owns the difference only. A decision opens an overlay for each performance of a request, gives the session's own hold
 * back in it, checks the items one after the other and takes what each would get, so that items on the same stock add
 * up.
 *
 * 1. The inventory is never written. An overlay ends with its decision, and is not used after a fact was applied.
 * 2. Nothing is allocated for what is not touched: the counters' difference at the first line, a row's states (a copy)
 *    at the first of its seats.
 */

import type { SeatStatus } from '#machines/seat.ts';
import { invariant } from '../invariant.ts';
import type { TimedHold, StockLine } from './release-times.ts';
import type { Inventory } from './inventory.ts';
import {
  AVAILABLE,
  BLOCKED,
  FREE,
  HELD,
  HOLD,
  nextState,
  seatStatusOf,
  SOLD,
  type RowStates,
  type SeatMap,
} from './seat-map.ts';
import { findSeat, offerOf } from '../catalogue/sale-plan.ts';
import type { LocalityPlan, Offer, TicketTypePlan } from '../catalogue/sale-plan.ts';

export interface StockOverlay {
  readonly inventory: Inventory;
  /** By pool; null until something that was held, or sold, is given back. */
  givenBack: number[] | null;
  returned: number[] | null;
  /** By pool; null until something is taken. */
  taken: number[] | null;
  /** By locality, the rows that differ; null until a seat does. */
  changedRows: (Map<number, RowStates> | undefined)[] | null;
}

/** Which of the picked seats cannot be had, and why; all three lists are empty when every one can. */
export interface SeatCheck {
  /** Unknown, of a zone that the type may not sit in, or not accessible where the type is. */
  readonly notInTicketType: readonly string[];
  /** Blocked by the operator. */
  readonly notSellable: readonly string[];
  /** Held or sold. */
  readonly taken: readonly string[];
}

/** Why tickets cannot be had. */
interface Shortfall {
  /**
   * Tickets of the offer that the session could have, its own hold counted as free and nothing of this request taken.
   */
  readonly available: number;
  /** Whether there would be more if all holds of others ran out. */
  readonly reservedByOthers: boolean;
  /** When the first of the holds in the way runs out; null when none is in the way. */
  readonly nextReleaseAt: number | null;
}

const EVERY_SEAT_CAN_BE_HAD: SeatCheck = { notInTicketType: [], notSellable: [], taken: [] };

const UNCHANGED_ROWS: ReadonlyMap<number, RowStates> = new Map();

/** An overlay in which nothing differs yet. */
export function createOverlay(inventory: Inventory): StockOverlay {
  return { inventory, givenBack: null, returned: null, taken: null, changedRows: null };
}

/** An overlay in which a session's own hold counts as free. */
export function openOverlay(inventory: Inventory, own: Pick<TimedHold, 'lines'> | null): StockOverlay {
  const overlay = createOverlay(inventory);
  for (const line of own?.lines ?? []) {
    if (line.performanceId === inventory.performanceId) giveBackInOverlay(overlay, line);
  }
  return overlay;
}

/** The same, to try something in it. */
export function copyOverlay({ inventory, givenBack, returned, taken, changedRows }: StockOverlay): StockOverlay {
  const rows = changedRows?.map(
    (each) =>
      each && new Map(Array.from(each, ([row, { states, offset }]) => [row, { states: states.slice(), offset }])),
  );
  return {
    inventory,
    givenBack: givenBack?.slice() ?? null,
    returned: returned?.slice() ?? null,
    taken: taken?.slice() ?? null,
    changedRows: rows ?? null,
  };
}

/** A held line of this session counts as free from here on. */
export function giveBackInOverlay(overlay: StockOverlay, line: StockLine): void {
  overlay.givenBack ??= new Array<number>(overlay.inventory.plan.poolCount).fill(0);
  shiftInOverlay(overlay, line, overlay.givenBack, HELD, FREE);
}

/** A sold line counts as free from here on: its order gives it up. */
export function returnInOverlay(overlay: StockOverlay, line: StockLine): void {
  overlay.returned ??= new Array<number>(overlay.inventory.plan.poolCount).fill(0);
  shiftInOverlay(overlay, line, overlay.returned, SOLD, FREE);
}

/** A line that was checked counts as taken from here on; its seats must be AVAILABLE in the overlay. */
export function takeInOverlay(overlay: StockOverlay, line: StockLine): void {
  overlay.taken ??= new Array<number>(overlay.inventory.plan.poolCount).fill(0);
  shiftInOverlay(overlay, line, overlay.taken, AVAILABLE, HOLD);
}

/**
 * Tickets that the offer could still sell: the least of what its places, its type's quota and its stage's quota leave.
 * Hot.
 */
export function leftInOverlay(overlay: StockOverlay, offer: Offer): number {
  const { ticketType } = offer;
  let places = 0;
  for (const pool of ticketType.placePools) places += leftInPoolOfOverlay(overlay, pool);
  return Math.max(
    0,
    Math.min(places, leftInPoolOfOverlay(overlay, ticketType.pool), leftInPoolOfOverlay(overlay, offer.index)),
  );
}

/** The state of a seat in the overlay; undefined for an id that no locality has. */
export function seatStateInOverlay(overlay: StockOverlay, seatId: string): SeatStatus | undefined {
  const found = findSeat(overlay.inventory.plan, seatId);
  if (found === null) return undefined;
  return seatStatusOf(stateInOverlay(overlay, seatMapOf(overlay, found.locality), found.seat));
}

/** Checks seats that were picked for a type of a NUMBERED locality, each of them. Hot. */
export function checkSeats(overlay: StockOverlay, type: TicketTypePlan, seatIds: readonly string[]): SeatCheck {
  const map = seatMapOf(overlay, type.locality);
  const kinds = type.kinds!;
  let check: { notInTicketType: string[]; notSellable: string[]; taken: string[] } | null = null;
  for (const seatId of seatIds) {
    const seat = map.seating.indexOf.get(seatId);
    const fits = seat !== undefined && kinds[map.seating.kindOf[seat]!] === 1;
    const state = fits ? stateInOverlay(overlay, map, seat) : AVAILABLE;
    if (fits && state === AVAILABLE) continue;
    check ??= { notInTicketType: [], notSellable: [], taken: [] };
    if (!fits) check.notInTicketType.push(seatId);
    else if (state === BLOCKED) check.notSellable.push(seatId);
    else check.taken.push(seatId);
  }
  return check ?? EVERY_SEAT_CAN_BE_HAD;
}

/**
 * Why `wanted` tickets of an offer cannot be had, where `own` is the session's hold that was given back.
 *
 * The three stocks of a row are its places, its type's quota and its stage's. A stock is in the way when it leaves less
 * than this request wants of it, with what earlier items took. Where all leave enough, the places are in the way,
 * because no block of seats was found.
 */
export function shortfall(overlay: StockOverlay, offer: Offer, wanted: number, own: TimedHold | null): Shortfall {
  const { ticketType } = offer;
  const stocks = [ticketType.placePools, [ticketType.pool], [offer.index]].map((pools) => weigh(overlay, pools));
  const available = Math.max(0, Math.min(...stocks.map((stock) => stock.left)));
  const couldBe = Math.max(0, Math.min(...stocks.map((stock) => stock.left + stock.heldByOthers)));
  const short = stocks.filter((stock) => stock.left - stock.taken < wanted);
  const inTheWay = short.length > 0 ? short : [stocks[0]!];
  const reservedByOthers = short.length > 0 ? couldBe > available : stocks[0]!.heldByOthers > 0;
  const pools = inTheWay.flatMap((stock) => stock.pools);
  return {
    available,
    reservedByOthers,
    nextReleaseAt: reservedByOthers ? overlay.inventory.nextRelease(pools, own) : null,
  };
}

/** The seat map of a locality, which must be NUMBERED. */
export function seatMapOf(overlay: StockOverlay, locality: LocalityPlan): SeatMap {
  const map = overlay.inventory.seatMaps[locality.index]!;
  invariant(map !== null, 'seats are looked for in numbered localities only');
  return map;
}

/** The rows of a locality that differ in the overlay, with their states. */
export function changedRowsOf(overlay: StockOverlay, locality: LocalityPlan): ReadonlyMap<number, RowStates> {
  return overlay.changedRows?.[locality.index] ?? UNCHANGED_ROWS;
}

/** The state of a seat in the overlay, as a number. Hot. */
export function stateInOverlay(overlay: StockOverlay, map: SeatMap, seat: number): number {
  const row = overlay.changedRows?.[map.locality.index]?.get(map.seating.rowOf[seat]!);
  return row === undefined ? map.states[seat]! : row.states[seat - row.offset]!;
}

interface WeighedStock {
  readonly pools: readonly number[];
  /** What is left for the session with its own hold free and nothing of this request taken. */
  readonly left: number;
  readonly heldByOthers: number;
  readonly taken: number;
}

function weigh(overlay: StockOverlay, pools: readonly number[]): WeighedStock {
  let left = 0;
  let heldByOthers = 0;
  let taken = 0;
  for (const pool of pools) {
    const givenBack = overlay.givenBack?.[pool] ?? 0;
    left += overlay.inventory.leftInPool(pool) + givenBack + (overlay.returned?.[pool] ?? 0);
    heldByOthers += overlay.inventory.heldInPool(pool) - givenBack;
    taken += overlay.taken?.[pool] ?? 0;
  }
  return { pools, left, heldByOthers, taken };
}

function leftInPoolOfOverlay(overlay: StockOverlay, pool: number): number {
  const back = (overlay.givenBack?.[pool] ?? 0) + (overlay.returned?.[pool] ?? 0);
  return overlay.inventory.leftInPool(pool) + back - (overlay.taken?.[pool] ?? 0);
}

function shiftInOverlay(overlay: StockOverlay, line: StockLine, counts: number[], from: number, trigger: number): void {
  const { seatIds, ticketCount } = line;
  const offer = offerOf(overlay.inventory.plan, line.ticketTypeId, line.sellingStageId);
  invariant(offer !== undefined, 'a line is of a type and stage that have a price together');
  const { ticketType } = offer;
  counts[offer.index]! += ticketCount;
  counts[ticketType.pool]! += ticketCount;
  if (ticketType.locality.seating === null) {
    counts[ticketType.placePools[0]!]! += ticketCount;
    return;
  }
  const map = seatMapOf(overlay, ticketType.locality);
  for (const seatId of seatIds) {
    const seat = map.seating.indexOf.get(seatId)!;
    counts[ticketType.locality.firstPlacePool + map.seating.kindOf[seat]!]! += 1;
    const changed = changedRow(overlay, map, map.seating.rowOf[seat]!);
    invariant(
      changed.states[seat - changed.offset] === from,
      'a line given back in an overlay has HELD or SOLD seats, one taken has AVAILABLE ones',
    );
    changed.states[seat - changed.offset] = nextState(from, trigger);
  }
}

/** The row's states in the overlay, ready to be changed: a copy, made once. */
function changedRow(overlay: StockOverlay, map: SeatMap, row: number): RowStates {
  overlay.changedRows ??= new Array<undefined>(overlay.inventory.plan.localities.length).fill(undefined);
  const rows = (overlay.changedRows[map.locality.index] ??= new Map());
  const known = rows.get(row);
  if (known !== undefined) return known;
  const offset = map.seating.rowStart[row]!;
  const copy = { states: map.states.slice(offset, map.seating.rowStart[row + 1]!), offset };
  rows.set(row, copy);
  return copy;
}
