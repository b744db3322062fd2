/** The operators' credential: one bearer token, compared in constant time. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { onRequestHookHandler } from 'fastify';

/** A hook that lets a request pass only with `Authorization: Bearer` and the token; otherwise 401. */
export function requireToken(token: string): onRequestHookHandler {
  const expected = digest(token);
  return (request, reply, done) => {
    const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    if (given !== undefined && timingSafeEqual(digest(given), expected)) return done();
    reply.header('www-authenticate', 'Bearer').fail('UNAUTHORIZED');
  };
}

/** Digests have one length, which the comparison asks for and which hides the token's. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
