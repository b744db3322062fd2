/**
 * Expires sessions at their provider once their order cannot use their money: the order or its amendment has ended, or
 * another session was paid.
 *
 * Owns the list of orders whose sessions are to be expired, and the pauses between tries. It learns of these orders
 * from the facts of turns, and its calls to providers delay neither a turn nor a buyer.
 *
 * 1. A session is expired only after the fact that made it useless is durable.
 * 2. A failed call is repeated after pauses that grow from a second to five minutes, until the session has ended by
 *    itself.
 * 3. The list is kept in memory only. After a start, each event is scanned once when it is activated. So is an event
 *    that ended more orders than the list takes, such as one whose date was cancelled, once there is room again.
 * 4. A session that could not be expired costs at most a refund: money that it takes is late money.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { turnChannel, type TurnMessage } from '#actors/channels.ts';
import { Overloaded } from '#actors/admission.ts';
import { callWithin, isWorthReporting, reportTrouble, retryPauseMs } from '#actors/trouble.ts';
import { readAt, type EventPort } from '#actors/event-port.ts';
import type { OrderScan, UselessSession } from '#domain/orders/open-sessions.ts';
import type { Fact, FactType } from '#domain/fact.ts';
import type { EventFinderPort, PaymentProviders } from './provider.ts';

interface SessionExpiryPorts {
  readonly providers: PaymentProviders;
  readonly events: EventFinderPort;
  /** The events in memory. */
  readonly active: () => readonly EventPort[];
  /** The first pause after a failure; for tests. */
  readonly firstPauseMs?: number;
  /** Orders on the list; for tests. */
  readonly listedMax?: number;
}

export interface SessionExpiry {
  /**
   * Scans the events that were activated since the last call, and those with more to expire than was listed (rule 3).
   */
  scanActivated(): Promise<void>;
  /** Expires no further session. */
  stop(): void;
}

/** Facts after which an order may have useless sessions. */
const ENDING: ReadonlySet<FactType> = new Set<FactType>([
  'OrderExpired',
  'AmendmentEnded',
  'OrderAmended',
  'OrderCancelled',
  'PaymentRecorded',
  'CheckoutSessionOpened',
]);

/** How many calls run at once, beside those of buyers. */
const CALLS_MAX = 8;

/** Orders on the list; those of further orders are found by a scan (rule 3). */
const LISTED_MAX = 50_000;

const CALL_MS_MAX = 10_000;

/** Orders scanned before other work runs; under 3 ms. */
const SCANNED_A_SLICE = 256;

interface Listed {
  /** Failed tries in a row. */
  failures: number;
  /** The order has changed since its useless sessions were read. */
  hasChanged: boolean;
}

/** Starts expiring sessions; does nothing when no provider has sessions to expire. */
export function openSessionExpiry(ports: SessionExpiryPorts): SessionExpiry {
  const hasSessions = Object.values(ports.providers).some(({ expireSession }) => expireSession !== null);
  if (!hasSessions) return { scanActivated: () => Promise.resolve(), stop: () => {} };
  return new ExpiryList(ports);
}

class ExpiryList implements SessionExpiry {
  readonly #ports: SessionExpiryPorts;
  readonly #listed = new Map<string, Listed>();
  readonly #waiting: string[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #stopping = new AbortController();
  readonly #scanned = new WeakSet<EventPort>();
  readonly #listedMax: number;
  /**
   * Events with orders that found no room on the list, and the order before which the scan goes on; null from the
   * newest.
   */
  readonly #overflowing = new Map<string, number | null>();
  #calls = 0;

