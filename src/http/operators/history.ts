/** What the service measured by minute over the last hours, for operators who have no metrics server. */
import { type Static, Type } from 'typebox';
import type { AdminPorts, HistoryMinute } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { isRefused } from '../protocol/errors.ts';
import { bearer, Count, Nullable, ref, Time } from '../protocol/fields.ts';
import { formatTime } from '../protocol/formats.ts';
import { addRoute } from '../protocol/route.ts';
import { RangeBegin, RangeEnd, readRange } from './sale.ts';

const Ms = Nullable(Type.Number({ minimum: 0 }));

export const ServiceHistory = Type.Object(
  {
    now: Time,
    node: Nullable(Type.String({ description: 'The node whose figures they are; null on a single machine.' })),
    minutes: Type.Array(
      Type.Object({
        at: Time,
        requests: {
          ...Count,
          description: 'Answers of the API of buyers and stations, but for live streams and webhooks.',
        },
        client_errors: { ...Count, description: 'Those of them that were 4xx.' },
        server_errors: { ...Count, description: 'Those that were 5xx: 503 where the service was overloaded.' },
        p50_ms: Ms,
        p95_ms: Ms,
        p99_ms: Ms,
        commits: {
          ...Count,
          description:
            'Writes of the journal: each until it is on disk, on a node of a cluster until the append is acknowledged.',
        },
        commit_p50_ms: Ms,
        commit_p95_ms: Ms,
        commit_p99_ms: Ms,
        admission_queue_max: {
          ...Count,
          description: 'The most changes found in the admission queue, sampled every 5 s.',
        },
        refused: { ...Count, description: 'Commands that were refused, of every event.' },
        refusals: Type.Array(Type.Object({ code: Type.String(), count: Count }), {
          description: 'By code, the most frequent first, at most 20.',
        }),
      }),
      { description: 'The oldest first; the last one may still run.' },
    ),
  },
  { $id: 'ServiceHistory' },
);

export type ServiceHistoryBody = Static<typeof ServiceHistory>;

const getHistorySchema = {
  operationId: 'getHistory',
  tags: ['Service'],
  summary: 'Read latency, refusals, the admission queue and writes of the journal by minute over the last 12 hours',
  description:
    'What /metrics counts, kept in memory since the process began, in at most 1.5 MB; nothing of it is in the journal. On a node of a cluster it is of this node alone. Percentiles are even within a bucket, as `histogram_quantile` gives them.',
  security: bearer,
  querystring: Type.Object({
    from: Type.Optional({ ...RangeBegin, description: 'Minutes that began before are left out.' }),
    to: Type.Optional({ ...RangeEnd, description: 'Minutes that began then or later are left out.' }),
  }),
  response: { 200: ref(ServiceHistory) },
};

export function historyRoutes(
  app: HttpApp,
  { metrics, clock, deployment }: Pick<AdminPorts, 'metrics' | 'clock' | 'deployment'>,
): void {
  addRoute(app, 'GET /admin/history', getHistorySchema, {
    answer: ({ query }) => {
      const range = readRange(query);
      if (isRefused(range)) return range;
      return { minutes: metrics.history(range.from ?? 0, range.to ?? Infinity) };
    },
    body: ({ minutes }) => ({
      now: formatTime(clock.now()),
      node: deployment.state().cluster?.nodeName ?? null,
      minutes: minutes.map(toMinuteBody),
    }),
  });
}

function toMinuteBody(minute: HistoryMinute): ServiceHistoryBody['minutes'][number] {
  const { at, requests, clientErrors, serverErrors, latency, commits, commit, admissionQueueMax, refused, refusals } =
    minute;
  return {
    at: formatTime(at),
    requests,
    client_errors: clientErrors,
    server_errors: serverErrors,
    p50_ms: latency?.p50Ms ?? null,
    p95_ms: latency?.p95Ms ?? null,
    p99_ms: latency?.p99Ms ?? null,
    commits,
    commit_p50_ms: commit?.p50Ms ?? null,
    commit_p95_ms: commit?.p95Ms ?? null,
    commit_p99_ms: commit?.p99Ms ?? null,
    admission_queue_max: admissionQueueMax,
    refused,
    refusals: [...refusals],
  };
}
