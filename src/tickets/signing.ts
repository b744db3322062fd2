/**
 * The codes on tickets: compact tokens that a scanner can check offline with public keys.
 *
 * A code is `base64url(payload).base64url(signature)`. The payload is JSON in UTF-8 with ticket, event, performance,
 * seat, type and the key (`kid`), and no personal data; the Ed25519 signature is over the payload's bytes. A code does
 * not say whether its ticket is void: `GET /admin/tickets/{id}` and `GET /api/tickets/revoked` do.
 *
 * 1. Signing is deterministic: a code is never stored, only made again and cached.
 * 2. The first key signs. The other keys signed before it; their public halves stay published, so that their codes stay
 *    valid. Codes of the first versions name no key: a scanner tries each.
 * 3. A code is genuine where its signature is the one that signing its payload would make; `genuine.ts` tells that in a
 *    quarter of the time of signing, and an eighth of that of verifying.
 */
import { createHash, hash, sign, type KeyObject } from 'node:crypto';
import { setImmediate as nextRound } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { createGenuineCheck, privateKeyOf, publicBytesOf } from './genuine.ts';

export interface TicketPayload {
  readonly ticketId: string;
  readonly eventId: string;
  readonly performanceId: string;
  readonly seatId: string | null;
  readonly ticketTypeId: string;
}

/** The public half of a key, as a JWK; `kid` is its thumbprint (RFC 7638). */
interface TicketKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
}

export interface TicketSigner {
  /** The public halves of all keys; the first is that of the signing key. */
  readonly keys: readonly [TicketKey, ...TicketKey[]];
  /** The code of a ticket. Takes 50 µs when it is not in the cache. */
  codeOf(claims: TicketPayload): string;
  /**
   * Signs many tickets in slices, so that the codes of a large order are in the cache and the event loop is not
   * blocked.
   */
  prepare(claims: readonly TicketPayload[]): Promise<void>;
  /** Whether a code was signed here (rule 3), by the key that it names or, where it names none, by any. */
  isGenuine(code: SignedCode): boolean;
  /** 32 bits of a digest that nobody without the keys can make: by it a text is known again and not found out. */
  digestOf(text: string): number;
}

/** What was read of a code, its parts in base64url. */
export interface SignedCode {
  readonly payload: string;
  readonly signature: string;
  readonly keyId: string | null;
}

/** What writes tickets needs no keys; where codes are not shown they are null. */
export type TicketCodes = Pick<TicketSigner, 'prepare'> & { codeOf(claims: TicketPayload): string | null };

/** Codes in the cache, about 500 B each; others are signed again. */
const CODES_MAX = 20_000;

/** Codes signed before other work runs: some 3 ms. */
const CODES_A_SLICE = 50;

/** A rotation needs two keys, and a scanner tries each for a code without `kid`. */
export const TICKET_KEYS_MAX = 10;

/** The 32 bytes of an Ed25519 private key in base64url or base64. */
export const TICKET_KEY = /^[A-Za-z0-9_+/-]{43}=?$/;

/**
 * Reads private keys separated by commas, without repeats, in base64url; null when one is wrong or there are too many.
 */
export function readTicketKeys(text: string): readonly [string, ...string[]] | null {
  const given = text.split(',').map((key) => key.trim());
  if (!given.every((key) => TICKET_KEY.test(key))) return null;
  const [first = '', ...others] = new Set(given.map((key) => Buffer.from(key, 'base64').toString('base64url')));
  return others.length < TICKET_KEYS_MAX ? [first, ...others] : null;
}

/** The first key signs. */
export function createTicketSigner([signing, ...others]: readonly [string, ...string[]]): TicketSigner {
  const seeds = [signing, ...others].map((text) => Buffer.from(text, 'base64'));
  const checks = seeds.map((seed) => ({ key: publicKeyOf(privateKeyOf(seed)), isBy: createGenuineCheck(seed) }));
  const privateKey = privateKeyOf(seeds[0]!);
  const [key, ...otherKeys] = checks.map(({ key }) => key) as [TicketKey, ...TicketKey[]];
  const codes = new LRUCache<string, string>({ max: CODES_MAX });
  const codeOf = (claims: TicketPayload): string => {
    const known = codes.get(claims.ticketId);
    if (known !== undefined) return known;
    const code = signClaims(privateKey, key.kid, claims);
    codes.set(claims.ticketId, code);
    return code;
  };
  return {
    // The key that signed first stays when another one takes its place.
    digestOf: scanDigest([signing, ...others].at(-1)!),
    keys: [key, ...otherKeys],
    codeOf,
    isGenuine: ({ payload, signature, keyId }) =>
      checks.some(({ key: { kid }, isBy }) => (keyId === null || keyId === kid) && isBy(payload, signature)),
    async prepare(tickets) {
      const unsigned = tickets.filter(({ ticketId }) => !codes.has(ticketId));
      for (const [index, claims] of unsigned.entries()) {
        codeOf(claims);
        if (index % CODES_A_SLICE === CODES_A_SLICE - 1) await nextRound();
      }
    },
  };
}

/** Digests of 32 bits of what was scanned, which nobody makes without the secret. */
export function scanDigest(secret: string): (text: string) => number {
  const key = hash('sha256', `scans ${secret}`);
  return (text) => Number.parseInt(hash('sha256', `${key} ${text}`).slice(0, 8), 16);
}

/** The ticket that a code names, genuine or not; null where the text is no code. */
export function ticketIdIn(code: string): string | null {
  const [payload, signature, ...further] = code.split('.');
  if (!payload || !signature || further.length > 0) return null;
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { readonly ticket_id?: unknown } | null;
    return typeof claims?.ticket_id === 'string' ? claims.ticket_id : null;
  } catch {
    return null;
  }
}

function signClaims(privateKey: KeyObject, kid: string, claimed: TicketPayload): string {
  const { ticketId, eventId, performanceId, seatId, ticketTypeId } = claimed;
  const claims = {
    ticket_id: ticketId,
    event_id: eventId,
    performance_id: performanceId,
    seat_id: seatId,
    ticket_type_id: ticketTypeId,
    kid,
  };
  const payload = Buffer.from(JSON.stringify(claims));
  return `${payload.toString('base64url')}.${sign(null, payload, privateKey).toString('base64url')}`;
}

function publicKeyOf(privateKey: KeyObject): TicketKey {
  const x = publicBytesOf(privateKey).toString('base64url');
  const thumbprint = createHash('sha256').update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }));
  return { kty: 'OKP', crv: 'Ed25519', x, kid: thumbprint.digest('base64url') };
}
