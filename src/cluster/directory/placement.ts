/**
 * Which shard an event belongs to, and which node should own a shard.
 *
 * 1. The shard of an event follows from its id and the number of shards, for ever: the log that has its facts is found
 *    by it.
 * 2. Every node that sees the same live nodes names the same owner (rendezvous hashing). When a node goes, its shards
 *    alone move; when one comes, it takes shards from the others and nothing moves between those.
 * 3. The owner that is named here should own the shard. Only the shard's log says who does own it.
 */

/** The shard of the index of all events, and of what belongs to the service itself. */
export const INDEX_SHARD = 0;

/** The shard of an event (rule 1); '' stands for the service itself. */
export function shardOf(eventId: string, shards: number): number {
  return eventId === '' ? INDEX_SHARD : hashOf(eventId) % shards;
}

/** The node among live ones that should own a shard (rule 2); null when there is none. */
export function placeOf(shard: number, nodes: Iterable<string>): string | null {
  let best: string | null = null;
  let bestScore = -1;
  for (const node of nodes) {
    const score = scoreOf(node, shard);
    if (best === null || score > bestScore || (score === bestScore && node < best)) {
      best = node;
      bestScore = score;
    }
  }
  return best;
}

function scoreOf(node: string, shard: number): number {
  return finalised(hashOf(node) ^ finalised(Math.imul(shard + 1, 0x9e3779b1)));
}

/**
 * FNV-1a over the code units, finalised: without that, ids that differ in their last characters share most of their
 * bits.
 */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    hash = Math.imul(hash ^ (unit & 0xff), 0x01000193);
    if (unit > 0xff) hash = Math.imul(hash ^ (unit >>> 8), 0x01000193);
  }
  return finalised(hash);
}

/** The finaliser of MurmurHash3: every bit of the input changes about half of the output's. */
function finalised(hash: number): number {
  let mixed = hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
