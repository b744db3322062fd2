/** Orders that operators make at a counter: paid in cash, or given away. */
import { type Static, Type } from 'typebox';
import type { CommandOf } from '#domain/command.ts';
import { readCheckoutItem, readCustomer } from '../../buyers/checkout/body.ts';
import { CheckoutItem, CustomerInput, ITEMS_MAX } from '../../buyers/checkout/schema.ts';
import { problemsOfSeats } from '../../buyers/holds.ts';
import type { AdminPorts } from '../../ports.ts';
import type { HttpApp } from '../../protocol/app.ts';
import { EVENT_NOT_FOUND } from '../../protocol/errors.ts';
import { bearer, Note, OperatorHeaders, ref } from '../../protocol/fields.ts';
import { addRoute } from '../../protocol/route.ts';
import { toAdminOrderBody } from './body.ts';
import { AdminOrder } from './schema.ts';

const CounterOrder = Type.Object({
  items: Type.Array(CheckoutItem, { minItems: 1, maxItems: ITEMS_MAX }),
  customer: CustomerInput,
  payment: Type.Unsafe<'CASH' | 'FREE'>({
    type: 'string',
    enum: ['CASH', 'FREE'],
    description: 'CASH: the price is paid at the counter. FREE: the tickets are given away, with their perks.',
  }),
  exceed_limits: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'True: the limits of types, orders and addresses are not asked; 10,000 tickets an order stay one.',
    }),
  ),
  note: Note,
});

const sellAtCounterSchema = {
  operationId: 'sellAtCounter',
  tags: ['Orders'],
  summary: 'Make an order at a counter, paid in cash or given away',
  description:
    'It is CONFIRMED at once and has its tickets. Prices, stock, seats and limits are those of a checkout; no waiting room, no pause, no window of a stage and no date that is closed for buyers stands in the way, only one that is cancelled or over. An order in cash that comes to nothing is FREE. Send an Idempotency-Key to repeat it safely. What was paid in cash is given back by hand: it is due until it is recorded, and no provider is asked for it.',
  security: bearer,
  params: Type.Object({ id: Type.String() }),
  headers: OperatorHeaders,
  body: CounterOrder,
  response: { 201: ref(AdminOrder) },
};

export function counterRoutes(app: HttpApp, ports: Pick<AdminPorts, 'events' | 'tickets' | 'personalData'>): void {
  addRoute(app, 'POST /admin/events/:id/orders', sellAtCounterSchema, {
    command: 'SellAtCounter',
    isRepeatable: true,
    problems: ({ body }) => problemsOfSeats(body.items),
    answer: ({ params: { id }, body }, { execute, idempotency, by }) =>
      execute(ports.events.byEventId(id), EVENT_NOT_FOUND, { ...readCounterOrder(body), idempotency, ...by }),
    status: 201,
    body: ({ order }) => toAdminOrderBody(order, ports),
  });
}

export function readCounterOrder({
  items,
  customer,
  payment,
  exceed_limits: exceedsLimits = false,
}: Static<typeof CounterOrder>): Omit<CommandOf<'SellAtCounter'>, 'operator' | 'note' | 'idempotency'> {
  return {
    type: 'SellAtCounter',
    items: items.map(readCheckoutItem),
    customer: readCustomer(customer),
    payment,
    exceedsLimits,
  };
}
