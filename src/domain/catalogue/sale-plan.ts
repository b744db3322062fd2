/**
 * An event's definition, compiled: ids looked up once, prices and caps in arrays by index.
 *
 * Owns which pairs of ticket type and selling stage have a price (the *offers*) and which stock each of them draws on.
 * What is left of that stock belongs to `inventory/inventory.ts`. One plan serves all performances of the event.
 *
 * 1. A *pool* is a number of tickets that may not be exceeded at one performance. Pools are numbered: first one for
 *    each offer (the stage's quota), then one for each ticket type (its quota), then the places: one for each general
 *    locality, one for each kind of seat of a numbered one (the ordinary seats of a zone, and its accessible ones).
 * 2. An offer can still sell the minimum of what its own pool, its type's pool and its places' pool leave.
 * 3. Nothing here is written after `compileSalePlan` returned.
 */

import type {
  EventDefinition,
  LocalityDefinition,
  PerformanceDefinition,
  SellingStageDefinition,
  TicketTypeDefinition,
} from './definition.ts';
import { compileSeatClass, compileSeatingPlan, seatFacts, type SeatClass, type SeatingPlan } from './seating-plan.ts';

/** The cap of a pool that has none. Fits an Int32Array and is far above any capacity. */
export const UNCAPPED = 0x7fffffff;

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export interface SalePlan {
  readonly definition: EventDefinition;
  readonly holdWindowMs: number;
  /** The longest life of one session's hold, counted from its first placing; null means no ceiling. */
  readonly holdLifeMaxMs: number | null;
  /** Whether a hold that no order could take is refused. */
  readonly limitsAtHold: boolean;
  readonly paymentWindowMs: number;
  /** By `sortOrder`, then by start (those without one last), then as listed. */
  readonly performances: readonly PerformanceDefinition[];
  /** Those that buyers can see. */
  readonly visiblePerformances: readonly PerformanceDefinition[];
  readonly performanceById: ReadonlyMap<string, PerformanceDefinition>;
  readonly localities: readonly LocalityPlan[];
  readonly localityById: ReadonlyMap<string, LocalityPlan>;
  readonly ticketTypes: readonly TicketTypePlan[];
  readonly ticketTypeById: ReadonlyMap<string, TicketTypePlan>;
  /** By `sortOrder`, then as listed. */
  readonly sellingStages: readonly SellingStagePlan[];
  readonly sellingStageById: ReadonlyMap<string, SellingStagePlan>;
  /** The pairs that have a price, by type as listed, then by stage. */
  readonly offers: readonly Offer[];
  /** Where the offer of a pair stands: `offerGrid[type.index * sellingStages.length + stage.index]`, or -1. */
  readonly offerGrid: Int32Array;
  readonly poolCount: number;
  /** The cap of each pool; a place's is its number of places, blocked ones included. */
  readonly poolCap: Int32Array;
}

export interface LocalityPlan {
  readonly index: number;
  readonly id: string;
  readonly definition: LocalityDefinition;
  /** Places at each performance. */
  readonly capacity: number;
  /** Null for a GENERAL locality. */
  readonly seating: SeatingPlan | null;
  /** Its place pools: `firstPlacePool` and the `placePoolCount - 1` after it (of a numbered one, by kind of seat). */
  readonly firstPlacePool: number;
  readonly placePoolCount: number;
  /** The kinds of seats that some type of this locality may be assigned; empty for a GENERAL locality. */
  readonly seatClasses: readonly SeatClass[];
}

export interface TicketTypePlan {
  readonly index: number;
  readonly id: string;
  readonly definition: TicketTypeDefinition;
  readonly groupSize: number;
  readonly accessible: boolean;
  readonly locality: LocalityPlan;
  /** The pool of its quota. */
  readonly pool: number;
  /** The pools of the places it may take. */
  readonly placePools: readonly number[];
  /** 1 for each kind of seat of its locality that it may take; null for a GENERAL locality. */
  readonly kinds: Uint8Array | null;
  /** The seats it may be assigned without picking them; null for a GENERAL locality. */
  readonly seatClass: SeatClass | null;
}

interface SellingStagePlan {
  readonly index: number;
  readonly id: string;
  readonly definition: SellingStageDefinition;
}

export interface Offer {
  /** Its number in `offers`, and of the pool of its stage's quota. */
  readonly index: number;
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly priceCents: number;
  readonly ticketType: TicketTypePlan;
  readonly sellingStage: SellingStagePlan;
}

