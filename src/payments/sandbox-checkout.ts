/**
 * Settles sessions of the sandbox as a buyer would: pays, declines or cancels them; settles refunds that were left open
 * by choice; and simulates outages.
 *
 * 1. An outcome is reported by a signed webhook that takes the same path as every other webhook.
 * 2. A session can be settled at any time and more than once, so that late money and repeated webhooks can be tested.
 */
import { readAt, type EventPort } from '#actors/event-port.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '#domain/refusal.ts';
import { providerOfKind, type BrandedEvent, type PaymentProviderName } from '#domain/catalogue/definition.ts';
import type { OrderView } from '#domain/view.ts';
import type { CheckoutSessions, Payable } from './checkout-sessions.ts';
import type { PaymentClockPort, EventFinderPort } from './provider.ts';
import type { SandboxProvider } from './sandbox.ts';
import type { SandboxRefund, SandboxRefundOutcome, SandboxRefunds } from './sandbox-refunds.ts';
import { signWebhook, type WebhookBody } from './standard-webhooks.ts';
import type { Webhooks } from './webhooks.ts';

/** The order and payment of a session, and the time zone and the look of its event. */
interface FoundSession extends Payable {
  readonly timezone: string;
  readonly look: BrandedEvent;
}

type SandboxOutcome = 'paid' | 'declined' | 'cancelled';

export interface SandboxCheckout {
  /** The order and payment of a session: ORDER_NOT_FOUND when no sandbox has it. */
  find(checkoutSessionId: string): Promise<FoundSession | Refusal>;
  /**
   * Settles a session. `installment` names another installment of the same order; the session of the next one is opened
   * first. Refuses with ORDER_NOT_FOUND, or VALIDATION_ERROR for an installment that has no session.
   */
  settle(settlement: Settlement): Promise<OrderView | Refusal>;
  /** Chooses the outcome of the next refunds. */
  chooseRefunds(next: SandboxRefundOutcome, times: number): Promise<void>;
  /** What it was asked to give back, the oldest first. */
  listRefunds(): Promise<readonly SandboxRefund[]>;
  /** Settles a refund that is PENDING, and reports it; null where there is none. */
  settleRefund(reference: string, outcome: 'succeeded' | 'failed'): Promise<SandboxRefund | Refusal | null>;
  /** Simulates an outage of one provider, or of both, for some seconds; 0 ends it. Returns the end of each outage. */
  simulateOutage(name: PaymentProviderName | null, seconds: number): ReadonlyMap<PaymentProviderName, number>;
}

interface Settlement {
  readonly checkoutSessionId: string;
  readonly outcome: SandboxOutcome;
  readonly installment: number | null;
}

interface SandboxCheckoutPorts {
  readonly sandboxes: ReadonlyMap<PaymentProviderName, { readonly provider: SandboxProvider; readonly secret: string }>;
  readonly events: EventFinderPort;
  readonly clock: PaymentClockPort;
  readonly checkoutSessions: CheckoutSessions;
  readonly webhooks: Webhooks;
  readonly refunds: SandboxRefunds;
}

const NOT_FOUND = refuse('ORDER_NOT_FOUND', {});

export function createSandboxCheckout(ports: SandboxCheckoutPorts): SandboxCheckout {
  const { sandboxes, events, clock, checkoutSessions, webhooks, refunds } = ports;
  const sandboxOf = ({ paymentProvider }: OrderView) => {
    const name = providerOfKind(paymentProvider);
    return name === null ? undefined : sandboxes.get(name);
  };

  const find = async (checkoutSessionId: string): Promise<FoundSession | Refusal> => {
    const query = { type: 'FindSession', checkoutSessionId } as const;
    const found = await readAt(events.byId('cs', checkoutSessionId), NOT_FOUND, query);
    return isRefusal(found) || sandboxOf(found.order) === undefined ? NOT_FOUND : found;
  };

  const report = async ({ order, payment }: Payable, outcome: SandboxOutcome): Promise<Refusal | null> => {
    const { checkoutSessionId, amountCents: amount, currency } = payment;
    const data = { checkout_session_id: checkoutSessionId!, payment_id: payment.id, amount, currency };
    return send(order, `msg_${outcome}_${checkoutSessionId}`, { type: `payment.${outcome}`, data });
  };

  /** Sends a webhook about an order, signed by its provider (rule 1). */
  const send = async (order: OrderView, id: string, said: Omit<WebhookBody, 'timestamp'>): Promise<Refusal | null> => {
    const { secret } = sandboxOf(order)!;
    const now = clock.now();
    const delivery = signWebhook(secret, id, { ...said, timestamp: new Date(now).toISOString() }, now);
    const answer = await webhooks.receive(order.paymentProvider as PaymentProviderName, delivery);
    return isRefusal(answer) ? answer : null;
  };

  return {
    find,
    async settle({ checkoutSessionId, outcome, installment }) {
      const found = await find(checkoutSessionId);
      const event = await events.byId('cs', checkoutSessionId);
      if (event === null || isRefusal(found)) return NOT_FOUND;
      const isAnother = installment !== null && installment !== found.payment.installment;
      const target = isAnother ? await findInstallment(checkoutSessions, event, found, installment) : found;
      if (isRefusal(target)) return target;
      const refused = await report(target, outcome);
      if (refused !== null) return refused;
      // The event may have been evicted since.
      const settled = (await events.byId('cs', checkoutSessionId)) ?? event;
      const after = await settled.read({ type: 'FindOrder', orderId: target.order.id });
      return isRefusal(after) ? after : after.order;
    },
    chooseRefunds: async (next, times) => refunds.choose(next, times),
    listRefunds: async () => refunds.all(),
    async settleRefund(reference, outcome) {
      const refund = refunds.settle(reference, outcome);
      if (refund === null) return null;
      const { refundId, checkoutSessionId, amountCents: amount, currency } = refund;
      const found = await find(checkoutSessionId);
      if (isRefusal(found)) return found;
      const data = { refund_id: refundId, reference, checkout_session_id: checkoutSessionId, amount, currency };
      const refused = await send(found.order, `msg_${outcome}_${reference}`, { type: `refund.${outcome}`, data });
      return refused ?? refund;
    },
    simulateOutage(name, seconds) {
      const chosen = [...sandboxes].filter(([each]) => name === null || name === each);
      return new Map(chosen.map(([each, { provider }]) => [each, provider.simulateOutage(seconds)]));
    },
  };
}

/** Another installment of the same order with its session, which is opened when the installment is the next to pay. */
async function findInstallment(
  checkoutSessions: Pick<CheckoutSessions, 'openSession'>,
  event: EventPort,
  { order }: Payable,
  installment: number,
): Promise<Payable | Refusal> {
  const opened = order.payments.findLast(
    (payment) => payment.installment === installment && payment.checkoutSessionId !== null,
  );
  if (opened !== undefined) return { order, payment: opened };
  // A change of the order that waits for its payment is paid first.
  const isChanging = order.amendments.some(({ status }) => status === 'PENDING');
  if (isChanging || installment !== order.paidInstallments + 1) {
    return refuseProblems([{ path: ['installment'], message: 'has no session: it is not the next one to pay' }]);
  }
  const asked = await event.execute({ type: 'OpenPayment', orderId: order.id });
  return isRefusal(asked) ? asked : checkoutSessions.openSession(asked);
}
