/**
 * What is remembered of evicted events: when each waiting buyer was last seen.
 *
 * A poll is not in the journal, so an event that is activated from the disk knows of none: after a restart everybody
 * who waits counts as just seen. Without this memory the same would happen with every eviction. Where events with
 * waiting rooms are evicted and activated by turns, buyers who left would then never be dropped, would use up
 * admissions, and would cause the next activation.
 *
 * 1. Nobody can be seen in an evicted event, because a poll activates it: what was known at the eviction stays exact.
 * 2. No more than `lastSeenMax` buyers are remembered over all events (I10); the event that was evicted first is
 *    forgotten first. Of a forgotten event the moment of its eviction stays, one number an event: everybody counts as
 *    seen at that moment, so entries still become stale.
 */
import type { LastSeen } from '#domain/waiting-room/last-seen.ts';

/** Without `lastSeen` everybody was seen at `since` at the latest. */
export interface EvictedEvent {
  /** The moment of the eviction, in milliseconds since 1970. */
  readonly since: number;
  readonly lastSeen: readonly LastSeen[] | null;
}

/** Some 8 MB, and 5 ms to go through when all are of one event. */
const LAST_SEEN_MAX = 50_000;

export class EvictedEvents {
  readonly lastSeenMax: number;
  readonly #since = new Map<string, number>();
  /** By event, in the order of eviction. */
  readonly #lastSeen = new Map<string, readonly LastSeen[]>();
  #count = 0;

  constructor(lastSeenMax = LAST_SEEN_MAX) {
    this.lastSeenMax = lastSeenMax;
  }

  /** Remembers an event that is being evicted; one in which nobody waits needs no memory. */
  note(eventId: string, { since, lastSeen }: EvictedEvent): void {
    this.take(eventId);
    if (lastSeen?.length === 0) return;
    this.#since.set(eventId, since);
    if (lastSeen === null || lastSeen.length > this.lastSeenMax) return;
    this.#lastSeen.set(eventId, lastSeen);
    this.#count += lastSeen.length;
    for (const oldest of this.#lastSeen.keys()) {
      if (this.#count <= this.lastSeenMax) return;
      this.#forget(oldest);
    }
  }

  /** Takes out what is remembered of an event; null when nobody waited or it was never evicted. */
  take(eventId: string): EvictedEvent | null {
    const since = this.#since.get(eventId);
    if (since === undefined) return null;
    const lastSeen = this.#lastSeen.get(eventId) ?? null;
    this.#since.delete(eventId);
    this.#forget(eventId);
    return { since, lastSeen };
  }

  /** While nothing could be written nobody could be seen either: everybody counts as just seen when that is over. */
  forgetAll(): void {
    this.#since.clear();
    this.#lastSeen.clear();
    this.#count = 0;
  }

  #forget(eventId: string): void {
    this.#count -= this.#lastSeen.get(eventId)?.length ?? 0;
    this.#lastSeen.delete(eventId);
  }
}
