/** Orders for operators: list, read, cancel, record a refund, erase; and one ticket with its validity. Everything needs the bearer token. */
import { Type } from 'typebox';
import { executeAt, readAt } from '#actors/event-port.ts';
import { withoutErased } from '#actors/subject-search.ts';
import { TICKETS_SHOWN_MAX } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { OrderView } from '#domain/views.ts';
import type { HttpApp } from '../app.ts';
import { toCursor, readCursor, idempotencyMark, markReplayed, operatorMark } from '../request-parts.ts';
import { EVENT_NOT_FOUND, ORDER_NOT_FOUND } from '../errors.ts';
import { bearer, errorResponses } from '../openapi.ts';
import { toAdminOrderBodies, toAdminOrderBody, toAdminTicketBody, toOpenedAdminBodies } from '../order-bodies.ts';
import type { OperatorPorts } from '../ports.ts';
import { ref } from '../schemas/fields.ts';
import { AdminOrder, AdminOrderList, AdminTicket, OrderQuery, RecordRefund, TicketsQuery } from '../schemas/orders.ts';
import { NoteOnly, OperatorHeaders } from '../schemas/operators.ts';

const LIST_LIMIT = 100;
const IdPath = Type.Object({ id: Type.String() });
const described = { tags: ['Orders'], security: bearer, params: IdPath };

const listOrdersSchema = {
  ...described,
  operationId: 'listOrders',
  summary: 'List the orders of an event in the order of their placing, or the newest first',
  querystring: OrderQuery,
  response: { 200: AdminOrderList, ...errorResponses },
};

const getOrderSchema = {
  ...described,
  operationId: 'getOrder',
  summary: 'Read an order with everything on it',
  description: 'Lists at most 1,000 tickets; `ticket_count` has the number, and `after` asks for those behind one.',
  querystring: TicketsQuery,
  response: { 200: ref(AdminOrder), ...errorResponses },
};

const cancelOrderSchema = {
  ...described,
  operationId: 'cancelOrder',
  summary: 'Cancel an order: its tickets are void and return to sale, what was paid is due back',
  headers: OperatorHeaders,
  body: NoteOnly,
  response: { 200: ref(AdminOrder), ...errorResponses },
};

const recordRefundSchema = {
  ...described,
  operationId: 'recordRefund',
  summary: 'Record money that was given back',
  description:
    'A reference counts once for an order: recorded again it changes nothing. Never more than was paid: REFUND_TOO_HIGH.',
  headers: OperatorHeaders,
  body: RecordRefund,
  response: { 200: ref(AdminOrder), ...errorResponses },
};

const eraseOrderSchema = {
  ...described,
  operationId: 'eraseOrder',
  summary: 'Erase the personal data of an order for good',
  description:
    'Destroys the keys of what the order says about people: name and address of the buyer, people on tickets, tracking and notes. From the answer on nobody can read it, backups of the journal included; only a copy of `keys.db` from before could still open it. Tickets, seats and money stay. Again it changes nothing. Not while its payment is awaited: ORDER_NOT_ERASABLE.',
  headers: OperatorHeaders,
  response: { 200: ref(AdminOrder), ...errorResponses },
};

const getTicketSchema = {
  ...described,
  operationId: 'getTicket',
  tags: ['Tickets'],
  summary: 'Read one ticket and whether it is valid',
  response: { 200: ref(AdminTicket), ...errorResponses },
};

