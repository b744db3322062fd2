/**
 * What buyers change of their paid orders by themselves, where the event offers it. The order's id is the credential.
 */
import { Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import type { PublicPorts } from '../../ports.ts';
import type { HttpApp } from '../../protocol/app.ts';
import { ORDER_NOT_FOUND } from '../../protocol/errors.ts';
import { ref } from '../../protocol/fields.ts';
import { problemsOfReturn } from '../../protocol/formats.ts';
import { addRoute } from '../../protocol/route.ts';
import {
  Amendment,
  amendmentRequestFields,
  AmendmentQuoteBody,
  amendOrder,
  ownRequest,
  problemsOf,
  quoteText,
  readReturn,
  returnFields,
  toAmendmentBody,
  toQuoteBody,
  withQuoteBody,
} from './amendments.ts';

const described = { tags: ['Checkout'], params: Type.Object({ order_id: Type.String() }) };

const quoteSchema = {
  ...described,
  operationId: 'quoteOwnAmendment',
  summary: 'Ask what a change of a paid order would do',
  description:
    'Where the event offers it (`buyer_changes`). Changes, reserves and records nothing. The quote lasts ten minutes, less where what it says ends sooner.',
  body: Type.Object(amendmentRequestFields),
  response: { 200: ref(AmendmentQuoteBody) },
};

const amendSchema = {
  ...described,
  operationId: 'amendOwnOrder',
  summary: 'Change a paid order: cancel, move, change, reissue or rename its tickets',
  description:
    'What was quoted happens at once, or nothing. Where it costs something it is PENDING until it is paid at `redirect_url` within the payment window: the order and its tickets stay as they are, what is wanted beyond them is held, and POST /api/checkout/orders/{order_id}/payments opens another session. What it makes due is given back by the organizer, or at once where the event does so by itself. Where no ticket is left the order is CANCELLED. After 502 PAYMENT_PROVIDER_UNAVAILABLE with detail.amendment_id the same request under the same Idempotency-Key goes on with that amendment, and so does POST /api/checkout/orders/{order_id}/payments.',
  body: Type.Object({ ...amendmentRequestFields, quote: quoteText, ...returnFields }),
  response: { 201: ref(Amendment) },
};

const getSchema = {
  ...described,
  operationId: 'getOwnAmendment',
  summary: 'Read a change of an order',
  description: 'The status of the order lists the newest 20.',
  params: Type.Object({ order_id: Type.String(), amendment_id: Type.String() }),
  response: { 200: ref(Amendment) },
};

const cancelSchema = {
  ...getSchema,
  operationId: 'cancelOwnAmendment',
  summary: 'Withdraw a change that is yet to be paid',
  description: 'What it held returns to sale. One that is CANCELLED already stays so.',
};

export function ownAmendmentRoutes(app: HttpApp, { events, payments }: Pick<PublicPorts, 'events' | 'payments'>): void {
  const { checkoutSessions, absent: absentProviders } = payments;
  addRoute(app, 'POST /api/checkout/orders/:order_id/amendments/quote', quoteSchema, {
    costs: 'ChangeHold',
    problems: ({ body }) => problemsOf(body),
    answer: ({ params: { order_id: orderId }, body }) => {
      const query = { type: 'QuoteAmendment', orderId, by: 'BUYER', request: ownRequest(body) } as const;
      return readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, query);
    },
    body: toQuoteBody,
  });

  addRoute(app, 'POST /api/checkout/orders/:order_id/amendments', amendSchema, {
    command: 'AmendOrder',
    isRepeatable: true,
    problems: ({ body }) => [...problemsOf(body), ...problemsOfReturn(body)],
    answer: async ({ params: { order_id: orderId }, body }, { execute, idempotency }) => {
      const asked = { request: ownRequest(body), quote: body.quote, idempotency, ...readReturn(body) };
      const command = { type: 'AmendOrder', orderId, by: 'BUYER', ...asked, operator: null, note: null } as const;
      return withQuoteBody(await amendOrder({ events, checkoutSessions, absentProviders }, execute, command));
    },
    status: 201,
    body: ({ amendment }) => toAmendmentBody(amendment),
  });

  addRoute(app, 'GET /api/checkout/orders/:order_id/amendments/:amendment_id', getSchema, {
    answer: ({ params: { order_id: orderId, amendment_id: amendmentId } }) =>
      readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, { type: 'FindAmendment', orderId, amendmentId }),
    body: toAmendmentBody,
  });

  addRoute(app, 'DELETE /api/checkout/orders/:order_id/amendments/:amendment_id', cancelSchema, {
    command: 'CancelAmendment',
    answer: ({ params: { order_id: orderId, amendment_id: amendmentId } }, { execute }) => {
      const command = { type: 'CancelAmendment', orderId, amendmentId, by: 'BUYER', operator: null } as const;
      return execute(events.byId('ord', orderId), ORDER_NOT_FOUND, command);
    },
    body: ({ amendment }) => toAmendmentBody(amendment),
  });
}
