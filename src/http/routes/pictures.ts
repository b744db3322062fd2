/** The pictures of events, from the folder that this node was given. */
import { Type } from 'typebox';
import { tagNamed } from '../negotiation.ts';
import type { PublicPorts } from '../ports.ts';
import { PICTURES_PATH } from '../schemas/events.ts';
import type { HttpApp } from '../app.ts';

/** A picture that is replaced under its name is seen within the hour; meanwhile pages of many events ask for nothing. */
const KEEP = 'public, max-age=3600';

export function pictureRoutes(app: HttpApp, { pictures }: Pick<PublicPorts, 'pictures'>): void {
  app.get(
    `${PICTURES_PATH}*`,
    { schema: { hide: true, params: Type.Object({ '*': Type.String() }) } },
    async (request, reply) => {
      const picture = (await pictures?.read(request.params['*'])) ?? null;
      if (picture === null) return reply.fail('NOT_FOUND');
      const { etag, contentType, bytes } = picture;
      reply.header('cache-control', KEEP).header('etag', etag);
      if (tagNamed(etag, request.headers['if-none-match']) !== null) return reply.code(304).send();
      return reply.header('content-type', contentType).send(bytes);
    },
  );
}
