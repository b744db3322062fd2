/**
 * The envelope: with RESPONSE_ENVELOPE=data every successful body comes as {"data": …}.
 *
 * Some storefronts read results from a data property. Errors, pages and the OpenAPI document stay as they are. Installed
 * by `server.ts` before the routes; what is sent as ready bytes is wrapped by the one who makes them, with `sealed`.
 */
import type { FastifyInstance } from 'fastify';

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
  });
  app.addHook('preSerialization', (_request, reply, body, done) => {
    const success = reply.statusCode < 300 && reply.request.routeOptions.schema?.response !== undefined;
    done(null, success ? { data: body } : body);
  });
}

/** A body as bytes, in the envelope when there is one. */
export function sealed(body: unknown, envelope: Envelope): Buffer {
  return Buffer.from(JSON.stringify(envelope === 'none' ? body : { data: body }));
}
