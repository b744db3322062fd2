/**
 * The API reference: the document at /openapi.json, pages under /docs, and an explorer that lets people try every call.
 *
 * All of it comes from this service alone; its content security policies keep it from loading anything elsewhere.
 */
import swaggerUi from '@fastify/swagger-ui';
import type { HttpApp } from '../app.ts';
import { docsPages, sendDocsPage, type ShownDocument } from '../pages/docs-pages.ts';

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

export async function docsRoutes(app: HttpApp): Promise<void> {
  let document: string | null = null;
  app.get('/openapi.json', { schema: { hide: true } }, (_request, reply) => {
    document ??= JSON.stringify(app.swagger());
    return reply
      .headers({ 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-cache' })
      .send(document);
  });
  for (const [path, page] of docsPages(() => app.swagger() as unknown as ShownDocument)) {
    app.get(path, { schema: { hide: true } }, (_request, reply) => sendDocsPage(reply, page()));
  }
  await app.register(swaggerUi, {
    routePrefix: '/docs/explorer',
    staticCSP: POLICY,
    uiConfig: { url: '/openapi.json', validatorUrl: null, deepLinking: true, tryItOutEnabled: true },
    theme: { title: 'API reference' },
  });
}
