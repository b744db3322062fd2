/**
 * The codes on tickets: compact tokens that a door can check offline with one public key.
 *
 * A code is `base64url(payload).base64url(signature)`: the payload is JSON in UTF-8 that names ticket, event, date and seat
 * and nothing about the person, and the Ed25519 signature is over the payload's bytes. Whether a ticket was voided since is
 * not in its code; `GET /admin/tickets/{id}` knows. Called by `http/` where tickets are printed.
 *
 * 1. Signing is deterministic: a code is never stored, only made again and kept in a cache.
 */
import { createHash, createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** What a code says. */
export interface TicketClaims {
  readonly ticketId: string;
  readonly eventId: string;
  readonly performanceId: string;
  readonly seatId: string | null;
}

/** The public half of the signing key, as a JWK; `kid` is its thumbprint (RFC 7638). */
export interface TicketKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  readonly kid: string;
}

export interface TicketSigner {
  readonly key: TicketKey;
  /** The code of a ticket. Cost: 50 µs the first time, then a look into the cache. */
  codeOf(claims: TicketClaims): string;
  /** Signs many tickets ahead, in slices, so that the codes of a large order are at hand without holding up the loop. */
  prepare(claims: readonly TicketClaims[]): Promise<void>;
}

/** Codes kept at hand, about 500 B each; the others are signed again when asked for. */
const CODES_MAX = 20_000;

/** Codes signed without giving the loop back: some 3 ms. */
const CODES_A_SLICE = 50;

/** What stands before the 32 bytes of a private key in PKCS #8 (RFC 8410). */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Makes a signer from the 32 bytes of an Ed25519 private key in base64url or base64. */
export function createTicketSigner(seed: string): TicketSigner {
  const privateKey = createPrivateKey({
    key: Buffer.concat([PKCS8_PREFIX, Buffer.from(seed, 'base64')]),
    format: 'der',
    type: 'pkcs8',
  });
  const codes = new LRUCache<string, string>({ max: CODES_MAX });
  const codeOf = (claims: TicketClaims): string => {
    const known = codes.get(claims.ticketId);
    if (known !== undefined) return known;
    const code = signClaims(privateKey, claims);
    codes.set(claims.ticketId, code);
    return code;
  };
  return {
    key: publicKeyOf(privateKey),
    codeOf,
    async prepare(tickets) {
      const unsigned = tickets.filter(({ ticketId }) => !codes.has(ticketId));
      for (const [place, claims] of unsigned.entries()) {
        codeOf(claims);
        if (place % CODES_A_SLICE === CODES_A_SLICE - 1) await new Promise((resolve) => setImmediate(resolve));
      }
    },
  };
}

function signClaims(privateKey: KeyObject, { ticketId, eventId, performanceId, seatId }: TicketClaims): string {
  const claims = { ticket_id: ticketId, event_id: eventId, performance_id: performanceId, seat_id: seatId };
  const payload = Buffer.from(JSON.stringify(claims));
  return `${payload.toString('base64url')}.${sign(null, payload, privateKey).toString('base64url')}`;
}

function publicKeyOf(privateKey: KeyObject): TicketKey {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  const thumbprint = createHash('sha256').update(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x }));
  return { kty: 'OKP', crv: 'Ed25519', x, kid: thumbprint.digest('base64url') };
}
