/**
 * How far notifications were delivered, when facts get other sequence numbers: the cursor of every shard becomes one cursor, or one
 * becomes the cursor of every shard.
 *
 * 1. A fact was delivered in the new numbering exactly when it was in the old one: nothing is left out and nothing is sent twice.
 * 2. Facts that can have no message count as delivered, so that the cursor lists only events with something to deliver.
 */
import type { NotificationCursor } from '#actors/service-facts.ts';

/** The facts that a cursor does not cover yet, by event. */
export class UndeliveredFacts {
  readonly #behind = new Map<string, number>();

  /** Notes a fact under its new number, when the cursor of its old numbering does not cover it. */
  see(cursor: NotificationCursor | null, oldSeq: number, eventId: string, newSeq: number): void {
    if (cursor === null || oldSeq <= (cursor.behind[eventId] ?? cursor.throughSeq)) return;
    if (!this.#behind.has(eventId)) this.#behind.set(eventId, newSeq - 1);
  }

  /** The cursor of the new numbering, whose newest fact is `throughSeq`. */
  cursor(throughSeq: number): NotificationCursor {
    return { throughSeq, behind: Object.fromEntries(this.#behind) };
  }
}
