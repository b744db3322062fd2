/**
 * The API reference: the document at /openapi.json, pages under /docs, and an explorer in which every call can be tried.
 *
 * All of it comes from this service; the content security policies let it load nothing from elsewhere. It does not change while the
 * process lives, so each text is made and compressed once.
 */
import swaggerUi from '@fastify/swagger-ui';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpApp } from '../app.ts';
import { encode, LargeBody, LARGE_BYTES_MIN, LASTING, sendLarge } from '../encoding.ts';
import { tagNamed, varyBy } from '../negotiation.ts';
import { DOCS_HEADERS, docsPages, documentOf, type ShownDocument } from '../pages/docs-pages.ts';

const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self' 'unsafe-inline'",
  'img-src': "'self' data:",
  'font-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

const JSON_HEADERS = { 'content-type': 'application/json; charset=utf-8' } as const;

export async function docsRoutes(app: HttpApp): Promise<void> {
  const route = (path: string, headers: Readonly<Record<string, string>>, make: () => string): void => {
    let text: KeptText | null = null;
    app.get(path, { schema: { hide: true } }, (request, reply) => {
      text ??= keep(make());
      return sendKept(request, reply.headers(headers), text);
    });
  };
  route('/openapi.json', JSON_HEADERS, () => JSON.stringify(app.swagger()));
  for (const [path, page] of docsPages(() => app.swagger() as unknown as ShownDocument)) {
    route(path, DOCS_HEADERS, () => documentOf(page()));
  }
  await app.register(async (scope) => {
    compressFiles(scope as HttpApp);
    await scope.register(swaggerUi, {
      routePrefix: '/docs/explorer',
      staticCSP: POLICY,
      uiConfig: { url: '/openapi.json', validatorUrl: null, deepLinking: true, tryItOutEnabled: true },
      theme: { title: 'API reference' },
    });
  });
}

interface KeptText {
  readonly etag: string;
  readonly body: LargeBody;
}

function keep(text: string): KeptText {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  return { etag, body: new LargeBody(Buffer.from(text), LASTING) };
}

function sendKept(request: FastifyRequest, reply: FastifyReply, { etag, body }: KeptText) {
  varyBy(reply.header('cache-control', 'no-cache'), 'Accept-Encoding');
  const named = tagNamed(etag, request.headers['if-none-match']);
  if (named !== null) return reply.header('etag', named).code(304).send();
  return sendLarge(reply.header('etag', etag), body);
}

/**
 * Compresses the explorer's files, which come as streams. They are kept by the tags that they already have, of which there are as
 * many as files.
 */
function compressFiles(scope: HttpApp): void {
  const files = new Map<string, Promise<LargeBody>>();
  scope.addHook('onSend', async (_request, reply, payload) => {
    const isLarge = Number(reply.getHeader('content-length') ?? 0) >= LARGE_BYTES_MIN;
    if (!(payload instanceof Readable) || reply.statusCode !== 200 || !isLarge) return payload;
    const tag = String(reply.getHeader('etag'));
    const known = files.get(tag);
    if (known !== undefined) payload.destroy();
    const file = known ?? buffer(payload).then((bytes) => new LargeBody(bytes, LASTING));
    files.set(tag, file);
    file.catch(() => files.delete(tag));
    return encode(reply, await file);
  });
}
