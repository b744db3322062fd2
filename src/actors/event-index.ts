/**
 * Every event by id, slug and number, in memory or not; the lists of events; the definition of new ones.
 *
 * Owns the entries, the serial numbers of new events and the claims of slugs. The actors belong to `actor-pool.ts`.
 *
 * 1. A slug belongs to one event, also while a definition that names it is not yet durable.
 * 2. An event that cannot be activated is left out of lists.
 * 3. An actor that is in memory is found without a promise.
 */
import { eventSummary, listingOfUnsold, summaryOf, type EventSummary } from '#domain/event/public-view.ts';
import { isPublished } from '#domain/catalogue/state.ts';
import { eventNumberOf, type IdPrefix } from '#domain/ids.ts';
import { isRefusal, refuse, type Refusal } from '#domain/refusal.ts';
import { ActorPool, type ActorPoolPorts } from './actor-pool.ts';
import { byFirstPerformance, draftEntry, entryOf, forgetKept, isOver, pageOf } from './event-entry.ts';
import { isEventBroken, Overloaded } from './admission.ts';
import { readUnlessBusy } from './event-port.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import type { FactData, OperatorNote } from '#domain/fact.ts';
import type { OperatorEventView } from '#domain/event/operator-view.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { SnapshotHeader } from '#persistence/snapshots.ts';
import type { EventActor } from './event-actor.ts';
import type { IndexedEvent, EvictedCounts, SnapshotAbout } from './event-entry.ts';

export interface DefinedEvent {
  readonly outcome: 'DONE';
  readonly eventId: string;
  readonly version: number;
  readonly created: boolean;
  readonly changed: boolean;
}

/** The actor of an event, or null where there is none; a promise while it is being activated. */
type FoundActor = EventActor | null | Promise<EventActor>;

/** What the index of a cluster reserved for a new event, and the id of the command that defines it. */
interface ReservedEvent {
  readonly eventNumber?: number;
  readonly commandId?: string;
}

/** An event from whose orders personal data is erased, since when. */
export interface PastRetention {
  readonly eventId: string;
  readonly endsAt: number;
  /** The epoch under which this node owns the event; absent on a single machine. */
  readonly epoch?: number;
}

interface PageRequest {
  readonly limit: number;
  readonly after: string | null;
}

/** How often a summary is tried: another activation may evict the event before it is read. */
const SUMMARY_TRIES_MAX = 2;

export class EventIndex {
  /** The actors of the events that are in memory. */
  readonly actors: ActorPool;
  readonly #ports: Pick<ActorPoolPorts, 'clock' | 'schedule'>;
  readonly #byId = new Map<string, IndexedEvent>();
  readonly #bySlug = new Map<string, IndexedEvent>();
  readonly #byNumber: (IndexedEvent | undefined)[] = [];
  /** Slugs of definitions that are not yet durable (rule 1). */
  readonly #slugClaims = new Map<string, { readonly eventId: string; definitions: number }>();
  /** Published events by first performance; made anew when an event is defined. */
  #listed: readonly IndexedEvent[] | null = null;

