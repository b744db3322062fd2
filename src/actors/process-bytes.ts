/**
 * What requests have left behind in all events of the process: bounded in bytes, with a share for each event.
 *
 * 1. Where the events together keep too much of a kind, the event that keeps most of it drops its oldest records. An
 *    event's share is the bound divided by the number of events; one that keeps less than its share loses nothing.
 * 2. It does so in a turn of its own, by a fact (`domain/event/retained-records.ts`). One event drops of a kind at a
 *    time.
 * 3. Answers and items are objects of the heap, the ends of holds and entries are not. So the bounds of the first two
 *    also follow from how large the heap may become.
 */
import { getHeapStatistics } from 'node:v8';
import { RETAINED_KINDS, retainedBytes } from '#domain/event/retained-records.ts';
import type { Command, CommandOf } from '#domain/command.ts';
import type { EventState } from '#domain/event/state.ts';
import type { Fact, RetainedKind } from '#domain/fact.ts';
import type { FollowedActor, Follower } from './follower.ts';

const MIB = 1024 * 1024;

type KindBytes = Readonly<Record<RetainedKind, number>>;

function boundsFor(heapBytesMax: number): KindBytes {
  return {
    ANSWERS: Math.min(256 * MIB, heapBytesMax / 4),
    HOLD_ITEMS: Math.min(128 * MIB, heapBytesMax / 8),
    // Of either kind some nine million: 1,200 a second for two hours.
    ENDED_HOLDS: 256 * MIB,
    ENDED_ENTRIES: 256 * MIB,
  };
}

/** The events of a process, by what they keep. */
export class ProcessBytes {
  readonly #bounds: KindBytes;
  readonly #sums: Record<RetainedKind, number> = { ANSWERS: 0, HOLD_ITEMS: 0, ENDED_HOLDS: 0, ENDED_ENTRIES: 0 };
  readonly #events = new Set<RetainedRecords>();
  /** The event that is about to drop of a kind (rule 2). */
  readonly #dropping = new Map<RetainedKind, RetainedRecords>();

  constructor(bounds: KindBytes = boundsFor(getHeapStatistics().heap_size_limit)) {
    this.#bounds = bounds;
  }

  /** What all events keep of a kind. */
  sumOf(kind: RetainedKind): number {
    return this.#sums[kind];
  }

  /** Notes that an event keeps so much more of a kind; where the sum is too much, tells an event to drop. */
  add(event: RetainedRecords, kind: RetainedKind, bytes: number): void {
    this.#events.add(event);
    this.#sums[kind] += bytes;
    if (this.#sums[kind] <= this.#bounds[kind] || this.#dropping.has(kind)) return;
    let heaviest = event;
    for (const each of this.#events) if (each.bytes[kind] > heaviest.bytes[kind]) heaviest = each;
    this.#dropping.set(kind, heaviest);
    if (heaviest !== event) heaviest.noteDue();
  }

  /** The kind of which an event has to drop; null where there is none. */
  dueOf(event: RetainedRecords): RetainedKind | null {
    for (const [kind, dropping] of this.#dropping) if (dropping === event) return kind;
    return null;
  }

  /** An event has dropped of a kind. */
  noteDropped(kind: RetainedKind): void {
    this.#dropping.delete(kind);
  }

  /** An event is not in memory any more. */
  remove(event: RetainedRecords): void {
    if (!this.#events.delete(event)) return;
    for (const kind of RETAINED_KINDS) {
      this.#sums[kind] -= event.bytes[kind];
      if (this.#dropping.get(kind) === event) this.#dropping.delete(kind);
    }
  }
}

/** The bytes of this process: all events of it share one instance. */
const ofThisProcess = new ProcessBytes();

/** What one event keeps. A follower of its actor. */
export class RetainedRecords implements Follower {
  readonly bytes: Record<RetainedKind, number> = { ANSWERS: 0, HOLD_ITEMS: 0, ENDED_HOLDS: 0, ENDED_ENTRIES: 0 };
  readonly #state: EventState;
  readonly #actor: Pick<FollowedActor, 'due'>;
  readonly #process: ProcessBytes;

  constructor(state: EventState, actor: Pick<FollowedActor, 'due'>, process: ProcessBytes = ofThisProcess) {
    this.#state = state;
    this.#actor = actor;
    this.#process = process;
    this.#count();
  }

  noteDue(): void {
    this.#actor.due.noteChange();
  }

  dueAt(): number {
    return this.#process.dueOf(this) === null ? Number.POSITIVE_INFINITY : 0;
  }

  nextCommand(): CommandOf<'DropOldest'> {
    return { type: 'DropOldest', of: this.#process.dueOf(this)! };
  }

  afterTurn(command: Command, facts: readonly Fact[]): void {
    if (command.type === 'DropOldest') this.#process.noteDropped(command.of);
    if (facts.length > 0) this.#count();
  }

  #count(): void {
    for (const kind of RETAINED_KINDS) {
      const more = retainedBytes(this.#state, kind) - this.bytes[kind];
      if (more === 0) continue;
      this.bytes[kind] += more;
      this.#process.add(this, kind, more);
    }
  }

  retire(): void {
    this.#process.remove(this);
  }
}
