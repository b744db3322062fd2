/**
 * Numbered seating: the layout, which seats are gone, and the best seats for a number of people.
 *
 * Layout and occupancy carry an ETag, so that a client that asks again gets 304 and no body. Both are large and the same for all,
 * a layout until the definition changes, a full occupancy until a seat does: they are kept, and compressed once.
 */
import { Type } from 'typebox';
import type { FastifyReply } from 'fastify';
import { occupancyOf, remembersSince, seatingView, suggestSeats } from '#domain/inventory/view.ts';
import { isPublished, type EventState } from '#domain/event-state.ts';
import { findPerformance } from '#domain/inventory/performance.ts';
import { refuse, type Refusal } from '#domain/refusal.ts';
import { printFreeSeat, printOccupancy, printSeating } from '../bodies.ts';
import { LASTING } from '../encoding.ts';
import { sealed, sealedOnce, sendSealed, type SealedBody } from '../envelope.ts';
import { etagOf, tagNamed } from '../etag.ts';
import { errorResponses } from '../openapi.ts';
import { createPayloadCache } from '../payload-cache.ts';
import type { EventPort, PublicPorts } from '../ports.ts';
import { ref } from '../schemas/fields.ts';
import { Occupancy, OccupancyQuery, Seating, SeatList, SuggestSeats } from '../schemas/seating.ts';
import type { HttpApp } from '../app.ts';
import { varyBy } from '../vary.ts';

const SlugPath = Type.Object({ slug: Type.String() });
const NotModified = Type.Unsafe<void>({ type: 'null', description: 'The body is the one that If-None-Match names.' });
const NOT_FOUND = refuse('EVENT_NOT_FOUND', {});

export function seatingRoutes(
  app: HttpApp,
  { directory, settings }: Pick<PublicPorts, 'directory' | 'settings'>,
): void {
  const { responseEnvelope, limits } = settings;
  const kept = createPayloadCache(limits.cachedPayloadsMax, limits.cachedPayloadBytesMax);

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
      const event = await directory.bySlug(request.params.slug);
      const layout = lookIfPublished(event, (state) => {
        const etag = etagOf('seating', state.eventId, state.definitionVersion);
        const named = tagNamed(etag, request.headers['if-none-match']);
        if (named !== null) return { etag: named, body: null };
        const make = () => sealed(printSeating(seatingView(state)), responseEnvelope, LASTING);
        return { etag, body: kept.recall(state, 'seating', String(state.definitionVersion), make) };
      });
      return sendTagged(reply, layout);
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
      const event = await directory.bySlug(request.params.slug);
      const wanted = { performanceId: performanceId ?? null, since: since === undefined ? null : Number(since) };
      const occupancy = lookIfPublished(event, (state) => {
        const performance = findPerformance(state, wanted.performanceId);
        if ('outcome' in performance) return performance;
        const { version } = performance.inventory;
        const since =
          wanted.since !== null && remembersSince(performance.inventory, wanted.since) ? wanted.since : null;
        const etag = etagOf(state.eventId, performance.id, since ?? 'all', version);
        const named = tagNamed(etag, request.headers['if-none-match']);
        if (named !== null) return { etag: named, body: null };
        const print = () => printOccupancy(occupancyOf(state.eventId, performance, since));
        if (since !== null) return { etag, body: sealedOnce(print(), responseEnvelope) };
        const make = () => sealed(print(), responseEnvelope);
        return { etag, body: kept.recall(state, `taken ${performance.id}`, String(version), make) };
      });
      return sendTagged(reply, occupancy);
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
      const event = await directory.bySlug(request.params.slug);
      const wanted = { ticketTypeId, count, performanceId: performanceId ?? null, sessionKey: key ?? null };
      const seats = lookIfPublished(event, (state, now) => suggestSeats(state, wanted, now));
      return 'outcome' in seats ? reply.refuse(seats) : reply.send(seats.map(printFreeSeat));
    },
  );
}

interface TaggedBody {
  readonly etag: string;
  /** Null where the client has it already. */
  readonly body: SealedBody | null;
}

function sendTagged(reply: FastifyReply, found: TaggedBody | Refusal): FastifyReply | Promise<FastifyReply> {
  if ('outcome' in found) return reply.refuse(found);
  varyBy(reply.header('etag', found.etag).header('cache-control', 'no-cache'), 'Accept-Encoding');
  return found.body === null ? reply.code(304).send() : sendSealed(reply, found.body);
}

/** A query of an event that buyers can see, or EVENT_NOT_FOUND. */
function lookIfPublished<Answer>(
  event: EventPort | null,
  query: (state: EventState, now: number) => Answer | Refusal,
): Answer | Refusal {
  if (event === null) return NOT_FOUND;
  return event.look((state, now) => (isPublished(state) ? query(state, now) : NOT_FOUND));
}
