/** Orders as their buyers see them: the status that a storefront polls, and a page for people. The order's id is the key. */
import { Type } from 'typebox';
import { findOrder } from '#domain/order-views.ts';
import { isRefusal, refuse } from '#domain/refusal.ts';
import type { TicketView } from '#domain/views.ts';
import type { HttpApp } from '../app.ts';
import { readForms } from '../forms.ts';
import { errorResponses } from '../openapi.ts';
import { codeOf, printOrderStatus } from '../order-bodies.ts';
import { sendPage } from '../pages/html.ts';
import { orderPage } from '../pages/order-page.ts';
import type { PublicPorts } from '../ports.ts';
import { ref } from '../schemas/fields.ts';
import { OrderStatus } from '../schemas/orders.ts';
import { unlessUnavailable } from './checkout.ts';

const OrderPath = Type.Object({ order_id: Type.String() });
const ORDER_NOT_FOUND = refuse('ORDER_NOT_FOUND', {});

export async function orderRoutes(
  app: HttpApp,
  ports: Pick<PublicPorts, 'directory' | 'tickets' | 'payments' | 'baseUrl'>,
): Promise<void> {
  const { directory, tickets, payments, baseUrl } = ports;

  app.get(
    '/api/checkout/status/:order_id',
    {
      schema: {
        operationId: 'getOrderStatus',
        tags: ['Checkout'],
        summary: 'Read the status of an order',
        params: OrderPath,
        response: { 200: ref(OrderStatus), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { order_id: orderId } = request.params;
      const office = await directory.byId('ord', orderId);
      const order = (await office?.lookDurably((state) => findOrder(state, orderId))) ?? ORDER_NOT_FOUND;
      if (isRefusal(order)) return reply.refuse(order);
      return reply.send(await printOrderStatus(order, tickets));
    },
  );

  app.get(
    '/orders/:order_id',
    { config: { page: true }, schema: { params: OrderPath, hide: true } },
    async (request, reply) => {
      const { order_id: orderId } = request.params;
      const office = await directory.byId('ord', orderId);
      const seen = await office?.lookDurably((state, now) => {
        const order = findOrder(state, orderId);
        return isRefusal(order) ? order : { order, definition: state.plan.definition, now };
      });
      if (seen === undefined || 'outcome' in seen) return reply.refuse(ORDER_NOT_FOUND);
      const { id: eventId } = seen.order.event;
      const content = {
        ...seen,
        baseUrl: baseUrl(),
        codeOf: (ticket: TicketView) => codeOf(ticket, eventId, tickets),
      };
      return sendPage(reply, await orderPage(content));
    },
  );

  await app.register(async (scope: HttpApp) => {
    readForms(scope);
    // The page's button: opens a session as POST …/payments does and leads there.
    scope.post(
      '/orders/:order_id/pay',
      { config: { page: true }, schema: { params: OrderPath, hide: true } },
      async (request, reply) => {
        const { order_id: orderId } = request.params;
        const office = await directory.byId('ord', orderId);
        const asked = (await office?.ask({ type: 'OpenPayment', orderId })) ?? ORDER_NOT_FOUND;
        if (office === null || isRefusal(asked)) return reply.refuse(isRefusal(asked) ? asked : ORDER_NOT_FOUND);
        const opened = await unlessUnavailable(payments.cashier.openSession(asked));
        if (opened === null) return reply.fail('PAYMENT_PROVIDER_UNAVAILABLE', { orderId });
        return reply.redirect(new URL(opened.payment.redirectUrl!).href, 303);
      },
    );
  });
}
