/**
 * An event in numbers: the views of operators, metrics and commands.
 *
 * Owns no state. A view of the stock alone costs a pass over the performances; `countsOf` also passes over holds and
 * orders.
 */
import { holdTransitions, type HoldStatus } from '#machines/hold.ts';
import { orderTransitions, type OrderStatus } from '#machines/order.ts';
import { oversoldTickets } from './audit.ts';
import { doorGauges, type DoorGauges } from '../doors/view.ts';
import type { StockTotals } from '../inventory/inventory.ts';
import { HOUR_MS, type MoneyView } from '../orders/money-by-hour.ts';
import { shownStatus, type PerformanceState } from '../inventory/performance.ts';
import { stockOfPerformances } from '../inventory/view.ts';
import { waitingRoomFigures } from '../waiting-room/view.ts';
import type { EventDefinition } from '../catalogue/definition.ts';
import type { Steering } from '../catalogue/state.ts';
import type { EventState } from './state.ts';
import type { WaitingRoomCounts } from '../view.ts';
import type { RefundCounts } from '../orders/open-refunds.ts';
import type { PerformanceStatus } from '#machines/performance.ts';
import type { WaitingRoomStatus } from '#machines/waiting-room.ts';

/** Hours of money in the view of one event. A list has this view of each of its events, so they are few. */
const HOURS_SHOWN = 24;

type StatusForOperators = PerformanceStatus | 'DRAFT';

export interface EventCounts {
  /** Tickets over all performances. */
  readonly tickets: StockTotals;
  readonly holds: Readonly<Record<HoldStatus, number>>;
  readonly orders: Readonly<Record<OrderStatus, number>>;
  readonly queue: { readonly waiting: number; readonly admitted: number };
}

/** An event as operators see it. */
export interface OperatorEventView {
  readonly definition: EventDefinition;
  readonly definitionVersion: number;
  readonly steering: Steering;
  /** The stock of every performance, drafts too. */
  readonly performances: readonly (StockTotals & {
    readonly id: string;
    readonly status: StatusForOperators;
  })[];
  readonly waitingRoom: WaitingRoomCounts | null;
  /** With the newest hours alone. */
  readonly money: MoneyView;
  readonly refundsNeedingOperator: number;
}

export interface Gauges {
  /** Over all performances. */
  readonly tickets: Pick<StockTotals, 'available' | 'held' | 'sold' | 'blocked'>;
  readonly queue: { readonly waiting: number; readonly admitted: number } | null;
  readonly refunds: RefundCounts;
  readonly doors: DoorGauges;
  /** Tickets beyond capacity; anything but 0 is a defect. */
  readonly oversold: number;
}

/** Everything that an event has, in numbers. */
export interface EventTotals {
  readonly definition: Pick<EventDefinition, 'id' | 'slug' | 'name' | 'status'>;
  readonly definitionVersion: number;
  readonly counts: EventCounts;
  readonly performances: readonly PerformanceTotals[];
  /** Of the performance that was named; null where none was, or where there is no such performance. */
  readonly offers: readonly OfferTotals[] | null;
  readonly waitingRoom: { readonly status: WaitingRoomStatus; readonly opensAt: number | null } | null;
}

interface PerformanceTotals extends StockTotals {
  readonly id: string;
  readonly status: StatusForOperators;
  readonly localities: readonly (StockTotals & { readonly id: string })[];
}

/** What is left and taken of a ticket type in a selling stage that has a price for it. */
interface OfferTotals {
  readonly ticketTypeId: string;
  readonly sellingStageId: string;
  readonly priceCents: number;
  readonly available: number;
  readonly held: number;
  readonly sold: number;
}

/** The figures of nothing. */
export const NO_COUNTS: EventCounts = {
  tickets: { capacity: 0, available: 0, held: 0, sold: 0, blocked: 0 },
  holds: countByStatus(holdTransitions.statuses, []),
  orders: countByStatus(orderTransitions.statuses, []),
  queue: { waiting: 0, admitted: 0 },
};

