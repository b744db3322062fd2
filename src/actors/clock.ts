/**
 * The one clock of the service (I1): milliseconds since 1970, never backwards.
 *
 * It starts at the machine's clock and goes on by a stopwatch, because the machine's clock may be set. An offset moves
 * it forward in the sandbox; the offset is a fact, so that a restart does not turn time back.
 *
 * 1. Between two readings as much time passes as the stopwatch says: a window never ends early or late because somebody
 *    set the machine's clock.
 * 2. A machine's clock that is off by up to a minute is followed slowly, by a twentieth of the time that passes.
 * 3. A leap by more than a minute is counted, reported, and not followed until the service is restarted.
 * 4. After a restart it stands at the last fact at least. Where that is ahead of the machine's clock, because an
 *    earlier process had a wrong one, it stays ahead, and windows go on by the stopwatch.
 */
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { reportTrouble } from './trouble.ts';

export { stopwatchMs };

export interface Clock {
  /** Never less than any earlier answer, nor than the moment of the last fact. */
  now(): number;
}

export interface ServiceClock extends Clock {
  /** How far somebody moved the clock forward. */
  readonly offsetMs: number;
  /** Leaps of the machine's clock by more than a minute. */
  readonly leaps: number;
  /** Whether the machine's clock is not this one by more than a minute, or leapt in the last minutes. */
  readonly isDegraded: boolean;
  /** The machine's clock with its leaps; other machines compare their clocks with it. */
  machineNow(): number;
  /** Moves the clock forward. */
  advance(byMs: number): void;
  /** Runs work that was requested before and waits for nothing: all of it happens at the moment at which it begins. */
  atOneMoment(work: () => void): void;
}

/** Where time comes from: a clock that may be set, and a stopwatch that only goes on. Both in milliseconds. */
export interface TimeSource {
  wallMs(): number;
  stopwatchMs(): number;
}

interface ClockOptions {
  readonly offsetMs?: number;
  /** A moment that is in the journal already (rule 4). */
  readonly notBefore?: number;
  readonly onLeap?: (leap: ClockLeap) => void;
}

interface ClockLeap {
  readonly byMs: number;
  /** How far the machine's clock is ahead of the service's since then. */
  readonly aheadMs: number;
}

/** Far enough for every sale, and near enough that the ends of its windows still have four digits in their year. */
export const LATEST_MOMENT = Date.UTC(9000, 0, 1);

const LEAP_MS = 60_000;
/** A small difference is reduced by this share of the time that passes (rule 2). */
const CORRECTION_SHARE = 1 / 20;
/** How long a leap is shown after the machine's clock is right again: longer than the interval of any monitor. */
const LEAP_SHOWN_MS = 5 * 60_000;

export const machineSource: TimeSource = { wallMs: () => Date.now(), stopwatchMs };

/** Makes a clock; a source that is one function is also the stopwatch, so no leap of it is noticed. */
export function createClock(
  given: TimeSource | (() => number) = machineSource,
  { offsetMs = 0, notBefore = 0, onLeap = () => {} }: ClockOptions = {},
): ServiceClock {
  const source = typeof given === 'function' ? { wallMs: given, stopwatchMs: given } : given;
  let offset = offsetMs;
  let lastReading = source.stopwatchMs();
  let base = Math.max(source.wallMs(), notBefore - offset);
  let last = notBefore;
  /** While the clock stands still it need not be read. */
  let stands = false;
  /** How far the machine's clock was ahead of this one at the last reading. */
  let aheadMs = 0;
  let leaps = 0;
  let leaptAt = Number.NEGATIVE_INFINITY;

  const read = (): number => {
    const reading = source.stopwatchMs();
    const passedMs = Math.max(0, reading - lastReading);
    lastReading = reading;
    base += passedMs;
    const wall = source.wallMs();
    const byMs = wall - base - aheadMs;
    if (Math.abs(byMs) > LEAP_MS) {
      leaps += 1;
      leaptAt = lastReading;
      onLeap({ byMs, aheadMs: wall - base });
    }
    const correctionMs = passedMs * CORRECTION_SHARE;
    if (Math.abs(wall - base) <= LEAP_MS) base += Math.min(correctionMs, Math.max(-correctionMs, wall - base));
    aheadMs = wall - base;
    return Math.floor(base) + offset;
  };

  return {
    now() {
      if (!stands) last = Math.max(last, read());
      return last;
    },
    get offsetMs() {
      return offset;
    },
    get leaps() {
      read();
      return leaps;
    },
    get isDegraded() {
      read();
      return Math.abs(aheadMs) > LEAP_MS || lastReading - leaptAt < LEAP_SHOWN_MS;
    },
    machineNow: () => source.wallMs(),
    advance(byMs) {
      offset += byMs;
    },
    atOneMoment(work) {
      last = Math.max(last, read());
      stands = true;
      try {
        work();
      } finally {
        stands = false;
      }
    },
  };
}

/** Reports a leap to operators; the default of `createClock` is silent. */
export function reportLeap({ byMs, aheadMs }: ClockLeap): void {
  const seconds = (ms: number): string => `${Math.round(Math.abs(ms) / 1000)} s`;
  const leap = `the machine's clock leapt ${byMs > 0 ? 'ahead' : 'back'} by ${seconds(byMs)}`;
  const now = `it is ${seconds(aheadMs)} ${aheadMs > 0 ? 'ahead of' : 'behind'} the service's, which goes on by a stopwatch`;
  reportTrouble('clock', `${leap}; ${now}. When the machine's clock is right, restart the service to take it over`);
}
