/**
 * Whether a code was signed by a key: Ed25519 by WebCrypto, where it knows the curve, else by a package that needs of
 * WebCrypto only SHA-512. Both need a secure context.
 */
import { verifyAsync } from '@noble/ed25519';
import { bytesOfBase64url } from '#client/doors/code.ts';

/** Both base64url. */
interface Signed {
  readonly payload: string;
  readonly signature: string;
}

/** By the public key, base64url; null where this browser cannot check it here. */
export type CheckSignature = (signed: Signed, key: string) => Promise<boolean | null>;

/** `subtle` is undefined outside of secure contexts. */
export function signatureCheck(subtle: typeof crypto.subtle | undefined): CheckSignature {
  let isKnown = true;
  return async (signed, key) => {
    if (subtle === undefined) return null;
    const payload = bytesOfBase64url(signed.payload);
    const bytes = bytesOfBase64url(signed.signature);
    const keyBytes = bytesOfBase64url(key);
    if (isKnown) {
      try {
        const imported = await subtle.importKey('raw', keyBytes, 'Ed25519', false, ['verify']);
        return await subtle.verify('Ed25519', imported, bytes, payload);
      } catch (error) {
        if ((error as Error).name !== 'NotSupportedError') return false;
        isKnown = false;
      }
    }
    return verifyAsync(bytes, payload, keyBytes).catch(() => false);
  };
}
