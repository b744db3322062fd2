/**
 * Who is where: every event by id, slug and number, and the box offices that are awake.
 *
 * Owns the index of events, activation on demand, sleep of the coldest, and the serial numbers of new events. What
 * happens inside an event belongs to `box-office.ts`. Called by `http/routes`, `payments` and the timers.
 *
 * 1. An event has at most one box office: activations of the same event share one promise.
 * 2. A box office is put to sleep only when nobody waits for it, and after a snapshot where a replay would be long.
 * 3. When a box office ran ahead of the journal it is dropped, and the next request activates it from the disk.
 * 4. Whoever waits at an event that sleeps is not taken for somebody who just came when it wakes: see `sleepers.ts`.
 * 5. A slug belongs to one event, also while a definition that names it is on its way to the disk.
 *    An event whose performances are over sleeps as soon as nobody asks for it, and one that was only woken to settle what was due
 *    sleeps again when that is done.
 * 6. An event that cannot be activated is refused for itself alone and left out of lists: see `broken-events.ts`.
 */
import { LRUCache } from 'lru-cache';
import type { FactRow, Journal, JournalFault } from '#persistence/journal.ts';
import { listingOf, listingOfUnsold, summaryOf, type EventSummary } from '#domain/catalogue/listing.ts';
import { eventNumberOf, type IdPrefix } from '#domain/ids.ts';
import { isPublished } from '#domain/event-state.ts';
import { stopwatchMs } from '#persistence/stopwatch.ts';
import { isRefusal, refuse, type Refusal } from '#domain/refusal.ts';
import { activate, type Activated, type ActivationSource } from './activation.ts';
import { EventActor, type EventActorPorts } from './event-actor.ts';
import { BrokenEvents } from './broken-events.ts';
import { activationChannel, type ActivationMessage } from './channels.ts';
import { inBackground, reportTrouble } from './trouble.ts';
import { byFirstDate, draftEntry, entryOf, isOver, pageOf } from './directory-entry.ts';
import { isEventBroken, Overloaded } from './overloaded.ts';
import { Sleepers } from './sleepers.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { FactData, OperatorMark } from '#domain/fact.ts';
import type { SnapshotHeader } from '#persistence/snapshots.ts';
import type { DirectoryEntry, SnapshotAbout } from './directory-entry.ts';
import type { SnapshotJob, SnapshotOutcome } from './snapshotter.ts';

/** An event in which something is due sooner than this stays awake: to fall asleep and come alive again costs more. */
const DUE_SOON_MS = 10 * 60_000;

export interface DirectoryPorts extends Omit<EventActorPorts, 'wakeAt' | 'retired'> {
  readonly source: ActivationSource;
  readonly liveEventsMax: number;
  snapshot(job: SnapshotJob): Promise<SnapshotOutcome>;
  wakeAt(eventId: string, at: number): void;
}

export interface DefinedEvent {
  readonly outcome: 'DONE';
  readonly eventId: string;
  readonly version: number;
  readonly created: boolean;
  readonly changed: boolean;
}

/** A box office with fewer facts than this since its snapshot is put to sleep without a new one. */
const SLEEP_FACTS_MAX = 200;

/** After so many facts a live box office is snapshot, so that a replay stays under a second. */
const SNAPSHOT_EVERY_FACTS = 50_000;

/** Seconds after which somebody who found an event under activation may try again. */
const RETRY_AFTER_SECONDS = 1;

/** A prune may move facts away while they are read; the second time they are found where they are by then. */
const READ_TRIES_MAX = 2;

export class Directory {
  readonly #ports: DirectoryPorts;
  readonly #journal: Journal;
  readonly #byId = new Map<string, DirectoryEntry>();
  readonly #bySlug = new Map<string, DirectoryEntry>();
  /** Slugs of definitions that are on their way (5). */
  readonly #slugClaims = new Map<string, { readonly eventId: string; definitions: number }>();
  readonly #byNumber: (DirectoryEntry | undefined)[] = [];
  /** The box offices that are awake, the one asked last first. */
  readonly #awake: LRUCache<string, EventActor>;
  readonly #sleepers = new Sleepers();
  readonly #activations = new Map<string, Promise<EventActor>>();
  readonly #broken: BrokenEvents;
  readonly #snapshots = new Map<string, Promise<SnapshotOutcome>>();
  /** How often everything was dropped; an activation that such a drop overtook begins again. */
  #drops = 0;
  /** Events that were asked for since the last look for those that are over. */
  readonly #asked = new Set<string>();
  /** Published events by first date; made anew when an event is defined. */
  #listed: readonly DirectoryEntry[] | null = null;

