/**
 * Moving the oldest facts of a journal into an archive: a journal database of its own under `archive/`.
 *
 * The copying and its fsyncs run in a worker thread of their own (`archive-writer.ts`), beside the serving process's
 * commits; only when the archive is on disk and its chain was walked again may the rows be dropped (`prune.ts`).
 */

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { headAtAnchor, refuseBreak, walkChain } from './chain.ts';
import { copyBatches } from './copy.ts';
import { removeIfPresent, syncFile, syncFolder } from './files.ts';
import { journalPath, openReading, openWriting, readAnchor } from './schema.ts';

export const ARCHIVE_FOLDER = 'archive';

export interface ArchivedFacts {
  readonly path: string;
  readonly fromSeq: number;
  readonly toSeq: number;
}

export type ArchiveAnswer = { readonly archived: ArchivedFacts | null } | { readonly error: unknown };

/** Archives the whole batches at or before `throughSeq`; null when there are none. */
export async function archiveFacts(folder: string, throughSeq: number): Promise<ArchivedFacts | null> {
  const workerData = { folder, throughSeq };
  const worker = new Worker(new URL('./archive-writer.ts', import.meta.url), { workerData, execArgv: [] });
  const answer = await new Promise<ArchiveAnswer>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
  if ('error' in answer) throw answer.error;
  return answer.archived;
}

/** The archive's own work, all at once; runs in the worker. */
export function writeArchive(folder: string, throughSeq: number): ArchivedFacts | null {
  const source = openReading(journalPath(folder));
  if (source === null) return null;
  try {
    const anchor = readAnchor(source);
    const toSeq = source
      .prepare<[number], number | null>('SELECT max(last_seq) FROM batch WHERE last_seq <= ?')
      .pluck()
      .get(throughSeq);
    if (typeof toSeq !== 'number') return null;
    const fromSeq = anchor.baseSeq + 1;
    const archive = join(folder, ARCHIVE_FOLDER);
    mkdirSync(archive, { recursive: true });
    const path = join(archive, `${fromSeq}-${toSeq}.db`);
    removeArchive(path);
    const target = openWriting(path, anchor);
    try {
      const batches = walkChain(source, headAtAnchor(anchor), refuseBreak);
      for (const copied of copyBatches(batches, target, anchor, { seq: toSeq })) void copied;
      // One plain file, which a reader opens without leaving a log beside it.
      target.pragma('journal_mode = DELETE');
    } finally {
      target.close();
    }
    syncFile(path);
    syncFolder(archive);
    syncFolder(folder);
    proveArchive(path, toSeq);
    return { path, fromSeq, toSeq };
  } finally {
    source.close();
  }
}

/** Walks the chain of a closed archive; throws unless it holds and ends at `toSeq`. */
function proveArchive(path: string, toSeq: number): void {
  const db = openReading(path);
  if (db === null) throw new Error(`the archive ${path} is empty`);
  try {
    const head = headAtAnchor(readAnchor(db));
    for (const { row } of walkChain(db, head, refuseBreak)) void row;
    if (head.seq !== toSeq) throw new Error(`the archive ${path} ends at fact ${head.seq}, not ${toSeq}`);
  } finally {
    db.close();
  }
}

function removeArchive(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) removeIfPresent(`${path}${suffix}`);
}
