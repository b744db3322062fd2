/**
 * What is for sale: the list of events and the payload of one.
 *
 * Advisory reads, which do not wait for durability. The payload without a session is kept; the payload of a session
 * with a hold is made for each request, because the session's own hold counts as free.
 */
import { Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import type { PayloadView } from '#domain/event/revisioned-views.ts';
import type { PublicPorts } from '../../ports.ts';
import type { HttpApp } from '../../protocol/app.ts';
import { sealed, sealedOnce, sendSealed } from '../../protocol/envelope.ts';
import { EVENT_NOT_FOUND, NOT_FOUND } from '../../protocol/errors.ts';
import { ref } from '../../protocol/fields.ts';
import { tagNamed, varyBy } from '../../protocol/negotiation.ts';
import { createPayloadCache } from '../../protocol/payload-cache.ts';
import { optionalSessionKey, toCursor } from '../../protocol/request-parts.ts';
import { addRoute } from '../../protocol/route.ts';
import { toEventBody, toEventSummaryBody } from './body.ts';
import { EventList, EventPayload, EventQuery, PageQuery } from './schema.ts';
import { PICTURES_PATH } from '../../protocol/fields.ts';

const LIST_LIMIT = 100;

const listEventsSchema = {
  operationId: 'listEvents',
  tags: ['Events'],
  summary: 'List published events by first date',
  description: 'Only what is published, in pages. `from_price` and `sold_out` are as of now.',
  querystring: PageQuery,
  response: { 200: ref(EventList) },
};

const getEventSchema = {
  operationId: 'getEvent',
  tags: ['Events'],
  summary: 'Read an event with its dates and what is left',
  description:
    'Rows of `ticketAvailability` are sums over all dates, or those of one with `performance_id`. With a session key that session’s own hold counts as free. Figures are advisory: a hold decides.',
  params: Type.Object({ slug: Type.String() }),
  querystring: EventQuery,
  response: { 200: ref(EventPayload) },
};

export function eventRoutes(app: HttpApp, { events, settings }: Pick<PublicPorts, 'events' | 'settings'>): void {
  const { responseEnvelope, limits } = settings;
  const payloads = createPayloadCache(limits.cachedPayloadsMax, limits.cachedPayloadBytesMax);

  const toPayload = ({ event, revision }: PayloadView) => {
    const seal = revision === null ? sealedOnce : sealed;
    return { body: seal(toEventBody(event, settings.brand), responseEnvelope) };
  };

  addRoute(app, 'GET /api/events/public', listEventsSchema, {
    answer: ({ query }, { after }) => events.list({ limit: Number(query.limit ?? LIST_LIMIT), after }),
    body: (page, reply) => {
      reply.header('cache-control', 'no-cache');
      return { events: page.events.map(toEventSummaryBody), next_cursor: toCursor(page.nextAfter) };
    },
  });

  addRoute(app, 'GET /api/events/public/:slug', getEventSchema, {
    answer: async (request, _parts, reply) => {
      varyBy(varyBy(reply, 'X-Session-Key'), 'Accept-Encoding');
      const sessionKey = optionalSessionKey(request);
      if (sessionKey !== null && typeof sessionKey !== 'string') return sessionKey;
      const { slug } = request.params;
      const performanceId = request.query.performance_id ?? null;
      const found = events.bySlug(slug);
      const read = (knownRevision: string | null) =>
        readAt(found, EVENT_NOT_FOUND, { type: 'ReadPayload', performanceId, sessionKey, knownRevision });
      const payload = await payloads.recall(`${slug} ${performanceId ?? ''}`, read, toPayload);
      if (sessionKey === null && !('outcome' in payload)) reply.header('cache-control', 'no-cache');
      return payload;
    },
    send: ({ body }, reply) => sendSealed(reply, body),
  });
}

// ── pictures ─────────────────────────────────────────────────────────────────────────────────────────────────────────

/** A picture that is replaced under the same name is shown within the hour; until then no browser requests it again. */
const KEEP = 'public, max-age=3600';

/** How long a picture is served after the last published event that named it. */
const NAMED_MS_MAX = 10_000;

/** Pages of the list of events that are read for the names of pictures. */
const NAMES_LIMIT = 500;

/** Makes the check whether a published event names a picture: files of drafts, and others, are shown to nobody. */
function namedPictures({ events, clock }: Pick<PublicPorts, 'events' | 'clock'>): (name: string) => Promise<boolean> {
  let named: ReadonlySet<string> = new Set();
  let readAtMs = -Infinity;
  return async (name) => {
    if (named.has(name) && clock.now() - readAtMs < NAMED_MS_MAX) return true;
    const found = new Set<string>();
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof events.list>> = await events.list({ limit: NAMES_LIMIT, after });
      for (const { picture } of page.events) if (picture !== undefined) found.add(picture);
      after = page.nextAfter;
    } while (after !== null);
    named = found;
    readAtMs = clock.now();
    return found.has(name);
  };
}

export function pictureRoutes(
  app: HttpApp,
  { pictures, ...ports }: Pick<PublicPorts, 'pictures' | 'events' | 'clock'>,
): void {
  const isNamed = namedPictures(ports);
  app.get(
    `${PICTURES_PATH}*`,
    { schema: { hide: true, params: Type.Object({ '*': Type.String() }) } },
    async (request, reply) => {
      const name = request.params['*'];
      const picture = (await pictures?.read(name)) ?? null;
      if (picture === null || !(await isNamed(name))) return reply.refuse(NOT_FOUND);
      const { etag, contentType, bytes } = picture;
      reply.header('cache-control', KEEP).header('etag', etag);
      if (tagNamed(etag, request.headers['if-none-match']) !== null) return reply.code(304).send();
      return reply.header('content-type', contentType).send(bytes);
    },
  );
}
