/**
 * The API reference: the document at /openapi.json, pages under /docs, what their search finds, and their script.
 *
 * All of it comes from this service; the content security policy lets it load nothing from elsewhere. It does not
 * change while the process lives, so each text is made and compressed once, when it is first requested.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { HttpApp } from '../protocol/app.ts';
import { LargeBody, LASTING, sendLarge } from '../protocol/encoding.ts';
import { JSON_TYPE } from '../protocol/envelope.ts';
import { tagNamed, varyBy } from '../protocol/negotiation.ts';
import { DOCS_HEADERS, documentOf, SCRIPT_PATH, SEARCH_PATH, type DocsPage } from './frame.ts';
import { docsPages, missingPage, type DocsSource } from './pages.ts';
import { searchEntries } from './search.ts';
import type { ShownDocument } from './operations.ts';
import type { PageFile, ReferencePort } from '../ports.ts';

const JSON_HEADERS = { 'content-type': JSON_TYPE } as const;
const hidden = { schema: { hide: true } } as const;

/** Without the port the pages have no script and name the default addresses. */
export function docsRoutes(app: HttpApp, listener: 'public' | 'admin', reference: ReferencePort | undefined): void {
  const source = once((): DocsSource => {
    const document = app.swagger() as unknown as ShownDocument;
    const origins = reference?.origins() ?? { public: 'http://127.0.0.1:8080', admin: 'http://127.0.0.1:8081' };
    return { document, listener, origins };
  });
  const pages = once(() => docsPages(source()));
  const texts = new Map<string, TaggedText>();
  const write = (page: DocsPage): string =>
    documentOf(page, { document: source().document, hasScript: reference !== undefined });
  const send = (request: FastifyRequest, reply: FastifyReply, page: DocsPage | undefined) => {
    if (page === undefined) return reply.code(404).headers(DOCS_HEADERS).send(write(missingPage));
    const text = texts.get(page.path) ?? keep(write(page));
    texts.set(page.path, text);
    return sendKept(request, reply.headers(DOCS_HEADERS), text);
  };

  const document = once(() => keep(JSON.stringify(app.swagger())));
  app.get('/openapi.json', hidden, (request, reply) => sendKept(request, reply.headers(JSON_HEADERS), document()));
  const search = once(() => keep(JSON.stringify(searchEntries(source()))));
  app.get(SEARCH_PATH, hidden, (request, reply) => sendKept(request, reply.headers(JSON_HEADERS), search()));
  if (reference !== undefined) {
    app.get(SCRIPT_PATH, hidden, async (request, reply) => sendFile(request, reply, await reference.script()));
  }
  app.get('/docs', hidden, (request, reply) => send(request, reply, pages().get('/docs')));
  // The address of the page on which operations were tried before they had pages of their own.
  app.get('/docs/explorer', hidden, (_request, reply) => reply.redirect('/docs/operations', 308));
  app.get('/docs/*', hidden, (request, reply) => {
    const path = request.url.split('?', 1)[0]!.replace(/\/$/, '');
    return send(request, reply, pages().get(path));
  });
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}

interface TaggedText {
  readonly etag: string;
  readonly body: LargeBody;
}

function keep(text: string): TaggedText {
  const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
  return { etag, body: new LargeBody(Buffer.from(text), LASTING) };
}

function sendFile(request: FastifyRequest, reply: FastifyReply, { contentType, ...text }: PageFile) {
  return sendKept(request, reply.header('content-type', contentType), text);
}

function sendKept(request: FastifyRequest, reply: FastifyReply, { etag, body }: TaggedText) {
  varyBy(reply.header('cache-control', 'no-cache'), 'Accept-Encoding');
  const named = tagNamed(etag, request.headers['if-none-match']);
  if (named !== null) return reply.header('etag', named).code(304).send();
  return sendLarge(reply.header('etag', etag), body);
}
