/** When changes of each event were answered, and how long there was none: the gaps of a fault. */

export class AnswerTimes {
  readonly #lastMs = new Map<string, number>();
  readonly #gapsMs = new Map<string, number>();
  /** Events that had an answer since they were expected to. */
  readonly #seen = new Set<string>();
  readonly #now: () => number;

  constructor(eventIds: readonly string[], now: () => number = () => performance.now()) {
    this.#now = now;
    for (const eventId of eventIds) this.#lastMs.set(eventId, now());
  }

  note(eventId: string): void {
    const nowMs = this.#now();
    this.#widen(eventId, nowMs);
    this.#lastMs.set(eventId, nowMs);
    this.#seen.add(eventId);
  }

  /** From now on gaps are measured anew. A gap that is open goes on, from its last answer. */
  begin(): void {
    this.#gapsMs.clear();
    this.expectAll();
  }

  /** From now on no event counts as answered. */
  expectAll(): void {
    this.#seen.clear();
  }

  /** Whether every event was answered since it was expected. */
  get isAnswering(): boolean {
    return this.#seen.size === this.#lastMs.size;
  }

  /** The events that were not. */
  get silent(): readonly string[] {
    return [...this.#lastMs.keys()].filter((eventId) => !this.#seen.has(eventId));
  }

  /** The longest time without an answer since `begin`, by event; one that goes on is included. */
  gapsMs(): ReadonlyMap<string, number> {
    const nowMs = this.#now();
    for (const eventId of this.#lastMs.keys()) this.#widen(eventId, nowMs);
    return new Map(this.#gapsMs);
  }

  #widen(eventId: string, nowMs: number): void {
    const gapMs = nowMs - (this.#lastMs.get(eventId) ?? nowMs);
    this.#gapsMs.set(eventId, Math.max(gapMs, this.#gapsMs.get(eventId) ?? 0));
  }
}
