/**
 * Executes refunds at their provider: begins each try when it is due, and records what it came to.
 *
 * Owns which events have refunds to try, the calls under way, and their limits. What a try may ask for, and when the
 * next one is due, is decided in `domain/orders/refund-tries.ts`.
 *
 * 1. A refund is tried once its fact is durable. Each try first reads what was given back of the payment, and asks only
 *    for what the event answers is left, under the key that it answers.
 * 2. A fault of this service (an event that is being activated, a journal that cannot be written) is no answer of the
 *    provider: nothing is recorded, and the refund is tried again a second later.
 * 3. The list is kept in memory only. Each event is read when it is activated; the start of the service, and of an
 *    owner of the event, activates those with refunds that are due (`nextWorkAt`).
 * 4. A provider is called by this process for at most 8 refunds at once, and 20 begin in a second. Sessions have places
 *    of their own, so no buyer waits for a refund.
 * 5. In a cluster the owner of an event asks; one that is not its owner any more drops it.
 * 6. Events take turns, so that one with many refunds does not keep those of others waiting.
 */
import { activationChannel, turnChannel, type ActivationMessage, type TurnMessage } from '#actors/channels.ts';
import { Overloaded } from '#actors/admission.ts';
import { executeAt, readAt, type EventFinder } from '#actors/event-port.ts';
import { callWithin, isWorthReporting, reportTrouble } from '#actors/trouble.ts';
import { isRefusal, refuse } from '#domain/refusal.ts';
import type { RefundAnswer } from '#domain/command.ts';
import type { DueRefund } from '#domain/orders/refund-tries.ts';
import type { FactType } from '#domain/fact.ts';
import type { PaymentProviderName } from '#domain/catalogue/definition.ts';
import { ProviderUnavailable, type PaymentClockPort, type PaymentProviders } from './provider.ts';

interface RefundOutboxPorts {
  readonly providers: PaymentProviders;
  readonly events: Pick<EventFinder, 'byEventId' | 'byId'>;
  /** Whether this machine or node is the one whose turns change an event. */
  readonly owns: (eventId: string) => boolean;
  readonly clock: Pick<PaymentClockPort, 'now'>;
  /** Milliseconds of any origin, for the pace of calls. */
  readonly elapsedMs: () => number;
  /** Has it look again after so many milliseconds, in place of the time before; a timer when absent. */
  readonly lookAfter?: (look: () => void, ms: number) => void;
}

export interface RefundOutbox {
  /** Tries since the service started, by outcome. */
  readonly tries: Readonly<Record<RefundAnswer['outcome'], number>>;
  /** Begins no further try. */
  stop(): void;
}

/** Facts after which another moment may be the next to try. */
const REFUNDING: ReadonlySet<FactType> = new Set<FactType>(['RefundRequested', 'RefundAnswered']);

const CALLS_MAX = 8;
const BEGUN_A_SECOND_MAX = 20;
const SECOND_MS = 1_000;

/** Refunds of one event that are read at once. */
const READ_MAX = 64;

/** A try reads and asks, each within this. */
const CALL_MS_MAX = 10_000;

/** The clock may be moved forward meanwhile. */
const LOOK_MS = 500;

/** Looks a second apart at an event that another node owns, until it is dropped. */
const FOREIGN_LOOKS_MAX = 30;

const NOT_HERE = refuse('ORDER_NOT_FOUND', {});

/** An event with refunds to try. */
interface EventRefunds {
  /** When the next one is due by the service's clock. */
  nextAt: number;
  /** What was read and is not begun yet. */
  due: DueRefund[];
  isReading: boolean;
  /** Facts came since it was read. */
  hasChanged: boolean;
  /** Looks in a row at which another node owned it. */
  foreignLooks: number;
}

const NOT_READ = { nextAt: 0, isReading: false, hasChanged: true, foreignLooks: 0 };

class Pace {
  running = 0;
  /** When the last tries began. */
  readonly #begins: number[] = [];
  readonly #elapsedMs: () => number;

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
  }

  get hasRoom(): boolean {
    const isFast = this.#begins.length === BEGUN_A_SECOND_MAX && this.#begins[0]! + SECOND_MS > this.#elapsedMs();
    return this.running < CALLS_MAX && !isFast;
  }

  begin(): void {
    this.running += 1;
    this.#begins.push(this.#elapsedMs());
    if (this.#begins.length > BEGUN_A_SECOND_MAX) this.#begins.shift();
  }
}

