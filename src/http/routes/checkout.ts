/**
 * Checkout: places an order for a hold or for items, and opens the sessions of its payments.
 *
 * The order is durable before its provider is called. When the provider cannot be reached, the same request continues with the same
 * order.
 */
import { Type } from 'typebox';
import { executeAt } from '#actors/event-port.ts';
import { isRefusal, refuse } from '#domain/refusal.ts';
import { ProviderUnavailable } from '#payments/provider.ts';
import type { HttpApp } from '../app.ts';
import { problemsOfSeats } from '../bodies.ts';
import { boundCodeGuesses } from '../rate-limits.ts';
import { EVENT_NOT_FOUND, ORDER_NOT_FOUND } from '../errors.ts';
import { idempotencyMark, markReplayed } from '../request-parts.ts';
import { errorResponses } from '../openapi.ts';
import { toStartedBody, readStart } from '../order-bodies.ts';
import type { PublicPorts } from '../ports.ts';
import { Quote, QuoteCheckout, StartCheckout, StartedCheckout, type StartCheckoutBody } from '../schemas/checkout.ts';
import { ref } from '../schemas/fields.ts';

const ROUTE = 'POST /api/checkout/start';
const OrderPath = Type.Object({ order_id: Type.String() });

const startCheckoutSchema = {
  operationId: 'startCheckout',
  tags: ['Checkout'],
  summary: 'Place an order and get the address of its payment page',
  description:
    'Takes a hold over, or reserves the items here and now. Send an Idempotency-Key to repeat it safely; after 502 PAYMENT_PROVIDER_UNAVAILABLE the same request goes on with the same order. An address that names more than 20 codes that do not exist within a minute is answered 429 RATE_LIMITED for every start with a code, until the minute is over.',
  body: StartCheckout,
  response: { 201: ref(StartedCheckout), ...errorResponses },
};

const quoteCheckoutSchema = {
  operationId: 'quoteCheckout',
  tags: ['Checkout'],
  summary: 'Read what the tickets of a hold cost with a promo code',
  description:
    'Changes nothing and spends no code; the checkout checks it again. Codes that do not exist count as those of starts do.',
  body: QuoteCheckout,
  response: { 200: ref(Quote), ...errorResponses },
};

const openPaymentSchema = {
  operationId: 'openPayment',
  tags: ['Checkout'],
  summary: 'Open a session for the next unpaid installment, or a new try after a decline',
  description: 'Send an Idempotency-Key to repeat it safely.',
  params: OrderPath,
  response: { 201: ref(StartedCheckout), ...errorResponses },
};

