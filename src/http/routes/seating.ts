/**
 * Numbered seating: the layout, which seats are gone, and the best seats for a number of people.
 *
 * Layout and occupancy carry an ETag, so that a client that asks again gets 304 and no body. A layout is large and the
 * same for all until the definition changes: its text is kept.
 */
import { Type } from 'typebox';
import { occupancyView, seatingView, suggestSeats } from '#domain/availability.ts';
import { isPublished, type BoxOffice } from '#domain/box-office.ts';
import { refuse, type Refusal } from '#domain/refusal.ts';
import { printFreeSeat, printOccupancy, printSeating } from '../bodies.ts';
import { sealed, sendSealed } from '../envelope.ts';
import { etagOf, isNamedBy } from '../etag.ts';
import { errorResponses } from '../openapi.ts';
import { createPayloadCache } from '../payload-cache.ts';
import type { BoxOfficePort, PublicPorts } from '../ports.ts';
import { ref } from '../schemas/fields.ts';
import { Occupancy, OccupancyQuery, Seating, SeatList, SuggestSeats } from '../schemas/seating.ts';
import type { HttpApp } from '../app.ts';

const SlugPath = Type.Object({ slug: Type.String() });
const NotModified = Type.Unsafe<void>({ type: 'null', description: 'The body is the one that If-None-Match names.' });
const NOT_FOUND = refuse('EVENT_NOT_FOUND', {});

export function seatingRoutes(
  app: HttpApp,
  { directory, settings }: Pick<PublicPorts, 'directory' | 'settings'>,
): void {
  const { responseEnvelope, limits } = settings;
  const layouts = createPayloadCache(limits.cachedPayloadsMax, limits.cachedPayloadBytesMax);

  app.get(
    '/api/events/public/:slug/seating',
    {
      schema: {
        operationId: 'getSeating',
        tags: ['Seating'],
        summary: 'Read the layout of the numbered seats',
        params: SlugPath,
        response: { 200: ref(Seating), 304: NotModified, ...errorResponses },
      },
    },
    async (request, reply) => {
      const office = await directory.bySlug(request.params.slug);
      const layout = lookIfPublished(office, (state) => {
        const etag = etagOf('seating', state.eventId, state.definitionVersion);
        if (isNamedBy(etag, request.headers['if-none-match'])) return { etag, body: null };
        const make = () => sealed(printSeating(seatingView(state)), responseEnvelope);
        return { etag, body: layouts.recall(state, 'seating', String(state.definitionVersion), make) };
      });
      if ('outcome' in layout) return reply.refuse(layout);
      reply.header('etag', layout.etag).header('cache-control', 'no-cache');
      if (layout.body === null) return reply.code(304).send();
      return sendSealed(reply, layout.body);
    },
  );

  app.get(
    '/api/events/public/:slug/seating/occupancy',
    {
      schema: {
        operationId: 'getOccupancy',
        tags: ['Seating'],
        summary: 'Read which seats of a date are held, sold or blocked',
        params: SlugPath,
        querystring: OccupancyQuery,
        response: { 200: ref(Occupancy), 304: NotModified, ...errorResponses },
      },
    },
    async (request, reply) => {
      const { performance_id: performanceId, since } = request.query;
      const office = await directory.bySlug(request.params.slug);
      const wanted = { performanceId: performanceId ?? null, since: since === undefined ? null : Number(since) };
      const view = lookIfPublished(office, (state) => occupancyView(state, wanted));
      if ('outcome' in view) return reply.refuse(view);
      const etag = etagOf(view.eventId, view.performanceId, view.form === 'FULL' ? 'all' : view.since, view.version);
      reply.header('etag', etag).header('cache-control', 'no-cache');
      if (isNamedBy(etag, request.headers['if-none-match'])) return reply.code(304).send();
      return reply.send(printOccupancy(view));
    },
  );

  app.post(
    '/api/events/public/:slug/seating/best-available',
    {
      schema: {
        operationId: 'suggestSeats',
        tags: ['Seating'],
        summary: 'Suggest the best free seats side by side, without reserving them',
        params: SlugPath,
        body: SuggestSeats,
        response: { 200: SeatList, ...errorResponses },
      },
    },
    async (request, reply) => {
      const { ticket_type_id: ticketTypeId, count, performance_id: performanceId, session_key: key } = request.body;
      const office = await directory.bySlug(request.params.slug);
      const wanted = { ticketTypeId, count, performanceId: performanceId ?? null, sessionKey: key ?? null };
      const seats = lookIfPublished(office, (state, now) => suggestSeats(state, wanted, now));
      return 'outcome' in seats ? reply.refuse(seats) : reply.send(seats.map(printFreeSeat));
    },
  );
}

/** A query of an event that buyers can see, or EVENT_NOT_FOUND. */
function lookIfPublished<Answer>(
  office: BoxOfficePort | null,
  query: (state: BoxOffice, now: number) => Answer | Refusal,
): Answer | Refusal {
  if (office === null) return NOT_FOUND;
  return office.look((state, now) => (isPublished(state) ? query(state, now) : NOT_FOUND));
}
