/** Operators ask for a snapshot now. */
import { idempotencyMark, tellReplayed } from '../idempotency.ts';
import { bearer, errorResponses } from '../openapi.ts';
import type { OperatorPorts } from '../ports.ts';
import { Nullable } from '../schemas/fields.ts';
import { SnapshotAnswer, SnapshotRequest } from '../schemas/operators.ts';
import type { HttpApp } from '../app.ts';

export function snapshotRoutes(app: HttpApp, ports: Pick<OperatorPorts, 'requireToken' | 'takeSnapshot'>): void {
  app.post(
    '/admin/snapshot',
    {
      onRequest: ports.requireToken,
      schema: {
        operationId: 'takeSnapshot',
        tags: ['Service'],
        summary: 'Take a snapshot now, and prune the journal behind the previous one',
        security: bearer,
        body: Nullable(SnapshotRequest),
        response: { 200: SnapshotAnswer, ...errorResponses },
      },
    },
    async (request, reply) => {
      const idempotency = idempotencyMark('POST /admin/snapshot', request);
      if (idempotency !== null && 'outcome' in idempotency) return reply.refuse(idempotency);
      const done = await ports.takeSnapshot({ prune: request.body?.prune ?? false }, idempotency);
      if ('code' in done) return reply.refuse(done);
      tellReplayed(reply, done);
      const { seq, taken, failed, archived } = done.answer;
      const moved = archived && { from_seq: archived.fromSeq, to_seq: archived.toSeq };
      return reply.send({ seq, taken, failed, archived: moved });
    },
  );
}
