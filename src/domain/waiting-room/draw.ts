/**
 * The draw: an order of entries that nobody could foresee and anybody can check. The caller brings the hashing.
 *
 * 1. Before the opening a secret seed is kept and only its SHA-256, the commitment, is shown.
 * 2. In the turn of the opening 32 more random bytes are made, the opening. K = HMAC-SHA-256(key = seed, message =
 *    opening), both as bytes. A draw recorded before there were openings has none; its K is the seed.
 * 3. With h = SHA-256 of an entry id and D = SHA-256 of all h sorted and joined, the entries are ordered by
 *    HMAC-SHA-256(K, D followed by h). D and h are texts of hex.
 * 4. Then seed, opening and the h's in the drawn order are shown.
 *
 * The seed was fixed before the entries were known, each place depends on all entries, and whoever reads the seed and
 * all entry ids before the opening still knows nothing of the order, because the opening does not exist yet.
 */

/** All digests are lower-case hex. */
export interface Hashing {
  /** SHA-256 of a text in UTF-8. */
  sha256(text: string): string;
  /** SHA-256 of the bytes that the hex stands for. */
  sha256OfHex(hex: string): string;
  /** HMAC-SHA-256 of a text in UTF-8 under the key that the hex stands for. */
  hmacSha256(keyHex: string, text: string): string;
  /** HMAC-SHA-256 of the bytes that the hex stands for. */
  hmacSha256OfHex(keyHex: string, hex: string): string;
}

/** What an order is made from, both 32 bytes in hex. */
export interface DrawSecrets {
  readonly seed: string;
  /** Null in a draw that was recorded before there were openings. */
  readonly opening: string | null;
}

export interface DrawnOrder {
  /** The entry ids, first place first. */
  readonly entryIds: readonly string[];
  /** D. */
  readonly entriesDigest: string;
}

/** What is shown of a draw that was held, all pages put together. */
export interface DrawProof extends DrawSecrets {
  readonly drawCommitment: string;
  readonly count: number;
  readonly entriesDigest: string;
  /** h of each entry, in the drawn order. */
  readonly entries: readonly string[];
}

export const HEX_32_BYTES = /^[0-9a-f]{64}$/;

/** What is shown of the seed before the draw. */
export function commitmentOf(seed: string, hashing: Hashing): string {
  return hashing.sha256OfHex(seed);
}

/** Draws an order. The order in which the ids come has no influence. Cost: about 4 µs an entry, most of it hashing. */
export function drawOrder(secrets: DrawSecrets, entryIds: readonly string[], hashing: Hashing): DrawnOrder {
  const drawKey = drawKeyOf(secrets, hashing);
  const hashes = entryIds.map((entryId) => hashing.sha256(entryId));
  const entriesDigest = digestOf(hashes, hashing);
  const keys = hashes.map((hash) => sortKey(drawKey, entriesDigest, hash, hashing));
  const order = Array.from(keys.keys()).sort((a, b) => (keys[a]! < keys[b]! ? -1 : 1));
  return { entryIds: order.map((index) => entryIds[index]!), entriesDigest };
}

/** Checks a proof; what is wrong with it, in plain words, or nothing. */
export function findFlaws(proof: DrawProof, hashing: Hashing): readonly string[] {
  const { seed, opening, drawCommitment, count, entries, entriesDigest } = proof;
  const drawKey = drawKeyOf(proof, hashing);
  const flaws: string[] = [];
  if (opening !== null && !HEX_32_BYTES.test(opening)) flaws.push('the opening is not 32 bytes in hex');
  if (commitmentOf(seed, hashing) !== drawCommitment) flaws.push('the seed is not the one that was committed to');
  if (entries.length !== count) flaws.push(`${count} entries were announced, but ${entries.length} are shown`);
  if (new Set(entries).size !== entries.length) flaws.push('an entry is shown twice');
  if (digestOf(entries, hashing) !== entriesDigest) flaws.push('the digest is not that of the entries shown');
  let previous = '';
  for (const [index, hash] of entries.entries()) {
    const key = sortKey(drawKey, entriesDigest, hash, hashing);
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

/** K (rule 2). */
function drawKeyOf({ seed, opening }: DrawSecrets, hashing: Hashing): string {
  return opening === null ? seed : hashing.hmacSha256OfHex(seed, opening);
}

function sortKey(drawKey: string, entriesDigest: string, hash: string, hashing: Hashing): string {
  return hashing.hmacSha256(drawKey, entriesDigest + hash);
}
