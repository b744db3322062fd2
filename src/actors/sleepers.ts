/**
 * What is kept of events that sleep: who waits there, and when each of them was last seen.
 *
 * A poll is not in the journal, so an event that comes alive from the disk knows nobody's. After a restart everybody counts as just
 * seen. Where more events with waiting rooms are awake by turns than memory has room for that would never end: with every
 * awakening ghosts would be taken for people, hold their places, use up admissions and wake the event again. Called by `directory.ts`.
 *
 * 1. Nobody can be seen at an event that sleeps, because a poll wakes it: what was known when it fell asleep is exact.
 * 2. No more than `lastSeenMax` people are remembered over all events (I10); the event that fell asleep first is forgotten first.
 *    Of a forgotten one the moment it fell asleep stays, one number an event: everybody counts as seen then, so patience still ends.
 */
import type { LastSeen } from '#domain/waiting-room/last-seen.ts';

/** What an event knew when it fell asleep; without `sightings` everybody was seen at `since` at the latest. */
export interface Sleep {
  readonly since: number;
  readonly sightings: readonly LastSeen[] | null;
}

/** Some 8 MB, and 5 ms to go through when all are of one event. */
const SIGHTINGS_MAX = 50_000;

export class Sleepers {
  readonly lastSeenMax: number;
  readonly #since = new Map<string, number>();
  /** By event, the one that fell asleep first first. */
  readonly #sightings = new Map<string, readonly LastSeen[]>();
  #count = 0;

  constructor(lastSeenMax = SIGHTINGS_MAX) {
    this.lastSeenMax = lastSeenMax;
  }

  /** An event falls asleep; of one where nobody waits nothing need be kept. */
  fallAsleep(eventId: string, { since, sightings }: Sleep): void {
    this.awaken(eventId);
    if (sightings?.length === 0) return;
    this.#since.set(eventId, since);
    if (sightings === null || sightings.length > this.lastSeenMax) return;
    this.#sightings.set(eventId, sightings);
    this.#count += sightings.length;
    for (const oldest of this.#sightings.keys()) {
      if (this.#count <= this.lastSeenMax) return;
      this.#forget(oldest);
    }
  }

  /** Takes out what is known of an event that wakes up; null when nobody waited or it never slept. */
  awaken(eventId: string): Sleep | null {
    const since = this.#since.get(eventId);
    if (since === undefined) return null;
    const sightings = this.#sightings.get(eventId) ?? null;
    this.#since.delete(eventId);
    this.#forget(eventId);
    return { since, sightings };
  }

  /** While nothing could be written nobody could be seen either: everybody counts as just seen when it is over. */
  forgetAll(): void {
    this.#since.clear();
    this.#sightings.clear();
    this.#count = 0;
  }

  #forget(eventId: string): void {
    this.#count -= this.#sightings.get(eventId)?.length ?? 0;
    this.#sightings.delete(eventId);
  }
}
