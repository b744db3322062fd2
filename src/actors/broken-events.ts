/**
 * The events that cannot be activated: which they are, and when the next try is due. Activation itself belongs to
 * `actor-pool.ts`.
 *
 * A broken event is refused for itself alone, left out of lists and shown to operators. It is tried again after pauses
 * that grow, because its replay may be long and requests for it may come all the time.
 */
import { reportTrouble } from './trouble.ts';
import { Overloaded } from './admission.ts';
import type { Clock } from './clock.ts';

interface BrokenEvent {
  failures: number;
  retryAt: number;
  cause: unknown;
}

const FIRST_PAUSE_MS = 1_000;
const PAUSE_MS_MAX = 60_000;

export class BrokenEvents {
  readonly #clock: Clock;
  readonly #events = new Map<string, BrokenEvent>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#events.size;
  }

  /** At most so many ids, the ones that broke first. */
  ids(max: number): readonly string[] {
    return [...this.#events.keys()].slice(0, max);
  }

  /** The refusal of an event whose next try is not due yet; null when it may be tried. */
  refusalOf(eventId: string): Overloaded | null {
    const broken = this.#events.get(eventId);
    if (broken === undefined || broken.retryAt <= this.#clock.now()) return null;
    return this.#refusal(eventId, broken);
  }

  /** Notes a try that failed; returns the error for the request that caused it. */
  noteFailure(eventId: string, cause: unknown): Overloaded {
    const failures = (this.#events.get(eventId)?.failures ?? 0) + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), PAUSE_MS_MAX);
    const broken = { failures, retryAt: this.#clock.now() + pauseMs, cause };
    this.#events.set(eventId, broken);
    if (failures === 1)
      reportTrouble('activation', `${eventId} cannot be activated; it answers 503 until it can`, cause);
    return this.#refusal(eventId, broken);
  }

  /** The event was activated, or is forgotten. */
  noteMended(eventId: string): void {
    if (this.#events.delete(eventId)) reportTrouble('activation', `${eventId} can be activated again`);
  }

  #refusal(eventId: string, { retryAt, cause }: BrokenEvent): Overloaded {
    const seconds = Math.max(1, Math.ceil((retryAt - this.#clock.now()) / 1_000));
    return new Overloaded(`${eventId} cannot be activated`, seconds, cause, eventId);
  }
}
