/**
 * The one clock of the service (I1): milliseconds since 1970, never backwards.
 *
 * The machine's clock may jump; this one stands still until the machine's has caught up. An offset moves it
 * forward for people who try out a storefront; the offset is a fact, so that a restart does not turn time back.
 * Tests put a source of their own underneath.
 */
export interface Clock {
  /** Never less than any earlier answer, nor than the moment of the last fact. */
  now(): number;
}

export interface ServiceClock extends Clock {
  /** How far the clock runs ahead of its source. */
  readonly offsetMs: number;
  /** Moves the clock forward. */
  advance(byMs: number): void;
  /** Makes sure that the clock does not run behind a moment already recorded. */
  notBefore(moment: number): void;
}

/** Makes a clock over a source of milliseconds. */
export function createClock(source: () => number = Date.now, offsetMs = 0): ServiceClock {
  let offset = offsetMs;
  let last = 0;
  return {
    now() {
      const reading = source() + offset;
      if (reading > last) last = reading;
      return last;
    },
    get offsetMs() {
      return offset;
    },
    advance(byMs) {
      offset += byMs;
    },
    notBefore(moment) {
      if (moment > last) last = moment;
    },
  };
}
