/**
 * What pages load of a brand: its style sheet and its logo.
 *
 * 1. An SVG may contain scripts. Pages show it as an image, where no browser runs them. Opened by itself, it has a
 *    policy that lets it load and run nothing.
 * 2. The address of a logo has the hash of its contents: any other hash is not found, so that a browser may keep what
 *    it has for ever.
 */
import { Type } from 'typebox';
import type { FastifyReply } from 'fastify';
import { readAt } from '#actors/event-port.ts';
import { BRAND_PATH, logoName, readLogo, styleNamed } from '#brand/brand.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { PublicPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { EVENT_NOT_FOUND, NOT_FOUND } from '../protocol/errors.ts';
import { FOR_EVER } from './route.ts';

/**
 * The address of a style sheet has no hash of its contents: another version of the service may write it differently.
 */
const FOR_A_DAY = 'public, max-age=86400';

/** Rule 1. */
const LOGO_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

const NAME_LENGTH_MAX = 60;
const Name = Type.String({ maxLength: NAME_LENGTH_MAX });

export function brandRoutes(app: HttpApp, { settings, events }: Pick<PublicPorts, 'settings' | 'events'>): void {
  app.get(`${BRAND_PATH}:name`, { schema: { hide: true, params: Type.Object({ name: Name }) } }, (request, reply) => {
    const { name } = request.params;
    const style = styleNamed(name);
    if (style === null) return sendLogo(reply, name, settings.brand?.logo);
    return reply.header('cache-control', FOR_A_DAY).header('content-type', 'text/css; charset=utf-8').send(style);
  });
  app.get(
    `${BRAND_PATH}events/:slug/:name`,
    { schema: { hide: true, params: Type.Object({ slug: Type.String(), name: Name }) } },
    async (request, reply) => {
      const { slug, name } = request.params;
      const found = await readAt(events.bySlug(slug), EVENT_NOT_FOUND, { type: 'ReadBrand' });
      return sendLogo(reply, name, isRefusal(found) ? undefined : found.brand?.logo);
    },
  );
}

function sendLogo(reply: FastifyReply, name: string, dataUrl: string | undefined): FastifyReply {
  const logo = dataUrl === undefined || logoName(dataUrl) !== name ? null : readLogo(dataUrl);
  if (logo === null) return reply.refuse(NOT_FOUND);
  return reply
    .headers({ 'cache-control': FOR_EVER, 'content-type': logo.contentType, 'content-security-policy': LOGO_POLICY })
    .send(logo.bytes);
}
