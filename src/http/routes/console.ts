/**
 * What the operators' console needs beyond the operators' API: an overview, and the seats of drafts too. Everything needs the token.
 *
 * Texts and layouts are read once, counters and changed seats again and again, so each answer is small.
 *
 * 1. An overview shows at most one page of events; it costs one pass over the performances of those in memory.
 * 2. The delay of the event loop is measured only while the app is open, in windows that begin anew when they are read.
 */
import { Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { HttpApp } from '../app.ts';
import { toOccupancyBody, toSeatingBody } from '../bodies.ts';
import { toCursor, readCursor } from '../request-parts.ts';
import { EVENT_NOT_FOUND } from '../errors.ts';
import { createEventFigures } from '../event-figures.ts';
import { bearer, errorResponses } from '../openapi.ts';
import type { OperatorPorts, ClockPort, GaugesPort } from '../ports.ts';
import { formatTime } from '../formats.ts';
import { watchLoop } from '../loop-delay.ts';
import { moneyRoutes } from './money.ts';
import { Overview, SeatStatesQuery, type OverviewBody } from '../schemas/console.ts';
import { PageQuery } from '../schemas/events.ts';
import { Id, ref } from '../schemas/fields.ts';
import { Occupancy, Seating } from '../schemas/seating.ts';

type ConsolePorts = Pick<
  OperatorPorts,
  'requireToken' | 'events' | 'clock' | 'health' | 'gauges' | 'cluster' | 'baseUrl'
>;

const LIST_LIMIT = 50;
const DELAY_WINDOW_MS = 30_000;
/** Metrics have a watch of their own with a shorter period; another one like it would cost an idle service twice as much. */
const DELAY_PERIOD_MS = 1_000;

const getOverviewSchema = {
  operationId: 'getOverview',
  tags: ['Service'],
  summary: 'Everything at a glance: health, journal, and the stock and waiting room of every event',
  security: bearer,
  querystring: PageQuery,
  response: { 200: ref(Overview), ...errorResponses },
};

const getAnySeatingSchema = {
  operationId: 'getAnySeating',
  tags: ['Events'],
  summary: 'Read the layout of the numbered seats of any event, drafts too',
  security: bearer,
  params: Type.Object({ id: Type.String() }),
  response: { 200: ref(Seating), ...errorResponses },
};

const getSeatStatesSchema = {
  operationId: 'getSeatStates',
  tags: ['Events'],
  summary: 'Read which seats of a date are held, sold or blocked, or what changed since a version',
  security: bearer,
  params: Type.Object({ id: Type.String(), performance_id: Id }),
  querystring: SeatStatesQuery,
  response: { 200: ref(Occupancy), ...errorResponses },
};

export function consoleRoutes(app: HttpApp, ports: ConsolePorts): void {
  const { events, clock } = ports;
  const onRequest = ports.requireToken;
  const loopDelayMs = watchLoopDelay(app, clock);
  const figures = createEventFigures(ports);
  moneyRoutes(app, ports, figures);

  app.get('/admin/overview', { onRequest, schema: getOverviewSchema }, async (request, reply) => {
    const { limit, cursor } = request.query;
    const start = readCursor(cursor);
    if ('outcome' in start) return reply.refuse(start);
    const page = await events.listAll({ limit: Number(limit ?? LIST_LIMIT), after: start.after });
    return reply.send({
      now: formatTime(clock.now()),
      service: toServiceBody(ports, loopDelayMs()),
      events: await figures.of(page.eventIds),
      next_cursor: toCursor(page.nextAfter),
    });
  });

  app.get('/admin/events/:id/seating', { onRequest, schema: getAnySeatingSchema }, async (request, reply) => {
    const query = { type: 'ReadAnySeating' } as const;
    const seating = await readAt(events.byEventId(request.params.id), EVENT_NOT_FOUND, query);
    return isRefusal(seating) ? reply.refuse(seating) : reply.send(toSeatingBody(seating));
  });

  app.get(
    '/admin/events/:id/performances/:performance_id/seats',
    { onRequest, schema: getSeatStatesSchema },
    async (request, reply) => {
      const { id, performance_id: performanceId } = request.params;
      const since = request.query.since === undefined ? null : Number(request.query.since);
      const query = { type: 'ReadAnyOccupancy', performanceId, since } as const;
      const occupancy = await readAt(events.byEventId(id), EVENT_NOT_FOUND, query);
      return isRefusal(occupancy) ? reply.refuse(occupancy) : reply.send(toOccupancyBody(occupancy));
    },
  );
}

function toServiceBody(
  { health, gauges, cluster, baseUrl }: ConsolePorts,
  loopDelayMs: number,
): OverviewBody['service'] {
  const readiness = health.readiness();
  const { appendedSeq, durableSeq } = gauges.journal;
  return {
    ready: readiness.ready,
    reason: readiness.ready ? null : readiness.reason,
    degraded: readiness.ready ? [...readiness.degraded] : [],
    public_url: baseUrl(),
    node: cluster?.nodeName ?? null,
    events: gauges.events,
    appended_seq: appendedSeq,
    durable_seq: durableSeq,
    journal_lag: Math.max(0, appendedSeq - durableSeq),
    notification_lag: notificationLag(gauges),
    snapshot_age_seconds: Math.round(gauges.snapshotAgeSeconds()),
    event_loop_delay_ms: loopDelayMs,
    free_bytes: gauges.freeBytes,
  };
}

function notificationLag(gauges: GaugesPort): number | null {
  const notifiedSeq = gauges.notifiedSeq();
  return notifiedSeq === null ? null : Math.max(0, gauges.journal.durableSeq - notifiedSeq);
}

/** Watches how late the event loop is; what is returned reads the 99th percentile in milliseconds. */
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
