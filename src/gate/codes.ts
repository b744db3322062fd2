/**
 * Codes at a gate, which has the public keys alone.
 *
 * 1. A code by a key that is not known here cannot be told. One of the first versions, which names none, is tried with
 *    each.
 * 2. What was read and is no ticket is known again by a digest; its key is the gate's token, which the folder does not
 *    have.
 */
import { createPublicKey, hash, verify, type KeyObject } from 'node:crypto';
import type { FeedKey } from '#domain/recorded-scan.ts';

interface ReadCode {
  readonly payload: Uint8Array;
  readonly signature: string;
  readonly keyId: string | null;
}

export class GateCodes {
  keys: readonly FeedKey[] = [];
  readonly #digestKey: string;
  #opened: { readonly of: readonly FeedKey[]; readonly byId: ReadonlyMap<string, KeyObject> } | null = null;

  constructor(token: string) {
    this.#digestKey = hash('sha256', `scans ${token}`);
  }

  /** Null: it cannot be told (rule 1). */
  isGenuine({ payload, signature, keyId }: ReadCode): boolean | null {
    const byId = this.#open();
    const signed = Buffer.from(signature, 'base64url');
    const isBy = (key: KeyObject): boolean => verify(null, payload, key, signed);
    if (keyId === null) return [...byId.values()].some(isBy);
    const key = byId.get(keyId);
    return key === undefined ? null : isBy(key);
  }

  digestOf(text: string): number {
    return hash('sha256', `${this.#digestKey} ${text}`, 'buffer').readUInt32BE();
  }

  #open(): ReadonlyMap<string, KeyObject> {
    if (this.#opened?.of !== this.keys) {
      const opened = this.keys.map((key) => [key.kid, createPublicKey({ key: { ...key }, format: 'jwk' })] as const);
      this.#opened = { of: this.keys, byId: new Map(opened) };
    }
    return this.#opened.byId;
  }
}
