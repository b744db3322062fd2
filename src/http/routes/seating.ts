/**
 * Numbered seating: the layout, the seats that are taken, and the best seats for a number of people.
 *
 * Layout and occupancy carry an ETag, so that a client that has the body gets 304. Both are large and the same for all clients: a
 * layout until the definition changes, a full occupancy until a seat does. They are kept, and compressed once.
 */
import { Type } from 'typebox';
import type { FastifyReply } from 'fastify';
import { readAt } from '#actors/event-port.ts';
import { isRefusal, type Refusal } from '#domain/refusal.ts';
import { toFreeSeatBody, toOccupancyBody, toSeatingBody } from '../bodies.ts';
import { LASTING } from '../encoding.ts';
import { sealed, sealedOnce, sendSealed } from '../envelope.ts';
import { EVENT_NOT_FOUND } from '../errors.ts';
import { etagOf, tagNamed, varyBy } from '../negotiation.ts';
import { errorResponses } from '../openapi.ts';
import { createPayloadCache, type KeptBody } from '../payload-cache.ts';
import type { PublicPorts } from '../ports.ts';
import { ref } from '../schemas/fields.ts';
import { Occupancy, OccupancyQuery, Seating, SeatList, SuggestSeats } from '../schemas/seating.ts';
import type { HttpApp } from '../app.ts';

const SlugPath = Type.Object({ slug: Type.String() });
const NotModified = Type.Unsafe<void>({ type: 'null', description: 'The body is the one that If-None-Match names.' });

const getSeatingSchema = {
  operationId: 'getSeating',
  tags: ['Seating'],
  summary: 'Read the layout of the numbered seats',
  params: SlugPath,
  response: { 200: ref(Seating), 304: NotModified, ...errorResponses },
};

const getOccupancySchema = {
  operationId: 'getOccupancy',
  tags: ['Seating'],
  summary: 'Read which seats of a date are held, sold or blocked',
  params: SlugPath,
  querystring: OccupancyQuery,
  response: { 200: ref(Occupancy), 304: NotModified, ...errorResponses },
};

const suggestSeatsSchema = {
  operationId: 'suggestSeats',
  tags: ['Seating'],
  summary: 'Suggest the best free seats side by side, without reserving them',
  params: SlugPath,
  body: SuggestSeats,
  response: { 200: SeatList, ...errorResponses },
};

export function seatingRoutes(app: HttpApp, { events, settings }: Pick<PublicPorts, 'events' | 'settings'>): void {
  const { responseEnvelope, limits } = settings;
  const kept = createPayloadCache(limits.cachedPayloadsMax, limits.cachedPayloadBytesMax);

  app.get('/api/events/public/:slug/seating', { schema: getSeatingSchema }, async (request, reply) => {
    const { slug } = request.params;
    const found = events.bySlug(slug);
    const read = (knownRevision: string | null) =>
      readAt(found, EVENT_NOT_FOUND, { type: 'ReadSeating', knownRevision });
    const layout = await kept.recall(`layout ${slug}`, read, (view) => ({
      etag: etagOf('seating', view.eventId, view.version),
      body: sealed(toSeatingBody(view), responseEnvelope, LASTING),
    }));
    return sendTagged(reply, layout);
  });

  app.get('/api/events/public/:slug/seating/occupancy', { schema: getOccupancySchema }, async (request, reply) => {
    const { performance_id: performanceId, since } = request.query;
    const { slug } = request.params;
    const wanted = { performanceId: performanceId ?? null, since: since === undefined ? null : Number(since) };
    const found = events.bySlug(slug);
    const read = (knownRevision: string | null) =>
      readAt(found, EVENT_NOT_FOUND, { type: 'ReadOccupancy', ...wanted, knownRevision });
    const occupancy = await kept.recall(`occupancy ${slug} ${performanceId ?? ''}`, read, (view) => {
      const isFull = view.form === 'FULL';
      const seal = isFull ? sealed : sealedOnce;
      return {
        etag: etagOf(view.eventId, view.performanceId, isFull ? 'all' : view.since, view.version),
        body: seal(toOccupancyBody(view), responseEnvelope),
      };
    });
    return sendTagged(reply, occupancy);
  });

  app.post(
    '/api/events/public/:slug/seating/best-available',
    { schema: suggestSeatsSchema },
    async (request, reply) => {
      const { ticket_type_id: ticketTypeId, count, performance_id: performanceId, session_key: key } = request.body;
      const wanted = { ticketTypeId, count, performanceId: performanceId ?? null, sessionKey: key ?? null };
      const found = events.bySlug(request.params.slug);
      const seats = await readAt(found, EVENT_NOT_FOUND, { type: 'SuggestSeats', ...wanted });
      return isRefusal(seats) ? reply.refuse(seats) : reply.send(seats.map(toFreeSeatBody));
    },
  );
}

/** Sends a body with its tag, or 304 to a client that has it already. */
function sendTagged(reply: FastifyReply, found: KeptBody | Refusal): FastifyReply | Promise<FastifyReply> {
  if ('outcome' in found) return reply.refuse(found);
  const etag = found.etag!;
  const named = tagNamed(etag, reply.request.headers['if-none-match']);
  varyBy(reply.header('etag', named ?? etag).header('cache-control', 'no-cache'), 'Accept-Encoding');
  return named === null ? sendSealed(reply, found.body) : reply.code(304).send();
}
