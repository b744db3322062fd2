/**
 * The operators' credential: one bearer token, compared in constant time.
 *
 * Wrong tokens are counted by client address, so that many cannot be tried. The comparison comes first: the right token
 * passes at once, however many wrong ones came from the same address.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import type { ClientAddressOf } from '../protocol/client-address.ts';
import type { ClockPort, HttpSettings } from '../ports.ts';
import { createRateWindow } from '../limits/rate-limits.ts';
import { fail } from '../protocol/errors.ts';

interface TokenCheck {
  readonly token: string;
  readonly addressOf: ClientAddressOf;
  readonly clock: ClockPort;
  readonly limits: Pick<HttpSettings['limits'], 'wrongTokensPerMinuteMax' | 'rateLimitedAddressesMax'>;
}

/**
 * Lets a request under /admin pass only with `Authorization: Bearer` and the token; otherwise 401, or 429 after many
 * wrong ones. It concerns the routes that are added from here on, before anything else that they do.
 */
export function requireToken(app: FastifyInstance, { token, addressOf, clock, limits }: TokenCheck): void {
  const expected = digest(token);
  const bounds = { perMinuteMax: limits.wrongTokensPerMinuteMax, keysMax: limits.rateLimitedAddressesMax };
  const wrongTokens = createRateWindow(bounds, clock);
  const check: onRequestHookHandler = (request, reply, done) => {
    const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    if (given !== undefined) {
      if (timingSafeEqual(digest(given), expected)) return done();
      const { isOver, secondsLeft } = wrongTokens.count(addressOf(request));
      if (isOver) return void reply.header('retry-after', secondsLeft).refuse(fail('RATE_LIMITED'));
    }
    reply.header('www-authenticate', 'Bearer').refuse(fail('UNAUTHORIZED'));
  };
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/admin/')) route.onRequest = [check, ...[route.onRequest ?? []].flat()];
  });
}

/** Digests have one length, which the comparison needs, and which hides the length of the token. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
