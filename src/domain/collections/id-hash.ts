/**
 * Hashes of ids and keys, 32 bits each, for tables that must not keep the texts themselves.
 *
 * They are no secrets and protect nothing: whoever finds a record by a hash compares the id, or accepts what the hash's width says.
 */

/** A well mixed hash; different seeds give hashes that have nothing to do with one another. */
export function hashOf(text: string, seed: number): number {
  let hash = seed ^ text.length;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x5bd1e995);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
