/** Whether the process lives, and whether it can answer: for those who start and balance it. */
import { clientErrors } from '../openapi.ts';
import type { HealthPort } from '../ports.ts';
import { Health, Readiness, Unavailable } from '../schemas/operators.ts';
import type { HttpApp } from '../app.ts';

export function healthRoutes(app: HttpApp, { health }: { readonly health: HealthPort }): void {
  app.get(
    '/health/live',
    {
      schema: {
        operationId: 'isLive',
        tags: ['Health'],
        summary: 'Whether the process lives',
        response: { 200: Health, ...clientErrors },
      },
    },
    async (_request, reply) => reply.send({ status: 'ok' }),
  );

  app.get(
    '/health/ready',
    {
      schema: {
        operationId: 'isReady',
        tags: ['Health'],
        summary: 'Whether it can answer: recovered, the journal can be written, not stopping',
        response: { 200: Readiness, ...clientErrors, 503: Unavailable },
      },
    },
    async (_request, reply) => {
      const readiness = health.readiness();
      if (readiness.ready) {
        const { degraded } = readiness;
        return reply.send(degraded.length === 0 ? { status: 'ok' } : { status: 'ok', degraded: [...degraded] });
      }
      return reply.code(503).send({ status: 'unavailable', reason: readiness.reason });
    },
  );
}
