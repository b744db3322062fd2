/** The other half of `draw.ts`: gathers the pool, draws it once and hands out the order piece by piece. */
import { parentPort } from 'node:worker_threads';
import { drawOrder, type DrawnOrder, type DrawSecrets } from '#domain/waiting-room/draw.ts';
import { createHashing } from './hashing.ts';

/** Ids travel as one text with an id a line. */
export type DrawErrand =
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

parentPort!.on('message', (errand: DrawErrand) => {
  switch (errand.kind) {
    case 'SECRETS':
      secrets = { seed: errand.seed, opening: errand.opening };
      return;
    case 'ENTRIES':
      if (errand.entryIds !== '') for (const id of errand.entryIds.split('\n')) pool.push(id);
      return;
    case 'ORDER': {
      drawn ??= drawOrder(secrets, pool, createHashing());
      pool = [];
      const { entryIds, entriesDigest } = drawn;
      const piece = entryIds.slice(errand.from, errand.from + errand.limit).join('\n');
      parentPort!.postMessage({ entryIds: piece, entriesDigest } satisfies DrawAnswer);
      return;
    }
  }
});
