/**
 * The event actors in memory: activation on demand, eviction of those used least recently, and their snapshots.
 *
 * What happens inside an event belongs to `event-actor.ts`; which events exist is known by `event-index.ts`.
 *
 * 1. An event has at most one actor: concurrent activations of an event share one promise.
 * 2. An actor is evicted only when no reply waits, and after a snapshot where a replay would be long.
 * 3. An actor whose memory is ahead of the journal is retired, and the next request activates the event from the disk.
 *    If the actor had work under way, its event is activated without a request once the journal can be written.
 * 4. What is known of waiting buyers outlives an eviction: see `evicted-events.ts`.
 * 5. An event whose performances are over is evicted when nobody uses it, and an event that was activated only to
 *    settle what was due is evicted when that is done.
 * 6. An event that cannot be activated is refused for itself alone: see `broken-events.ts`.
 * 7. A snapshot costs some 10 µs a record of the state, a replay some 8 µs a fact. So a snapshot is due after a number
 *    of facts that grows with the state: its cost per fact is the same for every size, and a replay takes at most a few
 *    times as long as it takes to restore the state itself. An event that only grows has no snapshot: its facts are
 *    read as fast as one would be.
 */
import { LRUCache } from 'lru-cache';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import {
  activate,
  type Activated,
  type ActivationSource,
  type SnapshotJob,
  type SnapshotOutcome,
} from './activation.ts';
import { BrokenEvents } from './broken-events.ts';
import { activationChannel, type ActivationMessage } from './channels.ts';
import { createEventActor } from './event-composition.ts';
import { forgetKept, isOver, keptOf, type IndexedEvent } from './event-entry.ts';
import { awaitsScans } from '#domain/doors/view.ts';
import { lastSeenTimes } from '#domain/waiting-room/last-seen.ts';
import { EvictedEvents } from './evicted-events.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from './admission.ts';
import { inBackground, reportTrouble } from './trouble.ts';
import type { EventActor } from './event-actor.ts';
import type { EventActorPorts } from './event-actor-ports.ts';
import type { JournalFault } from '#persistence/journal.ts';

export interface ActorPoolPorts extends Omit<EventActorPorts<EventActor>, 'retired'> {
  readonly source: ActivationSource;
  readonly liveEventsMax: number;
  entryOf(eventId: string): IndexedEvent | undefined;
  snapshot(job: SnapshotJob): Promise<SnapshotOutcome>;
}

/**
 * The pause before an event is activated again whose actor retired because of a defect with work under way (rule 3).
 */
const AFTER_DEFECT_MS = 1_000;

/** An event in which something is due sooner than this stays in memory: to evict and activate it again costs more. */
const DUE_SOON_MS = 10 * 60_000;

/** An actor with fewer facts than this since its snapshot is evicted without a new one. */
const EVICTED_FACTS_MAX = 200;

/** A snapshot is due only after so many facts; the replay of fewer takes less than half a second. */
const SNAPSHOT_FACTS_MIN = 50_000;

/**
 * A snapshot is due only after so many facts for each record of the state (rule 7). Above 1, because an event that only
 * grows has one record for each fact.
 */
const SNAPSHOT_FACTS_PER_RECORD = 1.5;

/** A prune may move facts away while they are read; the second try finds them where they are by then. */
const READ_TRIES_MAX = 2;

export class ActorPool {
  readonly #ports: ActorPoolPorts;
  /** The actors in memory, the one used last first. */
  readonly #actors: LRUCache<string, EventActor>;
  readonly #evicted = new EvictedEvents();
  readonly #activations = new Map<string, Promise<EventActor>>();
  readonly #broken: BrokenEvents;
  readonly #snapshots = new Map<string, Promise<SnapshotOutcome>>();
  /** How often all actors were retired; an activation that overlaps with that begins again. */
  #retirements = 0;
  /** Events that are activated when the journal can be written again (rule 3), also those whose refunds are counted. */
  readonly #unfinished = new Set<string>();
  /** Events that requests were made to since the last `evictOver`. */
  readonly #used = new Set<string>();

