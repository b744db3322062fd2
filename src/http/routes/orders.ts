/** Orders for their buyers: the status that a storefront polls, and a page for people. The order's id is the credential. */
import { Type } from 'typebox';
import { executeAt, readAt } from '#actors/event-port.ts';
import type { OpenedOrder } from '#actors/personal-data.ts';
import { TICKETS_SHOWN_MAX } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { OrderView, TicketView } from '#domain/views.ts';
import { type HttpApp, readForms } from '../app.ts';
import { ORDER_NOT_FOUND } from '../errors.ts';
import { errorResponses } from '../openapi.ts';
import { sendSealed, type Envelope, type SealedText } from '../envelope.ts';
import { codeOf, toOrderStatusBody, toStatusBody } from '../order-bodies.ts';
import { textsFor } from '../language.ts';
import { calendarOf } from '../pages/calendar.ts';
import { sendPage } from '../pages/html.ts';
import { orderPage } from '../pages/order-page.ts';
import type { PublicPorts } from '../ports.ts';
import { ref } from '../schemas/fields.ts';
import { OrderStatus, TicketsQuery } from '../schemas/orders.ts';
import {
  createTicketPages,
  LARGE_TICKETS_MIN,
  ticketObjectsOf,
  ticketsKey,
  type TicketTexts,
} from '../ticket-pages.ts';
import { unlessUnavailable } from './checkout.ts';

const OrderPath = Type.Object({ order_id: Type.String() });

/** The status of an order, with tickets that are JSON text already. */
function sealedOrder(order: OrderView, opened: OpenedOrder, texts: TicketTexts, envelope: Envelope): SealedText {
  const status = JSON.stringify({ ...toStatusBody(order, opened), next_after: texts.nextAfter });
  const objects = ticketObjectsOf(texts, opened);
  const body = `${status.slice(0, -1)},"tickets":${texts.ids},"ticket_objects":${objects}}`;
  const text = envelope === 'none' ? body : `{"data":${body}}`;
  return { text, byteLength: Buffer.byteLength(text) };
}

const getOrderStatusSchema = {
  operationId: 'getOrderStatus',
  tags: ['Checkout'],
  summary: 'Read the status of an order',
  description: 'Lists at most 1,000 tickets; `ticket_count` has the number, and `after` asks for those behind one.',
  params: OrderPath,
  querystring: TicketsQuery,
  response: { 200: ref(OrderStatus), ...errorResponses },
};

export async function orderRoutes(
  app: HttpApp,
  ports: Pick<PublicPorts, 'events' | 'tickets' | 'personalData' | 'payments' | 'baseUrl' | 'settings'>,
): Promise<void> {
  const { events, tickets, personalData, payments, baseUrl } = ports;
  const { responseEnvelope } = ports.settings;
  const pages = createTicketPages(tickets);

  app.get('/api/checkout/status/:order_id', { schema: getOrderStatusSchema }, async (request, reply) => {
    const { order_id: orderId } = request.params;
    const { after = null } = request.query;
    const event = await events.byId('ord', orderId);
    const few = { after, limit: LARGE_TICKETS_MIN };
    const found = await readAt(event, ORDER_NOT_FOUND, { type: 'FindOrder', orderId, tickets: few });
    if (isRefusal(found)) return reply.refuse(found);
    const { order, definitionVersion } = found;
    if (order.ticketsNextAfter === null) return reply.send(await toOrderStatusBody(order, ports));
    const page = { after, limit: TICKETS_SHOWN_MAX };
    const texts = await pages.textsOf(ticketsKey(order, after, definitionVersion), order.event.id, () =>
      event!.read({ type: 'FindTickets', orderId, page }),
    );
    const opened = await personalData.open(order);
    return sendSealed(reply, sealedOrder(order, opened, texts, responseEnvelope));
  });

  app.get(
    '/orders/:order_id',
    { config: { page: true }, schema: { params: OrderPath, hide: true } },
    async (request, reply) => {
      const { order_id: orderId } = request.params;
      const query = { type: 'FindOrderedEvent', orderId } as const;
      const found = await readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, query);
      if (isRefusal(found)) return reply.refuse(ORDER_NOT_FOUND);
      const { id: eventId } = found.order.event;
      const content = {
        ...found,
        opened: await personalData.open(found.order),
        baseUrl: baseUrl(),
        texts: textsFor(request),
        codeOf: (ticket: TicketView) => codeOf(ticket, eventId, tickets),
      };
      return sendPage(reply, await orderPage(content));
    },
  );

  calendarRoute(app, events);

  await app.register(async (scope: HttpApp) => {
    readForms(scope);
    // The page's button: opens a session as POST …/payments does, and redirects to it.
    scope.post(
      '/orders/:order_id/pay',
      { config: { page: true }, schema: { params: OrderPath, hide: true } },
      async (request, reply) => {
        const { order_id: orderId } = request.params;
        const command = { type: 'OpenPayment', orderId } as const;
        const asked = await executeAt(events.byId('ord', orderId), ORDER_NOT_FOUND, command);
        if (isRefusal(asked)) return reply.refuse(asked);
        const opened = await unlessUnavailable(payments.checkoutSessions.openSession(asked));
        if (opened === null) return reply.fail('PAYMENT_PROVIDER_UNAVAILABLE', { orderId });
        return reply.redirect(new URL(opened.payment.redirectUrl!).href, 303);
      },
    );
  });
}

/** The dates of an order as a file for calendars. */
function calendarRoute(app: HttpApp, events: PublicPorts['events']): void {
  app.get(
    '/orders/:order_id/calendar.ics',
    { config: { page: true }, schema: { params: OrderPath, hide: true } },
    async (request, reply) => {
      const { order_id: orderId } = request.params;
      const found = await readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, { type: 'FindOrder', orderId });
      if (isRefusal(found)) return reply.refuse(ORDER_NOT_FOUND);
      reply.headers({
        'content-type': 'text/calendar; charset=utf-8',
        'content-disposition': 'attachment; filename="tickets.ics"',
        'cache-control': 'no-store',
      });
      return reply.send(calendarOf(found.order));
    },
  );
}
