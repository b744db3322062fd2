/**
 * Has events settled when something in them is due.
 *
 * 1. Nothing depends on a timer being punctual: every turn and every read settles what is due first. Timers see to events that
 *    receive no request. They read the service's clock, so after a leap of that clock everything due is settled late.
 * 2. An event that cannot be activated now, because others are, is tried again after a pause.
 */
import { Overloaded } from './admission.ts';
import { reportTrouble } from './trouble.ts';
import { LazyHeap } from '#domain/collections/lazy-heap.ts';
import type { Clock } from './clock.ts';
import type { StartPlan } from './start-survey.ts';

export interface TimersPorts {
  readonly clock: Clock;
  /** Settles what is due in an event, in memory or not. */
  settleDue(eventId: string): Promise<void>;
  isOver(eventId: string): boolean;
  /** Whether the journal is closed, so that nothing can be settled any more. */
  isClosed(): boolean;
}

export interface Timers {
  /** Notes that something is due in an event at a moment. */
  schedule(eventId: string, at: number): void;
  /** Settles, one event after the other, what ran out while the service was down; events that are over come last. */
  settleOverdue(plan: StartPlan): Promise<void>;
  stop(): void;
}

/** How often the clock is read while something waits. */
const TICK_MS = 50;

/** Events settled in one tick; the rest follow in the next. */
const EVENTS_PER_TICK_MAX = 200;

/** The pause of rule 2. */
const RETRY_MS = 1_000;

export function startTimers({ clock, settleDue, isOver, isClosed }: TimersPorts): Timers {
  const heap = new LazyHeap<string>();
  /** The earliest moment noted of each event; any other heap entry of the event is stale. */
  const earliest = new Map<string, number>();
  const stands = (eventId: string, at: number): boolean => earliest.get(eventId) === at;

  const schedule = (eventId: string, at: number): void => {
    const known = earliest.get(eventId);
    if (known !== undefined && known <= at) return;
    earliest.set(eventId, at);
    heap.add(eventId, at);
  };
  const settle = async (eventId: string): Promise<void> => {
    try {
      await settleDue(eventId);
    } catch (error) {
      if (error instanceof Overloaded) schedule(eventId, clock.now() + RETRY_MS);
      else if (!isClosed()) reportTrouble('activation', `${eventId} could not be activated`, error);
    }
  };
  const tick = (): void => {
    const now = clock.now();
    for (let settled = 0; settled < EVENTS_PER_TICK_MAX; settled += 1) {
      const due = heap.first(stands);
      if (due === null || due.at > now) return;
      earliest.delete(due.item);
      void settle(due.item);
    }
  };
  const interval = setInterval(tick, TICK_MS);
  interval.unref();
  return {
    schedule,
    async settleOverdue({ due, unknown }) {
      const now = clock.now();
      for (const { eventId, at } of due) if (at > now) schedule(eventId, at);
      const overdue = [...due.filter(({ at }) => at <= now).map(({ eventId }) => eventId), ...unknown];
      const over = overdue.filter((eventId) => isOver(eventId));
      for (const eventId of [...overdue.filter((each) => !over.includes(each)), ...over]) {
        if (isClosed()) return;
        await settle(eventId);
      }
    },
    stop: () => clearInterval(interval),
  };
}
