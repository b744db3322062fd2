/**
 * What lists show of events, wherever they are: each shard is asked once for all of its events, and not again for a
 * second.
 *
 * 1. A summary is asked for again when it is a second old, or when a notice says that the event has changed.
 * 2. Lists that are read at once share what is asked.
 * 3. What is remembered is bounded, and what was asked last stays (I10).
 */
import type { EventSummary } from '#domain/event/public-view.ts';
import type { Timing } from '#persistence/nats/timing.ts';
import { shardOf } from './placement.ts';
import { FRESH_MS } from './remote-reads.ts';

export interface SummariesPorts {
  readonly shards: number;
  readonly time: Pick<Timing, 'stopwatchMs'>;
  /** The summaries of events of a shard, in their order; null for one that is not published or cannot be activated. */
  readonly ask: (shard: number, eventIds: readonly string[]) => Promise<readonly (EventSummary | null)[]>;
}

interface Asked {
  readonly summary: Promise<EventSummary | null>;
  readonly askedAt: number;
}

const REMEMBERED_MAX = 5_000;

export class Summaries {
  readonly #ports: SummariesPorts;
  /** By event, the one asked longest ago first. */
  readonly #asked = new Map<string, Asked>();

  constructor(ports: SummariesPorts) {
    this.#ports = ports;
  }

  /** The events have changed. */
  forget(eventIds: readonly string[]): void {
    for (const eventId of eventIds) this.#asked.delete(eventId);
  }

  /** The summaries of published events, in the order of the ids. */
  async read(eventIds: readonly string[]): Promise<readonly EventSummary[]> {
    this.#askFor(eventIds.filter((eventId) => !this.#isFresh(eventId)));
    const summaries = await Promise.all(eventIds.map((eventId) => this.#asked.get(eventId)!.summary));
    return summaries.filter((summary) => summary !== null);
  }

  #isFresh(eventId: string): boolean {
    const asked = this.#asked.get(eventId);
    return asked !== undefined && this.#ports.time.stopwatchMs() - asked.askedAt < FRESH_MS;
  }

  #askFor(eventIds: readonly string[]): void {
    const { shards, time, ask } = this.#ports;
    const askedAt = time.stopwatchMs();
    for (const [shard, ids] of Map.groupBy(eventIds, (eventId) => shardOf(eventId, shards))) {
      const answer = ask(shard, ids);
      for (const [index, eventId] of ids.entries()) {
        this.#remember(eventId, { summary: answer.then((summaries) => summaries[index] ?? null), askedAt });
      }
    }
  }

  #remember(eventId: string, asked: Asked): void {
    this.#asked.delete(eventId);
    this.#asked.set(eventId, asked);
    // A list that could not be read is read anew.
    asked.summary.catch(() => this.#asked.get(eventId) === asked && this.#asked.delete(eventId));
    for (const oldest of this.#asked.keys()) {
      if (this.#asked.size <= REMEMBERED_MAX) return;
      this.#asked.delete(oldest);
    }
  }
}
