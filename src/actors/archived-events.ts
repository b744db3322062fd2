/**
 * What the index of events needs of events whose definition was archived and whose snapshots do not tell it.
 *
 * Usually the header of an event's newest snapshot covers everything that was archived. Where that snapshot is damaged or gone,
 * the newest definition is looked up in the archive; the cost is a pass over it, so it is done only then.
 *
 * 1. An older header must not stand for a newer definition: a slug or a number that is out of date would lead buyers astray.
 * 2. An event that neither tells of is named as lost, so that nobody defines it anew and sells its tickets twice.
 */
import type { ArchiveSurvey } from '#persistence/sqlite/history.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { SnapshotHeader } from '#persistence/snapshots.ts';
import { SERVICE_STREAM } from './service-facts.ts';

export interface ArchivedEvents {
  /** The newest archived definition of each event that needed one. */
  readonly definitions: readonly FactRow[];
  /** Events that nothing readable defines. */
  readonly lostIds: readonly string[];
  /** When the last archived fact happened; null when the archive was not needed. */
  readonly lastAt: number | null;
}

/** Finds the definitions that snapshots do not cover; `survey` looks through the archive and is called at most once. */
export async function findArchived(
  archivedHeads: ReadonlyMap<string, number>,
  headers: readonly SnapshotHeader[],
  survey: (type: string) => Promise<ArchiveSurvey>,
): Promise<ArchivedEvents> {
  const known = new Map<string, number>();
  for (const { eventId, seq } of headers) known.set(eventId, Math.max(seq, known.get(eventId) ?? 0));
  const uncovered = [...archivedHeads].filter(([eventId, headSeq]) => (known.get(eventId) ?? 0) < headSeq);
  if (uncovered.length === 0) return { definitions: [], lostIds: [], lastAt: null };
  const { rows, lastAt } = await survey('EventDefined');
  const newest = new Map(rows.map((row) => [row.eventId, row]));
  const eventIds = uncovered.map(([eventId]) => eventId).filter((eventId) => eventId !== SERVICE_STREAM);
  return {
    definitions: eventIds.flatMap((eventId) => {
      const row = newest.get(eventId);
      return row === undefined || row.seq <= (known.get(eventId) ?? 0) ? [] : [row];
    }),
    lostIds: eventIds.filter((eventId) => !newest.has(eventId) && !known.has(eventId)),
    lastAt,
  };
}
