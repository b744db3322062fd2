/**
 * The sandbox: its payment page, the same for programs, simulated outages, and a clock that can be moved forward.
 *
 * For those who build storefronts; the settings turn it off where tickets are sold for money.
 */
import { Type } from 'typebox';
import { LATEST_MOMENT } from '#actors/clock.ts';
import { brandOf } from '#brand/brand.ts';
import { returnUrl, returnUrls } from '#payments/checkout-sessions.ts';
import { unlessUnavailable } from '#payments/provider.ts';
import type { SandboxRefund, SandboxRefundOutcome } from '#payments/sandbox-refunds.ts';
import { sendPage } from '../pages/html.ts';
import { sandboxPage } from '../pages/sandbox.ts';
import type { PublicPorts, SandboxPort } from '../ports.ts';
import { type HttpApp, readForms } from '../protocol/app.ts';
import { Cents, Count, ref, Time } from '../protocol/fields.ts';
import { formatTime } from '../protocol/formats.ts';
import { textsFor } from '../protocol/negotiation.ts';
import { fail, invalid, NOT_FOUND } from '../protocol/errors.ts';
import { addRoute } from '../protocol/route.ts';
import { toOrderStatusBody } from './orders/body.ts';
import { OrderStatus } from './orders/schema.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const Provider = Type.String({ enum: ['provider_a', 'provider_b'] });

const SettleSession = Type.Object({
  outcome: Type.String({ enum: ['paid', 'declined', 'cancelled'] }),
  installment: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 12,
      description: "Another installment of the same order than the session's; the next one is opened where needed.",
    }),
  ),
});

const Outage = Type.Object({
  provider: Type.Optional(Provider),
  seconds: Type.Number({ minimum: 0, maximum: 86_400, description: '0 ends the outage.' }),
});

const OutageAnswer = Type.Object({
  outages: Type.Array(Type.Object({ provider: Provider, ends_at: Time })),
});

const SandboxRefundBody = Type.Object({
  reference: Type.String(),
  refund_id: Type.String(),
  checkout_session_id: Type.String(),
  amount: Cents,
  currency: Type.String(),
  status: Type.String({ enum: ['SUCCEEDED', 'PENDING', 'FAILED'] }),
});

const ChooseRefunds = Type.Object({
  next: Type.String({
    enum: ['succeeded', 'pending', 'failed', 'refused', 'lost'],
    description: 'What the next refunds come to; `lost`: the money is given back, and the answer never comes.',
  }),
  times: Type.Optional(Type.Integer({ minimum: 0, maximum: 100_000, default: 1, description: 'For so many refunds.' })),
});

const AdvanceClock = Type.Object({
  advance_seconds: Type.Number({ minimum: 0, maximum: 3_153_600_000, description: 'At most a century at a time.' }),
});

const ClockReading = Type.Object({ now: Time });

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

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
  response: { 200: ref(OrderStatus) },
};

const breakSandboxDownSchema = {
  operationId: 'breakSandboxDown',
  tags: ['Sandbox'],
  summary: 'Let the sandbox play an outage',
  description:
    'For so many seconds of the service, starts that need a session get 502 PAYMENT_PROVIDER_UNAVAILABLE. Without a provider, both. In a cluster only the node that is asked plays it.',
  body: Outage,
  response: { 200: OutageAnswer },
};

/** Part of the descriptions of the three routes about refunds. */
const OF_OWNER = 'In a cluster each node has its own; ask the node that owns the event.';

const chooseSandboxRefundsSchema = {
  operationId: 'chooseSandboxRefunds',
  tags: ['Sandbox'],
  summary: 'Choose what the next refunds of the sandbox come to',
  description: `Otherwise the sandbox gives back at once. ${OF_OWNER}`,
  body: ChooseRefunds,
  response: { 200: Type.Object({ next: ChooseRefunds.properties.next, times: Count }) },
};

const listSandboxRefundsSchema = {
  operationId: 'listSandboxRefunds',
  tags: ['Sandbox'],
  summary: 'List what the sandbox gave back',
  description: `The oldest first, pending and failed ones too; as long as the process lives. ${OF_OWNER}`,
  response: { 200: Type.Object({ refunds: Type.Array(SandboxRefundBody) }) },
};

const settleSandboxRefundSchema = {
  operationId: 'settleSandboxRefund',
  tags: ['Sandbox'],
  summary: 'Settle a pending refund of the sandbox',
  description: `The sandbox reports it by a signed webhook. NOT_FOUND where no refund of this reference is pending. ${OF_OWNER}`,
  params: Type.Object({ reference: Type.String() }),
  body: Type.Object({ outcome: Type.String({ enum: ['succeeded', 'failed'] }) }),
  response: { 200: SandboxRefundBody },
};

const advanceClockSchema = {
  operationId: 'advanceClock',
  tags: ['Sandbox'],
  summary: 'Move the clock of the service forward',
  description:
    'Only with `SANDBOX_CLOCK=on`: holds, passes, stages and payment windows run out as they would by then. There is no way back.',
  body: AdvanceClock,
  response: { 200: ClockReading },
};