/** Compiles a checked definition. Cost: one pass over the seats, so keep the result. */
export function compileSalePlan(definition: EventDefinition): SalePlan {
  const sellingStages = [...definition.sellingStages]
    .sort((a, b) => a.sortOrder - b.sortOrder)
    .map((stage, index): SellingStagePlan => ({ index, id: stage.id, definition: stage }));
  const pairs = definition.ticketTypes.flatMap((type) =>
    sellingStages.filter((stage) => Object.hasOwn(stage.definition.prices, type.id)).map((stage) => ({ type, stage })),
  );
  const localities = compileLocalities(definition, pairs.length + definition.ticketTypes.length);
  const localityById = new Map(localities.map((locality) => [locality.id, locality]));
  const reserved = new Map(localities.map((locality) => [locality, reservedZonesOf(locality, definition)]));
  const ticketTypes = definition.ticketTypes.map((type, index) => {
    const locality = localityById.get(type.localityId)!;
    return compileTicketType(type, index, pairs.length + index, locality, reserved.get(locality)!);
  });
  const ticketTypeById = new Map(ticketTypes.map((type) => [type.id, type]));
  const offers = pairs.map(({ type, stage }, index): Offer => ({
    index,
    ticketTypeId: type.id,
    sellingStageId: stage.id,
    priceCents: stage.definition.prices[type.id]!,
    ticketType: ticketTypeById.get(type.id)!,
    sellingStage: stage,
  }));
  const offerGrid = new Int32Array(ticketTypes.length * sellingStages.length).fill(-1);
  for (const offer of offers)
    offerGrid[offer.ticketType.index * sellingStages.length + offer.sellingStage.index] = offer.index;
  const poolCap = capPools(offers, ticketTypes, localities);
  const performances = [...definition.performances].sort(byOrderThenStart);
  return {
    definition,
    holdWindowMs: Math.round(definition.holdMinutes * MINUTE_MS),
    holdLifeMaxMs: holdLifeMaxMs(definition),
    limitsAtHold: definition.limitsAtHold ?? false,
    paymentWindowMs: Math.round(definition.paymentMinutes * MINUTE_MS),
    performances,
    visiblePerformances: performances.filter(({ status }) => status !== 'DRAFT'),
    performanceById: new Map(performances.map((performance) => [performance.id, performance])),
    localities,
    localityById,
    ticketTypes,
    ticketTypeById,
    sellingStages,
    sellingStageById: new Map(sellingStages.map((stage) => [stage.id, stage])),
    offers,
    offerGrid,
    poolCount: poolCap.length,
    poolCap,
  };
}

/**
 * The moment from which the personal data of the event's orders is erased: `retentionDays` after the end of its last
 * performance, or after its start where no end is known. Null: never, because no retention is set, or because a
 * performance has no time and is never over. Performances that nobody can see do not count.
 */
export function retentionEndsAt(definition: Pick<EventDefinition, 'retentionDays' | 'performances'>): number | null {
  const { retentionDays = null, performances } = definition;
  if (retentionDays === null) return null;
  let lastEnd = 0;
  for (const { status, startsAt, endsAt } of performances) {
    if (status === 'DRAFT') continue;
    const end = endsAt ?? startsAt;
    if (end === null) return null;
    lastEnd = Math.max(lastEnd, end);
  }
  return lastEnd === 0 ? null : lastEnd + retentionDays * DAY_MS;
}

function holdLifeMaxMs({ holdMaxMinutes }: EventDefinition): number | null {
  const minutes = holdMaxMinutes ?? 0;
  return minutes === 0 ? null : Math.round(minutes * MINUTE_MS);
}

/** The offer of a type in a stage; undefined where either is unknown or the pair has no price. Hot: two lookups. */
export function offerOf(plan: SalePlan, ticketTypeId: string, sellingStageId: string): Offer | undefined {
  const type = plan.ticketTypeById.get(ticketTypeId);
  const stage = plan.sellingStageById.get(sellingStageId);
  if (type === undefined || stage === undefined) return undefined;
  return plan.offers[plan.offerGrid[type.index * plan.sellingStages.length + stage.index]!];
}

/** The names of a place on a ticket, also of a place without a numbered seat. */
export function placeNames(
  plan: SalePlan,
  ticketTypeId: string,
  seatId: string | null,
): { readonly section: string | null; readonly rowLabel: string | null; readonly seatLabel: string | null } {
  const seating = plan.ticketTypeById.get(ticketTypeId)?.locality.seating ?? null;
  const seat = seatId === null ? undefined : seating?.indexOf.get(seatId);
  if (seating === null || seat === undefined) return { section: null, rowLabel: null, seatLabel: seatId };
  const { sectionName: section, rowLabel, seatLabel } = seatFacts(seating, seat);
  return { section, rowLabel, seatLabel };
}

/** Whether a stage sells at `now`: from the millisecond it starts up to, not including, the one it ends. */
export function isStageOpen(stage: Pick<SellingStageDefinition, 'startsAt' | 'endsAt'>, now: number): boolean {
  return (stage.startsAt === null || stage.startsAt <= now) && (stage.endsAt === null || now < stage.endsAt);
}

/** Where a seat of the event lies; null where no locality has it. Seat ids are unique in an event. */
export function findSeat(plan: SalePlan, seatId: string): { locality: LocalityPlan; seat: number } | null {
  for (const locality of plan.localities) {
    const seat = locality.seating?.indexOf.get(seatId);
    if (seat !== undefined) return { locality, seat };
  }
  return null;
}

