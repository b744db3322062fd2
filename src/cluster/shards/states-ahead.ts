/**
 * States of a shard's events, made while another node still owns the shard: after the claim an event is activated by
 * what has happened since, however much it has.
 *
 * 1. A state is made on the path of every activation, of the newest snapshot and the rows that were read ahead. Where
 *    that snapshot cannot be read none is made, because the rows begin after it. Whatever goes wrong is left to the
 *    activation after the claim.
 * 2. Only events that have changed since their newest snapshot get one, those that changed last first, and as many as
 *    stay in memory.
 * 3. A state is handed out once: whoever gets it changes it.
 */
import { activate, type Activated, type ActivationSource } from '#actors/activation.ts';
import { SERVICE_STREAM } from '#engine/service-facts.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { ShardContent } from '#persistence/nats/log/journal.ts';
import type { SnapshotBucket } from '#persistence/nats/objects/snapshot-bucket.ts';
import type { Timing } from '#persistence/nats/timing.ts';

/** The snapshots that a checkpoint names. */
export type SnapshotsAhead = Pick<SnapshotBucket, 'newest' | 'newestSeq'>;

export interface StatesAheadPorts {
  readonly snapshots: SnapshotsAhead;
  readonly time: Pick<Timing, 'stopwatchMs'>;
  /** How many events of a shard stay in memory. */
  readonly eventsMax: number;
}

export class StatesAhead {
  readonly #ports: StatesAheadPorts;
  /** Those that are made or being made. */
  readonly #states = new Map<string, Promise<Activated | null>>();
  #isEnded = false;

  constructor(ports: StatesAheadPorts) {
    this.#ports = ports;
  }

  /** Makes the states one after the other, until `end`. */
  async make(content: ShardContent): Promise<void> {
    for (const [eventId, rows] of rowsOfLatest(content.rows, this.#ports.eventsMax)) {
      if (this.#isEnded) return;
      const state = activate(this.#sourceOf(rows), eventId, null).catch(() => null);
      this.#states.set(eventId, state);
      await state;
    }
  }

  /** The state of an event, once (rule 3); null where none was made. */
  take(eventId: string): Promise<Activated | null> | null {
    const state = this.#states.get(eventId) ?? null;
    this.#states.delete(eventId);
    return state;
  }

  /** Begins no further state; what was begun can be taken. */
  end(): void {
    this.#isEnded = true;
  }

  /** Lets go of what nobody has taken. */
  clear(): void {
    this.end();
    this.#states.clear();
  }

  #sourceOf(rows: readonly FactRow[]): ActivationSource {
    const { snapshots, time } = this.#ports;
    return {
      async newestSnapshot(eventId) {
        const snapshot = await snapshots.newest(eventId);
        if ((snapshot?.header.seq ?? 0) === snapshots.newestSeq(eventId)) return snapshot;
        throw new Error(`the newest snapshot of ${eventId} cannot be read`);
      },
      factsAfter: (_, afterSeq) => rows.filter(({ seq }) => seq > afterSeq),
      stopwatchMs: () => time.stopwatchMs(),
    };
  }
}

/** The rows of each of so many events, those that changed last first. */
function rowsOfLatest(rows: readonly FactRow[], eventsMax: number): Iterable<readonly [string, readonly FactRow[]]> {
  const latest = new Set<string>();
  for (let place = rows.length - 1; place >= 0 && latest.size < eventsMax; place -= 1) {
    const { eventId } = rows[place]!;
    if (eventId !== SERVICE_STREAM) latest.add(eventId);
  }
  const byEvent = Map.groupBy(rows, ({ eventId }) => eventId);
  return Array.from(latest, (eventId) => [eventId, byEvent.get(eventId)!] as const);
}
