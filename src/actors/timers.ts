import FlatQueue from 'flatqueue';
import type { Clock } from './clock.ts';

/**
 * Wakes box offices when something of theirs runs out.
 *
 * Nothing depends on a timer being punctual: every turn and every read settles what is due first. Timers see to it that
 * what nobody asks about is settled as well. They look at the service's clock, so a clock that jumps wakes everybody late.
 */
export interface Timers {
  /** Notes that an event has something due at a moment. */
  schedule(eventId: string, at: number): void;
  stop(): void;
}

/** How often the clock is looked at while something waits. */
const TICK_MS = 50;

/** Events woken in one tick; the rest follow in the next. */
const WAKES_PER_TICK_MAX = 200;

export function startTimers(clock: Clock, wake: (eventId: string) => void): Timers {
  const heap = new FlatQueue<string>();
  /** The earliest moment noted of each event; a heap entry that is not it has been overtaken. */
  const earliest = new Map<string, number>();
  const tick = (): void => {
    const now = clock.now();
    for (let woken = 0; woken < WAKES_PER_TICK_MAX && (heap.peekValue() ?? Number.POSITIVE_INFINITY) <= now;) {
      const at = heap.peekValue();
      const eventId = heap.pop()!;
      if (earliest.get(eventId) !== at) continue;
      earliest.delete(eventId);
      woken += 1;
      wake(eventId);
    }
  };
  const interval = setInterval(tick, TICK_MS);
  interval.unref();
  return {
    schedule(eventId, at) {
      const known = earliest.get(eventId);
      if (known !== undefined && known <= at) return;
      earliest.set(eventId, at);
      heap.push(eventId, at);
    },
    stop: () => clearInterval(interval),
  };
}
