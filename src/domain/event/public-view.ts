/**
 * What buyers see of an event: its performances, prices and what is left, and its entry in the list of events.
 *
 * Owns no state. The figures are net of other buyers' holds; clients must not correct them. They are advisory, so that
 * reading them does not wait for durability.
 *
 * 1. A listing of an evicted event stays right, because nothing in the event changes but the time. It is made from the
 *    state of an event in memory, or from the definition of one in which nothing was ever sold, and is kept in the
 *    header of snapshots.
 */
import { activeHoldOf, type Hold } from '../holds/state.ts';
import { findPerformance, isOnSale, shownStatus } from '../inventory/performance.ts';
import { createOverlay, leftInOverlay, openOverlay, type StockOverlay } from '../inventory/stock-overlay.ts';
import { perkKey, perkLeft } from '../orders/pricing.ts';
import { sumOf } from '../money.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import { isStageOpen, type SalePlan } from '../catalogue/sale-plan.ts';
import type { PerformanceStatus } from '#machines/performance.ts';
import type {
  EventDefinition,
  LocalityDefinition,
  PerformanceDefinition,
  SellingStageDefinition,
  VenueDefinition,
} from '../catalogue/definition.ts';
import { admissionRate, shownSteering, type ShownSteering } from '../catalogue/state.ts';
import type { EventState } from './state.ts';

export interface PerformanceView {
  readonly id: string;
  readonly name: string;
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  readonly doorsAt: number | null;
  readonly status: PerformanceStatus;
  readonly sortOrder: number;
  /**
   * Whether something of it can be bought now: it is not closed, a stage is open, and a unit of a type in it is left.
   */
  readonly onSale: boolean;
  /** Only in events with several performances. */
  readonly several: { readonly totalAvailable: number; readonly fromPrice: number; readonly soldOut: boolean } | null;
}

export interface TicketAvailability {
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
  /** Null while there is nothing to show. */
  readonly steering: ShownSteering | null;
  /** People admitted in a minute, at most. */
  readonly waitingRoomRate: number;
  readonly performances: readonly PerformanceView[];
  readonly localities: readonly { readonly definition: LocalityDefinition; readonly capacity: number }[];
  readonly sellingStages: readonly { readonly definition: SellingStageDefinition; readonly onSale: boolean }[];
  /** What is left of each bar perk, by `perkKey`; null means no cap. */
  readonly perksLeft: Readonly<Record<string, number | null>>;
  readonly ticketAvailability: readonly TicketAvailability[];
}

// ── the event ────────────────────────────────────────────────────────────────────────────────────────────────────────

/**
 * The event's payload, summed over its performances or for one of them; a session's own ACTIVE hold counts as free for
 * it. Refuses an unknown or hidden performance with PERFORMANCE_NOT_FOUND.
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
  const overlays = onSale.map((performance) => openOverlay(performance.inventory, own));
  return {
    definition: plan.definition,
    steering: shownSteering(state.steering),
    waitingRoomRate: admissionRate(state),
    performances: visible.map((performance) => viewPerformance(state, performance, own, visible.length > 1, now)),
    localities: plan.localities.map(({ definition, capacity }) => ({ definition, capacity })),
    sellingStages: plan.sellingStages.map(({ definition }) => ({ definition, onSale: isStageOpen(definition, now) })),
    perksLeft: perksLeft(state),
    ticketAvailability: plan.offers.map((offer) => ({
      ticketTypeId: offer.ticketTypeId,
      sellingStageId: offer.sellingStageId,
      performanceId: one?.id ?? null,
      price: offer.priceCents,
      onSale: onSale.length > 0 && isStageOpen(offer.sellingStage.definition, now),
      available: sumOf(overlays, (overlay) => leftInOverlay(overlay, offer)),
      reserved: sumOf(performances, (performance) => performance.inventory.heldInPool(offer.index)),
    })),
  };
}

/**
 * A token that changes whenever the payload without a session key may differ: with every fact but those of the waiting
 * room, which come by the thousand in a rush, and when a stage opens or closes or a performance ends.
 */
export function eventRevision(state: EventState, now: number): string {
  const passed = timeBoundaries(state.plan).filter((boundary) => boundary <= now).length;
  return `${state.definitionVersion}.${saleRevisionOf(state)}.${passed}`;
}

const saleRevisionOf = (state: EventState): number => state.revision - (state.waitingRoom?.factCount ?? 0);

/**
 * The last listing and line of an event in memory, by its state. A listing is made anew after a fact; a line, when it
 * differs.
 */
const summaries = new WeakMap<EventState, { revision: string; listing: EventListing; summary: EventSummary }>();

/** The fields of a line that change by time alone. */
const TIMELY = ['fromPrice', 'soldOut', 'saleStartsAt'] as const;

