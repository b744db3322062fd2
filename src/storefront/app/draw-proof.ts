/**
 * The check of a waiting room's draw, done in the buyer's own browser with nothing but the published proof.
 *
 * The seed's hash must be what was promised before the doors opened, and the line must be what the seed and the entries
 * lead to: ordered by HMAC-SHA-256(seed, D ‖ h), where h is an entry's hash and D the hash of all of them.
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
  const key = await crypto.subtle.importKey('raw', seed, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  const marks: string[] = [];
  for (const entry of entries) {
    marks.push(hexOf(await crypto.subtle.sign('HMAC', key, new TextEncoder().encode(digest + entry))));
  }
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

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return hexOf(await crypto.subtle.digest('SHA-256', bytes));
}

function hexOf(buffer: ArrayBuffer): string {
  return Array.from(new Uint8Array(buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}
