/**
 * What the list of events shows of one, in a form that stays right by itself: of an event that sleeps nothing changes but the time.
 *
 * Owns the few figures from which the line of the list follows at any moment. They are made from the state of an event that is
 * awake, or from the definition of one in which nothing was ever sold; they are kept in memory while it sleeps, and in the header
 * of its snapshots.
 */
import { totals } from '../inventory/inventory.ts';
import { isStageOpen, type SalePlan } from './sale-plan.ts';
import type { EventDefinition, LocalityDefinition, PerformanceDefinition } from './definition.ts';
import type { EventState } from '../event-state.ts';

/** A line of the list of events. */
export interface EventSummary {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  readonly currency: string;
  readonly fromPrice: number;
  readonly soldOut: boolean;
  readonly waitingRoom: boolean;
}

/** The same with what changes by time left open; plain data. */
export interface EventListing extends Omit<EventSummary, 'fromPrice' | 'soldOut'> {
  readonly performances: readonly ListedPerformance[];
  /** Selling stages in which something has a price. */
  readonly stages: readonly ListedStage[];
}

interface ListedPerformance {
  /** Neither cancelled nor sold out by the operator. */
  readonly isOpen: boolean;
  readonly isSoldOutByOperator: boolean;
  readonly endsAt: number | null;
  readonly available: number;
  readonly held: number;
}

interface ListedStage {
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  readonly lowestPriceCents: number;
}

/** The line of the list at a moment. */
export function summaryOf(listing: EventListing, now: number): EventSummary {
  const { performances, stages, ...rest } = listing;
  const isOnSale = ({ isOpen, endsAt }: ListedPerformance): boolean => isOpen && (endsAt === null || now < endsAt);
  const soldOut = performances.every(
    (each) => each.isSoldOutByOperator || ((each.available === 0 || !isOnSale(each)) && each.held === 0),
  );
  return { ...rest, fromPrice: performances.some(isOnSale) ? lowestPrice(stages, now) : 0, soldOut };
}

/** The lowest price of any stage that sells now; if none does, of the stage that opens next; 0 if none will. */
export function lowestPrice(stages: readonly ListedStage[], now: number): number {
  const open = stages.filter((stage) => isStageOpen(stage, now));
  if (open.length > 0) return Math.min(...open.map(({ lowestPriceCents }) => lowestPriceCents));
  const upcoming = stages.filter(({ startsAt }) => startsAt !== null && startsAt > now);
  const next = Math.min(...upcoming.map(({ startsAt }) => startsAt!));
  const prices = upcoming.filter(({ startsAt }) => startsAt === next).map(({ lowestPriceCents }) => lowestPriceCents);
  return prices.length === 0 ? 0 : Math.min(...prices);
}

/** The listing of an event as its state is. */
export function listingOf({ plan, performances }: EventState): EventListing {
  const visible = plan.visiblePerformances;
  return {
    ...listedTexts(plan.definition, visible),
    performances: visible.map((performance) => {
      const performanceState = performances.get(performance.id)!;
      const { available, held } = totals(performanceState.inventory);
      return listedPerformance(performance, performanceState.status === 'CANCELLED', available, held);
    }),
    stages: stagesOf(plan),
  };
}

/** The listing of an event in which nothing was held, sold, blocked or cancelled yet. Cost: a pass over its seats. */
export function listingOfUnsold(definition: EventDefinition): EventListing {
  const visible = definition.performances.filter(({ status }) => status !== 'DRAFT');
  const capacity = definition.localities.reduce((sum, locality) => sum + capacityOf(locality), 0);
  const typeIds = new Set(definition.ticketTypes.map(({ id }) => id));
  return {
    ...listedTexts(definition, visible),
    performances: visible.map((performance) => listedPerformance(performance, false, capacity, 0)),
    stages: definition.sellingStages.flatMap(({ startsAt, endsAt, prices }) => {
      const sold = Object.entries(prices).flatMap(([typeId, price]) => (typeIds.has(typeId) ? [price] : []));
      return sold.length === 0 ? [] : [{ startsAt, endsAt, lowestPriceCents: Math.min(...sold) }];
    }),
  };
}

function listedTexts(definition: EventDefinition, visible: readonly PerformanceDefinition[]) {
  const { id, slug, name, currency, waitingRoom } = definition;
  const startsAt = least(visible.map((performance) => performance.startsAt));
  return { id, slug, name, startsAt, endsAt: greatest(visible.map((each) => each.endsAt)), currency, waitingRoom };
}

function listedPerformance(
  { status, endsAt }: PerformanceDefinition,
  isCancelled: boolean,
  available: number,
  held: number,
): ListedPerformance {
  const isSoldOutByOperator = status === 'SOLD_OUT';
  return { isOpen: status === 'ON_SALE' && !isCancelled, isSoldOutByOperator, endsAt, available, held };
}

const stagesOfPlan = new WeakMap<SalePlan, readonly ListedStage[]>();

/** The stages of a plan with their lowest prices. */
export function stagesOf(plan: SalePlan): readonly ListedStage[] {
  const known = stagesOfPlan.get(plan);
  if (known !== undefined) return known;
  const stages = plan.sellingStages.flatMap((stage) => {
    const prices = plan.rows.filter((row) => row.sellingStage === stage).map((row) => row.priceCents);
    const { startsAt, endsAt } = stage.definition;
    return prices.length === 0 ? [] : [{ startsAt, endsAt, lowestPriceCents: Math.min(...prices) }];
  });
  stagesOfPlan.set(plan, stages);
  return stages;
}

function capacityOf(locality: LocalityDefinition): number {
  if (locality.seating === 'GENERAL') return locality.capacity;
  return locality.sections.reduce(
    (sum, section) => sum + section.rows.reduce((seats, row) => seats + row.seats.length, 0),
    0,
  );
}

function least(moments: readonly (number | null)[]): number | null {
  const known = moments.filter((moment) => moment !== null);
  return known.length === 0 ? null : Math.min(...known);
}

function greatest(moments: readonly (number | null)[]): number | null {
  const known = moments.filter((moment) => moment !== null);
  return known.length === 0 ? null : Math.max(...known);
}
