/**
 * Snapshots in a worker thread, serving side: sends jobs to `snapshot-worker.ts` and receives their outcomes.
 *
 * 1. One job is with the thread at a time, in the order of the calls: many at once would all be late, and a stop without time
 *    for all of them would find none finished.
 * 2. An outcome names its job. An outcome for another job than the current one comes from a thread that has ended and is
 *    ignored.
 * 3. A failure of one job, or of the thread during it, is the outcome of that job alone; the next job is tried again.
 */
import { Worker } from 'node:worker_threads';
import { reportTrouble } from './trouble.ts';

/** What the snapshot thread is started with. */
export interface SnapshotWorkerData {
  readonly folder: string;
}

/** A snapshot of an event to be taken, as of a durable fact. */
export interface SnapshotJob {
  readonly eventId: string;
  readonly eventNumber: number;
  readonly seq: number;
  readonly at: number;
  /** What the event index needs of the event without reading the snapshot. */
  readonly about: unknown;
}

export interface SnapshotOutcome {
  readonly eventId: string;
  readonly seq: number;
  /** Hash of the state's pieces; null when the snapshot could not be taken. */
  readonly fingerprint: string | null;
  readonly trouble: string | null;
}

/** A job on its way to the thread. */
export interface SnapshotRequest {
  readonly jobId: number;
  readonly job: SnapshotJob;
  /** The newest fact that pruning has moved to the archive. */
  readonly baseSeq: number;
}

/** An outcome on its way back. */
export interface SnapshotReply {
  readonly jobId: number;
  readonly outcome: SnapshotOutcome;
}

/** Takes snapshots on a thread of its own, one after the other. */
export interface Snapshotter {
  /** Resolves when the snapshot is on disk or has failed; never rejects. */
  take(job: SnapshotJob): Promise<SnapshotOutcome>;
  /** Ends the thread; unfinished jobs are dropped. */
  stop(): Promise<void>;
}

/** The worker thread. */
export interface SnapshotThread {
  post(request: SnapshotRequest): void;
  end(): Promise<void>;
}

export interface SnapshotterPorts {
  /** Starts a thread; `failed` says that this one takes no more jobs. */
  startThread(on: { reply(reply: SnapshotReply): void; failed(reason: string): void }): SnapshotThread;
  /** The last fact that pruning has moved away. */
  baseSeq(): number;
}

interface PendingJob {
  readonly jobId: number;
  readonly job: SnapshotJob;
  settle(outcome: SnapshotOutcome): void;
}

/** Starts a snapshotter for a data folder; its thread starts with the first job. */
export function startSnapshotter(folder: string, baseSeq: () => number): Snapshotter {
  return createSnapshotter({ baseSeq, startThread: (on) => startWorker(folder, on) });
}

export function createSnapshotter({ startThread, baseSeq }: SnapshotterPorts): Snapshotter {
  const waiting: PendingJob[] = [];
  let underWay: PendingJob | null = null;
  let thread: SnapshotThread | null = null;
  let jobsTaken = 0;
  let isStopped = false;

  const sendNext = (): void => {
    if (underWay !== null) return;
    underWay = waiting.shift() ?? null;
    if (underWay === null) return;
    thread ??= startOne();
    thread.post({ jobId: underWay.jobId, job: underWay.job, baseSeq: baseSeq() });
  };
  const settle = ({ jobId, outcome }: SnapshotReply): void => {
    const pending = underWay;
    if (pending?.jobId !== jobId) return;
    underWay = null;
    pending.settle(outcome);
    if (outcome.trouble !== null) report(outcome);
    sendNext();
  };
  const startOne = (): SnapshotThread => {
    const started = startThread({
      reply: settle,
      failed: (reason) => {
        if (thread !== started) return;
        thread = null;
        if (underWay !== null) settle({ jobId: underWay.jobId, outcome: notTaken(underWay.job, reason) });
      },
    });
    return started;
  };

  return {
    take(job) {
      if (isStopped) return Promise.resolve(notTaken(job, STOPPED));
      jobsTaken += 1;
      const jobId = jobsTaken;
      const taken = new Promise<SnapshotOutcome>((resolve) => waiting.push({ jobId, job, settle: resolve }));
      sendNext();
      return taken;
    },
    async stop() {
      isStopped = true;
      const unfinished = [...(underWay === null ? [] : [underWay]), ...waiting.splice(0)];
      underWay = null;
      const ending = thread;
      thread = null;
      await ending?.end();
      for (const pending of unfinished) pending.settle(notTaken(pending.job, STOPPED));
    },
  };
}

const STOPPED = 'the service was stopped before it was taken';

function notTaken({ eventId, seq }: SnapshotJob, trouble: string): SnapshotOutcome {
  return { eventId, seq, fingerprint: null, trouble };
}

function startWorker(folder: string, on: Parameters<SnapshotterPorts['startThread']>[0]): SnapshotThread {
  // Node strips the worker's types itself, without the loader that the main thread may have been started with.
  const worker = new Worker(new URL('./snapshot-worker.ts', import.meta.url), {
    workerData: { folder } satisfies SnapshotWorkerData,
    execArgv: [],
  });
  worker.unref();
  worker.on('message', on.reply);
  worker.on('error', (error) => on.failed(error instanceof Error ? error.message : String(error)));
  worker.on('exit', () => on.failed('its thread ended'));
  return {
    post: (request) => worker.postMessage(request),
    end: async () => {
      await worker.terminate();
    },
  };
}

function report({ eventId, trouble }: SnapshotOutcome): void {
  reportTrouble('snapshot', `no snapshot of ${eventId || 'the service'}: ${trouble}`);
}