  constructor(ports: SessionExpiryPorts) {
    this.#ports = ports;
    this.#listedMax = ports.listedMax ?? LISTED_MAX;
    turnChannel.subscribe(this.#onTurn);
  }

  stop(): void {
    turnChannel.unsubscribe(this.#onTurn);
    this.#stopping.abort();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async scanActivated(): Promise<void> {
    for (const event of this.#ports.active()) {
      const { eventId } = event;
      const left = this.#overflowing.get(eventId);
      if (this.#scanned.has(event) && (left === undefined || this.#listed.size * 2 > this.#listedMax)) continue;
      this.#overflowing.delete(eventId);
      try {
        await this.#scan(event, left ?? null);
        this.#scanned.add(event);
      } catch (error) {
        this.#goOnLater(eventId, left ?? null);
        // An event that was evicted meanwhile is scanned when it is activated again.
        if (!(error instanceof Overloaded)) {
          reportTrouble('payments', 'an event could not be scanned for open sessions', error);
        }
      }
    }
  }

  /**
   * A session that was expired is useless still: a scan that found no room goes on where it was, and does not begin
   * anew.
   */
  async #scan(event: EventPort, begin: number | null): Promise<void> {
    let before = begin;
    do {
      if (this.#stopping.signal.aborted) return;
      const from: number | null = before;
      const query = { type: 'ScanUselessSessions', before: from, count: SCANNED_A_SLICE } as const;
      const scan: OrderScan = await event.read(query);
      for (const orderId of scan.orderIds) {
        if (!this.#list(orderId)) return this.#goOnLater(event.eventId, from);
      }
      before = scan.before;
      await nextRound();
    } while (before !== null);
  }

  /** Where orders that ended meanwhile found no room, the next scan begins with the newest anyway. */
  #goOnLater(eventId: string, before: number | null): void {
    if (!this.#overflowing.has(eventId)) this.#overflowing.set(eventId, before);
  }

  // The channel is shared by the process: an order of another service is not found by its id and leaves the list.
  readonly #onTurn = (message: unknown): void => {
    const { eventId, facts } = message as TurnMessage;
    for (const fact of facts) {
      const orderId = orderIdOf(fact);
      if (orderId !== null && !this.#list(orderId)) this.#overflowing.set(eventId, null);
    }
  };

  /** Returns false where the list has no room. */
  #list(orderId: string): boolean {
    const known = this.#listed.get(orderId);
    if (known !== undefined) {
      known.hasChanged = true;
      return true;
    }
    if (this.#stopping.signal.aborted) return true;
    if (this.#listed.size >= this.#listedMax) return false;
    this.#listed.set(orderId, { failures: 0, hasChanged: false });
    this.#waiting.push(orderId);
    this.#start();
    return true;
  }

  #start(): void {
    while (this.#calls < CALLS_MAX && this.#waiting.length > 0 && !this.#stopping.signal.aborted) {
      this.#calls += 1;
      void this.#expireSessionsOf(this.#waiting.shift()!);
    }
  }

  async #expireSessionsOf(orderId: string): Promise<void> {
    const listed = this.#listed.get(orderId)!;
    listed.hasChanged = false;
    try {
      const event = this.#ports.events.byId('ord', orderId);
      const sessions = await readAt(event, [], { type: 'FindUselessSessions', orderId });
      for (const session of sessions) await this.#expire(session);
      if (listed.hasChanged) this.#waiting.push(orderId);
      else this.#listed.delete(orderId);
    } catch (error) {
      if (!this.#stopping.signal.aborted) this.#tryLater(orderId, listed, error);
    } finally {
      this.#calls -= 1;
      this.#start();
    }
  }

  async #expire({ provider, checkoutSessionId }: UselessSession): Promise<void> {
    await callWithin(CALL_MS_MAX, this.#stopping.signal, async (signal) =>
      this.#ports.providers[provider].expireSession?.(checkoutSessionId, signal),
    );
  }

  #tryLater(orderId: string, listed: Listed, error: unknown): void {
    listed.failures += 1;
    if (isWorthReporting(listed.failures)) {
      reportTrouble('payments', 'a session could not be expired at its provider', error);
    }
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        this.#waiting.push(orderId);
        this.#start();
      },
      retryPauseMs(listed.failures, this.#ports.firstPauseMs),
    );
    timer.unref();
    this.#timers.add(timer);
  }
}

function orderIdOf({ type, data }: Fact): string | null {
  return ENDING.has(type) ? (data as { readonly orderId: string }).orderId : null;
}
