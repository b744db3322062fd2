/** Who may see which seats are gone: a date's seats by state for the public, in full or as changes since a version. */

import type { SeatStatus } from '#machines/seat.ts';
import type { Inventory } from './inventory.ts';
import { AVAILABLE, BLOCKED, HELD, SOLD, seatStatusOf } from './seat-state.ts';

export interface Occupancy {
  readonly version: number;
  /** Numbered seats that are AVAILABLE. */
  readonly available: number;
  readonly held: readonly string[];
  readonly sold: readonly string[];
  readonly blocked: readonly string[];
}

export interface SeatChange {
  readonly id: string;
  readonly state: SeatStatus;
}

/** Every seat of the date that is not AVAILABLE, by state, in the order of the plan. Cost: one pass over the seats. */
export function occupancy(inventory: Inventory): Occupancy {
  const idsByState: string[][] = [[], [], [], []];
  let available = 0;
  for (const map of inventory.seatMaps) {
    if (map === null) continue;
    const { states, seating } = map;
    for (let seat = 0; seat < states.length; seat += 1) {
      if (states[seat] === AVAILABLE) available += 1;
      else idsByState[states[seat]!]!.push(seating.seatIds[seat]!);
    }
  }
  return {
    version: inventory.version,
    available,
    held: idsByState[HELD]!,
    sold: idsByState[SOLD]!,
    blocked: idsByState[BLOCKED]!,
  };
}

/** Whether every change after version `since` is remembered. */
export function remembersSince({ version, recentChanges, forgottenVersion }: Inventory, since: number): boolean {
  return since <= version && since >= forgottenVersion && version - since <= recentChanges.length;
}

/**
 * The seats that changed after version `since`, each once in its newest state; null when that version is too old to be
 * remembered, or yet to come.
 */
export function occupancySince(inventory: Inventory, since: number): readonly SeatChange[] | null {
  if (!remembersSince(inventory, since)) return null;
  const { version, recentChanges } = inventory;
  const numbers = new Set<number>();
  for (let each = since + 1; each <= version; each += 1) numbers.add(recentChanges[each % recentChanges.length]!);
  return Array.from(numbers, (number) => seatByNumber(inventory, number));
}

function seatByNumber(inventory: Inventory, number: number): SeatChange {
  const map = inventory.seatMaps.findLast(
    (each) => each !== null && each.firstNumber <= number && each.states.length > 0,
  )!;
  const seat = number - map.firstNumber;
  return { id: map.seating.seatIds[seat]!, state: seatStatusOf(map.states[seat]!) };
}
