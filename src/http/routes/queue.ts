/**
 * The waiting room: join, poll and leave the queue, and the proof of its draw.
 *
 * Every poll lets the queue advance; an answer says when to poll again. The proof is public: it names entries by their hashes, so
 * that it shows nobody's pass.
 */
import { Type } from 'typebox';
import { executeAt, readAt } from '#actors/event-port.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { FastifyReply } from 'fastify';
import type { QueueEntryView } from '#domain/views.ts';
import { prefersHtml, varyBy } from '../negotiation.ts';
import type { HttpApp } from '../app.ts';
import { EVENT_NOT_FOUND, QUEUE_ENTRY_NOT_FOUND } from '../errors.ts';
import { errorResponses } from '../openapi.ts';
import { drawPage } from '../pages/draw-page.ts';
import { textsFor } from '../language.ts';
import { sendPage } from '../pages/html.ts';
import type { PublicPorts } from '../ports.ts';
import { toDrawBody, toQueueEntryBody } from '../queue-bodies.ts';
import { ref, SessionKeyQuery } from '../schemas/fields.ts';
import { Draw, DRAW_LIMIT, DrawQuery, JoinQueue, QueueEntry } from '../schemas/queue.ts';
import { requiredSessionKey } from '../request-parts.ts';

/** Between two polls of a waiting client. */
const POLL_SECONDS = 5;

const EntryPath = Type.Object({ id: Type.String() });

const joinQueueSchema = {
  operationId: 'joinQueue',
  tags: ['Waiting room'],
  summary: 'Join the waiting room of an event, or come back to the place one has',
  body: JoinQueue,
  response: { 200: ref(QueueEntry), 201: ref(QueueEntry), ...errorResponses },
};

const pollQueueSchema = {
  operationId: 'pollQueue',
  tags: ['Waiting room'],
  summary: 'Poll a place in line; every poll moves the line',
  params: EntryPath,
  querystring: SessionKeyQuery,
  response: { 200: ref(QueueEntry), ...errorResponses },
};

const leaveQueueSchema = {
  operationId: 'leaveQueue',
  tags: ['Waiting room'],
  summary: 'Leave the line, or give a pass back',
  params: EntryPath,
  querystring: SessionKeyQuery,
  response: { 200: ref(QueueEntry), ...errorResponses },
};

const getDrawSchema = {
  operationId: 'getDraw',
  tags: ['Waiting room'],
  summary: 'Check the draw of the line: JSON for programs, a page for browsers',
  params: Type.Object({ slug: Type.String() }),
  querystring: DrawQuery,
  response: { 200: ref(Draw), ...errorResponses },
};

export function queueRoutes(app: HttpApp, { events, baseUrl }: Pick<PublicPorts, 'events' | 'baseUrl'>): void {
  app.post('/api/checkout/queue', { schema: joinQueueSchema }, async (request, reply) => {
    const { event_id: eventId, session_key: sessionKey } = request.body;
    const command = { type: 'JoinQueue', sessionKey } as const;
    const answer = await executeAt(events.byEventId(eventId), EVENT_NOT_FOUND, command);
    if (isRefusal(answer)) return reply.refuse(answer);
    return sendEntry(reply.code(answer.joined ? 201 : 200), answer.entry);
  });

  app.get('/api/checkout/queue/:id', { schema: pollQueueSchema }, async (request, reply) => {
    const sessionKey = requiredSessionKey(request);
    if (typeof sessionKey !== 'string') return reply.refuse(sessionKey);
    const entryId = request.params.id;
    const command = { type: 'PollQueue', entryId, sessionKey } as const;
    const answer = await executeAt(events.byId('que', entryId), QUEUE_ENTRY_NOT_FOUND, command);
    return isRefusal(answer) ? reply.refuse(answer) : sendEntry(reply, answer.entry);
  });

  app.delete('/api/checkout/queue/:id', { schema: leaveQueueSchema }, async (request, reply) => {
    const sessionKey = requiredSessionKey(request);
    if (typeof sessionKey !== 'string') return reply.refuse(sessionKey);
    const entryId = request.params.id;
    const command = { type: 'LeaveQueue', entryId, sessionKey } as const;
    const answer = await executeAt(events.byId('que', entryId), QUEUE_ENTRY_NOT_FOUND, command);
    return isRefusal(answer) ? reply.refuse(answer) : sendEntry(reply, answer.entry);
  });

  app.get('/api/events/public/:slug/draw', { schema: getDrawSchema }, async (request, reply) => {
    const { slug } = request.params;
    const { offset = 0, limit = DRAW_LIMIT } = request.query;
    const wantsPage = prefersHtml(request.headers.accept);
    const page = { offset: Number(offset), limit: wantsPage ? 0 : Number(limit) };
    const found = await readAt(events.bySlug(slug), EVENT_NOT_FOUND, { type: 'FindDraw', ...page });
    if (isRefusal(found)) return reply.refuse(found);
    const { draw, ...event } = found;
    if (draw === null) return reply.fail('NOT_FOUND');
    varyBy(reply.header('cache-control', 'no-cache'), 'Accept');
    if (!wantsPage) return reply.send(toDrawBody(draw));
    const url = `${baseUrl()}/api/events/public/${slug}/draw`;
    return sendPage(reply, drawPage({ ...event, slug, draw, url, texts: textsFor(request) }));
  });
}

function sendEntry(reply: FastifyReply, entry: QueueEntryView): FastifyReply {
  if (entry.status === 'WAITING') reply.header('retry-after', POLL_SECONDS);
  return reply.send(toQueueEntryBody(entry));
}
