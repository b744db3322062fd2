/**
 * The bytes of event payloads, kept until what they show may have changed.
 *
 * Makes a GET of the payload nearly as cheap as sending a constant: most requests of a rush meet bytes that are made
 * already. Called by `routes/events.ts`. Each living state of a box office has an identity of its own here, because one
 * that was activated again after a lost turn may reach an old revision number with other facts.
 */
import { LRUCache } from 'lru-cache';

interface Payload {
  readonly revision: string;
  readonly bytes: Buffer;
}

export interface PayloadCache {
  /** The bytes of this state, view and revision; made by `make` when they are not at hand. */
  recall<Refused>(state: object, view: string, revision: string, make: () => Buffer | Refused): Buffer | Refused;
}

export function createPayloadCache(payloadsMax: number, bytesMax: number): PayloadCache {
  const payloads = new LRUCache<string, Payload>({
    max: payloadsMax,
    maxSize: bytesMax,
    sizeCalculation: ({ bytes }) => bytes.length + 200,
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
      if (known?.revision === revision) return known.bytes;
      const bytes = make();
      if (Buffer.isBuffer(bytes)) payloads.set(key, { revision, bytes });
      return bytes;
    },
  };
}
