/**
 * What the operators' console needs beyond the operators' API: an overview, and the seats of drafts too. Everything
 * needs the token.
 *
 * Texts and layouts are read once, counters and changed seats again and again, so each answer is small.
 *
 * 1. An overview shows at most one page of events; it costs one pass over the performances of those in memory.
 * 2. The delay of the event loop is measured only while the app is open, in windows that begin anew when they are read.
 */
import { type Static, Type } from 'typebox';
import { readWhole } from '#actors/event-port.ts';
import { PageQuery } from '../buyers/events/schema.ts';
import { Occupancy, Seating, toOccupancyBody, toSeatingBody } from '../buyers/seating.ts';
import { watchLoop } from '../metrics/loop-delay.ts';
import type { ClockPort, AdminPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { EVENT_NOT_FOUND } from '../protocol/errors.ts';
import { Count, Id, IntegerText, Nullable, ref, Time, bearer } from '../protocol/fields.ts';
import { formatTime } from '../protocol/formats.ts';
import { toCursor } from '../protocol/request-parts.ts';
import { addRoute } from '../protocol/route.ts';
import { createEventSummaries, OverviewEvent } from './event-summaries.ts';
import { moneyRoutes } from './money.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const Text = Type.String();

export const Overview = Type.Object(
  {
    now: Time,
    service: Type.Object({
      ready: Type.Boolean(),
      reason: Nullable(Text),
      degraded: Type.Array(Text, { description: 'As /health/ready has it.' }),
      public_url: Type.String({
        description: 'The address that buyers see; the page of an order is /orders/{id} there.',
      }),
      node: Nullable(Type.String({ description: 'The node of the cluster that answers; null on a single machine.' })),
      events: Count,
      appended_seq: Type.Integer({ description: 'The last fact handed to the journal.' }),
      durable_seq: Type.Integer({ description: 'The last fact known to be on disk.' }),
      journal_lag: Type.Integer({ minimum: 0, description: 'Facts on their way to the disk.' }),
      notification_lag: Nullable(Type.Integer({ description: 'Durable facts not yet told; null where nobody is.' })),
      snapshot_age_seconds: Type.Number({ description: 'Since the newest snapshot; 0 while there is none.' }),
      event_loop_delay_ms: Type.Number({ description: 'The 99th percentile over the last half minute or so.' }),
      free_bytes: Nullable(
        Type.Integer({ description: 'On the disk of the data folder; null before the first look.' }),
      ),
    }),
    events: Type.Array(OverviewEvent),
    next_cursor: Nullable(Text),
  },
  { $id: 'Overview' },
);

const SeatStatesQuery = Type.Object({
  since: Type.Optional(IntegerText({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
});

export type OverviewBody = Static<typeof Overview>;

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

type ConsolePorts = Pick<AdminPorts, 'events' | 'clock' | 'deployment' | 'baseUrl'>;

const LIST_LIMIT = 50;
const DELAY_WINDOW_MS = 30_000;

/**
 * Metrics have a watch of their own with a shorter period; another one like it would cost an idle service twice as
 * much.
 */
const DELAY_PERIOD_MS = 1_000;

const getOverviewSchema = {
  operationId: 'getOverview',
  tags: ['Service'],
  summary: 'Everything at a glance: health, journal, and the stock and waiting room of every event',
  description: 'What the console shows first. Events are in pages.',
  security: bearer,
  querystring: PageQuery,
  response: { 200: ref(Overview) },
};

const getAnySeatingSchema = {
  operationId: 'getAnySeating',
  tags: ['Events'],
  summary: 'Read the layout of the numbered seats of any event, drafts too',
  description: 'The same as buyers see, for drafts too.',
  security: bearer,
  params: Type.Object({ id: Type.String() }),
  response: { 200: ref(Seating) },
};

const getSeatStatesSchema = {
  operationId: 'getSeatStates',
  tags: ['Events'],
  summary: 'Read which seats of a date are held, sold or blocked, or what changed since a version',
  description: 'The same as buyers see at the occupancy, for drafts too.',
  security: bearer,
  params: Type.Object({ id: Type.String(), performance_id: Id }),
  querystring: SeatStatesQuery,
  response: { 200: ref(Occupancy) },
};

export function consoleRoutes(app: HttpApp, ports: ConsolePorts): void {
  const { events, clock } = ports;
  const loopDelayMs = watchLoopDelay(app, clock);
  const summaries = createEventSummaries(ports);
  moneyRoutes(app, ports, summaries);

  addRoute(app, 'GET /admin/overview', getOverviewSchema, {
    answer: ({ query }, { after }) => events.listAll({ limit: Number(query.limit ?? LIST_LIMIT), after }),
    body: async (page) => ({
      now: formatTime(clock.now()),
      service: toServiceBody(ports, loopDelayMs()),
      events: await summaries.of(page.eventIds),
      next_cursor: toCursor(page.nextAfter),
    }),
  });

  addRoute(app, 'GET /admin/events/:id/seating', getAnySeatingSchema, {
    answer: ({ params: { id } }) => {
      const query = { type: 'ReadSeating', audience: 'OPERATORS', knownRevision: null } as const;
      return readWhole(events.byEventId(id), EVENT_NOT_FOUND, query);
    },
    body: toSeatingBody,
  });

  addRoute(app, 'GET /admin/events/:id/performances/:performance_id/seats', getSeatStatesSchema, {
    answer: ({ params: { id, performance_id: performanceId }, query }) => {
      const since = query.since === undefined ? null : Number(query.since);
      const wanted = { audience: 'OPERATORS', performanceId, since, knownRevision: null } as const;
      return readWhole(events.byEventId(id), EVENT_NOT_FOUND, { type: 'ReadOccupancy', ...wanted });
    },
    body: toOccupancyBody,
  });
}

function toServiceBody({ deployment, baseUrl }: ConsolePorts, loopDelayMs: number): OverviewBody['service'] {
  const { cluster, trouble, degraded, events, journal, freeBytes, ...state } = deployment.state();
  const { appendedSeq, durableSeq } = journal;
  return {
    ready: trouble === null,
    reason: trouble,
    degraded: trouble === null ? [...degraded] : [],
    public_url: baseUrl(),
    node: cluster?.nodeName ?? null,
    events,
    appended_seq: appendedSeq,
    durable_seq: durableSeq,
    journal_lag: Math.max(0, appendedSeq - durableSeq),
    notification_lag: state.notifiedSeq === null ? null : Math.max(0, durableSeq - state.notifiedSeq),
    snapshot_age_seconds: Math.round(state.snapshotAgeSeconds),
    event_loop_delay_ms: loopDelayMs,
    free_bytes: freeBytes,
  };
}

/** Watches how late the event loop is; the returned function reads the 99th percentile in milliseconds. */
function watchLoopDelay(app: HttpApp, clock: ClockPort): () => number {
  const loop = watchLoop(DELAY_PERIOD_MS);
  let begunAt = clock.now();
  app.addHook('onClose', (_app, done) => {
    loop.stop();
    done();
  });
  return () => {
    const delayMs = Math.round(loop.percentileMs(99) * 10) / 10;
    if (clock.now() - begunAt >= DELAY_WINDOW_MS) {
      loop.reset();
      begunAt = clock.now();
    }
    return delayMs;
  };
}
