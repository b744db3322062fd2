/**
 * The seats of one numbered locality at one performance: one byte each.
 *
 * Owns the states of seats and their legal changes, and is called by `inventory.ts` alone, which keeps the counters;
 * the free blocks of seats are kept in `block-index.ts`.
 *
 * 1. A state changes only through `changeSeat`, by the transition table of `machines/seat.ts`; `inventory.ts` copies
 *    states from a snapshot or an earlier definition as they were. This file only numbers its names: a change is one
 *    look-up (measured: 3 ns where the table of names takes 15).
 * 2. Every change marks its row in each index of free blocks, so that none answers from an older state.
 */
import { seatTransitions, type SeatStatus, type SeatTrigger } from '#machines/seat.ts';
import { invariant } from '../invariant.ts';
import type { LocalityPlan, SalePlan } from '../catalogue/sale-plan.ts';
import type { SeatClass, SeatingPlan } from '../catalogue/seating-plan.ts';

// ── states as numbers ────────────────────────────────────────────────────────────────────────────────────────────────

export const AVAILABLE = seatStateCode('AVAILABLE');
export const HELD = seatStateCode('HELD');
export const SOLD = seatStateCode('SOLD');
export const BLOCKED = seatStateCode('BLOCKED');

export const HOLD = triggerCode('HOLD');
export const SELL = triggerCode('SELL');
export const FREE = triggerCode('FREE');
export const BLOCK = triggerCode('BLOCK');
export const UNBLOCK = triggerCode('UNBLOCK');

/** Stands in the table for a change that is not allowed. */
const FORBIDDEN = 255;

const TRIGGER_COUNT = seatTransitions.triggers.length;

const table = Uint8Array.from(
  seatTransitions.statuses.flatMap((status) =>
    seatTransitions.triggers.map((trigger) => {
      const next = seatTransitions.next(status, trigger);
      return next === undefined ? FORBIDDEN : seatStateCode(next);
    }),
  ),
);

/** The state that a legal trigger makes of a state. Hot. */
export function nextState(state: number, trigger: number): number {
  return table[state * TRIGGER_COUNT + trigger]!;
}

export function seatStatusOf(code: number): SeatStatus {
  return seatTransitions.statuses[code]!;
}

export function seatStateCode(status: SeatStatus): number {
  return seatTransitions.statuses.indexOf(status);
}

function triggerCode(trigger: SeatTrigger): number {
  return seatTransitions.triggers.indexOf(trigger);
}

// ── the map ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * States of seats, read at `states[seat - offset]`: of a whole map with offset 0, of a copy of one row with its first
 * seat.
 */
export interface RowStates {
  readonly states: Uint8Array;
  readonly offset: number;
}

/**
 * Which sizes of free blocks a map has for one class of seats: a tree over its rows (see `block-index.ts`, which reads
 * it).
 */
export interface BlockIndex {
  readonly seating: SeatingPlan;
  readonly seatClass: SeatClass;
  /** The states of the whole map. */
  readonly whole: RowStates;
  readonly masks: Uint32Array;
  /** Words of one node: tiers × 3 × words of a mask. */
  readonly stride: number;
  /** 1 for each bucket of rows in which a seat changed since the last look-up. */
  readonly isChanged: Uint8Array;
  readonly changedBuckets: Uint32Array;
  changedCount: number;
}

export interface SeatMap {
  readonly locality: LocalityPlan;
  readonly seating: SeatingPlan;
  /** The number of its first seat among all numbered seats of the performance. */
  readonly firstNumber: number;
  readonly states: Uint8Array;
  /** By class of seats; null until blocks of that class are first looked for. */
  readonly blockIndexes: (BlockIndex | null)[];
}

/** A map whose seats are all AVAILABLE. */
function createSeatMap(locality: LocalityPlan, seating: SeatingPlan, firstNumber: number): SeatMap {
  return {
    locality,
    seating,
    firstNumber,
    states: new Uint8Array(seating.seatCount).fill(AVAILABLE),
    blockIndexes: locality.seatClasses.map(() => null),
  };
}

/** One for each locality of a plan; null for a GENERAL one. */
export function createSeatMaps(plan: SalePlan): readonly (SeatMap | null)[] {
  let firstNumber = 0;
  return plan.localities.map((locality) => {
    if (locality.seating === null) return null;
    const map = createSeatMap(locality, locality.seating, firstNumber);
    firstNumber += locality.seating.seatCount;
    return map;
  });
}

/** Brings a seat from the state that it must be in to the one that the trigger leads to. Hot. */
export function changeSeat(map: SeatMap, seat: number, from: number, trigger: number): void {
  const state = map.states[seat]!;
  const next = nextState(from, trigger);
  if (state !== from || next === FORBIDDEN) {
    const name = map.seating.seatIds[seat];
    invariant(false, `seat ${name} must be ${seatStatusOf(from)} for this change, but it is ${seatStatusOf(state)}`);
  }
  map.states[seat] = next;
  const row = map.seating.rowOf[seat]!;
  for (const index of map.blockIndexes) if (index !== null) markRow(index, row);
}

function markRow(index: BlockIndex, row: number): void {
  const bucket = index.seatClass.bucketOfRow[row]!;
  if (bucket < 0 || index.isChanged[bucket] === 1) return;
  index.isChanged[bucket] = 1;
  index.changedBuckets[index.changedCount] = bucket;
  index.changedCount += 1;
}
