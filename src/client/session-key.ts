/** The session key of a browser: made once, kept, sent unchanged with everything that a buyer owns. */

/** The part of `localStorage` that is used. */
export interface KeyStore {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
}

const NAME = 'holdfast.session';
const KEY_BYTES = 24;

/**
 * The kept key, or a new one of 192 random bits. A store that refuses (private windows, full disks) is no obstacle: the
 * key then lives as long as the page.
 */
export function keptSessionKey(store: KeyStore | null): string {
  const known = attempt(() => store?.getItem(NAME) ?? null);
  if (known !== null && known.length >= 8 && known.length <= 128) return known;
  const key = randomText(KEY_BYTES);
  attempt(() => store?.setItem(NAME, key) ?? null);
  return key;
}

/** So many random bytes as base64url. */
export function randomText(bytes: number): string {
  const binary = String.fromCharCode(...crypto.getRandomValues(new Uint8Array(bytes)));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function attempt<Result>(action: () => Result | null): Result | null {
  try {
    return action();
  } catch {
    return null;
  }
}
