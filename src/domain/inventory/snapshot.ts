/**
 * A date's stock as a plain value, and back.
 *
 * A snapshot is read under the definition that it was made under, which the box office keeps beside it; updates that came
 * later are facts and are applied after it. Release queues are not kept: `reschedule` every live claim afterwards.
 */

import { invariant } from '../invariant.ts';
import { carryRow, carrySeat, createInventory, totalsOf } from './inventory.ts';
import type { Inventory } from './inventory.ts';
import { rowOf } from '../catalogue/sale-plan.ts';
import type { SalePlan } from '../catalogue/sale-plan.ts';
import { AVAILABLE, seatStateCode, seatStatusOf, type SeatMap } from './seat-map.ts';

export interface InventorySnapshot {
  readonly performanceId: string;
  readonly version: number;
  /** Type, stage, held and sold tickets of each sale row that has any. */
  readonly rows: readonly (readonly [ticketTypeId: string, sellingStageId: string, held: number, sold: number])[];
  readonly seatMaps: readonly SeatMapSnapshot[];
}

export interface SeatMapSnapshot {
  readonly localityId: string;
  /** Of the seating plan, so that states are never read onto other seats. */
  readonly fingerprint: number;
  /** Stretches of seats in the plan's order, each the initial of a state and a count: `A120H2S40`. */
  readonly states: string;
}

/** The date's stock for JSON; counters of pools are left out where they follow from rows and seats. */
export function inventorySnapshot(inventory: Inventory): InventorySnapshot {
  const { plan, performanceId, version, held, sold } = inventory;
  return {
    performanceId,
    version,
    rows: plan.rows
      .filter((row) => held[row.index]! + sold[row.index]! > 0)
      .map((row) => [row.ticketTypeId, row.sellingStageId, held[row.index]!, sold[row.index]!] as const),
    seatMaps: inventory.seatMaps.flatMap((map) => (map === null ? [] : [seatMapSnapshot(map)])),
  };
}

/** The stock that a snapshot describes, under the plan of its definition; crashes where the two do not fit. */
export function inventoryFrom(plan: SalePlan, snapshot: InventorySnapshot): Inventory {
  const inventory = createInventory(plan, snapshot.performanceId);
  inventory.version = snapshot.version;
  inventory.forgottenVersion = snapshot.version;
  for (const { localityId, fingerprint, states } of snapshot.seatMaps) {
    const map = inventory.seatMaps[plan.localityById.get(localityId)?.index ?? -1] ?? null;
    invariant(map !== null, `the snapshot has seats of locality ${localityId}, the plan has none`);
    invariant(map.seating.fingerprint === fingerprint, `the snapshot is of other seats of locality ${localityId}`);
    carrySeatsOf(inventory, map, states);
  }
  for (const [ticketTypeId, sellingStageId, held, sold] of snapshot.rows) {
    const row = rowOf(plan, ticketTypeId, sellingStageId);
    invariant(row !== undefined, `the snapshot has tickets of ${ticketTypeId} in ${sellingStageId}, the plan does not`);
    carryRow(inventory, row, held, sold);
  }
  assertBalanced(inventory);
  return inventory;
}

/** Crashes unless the tickets of each locality's rows are as many as its places count, held and sold apart, and none is over. */
export function assertBalanced(inventory: Inventory): void {
  for (const locality of inventory.plan.localities) {
    const places = totalsOf(inventory, locality);
    let held = 0;
    let sold = 0;
    for (const row of inventory.plan.rows) {
      if (row.ticketType.locality !== locality) continue;
      held += inventory.held[row.index]!;
      sold += inventory.sold[row.index]!;
    }
    invariant(
      places.held === held && places.sold === sold && places.available >= 0,
      `locality ${locality.id} of date ${inventory.performanceId} does not balance`,
    );
  }
}

function seatMapSnapshot({ locality, seating, states }: SeatMap): SeatMapSnapshot {
  const pieces: string[] = [];
  for (let from = 0; from < states.length;) {
    let to = from + 1;
    while (to < states.length && states[to] === states[from]) to += 1;
    pieces.push(INITIALS[states[from]!]!, String(to - from));
    from = to;
  }
  return { localityId: locality.id, fingerprint: seating.fingerprint, states: pieces.join('') };
}

function carrySeatsOf(inventory: Inventory, map: SeatMap, states: string): void {
  let seat = 0;
  for (const [, initial, length] of states.matchAll(/([AHSB])(\d+)/g)) {
    const state = INITIALS.indexOf(initial!);
    const to = seat + Number(length);
    invariant(to <= map.states.length, `the snapshot has more seats than locality ${map.locality.id}`);
    if (state === AVAILABLE) seat = to;
    else for (; seat < to; seat += 1) carrySeat(inventory, map, seat, state);
  }
  invariant(seat === map.states.length, `the snapshot has fewer seats than locality ${map.locality.id}`);
}

/** The four initials differ; by state's number. */
const INITIALS: readonly string[] = (['AVAILABLE', 'HELD', 'SOLD', 'BLOCKED'] as const)
  .toSorted((a, b) => seatStateCode(a) - seatStateCode(b))
  .map((status) => seatStatusOf(seatStateCode(status))[0]!);