  constructor(ports: ActorPoolPorts) {
    this.#ports = ports;
    this.#broken = new BrokenEvents(ports.clock);
    // The cache keeps the order; an actor leaves it only through #evict (rule 2).
    this.#actors = new LRUCache({ max: ports.liveEventsMax * 2 + 64 });
  }

  /** The number of actors in memory. */
  get size(): number {
    return this.#actors.size;
  }

  /** The actors in memory, the one used last first. */
  active(): readonly EventActor[] {
    return [...this.#actors.values()];
  }

  /** The actor of an event when it is in memory; it does not count as used. */
  peek(eventId: string): EventActor | undefined {
    return this.#actors.peek(eventId);
  }

  /** The events that cannot be activated (rule 6). */
  get broken(): Pick<BrokenEvents, 'count' | 'ids' | 'refusalOf'> {
    return this.#broken;
  }

  // ── activation ─────────────────────────────────────────────────────────────────────────────────────────────────────

  /** The actor that a request needs, without a promise when it is in memory. */
  find(entry: IndexedEvent): EventActor | Promise<EventActor> {
    this.#used.add(entry.eventId);
    return this.activate(entry);
  }

  /** The same, but no request uses the event (rule 5). Rejects with Overloaded when it cannot be activated now. */
  activate(entry: IndexedEvent): EventActor | Promise<EventActor> {
    const { eventId } = entry;
    const active = this.#actors.get(eventId);
    if (active !== undefined) return active;
    const known = this.#activations.get(eventId);
    if (known !== undefined) return known;
    const refusal = this.#broken.refusalOf(eventId);
    if (refusal !== null) return Promise.reject(refusal);
    if (this.#activations.size >= this.#ports.waitingRepliesMax) {
      return Promise.reject(new Overloaded('too many events are being activated', RETRY_AFTER_SECONDS));
    }
    const activation = this.#activate(entry).finally(() => this.#activations.delete(eventId));
    this.#activations.set(eventId, activation);
    return activation;
  }

  async #activate(entry: IndexedEvent): Promise<EventActor> {
    const { eventId } = entry;
    const begin = stopwatchMs();
    const actor = await this.#createActor(entry);
    this.#broken.noteMended(eventId);
    forgetKept(entry);
    this.#actors.set(eventId, actor);
    this.#publish(eventId, true, actor.facts.sinceSnapshot, stopwatchMs() - begin);
    this.#evictExcess(actor);
    return actor;
  }

  /** Rejects with Overloaded; it names the event when its own facts are the reason. */
  async #createActor({ eventId, eventNumber }: IndexedEvent): Promise<EventActor> {
    try {
      const activated = await this.#readState(eventId, eventNumber);
      this.#refuseExcess();
      const ports: EventActorPorts<EventActor> = {
        ...this.#ports,
        retired: (retired, defect) => this.#noteRetired(retired, defect),
      };
      const actor = createEventActor(activated, ports, this.#evicted.take(eventId));
      // What ran out meanwhile belongs to the activation: an event that cannot settle it is broken.
      actor.settleDue();
      return actor;
    } catch (error) {
      if (error instanceof Overloaded) throw error;
      const { status } = this.#ports.journal;
      if (status === 'OPEN' || status === 'FULL') throw this.#broken.noteFailure(eventId, error);
      throw new Overloaded('the journal is closed', RETRY_AFTER_SECONDS, error);
    }
  }

