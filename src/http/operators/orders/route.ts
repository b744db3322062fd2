/** Orders for operators: list, read, cancel, record a refund, erase. Everything needs the bearer token. */
import { Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import { TICKETS_SHOWN_MAX } from '#domain/orders/view.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { OrderView } from '#domain/view.ts';
import { withoutErased } from '#privacy/subject-search.ts';
import { TicketsQuery } from '../../buyers/orders/schema.ts';
import type { AdminPorts } from '../../ports.ts';
import type { HttpApp } from '../../protocol/app.ts';
import { EVENT_NOT_FOUND, fail, ORDER_NOT_FOUND } from '../../protocol/errors.ts';
import { NoteOnly, OperatorHeaders, ref, bearer } from '../../protocol/fields.ts';
import { toCursor } from '../../protocol/request-parts.ts';
import { addRoute } from '../../protocol/route.ts';
import { toAdminOrderBodies, toAdminOrderBody, toOpenedAdminBodies } from './body.ts';
import { AdminOrder, AdminOrderList, OrderQuery, RecordRefund, ResolveRefund } from './schema.ts';

const LIST_LIMIT = 100;
const IdPath = Type.Object({ id: Type.String() });
const described = { tags: ['Orders'], security: bearer, params: IdPath };

const listOrdersSchema = {
  ...described,
  operationId: 'listOrders',
  summary: 'List the orders of an event in the order of their placing, or the newest first',
  description: 'Personal data of orders that were erased is null.',
  querystring: OrderQuery,
  response: { 200: AdminOrderList },
};

const getOrderSchema = {
  ...described,
  operationId: 'getOrder',
  summary: 'Read an order with everything on it',
  description: 'Lists at most 1,000 tickets; `ticket_count` has the number, and `after` asks for those behind one.',
  querystring: TicketsQuery,
  response: { 200: ref(AdminOrder) },
};

const cancelOrderSchema = {
  ...described,
  operationId: 'cancelOrder',
  summary: 'Cancel an order: its tickets are void and return to sale, what was paid is due back',
  description: 'For good: money that comes later is due back as well.',
  headers: OperatorHeaders,
  body: NoteOnly,
  response: { 200: ref(AdminOrder) },
};

const recordRefundSchema = {
  ...described,
  operationId: 'recordRefund',
  summary: 'Record money that was given back, or have the provider give it back',
  description:
    'Without `execute` money is recorded: a reference counts once for an order, and recorded again it changes nothing. With it the provider is asked, until it answers: each refund of the answer is PENDING, and its status says later what became of it. Recorded, pending and executed refunds together never exceed what was paid: REFUND_TOO_HIGH, also where nothing is due.',
  headers: OperatorHeaders,
  body: RecordRefund,
  response: { 200: ref(AdminOrder) },
};

const resolveRefundSchema = {
  ...described,
  operationId: 'resolveRefund',
  summary: 'Decide about a refund that needs an operator',
  description: 'After a look at the page of the provider: its `failure` says what the provider answered.',
  params: Type.Object({ id: Type.String(), refund_id: Type.String() }),
  headers: OperatorHeaders,
  body: ResolveRefund,
  response: { 200: ref(AdminOrder) },
};

const eraseOrderSchema = {
  ...described,
  operationId: 'eraseOrder',
  summary: 'Erase the personal data of an order for good',
  description:
    'Destroys the keys of what the order says about people: name and address of the buyer, people on tickets, tracking and notes. From the answer on nobody can read it, backups of the journal included; only a copy of `keys.db` from before could still open it. Tickets, seats and money stay. Again it changes nothing. Not while its payment is awaited: ORDER_NOT_ERASABLE.',
  headers: OperatorHeaders,
  response: { 200: ref(AdminOrder) },
};

const mailOrderSchema = {
  ...described,
  operationId: 'mailOrder',
  summary: "Mail the address of an order's page to its buyer again",
  description:
    'To the address that the order was placed with, and to no other. The answer does not wait for the mail: it is sent at least once, also after a restart. Not once the order was erased: ORDER_ERASED.',
  headers: OperatorHeaders,
  response: { 200: ref(AdminOrder) },
};

type OrdersPorts = Pick<AdminPorts, 'events' | 'tickets' | 'personalData' | 'settings'>;

export function adminOrderRoutes(app: HttpApp, ports: OrdersPorts): void {
  const { events, personalData } = ports;

  addRoute(app, 'GET /admin/events/:id/orders', listOrdersSchema, {
    answer: async ({ params: { id }, query: { status, email, order, limit } }, { after }) => {
      const page = await readAt(events.byEventId(id), EVENT_NOT_FOUND, {
        type: 'ListOrders',
        status: (status as OrderView['status'] | undefined) ?? null,
        email: email ?? null,
        after,
        newestFirst: order === 'newest',
        limit: Number(limit ?? LIST_LIMIT),
      });
      if (isRefusal(page) || email === undefined) return page;
      // An erased order is not found by its address, even where no fact records the erasure.
      return { opened: await withoutErased(page.orders, personalData), nextAfter: page.nextAfter };
    },
    body: async (page) => ({
      orders:
        'opened' in page
          ? await toOpenedAdminBodies(page.opened, ports.tickets)
          : await toAdminOrderBodies(page.orders, ports),
      next_cursor: toCursor(page.nextAfter),
    }),
  });

  addRoute(app, 'GET /admin/orders/:id', getOrderSchema, {
    answer: ({ params: { id: orderId }, query: { after = null } }) => {
      const query = { type: 'FindOrder', orderId, tickets: { after, limit: TICKETS_SHOWN_MAX } } as const;
      return readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, query);
    },
    body: ({ order }) => toAdminOrderBody(order, ports),
  });

  changeRoutes(app, ports);
}

