/**
 * Counts how often something happens within a minute, for each key apart: changes of a client, wrong tokens, wrong codes.
 *
 * A key's minute begins with the first that is counted and ends by itself, so that a client who goes on is not locked out for
 * longer. The number of keys is bounded: beyond it the one that was counted longest ago is forgotten.
 */
import { LRUCache } from 'lru-cache';
import type { ClockPort } from './ports.ts';

const WINDOW_MS = 60_000;

export interface RateReading {
  /** More than allowed. */
  readonly isOver: boolean;
  readonly left: number;
  /** Whole seconds until the key's minute ends. */
  readonly secondsLeft: number;
}

export interface RateWindow {
  /** How a key stands, counting nothing. */
  read(key: string): RateReading;
  /** Counts for a key, and says how it stands with that. */
  count(key: string, times?: number): RateReading;
}

export interface RateBounds {
  readonly perMinuteMax: number;
  readonly keysMax: number;
}

/** Makes a counter whose keys may count up to a maximum in a minute of the service's clock. */
export function createRateWindow({ perMinuteMax, keysMax }: RateBounds, clock: ClockPort): RateWindow {
  const windows = new LRUCache<string, { readonly since: number; counted: number }>({ max: keysMax });

  const current = (key: string, now: number): { readonly since: number; counted: number } => {
    const known = windows.get(key);
    const isCurrent = known !== undefined && now >= known.since && now - known.since < WINDOW_MS;
    return isCurrent ? known : { since: now, counted: 0 };
  };
  const readingOf = ({ since, counted }: { readonly since: number; readonly counted: number }, now: number) => ({
    isOver: counted > perMinuteMax,
    left: Math.max(0, perMinuteMax - counted),
    secondsLeft: Math.ceil((since + WINDOW_MS - now) / 1_000),
  });

  return {
    read(key) {
      const now = clock.now();
      return readingOf(current(key, now), now);
    },
    count(key, times = 1) {
      const now = clock.now();
      const window = current(key, now);
      window.counted += times;
      windows.set(key, window);
      return readingOf(window, now);
    },
  };
}
