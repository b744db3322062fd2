/**
 * What a turn takes from Node's cryptography: new ids, seeds of draws, and the hashing of draws.
 *
 * 1. Secrets of ids are drawn in pools: one call of the kernel and one text for many ids (measured: 4.5 µs for an id of
 *    its own call, 0.1 µs from a pool).
 * 2. The HMAC of a draw is made of two one-shot hashes (RFC 2104), because a `createHmac` of each call costs 15 µs
 *    where two hashes cost 2 (measured), and a draw needs one for every entry. A digest as a text of bytes takes 0.3
 *    µs, as a buffer 1.
 */
import { hash, randomFillSync } from 'node:crypto';
import { joinId, SECRET_LENGTH, type IdPrefix } from '#domain/ids.ts';
import type { Hashing } from '#domain/waiting-room/draw.ts';

/** Where new ids come from; simulation puts a seeded one in its place. */
export interface IdSource {
  newId(prefix: IdPrefix, eventNumber: number): string;
  /** 32 random bytes in hex, made at this call: the seed or the opening of a draw. */
  newSeed(): string;
}

const SECRET_BYTES = (SECRET_LENGTH * 3) / 4;

/** Makes ids from the machine's secure randomness (rule 1). */
export function createIdSource(poolSecretsMax = 1024): IdSource {
  const pool = Buffer.alloc(poolSecretsMax * SECRET_BYTES);
  let secrets = '';
  let next = 0;
  let head = { prefix: '', eventNumber: -1, text: '' };
  return {
    newId(prefix, eventNumber) {
      if (next === secrets.length) {
        secrets = randomFillSync(pool).toString('base64url');
        next = 0;
      }
      if (head.prefix !== prefix || head.eventNumber !== eventNumber) {
        head = { prefix, eventNumber, text: joinId(prefix, eventNumber, '') };
      }
      next += SECRET_LENGTH;
      return head.text + secrets.slice(next - SECRET_LENGTH, next);
    },
    newSeed: () => randomFillSync(Buffer.alloc(32)).toString('hex'),
  };
}

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** Of one UTF-16 unit. */
const UTF8_BYTES_MAX = 3;

/** The pads of the key that was used last are kept, since a draw has one key. */
export function createHashing(): Hashing {
  let pads = padsOf('');
  const hmac = (keyHex: string, message: Buffer): string => {
    if (pads.keyHex !== keyHex) pads = padsOf(keyHex);
    const { inner, outer } = pads;
    outer.write(hash('sha256', Buffer.concat([inner, message]), 'binary'), BLOCK_BYTES, 'binary');
    return hash('sha256', outer);
  };
  return {
    sha256: (text) => hash('sha256', text),
    sha256OfHex: (hex) => hash('sha256', Buffer.from(hex, 'hex')),
    hmacSha256: (keyHex, text) => hmac(keyHex, Buffer.from(text)),
    hmacSha256OfHex: (keyHex, hex) => hmac(keyHex, Buffer.from(hex, 'hex')),
  };
}

/** Most messages have fewer bytes. */
const SHORT_BYTES_MAX = 512;

/**
 * HMAC-SHA-256 of texts with one key, by two one-shot hashes (rule 2) and without a buffer for each text. A digest is
 * good until the next one.
 */
export function createHmac(key: Buffer): (text: string) => Buffer {
  const { inner, outer } = padsOf(key.toString('hex'));
  const short = Buffer.concat([inner, Buffer.alloc(SHORT_BYTES_MAX)]);
  const digest = Buffer.alloc(DIGEST_BYTES);
  return (text) => {
    const isShort = text.length * UTF8_BYTES_MAX <= SHORT_BYTES_MAX;
    const message = isShort
      ? short.subarray(0, BLOCK_BYTES + short.write(text, BLOCK_BYTES))
      : Buffer.concat([inner, Buffer.from(text)]);
    outer.write(hash('sha256', message, 'binary'), BLOCK_BYTES, 'binary');
    digest.write(hash('sha256', outer, 'binary'), 'binary');
    return digest;
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
