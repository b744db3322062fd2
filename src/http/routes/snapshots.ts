/** Operators ask for a snapshot now. */
import { requireToken } from '../admin-auth.ts';
import { bearer, errorResponses } from '../openapi.ts';
import type { AdminPorts } from '../ports.ts';
import { SnapshotAnswer } from '../schemas/operators.ts';
import type { HttpApp } from '../app.ts';

export function snapshotRoutes(app: HttpApp, ports: Pick<AdminPorts, 'adminToken' | 'takeSnapshot'>): void {
  app.post(
    '/admin/snapshot',
    {
      onRequest: requireToken(ports.adminToken),
      schema: {
        operationId: 'takeSnapshot',
        tags: ['Service'],
        summary: 'Take a snapshot now',
        security: bearer,
        response: { 200: SnapshotAnswer, ...errorResponses },
      },
    },
    async (_request, reply) => {
      const { seq, boxOffices } = await ports.takeSnapshot();
      return reply.send({ seq, box_offices: boxOffices });
    },
  );
}
