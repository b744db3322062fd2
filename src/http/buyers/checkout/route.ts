/**
 * Checkout: places an order for a hold or for items, and opens the sessions of its payments.
 *
 * The order is durable before its provider is called. When the provider cannot be reached, the same request continues
 * with the same order.
 */
import { Type } from 'typebox';
import { isRefusal, refuse } from '#domain/refusal.ts';
import { unlessUnavailable } from '#payments/provider.ts';
import type { PublicPorts } from '../../ports.ts';
import type { HttpApp } from '../../protocol/app.ts';
import { EVENT_NOT_FOUND, fail, isRefused, ORDER_NOT_FOUND } from '../../protocol/errors.ts';
import { ref } from '../../protocol/fields.ts';
import { problemsOfReturn, type ListedProblem } from '../../protocol/formats.ts';
import { markReplayed } from '../../protocol/request-parts.ts';
import { addRoute } from '../../protocol/route.ts';
import { problemsOfSeats } from '../holds.ts';
import { readStart, toStartedBody } from './body.ts';
import { boundGuesses } from './guesses.ts';
import { Quote, QuoteCheckout, StartCheckout, type StartCheckoutBody, StartedCheckout } from './schema.ts';

const OrderPath = Type.Object({ order_id: Type.String() });

const startCheckoutSchema = {
  operationId: 'startCheckout',
  tags: ['Checkout'],
  summary: 'Place an order and get the address of its payment page',
  description:
    'Takes a hold over, or reserves the items here and now. Send an Idempotency-Key to repeat it safely; after 502 PAYMENT_PROVIDER_UNAVAILABLE the same request goes on with the same order. An address that names more than 20 codes that do not exist within a minute is answered 429 RATE_LIMITED for every start with a code, until the minute is over; so is one that meets the cap of e-mail addresses on an event more than 20 times, for every start there.',
  body: StartCheckout,
  response: { 201: ref(StartedCheckout) },
};

const quoteCheckoutSchema = {
  operationId: 'quoteCheckout',
  tags: ['Checkout'],
  summary: 'Read what the tickets of a hold cost with a promo code',
  description:
    'Changes nothing and spends no code; the checkout checks it again. Codes that do not exist count as those of starts do.',
  body: QuoteCheckout,
  response: { 200: ref(Quote) },
};

const openPaymentSchema = {
  operationId: 'openPayment',
  tags: ['Checkout'],
  summary: 'Open a session for a pending amendment or the next unpaid installment, or a new try after a decline',
  description: 'Send an Idempotency-Key to repeat it safely.',
  params: OrderPath,
  response: { 201: ref(StartedCheckout) },
};

type CheckoutPorts = Pick<PublicPorts, 'events' | 'payments' | 'baseUrl' | 'settings' | 'clock' | 'sharedLimits'>;

export function checkoutRoutes(app: HttpApp, ports: CheckoutPorts): void {
  const { events, baseUrl } = ports;
  const guesses = boundGuesses(ports);
  const { checkoutSessions, absent: absentProviders } = ports.payments;
  const absent = absentProviders.length === 0 ? {} : { absentProviders };

  addRoute(app, 'POST /api/checkout/start', startCheckoutSchema, {
    command: 'StartCheckout',
    isRepeatable: true,
    problems: ({ body }) => problemsOfStart(body),
    answer: async (request, { execute, idempotency }, reply) => {
      const event = await events.byEventId(request.body.event_id);
      if (event === null) return EVENT_NOT_FOUND;
      const limited = await guesses.checkCodes(request, event, reply);
      if (limited !== null) return limited;
      const command = { ...readStart(request.body, idempotency), ...absent };
      const started = await guesses.boundCap(request, reply, () =>
        checkoutSessions.inTime(event, (busy) => execute(event, EVENT_NOT_FOUND, { ...command, ...busy })),
      );
      if (isRefused(started)) return started;
      const { order, payment, resumed } = started;
      markReplayed(reply, started);
      if (payment === null || payment.checkoutSessionId !== null) return { order, payment };
      const opened = await unlessUnavailable(checkoutSessions.openSession({ order, payment }));
      if (opened === null) return fail('PAYMENT_PROVIDER_UNAVAILABLE', { orderId: order.id });
      const isShared = resumed && opened.isShared;
      // Another request has opened the session meanwhile. For this one the hold is used, unless both have one
      // idempotency key.
      if (isShared && idempotency === null) return refuse('HOLD_NOT_ACTIVE', { status: 'CONVERTED' });
      return { order: opened.order, payment: opened.payment, replayed: isShared };
    },
    status: 201,
    body: ({ order, payment }) => toStartedBody(order, payment, baseUrl()),
  });

  addRoute(app, 'POST /api/checkout/quote', quoteCheckoutSchema, {
    answer: async (request, _parts, reply) => {
      const {
        event_id: eventId,
        hold_id: holdId,
        session_key: sessionKey = null,
        promo_code: promoCode = null,
      } = request.body;
      const event = await events.byEventId(eventId);
      if (event === null) return EVENT_NOT_FOUND;
      const limited = await guesses.checkCodes(request, event, reply);
      return limited ?? event.read({ type: 'QuoteOrder', holdId, sessionKey, promoCode });
    },
    body: ({ ticketsCents, discountCents, currency }) => ({
      tickets_amount: ticketsCents,
      discount_amount: discountCents,
      currency,
    }),
  });

  paymentRoute(app, ports);
}

/** Opens a session for an order that was placed before. */
function paymentRoute(app: HttpApp, { events, payments, baseUrl }: CheckoutPorts): void {
  const { checkoutSessions } = payments;
  addRoute(app, 'POST /api/checkout/orders/:order_id/payments', openPaymentSchema, {
    command: 'OpenPayment',
    isRepeatable: true,
    answer: async ({ params: { order_id: orderId } }, { execute, idempotency }) => {
      const command = { type: 'OpenPayment', orderId, idempotency } as const;
      const found = events.byId('ord', orderId);
      const asked = await checkoutSessions.inTime(found, (busy) =>
        execute(found, ORDER_NOT_FOUND, { ...command, ...busy }),
      );
      if (isRefusal(asked) || asked.payment.checkoutSessionId !== null) return asked;
      const opened = await unlessUnavailable(checkoutSessions.openSession(asked));
      if (opened === null) return fail('PAYMENT_PROVIDER_UNAVAILABLE', { orderId });
      // Requests with the same key that came at once share the session that one of them had opened.
      const isShared = asked.resumed === true && opened.isShared;
      return { order: opened.order, payment: opened.payment, replayed: asked.replayed === true || isShared };
    },
    status: 201,
    body: ({ order, payment }) => toStartedBody(order, payment, baseUrl()),
  });
}

/**
 * Problems that the schema cannot find: items that are missing where there is no hold, and addresses that are not
 * valid.
 */
function problemsOfStart(body: StartCheckoutBody): readonly ListedProblem[] {
  const { hold_id: holdId, items } = body;
  const needsItems = (holdId ?? null) === null && (items ?? null) === null;
  const missing = needsItems ? [{ path: '/items', message: 'is required without hold_id' }] : [];
  return [...missing, ...problemsOfReturn(body), ...problemsOfSeats(items ?? [])];
}