/** The event's line in the list of events: the same object until its content changes. */
export function eventSummary(state: EventState, now: number): EventSummary {
  const revision = `${state.definitionVersion}.${saleRevisionOf(state)}`;
  const known = summaries.get(state);
  const listing = known?.revision === revision ? known.listing : listingOf(state);
  const prices = pricesOf(listing, now);
  if (known?.listing === listing && TIMELY.every((field) => known.summary[field] === prices[field])) {
    return known.summary;
  }
  const summary = summaryOf(listing, now);
  summaries.set(state, { revision, listing, summary });
  return summary;
}

function viewPerformance(
  state: EventState,
  definition: PerformanceDefinition,
  own: Hold | null,
  several: boolean,
  now: number,
): PerformanceView {
  const performance = state.performances.get(definition.id)!;
  const { id, name, startsAt, endsAt, doorsAt = null, sortOrder } = definition;
  const status = shownStatus(performance, definition);
  const open = isOnSale(performance, definition, now);
  const overlay = openOverlay(performance.inventory, own);
  const onSale = open && canBeBought(state.plan, overlay, now);
  const view = { id, name, startsAt, endsAt, doorsAt, sortOrder, status, onSale };
  if (!several) return { ...view, several: null };
  const { available, held } = performance.inventory.totals();
  const all = stagesOf(state.plan);
  return {
    ...view,
    several: {
      totalAvailable: open ? available : 0,
      fromPrice: lowestPrice(open ? [stagesLeft(state.plan, overlay) ?? all] : [], all, now),
      soldOut: definition.status === 'SOLD_OUT' || ((available === 0 || !open) && held === 0),
    },
  };
}

/** Whether a unit of anything is left in a stage that is open. */
function canBeBought({ offers }: SalePlan, overlay: StockOverlay, now: number): boolean {
  for (const offer of offers) {
    const isOpen = isStageOpen(offer.sellingStage.definition, now);
    if (isOpen && leftInOverlay(overlay, offer) >= offer.ticketType.groupSize) return true;
  }
  return false;
}

