/** The worker thread of one archiving; started by `archiveFacts` alone, answers once and ends. */

import { parentPort, workerData } from 'node:worker_threads';
import { writeArchive, type ArchiveAnswer } from './archive.ts';

const { folder, throughSeq } = workerData as { readonly folder: string; readonly throughSeq: number };

function archive(): ArchiveAnswer {
  try {
    return { archived: writeArchive(folder, throughSeq) };
  } catch (error) {
    return { error };
  }
}

parentPort?.postMessage(archive());
