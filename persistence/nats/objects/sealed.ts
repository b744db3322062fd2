/**
 * Bytes with a digest at their end, so that a reader can prove them by themselves, wherever they were kept.
 *
 * The last line is the SHA-256 of everything before it, in hex. Both directions work in slices, so that the serving
 * thread is not held up.
 */

import { createHash } from 'node:crypto';
import { setImmediate as nextRound } from 'node:timers/promises';

const SLICE_BYTES = 512 * 1024;
const DIGEST_LINE_BYTES = 65;
const NEWLINE = 0x0a;

/** Joins the parts and adds the digest. */
export async function seal(parts: Iterable<string | Uint8Array>): Promise<Uint8Array> {
  const hash = createHash('sha256');
  const buffers: Buffer[] = [];
  let text = '';
  let sliceBytes = 0;
  const add = (bytes: Uint8Array): void => {
    hash.update(bytes);
    buffers.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    sliceBytes += bytes.byteLength;
  };
  const flush = (): void => {
    if (text !== '') add(Buffer.from(text));
    text = '';
  };
  for (const part of parts) {
    if (typeof part === 'string') text += part;
    else {
      flush();
      add(part);
    }
    if (text.length + sliceBytes < SLICE_BYTES) continue;
    flush();
    sliceBytes = 0;
    await nextRound();
  }
  flush();
  buffers.push(Buffer.from(`${hash.digest('hex')}\n`));
  return Buffer.concat(buffers);
}

/** The bytes before the digest; null when they are not those that were sealed. */
export async function unseal(sealed: Uint8Array): Promise<Buffer | null> {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength);
  const end = bytes.length - DIGEST_LINE_BYTES;
  if (end < 0 || bytes.at(-1) !== NEWLINE) return null;
  const hash = createHash('sha256');
  for (let offset = 0; offset < end; offset += SLICE_BYTES) {
    hash.update(bytes.subarray(offset, Math.min(offset + SLICE_BYTES, end)));
    await nextRound();
  }
  return bytes.toString('latin1', end, end + DIGEST_LINE_BYTES - 1) === hash.digest('hex')
    ? bytes.subarray(0, end)
    : null;
}