function perksLeft(state: EventState): Readonly<Record<string, number | null>> {
  const left: Record<string, number | null> = {};
  for (const type of state.plan.definition.ticketTypes) {
    for (const perk of type.barPerks) {
      left[perkKey(type.id, perk.id)] = perk.stock === null ? null : perkLeft(type.id, perk, state.perksSold);
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

// ── the list of events ───────────────────────────────────────────────────────────────────────────────────────────────

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
  /** When its sale begins; absent once it has begun, and where nothing is to be sold. */
  readonly saleStartsAt?: number;
  /** Absent in listings that were kept before it was listed. */
  readonly timezone?: string;
  /** The file of its picture; absent where there is none, as `venue` is. */
  readonly picture?: string;
  readonly venue?: ListedVenue;
}

type ListedVenue = Pick<VenueDefinition, 'name' | 'city'>;

/** The same with what changes by time left open; plain data. */
export interface EventListing extends Omit<EventSummary, (typeof TIMELY)[number]> {
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
  /**
   * The stages in which something is left, with its lowest price; absent where something is left of everything with a
   * price.
   */
  readonly stages?: readonly ListedStage[];
}

interface ListedStage {
  readonly startsAt: number | null;
  readonly endsAt: number | null;
  readonly lowestPriceCents: number;
}

/** The line of the list at a moment. */
export function summaryOf(listing: EventListing, now: number): EventSummary {
  const { performances: _performances, stages: _stages, ...rest } = listing;
  return { ...rest, ...pricesOf(listing, now) };
}

function pricesOf({ performances, stages }: EventListing, now: number): Pick<EventSummary, (typeof TIMELY)[number]> {
  const isOnSale = ({ isOpen, endsAt }: ListedPerformance): boolean => isOpen && (endsAt === null || now < endsAt);
  const soldOut = performances.every(
    (each) => each.isSoldOutByOperator || ((each.available === 0 || !isOnSale(each)) && each.held === 0),
  );
  const left = performances.filter(isOnSale).map((performance) => performance.stages ?? stages);
  const startsAt = soldOut || stages.some((stage) => isStageOpen(stage, now)) ? null : nextStart(stages, now);
  return {
    fromPrice: lowestPrice(left, stages, now),
    soldOut,
    ...(startsAt !== null && { saleStartsAt: startsAt }),
  };
}

/**
 * The lowest price now of anything that is left, over all lists. Where nothing is left: the lowest of the stages that
 * sell now, else of the stage that opens next, else of the stage that closed last.
 */
function lowestPrice(left: readonly (readonly ListedStage[])[], all: readonly ListedStage[], now: number): number {
  const isOpen = (stage: ListedStage): boolean => isStageOpen(stage, now);
  const sold = left.flatMap((stages) => stages.filter(isOpen));
  if (sold.length > 0) return lowestOf(sold);
  const open = all.filter(isOpen);
  if (open.length > 0) return lowestOf(open);
  const next = nextStart(all, now);
  if (next !== null) return lowestOf(all.filter(({ startsAt }) => startsAt === next));
  const last = greatest(all.map(({ endsAt }) => endsAt));
  return lowestOf(all.filter(({ endsAt }) => endsAt === last));
}

/** When the next stage opens; null where none will. */
const nextStart = (stages: readonly ListedStage[], now: number): number | null =>
  least(stages.map(({ startsAt }) => (startsAt !== null && startsAt > now ? startsAt : null)));

const lowestOf = (stages: readonly ListedStage[]): number =>
  least(stages.map(({ lowestPriceCents }) => lowestPriceCents)) ?? 0;

/** The listing of an event as its state is. */
export function listingOf({ plan, performances }: EventState): EventListing {
  const visible = plan.visiblePerformances;
  return {
    ...listedTexts(plan.definition, visible),
    performances: visible.map((performance) => {
      const performanceState = performances.get(performance.id)!;
      const { inventory, status } = performanceState;
      const left = stagesLeft(plan, createOverlay(inventory));
      return listedPerformance(performance, status === 'CANCELLED', inventory.totals(), left);
    }),
    stages: stagesOf(plan),
  };
}

/** The listing of an event in which nothing was held, sold, blocked or cancelled yet. Cost: a pass over its seats. */
export function listingOfUnsold(definition: EventDefinition): EventListing {
  const visible = definition.performances.filter(({ status }) => status !== 'DRAFT');
  const capacity = definition.localities.reduce((sum, locality) => sum + capacityOf(locality), 0);
  const typeById = new Map(definition.ticketTypes.map((type) => [type.id, type]));
  const offers = definition.sellingStages.flatMap((stage) =>
    Object.entries(stage.prices).flatMap(([typeId, priceCents]) => {
      const type = typeById.get(typeId);
      if (type === undefined) return [];
      const quota = Math.min(type.quota ?? capacity, stage.quotas[typeId] ?? capacity, capacity);
      return [{ stage, accessible: type.accessible, priceCents, isLeft: quota >= type.groupSize }];
    }),
  );
  const left = offers.every(({ isLeft }) => isLeft) ? null : listedStages(offers.filter(({ isLeft }) => isLeft));
  const totals = { available: capacity, held: 0 };
  return {
    ...listedTexts(definition, visible),
    performances: visible.map((performance) => listedPerformance(performance, false, totals, left)),
    stages: listedStages(offers),
  };
}

function listedTexts(definition: EventDefinition, visible: readonly PerformanceDefinition[]) {
  const { id, slug, name, currency, timezone, waitingRoom, picture, venue } = definition;
  const startsAt = least(visible.map((performance) => performance.startsAt));
  return {
    id,
    slug,
    name,
    startsAt,
    endsAt: greatest(visible.map((each) => each.endsAt)),
    currency,
    waitingRoom,
    timezone,
    ...(picture !== undefined && { picture }),
    ...(venue !== undefined && { venue: { name: venue.name, city: venue.city } }),
  };
}

function listedPerformance(
  { status, endsAt }: PerformanceDefinition,
  isCancelled: boolean,
  { available, held }: { readonly available: number; readonly held: number },
  left: readonly ListedStage[] | null,
): ListedPerformance {
  const isSoldOutByOperator = status === 'SOLD_OUT';
  const isOpen = status === 'ON_SALE' && !isCancelled;
  return { isOpen, isSoldOutByOperator, endsAt, available, held, ...(left !== null && { stages: left }) };
}

const stagesOfPlan = new WeakMap<SalePlan, readonly ListedStage[]>();

/** The stages of a plan with their lowest prices. */
function stagesOf(plan: SalePlan): readonly ListedStage[] {
  const known = stagesOfPlan.get(plan);
  if (known !== undefined) return known;
  const stages = listedStages(plan.offers.map(toPricedOffer));
  stagesOfPlan.set(plan, stages);
  return stages;
}

/** The stages in which a unit of something is left, with its lowest price; null where one is left of everything. */
function stagesLeft({ offers }: SalePlan, overlay: StockOverlay): readonly ListedStage[] | null {
  const left = offers.filter((offer) => leftInOverlay(overlay, offer) >= offer.ticketType.groupSize);
  return left.length === offers.length ? null : listedStages(left.map(toPricedOffer));
}

interface PricedOffer {
  readonly stage: SellingStageDefinition;
  readonly accessible: boolean;
  readonly priceCents: number;
}

function toPricedOffer({ sellingStage, ticketType, priceCents }: SalePlan['offers'][number]): PricedOffer {
  return { stage: sellingStage.definition, accessible: ticketType.definition.accessible, priceCents };
}

function listedStages(offers: readonly PricedOffer[]): readonly ListedStage[] {
  const byStage = Map.groupBy(offers, ({ stage }) => stage);
  return Array.from(byStage, ([{ startsAt, endsAt }, sold]) => ({
    startsAt,
    endsAt,
    lowestPriceCents: lowestForAnybody(sold),
  }));
}

/** The lowest price without an accessible seat; where all types are accessible, the lowest of all. */
function lowestForAnybody(sold: readonly { readonly accessible: boolean; readonly priceCents: number }[]): number {
  const open = sold.filter(({ accessible }) => !accessible);
  return Math.min(...(open.length > 0 ? open : sold).map(({ priceCents }) => priceCents));
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
