/**
 * Expires sessions at their provider once no order can use their money: an order has ended, or another session has paid.
 *
 * Owns the list of orders whose sessions are still to be expired, and the pauses between tries. It holds no turn and no buyer's
 * call: it follows the facts of turns and asks the providers with calls of its own.
 *
 * 1. Nothing is expired before what made it useless is durable.
 * 2. What failed is tried again after pauses that grow from a second to five minutes, until the session is over by itself.
 * 3. The list is soft: after a start, an event that comes alive is looked through once for sessions that were left open.
 * 4. A session that could not be expired costs nothing but a refund: money that comes through it is late money.
 */
import { turnChannel, troubleChannel, type TroubleMessage, type TurnMessage } from '#actors/channels.ts';
import { Overloaded } from '#actors/overloaded.ts';
import { scanForUselessSessions, uselessSessions, type OrderScan, type UselessSession } from '#domain/open-sessions.ts';
import type { Fact, FactType } from '#domain/fact.ts';
import type { OfficePort, OfficesPort } from './ports.ts';
import type { PaymentProviders } from './provider.ts';

export interface SessionCloserPorts {
  readonly providers: PaymentProviders;
  readonly offices: OfficesPort;
  /** The box offices that are awake. */
  readonly awake: () => readonly OfficePort[];
  /** The first pause after a failure; for tests. */
  readonly firstPauseMs?: number;
}

export interface SessionCloser {
  /** Looks through the events that came alive since the last call (3). */
  lookThrough(): Promise<void>;
  /** Expires nothing more. */
  stop(): void;
}

/** Facts after which an order may have useless sessions. */
const ENDING: ReadonlySet<FactType> = new Set<FactType>([
  'OrderExpired',
  'OrderCancelled',
  'PaymentRecorded',
  'CheckoutSessionOpened',
]);

/** Calls at once, beside those of buyers. */
const CALLS_MAX = 8;

/** Orders on the list; the sessions of more than that are left to end by themselves (4). */
const LISTED_MAX = 50_000;

const CALL_MS_MAX = 10_000;
const FIRST_PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 300_000;

/** Orders looked through without giving the loop back; under 3 ms. */
const SCANNED_A_SLICE = 256;

interface Listed {
  /** In a row. */
  failures: number;
  /** Something happened to the order since its sessions were asked for. */
  hasChanged: boolean;
}

/** Starts following the turns; where no provider has sessions to expire, nothing is followed. */
export function openSessionCloser(ports: SessionCloserPorts): SessionCloser {
  const hasSessions = Object.values(ports.providers).some(({ expireSession }) => expireSession !== null);
  if (!hasSessions) return { lookThrough: () => Promise.resolve(), stop: () => {} };
  return new TurnFollower(ports);
}

class TurnFollower implements SessionCloser {
  readonly #ports: SessionCloserPorts;
  readonly #firstPauseMs: number;
  /** Orders to be seen to. */
  readonly #listed = new Map<string, Listed>();
  readonly #waiting: string[] = [];
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #stopping = new AbortController();
  readonly #known = new WeakSet<OfficePort>();
  #calls = 0;

  constructor(ports: SessionCloserPorts) {
    this.#ports = ports;
    this.#firstPauseMs = ports.firstPauseMs ?? FIRST_PAUSE_MS;
    turnChannel.subscribe(this.#follow);
  }

  stop(): void {
    turnChannel.unsubscribe(this.#follow);
    this.#stopping.abort();
    for (const timer of this.#timers) clearTimeout(timer);
  }

  async lookThrough(): Promise<void> {
    for (const office of this.#ports.awake()) {
      if (this.#known.has(office)) continue;
      try {
        await this.#lookThroughOne(office);
        this.#known.add(office);
      } catch (error) {
        // Put to sleep, or activated again: who comes alive is new, and the others are not to wait for it.
        if (!(error instanceof Overloaded)) report('an event could not be looked through for open sessions', error);
      }
    }
  }

  async #lookThroughOne(office: OfficePort): Promise<void> {
    let before: number | null = null;
    do {
      if (this.#stopping.signal.aborted) return;
      const from: number | null = before;
      const scan: OrderScan = office.look((state, now) => scanForUselessSessions(state, now, from, SCANNED_A_SLICE));
      for (const orderId of scan.orderIds) this.#list(orderId);
      before = scan.before;
      await new Promise((resolve) => setImmediate(resolve));
    } while (before !== null);
  }

  // The channel is the process's: an order that is not this service's is found nowhere and forgotten.
  readonly #follow = (message: unknown): void => {
    for (const fact of (message as TurnMessage).facts) {
      const orderId = orderIdOf(fact);
      if (orderId !== null) this.#list(orderId);
    }
  };

  #list(orderId: string): void {
    const known = this.#listed.get(orderId);
    if (known !== undefined) {
      known.hasChanged = true;
      return;
    }
    if (this.#stopping.signal.aborted) return;
    if (this.#listed.size >= LISTED_MAX)
      return report('too many orders have sessions to expire; some are left open', null);
    this.#listed.set(orderId, { failures: 0, hasChanged: false });
    this.#waiting.push(orderId);
    this.#start();
  }

  #start(): void {
    while (this.#calls < CALLS_MAX && this.#waiting.length > 0 && !this.#stopping.signal.aborted) {
      this.#calls += 1;
      void this.#seeTo(this.#waiting.shift()!);
    }
  }

  async #seeTo(orderId: string): Promise<void> {
    const listed = this.#listed.get(orderId)!;
    listed.hasChanged = false;
    try {
      const office = await this.#ports.offices.byId('ord', orderId);
      const sessions = (await office?.lookDurably((state, now) => uselessSessions(state, orderId, now))) ?? [];
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
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(CALL_MS_MAX)]);
    await this.#ports.providers[provider].expireSession?.(checkoutSessionId, signal);
  }

  #tryLater(orderId: string, listed: Listed, error: unknown): void {
    listed.failures += 1;
    const { failures } = listed;
    if ((failures & (failures - 1)) === 0) report('a session could not be expired at its provider', error);
    const pauseMs = Math.min(this.#firstPauseMs * 2 ** (failures - 1), PAUSE_MS_MAX);
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.#waiting.push(orderId);
      this.#start();
    }, pauseMs);
    timer.unref();
    this.#timers.add(timer);
  }
}

function orderIdOf({ type, data }: Fact): string | null {
  return ENDING.has(type) ? (data as { readonly orderId: string }).orderId : null;
}

function report(message: string, error: unknown): void {
  troubleChannel.publish({ where: 'payments', message, error } satisfies TroubleMessage);
}
