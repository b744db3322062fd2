/**
 * One performance: its status and its inventory.
 *
 * Owns the status and the look-up of performances. What is taken of the stock belongs to `inventory.ts`.
 *
 * 1. A performance is SOLD_OUT when nothing is left and nothing is merely held; the status follows the stock after
 *    every fact.
 * 2. CANCELLED is final: a later definition does not bring the performance back.
 * 3. What the operator says in the definition (SOLD_OUT, DRAFT) is no status; it only closes or hides the performance.
 */
import { follow } from '#machines/compile.ts';
import { performanceTransitions, type PerformanceStatus } from '#machines/performance.ts';
import { Inventory } from './inventory.ts';
import { invariant } from '../invariant.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import type { PerformanceDefinition } from '../catalogue/definition.ts';
import type { SalePlan } from '../catalogue/sale-plan.ts';
import type { DateCancellation } from '../fact.ts';
import type { CatalogueState } from '../catalogue/state.ts';

export interface PerformanceState {
  readonly id: string;
  status: PerformanceStatus;
  readonly inventory: Inventory;
  /** ACTIVE holds with a line on it. */
  activeHolds: number;
}

/** What the inventory keeps of one event, and what it may read. */
export interface InventoryState extends CatalogueState {
  /** The status and the stock of every performance that the definition names, drafts too, by id. */
  readonly performances: Map<string, PerformanceState>;
  /**
   * Cancelled performances with something left that ends with them (holds, orders, pending amendments), by id, and who
   * cancelled them: later turns end what is left.
   */
  readonly cancelling: Map<string, DateCancellation>;
}

/** What the look-up of a performance reads. */
type Performances = Pick<InventoryState, 'plan'> & { readonly performances: ReadonlyMap<string, PerformanceState> };

// ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Who sells: buyers serve themselves in the shop, operators sell at a counter. */
export type SoldAt = 'SHOP' | 'COUNTER';

/** Whether tickets may be sold at `now`: it is not cancelled, not over and, in the shop, not closed by the operator. */
export function isOnSale(
  performance: PerformanceState,
  definition: PerformanceDefinition,
  now: number,
  soldAt: SoldAt = 'SHOP',
): boolean {
  return (
    performance.status !== 'CANCELLED' &&
    (definition.status === 'ON_SALE' || soldAt === 'COUNTER') &&
    (definition.endsAt === null || now < definition.endsAt)
  );
}

/** The status that buyers see. */
export function shownStatus(performance: PerformanceState, definition: PerformanceDefinition): PerformanceStatus {
  if (performance.status === 'CANCELLED') return 'CANCELLED';
  return definition.status === 'SOLD_OUT' ? 'SOLD_OUT' : performance.status;
}

/**
 * A visible performance, by its id or, where there is only one, without. Refuses with PERFORMANCE_REQUIRED or
 * PERFORMANCE_NOT_FOUND.
 */
export function findPerformance(state: Performances, performanceId: string | null): PerformanceState | Refusal {
  const id = performanceId ?? onlyPerformance(state);
  if (typeof id !== 'string') return id;
  const performance = state.performances.get(id);
  const isVisible = performance !== undefined && state.plan.performanceById.get(id)!.status !== 'DRAFT';
  return isVisible ? performance : refuse('PERFORMANCE_NOT_FOUND', { performanceId: id });
}

/** The same where it is on sale at `now`; else refuses with PERFORMANCE_NOT_ON_SALE. */
export function findPerformanceOnSale(
  state: Performances,
  performanceId: string | null,
  now: number,
  soldAt: SoldAt = 'SHOP',
): PerformanceState | Refusal {
  const performance = findPerformance(state, performanceId);
  if (isRefusal(performance)) return performance;
  return isOnSale(performance, state.plan.performanceById.get(performance.id)!, now, soldAt)
    ? performance
    : refuse('PERFORMANCE_NOT_ON_SALE', { performanceId: performance.id });
}

/** The performance that a request without one means: the only visible one. */
function onlyPerformance({ plan: { visiblePerformances: visible } }: Performances): string | Refusal {
  if (visible.length === 0) return refuse('PERFORMANCE_NOT_FOUND', { performanceId: null });
  return visible.length === 1 ? visible[0]!.id : refuse('PERFORMANCE_REQUIRED', {});
}

/** The inventory of a performance that is known to exist. */
export function inventoryOf(state: Performances, performanceId: string): Inventory {
  const performance = state.performances.get(performanceId);
  invariant(
    performance !== undefined,
    `a fact and a claim name a performance of the event, but there is no ${performanceId}`,
  );
  return performance.inventory;
}

// ── evolve ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export function openPerformance(plan: SalePlan, definition: PerformanceDefinition): PerformanceState {
  const inventory = new Inventory(plan, definition.id);
  const { id } = definition;
  const performance: PerformanceState = { id, status: performanceTransitions.initial, inventory, activeHolds: 0 };
  if (definition.status === 'CANCELLED')
    performance.status = follow(performanceTransitions, performance.status, 'CANCEL');
  return performance;
}

/**
 * Notes a performance of a snapshot on which something is left: if it is cancelled, later turns end that. Snapshots of
 * formats 1 to 4 say who cancelled it only while there are orders.
 */
export function noteLeft({ performances, cancelling }: InventoryState, performanceId: string): void {
  if (performances.get(performanceId)?.status !== 'CANCELLED' || cancelling.has(performanceId)) return;
  cancelling.set(performanceId, { operator: null, note: null });
}

/** Lets the status follow the stock (rule 1). */
export function followStock(performance: PerformanceState): void {
  if (performance.status === 'CANCELLED') return;
  const soldOut = performance.inventory.isSoldOut();
  if (soldOut && performance.status === 'ON_SALE')
    performance.status = follow(performanceTransitions, performance.status, 'SELL_OUT');
  else if (!soldOut && performance.status === 'SOLD_OUT')
    performance.status = follow(performanceTransitions, performance.status, 'RETURN');
}
