/** The thread of `draw.ts`: gathers the pool, draws it once and returns the order in pieces. */
import { parentPort } from 'node:worker_threads';
import { drawOrder, type DrawnOrder, type DrawSecrets } from '#domain/waiting-room/draw.ts';
import { createHashing } from './crypto.ts';

/** Ids travel as one text with an id a line. */
export type DrawJob =
  | { readonly kind: 'SECRETS'; readonly seed: string; readonly opening: string | null }
  | { readonly kind: 'ENTRIES'; readonly entryIds: string }
  | { readonly kind: 'ORDER'; readonly from: number; readonly limit: number };

export interface DrawAnswer {
  readonly entryIds: string;
  readonly entriesDigest: string;
}

let secrets: DrawSecrets = { seed: '', opening: null };
let pool: string[] = [];
let drawn: DrawnOrder | null = null;

parentPort!.on('message', (job: DrawJob) => {
  switch (job.kind) {
    case 'SECRETS':
      secrets = { seed: job.seed, opening: job.opening };
      return;
    case 'ENTRIES':
      if (job.entryIds !== '') for (const id of job.entryIds.split('\n')) pool.push(id);
      return;
    case 'ORDER': {
      drawn ??= drawOrder(secrets, pool, createHashing());
      pool = [];
      const { entryIds, entriesDigest } = drawn;
      const piece = entryIds.slice(job.from, job.from + job.limit).join('\n');
      parentPort!.postMessage({ entryIds: piece, entriesDigest } satisfies DrawAnswer);
      return;
    }
  }
});
