/**
 * What a start learns of every event from the headers of snapshots and the facts after them, without an activation.
 *
 * Memory and the time of a start depend on what is on sale, not on what was ever sold. An event is activated only for a
 * request, or when a deadline in it may have passed without a fact.
 *
 * 1. A header is enough when nothing happened since its snapshot. The last definition is enough for an event that has
 *    only definitions. Of every other event it is not known what is due: it is settled after the start.
 * 2. Events whose performances are over are settled last.
 */
import type { FactRow } from '#persistence/journal.ts';
import type { SnapshotHeader } from '#persistence/snapshots.ts';
import type { FactType } from '#domain/fact.ts';
import { SERVICE_STREAM } from './service-facts.ts';
import type { EventIndex } from '#actors/event-index.ts';
import type { SnapshotAbout } from '#actors/event-entry.ts';

/** Facts after which nothing is due but the opening of a waiting room, which the definition tells as well. */
const DEFINING: ReadonlySet<string> = new Set<FactType>([
  'EventDefined',
  'WaitingRoomAdded',
  'WaitingRoomRescheduled',
  'WaitingRoomRemoved',
]);

/** What the pass over the journal at the start is used for. */
export class StartSurvey {
  facts = 0;
  firstAt: number | null = null;
  lastAt = 0;
  readonly #definitions = new Map<string, FactRow>();
  /** Events in which more happened than definitions. */
  readonly #sold = new Set<string>();

  see(row: FactRow): void {
    this.facts += 1;
    this.firstAt ??= row.at;
    if (row.at > this.lastAt) this.lastAt = row.at;
    if (row.type === 'EventDefined') this.#definitions.set(row.eventId, row);
    if (!DEFINING.has(row.type)) this.#sold.add(row.eventId);
  }

  /**
   * Enters every event into the index. `headers` has the newest first of every event; `archived` definitions that no
   * header covers.
   */
  enter(
    events: Pick<EventIndex, 'noteRow' | 'noteSnapshot'>,
    { headers, archived, archivedHeads, streams }: StartFindings,
  ): StartPlan {
    const newest = newestOf(headers);
    const plan: StartPlan = { due: [], unknown: [] };
    const heads = new Map([...streams].map(({ eventId, lastSeq }) => [eventId, lastSeq]));
    for (const header of newest.values()) events.noteSnapshot(header, header.seq >= (heads.get(header.eventId) ?? 0));
    for (const row of archived) events.noteRow(row);
    for (const row of this.#definitions.values()) {
      if ((newest.get(row.eventId)?.seq ?? 0) >= row.seq) continue;
      events.noteRow(row, !archivedHeads.has(row.eventId) && !this.#sold.has(row.eventId));
    }
    for (const [eventId, headSeq] of heads) {
      if (eventId === SERVICE_STREAM) continue;
      const header = newest.get(eventId);
      const dueAt = header !== undefined && header.seq >= headSeq ? (header.about as SnapshotAbout).dueAt : undefined;
      const isUnsold = !archivedHeads.has(eventId) && !this.#sold.has(eventId);
      if (dueAt === undefined && !isUnsold) plan.unknown.push(eventId);
      else if (typeof dueAt === 'number') plan.due.push({ eventId, at: dueAt });
    }
    return plan;
  }
}

interface StartFindings {
  readonly headers: readonly SnapshotHeader[];
  readonly archived: readonly FactRow[];
  readonly archivedHeads: ReadonlyMap<string, number>;
  readonly streams: Iterable<{ readonly eventId: string; readonly lastSeq: number }>;
}

/** What is settled after the start. */
export interface StartPlan {
  /** Events in which something runs out at a known moment, which may be in the past. */
  readonly due: { readonly eventId: string; readonly at: number }[];
  /** Events of which it is not known what is due (rule 1). */
  readonly unknown: string[];
}

function newestOf(headers: readonly SnapshotHeader[]): Map<string, SnapshotHeader> {
  const newest = new Map<string, SnapshotHeader>();
  for (const header of headers) {
    if (header.eventId === SERVICE_STREAM) continue;
    if ((newest.get(header.eventId)?.seq ?? -1) < header.seq) newest.set(header.eventId, header);
  }
  return newest;
}
