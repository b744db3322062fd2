/**
 * The way from an order to the provider's page: asks for the session of a payment and has it kept.
 *
 * Owns the calls under way and their bounds. The order is written before anybody comes here, so that a crash forgets no
 * session; what a session came to is told by `webhooks.ts`. Called by `http/routes` and by the service's sweep.
 *
 * 1. Starts of the same payment share one call and its answer.
 * 2. A call never holds a turn: other buyers are served while the provider thinks. Each provider is asked by so many at once;
 *    the others wait their turn, within the same ten seconds.
 * 3. When the provider cannot be reached the order stays as it is; the same start, the order page or the sweep goes on
 *    with it, under the same key.
 */
import { troubleChannel, type TroubleMessage } from '#actors/channels.ts';
import { Overloaded } from '#actors/overloaded.ts';
import { findOrder, viewOrder, viewPayment } from '#domain/order-views.ts';
import { awaitsFirstSession, firstPaymentOf } from '#domain/orders.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { BoxOffice } from '#domain/box-office.ts';
import type { PaymentProviderName } from '#domain/catalogue.ts';
import type { OrderView, PaymentView } from '#domain/views.ts';
import { ProviderUnavailable, type CheckoutSession, type PaymentProviders } from './provider.ts';
import type { OfficePort, OfficesPort } from './ports.ts';
import { createTurnstile, type Turnstile } from './turnstile.ts';

export interface CashierPorts {
  readonly providers: PaymentProviders;
  /** Prefix of the URLs handed to buyers. */
  readonly baseUrl: () => string;
  /** The box offices that are awake, for the sweep. */
  readonly awake: () => readonly OfficePort[];
  /** Finds the box office of an order. */
  readonly offices: OfficesPort;
}

/** An order and the payment whose session its buyer is sent to. */
export interface Payable {
  readonly order: OrderView;
  readonly payment: PaymentView;
}

/** A payment whose session is open; `isShared`: another request had it opened, meanwhile or before. */
export interface Opened extends Payable {
  readonly isShared: boolean;
}

export interface Cashier {
  /** Opens the session of a payment. Rejects with ProviderUnavailable, or Overloaded when the answer cannot be kept. */
  openSession(payable: Payable): Promise<Opened>;
  /** Offers again the orders that still wait for their first session, a few at a time. */
  resumeUnopened(): Promise<void>;
  /** Calls to providers under way, and those that wait for their turn. */
  readonly calls: { readonly underWay: number; readonly waiting: number };
  /** Gives up, after so long, the calls that are still under way: the service stops, and whoever waits must be answered first. */
  finishWithin(ms: number): void;
}

/** The longest that a buyer waits for a provider, standing in line for it included. */
const SESSION_MS_MAX = 10_000;

/** Calls to one provider at once. */
const CALLS_MAX = 64;

/** Calls that may wait for their turn; more could not be answered in time. */
const WAITING_MAX = 5_000;

/** Younger orders are still in the hands of the request that placed them. */
const RESUME_AFTER_MS = 15_000;

/** Asking an event that was put to sleep just now. */
const TRIES_MAX = 3;

/** Orders offered again in one sweep. */
const RESUMED_MAX = 200;

