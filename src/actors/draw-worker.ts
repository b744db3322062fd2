/** The other half of `draw.ts`: gathers the pool, draws it once and hands out the order piece by piece. */
import { parentPort } from 'node:worker_threads';
import { drawOrder, type DrawnOrder } from '#domain/draw.ts';
import { createHashing } from './hashing.ts';

/** Ids travel as one text with an id a line. */
export type DrawErrand =
  | { readonly kind: 'SEED'; readonly seed: string }
  | { readonly kind: 'ENTRIES'; readonly entryIds: string }
  | { readonly kind: 'ORDER'; readonly from: number; readonly limit: number };

export interface DrawAnswer {
  readonly entryIds: string;
  readonly entriesDigest: string;
}

let seed = '';
let pool: string[] = [];
let drawn: DrawnOrder | null = null;

parentPort!.on('message', (errand: DrawErrand) => {
  switch (errand.kind) {
    case 'SEED':
      seed = errand.seed;
      return;
    case 'ENTRIES':
      if (errand.entryIds !== '') for (const id of errand.entryIds.split('\n')) pool.push(id);
      return;
    case 'ORDER': {
      drawn ??= drawOrder(seed, pool, createHashing());
      pool = [];
      const { entryIds, entriesDigest } = drawn;
      const piece = entryIds.slice(errand.from, errand.from + errand.limit).join('\n');
      parentPort!.postMessage({ entryIds: piece, entriesDigest } satisfies DrawAnswer);
      return;
    }
  }
});
