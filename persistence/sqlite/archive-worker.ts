/** The worker thread of one piece of work at the archive; started by `archive.ts` alone, answers once and ends. */

import { parentPort, workerData } from 'node:worker_threads';
import { proveArchiveOf, writeArchive, type ArchiveWork } from './archive.ts';

function work(asked: ArchiveWork): unknown {
  if (asked.kind === 'PROVE') return proveArchiveOf(asked.folder, asked.seq);
  return writeArchive(asked.folder, asked.throughSeq, asked.at);
}

/** Errors lose their class between threads; what they say goes along as plain data. */
function answer(asked: ArchiveWork): { readonly result: unknown } | { readonly error: object } {
  try {
    return { result: work(asked) };
  } catch (error) {
    if (!(error instanceof Error)) return { error: { name: 'Error', message: String(error) } };
    return { error: { ...error, name: error.name, message: error.message } };
  }
}

parentPort?.postMessage(answer(workerData as ArchiveWork));
