/**
 * Keeps the bodies that many clients ask for: payloads, layouts and full occupancies. A kept body costs a read of its
 * revision.
 *
 * 1. A body is kept under the revision of the view that it was made from, and sent while the event answers UNCHANGED to
 *    it.
 * 2. A view without a revision is of one session alone: its body is not kept.
 * 3. Bodies are bounded in number and bytes (I10).
 */
import { LRUCache } from 'lru-cache';
import type { Unchanged } from '#domain/event/revisioned-views.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { bytesKept, type SealedBody } from './envelope.ts';

/** A body with its entity tag, where it has one. */
export interface CachedBody {
  readonly etag?: string;
  readonly body: SealedBody;
}

interface CachedPayload extends CachedBody {
  readonly revision: string;
}

interface Revised {
  readonly revision: string | null;
}

interface PayloadCache {
  /**
   * The body under a key. `read` is given the revision of the kept body; `make` makes a new body of the view that was
   * read.
   */
  recall<View extends Revised>(
    key: string,
    read: (knownRevision: string | null) => Promise<View | Unchanged | Refusal>,
    make: (view: View) => CachedBody,
  ): Promise<CachedBody | Refusal>;
}

export function createPayloadCache(bodiesMax: number, bytesMax: number): PayloadCache {
  const bodies = new LRUCache<string, CachedPayload>({
    max: bodiesMax,
    maxSize: bytesMax,
    sizeCalculation: ({ body }) => bytesKept(body) + 200,
  });
  return {
    async recall(key, read, make) {
      const known = bodies.get(key);
      const view = await read(known?.revision ?? null);
      if (!('revision' in view)) return isRefusal(view) ? view : known!;
      const { revision } = view;
      const made = make(view);
      if (revision !== null) bodies.set(key, { ...made, revision });
      return made;
    },
  };
}
