/**
 * The hashing that a draw needs, by Node's own SHA-256.
 *
 * The HMAC is put together from two one-shot hashes (RFC 2104), because a `createHmac` of each call costs 15 µs where two
 * hashes cost 2 (measured), and a draw needs one for every entry.
 */
import { hash } from 'node:crypto';
import type { Hashing } from '#domain/waiting-room/draw.ts';

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;

/** Makes a hashing; it keeps the pads of the key that was used last, since a draw has one key. */
export function createHashing(): Hashing {
  let pads = padsOf('');
  const hmac = (keyHex: string, message: Buffer): string => {
    if (pads.keyHex !== keyHex) pads = padsOf(keyHex);
    const { inner, outer } = pads;
    hash('sha256', Buffer.concat([inner, message]), 'buffer').copy(outer, BLOCK_BYTES);
    return hash('sha256', outer);
  };
  return {
    sha256: (text) => hash('sha256', text),
    sha256OfHex: (hex) => hash('sha256', Buffer.from(hex, 'hex')),
    hmacSha256: (keyHex, text) => hmac(keyHex, Buffer.from(text)),
    hmacSha256OfHex: (keyHex, hex) => hmac(keyHex, Buffer.from(hex, 'hex')),
  };
}

/** The key mixed into the two block-long paddings; the outer one has room for the inner digest behind it. */
function padsOf(keyHex: string): { readonly keyHex: string; readonly inner: Buffer; readonly outer: Buffer } {
  const key = Buffer.from(keyHex, 'hex');
  const block = Buffer.alloc(BLOCK_BYTES);
  (key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key).copy(block);
  const mixedWith = (pad: number): Buffer => Buffer.from(block.map((byte) => byte ^ pad));
  return { keyHex, inner: mixedWith(0x36), outer: Buffer.concat([mixedWith(0x5c), Buffer.alloc(DIGEST_BYTES)]) };
}
