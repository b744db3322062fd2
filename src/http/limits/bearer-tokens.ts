/**
 * Bearer tokens: how one is read, the operators' own, and the refusal of wrong ones.
 *
 * 1. Wrong ones are counted by client address, so that many cannot be tried.
 * 2. The operators' token is compared in constant time, and before anything is counted: the right one passes at once,
 *    however many wrong ones came from the same address.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { ClientAddressOf } from '../protocol/client-address.ts';
import type { ClockPort, HttpSettings, PublicPorts } from '../ports.ts';
import { fail } from '../protocol/errors.ts';
import { createRateWindow } from './rate-limits.ts';

interface TokenLimits {
  readonly addressOf: ClientAddressOf;
  readonly clock: ClockPort;
  readonly limits: Pick<HttpSettings['limits'], 'wrongTokensPerMinuteMax' | 'rateLimitedAddressesMax'>;
  readonly sharedLimits?: PublicPorts['sharedLimits'] | undefined;
}

/** The token of `Authorization: Bearer`; undefined where there is none. */
export function bearerToken({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1];
}

/** Makes what answers a request without a token, or with a wrong one, which is counted: 401, or 429 after many. */
export function createTokenRefusal({
  addressOf,
  clock,
  limits,
  sharedLimits,
}: TokenLimits): (request: FastifyRequest, reply: FastifyReply) => void {
  const bounds = { perMinuteMax: limits.wrongTokensPerMinuteMax, keysMax: limits.rateLimitedAddressesMax };
  const wrongTokens = createRateWindow(bounds, clock, sharedLimits?.windows('wrong tokens'));
  return (request, reply) => {
    const { isOver, secondsLeft } =
      bearerToken(request) === undefined ? { isOver: false, secondsLeft: 0 } : wrongTokens.count(addressOf(request));
    if (isOver) reply.header('retry-after', secondsLeft).refuse(fail('RATE_LIMITED'));
    else reply.header('www-authenticate', 'Bearer').refuse(fail('UNAUTHORIZED'));
  };
}

interface TokenCheck extends TokenLimits {
  readonly token: string;
}

/**
 * Lets a request under /admin pass only with `Authorization: Bearer` and the token; otherwise 401, or 429 after many
 * wrong ones. It concerns the routes that are added from here on, before anything else that they do.
 */
export function requireToken(app: FastifyInstance, { token, ...limits }: TokenCheck): void {
  const expected = digest(token);
  const refuse = createTokenRefusal(limits);
  const check: onRequestHookHandler = (request, reply, done) => {
    const given = bearerToken(request);
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return done();
    refuse(request, reply);
  };
  app.addHook('onRoute', (route) => {
    if (route.url.startsWith('/admin/')) route.onRequest = [check, ...[route.onRequest ?? []].flat()];
  });
}

/** Digests have one length, which the comparison needs, and which hides the length of the token. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
