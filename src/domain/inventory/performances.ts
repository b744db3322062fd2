/**
 * The dates of an event: each date's status and inventory, and what operators do to a date.
 *
 * Owns the status of a date and the turn from ON_SALE to SOLD_OUT and back. What is taken of its stock belongs to
 * `inventory.ts`; whether a hold or an order lives belongs to `holds.ts` and `orders.ts`. Called by `box-office.ts`.
 *
 * 1. A date is SOLD_OUT when nothing is left and nothing is merely held; it follows the stock after every fact.
 * 2. CANCELLED is for good: a later definition does not bring the date back.
 * 3. What the operator says in the definition (SOLD_OUT, DRAFT) is no status; it only closes or hides the date.
 */
import { follow } from '#machines/compile.ts';
import { performanceTransitions } from '#machines/performance.ts';
import { block, seatState, unblock, type Inventory } from './inventory.ts';
import { rebase } from './rebase.ts';
import { isRefusal, refuse, refuseProblems, type Problem, type Refusal } from '../refusal.ts';
import { invariant } from '../invariant.ts';
import { fact, type Fact, type FactData } from '../fact.ts';
import type { CommandOf } from '../command.ts';
import type { SalePlan } from '../catalogue/sale-plan.ts';
import type { EventState } from '../event-state.ts';
import { type PerformanceState, isOnSale, openPerformance, followStock } from './performance.ts';

// ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A date that is on sale, by its id or, where there is only one, without. Refuses as the API says, in its order. */
export function findPerformanceOnSale(
  stock: EventState,
  performanceId: string | null,
  now: number,
): PerformanceState | Refusal {
  const wantedId = performanceId ?? onlyPerformance(stock);
  if (typeof wantedId !== 'string') return wantedId;
  const definition = stock.plan.performanceById.get(wantedId);
  const performance = stock.performances.get(wantedId);
  if (definition === undefined || performance === undefined || definition.status === 'DRAFT') {
    return refuse('PERFORMANCE_NOT_FOUND', { performanceId: wantedId });
  }
  return isOnSale(performance, definition, now)
    ? performance
    : refuse('PERFORMANCE_NOT_ON_SALE', { performanceId: wantedId });
}

/** What a request means that names no performance: the only visible one. PERFORMANCE_REQUIRED, or PERFORMANCE_NOT_FOUND for none. */
function onlyPerformance({ plan: { visiblePerformances: visible } }: EventState): string | Refusal {
  if (visible.length === 0) return refuse('PERFORMANCE_NOT_FOUND', { performanceId: null });
  return visible.length === 1 ? visible[0]!.id : refuse('PERFORMANCE_REQUIRED', {});
}

/** A visible date for reading, by its id or, where there is only one, without: PERFORMANCE_REQUIRED, PERFORMANCE_NOT_FOUND. */
export function findPerformance(stock: EventState, performanceId: string | null): PerformanceState | Refusal {
  const wantedId = performanceId ?? onlyPerformance(stock);
  if (typeof wantedId !== 'string') return wantedId;
  const performance = stock.performances.get(wantedId);
  const isVisible = performance !== undefined && stock.plan.performanceById.get(wantedId)!.status !== 'DRAFT';
  return isVisible ? performance : refuse('PERFORMANCE_NOT_FOUND', { performanceId: wantedId });
}

/** The stock of a date that is known to exist. */
export function inventoryOf(stock: EventState, performanceId: string): Inventory {
  const performance = stock.performances.get(performanceId);
  invariant(performance !== undefined, `no date ${performanceId}`);
  return performance.inventory;
}

// ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Blocks seats that are free; those blocked already stay so. PERFORMANCE_NOT_FOUND, VALIDATION_ERROR, SEAT_TAKEN. */
export function decideBlockSeats(stock: EventState, command: CommandOf<'BlockSeats'>): readonly Fact[] | Refusal {
  const seatIds = seatsToTurn(stock, command, 'AVAILABLE');
  if (isRefusal(seatIds)) return seatIds;
  const { performanceId, operator, note } = command;
  return seatIds.length === 0 ? [] : [fact('SeatsBlocked', { performanceId, seatIds, operator, note })];
}

/** Puts blocked seats back on sale; those on sale already stay so. PERFORMANCE_NOT_FOUND, VALIDATION_ERROR, SEAT_TAKEN. */
export function decideUnblockSeats(stock: EventState, command: CommandOf<'UnblockSeats'>): readonly Fact[] | Refusal {
  const seatIds = seatsToTurn(stock, command, 'BLOCKED');
  if (isRefusal(seatIds)) return seatIds;
  const { performanceId, operator, note } = command;
  return seatIds.length === 0 ? [] : [fact('SeatsUnblocked', { performanceId, seatIds, operator, note })];
}

/** Those of the named seats that are in the state `from`; held and sold ones refuse, unknown ones are problems. */
function seatsToTurn(
  stock: EventState,
  command: { readonly performanceId: string; readonly seatIds: readonly string[] },
  from: 'AVAILABLE' | 'BLOCKED',
): string[] | Refusal {
  const { performanceId, seatIds } = command;
  const performance = stock.performances.get(performanceId);
  if (performance === undefined) return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  const problems: Problem[] = [];
  const taken: string[] = [];
  const turned = new Set<string>();
  seatIds.forEach((seatId, index) => {
    const state = seatState(performance.inventory, seatId);
    if (state === undefined) problems.push({ path: ['seatIds', index], message: 'no such seat' });
    else if (state === 'HELD' || state === 'SOLD') taken.push(seatId);
    else if (state === from) turned.add(seatId);
  });
  if (problems.length > 0) return refuseProblems(problems);
  return taken.length > 0 ? refuse('SEAT_TAKEN', { seatIds: taken }) : [...turned];
}

// ── evolve ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Takes over a definition: new dates appear, known ones keep what is taken of them. */
export function evolvePlan(stock: EventState, plan: SalePlan): void {
  stock.plan = plan;
  for (const definition of plan.performances) {
    const known = stock.performances.get(definition.id);
    if (known !== undefined) rebase(known.inventory, plan);
    else stock.performances.set(definition.id, openPerformance(plan, definition));
  }
  for (const [id, performance] of stock.performances) {
    if (!plan.performanceById.has(id)) stock.performances.delete(id);
    else followStock(performance);
  }
}

export function evolvePerformanceCancelled(stock: EventState, data: FactData['PerformanceCancelled']): void {
  const performance = stock.performances.get(data.performanceId);
  invariant(performance !== undefined, `no date ${data.performanceId}`);
  performance.status = follow(performanceTransitions, performance.status, 'CANCEL');
}

export function evolveSeatsBlocked(stock: EventState, data: FactData['SeatsBlocked']): void {
  block(inventoryOf(stock, data.performanceId), data.seatIds);
  followStock(stock.performances.get(data.performanceId)!);
}

export function evolveSeatsUnblocked(stock: EventState, data: FactData['SeatsUnblocked']): void {
  unblock(inventoryOf(stock, data.performanceId), data.seatIds);
  followStock(stock.performances.get(data.performanceId)!);
}
