/** A box office in numbers: what there is of everything, for those who look at it from outside. */
import { holdTransitions, type HoldStatus } from '#machines/hold.ts';
import { orderTransitions, type OrderStatus } from '#machines/order.ts';
import { totals, type StockTotals } from './inventory/inventory.ts';
import type { EventState } from './event-state.ts';

export interface Figures {
  /** Tickets over all dates. */
  readonly tickets: StockTotals;
  readonly holds: Readonly<Record<HoldStatus, number>>;
  readonly orders: Readonly<Record<OrderStatus, number>>;
  readonly queue: { readonly waiting: number; readonly admitted: number };
}

/** The figures of nothing. */
export const NO_FIGURES: Figures = {
  tickets: { capacity: 0, available: 0, held: 0, sold: 0, blocked: 0 },
  holds: countByStatus(holdTransitions.statuses, []),
  orders: countByStatus(orderTransitions.statuses, []),
  queue: { waiting: 0, admitted: 0 },
};

/** Counts everything in an event's books. Cost: a pass over its holds, orders and pools. */
export function figuresOf(state: EventState): Figures {
  const { holds, orders, waitingRoom, performances } = state;
  return {
    tickets: [...performances.values()].map(({ inventory }) => totals(inventory)).reduce(addEach, NO_FIGURES.tickets),
    holds: addEach(countByStatus(holdTransitions.statuses, holds.byId.values()), holds.ended.cutCounts()),
    orders: countByStatus(orderTransitions.statuses, orders.inOrder),
    queue: {
      waiting: waitingRoom?.entries.waitingCount ?? 0,
      admitted: waitingRoom?.entries.passes.size ?? 0,
    },
  };
}

/** The figures of two events together. */
export function addFigures(a: Figures, b: Figures): Figures {
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