/** Counts everything in an event's books. Cost: a pass over its holds, orders and pools. */
export function countsOf(state: EventState): EventCounts {
  const { holds, orders, waitingRoom, performances } = state;
  return {
    tickets: [...performances.values()].map(({ inventory }) => inventory.totals()).reduce(addEach, NO_COUNTS.tickets),
    holds: addEach(countByStatus(holdTransitions.statuses, holds.byId.values()), holds.ended.cutCounts()),
    orders: countByStatus(orderTransitions.statuses, orders.inOrder),
    queue: {
      waiting: waitingRoom?.entries.waitingCount ?? 0,
      admitted: waitingRoom?.entries.passes.size ?? 0,
    },
  };
}

export function operatorEventView(state: EventState, now: number): OperatorEventView {
  return {
    definition: state.plan.definition,
    definitionVersion: state.definitionVersion,
    steering: state.steering,
    performances: stockOfPerformances(state).map((stock) => ({
      ...stock,
      status: statusForOperators(state, stock.id),
    })),
    waitingRoom: waitingRoomFigures(state, now),
    money: state.orders.money.view(now - HOURS_SHOWN * HOUR_MS, state.orders.refunds),
    refundsNeedingOperator: state.orders.refunds.counts.NEEDS_OPERATOR,
  };
}

export function gaugesOf(state: EventState, now: number): Gauges {
  const tickets = { available: 0, held: 0, sold: 0, blocked: 0 };
  for (const { available, held, sold, blocked } of stockOfPerformances(state)) {
    tickets.available += available;
    tickets.held += held;
    tickets.sold += sold;
    tickets.blocked += blocked;
  }
  const room = waitingRoomFigures(state, now);
  const queue = room && { waiting: room.waiting, admitted: room.admitted };
  const { counts: refunds } = state.orders.refunds;
  return { tickets, queue, refunds, doors: doorGauges(state, now), oversold: oversoldTickets(state) };
}

export function eventTotals(state: EventState, performanceId: string | null): EventTotals {
  const { id, slug, name, status } = state.plan.definition;
  const { definitionVersion, waitingRoom: room } = state;
  return {
    definition: { id, slug, name, status },
    definitionVersion,
    counts: countsOf(state),
    performances: Array.from(state.performances.values(), (performance) => totalsByLocality(state, performance)),
    offers: performanceId === null ? null : offersOf(state, performanceId),
    waitingRoom: room && { status: room.status, opensAt: room.opensAt },
  };
}

function statusForOperators({ plan, performances }: EventState, id: string): StatusForOperators {
  const defined = plan.performanceById.get(id)!;
  return defined.status === 'DRAFT' ? 'DRAFT' : shownStatus(performances.get(id)!, defined);
}

function totalsByLocality(state: EventState, { id, inventory }: PerformanceState): PerformanceTotals {
  const localities = state.plan.localities.map((locality) => ({ id: locality.id, ...inventory.totalsOf(locality) }));
  return { id, status: statusForOperators(state, id), ...inventory.totals(), localities };
}

function offersOf(state: EventState, performanceId: string): readonly OfferTotals[] | null {
  const inventory = state.performances.get(performanceId)?.inventory;
  if (inventory === undefined) return null;
  return state.plan.offers.map((offer) => ({
    ticketTypeId: offer.ticketTypeId,
    sellingStageId: offer.sellingStageId,
    priceCents: offer.priceCents,
    available: inventory.left(offer),
    held: inventory.heldInPool(offer.index),
    sold: inventory.soldInPool(offer.index),
  }));
}

/** The figures of two events together. */
export function addCounts(a: EventCounts, b: EventCounts): EventCounts {
  return {
    tickets: addEach(a.tickets, b.tickets),
    holds: addEach(a.holds, b.holds),
    orders: addEach(a.orders, b.orders),
    queue: addEach(a.queue, b.queue),
  };
}

function countByStatus<Status extends string>(
  statuses: readonly Status[],
  records: Iterable<{ readonly status: Status }>,
): Record<Status, number> {
  const counts = Object.fromEntries(statuses.map((status) => [status, 0])) as Record<Status, number>;
  for (const { status } of records) counts[status] += 1;
  return counts;
}

function addEach<Counts extends object>(a: Counts, b: Partial<Counts>): Counts {
  const others = b as Partial<Record<string, number>>;
  return Object.fromEntries(
    Object.entries(a).map(([name, count]: [string, number]) => [name, count + (others[name] ?? 0)]),
  ) as Counts;
}
