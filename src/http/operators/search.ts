/**
 * Orders by whatever an operator has at hand: an id or a ticket's code finds its order at once, anything else is looked for in names,
 * addresses and order numbers.
 *
 * 1. The payload of a code names its ticket; whether the code is genuine is for the entrance to check.
 */
import { readAt } from '#actors/event-port.ts';
import { searchOrders, type SearchPage, type SearchPlace } from '#actors/order-search.ts';
import { isRefusal, refuseProblems, type Refusal } from '#domain/refusal.ts';
import type { OrderView } from '#domain/views.ts';
import { ticketIdIn } from '#tickets/signing.ts';
import type { HttpApp } from '../app.ts';
import { ORDER_NOT_FOUND } from '../errors.ts';
import { formatMoment } from '../formats.ts';
import { bearer, errorResponses } from '../openapi.ts';
import { toAdminOrderBodies, toAdminOrderBody } from '../order-bodies.ts';
import type { OperatorPorts } from '../ports.ts';
import { readCursor, toCursor } from '../request-parts.ts';
import { ref } from '../schemas/fields.ts';
import { FoundOrders, SearchQuery, type FoundOrdersBody } from '../schemas/search.ts';
import { problemAt } from '../validation.ts';

const LIMIT = 20;

const searchOrdersSchema = {
  operationId: 'searchOrders',
  tags: ['Orders'],
  summary: 'Find orders by a part of a name or address, an order number, a ticket or its code',
  description:
    'Names and addresses are sealed, so that orders are opened one by one, the newest of an event first: a request opens at most 2,000 and says how far it came. Go on with `next_cursor` until it is null. The buyer with a whole address is found at once.',
  security: bearer,
  querystring: SearchQuery,
  response: { 200: ref(FoundOrders), ...errorResponses },
};

type SearchPorts = Pick<OperatorPorts, 'requireToken' | 'events' | 'tickets' | 'personalData'>;

export function searchRoutes(app: HttpApp, ports: SearchPorts): void {
  app.get('/admin/search', { onRequest: ports.requireToken, schema: searchOrdersSchema }, async (request, reply) => {
    const { q, event_id: eventId = null, limit, cursor } = request.query;
    const place = readPlace(cursor);
    if (place !== null && 'outcome' in place) return reply.refuse(place);
    const named = place === null ? await findNamed(ports, q.trim()) : null;
    if (named !== null) return reply.send(await toNamedBody(named, ports));
    const page = await searchOrders(ports, { text: q, eventId, limit: Number(limit ?? LIMIT), place });
    return reply.send(await toPageBody(page, ports));
  });
}

interface NamedOrder {
  readonly foundIn: FoundOrdersBody['found'][number]['found_in'];
  readonly order: OrderView;
}

/** The order that an id or a code leads to; null where the text is none, or leads nowhere. */
async function findNamed({ events }: SearchPorts, text: string): Promise<NamedOrder | null> {
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

async function toNamedBody({ foundIn, order }: NamedOrder, ports: SearchPorts): Promise<FoundOrdersBody> {
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

/** Neither the id of an event nor that of an order has a space. */
function placeText({ step, afterEvent, from }: SearchPlace): string {
  return [step, afterEvent ?? '', from ?? ''].join(' ');
}

function readPlace(cursor: string | undefined): SearchPlace | Refusal | null {
  const start = readCursor(cursor);
  if ('outcome' in start) return start;
  if (start.after === null) return null;
  const [step = '', afterEvent = '', from = '', ...further] = start.after.split(' ');
  const isPlace = step === 'ADDRESS' || (step === 'PARTS' && /^[0-9]{0,9}$/.test(from));
  if (!isPlace || further.length > 0) return refuseProblems([problemAt('cursor', 'is not a cursor of this list')]);
  return {
    step: step === 'ADDRESS' ? 'ADDRESS' : 'PARTS',
    afterEvent: afterEvent === '' ? null : afterEvent,
    from: from === '' ? null : from,
  };
}
