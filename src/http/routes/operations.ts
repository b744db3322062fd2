/**
 * The service itself: health, metrics, snapshots, and the newest facts of the journal.
 *
 * 1. Health and metrics ask for no token; snapshots and facts do.
 * 2. Facts are shown as `holdfast journal` shows them, secrets replaced. That command reads the whole journal.
 */
import { Type } from 'typebox';
import { shownFact } from '#actors/shown-facts.ts';
import type { HttpApp } from '../app.ts';
import { formatTime } from '../formats.ts';
import { bearer, clientErrors, errorResponses } from '../openapi.ts';
import type { HealthPort, Metrics, OperatorPorts } from '../ports.ts';
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
  summary: 'Whether it can answer: recovered, the journal can be written, not stopping',
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
  summary: 'Take a snapshot now, and prune the journal behind the previous one',
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
    if (readiness.ready) {
      const { degraded } = readiness;
      return reply.send(degraded.length === 0 ? { status: 'ok' } : { status: 'ok', degraded: [...degraded] });
    }
    return reply.code(503).send({ status: 'unavailable', reason: readiness.reason });
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
/** Facts read to find those of one event: about 10 ms. */
const FACTS_READ_MAX = 2_000;
/** Of longer data, such as whole definitions, only the size is shown. */
const DATA_LENGTH_MAX = 4_000;

export function journalRoutes(
  app: HttpApp,
  { requireToken, facts, gauges }: Pick<OperatorPorts, 'requireToken' | 'facts' | 'gauges'>,
): void {
  app.get('/admin/journal', { onRequest: requireToken, schema: listFactsSchema }, async (request, reply) => {
    const { limit = FACTS_SHOWN, before, event_id: eventId } = request.query;
    const end = Math.min(Number(before ?? Number.MAX_SAFE_INTEGER), gauges.journal.durableSeq + 1);
    const begin = Math.max(0, end - 1 - (eventId === undefined ? Number(limit) : FACTS_READ_MAX));
    const shown: JournalFactBody[] = [];
    for (const row of facts(begin)) {
      if (row.seq >= end) break;
      if (eventId !== undefined && row.eventId !== eventId) continue;
      shown.push({
        seq: row.seq,
        at: formatTime(row.at),
        event_id: row.eventId === '' ? null : row.eventId,
        type: row.type,
        data: dataOf(row),
      });
      if (shown.length > Number(limit)) shown.shift();
    }
    shown.reverse();
    // A short page of all facts has reached the first one; of one event there may be more before the part that was read.
    const isEnd = eventId === undefined && shown.length < Number(limit);
    const first = shown.length === Number(limit) ? shown.at(-1)!.seq : begin + 1;
    return reply.send({ facts: shown, next_before: isEnd || first <= 1 ? null : first });
  });
}

function dataOf({ type, data }: { readonly type: string; readonly data: string }): string {
  const shown = shownFact(type, data);
  return shown.length > DATA_LENGTH_MAX ? `(${data.length.toLocaleString('en')} characters)` : shown;
}