export function openRefundOutbox(ports: RefundOutboxPorts): RefundOutbox {
  return new Outbox(ports);
}

class Outbox implements RefundOutbox {
  readonly tries = { SUCCEEDED: 0, PENDING: 0, FAILED: 0, REFUSED: 0, UNCLEAR: 0 };
  readonly #ports: RefundOutboxPorts;
  readonly #events = new Map<string, EventRefunds>();
  readonly #underWay = new Set<string>();
  readonly #paces: Readonly<Record<PaymentProviderName, Pace>>;
  readonly #stopping = new AbortController();
  readonly #lookAfter: NonNullable<RefundOutboxPorts['lookAfter']>;
  #timer: NodeJS.Timeout | undefined;
  #isPumpDue = false;
  #failures = 0;

  constructor(ports: RefundOutboxPorts) {
    this.#ports = ports;
    this.#lookAfter = ports.lookAfter ?? ((look, ms) => this.#setTimer(look, ms));
    this.#paces = { provider_a: new Pace(ports.elapsedMs), provider_b: new Pace(ports.elapsedMs) };
    turnChannel.subscribe(this.#onTurn);
    activationChannel.subscribe(this.#onActivation);
  }

  stop(): void {
    turnChannel.unsubscribe(this.#onTurn);
    activationChannel.unsubscribe(this.#onActivation);
    this.#stopping.abort();
    clearTimeout(this.#timer);
  }

  // The channels are shared by the process: an event of another service is not found here and leaves the list.
  readonly #onTurn = (message: unknown): void => {
    const { eventId, facts } = message as TurnMessage;
    if (facts.some(({ type }) => REFUNDING.has(type))) this.#note(eventId);
  };

  readonly #onActivation = (message: unknown): void => {
    const { eventId, alive } = message as ActivationMessage;
    // A reading that activates the event sees what it was activated with.
    if (alive && this.#events.get(eventId)?.isReading !== true) this.#note(eventId);
  };

  #note(eventId: string): void {
    const known = this.#events.get(eventId);
    if (known === undefined) this.#events.set(eventId, { ...NOT_READ, due: [] });
    else known.hasChanged = true;
    this.#pumpSoon();
  }

  #pumpSoon(): void {
    if (this.#isPumpDue || this.#stopping.signal.aborted) return;
    this.#isPumpDue = true;
    setImmediate(() => {
      this.#isPumpDue = false;
      this.#pump();
    });
  }

  /** Begins what is due and has room, and looks again later. */
  #pump(): void {
    if (this.#stopping.signal.aborted) return;
    const now = this.#ports.clock.now();
    let hasBegun: boolean;
    do {
      hasBegun = false;
      for (const event of this.#events.values()) if (this.#beginNext(event)) hasBegun = true;
    } while (hasBegun);
    for (const [eventId, event] of this.#events) {
      const isToRead = event.hasChanged || event.nextAt <= now;
      if (isToRead && event.due.length === 0 && !event.isReading) void this.#read(eventId, event);
    }
    if (this.#events.size > 0) this.#lookAfter(() => this.#pump(), this.#lookMs(now));
  }

  #setTimer(look: () => void, ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(look, ms).unref();
  }

  /** Until when nothing is to be done; as long as a place is waited for, the pace decides. */
  #lookMs(now: number): number {
    let ms = LOOK_MS;
    for (const { due, nextAt } of this.#events.values()) {
      if (due.length > 0) return SECOND_MS / BEGUN_A_SECOND_MAX;
      if (nextAt > now) ms = Math.min(ms, nextAt - now);
    }
    return ms;
  }

  async #read(eventId: string, event: EventRefunds): Promise<void> {
    if (!this.#ports.owns(eventId)) return this.#noteForeign(eventId, event);
    event.foreignLooks = 0;
    event.isReading = true;
    event.hasChanged = false;
    try {
      const limit = READ_MAX + this.#underWay.size;
      const found = await readAt(this.#ports.events.byEventId(eventId), null, { type: 'ListDueRefunds', limit });
      if (found === null || found.nextAt === null) {
        if (!event.hasChanged) this.#events.delete(eventId);
        return;
      }
      event.due = found.due.filter(({ refundId }) => !this.#underWay.has(refundId));
      // One that is under way may be due again before its try has ended: no fact follows that.
      event.nextAt = found.due.length === 0 ? found.nextAt : this.#ports.clock.now() + SECOND_MS;
      event.hasChanged ||= event.due.length > 0;
    } catch (error) {
      event.nextAt = this.#ports.clock.now() + SECOND_MS;
      if (!(error instanceof Overloaded)) {
        reportTrouble('payments', 'an event could not be read for refunds to execute', error);
      }
    } finally {
      event.isReading = false;
      if (event.due.length > 0 || event.hasChanged) this.#pumpSoon();
    }
  }

  /** Rule 5. A shard that is being taken over has its events activated before it is owned. */
  #noteForeign(eventId: string, event: EventRefunds): void {
    event.hasChanged = false;
    event.foreignLooks += 1;
    event.nextAt = this.#ports.clock.now() + SECOND_MS;
    if (event.foreignLooks > FOREIGN_LOOKS_MAX) this.#events.delete(eventId);
  }

  /** Begins the next try of an event, where there is one and its provider has room. */
  #beginNext(event: EventRefunds): boolean {
    const [next] = event.due;
    const pace = next && this.#paces[next.provider];
    if (pace?.hasRoom !== true || next === undefined) return false;
    event.due.shift();
    if (this.#underWay.has(next.refundId)) return true;
    this.#underWay.add(next.refundId);
    pace.begin();
    void this.#try(event, next).finally(() => {
      pace.running -= 1;
      this.#underWay.delete(next.refundId);
      this.#pumpSoon();
    });
    return true;
  }

  async #try(event: EventRefunds, { orderId, refundId, provider, checkoutSessionId }: DueRefund): Promise<void> {
    try {
      const answer = await this.#ask({ orderId, refundId, provider, checkoutSessionId });
      if (answer === null || this.#stopping.signal.aborted) return;
      this.tries[answer.outcome] += 1;
      await executeAt(this.#order(orderId), NOT_HERE, { type: 'AnswerRefund', orderId, refundId, answer });
      if (answer.outcome !== 'UNCLEAR') this.#failures = 0;
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      event.nextAt = Math.min(event.nextAt, this.#ports.clock.now() + SECOND_MS);
      if (!(error instanceof Overloaded)) reportTrouble('payments', 'a try to refund could not be recorded', error);
    }
  }

  #order(orderId: string) {
    return this.#ports.events.byId('ord', orderId);
  }

  /** Asks the provider; null where nothing is left to ask for (rule 1). */
  async #ask({ orderId, refundId, provider, checkoutSessionId }: DueRefund): Promise<RefundAnswer | null> {
    const { refunds } = this.#ports.providers[provider];
    if (refunds === null) return { outcome: 'REFUSED', failure: CANNOT_REFUND };
    if (checkoutSessionId === null) return { outcome: 'REFUSED', failure: NO_SESSION };
    const found = await this.#call((signal) => refunds.listRefunds(checkoutSessionId, signal));
    if ('outcome' in found) return found;
    const matching = { type: 'MatchRefunds', orderId, refundId, found } as const;
    const matched = await executeAt(this.#order(orderId), NOT_HERE, matching);
    if (isRefusal(matched) || matched.request === null) return null;
    const { request } = matched;
    return this.#call((signal) => refunds.refund(request, signal));
  }

  /** The answer of a provider; one that did not come, or says nothing, is UNCLEAR. */
  async #call<Answer>(call: (signal: AbortSignal) => Promise<Answer>): Promise<Answer | RefundAnswer> {
    try {
      return await callWithin(CALL_MS_MAX, this.#stopping.signal, call);
    } catch (error) {
      if (error instanceof ProviderUnavailable && error.isRefusal) {
        return { outcome: 'REFUSED', failure: { code: error.code, message: error.message } };
      }
      this.#failures += 1;
      if (!this.#stopping.signal.aborted && isWorthReporting(this.#failures)) {
        reportTrouble('payments', 'a refund got no clear answer from its provider, and is tried again', error);
      }
      return { outcome: 'UNCLEAR', isAnswered: false };
    }
  }
}

const CANNOT_REFUND = {
  code: 'PROVIDER_CANNOT_REFUND',
  message: 'nothing stands behind this provider that could give money back',
};
const NO_SESSION = {
  code: 'SESSION_UNKNOWN',
  message: 'the provider reported the money without a session, so it cannot be asked for it',
};
