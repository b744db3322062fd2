/**
 * A date's stock under a changed definition: what stands in its way, and the change.
 *
 * Owns the rule that an update never takes away what somebody holds or bought. `box-office.ts` asks every date for its conflicts
 * and defines the event anew only when no date has any; then it rebases all of them. Prices, texts, windows and caps
 * may always change: a quota below what was taken leaves nothing.
 */

import { carryRow, carrySeat, layOut, totalsOf } from './inventory.ts';
import type { Inventory } from './inventory.ts';
import { assertBalanced } from './snapshot.ts';
import type { Problem } from '../refusal.ts';
import { rowOf } from '../catalogue/sale-plan.ts';
import type { LocalityPlan, SalePlan, SaleRow } from '../catalogue/sale-plan.ts';
import type { SeatMap } from './seat-map.ts';
import { AVAILABLE, HELD, SOLD } from './seat-state.ts';

/** Seats that are named one by one as conflicts of a locality; further ones are only counted. */
const SEAT_CONFLICTS_MAX = 100;

/** What in a new definition would take away something held or sold on this date; empty when it may replace the old one. */
export function rebaseConflicts(inventory: Inventory, plan: SalePlan): readonly Problem[] {
  const rows = inventory.plan.rows.filter((row) => takenOf(inventory, row) > 0);
  const on = `on date ${inventory.performanceId}`;
  if (rows.length > 0 && !plan.performanceById.has(inventory.performanceId)) {
    const taken = rows.reduce((sum, row) => sum + takenOf(inventory, row), 0);
    return [{ path: ['performances'], message: `date ${inventory.performanceId} has ${taken} tickets held or sold` }];
  }
  return [
    ...rows.flatMap((row) => rowConflict(row, plan, `${takenOf(inventory, row)} tickets are held or sold ${on}`)),
    ...inventory.plan.localities.flatMap((locality) => localityConflicts(inventory, locality, plan, on)),
  ];
}

/** Puts the date under a new plan without conflicts. Release queues begin empty: `reschedule` every live claim afterwards. */
export function rebase(inventory: Inventory, plan: SalePlan): void {
  const { plan: oldPlan, held, sold, seatMaps } = inventory;
  inventory.version += 1;
  layOut(inventory, plan);
  for (const oldRow of oldPlan.rows) {
    if (held[oldRow.index]! + sold[oldRow.index]! === 0) continue;
    carryRow(
      inventory,
      rowOf(plan, oldRow.ticketTypeId, oldRow.sellingStageId)!,
      held[oldRow.index]!,
      sold[oldRow.index]!,
    );
  }
  for (const oldMap of seatMaps) {
    if (oldMap === null) continue;
    const map = inventory.seatMaps[plan.localityById.get(oldMap.locality.id)?.index ?? -1] ?? null;
    if (map !== null) carrySeats(inventory, oldMap, map);
  }
  assertBalanced(inventory);
}

/** A blocked seat that the new plan does not have is simply gone. */
function carrySeats(inventory: Inventory, from: SeatMap, to: SeatMap): void {
  from.states.forEach((state, oldSeat) => {
    if (state === AVAILABLE) return;
    const seat = to.seating.indexOf.get(from.seating.seatIds[oldSeat]!);
    if (seat !== undefined) carrySeat(inventory, to, seat, state);
  });
}

function takenOf(inventory: Inventory, row: SaleRow): number {
  return inventory.held[row.index]! + inventory.sold[row.index]!;
}

function rowConflict(row: SaleRow, plan: SalePlan, why: string): Problem[] {
  const { ticketTypes, sellingStages } = plan.definition;
  const typeIndex = ticketTypes.findIndex((type) => type.id === row.ticketTypeId);
  if (typeIndex < 0) return [{ path: ['ticketTypes'], message: `${row.ticketTypeId} is missing: ${why}` }];
  const stageIndex = sellingStages.findIndex((stage) => stage.id === row.sellingStageId);
  if (stageIndex < 0) {
    return [{ path: ['sellingStages'], message: `${row.sellingStageId} is missing: ${why} as ${row.ticketTypeId}` }];
  }
  if (rowOf(plan, row.ticketTypeId, row.sellingStageId) === undefined) {
    return [{ path: ['sellingStages', stageIndex, 'prices'], message: `${row.ticketTypeId} is missing: ${why}` }];
  }
  if (ticketTypes[typeIndex]!.localityId === row.ticketType.locality.id) return [];
  return [
    {
      path: ['ticketTypes', typeIndex, 'locality_id'],
      message: `must stay ${row.ticketType.locality.id}: ${why} as ${row.ticketTypeId}`,
    },
  ];
}

function localityConflicts(inventory: Inventory, locality: LocalityPlan, plan: SalePlan, on: string): Problem[] {
  const { held, sold } = totalsOf(inventory, locality);
  if (held + sold === 0) return [];
  const why = `${held + sold} places are held or sold ${on}`;
  const next = plan.localityById.get(locality.id);
  if (next === undefined) return [{ path: ['localities'], message: `${locality.id} is missing: ${why}` }];
  if ((next.seating === null) !== (locality.seating === null)) {
    return [
      { path: ['localities', next.index, 'seating'], message: `must stay ${locality.definition.seating}: ${why}` },
    ];
  }
  if (next.seating !== null) return seatConflicts(inventory.seatMaps[locality.index]!, next, on);
  if (next.capacity >= held + sold) return [];
  return [{ path: ['localities', next.index, 'capacity'], message: `${next.capacity} is too few: ${why}` }];
}

function seatConflicts(map: SeatMap, next: LocalityPlan, on: string): Problem[] {
  const path = ['localities', next.index, 'sections'];
  const problems: Problem[] = [];
  let unnamed = 0;
  map.states.forEach((state, seat) => {
    const seatId = map.seating.seatIds[seat]!;
    if ((state !== HELD && state !== SOLD) || next.seating!.indexOf.has(seatId)) return;
    if (problems.length === SEAT_CONFLICTS_MAX) unnamed += 1;
    else problems.push({ path, message: `seat ${seatId} is missing: it is ${state === HELD ? 'held' : 'sold'} ${on}` });
  });
  if (unnamed > 0) problems.push({ path, message: `${unnamed} more seats that are held or sold ${on} are missing` });
  return problems;
}
