/**
 * The thread that makes snapshots: activates a box office from the journal as of one fact, and writes it down.
 *
 * The serving thread never serializes a state, so a snapshot never stalls it; and since each is a replay, that the
 * journal gives the state that was is proved with every one. Started by `snapshotter.ts`.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { SnapshotFolder } from '#persistence/snapshots.ts';
import { factReader } from '#persistence/reading.ts';
import { journalPath, openReading } from '#persistence/schema.ts';
import { snapshotPieces } from '#domain/snapshot.ts';
import { activate } from './activation.ts';
import type { SnapshotErrand, SnapshotOutcome, SnapshotWorkerData } from './snapshotter.ts';

const { folder } = workerData as SnapshotWorkerData;
const snapshots = new SnapshotFolder(folder);

parentPort!.on('message', (errand: SnapshotErrand) => {
  void take(errand).then((outcome) => parentPort!.postMessage(outcome));
});

async function take({ eventId, eventNumber, seq, at, baseSeq, about }: SnapshotErrand): Promise<SnapshotOutcome> {
  const db = openReading(journalPath(folder));
  try {
    if (db === null) throw new Error('there is no journal');
    const reader = factReader(db);
    const source = {
      newestSnapshot: (id: string, atMostSeq?: number) => snapshots.newest(id, atMostSeq),
      factsAfter: (id: string, afterSeq: number) => reader.stream({ eventId: id, afterSeq, headSeq: seq, baseSeq }),
    };
    const { office, lastSeq } = await activate(source, eventId, eventNumber, seq);
    const { fingerprint } = await snapshots.write({ eventId, seq: lastSeq, at, about }, snapshotPieces(office));
    return { eventId, seq: lastSeq, fingerprint, trouble: null };
  } catch (error) {
    return { eventId, seq, fingerprint: null, trouble: error instanceof Error ? error.message : String(error) };
  } finally {
    db?.close();
  }
}
