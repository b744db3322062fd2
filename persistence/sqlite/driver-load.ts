/**
 * Ends worker threads that open databases. When a thread is terminated while it loads the driver of SQLite, the whole
 * process ends, because the driver aborts at a failed call then. So a thread is terminated before that, or after.
 */
import Database from 'better-sqlite3';
import type { Worker } from 'node:worker_threads';

const [NOT_BEGUN, LOADING, LOADED, ENDED] = [0, 1, 2, 3] as const;

/** How far a thread has come, in memory that it shares with the one that started it. */
export type DriverLoad = Int32Array<SharedArrayBuffer>;

export function newDriverLoad(): DriverLoad {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** Loads the driver before a thread opens anything; `end` is called instead where the thread is being terminated. */
export function loadDriver(load: DriverLoad, end: () => void = () => process.exit()): void {
  if (Atomics.compareExchange(load, 0, NOT_BEGUN, LOADING) !== NOT_BEGUN) return end();
  try {
    new Database(':memory:').close();
  } finally {
    Atomics.store(load, 0, LOADED);
    Atomics.notify(load, 0);
  }
}

/** Terminates a thread, but not while it loads the driver. */
export async function terminateThread(worker: Pick<Worker, 'terminate'>, load: DriverLoad): Promise<void> {
  if (Atomics.compareExchange(load, 0, NOT_BEGUN, ENDED) === LOADING) await Atomics.waitAsync(load, 0, LOADING).value;
  await worker.terminate();
}
