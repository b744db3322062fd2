/**
 * The waiting room: join, poll and leave the queue, and the proof of its draw.
 *
 * Every poll lets the queue advance; an answer says when to poll again. The proof is public: it names entries by their
 * hashes, so that it shows nobody's pass.
 */
import type { FastifyReply } from 'fastify';
import { type Static, Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import { brandOf } from '#brand/brand.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { DrawView, QueueEntryView } from '#domain/view.ts';
import { drawPage } from '../pages/draw.ts';
import { sendPage } from '../pages/html.ts';
import type { PublicPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { steeringPart } from './events/body.ts';
import { SaleSteering } from './events/schema.ts';
import { EVENT_NOT_FOUND, NOT_FOUND, QUEUE_ENTRY_NOT_FOUND } from '../protocol/errors.ts';
import { Count, Id, IntegerText, Nullable, ref, SessionKey, SessionKeyQuery, Time } from '../protocol/fields.ts';
import { formatMoment } from '../protocol/formats.ts';
import { textsFor, prefersHtml, varyBy } from '../protocol/negotiation.ts';
import { addRoute } from '../protocol/route.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const JoinQueue = Type.Object({ event_id: Id, session_key: SessionKey });
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Hex32 = Sha256;

export const QueueEntry = Type.Object(
  {
    id: Type.String({ description: 'The pass: sent as queue_pass once the status is ADMITTED.' }),
    event_id: Type.String(),
    status: Type.String({ enum: ['WAITING', 'ADMITTED', 'EXPIRED', 'LEFT'] }),
    position: Nullable({
      ...Type.Integer({ minimum: 1 }),
      description: 'Place in line; null before the draw and when not waiting.',
    }),
    waiting_ahead: Count,
    estimated_minutes: Count,
    open: Type.Boolean({ description: 'Whether the doors are open.' }),
    opens_at: Nullable(Time),
    admitted_at: Nullable(Time),
    pass_expires_at: Nullable(Time),
    rate: Type.Integer({ description: 'Admissions per minute.' }),
    draw_commitment: Nullable({
      ...Sha256,
      description: 'SHA-256 of the seed of the draw; null where nothing is drawn.',
    }),
    steering: Type.Optional(ref(SaleSteering)),
    sold_out: Type.Optional(
      Type.Boolean({ description: 'Only on events that pause: whether the line stands because nothing is left.' }),
    ),
  },
  { $id: 'QueueEntry' },
);

const DRAW_LIMIT = 1_000;
const DRAW_LIMIT_MAX = 10_000;

const DrawQuery = Type.Object({
  offset: Type.Optional(IntegerText({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 })),
  limit: Type.Optional(IntegerText({ minimum: 1, maximum: DRAW_LIMIT_MAX, default: DRAW_LIMIT })),
});

export const Draw = Type.Object(
  {
    event_id: Type.String(),
    status: Type.String({ enum: ['pending', 'drawn'] }),
    draw_commitment: { ...Sha256, description: 'SHA-256 of the seed.' },
    seed: Nullable({ ...Hex32, description: '32 bytes in hex, made with the room; null while pending.' }),
    opening: Nullable({
      ...Hex32,
      description:
        '32 bytes in hex, made at the opening; null while pending, and in draws recorded before there were openings.',
    }),
    drawn_at: Nullable(Time),
    count: Count,
    entries_digest: Nullable({ ...Sha256, description: 'SHA-256 of all entries, sorted and joined.' }),
    entries: Type.Array(Sha256, {
      description:
        'SHA-256 of each entry id, in line order: ascending by HMAC-SHA-256 of digest and entry (both as hex texts) under K, which is ' +
        'HMAC-SHA-256 of the bytes of the opening under the bytes of the seed. Without an opening K is the seed.',
    }),
  },
  { $id: 'Draw' },
);

export type QueueEntryBody = Static<typeof QueueEntry>;
export type DrawBody = Static<typeof Draw>;

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Between two polls of a waiting client. */
const POLL_SECONDS = 5;

const EntryPath = Type.Object({ id: Type.String() });

const joinQueueSchema = {
  operationId: 'joinQueue',
  tags: ['Waiting room'],
  summary: 'Join the waiting room of an event, or come back to the place one has',
  description:
    'One live entry for each session and event: joining again gives it back in its place. The entry is the pass once it is ADMITTED.',
  body: JoinQueue,
  response: { 200: ref(QueueEntry), 201: ref(QueueEntry) },
};

const pollQueueSchema = {
  operationId: 'pollQueue',
  tags: ['Waiting room'],
  summary: 'Poll a place in line; every poll moves the line',
  description: 'Poll every 4 to 5 seconds while WAITING: who does not poll for two minutes is dropped from the line.',
  params: EntryPath,
  querystring: SessionKeyQuery,
  response: { 200: ref(QueueEntry) },
};

const leaveQueueSchema = {
  operationId: 'leaveQueue',
  tags: ['Waiting room'],
  summary: 'Leave the line, or give a pass back',
  description: 'The place goes to whoever is next. Leaving again answers the same.',
  params: EntryPath,
  querystring: SessionKeyQuery,
  response: { 200: ref(QueueEntry) },
};

const getDrawSchema = {
  operationId: 'getDraw',
  tags: ['Waiting room'],
  summary: 'Check the draw of the line: JSON for programs, a page for browsers',
  description:
    'Before the opening the commitment alone; afterwards all that is needed to compute the line again. It shows digests of entries, and nobody’s pass.',
  params: Type.Object({ slug: Type.String() }),
  querystring: DrawQuery,
  response: { 200: ref(Draw) },
};

export function queueRoutes(
  app: HttpApp,
  { events, baseUrl, settings }: Pick<PublicPorts, 'events' | 'baseUrl' | 'settings'>,
): void {
  addRoute(app, 'POST /api/checkout/queue', joinQueueSchema, {
    command: 'JoinQueue',
    config: { clientLimit: { perMinuteMax: settings.limits.joinsPerMinuteMax } },
    answer: ({ body: { event_id: eventId, session_key: sessionKey } }, { execute }) =>
      execute(events.byEventId(eventId), EVENT_NOT_FOUND, { type: 'JoinQueue', sessionKey }),
    status: ({ joined }) => (joined ? 201 : 200),
    body: toEntryBody,
  });

  addRoute(app, 'GET /api/checkout/queue/:id', pollQueueSchema, {
    command: 'PollQueue',
    takesSessionKey: true,
    answer: ({ params: { id: entryId } }, { execute, sessionKey }) =>
      execute(events.byId('que', entryId), QUEUE_ENTRY_NOT_FOUND, { type: 'PollQueue', entryId, sessionKey }),
    body: toEntryBody,
  });

  addRoute(app, 'DELETE /api/checkout/queue/:id', leaveQueueSchema, {
    command: 'LeaveQueue',
    takesSessionKey: true,
    answer: ({ params: { id: entryId } }, { execute, sessionKey }) =>
      execute(events.byId('que', entryId), QUEUE_ENTRY_NOT_FOUND, { type: 'LeaveQueue', entryId, sessionKey }),
    body: toEntryBody,
  });

  addRoute(app, 'GET /api/events/public/:slug/draw', getDrawSchema, {
    answer: async ({ params: { slug }, query: { offset = 0, limit = DRAW_LIMIT }, headers }) => {
      const page = { offset: Number(offset), limit: prefersHtml(headers.accept) ? 0 : Number(limit) };
      const found = await readAt(events.bySlug(slug), EVENT_NOT_FOUND, { type: 'FindDraw', ...page });
      if (isRefusal(found)) return found;
      const { draw, ...event } = found;
      return draw === null ? NOT_FOUND : { draw, event };
    },
    send: ({ draw, event }, reply, request) => {
      varyBy(reply.header('cache-control', 'no-cache'), 'Accept');
      if (!prefersHtml(request.headers.accept)) return reply.send(toDrawBody(draw));
      const { slug } = request.params;
      const url = `${baseUrl()}/api/events/public/${slug}/draw`;
      const brand = brandOf(settings.brand, event.look);
      return sendPage(reply, drawPage({ ...event, slug, draw, url, brand, texts: textsFor(request) }));
    },
  });
}

function toEntryBody({ entry }: { readonly entry: QueueEntryView }, reply: FastifyReply): QueueEntryBody {
  if (entry.status === 'WAITING') reply.header('retry-after', POLL_SECONDS);
  return toQueueEntryBody(entry);
}

// ── bodies ───────────────────────────────────────────────────────────────────────────────────────────────────────────

export function toQueueEntryBody(entry: QueueEntryView): QueueEntryBody {
  return {
    id: entry.id,
    event_id: entry.eventId,
    status: entry.status,
    position: entry.position,
    waiting_ahead: entry.waitingAhead,
    estimated_minutes: entry.estimatedMinutes,
    open: entry.open,
    opens_at: formatMoment(entry.opensAt),
    admitted_at: formatMoment(entry.admittedAt),
    pass_expires_at: formatMoment(entry.passExpiresAt),
    rate: entry.rate,
    draw_commitment: entry.drawCommitment,
    ...(entry.soldOut !== null && { sold_out: entry.soldOut }),
    ...steeringPart(entry.steering ?? null),
  };
}

export function toDrawBody(draw: DrawView): DrawBody {
  return {
    event_id: draw.eventId,
    status: draw.status,
    draw_commitment: draw.drawCommitment,
    seed: draw.seed,
    opening: draw.opening,
    drawn_at: formatMoment(draw.drawnAt),
    count: draw.count,
    entries_digest: draw.entriesDigest,
    entries: [...draw.entries],
  };
}
