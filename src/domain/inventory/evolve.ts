/**
 * Evolve: the facts that change the performances themselves, and an inventory under a changed definition.
 *
 * A definition was checked against what is taken (`inventory/decide.ts`) before it became a fact.
 */
import { follow } from '#machines/compile.ts';
import { performanceTransitions } from '#machines/performance.ts';
import { block, carryRow, carrySeat, layOut, unblock, type Inventory } from './inventory.ts';
import { followStock, inventoryOf, openPerformance } from './performance.ts';
import { assertBalanced } from './snapshot.ts';
import { invariant } from '../invariant.ts';
import { rowOf, type SalePlan } from '../catalogue/sale-plan.ts';
import { AVAILABLE, type SeatMap } from './seat-map.ts';
import type { EventState } from '../event-state.ts';
import type { FactData } from '../fact.ts';

/** Takes over a definition: new performances appear, known ones keep what is taken of them. */
export function evolvePlan(state: EventState, plan: SalePlan): void {
  state.plan = plan;
  for (const definition of plan.performances) {
    const known = state.performances.get(definition.id);
    if (known !== undefined) rebase(known.inventory, plan);
    else state.performances.set(definition.id, openPerformance(plan, definition));
  }
  for (const [id, performance] of state.performances) {
    if (!plan.performanceById.has(id)) state.performances.delete(id);
    else followStock(performance);
  }
}

export function evolvePerformanceCancelled(state: EventState, data: FactData['PerformanceCancelled']): void {
  const performance = state.performances.get(data.performanceId);
  invariant(
    performance !== undefined,
    `a fact names a performance of the event, but there is no ${data.performanceId}`,
  );
  performance.status = follow(performanceTransitions, performance.status, 'CANCEL');
}

export function evolveSeatsBlocked(state: EventState, data: FactData['SeatsBlocked']): void {
  block(inventoryOf(state, data.performanceId), data.seatIds);
  followStock(state.performances.get(data.performanceId)!);
}

export function evolveSeatsUnblocked(state: EventState, data: FactData['SeatsUnblocked']): void {
  unblock(inventoryOf(state, data.performanceId), data.seatIds);
  followStock(state.performances.get(data.performanceId)!);
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
