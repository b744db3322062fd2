/**
 * The thread that makes snapshots: activates a box office from the journal as of one fact, and writes it down.
 *
 * The serving thread never serializes a state, so a snapshot never stalls it; and since each is a replay, that the
 * journal gives the state that was is proved with every one. Started by `snapshotter.ts`.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { SnapshotFolder } from '#persistence/snapshots.ts';
import { FactHistory } from '#persistence/history.ts';
import { journalPath, openReading, type Connection } from '#persistence/schema.ts';
import { snapshotPieces } from '#domain/snapshot.ts';
import { activate, activateService } from './activation.ts';
import { SERVICE_STREAM, servicePieces } from './service-facts.ts';
import type { SnapshotOutcome, SnapshotReply, SnapshotRequest, SnapshotWorkerData } from './snapshotter.ts';

const { folder } = workerData as SnapshotWorkerData;
const snapshots = new SnapshotFolder(folder);

parentPort!.on('message', (request: SnapshotRequest) => {
  void take(request).then((outcome) => {
    parentPort!.postMessage({ jobId: request.jobId, outcome } satisfies SnapshotReply);
  });
});

/** Never rejects: what goes wrong is the outcome. */
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
    const pieces =
      eventId === SERVICE_STREAM
        ? servicePieces(await activateService(source, seq))
        : snapshotPieces((await activate(source, eventId, eventNumber, seq)).office);
    const { fingerprint } = await snapshots.write({ eventId, seq, at, about }, pieces);
    return { eventId, seq, fingerprint, trouble: null };
  } catch (error) {
    return { eventId, seq, fingerprint: null, trouble: error instanceof Error ? error.message : String(error) };
  } finally {
    db?.close();
  }
}