function byOrderThenStart(a: PerformanceDefinition, b: PerformanceDefinition): number {
  if (a.sortOrder !== b.sortOrder) return a.sortOrder - b.sortOrder;
  if (a.startsAt === b.startsAt) return 0;
  if (a.startsAt === null) return 1;
  return b.startsAt === null ? -1 : a.startsAt - b.startsAt;
}

function compileLocalities(definition: EventDefinition, firstPool: number): LocalityPlan[] {
  let nextPool = firstPool;
  return definition.localities.map((locality, index) => {
    const seating = locality.seating === 'NUMBERED' ? compileSeatingPlan(locality) : null;
    const firstPlacePool = nextPool;
    const placePoolCount = seating === null ? 1 : seating.zoneOfKind.length;
    nextPool += placePoolCount;
    const types = definition.ticketTypes.filter((type) => type.localityId === locality.id);
    return {
      index,
      id: locality.id,
      definition: locality,
      capacity: locality.seating === 'NUMBERED' ? seating!.seatCount : locality.capacity,
      seating,
      firstPlacePool,
      placePoolCount,
      seatClasses: seating === null ? [] : compileSeatClasses(seating, types),
    };
  });
}

/**
 * One class for each distinct pair of zones and accessibility, so that types which seek the same seats share an index.
 */
function compileSeatClasses(seating: SeatingPlan, types: readonly TicketTypeDefinition[]): SeatClass[] {
  const classes = new Map<string, SeatClass>();
  for (const type of types) {
    const zones = zonesOf(seating, type);
    const key = classKey(zones, type.accessible);
    if (!classes.has(key)) classes.set(key, compileSeatClass(seating, classes.size, key, zones, type.accessible));
  }
  return [...classes.values()];
}

function compileTicketType(
  type: TicketTypeDefinition,
  index: number,
  pool: number,
  locality: LocalityPlan,
  reserved: Uint8Array,
): TicketTypePlan {
  const { seating, firstPlacePool } = locality;
  const shared = {
    index,
    id: type.id,
    definition: type,
    groupSize: type.groupSize,
    accessible: type.accessible,
    locality,
    pool,
  };
  if (seating === null) return { ...shared, placePools: [firstPlacePool], kinds: null, seatClass: null };
  const zones = zonesOf(seating, type);
  const kinds = kindsFor(seating, zones, type.accessible, reserved);
  const placePools: number[] = [];
  kinds.forEach((mayTake, kind) => {
    if (mayTake === 1) placePools.push(firstPlacePool + kind);
  });
  const key = classKey(zones, type.accessible);
  return { ...shared, placePools, kinds, seatClass: locality.seatClasses.find((each) => each.key === key)! };
}

function zonesOf(seating: SeatingPlan, type: TicketTypeDefinition): Uint8Array {
  const { zoneKeys } = type;
  return Uint8Array.from(seating.zoneKeys, (zoneKey) => (zoneKeys === null || zoneKeys.includes(zoneKey) ? 1 : 0));
}

/**
 * The kinds of seats that a type may take: for an accessible type the accessible ones of its zones; for another type
 * the ordinary ones, and the accessible ones of zones that no accessible type sells.
 */
function kindsFor(seating: SeatingPlan, zones: Uint8Array, accessible: boolean, reserved: Uint8Array): Uint8Array {
  const ordinaryKinds = seating.zoneKeys.length;
  return Uint8Array.from(seating.zoneOfKind, (zone, kind) => {
    const mayTake = kind < ordinaryKinds ? !accessible : accessible || reserved[zone] === 0;
    return zones[zone] === 1 && mayTake ? 1 : 0;
  });
}

/** 1 for each zone of a locality that an accessible type with a price sells. */
function reservedZonesOf({ id, seating }: LocalityPlan, { ticketTypes, sellingStages }: EventDefinition): Uint8Array {
  const reserved = new Uint8Array(seating?.zoneKeys.length ?? 0);
  for (const type of ticketTypes) {
    const isSold = sellingStages.some(({ prices }) => Object.hasOwn(prices, type.id));
    if (seating === null || !type.accessible || type.localityId !== id || !isSold) continue;
    zonesOf(seating, type).forEach((isOwn, zone) => (reserved[zone]! |= isOwn));
  }
  return reserved;
}

function classKey(zones: Uint8Array, accessible: boolean): string {
  return `${accessible ? 'accessible' : 'ordinary'}:${zones.join('')}`;
}

function capPools(
  offers: readonly Offer[],
  ticketTypes: readonly TicketTypePlan[],
  localities: readonly LocalityPlan[],
): Int32Array {
  const caps = offers.map((offer) => {
    const { quotas } = offer.sellingStage.definition;
    return Object.hasOwn(quotas, offer.ticketTypeId) ? quotas[offer.ticketTypeId]! : UNCAPPED;
  });
  for (const type of ticketTypes) caps.push(type.definition.quota ?? UNCAPPED);
  for (const { seating, capacity } of localities) {
    if (seating === null) {
      caps.push(capacity);
      continue;
    }
    const places = seating.zoneOfKind.map(() => 0);
    for (const kind of seating.kindOf) places[kind]! += 1;
    caps.push(...places);
  }
  return Int32Array.from(caps);
}
