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
import { performanceLaw, type PerformanceStatus } from '#machines/performance.ts';
import { createInventory, block, isSoldOut, seatState, unblock, type Inventory } from './inventory.ts';
import { rebase } from './inventory-update.ts';
import { isRefusal, refuse, refuseProblems, type Problem, type Refusal } from './refusal.ts';
import { invariant } from './invariant.ts';
import { fact, type Fact, type FactData } from './fact.ts';
import type { CommandOf } from './command.ts';
import type { PerformanceDefinition } from './catalogue.ts';
import type { SalePlan } from './sale-plan.ts';

/** One date: its status under the law, and its stock. */
export interface SaleDate {
  readonly id: string;
  status: PerformanceStatus;
  readonly inventory: Inventory;
}

/** What is for sale: the compiled definition and the stock of each of its dates. */
export interface Stock {
  plan: SalePlan;
  /** Every date that the definition names, drafts too, by id. */
  readonly dates: Map<string, SaleDate>;
}

// ── queries ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Whether tickets for the date may be sold at `now`: not cancelled, not closed by the operator, not over. */
export function isOnSale(date: SaleDate, definition: PerformanceDefinition, now: number): boolean {
  return (
    date.status !== 'CANCELLED' &&
    definition.status === 'ON_SALE' &&
    (definition.endsAt === null || now < definition.endsAt)
  );
}

/** The status that buyers see. */
export function shownStatus(date: SaleDate, definition: PerformanceDefinition): PerformanceStatus {
  if (date.status === 'CANCELLED') return 'CANCELLED';
  return definition.status === 'SOLD_OUT' ? 'SOLD_OUT' : date.status;
}

/** A date that is on sale, by its id or, where there is only one, without. Refuses as the API says, in its order. */
export function findDateOnSale(stock: Stock, performanceId: string | null, now: number): SaleDate | Refusal {
  const wantedId = performanceId ?? onlyPerformance(stock);
  if (typeof wantedId !== 'string') return wantedId;
  const definition = stock.plan.performanceById.get(wantedId);
  const date = stock.dates.get(wantedId);
  if (definition === undefined || date === undefined || definition.status === 'DRAFT') {
    return refuse('PERFORMANCE_NOT_FOUND', { performanceId: wantedId });
  }
  return isOnSale(date, definition, now) ? date : refuse('PERFORMANCE_NOT_ON_SALE', { performanceId: wantedId });
}

/** What a request means that names no performance: the only visible one. PERFORMANCE_REQUIRED, or PERFORMANCE_NOT_FOUND for none. */
function onlyPerformance({ plan: { visiblePerformances: visible } }: Stock): string | Refusal {
  if (visible.length === 0) return refuse('PERFORMANCE_NOT_FOUND', { performanceId: null });
  return visible.length === 1 ? visible[0]!.id : refuse('PERFORMANCE_REQUIRED', {});
}

/** A visible date for reading, by its id or, where there is only one, without: PERFORMANCE_REQUIRED, PERFORMANCE_NOT_FOUND. */
export function findDate(stock: Stock, performanceId: string | null): SaleDate | Refusal {
  const wantedId = performanceId ?? onlyPerformance(stock);
  if (typeof wantedId !== 'string') return wantedId;
  const date = stock.dates.get(wantedId);
  const isVisible = date !== undefined && stock.plan.performanceById.get(wantedId)!.status !== 'DRAFT';
  return isVisible ? date : refuse('PERFORMANCE_NOT_FOUND', { performanceId: wantedId });
}

/** The stock of a date that is known to exist. */
export function inventoryOf(stock: Stock, performanceId: string): Inventory {
  const date = stock.dates.get(performanceId);
  invariant(date !== undefined, `no date ${performanceId}`);
  return date.inventory;
}

// ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Blocks seats that are free; those blocked already stay so. PERFORMANCE_NOT_FOUND, VALIDATION_ERROR, SEAT_TAKEN. */
export function decideBlockSeats(stock: Stock, command: CommandOf<'BlockSeats'>): readonly Fact[] | Refusal {
  const seatIds = seatsToTurn(stock, command, 'AVAILABLE');
  if (isRefusal(seatIds)) return seatIds;
  const { performanceId, operator, note } = command;
  return seatIds.length === 0 ? [] : [fact('SeatsBlocked', { performanceId, seatIds, operator, note })];
}

