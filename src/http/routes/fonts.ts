/** The fonts of all pages. Their files are compressed already, and their addresses change with them. */
import { Type } from 'typebox';
import { tagNamed } from '../negotiation.ts';
import { fontNamed, FONTS_PATH } from '../pages/fonts.ts';
import type { HttpApp } from '../app.ts';
import { FOR_EVER } from './pages.ts';

export function fontRoutes(app: HttpApp): void {
  app.get(
    `${FONTS_PATH}:name`,
    { schema: { hide: true, params: Type.Object({ name: Type.String() }) } },
    async (request, reply) => {
      const font = fontNamed(request.params.name);
      if (font === null) return reply.fail('NOT_FOUND');
      reply.header('cache-control', FOR_EVER).header('etag', font.etag);
      if (tagNamed(font.etag, request.headers['if-none-match']) !== null) return reply.code(304).send();
      return reply.header('content-type', 'font/woff2').send(font.bytes);
    },
  );
}
