/**
 * The sandbox: its payment page, the same for programs, simulated outages, and a clock that can be moved forward.
 *
 * For those who build storefronts; the settings turn it off where tickets are sold for money.
 */
import { Type } from 'typebox';
import { LATEST_MOMENT } from '#actors/clock.ts';
import { isRefusal } from '#domain/refusal.ts';
import { returnUrl } from '#payments/checkout-sessions.ts';
import type { SandboxCheckout } from '#payments/sandbox-checkout.ts';
import { type HttpApp, readForms } from '../app.ts';
import { errorResponses } from '../openapi.ts';
import { toOrderStatusBody } from '../order-bodies.ts';
import { textsFor } from '../language.ts';
import { sendPage } from '../pages/html.ts';
import { sandboxPage } from '../pages/sandbox-page.ts';
import type { PublicPorts } from '../ports.ts';
import { formatTime } from '../formats.ts';
import { ref } from '../schemas/fields.ts';
import { AdvanceClock, ClockReading } from '../schemas/operators.ts';
import { OrderStatus } from '../schemas/orders.ts';
import { Outage, OutageAnswer, SettleSession } from '../schemas/payments.ts';
import { unlessUnavailable } from './checkout.ts';
import type { OrderView } from '#domain/views.ts';

const SessionPath = Type.Object({ checkout_session_id: Type.String() });
const ChosenOutcome = Type.Object({ outcome: SettleSession.properties.outcome });
type Outcome = 'paid' | 'declined' | 'cancelled';

const settleSandboxSessionSchema = {
  operationId: 'settleSandboxSession',
  tags: ['Sandbox'],
  summary: 'Pay, decline or cancel a session of the sandbox',
  description: 'Any session can be settled at any time and again: so late money and repeated webhooks can be seen.',
  params: SessionPath,
  body: SettleSession,
  response: { 200: ref(OrderStatus), ...errorResponses },
};

const breakSandboxDownSchema = {
  operationId: 'breakSandboxDown',
  tags: ['Sandbox'],
  summary: 'Let the sandbox play an outage',
  description:
    'For so many seconds of the service, starts that need a session get 502 PAYMENT_PROVIDER_UNAVAILABLE. Without a provider, both.',
  body: Outage,
  response: { 200: OutageAnswer, ...errorResponses },
};

const advanceClockSchema = {
  operationId: 'advanceClock',
  tags: ['Sandbox'],
  summary: 'Move the clock of the service forward',
  body: AdvanceClock,
  response: { 200: ClockReading, ...errorResponses },
};

export async function sandboxPaymentRoutes(
  app: HttpApp,
  sandbox: SandboxCheckout,
  ports: Pick<PublicPorts, 'tickets' | 'personalData' | 'baseUrl'>,
): Promise<void> {
  const { baseUrl } = ports;
  const config = { rateLimit: false };

  app.post(
    '/sandbox/payments/:checkout_session_id',
    { config, schema: settleSandboxSessionSchema },
    async (request, reply) => {
      const { checkout_session_id: checkoutSessionId } = request.params;
      const { outcome, installment = null } = request.body;
      const settlement = { checkoutSessionId, outcome: outcome as Outcome, installment };
      const order = await unlessUnavailable(sandbox.settle(settlement));
      if (order === null) return reply.fail('PAYMENT_PROVIDER_UNAVAILABLE');
      return isRefusal(order) ? reply.refuse(order) : reply.send(await toOrderStatusBody(order, ports));
    },
  );

  app.post('/sandbox/outage', { config, schema: breakSandboxDownSchema }, async (request, reply) => {
    const { provider, seconds } = request.body;
    const ends = sandbox.simulateOutage((provider as 'provider_a' | 'provider_b' | undefined) ?? null, seconds);
    return reply.send({ outages: [...ends].map(([name, end]) => ({ provider: name, ends_at: formatTime(end) })) });
  });

  app.get(
    '/sandbox/pay/:checkout_session_id',
    { config: { page: true }, schema: { params: SessionPath, hide: true } },
    async (request, reply) => {
      const { checkout_session_id: checkoutSessionId } = request.params;
      const found = await sandbox.find(checkoutSessionId);
      if (isRefusal(found)) return reply.refuse(found);
      const { timezone: timeZone, ...payable } = found;
      const leading = leadingOn(found.order, baseUrl());
      return sendPage(reply, sandboxPage({ ...payable, ...leading, timeZone, texts: textsFor(request) }));
    },
  );

  await app.register(async (scope: HttpApp) => {
    readForms(scope);
    scope.post(
      '/sandbox/pay/:checkout_session_id',
      { config: { ...config, page: true }, schema: { params: SessionPath, body: ChosenOutcome, hide: true } },
      async (request, reply) => {
        const { checkout_session_id: checkoutSessionId } = request.params;
        const outcome = request.body.outcome as Outcome;
        const order = await sandbox.settle({ checkoutSessionId, outcome, installment: null });
        if (isRefusal(order)) return reply.refuse(order);
        const { successUrl, cancelUrl } = leadingOn(order, baseUrl());
        // After a decline the buyer may try again on the order's own page.
        const next = { paid: successUrl, cancelled: cancelUrl, declined: returnUrl(order, null, baseUrl()) }[outcome];
        return reply.redirect(new URL(next).href, 303);
      },
    );
  });
}

/** Where the buyer of an order goes from the provider's page. */
function leadingOn(order: OrderView, baseUrl: string) {
  const successUrl = returnUrl(order, order.successUrl, baseUrl);
  return { successUrl, cancelUrl: returnUrl(order, order.cancelUrl, baseUrl), baseUrl };
}

// ── the clock ────────────────────────────────────────────────────────────────────────────────────────────────────────

export function sandboxClockRoutes(app: HttpApp, { advanceClock }: Pick<PublicPorts, 'advanceClock'>): void {
  app.post('/sandbox/clock', { config: { rateLimit: false }, schema: advanceClockSchema }, async (request, reply) => {
    const now = await advanceClock(request.body.advance_seconds);
    if (now !== null) return reply.send({ now: formatTime(now) });
    return reply.invalid([{ path: '/advance_seconds', message: `must not lead beyond ${formatTime(LATEST_MOMENT)}` }]);
  });
}
