/**
 * What buyers see of an event: its dates, prices and what is left, computed from the stock at the moment of asking.
 *
 * Owns no state. The figures are already net of other buyers' holds; clients must not correct them. Called by
 * `http/routes` through a box office's `look`; advisory, so it does not wait for the disk.
 */
import { perkKey, perkLeft } from '../catalogue/bar-perks.ts';
import { bestBlock } from './best-available.ts';
import { activeHoldOf, type Hold } from '../holds/holds.ts';
import { reserved, totals } from './inventory.ts';
import { listingOf, lowestPrice, stagesOf, summaryOf, type EventSummary } from '../catalogue/listing.ts';
import { occupancy, occupancySince, type Occupancy, type SeatChange } from './occupancy.ts';
import { findPerformance, findPerformanceOnSale } from './performances.ts';
import { isRefusal, refuse, type Refusal } from '../refusal.ts';
import { isStageOpen, type SalePlan, type SaleRow, type SellingStagePlan } from '../catalogue/sale-plan.ts';
import { seatFacts, type SeatFacts } from './seating-plan.ts';
import { createOverlay, giveBackInOverlay, leftInOverlay, type StockOverlay } from './stock-overlay.ts';
import type { PerformanceStatus } from '#machines/performance.ts';
import type {
  EventDefinition,
  LocalityDefinition,
  NumberedLocality,
  PerformanceDefinition,
} from '../catalogue/definition.ts';
import type { EventState } from '../event-state.ts';
import { isOnSale, shownStatus, type PerformanceState } from './performance.ts';

export interface PerformanceView {
  readonly id: string;
  readonly name: string;
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  readonly status: PerformanceStatus;
  readonly sortOrder: number;
  /** Whether something of it can be bought now: it is not closed, a stage is open, and a unit of a type in it is left. */
  readonly onSale: boolean;
  /** Only on events with several dates. */
  readonly several: { readonly totalAvailable: number; readonly fromPrice: number; readonly soldOut: boolean } | null;
}

export interface AvailabilityRow {
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly performanceId: string | null;
  readonly price: number;
  readonly onSale: boolean;
  /** Tickets, not units. */
  readonly available: number;
  readonly reserved: number;
}

