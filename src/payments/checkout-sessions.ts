/**
 * Opens the checkout session of a payment at its provider and records it in the order.
 *
 * Owns the calls to providers that are under way, and their limits. An order is durable before its first session is
 * opened, so a crash loses no session. What became of a session comes back through `webhooks.ts`.
 *
 * 1. Concurrent requests for the session of one payment share one call and its result.
 * 2. A call to a provider runs outside the event's turn, so a slow provider delays no other buyer. Each provider has a
 *    concurrency limit, whose places events share; a call has ten seconds from when it begins.
 * 3. A command whose call could not begin within three seconds is refused on arrival, before it writes anything. Its
 *    turn refuses it, because only there it is known whether a call will follow, and to which provider.
 * 4. When the provider cannot be reached the order stays as it is. The same start, the order page or `resumeUnopened`
 *    continues with the same payment id, by which the provider recognizes a repeat.
 * 5. `resumeUnopened` goes on where its last call ended, so that orders which fail again and again keep no others from
 *    their turn.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { Overloaded } from '#actors/admission.ts';
import type { EventPort, Found } from '#actors/event-port.ts';
import type { PersonalDataReader } from '#privacy/personal-data.ts';
import { reportTrouble } from '#actors/trouble.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { providerOfKind, type PaymentProviderName } from '#domain/catalogue/definition.ts';
import type { CommandOf } from '#domain/command.ts';
import { sumOf } from '#domain/money.ts';
import type { OrderView, PaymentView } from '#domain/view.ts';
import { createConcurrencyLimit, type ConcurrencyLimit } from './concurrency-limit.ts';
import {
  ProviderUnavailable,
  type CheckoutSession,
  type PaymentProviders,
  type SessionRequest,
  type EventFinderPort,
} from './provider.ts';

export interface CheckoutSessionPorts {
  readonly providers: PaymentProviders;
  /** Prefix of the URLs handed to buyers. */
  readonly baseUrl: () => string;
  /** The events in memory. */
  readonly active: () => readonly EventPort[];
  readonly events: EventFinderPort;
  /** A provider that asks for the buyer's address has it opened for each call. */
  readonly personalData: Pick<PersonalDataReader, 'open'>;
  /** Calls that open a session at one provider at once. */
  readonly callsMax: number;
  /** Milliseconds of any origin, to measure how long calls take. */
  readonly elapsedMs: () => number;
}

/** An order and the payment whose session its buyer is sent to. */
export interface Payable {
  readonly order: OrderView;
  readonly payment: PaymentView;
}

/** A payment whose session is open; `isShared`: another request opened it, at the same time or before. */
interface OpenedPayment extends Payable {
  readonly isShared: boolean;
}

export interface CheckoutSessions {
  /**
   * Executes a command whose request goes on to a provider; the command is told which providers could not be asked in
   * time. Rejects with Overloaded when it is refused for that (rule 3).
   */
  inTime<Reply extends object>(
    found: Found,
    execute: (busy: Pick<CommandOf<'OpenPayment'>, 'busyProviders'>) => Promise<Reply | Refusal>,
  ): Promise<Reply | Refusal>;
  /**
   * Opens the session of a payment. Rejects with ProviderUnavailable, or Overloaded when the session cannot be
   * recorded.
   */
  openSession(payable: Payable): Promise<OpenedPayment>;
  /**
   * Opens the sessions of orders and of pending amendments that still have none, a few in each call: a crash or an
   * outage left them so.
   */
  resumeUnopened(): Promise<void>;
  /** Calls to providers that run, and those that wait for a concurrency limit. */
  readonly calls: { readonly underWay: number; readonly waiting: number };
  /**
   * Aborts the calls that are still under way after so long, so that a service that stops answers its last requests in
   * time.
   */
  finishWithin(ms: number): void;
}

/** How long a buyer waits for the answer of a provider, from when the call begins. */
const CALL_MS_MAX = 10_000;

/** How long the call of a buyer may have to wait before it begins. */
const WAIT_MS_MAX = 3_000;

/** Calls that wait for one provider; a provider that is so fast needs no more. */
const WAITING_MAX = 5_000;

/** The request that placed a younger order still opens its session. */
const RESUME_AFTER_MS = 15_000;

/** An event can be evicted between its lookup and the call; so often it is looked up anew. */
const TRIES_MAX = 3;

/** Orders of one event in one call of `resumeUnopened`. */
const RESUMED_MAX = 200;

