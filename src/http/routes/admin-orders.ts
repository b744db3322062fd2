/** Orders for operators: list, read, cancel, record a refund; and one ticket with its validity. Everything needs the bearer token. */
import { Type } from 'typebox';
import { executeAt, readAt } from '#actors/event-port.ts';
import { TICKETS_SHOWN_MAX } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { OrderView } from '#domain/views.ts';
import type { HttpApp } from '../app.ts';
import { toCursor, readCursor, idempotencyMark, markReplayed, operatorMark } from '../request-parts.ts';
import { EVENT_NOT_FOUND, ORDER_NOT_FOUND } from '../errors.ts';
import { bearer, errorResponses } from '../openapi.ts';
import { toAdminOrderBody, toAdminTicketBody } from '../order-bodies.ts';
import type { OperatorPorts } from '../ports.ts';
import { ref } from '../schemas/fields.ts';
import {
  AdminOrder,
  AdminOrderList,
  AdminTicket,
  OrderQuery,
  RecordRefund,
  TicketsQuery,
  type AdminOrderBody,
} from '../schemas/orders.ts';
import { NoteOnly, OperatorHeaders } from '../schemas/operators.ts';

const LIST_LIMIT = 100;
const IdPath = Type.Object({ id: Type.String() });
const described = { tags: ['Orders'], security: bearer, params: IdPath };

const listOrdersSchema = {
  ...described,
  operationId: 'listOrders',
  summary: 'List the orders of an event in the order of their placing',
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

const getTicketSchema = {
  ...described,
  operationId: 'getTicket',
  tags: ['Tickets'],
  summary: 'Read one ticket and whether it is valid',
  response: { 200: ref(AdminTicket), ...errorResponses },
};

export function adminOrderRoutes(
  app: HttpApp,
  ports: Pick<OperatorPorts, 'requireToken' | 'events' | 'tickets'>,
): void {
  const { events, tickets } = ports;
  const onRequest = ports.requireToken;

  app.get('/admin/events/:id/orders', { onRequest, schema: listOrdersSchema }, async (request, reply) => {
    const { status, email, limit, cursor } = request.query;
    const start = readCursor(cursor);
    if ('outcome' in start) return reply.refuse(start);
    const query = {
      type: 'ListOrders',
      status: (status as OrderView['status'] | undefined) ?? null,
      email: email ?? null,
      after: start.after,
      limit: Number(limit ?? LIST_LIMIT),
    } as const;
    const page = await readAt(events.byEventId(request.params.id), EVENT_NOT_FOUND, query);
    if (isRefusal(page)) return reply.refuse(page);
    const orders: AdminOrderBody[] = [];
    for (const order of page.orders) orders.push(await toAdminOrderBody(order, tickets));
    return reply.send({ orders, next_cursor: toCursor(page.nextAfter) });
  });

  app.get('/admin/orders/:id', { onRequest, schema: getOrderSchema }, async (request, reply) => {
    const { id: orderId } = request.params;
    const page = { after: request.query.after ?? null, limit: TICKETS_SHOWN_MAX };
    const query = { type: 'FindOrder', orderId, tickets: page } as const;
    const found = await readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, query);
    return isRefusal(found) ? reply.refuse(found) : reply.send(await toAdminOrderBody(found.order, tickets));
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
    return reply.send(await toAdminOrderBody(answer.order, tickets));
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
    return reply.send(await toAdminOrderBody(answer.order, tickets));
  });
}

export function adminTicketRoutes(
  app: HttpApp,
  { events, tickets, requireToken: onRequest }: Pick<OperatorPorts, 'requireToken' | 'events' | 'tickets'>,
): void {
  app.get('/admin/tickets/:id', { onRequest, schema: getTicketSchema }, async (request, reply) => {
    const { id: ticketId } = request.params;
    const found = await readAt(events.byId('tkt', ticketId), null, { type: 'FindTicket', ticketId });
    const issued = found?.issued ?? null;
    return issued === null ? reply.fail('NOT_FOUND') : reply.send(toAdminTicketBody(issued, tickets));
  });
}