  constructor(ports: Omit<ActorPoolPorts, 'entryOf'>) {
    this.#ports = ports;
    this.actors = new ActorPool({ ...ports, entryOf: (eventId) => this.#byId.get(eventId) });
  }

  get size(): number {
    return this.#byId.size;
  }

  /** Whether all performances of an event are over. */
  isOver(eventId: string): boolean {
    return isOver(this.#byId.get(eventId), this.#ports.clock.now());
  }

  /** The events whose retention has passed. */
  pastRetention(): readonly PastRetention[] {
    const now = this.#ports.clock.now();
    const past: PastRetention[] = [];
    for (const { eventId, retentionEndsAt: endsAt = null } of this.#byId.values()) {
      if (endsAt !== null && endsAt <= now) past.push({ eventId, endsAt });
    }
    return past;
  }

  /** The counts of the events that are not in memory, each as it was when it left memory. */
  get notInMemory(): readonly EvictedCounts[] {
    return [...this.#byId.values()].filter(({ refunds, doors }) => refunds !== undefined || doors !== undefined);
  }

  // ── entries ────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Enters the event of a definition; with `isUnsold` nothing was sold in it yet, so that its listing is known too. */
  noteRow(row: FactRow, isUnsold = false): void {
    if (row.type !== 'EventDefined') return;
    const defined = JSON.parse(row.data) as FactData['EventDefined'];
    const listed = isUnsold ? { listing: listingOfUnsold(defined.definition) } : {};
    this.#note({ ...entryOf(defined), ...listed });
  }

  /**
   * Enters an event whose definition may be in the archive; with `isNewest` nothing happened in it since the snapshot.
   */
  noteSnapshot(header: SnapshotHeader, isNewest = false): void {
    const { dueAt: _dueAt, ...entry } = header.about as SnapshotAbout;
    if (this.#byId.has(entry.eventId)) return;
    if (!isNewest) forgetKept(entry);
    this.#note(entry);
  }

  /**
   * Enters an event of which only the id is known, because the archive that defines it cannot be read. It exists but
   * cannot be activated, and its number stays free until the archive is back.
   */
  noteLost(eventId: string): void {
    if (!this.#byId.has(eventId)) this.#note(draftEntry(eventId, `@${eventId}`, this.#nextNumber()));
  }

  #nextNumber(): number {
    return Math.max(1, this.#byNumber.length);
  }

  #note(entry: IndexedEvent): void {
    const known = this.#byId.get(entry.eventId);
    const ownsSlug = known !== undefined && this.#bySlug.get(known.slug)?.eventId === entry.eventId;
    if (ownsSlug && known.slug !== entry.slug) this.#bySlug.delete(known.slug);
    this.#byId.set(entry.eventId, entry);
    this.#bySlug.set(entry.slug, entry);
    this.#byNumber[entry.eventNumber] = entry;
    this.#listed = null;
    if (entry.opensAt !== null) this.#ports.schedule(entry.eventId, entry.opensAt);
  }

  #forget(entry: IndexedEvent): void {
    this.#byId.delete(entry.eventId);
    this.#bySlug.delete(entry.slug);
    this.#byNumber[entry.eventNumber] = undefined;
    this.#listed = null;
    this.actors.discard(entry.eventId);
  }

  // ── finding ────────────────────────────────────────────────────────────────────────────────────────────────────────

  byEventId(eventId: string): FoundActor {
    return this.#find(this.#byId.get(eventId));
  }

  bySlug(slug: string): FoundActor {
    return this.#find(this.#bySlug.get(slug));
  }

  /** The event that an id of this prefix names; null when it is no such id or the event is unknown. */
  byId(prefix: IdPrefix, id: string): FoundActor {
    const eventNumber = eventNumberOf(prefix, id);
    return eventNumber === null ? null : this.#find(this.#byNumber[eventNumber]);
  }

  #find(entry: IndexedEvent | undefined): FoundActor {
    return entry === undefined ? null : this.actors.find(entry);
  }

  // ── lists ──────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** A page of the published events by first performance; `after` is the id of the last event of the page before. */
  async list(page: PageRequest): Promise<{
    readonly events: readonly EventSummary[];
    readonly nextAfter: string | null;
  }> {
    this.#listed ??= [...this.#byId.values()].filter(({ published }) => published).sort(byFirstPerformance);
    const { ids, nextAfter } = pageOf(this.#listed, page);
    const events: EventSummary[] = [];
    for (const eventId of ids) {
      const summary = await this.summaryOf(eventId);
      if (summary !== null) events.push(summary);
    }
    return { events, nextAfter };
  }

  /** Null for an event that is not published, and for a broken one (rule 2). */
  async summaryOf(eventId: string): Promise<EventSummary | null> {
    for (let tries = 1; ; tries += 1) {
      const entry = this.#byId.get(eventId);
      if (entry === undefined || this.actors.broken.refusalOf(eventId) !== null) return null;
      const active = this.actors.peek(eventId);
      if (active === undefined && entry.listing !== undefined) return summaryOf(entry.listing, this.#ports.clock.now());
      try {
        const actor = active ?? (await this.actors.activate(entry));
        return actor.inspect((state, now) => (isPublished(state) ? eventSummary(state, now) : null));
      } catch (error) {
        if (isEventBroken(error)) return null;
        if (!(error instanceof Overloaded) || tries === SUMMARY_TRIES_MAX) throw error;
      }
    }
  }

  /** A page of all events, drafts too, in the order of their first definition. */
  listAll(page: PageRequest): Promise<{ readonly eventIds: readonly string[]; readonly nextAfter: string | null }> {
    const { ids, nextAfter } = pageOf(
      this.#byNumber.filter((entry) => entry !== undefined),
      page,
    );
    return Promise.resolve({ eventIds: ids, nextAfter });
  }

  /** What operators see of those of the events that are in memory; reading does not count as use. */
  async readActive(eventIds: readonly string[]): Promise<readonly OperatorEventView[]> {
    const views: OperatorEventView[] = [];
    for (const eventId of eventIds) {
      const actor = this.actors.peek(eventId);
      const view = actor && (await readUnlessBusy(actor.read({ type: 'ReadOperatorEvent' })));
      if (view != null) views.push(view);
    }
    return views;
  }

  // ── definitions ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Creates or updates an event. Refuses with UPDATE_CONFLICT, also when the slug belongs to another event. */
  async define(
    definition: EventDefinition,
    by: OperatorNote,
    reserved: ReservedEvent = {},
  ): Promise<DefinedEvent | Refusal> {
    const { id: eventId, slug } = definition;
    const owner = this.#slugClaims.get(slug)?.eventId ?? this.#bySlug.get(slug)?.eventId ?? eventId;
    if (owner !== eventId) {
      return refuse('UPDATE_CONFLICT', {
        conflicts: [{ path: ['slug'], message: `the event ${owner} has this slug` }],
      });
    }
    const release = this.#claimSlug(slug, eventId);
    try {
      return await this.#define(definition, by, reserved);
    } finally {
      release();
    }
  }

  /**
   * Reserves a slug for an event until its definition is durable (rule 1); returns the function that ends the claim.
   */
  #claimSlug(slug: string, eventId: string): () => void {
    const claim = this.#slugClaims.get(slug) ?? { eventId, definitions: 0 };
    this.#slugClaims.set(slug, claim);
    claim.definitions += 1;
    return () => {
      claim.definitions -= 1;
      if (claim.definitions === 0) this.#slugClaims.delete(slug);
    };
  }

  async #define(
    definition: EventDefinition,
    by: OperatorNote,
    { eventNumber = this.#nextNumber(), commandId }: ReservedEvent,
  ): Promise<DefinedEvent | Refusal> {
    const { id: eventId, slug } = definition;
    const created = !this.#byId.has(eventId);
    if (created) this.#note(draftEntry(eventId, slug, eventNumber));
    const entry = this.#byId.get(eventId)!;
    try {
      const actor = await this.actors.activate(entry);
      const reply = await actor.execute({ type: 'DefineEvent', definition, ...by }, commandId);
      if (isRefusal(reply)) return reply;
      this.#note(entryOf({ eventNumber: entry.eventNumber, definition }));
      return { ...reply, created };
    } catch (error) {
      if (created) this.#forget(entry);
      throw error;
    }
  }
}