export interface EventView {
  readonly definition: EventDefinition;
  readonly performances: readonly PerformanceView[];
  readonly localities: readonly { readonly definition: LocalityDefinition; readonly capacity: number }[];
  readonly sellingStages: readonly { readonly stage: SellingStagePlan; readonly onSale: boolean }[];
  /** What is left of each bar perk, by `perkKey`; null means no cap. */
  readonly perksLeft: ReadonlyMap<string, number | null>;
  readonly ticketAvailability: readonly AvailabilityRow[];
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

// ── the event ────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The event's payload, summed over its dates or for one of them; a session's own ACTIVE hold counts as free for it.
 * Refuses an unknown or hidden date with PERFORMANCE_NOT_FOUND.
 */
export function eventView(
  state: EventState,
  wanted: { readonly performanceId: string | null; readonly sessionKey: string | null },
  now: number,
): EventView | Refusal {
  const { plan } = state;
  const one = wanted.performanceId === null ? null : findPerformance(state, wanted.performanceId);
  if (one !== null && isRefusal(one)) return one;
  const visible = plan.visiblePerformances;
  const performances = one === null ? visible.map((performance) => state.performances.get(performance.id)!) : [one];
  const onSale = performances.filter((performance) =>
    isOnSale(performance, plan.performanceById.get(performance.id)!, now),
  );
  const own = activeHoldOf(state, wanted.sessionKey);
  const overlays = onSale.map((performance) => openOverlay(performance, own));
  return {
    definition: plan.definition,
    performances: visible.map((performance) => viewPerformance(state, performance, own, visible.length > 1, now)),
    localities: plan.localities.map(({ definition, capacity }) => ({ definition, capacity })),
    sellingStages: plan.sellingStages.map((stage) => ({ stage, onSale: isStageOpen(stage.definition, now) })),
    perksLeft: perksLeft(state),
    ticketAvailability: plan.rows.map((row) => ({
      ticketTypeId: row.ticketTypeId,
      sellingStageId: row.sellingStageId,
      performanceId: one?.id ?? null,
      price: row.priceCents,
      onSale: onSale.length > 0 && isStageOpen(row.sellingStage.definition, now),
      available: sum(overlays, (overlay) => availableOn(overlay, row)),
      reserved: sum(performances, (performance) => reserved(performance.inventory, row)),
    })),
  };
}

/**
 * A token that changes whenever the payload without a session key may differ: with every fact but those of the waiting
 * room, which come by the thousand in a rush, and when a stage opens or closes or a date ends.
 */
export function eventRevision(state: EventState, now: number): string {
  const passed = timeBoundaries(state.plan).filter((boundary) => boundary <= now).length;
  const saleRevision = state.revision - (state.waitingRoom?.factCount ?? 0);
  return `${state.definitionVersion}.${saleRevision}.${passed}`;
}

/** The event's line in the list of events. */
export function eventSummary(state: EventState, now: number): EventSummary {
  return summaryOf(listingOf(state), now);
}

function viewPerformance(
  state: EventState,
  definition: PerformanceDefinition,
  own: Hold | null,
  several: boolean,
  now: number,
): PerformanceView {
  const performance = state.performances.get(definition.id)!;
  const { id, name, startsAt, endsAt, sortOrder } = definition;
  const status = shownStatus(performance, definition);
  const open = isOnSale(performance, definition, now);
  const onSale = open && canBeBought(state.plan, openOverlay(performance, own), now);
  const view = { id, name, startsAt, endsAt, sortOrder, status, onSale };
  if (!several) return { ...view, several: null };
  const { available, held } = totals(performance.inventory);
  return {
    ...view,
    several: {
      totalAvailable: open ? available : 0,
      fromPrice: open ? lowestPrice(stagesOf(state.plan), now) : 0,
      soldOut: definition.status === 'SOLD_OUT' || ((available === 0 || !open) && held === 0),
    },
  };
}

/** Whether a unit of anything is left in a stage that is open. */
function canBeBought({ rows }: SalePlan, overlay: StockOverlay, now: number): boolean {
  for (const row of rows) {
    const isOpen = isStageOpen(row.sellingStage.definition, now);
    if (isOpen && leftInOverlay(overlay, row) >= row.ticketType.groupSize) return true;
  }
  return false;
}

/** A date's stock in which a session's own hold counts as free. */
function openOverlay(performance: PerformanceState, own: Hold | null): StockOverlay {
  const overlay = createOverlay(performance.inventory);
  for (const line of own?.lines ?? []) if (line.performanceId === performance.id) giveBackInOverlay(overlay, line);
  return overlay;
}

function availableOn(overlay: StockOverlay, row: SaleRow): number {
  return Math.max(0, leftInOverlay(overlay, row));
}

function perksLeft(state: EventState): ReadonlyMap<string, number | null> {
  const left = new Map<string, number | null>();
  for (const type of state.plan.definition.ticketTypes) {
    for (const perk of type.barPerks) {
      const count = perk.stock === null ? null : perkLeft(type.id, perk, state.perksSold);
      left.set(perkKey(type.id, perk.id), count);
    }
  }
  return left;
}

const boundariesOfPlan = new WeakMap<SalePlan, readonly number[]>();

/** The moments at which the payload changes by time alone. */
function timeBoundaries(plan: SalePlan): readonly number[] {
  const known = boundariesOfPlan.get(plan);
  if (known !== undefined) return known;
  const moments = [
    ...plan.sellingStages.flatMap(({ definition }) => [definition.startsAt, definition.endsAt]),
    ...plan.performances.map((performance) => performance.endsAt),
  ];
  const boundaries = moments.filter((moment) => moment !== null).sort((a, b) => a - b);
  boundariesOfPlan.set(plan, boundaries);
  return boundaries;
}

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
  const overlay = openOverlay(performance, activeHoldOf(state, wanted.sessionKey));
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

function sum<Item>(items: readonly Item[], figure: (item: Item) => number): number {
  return items.reduce((total, item) => total + figure(item), 0);
}
