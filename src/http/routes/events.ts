/**
 * What is for sale: the list of events and the payload of one.
 *
 * Advisory reads, which do not wait for the disk. The anonymous payload is kept ready; one for a session
 * that holds tickets is made for it, because its own hold counts as free.
 */
import { Type } from 'typebox';
import { eventRevision, eventView } from '#domain/catalogue/view.ts';
import { isPublished, type EventState } from '#domain/event-state.ts';
import { refuse, type Refusal } from '#domain/refusal.ts';
import { printEvent, printEventSummary } from '../bodies.ts';
import { sealed, sealedOnce, sendSealed, type Envelope, type SealedBody } from '../envelope.ts';
import { printCursor, readCursor } from '../cursor.ts';
import { errorResponses } from '../openapi.ts';
import { createPayloadCache } from '../payload-cache.ts';
import type { PublicPorts } from '../ports.ts';
import { ref } from '../schemas/fields.ts';
import { EventList, EventPayload, EventQuery, PageQuery } from '../schemas/events.ts';
import type { HttpApp } from '../app.ts';
import { optionalSessionKey } from '../session-key.ts';
import { varyBy } from '../vary.ts';

const LIST_LIMIT = 100;

interface Wanted {
  readonly performanceId: string | null;
  readonly sessionKey: string | null;
}

export function eventRoutes(app: HttpApp, { directory, settings }: Pick<PublicPorts, 'directory' | 'settings'>): void {
  const { responseEnvelope, limits } = settings;
  const payloads = createPayloadCache(limits.cachedPayloadsMax, limits.cachedPayloadBytesMax);

  const payloadOf = (state: EventState, now: number, wanted: Wanted): SealedBody | Refusal => {
    if (!isPublished(state)) return refuse('EVENT_NOT_FOUND', {});
    const make = <Made>(seal: (body: unknown, envelope: Envelope) => Made): Made | Refusal => {
      const view = eventView(state, wanted, now);
      return 'outcome' in view ? view : seal(printEvent(view), responseEnvelope);
    };
    const { performanceId, sessionKey } = wanted;
    if (sessionKey !== null && state.holds.activeBySession.has(sessionKey)) return make(sealedOnce);
    return payloads.recall(state, performanceId ?? '', eventRevision(state, now), () => make(sealed));
  };

  app.get(
    '/api/events/public',
    {
      schema: {
        operationId: 'listEvents',
        tags: ['Events'],
        summary: 'List published events by first date',
        querystring: PageQuery,
        response: { 200: ref(EventList), ...errorResponses },
      },
    },
    async (request, reply) => {
      const { limit, cursor } = request.query;
      const start = readCursor(cursor);
      if ('outcome' in start) return reply.refuse(start);
      const page = await directory.list({ limit: Number(limit ?? LIST_LIMIT), after: start.after });
      reply.header('cache-control', 'no-cache');
      return reply.send({ events: page.events.map(printEventSummary), next_cursor: printCursor(page.nextAfter) });
    },
  );

  app.get(
    '/api/events/public/:slug',
    {
      schema: {
        operationId: 'getEvent',
        tags: ['Events'],
        summary: 'Read an event with its dates and what is left',
        params: Type.Object({ slug: Type.String() }),
        querystring: EventQuery,
        response: { 200: ref(EventPayload), ...errorResponses },
      },
    },
    async (request, reply) => {
      varyBy(varyBy(reply, 'X-Session-Key'), 'Accept-Encoding');
      const sessionKey = optionalSessionKey(request);
      if (sessionKey !== null && typeof sessionKey !== 'string') return reply.refuse(sessionKey);
      const event = await directory.bySlug(request.params.slug);
      if (event === null) return reply.refuse(refuse('EVENT_NOT_FOUND', {}));
      const performanceId = request.query.performance_id ?? null;
      const payload = event.look((state, now) => payloadOf(state, now, { performanceId, sessionKey }));
      if ('outcome' in payload) return reply.refuse(payload);
      if (sessionKey === null) reply.header('cache-control', 'no-cache');
      return sendSealed(reply, payload);
    },
  );
}
