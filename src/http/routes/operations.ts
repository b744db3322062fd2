/**
 * The service itself: health, metrics, snapshots, and the newest facts of the journal.
 *
 * 1. Health and metrics ask for no token; snapshots and facts do.
 * 2. Facts are shown as `holdfast journal` shows them, secrets replaced. That command reads the whole journal.
 */
import { Type } from 'typebox';
import { readAt } from '#actors/event-port.ts';
import { shownFact } from '#actors/shown-facts.ts';
import { isRefusal } from '#domain/refusal.ts';
import type { HttpApp } from '../app.ts';
import { ORDER_NOT_FOUND } from '../errors.ts';
import { formatTime } from '../formats.ts';
import { bearer, clientErrors, errorResponses } from '../openapi.ts';
import type { HealthPort, KeptFact, Metrics, OperatorPorts } from '../ports.ts';
import { idempotencyMark, markReplayed } from '../request-parts.ts';
import { Nullable, ref } from '../schemas/fields.ts';
import { JournalPage, JournalQuery, type JournalFactBody } from '../schemas/journal.ts';
import { Health, Readiness, SnapshotAnswer, SnapshotRequest, Unavailable } from '../schemas/operators.ts';

const isLiveSchema = {
  operationId: 'isLive',
  tags: ['Health'],
  summary: 'Whether the process lives',
  response: { 200: Health, ...clientErrors },
};

const isReadySchema = {
  operationId: 'isReady',
  tags: ['Health'],
  summary: 'Whether it is ready: recovered, the journal can be written, the disk is not nearly full, not stopping',
  description:
    'While the disk is nearly full (`FREE_SPACE_MIN_MB`) the answer is 503, but only new holds, checkouts and joins of a waiting room are refused.',
  response: { 200: Readiness, ...clientErrors, 503: Unavailable },
};

const readMetricsSchema = {
  operationId: 'readMetrics',
  tags: ['Health'],
  summary: "Everything that is measured, in Prometheus' text format",
  response: {
    200: { description: 'Metrics', content: { 'text/plain': { schema: Type.String() } } },
    ...clientErrors,
  },
};

const takeSnapshotSchema = {
  operationId: 'takeSnapshot',
  tags: ['Service'],
  summary: 'Take snapshots now, and with prune move older facts to the archive',
  description:
    'Takes a snapshot of every event that has changed since its last one. With `prune` the facts that are older than the previous snapshots move from the journal to the archive.',
  security: bearer,
  body: Nullable(SnapshotRequest),
  response: { 200: SnapshotAnswer, ...errorResponses },
};

const listFactsSchema = {
  operationId: 'listFacts',
  tags: ['Service'],
  summary: 'Read what happened last, the newest fact first',
  description:
    '*** stands in place of secrets: session keys, seeds of draws, passes, ids of holds. A whole sale is read with `holdfast journal`.',
  security: bearer,
  querystring: JournalQuery,
  response: { 200: ref(JournalPage), ...errorResponses },
};

export function healthRoutes(app: HttpApp, { health }: { readonly health: HealthPort }): void {
  app.get('/health/live', { schema: isLiveSchema }, async (_request, reply) => reply.send({ status: 'ok' }));

  app.get('/health/ready', { schema: isReadySchema }, async (_request, reply) => {
    const readiness = health.readiness();
    const named = health.node === undefined ? {} : { node: health.node };
    if (readiness.ready) {
      const degraded = readiness.degraded.length === 0 ? {} : { degraded: [...readiness.degraded] };
      return reply.send({ status: 'ok', ...named, ...degraded });
    }
    return reply.code(503).send({ status: 'unavailable', ...named, reason: readiness.reason });
  });
}

export function metricsRoutes(app: HttpApp, { metrics }: { readonly metrics: Metrics }): void {
  app.get('/metrics', { schema: readMetricsSchema }, async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await metrics.read()),
  );
}

export function snapshotRoutes(app: HttpApp, ports: Pick<OperatorPorts, 'requireToken' | 'takeSnapshot'>): void {
  app.post('/admin/snapshot', { onRequest: ports.requireToken, schema: takeSnapshotSchema }, async (request, reply) => {
    const idempotency = idempotencyMark('POST /admin/snapshot', request);
    if (idempotency !== null && 'outcome' in idempotency) return reply.refuse(idempotency);
    const done = await ports.takeSnapshot({ prune: request.body?.prune ?? false }, idempotency);
    if ('code' in done) return reply.refuse(done);
    markReplayed(reply, done);
    const { seq, taken, failed, archived } = done.answer;
    const moved = archived && { from_seq: archived.fromSeq, to_seq: archived.toSeq };
    return reply.send({ seq, taken, failed, archived: moved });
  });
}

const FACTS_SHOWN = 50;
/** Of longer data, such as whole definitions, only the size is shown. */
const DATA_LENGTH_MAX = 4_000;

export function journalRoutes(
  app: HttpApp,
  { requireToken, newestFacts, events }: Pick<OperatorPorts, 'requireToken' | 'newestFacts' | 'events'>,
): void {
  app.get('/admin/journal', { onRequest: requireToken, schema: listFactsSchema }, async (request, reply) => {
    const { limit = FACTS_SHOWN, before, event_id: eventId = null, type, order_id: orderId } = request.query;
    const ofOrder = orderId === undefined ? null : await eventOfOrder(events, orderId);
    if (orderId !== undefined && (ofOrder === null || (eventId !== null && eventId !== ofOrder))) {
      return reply.refuse(ORDER_NOT_FOUND);
    }
    const { facts, nextBefore } = await newestFacts({
      limit: Number(limit),
      before: before === undefined ? null : Number(before),
      eventId: eventId ?? ofOrder,
      ...(type !== undefined && { type }),
      ...(orderId !== undefined && { orderId }),
    });
    return reply.send({ facts: facts.map(toFactBody), next_before: nextBefore });
  });
}

/** The event of an order; null where there is no such order. */
async function eventOfOrder(events: OperatorPorts['events'], orderId: string): Promise<string | null> {
  const found = await readAt(events.byId('ord', orderId), ORDER_NOT_FOUND, { type: 'FindOrder', orderId });
  return isRefusal(found) ? null : found.order.event.id;
}

function toFactBody(row: KeptFact): JournalFactBody {
  const { seq, at, eventId, type } = row;
  return { seq, at: formatTime(at), event_id: eventId === '' ? null : eventId, type, data: dataOf(row) };
}

function dataOf({ type, data }: { readonly type: string; readonly data: string }): string {
  const shown = shownFact(type, data);
  return shown.length > DATA_LENGTH_MAX ? `(${data.length.toLocaleString('en')} characters)` : shown;
}
