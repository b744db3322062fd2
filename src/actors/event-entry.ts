/** What the index knows of an event; it follows from the definition, and is kept in the headers of snapshots too. */
import { retentionEndsAt } from '#domain/catalogue/sale-plan.ts';
import type { EventDefinition } from '#domain/catalogue/definition.ts';
import { conflictSums, type ConflictSums } from '#domain/doors/view.ts';
import type { FactData } from '#domain/fact.ts';
import { listingOf, type EventListing } from '#domain/event/public-view.ts';
import type { EventState } from '#domain/event/state.ts';
import type { RefundCounts } from '#domain/orders/open-refunds.ts';

export interface IndexedEvent {
  readonly eventId: string;
  readonly eventNumber: number;
  slug: string;
  published: boolean;
  /** When its first performance starts, for the order of the list. */
  startsAt: number | null;
  /** When its waiting room opens; the only thing that falls due without a further fact. */
  opensAt: number | null;
  /** When its last performance is over; null where one has no end. Absent in headers of earlier versions. */
  overAt?: number | null;
  /**
   * From when on its personal data is erased; null for never. Absent in headers of earlier versions, which knew no such
   * moment.
   */
  retentionEndsAt?: number | null;
  /**
   * What the list shows of an event that is not in memory; absent where that is not known, and while it is in memory.
   */
  listing?: EventListing;
  /**
   * The refunds of an event that is not in memory; absent where it has none or that is not known, and while it is in
   * memory.
   */
  refunds?: RefundCounts;
  /**
   * Conflicts at its doors, in the same way. People inside are left out: after past evenings nobody was scanned out.
   */
  doors?: ConflictSums;
}

/** What metrics show of an event that is not in memory. */
export type EvictedCounts = Pick<IndexedEvent, 'refunds' | 'doors'>;

/** The entry in a snapshot's header, and what the snapshot thread finds out beside it; good until the next fact. */
export interface SnapshotAbout extends IndexedEvent {
  /** When something runs out in the event; null when nothing can. */
  readonly dueAt?: number | null;
}

/** A performance without an end counts as over so long after its beginning. */
const PERFORMANCE_MS_MAX = 24 * 60 * 60 * 1000;

export function entryOf({
  eventNumber,
  definition,
}: Pick<FactData['EventDefined'], 'eventNumber' | 'definition'>): IndexedEvent {
  const { id: eventId, slug, status, performances, waitingRoom, waitingRoomOpensAt } = definition;
  const starts = performances.flatMap((each) =>
    each.status === 'DRAFT' || each.startsAt === null ? [] : [each.startsAt],
  );
  return {
    eventId,
    eventNumber,
    slug,
    published: status === 'PUBLISHED',
    startsAt: starts.length === 0 ? null : Math.min(...starts),
    opensAt: waitingRoom ? waitingRoomOpensAt : null,
    overAt: overAtOf(performances),
    retentionEndsAt: retentionEndsAt(definition),
  };
}

/** What the index keeps of an event that is not in memory: what the list shows, its refunds and conflicts. */
export function keptOf(state: EventState): Pick<IndexedEvent, 'listing'> & EvictedCounts {
  const { refunds } = state.orders;
  return {
    listing: listingOf(state),
    ...(!refunds.isEmpty && { refunds: refunds.counts }),
    ...(state.doors !== null && { doors: conflictSums(state) }),
  };
}

/** Forgets that again: it is in memory, or something happened since. */
export function forgetKept(entry: IndexedEvent): void {
  delete entry.listing;
  delete entry.refunds;
  delete entry.doors;
}

function overAtOf(performances: EventDefinition['performances']): number | null {
  let overAt = 0;
  for (const { status, startsAt, endsAt } of performances) {
    if (status === 'DRAFT') continue;
    const end = endsAt ?? (startsAt === null ? null : startsAt + PERFORMANCE_MS_MAX);
    if (end === null) return null;
    overAt = Math.max(overAt, end);
  }
  return overAt === 0 ? null : overAt;
}

export function isOver(entry: IndexedEvent | undefined, now: number): boolean {
  return (entry?.overAt ?? null) !== null && entry!.overAt! <= now;
}

export function draftEntry(eventId: string, slug: string, eventNumber: number): IndexedEvent {
  return { eventId, eventNumber, slug, published: false, startsAt: null, opensAt: null };
}

export function byFirstPerformance(a: IndexedEvent, b: IndexedEvent): number {
  const difference = (a.startsAt ?? Number.MAX_SAFE_INTEGER) - (b.startsAt ?? Number.MAX_SAFE_INTEGER);
  return difference === 0 ? a.eventNumber - b.eventNumber : difference;
}

export function pageOf(
  entries: readonly IndexedEvent[],
  { limit, after }: { readonly limit: number; readonly after: string | null },
): { readonly ids: readonly string[]; readonly nextAfter: string | null } {
  const begin = after === null ? 0 : entries.findIndex(({ eventId }) => eventId === after) + 1;
  const ids = entries.slice(begin, begin + limit).map(({ eventId }) => eventId);
  return { ids, nextAfter: begin + limit < entries.length ? (ids.at(-1) ?? null) : null };
}
