/**
 * Settles events when something in them is due.
 *
 * 1. Nothing depends on a timer being punctual: every turn and every read settles what is due first. Timers serve
 *    events that receive no request. They read the service's clock, so after a leap of that clock everything due is
 *    settled late.
 * 2. An event that cannot be activated now, because too many others are active, is tried again after a pause.
 * 3. One timer is set, to the next due moment, and none when nothing is due: each firing costs an idle service
 *    processor time. It fires at least every `LOOK_MS`, because meanwhile the service's clock may be moved forward or
 *    follow the machine's clock.
 */
import { Overloaded } from '#actors/admission.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { reportTrouble } from '#actors/trouble.ts';
import { LazyHeap } from '#domain/collections/lazy-heap.ts';
import type { Clock } from '#actors/clock.ts';
import type { StartPlan } from './start-survey.ts';

interface TimersPorts {
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

/** The longest wait for one reading of the clock while something is scheduled. */
const LOOK_MS = 1_000;

/** Events settled in one go, and how long that may take; the rest follow after what else the event loop has to do. */
const EVENTS_AT_ONCE_MAX = 200;
const SLICE_MS = 5;

/** The pause of rule 2. */
const RETRY_MS = 1_000;

export function startTimers({ clock, settleDue, isOver, isClosed }: TimersPorts): Timers {
  const heap = new LazyHeap<string>();
  /** The earliest moment noted of each event; any other heap entry of the event is stale. */
  const earliest = new Map<string, number>();
  const stands = (eventId: string, at: number): boolean => earliest.get(eventId) === at;

  let timer: NodeJS.Timeout | undefined;
  /** The moment that the timer stands at; Infinity without a timer. */
  let standsAt = Number.POSITIVE_INFINITY;
  let isStopped = false;

  const setTimer = (): void => {
    clearTimeout(timer);
    standsAt = isStopped ? Number.POSITIVE_INFINITY : (heap.first(stands)?.at ?? Number.POSITIVE_INFINITY);
    if (standsAt === Number.POSITIVE_INFINITY) return;
    timer = setTimeout(look, Math.min(Math.max(0, standsAt - clock.now()), LOOK_MS)).unref();
  };
  const schedule = (eventId: string, at: number): void => {
    const known = earliest.get(eventId);
    if (known !== undefined && known <= at) return;
    earliest.set(eventId, at);
    heap.add(eventId, at);
    if (at < standsAt) setTimer();
  };
  const settle = async (eventId: string): Promise<void> => {
    try {
      await settleDue(eventId);
    } catch (error) {
      if (error instanceof Overloaded) schedule(eventId, clock.now() + RETRY_MS);
      else if (!isClosed()) reportTrouble('activation', `${eventId} could not be activated`, error);
    }
  };
  /** An event with more work is due again at once: it is settled at the next firing. */
  const settleDueEvents = (): void => {
    const now = clock.now();
    const begin = stopwatchMs();
    const settled = new Set<string>();
    while (settled.size < EVENTS_AT_ONCE_MAX && stopwatchMs() - begin < SLICE_MS) {
      const due = heap.first(stands);
      if (due === null || due.at > now || settled.has(due.item)) return;
      settled.add(due.item);
      earliest.delete(due.item);
      void settle(due.item);
    }
  };
  const look = (): void => {
    // Settling schedules what is due next; the timer is set once, afterwards.
    standsAt = Number.NEGATIVE_INFINITY;
    settleDueEvents();
    setTimer();
  };
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
    stop() {
      isStopped = true;
      setTimer();
    },
  };
}
