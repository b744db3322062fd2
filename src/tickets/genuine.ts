/**
 * Whether a signature is the one that an Ed25519 key (RFC 8032) makes, asked of whoever has the private key: it takes
 * two hashes, and none of the multiplication of a point that signing or verifying takes most of its time for.
 *
 * Of a payload M the key's seed, by its two halves a and `prefix`, makes the signature (R, S):
 * r = H(prefix, M), R = r·B, k = H(R, A, M), S = r + k·a, modulo the order of B. Here r and k are computed from the
 * seed, M and the R that was sent, and S must be the one number that fits.
 *
 * 1. Nobody without the seed makes an S that fits. To an M that was never signed r is a number of 252 bits that only
 *    the prefix gives. To one that was signed, another R needs S' = S + (k' - k)·a, which whoever finds it could solve
 *    for a: the public key does not give it away. So R is not made again, and a point that is none does no harm.
 * 2. There is one text of each signature: S is below the order, and the spare bits of the last character are zero.
 * 3. Numbers have a fixed size and are compared by 64 bits at once, so that time tells no part of one.
 */
import { createPrivateKey, createPublicKey, hash, type KeyObject } from 'node:crypto';

/** Of the base point B. */
const ORDER = (1n << 252n) + 27_742_317_777_372_353_535_851_937_790_883_648_493n;

/** The bytes before the 32 bytes of a private key in PKCS #8 (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The last of 86 characters, which has two bits (rule 2). */
const LAST_CHARACTERS = 'AQgw';

export function privateKeyOf(seed: Buffer): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' });
}

/** The 32 bytes of the public key. */
export function publicBytesOf(privateKey: KeyObject): Buffer {
  return Buffer.from(createPublicKey(privateKey).export({ format: 'jwk' }).x!, 'base64url');
}

/**
 * Makes the check of a key, by the 32 bytes of its seed; payload and signature are base64url, of 86 characters. What is
 * hashed and all digests pass through the same memory: a buffer for each was much of the garbage of a scan.
 */
export function createGenuineCheck(seed: Buffer): (payload: string, signature: string) => boolean {
  const publicKey = publicBytesOf(privateKeyOf(seed));
  const expanded = hash('sha512', seed, 'buffer');
  const prefix = expanded.subarray(32);
  expanded[0]! &= 0b1111_1000;
  expanded[31] = (expanded[31]! & 0b0111_1111) | 0b0100_0000;
  digest.set(expanded);
  const a = numberAt(0);
  return (payloadText, signature) => {
    if (!LAST_CHARACTERS.includes(signature.at(-1)!)) return false;
    if (hashed.length < 64 + payloadText.length) hashed = Buffer.alloc(64 + payloadText.length);
    if (hashed.write(signature, 0, 'base64url') !== 64) return false;
    digest.set(hashed.subarray(0, 64));
    const s = numberAt(4);
    const end = 64 + hashed.write(payloadText, 64, 'base64url');
    hashed.set(publicKey, 32);
    const k = hashNumber(hashed.subarray(0, end));
    hashed.set(prefix, 32);
    const r = hashNumber(hashed.subarray(32, end));
    return s === (r + k * a) % ORDER;
  };
}

const digest = Buffer.alloc(64);
const words = new BigUint64Array(digest.buffer, digest.byteOffset, 8);

/** R, A or the prefix in its place, and M. */
let hashed = Buffer.alloc(1_024);

function hashNumber(bytes: Uint8Array): bigint {
  digest.write(hash('sha512', bytes), 'hex');
  return numberAt(0) | (numberAt(4) << 256n);
}

/** Four words, the lowest first. */
function numberAt(at: number): bigint {
  return words[at]! | (words[at + 1]! << 64n) | ((words[at + 2]! | (words[at + 3]! << 64n)) << 128n);
}
