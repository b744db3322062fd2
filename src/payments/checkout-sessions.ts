/**
 * Opens the checkout session of a payment at its provider and records it in the order.
 *
 * Owns the calls to providers that are under way, and their limits. An order is durable before its first session is opened,
 * so a crash loses no session. What became of a session comes back through `webhooks.ts`.
 *
 * 1. Concurrent requests for the session of one payment share one call and its result.
 * 2. A call to a provider runs outside the event's turn, so a slow provider delays no other buyer. Each provider has a
 *    concurrency limit; the wait for it counts towards the ten seconds of the call.
 * 3. When the provider cannot be reached the order stays as it is. The same start, the order page or `resumeUnopened` continues
 *    with the same payment id, by which the provider recognizes a repeat.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { Overloaded } from '#actors/admission.ts';
import type { EventPort } from '#actors/event-port.ts';
import type { PersonalDataReader } from '#actors/personal-data.ts';
import { reportTrouble } from '#actors/trouble.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { PaymentProviderName } from '#domain/catalogue/definition.ts';
import type { OrderView, PaymentView } from '#domain/views.ts';
import { createConcurrencyLimit, type ConcurrencyLimit } from './concurrency-limit.ts';
import { ProviderUnavailable, type CheckoutSession, type PaymentProviders, type SessionRequest } from './provider.ts';
import type { EventsPort } from './ports.ts';

export interface CheckoutSessionPorts {
  readonly providers: PaymentProviders;
  /** Prefix of the URLs handed to buyers. */
  readonly baseUrl: () => string;
  /** The events in memory. */
  readonly active: () => readonly EventPort[];
  readonly events: EventsPort;
  /** A provider that asks for the buyer's address has it opened for each call. */
  readonly personalData: Pick<PersonalDataReader, 'open'>;
}

/** An order and the payment whose session its buyer is sent to. */
export interface Payable {
  readonly order: OrderView;
  readonly payment: PaymentView;
}

/** A payment whose session is open; `isShared`: another request opened it, at the same time or before. */
export interface OpenedPayment extends Payable {
  readonly isShared: boolean;
}

export interface CheckoutSessions {
  /** Opens the session of a payment. Rejects with ProviderUnavailable, or Overloaded when the session cannot be recorded. */
  openSession(payable: Payable): Promise<OpenedPayment>;
  /** Opens the sessions of orders that still have none, a few in each call: a crash or an outage left them so. */
  resumeUnopened(): Promise<void>;
  /** Calls to providers that run, and those that wait for a concurrency limit. */
  readonly calls: { readonly underWay: number; readonly waiting: number };
  /** Aborts the calls that are still under way after so long, so that a service that stops answers its last requests in time. */
  finishWithin(ms: number): void;
}

/** The longest that a buyer waits for a provider, the wait for its concurrency limit included. */
const SESSION_MS_MAX = 10_000;

/** Concurrent calls to one provider. */
const CALLS_MAX = 64;

/** Calls that wait for one provider's limit; more could not be answered in time. */
const WAITING_MAX = 5_000;

/** The request that placed a younger order still opens its session. */
const RESUME_AFTER_MS = 15_000;

/** An event can be evicted between its lookup and the call; so often it is looked up anew. */
const TRIES_MAX = 3;

/** Orders of one event in one call of `resumeUnopened`. */
const RESUMED_MAX = 200;

/** The calls to providers, each within a concurrency limit and a time limit. */
function createProviderCalls({
  providers,
  baseUrl,
  personalData,
}: Pick<CheckoutSessionPorts, 'providers' | 'baseUrl' | 'personalData'>) {
  const calls = new Set<AbortController>();
  let isTimeUp = false;
  const newLimit = (): ConcurrencyLimit => createConcurrencyLimit(CALLS_MAX, WAITING_MAX);
  const limits: Record<PaymentProviderName, ConcurrencyLimit> = { provider_a: newLimit(), provider_b: newLimit() };
  return {
    async openSession({ order, payment }: Payable): Promise<CheckoutSession> {
      const { provider: name } = payment;
      if (name === 'FREE') throw new ProviderUnavailable('nothing is to be paid');
      const call = new AbortController();
      const timeUp = setTimeout(() => call.abort(), isTimeUp ? 0 : SESSION_MS_MAX);
      calls.add(call);
      const customerEmail = async (): Promise<string | null> =>
        (await personalData.open(order)).customer?.email ?? null;
      const open = () =>
        providers[name].openSession(requestOf(order, payment, { baseUrl: baseUrl(), customerEmail }), call.signal);
      try {
        return await limits[name].run(open, call.signal);
      } finally {
        clearTimeout(timeUp);
        calls.delete(call);
      }
    },
    /** Aborts the calls that are under way, and every later one at once. */
    abortAll(): void {
      isTimeUp = true;
      for (const call of calls) call.abort();
    },
    get counts() {
      const { provider_a: a, provider_b: b } = limits;
      return { underWay: a.running + b.running, waiting: a.waiting + b.waiting };
    },
  };
}

