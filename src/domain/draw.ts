/**
 * The draw of the line: an order that nobody could foresee and anybody can check.
 *
 * Before the opening a secret seed is kept and only its SHA-256, the commitment, is shown. At the opening, with h = SHA-256 of
 * an entry id and D = SHA-256 of all h, sorted and joined, the line is ordered by HMAC-SHA-256(seed, D followed by h). So the seed
 * was fixed before the entries were known, and each entry's place hangs on all entries. Then the seed and the h's in line order
 * are shown. Pure: hashing is brought by the caller. Called by `waiting-room.ts`, by the draw worker and by `holdfast draw verify`.
 */

/** All digests are lower-case hex. */
export interface Hashing {
  /** SHA-256 of a text in UTF-8. */
  sha256(text: string): string;
  /** SHA-256 of the bytes that the hex stands for. */
  sha256OfHex(hex: string): string;
  /** HMAC-SHA-256 of a text under the key that the hex stands for. */
  hmacSha256(keyHex: string, text: string): string;
}

export interface DrawnOrder {
  /** The entry ids, first in line first. */
  readonly entryIds: readonly string[];
  /** D. */
  readonly entriesDigest: string;
}

/** What is shown of a draw that was held, all pages put together. */
export interface DrawProof {
  readonly drawCommitment: string;
  readonly seed: string;
  readonly count: number;
  readonly entriesDigest: string;
  /** h of each entry, in line order. */
  readonly entries: readonly string[];
}

/** What is shown of the seed before the draw. */
export function commitmentOf(seed: string, hashing: Hashing): string {
  return hashing.sha256OfHex(seed);
}

/** Draws the line. The order in which the ids come has no influence. Cost: about 4 µs an entry, most of it hashing. */
export function drawOrder(seed: string, entryIds: readonly string[], hashing: Hashing): DrawnOrder {
  const hashes = entryIds.map((entryId) => hashing.sha256(entryId));
  const entriesDigest = digestOf(hashes, hashing);
  const keys = hashes.map((hash) => sortKey(seed, entriesDigest, hash, hashing));
  const order = Array.from(keys.keys()).sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1));
  return { entryIds: order.map((index) => entryIds[index]!), entriesDigest };
}

/** Checks a proof; what is wrong with it, in plain words, or nothing. */
export function findFlaws(proof: DrawProof, hashing: Hashing): readonly string[] {
  const { seed, drawCommitment, count, entries, entriesDigest } = proof;
  const flaws: string[] = [];
  if (commitmentOf(seed, hashing) !== drawCommitment) flaws.push('the seed is not the one that was committed to');
  if (entries.length !== count) flaws.push(`${count} entries were announced, but ${entries.length} are shown`);
  if (new Set(entries).size !== entries.length) flaws.push('an entry is shown twice');
  if (digestOf(entries, hashing) !== entriesDigest) flaws.push('the digest is not that of the entries shown');
  let previous = '';
  for (const [index, hash] of entries.entries()) {
    const key = sortKey(seed, entriesDigest, hash, hashing);
    if (key < previous) {
      flaws.push(`the entry at place ${index + 1} stands behind one that it should be ahead of`);
      break;
    }
    previous = key;
  }
  return flaws;
}

function digestOf(hashes: readonly string[], hashing: Hashing): string {
  return hashing.sha256([...hashes].sort().join(''));
}

function sortKey(seed: string, entriesDigest: string, hash: string, hashing: Hashing): string {
  return hashing.hmacSha256(seed, entriesDigest + hash);
}
