/** One performance: its status and its inventory. The status follows the stock after every change of it. */
import { follow } from '#machines/compile.ts';
import { performanceTransitions, type PerformanceStatus } from '#machines/performance.ts';
import { createInventory, isSoldOut, type Inventory } from './inventory.ts';
import type { PerformanceDefinition } from '../catalogue/definition.ts';
import type { SalePlan } from '../catalogue/sale-plan.ts';

/** One performance: its status and its stock. */
export interface PerformanceState {
  readonly id: string;
  status: PerformanceStatus;
  readonly inventory: Inventory;
}

/** Whether tickets for the date may be sold at `now`: not cancelled, not closed by the operator, not over. */
export function isOnSale(performance: PerformanceState, definition: PerformanceDefinition, now: number): boolean {
  return (
    performance.status !== 'CANCELLED' &&
    definition.status === 'ON_SALE' &&
    (definition.endsAt === null || now < definition.endsAt)
  );
}

/** The status that buyers see. */
export function shownStatus(performance: PerformanceState, definition: PerformanceDefinition): PerformanceStatus {
  if (performance.status === 'CANCELLED') return 'CANCELLED';
  return definition.status === 'SOLD_OUT' ? 'SOLD_OUT' : performance.status;
}

export function openPerformance(plan: SalePlan, definition: PerformanceDefinition): PerformanceState {
  const inventory = createInventory(plan, definition.id);
  const performance: PerformanceState = { id: definition.id, status: performanceTransitions.initial, inventory };
  if (definition.status === 'CANCELLED')
    performance.status = follow(performanceTransitions, performance.status, 'CANCEL');
  return performance;
}

/** Lets a date's status follow its stock; called after every change of it. */
export function followStock(performance: PerformanceState): void {
  if (performance.status === 'CANCELLED') return;
  const soldOut = isSoldOut(performance.inventory);
  if (soldOut && performance.status === 'ON_SALE')
    performance.status = follow(performanceTransitions, performance.status, 'SELL_OUT');
  else if (!soldOut && performance.status === 'SOLD_OUT')
    performance.status = follow(performanceTransitions, performance.status, 'RETURN');
}
