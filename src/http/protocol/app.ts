/** The type of both apps, and small things that every app uses: request ids, and forms of the service's own pages. */
import { randomBytes } from 'node:crypto';
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** An app whose handlers know the types of their schemas. */
export type HttpApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** A request id that a client may choose. */
const SANE = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * Makes the function that names requests: one random prefix for the process, then a count (cheaper than a random number
 * for each).
 */
export function createRequestIds(): (request: Pick<IncomingMessage, 'headers'>) => string {
  const prefix = randomBytes(6).toString('base64url');
  let count = 0;
  return ({ headers }) => {
    const given = headers['x-request-id'];
    if (typeof given === 'string' && SANE.test(given)) return given;
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

/** The buttons of a page send a name and a value, no more. */
const FORM_BYTES_MAX = 4 * 1024;

/** Lets the routes of a scope take the forms of the service's own pages. */
export function readForms(scope: HttpApp, bytesMax = FORM_BYTES_MAX): void {
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string', bodyLimit: bytesMax },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  );
}
