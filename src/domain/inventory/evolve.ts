/**
 * Evolve: the facts that change the performances themselves, and an inventory under a changed definition.
 *
 * A definition was checked against what is taken (`inventory/decide.ts`) before it became a fact.
 */
import { follow } from '#machines/compile.ts';
import { performanceTransitions } from '#machines/performance.ts';
import { followStock, inventoryOf, openPerformance } from './performance.ts';
import { invariant } from '../invariant.ts';
import type { SalePlan } from '../catalogue/sale-plan.ts';
import type { InventoryState } from './performance.ts';
import type { FactData } from '../fact.ts';

/** Takes over a definition: new performances appear, known ones keep what is taken of them. */
export function evolvePlan(state: InventoryState, plan: SalePlan): void {
  state.plan = plan;
  for (const definition of plan.performances) {
    const known = state.performances.get(definition.id);
    if (known !== undefined) known.inventory.rebase(plan);
    else state.performances.set(definition.id, openPerformance(plan, definition));
  }
  for (const [id, performance] of state.performances) {
    if (!plan.performanceById.has(id)) state.performances.delete(id);
    else followStock(performance);
  }
}

export function evolvePerformanceCancelled(state: InventoryState, data: FactData['PerformanceCancelled']): void {
  const performance = state.performances.get(data.performanceId);
  invariant(
    performance !== undefined,
    `a fact names a performance of the event, but there is no ${data.performanceId}`,
  );
  performance.status = follow(performanceTransitions, performance.status, 'CANCEL');
}

export function evolveSeatsBlocked(state: InventoryState, data: FactData['SeatsBlocked']): void {
  inventoryOf(state, data.performanceId).block(data.seatIds);
  followStock(state.performances.get(data.performanceId)!);
}

export function evolveSeatsUnblocked(state: InventoryState, data: FactData['SeatsUnblocked']): void {
  inventoryOf(state, data.performanceId).unblock(data.seatIds);
  followStock(state.performances.get(data.performanceId)!);
}
