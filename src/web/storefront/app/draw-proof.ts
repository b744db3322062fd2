/**
 * The check of a waiting room's draw in the buyer's own browser, from the published proof alone.
 *
 * The hash of the seed must equal the commitment that was published before the waiting room opened, and the entries
 * must be in the order that seed and opening lead to: ascending by HMAC-SHA-256(K, D ‖ h), where h is an entry's hash,
 * D the hash of all of them and K = HMAC-SHA-256(seed, opening). A draw recorded before there were openings has none;
 * its K is the seed.
 */
import type { Draw } from '#client/bodies.ts';

export interface DrawVerdict {
  readonly commitmentHolds: boolean;
  readonly digestHolds: boolean;
  readonly orderHolds: boolean;
}

/** Checks a whole draw; `entries` are those of all pages, in the order of the draw. */
export async function checkDraw(draw: Draw, entries: readonly string[]): Promise<DrawVerdict> {
  const seed = bytesOf(draw.seed ?? '');
  const digest = await sha256OfText(entries.toSorted().join(''));
  const drawKey = draw.opening == null ? seed : await hmacUnder(seed)(bytesOf(draw.opening));
  const hmacOf = hmacUnder(drawKey);
  const hmacs: string[] = [];
  for (const entry of entries) hmacs.push(hexOf(await hmacOf(new TextEncoder().encode(digest + entry))));
  return {
    commitmentHolds: (await sha256(seed)) === draw.draw_commitment,
    digestHolds: digest === draw.entries_digest,
    orderHolds: hmacs.every((hmac, index) => index === 0 || hmacs[index - 1]! <= hmac),
  };
}

/** The SHA-256 of a text in hex: entries are published under that of their ids. */
export function sha256OfText(text: string): Promise<string> {
  return sha256(new TextEncoder().encode(text));
}

/** HMAC-SHA-256 under a key, which is imported once. */
function hmacUnder(
  keyBytes: Uint8Array<ArrayBuffer>,
): (message: Uint8Array<ArrayBuffer>) => Promise<Uint8Array<ArrayBuffer>> {
  const imported = crypto.subtle.importKey('raw', keyBytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return async (message) => new Uint8Array(await crypto.subtle.sign('HMAC', await imported, message));
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
