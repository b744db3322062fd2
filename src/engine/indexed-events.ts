/**
 * The index of all events of a cluster, built from facts of shard 0: which events there are, and which numbers and
 * slugs are taken. A single machine has no such facts: its index follows from the definitions themselves.
 *
 * 1. A number and a slug belong to an event from the moment they are reserved, before it is defined.
 * 2. A slug is free again when the definition that reserved it was refused, or when its event has got another one. A
 *    number never is: ids may carry it.
 */
import type { IndexedEvent } from '#actors/event-entry.ts';

/** What a definition under way has reserved. */
interface Reservation {
  readonly eventId: string;
  readonly eventNumber: number;
  readonly slug: string;
}

export interface IndexFactData {
  EventReserved: Reservation;
  /** The event is defined; whatever was reserved for it ends. */
  EventIndexed: { readonly entry: IndexedEvent };
  /** The definition was refused. */
  EventReservationEnded: Pick<Reservation, 'eventId' | 'slug'>;
}

export type IndexFact = {
  [Type in keyof IndexFactData]: { readonly type: Type; readonly data: IndexFactData[Type] };
}[keyof IndexFactData];

/** Entries in one piece of a snapshot. */
const ENTRIES_A_PIECE = 200;

export class IndexedEvents {
  /** The events that are defined. */
  readonly #byId = new Map<string, IndexedEvent>();
  readonly #bySlug = new Map<string, IndexedEvent>();
  readonly #byNumber = new Map<number, IndexedEvent>();
  /** By slug. */
  readonly #reservations = new Map<string, Reservation>();
  #nextNumber = 1;

  /** The number of events that are defined. */
  get size(): number {
    return this.#byId.size;
  }

  /** The number of the next new event. */
  get nextNumber(): number {
    return this.#nextNumber;
  }

  byId(eventId: string): IndexedEvent | undefined {
    return this.#byId.get(eventId);
  }

  bySlug(slug: string): IndexedEvent | undefined {
    return this.#bySlug.get(slug);
  }

  byNumber(eventNumber: number): IndexedEvent | undefined {
    return this.#byNumber.get(eventNumber);
  }

  /** The events that are defined, in the order of their first definition. */
  all(): readonly IndexedEvent[] {
    return [...this.#byId.values()].sort((one, other) => one.eventNumber - other.eventNumber);
  }

  /** The event that has a slug, or for which it is reserved (rule 1). */
  ownerOfSlug(slug: string): string | undefined {
    return this.#reservations.get(slug)?.eventId ?? this.#bySlug.get(slug)?.eventId;
  }

  /** What is reserved for an event, the newest slug. */
  reservationOf(eventId: string): Reservation | undefined {
    return [...this.#reservations.values()].findLast((each) => each.eventId === eventId);
  }

  apply({ type, data }: IndexFact): void {
    switch (type) {
      case 'EventReserved':
        this.#reservations.set(data.slug, data);
        this.#nextNumber = Math.max(this.#nextNumber, data.eventNumber + 1);
        return;
      case 'EventReservationEnded':
        this.#reservations.delete(data.slug);
        return;
      case 'EventIndexed':
        this.#index(data.entry);
    }
  }

  #index(entry: IndexedEvent): void {
    const { eventId, eventNumber, slug } = entry;
    const known = this.#byId.get(eventId);
    if (known !== undefined) this.#bySlug.delete(known.slug);
    for (const each of this.#reservations.values()) {
      if (each.eventId === eventId) this.#reservations.delete(each.slug);
    }
    this.#byId.set(eventId, entry);
    this.#bySlug.set(slug, entry);
    this.#byNumber.set(eventNumber, entry);
    this.#nextNumber = Math.max(this.#nextNumber, eventNumber + 1);
  }

  /** As the pieces of a snapshot; none while there was never a fact. */
  *pieces(): Iterable<string> {
    if (this.#nextNumber === 1) return;
    yield JSON.stringify({ nextNumber: this.#nextNumber, reservations: [...this.#reservations.values()] });
    const entries = this.all();
    for (let from = 0; from < entries.length; from += ENTRIES_A_PIECE) {
      yield JSON.stringify(entries.slice(from, from + ENTRIES_A_PIECE));
    }
  }

  /** The index that pieces describe. */
  static restore([first, ...further]: readonly string[]): IndexedEvents {
    const index = new IndexedEvents();
    if (first === undefined) return index;
    const head = JSON.parse(first) as { readonly nextNumber: number; readonly reservations: readonly Reservation[] };
    for (const piece of further) for (const entry of JSON.parse(piece) as readonly IndexedEvent[]) index.#index(entry);
    for (const each of head.reservations) index.#reservations.set(each.slug, each);
    index.#nextNumber = head.nextNumber;
    return index;
  }
}
