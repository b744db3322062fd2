/** Wrong bearer tokens are counted by client address, so that many cannot be tried. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClientAddressOf } from '../protocol/client-address.ts';
import type { ClockPort, HttpSettings, PublicPorts } from '../ports.ts';
import { fail } from '../protocol/errors.ts';
import { createRateWindow } from './rate-limits.ts';

export interface TokenLimits {
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
