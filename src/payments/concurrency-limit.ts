/**
 * Limits how many calls to one provider run at once, and shares these places between the events whose calls wait.
 *
 * Owns the places, the waiting calls and the measured pace: how long a call keeps its place.
 *
 * 1. A free place goes to the event that has the fewest calls running, among equal ones to the event that got a place
 *    longest ago. Calls of one event begin in their order of arrival.
 * 2. The time of a call counts from its begin. Once it is over the caller is answered, but the place is free only when
 *    the call has really ended: a provider that hangs is not asked again and again.
 * 3. The pace follows the calls that ended, and at once those that run for longer than these took.
 * 4. A command that will need a call counts as waiting from its arrival, so that those that come at once do not all
 *    find the same room.
 * 5. Every failure becomes ProviderUnavailable.
 */
import { Slots } from '#domain/collections/slots.ts';
import { ProviderUnavailable } from './provider.ts';

interface LimitSettings {
  /** Calls that run at once. */
  readonly placesMax: number;
  /** A call for which this wait is too short at the measured pace is not admitted. */
  readonly waitMsMax: number;
  /** The longest that a call runs before its caller is answered without it. */
  readonly callMsMax: number;
  /** Calls that wait; when several events wait each has its share of them (I10). */
  readonly waitingMax: number;
  /** Milliseconds of any origin. */
  readonly now: () => number;
}

export interface ConcurrencyLimit {
  readonly running: number;
  readonly waiting: number;
  /** Null where a call of the event could begin in time; else the milliseconds after which one might be admitted. */
  refusalMs(eventId: string): number | null;
  /** Counts a command whose call follows (rule 4), until the returned function is called. */
  expectCall(eventId: string): () => void;
  /** Runs the call when it gets a place. Rejects with ProviderUnavailable when it fails or has no time left. */
  run<Result>(eventId: string, call: (signal: AbortSignal) => Promise<Result>): Promise<Result>;
  /** Answers the callers of all calls, and of every later one, without a result. */
  abortAll(): void;
}

/** What one event has at the provider. */
interface Share {
  running: number;
  expected: number;
  /** What begins the calls, in their order of arrival. */
  readonly waiting: Set<() => void>;
  /** When it got a place last, as the number of that call. */
  servedLast: number;
}

/** How long a call takes, until one was measured or runs for longer. */
const CALL_MS_ASSUMED = 250;

/** The measured duration is a mean of about so many calls. */
const CALLS_MEASURED = 64;

/** A call that has waited for so many times `waitMsMax` is given up. */
const WAITS_MAX = 3;

export function createConcurrencyLimit(settings: LimitSettings): ConcurrencyLimit {
  return new SharedPlaces(settings);
}

class SharedPlaces implements ConcurrencyLimit {
  readonly #settings: LimitSettings;
  readonly #shares = new Map<string, Share>();
  /** What ends the calls that run and those that wait. */
  readonly #aborts = new Slots<() => void>();
  #running = 0;
  #waiting = 0;
  #served = 0;
  /** The sum of the moments at which the calls that run began. */
  #begins = 0;
  #meanMs = CALL_MS_ASSUMED;
  #measured = 0;
  #isAborted = false;

  constructor(settings: LimitSettings) {
    this.#settings = settings;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#waiting;
  }