export function createCheckoutSessions(ports: CheckoutSessionPorts): CheckoutSessions {
  const { active, events } = ports;
  const underWay = new Map<string, Promise<OpenedPayment>>();
  const calls = createProviderCalls(ports);

  const open = async (payable: Payable): Promise<OpenedPayment> => {
    const { order, payment } = payable;
    const { id: orderId } = order;
    const before = await atEvent(events, orderId, (event) => event.read({ type: 'FindOrder', orderId }));
    const opened = isRefusal(before) ? null : openedPaymentOf(before.order, payment.id);
    if (opened !== null) return { ...opened, isShared: true };
    const session = await calls.openSession(payable);
    const kept = await atEvent(events, orderId, (event) =>
      event.execute({ type: 'RecordCheckoutSession', orderId, paymentId: payment.id, ...session }),
    );
    if (isRefusal(kept)) throw new ProviderUnavailable(`the session could not be kept: ${kept.code}`);
    return { order: kept.order, payment: kept.payment, isShared: false };
  };

  const openSession = (payable: Payable): Promise<OpenedPayment> => {
    const { id } = payable.payment;
    const known = underWay.get(id);
    if (known !== undefined) return known.then((opened) => ({ ...opened, isShared: true }));
    const opening = open(payable).finally(() => underWay.delete(id));
    underWay.set(id, opening);
    return opening;
  };

  const resumeUnopened = async (): Promise<void> => {
    let left = RESUMED_MAX;
    for (const event of active()) {
      try {
        const query = { type: 'FindUnopenedPayments', ageMsMin: RESUME_AFTER_MS, limit: left } as const;
        const unopened = await event.read(query);
        left -= unopened.length;
        for (const payable of unopened) await openSession(payable);
      } catch (error) {
        if (error instanceof ProviderUnavailable) {
          return reportTrouble('payments', 'orders have no session yet: the payment provider cannot be reached', error);
        }
        // One event that does not answer must not delay the orders of the others.
        if (!(error instanceof Overloaded)) {
          reportTrouble('payments', 'orders without a session could not be looked up at an event', error);
        }
      }
      await nextRound();
    }
  };

  return {
    openSession,
    resumeUnopened,
    finishWithin: (ms) => void setTimeout(calls.abortAll, ms).unref(),
    get calls() {
      return calls.counts;
    },
  };
}

/** Runs a call at the order's event, which is looked up for each try because it may have been evicted. */
async function atEvent<Answer>(
  events: EventsPort,
  orderId: string,
  call: (event: EventPort) => Promise<Answer>,
): Promise<Answer> {
  for (let tries = 1; ; tries += 1) {
    try {
      const event = await events.byId('ord', orderId);
      if (event === null) throw new ProviderUnavailable('the order is not there');
      return await call(event);
    } catch (error) {
      if (!(error instanceof Overloaded) || tries === TRIES_MAX) throw error;
      await nextRound();
    }
  }
}

function requestOf(
  order: OrderView,
  payment: PaymentView,
  { baseUrl, customerEmail }: Pick<SessionRequest, 'customerEmail'> & { readonly baseUrl: string },
): SessionRequest {
  const tickets = order.items.reduce((sum, item) => sum + item.ticketCount, 0);
  const part = order.installmentsCents.length > 1 ? `, ${payment.installment}/${order.installmentsCents.length}` : '';
  return {
    orderId: order.id,
    paymentId: payment.id,
    amountCents: payment.amountCents,
    currency: payment.currency,
    description: `${order.event.name}: ${tickets} ${tickets === 1 ? 'ticket' : 'tickets'}${part}`,
    customerEmail,
    successUrl: returnUrl(order, order.successUrl, baseUrl),
    cancelUrl: returnUrl(order, order.cancelUrl, baseUrl),
    expiresAt: order.status === 'PENDING' ? order.expiresAt : null,
  };
}

/** Where the buyer returns to: the storefront's page with the order's id filled in, or the order's own page. */
export function returnUrl({ id }: Pick<OrderView, 'id'>, url: string | null, baseUrl: string): string {
  return url === null ? `${baseUrl}/orders/${id}` : url.replaceAll('{ORDER_ID}', id);
}

/** The payment once it has a session; null while it has none. */
function openedPaymentOf(order: OrderView, paymentId: string): Payable | null {
  const payment = order.payments.find(({ id }) => id === paymentId);
  return payment === undefined || payment.checkoutSessionId === null ? null : { order, payment };
}
