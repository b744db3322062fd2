/**
 * What is shown of the stock: seats, their states in full or as changes since a version, suggestions, and totals for operators.
 */
import { activeHoldOf } from '../holds/state.ts';
import { bestBlock } from './best-available.ts';
import { totals, type Inventory } from './inventory.ts';
import { findPerformance, findPerformanceOnSale, type PerformanceState } from './performance.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { seatFacts, type SeatFacts } from '../catalogue/seating-plan.ts';
import { AVAILABLE, BLOCKED, HELD, SOLD, seatStatusOf } from './seat-map.ts';
import { openOverlay } from './stock-overlay.ts';
import type { SeatStatus } from '#machines/seat.ts';
import type { NumberedLocality } from '../catalogue/definition.ts';
import type { EventState } from '../event-state.ts';

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

export interface SeatingView {
  readonly eventId: string;
  readonly version: number;
  readonly localities: readonly NumberedLocality[];
}

export type OccupancyView = { readonly eventId: string; readonly performanceId: string } & (
  | ({ readonly form: 'FULL' } & Occupancy)
  | {
      readonly form: 'CHANGES';
      readonly since: number;
      readonly version: number;
      readonly changes: readonly SeatChange[];
    }
);

// ── seats ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** The seats of the event's numbered localities; the same until the definition changes. */
export function seatingView(state: EventState): SeatingView {
  const { id, localities } = state.plan.definition;
  const numbered = localities.filter((locality) => locality.seating === 'NUMBERED');
  return { eventId: id, version: state.definitionVersion, localities: numbered };
}

/**
 * The state of every seat that is not free, or what changed after version `since`; the full form when that is too old.
 * Refuses with PERFORMANCE_REQUIRED or PERFORMANCE_NOT_FOUND.
 */
export function occupancyView(
  state: EventState,
  wanted: { readonly performanceId: string | null; readonly since: number | null },
): OccupancyView | Refusal {
  const performance = findPerformance(state, wanted.performanceId);
  if (isRefusal(performance)) return performance;
  return occupancyOf(state.eventId, performance, wanted.since);
}

/** The same of any date, a draft too. */
export function occupancyOf(eventId: string, performance: PerformanceState, since: number | null): OccupancyView {
  const which = { eventId, performanceId: performance.id };
  const changes = since === null ? null : occupancySince(performance.inventory, since);
  if (since === null || changes === null) return { ...which, form: 'FULL', ...occupancy(performance.inventory) };
  return { ...which, form: 'CHANGES', since, version: performance.inventory.version, changes };
}

/**
 * The best block of `count` seats, not reserved; empty when there is none. A session's own held seats count as free.
 * Refuses with PERFORMANCE_*, TICKET_TYPE_NOT_FOUND, SEATING_NOT_ENABLED.
 */
export function suggestSeats(
  state: EventState,
  wanted: {
    readonly ticketTypeId: string;
    readonly count: number;
    readonly performanceId: string | null;
    readonly sessionKey: string | null;
  },
  now: number,
): readonly SeatFacts[] | Refusal {
  const performance = findPerformanceOnSale(state, wanted.performanceId, now);
  if (isRefusal(performance)) return performance;
  const { ticketTypeId } = wanted;
  const type = state.plan.ticketTypeById.get(ticketTypeId);
  if (type === undefined) return refuse('TICKET_TYPE_NOT_FOUND', { ticketTypeId });
  const { seating } = type.locality;
  if (seating === null) return refuse('SEATING_NOT_ENABLED', { ticketTypeId });
  const overlay = openOverlay(performance.inventory, activeHoldOf(state, wanted.sessionKey));
  const block = bestBlock(overlay, type, wanted.count);
  return (block ?? []).map((seat) => seatFacts(seating, seat));
}

/** The stock of every date in one line each, for operators. */
export function stockOfPerformances(
  stock: EventState,
): readonly ({ readonly id: string } & ReturnType<typeof totals>)[] {
  return [...stock.performances.values()].map((performance) => ({
    id: performance.id,
    ...totals(performance.inventory),
  }));
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