export function adminOrderRoutes(
  app: HttpApp,
  ports: Pick<OperatorPorts, 'requireToken' | 'events' | 'tickets' | 'personalData'>,
): void {
  const { events, personalData } = ports;
  const onRequest = ports.requireToken;

  app.get('/admin/events/:id/orders', { onRequest, schema: listOrdersSchema }, async (request, reply) => {
    const { status, email, order, limit, cursor } = request.query;
    const start = readCursor(cursor);
    if ('outcome' in start) return reply.refuse(start);
    const query = {
      type: 'ListOrders',
      status: (status as OrderView['status'] | undefined) ?? null,
      email: email ?? null,
      after: start.after,
      newestFirst: order === 'newest',
      limit: Number(limit ?? LIST_LIMIT),
    } as const;
    const page = await readAt(events.byEventId(request.params.id), EVENT_NOT_FOUND, query);
    if (isRefusal(page)) return reply.refuse(page);
    // What was erased is not found by its address, also where no fact says that it was.
    const orders =
      email === undefined
        ? await toAdminOrderBodies(page.orders, ports)
        : await toOpenedAdminBodies(await withoutErased(page.orders, personalData), ports.tickets);
    return reply.send({ orders, next_cursor: toCursor(page.nextAfter) });
  });

  app.get('/admin/orders/:id', { onRequest, schema: getOrderSchema }, async (request, reply) => {
    const { id: orderId } = request.params;
    const page = { after: request.query.after ?? null, limit: TICKETS_SHOWN_MAX };
    const query = { type: 'FindOrder', orderId, tickets: page } as const;
    const found = await readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, query);
    return isRefusal(found) ? reply.refuse(found) : reply.send(await toAdminOrderBody(found.order, ports));
  });

  app.post('/admin/orders/:id/cancel', { onRequest, schema: cancelOrderSchema }, async (request, reply) => {
    const { id: orderId } = request.params;
    const idempotency = idempotencyMark('POST /admin/orders/cancel', request, { target: [orderId] });
    if (idempotency !== null && 'outcome' in idempotency) return reply.refuse(idempotency);
    const mark = operatorMark(request, request.body?.note);
    const command = { type: 'CancelOrder', orderId, idempotency, ...mark } as const;
    const answer = await executeAt(events.byId('ord', orderId), ORDER_NOT_FOUND, command);
    if (isRefusal(answer)) return reply.refuse(answer);
    markReplayed(reply, answer);
    return reply.send(await toAdminOrderBody(answer.order, ports));
  });

  app.post('/admin/orders/:id/refunds', { onRequest, schema: recordRefundSchema }, async (request, reply) => {
    const { id: orderId } = request.params;
    const { amount: amountCents, currency = null, reference = null, note } = request.body;
    const idempotency = idempotencyMark('POST /admin/orders/refunds', request, { target: [orderId] });
    if (idempotency !== null && 'outcome' in idempotency) return reply.refuse(idempotency);
    const command = {
      type: 'RecordRefund',
      orderId,
      amountCents,
      currency,
      reference,
      provider: null,
      idempotency,
      ...operatorMark(request, note),
    } as const;
    const answer = await executeAt(events.byId('ord', orderId), ORDER_NOT_FOUND, command);
    if (isRefusal(answer)) return reply.refuse(answer);
    markReplayed(reply, answer);
    return reply.send(await toAdminOrderBody(answer.order, ports));
  });
  eraseRoute(app, ports);
}

/** Erasing is for good, and it is answered only when nobody can read the order's personal data any more. */
function eraseRoute(
  app: HttpApp,
  ports: Pick<OperatorPorts, 'requireToken' | 'events' | 'tickets' | 'personalData'>,
): void {
  const { events, requireToken: onRequest } = ports;
  app.post('/admin/orders/:id/erase', { onRequest, schema: eraseOrderSchema }, async (request, reply) => {
    const { id: orderId } = request.params;
    const idempotency = idempotencyMark('POST /admin/orders/erase', request, { target: [orderId] });
    if (idempotency !== null && 'outcome' in idempotency) return reply.refuse(idempotency);
    // Nothing is written about the order but who had it erased.
    const command = { type: 'EraseOrder', orderId, idempotency, ...operatorMark(request, null), note: null } as const;
    const answer = await executeAt(events.byId('ord', orderId), ORDER_NOT_FOUND, command);
    if (isRefusal(answer)) return reply.refuse(answer);
    markReplayed(reply, answer);
    return reply.send(await toAdminOrderBody(answer.order, ports));
  });
}

export function adminTicketRoutes(
  app: HttpApp,
  {
    events,
    tickets,
    personalData,
    requireToken: onRequest,
  }: Pick<OperatorPorts, 'requireToken' | 'events' | 'tickets' | 'personalData'>,
): void {
  app.get('/admin/tickets/:id', { onRequest, schema: getTicketSchema }, async (request, reply) => {
    const { id: ticketId } = request.params;
    const found = await readAt(events.byId('tkt', ticketId), null, { type: 'FindTicket', ticketId });
    const issued = found?.issued ?? null;
    if (issued === null) return reply.fail('NOT_FOUND');
    return reply.send(toAdminTicketBody(issued, await personalData.open(issued), tickets));
  });
}
