/**
 * What is shown of the stock: seats, their states in full or as changes since a version, suggestions, and totals for
 * operators.
 */
import type { TimedHold } from './release-times.ts';
import { bestBlock } from './best-available.ts';
import type { Inventory, SeatChange, StockTotals } from './inventory.ts';
import { findPerformanceOnSale, type PerformanceState } from './performance.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { seatFacts, type SeatFacts } from '../catalogue/seating-plan.ts';
import { AVAILABLE, BLOCKED, HELD, SOLD } from './seat-map.ts';
import { openOverlay } from './stock-overlay.ts';
import type { NumberedLocality } from '../catalogue/definition.ts';
import type { InventoryState } from './performance.ts';

interface Occupancy {
  readonly version: number;
  /** Numbered seats that are AVAILABLE. */
  readonly available: number;
  readonly held: readonly string[];
  readonly sold: readonly string[];
  readonly blocked: readonly string[];
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
export function seatingView(state: InventoryState): SeatingView {
  const { id, localities } = state.plan.definition;
  const numbered = localities.filter((locality) => locality.seating === 'NUMBERED');
  return { eventId: id, version: state.definitionVersion, localities: numbered };
}

/** The same of any performance, a draft too. */
export function occupancyOf(eventId: string, performance: PerformanceState, since: number | null): OccupancyView {
  const which = { eventId, performanceId: performance.id };
  const { inventory } = performance;
  if (since === null || !inventory.remembersSince(since)) return { ...which, form: 'FULL', ...occupancy(inventory) };
  return { ...which, form: 'CHANGES', since, version: inventory.version, changes: inventory.changesSince(since) };
}

/**
 * The best block of `count` seats, not reserved; empty when there is none. The seats of the session's own hold count as
 * free. Refuses with PERFORMANCE_*, TICKET_TYPE_NOT_FOUND, SEATING_NOT_ENABLED.
 */
export function suggestSeats(
  state: InventoryState,
  wanted: {
    readonly ticketTypeId: string;
    readonly count: number;
    readonly performanceId: string | null;
  },
  own: Pick<TimedHold, 'lines'> | null,
  now: number,
): readonly SeatFacts[] | Refusal {
  const performance = findPerformanceOnSale(state, wanted.performanceId, now);
  if (isRefusal(performance)) return performance;
  const { ticketTypeId } = wanted;
  const type = state.plan.ticketTypeById.get(ticketTypeId);
  if (type === undefined) return refuse('TICKET_TYPE_NOT_FOUND', { ticketTypeId });
  const { seating } = type.locality;
  if (seating === null) return refuse('SEATING_NOT_ENABLED', { ticketTypeId });
  const overlay = openOverlay(performance.inventory, own);
  const block = bestBlock(overlay, type, wanted.count);
  return (block ?? []).map((seat) => seatFacts(seating, seat));
}

/** The stock of each performance, for operators. */
export function stockOfPerformances(state: InventoryState): readonly ({ readonly id: string } & StockTotals)[] {
  return [...state.performances.values()].map(({ id, inventory }) => ({ id, ...inventory.totals() }));
}

/** Every seat that is not AVAILABLE, by state, in the order of the plan. Cost: one pass over the seats. */
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
