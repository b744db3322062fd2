/**
 * The seats of one numbered locality on one date: one byte each, and an index of free blocks for each class asked for.
 *
 * Owns the states and their legality; the counters around them belong to `inventory.ts`, the only caller that changes a seat.
 *
 * 1. A state changes only through `changeSeat`, which follows the transition table of `machines/seat.ts`.
 * 2. Every change marks its row in each block index, so that no index answers from an older state.
 */

import { createBlockIndex, markRowChanged, refresh } from './block-index.ts';
import type { BlockIndex } from './block-index.ts';
import { invariant } from '../invariant.ts';
import type { LocalityPlan } from '../catalogue/sale-plan.ts';
import type { SeatClass } from './seat-class.ts';
import { AVAILABLE, FORBIDDEN, nextState, seatStatusOf } from './seat-state.ts';
import type { SeatingPlan } from './seating-plan.ts';

export interface SeatMap {
  readonly locality: LocalityPlan;
  readonly seating: SeatingPlan;
  /** The number of its first seat among all numbered seats of the date. */
  readonly firstNumber: number;
  readonly states: Uint8Array;
  /** By class; null until a class is asked for. */
  readonly blockIndexes: (BlockIndex | null)[];
}

/** A map whose seats are all AVAILABLE. */
export function createSeatMap(locality: LocalityPlan, seating: SeatingPlan, firstNumber: number): SeatMap {
  return {
    locality,
    seating,
    firstNumber,
    states: new Uint8Array(seating.seatCount).fill(AVAILABLE),
    blockIndexes: locality.seatClasses.map(() => null),
  };
}

/** Brings a seat from the state it must be in to the one that the trigger leads to; crashes on anything else. Hot. */
export function changeSeat(map: SeatMap, seat: number, from: number, trigger: number): void {
  const state = map.states[seat]!;
  const next = nextState(from, trigger);
  if (state !== from || next === FORBIDDEN) {
    invariant(
      false,
      `seat ${map.seating.seatIds[seat]} is ${seatStatusOf(state)} where ${seatStatusOf(from)} is called for`,
    );
  }
  map.states[seat] = next;
  const row = map.seating.rowOf[seat]!;
  for (const index of map.blockIndexes) if (index !== null) markRowChanged(index, row);
}

/** The up-to-date index of a class's free blocks; made at the first call. */
export function blockIndexOf(map: SeatMap, seatClass: SeatClass): BlockIndex {
  const index = (map.blockIndexes[seatClass.index] ??= createBlockIndex(map.seating, seatClass, map.states));
  refresh(index);
  return index;
}