  /**
   * Reads an event's state from the disk; once more when the journal failed or recovered meanwhile (rule 3), or facts
   * moved.
   */
  async #readState(eventId: string, eventNumber: number): Promise<Activated> {
    for (let tries = 1; ; tries += 1) {
      const retirements = this.#retirements;
      await this.#pendingWrites();
      try {
        const activated = await activate(this.#ports.source, eventId, eventNumber);
        if (retirements === this.#retirements) return activated;
      } catch (error) {
        if (retirements === this.#retirements && tries >= READ_TRIES_MAX) throw error;
      }
    }
  }

  /** Resolves when the facts that an actor appended before it was retired are durable, or can never be. */
  async #pendingWrites(): Promise<void> {
    const { journal } = this.#ports;
    await journal.durable(journal.appendedSeq).catch(() => {});
  }

  /** Settles what is due in an event, activating it for that. */
  async settleDue(eventId: string): Promise<void> {
    const entry = this.#ports.entryOf(eventId);
    if (entry === undefined) return;
    // While nothing can be written the event is settled for reading alone, and nothing else would settle it later.
    if (this.#ports.journal.status !== 'OPEN') this.#unfinished.add(eventId);
    const active = this.#actors.peek(eventId);
    if (active !== undefined) return active.settleDue();
    const actor = await this.activate(entry);
    await this.#pendingWrites();
    const isDueSoon = actor.due.at - this.#ports.clock.now() < DUE_SOON_MS;
    if (!isDueSoon) await this.#evict(actor, 'UNLESS_USED');
  }

  // ── eviction ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Evicts the events that are over and had no request since the last call. An event stays while one of its stations
   * reported scans that wait, because an eviction would forget them.
   */
  async evictOver(): Promise<void> {
    const now = this.#ports.clock.now();
    const over = this.active().filter(
      (actor) =>
        isOver(this.#ports.entryOf(actor.eventId), now) &&
        !this.#used.has(actor.eventId) &&
        !actor.inspect(awaitsScans),
    );
    this.#used.clear();
    for (const actor of over) await this.#evict(actor, 'UNLESS_USED');
  }

  /** Retires every actor: their memory is ahead of the journal. */
  retireAll(): void {
    this.#retirements += 1;
    this.#evicted.forgetAll();
    for (const actor of this.active()) {
      if (isUnfinished(actor)) this.#unfinished.add(actor.eventId);
      actor.retire(({ orders }) => {
        if (!orders.refunds.isEmpty) this.#unfinished.add(actor.eventId);
      });
    }
    this.#actors.clear();
    if (this.#ports.journal.status !== 'OPEN') return;
    for (const eventId of this.#unfinished) this.#ports.schedule(eventId, this.#ports.clock.now());
    this.#unfinished.clear();
  }

  /** Retires the actor of an event that was never defined, so that nobody finds it. */
  discard(eventId: string): void {
    this.#actors.peek(eventId)?.retire();
    this.#actors.delete(eventId);
    this.#broken.noteMended(eventId);
  }

  #noteRetired(actor: EventActor, defect: unknown): void {
    if (this.#actors.peek(actor.eventId) === actor) this.#actors.delete(actor.eventId);
    if (isUnfinished(actor)) this.#ports.schedule(actor.eventId, this.#ports.clock.now() + AFTER_DEFECT_MS);
    const { name, message } = defect instanceof Error ? defect : new Error(String(defect));
    reportTrouble('box-office', `${actor.eventId} is activated again: ${name}: ${message}`, defect);
  }

  /** The cache must not drop an actor by itself: replies may still wait in it (rule 2). */
  #refuseExcess(): void {
    if (this.#actors.size < this.#actors.max) return;
    this.#evictExcess(null);
    if (this.#actors.size < this.#actors.max) return;
    throw new Overloaded('too many events are busy at once', RETRY_AFTER_SECONDS);
  }

  /** Evicts the least recently used actors beyond `liveEventsMax`, except the one that was activated just now. */
  #evictExcess(activated: EventActor | null): void {
    let excess = this.#actors.size - this.#ports.liveEventsMax;
    for (const eventId of this.#actors.rkeys()) {
      if (excess <= 0) return;
      const actor = this.#actors.peek(eventId);
      if (actor === undefined || actor === activated || !isIdle(actor)) continue;
      excess -= 1;
      inBackground('activation', this.#evict(actor));
    }
  }

  async #evict(actor: EventActor, when: 'ALWAYS' | 'UNLESS_USED' = 'ALWAYS'): Promise<void> {
    const { eventId } = actor;
    const seqBefore = actor.facts.lastSeq;
    const isUsed = (): boolean => when === 'UNLESS_USED' && this.#used.has(eventId);
    if (when === 'UNLESS_USED' && (!isIdle(actor) || isUsed())) return;
    if (actor.facts.sinceSnapshot > EVICTED_FACTS_MAX) await this.snapshot(actor);
    const isUnchanged = isIdle(actor) && actor.facts.lastSeq === seqBefore && this.#actors.peek(eventId) === actor;
    if (!isUnchanged || isUsed()) return;
    actor.retire((state) => {
      this.#evicted.note(eventId, {
        since: this.#ports.clock.now(),
        lastSeen: lastSeenTimes(state, this.#evicted.lastSeenMax),
      });
      const entry = this.#ports.entryOf(eventId);
      if (entry !== undefined) Object.assign(entry, keptOf(state));
    });
    this.#actors.delete(eventId);
    this.#publish(eventId, false, 0, 0);
  }

  #publish(eventId: string, alive: boolean, factsReplayed: number, tookMs: number): void {
    if (!activationChannel.hasSubscribers) return;
    activationChannel.publish({ eventId, alive, factsReplayed, tookMs } satisfies ActivationMessage);
  }

  // ── snapshots ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Snapshots an actor as of its newest fact; a second call meanwhile shares the first. */
  snapshot(actor: EventActor): Promise<SnapshotOutcome> {
    return this.snapshotAsOf(actor.eventId, actor.facts.lastSeq);
  }

  /** Snapshots an event, in memory or not, as of a fact of its own, once that fact is durable. */
  snapshotAsOf(eventId: string, seq: number): Promise<SnapshotOutcome> {
    const known = this.#snapshots.get(eventId);
    if (known !== undefined) return known;
    const taken = this.#takeSnapshot(eventId, seq).finally(() => this.#snapshots.delete(eventId));
    this.#snapshots.set(eventId, taken);
    return taken;
  }

  async #takeSnapshot(eventId: string, seq: number): Promise<SnapshotOutcome> {
    // Counted now: facts that are added while the snapshot is taken are not in it.
    const actor = this.#actors.peek(eventId);
    const factsCovered = actor?.facts.lastSeq === seq ? actor.facts.sinceSnapshot : 0;
    const failed = (trouble: string): SnapshotOutcome => ({ eventId, seq, fingerprint: null, trouble });
    try {
      await this.#ports.journal.durable(seq);
    } catch (fault) {
      return failed((fault as JournalFault).message);
    }
    const entry = this.#ports.entryOf(eventId);
    if (entry === undefined) return failed('there is no such event');
    const { eventNumber } = entry;
    const at = this.#ports.clock.now();
    const outcome = await this.#ports.snapshot({ eventId, eventNumber, seq, at, about: entry });
    if (outcome.trouble === null) actor?.facts.noteSnapshot(factsCovered);
    return outcome;
  }

  /** Snapshots every actor that is due for it, the most grown first. */
  snapshotDue(): Promise<readonly SnapshotOutcome[]> {
    return this.#snapshotEach(({ facts, recordCount }) =>
      isSnapshotDue({ factsSinceSnapshot: facts.sinceSnapshot, recordCount }),
    );
  }

  /** Snapshots every actor that has any fact since its last snapshot, the most grown first. */
  snapshotGrown(): Promise<readonly SnapshotOutcome[]> {
    return this.#snapshotEach(({ facts }) => facts.sinceSnapshot > 0);
  }

  #snapshotEach(isChosen: (actor: EventActor) => boolean): Promise<readonly SnapshotOutcome[]> {
    const chosen = this.active()
      .filter(isChosen)
      .sort((one, other) => other.facts.sinceSnapshot - one.facts.sinceSnapshot);
    return Promise.all(chosen.map((actor) => this.snapshot(actor)));
  }
}

/** Whether a follower has a turn to take, or facts are not durable yet, so that one may have. */
function isUnfinished({ facts, due }: EventActor): boolean {
  return !facts.areDurable || due.isFollowerDue;
}

/** Whether no reply waits and nothing is under way, so that the event may be evicted. */
export function isIdle(actor: EventActor): boolean {
  return actor.facts.waiting === 0 && !isUnfinished(actor);
}

/** Whether the next snapshot of an event is due (rule 7). */
export function isSnapshotDue({
  factsSinceSnapshot,
  recordCount,
}: {
  readonly factsSinceSnapshot: number;
  readonly recordCount: number;
}): boolean {
  return factsSinceSnapshot >= Math.max(SNAPSHOT_FACTS_MIN, SNAPSHOT_FACTS_PER_RECORD * recordCount);
}
