/**
 * The envelope: with RESPONSE_ENVELOPE=data every successful body is sent as {"data": …}.
 *
 * Some storefronts read results from a data property. Errors, pages and the OpenAPI document are not wrapped. The
 * envelope is installed before the routes; a body that is kept is wrapped when it is made, by `sealed`.
 */
import type { FastifyInstance, FastifyReply, preSerializationHookHandler } from 'fastify';
import { LARGE_BYTES_MIN, LargeBody, PASSING, sendLarge, type Effort } from './encoding.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its bodies are never wrapped. */
    isBare?: boolean;
  }
}

export type Envelope = 'none' | 'data';

/** Wraps the bodies of all routes that have a schema for their success, in their documents too. */
export function installEnvelope(app: FastifyInstance, envelope: Envelope): void {
  if (envelope === 'none') return;
  app.addHook('onRoute', (route) => {
    const responses = route.schema?.response as Record<string, unknown> | undefined;
    if (responses === undefined || route.config?.isBare === true) return;
    const wrapped = Object.entries(responses).map(([status, schema]) => [
      status,
      status.startsWith('2') ? inEnvelope(schema) : schema,
    ]);
    route.schema = { ...route.schema, response: Object.fromEntries(wrapped) };
    route.preSerialization = [...[route.preSerialization ?? []].flat(), wrapSuccess];
  });
}

/** The schema of a body in the envelope; of an answer in several types, only the JSON is wrapped. */
function inEnvelope(schema: unknown): object {
  if (schema instanceof Object && 'content' in schema) {
    const content = schema.content as Readonly<Record<string, { readonly schema: unknown }>>;
    const { 'application/json': json } = content;
    if (json === undefined) return schema;
    return { ...schema, content: { ...content, 'application/json': { schema: inEnvelope(json.schema) } } };
  }
  return { type: 'object', required: ['data'], properties: { data: schema } };
}

const wrapSuccess: preSerializationHookHandler = (_request, reply, body, done) =>
  done(null, reply.statusCode < 300 ? { data: body } : body);

/**
 * A body that is written already: a small one with its length on the wire, a large one as bytes that can be compressed.
 */
export type SealedBody = SealedText | LargeBody;

export interface SealedText {
  readonly text: string;
  readonly byteLength: number;
}

/**
 * A body to be kept, in the envelope when there is one. A small one is text and not bytes: Node sends a short text
 * together with the headers, bytes after them (measured: a sixth of the request's CPU).
 */
export function sealed(body: unknown, envelope: Envelope, effort: Effort = PASSING): SealedBody {
  const plain = sealedOnce(body, envelope);
  return plain.byteLength < LARGE_BYTES_MIN ? plain : new LargeBody(Buffer.from(plain.text), effort);
}

/** A body for one request alone, in the envelope when there is one: it is sent as it is, whatever its size. */
export function sealedOnce(body: unknown, envelope: Envelope): SealedText {
  const text = JSON.stringify(envelope === 'none' ? body : { data: body });
  return { text, byteLength: Buffer.byteLength(text) };
}

/** The memory that a sealed body takes at most, with its codings: each is smaller than half of the body. */
export function bytesKept(body: SealedBody): number {
  return body instanceof LargeBody ? body.bytes.length * 2 : body.byteLength * 2;
}

/** Sends a sealed body as JSON, a large one in the coding that the client takes. */
export function sendSealed(reply: FastifyReply, body: SealedBody): FastifyReply | Promise<FastifyReply> {
  reply.header('content-type', JSON_TYPE);
  if (body instanceof LargeBody) return sendLarge(reply, body);
  return reply.header('content-length', body.byteLength).send(body.text);
}
