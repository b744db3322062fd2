/** The service itself: health, metrics and snapshots. Health and metrics ask for no token. */
import { Type } from 'typebox';
import type { AdminPorts, DeploymentPort, Metrics, PublicPorts } from '../ports.ts';
import type { HttpApp } from '../protocol/app.ts';
import { Count, Nullable, bearer } from '../protocol/fields.ts';
import { addRoute } from '../protocol/route.ts';

// ── schemas ──────────────────────────────────────────────────────────────────────────────────────────────────────────

const Health = Type.Object({ status: Type.String({ enum: ['ok'] }) });
const NodeName = Type.Optional(
  Type.String({
    description: 'The name of the node, on the public listener as in X-Served-By; missing on a single machine.',
  }),
);

const Readiness = Type.Object({
  status: Type.String({ enum: ['ok'] }),
  node: NodeName,
  degraded: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'What needs an operator although all else is served: clock means that the clock of the machine is not the one of ' +
        'the service by more than a minute, or leapt in the last five; event:<id> is an event that cannot be activated and answers ' +
        '503 (at most 100 of them are named; the public listener says event alone); thread:<n> is a thread that answers ' +
        'requests and is being started again (the public listener says thread); archive means that a file of the archive is ' +
        'damaged or missing, which costs nothing of the sale. Missing when there is nothing.',
    }),
  ),
});

const Unavailable = Type.Object({
  status: Type.String({ enum: ['unavailable'] }),
  node: NodeName,
  reason: Type.String(),
});

const SnapshotRequest = Type.Object({
  prune: Type.Optional(
    Type.Boolean({ description: 'Move facts that are older than the previous snapshots to the archive.' }),
  ),
});

const SnapshotAnswer = Type.Object({
  seq: Type.Integer({ description: 'The last fact that the snapshots could know.' }),
  taken: Type.Integer({
    minimum: 0,
    description: 'Snapshots written; what has not grown since its last one needs none.',
  }),
  failed: Count,
  archived: Nullable(Type.Object({ from_seq: Type.Integer(), to_seq: Type.Integer() })),
});

// ── routes ───────────────────────────────────────────────────────────────────────────────────────────────────────────

const isLiveSchema = {
  operationId: 'isLive',
  tags: ['Health'],
  summary: 'Whether the process lives',
  description: 'Answers while the process runs, whatever else is broken. For what restarts a process that hangs.',
  response: { 200: Health },
};

const isReadySchema = {
  operationId: 'isReady',
  tags: ['Health'],
  summary: 'Whether it is ready: recovered, the journal can be written, the disk is not nearly full, not stopping',
  description:
    'While the disk is nearly full (`FREE_SPACE_MIN_MB`) the answer is 503, but only new holds, checkouts and joins of a waiting room are refused.',
  response: { 200: Readiness, 503: Unavailable },
};

const readMetricsSchema = {
  operationId: 'readMetrics',
  tags: ['Health'],
  summary: "Everything that is measured, in Prometheus' text format",
  description:
    'The names and what they count stand beside each metric; rules for alerts and a dashboard are in `src/operations`.',
  response: {
    200: { description: 'Metrics', content: { 'text/plain': { schema: Type.String() } } },
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
  response: { 200: SnapshotAnswer },
};

/** `shown` is what the public may know: not the name of a node, nor those of events. */
export function healthRoutes(
  app: HttpApp,
  { deployment, readState }: { readonly deployment: DeploymentPort } & Pick<PublicPorts, 'readState'>,
  shown?: { readonly node: string | null },
): void {
  addRoute(app, 'GET /health/live', isLiveSchema, { answer: () => LIVE, body: (live) => live });

  addRoute(app, 'GET /health/ready', isReadySchema, {
    answer: () => readState?.() ?? deployment.state(),
    send: ({ cluster, trouble, degraded: names }, reply) => {
      const named = cluster === null ? {} : { node: shown?.node ?? cluster.nodeName };
      if (trouble !== null) return reply.code(503).send({ status: 'unavailable', ...named, reason: trouble });
      const kinds = new Set(names.map((name) => (shown === undefined ? name : name.replace(/:.*$/s, ''))));
      const degraded = names.length === 0 ? {} : { degraded: [...kinds] };
      return reply.send({ status: 'ok', ...named, ...degraded });
    },
  });
}

const LIVE = { status: 'ok' };

export function metricsRoutes(app: HttpApp, { metrics }: { readonly metrics: Metrics }): void {
  app.get('/metrics', { schema: readMetricsSchema }, async (_request, reply) =>
    reply.header('content-type', metrics.contentType).send(await metrics.read()),
  );
}

export function snapshotRoutes(app: HttpApp, { takeSnapshot }: Pick<AdminPorts, 'takeSnapshot'>): void {
  addRoute(app, 'POST /admin/snapshot', takeSnapshotSchema, {
    isRepeatable: true,
    answer: ({ body }, { idempotency }) => takeSnapshot({ prune: body?.prune ?? false }, idempotency),
    body: ({ answer: { seq, taken, failed, archived } }) => {
      const moved = archived && { from_seq: archived.fromSeq, to_seq: archived.toSeq };
      return { seq, taken, failed, archived: moved };
    },
  });
}
