/**
 * The entry of the worker thread that takes snapshots: it activates an event from the journal as of one fact and writes
 * it.
 *
 * The serving thread never serializes a state, so a snapshot never blocks it. Every snapshot is taken from a replay,
 * which proves each time that the journal gives the state. Where the journal is not a file of the folder, the facts
 * after the newest snapshot are given with the job.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '#persistence/faults.ts';
import { SnapshotFolder, type SnapshotHeader } from '#persistence/snapshots.ts';
import { loadDriver } from '#persistence/sqlite/driver-load.ts';
import { FactHistory } from '#persistence/sqlite/history.ts';
import { journalPath, openReading, type Connection } from '#persistence/sqlite/schema.ts';
import type { FactRow } from '#persistence/journal.ts';
import type { EventState } from '#domain/event/state.ts';
import { snapshotPieces } from '#domain/event/snapshot.ts';
import { activate, type ActivationSource, type SnapshotJob, type SnapshotOutcome } from '#actors/activation.ts';
import { activateService } from './service-facts.ts';
import { SERVICE_STREAM, servicePieces } from './service-facts.ts';
import { forgetKept, keptOf, type IndexedEvent, type SnapshotAbout } from '#actors/event-entry.ts';
import type { SnapshotReply, SnapshotRequest, SnapshotWorkerData } from './snapshotter.ts';
import { nextWorkAt } from '#domain/event/deadlines.ts';

/** A header has a bound of its own; an event of many hundred performances is listed from its state. */
const ABOUT_CHARS_MAX = 16 * 1024;

const { folder, load } = workerData as SnapshotWorkerData;
loadDriver(load);
const ownSnapshots = new SnapshotFolder(folder);
/** Given facts of the job whose last message has not come yet. */
let gathered: { readonly jobId: number; readonly rows: FactRow[] } = { jobId: 0, rows: [] };

parentPort!.on('message', (request: SnapshotRequest) => {
  const { jobId, rows = [], isPart = false } = request;
  if (gathered.jobId !== jobId) gathered = { jobId, rows: [] };
  for (const row of rows) gathered.rows.push(row);
  if (isPart) return;
  void take(request, gathered.rows).then((outcome) => {
    parentPort!.postMessage({ jobId, outcome } satisfies SnapshotReply);
  });
  gathered = { jobId: 0, rows: [] };
});

/**
 * Writes into the header what the index needs of an event that is not loaded: what the list shows, its refunds and
 * conflicts, and the next deadline.
 */
function writeEventState(
  snapshots: SnapshotFolder,
  header: Omit<SnapshotHeader, 'format' | 'digest'>,
  state: EventState,
): Promise<{ readonly fingerprint: string }> {
  const entry = { ...(header.about as IndexedEvent) };
  forgetKept(entry);
  const about = { ...entry, dueAt: nextWorkAt(state), ...keptOf(state) } satisfies SnapshotAbout;
  const { listing: _listing, ...short } = about;
  const isLong = JSON.stringify(about).length > ABOUT_CHARS_MAX;
  return snapshots.write({ ...header, about: isLong ? short : about }, snapshotPieces(state));
}

/** Never rejects: a failure is an outcome. */
async function take({ job, baseSeq }: SnapshotRequest, rows: readonly FactRow[]): Promise<SnapshotOutcome> {
  const { eventId, seq, given } = job;
  let db: Connection | null = null;
  try {
    // A folder of given facts is read anew each time: the serving thread adds snapshots of other nodes to it.
    const snapshots = given === undefined ? ownSnapshots : new SnapshotFolder(given.folder);
    const newestSnapshot = (id: string, atMostSeq?: number) => snapshots.newest(id, atMostSeq);
    if (given !== undefined) {
      const factsAfter = (_: string, afterSeq: number) => givenAfter(rows, given.afterSeq, afterSeq);
      return await write(snapshots, job, { newestSnapshot, factsAfter });
    }
    db = openReading(journalPath(folder));
    if (db === null) throw new Error('there is no journal');
    const history = new FactHistory(folder, db);
    const factsAfter = (id: string, afterSeq: number) =>
      history.stream({ eventId: id, afterSeq, headSeq: seq, baseSeq });
    return await write(snapshots, job, { newestSnapshot, factsAfter });
  } catch (error) {
    return { eventId, seq, fingerprint: null, trouble: messageOf(error) };
  } finally {
    db?.close();
  }
}

async function write(
  snapshots: SnapshotFolder,
  { eventId, eventNumber, seq, at, about }: SnapshotJob,
  source: ActivationSource,
): Promise<SnapshotOutcome> {
  const header = { eventId, seq, at, about };
  const { fingerprint } =
    eventId === SERVICE_STREAM
      ? await snapshots.write(header, servicePieces(await activateService(source, seq)))
      : await writeEventState(snapshots, header, (await activate(source, eventId, eventNumber, seq)).state);
  return { eventId, seq, fingerprint, trouble: null };
}

/** Facts that are missing between the newest good snapshot and the given ones would make a wrong state. */
function givenAfter(rows: readonly FactRow[], givenAfterSeq: number, afterSeq: number): Iterable<FactRow> {
  if (afterSeq >= givenAfterSeq) return rows.filter((row) => row.seq > afterSeq);
  throw new Error(
    `its facts are given from ${givenAfterSeq + 1} on, and its newest good snapshot is of fact ${afterSeq}`,
  );
}
