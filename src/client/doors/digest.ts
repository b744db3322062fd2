/**
 * SHA-256 (FIPS 180-4) for short texts, without a package and without waiting: WebCrypto's waits, which a turn may not,
 * and needs https, which a hall may not have. A ticket id takes one block, about a microsecond.
 */

/** How a feed names a ticket: the first 12 characters of the base64url SHA-256 of its id. */
export function ticketDigest(ticketId: string): string {
  const words = sha256(ticketId);
  let digest = '';
  // Nine bytes are twelve characters of six bits.
  for (let character = 0; character < 12; character += 1) {
    const bit = character * 6;
    const word = words[bit >>> 5]!;
    const left = 26 - (bit & 31);
    const six = left >= 0 ? word >>> left : (word << -left) | (words[(bit >>> 5) + 1]! >>> (32 + left));
    digest += BASE64URL[six & 63];
  }
  return digest;
}

/** The digest of a text's UTF-8 as 64 hex digits. */
export function sha256Hex(text: string): string {
  return [...sha256(text)].map((word) => word.toString(16).padStart(8, '0')).join('');
}

const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const BLOCK_BYTES = 64;

/** The first 32 bits of the fractional parts of a root of the first primes. */
function rootsOfPrimes(count: number, root: number): Uint32Array {
  const roots = new Uint32Array(count);
  for (let prime = 2, found = 0; found < count; prime += 1) {
    let isPrime = true;
    for (let divisor = 2; divisor * divisor <= prime; divisor += 1) if (prime % divisor === 0) isPrime = false;
    if (isPrime) roots[found++] = (prime ** (1 / root) % 1) * 2 ** 32;
  }
  return roots;
}

const BEGIN = rootsOfPrimes(8, 2);
const ROUNDS = rootsOfPrimes(64, 3);
const encoder = new TextEncoder();
const schedule = new Uint32Array(64);

function sha256(text: string): Uint32Array {
  const bytes = encoder.encode(text);
  const padded = new DataView(new ArrayBuffer(Math.ceil((bytes.length + 9) / BLOCK_BYTES) * BLOCK_BYTES));
  new Uint8Array(padded.buffer).set(bytes);
  padded.setUint8(bytes.length, 0x80);
  padded.setUint32(padded.byteLength - 8, Math.floor(bytes.length / 2 ** 29));
  padded.setUint32(padded.byteLength - 4, bytes.length * 8);
  const state = BEGIN.slice();
  for (let at = 0; at < padded.byteLength; at += BLOCK_BYTES) compress(state, padded, at);
  return state;
}

const rotate = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

function compress(state: Uint32Array, block: DataView, begin: number): void {
  for (let index = 0; index < 16; index += 1) schedule[index] = block.getUint32(begin + index * 4);
  for (let index = 16; index < 64; index += 1) {
    const two = schedule[index - 2]!;
    const fifteen = schedule[index - 15]!;
    schedule[index] =
      (rotate(two, 17) ^ rotate(two, 19) ^ (two >>> 10)) +
      schedule[index - 7]! +
      (rotate(fifteen, 7) ^ rotate(fifteen, 18) ^ (fifteen >>> 3)) +
      schedule[index - 16]!;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let index = 0; index < 64; index += 1) {
    const one = (h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g))) | 0;
    const next = (one + ROUNDS[index]! + schedule[index]!) | 0;
    const two = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + next) | 0, c, b, a, (next + two) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => {
    state[index] = state[index]! + word;
  });
}
