/**
 * Erases the personal data of orders whose retention has passed: at the start, and then every hour, event by event.
 *
 * The event itself decides what is due (`retentionEndsAt`); this module only requests it, a bounded part in each turn.
 *
 * 1. Every event is asked, in memory or not, until nothing is left of it to erase; after that only when its retention
 *    ends at another moment, when it sold something (a date without an end is sold on after its retention), and once
 *    more after a restart. In a cluster each node asks the events that it owns, once more whenever it owns one again:
 *    another node may have sold meanwhile.
 * 2. Orders whose payment is awaited are left, and the event is asked again an hour later.
 * 3. What fails is reported and tried again an hour later; the other events go on.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { turnChannel, type TurnMessage } from '#actors/channels.ts';
import type { EventFinder, EventPort } from '#actors/event-port.ts';
import { reportTrouble } from '#actors/trouble.ts';
import type { Clock } from '#actors/clock.ts';
import type { CommandOf, ReplyTo } from '#domain/command.ts';
import type { PastRetention } from '#actors/event-index.ts';

export interface ErasedByRetention {
  readonly eventId: string;
  readonly erasedOrders: number;
  /** Orders with open data of an earlier version: they cannot be erased before the folder is sealed. */
  readonly unsealedOrders: number;
}

interface RetentionSchedulePorts {
  readonly clock: Clock;
  readonly events: Pick<EventFinder, 'byEventId'>;
  /** The events whose retention has passed, of those that are asked here. */
  pastRetention(): readonly PastRetention[];
  /** Whether a round may begin, or go on, now. */
  mayErase(): boolean;
  /** Called for an event of which something was erased, or cannot be. */
  onErased(erased: ErasedByRetention): void;
  /** Between two readings of the clock. */
  readonly checkEveryMs?: number;
}

export interface RetentionSchedule {
  /** Erases what is due when it is time; resolves when that is over. */
  eraseWhenDue(): Promise<void>;
  stop(): void;
}

const CHECK_EVERY_MS = 60_000;
const ROUND_EVERY_MS = 3_600_000;

/** Orders of one turn: a fact each, some milliseconds. */
const ORDERS_A_TURN = 200;

/** Begins with a round at once. */
export function startRetentionSchedule(ports: RetentionSchedulePorts): RetentionSchedule {
  const rounds = new RetentionRounds(ports);
  const interval = setInterval(() => void rounds.eraseWhenDue(), ports.checkEveryMs ?? CHECK_EVERY_MS);
  interval.unref();
  void rounds.eraseWhenDue();
  return {
    eraseWhenDue: () => rounds.eraseWhenDue(),
    stop() {
      rounds.stop();
      clearInterval(interval);
    },
  };
}

class RetentionRounds {
  readonly #ports: RetentionSchedulePorts;
  /** Events of which nothing is left to erase, and the one that is being asked, each as it was listed then (rule 1). */
  readonly #done = new Map<string, PastRetention>();
  #underWay: Promise<void> | null = null;
  #nextRoundAt = 0;
  #isStopped = false;

  constructor(ports: RetentionSchedulePorts) {
    this.#ports = ports;
    turnChannel.subscribe(this.#onTurn);
  }

  eraseWhenDue(): Promise<void> {
    if (this.#underWay !== null) return this.#underWay;
    if (this.#ports.clock.now() < this.#nextRoundAt || !this.#mayErase()) return Promise.resolve();
    this.#underWay = this.#round().finally(() => (this.#underWay = null));
    return this.#underWay;
  }

  stop(): void {
    this.#isStopped = true;
    turnChannel.unsubscribe(this.#onTurn);
  }

  readonly #onTurn = (message: unknown): void => {
    const { eventId, facts } = message as TurnMessage;
    if (this.#done.has(eventId) && facts.some(({ type }) => type === 'OrderPlaced')) this.#done.delete(eventId);
  };

  #mayErase(): boolean {
    return !this.#isStopped && this.#ports.mayErase();
  }

  async #round(): Promise<void> {
    this.#nextRoundAt = this.#ports.clock.now() + ROUND_EVERY_MS;
    for (const past of this.#ports.pastRetention()) {
      if (!this.#mayErase()) return;
      const { eventId } = past;
      if (isDeepStrictEqual(this.#done.get(eventId), past)) continue;
      // Noted before the event is asked, so that a sale meanwhile makes the note invalid.
      this.#done.set(eventId, past);
      try {
        if (!(await this.#eraseAll(eventId))) this.#done.delete(eventId);
      } catch (error) {
        this.#done.delete(eventId);
        reportTrouble('retention', `${eventId}: personal data past its retention is erased later`, error);
      }
      await nextRound();
    }
  }

  /** Returns whether nothing is left of the event to erase. */
  async #eraseAll(eventId: string): Promise<boolean> {
    const event = await this.#ports.events.byEventId(eventId);
    if (event === null) return false;
    let erasedOrders = 0;
    let unsealedOrders = 0;
    let after: number | null = null;
    do {
      const command: CommandOf<'EraseDueOrders'> = { type: 'EraseDueOrders', after, limit: ORDERS_A_TURN };
      const answer: ReplyTo<'EraseDueOrders'> | Refusal = await event.execute(command);
      if (isRefusal(answer)) return false;
      erasedOrders += answer.erasedOrders;
      ({ unsealedOrders, nextAfter: after } = answer);
      await nextRound();
    } while (after !== null && this.#mayErase());
    if (erasedOrders > 0 || unsealedOrders > 0) this.#ports.onErased({ eventId, erasedOrders, unsealedOrders });
    return after === null && !(await hasPending(event));
  }
}

/** Whether an order awaits its payment (rule 2). */
async function hasPending(event: EventPort): Promise<boolean> {
  const query = { type: 'ListOrders', status: 'PENDING', email: null, after: null, limit: 1, ticketsMax: 0 } as const;
  return (await event.read(query)).orders.length > 0;
}
