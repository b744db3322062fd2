/**
 * Orders for their buyers: the status that a storefront polls, and a page for people. The order's id is the credential.
 */
import { Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import { brandOf } from '#brand/brand.ts';
import { TICKETS_SHOWN_MAX } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { OrderView, TicketView } from '#domain/view.ts';
import { unlessUnavailable } from '#payments/provider.ts';
import type { OpenedOrder } from '#privacy/personal-data.ts';
import { calendarOf } from '../../pages/calendar.ts';
import { sendPage } from '../../pages/html.ts';
import { orderPage } from '../../pages/order.ts';
import { placeOf } from '../../pages/place.ts';
import type { PublicPorts } from '../../ports.ts';
import { type HttpApp, readForms } from '../../protocol/app.ts';
import { type Envelope, type SealedText, sendSealed } from '../../protocol/envelope.ts';
import { fail, ORDER_NOT_FOUND } from '../../protocol/errors.ts';
import { ref } from '../../protocol/fields.ts';
import { textsFor } from '../../protocol/negotiation.ts';
import { addRoute } from '../../protocol/route.ts';
import { changeRoutes } from './changes.ts';
import { codeOf, toOrderStatusBody, toStatusBody } from './body.ts';
import { OrderStatus, TicketsQuery } from './schema.ts';
import { createTicketPages, LARGE_TICKETS_MIN, ticketObjectsOf, ticketsKey, type TicketTexts } from './ticket-pages.ts';

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
  response: { 200: ref(OrderStatus) },
};

type OrdersPorts = Pick<PublicPorts, 'events' | 'tickets' | 'personalData' | 'payments' | 'baseUrl' | 'settings'>;

export async function orderRoutes(app: HttpApp, ports: OrdersPorts): Promise<void> {
  const { events, tickets, personalData } = ports;
  const { responseEnvelope } = ports.settings;
  const pages = createTicketPages(tickets);

  addRoute(app, 'GET /api/checkout/status/:order_id', getOrderStatusSchema, {
    answer: async ({ params: { order_id: orderId }, query: { after = null } }) => {
      const event = await events.byId('ord', orderId);
      const few = { after, limit: LARGE_TICKETS_MIN };
      const shown = { after, limit: TICKETS_SHOWN_MAX };
      for (;;) {
        const found = await readAt(event, ORDER_NOT_FOUND, { type: 'FindOrder', orderId, tickets: few });
        if (isRefusal(found)) return found;
        const { order } = found;
        if (order.ticketsNextAfter === null) return { small: await toOrderStatusBody(order, ports) };
        const key = ticketsKey(found, after);
        const texts = await pages.textsOf(key, order.event.id, async () => {
          const whole = await event!.read({ type: 'FindOrder', orderId, tickets: shown });
          return isRefusal(whole) || ticketsKey(whole, after) !== key ? null : whole.order;
        });
        // Null: the order was amended between the two reads.
        if (texts !== null)
          return { large: sealedOrder(order, await personalData.open(order), texts, responseEnvelope) };
      }
    },
    send: (status, reply) => ('small' in status ? reply.send(status.small) : sendSealed(reply, status.large)),
  });

  await pageRoutes(app, ports);
  await changeRoutes(app, ports);
}

/** The page of an order, its file for calendars, and the button that goes on to a payment. */
async function pageRoutes(app: HttpApp, ports: OrdersPorts): Promise<void> {
  const { events, tickets, personalData, baseUrl, settings } = ports;

  addRoute(app, 'GET /orders/:order_id', ORDER_PAGE, {
    config: { page: true },
    answer: async ({ params: { order_id: orderId } }) => {
      const query = { type: 'FindOrder', orderId, withDefinition: true } as const;
      const found = await readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, query);
      return isRefusal(found) ? ORDER_NOT_FOUND : { ...found, opened: await personalData.open(found.order) };
    },
    send: async (found, reply, request) => {
      const { id: eventId } = found.order.event;
      const content = {
        ...found,
        definition: found.definition!,
        brand: brandOf(settings.brand, found.definition),
        baseUrl: baseUrl(),
        done: request.query.done ?? null,
        mail: ports.settings.mail == null ? 'OFF' : request.query.mailed === undefined ? 'OFFERED' : 'REQUESTED',
        texts: textsFor(request),
        codeOf: (ticket: TicketView) => codeOf(ticket, eventId, tickets),
      } as const;
      return sendPage(reply, await orderPage(content));
    },
  });

  addRoute(app, 'GET /orders/:order_id/calendar.ics', PAGE, {
    config: { page: true },
    answer: async ({ params: { order_id: orderId } }) => {
      const query = { type: 'FindOrder', orderId, withDefinition: true } as const;
      const found = await readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, query);
      return isRefusal(found) ? ORDER_NOT_FOUND : found;
    },
    send: ({ order, definition }, reply, request) => {
      const place = placeOf(definition!, textsFor(request));
      const brand = brandOf(settings.brand, definition);
      return reply.headers(CALENDAR).send(calendarOf(order, { place, brand, baseUrl: baseUrl() }));
    },
  });

  await app.register(async (scope: HttpApp) => buttonRoutes(scope, ports));
}

/** The page's buttons, which are forms. */
function buttonRoutes(scope: HttpApp, { events, settings, payments: { checkoutSessions } }: OrdersPorts): void {
  readForms(scope);
  // The page's button: opens a session as POST …/payments does, and redirects to it.
  addRoute(scope, 'POST /orders/:order_id/pay', PAGE, {
    config: { page: true },
    command: 'OpenPayment',
    answer: async ({ params: { order_id: orderId } }, { execute }) => {
      const command = { type: 'OpenPayment', orderId } as const;
      const found = events.byId('ord', orderId);
      const asked = await checkoutSessions.inTime(found, (busy) =>
        execute(found, ORDER_NOT_FOUND, { ...command, ...busy }),
      );
      if (isRefusal(asked)) return asked;
      const opened = await unlessUnavailable(checkoutSessions.openSession(asked));
      return opened ?? fail('PAYMENT_PROVIDER_UNAVAILABLE', { orderId });
    },
    send: ({ payment }, reply) => reply.redirect(new URL(payment.redirectUrl!).href, 303),
  });

  addRoute(scope, 'POST /orders/:order_id/mail', PAGE, {
    config: { page: true },
    command: 'RequestMail',
    answer: async (request, { execute }) => {
      const { order_id: orderId } = request.params;
      if (settings.mail == null) return fail('MAIL_OFF');
      const { language } = textsFor(request).frame;
      const command = { type: 'RequestMail', orderId, by: 'BUYER', operator: null, language } as const;
      return execute(events.byId('ord', orderId), ORDER_NOT_FOUND, command);
    },
    send: ({ order }, reply) => reply.redirect(`/orders/${order.id}?mailed`, 303),
  });
}

const PAGE = { params: OrderPath, hide: true };
const ORDER_PAGE = {
  ...PAGE,
  querystring: Type.Object({ done: Type.Optional(Type.String()), mailed: Type.Optional(Type.String()) }),
};

/** The dates of an order as a file for calendars. */
const CALENDAR = {
  'content-type': 'text/calendar; charset=utf-8',
  'content-disposition': 'attachment; filename="tickets.ics"',
  'cache-control': 'no-store',
};
