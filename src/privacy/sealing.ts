/**
 * How personal data is sealed and opened: AES-256-GCM, a key for each sealed text, and a keyed hash of addresses.
 *
 * 1. A sealed text is `<key id>.<base64url of nonce, ciphertext and tag>`. The order and the type of the fact are
 *    additional data, so that a text that was moved to another order or fact does not open.
 * 2. The hash of an address is the first 16 bytes of HMAC-SHA-256 over the event's id and the address's key form
 *    (`emailKey`): equal for one buyer at one event, different at every other event, and of no use without the address
 *    key.
 * 3. Sealing waits for nothing (I3): when no key is ready the command is refused as Overloaded before anything changed.
 * 4. Random bytes of nonces are drawn in pools, as those of ids are.
 * 5. A cipher gets its key as a text of bytes. From a Buffer it takes 11 µs, because Node looks for a key object in it
 *    by exceptions; a key object is two more native objects for the collector to end, and takes 2 µs more (measured,
 *    Node 24).
 */
import { createCipheriv, createDecipheriv, randomFillSync } from 'node:crypto';
import { emailKey } from '#domain/email-key.ts';
import {
  compactData,
  expandData,
  keyIdOf,
  type PersonalData,
  type Sealing,
  type SealingFactType,
} from '#domain/personal.ts';
import { Overloaded, RETRY_AFTER_SECONDS } from '#actors/admission.ts';
import { createHmac } from '#actors/crypto.ts';
import type { Key, KeyStore } from '#persistence/keys.ts';

/** What a sealed text belongs to (rule 1). */
export interface SealedFor {
  readonly orderId: string;
  readonly factType: SealingFactType;
}

/** Where nonces come from, each good until the next one; a simulation puts a seeded source in its place. */
type NonceSource = () => Buffer;

const CIPHER = 'aes-256-gcm';
const BYTES = 'latin1';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER_OPTIONS = { encoding: BYTES, authTagLength: TAG_BYTES } as const;
const HASH_BYTES = 16;
const NONCES_A_DRAW = 512;

/** A sealed text that its key does not open: it was changed, or belongs to something else. */
export class SealDamaged extends Error {
  constructor({ orderId, factType }: SealedFor, cause?: unknown) {
    super(`the sealed text of ${factType} of order ${orderId} does not open with its key`, { cause });
    this.name = 'SealDamaged';
  }
}

/** Makes the sealing of events from a key store. */
export function createSealer(
  keys: Pick<KeyStore, 'take' | 'addressKey'>,
  newNonce: NonceSource = createNonces(),
): (eventId: string) => Sealing {
  const addressHash = createAddressHash(keys.addressKey);
  const hmac = createHmac(keys.addressKey);
  return (eventId) => ({
    seal(orderId, factType, value) {
      const key = keys.take();
      if (key === null) throw new Overloaded('no key is ready to seal personal data', RETRY_AFTER_SECONDS);
      return seal(key, { orderId, factType }, value, newNonce());
    },
    addressHash: (email) => addressHash(eventId, email),
    // No address is hashed with an empty event id, so that no digest is ever the hash of an address.
    requestDigest: (digest) => hmac(`\n${digest}`).toString('base64url'),
  });
}

/** Seals a value (rule 1); a key seals one value. */
function seal({ id, key }: Key, { orderId, factType }: SealedFor, value: unknown, nonce: Buffer): string {
  const text = JSON.stringify(factType === 'OrderPlaced' ? compactData(value as PersonalData) : value);
  const cipher = createCipheriv(CIPHER, key.toString(BYTES), nonce, CIPHER_OPTIONS);
  cipher.setAAD(additionalData(orderId, factType));
  const body = cipher.update(text, 'utf8');
  cipher.final();
  return `${id}.${Buffer.concat([nonce, body, cipher.getAuthTag()]).toString('base64url')}`;
}

/** Opens a sealed text with its key; throws SealDamaged when it is not what was sealed for this. */
export function openSealed(key: Buffer, about: SealedFor, sealed: string): unknown {
  try {
    const value: unknown = JSON.parse(decipher(key, about, sealed));
    return about.factType === 'OrderPlaced' ? expandData(value) : value;
  } catch (error) {
    throw new SealDamaged(about, error);
  }
}

function decipher(key: Buffer, { orderId, factType }: SealedFor, sealed: string): string {
  const bytes = Buffer.from(sealed.slice(keyIdOf(sealed).length + 1), 'base64url');
  const tagAt = bytes.length - TAG_BYTES;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key.toString(BYTES), nonce, CIPHER_OPTIONS);
  decipher.setAAD(additionalData(orderId, factType));
  decipher.setAuthTag(bytes.subarray(tagAt));
  const text = decipher.update(bytes.subarray(NONCE_BYTES, tagAt));
  // It adds no bytes to the text, and throws where the tag is not that of the text.
  decipher.final();
  return text.toString();
}

/** Hashes addresses of events with an address key (rule 2). */
export function createAddressHash(addressKey: Buffer): (eventId: string, email: string) => string {
  const hmac = createHmac(addressKey);
  return (eventId, email) => hmac(`${eventId}\n${emailKey(email)}`).toString('base64url', 0, HASH_BYTES);
}

/** Nonces from the machine's secure randomness (rule 4). */
function createNonces(): NonceSource {
  const pool = Buffer.alloc(NONCES_A_DRAW * NONCE_BYTES);
  let next = pool.length;
  return () => {
    if (next === pool.length) {
      randomFillSync(pool);
      next = 0;
    }
    next += NONCE_BYTES;
    return pool.subarray(next - NONCE_BYTES, next);
  };
}

function additionalData(orderId: string, factType: SealingFactType): Buffer {
  return Buffer.from(`${orderId} ${factType}`);
}
