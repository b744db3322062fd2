/** The entry of a worker thread that does one job at the archive, posts its outcome and ends. */

import { parentPort, workerData } from 'node:worker_threads';
import { archiveProblems } from './archive-check.ts';
import { loadDriver } from './driver-load.ts';
import { proveArchiveOf, writeArchive, type ArchiveJob, type ArchiveThreadData } from './archive.ts';

function run(job: ArchiveJob): unknown {
  switch (job.kind) {
    case 'PROVE':
      return proveArchiveOf(job.folder, job.seq);
    case 'CHECK':
      return archiveProblems(job.folder, true);
    case 'ARCHIVE':
      return writeArchive(job.folder, job.throughSeq, job.at);
  }
}

/** Errors lose their class between threads, so their fields are sent as plain data. */
async function outcomeOf(job: ArchiveJob): Promise<{ readonly result: unknown } | { readonly error: object }> {
  try {
    return { result: await run(job) };
  } catch (error) {
    if (!(error instanceof Error)) return { error: { name: 'Error', message: String(error) } };
    return { error: { ...error, name: error.name, message: error.message } };
  }
}

const { job, load } = workerData as ArchiveThreadData;
loadDriver(load);
parentPort!.postMessage(await outcomeOf(job));
parentPort!.close();
