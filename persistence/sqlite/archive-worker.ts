/** The entry of a worker thread that does one job at the archive, posts its outcome and ends. */

import { parentPort, workerData } from 'node:worker_threads';
import { proveArchiveOf, writeArchive, type ArchiveJob } from './archive.ts';

function run(job: ArchiveJob): unknown {
  if (job.kind === 'PROVE') return proveArchiveOf(job.folder, job.seq);
  return writeArchive(job.folder, job.throughSeq, job.at);
}

/** Errors lose their class between threads, so their fields are sent as plain data. */
function outcomeOf(job: ArchiveJob): { readonly result: unknown } | { readonly error: object } {
  try {
    return { result: run(job) };
  } catch (error) {
    if (!(error instanceof Error)) return { error: { name: 'Error', message: String(error) } };
    return { error: { ...error, name: error.name, message: error.message } };
  }
}

parentPort?.postMessage(outcomeOf(workerData as ArchiveJob));
