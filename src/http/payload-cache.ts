/**
 * The bodies of event payloads, kept until what they show may have changed.
 *
 * Makes a GET of the payload nearly as cheap as sending a constant: most requests of a rush meet a body that is made
 * already. Layouts and full occupancies of halls are kept likewise. Each living state of a box office has an identity of its own here, because one
 * that was activated again after a lost turn may reach an old revision number with other facts.
 */
import { LRUCache } from 'lru-cache';
import type { Refusal } from '#domain/refusal.ts';
import { bytesKept, type SealedBody } from './envelope.ts';

interface Payload {
  readonly revision: string;
  readonly body: SealedBody;
}

export interface PayloadCache {
  /** The body of this state, view and revision; made by `make` when it is not at hand. A refusal is not kept. */
  recall<Made extends SealedBody | Refusal>(
    state: object,
    view: string,
    revision: string,
    make: () => Made,
  ): Made | SealedBody;
}

export function createPayloadCache(payloadsMax: number, bytesMax: number): PayloadCache {
  const payloads = new LRUCache<string, Payload>({
    max: payloadsMax,
    maxSize: bytesMax,
    sizeCalculation: ({ body }) => bytesKept(body) + 200,
  });
  const identities = new WeakMap<object, number>();
  let lastIdentity = 0;

  const identityOf = (state: object): number => {
    const known = identities.get(state);
    if (known !== undefined) return known;
    lastIdentity += 1;
    identities.set(state, lastIdentity);
    return lastIdentity;
  };

  return {
    recall(state, view, revision, make) {
      const key = `${identityOf(state)} ${view}`;
      const known = payloads.get(key);
      if (known?.revision === revision) return known.body;
      const body = make();
      if (!('outcome' in body)) payloads.set(key, { revision, body });
      return body;
    },
  };
}