/** Orders that are resumed at once: a slow one delays no other, and most places are left to buyers. */
const RESUMED_AT_ONCE = 8;

/** After so many failures in a row nothing more is asked of a provider in one call of `resumeUnopened`. */
const FAILURES_MAX = 3;

/** The calls to providers, each within a concurrency limit and a time limit. */
function createProviderCalls({ providers, baseUrl, personalData, callsMax, elapsedMs }: CheckoutSessionPorts) {
  const bounds = {
    placesMax: callsMax,
    waitMsMax: WAIT_MS_MAX,
    callMsMax: CALL_MS_MAX,
    waitingMax: WAITING_MAX,
    now: elapsedMs,
  };
  const limits: Readonly<Record<PaymentProviderName, ConcurrencyLimit>> = {
    provider_a: createConcurrencyLimit(bounds),
    provider_b: createConcurrencyLimit(bounds),
  };
  const both = [limits.provider_a, limits.provider_b];
  return {
    async openSession({ order, payment }: Payable): Promise<CheckoutSession> {
      const name = providerOfKind(payment.provider);
      if (name === null) throw new ProviderUnavailable('nothing is to be paid');
      const customerEmail = async (): Promise<string | null> =>
        (await personalData.open(order)).customer?.email ?? null;
      return limits[name].run(order.event.id, async (signal) =>
        providers[name].openSession(requestOf(order, payment, { baseUrl: baseUrl(), customerEmail }), signal),
      );
    },
    /** The providers at which a call of the event could not begin in time, and when it might be admitted. */
    busyFor(eventId: string): ReadonlyMap<PaymentProviderName, number> {
      const busy = new Map<PaymentProviderName, number>();
      for (const name of ['provider_a', 'provider_b'] as const) {
        const refusalMs = limits[name].refusalMs(eventId);
        if (refusalMs !== null) busy.set(name, refusalMs);
      }
      return busy;
    },
    /** Counts a command that may need a call of either provider, until the returned function is called. */
    expectCall(eventId: string): () => void {
      const ends = both.map((limit) => limit.expectCall(eventId));
      return () => ends.forEach((end) => end());
    },
    abortAll(): void {
      for (const limit of both) limit.abortAll();
    },
    get counts() {
      return {
        underWay: sumOf(both, ({ running }) => running),
        waiting: sumOf(both, ({ waiting }) => waiting),
      };
    },
  };
}

export function createCheckoutSessions(ports: CheckoutSessionPorts): CheckoutSessions {
  const { active, events } = ports;
  /** By the id of the payment. An entry that leaves is emptied, because the tables that a `Map` leaves keep it. */
  const underWay = new Map<string, { opening: Promise<OpenedPayment> | null }>();
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
    // Another node may have opened it meanwhile: the provider gave both of them the same session.
    return { order: kept.order, payment: kept.payment, isShared: kept.replayed === true };
  };

  const openSession = (payable: Payable): Promise<OpenedPayment> => {
    const { id } = payable.payment;
    const known = underWay.get(id)?.opening;
    if (known) return known.then((opened) => ({ ...opened, isShared: true }));
    const entry: { opening: Promise<OpenedPayment> | null } = { opening: null };
    const end = (): void => {
      underWay.delete(id);
      entry.opening = null;
    };
    entry.opening = open(payable).finally(end);
    underWay.set(id, entry);
    return entry.opening;
  };

  const inTime: CheckoutSessions['inTime'] = async (found, execute) => {
    const event = await found;
    if (event === null) return execute({});
    const busy = calls.busyFor(event.eventId);
    const arrived = calls.expectCall(event.eventId);
    try {
      const reply = await execute(busy.size === 0 ? {} : { busyProviders: [...busy.keys()] });
      if (!isRefusal(reply) || reply.code !== 'OVERLOADED') return reply;
    } finally {
      arrived();
    }
    throw new Overloaded('the payment provider is busy', Math.ceil(Math.max(...busy.values()) / 1_000));
  };

  return {
    inTime,
    openSession,
    resumeUnopened: createResumption({ active, openSession }),
    finishWithin: (ms) => void setTimeout(calls.abortAll, ms).unref(),
    get calls() {
      return calls.counts;
    },
  };
}

/** What one call of `resumeUnopened` finds at the providers. */
class ResumptionFailures {
  readonly #inARow = new Map<string, number>();
  #outage: unknown = null;
  #refusal: unknown = null;

