/**
 * Which seats a hold keeps when its buyer wants fewer or more of them.
 *
 * Owns the choice among the held seats and their neighbours; a wholly new block is chosen by `best-available.ts`. Called by
 * `assignment.ts` for a change that names no seats, after the hold's seats were given back in the trial.
 *
 * 1. Shrinking keeps neighbours together, and of those the stretch that leaves the fewest orphans. Seats that do not
 *    lie together are kept in as few stretches as possible, longest first.
 * 2. Growing keeps every held seat and adds seats that could be assigned, in one block, with the fewest orphans. A neighbour
 *    with a restricted view is added only where no block of that size is without one.
 * 3. Among equals the stretch or block nearest its row's centre is chosen, then the leftmost.
 */

import { bestGrade } from './best-available.ts';
import { distanceFromCentre } from './row-blocks.ts';
import type { TicketTypePlan } from '../catalogue/sale-plan.ts';
import type { SeatMap } from './seat-map.ts';
import { AVAILABLE } from './seat-state.ts';
import { seatMapOf, stateInOverlay } from './stock-overlay.ts';
import type { StockOverlay } from './stock-overlay.ts';

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
    const best = bestWindow(map, candidates, Math.min(missing, lengthOf(candidates[0]!)), isFree)!;
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
  const best = bestWindow(map, [room], count, isFree);
  return best === null ? null : Array.from({ length: count }, (_, i) => best.from + i);
}

/** The window of `count` seats in one of the stretches with the fewest orphans, then nearest the centre, then leftmost. */
function bestWindow(map: SeatMap, stretches: readonly Stretch[], count: number, isFree: IsFree): Stretch | null {
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