export async function sandboxPaymentRoutes(
  app: HttpApp,
  sandbox: SandboxPort,
  ports: Pick<PublicPorts, 'tickets' | 'personalData' | 'baseUrl' | 'settings'>,
): Promise<void> {
  const { baseUrl } = ports;

  addRoute(app, 'POST /sandbox/payments/:checkout_session_id', settleSandboxSessionSchema, {
    config: { rateLimit: false },
    answer: async ({ params: { checkout_session_id: checkoutSessionId }, body: { outcome, installment = null } }) => {
      const settlement = { checkoutSessionId, outcome: outcome as Outcome, installment };
      return (await unlessUnavailable(sandbox.settle(settlement))) ?? fail('PAYMENT_PROVIDER_UNAVAILABLE');
    },
    body: (order) => toOrderStatusBody(order, ports),
  });

  addRoute(app, 'POST /sandbox/outage', breakSandboxDownSchema, {
    config: { rateLimit: false },
    answer: ({ body: { provider, seconds } }) =>
      sandbox.simulateOutage((provider as 'provider_a' | 'provider_b' | undefined) ?? null, seconds),
    body: (ends) => ({
      outages: [...ends].map(([name, end]) => ({ provider: name, ends_at: formatTime(end) })),
    }),
  });

  sandboxRefundRoutes(app, sandbox);

  addRoute(
    app,
    'GET /sandbox/pay/:checkout_session_id',
    { params: SessionPath, hide: true },
    {
      config: { page: true },
      answer: ({ params: { checkout_session_id: checkoutSessionId } }) => sandbox.find(checkoutSessionId),
      send: ({ timezone: timeZone, look, ...payable }, reply, request) => {
        const brand = brandOf(ports.settings.brand, look);
        const urls = { ...returnUrls(payable, baseUrl()), baseUrl: baseUrl() };
        return sendPage(reply, sandboxPage({ ...payable, ...urls, timeZone, brand, texts: textsFor(request) }));
      },
    },
  );

  await app.register(async (scope: HttpApp) => {
    readForms(scope);
    addRoute(
      scope,
      'POST /sandbox/pay/:checkout_session_id',
      { params: SessionPath, body: ChosenOutcome, hide: true },
      {
        config: { rateLimit: false, page: true },
        answer: ({ params: { checkout_session_id: checkoutSessionId }, body }) =>
          sandbox.settle({ checkoutSessionId, outcome: body.outcome as Outcome, installment: null }),
        send: (order, reply, { body, params }) => {
          const payment = order.payments.find((each) => each.checkoutSessionId === params.checkout_session_id)!;
          const { successUrl, cancelUrl } = returnUrls({ order, payment }, baseUrl());
          // After a decline the buyer may try again on the order's own page.
          const next = { paid: successUrl, cancelled: cancelUrl, declined: returnUrl(order, null, baseUrl()) };
          return reply.redirect(new URL(next[body.outcome as Outcome]).href, 303);
        },
      },
    );
  });
}

function sandboxRefundRoutes(app: HttpApp, sandbox: SandboxPort): void {
  addRoute(app, 'POST /sandbox/refunds', chooseSandboxRefundsSchema, {
    config: { rateLimit: false },
    answer: async ({ body: { next, times = 1 } }) => {
      await sandbox.chooseRefunds(next as SandboxRefundOutcome, times);
      return { next, times };
    },
    body: (chosen) => chosen,
  });

  addRoute(app, 'GET /sandbox/refunds', listSandboxRefundsSchema, {
    config: { rateLimit: false },
    answer: () => sandbox.listRefunds(),
    body: (refunds) => ({ refunds: refunds.map(toSandboxRefundBody) }),
  });

  addRoute(app, 'POST /sandbox/refunds/:reference', settleSandboxRefundSchema, {
    config: { rateLimit: false },
    answer: async ({ params: { reference }, body }) =>
      (await sandbox.settleRefund(reference, body.outcome as 'succeeded' | 'failed')) ?? NOT_FOUND,
    body: toSandboxRefundBody,
  });
}

function toSandboxRefundBody(refund: SandboxRefund) {
  const { reference, refundId, checkoutSessionId, amountCents: amount, currency, status } = refund;
  return { reference, refund_id: refundId, checkout_session_id: checkoutSessionId, amount, currency, status };
}

// ── the clock ────────────────────────────────────────────────────────────────────────────────────────────────────────

export function sandboxClockRoutes(app: HttpApp, { advanceClock }: Pick<PublicPorts, 'advanceClock'>): void {
  addRoute(app, 'POST /sandbox/clock', advanceClockSchema, {
    config: { rateLimit: false },
    answer: async ({ body }) => {
      const now = await advanceClock(body.advance_seconds);
      const message = `must not lead beyond ${formatTime(LATEST_MOMENT)}`;
      return now === null ? invalid([{ path: '/advance_seconds', message }]) : { now: formatTime(now) };
    },
    body: (reading) => reading,
  });
}
