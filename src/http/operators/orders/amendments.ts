/** Amendments of paid orders by operators: quoted, made, and read again. */
import { Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import {
  Amendment,
  amendmentRequestFields,
  AmendmentQuoteBody,
  amendOrder,
  operatorsRequestFields,
  problemsOf,
  quoteText,
  readReturn,
  returnFields,
  toAmendmentBody,
  toAmendmentRequest,
  toQuoteBody,
  withQuoteBody,
} from '../../buyers/orders/amendments.ts';
import type { AdminPorts } from '../../ports.ts';
import type { HttpApp } from '../../protocol/app.ts';
import { ORDER_NOT_FOUND } from '../../protocol/errors.ts';
import { bearer, Note, Nullable, OperatorHeaders, ref } from '../../protocol/fields.ts';
import { problemsOfReturn } from '../../protocol/formats.ts';
import { addRoute } from '../../protocol/route.ts';

const described = { tags: ['Orders'], security: bearer, params: Type.Object({ id: Type.String() }) };
const requestFields = { ...amendmentRequestFields, ...operatorsRequestFields };

const quoteAmendmentSchema = {
  ...described,
  operationId: 'quoteAmendment',
  summary: 'Ask what an amendment of a paid order would do',
  description: 'Changes, reserves and records nothing. The quote lasts ten minutes.',
  body: Type.Object(requestFields),
  response: { 200: ref(AmendmentQuoteBody) },
};

const amendOrderSchema = {
  ...described,
  operationId: 'amendOrder',
  summary: 'Amend a paid order: cancel, move, change, reissue or rename its tickets',
  description:
    'All of it or nothing, in one turn: the tickets are void and on the list of revoked ones, their places return to sale, new ones are sold and issued, and what becomes due back is due. An event with `refunds` AUTOMATIC asks its provider for that at once. A change of date or seat alone keeps the price; another type or stage costs what that asks now. Where the order costs more by it, and that is no `goodwill`, it is PENDING until its buyer has paid at `redirect_url` within the payment window: the order and its tickets stay as they are, and what is wanted beyond them is held. Where no ticket is left the order is CANCELLED, and keeps its fees.',
  headers: OperatorHeaders,
  body: Type.Object({ ...requestFields, quote: Type.Optional(Nullable(quoteText)), note: Note, ...returnFields }),
  response: { 201: ref(Amendment) },
};

const getAmendmentSchema = {
  ...described,
  operationId: 'getAmendment',
  summary: 'Read an amendment of an order',
  description: 'The order itself lists the newest 20.',
  params: Type.Object({ id: Type.String(), amendment_id: Type.String() }),
  response: { 200: ref(Amendment) },
};

const cancelAmendmentSchema = {
  ...getAmendmentSchema,
  operationId: 'cancelAmendment',
  summary: 'Withdraw an amendment that is yet to be paid',
  description: 'What it held returns to sale. One that is CANCELLED already stays so.',
  headers: OperatorHeaders,
};

type AmendmentPorts = Pick<AdminPorts, 'events' | 'checkoutSessions' | 'absentProviders'>;

export function amendmentRoutes(app: HttpApp, ports: AmendmentPorts): void {
  const { events } = ports;
  addRoute(app, 'POST /admin/orders/:id/amendments/quote', quoteAmendmentSchema, {
    problems: ({ body }) => problemsOf(body),
    answer: ({ params: { id: orderId }, body }) => {
      const query = { type: 'QuoteAmendment', orderId, by: 'OPERATOR', request: toAmendmentRequest(body) } as const;
      return readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, query);
    },
    body: toQuoteBody,
  });

  addRoute(app, 'POST /admin/orders/:id/amendments', amendOrderSchema, {
    command: 'AmendOrder',
    isRepeatable: true,
    problems: ({ body }) => [...problemsOf(body), ...problemsOfReturn(body)],
    answer: async ({ params: { id: orderId }, body }, { execute, idempotency, by }) => {
      const asked = { request: toAmendmentRequest(body), quote: body.quote ?? null, idempotency, ...readReturn(body) };
      return withQuoteBody(
        await amendOrder(ports, execute, { type: 'AmendOrder', orderId, by: 'OPERATOR', ...asked, ...by }),
      );
    },
    status: 201,
    body: ({ amendment }) => toAmendmentBody(amendment),
  });

  addRoute(app, 'GET /admin/orders/:id/amendments/:amendment_id', getAmendmentSchema, {
    answer: ({ params: { id: orderId, amendment_id: amendmentId } }) =>
      readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, { type: 'FindAmendment', orderId, amendmentId }),
    body: toAmendmentBody,
  });

  addRoute(app, 'DELETE /admin/orders/:id/amendments/:amendment_id', cancelAmendmentSchema, {
    command: 'CancelAmendment',
    answer: ({ params: { id: orderId, amendment_id: amendmentId } }, { execute, by: { operator } }) => {
      const command = { type: 'CancelAmendment', orderId, amendmentId, by: 'OPERATOR', operator } as const;
      return execute(events.byId('ord', orderId), ORDER_NOT_FOUND, command);
    },
    body: ({ amendment }) => toAmendmentBody(amendment),
  });
}
