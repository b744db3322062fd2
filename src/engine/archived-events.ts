/**
 * Archived facts that a start needs: definitions that no snapshot covers, and the service's own state.
 *
 * Usually the header of an event's newest snapshot covers everything that was archived. Where that snapshot is damaged
 * or missing, the newest definition is read from the archive; the cost is a pass over it, so it is done only then.
 *
 * 1. An older header must not replace a newer definition: an outdated slug or number would lead buyers to the wrong
 *    event.
 * 2. An event that neither a header nor the archive defines is named as lost, so that nobody defines it anew and sells
 *    its tickets twice.
 */
import { JournalDamaged } from '#persistence/faults.ts';
import type { SqliteJournal } from '#persistence/sqlite/journal.ts';
import type { ArchiveSurvey } from '#persistence/sqlite/history.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { SnapshotHeader } from '#persistence/snapshots.ts';
import type { ActivationSource } from '#actors/activation.ts';
import { activateService } from './service-facts.ts';
import { SERVICE_STREAM, type ServiceState } from './service-facts.ts';
import { reportTrouble } from '#actors/trouble.ts';

interface ArchivedEvents {
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

/**
 * The archived events and the service's own state, as of a journal that was just opened. Closes the journal when they
 * cannot be read.
 */
export async function readArchived(
  source: ActivationSource,
  journal: SqliteJournal,
  headers: readonly SnapshotHeader[],
): Promise<{ readonly archived: ArchivedEvents; readonly service: ServiceState }> {
  try {
    const archived = await findArchived(journal.archivedHeads, headers, (type) => journal.surveyArchive(type));
    for (const eventId of archived.lostIds) {
      reportTrouble(
        'archive',
        `${eventId} cannot be activated: its facts are in an archive file that is damaged or missing`,
      );
    }
    return { archived, service: await readServiceState(source, journal) };
  } catch (error) {
    await journal.close();
    throw error;
  }
}

/**
 * Where the archive that has the clock's offset and the cursor of notifications is lost, the sale goes on without them:
 * the clock still never goes back, and notifications that are sent again keep their ids.
 */
async function readServiceState(
  source: ActivationSource,
  { baseSeq, durableSeq }: SqliteJournal,
): Promise<ServiceState> {
  try {
    return await activateService(source, durableSeq);
  } catch (error) {
    if (!(error instanceof JournalDamaged)) throw error;
    reportTrouble('archive', `the service's own archived facts are done without: ${error.message}`, error);
    return activateService(source, durableSeq, baseSeq);
  }
}
