/**
 * Snapshots on a thread of their own: the serving side, which sends errands and hears outcomes.
 *
 * What the thread does is `snapshot-worker.ts`; when a snapshot is due is the directory's and `snapshot-rounds.ts`'s.
 */
import { Worker } from 'node:worker_threads';
import { troubleChannel, type TroubleMessage } from './channels.ts';

/** What the snapshot thread is started with. */
export interface SnapshotWorkerData {
  readonly folder: string;
}

/** Asks for a snapshot of an event as of a durable fact. */
export interface SnapshotErrand {
  readonly eventId: string;
  readonly eventNumber: number;
  readonly seq: number;
  readonly at: number;
  /** The last fact that pruning moved away. */
  readonly baseSeq: number;
  /** What the directory wants to know of the event without reading the snapshot. */
  readonly about: unknown;
}

export interface SnapshotOutcome {
  readonly eventId: string;
  readonly seq: number;
  /** Hash of the state's pieces; null when the snapshot could not be taken. */
  readonly fingerprint: string | null;
  readonly trouble: string | null;
}

/** Takes snapshots on a thread of its own, one after the other. */
export interface Snapshotter {
  /** Resolves when the snapshot is on disk, or with what went wrong; never rejects. */
  take(errand: SnapshotErrand): Promise<SnapshotOutcome>;
  stop(): Promise<void>;
}

export function startSnapshotter(folder: string): Snapshotter {
  let worker: Worker | null = null;
  const waiting: { readonly errand: SnapshotErrand; settle(outcome: SnapshotOutcome): void }[] = [];

  const failAll = (trouble: string): void => {
    worker = null;
    for (const { errand, settle } of waiting.splice(0)) {
      settle({ eventId: errand.eventId, seq: errand.seq, fingerprint: null, trouble });
    }
  };
  const start = (): Worker => {
    // Node strips the worker's types itself, without the loader that the main thread may have been started with.
    const started = new Worker(new URL('./snapshot-worker.ts', import.meta.url), {
      workerData: { folder } satisfies SnapshotWorkerData,
      execArgv: [],
    });
    started.unref();
    started.on('message', (outcome: SnapshotOutcome) => {
      waiting.shift()?.settle(outcome);
      if (outcome.trouble === null) return;
      troubleChannel.publish({
        where: 'snapshot',
        message: `no snapshot of ${outcome.eventId}: ${outcome.trouble}`,
        error: null,
      } satisfies TroubleMessage);
    });
    started.on('error', (error) => failAll(error.message));
    return started;
  };

  return {
    take(errand) {
      worker ??= start();
      const settled = new Promise<SnapshotOutcome>((settle) => waiting.push({ errand, settle }));
      worker.postMessage(errand);
      return settled;
    },
    async stop() {
      await worker?.terminate();
      failAll('the snapshotter was stopped');
    },
  };
}