  refusalMs(eventId: string): number | null {
    const { placesMax, waitMsMax, waitingMax } = this.#settings;
    const own = queued(this.#shares.get(eventId));
    // Between two calls of one event every other event that waits gets one place.
    let ahead = own;
    let events = 1;
    for (const [id, share] of this.#shares) {
      if (id === eventId || queued(share) === 0) continue;
      ahead += Math.min(queued(share), own + 1);
      events += 1;
    }
    const isBeyondShare = own * events >= waitingMax;
    const behindFree = ahead + 1 - (placesMax - this.#running);
    if (behindFree <= 0 && !isBeyondShare) return null;
    const waitMs = (behindFree * this.#callMs()) / placesMax;
    return waitMs <= waitMsMax && !isBeyondShare ? null : Math.max(1, waitMs - waitMsMax);
  }

  expectCall(eventId: string): () => void {
    const share = this.#shareOf(eventId);
    share.expected += 1;
    return () => {
      share.expected -= 1;
      this.#forget(eventId, share);
    };
  }

  async run<Result>(eventId: string, call: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    if (this.#isAborted) throw timeIsUp();
    const share = this.#shareOf(eventId);
    const hasRoom = this.#running < this.#settings.placesMax;
    const begin = hasRoom ? this.#take(share) : await this.#wait(eventId, share);
    return this.#run(eventId, share, begin, call);
  }

  abortAll(): void {
    this.#isAborted = true;
    for (const abort of this.#aborts.values()) abort();
  }

  /** The time for which a call keeps its place (rule 3). */
  #callMs(): number {
    const ageMs = this.#running === 0 ? 0 : this.#settings.now() - this.#begins / this.#running;
    return Math.max(this.#meanMs, ageMs);
  }

  #shareOf(eventId: string): Share {
    const known = this.#shares.get(eventId);
    if (known !== undefined) return known;
    const share: Share = { running: 0, expected: 0, waiting: new Set(), servedLast: 0 };
    this.#shares.set(eventId, share);
    return share;
  }

  #forget(eventId: string, share: Share): void {
    if (share.running + queued(share) === 0) this.#shares.delete(eventId);
  }

  /** Takes a place; returns the moment at which the call begins. */
  #take(share: Share): number {
    const begin = this.#settings.now();
    this.#begins += begin;
    this.#running += 1;
    share.running += 1;
    share.servedLast = this.#served += 1;
    return begin;
  }

  #wait(eventId: string, share: Share): Promise<number> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timer);
        this.#aborts.take(abort);
        share.waiting.delete(begin);
        this.#waiting -= 1;
      };
      const begin = (): void => {
        leave();
        resolve(this.#take(share));
      };
      const giveUp = (): void => {
        leave();
        this.#forget(eventId, share);
        reject(timeIsUp());
      };
      const timer = setTimeout(giveUp, this.#settings.waitMsMax * WAITS_MAX);
      const abort = this.#aborts.add(giveUp);
      share.waiting.add(begin);
      this.#waiting += 1;
    });
  }

  #run<Result>(
    eventId: string,
    share: Share,
    begin: number,
    call: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const controller = new AbortController();
    return new Promise<Result>((resolve, reject) => {
      const giveUp = (): void => {
        controller.abort();
        reject(timeIsUp());
      };
      const timer = setTimeout(giveUp, this.#settings.callMsMax);
      const abort = this.#aborts.add(giveUp);
      const end = (): void => {
        clearTimeout(timer);
        this.#aborts.take(abort);
        this.#release(eventId, share, begin);
      };
      const failed = (error: unknown): void => {
        end();
        const isOurs = error instanceof ProviderUnavailable;
        reject(isOurs ? error : new ProviderUnavailable('the provider could not be asked', error));
      };
      call(controller.signal).then((result) => {
        end();
        resolve(result);
      }, failed);
    });
  }

  /** Measures the call and hands its place on (rule 1). */
  #release(eventId: string, share: Share, begin: number): void {
    this.#begins -= begin;
    this.#measured = Math.min(this.#measured + 1, CALLS_MEASURED);
    this.#meanMs += (this.#settings.now() - begin - this.#meanMs) / this.#measured;
    this.#running -= 1;
    share.running -= 1;
    this.#forget(eventId, share);
    let next: Share | null = null;
    for (const each of this.#shares.values()) {
      if (each.waiting.size > 0 && (next === null || isBefore(each, next))) next = each;
    }
    const [beginNext] = next?.waiting ?? [];
    beginNext?.();
  }
}

function isBefore(a: Share, b: Share): boolean {
  return a.running === b.running ? a.servedLast < b.servedLast : a.running < b.running;
}

/** The calls of an event that have no place yet. */
function queued(share: Share | undefined): number {
  return share === undefined ? 0 : share.waiting.size + share.expected;
}

function timeIsUp(): ProviderUnavailable {
  return new ProviderUnavailable('the provider took too long');
}
