/**
 * The operators' credential: one bearer token, compared in constant time.
 *
 * The comparison comes first: the right token passes at once, however many wrong ones came from the same address.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { bearerToken, createTokenRefusal, type TokenLimits } from '../limits/wrong-tokens.ts';

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
