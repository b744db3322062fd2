/**
 * Pages of the browser apps: one document for all addresses of an app, and the files that it loads.
 *
 * The content security policy keeps a page to this origin and free of inline code. The document is validated at each
 * request (304 when it is the same); its files have hashed names and are cached for good.
 */
import { Type } from 'typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendLarge } from '../protocol/encoding.ts';
import { tagNamed, varyBy } from '../protocol/negotiation.ts';
import type { DoorPagesPort, PageFile, PagesPort } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { NOT_FOUND } from '../protocol/errors.ts';
import { fontNamed, FONTS_PATH } from './fonts.ts';

const POLICY_PARTS: readonly string[] = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
];
const POLICY = POLICY_PARTS.join('; ');

/** The page of stations starts workers, and decodes pictures of codes by WebAssembly. */
const DOOR_POLICY = [
  ...POLICY_PARTS.map((part) => (part.startsWith('script-src') ? `${part} 'wasm-unsafe-eval'` : part)),
  "worker-src 'self'",
  "manifest-src 'self'",
].join('; ');

/** For a file whose address changes with its contents. */
export const FOR_EVER = 'public, max-age=31536000, immutable';

/** Shows the page at each of the addresses, and its files beside them. */
export function pageRoutes(app: HttpApp, pages: PagesPort, addresses: readonly string[]): void {
  for (const address of addresses) {
    app.get(address, { schema: { hide: true } }, async (request, reply) => {
      return sendFile(request, pageHeaders(reply), await pages.page(), 'no-cache');
    });
  }
  assetRoutes(app, pages);
}

/** The files that pages load. A worker among them has the page's `policy` as its own. */
export function assetRoutes(app: HttpApp, pages: Pick<PagesPort, 'assetsPath' | 'asset'>, policy?: string): void {
  app.get(
    `${pages.assetsPath}:name`,
    { schema: { hide: true, params: Type.Object({ name: Type.String() }) } },
    async (request, reply) => {
      const file = await pages.asset(request.params.name);
      if (file === null) return reply.refuse(NOT_FOUND);
      if (policy !== undefined) pageHeaders(reply, policy);
      return sendFile(request, reply, file, FOR_EVER);
    },
  );
}

/** The page of stations, and what it needs to be installed and to work without the service. */
export function doorPageRoutes(app: HttpApp, door: DoorPagesPort): void {
  const { path } = door;
  const schema = { hide: true };
  app.get(path, { schema }, async (request, reply) => {
    return sendFile(request, pageHeaders(reply, DOOR_POLICY), await door.page(), 'no-cache');
  });
  assetRoutes(app, door, DOOR_POLICY);
  app.get(`${path}/service-worker.js`, { schema }, async (request, reply) => {
    pageHeaders(reply, DOOR_POLICY).header('service-worker-allowed', path);
    return sendFile(request, reply, await door.serviceWorker(), 'no-cache');
  });
  app.get(
    `${path}/:name`,
    { schema: { hide: true, params: Type.Object({ name: Type.String() }) } },
    async (request, reply) => {
      const file = await door.file(request.params.name);
      return file === null ? reply.refuse(NOT_FOUND) : sendFile(request, reply, file, 'no-cache');
    },
  );
}

export function pageHeaders(reply: FastifyReply, policy = POLICY): FastifyReply {
  return reply.header('content-security-policy', policy).header('referrer-policy', 'same-origin');
}

export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  file: PageFile,
  keep: string,
): FastifyReply | Promise<FastifyReply> {
  varyBy(reply.header('cache-control', keep).header('etag', file.etag), 'Accept-Encoding');
  const named = tagNamed(file.etag, request.headers['if-none-match']);
  if (named !== null) return reply.header('etag', named).code(304).send();
  return sendLarge(reply.header('content-type', file.contentType), file.body);
}

/** The fonts of all pages. Their files are compressed already, and their addresses change with them. */
export function fontRoutes(app: HttpApp): void {
  app.get(
    `${FONTS_PATH}:name`,
    { schema: { hide: true, params: Type.Object({ name: Type.String() }) } },
    async (request, reply) => {
      const font = fontNamed(request.params.name);
      if (font === null) return reply.refuse(NOT_FOUND);
      reply.header('cache-control', FOR_EVER).header('etag', font.etag);
      if (tagNamed(font.etag, request.headers['if-none-match']) !== null) return reply.code(304).send();
      return reply.header('content-type', 'font/woff2').send(font.bytes);
    },
  );
}