  constructor(ports: DirectoryPorts) {
    this.#ports = ports;
    this.#journal = ports.journal;
    this.#broken = new BrokenEvents(ports.clock);
    // The cache keeps the order; a box office leaves it only through #putToSleep (2).
    this.#awake = new LRUCache({ max: ports.liveEventsMax * 2 + 64 });
  }

  // ── the index ──────────────────────────────────────────────────────────────────────────────────────────────────────

  get size(): number {
    return this.#byId.size;
  }

  get awakeCount(): number {
    return this.#awake.size;
  }

  /** The events that cannot be activated (6). */
  get broken(): Pick<BrokenEvents, 'count' | 'ids'> {
    return this.#broken;
  }

  /** The box offices that are awake. */
  awake(): readonly EventActor[] {
    return [...this.#awake.values()];
  }

  /** Takes note of an event while the journal is read at the start; of one in which nothing was sold yet the list is known too. */
  noteRow(row: FactRow, isUnsold = false): void {
    if (row.type !== 'EventDefined') return;
    const defined = JSON.parse(row.data) as FactData['EventDefined'];
    const listed = isUnsold ? { listing: listingOfUnsold(defined.definition) } : {};
    this.#note({ ...entryOf(defined), ...listed });
  }

  /** Takes note of an event whose definition may be in the archive; `isNewest`: nothing happened in it since. */
  noteSnapshot(header: SnapshotHeader, isNewest = false): void {
    const { dueAt: _dueAt, listing, ...entry } = header.about as SnapshotAbout;
    if (this.#byId.has(entry.eventId)) return;
    this.#note(isNewest && listing !== undefined ? { ...entry, listing } : entry);
  }

  /**
   * Takes note of an event of which only the id is known, because the archive that defines it cannot be read: it is there, but
   * cannot be activated, and its number stays free until the archive is back.
   */
  noteLost(eventId: string): void {
    if (!this.#byId.has(eventId)) this.#note(draftEntry(eventId, `@${eventId}`, Math.max(1, this.#byNumber.length)));
  }

  #note(entry: DirectoryEntry): void {
    const known = this.#byId.get(entry.eventId);
    const isNamesake = known !== undefined && this.#bySlug.get(known.slug)?.eventId === entry.eventId;
    if (isNamesake && known.slug !== entry.slug) this.#bySlug.delete(known.slug);
    this.#byId.set(entry.eventId, entry);
    this.#bySlug.set(entry.slug, entry);
    this.#byNumber[entry.eventNumber] = entry;
    this.#listed = null;
    if (entry.opensAt !== null) this.#ports.wakeAt(entry.eventId, entry.opensAt);
  }

  // ── finding ────────────────────────────────────────────────────────────────────────────────────────────────────────

  byEventId(eventId: string): Promise<EventActor | null> {
    this.#asked.add(eventId);
    const awake = this.#awake.get(eventId);
    if (awake !== undefined) return Promise.resolve(awake);
    const entry = this.#byId.get(eventId);
    return entry === undefined ? Promise.resolve(null) : this.#wake(entry);
  }

  bySlug(slug: string): Promise<EventActor | null> {
    const entry = this.#bySlug.get(slug);
    return entry === undefined ? Promise.resolve(null) : this.byEventId(entry.eventId);
  }

  /** The box office that an id of this prefix names; null when it is no such id or the event is unknown. */
  byId(prefix: IdPrefix, id: string): Promise<EventActor | null> {
    const eventNumber = eventNumberOf(prefix, id);
    const entry = eventNumber === null ? undefined : this.#byNumber[eventNumber];
    return entry === undefined ? Promise.resolve(null) : this.byEventId(entry.eventId);
  }

  /** A page of the published events by first date; `after` is the id of the last event of the page before. */
  async list(page: { readonly limit: number; readonly after: string | null }): Promise<{
    readonly events: readonly EventSummary[];
    readonly nextAfter: string | null;
  }> {
    this.#listed ??= [...this.#byId.values()].filter(({ published }) => published).sort(byFirstDate);
    const { ids, nextAfter } = pageOf(this.#listed, page);
    const events: EventSummary[] = [];
    for (const eventId of ids) {
      const summary = await this.#summaryOf(eventId);
      if (summary !== null) events.push(summary);
    }
    return { events, nextAfter };
  }

  /** Null for an event that buyers do not see, and for a broken one (6). */
  async #summaryOf(eventId: string): Promise<EventSummary | null> {
    for (let tries = 1; ; tries += 1) {
      const entry = this.#byId.get(eventId);
      if (entry === undefined || this.#broken.refusalOf(eventId) !== null) return null;
      const awake = this.#awake.peek(eventId);
      if (awake === undefined && entry.listing !== undefined) return summaryOf(entry.listing, this.#ports.clock.now());
      try {
        const actor = awake ?? (await this.#wake(entry));
        return actor.look((state, now) => (isPublished(state) ? summaryOf(listingOf(state), now) : null));
      } catch (error) {
        if (isEventBroken(error)) return null;
        // Others may have had it put to sleep before it could be asked.
        if (!(error instanceof Overloaded) || tries === READ_TRIES_MAX) throw error;
      }
    }
  }

  /** A page of all events, drafts too, in the order of their first definition. */
  listAll(page: { readonly limit: number; readonly after: string | null }): Promise<{
    readonly eventIds: readonly string[];
    readonly nextAfter: string | null;
  }> {
    const { ids, nextAfter } = pageOf(
      this.#byNumber.filter((entry) => entry !== undefined),
      page,
    );
    return Promise.resolve({ eventIds: ids, nextAfter });
  }

  // ── defining ───────────────────────────────────────────────────────────────────────────────────────────────────────

  /**
   * Creates or updates an event. Refuses with UPDATE_CONFLICT, also when the slug belongs to another event.
   */
  async define(definition: EventDefinition, mark: OperatorMark): Promise<DefinedEvent | Refusal> {
    const { id: eventId, slug } = definition;
    const owner = this.#slugClaims.get(slug)?.eventId ?? this.#bySlug.get(slug)?.eventId ?? eventId;
    if (owner !== eventId) {
      return refuse('UPDATE_CONFLICT', {
        conflicts: [{ path: ['slug'], message: `the event ${owner} has this slug` }],
      });
    }
    const release = this.#claimSlug(slug, eventId);
    try {
      return await this.#define(definition, mark);
    } finally {
      release();
    }
  }

  /** Keeps a slug for an event while its definition is on its way (5); answers how to give it back. */
  #claimSlug(slug: string, eventId: string): () => void {
    const claim = this.#slugClaims.get(slug) ?? { eventId, definitions: 0 };
    this.#slugClaims.set(slug, claim);
    claim.definitions += 1;
    return () => {
      claim.definitions -= 1;
      if (claim.definitions === 0) this.#slugClaims.delete(slug);
    };
  }

  async #define(definition: EventDefinition, mark: OperatorMark): Promise<DefinedEvent | Refusal> {
    const { id: eventId, slug } = definition;
    const created = !this.#byId.has(eventId);
    if (created) this.#note(draftEntry(eventId, slug, Math.max(1, this.#byNumber.length)));
    const entry = this.#byId.get(eventId)!;
    const reply = await this.#ask(entry, definition, mark, created);
    if (isRefusal(reply)) return reply;
    this.#note(entryOf({ eventNumber: entry.eventNumber, definition }));
    return { ...reply, created };
  }

  async #ask(entry: DirectoryEntry, definition: EventDefinition, mark: OperatorMark, created: boolean) {
    try {
      const actor = await this.#wake(entry);
      return await actor.execute({ type: 'DefineEvent', definition, ...mark });
    } catch (error) {
      if (created) this.#forget(entry);
      throw error;
    }
  }

  #forget(entry: DirectoryEntry): void {
    this.#byId.delete(entry.eventId);
    this.#bySlug.delete(entry.slug);
    this.#byNumber[entry.eventNumber] = undefined;
    this.#listed = null;
    // Nobody is to find an event that was never defined, awake neither.
    this.#awake.peek(entry.eventId)?.retire();
    this.#awake.delete(entry.eventId);
    this.#broken.noteMended(entry.eventId);
  }

  // ── waking and sleeping ────────────────────────────────────────────────────────────────────────────────────────────

  /** Settles what is due at an event, waking it for that. */
  async wake(eventId: string): Promise<void> {
    const entry = this.#byId.get(eventId);
    if (entry === undefined) return;
    const awake = this.#awake.peek(eventId);
    if (awake !== undefined) return awake.wake();
    const actor = await this.#wake(entry);
    await this.#settlePending();
    const isDueSoon = actor.dueAt - this.#ports.clock.now() < DUE_SOON_MS;
    if (!isDueSoon) await this.#putToSleep(actor, 'UNLESS_ASKED');
  }

  /** Puts to sleep the events that are over and that nobody asked for since the last call. */
  async letOverSleep(): Promise<void> {
    const now = this.#ports.clock.now();
    const over = this.awake().filter(
      ({ eventId }) => isOver(this.#byId.get(eventId), now) && !this.#asked.has(eventId),
    );
    this.#asked.clear();
    for (const actor of over) await this.#putToSleep(actor, 'UNLESS_ASKED');
  }

  /** Whether an event's performances are over. */
  isOver(eventId: string): boolean {
    return isOver(this.#byId.get(eventId), this.#ports.clock.now());
  }

  #wake(entry: DirectoryEntry): Promise<EventActor> {
    const awake = this.#awake.get(entry.eventId);
    if (awake !== undefined) return Promise.resolve(awake);
    const known = this.#activations.get(entry.eventId);
    if (known !== undefined) return known;
    const refusal = this.#broken.refusalOf(entry.eventId);
    if (refusal !== null) return Promise.reject(refusal);
    if (this.#activations.size >= this.#ports.mailboxCommandsMax) {
      return Promise.reject(new Overloaded('too many events are being activated', RETRY_AFTER_SECONDS));
    }
    const activation = this.#activate(entry).finally(() => this.#activations.delete(entry.eventId));
    this.#activations.set(entry.eventId, activation);
    return activation;
  }

  async #activate(entry: DirectoryEntry): Promise<EventActor> {
    const { eventId } = entry;
    const begin = stopwatchMs();
    const actor = await this.#bringAlive(entry);
    this.#broken.noteMended(eventId);
    delete entry.listing;
    this.#awake.set(eventId, actor);
    this.#publishActivation(eventId, true, actor.factsSinceSnapshot, stopwatchMs() - begin);
    this.#makeRoom(actor);
    return actor;
  }

  /** Rejects with Overloaded; it names the event when its own facts are what keeps it from coming alive. */
  async #bringAlive({ eventId, eventNumber }: DirectoryEntry): Promise<EventActor> {
    try {
      const { state, lastSeq, factsReplayed } = await this.#readState(eventId, eventNumber);
      this.#refuseCrowd();
      const ports: EventActorPorts = {
        ...this.#ports,
        retired: (retired, defect) => this.#retired(retired, defect),
      };
      const actor = new EventActor(state, lastSeq, factsReplayed, ports, this.#sleepers.awaken(eventId));
      // What ran out meanwhile belongs to coming alive: an event that cannot settle it is broken.
      actor.wake();
      return actor;
    } catch (error) {
      if (error instanceof Overloaded) throw error;
      const { status } = this.#journal;
      if (status === 'OPEN' || status === 'FULL') throw this.#broken.noteFailure(eventId, error);
      throw new Overloaded('the journal is closed', RETRY_AFTER_SECONDS, error);
    }
  }

  /** The cache must not let go of a box office by itself: somebody may still wait for it (2). */
  #refuseCrowd(): void {
    if (this.#awake.size < this.#awake.max) return;
    this.#makeRoom(null);
    if (this.#awake.size < this.#awake.max) return;
    throw new Overloaded('too many events are busy at once', RETRY_AFTER_SECONDS);
  }

  /** Reads an event's state from the disk; once more when the journal failed or recovered meanwhile (3), or facts moved. */
  async #readState(eventId: string, eventNumber: number): Promise<Activated> {
    for (let tries = 1; ; tries += 1) {
      const drops = this.#drops;
      await this.#settlePending();
      try {
        const activated = await activate(this.#ports.source, eventId, eventNumber);
        if (drops === this.#drops) return activated;
      } catch (error) {
        if (drops === this.#drops && tries >= READ_TRIES_MAX) throw error;
      }
    }
  }

  /** Waits for facts that a box office appended before it was retired, whether or not they come to be durable. */
  async #settlePending(): Promise<void> {
    await this.#journal.durable(this.#journal.appendedSeq).catch(() => {});
  }

  #retired(actor: EventActor, defect: unknown): void {
    if (this.#awake.peek(actor.eventId) === actor) this.#awake.delete(actor.eventId);
    const { name, message } = defect instanceof Error ? defect : new Error(String(defect));
    const trouble = `${actor.eventId} is activated again: ${name}: ${message}`;
    reportTrouble('box-office', trouble, defect);
  }

  /** Forgets every live box office: what they held in memory ran ahead of the journal. */
  dropAll(): void {
    this.#drops += 1;
    this.#sleepers.forgetAll();
    for (const actor of this.awake()) actor.retire();
    this.#awake.clear();
  }

  /** Puts the coldest to sleep while more are awake than there is room for, but not one that was woken just now to be asked. */
  #makeRoom(asked: EventActor | null): void {
    let excess = this.#awake.size - this.#ports.liveEventsMax;
    for (const eventId of this.#awake.rkeys()) {
      if (excess <= 0) return;
      const actor = this.#awake.peek(eventId);
      if (actor === undefined || actor === asked || !actor.isIdle) continue;
      excess -= 1;
      inBackground('activation', this.#putToSleep(actor));
    }
  }

  async #putToSleep(actor: EventActor, when: 'NOW' | 'UNLESS_ASKED' = 'NOW'): Promise<void> {
    const seqBefore = actor.lastSeq;
    if (when === 'UNLESS_ASKED' && (!actor.isIdle || this.#asked.has(actor.eventId))) return;
    if (actor.factsSinceSnapshot > SLEEP_FACTS_MAX) await this.snapshot(actor);
    const isCold = actor.isIdle && actor.lastSeq === seqBefore && this.#awake.peek(actor.eventId) === actor;
    if (!isCold || (when === 'UNLESS_ASKED' && this.#asked.has(actor.eventId))) return;
    const sightings = actor.sightings(this.#sleepers.lastSeenMax);
    this.#sleepers.fallAsleep(actor.eventId, { since: this.#ports.clock.now(), sightings });
    const entry = this.#byId.get(actor.eventId);
    if (entry !== undefined) entry.listing = actor.lastLook(listingOf);
    actor.retire();
    this.#awake.delete(actor.eventId);
    this.#publishActivation(actor.eventId, false, 0, 0);
  }

  // ── snapshots ──────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Snapshots a box office as of its newest fact; a second call meanwhile shares the first. */
  snapshot(actor: EventActor): Promise<SnapshotOutcome> {
    return this.snapshotAsOf(actor.eventId, actor.lastSeq);
  }

  /** Snapshots an event, awake or asleep, as of a fact of its own, once that fact is durable. */
  snapshotAsOf(eventId: string, seq: number): Promise<SnapshotOutcome> {
    const known = this.#snapshots.get(eventId);
    if (known !== undefined) return known;
    const taken = this.#takeSnapshot(eventId, seq).finally(() => this.#snapshots.delete(eventId));
    this.#snapshots.set(eventId, taken);
    return taken;
  }

  async #takeSnapshot(eventId: string, seq: number): Promise<SnapshotOutcome> {
    const failed = (trouble: string): SnapshotOutcome => ({ eventId, seq, fingerprint: null, trouble });
    try {
      await this.#journal.durable(seq);
    } catch (fault) {
      return failed((fault as JournalFault).message);
    }
    const entry = this.#byId.get(eventId);
    if (entry === undefined) return failed('there is no such event');
    const { eventNumber } = entry;
    const at = this.#ports.clock.now();
    const actor = this.#awake.peek(eventId);
    const factsCovered = actor?.lastSeq === seq ? actor.factsSinceSnapshot : 0;
    const outcome = await this.#ports.snapshot({ eventId, eventNumber, seq, at, about: entry });
    if (outcome.trouble === null) actor?.snapshotTaken(factsCovered);
    return outcome;
  }

  /** Snapshots every live box office that has grown by `factsMin` facts since its last one, the most grown first. */
  async snapshotGrown(factsMin = SNAPSHOT_EVERY_FACTS): Promise<readonly SnapshotOutcome[]> {
    const grown = this.awake()
      .filter((actor) => actor.factsSinceSnapshot >= factsMin)
      .sort((one, other) => other.factsSinceSnapshot - one.factsSinceSnapshot);
    return Promise.all(grown.map((actor) => this.snapshot(actor)));
  }

  #publishActivation(eventId: string, alive: boolean, factsReplayed: number, tookMs: number): void {
    if (!activationChannel.hasSubscribers) return;
    activationChannel.publish({ eventId, alive, factsReplayed, tookMs } satisfies ActivationMessage);
  }
}
