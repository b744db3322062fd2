import { randomFillSync } from 'node:crypto';
import { joinId, type IdPrefix } from '#domain/ids.ts';

/** Where new ids come from; simulation puts a seeded one in its place. */
export interface IdSource {
  newId(prefix: IdPrefix, eventNumber: number): string;
  /** 32 random bytes in hex, made at this call: the seed or the opening of a draw. */
  newSeed(): string;
}

const SECRET_BYTES = 18;

/**
 * Makes ids from the machine's secure randomness, drawn in pools: one call of the kernel for many ids
 * (measured: 4.5 µs for an id of its own call, 0.2 µs from a pool).
 */
export function createIdSource(poolSecretsMax = 1024): IdSource {
  const pool = Buffer.alloc(poolSecretsMax * SECRET_BYTES);
  let offset = pool.length;
  return {
    newId(prefix, eventNumber) {
      if (offset === pool.length) {
        randomFillSync(pool);
        offset = 0;
      }
      const secret = pool.toString('base64url', offset, offset + SECRET_BYTES);
      offset += SECRET_BYTES;
      return joinId(prefix, eventNumber, secret);
    },
    newSeed: () => randomFillSync(Buffer.alloc(32)).toString('hex'),
  };
}