export function createCashier({ providers, baseUrl, awake, offices }: CashierPorts): Cashier {
  const underWay = new Map<string, Promise<Opened>>();
  const calls = new Set<AbortController>();
  let isTimeUp = false;
  const turnstile = (): Turnstile => createTurnstile(CALLS_MAX, WAITING_MAX);
  const turnstiles: Record<PaymentProviderName, Turnstile> = { provider_a: turnstile(), provider_b: turnstile() };

  const askProvider = async ({ order, payment }: Payable): Promise<CheckoutSession> => {
    const { provider: name } = payment;
    if (name === 'FREE') throw new ProviderUnavailable('nothing is to be paid');
    const call = new AbortController();
    const timeUp = setTimeout(() => call.abort(), isTimeUp ? 0 : SESSION_MS_MAX);
    calls.add(call);
    const ask = () => providers[name].openSession(requestOf(order, payment, baseUrl()), call.signal);
    try {
      return await turnstiles[name].pass(ask, call.signal);
    } finally {
      clearTimeout(timeUp);
      calls.delete(call);
    }
  };

  /** Asks the event of an order that is written, found anew each time: it may have been put to sleep since. */
  const atEvent = async <Answer>(orderId: string, ask: (office: OfficePort) => Promise<Answer>): Promise<Answer> => {
    for (let tries = 1; ; tries += 1) {
      try {
        const office = await offices.byId('ord', orderId);
        if (office === null) throw new ProviderUnavailable('the order is not there');
        return await ask(office);
      } catch (error) {
        if (!(error instanceof Overloaded) || tries === TRIES_MAX) throw error;
        await pause();
      }
    }
  };

  const open = async (payable: Payable): Promise<Opened> => {
    const { order, payment } = payable;
    const { id: orderId } = order;
    const before = await atEvent(orderId, (office) =>
      office.lookDurably((state) => findOpened(state, orderId, payment.id)),
    );
    if (before !== null) return { ...before, isShared: true };
    const session = await askProvider(payable);
    const kept = await atEvent(orderId, (office) =>
      office.ask({ type: 'RecordCheckoutSession', orderId, paymentId: payment.id, ...session }),
    );
    if (isRefusal(kept)) throw new ProviderUnavailable(`the session could not be kept: ${kept.code}`);
    return { order: kept.order, payment: kept.payment, isShared: false };
  };

  const openSession = (payable: Payable): Promise<Opened> => {
    const { id } = payable.payment;
    const known = underWay.get(id);
    if (known !== undefined) return known.then((opened) => ({ ...opened, isShared: true }));
    const opening = open(payable).finally(() => underWay.delete(id));
    underWay.set(id, opening);
    return opening;
  };

  const resumeUnopened = async (): Promise<void> => {
    let left = RESUMED_MAX;
    for (const office of awake()) {
      try {
        const unopened = office.look((state, now) => findUnopened(state, now, left));
        left -= unopened.length;
        for (const payable of unopened) await openSession(payable);
      } catch (error) {
        if (error instanceof ProviderUnavailable) return reportUnopened(error);
        // One event that cannot be asked now must not keep the orders of the others waiting.
        if (!(error instanceof Overloaded)) reportUnswept(error);
      }
      await pause();
    }
  };

  const finishWithin = (ms: number): void => {
    const giveUp = (): void => {
      isTimeUp = true;
      for (const call of calls) call.abort();
    };
    setTimeout(giveUp, ms).unref();
  };

  return {
    openSession,
    resumeUnopened,
    finishWithin,
    get calls() {
      const { provider_a: a, provider_b: b } = turnstiles;
      return { underWay: a.inside + b.inside, waiting: a.waiting + b.waiting };
    },
  };
}

function requestOf(order: OrderView, payment: PaymentView, baseUrl: string) {
  const tickets = order.items.reduce((sum, item) => sum + item.ticketCount, 0);
  const part = order.installmentsCents.length > 1 ? `, ${payment.installment}/${order.installmentsCents.length}` : '';
  return {
    orderId: order.id,
    paymentId: payment.id,
    amountCents: payment.amountCents,
    currency: payment.currency,
    description: `${order.event.name}: ${tickets} ${tickets === 1 ? 'ticket' : 'tickets'}${part}`,
    customerEmail: order.customer.email,
    successUrl: returnUrl(order, order.successUrl, baseUrl),
    cancelUrl: returnUrl(order, order.cancelUrl, baseUrl),
    expiresAt: order.status === 'PENDING' ? order.expiresAt : null,
  };
}

/** Where the buyer comes back to: the storefront's page with the order's id filled in, or else the order's own page. */
export function returnUrl({ id }: Pick<OrderView, 'id'>, url: string | null, baseUrl: string): string {
  return url === null ? `${baseUrl}/orders/${id}` : url.replaceAll('{ORDER_ID}', id);
}

/** The payment with the session that it has by now; null while it has none. */
function findOpened(state: BoxOffice, orderId: string, paymentId: string): Payable | null {
  const order = findOrder(state, orderId);
  const payment = isRefusal(order) ? undefined : order.payments.find(({ id }) => id === paymentId);
  if (isRefusal(order) || payment === undefined || payment.checkoutSessionId === null) return null;
  return { order, payment };
}

/** The orders of an event that still wait for their first session: among the newest, within the payment window. */
function findUnopened(state: BoxOffice, now: number, max: number): readonly Payable[] {
  const { inOrder } = state.orders;
  const found: Payable[] = [];
  for (let index = inOrder.length - 1; index >= 0 && found.length < max; index -= 1) {
    const order = inOrder.at(index);
    if (order.placedAt + state.plan.paymentWindowMs <= now) break;
    if (order.placedAt + RESUME_AFTER_MS > now || !awaitsFirstSession(order)) continue;
    const payment = viewPayment(order, firstPaymentOf(order)!);
    found.push({ order: viewOrder(state, order), payment });
  }
  return found;
}

function reportUnopened(error: ProviderUnavailable): void {
  const message = 'orders still wait for their sessions: the payment provider cannot be reached';
  troubleChannel.publish({ where: 'payments', message, error } satisfies TroubleMessage);
}

function reportUnswept(error: unknown): void {
  const message = 'orders that wait for their sessions could not be looked for at an event';
  troubleChannel.publish({ where: 'payments', message, error } satisfies TroubleMessage);
}

function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