export function checkoutRoutes(
  app: HttpApp,
  ports: Pick<PublicPorts, 'events' | 'payments' | 'baseUrl' | 'metrics' | 'settings' | 'clock'>,
): void {
  const { events, baseUrl, metrics } = ports;
  const codeGuesses = boundCodeGuesses(ports.settings, ports.clock);
  const { checkoutSessions, absent: absentProviders } = ports.payments;
  const absent = absentProviders.length === 0 ? {} : { absentProviders };
  metrics.watchInUse('provider_calls', () => checkoutSessions.calls.underWay);
  metrics.watchInUse('provider_calls_waiting', () => checkoutSessions.calls.waiting);

  app.post('/api/checkout/start', { schema: startCheckoutSchema }, async (request, reply) => {
    const problems = problemsOfStart(request.body);
    if (problems.length > 0) return reply.invalid(problems);
    const idempotency = idempotencyMark(ROUTE, request);
    if (idempotency !== null && 'outcome' in idempotency) return reply.refuse(idempotency);
    const event = await events.byEventId(request.body.event_id);
    if (event === null) return reply.refuse(EVENT_NOT_FOUND);
    const waitSeconds = await codeGuesses.check(request, event);
    if (waitSeconds !== null) return reply.header('retry-after', waitSeconds).fail('RATE_LIMITED');
    const started = await event.execute({ ...readStart(request.body, idempotency), ...absent });
    if (isRefusal(started)) return reply.refuse(started);
    const { order, payment, resumed } = started;
    markReplayed(reply, started);
    if (payment === null || payment.checkoutSessionId !== null) {
      return reply.code(201).send(toStartedBody(order, payment, baseUrl()));
    }
    const opened = await unlessUnavailable(checkoutSessions.openSession({ order, payment }));
    if (opened === null) return reply.fail('PAYMENT_PROVIDER_UNAVAILABLE', { orderId: order.id });
    if (resumed && opened.isShared) {
      // Another request has opened the session meanwhile. For this one the hold is used, unless both have one idempotency key.
      if (idempotency === null) return reply.refuse(refuse('HOLD_NOT_ACTIVE', { status: 'CONVERTED' }));
      reply.header('idempotent-replayed', 'true');
    }
    return reply.code(201).send(toStartedBody(opened.order, opened.payment, baseUrl()));
  });

  app.post('/api/checkout/quote', { schema: quoteCheckoutSchema }, async (request, reply) => {
    const { event_id: eventId, hold_id: holdId, session_key: sessionKey, promo_code: promoCode } = request.body;
    const event = await events.byEventId(eventId);
    if (event === null) return reply.refuse(EVENT_NOT_FOUND);
    const waitSeconds = await codeGuesses.check(request, event);
    if (waitSeconds !== null) return reply.header('retry-after', waitSeconds).fail('RATE_LIMITED');
    const query = { type: 'QuoteOrder', holdId, sessionKey: sessionKey ?? null, promoCode: promoCode ?? null } as const;
    const quote = await event.read(query);
    if (isRefusal(quote)) return reply.refuse(quote);
    const { ticketsCents, discountCents, currency } = quote;
    return reply.send({ tickets_amount: ticketsCents, discount_amount: discountCents, currency });
  });

  app.post('/api/checkout/orders/:order_id/payments', { schema: openPaymentSchema }, async (request, reply) => {
    const { order_id: orderId } = request.params;
    const idempotency = idempotencyMark('POST /api/checkout/orders/payments', request, { subject: [orderId] });
    if (idempotency !== null && 'outcome' in idempotency) return reply.refuse(idempotency);
    const command = { type: 'OpenPayment', orderId, idempotency } as const;
    const asked = await executeAt(events.byId('ord', orderId), ORDER_NOT_FOUND, command);
    if (isRefusal(asked)) return reply.refuse(asked);
    const opened = await unlessUnavailable(checkoutSessions.openSession(asked));
    if (opened === null) return reply.fail('PAYMENT_PROVIDER_UNAVAILABLE', { orderId });
    // Requests with the same key that came at once share the session that one of them had opened.
    const isShared = asked.resumed === true && opened.isShared;
    markReplayed(reply, { replayed: asked.replayed === true || isShared });
    return reply.code(201).send(toStartedBody(opened.order, opened.payment, baseUrl()));
  });
}

/** What was opened, or null when the provider cannot be reached. */
export async function unlessUnavailable<Opened>(opening: Promise<Opened>): Promise<Opened | null> {
  try {
    return await opening;
  } catch (error) {
    if (error instanceof ProviderUnavailable) return null;
    throw error;
  }
}

/** What the shape of a body cannot show: items where there is no hold, and addresses that are none. */
function problemsOfStart(body: StartCheckoutBody): readonly { readonly path: string; readonly message: string }[] {
  const { hold_id: holdId, items } = body;
  const needsItems = (holdId ?? null) === null && (items ?? null) === null;
  const missing = needsItems ? [{ path: '/items', message: 'is required without hold_id' }] : [];
  const addresses = (['success_url', 'cancel_url'] as const)
    .filter((name) => !isAddress(body[name] ?? null))
    .map((name) => ({ path: `/${name}`, message: 'must be an http or https address' }));
  return [...missing, ...addresses, ...problemsOfSeats(items ?? [])];
}

function isAddress(url: string | null): boolean {
  return url === null || URL.canParse(url.replaceAll('{ORDER_ID}', 'order'));
}
