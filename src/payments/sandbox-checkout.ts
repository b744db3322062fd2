/**
 * The buyer's hand at the sandbox: pays, declines or cancels a session, for the page and for programs.
 *
 * What it does it reports by a webhook that is really signed and takes the way of every webhook. Called by
 * `http/routes/sandbox-payments.ts`.
 *
 * 1. Any session may be settled at any time and again: so late money and repeated webhooks can be tried out.
 */
import { findOrder, findSession } from '#domain/order-views.ts';
import { isRefusal, refuse, refuseProblems, type Refusal } from '#domain/refusal.ts';
import type { PaymentProviderName } from '#domain/catalogue.ts';
import type { OrderView } from '#domain/views.ts';
import type { Cashier, Payable } from './cashier.ts';
import type { ClockPort, OfficePort, OfficesPort } from './ports.ts';
import type { SandboxProvider } from './sandbox.ts';
import { signReport } from './standard-webhooks.ts';
import type { Webhooks } from './webhooks.ts';

export type SandboxOutcome = 'paid' | 'declined' | 'cancelled';

export interface SandboxTill {
  /** The order and payment of a session: ORDER_NOT_FOUND when no sandbox has it. */
  find(checkoutSessionId: string): Promise<Payable | Refusal>;
  /**
   * Settles a session. With `installment`, the session of that installment of the same order; where it is the next one, its
   * session is opened. ORDER_NOT_FOUND; VALIDATION_ERROR for an installment that has no session.
   */
  settle(settlement: Settlement): Promise<OrderView | Refusal>;
  /** Lets one provider or both play dead for some seconds; 0 ends it. Returns when each is back. */
  breakDown(name: PaymentProviderName | null, seconds: number): ReadonlyMap<PaymentProviderName, number>;
}

export interface Settlement {
  readonly checkoutSessionId: string;
  readonly outcome: SandboxOutcome;
  readonly installment: number | null;
}

export interface TillPorts {
  readonly sandboxes: ReadonlyMap<PaymentProviderName, { readonly provider: SandboxProvider; readonly secret: string }>;
  readonly offices: OfficesPort;
  readonly clock: ClockPort;
  readonly cashier: Cashier;
  readonly webhooks: Webhooks;
}

const NOT_FOUND = refuse('ORDER_NOT_FOUND', {});

export function createSandboxTill({ sandboxes, offices, clock, cashier, webhooks }: TillPorts): SandboxTill {
  const sandboxOf = ({ paymentProvider }: OrderView) =>
    paymentProvider === 'FREE' ? undefined : sandboxes.get(paymentProvider);

  const find = async (checkoutSessionId: string): Promise<Payable | Refusal> => {
    const office = await offices.byId('cs', checkoutSessionId);
    const found = await office?.lookDurably((state) => findSession(state, checkoutSessionId));
    return found === undefined || found === null || sandboxOf(found.order) === undefined ? NOT_FOUND : found;
  };

  /** The session of another installment of the same order, opened where it is the next one to pay. */
  const findInstallment = async (office: OfficePort, { order }: Payable, installment: number) => {
    const opened = order.payments.findLast(
      (payment) => payment.installment === installment && payment.checkoutSessionId !== null,
    );
    if (opened !== undefined) return { order, payment: opened };
    if (installment !== order.paidInstallments + 1) {
      return refuseProblems([{ path: ['installment'], message: 'has no session: it is not the next one to pay' }]);
    }
    const asked = await office.ask({ type: 'OpenPayment', orderId: order.id });
    return isRefusal(asked) ? asked : cashier.openSession(asked);
  };

  const tell = async ({ order, payment }: Payable, outcome: SandboxOutcome): Promise<Refusal | null> => {
    const { checkoutSessionId, amountCents, currency } = payment;
    const { secret } = sandboxOf(order)!;
    const now = clock.now();
    const report = {
      type: `payment.${outcome}`,
      timestamp: new Date(now).toISOString(),
      data: { checkout_session_id: checkoutSessionId!, payment_id: payment.id, amount: amountCents, currency },
    };
    const delivery = signReport(secret, `msg_${outcome}_${checkoutSessionId}`, report, now);
    const answer = await webhooks.receive(order.paymentProvider as PaymentProviderName, delivery);
    return isRefusal(answer) ? answer : null;
  };

  return {
    find,
    async settle({ checkoutSessionId, outcome, installment }) {
      const found = await find(checkoutSessionId);
      const office = await offices.byId('cs', checkoutSessionId);
      if (office === null || isRefusal(found)) return NOT_FOUND;
      const isAnother = installment !== null && installment !== found.payment.installment;
      const target = isAnother ? await findInstallment(office, found, installment) : found;
      if (isRefusal(target)) return target;
      const refused = await tell(target, outcome);
      if (refused !== null) return refused;
      // The event may have been put to sleep meanwhile.
      const settled = (await offices.byId('cs', checkoutSessionId)) ?? office;
      return settled.lookDurably((state) => findOrder(state, target.order.id));
    },
    breakDown(name, seconds) {
      const chosen = [...sandboxes].filter(([each]) => name === null || name === each);
      return new Map(chosen.map(([each, { provider }]) => [each, provider.breakDown(seconds)]));
    },
  };
}