/** What operators do to an order. */
function changeRoutes(app: HttpApp, ports: OrdersPorts): void {
  const { events } = ports;

  addRoute(app, 'POST /admin/orders/:id/cancel', cancelOrderSchema, {
    command: 'CancelOrder',
    isRepeatable: true,
    answer: ({ params: { id: orderId } }, { execute, idempotency, by }) =>
      execute(events.byId('ord', orderId), ORDER_NOT_FOUND, { type: 'CancelOrder', orderId, idempotency, ...by }),
    body: ({ order }) => toAdminOrderBody(order, ports),
  });

  addRoute(app, 'POST /admin/orders/:id/refunds', recordRefundSchema, {
    command: ['RecordRefund', 'ExecuteRefund'],
    isRepeatable: true,
    problems: ({ body: { execute, amount } }) =>
      execute === true || amount !== undefined ? [] : [{ path: '/amount', message: 'is missing' }],
    answer: ({ params: { id: orderId }, body }, { execute, idempotency, by }) => {
      const { amount: amountCents, currency = null, reference = null, payment_id: paymentId = null } = body;
      if (body.execute === true) {
        const asked = { orderId, amountCents: amountCents ?? null, paymentId, idempotency, ...by };
        return execute(events.byId('ord', orderId), ORDER_NOT_FOUND, { type: 'ExecuteRefund', ...asked });
      }
      const refund = { orderId, amountCents: amountCents!, currency, reference, provider: null, idempotency, ...by };
      return execute(events.byId('ord', orderId), ORDER_NOT_FOUND, { type: 'RecordRefund', ...refund });
    },
    body: ({ order }) => toAdminOrderBody(order, ports),
  });

  addRoute(app, 'POST /admin/orders/:id/refunds/:refund_id/resolve', resolveRefundSchema, {
    command: 'ResolveRefund',
    isRepeatable: true,
    answer: ({ params: { id: orderId, refund_id: refundId }, body }, { execute, idempotency, by }) => {
      const outcome = body.outcome as 'RETRY' | 'GIVEN_BACK' | 'NOT_GIVEN_BACK';
      const resolved = { orderId, refundId, outcome, reference: body.reference ?? null, idempotency, ...by };
      return execute(events.byId('ord', orderId), ORDER_NOT_FOUND, { type: 'ResolveRefund', ...resolved });
    },
    body: ({ order }) => toAdminOrderBody(order, ports),
  });

  addRoute(app, 'POST /admin/orders/:id/mail', mailOrderSchema, {
    command: 'RequestMail',
    isRepeatable: true,
    answer: async ({ params: { id: orderId } }, { execute, idempotency, by: { operator } }) => {
      if (ports.settings.mail == null) return fail('MAIL_OFF');
      const command = { type: 'RequestMail', orderId, by: 'OPERATOR', operator, language: null, idempotency } as const;
      return execute(events.byId('ord', orderId), ORDER_NOT_FOUND, command);
    },
    body: ({ order }) => toAdminOrderBody(order, ports),
  });

  // Erasing is for good, and it is answered only when nobody can read the order's personal data any more.
  addRoute(app, 'POST /admin/orders/:id/erase', eraseOrderSchema, {
    command: 'EraseOrder',
    isRepeatable: true,
    // An erasure is recorded without a note, only with who had it done.
    answer: ({ params: { id: orderId } }, { execute, idempotency, by: { operator } }) => {
      const command = { type: 'EraseOrder', orderId, idempotency, operator, note: null } as const;
      return execute(events.byId('ord', orderId), ORDER_NOT_FOUND, command);
    },
    body: ({ order }) => toAdminOrderBody(order, ports),
  });
}
