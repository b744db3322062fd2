/**
 * The check of a waiting room's draw, done in the buyer's own browser with nothing but the published proof.
 *
 * The seed's hash must be what was promised before the doors opened, and the line must be what seed, opening and entries
 * lead to: ordered by HMAC-SHA-256(K, D ‖ h), where h is an entry's hash, D the hash of all of them and
 * K = HMAC-SHA-256(seed, opening). A draw recorded before there were openings has none; its K is the seed.
 */
import type { Draw } from '#client/bodies.ts';

export interface DrawVerdict {
  readonly commitmentHolds: boolean;
  readonly digestHolds: boolean;
  readonly orderHolds: boolean;
}

/** Checks a whole draw: `entries` are all pages in line order. */
export async function checkDraw(draw: Draw, entries: readonly string[]): Promise<DrawVerdict> {
  const seed = bytesOf(draw.seed ?? '');
  const digest = await sha256(new TextEncoder().encode(entries.toSorted().join('')));
  const drawKey = draw.opening == null ? seed : await hmacUnder(seed)(bytesOf(draw.opening));
  const markOf = hmacUnder(drawKey);
  const marks: string[] = [];
  for (const entry of entries) marks.push(hexOf(await markOf(new TextEncoder().encode(digest + entry))));
  return {
    commitmentHolds: (await sha256(seed)) === draw.draw_commitment,
    digestHolds: digest === draw.entries_digest,
    orderHolds: marks.every((mark, place) => place === 0 || marks[place - 1]! <= mark),
  };
}

/** What an entry is called in the published line. */
export function hashOfEntry(entryId: string): Promise<string> {
  return sha256(new TextEncoder().encode(entryId));
}

/** HMAC-SHA-256 under a key, which is taken in once. */
function hmacUnder(
  keyBytes: Uint8Array<ArrayBuffer>,
): (message: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>> {
  const taken = crypto.subtle.importKey('raw', keyBytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return async (message) => new Uint8Array(await crypto.subtle.sign('HMAC', await taken, message));
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return hexOf(await crypto.subtle.digest('SHA-256', bytes));
}

function hexOf(buffer: ArrayBuffer | Uint8Array): string {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}
