/**
 * The operators' credential: one bearer token, compared in constant time.
 *
 * Wrong tokens are counted by client address, so that many cannot be tried. The comparison comes first: the right token passes at
 * once, however many wrong ones came from the same address.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { onRequestHookHandler } from 'fastify';
import type { ClientAddressOf } from './client-address.ts';
import type { ClockPort, HttpSettings } from './ports.ts';
import { createRateWindow } from './rate-limits.ts';

export interface TokenCheck {
  readonly token: string;
  readonly addressOf: ClientAddressOf;
  readonly clock: ClockPort;
  readonly limits: Pick<HttpSettings['limits'], 'wrongTokensPerMinuteMax' | 'rateLimitedAddressesMax'>;
}

/** A hook that lets a request pass only with `Authorization: Bearer` and the token; otherwise 401, or 429 after many wrong ones. */
export function requireToken({ token, addressOf, clock, limits }: TokenCheck): onRequestHookHandler {
  const expected = digest(token);
  const bounds = { perMinuteMax: limits.wrongTokensPerMinuteMax, keysMax: limits.rateLimitedAddressesMax };
  const wrongTokens = createRateWindow(bounds, clock);
  return (request, reply, done) => {
    const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    if (given !== undefined) {
      if (timingSafeEqual(digest(given), expected)) return done();
      const { isOver, secondsLeft } = wrongTokens.count(addressOf(request));
      if (isOver) return void reply.header('retry-after', secondsLeft).fail('RATE_LIMITED');
    }
    reply.header('www-authenticate', 'Bearer').fail('UNAUTHORIZED');
  };
}

/** Digests have one length, which the comparison needs, and which hides the length of the token. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
