/**
 * Codes at a gate, which has the public keys alone.
 *
 * 1. A code that is signed by a key that is not known here cannot be checked. A code of the first versions, which names
 *    no key, is tried with each.
 * 2. A code that is no ticket is recognized by a keyed digest; the key is the gate's token, which the folder does not
 *    have.
 */
import { createPublicKey, verify, type KeyObject } from 'node:crypto';
import { scanDigest, type SignedCode } from '#tickets/signing.ts';
import type { FeedKey } from '#domain/recorded-scan.ts';

export class GateCodes {
  keys: readonly FeedKey[] = [];
  #opened: { readonly of: readonly FeedKey[]; readonly byId: ReadonlyMap<string, KeyObject> } | null = null;

  readonly digestOf: (text: string) => number;

  constructor(token: string) {
    this.digestOf = scanDigest(token);
  }

  /** Null: it cannot be checked (rule 1). */
  isGenuine({ payload, signature, keyId }: SignedCode): boolean | null {
    const byId = this.#open();
    const [bytes, signed] = [Buffer.from(payload, 'base64url'), Buffer.from(signature, 'base64url')];
    const isBy = (key: KeyObject): boolean => verify(null, bytes, key, signed);
    if (keyId === null) return [...byId.values()].some(isBy);
    const key = byId.get(keyId);
    return key === undefined ? null : isBy(key);
  }

  #open(): ReadonlyMap<string, KeyObject> {
    if (this.#opened?.of !== this.keys) {
      const opened = this.keys.map((key) => [key.kid, createPublicKey({ key: { ...key }, format: 'jwk' })] as const);
      this.#opened = { of: this.keys, byId: new Map(opened) };
    }
    return this.#opened.byId;
  }
}
