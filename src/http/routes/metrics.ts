/** GET /metrics for Prometheus, on the operators' listener; like the health routes it asks for no token. */
import { Type } from 'typebox';
import type { HttpApp } from '../app.ts';
import { clientErrors } from '../openapi.ts';
import type { Metrics } from '../ports.ts';

export function metricsRoutes(app: HttpApp, { metrics }: { readonly metrics: Metrics }): void {
  app.get(
    '/metrics',
    {
      schema: {
        operationId: 'readMetrics',
        tags: ['Health'],
        summary: "Everything that is measured, in Prometheus' text format",
        response: {
          200: { description: 'Metrics', content: { 'text/plain': { schema: Type.String() } } },
          ...clientErrors,
        },
      },
    },
    async (_request, reply) => reply.header('content-type', metrics.contentType).send(await metrics.read()),
  );
}
