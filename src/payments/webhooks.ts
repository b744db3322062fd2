/**
 * What providers report: judged by its provider, carried to the order's box office.
 *
 * Called by the webhook route with what came over the network, and by `sandbox-till.ts` with what the sandbox signed; both
 * take this one way. What money does to an order is decided in `domain/payments.ts`.
 *
 * 1. A report changes nothing unless its signature holds and its timestamp is within five minutes of one of the clocks: the
 *    service's, the same without what the sandbox clock added, or the machine's, which differs when it was set meanwhile.
 * 2. A report is answered once what it changed is durable; until then its sender repeats it, and a repeat counts once.
 * 3. A well signed report that names no order is not swallowed: its sender is told, and so is the operator. So is one that names
 *    an order of the other provider: a signature counts only for the orders of whom it belongs to.
 */
import { troubleChannel, type TroubleMessage } from '#actors/channels.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import type { PaymentProviderName } from '#domain/catalogue.ts';
import type { ClockPort, OfficePort, OfficesPort } from './ports.ts';
import type { PaymentNews, PaymentProviders, RefundNews, WebhookDelivery, WebhookReading } from './provider.ts';

export type WebhookAnswer =
  | { readonly outcome: 'RECORDED' | 'REPEATED' | 'IGNORED' | 'UNKNOWN' }
  | Exclude<WebhookReading, { readonly outcome: 'NEWS' | 'IGNORED' }>
  | Refusal;

export interface Webhooks {
  /** Takes in a delivery to a provider's address. Rejects with Overloaded when it cannot be recorded. */
  receive(name: PaymentProviderName, delivery: WebhookDelivery): Promise<WebhookAnswer>;
}

export interface WebhookPorts {
  readonly providers: PaymentProviders;
  readonly offices: OfficesPort;
  readonly clock: ClockPort;
}

export function createWebhooks({ providers, offices, clock }: WebhookPorts): Webhooks {
  const officeOf = async ({ checkoutSessionId, paymentId }: PaymentNews): Promise<OfficePort | null> => {
    const bySession = checkoutSessionId === null ? null : await offices.byId('cs', checkoutSessionId);
    return bySession ?? (paymentId === null ? null : offices.byId('pay', paymentId));
  };

  const recordPayment = async (name: PaymentProviderName, news: PaymentNews): Promise<WebhookAnswer> => {
    const { of: _of, ...report } = news;
    const reply = await (await officeOf(news))?.ask({ type: 'RecordPayment', provider: name, ...report });
    if (reply !== undefined && isRefusal(reply)) return reply;
    if (reply === undefined || reply.order === null) return unknown(name, `${news.outcome} for an unknown session`);
    return { outcome: reply.repeated ? 'REPEATED' : 'RECORDED' };
  };

  const recordRefund = async (name: PaymentProviderName, news: RefundNews): Promise<WebhookAnswer> => {
    const office = await offices.byId('ord', news.orderId);
    if (office === null) return unknown(name, 'a refund for an unknown order');
    const { of: _of, ...refund } = news;
    const reply = await office.ask({ type: 'RecordRefund', provider: name, operator: null, note: null, ...refund });
    if (!isRefusal(reply)) return { outcome: reply.repeated ? 'REPEATED' : 'RECORDED' };
    if (reply.code === 'ORDER_NOT_FOUND') return unknown(name, 'a refund for an unknown order');
    report(name, `a refund could not be recorded: ${reply.code}`);
    return { outcome: 'IGNORED' };
  };

  return {
    async receive(name, delivery) {
      const now = clock.now();
      const reading = providers[name].readWebhook(delivery, [now, now - clock.offsetMs, clock.machineNow()]);
      if (reading.outcome !== 'NEWS') return reading;
      const { news } = reading;
      return news.of === 'PAYMENT' ? recordPayment(name, news) : recordRefund(name, news);
    },
  };
}

function unknown(name: PaymentProviderName, what: string): WebhookAnswer {
  report(name, `reports ${what}`);
  return { outcome: 'UNKNOWN' };
}

function report(name: PaymentProviderName, what: string): void {
  troubleChannel.publish({ where: name, message: `${name} ${what}`, error: null } satisfies TroubleMessage);
}
