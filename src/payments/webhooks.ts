/**
 * Receives the webhooks of providers: the provider checks and reads one, its order's event records it.
 *
 * What a payment or a refund changes is decided in `domain/orders/payments.ts` and `domain/orders/refunds.ts`.
 *
 * 1. A webhook changes nothing unless its signature is good and its timestamp is within five minutes of one of three
 *    clocks: the service's, the service's without what the sandbox clock added, or the machine's, which differs when
 *    somebody set it.
 * 2. A webhook is answered once what it changed is durable. Its sender repeats it until then, and repeats count once.
 * 3. A signed report that names no order is refused and reported to the operator, and so is one that names an order of
 *    another provider: a signature is good for that provider's orders alone.
 */
import type { EventPort } from '#actors/event-port.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import { reportTrouble } from '#actors/trouble.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { PaymentProviderName } from '#domain/catalogue/definition.ts';
import {
  ProviderUnavailable,
  type PaymentClockPort,
  type EventFinderPort,
  type PaymentProviders,
  type PaymentReport,
  type RefundReport,
  type WebhookDelivery,
  type WebhookResult,
} from './provider.ts';

type WebhookAnswer =
  | { readonly outcome: 'RECORDED' | 'REPEATED' | 'IGNORED' | 'UNKNOWN' }
  | Exclude<WebhookResult, { readonly outcome: 'REPORT' | 'IGNORED' }>
  | Refusal;

export interface Webhooks {
  /** Receives a delivery to a provider's address. Rejects with Overloaded when it cannot be recorded. */
  receive(name: PaymentProviderName, delivery: WebhookDelivery): Promise<WebhookAnswer>;
}

interface WebhookPorts {
  readonly providers: PaymentProviders;
  readonly events: EventFinderPort;
  readonly clock: PaymentClockPort;
}

export function createWebhooks({ providers, events, clock }: WebhookPorts): Webhooks {
  const eventOf = async ({ checkoutSessionId, paymentId }: PaymentReport): Promise<EventPort | null> => {
    const bySession = checkoutSessionId === null ? null : await events.byId('cs', checkoutSessionId);
    return bySession ?? (paymentId === null ? null : events.byId('pay', paymentId));
  };

  const recordPayment = async (name: PaymentProviderName, report: PaymentReport): Promise<WebhookAnswer> => {
    const { of: _of, ...payment } = report;
    const reply = await (await eventOf(report))?.execute({ type: 'RecordPayment', provider: name, ...payment });
    if (reply !== undefined && isRefusal(reply)) return reply;
    if (reply === undefined || reply.order === null) return unknown(name, `${report.outcome} for an unknown session`);
    return { outcome: reply.repeated ? 'REPEATED' : 'RECORDED' };
  };

  const recordRefund = async (name: PaymentProviderName, report: RefundReport): Promise<WebhookAnswer> => {
    const { orderId, checkoutSessionId = null } = report;
    const event = await (orderId === null ? events.byId('cs', checkoutSessionId ?? '') : events.byId('ord', orderId));
    if (event === null) return unknown(name, 'a refund for an unknown order');
    const { of: _of, ...refund } = report;
    const reply = await event.execute({ type: 'RecordRefund', provider: name, operator: null, note: null, ...refund });
    if (!isRefusal(reply)) {
      if (!reply.repeated) return { outcome: 'RECORDED' };
      return { outcome: (report.status ?? 'SUCCEEDED') === 'SUCCEEDED' ? 'REPEATED' : 'IGNORED' };
    }
    if (reply.code === 'ORDER_NOT_FOUND') return unknown(name, 'a refund for an unknown order');
    reportTrouble(name, `a refund of ${name} could not be recorded: ${reply.code}`);
    return { outcome: 'IGNORED' };
  };

  return {
    async receive(name, delivery) {
      const now = clock.now();
      const moments = [now, now - clock.offsetMs, clock.machineNow()];
      const reading = await readAgainLater(async () => providers[name].readWebhook(delivery, moments));
      if (reading.outcome !== 'REPORT') return reading;
      const { report } = reading;
      return report.of === 'PAYMENT' ? recordPayment(name, report) : recordRefund(name, report);
    },
  };
}

/** Whoever sent a webhook that cannot be read now sends it again (rule 2). */
async function readAgainLater(read: () => Promise<WebhookResult>): Promise<WebhookResult> {
  try {
    return await read();
  } catch (fault) {
    if (!(fault instanceof ProviderUnavailable)) throw fault;
    throw new Overloaded('the provider cannot be asked what it reports', RETRY_AFTER_SECONDS, fault);
  }
}

function unknown(name: PaymentProviderName, what: string): WebhookAnswer {
  reportTrouble(name, `${name} reports ${what}`);
  return { outcome: 'UNKNOWN' };
}
