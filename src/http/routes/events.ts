/**
 * What is for sale: the list of events and the payload of one.
 *
 * Advisory reads, which do not wait for durability. The payload without a session is kept; the payload of a session with a hold is
 * made for each request, because the session's own hold counts as free.
 */
import { Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import type { PayloadView } from '#domain/inventory/public-view.ts';
import { toEventBody, toEventSummaryBody } from '../bodies.ts';
import { sealed, sealedOnce, sendSealed } from '../envelope.ts';
import { EVENT_NOT_FOUND } from '../errors.ts';
import { toCursor, readCursor, optionalSessionKey } from '../request-parts.ts';
import { errorResponses } from '../openapi.ts';
import { createPayloadCache } from '../payload-cache.ts';
import type { PublicPorts } from '../ports.ts';
import { ref } from '../schemas/fields.ts';
import { EventList, EventPayload, EventQuery, PageQuery } from '../schemas/events.ts';
import type { HttpApp } from '../app.ts';
import { varyBy } from '../negotiation.ts';

const LIST_LIMIT = 100;

const listEventsSchema = {
  operationId: 'listEvents',
  tags: ['Events'],
  summary: 'List published events by first date',
  querystring: PageQuery,
  response: { 200: ref(EventList), ...errorResponses },
};

const getEventSchema = {
  operationId: 'getEvent',
  tags: ['Events'],
  summary: 'Read an event with its dates and what is left',
  params: Type.Object({ slug: Type.String() }),
  querystring: EventQuery,
  response: { 200: ref(EventPayload), ...errorResponses },
};

export function eventRoutes(app: HttpApp, { events, settings }: Pick<PublicPorts, 'events' | 'settings'>): void {
  const { responseEnvelope, limits } = settings;
  const payloads = createPayloadCache(limits.cachedPayloadsMax, limits.cachedPayloadBytesMax);

  const toPayload = ({ event, revision }: PayloadView) => {
    const seal = revision === null ? sealedOnce : sealed;
    return { body: seal(toEventBody(event), responseEnvelope) };
  };

  app.get('/api/events/public', { schema: listEventsSchema }, async (request, reply) => {
    const { limit, cursor } = request.query;
    const start = readCursor(cursor);
    if ('outcome' in start) return reply.refuse(start);
    const page = await events.list({ limit: Number(limit ?? LIST_LIMIT), after: start.after });
    reply.header('cache-control', 'no-cache');
    return reply.send({ events: page.events.map(toEventSummaryBody), next_cursor: toCursor(page.nextAfter) });
  });

  app.get('/api/events/public/:slug', { schema: getEventSchema }, async (request, reply) => {
    varyBy(varyBy(reply, 'X-Session-Key'), 'Accept-Encoding');
    const sessionKey = optionalSessionKey(request);
    if (sessionKey !== null && typeof sessionKey !== 'string') return reply.refuse(sessionKey);
    const { slug } = request.params;
    const performanceId = request.query.performance_id ?? null;
    const found = events.bySlug(slug);
    const read = (knownRevision: string | null) =>
      readAt(found, EVENT_NOT_FOUND, { type: 'ReadPayload', performanceId, sessionKey, knownRevision });
    const payload = await payloads.recall(`${slug} ${performanceId ?? ''}`, read, toPayload);
    if ('outcome' in payload) return reply.refuse(payload);
    if (sessionKey === null) reply.header('cache-control', 'no-cache');
    return sendSealed(reply, payload.body);
  });
}
