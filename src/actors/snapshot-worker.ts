/**
 * The entry of the worker thread that takes snapshots: it activates an event from the journal as of one fact and writes it.
 *
 * The serving thread never serializes a state, so a snapshot never blocks it. Every snapshot is taken from a replay, which
 * proves each time that the journal gives the state.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '#persistence/faults.ts';
import { SnapshotFolder, type SnapshotHeader } from '#persistence/snapshots.ts';
import { FactHistory } from '#persistence/sqlite/history.ts';
import { journalPath, openReading, type Connection } from '#persistence/sqlite/schema.ts';
import type { EventState } from '#domain/event-state.ts';
import { listingOf } from '#domain/catalogue/view.ts';
import { snapshotPieces } from '#domain/snapshot.ts';
import { activate, activateService } from './activation.ts';
import { SERVICE_STREAM, servicePieces } from './service-facts.ts';
import type { EventEntry, SnapshotAbout } from './event-entry.ts';
import type { SnapshotOutcome, SnapshotReply, SnapshotRequest, SnapshotWorkerData } from './snapshotter.ts';
import { nextDeadline } from '#domain/deadlines.ts';

/** A header has a bound of its own; an event of many hundred performances is listed from its state. */
const ABOUT_CHARS_MAX = 16 * 1024;

const { folder } = workerData as SnapshotWorkerData;
const snapshots = new SnapshotFolder(folder);

parentPort!.on('message', (request: SnapshotRequest) => {
  void take(request).then((outcome) => {
    parentPort!.postMessage({ jobId: request.jobId, outcome } satisfies SnapshotReply);
  });
});

/** Writes into the header what the index needs of an event that is not loaded: what the list shows, and the next deadline. */
function writeEventState(
  header: Omit<SnapshotHeader, 'format' | 'digest'>,
  state: EventState,
): Promise<{ readonly fingerprint: string }> {
  const about = {
    ...(header.about as EventEntry),
    dueAt: nextDeadline(state)?.at ?? null,
    listing: listingOf(state),
  } satisfies SnapshotAbout;
  const { listing: _listing, ...short } = about;
  const isLong = JSON.stringify(about).length > ABOUT_CHARS_MAX;
  return snapshots.write({ ...header, about: isLong ? short : about }, snapshotPieces(state));
}

/** Never rejects: a failure is an outcome. */
async function take({ job, baseSeq }: SnapshotRequest): Promise<SnapshotOutcome> {
  const { eventId, eventNumber, seq, at, about } = job;
  let db: Connection | null = null;
  try {
    db = openReading(journalPath(folder));
    if (db === null) throw new Error('there is no journal');
    const history = new FactHistory(folder, db);
    const source = {
      newestSnapshot: (id: string, atMostSeq?: number) => snapshots.newest(id, atMostSeq),
      factsAfter: (id: string, afterSeq: number) => history.stream({ eventId: id, afterSeq, headSeq: seq, baseSeq }),
    };
    const { fingerprint } =
      eventId === SERVICE_STREAM
        ? await snapshots.write({ eventId, seq, at, about }, servicePieces(await activateService(source, seq)))
        : await writeEventState({ eventId, seq, at, about }, (await activate(source, eventId, eventNumber, seq)).state);
    return { eventId, seq, fingerprint, trouble: null };
  } catch (error) {
    return { eventId, seq, fingerprint: null, trouble: messageOf(error) };
  } finally {
    db?.close();
  }
}
