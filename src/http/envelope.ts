/**
 * The envelope: with RESPONSE_ENVELOPE=data every successful body comes as {"data": …}.
 *
 * Some storefronts read results from a data property. Errors, pages and the OpenAPI document stay as they are. Installed
 * by `server.ts` before the routes; what is kept ready is wrapped when it is made, with `sealed`.
 */
import type { FastifyInstance, FastifyReply, preSerializationHookHandler } from 'fastify';

const JSON_TYPE = 'application/json; charset=utf-8';

export type Envelope = 'none' | 'data';

/** Wraps the bodies of all routes that have a schema for their success, in their documents too. */
export function installEnvelope(app: FastifyInstance, envelope: Envelope): void {
  if (envelope === 'none') return;
  app.addHook('onRoute', (route) => {
    const responses = route.schema?.response as Record<string, unknown> | undefined;
    if (responses === undefined) return;
    const wrapped = Object.entries(responses).map(([status, schema]) => [
      status,
      status.startsWith('2') ? { type: 'object', required: ['data'], properties: { data: schema } } : schema,
    ]);
    route.schema = { ...route.schema, response: Object.fromEntries(wrapped) };
    route.preSerialization = [...[route.preSerialization ?? []].flat(), wrapSuccess];
  });
}

const wrapSuccess: preSerializationHookHandler = (_request, reply, body, done) =>
  done(null, reply.statusCode < 300 ? { data: body } : body);

/** A body that is written already, with its length on the wire. */
export interface SealedBody {
  readonly text: string;
  readonly byteLength: number;
}

/**
 * A body as text, in the envelope when there is one. Text and not bytes: Node sends a short text together with the
 * headers, bytes after them (measured: a sixth of the request's CPU).
 */
export function sealed(body: unknown, envelope: Envelope): SealedBody {
  const text = JSON.stringify(envelope === 'none' ? body : { data: body });
  return { text, byteLength: Buffer.byteLength(text) };
}

/** Sends a sealed body as JSON. */
export function sendSealed(reply: FastifyReply, { text, byteLength }: SealedBody): FastifyReply {
  return reply.header('content-type', JSON_TYPE).header('content-length', byteLength).send(text);
}
