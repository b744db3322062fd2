/**
 * Orders by whatever an operator has at hand: an id or a ticket's code finds its order at once, anything else is looked
 * for in names, addresses and order numbers.
 *
 * 1. The payload of a code names its ticket; whether the code is genuine is for the entrance to check.
 */
import { type Static, Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import { readNumber } from '#domain/orders/told-numbers.ts';
import { isRefusal, type Refusal, refuseProblems } from '#domain/refusal.ts';
import type { OrderView } from '#domain/view.ts';
import { SEARCH_STEPS, searchOrders, type SearchPage, type SearchPosition } from '#privacy/order-search.ts';
import { ticketIdIn } from '#tickets/signing.ts';
import type { AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { ORDER_NOT_FOUND } from '../protocol/errors.ts';
import { Count, Id, IntegerText, Nullable, ref, Time, bearer } from '../protocol/fields.ts';
import { formatMoment } from '../protocol/formats.ts';
import { toCursor } from '../protocol/request-parts.ts';
import { addRoute } from '../protocol/route.ts';
import { problemAt } from '../protocol/validation.ts';
import { toAdminOrderBodies, toAdminOrderBody } from './orders/body.ts';
import { AdminOrder } from './orders/schema.ts';

const Text = Type.String();

const SearchQuery = Type.Object({
  q: Type.String({
    minLength: 2,
    maxLength: 2_000,
    pattern: '\\S\\s*\\S',
    mustBe: 'at least two characters beside spaces',
    description:
      "A part of a name, of an e-mail address or, from six characters on, of an order's id; the number of an order or a ticket, as `HF-7K3M-9QX`; or a whole id of an order, a ticket or a checkout session, or a ticket's code.",
  }),
  event_id: Type.Optional(Id),
  limit: Type.Optional(IntegerText({ minimum: 1, maximum: 100, default: 20 })),
  cursor: Type.Optional(Type.String({ maxLength: 1_024 })),
});

export const FoundOrders = Type.Object(
  {
    found: Type.Array(
      Type.Object({
        found_in: Type.String({
          enum: ['BUYER', 'GUEST', 'ORDER', 'TICKET', 'PAYMENT'],
          description: 'Whose name or address it is, or which number.',
        }),
        order: ref(AdminOrder),
      }),
    ),
    searched_orders: { ...Count, description: 'Orders that were opened for this page.' },
    reached: Nullable(
      Type.Object(
        { event_id: Text, placed_at: Nullable(Time) },
        {
          description: 'How far this page came: the event, and when the last order that was looked at was placed.',
        },
      ),
    ),
    unread_events: Type.Array(Text, { description: 'Events that cannot be read now: what they have is missing here.' }),
    next_cursor: Nullable({
      ...Text,
      description: 'Ask again with it: a page may be empty and not the last. Null once everything was searched.',
    }),
  },
  { $id: 'FoundOrders' },
);

export type FoundOrdersBody = Static<typeof FoundOrders>;

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const LIMIT = 20;

const WRONG_NUMBER = 'has a character that was misheard or mistyped: its check character does not fit';

const searchOrdersSchema = {
  operationId: 'searchOrders',
  tags: ['Orders'],
  summary: 'Find orders by a part of a name or address, an order number, a ticket or its code',
  description:
    'Names and addresses are sealed, so that orders are opened one by one, the newest of an event first: a request opens at most 2,000 and says how far it came. Go on with `next_cursor` until it is null. The buyer with a whole address is found at once.',
  security: bearer,
  querystring: SearchQuery,
  response: { 200: ref(FoundOrders) },
};

type SearchPorts = Pick<AdminPorts, 'events' | 'tickets' | 'personalData'>;

export function searchRoutes(app: HttpApp, ports: SearchPorts): void {
  addRoute(app, 'GET /admin/search', searchOrdersSchema, {
    answer: async ({ query: { q, event_id: eventId = null, limit } }, { after }) => {
      const position = after === null ? null : readPlace(after);
      if (position !== null && 'outcome' in position) return position;
      if (position === null && readNumber(q) === 'WRONG') return refuseProblems([problemAt('q', WRONG_NUMBER)]);
      const named = position === null ? await findNamed(ports, q.trim()) : null;
      return named ?? searchOrders(ports, { text: q, eventId, limit: Number(limit ?? LIMIT), position });
    },
    body: (page) => ('found' in page ? toPageBody(page, ports) : toNamedBody(page, ports)),
  });
}

interface OrderResult {
  readonly foundIn: FoundOrdersBody['found'][number]['found_in'];
  readonly order: OrderView;
}

/** The order that an id or a code names; null where the text is neither, or names no order. */
async function findNamed({ events }: SearchPorts, text: string): Promise<OrderResult | null> {
  const order = await findOrder(events, text);
  if (order !== null) return { foundIn: 'ORDER', order };
  const ticketId = ticketIdIn(text) ?? text;
  const found = await readAt(events.byId('tkt', ticketId), null, { type: 'FindTicket', ticketId });
  const ticketOrder = found?.issued == null ? null : await findOrder(events, found.issued.orderId);
  if (ticketOrder !== null) return { foundIn: 'TICKET', order: ticketOrder };
  const query = { type: 'FindSession', checkoutSessionId: text } as const;
  const paid = await readAt(events.byId('cs', text), ORDER_NOT_FOUND, query);
  return isRefusal(paid) ? null : { foundIn: 'PAYMENT', order: paid.order };
}

async function findOrder(events: SearchPorts['events'], orderId: string): Promise<OrderView | null> {
  const found = await readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, { type: 'FindOrder', orderId });
  return isRefusal(found) ? null : found.order;
}

async function toNamedBody({ foundIn, order }: OrderResult, ports: SearchPorts): Promise<FoundOrdersBody> {
  const found = [{ found_in: foundIn, order: await toAdminOrderBody(order, ports) }];
  return { found, searched_orders: 1, reached: null, unread_events: [], next_cursor: null };
}

async function toPageBody(page: SearchPage, ports: SearchPorts): Promise<FoundOrdersBody> {
  const { found, searchedOrders, reached, unreadEvents, next } = page;
  const orders = await toAdminOrderBodies(
    found.map(({ order }) => order),
    ports,
  );
  return {
    found: found.map(({ foundIn }, index) => ({ found_in: foundIn, order: orders[index]! })),
    searched_orders: searchedOrders,
    reached: reached && { event_id: reached.eventId, placed_at: formatMoment(reached.placedAt) },
    unread_events: [...unreadEvents],
    next_cursor: next === null ? null : toCursor(placeText(next)),
  };
}

// ── the cursor ───────────────────────────────────────────────────────────────────────────────────────────────────────

/** Ids of events and of orders have no spaces. */
function placeText({ step, afterEvent, from }: SearchPosition): string {
  return [step, afterEvent ?? '', from ?? ''].join(' ');
}

function readPlace(after: string): SearchPosition | Refusal {
  const [step = '', afterEvent = '', from = '', ...further] = after.split(' ');
  const known = SEARCH_STEPS.find((each) => each === step);
  const isPlace = known !== undefined && (known === 'ADDRESS' || /^[0-9]{0,9}$/.test(from));
  if (!isPlace || further.length > 0) return refuseProblems([problemAt('cursor', 'is not a cursor of this list')]);
  return {
    step: known,
    afterEvent: afterEvent === '' ? null : afterEvent,
    from: from === '' ? null : from,
  };
}