  /** Whether a call to the provider of a payment would be useless now. */
  isOut({ payment }: Payable): boolean {
    return (this.#inARow.get(payment.provider) ?? 0) >= FAILURES_MAX;
  }

  /** Waits for a session; a failure is noted. */
  async note({ payment }: Payable, opening: Promise<unknown>): Promise<void> {
    const { provider } = payment;
    try {
      await opening;
      this.#inARow.delete(provider);
    } catch (error) {
      if (error instanceof ProviderUnavailable) {
        this.#inARow.set(provider, error.isRefusal ? 0 : (this.#inARow.get(provider) ?? 0) + 1);
        if (error.isRefusal) this.#refusal = error;
        else this.#outage = error;
      } else if (!(error instanceof Overloaded)) {
        reportTrouble('payments', 'the session of an order could not be opened', error);
      }
    }
  }

  report(): void {
    const report = (message: string, error: unknown): void => {
      if (error !== null) reportTrouble('payments', `orders have no session yet: ${message}`, error);
    };
    report('the payment provider cannot be reached', this.#outage);
    report('the payment provider refuses them', this.#refusal);
  }
}

/** Opens the sessions of orders and amendments that still have none (rule 5); a call during another one shares it. */
function createResumption({
  active,
  openSession,
}: Pick<CheckoutSessionPorts, 'active'> & Pick<CheckoutSessions, 'openSession'>): () => Promise<void> {
  /** The number of the order before which the next call goes on; an event without one begins at its newest order. */
  const positions = new WeakMap<EventPort, number>();
  let underWay: Promise<void> | null = null;

  const resumeAt = async (event: EventPort, failures: ResumptionFailures): Promise<void> => {
    const before = positions.get(event) ?? null;
    positions.delete(event);
    const query = { type: 'FindUnopenedPayments', ageMsMin: RESUME_AFTER_MS, limit: RESUMED_MAX, before } as const;
    const unopened = await event.read(query);
    if (unopened.length === RESUMED_MAX) positions.set(event, unopened.at(-1)!.number);
    const left = unopened.values();
    const resumeNext = async (): Promise<void> => {
      for (const { number, ...payable } of left) {
        if (failures.isOut(payable)) positions.set(event, Math.max(number + 1, positions.get(event) ?? 0));
        else await failures.note(payable, openSession(payable));
      }
    };
    await Promise.all(Array.from({ length: RESUMED_AT_ONCE }, resumeNext));
  };

  const resumeAll = async (): Promise<void> => {
    const failures = new ResumptionFailures();
    for (const event of active()) {
      try {
        await resumeAt(event, failures);
      } catch (error) {
        // One event that does not answer must not delay the orders of the others.
        if (!(error instanceof Overloaded)) {
          reportTrouble('payments', 'orders without a session could not be looked up at an event', error);
        }
      }
      await nextRound();
    }
    failures.report();
  };

  return () => (underWay ??= resumeAll().finally(() => (underWay = null)));
}

/** Runs a call at the order's event, which is looked up for each try because it may have been evicted. */
async function atEvent<Answer>(
  events: EventFinderPort,
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
  const { amendment } = payment;
  const tickets = order.items.reduce((sum, item) => sum + item.ticketCount, 0);
  const part = order.installmentsCents.length > 1 ? `, ${payment.installment}/${order.installmentsCents.length}` : '';
  return {
    orderId: order.id,
    paymentId: payment.id,
    amountCents: payment.amountCents,
    currency: payment.currency,
    description:
      amendment === undefined
        ? `${order.event.name}: ${tickets} ${tickets === 1 ? 'ticket' : 'tickets'}${part}`
        : `${order.event.name}: change of tickets`,
    customerEmail,
    ...returnUrls({ order, payment }, baseUrl),
    expiresAt: amendment?.expiresAt ?? (order.status === 'PENDING' ? order.expiresAt : null),
  };
}

/** Where the buyer of a payment returns to from its page: for an amendment, the addresses of its request. */
export function returnUrls(
  { order, payment }: Payable,
  baseUrl: string,
): Pick<SessionRequest, 'successUrl' | 'cancelUrl'> {
  const { successUrl, cancelUrl } = payment.amendment ?? order;
  return { successUrl: returnUrl(order, successUrl, baseUrl), cancelUrl: returnUrl(order, cancelUrl, baseUrl) };
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