/** Puts blocked seats back on sale; those on sale already stay so. PERFORMANCE_NOT_FOUND, VALIDATION_ERROR, SEAT_TAKEN. */
export function decideUnblockSeats(stock: Stock, command: CommandOf<'UnblockSeats'>): readonly Fact[] | Refusal {
  const seatIds = seatsToTurn(stock, command, 'BLOCKED');
  if (isRefusal(seatIds)) return seatIds;
  const { performanceId, operator, note } = command;
  return seatIds.length === 0 ? [] : [fact('SeatsUnblocked', { performanceId, seatIds, operator, note })];
}

/** Those of the named seats that are in the state `from`; held and sold ones refuse, unknown ones are problems. */
function seatsToTurn(
  stock: Stock,
  command: { readonly performanceId: string; readonly seatIds: readonly string[] },
  from: 'AVAILABLE' | 'BLOCKED',
): string[] | Refusal {
  const { performanceId, seatIds } = command;
  const date = stock.dates.get(performanceId);
  if (date === undefined) return refuse('PERFORMANCE_NOT_FOUND', { performanceId });
  const problems: Problem[] = [];
  const taken: string[] = [];
  const turned = new Set<string>();
  seatIds.forEach((seatId, index) => {
    const state = seatState(date.inventory, seatId);
    if (state === undefined) problems.push({ path: ['seatIds', index], message: 'no such seat' });
    else if (state === 'HELD' || state === 'SOLD') taken.push(seatId);
    else if (state === from) turned.add(seatId);
  });
  if (problems.length > 0) return refuseProblems(problems);
  return taken.length > 0 ? refuse('SEAT_TAKEN', { seatIds: taken }) : [...turned];
}

// ── evolve ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Takes over a definition: new dates appear, known ones keep what is taken of them. */
export function evolvePlan(stock: Stock, plan: SalePlan): void {
  stock.plan = plan;
  for (const definition of plan.performances) {
    const known = stock.dates.get(definition.id);
    if (known !== undefined) rebase(known.inventory, plan);
    else stock.dates.set(definition.id, openDate(plan, definition));
  }
  for (const [id, date] of stock.dates) {
    if (!plan.performanceById.has(id)) stock.dates.delete(id);
    else followStock(date);
  }
}

function openDate(plan: SalePlan, definition: PerformanceDefinition): SaleDate {
  const inventory = createInventory(plan, definition.id);
  const date: SaleDate = { id: definition.id, status: performanceLaw.initial, inventory };
  if (definition.status === 'CANCELLED') date.status = follow(performanceLaw, date.status, 'CANCEL');
  return date;
}

export function evolvePerformanceCancelled(stock: Stock, data: FactData['PerformanceCancelled']): void {
  const date = stock.dates.get(data.performanceId);
  invariant(date !== undefined, `no date ${data.performanceId}`);
  date.status = follow(performanceLaw, date.status, 'CANCEL');
}

export function evolveSeatsBlocked(stock: Stock, data: FactData['SeatsBlocked']): void {
  block(inventoryOf(stock, data.performanceId), data.seatIds);
  followStock(stock.dates.get(data.performanceId)!);
}

export function evolveSeatsUnblocked(stock: Stock, data: FactData['SeatsUnblocked']): void {
  unblock(inventoryOf(stock, data.performanceId), data.seatIds);
  followStock(stock.dates.get(data.performanceId)!);
}

/** Lets a date's status follow its stock; called after every change of it. */
export function followStock(date: SaleDate): void {
  if (date.status === 'CANCELLED') return;
  const soldOut = isSoldOut(date.inventory);
  if (soldOut && date.status === 'ON_SALE') date.status = follow(performanceLaw, date.status, 'SELL_OUT');
  else if (!soldOut && date.status === 'SOLD_OUT') date.status = follow(performanceLaw, date.status, 'RETURN');
}
