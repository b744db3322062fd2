/** What the cancellation of a performance would do, asked before somebody decides on it. */
import { setImmediate as nextRound } from 'node:timers/promises';
import { Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import type { QueryOf } from '#domain/event/query.ts';
import type { DateCancellation } from '#domain/fact.ts';
import type { CancellationForecast, DateAsked } from '#domain/orders/amendments/cancellation-forecast.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { EventsPort, AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { EVENT_NOT_FOUND } from '../protocol/errors.ts';
import { Cents, Count, Id, ref, bearer } from '../protocol/fields.ts';
import { addRoute } from '../protocol/route.ts';

/** What becomes of the orders of a cancelled date. */
export const OrdersOfDate = Type.Unsafe<'WHOLE' | 'TICKETS'>(
  Type.String({
    enum: ['WHOLE', 'TICKETS'],
    description:
      'WHOLE where it is left out. Orders with a ticket on the date are cancelled whole; or their tickets on it alone, and orders that are not paid.',
  }),
);

/** As commands say it. */
export function ordersOf(orders: 'WHOLE' | 'TICKETS' | undefined): Pick<DateCancellation, 'orders'> {
  return orders === 'TICKETS' ? { orders } : {};
}

export const Cancellation = Type.Object(
  {
    orders: {
      ...Count,
      description: 'Orders with a ticket on the date that are not over: they are cancelled, but for those amended.',
    },
    amended_orders: Type.Optional({
      ...Count,
      description: 'With `orders=TICKETS`: those of them that go on with their tickets on other dates.',
    }),
    paid_orders: { ...Count, description: 'Those of all for which money came.' },
    tickets: { ...Count, description: 'What of their tickets is cancelled; of whole orders those on other dates too.' },
    refunds_due: Type.Array(Type.Object({ amount: Cents, currency: Type.String() }), {
      description: 'What is due back to their buyers then, by currency.',
    }),
  },
  { $id: 'Cancellation' },
);

const forecastCancellationSchema = {
  operationId: 'forecastCancellation',
  tags: ['Events'],
  summary: 'Read what the cancellation of a date would do: orders, tickets, money due back',
  description: 'Changes nothing. What buyers do meanwhile is not in it.',
  security: bearer,
  params: Type.Object({ id: Type.String(), performance_id: Id }),
  querystring: Type.Object({ orders: Type.Optional(OrdersOfDate) }),
  response: { 200: ref(Cancellation) },
};

export function cancellationRoutes(app: HttpApp, { events }: Pick<AdminPorts, 'events'>): void {
  addRoute(app, 'GET /admin/events/:id/performances/:performance_id/cancellation', forecastCancellationSchema, {
    answer: ({ params: { id, performance_id: performanceId }, query: { orders } }) =>
      forecastAll(events, id, { performanceId, ...ordersOf(orders) }),
    body: ({ orders, amendedOrders, paidOrders, tickets, due }) => ({
      orders,
      ...(amendedOrders !== null && { amended_orders: amendedOrders }),
      paid_orders: paidOrders,
      tickets,
      refunds_due: due.map(({ amountCents: amount, currency }) => ({ amount, currency })),
    }),
  });
}

type WholeForecast = Omit<CancellationForecast, 'nextAfter'>;

/** The forecast over all orders of an event, part by part: between two parts the process does other work. */
async function forecastAll(
  events: Pick<EventsPort, 'byEventId'>,
  eventId: string,
  asked: DateAsked,
): Promise<WholeForecast | Refusal> {
  let sum: WholeForecast = {
    orders: 0,
    amendedOrders: asked.orders === undefined ? null : 0,
    paidOrders: 0,
    tickets: 0,
    due: [],
  };
  for (let after: number | null = null; ;) {
    const query: QueryOf<'ForecastCancellation'> = { type: 'ForecastCancellation', ...asked, after };
    const part: CancellationForecast | Refusal = await readAt(events.byEventId(eventId), EVENT_NOT_FOUND, query);
    if (isRefusal(part)) return part;
    sum = added(sum, part);
    if (part.nextAfter === null) return sum;
    after = part.nextAfter;
    // An event of this process answers within the round.
    await nextRound();
  }
}

function added(one: WholeForecast, other: WholeForecast): WholeForecast {
  const due = new Map<string, number>();
  for (const { currency, amountCents } of [...one.due, ...other.due]) {
    due.set(currency, (due.get(currency) ?? 0) + amountCents);
  }
  return {
    orders: one.orders + other.orders,
    amendedOrders: one.amendedOrders === null ? null : one.amendedOrders + (other.amendedOrders ?? 0),
    paidOrders: one.paidOrders + other.paidOrders,
    tickets: one.tickets + other.tickets,
    due: Array.from(due, ([currency, amountCents]) => ({ amountCents, currency })),
  };
}
