/**
 * Snapshots in a worker thread, serving side: sends jobs to `snapshot-worker.ts` and receives their outcomes.
 *
 * 1. One job is with the thread at a time, in the order of the calls: if many ran at once all would be late, and a stop
 *    without time for all of them would find none finished.
 * 2. An outcome names its job. An outcome for another job than the current one comes from a thread that has ended and
 *    is ignored.
 * 3. A failure of one job, or of the thread during it, is the outcome of that job alone; the next job is tried again.
 * 4. Facts that are given with a job are posted in slices, because a copy of many at once would block the serving
 *    thread.
 */
import { Worker } from 'node:worker_threads';
import { setImmediate as nextRound } from 'node:timers/promises';
import { newDriverLoad, terminateThread, type DriverLoad } from '#persistence/sqlite/driver-load.ts';
import type { FactRow } from '#persistence/journal.ts';
import { reportTrouble } from '#actors/trouble.ts';
import type { GivenFacts, SnapshotJob, SnapshotOutcome } from '#actors/activation.ts';

/** What the snapshot thread is started with. */
export interface SnapshotWorkerData {
  readonly folder: string;
  readonly load: DriverLoad;
}

/** A job on its way to the thread; with many given facts it is several messages. */
export interface SnapshotRequest {
  readonly jobId: number;
  /** Its given facts are in `rows`. */
  readonly job: SnapshotJob;
  /** The newest fact that pruning has moved to the archive. */
  readonly baseSeq: number;
  /** Given facts that follow on from those of the message before. */
  readonly rows?: readonly FactRow[];
  /** A message of the same job with further rows follows. */
  readonly isPart?: boolean;
}

/** Rows in one message; to copy them takes the serving thread 1 to 2 ms. */
const ROWS_A_MESSAGE = 500;

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
interface SnapshotThread {
  post(request: SnapshotRequest): void;
  end(): Promise<void>;
}

interface SnapshotterPorts {
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
    const { jobId, job } = underWay;
    if (job.given === undefined) thread.post({ jobId, job, baseSeq: baseSeq() });
    else void sendGiven(thread, { jobId, job, baseSeq: baseSeq() }, job.given);
  };
  const sendGiven = async (to: SnapshotThread, request: SnapshotRequest, given: GivenFacts): Promise<void> => {
    const { rows } = given;
    const job = { ...request.job, given: { ...given, rows: [] } };
    for (let place = 0; thread === to && underWay?.jobId === request.jobId; place += ROWS_A_MESSAGE) {
      const isPart = place + ROWS_A_MESSAGE < rows.length;
      to.post({ ...request, job, rows: rows.slice(place, place + ROWS_A_MESSAGE), isPart });
      if (!isPart) return;
      await nextRound();
    }
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
  const workerData: SnapshotWorkerData = { folder, load: newDriverLoad() };
  // Node strips the worker's types itself, without the loader that the main thread may have been started with.
  const worker = new Worker(new URL('./snapshot-worker.ts', import.meta.url), { workerData, execArgv: [] });
  worker.unref();
  worker.on('message', on.reply);
  worker.on('error', (error) => on.failed(error instanceof Error ? error.message : String(error)));
  worker.on('exit', () => on.failed('its thread ended'));
  return {
    post: (request) => worker.postMessage(request),
    end: () => terminateThread(worker, workerData.load),
  };
}

function report({ eventId, trouble }: SnapshotOutcome): void {
  reportTrouble('snapshot', `no snapshot of ${eventId || 'the service'}: ${trouble}`);
}
